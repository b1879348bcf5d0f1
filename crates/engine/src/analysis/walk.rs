//! The walk through one tree.

use portcullis_shell::{Command, Dialect, Join, Kind, List, Pipeline, Script, Span, Tree};

use super::dashes::Dashes;
use super::simple::printed;
use super::strays::Strays;
use super::{Analysis, Syntax};
use crate::act::Act;
use crate::arg::{self, Arg, Text};
use crate::effect::Effect;
use crate::lists;

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

/// Walks the whole tree of a text; `within` is where that stands if it is part of another.
pub(super) fn script(analysis: &mut Analysis<'_>, tree: &Tree, source: &str, within: Option<Span>) {
    // What a tree sets says nothing about another.
    let outer = analysis.state.set_aside();
    let forgets = analysis.forgets.take();
    Walk { analysis, tree, source, within }.script(tree.root());
    analysis.state.take_back(outer);
    analysis.forgets = forgets;
}

pub(super) struct Walk<'a, 'g> {
    pub(super) analysis: &'a mut Analysis<'g>,
    pub(super) tree: &'a Tree,
    /// The text that the tree was made of.
    pub(super) source: &'a str,
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

    /// What the script knows here that words may refer to.
    pub(super) fn known(&self) -> arg::Known<'_> {
        let Analysis { state, braces, .. } = &*self.analysis;
        let (directory, homes) = (state.here(), &state.homes);
        arg::Known { directory, homes, round: &[], numbers: None, budget: braces }
    }

    /// Adds the arguments of one word; none of them begins with a dash if it is an operand.
    pub(super) fn add_args(
        &self,
        word: &portcullis_shell::Word,
        is_operand: bool,
        to: &mut Vec<Arg>,
    ) {
        // Most words are one text, whatever the script knows.
        if let Some(text) = arg::text(self.tree, self.source, word) {
            to.push(Arg { is_operand, ..Arg::new(Text::Known(text), self.span(word.span)) });
            return;
        }
        let from = to.len();
        arg::add_word(self.tree, word, self.known(), to);
        for arg in to.iter_mut().skip(from) {
            arg.is_operand = is_operand;
            arg.span = self.within.unwrap_or(arg.span);
        }
    }

    pub(super) fn args(&self, words: &[portcullis_shell::Word]) -> Vec<Arg> {
        let mut args = arg::of_words(self.tree, words, self.known());
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
        let (mut after_first, mut has_landed) = (None, false);
        // Where it is after `||`, whichever of those before failed.
        let mut all = Strays::default();
        for pipeline in pipelines {
            match pipeline.join {
                Join::First => {
                    self.pipeline(pipeline);
                    after_first = (pipelines.len() > 1).then(|| self.analysis.state.clone());
                }
                Join::And => {
                    if has_landed {
                        self.analysis.state.strays.land();
                    }
                    self.pipeline(pipeline);
                }
                Join::Or => {
                    self.syntax(Syntax::Or, pipeline.span);
                    let first = self.analysis.found.acts.len();
                    let mut landed = self.analysis.state.strays.clone();
                    self.analysis.state.strays.join(&all);
                    self.perhaps(|walk| walk.pipeline(pipeline));
                    // Who leaves where a change of directory fails is where it leads from there on.
                    if has_landed && self.leaves_certainly(pipeline, first) {
                        landed.land();
                        self.analysis.state.strays = landed;
                        after_first = Some(self.analysis.state.clone());
                    }
                }
            }
            has_landed = self.is_move(pipeline);
            all.join(&self.analysis.state.strays);
        }
        if let Some(before) = after_first {
            self.analysis.state.doubt(&before);
        }
    }

    /// Whether a pipeline is nothing but a change of directory, so that its success is that one's.
    fn is_move(&self, pipeline: &Pipeline) -> bool {
        let last = self.analysis.found.acts.last();
        pipeline.bangs == 0
            && matches!(self.tree.list(pipeline.commands), [Command { kind: Kind::Simple(_), .. }])
            && last.is_some_and(|act| matches!(act.program(), Some("cd" | "pushd")))
    }

    /// Whether a pipeline ends the script in any case.
    fn leaves_certainly(&self, pipeline: &Pipeline, first: usize) -> bool {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let is_simple = |commands: List<Command>| {
            matches!(self.tree.list(commands), [Command { kind: Kind::Simple(_), .. }])
        };
        let ends = match self.tree.list(pipeline.commands) {
            [Command { kind: Kind::Group(script), .. }] => {
                let last = self.tree.list(script.items).last();
                last.filter(|item| !item.background).is_some_and(|item| {
                    matches!(self.tree.list(item.pipelines), [only] if is_simple(only.commands))
                })
            }
            _ => is_simple(pipeline.commands),
        };
        let last = acts.last().and_then(|act| act.program());
        ends && matches!(last, Some("exit" | "return"))
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let commands = self.tree.list(pipeline.commands);
        let [only] = commands else {
            let outer = self.analysis.feed.clone();
            let handed = self.analysis.handed.len();
            let first = self.analysis.found.acts.len();
            let mut begin = first;
            let mut dashes = None;
            let mut is_fetched = false;
            for (at, command) in commands.iter().enumerate() {
                if at > 0 {
                    let new = self.analysis.found.acts.get(begin..).unwrap_or_default();
                    is_fetched |= new.iter().any(|act| act.has(Effect::Connect));
                    self.analysis.feed = self.piped(commands.get(at - 1), begin, is_fetched);
                    dashes = self.dashes_behind(dashes, begin);
                    self.analysis.piped = dashes.unwrap_or(Dashes::Anywhere);
                    // What those before it print was handed over before.
                    self.hand_over(begin);
                    begin = self.analysis.found.acts.len();
                    if let Some(before) = commands.get(at - 1) {
                        self.hand_inputs(before.redirections);
                    }
                }
                if command.pipes_errors {
                    self.syntax(Syntax::PipesErrors, command.span);
                }
                // The last one runs in the shell itself in zsh: what it changes stays.
                let is_last = at + 1 == commands.len();
                if is_last && self.analysis.dialect == Dialect::Zsh {
                    self.command(command);
                } else if is_last {
                    self.apart(|walk| walk.command(command));
                } else {
                    self.apart(|walk| walk.listened_to(|walk| walk.command(command)));
                }
            }
            self.analysis.feed = outer;
            self.analysis.piped = Dashes::Anywhere;
            self.analysis.handed.truncate(handed);
            self.runs_dry(first);
            self.picks_secrets(first);
            return;
        };
        let first = self.analysis.found.acts.len();
        self.command(only);
        if matches!(only.kind, Kind::Simple(_)) {
            self.runs_dry(first);
        }
    }

    /// Who picks secrets out of all that is told about a container or a service asks for them.
    fn picks_secrets(&mut self, first: usize) {
        let acts = self.analysis.found.acts.get_mut(first..).unwrap_or_default();
        let has = |act: &Act, words: &[&str]| {
            act.args.iter().any(|arg| arg.as_known().is_some_and(|word| words.contains(&word)))
        };
        let tells_all = |act: &Act| match act.base_name() {
            Some("docker" | "podman" | "nerdctl") => has(act, &["inspect"]),
            Some("systemctl") => has(act, &["show", "cat"]),
            _ => false,
        };
        let Some(from) = acts.iter().position(|act| tells_all(act)) else { return };
        let picks = |arg: &Arg| {
            let text = arg.prefix().to_ascii_lowercase();
            lists::PICKED_SECRETS.iter().any(|word| text.contains(word))
        };
        for act in acts.iter_mut().skip(from + 1) {
            if act.args.iter().skip(1).any(picks) {
                act.note("secret_read", act.span);
            }
        }
    }

    /// What the next command of a pipeline gets: a text that is only printed is known.
    fn piped(&self, before: Option<&Command>, begin: usize, is_fetched: bool) -> Feed {
        let last = self.analysis.found.acts.get(begin..).unwrap_or_default();
        if let (Some(command), [act]) = (before, last)
            && command.redirections.is_empty()
            && let Some(text) = printed(act)
        {
            return Feed::Text(text);
        }
        // Some hand on what they get.
        if let (Some(command), [act]) = (before, last)
            && command.redirections.is_empty()
            && !act.is_call
            && matches!(self.analysis.feed, Feed::Text(_))
            && (act.args.len() == 1 && act.program() == Some("cat") || act.program() == Some("tee"))
        {
            return self.analysis.feed.clone();
        }
        if let (Some(command), [act]) = (before, last)
            && act.args.len() == 1
            && !act.is_call
            && act.program() == Some("cat")
            && let Some(feed @ Feed::Text(_)) = self.fed(command.redirections)
        {
            return feed;
        }
        Feed::Pipe { is_fetched }
    }

    /// Runs something in a shell of its own: what it changes is forgotten, but not the names that
    /// it has seen, which it may print.
    pub(super) fn apart(&mut self, run: impl FnOnce(&mut Self)) {
        let state = self.analysis.state.clone();
        run(self);
        let after = std::mem::replace(&mut self.analysis.state, state);
        if after.named.len() != self.analysis.state.named.len() {
            self.analysis.state.named.clone_from(&after.named);
        }
    }

    /// Runs something whose output somebody gets.
    pub(super) fn listened_to(&mut self, run: impl FnOnce(&mut Self)) {
        self.analysis.listeners += 1;
        run(self);
        self.analysis.listeners -= 1;
    }

    /// Something that may or may not run.
    pub(super) fn perhaps(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.analysis.state.clone();
        run(self);
        self.analysis.state.doubt(&before);
    }

    pub(super) fn command(&mut self, command: &Command) {
        let outer = self.analysis.feed.clone();
        let file = self.analysis.feed_file.take();
        let handed = self.analysis.handed.len();
        let piped = self.analysis.piped;
        let first = self.analysis.found.acts.len();
        self.keep_inputs(command.redirections);
        if let Some(feed) = self.fed(command.redirections) {
            self.analysis.feed = feed;
            self.analysis.feed_file = self.input_file(command.redirections);
            self.analysis.piped = Dashes::Anywhere;
            self.hand_inputs(command.redirections);
        }
        if let Kind::Simple(simple) = command.kind {
            self.simple(command, simple);
        } else {
            self.redirections(command.redirections);
            self.compound(command);
        }
        self.note_written(command, first);
        self.analysis.piped = piped;
        self.analysis.feed = outer;
        self.analysis.feed_file = file;
        self.analysis.handed.truncate(handed);
    }
}
