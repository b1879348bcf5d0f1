//! Laws: what holds for the tree of every text we accept.
//!
//! What is printed reads as the same tree, and every span lies in the text and in the span of
//! what holds it.

use portcullis_shell::{
    Assigned, Assignment, Command, Item, Kind, List, Part, PartKind, Pipeline, Reader, Redirection,
    Script, Span, Test, TestKind, Tree, Word, print,
};

/// The first law that the tree breaks, in one sentence.
pub fn broken(reader: &Reader, tree: &Tree) -> Option<String> {
    let printed = print(tree);
    match reader.parse(&printed) {
        Err(refusal) => {
            return Some(format!(
                "what is printed is refused: {}; it is `{}`",
                refusal.message,
                printed.escape_ascii()
            ));
        }
        Ok(again) if again.shape() != tree.shape() => {
            return Some(format!(
                "what is printed reads as another tree; it is `{}`",
                printed.escape_ascii()
            ));
        }
        Ok(_) => {}
    }
    let mut walk = Walk { tree, broken: None };
    let whole = Span::new(0, tree.source().len());
    walk.script(whole, &tree.root());
    walk.broken
}

/// Visits every node with the span of what holds it.
struct Walk<'t> {
    tree: &'t Tree,
    broken: Option<String>,
}

impl Walk<'_> {
    /// Checks one span and gives it as the place for what it holds.
    fn check(&mut self, what: &str, outer: Span, inner: Span) -> Span {
        let (span, mut inner) = (inner, self.tree.locate(inner));
        if span.is_empty() && span.start > 0 && !outer.covers(inner) {
            // Nothing stands between two bytes, and a continued line may part them.
            let end = self.tree.locate(Span { start: span.start - 1, end: span.end }).end;
            inner = Span { start: end, end };
        }
        if (!outer.covers(inner) || inner.start > inner.end) && self.broken.is_none() {
            self.broken = Some(format!(
                "the span of a {what} is {}..{} in {}..{}",
                inner.start, inner.end, outer.start, outer.end
            ));
        }
        inner
    }

    fn script(&mut self, outer: Span, script: &Script) {
        let outer = self.check("script", outer, script.span);
        for item in self.tree.list(script.items) {
            self.item(outer, item);
        }
    }

    fn item(&mut self, outer: Span, item: &Item) {
        let outer = self.check("item", outer, item.span);
        for pipeline in self.tree.list(item.pipelines) {
            self.pipeline(outer, pipeline);
        }
    }

    fn pipeline(&mut self, outer: Span, pipeline: &Pipeline) {
        let outer = self.check("pipeline", outer, pipeline.span);
        for command in self.tree.list(pipeline.commands) {
            self.command(outer, command);
        }
    }

    fn command(&mut self, outer: Span, command: &Command) {
        let outer = self.check("command", outer, command.span);
        let tree = self.tree;
        for redirection in tree.list(command.redirections) {
            self.redirection(outer, redirection);
        }
        match &command.kind {
            Kind::Simple(simple) => {
                self.assignments(outer, simple.assignments);
                self.words(outer, simple.words);
            }
            Kind::Subshell(script) | Kind::Group(script) => self.script(outer, script),
            Kind::If(branches) => {
                for branch in tree.list(*branches) {
                    branch.condition.iter().for_each(|script| self.script(outer, script));
                    self.script(outer, &branch.body);
                }
            }
            Kind::While(branch) | Kind::Until(branch) => {
                branch.condition.iter().for_each(|script| self.script(outer, script));
                self.script(outer, &branch.body);
            }
            Kind::For(each) | Kind::Select(each) => {
                self.words(outer, each.name);
                each.words.iter().for_each(|words| self.words(outer, *words));
                self.script(outer, &each.body);
            }
            Kind::ArithmeticFor { head, body } => {
                self.words(outer, *head);
                self.script(outer, body);
            }
            Kind::Case { subject, arms } => {
                self.words(outer, *subject);
                for arm in tree.list(*arms) {
                    let outer = self.check("case arm", outer, arm.span);
                    self.words(outer, arm.patterns);
                    self.script(outer, &arm.body);
                }
            }
            Kind::Function { name, body, .. } => {
                self.words(outer, *name);
                tree.list(*body).iter().for_each(|command| self.command(outer, command));
            }
            Kind::Test(tests) => self.tests(outer, *tests),
            Kind::Arithmetic(words) => self.words(outer, *words),
            Kind::Coproc { name, command, .. } => {
                self.words(outer, *name);
                tree.list(*command).iter().for_each(|command| self.command(outer, command));
            }
        }
    }

    fn tests(&mut self, outer: Span, tests: List<Test>) {
        for test in self.tree.list(tests) {
            let outer = self.check("test", outer, test.span);
            match test.kind {
                TestKind::Or(tests)
                | TestKind::And(tests)
                | TestKind::Not(tests)
                | TestKind::Group(tests) => self.tests(outer, tests),
                TestKind::Unary(operator, words) | TestKind::Binary(operator, words) => {
                    self.check("test operator", outer, operator);
                    self.words(outer, words);
                }
                TestKind::Word(words) => self.words(outer, words),
            }
        }
    }

    fn assignments(&mut self, outer: Span, assignments: List<Assignment>) {
        for assignment in self.tree.list(assignments) {
            let outer = self.check("assignment", outer, assignment.span);
            self.check("name", outer, assignment.name);
            self.words(outer, assignment.subscript);
            match assignment.value {
                Assigned::Word(words) => self.words(outer, words),
                Assigned::Array(elements) => self.assignments(outer, elements),
            }
        }
    }

    /// The body of a here-document lies behind its command, in the text of whatever is around.
    fn redirection(&mut self, outer: Span, redirection: &Redirection) {
        let outer = self.check("redirection", outer, redirection.span);
        self.words(outer, redirection.target);
        if let Some(heredoc) = redirection.heredoc {
            let whole = Span::new(0, self.tree.source().len());
            let body = self.check("here-document", whole, heredoc.span);
            self.words(body, heredoc.body);
        }
    }

    fn words(&mut self, outer: Span, words: List<Word>) {
        for word in self.tree.list(words) {
            let outer = self.check("word", outer, word.span);
            self.parts(outer, word.parts);
        }
    }

    fn parts(&mut self, outer: Span, parts: List<Part>) {
        for part in self.tree.list(parts) {
            let outer = self.check("part", outer, part.span);
            match part.kind {
                PartKind::Literal
                | PartKind::Glob
                | PartKind::Sequence
                | PartKind::Tilde
                | PartKind::AnsiC(_) => {}
                PartKind::Escaped(inner) | PartKind::SingleQuoted(inner) => {
                    self.check("quoted text", outer, inner);
                }
                PartKind::DoubleQuoted { parts, .. } => self.parts(outer, parts),
                PartKind::Parameter(expansions) => {
                    for expansion in self.tree.list(expansions) {
                        self.check("parameter", outer, expansion.name);
                        self.words(outer, expansion.subscript);
                        self.words(outer, expansion.arguments);
                    }
                }
                PartKind::Command { script, .. } | PartKind::Process { script, .. } => {
                    self.script(outer, &script);
                }
                PartKind::Array(elements) => self.assignments(outer, elements),
                PartKind::Arithmetic { expression, .. } => self.words(outer, expression),
                PartKind::ExtendedGlob { alternatives, .. } | PartKind::Brace(alternatives) => {
                    self.words(outer, alternatives);
                }
            }
        }
    }
}
