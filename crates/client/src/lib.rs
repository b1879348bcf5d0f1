//! What talks to a daemon: calls, waits, answers and the feed.
//!
//! A [`Client`] reaches a daemon over its Unix socket or over `http://`, one connection for each
//! request. It fails closed: an answer that is cut off, late, not JSON or in words nobody knows is
//! an error, and only [`Outcome::Allow`] lets anything run. `link` carries the bytes, [`events`]
//! follows the feed.

use std::time::{Duration, Instant};

use hyper::Method;
use portcullis_wire::calls::MOST_WAIT_MS;
use serde_json::{Value, json};

pub mod error;
pub mod events;
mod link;

pub use error::ClientError;
pub use events::{Event, Events};
pub use link::Address;

/// How long one who waits leaves a daemon that failed alone, at first and at last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// How long a daemon may take for what it does at once.
const PROMPT: Duration = Duration::from_secs(30);

/// So many asks or grants are read at most when all of them are wanted.
const MOST_PAGES: usize = 100;

/// What an agent acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call may run now.
    Allow,
    /// A person is still to decide.
    Ask,
    /// The call must not run.
    Deny,
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Answered {
    /// What to act on.
    pub outcome: Outcome,
    /// The ask, if a person is or was asked.
    pub ask: Option<String>,
    /// The input to run instead, if a person changed it.
    pub input: Option<Value>,
    /// Proof for exactly this call.
    pub receipt: Option<String>,
    /// All of it, as the daemon said it.
    pub whole: Value,
}

impl Answered {
    /// Reads an answer; one whose outcome is unknown is none.
    fn read(whole: Value) -> Result<Answered, ClientError> {
        let outcome = match whole.get("outcome").and_then(Value::as_str) {
            Some("allow") => Outcome::Allow,
            Some("ask") => Outcome::Ask,
            Some("deny") => Outcome::Deny,
            _ => return Err(ClientError::Unreadable("it has no outcome we know".to_owned())),
        };
        let text = |name: &str| whole.get(name).and_then(Value::as_str).map(str::to_owned);
        let (ask, receipt) = (text("ask"), text("receipt"));
        if outcome == Outcome::Ask && ask.is_none() {
            return Err(ClientError::Unreadable("it asks and names no ask".to_owned()));
        }
        Ok(Answered { outcome, ask, input: whole.get("input").cloned(), receipt, whole })
    }
}

/// A way to a daemon, with the key to show there.
#[derive(Clone, Debug)]
pub struct Client {
    address: Address,
    key: Option<String>,
    door: &'static str,
}

impl Client {
    /// A client that shows no key: over the socket it is an agent of this user.
    #[must_use]
    pub const fn new(address: Address) -> Client {
        Client { address, key: None, door: "api" }
    }

    /// The same with a key.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Client {
        Client { key: Some(key.into()), ..self }
    }

    /// The same, under the name of another door.
    #[must_use]
    pub fn through(self, door: &'static str) -> Client {
        Client { door, ..self }
    }

    /// Where the daemon is.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Submits a call (`POST /v1/calls`) and waits for a person as long as it says.
    ///
    /// # Errors
    /// The daemon cannot be reached, refuses the call or answers in words nobody knows. The call
    /// must not run then.
    pub async fn submit(&self, call: &Value) -> Result<Answered, ClientError> {
        let wait_ms = call.get("wait_ms").and_then(Value::as_u64).unwrap_or(0);
        let limit = PROMPT + Duration::from_millis(wait_ms.min(MOST_WAIT_MS));
        Answered::read(self.send(Method::POST, "/v1/calls", Some(call), limit).await?)
    }

    /// The same for a call that is given as text, so that its input is submitted to the byte.
    ///
    /// # Errors
    /// As [`submit`](Client::submit).
    pub async fn submit_text(&self, call: String, wait: Duration) -> Result<Answered, ClientError> {
        let limit = PROMPT + wait.min(Duration::from_millis(MOST_WAIT_MS));
        Answered::read(self.send_text(Method::POST, "/v1/calls", Some(call), limit).await?)
    }

    /// Submits a call and waits until it is decided or `wait` is over. The call needs a `call_id`:
    /// by it the daemon knows that it is the same call when it is sent again.
    ///
    /// # Errors
    /// As [`submit`](Client::submit).
    pub async fn submit_and_wait(
        &self,
        call: &Value,
        wait: Duration,
    ) -> Result<Answered, ClientError> {
        let end = Instant::now() + wait;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left_ms = u64::try_from(left.as_millis()).unwrap_or(MOST_WAIT_MS);
            let mut call = call.clone();
            if let Some(members) = call.as_object_mut() {
                members.insert("wait_ms".to_owned(), left_ms.min(MOST_WAIT_MS).into());
            }
            let answered = self.submit(&call).await?;
            if answered.outcome != Outcome::Ask || left_ms <= MOST_WAIT_MS {
                return Ok(answered);
            }
        }
    }

    /// The verdict about a call (`POST /v1/check`), all of it; leaves nothing behind.
    ///
    /// # Errors
    /// As [`submit`](Client::submit).
    pub async fn verdict(&self, call: &Value) -> Result<Value, ClientError> {
        let mut whole = self.send(Method::POST, "/v1/check", Some(call), PROMPT).await?;
        let verdict = whole.get_mut("verdict").map(Value::take);
        verdict.ok_or_else(|| ClientError::Unreadable("it has no verdict".to_owned()))
    }

    /// Judges a call (`POST /v1/check`) and leaves nothing behind.
    ///
    /// # Errors
    /// As [`submit`](Client::submit).
    pub async fn check(&self, call: &Value) -> Result<Outcome, ClientError> {
        let whole = self.verdict(call).await?;
        match whole.get("outcome").and_then(Value::as_str) {
            Some("allow") => Ok(Outcome::Allow),
            Some("ask") => Ok(Outcome::Ask),
            Some("deny") => Ok(Outcome::Deny),
            _ => Err(ClientError::Unreadable("it has no outcome we know".to_owned())),
        }
    }

    /// Starts a run (`POST /v1/runs`); gives it as it is then.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn start_run(&self, run: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, "/v1/runs", Some(run), PROMPT).await
    }

    /// Ends a run (`DELETE /v1/runs/{id}`) and says how.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn end_run(&self, run: &str, how: &Value) -> Result<(), ClientError> {
        let path = format!("/v1/runs/{}", escaped(run));
        self.send(Method::DELETE, &path, Some(how), PROMPT).await.map(drop)
    }

    /// The same, but outlasts a daemon that goes away and comes back: the question is kept, and
    /// whoever asked it may go on waiting.
    ///
    /// # Errors
    /// As [`submit`](Client::submit), and at the end of `wait` what still went wrong then.
    pub async fn submit_and_outlast(
        &self,
        call: &Value,
        wait: Duration,
    ) -> Result<Answered, ClientError> {
        let end = Instant::now() + wait;
        let mut pause = FIRST_PAUSE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.submit_and_wait(call, left).await {
                Err(error) if error.is_passing() && left > pause => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                }
                answered => return answered,
            }
        }
    }

    /// Takes an ask back, because its call will not run.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn withdraw(&self, ask: &str) -> Result<Value, ClientError> {
        self.send(Method::DELETE, &format!("/v1/asks/{}", escaped(ask)), None, PROMPT).await
    }

    /// One ask, held until it is settled or `wait` is over.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn ask(&self, ask: &str, wait: Duration) -> Result<Value, ClientError> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(MOST_WAIT_MS).min(MOST_WAIT_MS);
        let path = format!("/v1/asks/{}?wait_ms={wait_ms}", escaped(ask));
        self.send(Method::GET, &path, None, PROMPT + Duration::from_millis(wait_ms)).await
    }

    /// Every ask that is pending, oldest first.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn pending(&self) -> Result<Vec<Value>, ClientError> {
        self.all("/v1/asks", "asks").await
    }

    /// Every grant that is good, oldest first; with those that are over if wanted.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn grants(&self, with_ended: bool) -> Result<Vec<Value>, ClientError> {
        let path = if with_ended { "/v1/grants?all=1" } else { "/v1/grants" };
        self.all(path, "grants").await
    }

    /// Answers an ask: the body of `POST /v1/asks/{id}/decision`; gives the decision.
    ///
    /// # Errors
    /// As [`get`](Client::get); somebody may have answered first.
    pub async fn decide(&self, ask: &str, answer: &Value) -> Result<Value, ClientError> {
        let path = format!("/v1/asks/{}/decision", escaped(ask));
        self.send(Method::POST, &path, Some(answer), PROMPT).await
    }

    /// Revokes a grant; gives it as it was.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn revoke_grant(&self, grant: &str) -> Result<Value, ClientError> {
        self.send(Method::DELETE, &format!("/v1/grants/{}", escaped(grant)), None, PROMPT).await
    }

    /// Pauses: the body of `POST /v1/pause`; gives the pause.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn pause(&self, pause: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, "/v1/pause", Some(pause), PROMPT).await
    }

    /// Ends what this key paused.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn resume(&self) -> Result<Value, ClientError> {
        self.send(Method::DELETE, "/v1/pause", None, PROMPT).await
    }

    /// The devices that were paired and those that wait: the body of `GET /v1/devices`.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn devices(&self) -> Result<Value, ClientError> {
        self.get("/v1/devices").await
    }

    /// Makes a token that one device may be paired with: the body of `POST /v1/devices`.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn pair_device(&self, pairing: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, "/v1/devices", Some(pairing), PROMPT).await
    }

    /// Accepts or refuses a device that waits.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn answer_device(&self, device: &str, accept: bool) -> Result<Value, ClientError> {
        let path = format!("/v1/devices/{}", escaped(device));
        self.send(Method::POST, &path, Some(&json!({ "accept": accept })), PROMPT).await
    }

    /// Revokes a device; gives it as it was.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn revoke_device(&self, device: &str) -> Result<Value, ClientError> {
        self.send(Method::DELETE, &format!("/v1/devices/{}", escaped(device)), None, PROMPT).await
    }

    /// Follows the feed, behind a cursor if there is one; else the pending asks come first.
    ///
    /// # Errors
    /// As [`get`](Client::get).
    pub async fn events(&self, after: Option<&str>) -> Result<Events, ClientError> {
        let path = match after {
            None => "/v1/events".to_owned(),
            Some(cursor) => format!("/v1/events?after={}", escaped(cursor)),
        };
        let open = link::request(&self.address, self.head(Method::GET, &path), None);
        let reply = tokio::time::timeout(PROMPT, open).await.map_err(|_| ClientError::Late)??;
        if reply.status().is_success() {
            return Ok(Events::new(reply));
        }
        let status = reply.status();
        let body = link::read(reply, PROMPT).await?;
        Err(error::refusal(status.as_u16(), &body))
    }

    /// Reads a route.
    ///
    /// # Errors
    /// The daemon cannot be reached, refuses, or answers with something that is not JSON.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None, PROMPT).await
    }

    async fn all(&self, path: &str, member: &str) -> Result<Vec<Value>, ClientError> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let mut all = Vec::new();
        let mut after = String::new();
        for _ in 0..MOST_PAGES {
            let page = self.get(&format!("{path}{sign}limit=1000{after}")).await?;
            let items = page.get(member).and_then(Value::as_array).cloned();
            let missing = || ClientError::Unreadable(format!("it has no `{member}`"));
            all.extend(items.ok_or_else(missing)?);
            match page.get("after").and_then(Value::as_str) {
                Some(cursor) => after = format!("&after={}", escaped(cursor)),
                None => return Ok(all),
            }
        }
        Ok(all)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        self.send_text(method, path, body.map(Value::to_string), limit).await
    }

    async fn send_text(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        limit: Duration,
    ) -> Result<Value, ClientError> {
        let whole = async {
            let reply = link::request(&self.address, self.head(method, path), body).await?;
            let status = reply.status();
            let body = link::read(reply, limit).await?;
            if !status.is_success() {
                return Err(error::refusal(status.as_u16(), &body));
            }
            let text = str::from_utf8(&body)
                .map_err(|_| ClientError::Unreadable("it is not UTF-8".to_owned()))?;
            portcullis_wire::json::answer(text).map_err(ClientError::Unreadable)
        };
        tokio::time::timeout(limit, whole).await.map_err(|_| ClientError::Late)?
    }

    fn head<'a>(&'a self, method: Method, path: &'a str) -> link::Head<'a> {
        link::Head { method, path, key: self.key.as_deref(), door: self.door }
    }
}

/// A name as a part of a path or a query.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one =
        |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// The call of a shell command, in the shape of `POST /v1/calls`.
#[must_use]
pub fn shell_call(command: &str, cwd: Option<&str>) -> Value {
    let mut call = json!({ "tool": "Bash", "input": { "command": command } });
    if let (Some(cwd), Some(members)) = (cwd, call.as_object_mut()) {
        members.insert("cwd".to_owned(), cwd.into());
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_outcome_that_is_known_counts() {
        let read = |whole: Value| Answered::read(whole).map(|answered| answered.outcome).ok();
        assert_eq!(read(json!({ "outcome": "allow" })), Some(Outcome::Allow));
        assert_eq!(read(json!({ "outcome": "ask", "ask": "1" })), Some(Outcome::Ask));
        assert_eq!(read(json!({ "outcome": "ask" })), None, "nothing to wait on");
        assert_eq!(read(json!({ "outcome": true })), None);
        assert_eq!(read(json!({ "allow": true })), None);
    }

    #[test]
    fn names_stay_inside_their_part_of_a_path() {
        assert_eq!(escaped("a/../b?c#d e"), "a%2F..%2Fb%3Fc%23d%20e");
    }
}
