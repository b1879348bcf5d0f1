//! Printing words and their parts.

use crate::printer::Printer;
use crate::span::Span;
use crate::tree::{List, Redirection};
use crate::value::Value;
use crate::word::{Action, CommandForm, Expansion, Part, PartKind, Prefix, Word};

impl Printer<'_> {
    pub(super) fn word(&mut self, word: &Word) {
        self.parts(word.parts, false);
    }

    /// The body of a here-document is its text: printed anew, a substitution in it could come to
    /// have a line that is the delimiter.
    pub(super) fn body(&mut self, word: &Word) {
        self.put(self.tree.text(word.span));
    }

    /// The line that ends a here-document.
    pub(super) fn delimiter(&self, redirection: &Redirection) -> Vec<u8> {
        match self.tree.only(redirection.target).map(|word| self.tree.value(word)) {
            Some(Value::Literal(text)) => text.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Prints parts; `quoted` says that they stand directly between double quotes.
    fn parts(&mut self, parts: List<Part>, quoted: bool) {
        for part in self.tree.list(parts) {
            self.part(*part, quoted);
        }
    }

    fn part(&mut self, part: Part, quoted: bool) {
        match part.kind {
            PartKind::Literal | PartKind::Glob | PartKind::Sequence | PartKind::Tilde => {
                self.put(self.tree.text(part.span));
            }
            PartKind::Escaped(inner) => {
                self.put("\\");
                self.put(self.tree.text(inner));
            }
            PartKind::SingleQuoted(inner) => {
                self.put("'");
                self.put(self.tree.text(inner));
                self.put("'");
            }
            PartKind::AnsiC(decoded) => self.ansi(decoded),
            PartKind::DoubleQuoted { parts, locale } => {
                self.put(if locale { "$\"" } else { "\"" });
                self.parts(parts, true);
                self.put("\"");
            }
            PartKind::Parameter(expansions) => {
                for expansion in self.tree.list(expansions) {
                    self.expansion(expansion);
                }
            }
            PartKind::Command { form, script } => {
                let text = self.nested(script);
                match form {
                    CommandForm::Dollar => self.between("$(", &text, ")"),
                    CommandForm::Backtick => self.backticked(&text, quoted),
                    CommandForm::Brace => self.between("${ ", &text, "}"),
                    CommandForm::BraceReply => self.between("${|", &text, "}"),
                }
            }
            PartKind::Process { output, script } => {
                let text = self.nested(script);
                self.between(if output { ">(" } else { "<(" }, &text, ")");
            }
            PartKind::Arithmetic { bracket, expression } => {
                self.put(if bracket { "$[" } else { "$((" });
                self.separated(expression, " ");
                self.put(if bracket { "]" } else { "))" });
            }
            PartKind::ExtendedGlob { operator, alternatives } => {
                self.put([operator, b'(']);
                self.separated(alternatives, "|");
                self.put(")");
            }
            PartKind::Brace(alternatives) => {
                self.put("{");
                self.separated(alternatives, ",");
                self.put("}");
            }
            PartKind::Array(elements) => self.elements(elements),
        }
    }

    /// Backticks take a backslash away only before what they would else understand.
    fn backticked(&mut self, text: &[u8], quoted: bool) {
        let special = |byte: u8| matches!(byte, b'\\' | b'`') || quoted && byte == b'"';
        self.put("`");
        for (at, &byte) in text.iter().enumerate() {
            let doubled = match text.get(at + 1) {
                _ if byte != b'\\' => special(byte),
                Some(&next) => special(next) || matches!(next, b'$' | b'\n'),
                None => true,
            };
            if doubled {
                self.put("\\");
            }
            self.put([byte]);
        }
        self.put("`");
    }

    fn between(&mut self, opener: &str, text: &[u8], closer: &str) {
        self.put(opener);
        // `$( (…) )` keeps its blank, or it would read as arithmetic; and bash knows `time` only
        // on a line of its own.
        if text.first() == Some(&b'(') {
            self.put(" ");
        } else if text.starts_with(b"time ") {
            self.put("\n");
        }
        self.put(text);
        self.put(closer);
    }

    fn expansion(&mut self, expansion: &Expansion) {
        self.put("$");
        if expansion.braced {
            self.put("{");
        }
        match expansion.prefix {
            Prefix::None => {}
            Prefix::Length => self.put("#"),
            Prefix::Indirect | Prefix::Names => self.put("!"),
        }
        self.put(self.tree.text(expansion.name));
        for word in self.tree.list(expansion.subscript) {
            self.put("[");
            self.word(word);
            self.put("]");
        }
        self.sign(expansion.sign);
        let separator = if expansion.operator == Action::Slice { ":" } else { "/" };
        self.separated(expansion.arguments, separator);
        if expansion.braced {
            self.put("}");
        }
    }

    /// The sign without the line continuations that may stand in it.
    fn sign(&mut self, sign: Span) {
        let bytes: Vec<u8> = self
            .tree
            .text(sign)
            .iter()
            .copied()
            .filter(|byte| !matches!(byte, b'\\' | b'\n'))
            .collect();
        self.put(bytes);
    }

    fn ansi(&mut self, decoded: Span) {
        self.put("$'");
        for &byte in self.tree.text(decoded) {
            match byte {
                b'\\' | b'\'' => self.put([b'\\', byte]),
                b' '..=b'~' => self.put([byte]),
                _ => self.put(format!("\\{byte:03o}")),
            }
        }
        self.put("'");
    }
}
