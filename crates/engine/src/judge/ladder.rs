//! The ladder: each act walks it downwards, and the first rung that holds decides.

use std::borrow::Cow;

use super::exec::Row;
use super::speak::OfAct;
use super::{Bench, Facts};
use crate::act::ActKind;
use crate::guard::Finding;
use crate::mode::Mode;
use crate::policy::ExactAnswer;
use crate::rule::Rule;
use crate::tool::ToolKind;
use crate::verdict::{Outcome, Reason, Tier};

/// The rung that held for one act.
#[derive(Clone, Debug)]
pub(crate) struct Step<'p> {
    pub(crate) outcome: Outcome,
    pub(crate) rung: u8,
    pub(crate) rule: Option<&'p Rule>,
    pub(crate) is_firm: bool,
    pub(crate) reason: Reason,
}

impl<'a> Bench<'a> {
    /// Walks the ladder of one act; last, the mode bends what it said.
    pub(super) fn walk(&self, facts: &Facts) -> Step<'a> {
        let step = self.rungs(facts);
        Step { outcome: self.policy.mode.bend(step.outcome), ..step }
    }

    fn rungs(&self, facts: &Facts) -> Step<'a> {
        let of_act = self.of_act(&facts.act);
        let first = self.first_rung(facts, &of_act);
        let step = first.or_else(|| self.granted(facts)).or_else(|| self.destroyed(facts));
        let step = step.or_else(|| {
            let rule = self.speaking(Outcome::Ask, facts, &of_act)?;
            Some(self.by_rule(rule, facts, 4))
        });
        step.unwrap_or_else(|| match (&self.policy.exec, self.spec.kind) {
            // Words of refused text have no answer of their own.
            _ if facts.act.kind == ActKind::Scanned => self.nothing(facts),
            (Some(exec), ToolKind::Shell) if !self.spec.is_foreign_shell => {
                self.under_exec(exec, facts)
            }
            _ => {
                let step = self.opened(facts).or_else(|| self.gated(facts));
                step.unwrap_or_else(|| self.by_mode(facts))
            }
        })
    }

    /// Rung 1: what nothing can allow.
    fn first_rung(&self, facts: &Facts, of_act: &OfAct<'a>) -> Option<Step<'a>> {
        let own = facts.findings.iter().find(|finding| finding.guard == "self_protection");
        if let Some(finding) = own {
            return Some(self.by_finding(finding, Outcome::Deny, 1));
        }
        if let Some(rule) = self.speaking(Outcome::Deny, facts, of_act) {
            return Some(self.by_rule(rule, facts, 1));
        }
        if let Some((list, message)) = self.shut(facts) {
            return Some(self.step(Outcome::Deny, 1, list, message, facts));
        }
        if self.policy.hopeless == Outcome::Deny
            && let Some(finding) = self.hopeless(facts)
        {
            return Some(self.by_finding(finding, Outcome::Deny, 1));
        }
        None
    }

    /// Rung 2: somebody answered this very call.
    fn granted(&self, facts: &Facts) -> Option<Step<'a>> {
        if self.policy.mode == Mode::Explore {
            return None;
        }
        let (outcome, message) = match self.grant? {
            ExactAnswer::Deny => (Outcome::Deny, "this very call was rejected"),
            ExactAnswer::Allow { answers_firm } if answers_firm || facts.firm().is_none() => {
                (Outcome::Allow, "this very call was approved")
            }
            ExactAnswer::Allow { .. } => return None,
        };
        Some(self.step(outcome, 2, "grant", message.to_owned(), facts))
    }

    /// Rung 3: what could destroy is not even asked about.
    fn destroyed(&self, facts: &Facts) -> Option<Step<'a>> {
        if self.policy.destructive != Outcome::Deny || facts.tier != Tier::Destructive {
            return None;
        }
        let worst = facts.findings.iter().max_by_key(|finding| finding.tier)?;
        Some(self.by_finding(worst, Outcome::Deny, 3))
    }

    /// Rung 5 for shell calls under `[exec]`.
    fn under_exec(&self, exec: &crate::policy::Exec, facts: &Facts) -> Step<'a> {
        if self.policy.mode == Mode::Explore && !facts.is_read_only {
            return self.unmatched(facts);
        }
        let Row { outcome, code, rule } = self.exec_row(exec, facts);
        let firm = facts.firm().filter(|_| outcome == Outcome::Ask);
        if let Some(finding) = firm {
            return self.by_finding(finding, outcome, 5);
        }
        let what = self.subject(facts);
        let message = match outcome {
            Outcome::Allow => format!("`{what}` is open under `exec`"),
            Outcome::Ask => format!("`{what}` is asked about under `exec`"),
            Outcome::Deny => format!("`{what}` is not open under `exec`"),
        };
        Step { rule, ..self.step(outcome, 5, code, message, facts) }
    }

    /// Rung 5 for file calls under `[paths]`.
    fn gated(&self, facts: &Facts) -> Option<Step<'a>> {
        let is_write = match self.spec.kind {
            ToolKind::Read | ToolKind::Search => false,
            ToolKind::Write | ToolKind::Edit | ToolKind::Patch => true,
            ToolKind::Shell
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => return None,
        };
        let (gate, code) = if is_write {
            (self.policy.paths.write.as_ref()?, "paths.write")
        } else {
            (self.policy.paths.read.as_ref()?, "paths.read")
        };
        if self.policy.mode == Mode::Explore && is_write {
            return Some(self.unmatched(facts));
        }
        if let Some(finding) = facts.firm() {
            return Some(self.by_finding(finding, Outcome::Ask, 5));
        }
        let places = facts.touched.iter().map(|touched| touched.place.as_ref());
        let is_open = !facts.touched.is_empty()
            && places.into_iter().all(|place| {
                place.is_some_and(|place| {
                    self.policy.gates.allows(is_write, place, self.meant(), self.ground)
                })
            });
        let outcome = if is_open { Outcome::Allow } else { gate.default };
        let what = self.subject(facts);
        let message = match outcome {
            Outcome::Allow => format!("`{what}` is open under `{code}`"),
            Outcome::Ask | Outcome::Deny => format!("`{what}` is not on the list of `{code}`"),
        };
        Some(self.step(outcome, 5, code, message, facts))
    }

    /// Rung 5 for everything else: steps 3 to 6 of the modes' table.
    fn by_mode(&self, facts: &Facts) -> Step<'a> {
        let mode = self.policy.mode;
        let has_opinion = match self.spec.kind {
            ToolKind::Read | ToolKind::Search => false,
            // The table's own read-only tools; who declares one writes a rule for it.
            ToolKind::Mcp | ToolKind::Other => {
                let declared = self.policy.tools.iter().any(|tool| tool.name == self.spec.name);
                self.spec.has_kind && !declared
            }
            ToolKind::Shell
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Patch
            | ToolKind::Fetch
            | ToolKind::Agent => true,
        };
        match mode {
            Mode::Explore | Mode::AcceptEdits if facts.is_read_only => {
                return self.read_only(facts);
            }
            Mode::Explore => return self.unmatched(facts),
            Mode::AcceptEdits | Mode::Default | Mode::Bypass | Mode::DontAsk => {}
        }
        let denial = facts.findings.iter().find(|finding| finding.outcome == Outcome::Deny);
        if let Some(finding) = denial {
            return self.by_finding(finding, Outcome::Deny, 5);
        }
        if let Some(finding) = facts.asking().filter(|_| mode != Mode::Bypass)
            && (finding.is_firm || mode == Mode::DontAsk)
        {
            return self.by_finding(finding, Outcome::Ask, 5);
        }
        if facts.is_read_only && has_opinion {
            return self.read_only(facts);
        }
        if mode == Mode::AcceptEdits && self.is_workspace_edit(facts) {
            let message = format!("`{}` edits the workspace only", self.subject(facts));
            return self.step(Outcome::Allow, 5, "workspace", message, facts);
        }
        if let Some(rule) = self.covering(facts) {
            return self.by_rule(rule, facts, 5);
        }
        match facts.asking() {
            Some(finding) if mode.unmatched() == Outcome::Ask => {
                self.by_finding(finding, Outcome::Ask, 5)
            }
            _ => self.unmatched(facts),
        }
    }

    pub(super) fn read_only(&self, facts: &Facts) -> Step<'a> {
        let message = ["`", &self.subject(facts), "` only reads"].concat();
        self.step(Outcome::Allow, 5, "read_only", message, facts)
    }

    fn unmatched(&self, facts: &Facts) -> Step<'a> {
        let mode = self.policy.mode;
        let what = self.subject(facts);
        let message = match mode {
            Mode::Default | Mode::AcceptEdits => ["no rule allows `", &what, "`"].concat(),
            Mode::Explore => format!("`{what}` does more than read"),
            Mode::Bypass => format!("no rule denies `{what}`"),
            Mode::DontAsk => format!("no rule allows `{what}`, and nobody is asked"),
        };
        self.step(mode.unmatched(), 5, mode.code(), message, facts)
    }

    fn nothing(&self, facts: &Facts) -> Step<'a> {
        self.step(Outcome::Allow, 5, "unreadable", String::new(), facts)
    }

    fn by_rule(&self, rule: &'a Rule, facts: &Facts, rung: u8) -> Step<'a> {
        let code = match rule.outcome {
            Outcome::Allow => "rule.allow",
            Outcome::Ask => "rule.ask",
            Outcome::Deny => "rule.deny",
        };
        let verb = match rule.outcome {
            Outcome::Allow => "allows",
            Outcome::Ask => "asks about",
            Outcome::Deny => "denies",
        };
        let what = self.subject(facts);
        let message = ["rule `", &rule.text, "` ", verb, " `", &what, "`"].concat();
        let step = self.step(rule.outcome, rung, code, message, facts);
        Step { rule: Some(rule), ..step }
    }

    fn by_finding(&self, finding: &Finding, outcome: Outcome, rung: u8) -> Step<'a> {
        let is_firm = finding.is_firm && rung == 5 && outcome == Outcome::Ask;
        Step { outcome, rung, rule: None, is_firm, reason: reason_of(self, finding) }
    }

    pub(super) fn step(
        &self,
        outcome: Outcome,
        rung: u8,
        code: &'static str,
        message: String,
        facts: &Facts,
    ) -> Step<'a> {
        let span = self.text.map(|_| facts.act.span);
        let reason = Reason { code: Cow::Borrowed(code), message, span };
        Step { outcome, rung, rule: None, is_firm: false, reason }
    }
}

/// The reason that a finding is.
pub(super) fn reason_of(bench: &Bench<'_>, finding: &Finding) -> Reason {
    let code = match finding.guard {
        "self_protection" | "syntax" | "unreadable" => Cow::Borrowed(finding.guard),
        "limit" => Cow::Borrowed("limit.acts"),
        // What only informs stands in the row of what asks.
        "owner_change" => Cow::Borrowed("guard.open_permissions"),
        "rows_deleted" => Cow::Borrowed("guard.lost_work"),
        guard => Cow::Owned(["guard.", guard].concat()),
    };
    let span = bench.text.map(|_| finding.span);
    Reason { code, message: finding.message.clone(), span }
}
