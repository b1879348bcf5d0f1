//! What nodes tell each other through the database besides asks and the audit: the user's policy,
//! the key they sign with, and how often agents called.

use portcullis_approval::Id;

use super::Postgres;
use super::bell::OTHERS;
use super::pool::{PATIENCE, within};
use super::values::{Statement, values};
use super::writer::Done;
use crate::records::{Called, Signing};
use crate::rows::{Row, number};
use crate::{StoreError, broken};

const POLICY: &str = "SELECT text FROM shared_policy";

const SET_POLICY: &str = "INSERT INTO shared_policy (one, text) VALUES (TRUE, $1) \
    ON CONFLICT (one) DO UPDATE SET text = excluded.text";

/// So long, in milliseconds, what a node told is heard, and so long it is kept.
const HEARD_MS: u64 = 5_000;
const KEPT_MS: u64 = 60_000;

// Each node writes rows of its own; what is read is what stood there before.
const SHARE_CALLS: &str = "WITH clock AS (SELECT \
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now), \
    told AS (INSERT INTO called (node, key, agent, calls, at) SELECT $1::bytea, k, a, c, clock.now \
    FROM clock, unnest($2::bytea[], $3::text[], $4::bigint[]) AS t (k, a, c) \
    ON CONFLICT (node, key, agent) DO UPDATE SET calls = excluded.calls, at = excluded.at), \
    gone AS (DELETE FROM called USING clock WHERE at < clock.now - $6::bigint) \
    SELECT node, key, agent, calls FROM called, clock \
    WHERE node <> $1::bytea AND at >= clock.now - $5::bigint";

const TURN: &str =
    "SELECT pg_advisory_xact_lock(hashtext('portcullis signer ' || current_schema()))";

const SIGNER: &str = "SELECT public FROM shared_signer";

const SET_SIGNER: &str = "INSERT INTO shared_signer (one, public) VALUES (TRUE, $1) \
    ON CONFLICT (one) DO UPDATE SET public = excluded.public";

impl Postgres {
    pub(super) async fn shared_policy(&self) -> Result<Option<String>, StoreError> {
        let query = Statement::new(POLICY, Vec::new());
        Ok(self.readers.first(query, |row| row.text(0)).await?.flatten())
    }

    pub(super) async fn share_policy(&self, text: &str) -> Result<(), StoreError> {
        let statement = Statement::new(SET_POLICY, values![text]);
        self.writer.run(Some(statement), Vec::new(), |_| Done::nothing(())).await
    }

    pub(super) async fn tell_calls(
        &self,
        node: Id,
        own: &[Called],
    ) -> Result<Vec<Called>, StoreError> {
        let keys: Vec<Vec<u8>> = own.iter().map(|one| one.key.as_bytes().to_vec()).collect();
        let agents: Vec<String> = own.iter().map(|one| one.agent.clone()).collect();
        let calls: Vec<i64> =
            own.iter().map(|one| i64::try_from(one.calls).unwrap_or(i64::MAX)).collect();
        let values = values![node, keys, agents, calls, HEARD_MS, KEPT_MS];
        self.readers.all(Statement::new(SHARE_CALLS, values), called).await
    }

    /// Agrees with the other nodes on a key. Nobody else must be there when it is replaced: one
    /// connection of this node holds the lock that every node shares, once its bell listens.
    pub(super) async fn agree(&self, own: [u8; 32]) -> Result<Signing, StoreError> {
        within(PATIENCE, async {
            let mut client = self.readers.get().await?;
            let tx = client.transaction().await?;
            tx.batch_execute(TURN).await?;
            let found: Option<Vec<u8>> = match tx.query_opt(SIGNER, &[]).await? {
                Some(row) => Some(row.try_get(0)?),
                None => None,
            };
            let found: Option<[u8; 32]> = match found {
                Some(key) => Some(key.try_into().map_err(|_| broken("a key that is none"))?),
                None => None,
            };
            let standing = match found {
                Some(key) if key == own => return Ok(Signing::Agreed),
                found => found,
            };
            let nodes: i64 = tx.query_one(OTHERS, &[]).await?.try_get(0)?;
            if let Some(key) = standing
                && (!self.is_alone || nodes > 1)
            {
                return Ok(Signing::Other(key));
            }
            tx.execute(SET_SIGNER, &[&own.as_slice()]).await?;
            tx.commit().await?;
            Ok(standing.map_or(Signing::Agreed, Signing::Replaced))
        })
        .await
    }
}

fn called(row: &dyn Row) -> Result<Called, StoreError> {
    let id = |place: usize| -> Result<Id, StoreError> {
        let bytes = row.bytes(place)?.unwrap_or_default();
        Id::from_bytes(&bytes).ok_or_else(|| broken("an id that is none"))
    };
    Ok(Called {
        node: id(0)?,
        key: id(1)?,
        agent: row.text(2)?.unwrap_or_default(),
        calls: number(row.integer(3)?.unwrap_or(0)),
    })
}
