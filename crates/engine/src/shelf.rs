//! Shelves: the names of a table that is compiled in, found without a search.

mod mark;

pub(crate) use mark::mark;

/// The part of a sorted list in which a name stands, if it stands there at all.
pub(crate) fn shelf<'a, T>(list: &'a [T], starts: &[u16], name: &[u8]) -> &'a [T] {
    let mark = mark(name);
    match starts.get(mark..mark + 2) {
        Some(&[from, to]) => list.get(usize::from(from)..usize::from(to)).unwrap_or_default(),
        _ => &[],
    }
}
