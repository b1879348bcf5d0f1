//! Redirections: descriptors, targets and here-documents.

use super::Grower;

/// A here-document whose body has not been put down yet.
#[derive(Clone, Debug)]
pub struct Pending {
    delimiter: &'static str,
    quoted: bool,
    tabs: bool,
}

impl Grower<'_> {
    /// One redirection, blank first.
    pub(super) fn redirection(&mut self) {
        self.blank();
        match self.chance.below(16) {
            0..=4 => self.heredoc(),
            5 if self.is_bash() => {
                self.put_one(&["<<<", "<<< ", "0<<<"]);
                self.word();
            }
            6 => {
                self.put_one(&[
                    "2>&1",
                    ">&2",
                    "2>&-",
                    "3>&1",
                    "<&0",
                    "1>&2",
                    "3<&-",
                    "2>/dev/null",
                    "2>&1-",
                    ">&1o",
                    ">& 2",
                    "3<&0-",
                    "<&-",
                    "2>& 1",
                    "1>&-",
                ]);
            }
            7 => self.put_one(&["<f1", "< f2", "0<f1", "<d1/h1", "<'a b'", "3<f1", "</dev/null"]),
            8 if self.is_bash() => {
                self.put_one(&["&>", ">&", "&>>", "{fd}>", "{fd}<>", "&> "]);
                self.target();
            }
            9 if self.is_bash() => {
                let inner = self.apart(Self::script);
                self.put_one(&["> >(", "< <(", "2> >(", "&> >("]);
                self.put(&inner);
                self.put(")");
            }
            11 => {
                self.put_one(&[
                    "{fd} >", "{1}>", "a{fd}>", "\\2>", "'2'>", "2\\\n>", "$u2>", "12>", "02>",
                    "2 >",
                ]);
                self.target();
            }
            10 => {
                self.put_one(&["<>", "3<>", ">|", "2>|", "1>", "4>>"]);
                self.target();
            }
            _ => {
                self.put_one(&[">", "> ", ">>", ">> ", "2>", "2> ", "3> ", ">\\\n"]);
                self.target();
            }
        }
    }

    fn target(&mut self) {
        match self.chance.below(12) {
            0 => self.put_one(&["$E1", "\"$E1\"", "${u:-o4}", "d1/$E1", "o$u", "\"o $u\""]),
            1 => {
                let tag = self.tag();
                self.put(&format!("o$(p5 {tag})"));
            }
            2 => {
                self.put_one(&[
                    "2f", "2", "o#1", "o=1", "-o", "~/o5", "./o6", "d1/o7", "o{a}", "}",
                ]);
            }
            3 => self.spell("o;9"),
            4 => self.spell("o 8"),
            5 => self.put_one(&["if", "done", "g.tx[t]", "o*", "{o,}", "f1", "[o]"]),
            _ => {
                let name = self.chance.pick(&["o1", "o2", "o3", "d1/o1"]);
                self.spell(name);
            }
        }
    }

    fn heredoc(&mut self) {
        let tabs = self.chance.once_in(4);
        let number = self.chance.pick(&["", "", "", "0", "3"]);
        self.put(number);
        self.put(if tabs { "<<-" } else { "<<" });
        self.put_one(&["", "", " "]);
        let delimiter = self.chance.pick(&["EOF", "EOF", "A", "B", "E F", "E$F", "if"]);
        let quoted = delimiter.len() > 2 && delimiter != "EOF" || self.chance.percent(35);
        match (quoted, self.chance.below(4)) {
            (false, _) => self.put(delimiter),
            (true, 1) => self.put(&format!("\"{}\"", delimiter.replace('$', "\\$"))),
            (true, 2) if delimiter == "EOF" => {
                self.put_one(&["E\"O\"F", "\\EOF", "EO''F", "$'EOF'"]);
            }
            (true, _) => self.put(&format!("'{delimiter}'")),
        }
        self.pending.push(Pending { delimiter, quoted, tabs });
    }

    /// The bodies that wait, each with its delimiter.
    pub(super) fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending);
            if pending.tabs {
                self.put_one(&["", "\t", "\t\t"]);
            }
            self.put(pending.delimiter);
            self.put("\n");
        }
    }

    /// The bodies that wait, the last of them without its delimiter.
    pub(super) fn unclosed_bodies(&mut self) {
        let mut waiting = std::mem::take(&mut self.pending);
        let last = waiting.pop();
        self.pending = waiting;
        self.bodies();
        if let Some(last) = last {
            self.body(&last);
        }
    }

    fn body(&mut self, pending: &Pending) {
        // A body never holds a here-document of its own line.
        let outer = std::mem::take(&mut self.pending);
        for _ in 0..self.chance.below(4) {
            if pending.tabs && self.chance.once_in(2) {
                self.put("\t");
            }
            self.body_line(pending);
            self.put("\n");
        }
        self.pending = outer;
    }

    fn body_line(&mut self, pending: &Pending) {
        let delimiter = pending.delimiter;
        match self.chance.below(10) {
            0 => self.put(&format!("{delimiter} ")),
            1 => self.put(&format!(" {delimiter}")),
            2 => self.put(&format!("x{delimiter}")),
            3 if !pending.quoted => self.put(&format!("a\\\n{delimiter}")),
            4 => {
                self.put_one(&[
                    "it's \"", "'", "\"", "# x", "a\\b", "\\\\", "\\a", "$", ")", "`x`",
                ]);
            }
            5 if pending.quoted => {
                let decoy = self.decoy_text();
                self.put(&decoy.replace('\n', " "));
            }
            6 if !pending.quoted => {
                let tag = self.decoy();
                let line =
                    self.chance.pick(&["\\$(p1 D)", "\\`p1 D\\`", "<(p1 D)", "p1 D", "; p1 D"]);
                self.put(&line.replace('D', &tag));
            }
            _ if pending.quoted => self.put_one(&["a", "b c", "", "$x", "\\"]),
            _ => {
                for _ in 0..self.chance.between(1, 2) {
                    self.quoted_piece();
                }
            }
        }
    }
}
