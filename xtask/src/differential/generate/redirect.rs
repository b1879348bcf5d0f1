//! Redirections, and here-documents with their bodies.

use super::{Ending, Writer};

/// A here-document that was begun and waits for its body.
pub(super) struct Pending {
    delimiter: &'static str,
    quoted: bool,
    tabs: bool,
}

impl Writer {
    pub(super) fn redirection(&mut self) {
        match self.chance.below(8) {
            0 => self.pick(&["2", "1", "0", "10", "{fd}", "{x1}", "{fd[0]}", "255"]),
            1 => self.put("2"),
            _ => {}
        }
        match self.chance.below(12) {
            0..3 => return self.heredoc(),
            3 => {
                self.pick(&["<<<", "<<< ", "<<<\\\n", "<<<\t"]);
            }
            4 => {
                self.pick(&[">&", "<&", ">& ", "<& "]);
                self.pick(&["1", "2", "-", "1-", "$fd", "file", "$(echo 1)"]);
                return;
            }
            5 => self.pick(&["&>", "&>>", "&> ", "&>> "]),
            _ => self.pick(&["<", ">", ">>", ">|", "<>", "> ", ">> ", "< ", ">\t"]),
        }
        self.word();
    }

    fn heredoc(&mut self) {
        let tabs = self.chance.once_in(3);
        self.put(if tabs { "<<-" } else { "<<" });
        self.gap();
        let delimiter =
            self.chance.pick(&["E", "EOF", "E_1", "a.b", "-", "}", "done", "E2", "\u{e9}"]);
        let quoted = match self.chance.below(8) {
            0 => {
                self.put("'");
                self.put(delimiter);
                self.put("'");
                true
            }
            1 => {
                self.put("\"");
                self.put(delimiter);
                self.put("\"");
                true
            }
            2 => {
                self.put("\\");
                self.put(delimiter);
                true
            }
            3 if self.chance.once_in(4) => {
                self.pick(&["E''", "E\"\"", "''E", "\"\"E"]);
                self.pending.push(Pending { delimiter: "E", quoted: true, tabs });
                return;
            }
            4 if self.chance.once_in(6) => {
                self.pick(&["$x", "'a b'", "\"\"", "''", "$(x)", "`x`", "E\\\nF", "*", "{a,b}"]);
                self.pending.push(Pending { delimiter: "$x", quoted: false, tabs });
                return;
            }
            _ => {
                self.put(delimiter);
                false
            }
        };
        self.pending.push(Pending { delimiter, quoted, tabs });
    }

    /// The body of a here-document with the line that closes it.
    pub(super) fn body(&mut self, heredoc: &Pending) {
        for _ in 0..self.chance.below(3) {
            if heredoc.tabs && self.chance.percent(50) {
                self.put("\t");
            }
            match self.chance.below(8) {
                0 => self.pick(&[
                    "\"",
                    "'",
                    "# no comment",
                    "\\",
                    "${x}",
                    " E",
                    "E ",
                    "EE",
                    ")",
                    "}",
                ]),
                1 if heredoc.quoted => self.pick(&["$(", "`", "${", "$((", "\\", "$'", "done"]),
                2..4 if !heredoc.quoted && self.may_nest() => {
                    // A body of a body would have to close before this one does.
                    let waiting = std::mem::take(&mut self.pending);
                    self.nest(|writer| match writer.chance.below(4) {
                        0 => writer.parameter(true),
                        1 => writer.backtick(true),
                        2 => {
                            writer.put("$((");
                            writer.arithmetic();
                            writer.put("))");
                        }
                        _ => {
                            writer.put("text $(");
                            writer.script(Ending::Free);
                            writer.close(")");
                        }
                    });
                    self.pending = waiting;
                }
                _ => {
                    self.pick(&[
                        "text",
                        "some text, $x",
                        "a\\\nb",
                        "\\$x",
                        "it's",
                        "<<E",
                        "a && b",
                    ]);
                }
            }
            self.put("\n");
        }
        if heredoc.tabs && self.chance.percent(50) {
            self.pick(&["\t", "\t\t"]);
        }
        if self.chance.once_in(60) {
            return;
        }
        self.put(heredoc.delimiter);
        self.put("\n");
    }
}
