//! `GET /ws/permissions`: asks, decisions and blocked calls as they happen, and answers to asks.
//!
//! What is pushed is made from the feed, so that it is said after the commit, once to every
//! connection of a view, whichever door it came through.

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use portcullis_approval::{Ask, Decision};
use portcullis_store::{AskFilter, AuditRecord};
use portcullis_wire::dialects::agentbot::answers::{Acknowledged, Blocked, Failed, Frame};
use portcullis_wire::dialects::agentbot::{Said, said};
use serde_json::{Value, json};

use super::permissions::{answer, item};
use super::views::View;
use super::{approver, decided, ended_because, refused, words};
use crate::App;
use crate::authority::stopped;
use crate::doors::hook_text;
use crate::error::ApiError;
use crate::extract::Query;
use crate::feed::{self, Event, Subscription};
use crate::identity::Caller;
use crate::routes::feed::lean;

/// The largest frame a client may send.
const MOST_FRAME: usize = 256 << 10;

/// How often a connection is told that we live.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// So many pending asks are read at once.
const MOST_AT_ONCE: usize = 1000;

/// Opens a connection.
pub async fn socket(
    State(app): State<App>,
    caller: Caller,
    query: Result<Query, ApiError>,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let user = query.ok().and_then(|query| query.get("userId").map(str::to_owned));
    let user = user.filter(|user| !user.is_empty());
    // Twice the size, so that a frame that is too large can be seen and refused by its code.
    let upgrade = lean(upgrade, 2 * MOST_FRAME);
    let Some(user) = user else {
        return upgrade.on_upgrade(|socket| close(socket, 4001, "Missing userId"));
    };
    let view = match View::named(&app, caller.owners(), &user).await {
        Ok(Some(view)) => view,
        Ok(None) => return upgrade.on_upgrade(|socket| close(socket, 4003, "Forbidden")),
        Err(_) => return refused(StatusCode::SERVICE_UNAVAILABLE, "Unavailable"),
    };
    let seen = feed::View::of(&caller, true);
    let Ok(subscription) = app.feed.subscribe(&app.authority, seen, None).await else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "Unavailable");
    };
    upgrade.on_upgrade(move |socket| {
        let (sender, receiver) = socket.split();
        Talk { app, caller, user, view, sender }.run(receiver, subscription)
    })
}

/// Tells why and goes.
async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    let _ = socket.send(Message::Close(Some(frame))).await;
    // The client says goodbye too, or is gone.
    let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
    let _ = tokio::time::timeout(Duration::from_secs(5), farewell).await;
}

/// One connection.
struct Talk {
    app: App,
    caller: Caller,
    user: String,
    view: View,
    sender: SplitSink<WebSocket, Message>,
}

/// The connection is gone.
struct Gone;

impl Talk {
    async fn run(mut self, mut receiver: SplitStream<WebSocket>, mut subscription: Subscription) {
        let mut stopping = self.app.authority.stopping();
        let (app, caller) = (self.app.clone(), self.caller.clone());
        let ended = app.ended(&caller);
        tokio::pin!(ended);
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.reset();
        let connected = json!({ "userId": self.user, "timestamp": self.now() });
        let mut said = self.say("connected", connected).await;
        while said.is_ok() {
            said = tokio::select! {
                // Nothing is said or heard with a key that counts no longer.
                biased;
                () = &mut ended => self.leave(4003, "Forbidden").await,
                () = stopped(&mut stopping) => self.leave(1001, "going down").await,
                event = subscription.next() => match event {
                    Some(event) => self.tell(&event).await,
                    None => self.leave(1001, "going down").await,
                },
                message = receiver.next() => match message {
                    None | Some(Ok(Message::Close(_))) => Err(Gone),
                    Some(Ok(message)) => self.hear(message).await,
                    Some(Err(error)) if error.to_string().contains("too long") => {
                        self.leave(1009, "frame too large").await
                    }
                    Some(Err(_)) => Err(Gone),
                },
                _ = heartbeat.tick() => {
                    let timestamp = self.now();
                    self.say("heartbeat", json!({ "timestamp": timestamp })).await
                }
            };
        }
    }

    /// Says something that happened, if it is in the view.
    async fn tell(&mut self, event: &Event) -> Result<(), Gone> {
        match (event.kind.as_str(), &event.ask, &event.entry) {
            ("ask.opened", Some(record), _) if self.sees(&record.ask) => {
                self.say("permission_request", item(&record.ask)).await
            }
            ("ask.settled", Some(record), _) if self.sees(&record.ask) => match &record.decision {
                Some(decision) => self.acknowledge(&record.ask, decision).await,
                None => Ok(()),
            },
            ("call.judged", _, Some(entry)) => match self.blocked(entry) {
                Some(blocked) => self.say("permission_blocked", blocked).await,
                None => Ok(()),
            },
            ("resync", ..) => self.tell_all().await,
            _ => Ok(()),
        }
    }

    /// Says again what is pending: something was missed.
    async fn tell_all(&mut self) -> Result<(), Gone> {
        let mut filter = AskFilter::pending(self.caller.owners(), MOST_AT_ONCE);
        loop {
            let Ok(pending) = self.app.authority.store().asks(&filter).await else {
                return self.leave(1011, "something was missed").await;
            };
            for record in &pending {
                if self.sees(&record.ask) {
                    self.say("permission_request", item(&record.ask)).await?;
                }
            }
            filter.after = pending.last().map(|record| record.ask.id);
            if pending.len() < MOST_AT_ONCE {
                return Ok(());
            }
        }
    }

    fn sees(&self, ask: &Ask) -> bool {
        self.view.shows(ask) && approver(&self.caller).may_answer(ask)
    }

    async fn acknowledge(&mut self, ask: &Ask, decision: &Decision) -> Result<(), Gone> {
        let data = Acknowledged {
            request_id: hook_text(ask.id),
            decision: decided(decision),
            timestamp: decision.at.ms(),
            by: decision.by.clone(),
            door: decision.door.clone(),
            reason: ended_because(decision),
        };
        self.say("decision_ack", data).await
    }

    /// What is said about a verdict, if it blocked a destructive call of the view.
    fn blocked(&self, entry: &AuditRecord) -> Option<Blocked> {
        let data: Value = serde_json::from_str(&entry.data).ok()?;
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        let code = data.get("reasons")?.get(0)?.as_str()?;
        let is_blocked = text("outcome") == Some("deny")
            && text("tier") == Some("destructive")
            && words::is_blocking(code);
        let agent = text("agent")?;
        if !is_blocked || !self.view.includes(entry.owner.as_deref()?, agent, text("label")) {
            return None;
        }
        let known = self.app.authority.denied(&entry.subject, |asker| {
            Some(&asker.owner) == entry.owner.as_ref() && asker.agent == agent
        });
        let command = match known.first() {
            Some(known) => words::command(&known.call),
            None => words::rendered(text("tool")?, data.get("input").unwrap_or(&Value::Null)),
        };
        Some(Blocked {
            command,
            tier: "destructive",
            reason: words::destructive(text("why").unwrap_or_default()),
            agent_id: agent.to_owned(),
            call_digest: entry.subject.clone(),
            timestamp: entry.at.ms(),
        })
    }

    /// Does what a client says.
    async fn hear(&mut self, message: Message) -> Result<(), Gone> {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Binary(bytes) if bytes.len() <= MOST_FRAME => {
                return self.fail("Invalid JSON".to_owned(), None).await;
            }
            Message::Binary(_) => return self.leave(1009, "frame too large").await,
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        if text.len() > MOST_FRAME {
            return self.leave(1009, "frame too large").await;
        }
        let decide = match said(text) {
            Err(sentence) => return self.fail(sentence, None).await,
            Ok(Said::Nothing) => return Ok(()),
            Ok(Said::Ping) => {
                let timestamp = self.now();
                return self.say("pong", json!({ "timestamp": timestamp })).await;
            }
            Ok(Said::Decision(Err((sentence, request)))) => {
                return self.fail(sentence, request).await;
            }
            Ok(Said::Decision(Ok(decide))) => decide,
        };
        match answer(&self.app, &self.caller, &decide).await {
            // The feed tells everybody in whose view the ask is; the one who decided is told anyhow.
            Ok((ask, _)) if self.sees(&ask) => Ok(()),
            Ok((ask, decision)) => self.acknowledge(&ask, &decision).await,
            Err((_, body)) => self.fail(body.error, Some(decide.request)).await,
        }
    }

    async fn fail(&mut self, message: String, request_id: Option<String>) -> Result<(), Gone> {
        self.say("error", Failed { message, request_id }).await
    }

    async fn say(&mut self, kind: &'static str, data: impl serde::Serialize) -> Result<(), Gone> {
        let text = Frame::text(kind, data);
        self.sender.send(Message::Text(text.into())).await.map_err(|_| Gone)
    }

    /// Says why, and goes.
    async fn leave(&mut self, code: u16, reason: &'static str) -> Result<(), Gone> {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = self.sender.send(Message::Close(Some(frame))).await;
        Err(Gone)
    }

    fn now(&self) -> i64 {
        self.app.authority.now().ms()
    }
}
