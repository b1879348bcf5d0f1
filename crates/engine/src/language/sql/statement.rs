//! One statement: what its words say it does.

use super::functions::{Function, function, may_precede_parenthesis};
use super::lexer::{Kind, Token};
use super::{Sql, SqlDialect};

/// Judges the tokens between two semicolons.
pub(super) fn judge(
    tokens: &[Token],
    dialect: SqlDialect,
    files: &mut Vec<Option<Vec<u8>>>,
) -> Sql {
    let has_from = tokens.iter().any(|token| token.is(b"from"));
    let mut scan = Scan { tokens, dialect, files, has_from };
    match tokens.iter().find(|token| !token.is_symbol(b'(')) {
        Some(token) if token.kind == Kind::Word => {
            let first = token.text.to_ascii_lowercase();
            scan.judge_statement(&first)
        }
        Some(_) | None => Sql::Unknown,
    }
}

/// Which words in a statement count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// Verbs and functions: the statement is a query.
    All,
    /// Functions, and where the result goes: the verb was judged already.
    Functions,
    /// Only what is worse than a change.
    Worst,
}

struct Scan<'a, 't> {
    tokens: &'a [Token<'t>],
    dialect: SqlDialect,
    files: &'a mut Vec<Option<Vec<u8>>>,
    has_from: bool,
}

impl Scan<'_, '_> {
    fn judge_statement(&mut self, first: &[u8]) -> Sql {
        use SqlDialect::{ClickHouse, DuckDb, MySql, Postgres};
        match first {
            b"select" | b"values" | b"with" | b"table" | b"begin" | b"commit" | b"rollback"
            | b"end" | b"abort" | b"savepoint" | b"release" | b"use" => self.scan(Words::All),
            b"from" | b"summarize" | b"pivot" | b"unpivot" if self.dialect == DuckDb => {
                self.scan(Words::All)
            }
            b"start" if self.tokens.get(1).is_some_and(|token| token.is(b"transaction")) => {
                Sql::Reads
            }
            b"show" => self.scan(Words::Functions),
            b"help" | b"status" if self.dialect == MySql => Sql::Reads,
            b"exists" if self.dialect == ClickHouse => Sql::Reads,
            b"explain" | b"describe" | b"desc" => self.judge_explain(),
            b"pragma" => self.judge_pragma(),
            b"copy" => self.judge_copy(),
            b"delete" | b"drop" | b"purge" | b"truncate" => Sql::Destroys,
            b"alter" if self.has_word(&[b"drop", b"delete", b"truncate", b"clear", b"detach"]) => {
                Sql::Destroys
            }
            b"vacuum" if self.has_word(&[b"into"]) => Sql::Runs,
            b"attach" | b"detach" | b"export" | b"import" | b"install" | b"load" | b"unload" => {
                Sql::Runs
            }
            // Commands of the client, which it finds at the beginning of a statement.
            b"edit" | b"pager" | b"source" | b"system" | b"tee" if self.dialect == MySql => {
                Sql::Runs
            }
            b"alter" | b"analyse" | b"analyze" | b"checkpoint" | b"cluster" | b"comment"
            | b"create" | b"deallocate" | b"discard" | b"flush" | b"grant" | b"insert"
            | b"kill" | b"listen" | b"lock" | b"merge" | b"notify" | b"optimize" | b"reassign"
            | b"refresh" | b"reindex" | b"rename" | b"repair" | b"replace" | b"reset"
            | b"revoke" | b"security" | b"set" | b"start" | b"stop" | b"unlisten" | b"unlock"
            | b"update" | b"upsert" | b"vacuum" => self.scan(Words::Worst).max(Sql::Changes),
            b"system" if self.dialect == ClickHouse => Sql::Changes,
            b"fetch" | b"close" if self.dialect == Postgres => Sql::Reads,
            _ => Sql::Unknown,
        }
    }

    /// Walks over all tokens and looks for what a query must not have.
    fn scan(&mut self, words: Words) -> Sql {
        self.scan_from(0, words)
    }

    fn scan_from(&mut self, start: usize, words: Words) -> Sql {
        let mut worst = Sql::Reads;
        for at in start..self.tokens.len() {
            worst = worst.max(self.scan_token(at, words));
        }
        worst
    }

    fn scan_token(&mut self, at: usize, words: Words) -> Sql {
        let Some(token) = self.tokens.get(at) else { return Sql::Reads };
        let is_called = self.is_symbol(at + 1, b'(');
        let is_member = at > 0 && self.is_symbol(at - 1, b'.');
        match token.kind {
            Kind::Word | Kind::Quoted if is_called => {
                let verdict = self.judge_call(at);
                // Lists of columns look like calls where something is changed.
                if words == Words::Worst && verdict == Sql::Unknown { Sql::Reads } else { verdict }
            }
            Kind::Word if is_member => Sql::Reads,
            Kind::Word if token.is(b"into") => self.judge_into(at, words),
            Kind::Word if words == Words::All => self.judge_word(at),
            Kind::Text | Kind::Quoted => self.judge_source(at),
            Kind::Word | Kind::Number | Kind::Symbol => Sql::Reads,
        }
    }

    /// A verb inside a query: a part that changes something, or a lock.
    fn judge_word(&self, at: usize) -> Sql {
        let Some(token) = self.tokens.get(at) else { return Sql::Reads };
        // `SELECT a AS delete` only names a column.
        if at > 0 && self.is_word(at - 1, b"as") {
            return Sql::Reads;
        }
        let is_lock = token.is(b"lock")
            || (token.is(b"for")
                && [&b"update"[..], b"share", b"no", b"key"]
                    .iter()
                    .any(|word| self.is_word(at + 1, word)));
        let changes: &[&[u8]] =
            &[b"insert", b"update", b"merge", b"create", b"alter", b"grant", b"revoke", b"upsert"];
        let destroys: &[&[u8]] = &[b"delete", b"drop", b"truncate"];
        if destroys.iter().any(|word| token.is(word)) {
            Sql::Destroys
        } else if is_lock || changes.iter().any(|word| token.is(word)) {
            Sql::Changes
        } else {
            Sql::Reads
        }
    }

    /// Where the result of a query goes.
    fn judge_into(&self, at: usize, words: Words) -> Sql {
        if self.is_word(at + 1, b"outfile") || self.is_word(at + 1, b"dumpfile") {
            return Sql::Runs;
        }
        match words {
            // A variable of the session.
            _ if self.is_symbol(at + 1, b'@') => Sql::Reads,
            Words::All | Words::Functions => Sql::Changes,
            Words::Worst => Sql::Reads,
        }
    }

    /// A name with a parenthesis behind it.
    fn judge_call(&mut self, at: usize) -> Sql {
        let Some(token) = self.tokens.get(at) else { return Sql::Reads };
        let is_word = token.kind == Kind::Word;
        let name = token.text.to_ascii_lowercase();
        if is_word && may_precede_parenthesis(&name) {
            return Sql::Reads;
        }
        let function = function(&name, self.dialect);
        match function {
            Some(Function::Runs) => return Sql::Runs,
            Some(Function::Changes) => return Sql::Changes,
            Some(Function::Destroys) => return Sql::Destroys,
            Some(Function::ReadsFiles) => {
                self.add_file(at + 2);
                return Sql::ReadsFiles;
            }
            Some(Function::Computes) | None => {}
        }
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        if before.is_some_and(|token| token.is_symbol(b'.')) {
            // The function of another schema is not the one of this name.
            let schema = at.checked_sub(2).and_then(|schema| self.tokens.get(schema));
            let is_own = schema.is_some_and(|schema| schema.is(b"pg_catalog"));
            return if is_own && function.is_some() { Sql::Reads } else { Sql::Unknown };
        }
        // A type, a name for a table with names for its columns, or a cast.
        let is_name = before.is_some_and(|token| {
            token.is(b"as") || token.is(b"with") || token.is(b"recursive") || token.is_symbol(b':')
        });
        if function.is_some() || is_name || self.names_columns(at) {
            Sql::Reads
        } else {
            Sql::Unknown
        }
    }

    /// Whether `, name (a, b) AS (` begins another part of `WITH`.
    fn names_columns(&self, at: usize) -> bool {
        const NEAR: usize = 64;
        if !(at > 0 && self.is_symbol(at - 1, b',')) {
            return false;
        }
        let close = (at + 2..at + NEAR).find(|index| self.is_symbol(*index, b')'));
        close.is_some_and(|close| self.is_word(close + 1, b"as") && self.is_symbol(close + 2, b'('))
    }

    /// A string or quoted name where a table should stand is a file for some.
    fn judge_source(&mut self, at: usize) -> Sql {
        if !matches!(self.dialect, SqlDialect::DuckDb | SqlDialect::ClickHouse) {
            return Sql::Reads;
        }
        let Some(token) = self.tokens.get(at) else { return Sql::Reads };
        let follows = |word: &[u8]| at > 0 && self.is_word(at - 1, word);
        let is_source = [&b"from"[..], b"join", b"summarize", b"table", b"describe"]
            .iter()
            .any(|word| follows(word));
        // Behind a comma it may be the next table or just the next value.
        let is_next = at > 0 && self.is_symbol(at - 1, b',') && self.has_from;
        let is_path = token.kind == Kind::Text
            || token.text.iter().any(|byte| matches!(byte, b'.' | b'/' | b':'));
        if is_path && (is_source || (is_next && token.kind == Kind::Quoted)) {
            self.add_file(at);
            Sql::ReadsFiles
        } else {
            Sql::Reads
        }
    }

    fn add_file(&mut self, at: usize) {
        let name = self.tokens.get(at).filter(|token| {
            matches!(token.kind, Kind::Text | Kind::Quoted)
                && !token.text.iter().any(|byte| matches!(byte, b'\\' | b'\''))
        });
        // Joined to something else it would be another name.
        let is_whole = self.tokens.get(at + 1).is_none_or(|next| !next.is_symbol(b'|'));
        self.files.push(name.filter(|_| is_whole).map(|token| token.text.to_vec()));
    }

    /// `EXPLAIN` runs the statement only with `ANALYZE`.
    fn judge_explain(&mut self) -> Sql {
        const VERBS: &[&[u8]] = &[
            b"select",
            b"insert",
            b"update",
            b"delete",
            b"replace",
            b"merge",
            b"with",
            b"values",
            b"create",
            b"from",
            b"execute",
            b"call",
            b"drop",
            b"truncate",
            b"alter",
            b"declare",
        ];
        let is_verb = |token: &Token| VERBS.iter().any(|verb| token.is(verb));
        let Some(start) = self.tokens.iter().position(is_verb) else {
            return self.scan(Words::Functions);
        };
        let (options, statement) = self.tokens.split_at(start);
        let analyzes = options.iter().any(|token| token.is(b"analyze") || token.is(b"analyse"));
        let verdict = judge(statement, self.dialect, self.files);
        let is_change = matches!(verdict, Sql::Changes | Sql::Destroys);
        if is_change && !analyzes { Sql::Reads } else { verdict }
    }

    /// Pragmas that show something, with the name of what they show.
    fn judge_pragma(&self) -> Sql {
        const SHOW: &[&[u8]] = &[
            b"collation_list",
            b"compile_options",
            b"database_list",
            b"database_size",
            b"foreign_key_check",
            b"foreign_key_list",
            b"function_list",
            b"index_info",
            b"index_list",
            b"index_xinfo",
            b"integrity_check",
            b"module_list",
            b"platform",
            b"pragma_list",
            b"quick_check",
            b"show",
            b"show_tables",
            b"show_tables_expanded",
            b"storage_info",
            b"table_info",
            b"table_list",
            b"table_xinfo",
            b"version",
        ];
        const SETTINGS: &[&[u8]] = &[
            b"application_id",
            b"auto_vacuum",
            b"automatic_index",
            b"busy_timeout",
            b"cache_size",
            b"data_version",
            b"encoding",
            b"foreign_keys",
            b"freelist_count",
            b"journal_mode",
            b"journal_size_limit",
            b"max_page_count",
            b"mmap_size",
            b"page_count",
            b"page_size",
            b"query_only",
            b"recursive_triggers",
            b"schema_version",
            b"secure_delete",
            b"synchronous",
            b"temp_store",
            b"user_version",
            b"wal_autocheckpoint",
        ];
        let at = if self.is_symbol(2, b'.') { 3 } else { 1 };
        let is_one_of = |names: &[&[u8]]| {
            self.tokens.get(at).is_some_and(|token| names.iter().any(|name| token.is(name)))
        };
        let is_alone = self.tokens.len() == at + 1;
        let has_value = self.tokens.iter().any(|token| token.is_symbol(b'='));
        if (is_one_of(SHOW) && !has_value) || (is_one_of(SETTINGS) && is_alone) {
            Sql::Reads
        } else {
            Sql::Changes
        }
    }

    /// `COPY` to or from the client's own streams, and everything else.
    fn judge_copy(&mut self) -> Sql {
        let ends_at = |word: &[u8]| {
            self.tokens.windows(2).any(|pair| match pair {
                [direction, end] => (direction.is(b"to") || direction.is(b"from")) && end.is(word),
                _ => false,
            })
        };
        let has_text = self.tokens.iter().any(|token| token.kind == Kind::Text);
        if self.dialect != SqlDialect::Postgres || self.has_word(&[b"program"]) {
            Sql::Runs
        } else if ends_at(b"stdout") && !ends_at(b"stdin") {
            // Behind `COPY t` stands a list of columns and no call.
            self.scan_from(2, Words::All)
        } else if ends_at(b"stdin") && !has_text {
            Sql::Changes
        } else {
            Sql::Runs
        }
    }

    fn is_word(&self, at: usize, word: &[u8]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(word))
    }

    fn is_symbol(&self, at: usize, byte: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_symbol(byte))
    }

    fn has_word(&self, words: &[&[u8]]) -> bool {
        self.tokens.iter().any(|token| words.iter().any(|word| token.is(word)))
    }
}
