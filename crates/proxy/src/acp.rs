//! The ACP proxy: what an agent asks its editor for is judged first.
//!
//! It stands between an editor and an agent. A permission request is answered by policy, or goes
//! to the editor and to the daemon at once, and the first answer counts; reading, writing and
//! starting programs through the editor are acts of their own. It sees only what the agent asks
//! about: it completes hooks and replaces none.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portcullis_hook::OWN_NAME;
use portcullis_hook::answer::reason;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::task::AbortHandle;

use crate::gate::{Act, First, Gate, Names, Ruling};
use crate::lines::{self, MOST, Outlet};
use crate::message::{self, DENIED, INVALID_REQUEST, Message};
use crate::{ProxyError, program};

mod call;

use call::{Choice, Judged, Permission};

/// How long the last words may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a proxy is started with.
pub struct Setting {
    /// The way to the daemon.
    pub gate: Gate,
    /// The name of this conversation, for sessions that have none.
    pub session: String,
    /// The directory of the agent, where a session says none.
    pub cwd: Option<String>,
}

struct Relay {
    setting: Setting,
    to_editor: Outlet,
    to_agent: Outlet,
    state: Mutex<State>,
    count: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Requests of the agent that are not answered yet.
    open: HashMap<String, Open>,
    /// Requests that the editor shows and somebody else has answered.
    settled: HashSet<String>,
    /// Requests of the editor that begin a session, with its directory.
    beginning: HashMap<String, String>,
    /// The directories of sessions.
    directories: HashMap<String, String>,
    names: Names,
}

struct Open {
    session: String,
    options: Vec<Choice>,
    is_shown: bool,
    ask: Option<String>,
    task: AbortHandle,
}

/// Starts the agent and stands between it and the editor until one of them ends.
///
/// # Errors
/// The agent cannot be started, a stream broke, or somebody said what could be read in two ways.
pub async fn run(
    setting: Setting,
    command: &[String],
    mut editor: impl AsyncBufRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ProxyError> {
    let mut agent = program::start(command)?;
    let (to_editor, told) = lines::outlet(output);
    let (to_agent, _) = lines::outlet(agent.take_input()?);
    let state = Mutex::default();
    let count = AtomicU64::new(0);
    let relay = Arc::new(Relay { setting, to_editor, to_agent, state, count });
    let from_editor = async {
        while let Some(line) = lines::next(&mut editor, MOST).await? {
            relay.take_editor(line).await?;
        }
        Ok(())
    };
    let from_agent = async {
        while let Some(line) = lines::next(&mut agent.output, MOST).await? {
            relay.take_agent(line).await?;
        }
        Ok(())
    };
    let ended: Result<(), ProxyError> = tokio::select! {
        ended = from_editor => ended,
        ended = from_agent => ended,
    };
    relay.end(None).await;
    drop(relay);
    let _ = tokio::time::timeout(GOODBYE, told).await;
    agent.end().await;
    ended
}

impl Relay {
    /// Takes a line of the agent.
    async fn take_agent(self: &Arc<Self>, line: Vec<u8>) -> Result<(), ProxyError> {
        let Some(message) = read(&line)? else {
            // What a program says by the way passes, unless somebody could find a message in it.
            return if line.contains(&b'{') { Ok(()) } else { self.show(line).await };
        };
        let id = message.id().map(str::to_owned);
        match message.method.as_deref() {
            Some("session/request_permission") => {
                let params = message.params.map_or("{}", RawValue::get);
                let asked = serde_json::from_str::<Permission>(params);
                let Ok(permission) = asked else {
                    let what = "the permission request is not of its shape";
                    return self.reply(message::error(id.as_deref(), INVALID_REQUEST, what)).await;
                };
                let (session, options) = (permission.session.clone(), permission.options.clone());
                let relay = Arc::clone(self);
                let number = id.clone();
                self.open(id, &session, options, async move {
                    relay.permission(number.as_deref(), permission, line).await;
                });
            }
            Some(method) => {
                let params = message.params.map_or("{}", RawValue::get);
                let params: Value = serde_json::from_str(params).unwrap_or_default();
                let Some(judged) = call::act(method, &params) else { return self.show(line).await };
                let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                let session = session.to_owned();
                let (relay, number) = (Arc::clone(self), id.clone());
                self.open(id, &session.clone(), Vec::new(), async move {
                    relay.act(number.as_deref(), &session, judged, line).await;
                });
            }
            None => {
                self.begun(id.as_deref(), message.result);
                self.show(line).await?;
            }
        }
        Ok(())
    }

    /// Takes a line of the editor.
    async fn take_editor(&self, line: Vec<u8>) -> Result<(), ProxyError> {
        let Some(message) = read(&line)? else { return self.reply(line).await };
        let params = || -> Value {
            message.params.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default()
        };
        match (message.method.as_deref(), message.id()) {
            (Some("session/new"), Some(id)) => {
                if let Some(cwd) = params().get("cwd").and_then(Value::as_str) {
                    self.state().beginning.insert(id.to_owned(), cwd.to_owned());
                }
            }
            (Some("session/load" | "session/resume"), _) => {
                let params = params();
                let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
                if let (Some(session), Some(cwd)) = (text("sessionId"), text("cwd")) {
                    self.state().directories.insert(session, cwd);
                }
            }
            (Some("session/cancel"), _) => {
                let params = params();
                if let Some(session) = params.get("sessionId").and_then(Value::as_str) {
                    self.end(Some(session)).await;
                }
            }
            (None, Some(id)) => {
                let open = self.state().open.remove(id);
                let is_late = self.state().settled.remove(id);
                return match open {
                    Some(open) => self.chosen(id, &open, message.result, &line).await,
                    None if is_late => Ok(()),
                    None => self.reply(line).await,
                };
            }
            (Some(_) | None, _) => {}
        }
        self.reply(line).await
    }

    /// Answers a permission request, or has it shown in the editor while a person is asked.
    async fn permission(&self, id: Option<&str>, asked: Permission, line: Vec<u8>) {
        let judged = asked.call.judged();
        let cwd = self.directory(&asked.session);
        if !judged.is_bound
            && let Some((tool, input)) = asked.call.guess()
            && self.setting.gate.is_denied(&tool, &input, cwd.as_deref()).await.is_some()
        {
            return self.settle(id, &asked.options, false).await;
        }
        let name = self.name(&asked.call.id);
        let act = self.act_of(&judged, &asked.session, name, asked.call.title());
        match self.setting.gate.first(&act).await {
            First::Ruled(Ruling::Deny(_)) => self.settle(id, &asked.options, false).await,
            First::Ruled(Ruling::Allow { input, is_by_person }) => {
                // What is known by its words alone is at best asked about; another input cannot
                // be handed to an agent.
                let is_bound = judged.is_bound || is_by_person;
                match (is_bound, input) {
                    (_, Some(_)) => self.settle(id, &asked.options, false).await,
                    (true, None) => self.settle(id, &asked.options, true).await,
                    (false, None) => self.shown(id, line).await,
                }
            }
            First::Asked(ask) => {
                self.waits(id, ask);
                self.shown(id, line).await;
                let ruling = self.setting.gate.wait(&act, |_| {}).await;
                let allows = matches!(ruling, Ruling::Allow { input: None, .. });
                self.settle(id, &asked.options, allows).await;
            }
        }
    }

    /// Judges what the agent would do through the editor.
    async fn act(
        &self,
        id: Option<&str>,
        session: &str,
        judged: Result<Judged, &'static str>,
        line: Vec<u8>,
    ) {
        let ruling = match judged {
            Err(what) => Ruling::Deny(reason(what, "HOOK_BAD_INPUT")),
            Ok(judged) => {
                let act = self.act_of(&judged, session, self.own_name(), None);
                match self.setting.gate.first(&act).await {
                    First::Ruled(ruling) => ruling,
                    First::Asked(ask) => {
                        self.waits(id, ask);
                        self.setting.gate.wait(&act, |_| {}).await
                    }
                }
            }
        };
        let denied = match ruling {
            Ruling::Allow { input: None, .. } => {
                // The editor's answer to it is passed as it comes.
                self.forget(id);
                let _ = self.show(line).await;
                return;
            }
            Ruling::Allow { input: Some(input), .. } => portcullis_hook::answer::edited(&input),
            Ruling::Deny(denied) => denied,
        };
        self.forget(id);
        if id.is_some() {
            let _ = self.reply(message::error(id, DENIED, &denied)).await;
        }
    }

    /// What the editor chose goes to the agent, for this once.
    async fn chosen(
        &self,
        id: &str,
        open: &Open,
        result: Option<&RawValue>,
        line: &[u8],
    ) -> Result<(), ProxyError> {
        open.task.abort();
        if let Some(ask) = &open.ask {
            self.setting.gate.withdraw(ask).await;
        }
        let result = result.and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
        let chosen = result.as_ref().and_then(|it| it.pointer("/outcome/optionId"));
        let chosen = chosen.and_then(Value::as_str);
        let kind = open.options.iter().find(|it| Some(it.id.as_str()) == chosen);
        // An agent that remembers an answer asks no more: the gate would see nothing of it.
        let once = match kind.map(|it| it.kind.as_str()) {
            Some("allow_always") => "allow_once",
            Some("reject_always") => "reject_once",
            Some(_) | None => return self.reply(line.to_owned()).await,
        };
        let outcome = call::outcome(call::option(&open.options, once));
        self.reply(message::result(Some(id), &outcome)).await
    }

    /// Answers a permission request; what the editor says about it later is dropped.
    async fn settle(&self, id: Option<&str>, options: &[Choice], allows: bool) {
        let Some(id) = id else { return };
        let open = self.state().open.remove(id);
        if open.is_some_and(|open| open.is_shown) {
            self.state().settled.insert(id.to_owned());
        }
        let kind = if allows { "allow_once" } else { "reject_once" };
        let outcome = call::outcome(call::option(options, kind));
        let _ = self.reply(message::result(Some(id), &outcome)).await;
    }

    /// Shows a permission request in the editor, whose answer counts from now on.
    async fn shown(&self, id: Option<&str>, line: Vec<u8>) {
        let Some(id) = id else { return };
        if let Some(open) = self.state().open.get_mut(id) {
            open.is_shown = true;
        }
        let _ = self.show(line).await;
    }

    /// Takes back the questions of a session, or of all; what the editor shows it answers itself.
    async fn end(&self, session: Option<&str>) {
        let mut ended = Vec::new();
        self.state().open.retain(|id, open| {
            if session.is_some_and(|session| session != open.session) {
                return true;
            }
            open.task.abort();
            ended.push((id.clone(), open.ask.take(), open.is_shown));
            open.is_shown
        });
        for (id, ask, is_shown) in ended {
            if let Some(ask) = ask {
                self.setting.gate.withdraw(&ask).await;
            }
            if !is_shown {
                let what = "the session was cancelled";
                let _ = self.reply(message::error(Some(&id), DENIED, what)).await;
            }
        }
    }

    fn act_of(
        &self,
        judged: &Judged,
        session: &str,
        call_id: String,
        description: Option<String>,
    ) -> Act {
        let session = if session.is_empty() { &self.setting.session } else { session };
        Act {
            tool: judged.tool.to_owned(),
            input: judged.input.to_string(),
            host: None,
            cwd: self.directory(session),
            session: session.to_owned(),
            call_id,
            slot: "acp".to_owned(),
            description,
        }
    }

    /// Begins to work on a request of the agent.
    fn open(
        &self,
        id: Option<String>,
        session: &str,
        options: Vec<Choice>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        // It begins when it is known, so that it finds itself.
        let (start, started) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let _ = started.await;
            work.await;
        });
        let task = task.abort_handle();
        if let Some(id) = id {
            let session = session.to_owned();
            let open = Open { session, options, is_shown: false, ask: None, task };
            self.state().open.insert(id, open);
        }
        let _ = start.send(());
    }

    /// Remembers which question a request waits for.
    fn waits(&self, id: Option<&str>, ask: String) {
        let Some(id) = id else { return };
        if let Some(open) = self.state().open.get_mut(id) {
            open.ask = Some(ask);
        }
    }

    fn forget(&self, id: Option<&str>) {
        if let Some(id) = id {
            self.state().open.remove(id);
        }
    }

    /// Learns the name of a session that the editor began.
    fn begun(&self, id: Option<&str>, result: Option<&RawValue>) {
        let mut state = self.state();
        let Some(cwd) = id.and_then(|id| state.beginning.remove(id)) else { return };
        let result: Option<Value> = result.and_then(|it| serde_json::from_str(it.get()).ok());
        let session = result.as_ref().and_then(|it| it.get("sessionId")).and_then(Value::as_str);
        if let Some(session) = session {
            state.directories.insert(session.to_owned(), cwd);
        }
    }

    fn directory(&self, session: &str) -> Option<String> {
        self.state().directories.get(session).cloned().or_else(|| self.setting.cwd.clone())
    }

    /// The name of a call that its agent gives one: the first time, and never again.
    fn name(&self, given: &str) -> String {
        let is_new = self.state().names.take(given);
        if is_new { given.to_owned() } else { self.own_name() }
    }

    fn own_name(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{OWN_NAME}{}-{count}", self.setting.session)
    }

    async fn show(&self, line: Vec<u8>) -> Result<(), ProxyError> {
        send(&self.to_editor, line).await
    }

    async fn reply(&self, line: Vec<u8>) -> Result<(), ProxyError> {
        send(&self.to_agent, line).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(outlet: &Outlet, line: Vec<u8>) -> Result<(), ProxyError> {
    let gone = |_| ProxyError::Stream(std::io::ErrorKind::BrokenPipe.into());
    outlet.send(line).await.map_err(gone)
}

/// The message of a line; none where it is no JSON at all, as what a program says by the way.
fn read(line: &[u8]) -> Result<Option<Message<'_>>, ProxyError> {
    let Some(text) = lines::text(line) else {
        return Err(ProxyError::Unreadable("a message is not UTF-8".to_owned()));
    };
    if !text.starts_with(['{', '[']) {
        return Ok(None);
    }
    let unreadable = |what| ProxyError::Unreadable(format!("a message cannot be read: {what}"));
    Message::read(text).map(Some).map_err(unreadable)
}
