//! Portcullis' own program behind words, texts and names that are not commands yet.

use super::Analysis;
use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};
use crate::catalog;
use crate::effect::{Effect, EffectOn, Target};
use crate::lists;
use crate::place;
use crate::sensitive::{self, Access};
use crate::usage;

/// The guard that fires.
const GUARD: &str = "self_protection";

/// The name of the program.
const NAME: &str = "portcullis";

impl Analysis<'_> {
    /// Looks for commands that decide, in everything that may run without being read.
    pub(super) fn find_own(&mut self) {
        let unread = std::mem::take(&mut self.found.unread);
        for act in unread
            .iter()
            .filter(|unread| unread.mentions(NAME))
            .flat_map(|unread| unread.acts(|_, _| true))
        {
            let is_decision = act.base_name().is_some_and(is_ours) && decides(&act);
            if is_decision || self.harms_own(&act) {
                let mut own = Act { kind: ActKind::Unreadable, ..act };
                own.effects.push(EffectOn::of(Effect::Execute));
                own.note(GUARD, own.span);
                self.push(own);
                break;
            }
        }
        self.found.unread = unread;
    }

    /// Notes an act that is Portcullis itself in a way that cannot be read, or that aims at it.
    pub(crate) fn guard_own(&self, act: &mut Act) {
        let is_own = act.base_name().is_some_and(is_ours);
        if is_own && act.unknown.as_ref().is_some_and(|unknown| unknown.is_dynamic) {
            act.note(GUARD, act.span);
        }
        let stops = || act.base_name().is_some_and(|name| lists::STEERERS.contains(&name));
        let is_open = act.args.iter().skip(1).any(|arg| arg.as_known().is_none());
        let names_us = |on: &EffectOn| match &on.target {
            Target::Path(name) => name.contains(NAME),
            Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Host(_)
            | Target::Named(_)
            | Target::None => false,
        };
        if is_open && stops() && self.all_names().iter().any(names_us) {
            act.note(GUARD, act.span);
        }
        // What is removed or written may be named elsewhere.
        let changed = |on: &EffectOn| match (on.effect, &on.target) {
            (Effect::Write | Effect::Delete, Target::Unknown(place)) => Some(place.clone()),
            _ => None,
        };
        let changed: Vec<String> = act.effects.iter().filter_map(changed).collect();
        if changed.is_empty() {
            return;
        }
        let takes_all = act.options.iter().any(|option| lists::RECURSIVE.contains(option));
        let from = act.directory.as_deref().unwrap_or("/");
        let mut names = self.handed.iter().chain(self.state.named.iter());
        let is_ours = names.any(|on| match &on.target {
            Target::Path(name) | Target::Pattern(name) => {
                let rooted = name.starts_with(['/', '~']) && self.is_own(name, from, takes_all);
                // `~/.config/$x`
                rooted
                    || changed.iter().any(|place| {
                        let place = place.contains('*').then(|| place.replacen('*', name, 1));
                        place.is_some_and(|place| self.is_own(&place, from, takes_all))
                    })
            }
            Target::Unknown(_) | Target::Host(_) | Target::Named(_) | Target::None => false,
        });
        if is_ours {
            act.note(GUARD, act.span);
        }
    }

    /// Whether a path, as it is written, leads to what is ours, or to a directory around it.
    fn is_own(&self, written: &str, from: &str, takes_all: bool) -> bool {
        let home = self.ground.home.as_deref();
        let Some(path) = place::absolute(&written.replace(['*', '?'], "x"), from, home) else {
            return false;
        };
        sensitive::find(&path, Access::Write).is_some_and(|pattern| pattern.denies)
            || takes_all
                && home
                    .is_some_and(|home| path != home && sensitive::own_below(&path, home).is_some())
    }

    /// Whether words that were not read remove, change or stop what is ours.
    fn harms_own(&self, act: &Act) -> bool {
        let Some(program) = act.base_name() else { return false };
        let mut words = act.args.iter().skip(1);
        if lists::ENDERS.contains(&program) {
            return words.any(|arg| arg.written().contains(NAME));
        }
        let takes_all = matches!(program, "rm" | "mv");
        lists::CHANGERS.contains(&program)
            && words.any(|arg| {
                let is_path = arg.written().starts_with(['/', '~']);
                is_path && self.is_own(arg.written(), "/", takes_all)
            })
    }

    /// A program whose name is only known in part: the parts may be ours.
    pub(crate) fn suspect_own(&mut self, act: &Act) {
        let Some(program) = act.args.first() else { return };
        let begin = program.prefix().rsplit('/').next().unwrap_or_default();
        let end = program.ending.as_str();
        let is_part = begin.len() + end.len() > 2 && NAME.starts_with(begin) && NAME.ends_with(end);
        if is_part && program.as_known().is_none() {
            let mut words = vec![Arg::new(Text::Known(NAME.to_owned()), act.span)];
            words.extend(act.args.iter().skip(1).cloned());
            self.suspect_words(&words, act);
        }
    }
}

fn is_ours(name: &str) -> bool {
    matches!(name, "portcullis" | "portcullis-hook" | "portcullis-cli")
}

/// Whether the words of a command make Portcullis decide or change something.
fn decides(act: &Act) -> bool {
    let Some(program) = catalog::find(NAME) else { return false };
    let usage = usage::read(program.entry, act.args.get(1..).unwrap_or_default());
    usage.findings.contains(&GUARD)
}
