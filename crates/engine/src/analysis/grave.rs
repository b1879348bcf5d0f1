//! What weighs too much to be hidden by a program around it, or by a name that comes late.
//!
//! A program that runs others by rules which no table holds is not opened. Where one of its words
//! is a program that writes, removes, sends or escalates, what begins there is an act of its own.

use portcullis_shell::Dialect;

use super::Analysis;
use crate::act::Act;
use crate::arg::Arg;
use crate::catalog::Wraps;
use crate::effect::{Effect, EffectOn, Target};
use crate::lists;
use crate::peel::{self, Inner, Where};
use crate::place;
use crate::usage::Usage;

/// The grave command among the words of a program that runs others and is not opened.
pub(crate) fn among(act: &Act, usage: &Usage) -> Option<Inner> {
    if usage.is_quiet || usage.is_dry || usage.command.is_some() {
        return None;
    }
    let entry = usage.entry;
    if entry.runner || entry.wraps != Wraps::No && act.unknown.is_some() {
        return grave(act, 1);
    }
    let runs = [Effect::Execute, Effect::Unknown, Effect::Connect, Effect::Change];
    if !runs.iter().any(|&on| act.has(on)) {
        return None;
    }
    let is_word = |arg: &Arg| arg.as_known().is_some_and(|word| lists::EXECS.contains(&word));
    let word = act.args.iter().position(is_word).filter(|at| *at > 0);
    word.and_then(|at| grave(act, at + 1)).or_else(|| behind_dashes(act))
}

/// The same right behind `--`, where that does not end the words for a program of the workspace.
pub(crate) fn behind_dashes(act: &Act) -> Option<Inner> {
    // Few commands have any.
    let dashes = act.args.iter().position(|arg| arg.as_known() == Some("--"))?;
    if is_own(act) {
        return None;
    }
    let is_next = |at: &usize| act.args.get(*at).is_some_and(is_grave);
    Some(dashes + 1).filter(is_next).and_then(|at| grave(act, at))
}

impl Analysis<'_> {
    /// A grave command that names of the script may add up to, where what runs is not known: it
    /// is judged beside that.
    pub(crate) fn guess_grave(&mut self, words: &[Arg], act: &Act) {
        let ends_all =
            |arg: &Arg| arg.as_known().is_some_and(|word| lists::ENDS_ALL.contains(&word));
        let at = words.iter().position(ends_all);
        if let Some(at) = at.filter(|_| self.guesses == 0) {
            let args: Vec<Arg> = words.get(at..).unwrap_or_default().to_vec();
            self.guesses += 1;
            peel::resolve(self, Box::new(Act { span: act.span, args, ..Act::default() }));
            self.guesses -= 1;
        }
    }

    /// Lets a removal of whole trees whose names come while it runs remove a root or a home that
    /// the script names.
    pub(crate) fn give_removed(&self, act: &mut Act) {
        let is_open =
            |on: &EffectOn| on.effect == Effect::Delete && matches!(on.target, Target::Unknown(_));
        let is_whole = act.options.iter().any(|option| lists::RECURSIVE.contains(option));
        if !is_whole || !act.effects.iter().any(is_open) {
            return;
        }
        let home = self.ground.home.as_deref();
        let names = self.handed.iter().chain(self.state.named.iter());
        let wholes = names.filter(|on| match &on.target {
            Target::Path(name) if name.starts_with(['/', '~']) => {
                let path = place::absolute(name, "/-", home);
                path.is_some_and(|path| path == "/" || Some(path.as_str()) == home)
            }
            Target::Path(_)
            | Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Host(_)
            | Target::Named(_)
            | Target::None => false,
        });
        let first = wholes.take(1).map(|on| EffectOn::new(Effect::Delete, on.target.clone()));
        let first: Vec<EffectOn> = first.collect();
        act.effects.extend(first);
    }
}

/// Whether a program hands its words to one that is no shell.
fn is_own(act: &Act) -> bool {
    act.base_name().is_some_and(|name| lists::OWN_RUNS.contains(&name))
}

fn is_grave(arg: &Arg) -> bool {
    arg.as_known().is_some_and(is_grave_word)
}

fn is_grave_word(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    lists::GRAVE.contains(&name) || name.starts_with("mkfs.")
}

/// Whether a word is a text that begins with such a program.
fn is_grave_text(arg: &Arg) -> bool {
    let mut words = arg.as_known().unwrap_or_default().split_whitespace();
    words.next().is_some_and(is_grave_word) && words.next().is_some()
}

/// The command that begins with the first grave word from a place on.
fn grave(act: &Act, from: usize) -> Option<Inner> {
    let is_text = |arg: &Arg| !is_own(act) && is_grave_text(arg);
    let mut words = act.args.iter().enumerate().skip(from);
    let (at, word) = words.find(|(_, arg)| is_grave(arg) || is_text(arg))?;
    if let Some(text) = word.as_known().filter(|_| is_text(word)) {
        return Some(Inner::Text(text.to_owned(), Dialect::Sh));
    }
    let words = act.args.get(at..).unwrap_or_default().to_vec();
    Some(Inner::Argv(words, act.assignments.clone(), Where::Here))
}
