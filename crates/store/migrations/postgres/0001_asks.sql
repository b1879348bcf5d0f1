-- Moments are milliseconds since the epoch, ids the 16 bytes of a UUIDv7. The tables are those of
-- the store in one file, so that everything can be moved from one to the other.

-- What is asked and how it ended. The long texts of a call stand apart, in `ask_texts`: settling
-- an ask writes its row anew, and must not write those again.
CREATE TABLE asks (
    number            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id                BYTEA NOT NULL UNIQUE,
    key               BYTEA NOT NULL,
    agent             TEXT NOT NULL,
    owner             TEXT NOT NULL,
    label             TEXT,
    session           TEXT,
    run               TEXT,
    call_id           TEXT,
    digest            TEXT NOT NULL,
    opened_at         BIGINT NOT NULL,
    deadline_at       BIGINT,
    unused_approval_s BIGINT NOT NULL,
    state             TEXT NOT NULL,
    outcome           TEXT,
    reply             TEXT,
    scope             TEXT,
    decided_by        TEXT,
    decided_door      TEXT,
    decided_at        BIGINT,
    reason            TEXT,
    feedback          TEXT,
    decided_input     TEXT,
    grants            BYTEA,    -- ids, one behind the other; absent where there are none
    claimed_at        BIGINT
);

CREATE UNIQUE INDEX asks_identical ON asks (key, digest, agent) WHERE state = 'pending';
CREATE INDEX asks_pending  ON asks (id, owner)    WHERE state = 'pending';
CREATE INDEX asks_deadline ON asks (deadline_at)  WHERE state = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX asks_unused   ON asks (key, digest, agent)
    WHERE state = 'approved' AND claimed_at IS NULL AND grants IS NULL;
CREATE INDEX asks_call     ON asks (key, call_id) WHERE call_id IS NOT NULL;

CREATE TABLE ask_texts (
    number      BIGINT PRIMARY KEY REFERENCES asks ON DELETE CASCADE,
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
    is_firm     BIGINT NOT NULL,
    offers      TEXT NOT NULL,
    fallback    TEXT NOT NULL,
    profile     TEXT
);

-- How many asks of a key are pending, so that nobody has to count them.
CREATE TABLE pending (
    key  BYTEA PRIMARY KEY,
    asks BIGINT NOT NULL
);

CREATE TABLE grants (
    id         BYTEA PRIMARY KEY,
    owner      TEXT NOT NULL,
    key        BYTEA,
    agent      TEXT,
    rule       TEXT,            -- of a pattern grant; else the four that follow
    tool       TEXT,
    input      TEXT,
    cwd        TEXT,
    reply      TEXT,
    reach      TEXT NOT NULL,
    reach_name TEXT,
    expires_at BIGINT,
    uses_left  BIGINT,
    made_by    TEXT NOT NULL,
    made_at    BIGINT NOT NULL,
    ask        BYTEA,
    revoked_at BIGINT,
    used       BIGINT NOT NULL DEFAULT 0,
    used_at    BIGINT,
    profile    TEXT
);

CREATE INDEX grants_good ON grants (owner, id) WHERE revoked_at IS NULL;
CREATE INDEX grants_run  ON grants (key, reach_name) WHERE reach = 'run' AND revoked_at IS NULL;

CREATE TABLE keys (
    id         BYTEA PRIMARY KEY,
    role       TEXT NOT NULL,
    name       TEXT NOT NULL,
    owners     TEXT,            -- a JSON array; everybody where absent
    made_at    BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    hash       BYTEA NOT NULL UNIQUE
);

-- Devices that act as the approver who paired them, and the tokens they are paired with. Of both
-- only a hash is kept: who knows the text acts for somebody.
CREATE TABLE devices (
    id         BYTEA PRIMARY KEY,
    hash       BYTEA NOT NULL,
    key        BYTEA NOT NULL,
    agent      TEXT,
    about      TEXT NOT NULL,   -- what the device says about itself: JSON
    paired_at  BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE UNIQUE INDEX devices_paired ON devices (hash) WHERE revoked_at IS NULL;

CREATE TABLE pairings (
    id           BYTEA PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,
    key          BYTEA NOT NULL,
    agent        TEXT,
    must_confirm BIGINT NOT NULL,
    made_at      BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);

CREATE TABLE sessions (
    session  TEXT NOT NULL,
    key      BYTEA NOT NULL,
    owner    TEXT NOT NULL,
    root     TEXT,
    policy   TEXT,
    began_at BIGINT NOT NULL,
    seen_at  BIGINT NOT NULL,   -- to the day: so long it is kept
    PRIMARY KEY (session, key)
);

CREATE TABLE runs (
    key        BYTEA NOT NULL,
    run        TEXT NOT NULL,
    owner      TEXT NOT NULL,
    session    TEXT,
    about      TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT,
    PRIMARY KEY (key, run)
);

CREATE INDEX runs_named ON runs (run);
CREATE INDEX runs_going ON runs (started_at) WHERE ended_at IS NULL;

-- Positions are given out by whoever holds the lock of writers, from `chains`, and never again: a
-- row of `audit` may be removed, its number stays taken.
CREATE TABLE audit (
    position BIGINT PRIMARY KEY,
    node     TEXT NOT NULL,
    seq      BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    actor    TEXT NOT NULL,
    subject  TEXT NOT NULL,
    owner    TEXT,
    data     TEXT NOT NULL,
    prev     BYTEA NOT NULL,
    hash     BYTEA NOT NULL
);

CREATE INDEX audit_kind ON audit (kind, position);

-- The end of each chain, and what its beginning hangs on once older entries are removed.
CREATE TABLE chains (
    node          TEXT PRIMARY KEY,
    seq           BIGINT NOT NULL,
    hash          BYTEA NOT NULL,
    position      BIGINT NOT NULL,
    base_seq      BIGINT,
    base_hash     BYTEA,
    base_position BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE checkpoints (
    number    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node      TEXT NOT NULL,
    seq       BIGINT NOT NULL,
    hash      BYTEA NOT NULL,
    at        BIGINT NOT NULL,
    key       TEXT NOT NULL,
    signature TEXT NOT NULL
);

-- The user's policy that somebody set through one node for all of them.
CREATE TABLE shared_policy (
    one  BOOLEAN PRIMARY KEY CHECK (one),
    text TEXT NOT NULL
);
