//! The MCP proxy: every `tools/call` is judged before the server sees it.
//!
//! [`Relay`] knows the conversation and nothing of how the server is reached: [`stdio`] starts it
//! as a program, [`http`] speaks to one behind a URL. `tools` remembers what tools said they are.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_hook::OWN_NAME;
use portcullis_hook::answer::{edited, reason};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::gate::{Act, First, Gate, Names, Ruling};
use crate::lines::{self, Outlet};
use crate::message::{self, INVALID_REQUEST, Message, PARSE_ERROR};

mod batch;
pub mod http;
mod schema;
pub mod stdio;
mod tools;

use batch::Batches;
use tools::{Listed, Tools};

/// The tool under which a person is asked about a server's tool that is another one by now.
pub const CHANGED: &str = "McpToolChanged";

/// What a proxy is started with.
pub struct Setting {
    /// The way to the daemon.
    pub gate: Gate,
    /// What rules call the server.
    pub server: String,
    /// The name of this conversation.
    pub session: String,
    /// The directory the server works in.
    pub cwd: Option<String>,
    /// The file that keeps what used tools said they are.
    pub pins: Option<PathBuf>,
}

/// One conversation between a client and a server.
pub struct Relay {
    setting: Setting,
    to_client: Outlet,
    to_server: Outlet,
    state: Mutex<State>,
    count: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Requests for the list of tools that were not answered yet, and whether each is for its
    /// first page.
    listing: HashMap<String, bool>,
    /// Calls that wait for a person.
    held: HashMap<String, Held>,
    batches: Batches,
    tools: Tools,
    names: Names,
}

struct Held {
    task: AbortHandle,
    ask: Option<String>,
}

/// What `tools/call` is called with.
#[derive(Deserialize)]
struct Called<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

impl Relay {
    /// A conversation that hands messages on through these two.
    #[must_use]
    pub fn new(setting: Setting, to_client: Outlet, to_server: Outlet) -> Arc<Relay> {
        let tools = Tools::read(setting.pins.clone());
        let state = Mutex::new(State { tools, ..State::default() });
        Arc::new(Relay { setting, to_client, to_server, state, count: AtomicU64::new(0) })
    }

    /// Takes a line of the client.
    pub async fn take_client(self: &Arc<Self>, line: Vec<u8>) {
        let Some(text) = lines::text(&line) else {
            return self.refuse(PARSE_ERROR, "the message is not UTF-8").await;
        };
        if text.is_empty() {
            return self.forward(line).await;
        }
        if !text.starts_with('[') {
            return self.one(text, &line).await;
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            return self.refuse(PARSE_ERROR, "the message is not JSON").await;
        };
        let ids: Vec<String> = items
            .iter()
            .filter_map(|item| Message::read(item.get()).ok()?.id().map(str::to_owned))
            .collect();
        self.state().batches.open(ids);
        for item in items {
            self.one(item.get(), &message::line(item.get())).await;
        }
    }

    /// Takes a line of the server.
    pub async fn take_server(self: &Arc<Self>, line: Vec<u8>) {
        // What the server says runs nothing; what cannot be read is the client's to read.
        let id = lines::text(&line).and_then(|text| {
            let message: Message<'_> = serde_json::from_str(text).ok()?;
            message.is_answer().then(|| message.id().map(str::to_owned))?
        });
        let Some(id) = id else { return self.tell(line).await };
        let listed = self.state().listing.remove(&id);
        if let Some(is_first) = listed {
            let relay = Arc::clone(self);
            tokio::spawn(async move {
                let line = relay.listed(line, is_first).await;
                relay.answer(Some(&id), line).await;
            });
            return;
        }
        self.answer(Some(&id), line).await;
    }

    /// Takes back what waits: the client has gone.
    pub async fn end(&self) {
        let held: Vec<Held> = self.state().held.drain().map(|(_, held)| held).collect();
        for Held { task, ask } in held {
            task.abort();
            if let Some(ask) = ask {
                self.setting.gate.withdraw(&ask).await;
            }
        }
    }

    async fn one(self: &Arc<Self>, text: &str, line: &[u8]) {
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(what) => {
                let code = if text.starts_with('{') { INVALID_REQUEST } else { PARSE_ERROR };
                return self.refuse(code, &format!("the message is refused: {what}")).await;
            }
        };
        let id = message.id().map(str::to_owned);
        match message.method.as_deref() {
            Some("tools/call") => {
                let relay = Arc::clone(self);
                let (line, held_as) = (line.to_owned(), id.clone());
                let (start, started) = tokio::sync::oneshot::channel::<()>();
                let task = tokio::spawn(async move {
                    let _ = started.await;
                    relay.call(held_as.as_deref(), line).await;
                    if let Some(id) = held_as {
                        relay.state().held.remove(&id);
                    }
                });
                if let Some(id) = id {
                    let held = Held { task: task.abort_handle(), ask: None };
                    self.state().held.insert(id, held);
                }
                let _ = start.send(());
            }
            Some("notifications/cancelled") if self.cancel(message.params).await => {}
            Some("tools/list") => {
                let params = message.params.map_or("null", RawValue::get);
                let params: Value = serde_json::from_str(params).unwrap_or_default();
                let is_first = params.get("cursor").is_none_or(Value::is_null);
                self.state().listing.extend(id.map(|id| (id, is_first)));
                self.forward(line.to_owned()).await;
            }
            Some(method) if message::could_be(method, "tools/call") => {
                let what =
                    format!("the message is refused: `{method}` could be read as `tools/call`");
                self.answer(id.as_deref(), message::error(id.as_deref(), INVALID_REQUEST, &what))
                    .await;
            }
            Some(_) | None => self.forward(line.to_owned()).await,
        }
    }

    /// Judges a call, and hands it on or answers it.
    async fn call(self: &Arc<Self>, id: Option<&str>, line: Vec<u8>) {
        let denied = match self.judged(id, &line).await {
            Ok(line) => return self.forward(line).await,
            Err(denied) => denied,
        };
        if id.is_some() {
            let mut said = CallToolResult::error(vec![ContentBlock::text(denied)]);
            // Clients of older revisions do not know the field; without it the result is complete.
            said.result_type = None;
            let said = serde_json::to_value(&said).unwrap_or_default();
            self.answer(id, message::result(id, &said)).await;
        }
    }

    /// The line to hand on, or why there is none.
    async fn judged(self: &Arc<Self>, id: Option<&str>, line: &[u8]) -> Result<Vec<u8>, String> {
        let text = lines::text(line).unwrap_or_default();
        let bad = |what: &str| reason(&format!("the call: {what}"), "HOOK_BAD_INPUT");
        if line.len() > lines::MOST_CALLED {
            return Err(reason("the call is larger than 8 MiB", "HOOK_TOO_LARGE"));
        }
        let message = Message::read(text).map_err(|what| bad(&what))?;
        let params = message.params.map_or("{}", RawValue::get);
        let called: Called<'_> = serde_json::from_str(params).map_err(|_| bad("it has no name"))?;
        let whole: Value = serde_json::from_str(params).unwrap_or_default();
        message::sole_names(&whole, &["name", "arguments", "_meta", "task"])
            .map_err(|what| bad(&what))?;
        if let Some(arguments) = whole.get("arguments") {
            message::sole_names(arguments, &[]).map_err(|what| bad(&what))?;
        }
        let input = called.arguments.map_or("{}", RawValue::get);
        self.unchanged(id, &called).await?;
        let act = self.act(&called, input, self.name(&called));
        match self.ruled(id, &act, called.meta.as_ref()).await {
            Ruling::Deny(denied) => Err(denied),
            Ruling::Allow { input: None, .. } => {
                self.state().tools.used(&called.name);
                Ok(line.to_owned())
            }
            Ruling::Allow { input: Some(input), .. } => {
                self.fits(&called.name, &input)?;
                self.state().tools.used(&called.name);
                let within = called.arguments.map(RawValue::get);
                let line = within.and_then(|arguments| tools::replaced(text, arguments, &input));
                line.map(|line| message::line(&line)).ok_or_else(|| edited(&input))
            }
        }
    }

    /// Asks the daemon and waits, telling the client that something goes on.
    async fn ruled(&self, id: Option<&str>, act: &Act, meta: Option<&Value>) -> Ruling {
        let ask = match self.setting.gate.first(act).await {
            First::Ruled(ruling) => return ruling,
            First::Asked(ask) => ask,
        };
        self.waits(id, ask);
        let token = meta.and_then(|meta| meta.get("progressToken")).cloned();
        let tell = |count: u64| {
            let Some(token) = &token else { return };
            let params = json!({
                "progressToken": token, "progress": count, "message": "waiting for a person",
            });
            // Nobody waits for it: a full queue only means that there is enough to tell.
            let _ = self.to_client.try_send(message::notification(PROGRESS, &params));
        };
        tell(0);
        self.setting.gate.wait(act, tell).await
    }

    /// Remembers which question a call waits for.
    fn waits(&self, id: Option<&str>, ask: String) {
        let Some(id) = id else { return };
        if let Some(held) = self.state().held.get_mut(id) {
            held.ask = Some(ask);
        }
    }

    /// Asks about a tool that is another one than when it was first used.
    async fn unchanged(&self, id: Option<&str>, called: &Called<'_>) -> Result<(), String> {
        let Some(now) = self.state().tools.changed(&called.name) else { return Ok(()) };
        let input = json!({
            "server": self.setting.server, "tool": called.name,
            "description": now.description, "schema": now.schema,
        });
        let act = Act {
            tool: CHANGED.to_owned(),
            input: input.to_string(),
            description: Some("the tool says something else than when it was first used".into()),
            ..self.act(called, "{}", self.own_name())
        };
        match self.ruled(id, &act, called.meta.as_ref()).await {
            Ruling::Allow { .. } => {
                self.state().tools.renewed(&called.name);
                Ok(())
            }
            Ruling::Deny(denied) => Err(denied),
        }
    }

    /// The name of a call: its host's, where that was not the name of another one before.
    fn name(&self, called: &Called<'_>) -> String {
        let of_host = called.meta.as_ref().and_then(|meta| meta.get("claudecode/toolUseId"));
        let of_host = of_host.and_then(Value::as_str).filter(|name| self.state().names.take(name));
        of_host.map_or_else(|| self.own_name(), str::to_owned)
    }

    fn act(&self, called: &Called<'_>, input: &str, call_id: String) -> Act {
        let setting = &self.setting;
        Act {
            tool: format!("mcp__{}__{}", setting.server, called.name),
            input: input.to_owned(),
            host: None,
            cwd: setting.cwd.clone(),
            session: setting.session.clone(),
            call_id,
            slot: format!("mcp/{}", setting.server),
            description: None,
        }
    }

    fn own_name(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{OWN_NAME}{}-{count}", self.setting.session)
    }

    fn fits(&self, tool: &str, input: &str) -> Result<(), String> {
        let refused = |what: &str| {
            reason(&format!("the approver's edit does not fit the tool: {what}"), "EDITED")
        };
        let schema = self.state().tools.schema(tool);
        let schema = schema.ok_or_else(|| refused("its schema is not known"))?;
        let value = serde_json::from_str(input).map_err(|_| refused("it is not JSON"))?;
        schema::check(&schema, &value).map_err(|what| refused(&what))
    }

    /// A list of tools without those that are shut, after a look at what they say they are.
    async fn listed(&self, line: Vec<u8>, is_first: bool) -> Vec<u8> {
        let text = lines::text(&line).unwrap_or_default();
        let Some(listed) = Listed::read(text) else { return line };
        self.state().tools.saw(&listed, is_first);
        let mut shut = HashSet::new();
        for name in listed.names() {
            if self.setting.gate.is_shut(&format!("mcp__{}__{name}", self.setting.server)).await {
                shut.insert(name.to_owned());
            }
        }
        listed.without(text, &shut).map_or_else(|| line.clone(), |text| message::line(&text))
    }

    /// Gives up a call that waits for a person; whether there was one.
    async fn cancel(&self, params: Option<&RawValue>) -> bool {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        let cancelled = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some(Cancelled { id }) = cancelled else { return false };
        let Some(held) = self.state().held.remove(id.get()) else { return false };
        held.task.abort();
        if let Some(ask) = held.ask {
            self.setting.gate.withdraw(&ask).await;
        }
        true
    }

    /// Hands an answer to the client, by itself or with the others of its batch.
    async fn answer(&self, id: Option<&str>, line: Vec<u8>) {
        let whole = match id {
            Some(id) => self.state().batches.fill(id, line),
            None => Some(line),
        };
        if let Some(line) = whole {
            self.tell(line).await;
        }
    }

    async fn refuse(&self, code: i64, what: &str) {
        self.tell(message::error(None, code, what)).await;
    }

    async fn tell(&self, line: Vec<u8>) {
        // Where nobody reads any more the conversation ends by itself.
        let _ = self.to_client.send(line).await;
    }

    async fn forward(&self, line: Vec<u8>) {
        let _ = self.to_server.send(line).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The method that says that something goes on.
const PROGRESS: &str = "notifications/progress";
