//! The same statements with a connection and a transaction for each request, to compare with.

use tokio_postgres::{Client, NoTls};

use crate::fill::{ask, entry, id, settled};

const LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtext('portcullis writer ' || current_schema()))";

const STANDS: &str = "SELECT seq, position FROM chains WHERE node = 'local'";

const FIND: &str = "SELECT number FROM asks WHERE key = $1 AND digest = $2 AND agent = $3 \
    AND state IN ('pending', 'approved') AND claimed_at IS NULL LIMIT 1";

const OPEN: &str = "INSERT INTO asks (id, key, agent, owner, session, call_id, digest, opened_at, \
    deadline_at, unused_approval_s, state) VALUES ($1, $2, $3, 'ada', $4, $5, $6, $7, $7, 600, \
    'pending') RETURNING number";

const TEXTS: &str = "INSERT INTO ask_texts (number, door, tool, input, bound, verdict, tier, \
    is_firm, offers, fallback) VALUES ($1, 'hook', 'Bash', $2, '{}', $3, 'dangerous', 0, '[]', \
    'deny')";

const MORE: &str = "INSERT INTO pending (key, asks) VALUES ($1, 1) ON CONFLICT (key) \
    DO UPDATE SET asks = pending.asks + 1";

const SETTLE: &str = "UPDATE asks SET state = 'approved', outcome = 'allow', reply = 'approve', \
    scope = 'once', decided_by = 'grace', decided_door = 'dashboard', decided_at = $2, \
    reason = 'approver' WHERE id = $1 AND state = 'pending'";

const LESS: &str = "UPDATE pending SET asks = asks - 1 WHERE key = $1";

const APPEND: &str = "INSERT INTO audit (position, node, seq, at, kind, actor, subject, owner, \
    data, prev, hash) VALUES ($1, 'local', $2, $3, $4, 'coder', $5, 'ada', $6, $7, $7)";

const HEAD: &str = "INSERT INTO chains (node, seq, hash, position) VALUES ('local', $1, $2, $3) \
    ON CONFLICT (node) DO UPDATE SET seq = $1, hash = $2, position = $3";

/// Opens an ask over one connection and settles it over another.
///
/// # Panics
/// The database refuses.
pub async fn open_and_settle(address: &str) {
    let mut number = 0;
    let ask = ask(id(&mut number));
    let (key, agent) = (ask.asker.key.as_bytes().to_vec(), &ask.asker.agent);
    let at = ask.opened_at.ms();

    let client = connect(address).await;
    begin(&client).await;
    client.query(FIND, &[&key, &ask.digest, agent]).await.expect("looked");
    let id = ask.id.as_bytes().to_vec();
    let call = &ask.call;
    let opened = client
        .query_one(OPEN, &[&id, &key, agent, &call.session, &call.call_id, &ask.digest, &at])
        .await
        .expect("opened");
    let number: i64 = opened.get(0);
    client.execute(TEXTS, &[&number, &call.input, &ask.verdict]).await.expect("texts");
    client.execute(MORE, &[&key]).await.expect("counted");
    end(&client, "ask.opened", &ask).await;

    let client = connect(address).await;
    begin(&client).await;
    let at = settled(&ask).decision.at.ms();
    client.execute(SETTLE, &[&id, &at]).await.expect("settled");
    client.execute(LESS, &[&key]).await.expect("counted");
    end(&client, "ask.settled", &ask).await;
}

async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

async fn begin(client: &Client) {
    client.batch_execute("BEGIN").await.expect("begun");
    client.query_one(LOCK, &[]).await.expect("locked");
}

async fn end(client: &Client, kind: &'static str, ask: &portcullis_approval::Ask) {
    let stands = client.query_opt(STANDS, &[]).await.expect("a head");
    let (seq, position) = stands.map_or((0, 0), |row| (row.get(0), row.get::<_, i64>(1)));
    let (seq, position): (i64, i64) = (seq + 1, position + 1);
    let (hash, at) = (vec![7_u8; 32], ask.opened_at.ms());
    for entry in entry(kind, ask) {
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
            [&position, &seq, &at, &kind, &entry.subject, &&*entry.data, &hash];
        client.execute(APPEND, &values).await.expect("appended");
    }
    client.execute(HEAD, &[&seq, &hash, &position]).await.expect("kept");
    client.batch_execute("COMMIT").await.expect("committed");
}
