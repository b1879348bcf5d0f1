//! Clients of databases: what their SQL does.

use super::Reading;
use crate::act::Act;
use crate::catalog::ValueKind;
use crate::effect::{Effect, EffectOn, Target};
use crate::language::{Sql, SqlDialect, mongo_reads, sql as read_sql, sql_files};
use crate::lists;
use crate::usage;

pub(super) fn sql(reading: &mut Reading<'_, '_>) {
    let dialect = match reading.act.base_name() {
        Some("mysql" | "mariadb") => SqlDialect::MySql,
        Some("sqlite3" | "sqlite") => SqlDialect::Sqlite,
        Some("duckdb") => SqlDialect::DuckDb,
        Some(name) if name.starts_with("clickhouse") => SqlDialect::ClickHouse,
        _ => SqlDialect::Postgres,
    };
    let texts: Option<Vec<String>> = reading
        .usage
        .values
        .iter()
        .filter(|given| given.kind == ValueKind::Sql)
        .map(|given| given.arg.as_known().map(str::to_owned))
        .collect();
    let Some(texts) = texts else {
        return reading.dynamic("SQL that is not known before it runs");
    };
    for text in texts {
        if names_secrets(&text) {
            reading.act.note("secret_read", reading.act.span);
        }
        client_files(reading, &text);
        if reading.act.base_name() == Some("sqlcmd") && text.lines().any(is_clients) {
            reading.unknown("a line that the client takes for its own command");
        }
        let found = read_sql(text.as_bytes(), dialect);
        match found {
            Sql::Reads => {}
            Sql::ReadsFiles => {
                for file in sql_files(text.as_bytes(), dialect) {
                    named(reading, file);
                }
            }
            Sql::Changes => {
                reading.effect(Effect::Change);
                changes_file(reading, dialect);
            }
            Sql::Unknown => reading.unknown("SQL that is not understood"),
            Sql::Runs => {
                reading.effect(Effect::Execute);
                reading.extra();
            }
            Sql::Destroys => {
                reading.effect(Effect::Change);
                changes_file(reading, dialect);
                let lower = text.to_ascii_lowercase();
                let only_rows = lower.contains("delete")
                    && lower.contains("where")
                    && !lower.contains("drop")
                    && !lower.contains("truncate");
                let guard = if only_rows { "rows_deleted" } else { "lost_work" };
                reading.act.note(guard, reading.act.span);
            }
        }
    }
    fed(reading, dialect);
}

/// A database that is a file is what its statements change.
fn changes_file(reading: &mut Reading<'_, '_>, dialect: SqlDialect) {
    if !matches!(dialect, SqlDialect::Sqlite | SqlDialect::DuckDb) {
        return;
    }
    if let Some(file) = reading.operands().first().map(usage::path) {
        reading.act.may_change.push(EffectOn::new(Effect::Write, file));
    }
}

/// `mongosh --eval`: what is not known to ask may do anything.
pub(super) fn mongo(reading: &mut Reading<'_, '_>) {
    let given = reading.usage.options.iter().filter(|option| option.name == "--eval");
    let texts: Option<Vec<String>> = given
        .map(|option| option.value.as_ref().and_then(|value| value.as_known().map(str::to_owned)))
        .collect();
    let Some(texts) = texts else {
        return reading.dynamic("a program text that is not known before it runs");
    };
    if !texts.iter().all(|text| mongo_reads(text.as_bytes())) {
        for text in texts {
            reading.analysis.suspect_text(&text, reading.act);
        }
        reading.effect(Effect::Execute);
        reading.extra();
    }
}

/// Whether a line is a command of `sqlcmd` itself, wherever it stands in a statement.
fn is_clients(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with([':', '!']) || line.trim_end().eq_ignore_ascii_case("ed")
}

/// The files that commands of the client itself name: rules about files hold for them too.
fn client_files(reading: &mut Reading<'_, '_>, text: &str) {
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let effect = match words.next() {
            Some(
                ".read" | ".import" | ".open" | ".restore" | "\\i" | "\\ir" | "\\include" | "\\."
                | "source",
            ) => Effect::Read,
            Some(
                ".output" | ".once" | ".save" | ".backup" | ".clone" | ".log" | ".trace" | "\\o"
                | "\\w",
            ) => Effect::Write,
            _ => continue,
        };
        for word in words {
            let name = word.trim_matches(['\'', '"', ';']);
            if !name.starts_with(['-', '|']) && !name.is_empty() {
                let target = Target::Path(name.to_owned());
                reading.act.effects.push(EffectOn::new(effect, target));
            }
        }
    }
}

/// Whether a statement names a table or a column in which a server keeps passwords.
fn names_secrets(text: &str) -> bool {
    let plain: String = text.chars().filter(|letter| !"`\"[]".contains(*letter)).collect();
    let plain = plain.to_ascii_lowercase();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    let mut words = plain.split(|letter| !is_part(letter)).filter(|word| !word.is_empty());
    words.clone().any(|word| {
        lists::SECRET_TABLES.iter().any(|table| {
            word.strip_suffix(table).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }) || words.next() == Some("show")
        && matches!(
            (words.next(), words.next()),
            (Some("create"), Some("user")) | (Some("grants"), _)
        )
}

/// A file or an address that a query names.
fn named(reading: &mut Reading<'_, '_>, file: Option<Vec<u8>>) {
    let on = match file.map(|name| String::from_utf8_lossy(&name).into_owned()) {
        Some(name) if name.contains("://") => EffectOn::new(Effect::Connect, Target::Host(name)),
        Some(name) => EffectOn::new(Effect::Read, Target::Path(name)),
        None => EffectOn::new(Effect::Read, Target::Unknown(String::new())),
    };
    reading.act.effects.push(on);
}

/// SQL from standard input, where its text is known.
fn fed(reading: &mut Reading<'_, '_>, dialect: SqlDialect) {
    let crate::analysis::Feed::Text(text) = reading.analysis.feed.clone() else { return };
    let has_text = reading.usage.values.iter().any(|given| given.kind == ValueKind::Sql);
    if has_text || !reading.act.has(Effect::Execute) {
        return;
    }
    reading.analysis.suspect_text(&text, reading.act);
    match statements(&text, dialect) {
        Sql::Destroys => reading.act.note("lost_work", reading.act.span),
        // The table takes whatever comes from outside for code.
        Sql::Reads if !reading.usage.has_option(RUNNING) => reading
            .act
            .effects
            .retain(|on| on.effect != Effect::Execute || on.target != Target::None),
        Sql::Reads | Sql::ReadsFiles | Sql::Changes | Sql::Unknown | Sql::Runs => {}
    }
}

/// Options with which a client runs more than what it is fed.
const RUNNING: &[&str] = &["-init", "-interactive", "-cmd", "-f", "--file"];

/// What the lines of a text do that a client reads from its input.
fn statements(text: &str, dialect: SqlDialect) -> Sql {
    let whole = read_sql(text.as_bytes(), dialect);
    match dialect {
        // A line that begins with a dot is a command of the client.
        SqlDialect::Sqlite => {
            let (commands, others): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.starts_with('.'));
            if commands.is_empty() {
                return whole;
            }
            let others = others.join("\n");
            let is_blank = others.trim().is_empty();
            let reads = |text: &str| read_sql(text.as_bytes(), dialect) == Sql::Reads;
            let all = commands.iter().all(|command| reads(command)) && (is_blank || reads(&others));
            if all { Sql::Reads } else { whole.max(Sql::Unknown) }
        }
        // Commands of this client may stand anywhere in a line.
        SqlDialect::Postgres if whole == Sql::Reads && text.contains(['\\', ':']) => Sql::Unknown,
        SqlDialect::Postgres => whole,
        SqlDialect::MySql | SqlDialect::DuckDb | SqlDialect::ClickHouse => {
            if whole == Sql::Reads {
                Sql::Unknown
            } else {
                whole
            }
        }
    }
}

/// A statement in place of a command: somebody takes the shell for a database.
pub(crate) fn bare_statement(act: &mut Act) {
    let words: Vec<String> =
        act.args.iter().take(2).map(|arg| arg.written().to_lowercase()).collect();
    let guard = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["drop", "table" | "database" | "schema" | "view" | "index" | "user" | "role"]
        | ["truncate", ..] => "lost_work",
        ["delete", "from"] => "rows_deleted",
        _ => return,
    };
    act.note(guard, act.span);
}
