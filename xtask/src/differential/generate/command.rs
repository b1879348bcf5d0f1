//! Commands: simple ones, and all that hold others.

use super::{Ending, Writer};

/// Words that mean something only where a command begins, or not even there.
const PROGRAMS: &[&str] = &[
    "a",
    "echo",
    "ls",
    "cat",
    "./run",
    "/bin/true",
    "test",
    "[",
    "git",
    ":",
    ".",
    "true",
    "eval",
    "x-y",
    "a.b",
    "\\rm",
    "'r'm",
    "7z",
    "1",
    "a,b",
    "%1",
    "@",
    "++",
    "-",
    "}x",
    "{x",
    "]",
    "inn",
    "fi2",
    "iff",
    "\\if",
    "'if'",
    "\"if\"",
    "i\\f",
    "=",
    "==",
    "a=b",
    "exec",
    "set",
    "\u{e9}",
];

const BUILTINS: &[&str] =
    &["declare", "local", "export", "readonly", "typeset", "declare -a", "declare -A", "export -n"];

const NAMES: &[&str] = &["x", "y", "name", "_", "a1", "X_Y", "in", "do", "if", "done", "time"];

impl Writer {
    pub(super) fn command(&mut self) {
        if !self.chance.percent(45) || !self.may_nest() {
            return self.simple();
        }
        self.nest(|writer| match writer.chance.below(26) {
            0..3 => writer.subshell(),
            3..6 => writer.group(),
            6..9 => writer.if_(),
            9..11 => writer.while_(),
            11..14 => writer.for_(),
            14..18 => writer.case(),
            18..20 => writer.function(),
            20..23 => writer.test(),
            23 => writer.coproc(),
            _ => {
                writer.put("((");
                writer.arithmetic();
                writer.put("))");
            }
        });
        while self.chance.once_in(6) {
            self.gap();
            self.redirection();
        }
    }

    /// Assignments, words and redirections.
    pub(super) fn simple(&mut self) {
        let mut started = false;
        while self.chance.once_in(6) {
            self.assignment();
            self.blank();
            started = true;
        }
        if self.chance.once_in(12) {
            self.redirection();
            self.blank();
            started = true;
        }
        if started && self.chance.percent(40) {
            return;
        }
        if self.chance.once_in(12) {
            self.pick(BUILTINS);
            for _ in 0..self.chance.between(0, 2) {
                self.blank();
                if self.chance.percent(70) { self.assignment() } else { self.word() }
            }
            return;
        }
        match self.chance.below(20) {
            0..15 => self.pick(PROGRAMS),
            15 => self.word(),
            16..18 => self.double_quoted(),
            _ => self.dollar(false),
        }
        for _ in 0..self.chance.below(4) {
            self.blank();
            match self.chance.below(16) {
                0..2 => self.redirection(),
                2 => {
                    self.pick(&["x=", "y+=", "x[1]="]);
                    self.word();
                }
                3 => self.pick(super::ODDITIES_AS_WORDS),
                _ => self.word(),
            }
        }
    }

    pub(super) fn assignment(&mut self) {
        self.pick(&["x", "y", "_a1", "PATH", "IFS"]);
        if self.chance.once_in(6) {
            self.put("[");
            self.subscript();
            self.put("]");
        }
        self.pick(&["=", "=", "=", "+="]);
        match self.chance.below(8) {
            0 => {}
            1..3 if self.may_nest() => self.nest(Writer::array),
            _ => self.word(),
        }
    }

    fn array(&mut self) {
        self.put("(");
        self.spaces();
        for _ in 0..self.chance.below(4) {
            if self.chance.once_in(5) {
                self.put("[");
                self.subscript();
                self.pick(&["]=", "]=", "]+="]);
            }
            self.word();
            if self.chance.once_in(5) {
                self.newline();
            } else {
                self.blank();
            }
            self.spaces();
        }
        self.put(")");
    }

    pub(super) fn subscript(&mut self) {
        match self.chance.below(8) {
            0 => self.pick(&["@", "*", "-1", "a b", "'k e'", "\"$k\"", "x[1]", "i++", "$((1))"]),
            1 => self.arithmetic(),
            2 => self.word(),
            _ => self.pick(&["0", "1", "i", "$i"]),
        }
    }

    fn subshell(&mut self) {
        self.put("(");
        self.gap();
        self.script(Ending::Free);
        self.close(")");
    }

    fn group(&mut self) {
        self.put("{");
        self.break_();
        self.script(Ending::Separated);
        self.put("}");
    }

    /// What stands after a reserved word: a blank, a newline, or nothing before a bracket.
    fn break_(&mut self) {
        if self.chance.once_in(5) {
            self.newline();
        } else {
            self.blank();
        }
        self.spaces();
    }

    /// Closes a bracket. A comment or a here-document that is still open needs a newline first.
    pub(super) fn close(&mut self, closer: &str) {
        if !self.pending.is_empty() && self.chance.percent(95) {
            self.newline();
        }
        self.gap();
        self.put(closer);
    }

    fn body_of_loop(&mut self) {
        if self.chance.once_in(12) {
            self.put("{");
            self.break_();
            self.script(Ending::Separated);
            self.put("}");
        } else {
            self.put("do");
            self.break_();
            self.script(Ending::Separated);
            self.put("done");
        }
    }

    fn if_(&mut self) {
        self.put("if");
        self.break_();
        self.script(Ending::Separated);
        self.put("then");
        self.break_();
        self.script(Ending::Separated);
        while self.chance.once_in(5) {
            self.put("elif");
            self.break_();
            self.script(Ending::Separated);
            self.put("then");
            self.break_();
            self.script(Ending::Separated);
        }
        if self.chance.once_in(4) {
            self.put("else");
            self.break_();
            self.script(Ending::Separated);
        }
        self.put("fi");
    }

    fn while_(&mut self) {
        self.pick(&["while", "until"]);
        self.break_();
        self.script(Ending::Separated);
        self.put("do");
        self.break_();
        self.script(Ending::Separated);
        self.put("done");
    }

    fn for_(&mut self) {
        if self.chance.once_in(4) {
            self.put("for");
            self.gap();
            self.put("((");
            for index in 0..3 {
                if self.chance.percent(80) {
                    self.arithmetic();
                }
                if index < 2 {
                    self.put(";");
                    self.gap();
                }
            }
            self.put("))");
            match self.chance.below(4) {
                0 => self.put(";"),
                1 => self.newline(),
                _ => self.blank(),
            }
            self.gap();
            return self.body_of_loop();
        }
        self.pick(&["for", "for", "for", "select"]);
        self.blank();
        self.pick(NAMES);
        self.gap_or_newline();
        match self.chance.below(8) {
            0 => {
                self.blank();
                self.pick(&["", ";", "\n", "; "]);
            }
            1 => {
                self.put(" in");
                self.pick(&[";", "\n", " ;"]);
            }
            _ => {
                self.put(" in");
                for _ in 0..self.chance.between(1, 3) {
                    self.blank();
                    self.word();
                }
                self.gap();
                if self.chance.percent(60) { self.put(";") } else { self.newline() }
            }
        }
        self.spaces();
        self.blank();
        self.body_of_loop();
    }

    pub(super) fn gap_or_newline(&mut self) {
        if self.chance.once_in(10) { self.newline() } else { self.gap() }
    }

    fn case(&mut self) {
        self.put("case ");
        self.word();
        self.gap_or_newline();
        self.put(" in");
        self.break_();
        let arms = self.chance.below(4);
        for index in 0..arms {
            if index > 0 {
                match self.chance.below(8) {
                    0 => self.put(";&"),
                    1 => self.put(";;&"),
                    _ => self.put(";;"),
                }
                self.spaces();
                self.gap_or_newline();
            }
            if self.chance.once_in(3) {
                self.put("(");
                self.gap();
            }
            self.pattern();
            while self.chance.once_in(4) {
                self.gap();
                self.put("|");
                self.gap();
                self.pattern();
            }
            self.gap();
            self.put(")");
            self.spaces();
            if self.chance.percent(85) {
                self.script(Ending::Free);
                if !self.pending.is_empty() {
                    self.newline();
                }
            }
            self.gap();
        }
        match (arms, self.chance.below(30)) {
            (_, 0) => self.pick(&["", ";", ";;"]),
            (0, _) => self.newline(),
            (_, 1..20) => {
                self.pick(&[";;", ";;", ";;", ";&", ";;&"]);
                self.gap_or_newline();
            }
            _ => self.newline(),
        }
        self.put("esac");
    }

    fn function(&mut self) {
        if self.chance.once_in(6) {
            self.put("function ");
            self.pick(&["f", "a-b", "a.b", "in", "if", "1", "f+", "a:b", "[", "{x"]);
            self.pick(&[" ", "\n", " ()", "()", " ( ) ", "() \n"]);
        } else {
            self.pick(&["f", "a-b", "a.b", "inn", "g_1", "a+", "[", "@x", "1"]);
            self.pick(&["()", " ()", "( )", " ( ) ", "()\n", "() # c\n", "()\\\n"]);
        }
        self.gap();
        match self.chance.below(12) {
            0 => self.subshell(),
            1 => self.if_(),
            2 => self.test(),
            3 => self.for_(),
            4 => self.case(),
            5 => self.put("((1))"),
            _ => self.group(),
        }
    }

    fn coproc(&mut self) {
        self.put("coproc ");
        match self.chance.below(4) {
            0 => self.simple(),
            1 => self.command(),
            _ => {
                self.pick(&["NAME ", "x ", ""]);
                match self.chance.below(4) {
                    0 => self.subshell(),
                    1 => self.while_(),
                    _ => self.group(),
                }
            }
        }
    }
}
