//! find expressions: where find starts, what it removes, writes and runs.
//!
//! Predicates of GNU, BSD and busybox find are in [`predicates`]; one that is not there makes
//! the expression unknown, because nobody could tell how many arguments it takes.

use self::predicates::{Predicate, predicate};
use super::{Facts, Run, Word, is_stream, owned};

mod predicates;
#[cfg(test)]
mod tests;

/// A call of find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Find {
    /// Where it starts to search, as written; `.` if nothing is given.
    pub starts: Vec<Option<Vec<u8>>>,
    /// The indices of the arguments that are start paths, one for each that was given.
    pub start_indices: Vec<usize>,
    /// What the expression does with what is found. Of a command's arguments, `{}` is `None`;
    /// those that hold it among other text stand as they are written.
    pub facts: Facts,
    /// Whether the expression itself removes what is found (`-delete`).
    pub may_remove: bool,
    /// Whether some command runs in the directory of what is found (`-execdir`, `-okdir`), so
    /// that its relative names mean files there.
    pub runs_where_found: bool,
    /// Whether `{}` may begin with a dash and so look like an option of the command.
    pub may_begin_with_dash: bool,
}

/// Reads the arguments of find.
///
/// A start path of which only a beginning is known may be given as that beginning, if the
/// beginning alone shows that it is no part of the expression.
#[must_use]
pub fn find(arguments: &[Word]) -> Find {
    let mut reader = Reader { words: arguments, at: 0, find: Find::default(), depth: 0 };
    if let Err(reason) = reader.read() {
        reader.find.facts.doubt(reason);
    }
    let mut find = reader.find;
    if find.starts.is_empty() {
        find.starts.push(Some(b".".to_vec()));
    }
    find.may_begin_with_dash |=
        find.starts.iter().any(|start| start.as_ref().is_none_or(|start| start.starts_with(b"-")));
    if find.may_remove {
        find.facts.deletes.clone_from(&find.starts);
    }
    find
}

type Parsed<T> = Result<T, &'static str>;

struct Reader<'a> {
    words: &'a [Word<'a>],
    at: usize,
    find: Find,
    /// Open parentheses.
    depth: usize,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Parsed<()> {
        self.read_options()?;
        self.read_starts()?;
        while self.at < self.words.len() {
            self.read_term()?;
        }
        if self.depth == 0 { Ok(()) } else { Err("a parenthesis of find is not closed") }
    }

    /// Options that stand before the start paths.
    fn read_options(&mut self) -> Parsed<()> {
        while let Some(word) = self.words.get(self.at) {
            let word = word.ok_or("the first argument of find is not known")?;
            match word {
                b"--" => {
                    self.at += 1;
                    return Ok(());
                }
                b"-D" => {
                    self.at += 1;
                    self.take()?.ok_or("a debug option of find is not known")?;
                }
                b"-f" => {
                    self.at += 1;
                    let index = self.at;
                    let start = self.take()?;
                    self.add_start(index, start);
                }
                [b'-', b'O', level @ ..] if level.iter().all(u8::is_ascii_digit) => self.at += 1,
                // `-d`, `-s` and `-x` are flags of BSD find; GNU find takes `-d` for `-depth`.
                [b'-', flags @ ..]
                    if !flags.is_empty() && flags.iter().all(|flag| b"HLPEXdsx".contains(flag)) =>
                {
                    self.at += 1;
                }
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn read_starts(&mut self) -> Parsed<()> {
        while let Some(word) = self.words.get(self.at) {
            let word = word.ok_or("a start path of find is not known and may be an expression")?;
            if is_expression(word) {
                return Ok(());
            }
            self.add_start(self.at, Some(word));
            self.at += 1;
        }
        Ok(())
    }

    fn add_start(&mut self, index: usize, start: Word) {
        self.find.starts.push(owned(start));
        self.find.start_indices.push(index);
    }

    /// One predicate or operator.
    fn read_term(&mut self) -> Parsed<()> {
        let name = self.take()?.ok_or("a part of the find expression is not known")?;
        match name {
            b"(" => self.depth += 1,
            b")" => {
                self.depth =
                    self.depth.checked_sub(1).ok_or("a parenthesis of find is not opened")?;
            }
            b"!" | b"," => {}
            _ => match predicate(name).ok_or("an unknown predicate of find")? {
                Predicate::Plain(values) => {
                    for _ in 0..values {
                        self.take()?;
                    }
                }
                Predicate::Depth => {
                    // BSD find takes a number here, which no other find would accept.
                    if self.words.get(self.at).copied().flatten().is_some_and(is_number) {
                        self.at += 1;
                    }
                }
                Predicate::Delete => self.find.may_remove = true,
                Predicate::Print(values) => {
                    let file = self.take()?;
                    if !file.is_some_and(is_stream) {
                        self.find.facts.writes.push(owned(file));
                    }
                    for _ in 1..values {
                        self.take()?;
                    }
                }
                Predicate::StartsFrom => {
                    let file = self.take()?;
                    if file != Some(b"-") {
                        self.find.facts.reads.push(owned(file));
                    }
                    self.find.starts.push(None);
                }
                Predicate::Execute { plus, directory } => {
                    self.find.runs_where_found |= directory;
                    // BSD find gives the bare name, without `./` before it.
                    self.find.may_begin_with_dash |= directory;
                    let argv = self.read_command(plus)?;
                    self.find.facts.runs.push(Run::Argv(argv));
                }
            },
        }
        Ok(())
    }

    /// The command of `-exec` and its kin, up to `;` or `{} +`.
    fn read_command(&mut self, plus: bool) -> Parsed<Vec<Option<Vec<u8>>>> {
        let mut argv = Vec::new();
        let mut last: Word = Some(b"");
        loop {
            let Ok(word) = self.take() else {
                // Find refuses it; rules that deny are tried on it all the same.
                self.find.facts.runs.push(Run::Argv(argv));
                return Err("a command of find is not closed by `;` or `+`");
            };
            match word {
                Some(b";") => break,
                Some(b"+") if plus && last == Some(b"{}") => break,
                Some(b"+") if last.is_none() => {
                    return Err("whether a command of find ends is not known");
                }
                Some(b"{}") => argv.push(None),
                Some(word) => argv.push(Some(word.to_vec())),
                None => {
                    self.check_after_unknown()?;
                    argv.push(None);
                }
            }
            last = word;
        }
        if argv.is_empty() { Err("find is given no command to run") } else { Ok(argv) }
    }

    /// An unknown word may be the `;` that ends the command. Then the next argument begins an
    /// expression, or find refuses everything.
    fn check_after_unknown(&self) -> Parsed<()> {
        match self.words.get(self.at) {
            Some(Some(next))
                if predicate(next).is_none() && !matches!(*next, b"(" | b"!" | b"," | b")") =>
            {
                Ok(())
            }
            _ => Err("an unknown argument may end the command of find"),
        }
    }

    fn take(&mut self) -> Parsed<Word<'a>> {
        let word = self.words.get(self.at).ok_or("a predicate of find lacks its value")?;
        self.at += 1;
        Ok(*word)
    }
}

/// Whether a word ends the start paths.
fn is_expression(word: &[u8]) -> bool {
    match word {
        b"-" => false,
        b"!" | b"(" | b")" | b"," => true,
        _ => word.starts_with(b"-"),
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"+").or_else(|| word.strip_prefix(b"-")).unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
