//! Readers of the small languages inside arguments: sed scripts, awk programs, find expressions …
//!
//! Each reader takes text or arguments and tells what running them would do, as [`Facts`] or as
//! a type of its own. It knows the language, not danger and not the disk: names of files are
//! given as written, and the analysis that called it judges them. What a reader cannot follow to
//! the end it says so ([`Facts::unknown`]); it never guesses that something is harmless.
//!
//! Arguments are [`Word`]s: known bytes, or `None` for exactly one argument whose value is not
//! known. An expansion that may become several arguments is not a word; whoever has one treats
//! the whole command as unknown. To add a language, add a file under `language/` with its cases.

mod awk;
mod cursor;
mod dd;
mod env;
mod expression;
mod find;
mod jq;
mod mongo;
mod options;
mod patch;
mod sed;
mod sql;
mod tar;
mod test;
mod xargs;

pub use awk::awk;
pub use dd::dd;
pub use env::{Env, env};
pub use expression::globs_of_expression;
pub use find::{Find, find};
pub use jq::{jq, yq};
pub use mongo::mongo_reads;
pub use patch::{Change, Patch, patch_targets};
pub use sed::sed;
pub use sql::{Sql, SqlDialect, sql, sql_files};
pub use tar::{Tar, TarMode, tar};
pub use test::{bracket, test};
pub use xargs::{Xargs, xargs};

/// One argument: its bytes, or `None` for exactly one argument that is not known before it runs.
pub type Word<'a> = Option<&'a [u8]>;

/// What a program text inside an argument would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Files it reads, as written, relative to the working directory; `None` is a name not known
    /// before it runs.
    pub reads: Vec<Option<Vec<u8>>>,
    /// Files it creates, overwrites or appends to.
    pub writes: Vec<Option<Vec<u8>>>,
    /// Files it removes.
    pub deletes: Vec<Option<Vec<u8>>>,
    /// Commands it runs.
    pub runs: Vec<Run>,
    /// Whether it opens a connection.
    pub connects: bool,
    /// How much of the environment it reads, and so may print.
    pub environment: Environment,
    /// Why it could not be read to the end, if it could not: then nothing about it is certain.
    pub unknown: Option<&'static str>,
}

/// How much of the environment is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Environment {
    /// Nothing of it.
    #[default]
    Untouched,
    /// Variables that are named.
    Named,
    /// All of it, or variables whose names are not known before it runs.
    Whole,
}

/// In which directory a command works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Directory {
    /// Where it is started.
    #[default]
    Same,
    /// In this one.
    Named(Vec<u8>),
    /// In one that is not known before it runs.
    Unknown,
}

/// A command that a program text runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// Text that is given to `sh -c`.
    Shell(Vec<u8>),
    /// A command with its arguments; `None` is an argument not known before it runs.
    Argv(Vec<Option<Vec<u8>>>),
    /// A command not known before it runs.
    Unknown,
}

impl Facts {
    /// Facts of a text that could not be read.
    #[must_use]
    pub fn of_unknown(reason: &'static str) -> Facts {
        Facts { unknown: Some(reason), ..Facts::default() }
    }

    /// Whether the text does nothing but compute and print.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        *self == Facts::default()
    }

    /// Adds what another text does; of two reasons for not knowing the first stays.
    pub fn merge(&mut self, other: Facts) {
        let Facts { reads, writes, deletes, runs, connects, environment, unknown } = other;
        add_new(&mut self.reads, reads);
        add_new(&mut self.writes, writes);
        add_new(&mut self.deletes, deletes);
        add_new(&mut self.runs, runs);
        self.connects |= connects;
        self.environment = self.environment.max(environment);
        self.unknown = self.unknown.or(unknown);
    }

    /// Notes why the text cannot be followed; the first reason stays.
    fn doubt(&mut self, reason: &'static str) {
        self.unknown = self.unknown.or(Some(reason));
    }
}

/// Two readings of one text mostly agree; a fact is kept once, as long as there are few.
fn add_new<T: PartialEq>(facts: &mut Vec<T>, others: Vec<T>) {
    const FEW: usize = 64;
    let old = facts.len().min(FEW);
    for other in others {
        if !facts.iter().take(old).any(|fact| *fact == other) {
            facts.push(other);
        }
    }
}

/// Whether a file name is one of the process's own streams, which programs open specially.
fn is_stream(name: &[u8]) -> bool {
    matches!(name, b"/dev/stdin" | b"/dev/stdout" | b"/dev/stderr")
}

/// An owned word.
fn owned(word: Word) -> Option<Vec<u8>> {
    word.map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_facts_name_everything_once() {
        let mut facts = Facts {
            writes: vec![Some(b"a".to_vec())],
            environment: Environment::Named,
            ..Facts::of_unknown("first")
        };
        facts.merge(Facts {
            writes: vec![Some(b"a".to_vec()), Some(b"b".to_vec()), None],
            runs: vec![Run::Unknown],
            connects: true,
            ..Facts::of_unknown("second")
        });
        assert_eq!(facts.writes, [Some(b"a".to_vec()), Some(b"b".to_vec()), None]);
        assert_eq!(facts.runs, [Run::Unknown]);
        assert!(facts.connects && facts.environment == Environment::Named);
        assert_eq!(facts.unknown, Some("first"));
        assert!(Facts::default().is_harmless() && !facts.is_harmless());
    }

    /// Pieces that mean something to one reader or another.
    #[rustfmt::skip]
    const PIECES: &[&[u8]] = &[
        b"a", b" ", b"\n", b"s/", b"/", b"[", b"]", b"[:", b":]", b"\\", b"\"", b"'", b"{", b"}", b"(", b")",
        b"w x", b"e", b"print", b">", b"|", b"getline", b"<", b"system(", b"ARGV[", b"ENVIRON", b"length",
        b"++", b"$", b"@", b"#", b"--", b"/*", b"*/", b";", b"select ", b"delete", b"\\(", b"$a$", b".", b"::",
        b",", b"=", b"\xc3", b"\xc3\xa9", b"*** Begin Patch\n", b"*** Add File: x\n", b"*** End Patch\n",
        b"--- a/x\n", b"+++ b/x\n", b"@@ -1,2 +3 @@\n", b"1", b"e5", b"explain", b"pragma", b"copy", b"stdout",
        b"-S", b"env", b"${X}", b"\\c", b"-exec", b"{}", b"+", b"-delete", b"-I", b"xf", b"-C", b"--file", b"--",
        b"-", b"-v", b"a[x]", b"if=", b"\r", b"import", b"load(", b"\"a\"", b"into", b"\"\\303\\274\"",
    ];

    fn read_everything(text: &[u8], words: &[Word]) {
        let _ = (sed(&[text], false), awk(text), jq(text), yq(text), patch_targets(text).facts());
        for dialect in [
            SqlDialect::Postgres,
            SqlDialect::MySql,
            SqlDialect::Sqlite,
            SqlDialect::DuckDb,
            SqlDialect::ClickHouse,
        ] {
            let _ = (sql(text, dialect), sql_files(text, dialect));
        }
        let _ = (find(words), test(words), bracket(words), xargs(words), dd(words));
        let _ = (env(words), env(&[Some(b"-S"), Some(text)]), tar(words));
    }

    #[test]
    fn every_reader_ends_on_any_bytes() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut pick = |limit: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed >> 11).unwrap() % limit
        };
        for _ in 0..5_000 {
            let chosen: Vec<&[u8]> = (0..pick(24)).map(|_| PIECES[pick(PIECES.len())]).collect();
            let words: Vec<Word> =
                chosen.iter().map(|piece| (pick(8) > 0).then_some(*piece)).collect();
            read_everything(&chosen.concat(), &words);
        }
        for piece in PIECES {
            read_everything(&piece.repeat(8_000 / piece.len()), &vec![Some(*piece); 2_000]);
        }
    }
}
