//! SQL as command-line clients take it: does it read, change, destroy, or reach outside?
//!
//! [`lexer`] cuts the text into statements of tokens, [`client`] knows the commands of the
//! clients themselves (`\d`, `.tables`), [`statement`] judges a statement by its words, and
//! [`functions`] lists the functions that only compute. A function that is not there may be
//! anybody's and do anything, so a query that calls it is unknown.

use self::lexer::{Lexer, Piece};

mod client;
mod functions;
mod lexer;
mod statement;
#[cfg(test)]
mod tests;

/// What SQL text does, from harmless to worst; of several statements the worst counts.
// INVARIANT: variants stay sorted from harmless to worst; `Ord` is derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sql {
    /// Only reads the database.
    Reads,
    /// Only reads, but also files or addresses that [`sql_files`] names.
    ReadsFiles,
    /// Changes data, structure, rights, settings or other sessions.
    Changes,
    /// Could not be read to the end.
    Unknown,
    /// Runs commands, reads or writes files of the machine, loads code or connects elsewhere.
    Runs,
    /// Removes data or structure.
    Destroys,
}

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlDialect {
    /// psql, with its backslash commands.
    Postgres,
    /// mysql and mariadb, with the commands of their client.
    MySql,
    /// sqlite3, with its dot commands.
    Sqlite,
    /// duckdb, with its dot commands.
    DuckDb,
    /// clickhouse-client and clickhouse-local.
    ClickHouse,
}

/// Tells what a text does that is given to a client of that dialect.
#[must_use]
pub fn sql(text: &[u8], dialect: SqlDialect) -> Sql {
    read(text, dialect, &mut Vec::new())
}

/// The files or addresses that the text reads by name, where [`sql`] says that it does; `None`
/// is a name not known before it runs.
#[must_use]
pub fn sql_files(text: &[u8], dialect: SqlDialect) -> Vec<Option<Vec<u8>>> {
    let mut files = Vec::new();
    read(text, dialect, &mut files);
    files
}

fn read(text: &[u8], dialect: SqlDialect, files: &mut Vec<Option<Vec<u8>>>) -> Sql {
    let mut worst = client::worst_dot_line(text, dialect);
    if std::str::from_utf8(text).is_err() {
        return worst.max(guess(text));
    }
    let mut lexer = Lexer::new(text, dialect);
    loop {
        match lexer.next() {
            Ok(Some(Piece::Statement(tokens))) => {
                worst = worst.max(statement::judge(&tokens, dialect, files));
            }
            Ok(Some(Piece::Command(line))) => worst = worst.max(client::judge(line, dialect)),
            Ok(None) => return worst,
            Err(_) => return worst.max(guess(text)),
        }
    }
}

/// What a text may do that cannot be read: at least the worst word in it.
fn guess(text: &[u8]) -> Sql {
    let destroys = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').any(|word| {
        [&b"delete"[..], b"drop", b"truncate"].iter().any(|bad| word.eq_ignore_ascii_case(bad))
    });
    if destroys { Sql::Destroys } else { Sql::Unknown }
}
