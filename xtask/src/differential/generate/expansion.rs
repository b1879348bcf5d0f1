//! Expansions: parameters, command and process substitutions, arithmetic.

use super::{Ending, Writer};

impl Writer {
    /// Something that begins with a dollar sign; `quoted` inside double quotes.
    pub(super) fn dollar(&mut self, quoted: bool) {
        match self.chance.below(16) {
            0..5 => self.pick(&[
                "$x", "$1", "$@", "$*", "$#", "$?", "$$", "$!", "$-", "$0", "$_", "$x1y", "$10",
                "${x}", "$", "$%", "$=", "$\\x", "$]", "$,",
            ]),
            5..10 => {
                if self.may_nest() {
                    self.nest(|writer| writer.parameter(quoted));
                } else {
                    self.put("$x");
                }
            }
            10..14 if self.may_nest() => self.nest(Writer::substitution),
            14 if self.may_nest() => self.nest(|writer| {
                writer.put("$((");
                writer.arithmetic();
                writer.put("))");
            }),
            15 if self.chance.once_in(3) => {
                self.put("$[");
                self.pick(&["1", "x", "1+1", "x[1]", "$x", "(1)", "a ? b : c", "\"1\""]);
                self.put("]");
            }
            _ => self.put("$x"),
        }
    }

    /// `$( … )` and now and then `${ …; }`.
    fn substitution(&mut self) {
        let waiting = std::mem::take(&mut self.pending);
        if self.chance.once_in(40) {
            self.pick(&["${ ", "${|", "${\n", "${\t"]);
            self.script(Ending::Separated);
            self.put("}");
        } else {
            self.put("$(");
            match self.chance.below(12) {
                0 => {}
                1 => {
                    self.gap();
                    self.redirection();
                }
                2 => {
                    self.put(" ");
                    self.script(Ending::Free);
                }
                3 => {
                    self.spaces();
                    self.script(Ending::Free);
                }
                4 => {
                    self.comment();
                    self.script(Ending::Free);
                }
                _ => self.script(Ending::Free),
            }
            self.close(")");
        }
        // What is still open in here is closed by the newline outside.
        let mut open = std::mem::replace(&mut self.pending, waiting);
        self.pending.append(&mut open);
    }

    pub(super) fn process(&mut self) {
        if !self.may_nest() {
            return self.put("a");
        }
        self.nest(|writer| {
            let waiting = std::mem::take(&mut writer.pending);
            writer.pick(&["<(", ">(", "<( ", ">(\n"]);
            writer.script(Ending::Free);
            writer.close(")");
            let mut open = std::mem::replace(&mut writer.pending, waiting);
            writer.pending.append(&mut open);
        });
    }

    /// A script between backticks, its backslashes and backticks escaped.
    pub(super) fn backtick(&mut self, quoted: bool) {
        let waiting = std::mem::take(&mut self.pending);
        let outside = std::mem::take(&mut self.out);
        self.script(Ending::Free);
        if !self.pending.is_empty() {
            self.newline();
        }
        self.pending = waiting;
        let inside = std::mem::replace(&mut self.out, outside);
        self.put("`");
        for byte in inside {
            let escaped =
                byte == b'\\' || byte == b'`' || (byte == b'$' && self.chance.once_in(20));
            if escaped || (quoted && byte == b'"' && self.chance.once_in(3)) {
                self.out.push(b'\\');
            }
            self.out.push(byte);
        }
        self.put("`");
    }

    /// `${ … }`
    pub(super) fn parameter(&mut self, quoted: bool) {
        self.put("${");
        if self.chance.once_in(60) {
            // Mostly a bad substitution, which bash only notices when it expands it.
            self.pick(&["#", "!", "##", "(f)", "^", "", " ", "$", "=", "x@", "x!", "1x", "@@"]);
        }
        match self.chance.below(14) {
            0 => {
                self.pick(&["#x", "#@", "#*", "##", "#?", "#1", "#x[@]", "#x[1]", "#-", "#!"]);
                return self.put("}");
            }
            1 => {
                self.pick(&["!x", "!x*", "!x@", "!1", "!x[@]", "!x[*]", "!#", "!x[1]"]);
                return self.put("}");
            }
            2 => self.put("!"),
            _ => {}
        }
        if self.chance.once_in(5) {
            self.pick(&["@", "*", "#", "?", "-", "$", "!", "0", "1", "10", "_"]);
        } else {
            self.pick(&["x", "y", "name", "X_1"]);
            if self.chance.once_in(5) {
                self.put("[");
                self.pick(&[
                    "@", "*", "0", "-1", "$i", "i+1", "\"k\"", "'k'", "x[1]", "$(a)", "a b", "`a`",
                ]);
                self.put("]");
            }
        }
        match self.chance.below(12) {
            0..2 => {}
            2..6 => {
                self.pick(&[":-", ":=", ":?", ":+", "-", "=", "?", "+"]);
                self.argument(quoted);
            }
            6..8 => {
                self.pick(&["#", "##", "%", "%%", "^", "^^", ",", ",,", "~", "~~"]);
                self.argument(quoted);
            }
            8..10 => {
                self.pick(&["/", "//", "/#", "/%"]);
                self.argument(quoted);
                if self.chance.percent(80) {
                    self.put("/");
                    self.argument(quoted);
                }
            }
            10 => {
                self.put(":");
                self.pick(&[
                    "1",
                    " -1",
                    "$x",
                    "(1)",
                    "x ? 1 : 2",
                    "$((1))",
                    "i+1",
                    "",
                    "${x}",
                    "$(a)",
                ]);
                if self.chance.percent(50) {
                    self.put(":");
                    self.pick(&["1", "-1", "$x", "n", "", "${#x}", "${x:1}", "$(a)"]);
                }
            }
            _ => self.pick(&["@Q", "@E", "@P", "@A", "@a", "@U", "@u", "@L", "@K", "@k"]),
        }
        self.put("}");
    }

    /// The word behind an operator, in which blanks and brackets are plain.
    fn argument(&mut self, quoted: bool) {
        for _ in 0..self.chance.below(4) {
            match self.chance.below(12) {
                0..3 => self.pick(&[
                    "a", " ", "a b", ";", "&", "|", "(", ")", "<", ">", "#", "{", "*", "?", "[a]",
                    "\n", "!", "~", "(a", "a)", "\\}", "\\\"", "\\'", "=", ":", "/", "if", "<(a)",
                    ">(a)",
                ]),
                3 if !quoted => self.pick(&["'a'", "'}'", "'a b'", "$'a'", "$'}'", "'\"'"]),
                3 => self.pick(&["it's", "''", "'a'", "$'a'"]),
                4 => self.double_quoted(),
                5 if self.may_nest() => self.nest(|writer| writer.backtick(quoted)),
                _ => self.dollar(quoted),
            }
        }
    }

    /// An arithmetic expression without its brackets.
    pub(super) fn arithmetic(&mut self) {
        self.gap();
        match self.chance.below(12) {
            0..4 => {
                self.pick(&["1", "x", "0x1f", "x[1]", "i++", "--i", "16#ff", "-1", "'a'", "\"1\""]);
            }
            4..7 => {
                self.pick(&["x", "1", "$x", "a[1]"]);
                self.gap();
                self.pick(&[
                    "+", "-", "*", "/", "%", "**", "<<", ">>", "<", ">", "<=", ">=", "==", "!=",
                    "&", "|", "^", "&&", "||", "=", "+=", ",", "<<=", "?1:",
                ]);
                self.gap();
                self.pick(&["x", "1", "$x", "a[1]", "(2)"]);
            }
            7..9 if self.may_nest() => {
                self.put("(");
                self.nest(Writer::arithmetic);
                self.put(")");
            }
            9 => self.pick(&[
                "x ? y : z",
                "!x",
                "~x",
                "x=1, y=2",
                "x\n+1",
                "#x",
                "a b",
                "1 2",
                "{",
                "}",
            ]),
            _ => self.dollar(true),
        }
        self.gap();
    }
}
