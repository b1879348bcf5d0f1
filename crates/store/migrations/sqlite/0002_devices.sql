-- Devices that act as the approver who paired them, and the tokens they are paired with. Of both
-- only a hash is kept: who knows the text acts for somebody.
CREATE TABLE devices (
    id         BLOB PRIMARY KEY NOT NULL,
    hash       BLOB NOT NULL,
    key        BLOB NOT NULL,
    agent      TEXT,
    about      TEXT NOT NULL,   -- what the device says about itself: JSON
    paired_at  INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE UNIQUE INDEX devices_paired ON devices (hash) WHERE revoked_at IS NULL;

CREATE TABLE pairings (
    id           BLOB PRIMARY KEY NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    key          BLOB NOT NULL,
    agent        TEXT,
    must_confirm INTEGER NOT NULL,
    made_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT;

-- The profile a call was judged by, and the one a grant is for.
ALTER TABLE ask_texts ADD COLUMN profile TEXT;
ALTER TABLE grants ADD COLUMN profile TEXT;
