-- Identical calls of two runs are two asks, where nothing else holds them together.
DROP INDEX asks_identical;
CREATE UNIQUE INDEX asks_identical ON asks (key, digest, agent, coalesce(run, ''))
    WHERE state = 'pending';
