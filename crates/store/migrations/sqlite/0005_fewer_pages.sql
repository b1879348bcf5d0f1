-- Every page that a write changes is written to the log, so what can be known otherwise is not kept.

-- How many asks of a key are pending is counted once and then remembered by whoever writes.
DROP TABLE pending;

-- Calls alike that are pending, and approvals that nobody has used: both are looked for with every
-- ask that is opened, by the same names.
DROP INDEX asks_identical;
DROP INDEX asks_unused;
CREATE INDEX asks_alike ON asks (key, digest, agent, state)
    WHERE state = 'pending' OR state = 'approved' AND claimed_at IS NULL AND grants IS NULL;

-- The end of a chain stands in its last entry. `chains` is behind it for the node that wrote last,
-- and is made up when another node writes or entries are removed.
CREATE VIEW heads AS
    SELECT c.node,
        iif(l.seq > c.seq, l.seq, c.seq)           AS seq,
        iif(l.seq > c.seq, l.hash, c.hash)         AS hash,
        iif(l.seq > c.seq, l.position, c.position) AS position,
        c.base_seq, c.base_hash, c.base_position
    FROM chains c
    LEFT JOIN (SELECT node, seq, hash, position FROM audit ORDER BY position DESC LIMIT 1) l
        ON l.node = c.node;
