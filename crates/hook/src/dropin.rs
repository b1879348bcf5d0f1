//! Agentbot's own hook script: `{"tool":…,"input":…}` in, `{"allow":…}` out, always with exit
//! code 0. (Docker agent's own events are in `hosts/agentbot.rs`.)

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::answer::Printed;
use crate::http::{Reply, Server, Trouble};
use crate::{Started, json};

/// How long one request is held for a person, in seconds, and how much longer it may take.
const HELD_S: u64 = 60;
const GRACE: Duration = Duration::from_secs(10);

/// How long is waited for a person, where the environment does not say, in seconds.
const WAIT_S: u64 = 50;

/// The longest document that is read.
const MOST_BYTES: u64 = 8 << 20;

/// What the hook was started with.
struct Settings {
    server: Server,
    key: String,
    user: String,
    agent: String,
    wait: Duration,
    takes_changes: bool,
    limit: Duration,
}

/// What is printed.
enum Answer {
    Allow,
    AllowChanged(Value),
    Deny(String),
    Pending(String, String),
}

/// Answers one document. Whatever happens, one answer is said and the exit code is 0.
pub fn answer(started: &Started, words: &[String], stdin: &mut dyn Read) -> Printed {
    let answer = settings(started, words)
        .and_then(|settings| {
            let call = call(stdin)?;
            decide(&settings, &call)
        })
        .unwrap_or_else(Answer::Deny);
    printed(answer)
}

/// The answer where there is no verdict.
pub fn denied(reason: &str) -> Printed {
    printed(Answer::Deny(reason.to_owned()))
}

fn printed(answer: Answer) -> Printed {
    let stderr = match &answer {
        Answer::Deny(reason) => format!("portcullis: {}\n", reason.escape_debug()),
        Answer::Allow | Answer::AllowChanged(_) | Answer::Pending(..) => String::new(),
    };
    let text = match answer {
        Answer::Allow => json!({ "allow": true }),
        Answer::AllowChanged(input) => json!({ "allow": true, "modifiedInput": input }),
        Answer::Deny(reason) => json!({ "allow": false, "reason": reason }),
        Answer::Pending(reason, id) => json!({ "allow": false, "reason": reason, "requestId": id }),
    };
    Printed { stdout: format!("{text}\n"), stderr, ..Printed::default() }
}

fn settings(started: &Started, words: &[String]) -> Result<Settings, String> {
    let mut takes_changes = false;
    for argument in words {
        match argument.as_str() {
            "--accept-modified-input" => takes_changes = true,
            other => return Err(format!("the hook does not know `{other}`")),
        }
    }
    let given = |name: &str| (started.variable)(name).filter(|value| !value.is_empty());
    let or = |name: &str, default: &str| given(name).unwrap_or_else(|| default.to_owned());
    let key = given("INTERNAL_API_KEY").or_else(|| given("PORTCULLIS_AGENT_KEY"));
    let key = key.ok_or("neither INTERNAL_API_KEY nor PORTCULLIS_AGENT_KEY is set")?;
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the key has characters that no key has".to_owned());
    }
    let wait_s = match given("PORTCULLIS_HOOK_WAIT_SECONDS") {
        None => WAIT_S,
        Some(text) => text
            .parse()
            .map_err(|_| "PORTCULLIS_HOOK_WAIT_SECONDS is no number of seconds".to_owned())?,
    };
    Ok(Settings {
        server: Server::of_url(&or("AGENTBOT_API_URL", "http://localhost:3001"))
            .map_err(|what| format!("AGENTBOT_API_URL: {what}"))?,
        key,
        user: or("AGENTBOT_USER_ID", "unknown"),
        agent: or("AGENTBOT_AGENT_ID", "unknown"),
        wait: Duration::from_secs(wait_s.min(24 * 3600)),
        takes_changes,
        limit: started.limit,
    })
}

/// The call on standard input.
struct Call {
    tool: String,
    input: Value,
    /// The input as it was written: a number too long for us is judged as it would be run.
    raw: Box<RawValue>,
}

fn call(stdin: &mut dyn Read) -> Result<Call, String> {
    let mut bytes = Vec::new();
    let read = stdin.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|_| "standard input cannot be read".to_owned())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("standard input is too long".to_owned());
    }
    let document = json::value(&bytes).map_err(|what| format!("standard input: {what}"))?;
    let document = document.as_object().ok_or("standard input is no JSON object")?;
    let name = match (document.get("tool"), document.get("toolName")) {
        (Some(tool), Some(name)) if tool != name => {
            return Err("`tool` and `toolName` differ".to_owned());
        }
        (Some(name), _) | (None, Some(name)) => name,
        (None, None) => return Err("no tool is named".to_owned()),
    };
    let name = name.as_str().filter(|name| !name.is_empty()).ok_or("no tool is named")?;
    let field = ["input", "toolInput"].into_iter().find(|field| document.contains_key(*field));
    let input = field.and_then(|field| document.get(field)).cloned();
    let input = input.unwrap_or_else(|| Value::Object(Map::new()));
    if !input.is_object() {
        return Err("the input is no object".to_owned());
    }
    let unreadable = |_| "standard input cannot be read".to_owned();
    let mut raws: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(&bytes).map_err(unreadable)?;
    let raw = match field.and_then(|field| raws.remove(field)) {
        Some(raw) => raw,
        None => to_raw_value(&input).map_err(unreadable)?,
    };
    Ok(Call { tool: name.to_owned(), input, raw })
}

fn decide(settings: &Settings, call: &Call) -> Result<Answer, String> {
    let unwritable = |_| "the call cannot be written".to_owned();
    let mut body: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
    body.insert("toolInput", call.raw.clone());
    for (name, text) in
        [("toolName", &call.tool), ("agentId", &settings.agent), ("userId", &settings.user)]
    {
        body.insert(name, to_raw_value(text).map_err(unwritable)?);
    }
    let body = serde_json::to_string(&body).map_err(unwritable)?;
    let sent = send(settings, "POST", "/api/hooks/classify", &body, settings.limit)?;
    let verdict = object(&sent)?;
    let reason = reason(&verdict);
    if sent.status != 200 {
        let reason = reason.unwrap_or_else(|_| format!("the gate answered {}", sent.status));
        return Err(reason);
    }
    match verdict.get("allow") {
        Some(Value::Bool(true)) => {
            // A tier is said with every verdict; an answer without one is of something else.
            tier(&verdict)?;
            Ok(Answer::Allow)
        }
        Some(Value::Bool(false)) => match verdict.get("requestId") {
            None => Ok(Answer::Deny(with_change(&verdict, reason?))),
            Some(Value::String(id)) if is_id(id) => hold(settings, id, reason?, &call.input),
            Some(_) => Err("the gate answered with an id of the wrong type".to_owned()),
        },
        _ => Err("the gate answered without a verdict".to_owned()),
    }
}

/// Waits for a person, in requests of a minute, and takes what they decided.
fn hold(settings: &Settings, id: &str, reason: String, input: &Value) -> Result<Answer, String> {
    let end = Instant::now() + settings.wait;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Answer::Pending(reason, id.to_owned()));
        }
        // A part of a second is waited for as a whole one.
        let wait_s = (left.as_secs() + u64::from(left.subsec_nanos() > 0)).min(HELD_S);
        let path = format!("/api/permissions/{id}?wait={wait_s}&claim=1");
        let limit = Duration::from_secs(wait_s) + GRACE;
        let pending = |what: String| Answer::Pending(format!("{reason} ({what})"), id.to_owned());
        let sent = match send(settings, "GET", &path, "", limit) {
            Ok(sent) => sent,
            // The ask stands; the agent can ask again with the same call.
            Err(what) => return Ok(pending(what)),
        };
        let ask = match object(&sent) {
            Ok(ask) if sent.status == 200 => ask,
            Ok(_) => return Ok(pending(format!("the gate answered {}", sent.status))),
            Err(what) => return Ok(pending(what)),
        };
        if ask.get("id").and_then(Value::as_str) != Some(id) {
            return Err("the gate answered about another ask".to_owned());
        }
        match ask.get("status").and_then(Value::as_str) {
            Some("pending") => {}
            Some("approved") => return approved(settings, &ask, input),
            Some("rejected") => return Ok(Answer::Deny(rejection(&ask))),
            Some("expired") => return Ok(Answer::Deny(expiry(&ask))),
            _ => return Err("the gate answered with a status nobody knows".to_owned()),
        }
    }
}

fn approved(
    settings: &Settings,
    ask: &Map<String, Value>,
    input: &Value,
) -> Result<Answer, String> {
    let decision = ask.get("decision").and_then(Value::as_str);
    if !matches!(decision, Some("approve" | "approve_always")) {
        return Err("the gate answered `approved` without an approval".to_owned());
    }
    // What is in force is said with every ask: it, and not a missing field, tells of a change.
    let in_force = ask.get("toolInput").filter(|value| value.is_object());
    let in_force = in_force.ok_or("the gate answered without the input in force")?;
    match (ask.contains_key("modifiedInput") || in_force != input, settings.takes_changes) {
        (false, _) => Ok(Answer::Allow),
        (true, true) => Ok(Answer::AllowChanged(in_force.clone())),
        (true, false) => Ok(Answer::Deny(format!(
            "Approved only with changed input; call again with exactly this: {in_force}"
        ))),
    }
}

/// Why an ask is of no use any more: nobody answered, or its approval was taken by another call.
fn expiry(ask: &Map<String, Value>) -> String {
    let text = |name: &str| ask.get(name).and_then(Value::as_str);
    match (text("decidedBy"), text("reason")) {
        (Some(by), Some(reason)) if by != "expiry" => format!("{reason} (expired)"),
        _ => "Nobody answered in time (expired)".to_owned(),
    }
}

fn rejection(ask: &Map<String, Value>) -> String {
    let text = |name: &str| ask.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut reason = "Rejected".to_owned();
    if let Some(by) = text("decidedBy") {
        let _ = write!(reason, " by {by}");
    }
    if let Some(feedback) = text("feedback") {
        let _ = write!(reason, ": {feedback}");
    }
    reason
}

/// The reason of a call that was approved only in another form.
fn with_change(verdict: &Map<String, Value>, reason: String) -> String {
    match verdict.get("modifiedInput") {
        None => reason,
        Some(changed) => format!("{reason}; call again with exactly this: {changed}"),
    }
}

fn send(
    settings: &Settings,
    method: &str,
    path: &str,
    body: &str,
    limit: Duration,
) -> Result<Reply, String> {
    settings.server.send(method, path, &settings.key, body, limit).map_err(|trouble| {
        match trouble {
            Trouble::Unreachable => "the gate is unreachable",
            Trouble::Late => "the gate did not answer in time",
            Trouble::Lost | Trouble::Broken => "the gate's answer was cut off or is no answer",
        }
        .to_owned()
    })
}

fn object(reply: &Reply) -> Result<Map<String, Value>, String> {
    match json::value(&reply.body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(format!("the gate's answer is no JSON object ({})", reply.status)),
    }
}

fn reason(verdict: &Map<String, Value>) -> Result<String, String> {
    let text = verdict.get("reason").or_else(|| verdict.get("error"));
    let text = text.and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| "the gate answered without a reason".to_owned())
}

fn tier(verdict: &Map<String, Value>) -> Result<(), String> {
    match verdict.get("tier").and_then(Value::as_str) {
        Some("safe" | "dangerous" | "destructive") => Ok(()),
        _ => Err("the gate answered without a tier".to_owned()),
    }
}

/// Whether a text can stand in a path.
fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    !id.is_empty() && id.len() <= 100 && id.bytes().all(is_plain)
}
