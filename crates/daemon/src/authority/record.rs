//! What the audit says about calls, asks and grants.

use std::borrow::Cow;

use portcullis_approval::ask::Bound;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{Canonical, Members, object, push_quoted, quoted};
use portcullis_approval::redact::{REDACTED, is_telling, redact};
use portcullis_approval::{
    Approver, Ask, Asker, CallText, Decision, Grant, Granted, Id, Moment, Reply,
};
use portcullis_engine::Verdict;
use portcullis_engine::pattern::json::canonical_text;
use portcullis_engine::policy_text::AuditInput;
use serde_json::Value;

use super::{Judged, Submission};

/// Input longer than this is kept by its digest alone.
const MOST_INPUT: usize = 16 << 10;

/// A verdict as it is shown.
pub(super) fn verdict(verdict: &Verdict) -> String {
    serde_json::to_string(&portcullis_wire::verdict::Verdict::new(verdict)).unwrap_or_default()
}

/// What is said about every call that is equal to the byte and has the same verdict.
#[derive(Debug)]
pub(super) struct Texts {
    /// Why, without secrets.
    why: Option<String>,
    /// The input, as much as the audit keeps of it.
    input: Option<Canonical>,
    /// The digest, which the session is part of.
    digest: Option<String>,
    session: Option<String>,
}

impl Texts {
    /// The texts about a call.
    pub(super) fn new(
        call: &CallText,
        input: &Value,
        verdict: &Verdict,
        audit_input: AuditInput,
    ) -> Texts {
        Texts {
            why: why(verdict, audit_input),
            input: kept_input(call, input, audit_input),
            digest: call.digest(),
            session: call.session.clone(),
        }
    }

    /// Why, and the input, as the audit has them.
    #[cfg(test)]
    pub(super) fn said(&self) -> [Option<&str>; 2] {
        [self.why.as_deref(), self.input.as_deref()]
    }

    /// The digest of such a call.
    pub(super) fn digest(&self, call: &CallText) -> Option<String> {
        if self.session == call.session { self.digest.clone() } else { call.digest() }
    }
}

/// The first reason in words, which quote the call: none where its text is not kept.
fn why(verdict: &Verdict, audit_input: AuditInput) -> Option<String> {
    let reason = verdict.reasons.first().filter(|_| audit_input != AuditInput::Digest)?;
    Some(redact(&reason.message).into_owned())
}

fn kept_input(call: &CallText, input: &Value, audit_input: AuditInput) -> Option<Canonical> {
    if call.input.len() > MOST_INPUT {
        return None;
    }
    match audit_input {
        AuditInput::Digest => None,
        AuditInput::Full => Some(canonical_text(input).into()),
        AuditInput::Redacted => {
            let mut out = String::with_capacity(call.input.len());
            write_redacted(input, false, &mut out);
            Some(out.into())
        }
    }
}

/// A call was judged.
pub(super) fn judged(submission: &Submission, judged: &Judged, at: Moment) -> Entry {
    let (call, verdict) = (&submission.call, &judged.verdict);
    let texts = judged.known.as_ref().map(|known| &known.texts);
    let (why, input) = match texts {
        Some(texts) => {
            (texts.why.as_deref().map(Cow::Borrowed), texts.input.as_ref().map(Cow::Borrowed))
        }
        None => (
            why(verdict, judged.audit_input).map(Cow::Owned),
            kept_input(call, &submission.input, judged.audit_input).map(Cow::Owned),
        ),
    };
    let mut data = Members::new();
    data.text("agent", &submission.asker.agent);
    data.maybe("cwd", call.cwd.as_deref());
    data.text("door", submission.door);
    data.maybe("host", call.host.as_deref());
    if let Some(input) = &input {
        data.raw("input", input);
    }
    data.maybe("label", submission.asker.label.as_deref());
    data.text("outcome", verdict.outcome.name());
    data.text("policy", &judged.bound.policy);
    data.texts("reasons", verdict.reasons.iter().map(|reason| &*reason.code));
    data.maybe("run", call.run.as_deref());
    data.maybe("session", call.session.as_deref());
    data.text("tier", verdict.tier.name());
    data.text("tool", &call.tool);
    data.maybe("why", why.as_deref());
    data.text("world", verdict.world.name());
    Entry {
        kind: "call.judged",
        at,
        actor: submission.asker.agent.clone(),
        subject: judged.digest.clone(),
        owner: Some(submission.asker.owner.clone()),
        data: data.end(),
    }
}

/// A call ran that nothing had let run.
pub(super) fn gap(asker: &Asker, call: &CallText, digest: String, at: Moment) -> Entry {
    let mut data = vec![("tool", quoted(&call.tool)), ("agent", quoted(&asker.agent))];
    let others = [
        ("cwd", &call.cwd),
        ("host", &call.host),
        ("session", &call.session),
        ("call_id", &call.call_id),
    ];
    for (name, value) in others {
        data.extend(value.as_ref().map(|value| (name, quoted(value))));
    }
    entry("gap.found", at, asker, digest, data)
}

/// An ask was opened.
pub(super) fn opened(ask: &Ask, at: Moment) -> Entry {
    let mut data = Members::new();
    data.text("agent", &ask.asker.agent);
    data.maybe("deadline_at", ask.deadline_at.map(|at| at.to_string()).as_deref());
    data.text("digest", &ask.digest);
    data.text("door", &ask.door);
    data.text("tier", ask.tier.name());
    data.text("tool", &ask.call.tool);
    Entry {
        kind: "ask.opened",
        at,
        actor: ask.asker.agent.clone(),
        subject: ask.id.to_string(),
        owner: Some(ask.asker.owner.clone()),
        data: data.end(),
    }
}

/// The one execution an approval is good for was taken.
pub(super) fn claimed(asker: &Asker, ask: Id, at: Moment) -> Entry {
    entry("ask.claimed", at, asker, ask.to_string(), Vec::new())
}

/// An ask was settled.
pub(super) fn settled(
    ask: &Ask,
    decision: &Decision,
    approver: Option<&Approver>,
    at: Moment,
) -> Entry {
    let mut data = Members::new();
    data.maybe("answer", decision.reply.map(Reply::name));
    data.flag("changed", decision.input.is_some());
    data.text("digest", &ask.digest);
    data.text("door", &decision.door);
    data.maybe("key", approver.map(|approver| approver.key.to_string()).as_deref());
    data.text("outcome", decision.outcome.name());
    data.text("reason", &decision.reason);
    data.text("scope", decision.scope.name());
    data.text("state", decision.state.name());
    Entry {
        kind: "ask.settled",
        at,
        actor: decision.by.clone(),
        subject: ask.id.to_string(),
        owner: Some(ask.asker.owner.clone()),
        data: data.end(),
    }
}

/// A grant was made.
pub(super) fn granted(grant: &Grant, actor: &str, at: Moment) -> Entry {
    let mut data = match &grant.granted {
        Granted::Pattern(rule) => vec![("rule", quoted(rule))],
        Granted::Exact { tool, reply, .. } => {
            vec![("tool", quoted(tool)), ("answer", quoted(reply.name()))]
        }
    };
    data.extend(grant.profile.as_ref().map(|profile| ("profile", quoted(profile))));
    data.extend(grant.expires_at.map(|at| ("expires_at", quoted(&at.to_string()))));
    data.extend(grant.uses_left.map(|uses| ("uses", uses.to_string())));
    data.extend(grant.ask.map(|ask| ("ask", quoted(&ask.to_string()))));
    Entry {
        kind: "grant.made",
        at,
        actor: actor.to_owned(),
        subject: grant.id.to_string(),
        owner: Some(grant.owner.clone()),
        data: object(data).into(),
    }
}

/// A grant was used.
pub(super) fn used(asker: &Asker, digest: &str, grant: Id, at: Moment) -> Entry {
    let data = vec![("digest", quoted(digest))];
    entry("grant.used", at, asker, grant.to_string(), data)
}

/// A grant was used by whoever waited for it.
pub(super) fn taken(asker: &Asker, grant: Id, at: Moment) -> Entry {
    entry("grant.used", at, asker, grant.to_string(), Vec::new())
}

/// Something about a profile that lies in a file.
pub(super) fn profile(
    kind: &'static str,
    actor: &str,
    profile: &str,
    message: &str,
    at: Moment,
) -> Entry {
    let data = object(vec![("message", quoted(message))]).into();
    let (actor, subject) = (actor.to_owned(), profile.to_owned());
    Entry { kind, at, actor, subject, owner: None, data }
}

/// The allowlist of a profile was changed: its patterns before and after.
pub(super) fn listed(
    ask: &Ask,
    profile: &str,
    actor: &str,
    lists: [&[String]; 2],
    at: Moment,
) -> Entry {
    let [before, after] = lists.map(|list| {
        let quoted: Vec<String> = list.iter().map(|pattern| quoted(pattern)).collect();
        format!("[{}]", quoted.join(","))
    });
    Entry {
        kind: "profile.changed",
        at,
        actor: actor.to_owned(),
        subject: profile.to_owned(),
        owner: Some(ask.asker.owner.clone()),
        data: object(vec![("after", after), ("before", before)]).into(),
    }
}

/// A grant was revoked.
pub(super) fn revoked(grant: Id, owner: &str, actor: &str, at: Moment) -> Entry {
    Entry {
        kind: "grant.revoked",
        at,
        actor: actor.to_owned(),
        subject: grant.to_string(),
        owner: Some(owner.to_owned()),
        data: object(Vec::new()).into(),
    }
}

/// What a call is bound to beside its digest, as a receipt says it.
pub(super) fn bound(bound: &Bound) -> Option<String> {
    let mut members = Vec::new();
    members.extend(bound.cwd.map(|(dev, ino)| ("cwd", format!("[{dev},{ino}]"))));
    if !bound.scripts.is_empty() {
        let scripts: Vec<String> = bound
            .scripts
            .iter()
            .map(|(path, hash)| object(vec![("path", quoted(path)), ("sha256", quoted(hash))]))
            .collect();
        members.push(("scripts", format!("[{}]", scripts.join(","))));
    }
    if !bound.policy.is_empty() {
        members.push(("policy", quoted(&bound.policy)));
    }
    (!members.is_empty()).then(|| object(members))
}

fn entry(
    kind: &'static str,
    at: Moment,
    asker: &Asker,
    subject: String,
    data: Vec<(&str, String)>,
) -> Entry {
    Entry {
        kind,
        at,
        actor: asker.agent.clone(),
        subject,
        owner: Some(asker.owner.clone()),
        data: object(data).into(),
    }
}

/// Writes a value as canonical JSON without its secrets: those that are told by their shape, and
/// whatever stands under a telling name.
fn write_redacted(value: &Value, is_secret: bool, out: &mut String) {
    match value {
        Value::String(text) if is_secret && names_nothing(text) => push_quoted(out, REDACTED),
        Value::String(text) => push_quoted(out, &redact(text)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_redacted(item, is_secret, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_quoted(out, key);
                out.push(':');
                write_redacted(value, is_secret || is_telling(key), out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
}

/// Whether a text under a telling name may be the secret: `$TOKEN` only names one.
fn names_nothing(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['$', '<', '{'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::write_redacted;

    #[test]
    fn what_stands_under_a_telling_name_is_not_kept() {
        #[rustfmt::skip]
        let cases = [
            (json!({"password": "hunter2"}),                  r#"{"password":"[redacted]"}"#,              "by its name"),
            (json!({"auth": {"githubToken": "x"}, "a": 1}),   r#"{"a":1,"auth":{"githubToken":"[redacted]"}}"#, "at any depth"),
            (json!({"credentials": ["u", {"p": "v"}, 7]}),    r#"{"credentials":["[redacted]",{"p":"[redacted]"},7]}"#, "with all that is in it"),
            (json!({"token": "$TOKEN", "secret": ""}),        r#"{"secret":"","token":"$TOKEN"}"#,         "a name of a secret is none"),
            (json!({"command": "curl -u a:b x", "max_tokens": 5}), r#"{"command":"curl -u a:b x","max_tokens":5}"#, "the rest stays"),
            (json!({"command": "export TOKEN=abcdefgh"}),     r#"{"command":"export TOKEN=[redacted]"}"#,  "by its shape"),
        ];
        for (value, want, why) in cases {
            let mut out = String::new();
            write_redacted(&value, false, &mut out);
            assert_eq!(out, want, "{why}");
        }
    }
}
