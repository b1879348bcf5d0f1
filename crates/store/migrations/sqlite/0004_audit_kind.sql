-- Verdicts are most of the audit, and are found by where they stand: an index of them by kind is
-- a page more with every call, and names nearly every row.
DROP INDEX audit_kind;
CREATE INDEX audit_kind ON audit (kind) WHERE kind <> 'call.judged';
