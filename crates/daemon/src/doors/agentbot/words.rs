//! Sentences: what this dialect says about verdicts, calls and asks.
//!
//! The words up to the colon are fixed by the wire; what follows names the program, the tool or
//! the finding.

use portcullis_approval::{Ask, CallText, Grant, Granted};
use portcullis_engine::arg::Arg;
use portcullis_engine::effect::Effect;
use portcullis_engine::verdict::{JudgedAct, Tier};
use portcullis_engine::{Outcome, Verdict, catalog};
use portcullis_wire::dialects::agentbot::answers::one_line;
use serde_json::Value;

use crate::doors::is_command;

/// Its shell tools.
const SHELLS: [&str; 3] = ["bash", "exec", "shell"];

/// Its file tools.
const FILES: [&str; 4] = ["write", "file_write", "read", "file_read"];

/// The tier on this wire.
pub(super) const fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Safe => "safe",
        Tier::Review | Tier::Dangerous => "dangerous",
        Tier::Destructive => "destructive",
    }
}

/// Why a call may run.
pub(super) fn allowed(
    call: &CallText,
    verdict: &Verdict,
    used: &[std::sync::Arc<Grant>],
) -> String {
    let exact = used.iter().find(|grant| matches!(grant.granted, Granted::Exact { .. }));
    match exact.map(|grant| (grant, grant.ask, grant.expires_at)) {
        Some((grant, None, Some(end))) => format!("Enabled by {} until {end}", grant.made_by),
        Some((grant, Some(_), Some(_))) => format!("Approved by {}", grant.made_by),
        Some((_, _, None)) => format!("Granted: {}", command(call)),
        None => {
            let mut rules: Vec<&str> = Vec::new();
            for rule in verdict.acts.iter().filter_map(|act| act.rule.as_deref()) {
                if !rules.contains(&content(rule)) {
                    rules.push(content(rule));
                }
            }
            if verdict.tier == Tier::Safe || rules.is_empty() {
                return format!("Safe: {}", subjects(call, verdict));
            }
            format!("Granted: {}", one_line(&rules.join(", ")))
        }
    }
}

/// Why a call must not run.
pub(super) fn denied(verdict: &Verdict) -> String {
    let denies = |act: &&JudgedAct| act.outcome == Outcome::Deny;
    let rule = verdict.acts.iter().filter(denies).find_map(|act| act.rule.as_deref());
    if let Some(rule) = rule {
        return format!("Denied: {}", one_line(rule));
    }
    let reason = verdict.reasons.first();
    let message = reason.map_or("a policy denies it", |reason| reason.message.as_str());
    let is_found = reason.is_some_and(|reason| is_blocking(&reason.code));
    if is_found && verdict.tier == Tier::Destructive {
        let removed = verdict.acts.iter().filter(denies).find_map(removed);
        return format!("Blocked: {}", destructive(removed.as_deref().unwrap_or(message)));
    }
    format!("Denied: {}", one_line(message))
}

/// What a recursive removal would take away.
fn removed(judged: &JudgedAct) -> Option<String> {
    let act = &judged.act;
    let is_recursive = ["-r", "-R", "--recursive"].iter().any(|name| act.options.contains(name));
    let is_found = judged.findings.iter().any(|finding| finding.guard.ends_with("_removal"));
    let mut targets = Vec::new();
    for touched in judged.touched.iter().filter(|touched| touched.effect == Effect::Delete) {
        if !targets.contains(&touched.written.as_str()) {
            targets.push(&touched.written);
        }
    }
    let is_known = !targets.is_empty() && targets.iter().all(|target| !target.is_empty());
    let is_removal = act.base_name() == Some("rm") && is_recursive && is_found && is_known;
    is_removal.then(|| format!("recursive removal of {}", targets.join(", ")))
}

/// Whether a reason of this code blocks a destructive call, rather than a rule or a mode.
pub(super) fn is_blocking(code: &str) -> bool {
    code.starts_with("guard.") || code == "self_protection"
}

/// What is said about a call that could destroy.
pub(super) fn destructive(message: &str) -> String {
    if message.is_empty() {
        return "Destructive".to_owned();
    }
    format!("Destructive: {}", one_line(message))
}

/// Why an ask was opened.
pub(super) fn asked(ask: &Ask) -> String {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    let reason = verdict.get("reasons").and_then(|reasons| reasons.get(0));
    let text = |name: &str| reason.and_then(|reason| reason.get(name)?.as_str()).unwrap_or("");
    let (code, message) = (text("code"), text("message"));
    let none = Vec::new();
    let acts = verdict.get("acts").and_then(Value::as_array).unwrap_or(&none);
    if code == "rule.ask" {
        let rule = acts.iter().find_map(|act| {
            (act.get("rung")?.as_u64()? == 4).then(|| act.get("rule")?.as_str()).flatten()
        });
        return format!("Ask rule: {}", one_line(rule.unwrap_or(message)));
    }
    if ask.tier == Tier::Destructive {
        return destructive(message);
    }
    if shell_field(&ask.call).is_none() {
        return match code.strip_prefix("guard.") {
            Some("sensitive_path") => format!("Sensitive path: {}", one_line(message)),
            Some(_) => format!("Dangerous tool: {}", one_line(message)),
            None => format!("Dangerous tool: {}", one_line(&ask.call.tool)),
        };
    }
    let program = acts
        .iter()
        .filter(|act| act.get("read_only") != Some(&Value::Bool(true)))
        .find_map(|act| {
            let words = act.get("argv")?.as_array()?.iter().take(2).map(Value::as_str);
            let words: Vec<Option<&str>> = words.collect();
            named(words.first().copied().flatten(), words.get(1).copied().flatten())
        });
    let what = match (program, ask.is_firm) {
        (Some(program), false) => program,
        (Some(program), true) => format!("{program}: {message}"),
        (None, _) => message.to_owned(),
    };
    format!("Dangerous command: {}", one_line(&what))
}

/// The call on one line.
pub(super) fn command(call: &CallText) -> String {
    let input: Value = serde_json::from_str(&call.input).unwrap_or_default();
    rendered(&call.tool, &input)
}

/// A tool with its input on one line.
pub(super) fn rendered(tool: &str, input: &Value) -> String {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    // What a tool of another host does is said by all of its input, unless it is a command alone.
    let is_own = SHELLS.contains(&tool) || FILES.contains(&tool);
    let field = shell_field_of(tool, input).filter(|_| is_own || is_command(input)).and_then(text);
    let is_sole = || input.as_object().is_some_and(|members| members.len() == 1);
    let path = || text("path").or_else(|| text("file_path")).filter(|_| is_own || is_sole());
    let has_input = input.as_object().is_none_or(|members| !members.is_empty());
    one_line(&match (field, path()) {
        (Some(command), _) => command.to_owned(),
        (None, Some(path)) => format!("{tool} {path}"),
        (None, None) if has_input => format!("{tool} {input}"),
        (None, None) => tool.to_owned(),
    })
}

/// The field of a shell tool's input that holds the command; none for other tools.
pub(super) fn shell_field(call: &CallText) -> Option<&'static str> {
    let input: Value = serde_json::from_str(&call.input).unwrap_or_default();
    shell_field_of(&call.tool, &input)
}

fn shell_field_of(tool: &str, input: &Value) -> Option<&'static str> {
    let is_text = |name: &str| input.get(name).is_some_and(Value::is_string);
    let is_filled =
        |name: &str| input.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if !SHELLS.contains(&tool) {
        return is_text("command").then_some("command");
    }
    let falls_back = !is_filled("command") && is_text("input");
    Some(if falls_back { "input" } else { "command" })
}

/// How sure the tier is: an unknown program or tool is a guess.
pub(super) fn confidence(ask: &Ask) -> &'static str {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    let acts = verdict.get("acts").and_then(Value::as_array);
    let is_known = |act: &Value| {
        let words = act.get("argv").and_then(Value::as_array);
        match words.and_then(|words| words.first()) {
            None => true,
            Some(word) => word.as_str().is_some_and(|word| catalog::find(base(word)).is_some()),
        }
    };
    let is_shell = shell_field(&ask.call).is_some();
    let is_certain = if is_shell {
        acts.is_some_and(|acts| !acts.is_empty() && acts.iter().all(is_known))
    } else {
        ask.call.host.as_deref() != Some(super::NAME) || FILES.contains(&ask.call.tool.as_str())
    };
    if is_certain { "high" } else { "low" }
}

/// What an approval for good would store; none where nothing could take effect.
pub(super) fn suggestion(ask: &Ask) -> Option<String> {
    if ask.is_firm {
        return None;
    }
    if ask.offers.is_empty() {
        return Some(command(&ask.call));
    }
    let rules: Vec<&str> = ask.offers.iter().map(|offer| content(&offer.rule)).collect();
    Some(one_line(&rules.join(", ")))
}

/// What stands between the brackets of a rule; the tool where there are none.
fn content(rule: &str) -> &str {
    rule.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(rule)
}

/// What a call that may run consists of.
fn subjects(call: &CallText, verdict: &Verdict) -> String {
    if !SHELLS.contains(&call.tool.as_str()) && shell_field(call).is_none() {
        return one_line(&call.tool);
    }
    let mut found: Vec<String> = Vec::new();
    for act in &verdict.acts {
        let word = act.act.args.get(1).and_then(Arg::as_known);
        let Some(name) = named(act.act.program(), word) else { continue };
        if !found.contains(&name) {
            found.push(name);
        }
    }
    one_line(&found.join(", "))
}

/// A program, with its sub-command where it has some.
fn named(program: Option<&str>, word: Option<&str>) -> Option<String> {
    let program = base(program?);
    let known = catalog::find(program);
    let is_sub = |word: &&str| {
        known.is_some_and(|known| {
            known
                .entry
                .subs
                .iter()
                .any(|sub| sub.names.iter().any(|name| name.eq_ignore_ascii_case(word)))
        })
    };
    Some(match word.filter(is_sub) {
        Some(word) => format!("{program} {word}"),
        None => program.to_owned(),
    })
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
