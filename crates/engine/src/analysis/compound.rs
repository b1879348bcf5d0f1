//! Compound commands: branches, loops, functions, tests.

use portcullis_shell::{Command, Kind, List, Script, Span, Test, TestKind};

use super::state::Function;
use super::walk::{Feed, Walk};
use super::{Functions, Syntax};
use crate::act::{Act, ActKind, Note};
use crate::arg::Arg;
use crate::catalog;
use crate::effect::{Effect, EffectOn};
use crate::lists;

impl Walk<'_, '_> {
    pub(super) fn compound(&mut self, command: &Command) {
        match command.kind {
            Kind::Simple(simple) => self.simple(command, simple),
            Kind::Subshell(script) => {
                self.syntax(Syntax::Subshell, command.span);
                self.apart(|walk| walk.script(script));
            }
            Kind::Group(script) => self.script(script),
            Kind::If(branches) => {
                for branch in self.tree.list(branches) {
                    if let Some(condition) = branch.condition {
                        self.perhaps(|walk| walk.script(condition));
                    }
                    self.perhaps(|walk| walk.script(branch.body));
                }
            }
            Kind::While(branch) | Kind::Until(branch) => {
                let first = self.analysis.found.acts.len();
                if let Some(condition) = branch.condition {
                    self.condition(condition);
                }
                let body = self.analysis.found.acts.len();
                self.again(|walk| walk.script(branch.body));
                let is_until = matches!(command.kind, Kind::Until(_));
                self.ends(branch, is_until, first, body);
            }
            Kind::For(each) | Kind::Select(each) => {
                for name in self.tree.list(each.name) {
                    let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
                    self.sets(&name, None, command.span);
                }
                let first = self.analysis.found.acts.len();
                let words = each.words.unwrap_or_default();
                let is_operand = self.operands(words) && each.words.is_some();
                self.keep_words(words, first);
                for name in self.tree.list(each.name) {
                    let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
                    self.hold(&name, is_operand);
                }
                let around = self.analysis.state.rounds.len();
                if matches!(command.kind, Kind::For(_)) {
                    self.begin_rounds(each.name, words);
                }
                self.again(|walk| walk.script(each.body));
                self.analysis.state.rounds.truncate(around);
                // Behind the loop it may hold what it held before, if there was nothing to do.
                for name in self.tree.list(each.name) {
                    let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
                    self.hold(&name, false);
                }
            }
            Kind::ArithmeticFor { head, body } => {
                self.words(head);
                let first = self.analysis.found.acts.len();
                self.again(|walk| walk.script(body));
                self.arithmetic_ends(head, command, first);
            }
            Kind::Case { subject, arms } => {
                self.words(subject);
                for arm in self.tree.list(arms) {
                    self.words(arm.patterns);
                    self.perhaps(|walk| walk.script(arm.body));
                }
            }
            Kind::Function { name, body, .. } => self.function(name, body),
            Kind::Test(tests) => {
                self.tests(tests);
                self.only_looks(command.span);
            }
            Kind::Arithmetic(words) => {
                self.words(words);
                self.only_looks(command.span);
            }
            Kind::Coproc { name, command: inner } => {
                for name in self.tree.list(name) {
                    let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
                    self.sets(&name, None, command.span);
                }
                let first = self.analysis.found.acts.len();
                for command in self.tree.list(inner) {
                    self.apart(|walk| walk.listened_to(|walk| walk.command(command)));
                }
                self.keep_printed(first);
            }
        }
    }

    /// A command that is neither a program nor a file: it only looks.
    fn only_looks(&mut self, span: Span) {
        let (span, effects) = (self.span(span), vec![EffectOn::of(Effect::Read)]);
        self.analysis.push(Act { kind: ActKind::Assignment, span, effects, ..Act::default() });
    }

    /// The condition of a loop, which runs before its body, whatever comes of it.
    fn condition(&mut self, condition: Script) {
        let before = self.analysis.state.clone();
        self.script(condition);
        let state = &mut self.analysis.state;
        let kept = (std::mem::take(&mut state.operands), std::mem::take(&mut state.lines));
        state.doubt(&before);
        (state.operands, state.lines) = kept;
    }

    /// The body of a loop: in later rounds it begins where an earlier one ended.
    fn again(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.analysis.state.clone();
        let from = self.analysis.found.acts.len();
        // Another round has left another directory.
        self.analysis.state.before = None;
        run(self);
        let after = &self.analysis.state;
        let has_moved = after.directory != before.directory || after.strays.differ(&before.strays);
        if has_moved {
            let acts = self.analysis.found.acts.get_mut(from..).unwrap_or_default();
            for act in acts {
                act.directory = None;
            }
        }
        self.analysis.state.doubt(&before);
    }

    fn function(&mut self, name: List<portcullis_shell::Word>, body: List<Command>) {
        // The body runs later, if at all, and wherever the script is then.
        let state = self.analysis.state.clone();
        let is_open = self.analysis.functions == Functions::Anywhere;
        if is_open {
            self.analysis.state.directory = None;
        } else {
            self.analysis.functions = Functions::Here;
        }
        self.analysis.state.before = None;
        let feed = std::mem::replace(&mut self.analysis.feed, Feed::Unknown);
        let had_moved = std::mem::replace(&mut self.analysis.has_moved, false);
        let (first, joins) = (self.analysis.found.acts.len(), self.analysis.found.syntax.len());
        let around = self.analysis.state.rounds.len();
        self.begin_calls(name, body);
        for command in self.tree.list(body) {
            self.listened_to(|walk| walk.command(command));
        }
        self.analysis.state.rounds.truncate(around);
        self.analysis.feed = feed;
        self.bomb(name, first, joins);
        // Wherever the body goes, also from a place that is not known, the script is then.
        let moves = is_open && self.analysis.has_moved;
        self.analysis.has_moved |= had_moved;
        let after = std::mem::replace(&mut self.analysis.state, state);
        self.analysis.state.outlive(after);
        if moves {
            self.analysis.state.directory = None;
        }
        let acts = first..self.analysis.found.acts.len();
        for word in self.tree.list(name) {
            let name = String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
            // Some shells take a builtin of that name first, and the script may take the function
            // away, before a call or in a body that runs before it.
            let is_certain = catalog::find(&name)
                .is_none_or(|program| !program.is_builtin && !self.forgets_functions());
            let depth = self.analysis.via.len();
            let function = Function { is_certain, depth, acts: acts.clone() };
            self.analysis.state.functions.insert(name, function);
        }
    }

    /// Whether a command of the script may take functions away.
    fn forgets_functions(&mut self) -> bool {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+./:[".contains(byte);
        let tree = self.tree;
        *self.analysis.forgets.get_or_insert_with(|| {
            tree.commands().any(|command| {
                let Kind::Simple(simple) = command.kind else { return false };
                let Some(first) = tree.list(simple.words).first() else { return false };
                let name = tree.text(first.span);
                let is_listed = || lists::FORGETTERS.iter().any(|known| known.as_bytes() == name);
                !name.iter().all(is_plain) || is_listed()
            })
        })
    }

    /// A function that starts itself more than once, or in the background, never ends.
    fn bomb(&mut self, name: List<portcullis_shell::Word>, first: usize, joins: usize) {
        let Some(word) = self.tree.list(name).first() else { return };
        let name = String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
        let found = &self.analysis.found;
        let acts = found.acts.get(first..).unwrap_or_default();
        let calls = acts.iter().filter(|act| act.program() == Some(&name)).count();
        let joins = found.syntax.get(joins..).unwrap_or_default();
        let is_apart = joins.iter().any(|(syntax, _)| *syntax == Syntax::Background);
        if calls > 1 || calls == 1 && is_apart {
            let span = self.span(word.span);
            let message = Some("starts itself again and again".to_owned());
            let notes = vec![Note { guard: "power", span, message }];
            let effects = vec![EffectOn::of(Effect::Execute)];
            self.analysis.push(Act {
                span,
                effects,
                notes,
                kind: ActKind::Unreadable,
                ..Act::default()
            });
        }
    }

    fn tests(&mut self, tests: List<Test>) {
        for test in self.tree.list(tests) {
            match test.kind {
                TestKind::Or(inner)
                | TestKind::And(inner)
                | TestKind::Not(inner)
                | TestKind::Group(inner) => self.tests(inner),
                TestKind::Unary(operator, words) => {
                    self.words(words);
                    if matches!(self.tree.text(operator), b"-v" | b"-R") {
                        self.named(words);
                    }
                    // The descriptor is a number; zsh evaluates it.
                    if self.tree.text(operator) == b"-t" {
                        for word in self.tree.list(words) {
                            self.arithmetic(word);
                        }
                    }
                }
                TestKind::Word(words) => self.words(words),
                TestKind::Binary(operator, words) => {
                    self.words(words);
                    let is_arithmetic = matches!(
                        self.tree.text(operator),
                        b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge"
                    );
                    if is_arithmetic {
                        for word in self.tree.list(words) {
                            self.arithmetic(word);
                        }
                    }
                }
            }
        }
    }

    /// Words that name variables: a subscript in them is evaluated.
    fn named(&mut self, words: List<portcullis_shell::Word>) {
        for word in self.tree.list(words) {
            let args = self.args(std::slice::from_ref(word));
            let is_plain = |arg: &Arg| arg.as_known().is_some_and(|text| !text.contains('['));
            if !args.iter().all(is_plain) {
                let span = self.span(word.span);
                self.analysis.push_unknown("the name of a variable that may hold a command", span);
            }
        }
    }
}
