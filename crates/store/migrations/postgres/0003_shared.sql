-- How often agents called, as each node tells the others every second: sums since it came up. Who
-- loses this begins to count anew, so it is not logged.
CREATE UNLOGGED TABLE called (
    node  BYTEA NOT NULL,
    key   BYTEA NOT NULL,
    agent TEXT NOT NULL,
    calls BIGINT NOT NULL,
    at    BIGINT NOT NULL,
    PRIMARY KEY (node, key, agent)
);

-- The public half of the key that all nodes sign with.
CREATE TABLE shared_signer (
    one    BOOLEAN PRIMARY KEY CHECK (one),
    public BYTEA NOT NULL
);
