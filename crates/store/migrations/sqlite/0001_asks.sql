-- Moments are milliseconds since the epoch, ids the 16 bytes of a UUIDv7.

-- What is asked and how it ended. The long texts of a call stand apart, in `ask_texts`: settling
-- an ask writes its row anew, and must not write those again.
CREATE TABLE asks (
    number            INTEGER PRIMARY KEY,
    id                BLOB NOT NULL UNIQUE,
    key               BLOB NOT NULL,
    agent             TEXT NOT NULL,
    owner             TEXT NOT NULL,
    label             TEXT,
    session           TEXT,
    run               TEXT,
    call_id           TEXT,
    digest            TEXT NOT NULL,
    opened_at         INTEGER NOT NULL,
    deadline_at       INTEGER,
    unused_approval_s INTEGER NOT NULL,
    state             TEXT NOT NULL,
    outcome           TEXT,
    reply             TEXT,
    scope             TEXT,
    decided_by        TEXT,
    decided_door      TEXT,
    decided_at        INTEGER,
    reason            TEXT,
    feedback          TEXT,
    decided_input     TEXT,
    grants            BLOB,     -- ids, one behind the other; absent where there are none
    claimed_at        INTEGER
) STRICT;

CREATE UNIQUE INDEX asks_identical ON asks (key, digest, agent) WHERE state = 'pending';
CREATE INDEX asks_pending  ON asks (id, owner)    WHERE state = 'pending';
CREATE INDEX asks_deadline ON asks (deadline_at)  WHERE state = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX asks_unused   ON asks (key, digest, agent)
    WHERE state = 'approved' AND claimed_at IS NULL AND grants IS NULL;
CREATE INDEX asks_call     ON asks (key, call_id) WHERE call_id IS NOT NULL;

CREATE TABLE ask_texts (
    number      INTEGER PRIMARY KEY REFERENCES asks ON DELETE CASCADE,
    door        TEXT NOT NULL,
    tool        TEXT NOT NULL,
    input       TEXT NOT NULL,
    cwd         TEXT,
    home        TEXT,
    shell       TEXT,
    host        TEXT,
    description TEXT,
    bound       TEXT NOT NULL,
    verdict     TEXT NOT NULL,
    tier        TEXT NOT NULL,
    is_firm     INTEGER NOT NULL,
    offers      TEXT NOT NULL,
    fallback    TEXT NOT NULL
) STRICT;

-- How many asks of a key are pending, so that nobody has to count them.
CREATE TABLE pending (
    key  BLOB PRIMARY KEY,
    asks INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id         BLOB PRIMARY KEY NOT NULL,
    owner      TEXT NOT NULL,
    key        BLOB,
    agent      TEXT,
    rule       TEXT,            -- of a pattern grant; else the four that follow
    tool       TEXT,
    input      TEXT,
    cwd        TEXT,
    reply      TEXT,
    reach      TEXT NOT NULL,
    reach_name TEXT,
    expires_at INTEGER,
    uses_left  INTEGER,
    made_by    TEXT NOT NULL,
    made_at    INTEGER NOT NULL,
    ask        BLOB,
    revoked_at INTEGER,
    used       INTEGER NOT NULL DEFAULT 0,
    used_at    INTEGER
) STRICT;

CREATE INDEX grants_good ON grants (owner, id) WHERE revoked_at IS NULL;
CREATE INDEX grants_run  ON grants (key, reach_name) WHERE reach = 'run' AND revoked_at IS NULL;

CREATE TABLE keys (
    id         BLOB PRIMARY KEY NOT NULL,
    role       TEXT NOT NULL,
    name       TEXT NOT NULL,
    owners     TEXT,            -- a JSON array; everybody where absent
    made_at    INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    hash       BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE sessions (
    session  TEXT NOT NULL,
    key      BLOB NOT NULL,
    owner    TEXT NOT NULL,
    root     TEXT,
    policy   TEXT,
    began_at INTEGER NOT NULL,
    seen_at  INTEGER NOT NULL,  -- to the day: so long it is kept
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    key        BLOB NOT NULL,
    run        TEXT NOT NULL,
    owner      TEXT NOT NULL,
    session    TEXT,
    about      TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (key, run)
) STRICT;

CREATE INDEX runs_named ON runs (run);
CREATE INDEX runs_going ON runs (started_at) WHERE ended_at IS NULL;

-- Positions are given out by the writer from `chains` and never again: a row of `audit` may be
-- removed, its number stays taken.
CREATE TABLE audit (
    position INTEGER PRIMARY KEY,
    node     TEXT NOT NULL,
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    actor    TEXT NOT NULL,
    subject  TEXT NOT NULL,
    owner    TEXT,
    data     TEXT NOT NULL,
    prev     BLOB NOT NULL,
    hash     BLOB NOT NULL
) STRICT;

CREATE INDEX audit_kind ON audit (kind);

-- The end of each node's chain, and what its beginning hangs on once older entries are removed.
CREATE TABLE chains (
    node          TEXT PRIMARY KEY,
    seq           INTEGER NOT NULL,
    hash          BLOB NOT NULL,
    position      INTEGER NOT NULL,
    base_seq      INTEGER,
    base_hash     BLOB,
    base_position INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    number    INTEGER PRIMARY KEY,
    node      TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    hash      BLOB NOT NULL,
    at        INTEGER NOT NULL,
    key       TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
