//! Names on their way: what the words of a script hand to its commands and its variables.

use portcullis_shell::{Action, Expansion, List, Operator, Prefix, Redirection, Word};

use super::names::{add, held, hides, is_written, kept, made, made_word, of_args, of_text};
use super::remade::names_twin;
use super::walk::Walk;
use super::{Analysis, sets, texts};
use crate::arg::{self, Arg};
use crate::effect::{EffectOn, Target};
use crate::environment;

impl Walk<'_, '_> {
    /// Notes the files that the acts from `first` on name for a command that reads them.
    pub(super) fn hand_over(&mut self, first: usize) {
        let Analysis { found, handed, heard, .. } = &mut *self.analysis;
        let acts = found.acts.get(first..).unwrap_or_default();
        // In most words nothing runs.
        if acts.is_empty() {
            return;
        }
        heard.push(first..found.acts.len());
        add(handed, kept(acts.iter().flat_map(|act| act.prints.iter().cloned())));
    }

    pub(super) fn hand(&mut self, names: Vec<EffectOn>) {
        add(&mut self.analysis.handed, names);
    }

    /// Notes the names that a command finds on its standard input.
    pub(super) fn hand_inputs(&mut self, redirections: List<Redirection>) {
        for redirection in self.tree.list(redirections) {
            self.hand(self.of_input(redirection));
        }
    }

    /// Keeps the names in texts that a script holds for commands to read, whoever reads them.
    pub(super) fn keep_inputs(&mut self, redirections: List<Redirection>) {
        for redirection in self.tree.list(redirections) {
            let names = self.of_input(redirection);
            self.analysis.keep(names);
        }
    }

    /// The names in a here-document or a here-string.
    fn of_input(&self, redirection: &Redirection) -> Vec<EffectOn> {
        let words = match redirection.heredoc {
            Some(heredoc) => heredoc.body,
            None if redirection.operator == Operator::HereString => redirection.target,
            None => return Vec::new(),
        };
        let args = self.args(self.tree.list(words));
        let is_known = args.iter().all(|arg| arg.as_known().is_some());
        let mut names = of_args(&args);
        if !is_known && redirection.heredoc.is_some() {
            for word in self.tree.list(words) {
                names.extend(of_text(&String::from_utf8_lossy(self.tree.text(word.span))));
            }
        }
        if !is_known && self.analysis.holds_text() {
            names.push(held());
        }
        names
    }

    /// Keeps what the acts from `first` on print.
    pub(super) fn keep_printed(&mut self, first: usize) {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let names = kept(acts.iter().flat_map(|act| act.prints.iter().cloned()));
        self.analysis.keep(names);
    }

    /// Notes what an expansion may stand for besides its variable.
    pub(super) fn hand_default(&mut self, expansion: &Expansion) {
        let gives = matches!(
            expansion.operator,
            Action::Default | Action::Assign | Action::Alternative | Action::Replace
        );
        if gives {
            let args = self.args(self.tree.list(expansion.arguments));
            self.hand(of_args(&args));
        }
    }

    /// Notes that an expansion shows what a secret variable holds, or makes other text of one
    /// that the script holds.
    pub(super) fn shows(&mut self, expansion: &Expansion, name: &str) {
        let changes = !matches!(
            expansion.operator,
            Action::Read | Action::Default | Action::Assign | Action::Alternative
        );
        let is_quiet =
            expansion.prefix == Prefix::Length || expansion.operator == Action::Alternative;
        let is_secret = !is_quiet && environment::is_secret(name);
        if !changes && !is_secret && !self.analysis.state.secrets.contains(name) {
            return;
        }
        let tree = self.tree;
        let sets = self.analysis.state.sets.get_or_insert_with(|| sets::of(tree)).clone();
        let takes_twin = || {
            let args = self.args(tree.list(expansion.arguments));
            args.iter().any(|arg| names_twin(arg.prefix()))
        };
        if changes && takes_twin() {
            self.hand(vec![made()]);
        } else if changes && let Some(made) = self.remade(name) {
            self.hand(vec![made]);
        }
        let is_copy = !is_quiet && self.analysis.state.secrets.contains(name);
        if is_copy || is_secret && !sets.all.contains(name) {
            self.analysis.shown = Some(name.to_owned());
        }
    }

    /// The name of a secret that can be made of what a variable may hold, if one can.
    fn remade(&mut self, name: &str) -> Option<EffectOn> {
        let tree = self.tree;
        let texts = self.analysis.state.texts.get_or_insert_with(|| texts::of(tree)).clone();
        if texts::is_parameter(name) {
            return Some(made());
        }
        let names = self.analysis.all_names();
        let may = if texts.may_be_in(name) { is_written } else { hides };
        let made = if texts.is_one_word(name) { made_word } else { made };
        names.iter().any(may).then(made)
    }

    /// Keeps what variables get by words that may declare them: `export x=~/a*`, `env x=~/a sh`.
    pub(super) fn keep_declared(&mut self, words: &[Word]) {
        // What is one piece of text is known where it is taken.
        let is_open = |word: &&Word| word.parts.len() > 1;
        if !words.iter().any(|word| is_open(&word)) {
            return;
        }
        let known = self.known();
        let given: Vec<Arg> = words
            .iter()
            .filter(is_open)
            .filter_map(|word| arg::declared(self.tree, word, known))
            .collect();
        // What a variable gets is a text; it is a pattern again where the variable is used.
        let text = |mut on: EffectOn| {
            if let Target::Pattern(pattern) = on.target {
                on.target = Target::Path(pattern);
            }
            on
        };
        self.analysis.keep(of_args(&given).into_iter().map(text).collect());
    }

    /// Keeps what a variable gets: the words of its value, and what commands in them print.
    pub(super) fn keep_words(&mut self, words: List<Word>, first: usize) {
        let args = self.args(self.tree.list(words));
        self.keep_args(&args, first);
    }

    /// The same for words whose arguments are known.
    pub(super) fn keep_args(&mut self, args: &[Arg], first: usize) {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let mut names: Vec<EffectOn> =
            acts.iter().flat_map(|act| act.prints.iter().cloned()).collect();
        names.extend(of_args(args));
        let last = self.analysis.found.acts.len();
        self.analysis.heard.extend((first < last).then_some(first..last));
        self.analysis.keep(names);
    }
}
