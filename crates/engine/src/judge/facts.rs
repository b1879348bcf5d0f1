//! Facts: what is known of one act before any rule or mode has a say.

use super::Bench;
use crate::act::{Act, ActKind};
use crate::effect::{Effect, EffectOn, Target};
use crate::guard::{self, Finding, Scene};
use crate::place::Touched;
use crate::policy_text::Listed;
use crate::tool::ToolKind;
use crate::verdict::{Outcome, Tier};

/// Files that are no files.
const STREAMS: [&str; 7] =
    ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

/// What is known of one act.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) act: Box<Act>,
    pub(crate) touched: Vec<Touched>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) tier: Tier,
    pub(crate) is_read_only: bool,
    /// Whether an allow rule or the allowlist covers it, and no firm finding stands against that.
    pub(crate) is_covered: bool,
    /// The entry of the allowlist that covers it.
    pub(crate) listed: Option<Listed>,
}

impl Facts {
    pub(super) fn new(act: Box<Act>) -> Facts {
        let (touched, findings) = (Vec::new(), Vec::new());
        let (is_read_only, is_covered, listed) = (false, false, None);
        Facts { act, touched, findings, tier: Tier::Review, is_read_only, is_covered, listed }
    }

    /// The worst finding that asks: a firm one before others.
    pub(crate) fn asking(&self) -> Option<&Finding> {
        let asking = self.findings.iter().filter(|finding| finding.outcome == Outcome::Ask);
        asking.rev().max_by_key(|finding| (finding.is_firm, finding.tier))
    }

    /// The firm finding that asks.
    pub(crate) fn firm(&self) -> Option<&Finding> {
        self.asking().filter(|finding| finding.is_firm)
    }

    /// Whether it is more than words in text that was refused.
    pub(super) fn is_real(&self) -> bool {
        match self.act.kind {
            ActKind::Scanned => false,
            ActKind::Tool => !self.act.effects.is_empty(),
            ActKind::Command | ActKind::Redirection | ActKind::Assignment | ActKind::Unreadable => {
                true
            }
        }
    }

    /// The files it changes, except those that are none.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Touched> {
        self.touched.iter().filter(|touched| {
            matches!(touched.effect, Effect::Write | Effect::Delete | Effect::Change)
                && !is_stream(touched)
        })
    }
}

/// Whether a file is read: what connects besides may send what stands in it.
fn takes_a_file(on: &EffectOn) -> bool {
    let is_file = match &on.target {
        Target::Path(path) => !STREAMS.contains(&path.as_str()),
        Target::Pattern(_) | Target::Unknown(_) => true,
        Target::Host(_) | Target::Named(_) | Target::None => false,
    };
    on.effect == Effect::Read && !on.is_listing && is_file
}

/// Whether it is one of the process's own streams, or nothing.
pub(super) fn is_stream(touched: &Touched) -> bool {
    let place = touched.place.as_ref();
    // Few files are devices.
    place.is_some_and(|place| {
        place.normalised.starts_with("/dev/") && STREAMS.contains(&place.normalised.as_str())
    })
}

impl Bench<'_> {
    /// Adds what is found about an act where it may happen instead.
    fn add_perhaps(&self, facts: &mut Facts, scene: &Scene<'_>) {
        let may_stray = facts.act.directory.is_some();
        // In the workspace the same name means the same, unless it climbs.
        let counts = |one: &Touched| {
            let is_inside = one.place.as_ref().is_some_and(|place| self.ground.holds(place));
            !may_stray || !is_inside || one.written.contains("..")
        };
        let perhaps = self.ground.perhaps(&facts.act, &facts.touched, self.world);
        let perhaps: Vec<Touched> = perhaps.filter(counts).collect();
        if perhaps.is_empty() {
            return;
        }
        // What may be ours is not touched, wherever the script is by then.
        let found = guard::inspect(&facts.act, &perhaps, scene);
        let is_ours = |finding: &Finding| finding.guard == "self_protection";
        let (ours, others): (Vec<Finding>, Vec<Finding>) = found.into_iter().partition(is_ours);
        facts.findings.extend(ours.into_iter().take(1));
        for finding in others.into_iter().filter(|_| may_stray) {
            if facts.findings.iter().all(|old| old.guard != finding.guard) {
                facts.findings.push(finding);
            }
        }
    }

    pub(super) fn facts(&self, act: Box<Act>) -> Facts {
        let mut facts = Facts::new(act);
        if facts.act.kind == ActKind::Scanned {
            facts.tier = Tier::Safe;
            return facts;
        }
        let scene = Scene {
            ground: self.ground,
            world: self.world,
            sensitive: &self.policy.sensitive,
            asks_for_secrets: self.policy.sensitive_reads == Outcome::Ask,
        };
        facts.touched = self.ground.touched(&facts.act, self.world);
        facts.findings = guard::inspect(&facts.act, &facts.touched, &scene);
        if !facts.act.perhaps_in.is_empty() {
            self.add_perhaps(&mut facts, &scene);
        }
        let is_reader = matches!(self.spec.kind, ToolKind::Read | ToolKind::Search);
        if is_reader && self.policy.sensitive_reads == Outcome::Allow {
            facts.findings.retain(|finding| finding.guard != "secret_read");
        }
        for custom in &self.asked.findings {
            facts.findings.push(Finding {
                guard: "custom_tool",
                tier: Tier::Dangerous,
                outcome: custom.outcome,
                is_firm: custom.is_firm,
                message: custom.message.clone(),
                span: facts.act.span,
            });
        }
        self.inspect_opened(&mut facts);
        facts
    }

    /// Finds which acts only read, from the last to the first: what an act runs stands behind it.
    pub(super) fn settle_reading(&self, acts: &mut [Facts]) {
        for at in (0..acts.len()).rev() {
            let runs = acts.get(at).map_or(0..0, |facts| facts.act.inner.clone());
            let inner = acts.get(runs).unwrap_or_default();
            let inner_reads = inner.iter().all(|facts| facts.is_read_only);
            let Some(facts) = acts.get_mut(at) else { continue };
            facts.is_read_only = inner_reads && self.only_reads(facts) && !self.is_closed(facts);
            let found = facts.findings.iter().map(|finding| finding.tier).max();
            let is_harmless = facts.is_read_only
                || facts.act.kind == ActKind::Scanned
                || self.is_opened_write(facts);
            let least = if is_harmless { Tier::Safe } else { Tier::Review };
            facts.tier = found.unwrap_or(Tier::Safe).max(least);
        }
    }

    fn only_reads(&self, facts: &Facts) -> bool {
        if facts.findings.iter().any(|finding| finding.outcome != Outcome::Allow) {
            return false;
        }
        let act = &facts.act;
        match act.kind {
            ActKind::Scanned | ActKind::Unreadable => return false,
            ActKind::Command | ActKind::Redirection | ActKind::Assignment => {}
            ActKind::Tool => match self.spec.kind {
                ToolKind::Read | ToolKind::Search => {}
                ToolKind::Agent | ToolKind::Mcp | ToolKind::Other => {
                    return self.asked.is_read_only;
                }
                ToolKind::Shell
                | ToolKind::Write
                | ToolKind::Edit
                | ToolKind::Patch
                | ToolKind::Fetch => return self.asked.is_read_only && !self.has_fault,
            },
        }
        // A word that is not known before it runs may carry anything away.
        let may_connect = self.policy.network_reads == Outcome::Allow
            && act.notes.is_empty()
            && act.args.iter().all(|arg| arg.as_known().is_some())
            && !act.effects.iter().any(takes_a_file);
        let is_reading = |on: &EffectOn| match (on.effect, &on.target) {
            (Effect::Connect, _) => may_connect,
            // A stream that is written is no file.
            (Effect::Write, Target::Path(path)) => STREAMS.contains(&path.as_str()),
            (effect, _) => effect.is_reading() || self.is_saved_fetch(facts, on),
        };
        let has_effects = !act.effects.is_empty() || act.kind == ActKind::Command;
        act.unknown.is_none() && has_effects && act.effects.iter().all(is_reading)
    }
}
