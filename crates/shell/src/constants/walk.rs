//! The walk: a script in the order it runs, with what is known at each point.

use crate::constants::Constants;
use crate::constants::effect::{Effect, Summary, evaluates};
use crate::fold::fold_again;
use crate::tree::{
    Assigned, Command, Descriptor, Item, Join, Kind, List, Loop, Pipeline, Redirection, Script,
    Simple, Test, TestKind, Tree,
};
use crate::value::{Stored, TaintKind};
use crate::word::{CommandForm, Part, PartKind, Word};

pub(super) struct Walk<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) summary: Summary,
    pub(super) now: Constants,
}

impl<'t> Walk<'t> {
    pub(super) fn new(tree: &'t mut Tree, summary: Summary) -> Walk<'t> {
        Walk { tree, summary, now: Constants::default() }
    }

    pub(super) fn run(mut self, start: Constants) {
        self.now = start;
        self.script(self.tree.root);
    }

    fn script(&mut self, script: Script) {
        for at in script.items.range() {
            if let Some(&item) = self.tree.items.get(at) {
                self.item(item);
            }
        }
    }

    /// Runs something in a shell of its own, whose parameters are forgotten with it.
    fn apart(&mut self, run: impl FnOnce(&mut Self)) -> Constants {
        let before = self.now.clone();
        run(self);
        std::mem::replace(&mut self.now, before)
    }

    fn item(&mut self, item: Item) {
        if item.background {
            self.apart(|walk| walk.and_or(item));
        } else {
            self.and_or(item);
        }
    }

    fn and_or(&mut self, item: Item) {
        if let [only] = *self.tree.list(item.pipelines) {
            self.pipeline(only);
            return;
        }
        // What every pipeline so far agrees on; it is what holds if any of them was the last.
        let mut agreed: Option<Constants> = None;
        let mut only_and = true;
        for at in item.pipelines.range() {
            let Some(&pipeline) = self.tree.pipelines.get(at) else { continue };
            only_and &= pipeline.join != Join::Or;
            if let Some(agreed) = agreed.as_ref().filter(|_| !only_and) {
                self.now = agreed.clone();
            }
            self.pipeline(pipeline);
            match &mut agreed {
                None => agreed = Some(self.now.clone()),
                Some(agreed) => agreed.meet(self.tree, &self.now),
            }
        }
        if let Some(agreed) = agreed {
            self.now = agreed;
        }
    }

    fn pipeline(&mut self, pipeline: Pipeline) {
        if pipeline.commands.len() == 1 {
            self.commands(pipeline.commands);
            return;
        }
        for stage in pipeline.commands.range() {
            let after = self.apart(|walk| walk.command_at(stage));
            // The last stage may run in the shell itself (lastpipe, zsh).
            self.now.meet(self.tree, &after);
        }
    }

    fn commands(&mut self, commands: List<Command>) {
        for at in commands.range() {
            self.command_at(at);
        }
    }

    fn command_at(&mut self, at: usize) {
        let Some(&command) = self.tree.commands.get(at) else { return };
        // A command whose redirection fails does not run.
        let before = (!command.redirections.is_empty()).then(|| self.now.clone());
        match command.kind {
            Kind::Simple(simple) => {
                self.simple(simple, command.redirections);
                if let Some(before) = before.filter(|_| !simple.words.is_empty()) {
                    self.now.meet(self.tree, &before);
                }
                return;
            }
            Kind::Subshell(script) => {
                self.apart(|walk| walk.script(script));
            }
            Kind::Group(script) => self.script(script),
            Kind::If(branches) => {
                let mut ends: Vec<Constants> = Vec::new();
                let mut has_else = false;
                for at in branches.range() {
                    let Some(&branch) = self.tree.branches.get(at) else { continue };
                    match branch.condition {
                        Some(condition) => self.script(condition),
                        None => has_else = true,
                    }
                    let end = self.apart(|walk| walk.script(branch.body));
                    ends.push(end);
                }
                if has_else && let Some(first) = ends.pop() {
                    self.now = first;
                }
                self.meet_all(&ends);
            }
            Kind::While(branch) | Kind::Until(branch) => self.repeated(|walk| {
                if let Some(condition) = branch.condition {
                    walk.script(condition);
                }
                walk.script(branch.body);
            }),
            Kind::For(each) | Kind::Select(each) => self.each(each),
            Kind::ArithmeticFor { head, body } => {
                self.now.forget_all();
                self.repeated(|walk| {
                    walk.words(head);
                    walk.script(body);
                });
            }
            Kind::Case { subject, arms } => {
                self.words(subject);
                let mut ends = Vec::new();
                for at in arms.range() {
                    let Some(&arm) = self.tree.arms.get(at) else { continue };
                    self.words(arm.patterns);
                    let end = self.apart(|walk| walk.script(arm.body));
                    // The next arm may begin where this one ends.
                    self.now.meet(self.tree, &end);
                    ends.push(end);
                }
                self.meet_all(&ends);
            }
            Kind::Function { body, .. } => {
                // It runs later, once or often, and knows nothing of what holds here.
                self.apart(|walk| {
                    walk.now.forget_all();
                    walk.commands(body);
                });
            }
            Kind::Test(tests) => self.tests(tests),
            Kind::Arithmetic(words) => {
                self.words(words);
                self.now.forget_all();
            }
            Kind::Coproc { command, .. } => {
                self.apart(|walk| walk.commands(command));
                self.now.forget_all();
            }
        }
        self.redirections(command.redirections);
        if let Some(before) = before {
            self.now.meet(self.tree, &before);
        }
    }

    fn meet_all(&mut self, ends: &[Constants]) {
        for end in ends {
            self.now.meet(self.tree, end);
        }
    }

    /// A body that may run any number of times: only what it cannot change is known in it.
    fn repeated(&mut self, run: impl FnOnce(&mut Self)) {
        if self.summary.has_changer {
            self.now.forget_all();
        } else {
            let Walk { tree, summary, now } = self;
            now.entries.retain(|(name, _)| summary.is_stable(tree.text(*name)));
        }
        let after = self.apart(run);
        self.now.meet(self.tree, &after);
    }

    fn each(&mut self, each: Loop) {
        if let Some(words) = each.words {
            self.words(words);
        }
        if let Some(word) = self.tree.only(each.name) {
            let name = self.tree.text(word.span).to_vec();
            self.now.forget(self.tree, &name);
        }
        self.repeated(|walk| walk.script(each.body));
    }

    fn tests(&mut self, tests: List<Test>) {
        for at in tests.range() {
            let Some(&test) = self.tree.tests.get(at) else { continue };
            match test.kind {
                TestKind::Or(inner)
                | TestKind::And(inner)
                | TestKind::Not(inner)
                | TestKind::Group(inner) => self.tests(inner),
                TestKind::Word(words) => self.words(words),
                TestKind::Unary(operator, words) | TestKind::Binary(operator, words) => {
                    self.words(words);
                    // Numbers are expressions here, and expressions can assign.
                    let compares_numbers = matches!(
                        self.tree.text(operator),
                        b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" | b"-v" | b"-t"
                    );
                    if compares_numbers {
                        self.now.forget_all();
                    }
                }
            }
        }
    }

    fn simple(&mut self, simple: Simple, redirections: List<Redirection>) {
        self.words(simple.words);
        let has_program = !simple.words.is_empty();
        let is_passing = has_program && !simple.assignments.is_empty();
        let before = is_passing.then(|| self.now.clone());
        for at in simple.assignments.range() {
            let Some(&assignment) = self.tree.assignments.get(at) else { continue };
            self.assignment(assignment);
        }
        self.redirections(redirections);
        if let Some(before) = before {
            // Assignments before a program last as long as it does, or longer in some shells.
            let during = std::mem::replace(&mut self.now, before);
            self.now.meet(self.tree, &during);
            for at in simple.assignments.range() {
                if let Some(&assignment) = self.tree.assignments.get(at) {
                    self.forget_span(assignment.name);
                }
            }
        }
        let effect = self.summary.effect(self.tree, self.tree.list(simple.words));
        match effect {
            Effect::None => {}
            Effect::Declares => self.declared(simple.words),
            Effect::Unsets => self.unset(simple.words),
            Effect::ChangesAny => self.now.forget_all(),
            Effect::ChangesLater => self.now.poison(),
        }
    }

    fn redirections(&mut self, redirections: List<Redirection>) {
        for at in redirections.range() {
            let Some(&redirection) = self.tree.redirections.get(at) else { continue };
            self.words(redirection.target);
            if let Some(heredoc) = redirection.heredoc {
                self.words(heredoc.body);
            }
            if let Descriptor::Variable(name) = redirection.descriptor {
                self.forget_span(name);
            }
        }
    }

    pub(super) fn words(&mut self, words: List<Word>) {
        for at in words.range() {
            let Some(&word) = self.tree.words.get(at) else { continue };
            self.parts(word.parts);
            let reads_parameter = matches!(
                self.tree.stored(&word),
                Stored::Tainted { kind: TaintKind::Parameter, .. }
                    | Stored::Set { .. }
                    | Stored::Tainted { .. }
                    | Stored::Pattern(_)
            );
            if reads_parameter && !self.now.is_empty() {
                fold_again(self.tree, at, &self.now);
            }
            if evaluates(self.tree, &word) {
                self.now.poison();
            }
        }
    }

    /// Runs what is nested in the parts of a word.
    fn parts(&mut self, parts: List<Part>) {
        for at in parts.range() {
            let Some(&part) = self.tree.parts.get(at) else { continue };
            match part.kind {
                PartKind::DoubleQuoted { parts, .. } => self.parts(parts),
                PartKind::Command { form: CommandForm::Dollar | CommandForm::Backtick, script }
                | PartKind::Process { script, .. } => {
                    self.apart(|walk| walk.script(script));
                }
                PartKind::Command { script, .. } => {
                    self.script(script);
                    self.now.forget_all();
                }
                PartKind::Arithmetic { expression: words, .. }
                | PartKind::ExtendedGlob { alternatives: words, .. }
                | PartKind::Brace(words) => self.words(words),
                PartKind::Parameter(expansion) => {
                    let Some(&expansion) = self.tree.only(expansion) else { continue };
                    self.words(expansion.subscript);
                    self.words(expansion.arguments);
                    if super::assigns(expansion.operator) {
                        self.forget_span(expansion.name);
                    }
                }
                PartKind::Array(elements) => {
                    for at in elements.range() {
                        if let Some(&element) = self.tree.assignments.get(at) {
                            self.words(element.subscript);
                            if let Assigned::Word(word) = element.value {
                                self.words(word);
                            }
                        }
                    }
                }
                PartKind::Literal
                | PartKind::Escaped(_)
                | PartKind::SingleQuoted(_)
                | PartKind::AnsiC(_)
                | PartKind::Glob
                | PartKind::Sequence
                | PartKind::Tilde => {}
            }
        }
    }
}
