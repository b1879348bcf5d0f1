//! Rows, mapped by hand: a field that is renamed inside never changes a database.

mod columns;

use portcullis_approval::ask::{Bound, Written};
use portcullis_approval::audit::Checkpoint;
use portcullis_approval::{
    Ask, Asker, CallText, Decision, Grant, Granted, Id, Key, Offer, Owners, Reach, Reply, Role,
    Scope, State,
};
use portcullis_engine::Outcome;
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use serde_json::{Value, json};

use crate::StoreError;
use crate::records::{
    AskRecord, AuditRecord, DeviceRecord, GrantRecord, KeyRecord, PairingRecord, RunRecord,
    SessionRecord,
};
pub(crate) use columns::Row;
use columns::{Columns, id_of};

/// The columns of an ask, in the order [`ask`] takes them.
pub(crate) const ASK: &str = "a.id, a.key, a.agent, a.owner, a.label, a.session, a.run, a.call_id, \
    a.digest, a.opened_at, a.deadline_at, a.unused_approval_s, a.state, a.outcome, a.reply, \
    a.scope, a.decided_by, a.decided_door, a.decided_at, a.reason, a.feedback, a.decided_input, \
    a.grants, a.claimed_at, t.door, t.tool, t.input, t.cwd, t.home, t.shell, t.host, \
    t.description, t.bound, t.verdict, t.tier, t.is_firm, t.offers, t.fallback, t.profile";

/// The columns of a grant, in the order [`grant`] takes them.
pub(crate) const GRANT: &str = "id, owner, key, agent, rule, tool, input, cwd, reply, reach, \
    reach_name, expires_at, uses_left, made_by, made_at, ask, revoked_at, used, used_at, profile";

/// The columns of a key, in the order [`key`] takes them.
pub(crate) const KEY: &str = "id, role, name, owners, made_at, expires_at, revoked_at, hash";

/// The columns of a device, in the order [`device`] takes them.
pub(crate) const DEVICE: &str = "id, hash, key, agent, about, paired_at, revoked_at";

/// The columns of a pairing, in the order [`pairing`] takes them.
pub(crate) const PAIRING: &str = "id, hash, key, agent, must_confirm, made_at, expires_at";

/// The columns of a session, in the order [`session`] takes them.
pub(crate) const SESSION: &str = "key, session, owner, root, policy, began_at";

/// The columns of a run, in the order [`run`] takes them.
pub(crate) const RUN: &str = "run, key, owner, session, about, started_at, ended_at";

/// The columns of an audit entry, in the order [`entry`] takes them.
pub(crate) const ENTRY: &str =
    "position, node, seq, at, kind, actor, subject, owner, data, prev, hash";

/// The columns of a checkpoint, in the order [`checkpoint`] takes them.
pub(crate) const CHECKPOINT: &str = "node, seq, hash, at, key, signature";

fn named<T>(read: fn(&str) -> Option<T>) -> impl Fn(String) -> Option<T> {
    move |name| read(&name)
}

/// A row that is an id alone.
pub(crate) fn id(row: &dyn Row) -> Result<Id, StoreError> {
    Columns::of(row).id()
}

/// An ask from [`ASK`].
pub(crate) fn ask(row: &dyn Row) -> Result<AskRecord, StoreError> {
    let mut columns = Columns::of(row);
    let columns = &mut columns;
    let id = columns.id()?;
    let asker = Asker {
        key: columns.id()?,
        agent: columns.take()?,
        owner: columns.take()?,
        label: columns.some()?,
    };
    let (session, run, call_id) = (columns.some()?, columns.some()?, columns.some()?);
    let digest = columns.take()?;
    let (opened_at, deadline_at) = (columns.moment()?, columns.maybe_moment()?);
    let unused_approval_s = columns.read(|seconds: i64| u64::try_from(seconds).ok())?;
    let (decision, claimed_at) = (decision(id, columns)?, columns.maybe_moment()?);
    let door = columns.take()?;
    let call = CallText {
        tool: columns.take()?,
        input: columns.take()?,
        cwd: columns.some()?,
        home: columns.some()?,
        shell: columns.some()?,
        host: columns.some()?,
        session,
        run,
        call_id,
        profile: None,
        description: columns.some()?,
    };
    let mut ask = Ask {
        id,
        call,
        asker,
        door,
        digest,
        bound: columns.read(|text: String| read_bound(&text))?,
        verdict: columns.take()?,
        tier: columns.read(named(tier_named))?,
        is_firm: columns.take()?,
        offers: columns.read(|text: String| read_offers(&text))?,
        opened_at,
        deadline_at,
        fallback: columns.read(named(fallback_named))?,
        unused_approval_s,
    };
    ask.call.profile = columns.some()?;
    Ok(AskRecord { ask, decision, claimed_at })
}

fn decision(ask: Id, columns: &mut Columns<'_>) -> Result<Option<Decision>, StoreError> {
    let state = columns.read(named(State::named))?;
    if state == State::Pending {
        columns.skip(DECISION_COLUMNS);
        return Ok(None);
    }
    Ok(Some(Decision {
        ask,
        state,
        outcome: columns.read(named(outcome_named))?,
        reply: columns.maybe(named(Reply::named))?,
        scope: columns.read(named(Scope::named))?,
        by: columns.take()?,
        door: columns.take()?,
        at: columns.moment()?,
        reason: columns.take()?,
        feedback: columns.some()?,
        input: columns.some()?,
        grants: columns.maybe(|ids: Vec<u8>| read_ids(&ids))?.unwrap_or_default(),
    }))
}

/// How many columns behind `state` belong to the decision.
const DECISION_COLUMNS: usize = 10;

/// A grant from [`GRANT`].
pub(crate) fn grant(row: &dyn Row) -> Result<GrantRecord, StoreError> {
    let mut columns = Columns::of(row);
    let columns = &mut columns;
    let (id, owner) = (columns.id()?, columns.take()?);
    let key = columns.maybe(id_of)?;
    let agent = columns.some()?;
    let rule: Option<String> = columns.some()?;
    let granted = if let Some(rule) = rule {
        columns.skip(4);
        Granted::Pattern(rule)
    } else {
        Granted::Exact {
            tool: columns.take()?,
            input: columns.take()?,
            cwd: columns.some()?,
            reply: columns.read(named(Reply::named))?,
        }
    };
    let (reach, name): (String, Option<String>) = (columns.take()?, columns.some()?);
    let reach = match (reach.as_str(), name) {
        ("run", Some(run)) => Reach::Run(run),
        ("session", Some(session)) => Reach::Session(session),
        ("always", None) => Reach::Always,
        _ => return Err(columns.unreadable()),
    };
    let grant = Grant {
        id,
        owner,
        key,
        agent,
        profile: None,
        granted,
        reach,
        expires_at: columns.maybe_moment()?,
        uses_left: columns.some()?,
        made_by: columns.take()?,
        made_at: columns.moment()?,
        ask: columns.maybe(id_of)?,
    };
    let record = GrantRecord {
        grant,
        revoked_at: columns.maybe_moment()?,
        used: columns.read(|used: i64| u64::try_from(used).ok())?,
        used_at: columns.maybe_moment()?,
    };
    let grant = Grant { profile: columns.some()?, ..record.grant };
    Ok(GrantRecord { grant, ..record })
}

/// A key from [`KEY`].
pub(crate) fn key(row: &dyn Row) -> Result<KeyRecord, StoreError> {
    let mut columns = Columns::of(row);
    let key = Key {
        id: columns.id()?,
        role: columns.read(named(Role::named))?,
        name: columns.take()?,
        owners: columns.maybe(|text: String| read_owners(&text))?.map_or(Owners::All, Owners::Some),
        made_at: columns.moment()?,
        expires_at: columns.maybe_moment()?,
        revoked_at: columns.maybe_moment()?,
    };
    Ok(KeyRecord { key, hash: columns.take()? })
}

/// A device from [`DEVICE`].
pub(crate) fn device(row: &dyn Row) -> Result<DeviceRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(DeviceRecord {
        id: columns.id()?,
        hash: columns.take()?,
        key: columns.id()?,
        agent: columns.some()?,
        about: columns.take()?,
        paired_at: columns.moment()?,
        revoked_at: columns.maybe_moment()?,
    })
}

/// A pairing from [`PAIRING`].
pub(crate) fn pairing(row: &dyn Row) -> Result<PairingRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(PairingRecord {
        id: columns.id()?,
        hash: columns.take()?,
        key: columns.id()?,
        agent: columns.some()?,
        must_confirm: columns.take()?,
        made_at: columns.moment()?,
        expires_at: columns.moment()?,
    })
}

/// A session from [`SESSION`].
pub(crate) fn session(row: &dyn Row) -> Result<SessionRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(SessionRecord {
        key: columns.id()?,
        session: columns.take()?,
        owner: columns.take()?,
        root: columns.some()?,
        policy: columns.some()?,
        began_at: columns.moment()?,
    })
}

/// A run from [`RUN`].
pub(crate) fn run(row: &dyn Row) -> Result<RunRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(RunRecord {
        run: columns.take()?,
        key: columns.id()?,
        owner: columns.take()?,
        session: columns.some()?,
        about: columns.take()?,
        started_at: columns.moment()?,
        ended_at: columns.maybe_moment()?,
    })
}

/// An audit entry from [`ENTRY`].
pub(crate) fn entry(row: &dyn Row) -> Result<AuditRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(AuditRecord {
        position: columns.read(|position: i64| u64::try_from(position).ok())?,
        node: columns.take()?,
        seq: columns.read(|seq: i64| u64::try_from(seq).ok())?,
        at: columns.moment()?,
        kind: columns.take()?,
        actor: columns.take()?,
        subject: columns.take()?,
        owner: columns.some()?,
        data: columns.take()?,
        prev: columns.take()?,
        hash: columns.take()?,
    })
}

/// A checkpoint from [`CHECKPOINT`].
pub(crate) fn checkpoint(row: &dyn Row) -> Result<Checkpoint, StoreError> {
    let mut columns = Columns::of(row);
    Ok(Checkpoint {
        node: columns.take()?,
        seq: columns.read(|seq: i64| u64::try_from(seq).ok())?,
        hash: columns.take()?,
        at: columns.moment()?,
        key: columns.take()?,
        signature: columns.take()?,
    })
}

/// Ids, one behind the other; none where there are none.
pub(crate) fn ids(ids: &[Id]) -> Option<Vec<u8>> {
    (!ids.is_empty()).then(|| ids.iter().flat_map(|id| *id.as_bytes()).collect())
}

fn read_ids(bytes: &[u8]) -> Option<Vec<Id>> {
    bytes.chunks(16).map(Id::from_bytes).collect()
}

/// What an ask is bound to, as JSON.
pub(crate) fn bound(bound: &Bound) -> String {
    let mut members = serde_json::Map::new();
    members.insert("policy".to_owned(), json!(bound.policy));
    if let Some((device, inode)) = bound.cwd {
        members.insert("cwd".to_owned(), json!([device, inode]));
    }
    if !bound.scripts.is_empty() {
        members.insert("scripts".to_owned(), json!(bound.scripts));
    }
    if let Some(Written { bytes, preview }) = &bound.access {
        let mut access = serde_json::Map::new();
        access.extend(bytes.map(|bytes| ("bytes".to_owned(), json!(bytes))));
        access.extend(preview.as_ref().map(|preview| ("preview".to_owned(), json!(preview))));
        members.insert("access".to_owned(), Value::from(access));
    }
    Value::from(members).to_string()
}

fn read_bound(text: &str) -> Option<Bound> {
    let value: Value = serde_json::from_str(text).ok()?;
    let cwd = match value.get("cwd") {
        Some(pair) => Some((pair.get(0)?.as_u64()?, pair.get(1)?.as_u64()?)),
        None => None,
    };
    let script = |script: &Value| Some((text_of(script.get(0)?)?, text_of(script.get(1)?)?));
    let scripts = match value.get("scripts") {
        Some(scripts) => scripts.as_array()?.iter().map(script).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    let access = value.get("access").map(|access| Written {
        bytes: access.get("bytes").and_then(Value::as_u64),
        preview: access.get("preview").and_then(text_of),
    });
    Some(Bound { cwd, scripts, policy: text_of(value.get("policy")?)?, access })
}

/// Offers as JSON: each a rule and behind it what else it would cover.
pub(crate) fn offers(offers: &[Offer]) -> String {
    let offers: Vec<Value> =
        offers.iter().map(|offer| json!([offer.rule, offer.also_covers])).collect();
    Value::from(offers).to_string()
}

fn read_offers(text: &str) -> Option<Vec<Offer>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let offer = |offer: &Value| {
        let also_covers = offer.get(1)?.as_array()?.iter().map(text_of).collect::<Option<_>>()?;
        Some(Offer { rule: text_of(offer.get(0)?)?, also_covers })
    };
    value.as_array()?.iter().map(offer).collect()
}

/// Owners as JSON; none for everybody.
pub(crate) fn owners(owners: &Owners) -> Option<String> {
    match owners {
        Owners::All => None,
        Owners::Some(owners) => Some(json!(owners).to_string()),
    }
}

fn read_owners(text: &str) -> Option<Vec<String>> {
    serde_json::from_str::<Value>(text).ok()?.as_array()?.iter().map(text_of).collect()
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The name of a reach, and whose it is.
pub(crate) fn reach(reach: &Reach) -> (&'static str, Option<&str>) {
    match reach {
        Reach::Run(run) => ("run", Some(run)),
        Reach::Session(session) => ("session", Some(session)),
        Reach::Always => ("always", None),
    }
}

/// The name of a fallback.
pub(crate) const fn fallback_name(fallback: Fallback) -> &'static str {
    match fallback {
        Fallback::Deny => "deny",
        Fallback::Allow => "allow",
        Fallback::AllowCovered => "allow-covered",
    }
}

fn fallback_named(name: &str) -> Option<Fallback> {
    [Fallback::Deny, Fallback::Allow, Fallback::AllowCovered]
        .into_iter()
        .find(|fallback| fallback_name(*fallback) == name)
}

fn tier_named(name: &str) -> Option<Tier> {
    [Tier::Safe, Tier::Review, Tier::Dangerous, Tier::Destructive]
        .into_iter()
        .find(|tier| tier.name() == name)
}

fn outcome_named(name: &str) -> Option<Outcome> {
    [Outcome::Allow, Outcome::Ask, Outcome::Deny].into_iter().find(|outcome| outcome.name() == name)
}

/// A number as a database holds it.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as a database held it.
pub(crate) fn number(integer: i64) -> u64 {
    u64::try_from(integer).unwrap_or(0)
}
