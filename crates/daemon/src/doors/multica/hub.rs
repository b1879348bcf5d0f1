//! The hub: who is connected, and which agents there are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use portcullis_approval::receipt::Signer;
use portcullis_approval::{Approver, Asker, Id, Moment, Role};
use portcullis_wire::dialects::multica::{Envelope, Fault, Kind, Resolved};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, mpsc};

use super::verify::Waiting;
use super::{Files, NAME, socket_io};
use crate::App;
use crate::chance;
use crate::identity::Caller;

/// So many messages may wait for a connection.
const MOST_WAITING: usize = 256;

/// So many agents are remembered.
const MOST_AGENTS: usize = 10_000;

/// The moment in the hub's id, which says nothing: 2025-01-01.
const BEGAN: Moment = Moment::from_ms(1_735_689_600_000);

/// Who is connected, and which agents there are.
pub struct Hub {
    /// The id of this installation.
    pub id: Id,
    /// The settings of profiles.
    pub profiles: Arc<Files>,
    links: Mutex<HashMap<String, Arc<Link>>>,
    agents: Mutex<Vec<Agent>>,
    /// Devices that wait to be accepted, by their pairing.
    pub(super) waiting: Mutex<HashMap<Id, Waiting>>,
    pub(super) sockets: OnceLock<socket_io::Sockets>,
    pub(super) beginnings: Mutex<socket_io::Beginnings>,
}

/// An agent that asked here.
#[derive(Clone, Debug)]
pub struct Agent {
    /// What it calls itself.
    pub id: String,
    /// Its key.
    pub key: Id,
    /// The person it works for.
    pub owner: String,
    /// Whether it was closed.
    pub is_closed: bool,
}

/// What a connection is told.
#[derive(Debug)]
pub(super) enum Out {
    /// A message.
    Message(Envelope),
    /// A message was not taken.
    Fault(Fault),
    /// It must go.
    Leave,
}

/// One connected device.
pub struct Link {
    /// Its id, which is as good as a secret.
    pub(super) device: String,
    /// What it is.
    pub(super) kind: Kind,
    hub: String,
    out: mpsc::Sender<Out>,
    end: Notify,
    pub(super) state: Mutex<State>,
}

/// What is known of a connection.
#[derive(Default)]
pub(super) struct State {
    /// Who it is, once that is known.
    pub(super) verified: Option<Verified>,
    /// Asks that it is answering just now.
    pub(super) trying: HashSet<Id>,
    /// What it will be told about them if its answer does not count.
    pub(super) deferred: HashMap<Id, Resolved>,
    /// Asks that it settled, and need not be told about.
    pub(super) mine: HashSet<Id>,
}

/// Who a device is.
#[derive(Clone, Debug)]
pub(super) struct Verified {
    /// It acts with this key.
    pub(super) caller: Caller,
    /// The agent it was paired for.
    pub(super) agent: Option<String>,
    /// The pairing it rests on.
    pub(super) device: Option<Id>,
}

impl Verified {
    /// It as an approver at this door.
    pub(super) fn approver(&self) -> Approver {
        Approver { door: NAME.to_owned(), ..self.caller.approver() }
    }

    /// Whether it may answer.
    pub(super) fn is_approver(&self) -> bool {
        self.caller.key.role != Role::Agent
    }
}

impl Hub {
    /// The hub of an installation: its id is that of the key it signs with.
    #[must_use]
    pub fn new(signer: &Signer, profiles: Arc<Files>) -> Hub {
        let hash: [u8; 32] = Sha256::digest(signer.public()).into();
        let mut chance = [0; 10];
        chance.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Hub {
            id: Id::new(BEGAN, &chance),
            profiles,
            links: Mutex::default(),
            agents: Mutex::default(),
            waiting: Mutex::default(),
            sockets: OnceLock::new(),
            beginnings: Mutex::default(),
        }
    }

    /// Connects a device; none where it is connected already.
    pub(super) fn connect(
        &self,
        device: &str,
        kind: Kind,
    ) -> Option<(Arc<Link>, mpsc::Receiver<Out>)> {
        let (out, receiver) = mpsc::channel(MOST_WAITING);
        let mut links = locked(&self.links);
        if links.contains_key(device) {
            return None;
        }
        let link = Arc::new(Link {
            device: device.to_owned(),
            kind,
            hub: self.id.to_string(),
            out,
            end: Notify::new(),
            state: Mutex::default(),
        });
        links.insert(device.to_owned(), Arc::clone(&link));
        Some((link, receiver))
    }

    /// Forgets a connection.
    pub(super) fn disconnect(&self, link: &Arc<Link>) {
        let mut links = locked(&self.links);
        if links.get(&link.device).is_some_and(|known| Arc::ptr_eq(known, link)) {
            links.remove(&link.device);
        }
    }

    /// Whether somebody is connected here who may be shown what this one asks.
    pub(super) fn has_client(&self, app: &App, asker: &Asker) -> bool {
        let links: Vec<Arc<Link>> = locked(&self.links).values().cloned().collect();
        links.iter().any(|link| {
            let verified = link.verified(app).filter(|_| link.kind == Kind::Client);
            let may_answer =
                verified.is_some_and(|verified| verified.approver().may_answer_for(asker));
            may_answer && !link.out.is_closed()
        })
    }

    /// Lets go of every connection that rests on a pairing.
    pub fn drop_device(&self, device: Id) {
        let links: Vec<Arc<Link>> = locked(&self.links).values().cloned().collect();
        for link in links {
            let is_meant = |verified: &Verified| verified.device == Some(device);
            let was_meant = {
                let mut state = locked(&link.state);
                let is_meant = state.verified.as_ref().is_some_and(is_meant);
                if is_meant {
                    state.verified = None;
                }
                is_meant
            };
            if was_meant {
                let _ = link.out.try_send(Out::Leave);
            }
        }
    }

    /// Remembers that an agent asked.
    pub(super) fn note_agent(&self, agent: Agent) {
        let mut agents = locked(&self.agents);
        agents.retain(|known| known.id != agent.id || known.key != agent.key);
        if agents.len() >= MOST_AGENTS {
            agents.remove(0);
        }
        agents.push(agent);
    }

    /// The agents that somebody may see, the latest last.
    pub(super) fn agents(&self, may_see: impl Fn(&Agent) -> bool) -> Vec<Agent> {
        locked(&self.agents).iter().filter(|agent| may_see(agent)).cloned().collect()
    }

    /// Closes an agent.
    pub(super) fn close_agent(&self, id: &str, key: Id) {
        let mut agents = locked(&self.agents);
        for agent in agents.iter_mut().filter(|agent| agent.id == id && agent.key == key) {
            agent.is_closed = true;
        }
    }
}

impl Link {
    /// Who the device is, as long as that counts.
    pub(super) fn verified(&self, app: &App) -> Option<Verified> {
        let verified = locked(&self.state).verified.clone()?;
        let now = app.authority.now();
        app.identity.by_id(verified.caller.key.id, now)?;
        Some(verified)
    }

    /// Tells the device something; false where it is gone.
    pub(super) async fn say(&self, action: &str, payload: &impl Serialize, now: Moment) -> bool {
        let payload = serde_json::to_value(payload).unwrap_or(Value::Null);
        let message = Envelope {
            id: chance::id(now).to_string(),
            uid: None,
            from: self.hub.clone(),
            to: self.device.clone(),
            action: action.to_owned(),
            payload,
        };
        self.out.send(Out::Message(message)).await.is_ok()
    }

    /// Says that a message was not taken.
    pub(super) async fn fault(&self, fault: Fault) {
        let _ = self.out.send(Out::Fault(fault)).await;
    }

    /// Tells whoever speaks to the device that it is gone.
    pub(super) fn forget(&self) {
        self.end.notify_one();
    }

    /// Comes when the device is known to be gone.
    pub(super) async fn forgotten(&self) {
        self.end.notified().await;
    }

    /// Comes when the connection is gone.
    pub(super) async fn gone(&self) {
        self.out.closed().await;
    }

    /// A fault as a message of the plain transport.
    pub(super) fn fault_message(&self, fault: &Fault, now: Moment) -> Envelope {
        Envelope {
            id: chance::id(now).to_string(),
            uid: None,
            from: self.hub.clone(),
            to: self.device.clone(),
            action: "error".to_owned(),
            payload: fault.payload(),
        }
    }
}

/// What a lock guards, whoever held it.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
