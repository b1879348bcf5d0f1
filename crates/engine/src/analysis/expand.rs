//! What is nested in words: scripts that run, and expansions that can.

use portcullis_shell::{Action, List, Part, PartKind, Place, Prefix, Word};

use super::Walk;

impl Walk<'_> {
    /// Walks everything that runs while these words are expanded.
    pub(super) fn words(&mut self, words: List<Word>) {
        for word in self.tree.list(words) {
            self.parts(word.parts);
            if word.place == Place::Arithmetic {
                self.arithmetic(word);
            }
        }
    }

    fn parts(&mut self, parts: List<Part>) {
        for part in self.tree.list(parts) {
            match part.kind {
                PartKind::DoubleQuoted { parts, .. } => self.parts(parts),
                PartKind::Command { script, .. } | PartKind::Process { script, .. } => {
                    self.apart(|walk| walk.script(script));
                }
                PartKind::Arithmetic { expression: words, .. }
                | PartKind::ExtendedGlob { alternatives: words, .. }
                | PartKind::Brace(words) => self.words(words),
                PartKind::Parameter(expansions) => {
                    for expansion in self.tree.list(expansions) {
                        self.words(expansion.subscript);
                        self.words(expansion.arguments);
                        let is_prompt = expansion.operator == Action::Transform
                            && self.tree.text(expansion.sign) == b"@P";
                        if expansion.prefix == Prefix::Indirect || is_prompt {
                            let span = self.span(part.span);
                            let message = "an expansion that can run what a variable holds";
                            self.analysis.push_unknown(message, span);
                        }
                    }
                }
                PartKind::Array(elements) => {
                    for element in self.tree.list(elements) {
                        self.assignment(element);
                    }
                }
                PartKind::Literal
                | PartKind::Escaped(_)
                | PartKind::SingleQuoted(_)
                | PartKind::AnsiC(_)
                | PartKind::Glob
                | PartKind::Sequence
                | PartKind::Tilde => {}
            }
        }
    }

    /// Arithmetic evaluates what names hold; only numbers and plain names of loops are certain.
    fn arithmetic(&mut self, word: &Word) {
        let text = self.tree.text(word.span);
        let is_all = matches!(text, b"@" | b"*");
        let is_certain = is_all
            || text
                .iter()
                .all(|byte| byte.is_ascii_digit() || b" \t\n+-*/%()<>=!&|^~,?:".contains(byte));
        if !is_certain {
            let span = self.span(word.span);
            self.analysis.push_unknown("arithmetic on values that are not known", span);
        }
    }
}
