//! `GET /ws`: one client. Nobody greets; what a client asks for it is told, and nothing twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message as Raw, WebSocket, WebSocketUpgrade};
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use portcullis_approval::settle::Refusal as NotCounted;
use portcullis_approval::{Answer, Approver, Ask, Decision, Id, Moment, Reply, Scope};
use portcullis_store::{AskFilter, StoreError};
use portcullis_wire::dialects::comma::frames::{Fault as Failed, Frame, text};
use portcullis_wire::dialects::comma::{Choice, Message, Said, Unread, read};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::hub::{News, Present, What};
use super::{NAME, words};
use crate::App;
use crate::authority::{Fault, stopped};
use crate::doors::{ask_id, ws};
use crate::identity::{Caller, Via};
use crate::routes::feed::lean;

/// The largest frame a client may send.
const MOST_FRAME: usize = 1 << 20;

/// So many pending asks of a run are sent to somebody who comes later.
const MOST_PENDING: usize = 1000;

/// The longest delay that a configuration can ask for.
const MOST_DELAY_MS: u64 = 10_000;

/// The profile of Comma's own terminal client.
const TUI: &str = "comma-tui";

/// Opens a connection.
pub async fn socket(
    State(app): State<App>,
    caller: Caller,
    uri: Uri,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else { return ws::no_upgrade().into_response() };
    let pairs = uri.query().unwrap_or_default().split('&');
    let is_tui = pairs.into_iter().any(|pair| pair.strip_prefix("profile=") == Some(TUI));
    // Twice the size, so that a frame that is too large can be seen and refused by its code.
    let upgrade = lean(upgrade, 2 * MOST_FRAME);
    upgrade.on_upgrade(move |socket| {
        let (sender, receiver) = socket.split();
        let (present, news) = app.comma.join();
        let talk = Talk {
            app,
            caller,
            is_tui,
            sender,
            runs: HashMap::new(),
            sent: HashMap::new(),
            _present: present,
        };
        talk.run(receiver, news)
    })
}

/// One client.
pub(super) struct Talk {
    pub(super) app: App,
    pub(super) caller: Caller,
    is_tui: bool,
    sender: SplitSink<WebSocket, Raw>,
    /// The runs it hears of, each with the place in the audit behind which it does.
    runs: HashMap<String, u64>,
    /// The asks it was sent that are not settled, with their runs.
    sent: HashMap<Id, String>,
    _present: Present,
}

/// The connection is gone.
pub(super) struct Gone;

/// Why something could not be done.
pub(super) struct Refusal {
    code: &'static str,
    message: String,
    settled: Option<Box<Decision>>,
}

impl Refusal {
    /// A refusal with this code and sentence.
    pub(super) fn new(code: &'static str, message: String) -> Refusal {
        Refusal { code, message, settled: None }
    }

    /// Something of ours failed; the cause is logged here, once.
    pub(super) fn internal(error: impl std::fmt::Display) -> Refusal {
        tracing::error!("a message could not be served: {error}");
        Refusal::new("INTERNAL_ERROR", "Internal error".to_owned())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        Refusal::internal(error)
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::internal(fault)
    }
}

impl Talk {
    async fn run(mut self, mut receiver: SplitStream<WebSocket>, mut news: Receiver<Arc<News>>) {
        let mut stopping = self.app.authority.stopping();
        let (app, caller) = (self.app.clone(), self.caller.clone());
        let ended = app.ended(&caller);
        tokio::pin!(ended);
        let mut said = Ok(());
        while said.is_ok() {
            said = tokio::select! {
                // Nothing is said or heard with a key that counts no longer.
                biased;
                () = &mut ended => self.leave(1008, "the key counts no longer").await,
                () = stopped(&mut stopping) => self.leave(1001, "going down").await,
                news = news.recv() => match news {
                    Ok(news) => self.tell(&news).await,
                    Err(RecvError::Lagged(_)) => self.look_again().await,
                    Err(RecvError::Closed) => self.leave(1001, "going down").await,
                },
                message = receiver.next() => match message {
                    None | Some(Ok(Raw::Close(_))) => Err(Gone),
                    Some(Ok(message)) => self.hear(message).await,
                    Some(Err(error)) if error.to_string().contains("too long") => {
                        self.leave(1009, "frame too large").await
                    }
                    Some(Err(_)) => Err(Gone),
                },
            };
        }
    }

    /// Says something that happened, if it concerns this client.
    async fn tell(&mut self, news: &News) -> Result<(), Gone> {
        if matches!(news.what, What::Missed) {
            return self.look_again().await;
        }
        let sees = self.runs.get(&news.run).is_some_and(|since| news.position > *since)
            && self.caller.owners().include(&news.owner);
        match &news.what {
            What::Opened(record) if sees => self.ask(&record.ask, &news.run, news.at).await,
            What::Settled(id, frame) => {
                let was_sent = self.sent.remove(id).is_some();
                if was_sent && !self.is_tui { self.say(frame, news.at).await } else { Ok(()) }
            }
            What::Said(frame) if sees => self.say(frame, news.at).await,
            What::Opened(_) | What::Said(_) | What::Missed => Ok(()),
        }
    }

    /// Sends a question, unless this client has it.
    async fn ask(&mut self, ask: &Ask, run: &str, at: Moment) -> Result<(), Gone> {
        if !self.approver().may_answer(ask) || self.sent.contains_key(&ask.id) {
            return Ok(());
        }
        self.sent.insert(ask.id, run.to_owned());
        self.say(&words::asked(ask, run, self.is_tui), at).await
    }

    /// Sends what is pending in the runs this client hears of and what it does not have.
    async fn look_again(&mut self) -> Result<(), Gone> {
        let runs: Vec<String> = self.runs.keys().cloned().collect();
        for run in runs {
            self.send_pending(&run).await?;
        }
        Ok(())
    }

    async fn send_pending(&mut self, run: &str) -> Result<(), Gone> {
        let mut filter = AskFilter::pending(self.caller.owners(), MOST_PENDING);
        filter.run = Some(run.to_owned());
        let Ok(pending) = self.app.authority.store().asks(&filter).await else {
            return self.leave(1011, "the store cannot be read").await;
        };
        for record in pending {
            let at = self.app.authority.now();
            self.ask(&record.ask, run, at).await?;
        }
        Ok(())
    }

    /// Makes this client a subscriber, and sends what is pending if it was none.
    async fn subscribe(&mut self, run: &str) -> Result<(), Gone> {
        if self.runs.contains_key(run) {
            return Ok(());
        }
        self.listen(run).await?;
        self.send_pending(run).await
    }

    /// Hears of a run from now on.
    async fn listen(&mut self, run: &str) -> Result<(), Gone> {
        let Ok(head) = self.app.authority.store().head().await else {
            return self.leave(1011, "the store cannot be read").await;
        };
        self.runs.insert(run.to_owned(), head.position);
        Ok(())
    }

    /// Does what a client says.
    async fn hear(&mut self, message: Raw) -> Result<(), Gone> {
        let bytes = match &message {
            Raw::Text(text) => text.as_bytes(),
            Raw::Binary(bytes) => bytes,
            Raw::Ping(_) | Raw::Pong(_) | Raw::Close(_) => return Ok(()),
        };
        if bytes.len() > MOST_FRAME {
            return self.leave(1009, "frame too large").await;
        }
        let said = match str::from_utf8(bytes).map_err(|_| Unread::NotJson).and_then(read) {
            Ok(said) => said,
            Err(Unread::NotJson) => {
                let refusal = Refusal::new("PARSE_ERROR", "Invalid JSON".to_owned());
                return self.refuse(refusal, None).await;
            }
            Err(Unread::Invalid { faults, request }) => {
                let message = format!("Invalid message: {}", faults.join("; "));
                return self.refuse(Refusal::new("VALIDATION_ERROR", message), request).await;
            }
        };
        let request = said.request.clone();
        match self.serve(said).await? {
            Ok(()) => Ok(()),
            Err(refusal) => self.refuse(refusal, request).await,
        }
    }

    async fn serve(&mut self, said: Said) -> Result<Result<(), Refusal>, Gone> {
        let Said { request, message } = said;
        let refused = |code, message: String| Ok(Err(Refusal::new(code, message)));
        match message {
            Message::Ping => self.answer(Ok(Frame::Pong { request_id: request })).await,
            Message::Decision { run, ask, choice } => Ok(self.decide(&run, &ask, choice).await),
            Message::UpdatePolicy { run, tool, is_write, patch } => {
                Ok(self.update_policy(&run, tool.as_deref(), is_write, &patch).await)
            }
            Message::Subscribe(run) => {
                match self.app.authority.run_for(&run, &self.caller.owners()).await {
                    Ok((Some(_), _)) => self.subscribe(&run).await.map(Ok),
                    Ok((None, _)) => refused("SUBSCRIBE_ERROR", format!("Run not found: {run}")),
                    Err(error) => Ok(Err(error.into())),
                }
            }
            Message::Unsubscribe(run) => {
                self.runs.remove(&run);
                self.sent.retain(|_, of| *of != run);
                Ok(Ok(()))
            }
            Message::ListRuns(cwd) => {
                let list = self.list(cwd.as_deref(), request).await;
                self.answer(list).await
            }
            Message::ListStrategies => {
                let list = self.list_strategies(request).await;
                self.answer(list).await
            }
            Message::Prepare(prepare) => match self.prepare(prepare, request).await {
                Err(refusal) => Ok(Err(refusal)),
                Ok((run, frame)) => {
                    // What happens from now on is told behind the answer.
                    let is_new = !self.runs.contains_key(&run.run);
                    if is_new {
                        self.listen(&run.run).await?;
                    }
                    if self.is_tui {
                        // It can miss a faster one.
                        let delay_ms = self.app.config.dialects.comma.run_prepared_delay_ms;
                        tokio::time::sleep(Duration::from_millis(delay_ms.min(MOST_DELAY_MS)))
                            .await;
                    }
                    self.say(&frame, self.app.authority.now()).await?;
                    if is_new { self.send_pending(&run.run).await.map(Ok) } else { Ok(Ok(())) }
                }
            },
            Message::Start(run) => self.start_or_continue(&run, false, request).await,
            Message::Continue(run) => self.start_or_continue(&run, true, request).await,
            Message::Stop(run) => Ok(self.stop(&run).await),
            Message::UserInput { run, agent } => {
                let message = format!("No pending input request for run {run} agent {agent}");
                refused("NO_PENDING_INPUT", message)
            }
            Message::QuestionResponse { run, question } => {
                let message = format!("No pending question request {question} for run {run}");
                refused("NO_PENDING_QUESTION", message)
            }
            Message::Steer(run) => {
                refused("RUN_NOT_STEERABLE", format!("Cannot steer run {run}: not running"))
            }
            Message::ListMcpServers => {
                self.answer(Ok(Frame::McpServerList { servers: [], request_id: request })).await
            }
            Message::Foreign { kind, code } => {
                refused(code, format!("{kind} is not offered by this daemon"))
            }
        }
    }

    /// Whoever starts a run hears of it, from its first word on.
    async fn start_or_continue(
        &mut self,
        run: &str,
        continues: bool,
        request: Option<String>,
    ) -> Result<Result<(), Refusal>, Gone> {
        let was_told = self.runs.contains_key(run);
        if !was_told {
            self.listen(run).await?;
        }
        match self.start(run, continues, request.as_ref()).await {
            Err(refusal) => {
                if !was_told {
                    self.runs.remove(run);
                }
                Ok(Err(refusal))
            }
            Ok(_) if was_told => Ok(Ok(())),
            Ok(_) => self.send_pending(run).await.map(Ok),
        }
    }

    /// Answers an ask of a run.
    async fn decide(&self, run: &str, ask: &str, choice: Choice) -> Result<(), Refusal> {
        let none = || {
            let message = format!("No pending permission request {ask} for run {run}");
            Refusal::new("NO_PENDING_PERMISSION", message)
        };
        let authority = &self.app.authority;
        let Some(id) = ask_id(ask) else { return Err(none()) };
        let record = authority.store().ask(id).await?;
        let record = record.filter(|record| record.ask.call.run.as_deref() == Some(run));
        let record = record.ok_or_else(none)?;
        let approver = self.approver();
        let forbidden = || {
            let message = format!("This connection may not decide for run {run}");
            Refusal::new("FORBIDDEN", message)
        };
        if !approver.may_answer(&record.ask) {
            return Err(forbidden());
        }
        let (reply, scope) = match choice {
            Choice::Allow => (Reply::Approve, Scope::Once),
            Choice::Deny => (Reply::Reject, Scope::Once),
            Choice::AllowSession => (Reply::Approve, Scope::Run),
            Choice::DenySession => (Reply::Reject, Scope::Run),
        };
        let answer = Answer { scope: Some(scope), ..Answer::plain(reply) };
        match authority.decide(&approver, id, &answer).await {
            Ok(_) => Ok(()),
            Err(Fault::Store(StoreError::AlreadySettled(decision))) => {
                Err(Refusal { settled: Some(decision), ..none() })
            }
            Err(
                Fault::NoSuchAsk
                | Fault::Store(StoreError::NoSuchAsk(_))
                | Fault::Refused(NotCounted::TooLate),
            ) => Err(none()),
            Err(Fault::Refused(NotCounted::NotYours)) => Err(forbidden()),
            Err(
                fault @ (Fault::Refused(
                    NotCounted::Malformed(_)
                    | NotCounted::RuleRefused(_)
                    | NotCounted::CallDenied(_),
                )
                | Fault::Profile(_)
                | Fault::TooOften(_)
                | Fault::Policy(_)
                | Fault::SessionPolicy(_)
                | Fault::Store(
                    StoreError::TooManyAsks(_)
                    | StoreError::GrantGone(_)
                    | StoreError::NameTaken(_)
                    | StoreError::Newer { .. }
                    | StoreError::Unavailable(_),
                )),
            ) => Err(Refusal::internal(fault)),
        }
    }

    fn approver(&self) -> Approver {
        let door = if self.caller.via == Via::Cookie { self.caller.door } else { NAME };
        Approver { door: door.to_owned(), ..self.caller.approver() }
    }

    /// Says what was asked for.
    async fn answer(&mut self, frame: Result<Frame, Refusal>) -> Result<Result<(), Refusal>, Gone> {
        match frame {
            Ok(frame) => self.say(&frame, self.app.authority.now()).await.map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    async fn refuse(&mut self, refusal: Refusal, request: Option<String>) -> Result<(), Gone> {
        let Refusal { code, message, settled } = refusal;
        // Its own client knows no more members of an error than these.
        let settled = settled.filter(|_| !self.is_tui);
        let frame = Frame::Error(Failed {
            code: code.to_owned(),
            message,
            request_id: request,
            settled_by: settled.as_ref().map(|decision| decision.by.clone()),
            decision: settled.as_ref().map(|decision| words::decided(decision)),
            via: settled.as_ref().map(|decision| decision.door.clone()),
        });
        self.say(&frame, self.app.authority.now()).await
    }

    async fn say(&mut self, frame: &Frame, at: Moment) -> Result<(), Gone> {
        let text = text(frame, &at.to_string());
        self.sender.send(Raw::Text(text.into())).await.map_err(|_| Gone)
    }

    /// Says why, and goes.
    async fn leave(&mut self, code: u16, reason: &'static str) -> Result<(), Gone> {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = self.sender.send(Raw::Close(Some(frame))).await;
        Err(Gone)
    }
}
