//! Cases of SQL, both ways.

use super::Sql::{Changes, Destroys, Reads, ReadsFiles, Runs, Unknown};
use super::SqlDialect::{ClickHouse, DuckDb, MySql, Postgres, Sqlite};
use super::*;

const ALL: [SqlDialect; 5] = [Postgres, MySql, Sqlite, DuckDb, ClickHouse];

#[test]
fn what_every_dialect_reads_alike() {
    #[rustfmt::skip]
    let cases = [
        ("",                                                        Reads,    "nothing"),
        (" ; ;",                                                    Reads,    "nothing"),
        ("SELECT 1",                                                Reads,    "a query"),
        ("select * from users where id = 1 limit 5;",               Reads,    "a query"),
        ("SELECT count(*), max(a) FROM t GROUP BY b HAVING count(*) > 1 ORDER BY 1", Reads, "functions"),
        ("SELECT 'DROP TABLE x; DELETE FROM y'",                    Reads,    "a string"),
        ("SELECT 'it''s; drop'",                                    Reads,    "a doubled quote"),
        ("SELECT 1 -- ; DROP TABLE x\n",                            Reads,    "a comment"),
        ("SELECT /* ; DROP TABLE x */ 1",                           Reads,    "a comment"),
        ("SELECT a.drop, b.delete FROM t",                          Reads,    "names of columns"),
        ("SELECT a AS delete FROM t",                               Reads,    "a name for a column"),
        ("WITH t AS (SELECT 1) SELECT * FROM t",                    Reads,    "a part with a name"),
        ("WITH t(a) AS (SELECT 1), u(b) AS (SELECT 2) SELECT * FROM t, u", Reads, "names of its columns"),
        ("WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n+1 FROM t) SELECT n FROM t", Reads, "recursive"),
        ("(SELECT 1) UNION (SELECT 2)",                             Reads,    "in parentheses"),
        ("SELECT CAST(a AS VARCHAR(10)) FROM t WHERE b IN (1, 2) AND (c OR d)", Reads, "keywords before parentheses"),
        ("SELECT row_number() OVER (PARTITION BY a) FROM t",        Reads,    "a window"),
        ("SHOW TABLES",                                             Reads,    "shows"),
        ("SHOW CREATE TABLE t",                                     Reads,    "shows"),
        ("EXPLAIN SELECT 1",                                        Reads,    "explains"),
        ("EXPLAIN DELETE FROM t",                                   Reads,    "does not run it"),
        ("EXPLAIN ANALYZE SELECT 1",                                Reads,    "runs a query"),
        ("EXPLAIN ANALYZE DELETE FROM t",                           Destroys, "runs it"),
        ("EXPLAIN (ANALYZE, BUFFERS) UPDATE t SET a = 1",           Changes,  "runs it"),
        ("DESCRIBE t",                                              Reads,    "describes"),
        ("BEGIN; SELECT 1; COMMIT",                                 Reads,    "a transaction"),
        ("start transaction; select 1; rollback",                   Reads,    "a transaction"),
        ("INSERT INTO t (a, b) VALUES (1, 2)",                      Changes,  "adds"),
        ("UPDATE t SET a = 1",                                      Changes,  "changes"),
        ("CREATE TABLE t (a INT)",                                  Changes,  "makes"),
        ("ALTER TABLE t ADD COLUMN a INT",                          Changes,  "makes"),
        ("GRANT ALL ON t TO x",                                     Changes,  "rights"),
        ("SET x = 1",                                               Changes,  "settings"),
        ("SELECT 1; UPDATE t SET a = 1",                            Changes,  "the worst counts"),
        ("SELECT a INTO b FROM t",                                  Changes,  "makes a table"),
        ("SELECT * FROM t FOR UPDATE",                              Changes,  "locks"),
        ("SELECT * FROM t FOR SHARE",                               Changes,  "locks"),
        ("DROP TABLE t",                                            Destroys, "removes"),
        ("drop database x",                                         Destroys, "removes"),
        ("DrOp/**/TABLE t",                                         Destroys, "a comment as a blank"),
        ("TRUNCATE t",                                              Destroys, "removes"),
        ("DELETE FROM t WHERE id = 1",                              Destroys, "removes"),
        ("ALTER TABLE t DROP COLUMN a",                             Destroys, "removes"),
        ("SELECT 1; DROP TABLE t; SELECT 2",                        Destroys, "the worst counts"),
        ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",   Destroys, "a part that removes"),
        ("WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x", Changes, "a part that adds"),
        ("WITH x AS (SELECT 1) DELETE FROM t",                      Destroys, "the verb comes late"),
        ("SELECT evil(1)",                                          Unknown,  "a function that is not known"),
        ("SELECT \n evil \n (1)",                                   Unknown,  "with blanks"),
        ("SELECT my.count(1) FROM t",                               Unknown,  "a function of another schema"),
        ("SELECT DISTINCT ON (a) evil(b) FROM t",                   Unknown,  "behind a parenthesis"),
        ("CALL p()",                                                Unknown,  "a procedure"),
        ("EXECUTE x",                                               Unknown,  "a prepared statement"),
        ("FROBNICATE",                                              Unknown,  "no verb"),
        ("'SELECT'",                                                Unknown,  "no verb"),
        ("SELECT 'a",                                               Unknown,  "an open string"),
        ("SELECT 1 /* a",                                           Unknown,  "an open comment"),
        ("SELECT /* a /* b */ 1",                                   Unknown,  "comments in comments"),
        ("SELECT 'a; DROP TABLE x",                                 Destroys, "an open string and a bad word"),
        ("SELECT 1UNION SELECT 2",                                  Unknown,  "letters behind a number"),
        ("SELECT 1e5, 0x1F, 1.5, 2e-3",                             Reads,    "numbers"),
    ];
    for (text, want, why) in cases {
        for dialect in ALL {
            assert_eq!(sql(text.as_bytes(), dialect), want, "{dialect:?} `{text}`: {why}");
        }
    }
    assert_eq!(sql(b"SELECT '\xff'", Postgres), Unknown);
}

#[test]
fn postgres() {
    #[rustfmt::skip]
    let cases = [
        ("\\d",                                        Reads,    "describes"),
        ("\\dt+ public.*",                             Reads,    "describes"),
        ("\\l\n\\x\nSELECT 1;\n\\du",                  Reads,    "several"),
        ("\\x \\dt",                                   Reads,    "on one line"),
        ("\\timing on\nSELECT 1 \\g",                  Reads,    "sends the statement"),
        ("SELECT 1 \\gx",                              Reads,    "sends the statement"),
        ("SELECT 1 \\g out.txt",                       Runs,     "to a file"),
        ("SELECT 1 \\g |sh",                           Runs,     "to a command"),
        ("SELECT 1 \\gexec",                           Unknown,  "runs the result"),
        ("\\! id",                                     Runs,     "a command"),
        ("\\i x.sql",                                  Runs,     "another file"),
        ("\\o out",                                    Runs,     "to a file"),
        ("\\copy t to 'x'",                            Runs,     "to a file"),
        ("\\echo `id`",                                Runs,     "a command in quotes"),
        ("\\echo a \\\\ DROP TABLE t",                 Runs,     "text behind the separator"),
        ("\\set x 1",                                  Unknown,  "a variable"),
        ("\\c other",                                  Unknown,  "another database"),
        ("SELECT :x",                                  Unknown,  "text of a variable"),
        ("SELECT :'x'",                                Unknown,  "text of a variable"),
        ("SELECT a::int, b::numeric(10,2) FROM t",     Reads,    "casts"),
        ("SELECT a[1:2] FROM t",                       Reads,    "a slice"),
        ("SELECT $1, $tag$; DROP TABLE x$tag$",        Reads,    "quotes of dollars"),
        ("SELECT $$a$$; DROP TABLE t",                 Destroys, "and behind them"),
        ("SELECT $a$ $b$ ; DROP $a$",                  Reads,    "another tag ends nothing"),
        ("SELECT E'a\\'; DROP TABLE x'",               Reads,    "an escape"),
        ("SELECT 'a\\'; DROP TABLE x'",                Destroys, "which depends on a setting"),
        ("SELECT U&'a'",                               Unknown,  "odd strings"),
        ("SELECT \"drop\"\"table\" FROM t",            Reads,    "a quoted name"),
        ("SELECT pg_size_pretty(pg_total_relation_size('t'))", Reads, "about the server"),
        ("SELECT pg_catalog.count(*) FROM t",          Reads,    "its own schema"),
        ("SELECT pg_read_file('/etc/passwd')",         Runs,     "reads a file"),
        ("SELECT \"pg_read_file\"('/etc/passwd')",     Runs,     "in quotes"),
        ("SELECT pg_catalog.pg_read_file('x')",        Runs,     "with its schema"),
        ("SELECT lo_export(1, '/tmp/x')",              Runs,     "writes a file"),
        ("SELECT * FROM dblink('host=x', 'y') AS t(a int)", Runs, "connects"),
        ("SELECT pg_terminate_backend(1)",             Runs,     "ends a session"),
        ("SELECT nextval('s')",                        Changes,  "counts on"),
        ("SELECT query_to_xml('drop table x', true, true, '')", Unknown, "text that runs"),
        ("COPY t TO STDOUT",                           Reads,    "to the client"),
        ("COPY (SELECT * FROM t) TO STDOUT WITH CSV HEADER", Reads, "to the client"),
        ("COPY (DELETE FROM t RETURNING *) TO STDOUT", Destroys, "what is copied counts"),
        ("COPY t FROM STDIN",                          Changes,  "from the client"),
        ("COPY t TO '/tmp/x'",                         Runs,     "to a file"),
        ("COPY t FROM PROGRAM 'id'",                   Runs,     "from a command"),
        ("COPY t TO PROGRAM 'id'",                     Runs,     "to a command"),
        ("DO $$ BEGIN DELETE FROM t; END $$",          Unknown,  "a program"),
        ("TABLE t",                                    Reads,    "a query"),
        ("VALUES (1), (2)",                            Reads,    "a query"),
        ("LOAD 'x'",                                   Runs,     "a library"),
        ("VACUUM t",                                   Changes,  "cleans up"),
        ("INSERT INTO t SELECT pg_read_file('x')",     Runs,     "worse than a change"),
        ("SELECT a #> '{b}' FROM t",                   Reads,    "an operator"),
        ("SELECT `a`",                                 Unknown,  "no quote here"),
        ("SELECT '{\"a\":1}'::jsonb -> 'a' ->> 'b'",   Reads,    "operators"),
    ];
    for (text, want, why) in cases {
        assert_eq!(sql(text.as_bytes(), Postgres), want, "`{text}`: {why}");
    }
}

#[test]
fn mysql() {
    #[rustfmt::skip]
    let cases = [
        ("SHOW TABLES\\G",                             Reads,    "another layout"),
        ("SHOW PROCESSLIST; SELECT 1\\g",              Reads,    "sends the statement"),
        ("SELECT \"a; DROP TABLE x\"",                 Reads,    "a string"),
        ("SELECT 'a\\'; DROP TABLE x'",                Reads,    "an escape"),
        ("SELECT 1 # ; DROP TABLE x",                  Reads,    "a comment"),
        ("SELECT 1--1; DROP TABLE x",                  Destroys, "no comment"),
        ("SELECT 1 /*!; DROP TABLE x */",              Destroys, "a comment that runs"),
        ("SELECT /*!50000 1 */",                       Unknown,  "a comment that runs"),
        ("SELECT `drop` FROM t",                       Reads,    "a quoted name"),
        ("SELECT * FROM t INTO OUTFILE '/tmp/x'",      Runs,     "to a file"),
        ("SELECT a INTO DUMPFILE '/tmp/x' FROM t",     Runs,     "to a file"),
        ("SELECT a INTO @x FROM t",                    Reads,    "to a variable"),
        ("SELECT LOAD_FILE('/etc/passwd')",            Runs,     "from a file"),
        ("LOAD DATA INFILE 'x' INTO TABLE t",          Runs,     "from a file"),
        ("system id",                                  Runs,     "a command of the client"),
        ("SELECT 1; system id",                        Runs,     "behind a statement"),
        ("\\! id",                                     Runs,     "its short form"),
        ("source x.sql",                               Runs,     "another file"),
        ("tee out",                                    Runs,     "to a file"),
        ("DESC t",                                     Reads,    "describes"),
        ("DESCRIBE ANALYZE DELETE FROM t",             Destroys, "another word for explain"),
        ("USE db; SELECT database()",                  Reads,    "another database"),
        ("SELECT * FROM t LOCK IN SHARE MODE",         Changes,  "locks"),
        ("REPLACE INTO t VALUES (1)",                  Changes,  "replaces"),
        ("SELECT REPLACE(a, 'b', 'c'), TRUNCATE(1.5, 1), @@version", Reads, "functions"),
        ("KILL 5",                                     Changes,  "ends a session"),
        ("PURGE BINARY LOGS TO 'x'",                   Destroys, "removes"),
        ("delimiter //",                               Unknown,  "another separator"),
        ("SELECT e'x'",                                Unknown,  "odd strings"),
    ];
    for (text, want, why) in cases {
        assert_eq!(sql(text.as_bytes(), MySql), want, "`{text}`: {why}");
    }
}

#[test]
fn sqlite() {
    #[rustfmt::skip]
    let cases = [
        (".tables",                                    Reads,    "shows"),
        (".schema t\nSELECT 1;\n.mode csv",            Reads,    "several"),
        (".dump",                                      Reads,    "prints"),
        (".shell id",                                  Runs,     "a command"),
        (".system id",                                 Runs,     "a command"),
        (".sh id",                                     Runs,     "abbreviated"),
        (".output x\nSELECT 1;",                       Runs,     "to a file"),
        (".once x",                                    Runs,     "to a file"),
        (".import a b",                                Runs,     "from a file"),
        (".read x",                                    Runs,     "another file"),
        ("SELECT 1;\n.shell id",                       Runs,     "behind a statement"),
        ("SELECT 'a\n.shell id\n'",                    Runs,     "even in a string"),
        ("SELECT 1 .5; .tables",                       Unknown,  "not at the beginning of a line"),
        ("PRAGMA table_info(t)",                       Reads,    "shows"),
        ("PRAGMA main.table_info('t')",                Reads,    "of a schema"),
        ("PRAGMA journal_mode",                        Reads,    "shows"),
        ("PRAGMA journal_mode = WAL",                  Changes,  "sets"),
        ("PRAGMA journal_mode(WAL)",                   Changes,  "sets"),
        ("PRAGMA user_version=3",                      Changes,  "sets"),
        ("PRAGMA writable_schema",                     Changes,  "not known to be harmless"),
        ("PRAGMA wal_checkpoint",                      Changes,  "does something"),
        ("PRAGMA integrity_check(10)",                 Reads,    "checks"),
        ("SELECT * FROM pragma_table_info('t')",       Reads,    "as a table"),
        ("SELECT readfile('x')",                       Runs,     "from a file"),
        ("SELECT writefile('x', 'y')",                 Runs,     "to a file"),
        ("SELECT edit('x')",                           Runs,     "an editor"),
        ("SELECT load_extension('x')",                 Runs,     "a library"),
        ("ATTACH 'x' AS y",                            Runs,     "another file"),
        ("VACUUM INTO 'x'",                            Runs,     "to a file"),
        ("VACUUM",                                     Changes,  "cleans up"),
        ("SELECT [drop;table] FROM t",                 Reads,    "a name in brackets"),
        ("SELECT json_extract(a, '$.b') FROM t, json_each(t.c)", Reads, "functions"),
        ("SELECT 1 # x",                               Unknown,  "no comment here"),
        ("EXPLAIN QUERY PLAN SELECT 1",                Reads,    "explains"),
        ("SELECT glob('a', 'b')",                      Reads,    "compares"),
        ("SELECT :x, ?1, @y",                          Reads,    "parameters"),
    ];
    for (text, want, why) in cases {
        assert_eq!(sql(text.as_bytes(), Sqlite), want, "`{text}`: {why}");
    }
}

#[test]
fn duckdb_and_clickhouse() {
    #[rustfmt::skip]
    let cases = [
        (DuckDb,     "SELECT * FROM 'data.csv'",                      ReadsFiles, "a file as a table"),
        (DuckDb,     "FROM \"data.parquet\"",                         ReadsFiles, "a file in quotes"),
        (DuckDb,     "SELECT * FROM t JOIN 'https://x/y.csv' u ON 1", ReadsFiles, "an address"),
        (DuckDb,     "SELECT * FROM read_csv('a.csv', header = true)", ReadsFiles, "a function"),
        (DuckDb,     "SELECT * FROM read_text('/etc/passwd')",        ReadsFiles, "a function"),
        (DuckDb,     "DESCRIBE SELECT * FROM 'a.csv'",                ReadsFiles, "describes"),
        (DuckDb,     "SUMMARIZE 'a.csv'",                             ReadsFiles, "sums up"),
        (DuckDb,     "SELECT * FROM glob('*')",                       ReadsFiles, "names of files"),
        (DuckDb,     "SELECT 'a.csv' FROM t",                         Reads,      "only a string"),
        (DuckDb,     "SELECT * EXCLUDE (a) FROM t",                   Reads,      "fewer columns"),
        (DuckDb,     "COPY t TO 'x.csv'",                             Runs,       "to a file"),
        (DuckDb,     "INSTALL httpfs; LOAD httpfs",                   Runs,       "code"),
        (DuckDb,     "ATTACH 'x.db'",                                 Runs,       "another file"),
        (DuckDb,     "EXPORT DATABASE 'x'",                           Runs,       "to files"),
        (DuckDb,     "SELECT getenv('HOME')",                         Runs,       "the environment"),
        (DuckDb,     ".sh id",                                        Runs,       "a command"),
        (DuckDb,     "PRAGMA show_tables",                            Reads,      "shows"),
        (ClickHouse, "SELECT 'a\\'; DROP TABLE x'",                   Reads,      "an escape"),
        (ClickHouse, "SELECT count() FROM system.tables FORMAT JSON", Reads,      "a layout"),
        (ClickHouse, "SELECT * FROM url('http://x')",                 Runs,       "connects"),
        (ClickHouse, "SELECT * FROM file('x')",                       Runs,       "from a file"),
        (ClickHouse, "SELECT 1 INTO OUTFILE 'x'",                     Runs,       "to a file"),
        (ClickHouse, "INSERT INTO FUNCTION file('x') SELECT 1",       Runs,       "to a file"),
        (ClickHouse, "ALTER TABLE t DELETE WHERE 1",                  Destroys,   "removes"),
        (ClickHouse, "SYSTEM FLUSH LOGS",                             Changes,    "the server"),
        (ClickHouse, "EXISTS TABLE t",                                Reads,      "asks"),
        (ClickHouse, "SELECT 1 # x",                                  Unknown,    "perhaps a comment"),
    ];
    for (dialect, text, want, why) in cases {
        assert_eq!(sql(text.as_bytes(), dialect), want, "`{text}`: {why}");
    }
    let files = |text: &str| sql_files(text.as_bytes(), DuckDb);
    assert_eq!(
        files("SELECT * FROM 'a.csv', \"b.csv\""),
        [Some(b"a.csv".to_vec()), Some(b"b.csv".to_vec())]
    );
    assert_eq!(files("FROM read_csv('a.csv')"), [Some(b"a.csv".to_vec())]);
    assert_eq!(files("FROM read_csv(['a.csv', 'b.csv'])"), [None]);
    assert_eq!(files("FROM read_csv('a' || 'b')"), [None]);
    assert!(files("SELECT 'a.csv'").is_empty());
}
