//! Compound commands: everything with a beginning, a middle and an end.

use super::Grower;

impl Grower<'_> {
    /// Any compound command, often with a redirection behind it.
    pub(super) fn compound(&mut self) {
        self.spend();
        match self.chance.below(20) {
            0 | 1 => self.group(),
            2 | 3 => self.subshell(),
            4 | 5 => self.if_then(),
            6 => self.while_do(),
            7 | 8 => self.for_in(),
            9 | 10 => self.case_in(),
            11 | 12 => self.function(),
            13 | 14 if self.is_bash() => self.test(),
            15 if self.is_bash() => self.arithmetic_command(),
            16 if self.is_bash() => self.arithmetic_for(),
            17 if self.is_bash() => self.coproc(),
            18 if self.is_bash() => self.select(),
            _ => self.nested_parentheses(),
        }
        if self.chance.once_in(6) {
            self.redirection();
        }
    }

    fn end(&mut self) {
        match self.chance.below(3) {
            0 => self.newline(),
            1 => {
                self.put("; ");
            }
            _ => {
                self.put(";");
                self.newline();
            }
        }
    }

    fn group(&mut self) {
        self.put_one(&["{ ", "{\t", "{\\\n "]);
        self.script();
        self.end();
        self.put("}");
    }

    fn subshell(&mut self) {
        self.put_one(&["(", "( ", "( \\\n"]);
        self.script();
        self.close_line();
        self.put(")");
    }

    fn if_then(&mut self) {
        let tag = self.tag();
        self.put("if ");
        if self.chance.once_in(4) {
            self.script();
        } else {
            let test = self.chance.pick(&[
                "p0 T",
                "p7 T",
                "! p0 T",
                "p7 T || p0 T",
                "{ p0 T; }",
                "(p0 T)",
            ]);
            self.put(&test.replace('T', &tag));
        }
        self.end();
        self.put_one(&["then ", "then\t", "then\\\n "]);
        self.script();
        self.end();
        if self.chance.once_in(3) {
            let tag = self.tag();
            self.put(&format!("elif p0 {tag}; then "));
            self.script();
            self.end();
        }
        if self.chance.once_in(2) {
            self.put("else ");
            self.script();
            self.end();
        }
        self.put("fi");
    }

    fn while_do(&mut self) {
        let tag = self.tag();
        let head = self.chance.pick(&[
            "while p0 T",
            "until p7 T",
            "while read y",
            "until p0 T",
            "while ! p7 T",
        ]);
        self.put(&head.replace('T', &tag));
        self.end();
        self.put("do ");
        self.script();
        self.end();
        self.put("break; done");
    }

    fn for_in(&mut self) {
        let name = self.chance.pick(&["x", "y", "in", "do"]);
        let name = if name.len() > 1 && !self.is_bash() { "x" } else { name };
        self.put("for ");
        self.put(name);
        match self.chance.below(8) {
            0 => self.put_one(&[" in;", " in\n", ";", "\n"]),
            1 => self.put_one(&[" in a b;", " in f*;", " in \"$@\";", " in {a,b}\n", "\nin a\n"]),
            _ => {
                self.put(" in ");
                for _ in 0..self.chance.between(1, 2) {
                    self.word();
                    self.blank();
                }
                self.end();
            }
        }
        if self.is_bash() && self.chance.once_in(8) {
            self.put(" { ");
            self.script();
            self.end();
            self.put("}");
            return;
        }
        self.put(" do ");
        self.script();
        self.end();
        self.put("done");
    }

    fn select(&mut self) {
        self.put("select x in ");
        self.word();
        self.put("; do ");
        self.script();
        self.end();
        self.put("break; done <<< 1");
    }

    fn case_in(&mut self) {
        self.put("case ");
        if self.chance.once_in(2) {
            self.put("a");
        } else {
            self.word();
        }
        self.put_one(&[" in ", "\nin\n", " in\\\n "]);
        for _ in 0..self.chance.between(1, 3) {
            self.put_one(&["", "(", "( "]);
            for index in 0..self.chance.between(1, 2) {
                if index > 0 {
                    self.put_one(&["|", " | "]);
                }
                match self.chance.below(5) {
                    0 => self.put_one(&["*", "a", "?", "[a-z]", "\"a\"", "'a'", "a*", "if", "\\a"]),
                    1 => self.put("a"),
                    2 if self.is_bash() => self.put_one(&["@(a|b)", "?(x)a", "!(b)", "*(a)"]),
                    _ => self.word(),
                }
            }
            self.put_one(&[")", " )", ") "]);
            self.put(" ");
            if !self.chance.once_in(5) {
                self.script();
            }
            self.close_line();
            if self.is_bash() {
                self.put_one(&[";;", " ;;", ";;\n", ";&", ";;&", " ;;\n "]);
            } else {
                self.put_one(&[";;", " ;;", ";;\n"]);
            }
            self.put(" ");
        }
        if self.chance.once_in(3) {
            let tag = self.tag();
            self.put(&format!("*) p0 {tag}\n"));
        }
        self.put("esac");
    }

    fn function(&mut self) {
        let name = self.chance.pick(&["f1", "f2", "p3", "rm", "f-x", "ls"]);
        let name = if self.is_bash() { name } else { "f1" };
        match self.chance.below(5) {
            0 if self.is_bash() => self.put(&format!("function {name} ")),
            1 if self.is_bash() => self.put(&format!("function {name} () ")),
            2 => self.put(&format!("{name} ( ) ")),
            3 => self.put(&format!("{name}()\n")),
            _ => self.put(&format!("{name}() ")),
        }
        match self.chance.below(6) {
            0 => self.subshell(),
            1 => self.if_then(),
            2 => self.case_in(),
            _ => self.group(),
        }
        if self.chance.once_in(6) {
            self.redirection();
        }
        self.end();
        let tag = self.tag();
        self.put(&format!("{name} {tag} "));
        self.word();
    }

    fn test(&mut self) {
        self.put_one(&["[[ ", "[[\n", "[[\t"]);
        self.condition(0);
        self.put_one(&[" ]]", "\n]]"]);
    }

    fn condition(&mut self, depth: usize) {
        match self.chance.below(13) {
            0 if depth < 3 => {
                self.condition(depth + 1);
                self.put_one(&[" && ", " || ", "\n&&\n", " &&\n"]);
                self.condition(depth + 1);
            }
            1 if depth < 3 => {
                self.put_one(&["( ", "("]);
                self.condition(depth + 1);
                self.put_one(&[" )", ")"]);
            }
            2 => {
                self.put("! ");
                self.condition(depth + 1);
            }
            3 => {
                self.put_one(&["-n ", "-z ", "-f ", "-e ", "-v ", "-d "]);
                self.word();
            }
            4 => {
                self.arithmetic_word();
                self.put_one(&[" -eq ", " -lt ", " -ne "]);
                self.arithmetic_word();
            }
            5 => {
                self.word();
                self.put_one(&[
                    " =~ a(b|c)",
                    " =~ ^[a-z ]+$",
                    " =~ (x) ",
                    " =~ a\\ b",
                    " =~ $u",
                    " =~ ' '",
                ]);
            }
            6 => {
                self.put("a =~ ");
                let tag = self.tag();
                self.put(&format!("($(p6 {tag})|a)"));
            }
            7 => {
                self.word();
                self.put_one(&[" == @(a|b)", " == !(x)*", " = +([a-z])", " != ?(a)b"]);
            }
            8 => self.word(),
            9 => {
                let tag = self.tag();
                self.put(&format!("-v a[$(p5 {tag})]"));
            }
            _ => {
                self.word();
                self.put_one(&[" == ", " = ", " != ", " < ", " > "]);
                self.word();
            }
        }
    }

    fn arithmetic_word(&mut self) {
        let tag = self.tag();
        let word =
            self.chance.pick(&["1", "x", "$(p5 T)", "\"$(p5 T)\"", "a[$(p5 T)]", "1+1", "`p5 T`"]);
        self.put(&word.replace('T', &tag));
    }

    fn arithmetic_command(&mut self) {
        self.put_one(&["((", "(( "]);
        self.arithmetic(0);
        self.put_one(&["))", " ))"]);
    }

    fn arithmetic_for(&mut self) {
        let tag = self.tag();
        let head = self.chance.pick(&[
            "for ((i=0; i<2; i++))",
            "for (( i = $(p5 T) ; i < 2 ; i += 1 ))",
            "for ((;;))",
            "for ((i=0;i<`p5 T`;i++))",
            "for((i=0;\ni<1;\ni++))",
            "for ((i=(1);i<2;i++)) ;",
        ]);
        self.put(&head.replace('T', &tag));
        self.put_one(&["; do ", " do ", "\ndo\n"]);
        self.script();
        self.end();
        self.put("break; done");
    }

    fn coproc(&mut self) {
        let tag = self.tag();
        match self.chance.below(4) {
            0 => self.put(&format!("coproc p1 {tag} a")),
            1 if self.chance.once_in(2) => self.put(&format!("p0 $(coproc p1 {tag} a)")),
            1 => {
                self.put("coproc N ");
                self.group();
            }
            2 => {
                self.put("coproc ");
                self.group();
            }
            _ => {
                self.put("coproc ");
                self.subshell();
            }
        }
    }

    /// Two parentheses that are not arithmetic.
    fn nested_parentheses(&mut self) {
        let tag = self.tag();
        let text = self.chance.pick(&[
            "((p1 T) ; p2 T)",
            "( (p1 T); p2 T )",
            "((p1 T) | p2 T)",
            "p0 $((p1 T) | cat)",
            "((p1 T); (p2 T))",
            "(((p1 T)))",
            "( ( (p1 T)))",
            "p0 $( (p1 T) )",
            "((p1 T)\n(p2 T))",
            "p0 \"$((p1 T); (p2 T))\"",
            "((p1 T) && (p2 T))",
            "p0 $(((p1 T)))",
            "((p1 $(p2 T)) )",
        ]);
        self.put(&text.replace('T', &tag));
    }
}
