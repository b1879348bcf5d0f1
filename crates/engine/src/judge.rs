//! Judging: from a policy, a call and the world to the verdict.
//!
//! The call becomes acts ([`tool`]), each act walks the ladder by itself
//! (`judge/ladder.rs`), and the call gets the strictest answer. A name that several hosts use
//! for different things is read in each of those ways.

mod always;
mod cover;
mod exec;
mod facts;
mod held;
mod informed;
mod ladder;
mod opened;
mod shut;
mod speak;
mod spellings;

use std::sync::Arc;

use portcullis_shell::RefusalKind;

use crate::act::{Act, ActKind};
use crate::call::Call;
use crate::effect::{Effect, EffectOn};
use crate::guard::Finding;
use crate::pattern::json;
use crate::place::Ground;
use crate::policy::{ExactAnswer, Policy};
use crate::rule::{CallRules, Rule};
use crate::suggest;
use crate::tool::{self, Asked, CustomTool, Spec, ToolActs, ToolKind};
use crate::usage::Unknown;
use crate::verdict::{JudgedAct, Outcome, Reason, Tier, Verdict};
use crate::world::World;

pub(crate) use cover::has_covered_assignments;
pub(crate) use facts::Facts;
pub(crate) use ladder::Step;

use speak::Said;

/// How many reasons a verdict gives.
const REASONS: usize = 16;

/// The verdict about one call. Total: every call gets one.
#[must_use]
pub fn judge(policy: &Policy, call: &Call, world: &dyn World) -> Verdict {
    let root = call.root.as_deref().unwrap_or(&call.cwd);
    let home = call.home.as_deref();
    let mut ground = Ground::of_session(root, &call.cwd, home, &policy.workspace, world);
    ground.folds_names = policy.opened.is_some();
    let shell = call.shell.unwrap_or(policy.shell);
    let specs = tool::readings(call, &policy.tools);
    // Nearly every call has one.
    if let [spec] = &*specs {
        let found = tool::acts(spec, call, shell, &ground, world);
        let (bench, acts) = Bench::new(policy, call, world, &ground, spec, found);
        return bench.verdict(acts);
    }
    let mut readings: Vec<(&Spec, ToolActs<'_>)> =
        specs.iter().map(|spec| (&**spec, tool::acts(spec, call, shell, &ground, world))).collect();
    // Of several readings those count whose field is there; if none has it, all of them do.
    if readings.len() > 1 && readings.iter().any(|(_, found)| found.has_subject) {
        readings.retain(|(_, found)| found.has_subject);
    }
    let strength = |verdict: &Verdict| (verdict.outcome, verdict.is_firm, verdict.tier);
    readings
        .into_iter()
        .map(|(spec, found)| {
            let (bench, acts) = Bench::new(policy, call, world, &ground, spec, found);
            bench.verdict(acts)
        })
        .reduce(|one, other| if strength(&other) > strength(&one) { other } else { one })
        .unwrap_or_else(|| Verdict {
            outcome: policy.mode.bend(Outcome::Ask),
            tier: Tier::Review,
            is_read_only: false,
            is_firm: false,
            world: world.kind(),
            reasons: Vec::new(),
            acts: Vec::new(),
            suggestions: Vec::new(),
            always: Vec::new(),
        })
}

/// Everything one reading of a call is judged with.
pub(crate) struct Bench<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) call: &'a Call,
    pub(crate) world: &'a dyn World,
    pub(crate) ground: &'a Ground,
    pub(crate) spec: &'a Spec,
    /// The command as written, where there is one.
    pub(crate) text: Option<&'a str>,
    /// Whether shell syntax occurs that ends read-only under `exec.strict`.
    has_syntax: bool,
    /// Rules for the tool itself.
    rules: CallRules<'a>,
    /// Rules for the tools that write, and for those that read: a shell does both.
    writers: CallRules<'a>,
    readers: CallRules<'a>,
    /// Rules for patches: some commands apply one.
    patchers: CallRules<'a>,
    pub(crate) custom: Option<&'a Arc<dyn CustomTool>>,
    asked: Asked,
    has_fault: bool,
    grant: Option<ExactAnswer>,
    /// The input in its canonical form, where rules may compare it.
    canonical: String,
    /// What the rules say at all that ask, and that deny.
    asking: Said<'a>,
    denying: Said<'a>,
    /// The ask rule and the deny rule that the whole text of the command fits.
    raw: (Option<&'a Rule>, Option<&'a Rule>),
}

impl<'a> Bench<'a> {
    fn new(
        policy: &'a Policy,
        call: &'a Call,
        world: &'a dyn World,
        ground: &'a Ground,
        spec: &'a Spec,
        found: ToolActs<'a>,
    ) -> (Bench<'a>, Vec<Facts>) {
        let lists = [&*policy.rules, &*policy.added];
        let names = tool::names(spec, call);
        let custom = policy.custom.iter().find(|tool| tool.name() == call.tool);
        let is_shell = spec.kind == ToolKind::Shell;
        let empty = || CallRules::of_names(lists, &[]);
        let mut bench = Bench {
            policy,
            call,
            world,
            ground,
            spec,
            text: found.text,
            has_syntax: !found.syntax.is_empty(),
            rules: CallRules::new(lists, &names),
            writers: if is_shell {
                CallRules::of_names(lists, &["Write", "Edit"])
            } else {
                empty()
            },
            readers: if is_shell { CallRules::of_names(lists, &["Read"]) } else { empty() },
            patchers: if is_shell { CallRules::of_names(lists, &["Patch"]) } else { empty() },
            custom,
            asked: tool::ask_custom(spec, custom, &call.input),
            has_fault: found.fault.is_some(),
            grant: policy.grants.answer(call),
            canonical: if is_shell { String::new() } else { json::canonical(&call.input) },
            asking: Said::default(),
            denying: Said::default(),
            raw: (None, None),
        };
        bench.asking = bench.said_by(Outcome::Ask);
        bench.denying = bench.said_by(Outcome::Deny);
        if let Some(text) = bench.text {
            let fitting = |outcome| bench.rules.speaks_of_raw(outcome, text);
            bench.raw = (fitting(Outcome::Ask), fitting(Outcome::Deny));
        }
        let mut extra: Vec<Facts> = Vec::new();
        for refusal in found.refusals {
            let is_syntax = refusal.kind == RefusalKind::Syntax;
            extra.push(unreadable(
                if is_syntax { "syntax" } else { "unreadable" },
                &refusal.message,
                refusal.span,
            ));
        }
        if found.is_cut {
            let message = "it consists of more than is read";
            extra.push(unreadable("limit", message, portcullis_shell::Span::default()));
        }
        if found.is_other_shell {
            let message = "the shell that would run it is not one that is read here";
            extra.push(unreadable("unreadable", message, portcullis_shell::Span::default()));
        }
        let mut acts: Vec<Facts> = found.acts.into_iter().map(|act| bench.facts(act)).collect();
        if bench.asking.any.or(bench.denying.any).is_some() {
            let concerns = bench.concerns();
            let words = found.unread.iter().flat_map(|unread| unread.acts(&concerns));
            acts.extend(words.map(|act| bench.facts(Box::new(act))));
        }
        if bench.has_file_rules() {
            let codes = found.unread.iter().map(|unread| unread.as_code(&bench.ground.cwd));
            acts.extend(codes.map(|act| bench.facts(Box::new(act))));
        }
        if let (Some(fault), Some(first)) = (found.fault, acts.first_mut()) {
            let finding = finding("unreadable", Tier::Dangerous, true, fault.message);
            first.findings.insert(0, finding);
        }
        for facts in &mut extra {
            bench.inspect_unread(facts);
        }
        acts.extend(extra);
        if acts.is_empty() {
            acts.push(Facts::new(Box::new(Act { kind: ActKind::Tool, ..Act::default() })));
        }
        informed::inform(&bench, &found.syntax, &mut acts);
        bench.settle_reading(&mut acts);
        bench.settle_cover(&mut acts);
        (bench, acts)
    }

    fn verdict(&self, facts: Vec<Facts>) -> Verdict {
        let steps: Vec<Step<'_>> = facts.iter().map(|facts| self.walk(facts)).collect();
        let rank = |(facts, step): &(&Facts, &Step<'_>)| {
            (step.outcome, step.is_firm, std::cmp::Reverse(step.rung), facts.tier)
        };
        // Words of refused text count only where a rule speaks about them.
        let counts = |(facts, step): &(&Facts, &Step<'_>)| {
            facts.act.kind != ActKind::Scanned || step.rule.is_some()
        };
        let deciding =
            facts.iter().zip(&steps).filter(counts).rev().max_by_key(rank).map(|(_, step)| step);
        let has_acts = facts.iter().any(Facts::is_real);
        let outcome = deciding.map_or(Outcome::Ask, |step| step.outcome);
        let rests_on_firm = steps.iter().any(|step| step.is_firm && step.outcome == outcome);
        let suggestions = suggest::suggestions(self, &facts, &steps, outcome, rests_on_firm);
        let mut reasons: Vec<Reason> = Vec::new();
        let all = deciding
            .into_iter()
            .chain(facts.iter().zip(&steps).filter(counts).map(|(_, step)| step))
            .filter(|step| step.outcome >= outcome.min(Outcome::Ask));
        for step in all {
            push_reason(&mut reasons, &step.reason);
        }
        for finding in facts.iter().flat_map(|facts| &facts.findings) {
            push_reason(&mut reasons, &ladder::reason_of(self, finding));
        }
        // Whoever takes an offer is told that it does not silence the rule that asked.
        let asking = steps.iter().filter(|step| step.rung == 4 && !suggestions.is_empty());
        for (step, rule) in asking.filter_map(|step| Some((step, step.rule?))) {
            let message = ["rule `", &rule.text, "` goes on asking until it is removed"].concat();
            push_reason(&mut reasons, &Reason { message, ..step.reason.clone() });
        }
        let always = self.always(&facts, outcome);
        let is_read_only = has_acts && facts.iter().all(|facts| facts.is_read_only);
        let tier = facts.iter().map(|facts| facts.tier).max().unwrap_or(Tier::Review);
        let mut acts: Vec<JudgedAct> = facts
            .into_iter()
            .zip(steps)
            .map(|(facts, step)| JudgedAct {
                act: facts.act,
                touched: facts.touched,
                findings: facts.findings,
                tier: facts.tier,
                is_read_only: facts.is_read_only,
                outcome: step.outcome,
                rung: step.rung,
                rule: step.rule.map(|rule| rule.text.to_string()),
                source: step.rule.map(|rule| rule.source.name()),
                reason: step.reason,
                is_covered: facts.is_covered,
                listed: facts.listed,
            })
            .collect();
        acts.retain(|judged| {
            judged.act.kind != ActKind::Scanned || judged.outcome != Outcome::Allow
        });
        Verdict {
            outcome,
            tier,
            is_read_only,
            is_firm: rests_on_firm && outcome == Outcome::Ask,
            world: self.world.kind(),
            reasons,
            acts,
            suggestions,
            always,
        }
    }
}

fn push_reason(reasons: &mut Vec<Reason>, reason: &Reason) {
    if reasons.len() < REASONS && !reasons.contains(reason) {
        reasons.push(reason.clone());
    }
}

/// An act that stands for text that was not read.
fn unreadable(guard: &'static str, message: &str, span: portcullis_shell::Span) -> Facts {
    let unknown = Unknown { message: message.to_owned(), span, is_dynamic: false };
    let mut facts = Facts::new(Box::new(Act {
        kind: ActKind::Unreadable,
        span,
        effects: vec![EffectOn::of(Effect::Unknown)],
        unknown: Some(unknown),
        ..Act::default()
    }));
    let is_firm = guard != "syntax";
    let tier = if is_firm { Tier::Dangerous } else { Tier::Review };
    facts.findings.push(Finding { span, ..finding(guard, tier, is_firm, message.to_owned()) });
    facts.tier = tier;
    facts
}

fn finding(guard: &'static str, tier: Tier, is_firm: bool, message: String) -> Finding {
    Finding {
        guard,
        tier,
        outcome: Outcome::Ask,
        is_firm,
        message,
        span: portcullis_shell::Span::default(),
    }
}
