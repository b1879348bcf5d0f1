//! Shelves: tables sorted by the marks of their names.

#[path = "../src/shelf/mark.rs"]
mod mark;

pub use mark::mark;

use mark::MARKS;

/// What the names of one entry are sorted by.
pub fn order(name: &str) -> (usize, &str) {
    (mark(name.as_bytes()), name)
}

/// Sorts a table by the marks of its names; gives where each mark begins, and where the last ends.
pub fn sort<T>(table: &mut [(String, T)]) -> Vec<usize> {
    table.sort_by_key(|(name, _)| mark(name.as_bytes()));
    let mut starts = vec![0; MARKS + 1];
    for (name, _) in table.iter() {
        if let Some(count) = starts.get_mut(mark(name.as_bytes()) + 1) {
            *count += 1;
        }
    }
    let mut before = 0;
    for start in &mut starts {
        before += *start;
        *start = before;
    }
    starts
}
