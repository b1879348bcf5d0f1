//! Commands of the clients themselves: backslash commands and dot commands.

use super::{Sql, SqlDialect};

/// What a command of the client does.
pub(super) fn judge(line: &[u8], dialect: SqlDialect) -> Sql {
    match dialect {
        SqlDialect::Postgres => judge_psql(line),
        SqlDialect::MySql => match line {
            b"\\g" | b"\\G" => Sql::Reads,
            _ => Sql::Runs,
        },
        SqlDialect::Sqlite | SqlDialect::DuckDb => judge_dot(line),
        SqlDialect::ClickHouse => Sql::Unknown,
    }
}

/// The worst dot command on any line, even where it seems to stand inside a string: when the
/// client looks for one depends on what it has read before.
pub(super) fn worst_dot_line(text: &[u8], dialect: SqlDialect) -> Sql {
    if !matches!(dialect, SqlDialect::Sqlite | SqlDialect::DuckDb) {
        return Sql::Reads;
    }
    let lines = text.split(|byte| *byte == b'\n');
    let commands = lines.filter(|line| {
        line.first() == Some(&b'.') && line.get(1).is_some_and(u8::is_ascii_alphabetic)
    });
    commands.map(judge_dot).max().unwrap_or(Sql::Reads)
}

/// One or several backslash commands of psql on a line.
fn judge_psql(line: &[u8]) -> Sql {
    // A command in backquotes runs in a shell, whatever the rest is.
    if line.contains(&b'`') {
        return Sql::Runs;
    }
    let commands = line.split(|byte| *byte == b'\\').filter(|command| !command.is_empty());
    commands.map(judge_psql_command).max().unwrap_or(Sql::Reads)
}

fn judge_psql_command(command: &[u8]) -> Sql {
    let end = command.iter().position(u8::is_ascii_whitespace).unwrap_or(command.len());
    let (name, arguments) = command.split_at(end);
    let has_arguments = !arguments.trim_ascii().trim_ascii_end().is_empty();
    match name {
        // Nothing but blanks stood behind a double backslash.
        b"" if !has_arguments => Sql::Reads,
        [b'd', rest @ ..]
            if rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'+') =>
        {
            Sql::Reads
        }
        b"?" | b"C" | b"H" | b"T" | b"a" | b"conninfo" | b"copyright" | b"crosstabview"
        | b"echo" | b"elif" | b"else" | b"encoding" | b"endif" | b"errverbose" | b"f"
        | b"gdesc" | b"gset" | b"h" | b"help" | b"html" | b"if" | b"l" | b"l+" | b"list"
        | b"list+" | b"p" | b"print" | b"pset" | b"q" | b"qecho" | b"quit" | b"r" | b"reset"
        | b"sf" | b"sf+" | b"sv" | b"sv+" | b"t" | b"timing" | b"warn" | b"watch" | b"x" | b"z"
        | b"z+" => Sql::Reads,
        // With an argument the result goes to a file or a command.
        b"g" | b"gx" if !has_arguments => Sql::Reads,
        b"c" | b"connect" | b"gexec" | b"prompt" | b"set" | b"unset" => Sql::Unknown,
        _ => Sql::Runs,
    }
}

fn judge_dot(line: &[u8]) -> Sql {
    let line = line.strip_prefix(b".").unwrap_or(line).trim_ascii_end();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    match line.get(..end).unwrap_or_default() {
        b"bail" | b"binary" | b"changes" | b"columns" | b"databases" | b"dbinfo" | b"dump"
        | b"echo" | b"eqp" | b"exit" | b"expert" | b"explain" | b"fullschema" | b"header"
        | b"headers" | b"help" | b"highlight" | b"indexes" | b"indices" | b"limit" | b"lint"
        | b"maxrows" | b"maxwidth" | b"mode" | b"nullvalue" | b"print" | b"prompt" | b"quit"
        | b"rows" | b"schema" | b"separator" | b"sha3sum" | b"show" | b"stats" | b"tables"
        | b"timeout" | b"timer" | b"version" | b"vfsinfo" | b"vfslist" | b"vfsname" | b"width" => {
            Sql::Reads
        }
        _ => Sql::Runs,
    }
}
