//! Holding: which variables hold words that begin with no dash, from where they get them.
//!
//! What words are is told by [`dashes`](super::dashes); here it is noted for the names that get
//! them: by an assignment, by `local`, or line by line by `read`.

use portcullis_shell::{Part, PartKind, Word};

use super::dashes::Dashes;
use super::sets;
use super::walk::Walk;
use crate::act::Assigned;

impl Walk<'_, '_> {
    /// Notes whether a variable may hold words that begin with a dash from now on; only one that
    /// the script sets at no other place is certain.
    pub(super) fn hold(&mut self, name: &str, is_operand: bool) {
        if is_operand && self.is_set_once(name) {
            self.analysis.state.operands.insert(name.to_owned());
        } else if self.analysis.state.operands.contains(name)
            || self.analysis.state.lines.contains(name)
        {
            self.analysis.state.operands.remove(name);
            self.analysis.state.lines.remove(name);
        }
    }

    /// `local x="$1"` holds what the parameter holds.
    pub(super) fn hold_declared(&mut self, words: &[Word]) {
        let Some((first, rest)) = words.split_first() else { return };
        let declares: [&[u8]; 4] = [b"local", b"declare", b"typeset", b"readonly"];
        let text = |word: &Word| self.tree.text(word.span);
        // An option may make it something else than a text.
        if !declares.contains(&text(first)) || rest.iter().any(|word| text(word).starts_with(b"-"))
        {
            return;
        }
        for word in rest {
            let [name, value] = self.tree.list(word.parts) else { continue };
            let inner = if let PartKind::DoubleQuoted { parts, .. } = value.kind {
                self.tree.list(parts)
            } else {
                std::slice::from_ref(value)
            };
            let [Part { kind: PartKind::Parameter(expansions), .. }] = inner else { continue };
            let name = self.tree.text(name.span).strip_suffix(b"=").unwrap_or_default();
            if !name.is_empty()
                && name.iter().copied().all(is_letter)
                && self.are_variables_operands(self.tree.list(*expansions), false)
            {
                let name = String::from_utf8_lossy(name).into_owned();
                self.hold(&name, true);
            }
        }
    }

    /// Notes that a variable holds one text that begins with no dash, which counts where quotes
    /// hold it together.
    pub(super) fn hold_whole(&mut self, name: &str) {
        if self.is_set_once(name) {
            self.analysis.state.lines.insert(name.to_owned());
        }
    }

    /// `read x` takes a line of what it gets from a pipe, which begins as that line does.
    pub(super) fn takes_line(&mut self, words: &[Word], assignments: &[Assigned], piped: Dashes) {
        let Some((first, rest)) = words.split_first() else { return };
        if self.tree.text(first.span) != b"read" || piped == Dashes::Anywhere {
            return;
        }
        let is_whole = |set: &Assigned| set.name == "IFS" && set.value.as_deref() == Some("");
        let names = match rest {
            [option, names @ ..] if self.tree.text(option.span) == b"-r" => names,
            names => names,
        };
        let Some((name, others)) = names.split_first() else { return };
        let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
        if !others.is_empty() {
            // Before the rest of the line it takes the first word, parted by blanks.
            let is_name = |word: &Word| self.tree.text(word.span).iter().copied().all(is_letter);
            let is_split = assignments.is_empty() && self.is_left("IFS");
            if is_split && names.iter().all(is_name) && self.is_set_once(&name) {
                self.analysis.state.operands.insert(name);
            }
            return;
        }
        if assignments.iter().all(is_whole) && self.is_set_once(&name) {
            self.analysis.state.lines.insert(name.clone());
            if piped == Dashes::Nowhere {
                self.analysis.state.operands.insert(name);
            }
        }
    }

    pub(super) fn is_set_once(&mut self, name: &str) -> bool {
        let tree = self.tree;
        let sets = self.analysis.state.sets.get_or_insert_with(|| sets::of(tree));
        sets.once.contains(name)
    }
}

/// Whether a letter may stand in the name of a variable.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
