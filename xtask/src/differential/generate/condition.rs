//! Conditions: what stands between `[[` and `]]`.

use super::Writer;

impl Writer {
    pub(super) fn test(&mut self) {
        self.put("[[");
        self.blank();
        self.condition(0);
        self.blank();
        self.put("]]");
    }

    fn condition(&mut self, depth: usize) {
        match self.chance.below(if depth > 3 { 8 } else { 14 }) {
            0..3 => {
                self.pick(&[
                    "-f ", "-n ", "-z ", "-e ", "-v ", "-o ", "-a ", "-t ", "-R ", "-N ", "-O ",
                ]);
                self.test_word();
            }
            3..6 => {
                self.test_word();
                self.blank();
                self.pick(&[
                    "==", "=", "!=", "<", ">", "-eq", "-ne", "-lt", "-gt", "-nt", "-ef", "-ot",
                    "-le", "-ge",
                ]);
                self.blank();
                self.pattern();
            }
            6 => {
                self.test_word();
                self.put(" =~ ");
                self.regex();
            }
            7 => self.test_word(),
            8..10 => {
                self.condition(depth + 1);
                self.blank();
                self.pick(&["&&", "||"]);
                self.gap_or_newline();
                self.gap();
                self.condition(depth + 1);
            }
            10..12 => {
                self.put("!");
                self.blank();
                self.condition(depth + 1);
            }
            _ => {
                self.put("(");
                self.gap_or_newline();
                self.gap();
                self.condition(depth + 1);
                self.blank();
                self.put(")");
            }
        }
        if self.chance.once_in(20) {
            self.newline();
        }
    }

    fn test_word(&mut self) {
        match self.chance.below(16) {
            0 => self.pick(&[
                "-f", "-n", "!", "=", "a", "-", "-a", "-o", "=~", "==", "{", "}", "if", "]", "[[",
            ]),
            1 => self.pick(&["\"(\"", "'&&'", "\\(", "\\!", "\\<", "x[1]", "a=b", "x=", "#", "a#"]),
            _ => self.word(),
        }
    }

    fn regex(&mut self) {
        match self.chance.below(10) {
            0..4 => self.pick(&[
                "^a$",
                "^(a|b)+$",
                "[[:alpha:]]+",
                "( a|b )",
                "a\\ b",
                "^[0-9]{1,3}$",
                "\\.sh$",
                "(a)(b)",
                "x(y(z)w)v",
                "'a b'",
                "\"$x\"",
                "$re",
                "a|b",
                "((a))",
                "(<a>)",
                "(a;b)",
                "[&]",
                "(a&&b)",
                "<",
                "a<b",
                "\\(",
                "[(]",
                "^-",
                "#",
                "(#)",
                "()",
                "^$",
                "$",
                "({)",
                "`echo a`",
                "(`echo ')'`)",
                "[a b]",
                "[^ ]",
                "(\n)",
                "a\\\nb",
                "\"(\"",
                "')'",
                "*",
            ]),
            4..7 => {
                self.put("(");
                self.word();
                self.pick(&["|", " ", ")|(", ""]);
                self.word();
                self.put(")");
                self.pick(&["", "?", "*", "$", "+"]);
            }
            _ => self.word(),
        }
    }
}
