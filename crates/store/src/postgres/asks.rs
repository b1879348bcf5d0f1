//! Asks: opened, settled, claimed and found.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Ask, Id, Moment, Reply, Settlement, State};
use tokio_postgres::Row;

use super::Postgres;
use super::grants;
use super::values::{Conditions, Statement, values};
use super::writer::Done;
use crate::records::{AskFilter, AskRecord, MOST_PENDING_BYTES, Opened, Opening, SHORT_INPUT};
use crate::rows::number;
use crate::{Asks, StoreError, broken, rows};

// What is found is found before anything is changed: each part sees the tables as they were.
const OPEN: &str = "WITH same AS (SELECT number FROM asks WHERE key = $2::bytea \
    AND call_id = $8::text AND session IS NOT DISTINCT FROM $6::text AND digest = $9::text \
    AND (outcome IS DISTINCT FROM 'allow' \
    OR $10::bigint <= decided_at + unused_approval_s * 1000) ORDER BY number DESC LIMIT 1), \
    found AS (SELECT number FROM same UNION ALL (SELECT number FROM asks WHERE key = $2::bytea \
    AND digest = $9::text AND agent = $3::text AND state = 'pending' \
    AND ($29::bigint = 0 OR run IS NOT DISTINCT FROM $7::text) LIMIT 1) LIMIT 1), \
    unused AS (SELECT number FROM asks WHERE key = $2::bytea AND digest = $9::text \
    AND agent = $3::text AND state = 'approved' AND claimed_at IS NULL AND grants IS NULL \
    AND outcome = 'allow' AND $10::bigint <= decided_at + unused_approval_s * 1000 \
    AND ($29::bigint = 0 OR run IS NOT DISTINCT FROM $7::text) \
    AND NOT EXISTS (SELECT 1 FROM found) ORDER BY number LIMIT 1), \
    claimed AS (UPDATE asks SET claimed_at = $10::bigint \
    WHERE number = (SELECT number FROM unused) RETURNING number, id), \
    opened AS (INSERT INTO asks (id, key, agent, owner, label, session, run, call_id, digest, \
    opened_at, deadline_at, unused_approval_s, state) SELECT $1::bytea, $2::bytea, $3::text, \
    $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::bigint, $11::bigint, \
    $12::bigint, 'pending' WHERE NOT EXISTS (SELECT 1 FROM found) \
    AND NOT EXISTS (SELECT 1 FROM unused) \
    AND coalesce((SELECT asks FROM pending WHERE key = $2::bytea), 0) < $13::bigint \
    AND ($30::bigint = 0 OR $30::bigint + coalesce((SELECT sum(octet_length(t.input)) FROM asks a \
    JOIN ask_texts t USING (number) WHERE a.key = $2::bytea AND a.state = 'pending'), 0) \
    <= $31::bigint) RETURNING number), \
    texts AS (INSERT INTO ask_texts (number, door, tool, input, cwd, home, shell, host, \
    description, bound, verdict, tier, is_firm, offers, fallback, profile) SELECT number, \
    $14::text, $15::text, $16::text, $17::text, $18::text, $19::text, $20::text, $21::text, \
    $22::text, $23::text, $24::text, $25::bigint, $26::text, $27::text, $28::text FROM opened), \
    more AS (INSERT INTO pending (key, asks) SELECT $2::bytea, 1 FROM opened \
    ON CONFLICT (key) DO UPDATE SET asks = pending.asks + 1) \
    SELECT 'found', number, NULL::bytea FROM found \
    UNION ALL SELECT 'claimed', number, id FROM claimed \
    UNION ALL SELECT 'opened', number, NULL::bytea FROM opened";

// `state = 'pending'` settles the race: the second writer changes no row.
const SETTLE: &str = "WITH settled AS (UPDATE asks SET state = $2, outcome = $3, reply = $4, \
    scope = $5, decided_by = $6, decided_door = $7, decided_at = $8, reason = $9, feedback = $10, \
    decided_input = $11, grants = $12 WHERE id = $1 AND state = 'pending' RETURNING key), \
    less AS (UPDATE pending SET asks = asks - 1 WHERE key = (SELECT key FROM settled))";

const CLAIM: &str = "UPDATE asks SET claimed_at = $2 WHERE id = $1 AND outcome = 'allow' \
    AND claimed_at IS NULL AND $2 <= decided_at + unused_approval_s * 1000 RETURNING 1";

/// How an ask was opened, before what was found is read.
enum Found {
    New,
    Joined(i64),
    Claimed(i64),
}

#[async_trait]
impl Asks for Postgres {
    async fn open_ask(
        &self,
        ask: &Ask,
        most_pending: usize,
        entries: Opening,
    ) -> Result<Opened, StoreError> {
        let read = move |found: &[Row]| opened(found, most_pending, &entries);
        match self.writer.run(Some(open(ask, most_pending)), Vec::new(), read).await? {
            Found::New => Ok(Opened::New),
            Found::Joined(number) => self.numbered(number).await.map(Opened::Found),
            Found::Claimed(number) => self.numbered(number).await.map(Opened::Claimed),
        }
    }

    async fn settle_ask(
        &self,
        settlement: &Settlement,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let decision = &settlement.decision;
        if decision.state == State::Pending {
            return Err(broken("a decision that leaves its ask pending"));
        }
        if self.writer.change(settle(settlement), entries).await? {
            return Ok(());
        }
        Err(match self.ask(decision.ask).await? {
            None => StoreError::NoSuchAsk(decision.ask),
            Some(AskRecord { decision: Some(standing), .. }) => {
                StoreError::AlreadySettled(Box::new(standing))
            }
            Some(AskRecord { decision: None, .. }) => broken("an ask that is pending and is not"),
        })
    }

    async fn claim(&self, ask: Id, at: Moment, entries: Vec<Entry>) -> Result<bool, StoreError> {
        let is_claimed =
            self.writer.change(Statement::new(CLAIM, values![ask, at]), entries).await?;
        if !is_claimed && self.ask(ask).await?.is_none() {
            return Err(StoreError::NoSuchAsk(ask));
        }
        Ok(is_claimed)
    }

    async fn ask(&self, id: Id) -> Result<Option<AskRecord>, StoreError> {
        let query = Statement::new(select(" WHERE a.id = $1"), values![id]);
        self.readers.first(query, rows::ask).await
    }

    async fn asks_of(&self, ids: &[Id]) -> Result<Vec<AskRecord>, StoreError> {
        let ids: Vec<Vec<u8>> = ids.iter().map(|id| id.as_bytes().to_vec()).collect();
        let query = Statement::new(select(" WHERE a.id = ANY ($1)"), values![ids]);
        self.readers.all(query, rows::ask).await
    }

    async fn pending_of(&self, ids: Vec<Id>) -> Result<Vec<Id>, StoreError> {
        let ids: Vec<Vec<u8>> = ids.iter().map(|id| id.as_bytes().to_vec()).collect();
        let query = "SELECT id FROM asks WHERE id = ANY ($1) AND state = 'pending'";
        self.readers.all(Statement::new(query, values![ids]), rows::id).await
    }

    async fn asks(&self, filter: &AskFilter) -> Result<Vec<AskRecord>, StoreError> {
        let mut conditions = Conditions::default();
        if let Some(state) = filter.state {
            // Said in the text, so that the indexes of pending asks are seen to fit.
            conditions.plain(&format!("a.state = '{}'", state.name()));
        }
        conditions.owners("a.owner", &filter.owners);
        conditions.maybe("a.key =", filter.key);
        conditions.maybe("a.agent =", filter.agent.as_ref());
        conditions.maybe("a.session =", filter.session.as_ref());
        conditions.maybe("a.run =", filter.run.as_ref());
        conditions.maybe("a.digest =", filter.digest.as_ref());
        conditions.maybe("a.id >", filter.after);
        let query = conditions.query(&select(""), filter.order.columns(), filter.limit);
        self.readers.all(query, rows::ask).await
    }

    async fn pending_count(&self) -> Result<u64, StoreError> {
        let query = "SELECT coalesce(sum(asks), 0)::bigint FROM pending";
        self.number(Statement::new(query, Vec::new())).await.map(|sum| number(sum.unwrap_or(0)))
    }

    async fn due_asks(&self, now: Moment, limit: usize) -> Result<Vec<AskRecord>, StoreError> {
        let tail = " WHERE a.state = 'pending' AND a.deadline_at IS NOT NULL \
            AND a.deadline_at <= $1 ORDER BY a.deadline_at LIMIT $2";
        self.readers.all(Statement::new(select(tail), values![now, limit]), rows::ask).await
    }

    async fn next_deadline(&self) -> Result<Option<Moment>, StoreError> {
        let query = "SELECT deadline_at FROM asks WHERE state = 'pending' \
            AND deadline_at IS NOT NULL ORDER BY deadline_at LIMIT 1";
        let found = self.number(Statement::new(query, Vec::new())).await?;
        Ok(found.map(Moment::from_ms))
    }
}

impl Postgres {
    async fn numbered(&self, number: i64) -> Result<Box<AskRecord>, StoreError> {
        let query = Statement::new(select(" WHERE a.number = $1"), values![number]);
        let found = self.readers.first(query, rows::ask).await?;
        found.map(Box::new).ok_or_else(|| broken("an ask that was found is not there"))
    }

    /// The number that a query finds.
    async fn number(&self, query: Statement) -> Result<Option<i64>, StoreError> {
        let found = self.readers.first(query, |row| row.integer(0)).await?;
        Ok(found.flatten())
    }
}

fn open(ask: &Ask, most_pending: usize) -> Statement {
    let Ask { call, asker, .. } = ask;
    let values = values![
        ask.id,
        asker.key,
        &asker.agent,
        &asker.owner,
        &asker.label,
        &call.session,
        &call.run,
        &call.call_id,
        &ask.digest,
        ask.opened_at,
        ask.deadline_at,
        ask.unused_approval_s,
        most_pending,
        &ask.door,
        &call.tool,
        &call.input,
        &call.cwd,
        &call.home,
        &call.shell,
        &call.host,
        &call.description,
        rows::bound(&ask.bound),
        &ask.verdict,
        ask.tier.name(),
        ask.is_firm,
        rows::offers(&ask.offers),
        rows::fallback_name(ask.fallback),
        &call.profile,
        ask.is_of_its_run(),
        if call.input.len() > SHORT_INPUT { call.input.len() } else { 0 },
        MOST_PENDING_BYTES,
    ];
    Statement::new(OPEN, values)
}

fn opened(found: &[Row], most_pending: usize, entries: &Opening) -> Done<Found> {
    let Some(row) = found.first() else {
        return Done::refused(StoreError::TooManyAsks(most_pending));
    };
    let with = |more: &[Entry]| entries.judged.iter().chain(more).cloned().collect();
    match (row.try_get(0), row.try_get(1), row.try_get::<_, Option<Vec<u8>>>(2)) {
        (Ok("opened"), Ok(_), _) => Done::writing(Found::New, with(&entries.opened)),
        (Ok("found"), Ok(number), _) => Done::writing(Found::Joined(number), with(&[])),
        (Ok("claimed"), Ok(number), Ok(Some(ask))) => match Id::from_bytes(&ask) {
            Some(ask) => Done::writing(Found::Claimed(number), with(&entries.claimed_of(ask))),
            None => Done::refused(broken("an ask whose id is none")),
        },
        _ => Done::refused(broken("an ask that was opened in no known way")),
    }
}

fn settle(settlement: &Settlement) -> Statement {
    let decision = &settlement.decision;
    let mut values = values![
        decision.ask,
        decision.state.name(),
        decision.outcome.name(),
        decision.reply.map(Reply::name),
        decision.scope.name(),
        &decision.by,
        &decision.door,
        decision.at,
        &decision.reason,
        &decision.feedback,
        &decision.input,
        rows::ids(&decision.grants),
    ];
    if settlement.grants.is_empty() {
        return Statement::new(format!("{SETTLE} SELECT 1 FROM settled"), values);
    }
    values.extend(values![grants::as_json(&settlement.grants)]);
    let insert = grants::insert("$13", "settled");
    Statement::new(format!("{SETTLE}, made AS ({insert}) SELECT 1 FROM settled"), values)
}

/// The asks of a query behind `SELECT … FROM …`.
fn select(tail: &str) -> String {
    format!("SELECT {} FROM asks a JOIN ask_texts t USING (number){tail}", rows::ASK)
}
