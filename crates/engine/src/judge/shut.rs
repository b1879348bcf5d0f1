//! What shuts an act out before any rule allows it: the lists of `[paths]`, and hopelessness.

use super::facts::is_stream;
use super::held::{Access, Held};
use super::{Bench, Facts};
use crate::effect::Effect;
use crate::guard::{Finding, is_whole_home};
use crate::place::{self, Touched};
use crate::rule::paths::{Meant, Way};
use crate::tool::ToolKind;

impl Bench<'_> {
    /// A list of `[paths]` that shuts an act out, with the sentence to say.
    pub(super) fn shut(&self, facts: &Facts) -> Option<(&'static str, String)> {
        let paths = &self.policy.paths;
        if !self.policy.gates.has_denials && !paths.refuses_absolute {
            return None;
        }
        if self.spec.kind == ToolKind::Shell {
            return self.held(facts).into_iter().find_map(|held| {
                let way = self.gated_way(&held, facts);
                self.shut_out(&held, self.as_gated(&held, facts), way)
            });
        }
        let perhaps: Vec<Touched> =
            self.ground.perhaps(&facts.act, &facts.touched, self.world).collect();
        let touched = facts.touched.iter().chain(&perhaps);
        for touched in touched.filter(|touched| !is_stream(touched)) {
            let what = &touched.written;
            if paths.refuses_absolute && what.starts_with(['/', '~']) {
                return Some(("paths.absolute", format!("`{what}` is an absolute path")));
            }
            let Some(place) = &touched.place else { continue };
            let is_write = matches!(touched.effect, Effect::Write | Effect::Delete);
            let held = Held {
                place: place.clone(),
                meant: self.meant(),
                access: if is_write { Access::Write } else { Access::Read },
                written: what.clone(),
                is_word: false,
            };
            let found = self.shut_out(&held, held.meant, None);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The list that shuts a place out.
    fn shut_out(
        &self,
        held: &Held,
        meant: Meant,
        way: Option<Way<'_>>,
    ) -> Option<(&'static str, String)> {
        let (gates, ground, world) = (&self.policy.gates, self.ground, self.world);
        let (place, what) = (&held.place, &held.written);
        let is_write = held.access == Access::Write;
        if gates.forbids(place, meant, ground, world, way) {
            return Some(("paths.forbidden", format!("`{what}` is forbidden")));
        }
        if gates.denies(is_write, place, meant, ground, world, way) {
            let list = if is_write { "paths.write" } else { "paths.read" };
            return Some((list, format!("`{what}` is on the deny list of `{list}`")));
        }
        // A name in a directory that is not known lies nowhere in particular.
        if self.policy.paths.is_jail
            && !held.is_word
            && !ground.holds(place)
            && !place::is_within(&place.normalised, "/-")
        {
            return Some(("paths.jail", format!("`{what}` lies outside the workspace")));
        }
        None
    }

    /// The finding that makes an act hopeless, as Comma has it.
    pub(super) fn hopeless<'f>(&self, facts: &'f Facts) -> Option<&'f Finding> {
        let act = &facts.act;
        let program = act.base_name().unwrap_or_default();
        facts.findings.iter().find(|finding| match finding.guard {
            "download_and_run" => true,
            "power" => !["halt", "poweroff"].contains(&program),
            "disk" => {
                let is_device = |touched: &Touched| {
                    touched.place.as_ref().is_some_and(|place| {
                        place.normalised.starts_with("/dev/") && !is_stream(touched)
                    })
                };
                program.starts_with("mkfs") || facts.touched.iter().any(is_device)
            }
            "critical_removal" => facts.changed().any(|touched| {
                let is_root = touched.place.as_ref().is_some_and(|place| {
                    place.normalised.trim_end_matches("/*").trim_end_matches('/').is_empty()
                });
                is_root || is_whole_home(touched, self.ground)
            }),
            _ => false,
        })
    }

    /// How a file call means its path.
    pub(super) fn meant(&self) -> Meant {
        if self.spec.kind == ToolKind::Search { Meant::Search } else { Meant::File }
    }
}
