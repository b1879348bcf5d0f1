//! The shape of a tree: its structure as text, without spans.
//!
//! Two texts with the same shape say the same. Shapes are compared in tests and read by people,
//! so they are short: one line for an item, indented by depth.

use std::fmt::Write;

use crate::tree::{
    ArmEnd, Assigned, Assignment, Command, Descriptor, Item, Join, Kind, List, Pipeline,
    Redirection, Script, Test, TestKind, Tree,
};
use crate::word::{CommandForm, Part, PartKind, Prefix, Word};

impl Tree {
    /// The structure of the tree as text.
    #[must_use]
    pub fn shape(&self) -> String {
        let mut shape = Shape { tree: self, out: String::new() };
        for item in self.list(self.root.items) {
            shape.item(item);
            shape.out.push('\n');
        }
        shape.out
    }
}

struct Shape<'t> {
    tree: &'t Tree,
    out: String,
}

impl Shape<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn text(&mut self, bytes: &[u8]) {
        let _ = write!(self.out, "{}", bytes.escape_ascii());
    }

    fn script(&mut self, script: Script) {
        self.put("{");
        for (at, item) in self.tree.list(script.items).iter().enumerate() {
            self.put(if at > 0 { "; " } else { "" });
            self.item(item);
        }
        self.put("}");
    }

    fn item(&mut self, item: &Item) {
        for pipeline in self.tree.list(item.pipelines) {
            self.put(match pipeline.join {
                Join::First => "",
                Join::And => " && ",
                Join::Or => " || ",
            });
            self.pipeline(pipeline);
        }
        if item.background {
            self.put(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let Some(time) = pipeline.time {
            self.put(if time.posix { "time-p " } else { "time " });
        }
        for _ in 0..pipeline.bangs {
            self.put("! ");
        }
        for (at, command) in self.tree.list(pipeline.commands).iter().enumerate() {
            self.put(if at > 0 { " | " } else { "" });
            self.command(command);
            if command.pipes_errors {
                self.put(" 2>&1");
            }
        }
    }

    fn command(&mut self, command: &Command) {
        self.put("(");
        match command.kind {
            Kind::Simple(simple) => {
                self.put("run");
                for assignment in self.tree.list(simple.assignments) {
                    self.put(" ");
                    self.assignment(assignment);
                }
                self.words(simple.words);
            }
            Kind::Subshell(script) => self.named("subshell ", script),
            Kind::Group(script) => self.named("group ", script),
            Kind::If(branches) => {
                self.put("if");
                for branch in self.tree.list(branches) {
                    match branch.condition {
                        Some(condition) => self.named(" ", condition),
                        None => self.put(" else"),
                    }
                    self.named(" ", branch.body);
                }
            }
            Kind::While(branch) | Kind::Until(branch) => {
                let is_while = matches!(command.kind, Kind::While(_));
                self.put(if is_while { "while" } else { "until" });
                if let Some(condition) = branch.condition {
                    self.named(" ", condition);
                }
                self.named(" ", branch.body);
            }
            Kind::For(each) | Kind::Select(each) => {
                self.put(if matches!(command.kind, Kind::For(_)) { "for" } else { "select" });
                self.words(each.name);
                if let Some(words) = each.words {
                    self.put(" in");
                    self.words(words);
                }
                self.named(" ", each.body);
            }
            Kind::ArithmeticFor { head, body } => {
                self.put("for-arithmetic");
                self.words(head);
                self.named(" ", body);
            }
            Kind::Case { subject, arms } => {
                self.put("case");
                self.words(subject);
                for arm in self.tree.list(arms) {
                    self.put(" [");
                    self.words(arm.patterns);
                    self.named(" ] ", arm.body);
                    self.put(match arm.end {
                        ArmEnd::Break => "",
                        ArmEnd::FallThrough => " ;&",
                        ArmEnd::TryNext => " ;;&",
                    });
                }
            }
            Kind::Function { name, body, .. } => {
                self.put("function");
                self.words(name);
                self.put(" ");
                for command in self.tree.list(body) {
                    self.command(command);
                }
            }
            Kind::Test(tests) => {
                self.put("test ");
                self.tests(tests, "");
            }
            Kind::Arithmetic(words) => {
                self.put("arithmetic");
                self.words(words);
            }
            Kind::Coproc { name, command } => {
                self.put("coproc");
                self.words(name);
                self.put(" ");
                for command in self.tree.list(command) {
                    self.command(command);
                }
            }
        }
        for redirection in self.tree.list(command.redirections) {
            self.redirection(redirection);
        }
        self.put(")");
    }

    fn named(&mut self, name: &str, script: Script) {
        self.put(name);
        self.script(script);
    }

    fn tests(&mut self, tests: List<Test>, separator: &str) {
        for (at, test) in self.tree.list(tests).iter().enumerate() {
            self.put(if at > 0 { separator } else { "" });
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
                TestKind::Unary(operator, words) | TestKind::Binary(operator, words) => {
                    self.text(self.tree.text(operator));
                    self.words(words);
                }
                TestKind::Word(words) => {
                    self.put("word");
                    self.words(words);
                }
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.text(self.tree.text(assignment.name));
        for word in self.tree.list(assignment.subscript) {
            self.put("[");
            self.word(word);
            self.put("]");
        }
        self.put(if assignment.appends { "+=" } else { "=" });
        match assignment.value {
            Assigned::Word(words) => {
                for word in self.tree.list(words) {
                    self.word(word);
                }
            }
            Assigned::Array(elements) => self.elements(elements),
        }
    }

    fn elements(&mut self, elements: List<Assignment>) {
        self.put("(");
        for element in self.tree.list(elements) {
            self.put(" ");
            self.assignment(element);
        }
        self.put(" )");
    }

    fn redirection(&mut self, redirection: &Redirection) {
        self.put(" ");
        match redirection.descriptor {
            Descriptor::Default => {}
            Descriptor::Number(digits) => self.text(self.tree.text(digits)),
            Descriptor::Variable(name) => {
                self.put("{");
                self.text(self.tree.text(name));
                self.put("}");
            }
        }
        self.put(redirection.operator.text());
        self.words(redirection.target);
        if let Some(heredoc) = redirection.heredoc {
            self.put(if heredoc.quoted { " quoted" } else { "" });
            self.put(if heredoc.closed { "" } else { " unclosed" });
            self.words(heredoc.body);
        }
    }

    fn words(&mut self, words: List<Word>) {
        for word in self.tree.list(words) {
            self.put(" ");
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word) {
        if word.parts.is_empty() {
            self.put("<>");
        }
        self.parts(word.parts);
    }

    fn parts(&mut self, parts: List<Part>) {
        for part in self.tree.list(parts) {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part) {
        match part.kind {
            PartKind::Literal => self.text(self.tree.text(part.span)),
            PartKind::Escaped(inner) => self.wrapped("\\<", inner, ">"),
            PartKind::SingleQuoted(inner) => self.wrapped("'", inner, "'"),
            PartKind::AnsiC(decoded) => self.wrapped("$'", decoded, "'"),
            PartKind::DoubleQuoted { parts, locale } => {
                self.put(if locale { "$\"" } else { "\"" });
                self.parts(parts);
                self.put("\"");
            }
            PartKind::Parameter(expansions) => {
                for expansion in self.tree.list(expansions) {
                    self.put(if expansion.braced { "${" } else { "$<" });
                    self.put(match expansion.prefix {
                        Prefix::None => "",
                        Prefix::Length => "#",
                        Prefix::Indirect => "!",
                        Prefix::Names => "!!",
                    });
                    self.text(self.tree.text(expansion.name));
                    for word in self.tree.list(expansion.subscript) {
                        self.put("[");
                        self.word(word);
                        self.put("]");
                    }
                    let sign = self.tree.text(expansion.sign);
                    let is_kept = |byte: &u8| !matches!(byte, b'\\' | b'\n');
                    let sign: Vec<u8> = sign.iter().copied().filter(is_kept).collect();
                    if !sign.is_empty() {
                        self.put(" ");
                        self.text(&sign);
                    }
                    self.words(expansion.arguments);
                    self.put(if expansion.braced { "}" } else { ">" });
                }
            }
            PartKind::Command { form, script } => {
                self.put(match form {
                    CommandForm::Dollar => "$",
                    CommandForm::Backtick => "`",
                    CommandForm::Brace => "$ ",
                    CommandForm::BraceReply => "$|",
                });
                self.script(script);
            }
            PartKind::Process { output, script } => {
                self.named(if output { ">" } else { "<" }, script);
            }
            PartKind::Arithmetic { bracket, expression } => {
                self.put(if bracket { "$[" } else { "$((" });
                self.words(expression);
                self.put(if bracket { " ]" } else { " ))" });
            }
            PartKind::Glob | PartKind::Tilde => self.wrapped("<", part.span, ">"),
            PartKind::ExtendedGlob { operator, alternatives } => {
                self.text(&[operator]);
                self.put("<");
                self.words(alternatives);
                self.put(" >");
            }
            PartKind::Brace(alternatives) => {
                self.put("<brace");
                self.words(alternatives);
                self.put(" >");
            }
            PartKind::Sequence => self.wrapped("<sequence ", part.span, ">"),
            PartKind::Array(elements) => self.elements(elements),
        }
    }

    fn wrapped(&mut self, open: &str, span: crate::span::Span, close: &str) {
        self.put(open);
        self.text(self.tree.text(span));
        self.put(close);
    }
}
