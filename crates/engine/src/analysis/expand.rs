//! What is nested in words: scripts that run, and expansions that can.

use portcullis_shell::{
    Action, Dialect, Expansion, List, Part, PartKind, Place, Prefix, Span, Word,
};

use super::Syntax;
use super::walk::{Feed, Walk};

impl Walk<'_, '_> {
    /// Walks everything that runs while these words are expanded.
    pub(super) fn words(&mut self, words: List<Word>) {
        for word in self.tree.list(words) {
            self.word(word);
        }
    }

    /// The same for one word.
    pub(super) fn word(&mut self, word: &Word) {
        self.parts(word.parts);
        if word.place == Place::Arithmetic {
            self.arithmetic(word);
        }
    }

    pub(super) fn parts(&mut self, parts: List<Part>) {
        let mut has_braces = false;
        for part in self.tree.list(parts) {
            match part.kind {
                PartKind::DoubleQuoted { parts, .. } => self.parts(parts),
                PartKind::Command { script, .. } | PartKind::Process { script, .. } => {
                    self.syntax(Syntax::Substitution, part.span);
                    let is_fed = matches!(part.kind, PartKind::Process { output: true, .. });
                    self.apart(|walk| {
                        let feed = if is_fed {
                            Feed::Pipe { is_fetched: false }
                        } else {
                            walk.analysis.feed.clone()
                        };
                        let outer = std::mem::replace(&mut walk.analysis.feed, feed);
                        let first = walk.analysis.found.acts.len();
                        walk.listened_to(|walk| walk.script(script));
                        walk.analysis.feed = outer;
                        if matches!(part.kind, PartKind::Process { .. }) && !is_fed {
                            walk.analysis.note_offered(first);
                        }
                    });
                }
                PartKind::Arithmetic { expression: words, .. }
                | PartKind::ExtendedGlob { alternatives: words, .. } => self.words(words),
                PartKind::Brace(words) => {
                    has_braces = true;
                    self.words(words);
                }
                PartKind::Sequence => has_braces = true,
                PartKind::Parameter(expansions) => {
                    for expansion in self.tree.list(expansions) {
                        self.expansion(expansion, part.span);
                    }
                }
                PartKind::Array(elements) => self.elements("", elements),
                PartKind::Literal
                | PartKind::Escaped(_)
                | PartKind::SingleQuoted(_)
                | PartKind::AnsiC(_)
                | PartKind::Glob => {}
                PartKind::Tilde => self.tilde(part.span),
            }
        }
        if has_braces {
            self.braces(parts);
        }
    }

    /// In zsh any variable with a path may be the name behind a tilde; a number is a place in the
    /// stack of directories.
    fn tilde(&mut self, span: Span) {
        let text = self.tree.text(span);
        let is_named = text.get(1).is_some_and(u8::is_ascii_alphabetic);
        let is_stacked = text.last().is_some_and(u8::is_ascii_digit)
            && text.iter().skip(1).all(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
        let is_before = text == b"~-";
        let span = self.span(span);
        if is_before {
            self.analysis.push_unknown("the directory before this one", span);
        } else if is_named && self.analysis.dialect == Dialect::Zsh {
            self.analysis.push_unknown("a name that a variable may give to a directory", span);
        } else if is_stacked {
            self.analysis.push_unknown("a directory of the stack", span);
        }
    }

    fn expansion(&mut self, expansion: &Expansion, span: Span) {
        let name = String::from_utf8_lossy(self.tree.text(expansion.name)).into_owned();
        self.subscript(&name, expansion.subscript);
        let first = self.analysis.found.acts.len();
        self.words(expansion.arguments);
        if expansion.operator == Action::Assign {
            self.keep_words(expansion.arguments, first);
        }
        self.hand_default(expansion);
        self.shows(expansion, &name);
        let sign = self.tree.text(expansion.sign);
        let is_prompt = expansion.operator == Action::Transform && sign.ends_with(b"P");
        // `${!x[@]}` lists subscripts; `${!x}` reads the variable whose name `x` holds, and that name may have a subscript.
        // With an operator behind it `${!x[@]}` does so too.
        let mut subscripts = self.tree.list(expansion.subscript).iter();
        let lists_keys = expansion.operator == Action::Read
            && subscripts.any(|word| matches!(self.tree.text(word.span), b"@" | b"*"));
        self.hand_said(&name, lists_keys && expansion.prefix == Prefix::Indirect);
        let is_indirect = expansion.prefix == Prefix::Indirect && !lists_keys;
        let is_told = is_indirect && !is_prompt && self.shows_named(expansion, &name);
        if is_indirect && !is_told || is_prompt {
            let span = self.span(span);
            let message = "an expansion that can run what a variable holds";
            self.analysis.push_unknown(message, span);
        }
        if expansion.operator == Action::Assign {
            let name = String::from_utf8_lossy(self.tree.text(expansion.name)).into_owned();
            self.sets(&name, None, span);
        }
    }

    /// `${!x}` in a loop that writes out which variables it reads: it shows each of them, and
    /// nothing runs. Only those count that the script leaves as they are.
    fn shows_named(&mut self, expansion: &Expansion, name: &str) -> bool {
        let is_plain = expansion.subscript.is_empty()
            && matches!(expansion.operator, Action::Read | Action::Default);
        let rounds = &self.analysis.state.rounds;
        let round = rounds.iter().rev().find(|(known, _)| known == name);
        let round = round.filter(|_| is_plain).map(|(_, names)| names.clone());
        let Some(names) = round.filter(|names| !names.is_empty()) else { return false };
        let is_name = |name: &str| {
            name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if !names.iter().all(|name| is_name(name) && self.is_left(name)) {
            return false;
        }
        for name in names.iter() {
            self.shows(expansion, name);
        }
        true
    }
}
