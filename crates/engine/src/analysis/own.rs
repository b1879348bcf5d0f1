//! Portcullis' own program behind words, texts and names that are not commands yet.

use super::Analysis;
use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};
use crate::catalog;
use crate::effect::{Effect, EffectOn, Target};
use crate::lists;
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
            if act.base_name().is_some_and(is_ours) && decides(&act) {
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
        let changes = |on: &EffectOn| {
            matches!(on.effect, Effect::Write | Effect::Delete)
                && matches!(on.target, Target::Unknown(_))
        };
        let is_own = |on: &EffectOn| match &on.target {
            Target::Path(path) if path.starts_with('/') => {
                sensitive::find(path, Access::Write).is_some_and(|pattern| pattern.denies)
            }
            Target::Path(_)
            | Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Host(_)
            | Target::Named(_)
            | Target::None => false,
        };
        if act.effects.iter().any(changes) && self.all_names().iter().any(is_own) {
            act.note(GUARD, act.span);
        }
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
