//! Patches: which files they add, change, remove and move.
//!
//! Two forms are read: the one between `*** Begin Patch` and `*** End Patch`, and unified diffs
//! with or without git's headers. What a line says about a file counts even where a strict
//! reader would take it for context, so that no reader finds a file that is not named here.

use super::Facts;

mod begin;
mod unified;

/// What a patch does to one file. Paths are as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Creates it.
    Add(Vec<u8>),
    /// Changes it.
    Update(Vec<u8>),
    /// Removes it.
    Delete(Vec<u8>),
    /// Gives it another name.
    Move {
        /// The name that disappears.
        from: Vec<u8>,
        /// The name that appears, over whatever has it.
        to: Vec<u8>,
    },
}

/// What a patch touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Every change, in order.
    pub changes: Vec<Change>,
    /// Why it could not be read to the end, if it could not.
    pub unknown: Option<&'static str>,
}

impl Patch {
    /// The same as facts. Names in a unified diff may still have to lose their first directories.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let mut facts = Facts { unknown: self.unknown, ..Facts::default() };
        for change in &self.changes {
            match change {
                Change::Add(path) | Change::Update(path) => facts.writes.push(Some(path.clone())),
                Change::Delete(path) => facts.deletes.push(Some(path.clone())),
                Change::Move { from, to } => {
                    facts.deletes.push(Some(from.clone()));
                    facts.writes.push(Some(to.clone()));
                }
            }
        }
        facts
    }
}

/// Reads the text of a patch of either form.
#[must_use]
pub fn patch_targets(text: &[u8]) -> Patch {
    // Readers of patches decode the text first; what is no text they may see in another way.
    let Ok(text) = std::str::from_utf8(text) else {
        return Patch { changes: Vec::new(), unknown: Some("the patch is not UTF-8") };
    };
    let is_begin = |line: &str| line.trim() == "*** Begin Patch";
    let mut patch = if text.split('\n').any(is_begin) {
        begin::read(text)
    } else {
        unified::read(text.as_bytes())
    };
    if patch.changes.is_empty() && patch.unknown.is_none() {
        patch.unknown = Some("no file is named in the patch");
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_told_apart_and_become_facts() {
        let begin = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n*** Delete File: d\n*** End Patch";
        let facts = patch_targets(begin.as_bytes()).facts();
        assert_eq!(facts.writes, [Some(b"a".to_vec()), Some(b"c".to_vec())]);
        assert_eq!(facts.deletes, [Some(b"b".to_vec()), Some(b"d".to_vec())]);
        assert_eq!(facts.unknown, None);

        let unified = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(patch_targets(unified.as_bytes()).facts().writes, [Some(b"x".to_vec())]);

        for text in ["", "hello", "*** Begin Patch\n*** End Patch"] {
            assert!(patch_targets(text.as_bytes()).unknown.is_some(), "`{text}`");
        }
        assert!(patch_targets(b"--- a\xff\n+++ b\n").unknown.is_some());
    }
}
