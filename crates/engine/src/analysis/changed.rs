//! What an act may change whose words are not known: a rule that denies holds for the files that
//! these words may stand for, as it does where they are read.

use super::Analysis;
use crate::act::Act;
use crate::effect::{Effect, EffectOn, Target};

impl Analysis<'_> {
    /// Lets an act that changes or removes an unknown file do so with all that its words may stand
    /// for.
    pub(crate) fn give_changed(&self, act: &mut Act) {
        // Where the word begins is known in the other cases, and rules look there.
        let is_open = |on: &&EffectOn| {
            let is_change = matches!(on.effect, Effect::Write | Effect::Delete);
            let is_unknown = matches!(&on.target, Target::Unknown(pattern) if pattern.is_empty() || pattern.starts_with('*'));
            is_change && is_unknown
        };
        let Some(effect) = act.effects.iter().find(is_open).map(|on| on.effect) else { return };
        let names = self
            .all_names()
            .into_iter()
            .filter(|on| matches!(on.target, Target::Path(_) | Target::Pattern(_)));
        act.may_change = names.map(|on| EffectOn { effect, is_listing: false, ..on }).collect();
    }
}
