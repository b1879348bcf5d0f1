//! Verification: who a device is. Before it is known, the device sees and does nothing.

use std::sync::Arc;
use std::time::Duration;

use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::key::hash;
use portcullis_approval::{Id, Key, Role};
use portcullis_store::{DeviceRecord, PairingRecord};
use portcullis_wire::dialects::multica::{Kind, Params, Refusal};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::hub::{Link, Verified, locked};
use super::{NAME, calls};
use crate::App;
use crate::chance;
use crate::identity::{Caller, Via};

/// How long an approver has to accept a device.
const ACCEPT: Duration = Duration::from_secs(25);

/// What a device may say about itself.
const ABOUT: [&str; 3] = ["userAgent", "platform", "language"];

/// The longest word of it.
const MOST_ABOUT: usize = 300;

/// A device that waits to be accepted.
pub struct Waiting {
    /// The key of the approver who may.
    pub key: Id,
    /// What the device says about itself: JSON text.
    pub about: String,
    answer: oneshot::Sender<bool>,
}

/// What came of accepting or refusing a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It was told.
    Told,
    /// Nobody waits under this id, or not for this approver.
    NoSuch,
}

impl super::Hub {
    /// The devices that wait to be accepted: pairing, approver's key and what they say.
    #[must_use]
    pub fn waiting(&self) -> Vec<(Id, Id, String)> {
        let waiting = locked(&self.waiting);
        waiting.iter().map(|(id, waiting)| (*id, waiting.key, waiting.about.clone())).collect()
    }

    /// Accepts or refuses a device, as the approver of its pairing or as an admin.
    pub fn answer(&self, id: Id, caller: &Caller, accepts: bool) -> Answered {
        let mut waiting = locked(&self.waiting);
        let is_theirs =
            |waiting: &Waiting| waiting.key == caller.key.id || caller.key.role == Role::Admin;
        if !waiting.get(&id).is_some_and(is_theirs) {
            return Answered::NoSuch;
        }
        match waiting.remove(&id).map(|waiting| waiting.answer.send(accepts)) {
            Some(Ok(())) => Answered::Told,
            Some(Err(_)) | None => Answered::NoSuch,
        }
    }
}

/// `verify`: finds out who a device is and says which agent is meant.
pub(super) async fn verify(
    app: &App,
    link: &Arc<Link>,
    params: Option<Params<'_>>,
) -> Result<Value, Refusal> {
    let known = link.verified(app);
    let (verified, is_new) = match known {
        Some(verified) => (verified, false),
        None => (identify(app, link, params).await?, true),
    };
    let hub = app.hub.id.to_string();
    let agent = calls::agent_of(app, &verified).await;
    if is_new {
        locked(&link.state).verified = Some(verified);
    }
    Ok(json!({ "hubId": hub, "agentId": agent }))
}

async fn identify(
    app: &App,
    link: &Arc<Link>,
    params: Option<Params<'_>>,
) -> Result<Verified, Refusal> {
    let token = params.map(|params| params.maybe("token")).transpose()?.flatten();
    let token = token.filter(|token| !token.is_empty());
    let about = about(params.and_then(|params| params.get("meta")));
    let bad_token = || Refusal::unauthorized("Invalid or expired token");
    let unknown = || Refusal::unauthorized("Device not authorized");
    let now = app.authority.now();
    if link.kind == Kind::Agent {
        let key = app.identity.by_secret(token.ok_or_else(unknown)?, now);
        let key = key.filter(|key| key.role == Role::Agent).ok_or_else(bad_token)?;
        return Ok(Verified { caller: caller(key), agent: None, device: None });
    }
    if !is_uuid(&link.device) {
        return Err(unknown());
    }
    let Some(token) = token else {
        return paired(app, link).await?.ok_or_else(unknown);
    };
    let pairing = app.authority.store().take_pairing(hash(token)).await.map_err(unavailable)?;
    let pairing = pairing.filter(|pairing| now < pairing.expires_at).ok_or_else(bad_token)?;
    let key = app.identity.by_id(pairing.key, now).ok_or_else(bad_token)?;
    if pairing.must_confirm && !accepted(app, link, &pairing, &about).await {
        let entry = entry(app, "device.refused", &key, pairing.id, &about);
        let stored = app.authority.store().record(vec![entry], Vec::new(), now).await;
        stored.map_err(unavailable)?;
        return Err(Refusal::new("REJECTED", "Connection rejected by user"));
    }
    let now = app.authority.now();
    let record = DeviceRecord {
        id: chance::id(now),
        hash: hash(&link.device),
        key: key.id,
        agent: pairing.agent.clone(),
        about: about.clone(),
        paired_at: now,
        revoked_at: None,
    };
    let entry = entry(app, "device.paired", &key, record.id, &about);
    app.authority.store().pair_device(&record, vec![entry]).await.map_err(unavailable)?;
    Ok(Verified { caller: caller(key), agent: pairing.agent, device: Some(record.id) })
}

/// A device that was paired before, or is local where that is enough.
async fn paired(app: &App, link: &Link) -> Result<Option<Verified>, Refusal> {
    let settings = &app.config.dialects.multica;
    let shown = hash(&link.device);
    let devices = app.authority.store().devices().await.map_err(unavailable)?;
    let known = devices.into_iter().find(|known| known.hash == shown && known.revoked_at.is_none());
    if let Some(device) = known.filter(|_| settings.reverify == "once") {
        let now = app.authority.now();
        if let Some(key) = app.identity.by_id(device.key, now) {
            let entry = entry(app, "device.verified", &key, device.id, &device.about);
            let stored = app.authority.store().record(vec![entry], Vec::new(), now).await;
            stored.map_err(unavailable)?;
            let (agent, device) = (device.agent, Some(device.id));
            return Ok(Some(Verified { caller: caller(key), agent, device }));
        }
    }
    let waiver = settings.loopback_without_key.then(|| app.identity.waiver());
    Ok(waiver.map(|key| Verified { caller: caller(key), agent: None, device: None }))
}

/// Waits for the approver's word.
async fn accepted(app: &App, link: &Link, pairing: &PairingRecord, about: &str) -> bool {
    let (answer, told) = oneshot::channel();
    let waiting = Waiting { key: pairing.key, about: about.to_owned(), answer };
    locked(&app.hub.waiting).insert(pairing.id, waiting);
    let accepted = tokio::select! {
        told = tokio::time::timeout(ACCEPT, told) => matches!(told, Ok(Ok(true))),
        () = link.gone() => false,
        () = app.authority.stopped() => false,
    };
    locked(&app.hub.waiting).remove(&pairing.id);
    accepted
}

/// A key as a caller at this door.
pub(super) const fn caller(key: Arc<Key>) -> Caller {
    Caller { key, via: Via::Query, is_local: false, door: NAME }
}

/// What a device says about itself, as far as it is worth keeping.
fn about(meta: Option<&Value>) -> String {
    let mut said = serde_json::Map::new();
    for name in ABOUT {
        let text = meta.and_then(|meta| meta.get(name)).and_then(Value::as_str);
        if let Some(text) = text {
            let text: String =
                text.chars().filter(|letter| !letter.is_control()).take(MOST_ABOUT).collect();
            said.insert(name.to_owned(), text.into());
        }
    }
    Value::Object(said).to_string()
}

fn entry(app: &App, kind: &'static str, key: &Key, subject: Id, about: &str) -> Entry {
    Entry {
        kind,
        at: app.authority.now(),
        actor: key.name.clone(),
        subject: subject.to_string(),
        owner: None,
        data: object(vec![("about", quoted(about)), ("door", quoted(NAME))]).into(),
    }
}

/// Whether a text is a UUID, of whatever version.
fn is_uuid(text: &str) -> bool {
    let is_hyphen = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if is_hyphen(at) { byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// The store failed; the cause is logged here, once.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub(super) fn unavailable(error: portcullis_store::StoreError) -> Refusal {
    tracing::error!("a call could not be served: {error}");
    Refusal::internal("the store is not available; try again")
}

#[cfg(test)]
mod tests {
    use super::{about, is_uuid};

    #[test]
    fn a_device_id_is_a_uuid_and_what_it_says_is_short() {
        assert!(is_uuid("3F2504E0-4f89-41d3-9a0c-0305e82c3301"));
        for text in [
            "",
            "phone",
            "3f2504e04f8941d39a0c0305e82c3301",
            "3f2504e0-4f89-41d3-9a0c-0305e82c330g",
        ] {
            assert!(!is_uuid(text), "`{text}`");
        }
        let meta = serde_json::json!({ "platform": "x\n", "language": 1, "other": "y" });
        assert_eq!(about(Some(&meta)), r#"{"platform":"x"}"#);
    }
}
