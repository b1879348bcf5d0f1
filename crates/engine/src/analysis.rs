//! Analysis: from the tree of a command to the acts it consists of.
//!
//! The walk follows the script in the order it runs and keeps what later commands depend on: the
//! working directory, functions, variables. Nested scripts are walked where they stand, and text
//! that will run is parsed again ([`peel`](crate::peel)).

mod expand;
mod state;

use portcullis_shell::{
    Assigned as Value, Assignment, Command, Dialect, Kind, List, Operator, Reader, Redirection,
    Refusal, Script, Simple, Span, Test, TestKind, Tree, Word,
};

use crate::act::{Act, Assigned};
use crate::arg::{self, Arg, Text};
use crate::effect::{Effect, EffectOn, Target};
use crate::environment::{self, Setting};
use crate::peel;
use crate::usage::Unknown;

pub use state::State;

/// How many texts may run inside one another before the rest is unknown.
const NESTED_TEXTS: usize = 8;

/// How many acts a call may have; more are unknown.
const ACTS: usize = 4096;

/// What a command consists of.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// Its acts, in order.
    pub acts: Vec<Act>,
    /// Why the text, or a text inside it, was not read.
    pub refusals: Vec<Refusal>,
}

/// Takes a command apart.
#[must_use]
pub fn analyse(text: &str, dialect: Dialect) -> Acts {
    let mut analysis = Analysis::new(dialect);
    analysis.text(text, None);
    analysis.found
}

pub(crate) struct Analysis {
    dialect: Dialect,
    pub(crate) found: Acts,
    pub(crate) state: State,
    /// The programs around the text being read.
    pub(crate) via: Vec<String>,
    depth: usize,
}

impl Analysis {
    fn new(dialect: Dialect) -> Analysis {
        let (found, state) = (Acts::default(), State::default());
        Analysis { dialect, found, state, via: Vec::new(), depth: 0 }
    }

    /// Reads a text that runs; `within` is where it stands if it is part of another.
    pub(crate) fn text(&mut self, text: &str, within: Option<Span>) {
        if self.depth > NESTED_TEXTS || self.found.acts.len() >= ACTS {
            self.push_unknown("texts run inside one another too often", within.unwrap_or_default());
            return;
        }
        match Reader::new(self.dialect).parse(text.as_bytes()) {
            Ok(tree) => {
                self.depth += 1;
                Walk { analysis: self, tree: &tree, within }.script(tree.root());
                self.depth -= 1;
            }
            Err(refusal) => {
                let span = within.unwrap_or(refusal.span);
                self.push_unknown(&refusal.message, span);
                self.found.refusals.push(Refusal { span, ..refusal });
            }
        }
    }

    pub(crate) fn push(&mut self, act: Act) {
        if self.found.acts.len() < ACTS {
            self.found.acts.push(act);
        }
    }

    pub(crate) fn push_unknown(&mut self, message: &str, span: Span) {
        let unknown = Unknown { message: message.to_owned(), span, is_dynamic: true };
        let act = Act {
            span,
            via: self.via.clone(),
            effects: vec![EffectOn::of(Effect::Unknown)],
            unknown: Some(unknown),
            ..Act::default()
        };
        self.push(act);
    }
}

/// The walk through one tree.
struct Walk<'a> {
    analysis: &'a mut Analysis,
    tree: &'a Tree,
    /// Where the text stands if it is part of another.
    within: Option<Span>,
}

impl Walk<'_> {
    fn span(&self, span: Span) -> Span {
        self.within.unwrap_or_else(|| self.tree.locate(span))
    }

    fn script(&mut self, script: Script) {
        for item in self.tree.list(script.items) {
            for pipeline in self.tree.list(item.pipelines) {
                let commands = self.tree.list(pipeline.commands);
                let is_apart = commands.len() > 1 || item.background;
                for (at, command) in commands.iter().enumerate() {
                    let feeds = at.checked_sub(1).and_then(|before| commands.get(before));
                    if is_apart {
                        self.apart(|walk| walk.command(command, feeds));
                    } else {
                        self.command(command, feeds);
                    }
                }
            }
        }
    }

    /// Runs something in a shell of its own: what it changes is forgotten.
    fn apart(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.analysis.state.clone();
        run(self);
        let functions = std::mem::take(&mut self.analysis.state.functions);
        self.analysis.state = State { functions, ..state };
    }

    /// Something that may or may not run: the directory behind it is not known if it moves.
    fn perhaps(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.analysis.state.directory.clone();
        run(self);
        if self.analysis.state.directory != before {
            self.analysis.state.directory = None;
        }
    }

    fn command(&mut self, command: &Command, _feeds: Option<&Command>) {
        match command.kind {
            Kind::Simple(simple) => return self.simple(command, simple),
            Kind::Subshell(script) => self.apart(|walk| walk.script(script)),
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
                if let Some(condition) = branch.condition {
                    self.perhaps(|walk| walk.script(condition));
                }
                self.perhaps(|walk| walk.script(branch.body));
            }
            Kind::For(each) | Kind::Select(each) => {
                self.words(each.words.unwrap_or_default());
                self.perhaps(|walk| walk.script(each.body));
            }
            Kind::ArithmeticFor { head, body } => {
                self.words(head);
                self.perhaps(|walk| walk.script(body));
            }
            Kind::Case { subject, arms } => {
                self.words(subject);
                for arm in self.tree.list(arms) {
                    self.words(arm.patterns);
                    self.perhaps(|walk| walk.script(arm.body));
                }
            }
            Kind::Function { name, body, .. } => {
                for word in self.tree.list(name) {
                    let name = String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
                    self.analysis.state.functions.insert(name);
                }
                self.perhaps(|walk| {
                    for command in walk.tree.list(body) {
                        walk.command(command, None);
                    }
                });
            }
            Kind::Test(tests) => self.tests(tests),
            Kind::Arithmetic(words) => self.words(words),
            Kind::Coproc { command, .. } => {
                for command in self.tree.list(command) {
                    self.apart(|walk| walk.command(command, None));
                }
            }
        }
        self.redirections(command.redirections);
    }

    fn tests(&mut self, tests: List<Test>) {
        for test in self.tree.list(tests) {
            match test.kind {
                TestKind::Or(inner)
                | TestKind::And(inner)
                | TestKind::Not(inner)
                | TestKind::Group(inner) => self.tests(inner),
                TestKind::Word(words) | TestKind::Unary(_, words) => self.words(words),
                TestKind::Binary(operator, words) => {
                    self.words(words);
                    let is_arithmetic = matches!(
                        self.tree.text(operator),
                        b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge"
                    );
                    if is_arithmetic {
                        for word in self.tree.list(words) {
                            self.evaluated(word);
                        }
                    }
                }
            }
        }
    }

    /// A word that the shell evaluates as an expression: an unknown one can run anything.
    fn evaluated(&mut self, word: &Word) {
        let args = arg::of_words(self.tree, std::slice::from_ref(word));
        let is_number = |arg: &Arg| match &arg.text {
            Text::Known(text) => !text.contains('['),
            Text::Files(_) | Text::Begins(_) | Text::Any(_) => false,
        };
        if !args.iter().all(is_number) {
            let span = self.span(word.span);
            self.analysis.push_unknown("an unknown value is evaluated as arithmetic", span);
        }
    }

    fn simple(&mut self, command: &Command, simple: Simple) {
        let words = self.tree.list(simple.words);
        self.words(simple.words);
        let mut assignments = Vec::new();
        for assignment in self.tree.list(simple.assignments) {
            assignments.push(self.assignment(assignment));
        }
        self.redirections(command.redirections);
        let span = self.span(command.span);
        let mut args = arg::of_words(self.tree, words);
        if let Some(within) = self.within {
            for arg in &mut args {
                arg.span = within;
            }
        }
        // Words that vanish leave the next one as the program.
        if args.is_empty() {
            for assigned in &assignments {
                self.analysis.state.assign(assigned);
            }
            if words.is_empty() && !assignments.is_empty() {
                self.bare_assignments(span, assignments);
            }
            return;
        }
        let act = Act { span, args, assignments, ..Act::default() };
        peel::resolve(self.analysis, act);
    }

    /// `X=1` alone: it changes the shell and nothing else, unless it changes which code runs.
    fn bare_assignments(&mut self, span: Span, assignments: Vec<Assigned>) {
        let is_loader = assignments.iter().any(|assigned| {
            environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Loader
        });
        let mut act = Act { span, assignments, ..Act::default() };
        act.effects.push(EffectOn::of(Effect::Read));
        if is_loader {
            act.note("loader_environment", act.span);
        }
        self.analysis.push(act);
    }

    fn assignment(&mut self, assignment: &Assignment) -> Assigned {
        self.words(assignment.subscript);
        let name = String::from_utf8_lossy(self.tree.text(assignment.name)).into_owned();
        let value = match assignment.value {
            Value::Word(word) => {
                self.words(word);
                let args = arg::of_words(self.tree, self.tree.list(word));
                match args.as_slice() {
                    [] => Some(String::new()),
                    [only] => only.as_known().map(str::to_owned),
                    _ => None,
                }
            }
            Value::Array(elements) => {
                for element in self.tree.list(elements) {
                    self.assignment(element);
                }
                None
            }
        };
        let value = value.filter(|_| assignment.subscript.is_empty() && !assignment.appends);
        Assigned { name, value }
    }

    fn redirections(&mut self, redirections: List<Redirection>) {
        for redirection in self.tree.list(redirections) {
            self.words(redirection.target);
            if let Some(heredoc) = redirection.heredoc {
                self.words(heredoc.body);
                continue;
            }
            self.redirection(redirection);
        }
    }

    /// The file a redirection opens, as an act of its own unless it only reads an ordinary one.
    fn redirection(&mut self, redirection: &Redirection) {
        let copies = matches!(redirection.operator, Operator::CopyIn | Operator::CopyOut);
        let effect = match redirection.operator {
            Operator::HereString | Operator::Heredoc | Operator::HeredocTabs => return,
            Operator::Read | Operator::CopyIn => Effect::Read,
            Operator::Write
            | Operator::Append
            | Operator::Clobber
            | Operator::ReadWrite
            | Operator::CopyOut
            | Operator::WriteBoth
            | Operator::AppendBoth => Effect::Write,
        };
        let args = arg::of_words(self.tree, self.tree.list(redirection.target));
        let [target] = args.as_slice() else {
            return self
                .analysis
                .push_unknown("a redirection to an unknown place", self.span(redirection.span));
        };
        let text = target.as_known();
        let is_descriptor = |text: &str| {
            text == "-"
                || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
                    && !text.is_empty()
        };
        if copies && text.is_some_and(is_descriptor) {
            return;
        }
        let harmless =
            ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];
        if text.is_some_and(|text| harmless.contains(&text)) {
            return;
        }
        let is_process = self.tree.list(redirection.target).iter().any(|word| {
            self.tree.text(word.span).starts_with(b">(")
                || self.tree.text(word.span).starts_with(b"<(")
        });
        if is_process {
            return;
        }
        let is_network =
            text.is_some_and(|text| text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/"));
        let target = match text {
            Some(text) if is_network => Target::Host(text.to_owned()),
            Some(text) => Target::Path(text.to_owned()),
            None => Target::UnknownPath,
        };
        let effect = if is_network { Effect::Connect } else { effect };
        self.analysis.push(Act {
            span: self.span(redirection.span),
            via: self.analysis.via.clone(),
            effects: vec![EffectOn::new(effect, target)],
            directory: self.analysis.state.directory.clone(),
            ..Act::default()
        });
    }
}
