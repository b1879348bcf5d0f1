//! The gate: one call goes to the daemon, and a ruling comes back.
//!
//! A ruling allows only what the daemon allowed with a receipt for this very call; whatever else
//! happens is a denial with a reason that a model may read.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use portcullis_client::{Answered, Client, ClientError, Outcome};
use portcullis_hook::answer::reason;
use portcullis_hook::told::Told;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How long one request for an answer is held, so that progress can be told between two.
const SLICE: Duration = Duration::from_secs(10);

/// Checks the receipt of an allow: that it is about this call with this input.
pub type Check = Box<dyn Fn(&Act, &str, &str) -> Result<(), String> + Send + Sync>;

/// One call, as it is submitted.
#[derive(Clone, Debug, Default)]
pub struct Act {
    /// The tool.
    pub tool: String,
    /// Its input: the text of a JSON object.
    pub input: String,
    /// The host, where one is known.
    pub host: Option<String>,
    /// The directory it runs in.
    pub cwd: Option<String>,
    /// The conversation it belongs to.
    pub session: String,
    /// Its name, by which it is the same call when it is sent again.
    pub call_id: String,
    /// Through which entry it came.
    pub slot: String,
    /// What the agent says about it.
    pub description: Option<String>,
}

impl Act {
    /// The body of `POST /v1/calls`.
    fn body(&self, wait: Duration) -> Result<String, String> {
        let input = RawValue::from_string(self.input.clone());
        let input = input.map_err(|error| portcullis_wire::json::message(&error))?;
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let rest = self.described(wait_ms).to_string();
        // The input stands in front to the byte; the rest is ours.
        let rest = rest.strip_prefix('{').unwrap_or(&rest);
        Ok(format!("{{\"input\":{},{rest}", input.get()))
    }

    fn described(&self, wait_ms: u64) -> Value {
        let mut call = json!({
            "tool": self.tool, "session": self.session, "call_id": self.call_id,
            "receipt": true, "wait_ms": wait_ms,
        });
        let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
        let slot = Some(self.slot.clone()).filter(|slot| !slot.is_empty());
        let members = [
            ("host", &self.host),
            ("cwd", &self.cwd),
            ("home", &home),
            ("slot", &slot),
            ("description", &self.description),
        ];
        if let Some(call) = call.as_object_mut() {
            for (name, value) in members {
                call.extend(value.clone().map(|value| (name.to_owned(), value.into())));
            }
        }
        call
    }
}

/// So many names of calls are remembered; beyond them every call gets a name of ours.
const MOST_NAMES: usize = 100_000;

/// The names that calls of one conversation were given by whoever makes them.
///
/// To the daemon the same name is the same call, which was approved once. Here each request is an
/// execution, so that a name counts for the first one only.
#[derive(Debug, Default)]
pub struct Names(HashSet<String>);

impl Names {
    /// Takes a name; false where it was taken.
    pub fn take(&mut self, name: &str) -> bool {
        self.0.len() < MOST_NAMES && self.0.insert(name.to_owned())
    }
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It may run; with another input if a person made one.
    Allow {
        /// The input to run instead: the text of an object.
        input: Option<String>,
        /// Whether a person decided.
        is_by_person: bool,
    },
    /// It must not run, and why, for the model.
    Deny(String),
}

/// The first answer to a call.
#[derive(Debug)]
pub enum First {
    /// It is decided.
    Ruled(Ruling),
    /// A person is asked: the id of the ask.
    Asked(String),
}

/// A way to the daemon.
pub struct Gate {
    client: Client,
    wait: Duration,
    check: Check,
}

impl Gate {
    /// A gate that waits so long for a person.
    #[must_use]
    pub fn new(client: Client, wait: Duration, check: Check) -> Gate {
        Gate { client, wait, check }
    }

    /// Submits a call and does not wait.
    pub async fn first(&self, act: &Act) -> First {
        let answered = match self.submit(act, Duration::ZERO).await {
            Ok(answered) => answered,
            Err(denied) => return First::Ruled(denied),
        };
        match (answered.outcome, &answered.ask) {
            (Outcome::Ask, Some(ask)) => First::Asked(ask.clone()),
            _ => First::Ruled(self.ruling(act, &answered)),
        }
    }

    /// Waits for the person that was asked about a call; says from time to time that it waits.
    pub async fn wait(&self, act: &Act, mut still: impl FnMut(u64) + Send) -> Ruling {
        let end = Instant::now() + self.wait;
        let mut count = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ruling::Deny(Told::late().reason());
            }
            let answered = match self.submit(act, left.min(SLICE)).await {
                Ok(answered) => answered,
                Err(denied) => return denied,
            };
            if answered.outcome != Outcome::Ask {
                return self.ruling(act, &answered);
            }
            count += 1;
            still(count);
        }
    }

    /// Takes a question back that nobody needs an answer to any more.
    pub async fn withdraw(&self, ask: &str) {
        // It ends by itself where nobody hears this.
        let _ = self.client.withdraw(ask).await;
    }

    /// Whether the policy denies every call of a tool, whatever its input.
    pub async fn is_shut(&self, tool: &str) -> bool {
        let call = json!({ "tool": tool, "input": {} });
        let Ok(verdict) = self.client.verdict(&call).await else { return false };
        let acts = verdict.get("acts").and_then(Value::as_array);
        let rule = |act: &Value| act.get("rule").and_then(Value::as_str).map(str::to_owned);
        let is_bare = |rule: String| !rule.contains('(');
        verdict.get("outcome").and_then(Value::as_str) == Some("deny")
            && acts.is_some_and(|acts| acts.iter().filter_map(rule).any(is_bare))
    }

    /// Whether the policy denies a call that is known by its words alone.
    pub async fn is_denied(&self, tool: &str, input: &Value, cwd: Option<&str>) -> Option<String> {
        let mut call = json!({ "tool": tool, "input": input });
        if let (Some(cwd), Some(call)) = (cwd, call.as_object_mut()) {
            call.insert("cwd".to_owned(), cwd.into());
        }
        let verdict = match self.client.verdict(&call).await {
            Ok(verdict) => verdict,
            Err(error) => return Some(unasked(&error)),
        };
        if verdict.get("outcome").and_then(Value::as_str) != Some("deny") {
            return None;
        }
        let first = verdict.get("reasons").and_then(|reasons| reasons.get(0));
        let text = |name: &str| first.and_then(|first| first.get(name)).and_then(Value::as_str);
        let message = text("message").unwrap_or("denied by the policy");
        Some(reason(message, text("code").unwrap_or("rule.deny")))
    }

    async fn submit(&self, act: &Act, wait: Duration) -> Result<Answered, Ruling> {
        let body = act.body(wait).map_err(|what| {
            Ruling::Deny(reason(&format!("the input of the call: {what}"), "HOOK_BAD_INPUT"))
        })?;
        let answered = self.client.submit_text(body, wait).await;
        answered.map_err(|error| Ruling::Deny(unasked(&error)))
    }

    fn ruling(&self, act: &Act, answered: &Answered) -> Ruling {
        let told = answered.whole.as_object().map(Told::of_answer);
        let Some(Ok(told)) = told else {
            return Ruling::Deny(reason("the daemon's answer is none", "HOOK_INTERNAL"));
        };
        if answered.outcome != Outcome::Allow {
            return Ruling::Deny(told.reason());
        }
        let input = answered.input.as_ref().map(Value::to_string);
        let is_about = input.as_deref().unwrap_or(&act.input);
        let checked = match &answered.receipt {
            Some(receipt) => (self.check)(act, is_about, receipt),
            None => Err("the daemon gave none".to_owned()),
        };
        match checked {
            Ok(()) => Ruling::Allow { input, is_by_person: told.is_by_person },
            Err(what) => Ruling::Deny(reason(&format!("the receipt: {what}"), "HOOK_RECEIPT")),
        }
    }
}

/// Why nobody could be asked, for the model.
fn unasked(error: &ClientError) -> String {
    match error {
        ClientError::Refused { .. } => reason(&format!("the daemon refused: {error}"), "REFUSED"),
        ClientError::Address(_)
        | ClientError::Unreachable { .. }
        | ClientError::Broken(_)
        | ClientError::Late
        | ClientError::Unreadable(_) => reason(
            "the approval daemon does not answer; ask the user to run: portcullis serve",
            "HOOK_NO_DAEMON",
        ),
    }
}
