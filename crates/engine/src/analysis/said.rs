//! What the shell says of the script itself: `$_`, `$BASH_REMATCH`, the keys of a table.
//!
//! Nobody assigns these variables, and yet they hold words that the script writes out. Whoever
//! reads one of them may get any of these words.

use portcullis_shell::{Command, Kind, List, Test, TestKind, Value, Word};

use super::names::{self, has_letters};
use super::walk::Walk;
use crate::arg::Arg;
use crate::lists;

/// So many words of a script are looked at.
const WORDS: usize = 256;

impl Walk<'_, '_> {
    /// Hands over what a variable holds that the shell fills with words of the script.
    pub(super) fn hand_said(&mut self, name: &str, lists_keys: bool) {
        if !lists_keys && !lists::SAID.contains(&name) {
            return;
        }
        let words = self.tree.words().take(WORDS);
        let is_name = |letter: char| letter.is_alphanumeric() || "._-~/*?".contains(letter);
        let mut said = Vec::new();
        for word in words {
            if let Value::Literal(text) = self.tree.value(word) {
                said.extend(names::of_text(&String::from_utf8_lossy(text)));
            }
            // A subscript or an expression holds names between its signs.
            let text = String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
            let parts = text.split(|letter| !is_name(letter)).filter(|part| has_letters(part));
            said.extend(parts.map(|part| names::of_path(part.to_owned())));
        }
        // What runs in a text of its own hears of the words before it too.
        let acts = self.analysis.found.acts.iter().rev().take(WORDS);
        let args: Vec<&Arg> = acts.filter_map(|act| act.args.last()).collect();
        said.extend(names::of_args(args));
        if name.to_ascii_uppercase().ends_with("MATCH") && self.matches_text() {
            said.push(names::made());
        }
        self.hand(said.clone());
        self.analysis.keep(said);
    }

    /// Whether an expression is held against a text that the script writes out.
    fn matches_text(&self) -> bool {
        let has_text =
            |command: &Command| matches!(command.kind, Kind::Test(tests) if self.has_text(tests));
        self.analysis.holds_text() || self.tree.commands().any(has_text)
    }

    fn has_text(&self, tests: List<Test>) -> bool {
        self.tree.list(tests).iter().any(|test| match test.kind {
            TestKind::Or(inner)
            | TestKind::And(inner)
            | TestKind::Not(inner)
            | TestKind::Group(inner) => self.has_text(inner),
            TestKind::Binary(sign, words) => {
                let first = self.tree.list(words).first();
                self.tree.text(sign) == b"=~" && first.is_some_and(|word| self.is_text(word))
            }
            TestKind::Unary(..) | TestKind::Word(_) => false,
        })
    }

    fn is_text(&self, word: &Word) -> bool {
        matches!(self.tree.value(word), Value::Literal(text)
            if has_letters(&String::from_utf8_lossy(text)))
    }
}
