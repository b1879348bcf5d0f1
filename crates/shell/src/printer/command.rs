//! Printing commands and redirections.

use crate::dialect::Dialect;
use crate::lexer::Keyword;
use crate::printer::Printer;
use crate::tree::{
    ArmEnd, Assigned, Assignment, Branch, Command, Descriptor, Kind, List, Loop, Operator,
    Redirection, Script, Simple, Test, TestKind,
};
use crate::word::Word;

impl Printer<'_> {
    pub(super) fn command(&mut self, command: &Command) {
        self.command_behind(command, false);
    }

    /// Prints a command; behind `coproc` its redirections must not come first.
    fn command_behind(&mut self, command: &Command, is_coprocess: bool) {
        let mut is_empty = false;
        let mut redirections = self.tree.list(command.redirections);
        match command.kind {
            Kind::Simple(simple) => {
                if !is_coprocess && self.begins_reserved(&simple) {
                    for redirection in std::mem::take(&mut redirections) {
                        self.redirection(redirection);
                        self.put(" ");
                    }
                }
                let mut gap = "";
                for assignment in self.tree.list(simple.assignments) {
                    self.put(gap);
                    self.assignment(assignment);
                    gap = " ";
                }
                for word in self.tree.list(simple.words) {
                    self.put(gap);
                    self.word(word);
                    gap = " ";
                }
                is_empty = gap.is_empty();
            }
            Kind::Subshell(script) => self.enclose("( ", script, ")"),
            Kind::Group(script) => self.enclose("{ ", script, "}"),
            Kind::If(branches) => self.branches(branches),
            Kind::While(branch) => self.repeat("while ", branch),
            Kind::Until(branch) => self.repeat("until ", branch),
            Kind::For(each) => self.each("for ", each),
            Kind::Select(each) => self.each("select ", each),
            Kind::ArithmeticFor { head, body } => {
                self.put("for ((");
                self.separated(head, ";");
                self.put(")); ");
                self.enclose("do ", body, "done");
            }
            Kind::Case { subject, arms } => {
                self.put("case ");
                self.separated(subject, " ");
                self.put(" in ");
                for arm in self.tree.list(arms) {
                    // Where brackets are counted an added one would count.
                    if self.tree.text(arm.span).starts_with(b"(") {
                        self.put("(");
                    }
                    self.separated(arm.patterns, " | ");
                    self.enclose(") ", arm.body, "");
                    self.put(match arm.end {
                        ArmEnd::Break => ";; ",
                        ArmEnd::FallThrough => ";& ",
                        ArmEnd::TryNext => ";;& ",
                    });
                }
                self.put("esac");
            }
            Kind::Function { name, body, keyword } => {
                if keyword && self.tree.dialect() != Dialect::Sh {
                    self.put("function ");
                }
                self.separated(name, " ");
                self.put(" () ");
                for command in self.tree.list(body) {
                    self.command(command);
                }
            }
            Kind::Test(tests) => {
                self.put("[[ ");
                self.tests(tests, "");
                self.put(" ]]");
            }
            Kind::Arithmetic(words) => {
                self.put("((");
                self.separated(words, " ");
                self.put("))");
            }
            Kind::Coproc { name, command } => {
                self.put("coproc ");
                for word in self.tree.list(name) {
                    self.word(word);
                    self.put(" ");
                }
                for command in self.tree.list(command) {
                    self.command_behind(command, true);
                }
            }
        }
        for redirection in redirections {
            if !std::mem::take(&mut is_empty) {
                self.put(" ");
            }
            self.redirection(redirection);
        }
    }

    /// Whether the program is a word only because a redirection stands before it: reserved words,
    /// options of `time`, and what would close `${ …; }`.
    fn begins_reserved(&self, simple: &Simple) -> bool {
        let is_odd = |program: Vec<u8>| {
            Keyword::is_reserved(&program) || matches!(program.first(), Some(b'-' | b'}'))
        };
        simple.assignments.is_empty() && self.program(simple).is_some_and(is_odd)
    }

    /// The program's text as it is printed, without line breaks inside it.
    fn program(&self, simple: &Simple) -> Option<Vec<u8>> {
        let first = self.tree.list(simple.words).first()?;
        let mut text = self.tree.text(first.span).to_vec();
        while let Some(at) = text.windows(2).position(|pair| pair == b"\\\n") {
            text.drain(at..at + 2);
        }
        Some(text)
    }

    /// Whether a `time` before the command would take the program for its option.
    pub(super) fn begins_with_option(&self, command: &Command) -> bool {
        let Kind::Simple(simple) = command.kind else { return false };
        simple.assignments.is_empty()
            && command.redirections.is_empty()
            && self.program(&simple).is_some_and(|program| is_time_option(&program))
    }

    fn enclose(&mut self, opener: &str, script: Script, closer: &str) {
        self.put(opener);
        self.script(script, false);
        self.put(closer);
    }

    pub(super) fn separated(&mut self, words: List<Word>, separator: &str) {
        for (at, word) in self.tree.list(words).iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            self.word(word);
        }
    }

    fn branches(&mut self, branches: List<Branch>) {
        let mut opener = "if ";
        for branch in self.tree.list(branches) {
            match branch.condition {
                Some(condition) => {
                    self.enclose(opener, condition, "then ");
                    self.script(branch.body, false);
                }
                None => self.enclose("else ", branch.body, ""),
            }
            opener = "elif ";
        }
        self.put("fi");
    }

    fn repeat(&mut self, opener: &str, branch: Branch) {
        if let Some(condition) = branch.condition {
            self.enclose(opener, condition, "");
        }
        self.enclose("do ", branch.body, "done");
    }

    fn each(&mut self, opener: &str, each: Loop) {
        self.put(opener);
        self.separated(each.name, " ");
        if let Some(words) = each.words {
            self.put(" in ");
            self.separated(words, " ");
        }
        self.enclose("; do ", each.body, "done");
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment) {
        self.put(self.tree.text(assignment.name));
        for word in self.tree.list(assignment.subscript) {
            self.put("[");
            self.word(word);
            self.put("]");
        }
        let is_element = assignment.name.is_empty() && assignment.subscript.is_empty();
        if !is_element {
            self.put(if assignment.appends { "+=" } else { "=" });
        }
        match assignment.value {
            Assigned::Word(words) => self.separated(words, " "),
            Assigned::Array(elements) => self.elements(elements),
        }
    }

    pub(super) fn elements(&mut self, elements: List<Assignment>) {
        self.put("(");
        for (at, element) in self.tree.list(elements).iter().enumerate() {
            if at > 0 {
                self.put(" ");
            }
            self.assignment(element);
        }
        self.put(")");
    }

    fn tests(&mut self, tests: List<Test>, separator: &str) {
        for (at, test) in self.tree.list(tests).iter().enumerate() {
            if at > 0 {
                self.put(separator);
            }
            match test.kind {
                TestKind::Or(inner) => self.tests(inner, " || "),
                TestKind::And(inner) => self.tests(inner, " && "),
                TestKind::Not(inner) => {
                    self.put("! ");
                    self.tests(inner, "");
                }
                TestKind::Group(inner) => {
                    self.put("( ");
                    self.tests(inner, "");
                    self.put(" )");
                }
                TestKind::Unary(operator, words) => {
                    self.put(self.tree.text(operator));
                    self.put(" ");
                    self.separated(words, " ");
                }
                TestKind::Binary(operator, words) => {
                    let operator = String::from_utf8_lossy(self.tree.text(operator)).into_owned();
                    self.separated(words, &format!(" {operator} "));
                }
                TestKind::Word(words) => self.separated(words, " "),
            }
        }
    }

    fn redirection(&mut self, redirection: &Redirection) {
        match redirection.descriptor {
            Descriptor::Default => {}
            Descriptor::Number(digits) => self.put(self.tree.text(digits)),
            Descriptor::Variable(name) => {
                self.put("{");
                self.put(self.tree.text(name));
                self.put("}");
            }
        }
        self.put(redirection.operator.text());
        let copies = matches!(redirection.operator, Operator::CopyIn | Operator::CopyOut);
        let is_closed = self
            .tree
            .only(redirection.target)
            .is_some_and(|word| copies && self.tree.text(word.span) == b"-");
        if !is_closed {
            self.put(" ");
        }
        self.separated(redirection.target, " ");
        if redirection.heredoc.is_some() {
            self.waiting.push(*redirection);
        }
    }
}

fn is_time_option(word: &[u8]) -> bool {
    matches!(word, b"--" | b"-p")
}
