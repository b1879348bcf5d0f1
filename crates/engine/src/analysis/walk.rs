//! The walk through one tree.

use portcullis_shell::{
    Assigned as Value, Assignment, Command, Dialect, Join, Kind, List, Pipeline, Script, Simple,
    Span, Test, TestKind, Tree,
};

use super::{Analysis, Syntax};
use crate::act::{Act, ActKind, Assigned, Note};
use crate::arg::{self, Arg, Text};
use crate::effect::{Effect, EffectOn, Target};
use crate::environment::{self, Setting};
use crate::peel;
use crate::reader::file;
use crate::usage;

/// How many files one command hands over to another, as far as they are looked at.
const HANDED: usize = 256;

/// What a command gets on its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feed {
    /// Whatever the call itself gets.
    #[default]
    Nothing,
    /// What another command prints.
    Pipe {
        /// Whether something before it came from the network.
        is_fetched: bool,
    },
    /// This very text.
    Text(String),
    /// A text or file that is not known.
    Unknown,
}

/// Walks a whole tree; `within` is where its text stands if it is part of another.
pub(super) fn script(analysis: &mut Analysis<'_>, tree: &Tree, within: Option<Span>) {
    let outer = analysis.state.numbers.take();
    Walk { analysis, tree, within }.script(tree.root());
    analysis.state.numbers = outer;
}

pub(super) struct Walk<'a, 'g> {
    pub(super) analysis: &'a mut Analysis<'g>,
    pub(super) tree: &'a Tree,
    pub(super) within: Option<Span>,
}

impl Walk<'_, '_> {
    pub(super) fn span(&self, span: Span) -> Span {
        self.within.unwrap_or_else(|| self.tree.locate(span))
    }

    pub(super) fn syntax(&mut self, syntax: Syntax, span: Span) {
        let span = self.span(span);
        self.analysis.found.syntax.push((syntax, span));
    }

    pub(super) fn args(&self, words: &[portcullis_shell::Word]) -> Vec<Arg> {
        let state = &self.analysis.state;
        let known = arg::Known { directory: state.directory.as_deref(), homes: &state.homes };
        let mut args = arg::of_words(self.tree, words, known);
        if let Some(within) = self.within {
            for arg in &mut args {
                arg.span = within;
            }
        }
        args
    }

    pub(super) fn script(&mut self, script: Script) {
        let items = self.tree.list(script.items);
        for (at, item) in items.iter().enumerate() {
            if at > 0 && !items.get(at - 1).is_some_and(|before| before.background) {
                self.syntax(Syntax::Sequence, item.span);
            }
            if item.background {
                self.syntax(Syntax::Background, item.span);
                self.apart(|walk| walk.pipelines(item.pipelines));
            } else {
                self.pipelines(item.pipelines);
            }
        }
    }

    /// Pipelines joined by `&&` and `||`: only the first certainly runs.
    fn pipelines(&mut self, pipelines: List<Pipeline>) {
        let pipelines = self.tree.list(pipelines);
        let mut after_first = None;
        for pipeline in pipelines {
            match pipeline.join {
                Join::First => {
                    self.pipeline(pipeline);
                    after_first = (pipelines.len() > 1).then(|| self.analysis.state.clone());
                }
                Join::And => self.pipeline(pipeline),
                Join::Or => {
                    self.syntax(Syntax::Or, pipeline.span);
                    self.perhaps(|walk| walk.pipeline(pipeline));
                }
            }
        }
        if let Some(before) = after_first {
            self.analysis.state.doubt(&before);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let commands = self.tree.list(pipeline.commands);
        let [only] = commands else {
            let outer = self.analysis.feed.clone();
            let handed = self.analysis.handed.len();
            let first = self.analysis.found.acts.len();
            for (at, command) in commands.iter().enumerate() {
                if at > 0 {
                    self.analysis.feed = self.piped(commands.get(at - 1), first);
                    self.hand_over(first);
                }
                if command.pipes_errors {
                    self.syntax(Syntax::PipesErrors, command.span);
                }
                self.apart(|walk| walk.command(command));
            }
            self.analysis.feed = outer;
            self.analysis.handed.truncate(handed);
            return;
        };
        self.command(only);
    }

    /// Notes the files that the acts from `first` on name for a command that reads them.
    fn hand_over(&mut self, first: usize) {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let handed: Vec<EffectOn> = acts.iter().flat_map(file::handed).take(HANDED).collect();
        self.analysis.handed.extend(handed);
    }

    /// What the next command of a pipeline gets: a text that is only printed is known.
    fn piped(&self, before: Option<&Command>, first: usize) -> Feed {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        if let (Some(command), [act]) = (before, acts)
            && command.redirections.is_empty()
            && let Some(text) = printed(act)
        {
            return Feed::Text(text);
        }
        if let (Some(command), [act]) = (before, acts)
            && act.args.len() == 1
            && act.program() == Some("cat")
            && let Some(feed @ Feed::Text(_)) = self.fed(command.redirections)
        {
            return feed;
        }
        Feed::Pipe { is_fetched: acts.iter().any(|act| act.has(Effect::Connect)) }
    }

    /// Runs something in a shell of its own: what it changes is forgotten.
    pub(super) fn apart(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.analysis.state.clone();
        run(self);
        self.analysis.state = state;
    }

    /// Something that may or may not run.
    fn perhaps(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.analysis.state.clone();
        run(self);
        self.analysis.state.doubt(&before);
    }

    fn command(&mut self, command: &Command) {
        let outer = self.analysis.feed.clone();
        if let Some(feed) = self.fed(command.redirections) {
            self.analysis.feed = feed;
        }
        if let Kind::Simple(simple) = command.kind {
            self.simple(command, simple);
        } else {
            self.redirections(command.redirections);
            self.compound(command);
        }
        self.analysis.feed = outer;
    }

    fn compound(&mut self, command: &Command) {
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
                if let Some(condition) = branch.condition {
                    self.perhaps(|walk| walk.script(condition));
                }
                self.again(|walk| walk.script(branch.body));
            }
            Kind::For(each) | Kind::Select(each) => {
                for name in self.tree.list(each.name) {
                    let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
                    self.sets(&name, None, command.span);
                }
                self.words(each.words.unwrap_or_default());
                self.looped(each.words.unwrap_or_default(), command.span);
                self.again(|walk| walk.script(each.body));
            }
            Kind::ArithmeticFor { head, body } => {
                self.words(head);
                self.again(|walk| walk.script(body));
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
                for command in self.tree.list(inner) {
                    self.apart(|walk| walk.command(command));
                }
            }
        }
    }

    /// The words of a loop: its commands may read what they name.
    fn looped(&mut self, words: List<portcullis_shell::Word>, span: Span) {
        let args = self.args(self.tree.list(words));
        let effects = args
            .iter()
            .filter(|arg| arg.prefix().contains(['/', '.', '_']) || arg.as_known().is_none())
            .map(|arg| EffectOn::new(Effect::Read, usage::path(arg)))
            .filter(|on| !matches!(on.target, Target::Unknown(_)));
        let effects: Vec<EffectOn> = effects.collect();
        if !effects.is_empty() {
            let (span, directory) = (self.span(span), self.analysis.state.directory.clone());
            let kind = ActKind::Assignment;
            self.analysis.push(Act { kind, span, effects, directory, ..Act::default() });
        }
    }

    /// A command that is neither a program nor a file: it only looks.
    fn only_looks(&mut self, span: Span) {
        let (span, effects) = (self.span(span), vec![EffectOn::of(Effect::Read)]);
        self.analysis.push(Act { kind: ActKind::Assignment, span, effects, ..Act::default() });
    }

    /// The body of a loop: in later rounds it begins where an earlier one ended.
    fn again(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.analysis.state.clone();
        let from = self.analysis.found.acts.len();
        run(self);
        let has_moved = self.analysis.state.directory != before.directory;
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
        self.analysis.state.directory = None;
        let feed = std::mem::replace(&mut self.analysis.feed, Feed::Unknown);
        let (first, joins) = (self.analysis.found.acts.len(), self.analysis.found.syntax.len());
        for command in self.tree.list(body) {
            self.command(command);
        }
        self.analysis.feed = feed;
        self.bomb(name, first, joins);
        let is_poisoned = self.analysis.state.is_poisoned;
        let moves = self.analysis.state.directory.is_some();
        self.analysis.state = State { is_poisoned, ..state };
        if moves {
            self.analysis.state.directory = None;
        }
        for word in self.tree.list(name) {
            let name = String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
            self.analysis.state.functions.insert(name, true);
        }
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

    fn simple(&mut self, command: &Command, simple: Simple) {
        let words = self.tree.list(simple.words);
        if words.first().is_some_and(|word| self.tree.text(word.span) == b"let") {
            self.know_numbers();
        }
        let first = self.analysis.found.acts.len();
        self.words(simple.words);
        let mut assignments = Vec::new();
        for assignment in self.tree.list(simple.assignments) {
            assignments.push(self.assignment(assignment));
        }
        self.redirections(command.redirections);
        let span = self.span(command.span);
        let args = self.args(words);
        // Words that vanish leave the next one as the program.
        if args.is_empty() {
            for assigned in &assignments {
                self.analysis.state.assign(&assigned.name, assigned.value.as_deref());
            }
            if words.is_empty() && !assignments.is_empty() {
                self.bare_assignments(span, assignments);
            }
            return;
        }
        let nested = self.analysis.found.acts.get(first..).unwrap_or_default();
        let is_fetched = nested.iter().any(|act| act.has(Effect::Connect));
        let handed = self.analysis.handed.len();
        self.hand_over(first);
        let act = Act { span, args, assignments, is_fetched, ..Act::default() };
        peel::resolve(self.analysis, act);
        self.analysis.handed.truncate(handed);
    }

    /// `X=1` alone: it changes the shell and nothing else, unless it changes which code runs.
    fn bare_assignments(&mut self, span: Span, assignments: Vec<Assigned>) {
        let is_loader = assignments.iter().any(|assigned| {
            environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Loader
        });
        let mut act = Act { kind: ActKind::Assignment, span, assignments, ..Act::default() };
        act.effects.push(EffectOn::of(Effect::Read));
        act.via.clone_from(&self.analysis.via);
        if is_loader {
            act.note("loader_environment", span);
        }
        self.analysis.push(act);
    }

    /// In zsh some arrays are the lists of directories under another name.
    fn tied<'n>(&self, name: &'n str) -> &'n str {
        let is_tied = matches!(name, "path" | "fpath" | "cdpath" | "module_path" | "manpath");
        if is_tied && self.analysis.dialect == Dialect::Zsh { "PATH" } else { name }
    }

    /// A variable that something else than an assignment sets.
    pub(super) fn sets(&mut self, name: &str, value: Option<&str>, span: Span) {
        let name = self.tied(name);
        let span = self.span(span);
        self.analysis.state.assign(name, value);
        if environment::setting(name, value) == Setting::Loader {
            let assigned = Assigned { name: name.to_owned(), value: value.map(str::to_owned) };
            self.bare_assignments(span, vec![assigned]);
        }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment) -> Assigned {
        self.words(assignment.subscript);
        let name = String::from_utf8_lossy(self.tree.text(assignment.name));
        let name = self.tied(&name).to_owned();
        let value = match assignment.value {
            Value::Word(word) => {
                self.words(word);
                let args = self.args(self.tree.list(word));
                if let [Arg { text: Text::Home(path), .. }] = args.as_slice() {
                    self.analysis.state.homes.insert(name.clone(), path.clone());
                }
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
}

use super::State;

/// The text that a command does nothing but print.
fn printed(act: &Act) -> Option<String> {
    let words: Option<Vec<&str>> = act.args.iter().map(Arg::as_known).collect();
    match words?.as_slice() {
        ["echo", words @ ..] => {
            let words = match words {
                ["-n", rest @ ..] => rest,
                [first, ..] if first.starts_with('-') => return None,
                all => all,
            };
            let is_plain = words.iter().all(|word| !word.contains('\\'));
            is_plain.then(|| words.join(" "))
        }
        ["printf", "%s" | "%s\\n", text] => Some((*text).to_owned()),
        ["printf", text] if !text.contains(['%', '\\']) => Some((*text).to_owned()),
        _ => None,
    }
}
