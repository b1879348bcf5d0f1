//! Pauses: what becomes of a verdict while a person wants no questions.
//!
//! Deny rules, firm findings that could destroy, self-protection and the audit stay.

use std::borrow::Cow;

use portcullis_engine::verdict::{Reason, Tier};
use portcullis_engine::{Outcome, Verdict};

use crate::ask::CallText;
use crate::moment::Moment;

/// The longest pause, in minutes.
pub const MOST_MINUTES: u64 = 60;

/// Whether a call is one of this host and in this directory, or below it; none stands for any.
#[must_use]
pub fn covers(call: &CallText, host: Option<&str>, workspace: Option<&str>) -> bool {
    let is_inside = |root: &str| {
        let cwd = call.cwd.as_deref().filter(|cwd| is_plain(cwd));
        cwd.is_some_and(|cwd| is_within(cwd, root))
    };
    host.is_none_or(|host| call.host.as_deref() == Some(host)) && workspace.is_none_or(is_inside)
}

/// A verdict as a pause leaves it.
#[must_use]
pub fn lifted(mut verdict: Verdict, by: &str, until: Moment) -> Verdict {
    if !may_pass(&verdict) {
        return verdict;
    }
    let message = format!("{by} paused questions until {until}");
    let reason = Reason { code: Cow::Borrowed("pause"), message, span: None };
    verdict.reasons.insert(0, reason);
    verdict.outcome = Outcome::Allow;
    verdict.is_firm = false;
    verdict.suggestions.clear();
    verdict.always.clear();
    verdict
}

/// Whether a pause reaches a verdict: it asks, or a mode alone denies, and nothing firm that could
/// destroy was found.
fn may_pass(verdict: &Verdict) -> bool {
    let destroys = verdict.acts.iter().flat_map(|act| &act.findings).any(|finding| {
        finding.tier == Tier::Destructive && (finding.is_firm || finding.outcome == Outcome::Deny)
    });
    let is_modes = verdict.reasons.first().is_some_and(|reason| reason.code.starts_with("mode."))
        && verdict
            .acts
            .iter()
            .all(|act| act.outcome != Outcome::Deny || act.reason.code.starts_with("mode."));
    match verdict.outcome {
        Outcome::Allow => false,
        Outcome::Ask => !destroys,
        Outcome::Deny => is_modes && !destroys,
    }
}

/// Whether a directory is written without steps back, which would lead elsewhere.
fn is_plain(path: &str) -> bool {
    path.starts_with('/') && !path.split('/').any(|part| part == "..")
}

fn is_within(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
