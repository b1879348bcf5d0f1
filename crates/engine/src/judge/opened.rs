//! What a dialect opens beside the modes: its file tools, and fetches that are saved.
//!
//! A dialect whose own table says which of its file tools run at once lays an
//! [`Opened`](crate::policy::Opened) over the policy. Deny and ask rules come before it, and what
//! it does not open is left to the mode.

use super::{Bench, Facts, Step, finding};
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};
use crate::guard::{Finding, is_system};
use crate::mode::Mode;
use crate::policy::Opened;
use crate::sensitive::{self, Access};
use crate::tool::ToolKind;
use crate::verdict::{Outcome, Tier};

/// Programs that save what they fetch.
const SAVERS: [&str; 2] = ["wget", "wget2"];

/// Their options with which more than the one named file is saved, or under another name.
const MORE: [&str; 15] = [
    "-r",
    "--recursive",
    "-m",
    "--mirror",
    "-p",
    "--page-requisites",
    "-b",
    "--background",
    "--xattr",
    "-x",
    "--force-directories",
    "--protocol-directories",
    "--content-disposition",
    "--trust-server-names",
    "--default-page",
];

impl<'a> Bench<'a> {
    /// Holds a file tool against the dialect's own list, before anything weighs the findings.
    pub(super) fn inspect_opened(&self, facts: &mut Facts) {
        let Some(opened) = self.policy.opened else { return };
        match self.spec.kind {
            ToolKind::Read if opened.secrets => {
                facts.findings.retain(|finding| finding.guard == "self_protection");
            }
            ToolKind::Write => facts.findings.extend(listed(facts)),
            ToolKind::Read
            | ToolKind::Shell
            | ToolKind::Edit
            | ToolKind::Patch
            | ToolKind::Search
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => {}
        }
    }

    /// Whether a write is one that the dialect lets run.
    pub(super) fn is_opened_write(&self, facts: &Facts) -> bool {
        self.policy.opened.is_some()
            && self.spec.kind == ToolKind::Write
            && facts.findings.iter().all(|finding| finding.outcome == Outcome::Allow)
            && !self.has_fault
    }

    /// The answer of the dialect's own table.
    pub(super) fn opened(&self, facts: &Facts) -> Option<Step<'a>> {
        self.policy.opened?;
        if self.spec.kind == ToolKind::Read && facts.is_read_only {
            return Some(self.read_only(facts));
        }
        if self.policy.mode != Mode::Explore && self.is_opened_write(facts) {
            let message = format!("`{}` writes an ordinary file", self.subject(facts));
            return Some(self.step(Outcome::Allow, 5, "dialect", message, facts));
        }
        None
    }

    /// Whether a write is only that a fetch is saved under its own, ordinary name.
    pub(super) fn is_saved_fetch(&self, facts: &Facts, on: &EffectOn) -> bool {
        let act = &facts.act;
        let is_open = self.policy.opened.is_some_and(|opened: Opened| opened.saved_fetches);
        is_open
            && on.effect == Effect::Write
            && on.target == Target::None
            && act.base_name().is_some_and(|name| SAVERS.contains(&name))
            && !act.options.iter().any(|option| MORE.contains(option))
            && act.args.iter().all(saves_plainly)
    }
}

/// Whether an argument names no address, or one whose last part is an ordinary name.
fn saves_plainly(arg: &Arg) -> bool {
    let Some(text) = arg.as_known() else { return false };
    let Some((_, rest)) = text.split_once("://") else { return true };
    let (path, query) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
    let name = match path.split_once('/') {
        Some((_, path)) => path.rsplit('/').next().unwrap_or_default(),
        None => "",
    };
    // A name that is written otherwise (`%2eenv`) is not looked through.
    !text.contains('%')
        && [name, query].into_iter().all(|part| {
            let path = format!("/{}", part.rsplit('/').next().unwrap_or_default());
            sensitive::find(&path, Access::Write).is_none() && !is_credentials(&path)
        })
}

/// What the dialect's own list says about the file that a tool writes.
fn listed(facts: &Facts) -> Option<Finding> {
    if facts.findings.iter().any(|finding| finding.guard == "sensitive_path") {
        return None;
    }
    let about = |message: String| Some(finding("sensitive_path", Tier::Dangerous, false, message));
    let Some(touched) = facts.touched.first() else {
        return about("writes a file that is not named".to_owned());
    };
    let places = touched
        .place
        .iter()
        .flat_map(|place| [Some(&place.normalised), place.resolved.as_ref()].into_iter().flatten());
    for path in places.map(String::as_str).chain([touched.written.as_str()]) {
        if is_credentials(path) {
            return about(format!("writes `{path}`: a file of credentials"));
        }
        if is_system(path) {
            return about(format!("writes `{path}`: in a system directory"));
        }
    }
    None
}

/// Whether a file is called `credentials`, with or without an extension.
fn is_credentials(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    name.split_once('.').map_or(name.as_str(), |(stem, _)| stem) == "credentials"
}
