//! Marks: names of the tables are found by a few of their bytes.
//!
//! The build script sorts tables by the marks of their names, and says where each mark begins.

/// How many marks there are.
pub const MARKS: usize = 2048;

/// The mark of a name; names that differ may have the same.
pub const fn mark(name: &[u8]) -> usize {
    let letters = match name {
        [] => 0,
        [only] => *only as usize,
        [first, last] => *first as usize * 131 + *last as usize * 1031,
        [first, second, .., last] => {
            *first as usize * 131 + *second as usize * 17 + *last as usize * 1031
        }
    };
    (name.len() * 7 + letters) % MARKS
}
