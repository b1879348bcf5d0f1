//! Asks: opened, settled, claimed and found.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Ask, Decision, Id, Moment, Settlement, State};
use rusqlite::{Connection, OptionalExtension, Params, params, params_from_iter};

use super::Sqlite;
use super::chain::Group;
use super::conditions::Conditions;
use super::grants;
use super::reader::{all, first};
use crate::records::{AskFilter, AskRecord, MOST_PENDING_BYTES, Opened, Opening, SHORT_INPUT};
use crate::rows::{integer, number};
use crate::{Asks, StoreError, broken, rows};

// Values by place: looking up their names would cost more than the insert.
const INSERT: &str = "INSERT INTO asks (id, key, agent, owner, label, session, run, call_id, \
    digest, opened_at, deadline_at, unused_approval_s, state) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')";

const INSERT_TEXTS: &str = "INSERT INTO ask_texts (number, door, tool, input, cwd, home, shell, \
    host, description, bound, verdict, tier, is_firm, offers, fallback, profile) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// `state = 'pending'` settles the race: the second writer finds no row. What an update gives back
// by itself would go through a table of its own.
const UNSETTLED: &str = "SELECT number, key FROM asks WHERE id = ?1 AND state = 'pending'";

const SETTLE: &str = "UPDATE asks SET state = ?2, outcome = ?3, reply = ?4, scope = ?5, \
    decided_by = ?6, decided_door = ?7, decided_at = ?8, reason = ?9, feedback = ?10, \
    decided_input = ?11, grants = ?12 WHERE number = ?1";

const CLAIM: &str = "UPDATE asks SET claimed_at = ?2 WHERE id = ?1 AND outcome = 'allow' \
    AND claimed_at IS NULL AND ?2 <= decided_at + unused_approval_s * 1000";

const CLAIM_NUMBER: &str = "UPDATE asks SET claimed_at = ?2 WHERE number = ?1";

// An approval that is too old is none any more: the call is asked about anew.
const SAME_CALL: &str = "SELECT number FROM asks WHERE key = ?1 AND call_id = ?2 \
    AND session IS ?3 AND digest = ?4 AND (outcome IS NOT 'allow' \
    OR ?5 <= decided_at + unused_approval_s * 1000) ORDER BY number DESC LIMIT 1";

// Of the calls alike, those that are pending and the approvals that can still be used. An approval
// that left a grant is used by way of that, and gone when it is revoked.
const ALIKE: &str = "SELECT number, state = 'pending' FROM asks \
    WHERE key = ?1 AND digest = ?2 AND agent = ?3 \
    AND (state = 'pending' OR state = 'approved' AND claimed_at IS NULL AND grants IS NULL) \
    AND (state = 'pending' OR outcome = 'allow' \
    AND ?4 <= decided_at + unused_approval_s * 1000) AND (?5 = 0 OR run IS ?6)";

const PENDING_BYTES: &str = "SELECT coalesce(sum(octet_length(t.input)), 0) FROM asks a \
    JOIN ask_texts t USING (number) WHERE a.key = ?1 AND a.state = 'pending'";

#[async_trait]
impl Asks for Sqlite {
    async fn open_ask(
        &self,
        ask: &Ask,
        most_pending: usize,
        entries: Opening,
    ) -> Result<Opened, StoreError> {
        let ask = ask.clone();
        self.writer.run_plain(move |group| open(group, &ask, most_pending, &entries)).await
    }

    async fn settle_ask(
        &self,
        settlement: &Settlement,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let settlement = settlement.clone();
        self.writer.run_plain(move |group| settle(group, &settlement, &entries)).await
    }

    async fn claim(&self, ask: Id, at: Moment, entries: Vec<Entry>) -> Result<bool, StoreError> {
        self.writer.run_plain(move |group| claim(group, ask, at, &entries)).await
    }

    async fn ask(&self, id: Id) -> Result<Option<AskRecord>, StoreError> {
        self.readers.glance(move |db| one(db, id)).await
    }

    async fn pending_of(&self, ids: Vec<Id>) -> Result<Vec<Id>, StoreError> {
        self.readers.read(move |db| pending_of(db, ids)).await
    }

    async fn asks(&self, filter: &AskFilter) -> Result<Vec<AskRecord>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |db| list(db, &filter)).await
    }

    async fn pending_count(&self) -> Result<u64, StoreError> {
        self.readers.read(pending_count).await
    }

    async fn due_asks(&self, now: Moment, limit: usize) -> Result<Vec<AskRecord>, StoreError> {
        self.readers.read(move |db| due(db, now, limit)).await
    }

    async fn next_deadline(&self) -> Result<Option<Moment>, StoreError> {
        self.readers.read(next_deadline).await
    }
}

/// Opens an ask, unless its call has one already.
fn open(
    group: &mut Group<'_>,
    ask: &Ask,
    most_pending: usize,
    entries: &Opening,
) -> Result<Opened, StoreError> {
    let (db, call) = (group.db, &ask.call);
    let (key, agent) = (*ask.asker.key.as_bytes(), &ask.asker.agent);
    let (now, of_run) = (ask.opened_at.ms(), i64::from(ask.is_of_its_run()));
    if let Some(call_id) = &call.call_id {
        let of_call = params![key, call_id, call.session, ask.digest, now];
        if let Some(same) = number_of(group, SAME_CALL, of_call)? {
            group.append(&entries.judged)?;
            return Ok(Opened::Found(Box::new(numbered(db, same)?)));
        }
    }
    match alike(group, params![key, ask.digest, agent, now, of_run, call.run])? {
        Some(Alike::Pending(identical)) => {
            group.append(&entries.judged)?;
            return Ok(Opened::Found(Box::new(numbered(db, identical)?)));
        }
        Some(Alike::Unused(unused)) => {
            group.statement(CLAIM_NUMBER)?.execute(params![unused, now])?;
            let claimed = numbered(db, unused)?;
            group.append(&entries.judged)?;
            group.append(&entries.claimed_of(claimed.ask.id))?;
            return Ok(Opened::Claimed(Box::new(claimed)));
        }
        None => {}
    }
    let pending = usize::try_from(group.memory.pending(db, key)?).unwrap_or(usize::MAX);
    if pending >= most_pending {
        return Err(StoreError::TooManyAsks(most_pending));
    }
    let length = ask.call.input.len();
    if length > SHORT_INPUT {
        let mut of_key = db.prepare_cached(PENDING_BYTES)?;
        let waiting: i64 = of_key.query_row([key], |row| row.get(0))?;
        if waiting.saturating_add(i64::try_from(length).unwrap_or(i64::MAX)) > MOST_PENDING_BYTES {
            return Err(StoreError::TooManyAsks(pending));
        }
    }
    insert(group, ask)?;
    group.memory.one_more(key);
    group.append(&entries.judged)?;
    group.append(&entries.opened)?;
    Ok(Opened::New)
}

/// What was said about a call alike, by its number.
enum Alike {
    /// It is asked about.
    Pending(i64),
    /// It was approved and has not run.
    Unused(i64),
}

/// The call alike that is pending, or the oldest approval that can be used.
fn alike(group: &mut Group<'_>, values: impl Params) -> Result<Option<Alike>, StoreError> {
    let mut rows = group.statement(ALIKE)?.query(values)?;
    let mut unused: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        if row.get(1)? {
            return Ok(Some(Alike::Pending(number)));
        }
        unused = Some(unused.map_or(number, |known| known.min(number)));
    }
    Ok(unused.map(Alike::Unused))
}

fn insert(group: &mut Group<'_>, ask: &Ask) -> Result<(), StoreError> {
    let Ask { call, asker, .. } = ask;
    group.statement(INSERT)?.execute(params![
        ask.id.as_bytes(),
        asker.key.as_bytes(),
        asker.agent,
        asker.owner,
        asker.label,
        call.session,
        call.run,
        call.call_id,
        ask.digest,
        ask.opened_at.ms(),
        ask.deadline_at.map(Moment::ms),
        integer(ask.unused_approval_s),
    ])?;
    let number = group.db.last_insert_rowid();
    group.statement(INSERT_TEXTS)?.execute(params![
        number,
        ask.door,
        call.tool,
        call.input,
        call.cwd,
        call.home,
        call.shell,
        call.host,
        call.description,
        rows::bound(&ask.bound),
        ask.verdict,
        ask.tier.name(),
        ask.is_firm,
        rows::offers(&ask.offers),
        rows::fallback_name(ask.fallback),
        call.profile,
    ])?;
    Ok(())
}

/// Settles a pending ask with what it leaves behind.
fn settle(
    group: &mut Group<'_>,
    settlement: &Settlement,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let (db, decision) = (group.db, &settlement.decision);
    if decision.state == State::Pending {
        return Err(broken("a decision that leaves its ask pending"));
    }
    let unsettled: Option<(i64, [u8; 16])> = group
        .statement(UNSETTLED)?
        .query_row([decision.ask.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, key)) = unsettled else {
        return Err(standing_decision(db, decision.ask)?);
    };
    group.statement(SETTLE)?.execute(params![
        number,
        decision.state.name(),
        decision.outcome.name(),
        decision.reply.map(portcullis_approval::Reply::name),
        decision.scope.name(),
        decision.by,
        decision.door,
        decision.at.ms(),
        decision.reason,
        decision.feedback,
        decision.input,
        rows::ids(&decision.grants),
    ])?;
    group.memory.one_less(key);
    for grant in &settlement.grants {
        grants::insert(db, grant)?;
    }
    group.append(entries)
}

/// Why an ask cannot be settled: there is none, or somebody was first.
fn standing_decision(db: &Connection, id: Id) -> Result<StoreError, StoreError> {
    let decision: Option<Option<Decision>> = one(db, id)?.map(|record| record.decision);
    Ok(match decision {
        None => StoreError::NoSuchAsk(id),
        Some(Some(decision)) => StoreError::AlreadySettled(Box::new(decision)),
        Some(None) => broken("an ask that is pending and is not"),
    })
}

/// Takes the one execution an approval is good for.
fn claim(group: &mut Group<'_>, id: Id, at: Moment, entries: &[Entry]) -> Result<bool, StoreError> {
    let changed = group.statement(CLAIM)?.execute(params![id.as_bytes(), at.ms()])?;
    if changed > 0 {
        group.append(entries)?;
        return Ok(true);
    }
    match one(group.db, id)? {
        Some(_) => Ok(false),
        None => Err(StoreError::NoSuchAsk(id)),
    }
}

/// The asks of a query behind `SELECT … FROM …`.
fn select(tail: &str) -> String {
    format!("SELECT {} FROM asks a JOIN ask_texts t USING (number){tail}", rows::ASK)
}

/// An ask in whatever state.
fn one(db: &Connection, id: Id) -> Result<Option<AskRecord>, StoreError> {
    first(db, &select(" WHERE a.id = ?1"), [id.as_bytes()], rows::ask)
}

fn numbered(db: &Connection, number: i64) -> Result<AskRecord, StoreError> {
    let found = first(db, &select(" WHERE a.number = ?1"), [number], rows::ask)?;
    found.ok_or_else(|| broken("an ask that was found is not there"))
}

fn number_of(
    group: &mut Group<'_>,
    query: &'static str,
    values: impl Params,
) -> Result<Option<i64>, StoreError> {
    Ok(group.statement(query)?.query_row(values, |row| row.get(0)).optional()?)
}

/// The asks a filter names, in its order.
fn list(db: &Connection, filter: &AskFilter) -> Result<Vec<AskRecord>, StoreError> {
    let mut conditions = Conditions::default();
    if let Some(state) = filter.state {
        // Said in the text, so that the indexes of pending asks are seen to fit.
        conditions.plain(&format!("a.state = '{}'", state.name()));
    }
    conditions.owners("a.owner", &filter.owners);
    conditions.maybe("a.key =", filter.key.map(|key| key.as_bytes().to_vec()));
    conditions.maybe("a.agent =", filter.agent.clone());
    conditions.maybe("a.session =", filter.session.clone());
    conditions.maybe("a.run =", filter.run.clone());
    conditions.maybe("a.digest =", filter.digest.clone());
    conditions.maybe("a.id >", filter.after.map(|id| id.as_bytes().to_vec()));
    let (text, values) = conditions.query(&select(""), filter.order.columns(), filter.limit);
    all(db, &text, params_from_iter(values), rows::ask)
}

/// Pending asks that are due.
fn due(db: &Connection, now: Moment, limit: usize) -> Result<Vec<AskRecord>, StoreError> {
    let tail = " WHERE a.state = 'pending' AND a.deadline_at IS NOT NULL AND a.deadline_at <= ?1 \
        ORDER BY a.deadline_at LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    all(db, &select(tail), params![now.ms(), limit], rows::ask)
}

/// The nearest deadline of a pending ask.
fn next_deadline(db: &Connection) -> Result<Option<Moment>, StoreError> {
    let mut query = db.prepare_cached(
        "SELECT deadline_at FROM asks WHERE state = 'pending' AND deadline_at IS NOT NULL \
         ORDER BY deadline_at LIMIT 1",
    )?;
    Ok(query.query_row([], |row| row.get(0)).optional()?.map(Moment::from_ms))
}

/// Those of these asks that are pending.
fn pending_of(db: &Connection, mut ids: Vec<Id>) -> Result<Vec<Id>, StoreError> {
    let mut query = db.prepare_cached("SELECT 1 FROM asks WHERE id = ?1 AND state = 'pending'")?;
    let mut failed = None;
    ids.retain(|id| {
        query.exists([id.as_bytes()]).unwrap_or_else(|error| {
            failed = Some(error);
            false
        })
    });
    failed.map_or(Ok(ids), |error| Err(error.into()))
}

/// How many asks are pending in all.
fn pending_count(db: &Connection) -> Result<u64, StoreError> {
    let mut query = db.prepare_cached("SELECT count(*) FROM asks WHERE state = 'pending'")?;
    Ok(query.query_row([], |row| row.get(0)).map(number)?)
}
