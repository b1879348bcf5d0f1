//! What shuts an act out before any rule allows it: the lists of `[paths]`, and hopelessness.

use super::facts::is_stream;
use super::held::Access;
use super::{Bench, Facts};
use crate::effect::Effect;
use crate::guard::{Finding, is_whole_home};
use crate::place::{self, Place, Touched};
use crate::rule::paths::Meant;
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
                let is_write = held.access == Access::Write;
                self.shut_out(&held.place, self.as_gated(&held, facts), is_write, &held.written)
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
            let found = self.shut_out(place, self.meant(), is_write, what);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The list that shuts a place out.
    fn shut_out(
        &self,
        place: &Place,
        meant: Meant,
        is_write: bool,
        what: &str,
    ) -> Option<(&'static str, String)> {
        let (gates, ground, world) = (&self.policy.gates, self.ground, self.world);
        if gates.forbids(place, meant, ground, world) {
            return Some(("paths.forbidden", format!("`{what}` is forbidden")));
        }
        if gates.denies(is_write, place, meant, ground, world) {
            let list = if is_write { "paths.write" } else { "paths.read" };
            return Some((list, format!("`{what}` is on the deny list of `{list}`")));
        }
        // A name in a directory that is not known lies nowhere in particular.
        if self.policy.paths.is_jail
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
