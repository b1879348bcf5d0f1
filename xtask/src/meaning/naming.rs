//! Naming: every command and every file that the tree of a text names.
//!
//! Text that only runs later is opened too where it is literal: what `eval` and `trap` are given,
//! and values that an arithmetic context expands again. Whoever judges a command does the same.

use portcullis_shell::{Dialect, Kind, Operator, Place, Reader, Refusal, Tree, Value};

use super::descriptors::Leads;
use super::fields::{Claim, account, claims};
use super::record::Record;

/// How deep text inside text is opened.
const DEPTH: usize = 6;

/// Builtins that evaluate a subscript in a word they are given.
const EVALUATING: [&[u8]; 14] = [
    b"test",
    b"[",
    b"printf",
    b"read",
    b"unset",
    b"declare",
    b"typeset",
    b"local",
    b"export",
    b"readonly",
    b"let",
    b"mapfile",
    b"getopts",
    b"wait",
];

/// One simple command of the tree.
#[derive(Clone, Debug)]
pub struct Named {
    /// What its words become.
    pub claims: Vec<Claim>,
    /// Where its own redirections lead.
    pub leads: Leads,
    /// Whether it stands in a value, and runs only if that is expanded again.
    pub is_data: bool,
}

/// All that a text names.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// The simple commands.
    pub commands: Vec<Named>,
    /// The targets of redirections that can make or change a file.
    pub targets: Vec<Vec<Claim>>,
    /// Whether text is run that the reader does not know.
    pub is_open: bool,
}

/// Reads a text and tells what it names.
pub fn name(reader: &Reader, text: &[u8]) -> Result<(Naming, String), Refusal> {
    let tree = reader.parse(text)?;
    let mut naming = Naming::default();
    naming.add(reader, &tree, Source { depth: 0, is_data: false });
    Ok((naming, tree.shape()))
}

/// Where a text comes from.
#[derive(Clone, Copy)]
struct Source {
    depth: usize,
    is_data: bool,
}

impl Source {
    /// Text that a text of this source is given to run.
    fn inner(self) -> Source {
        Source { depth: self.depth + 1, ..self }
    }
}

impl Naming {
    fn add(&mut self, reader: &Reader, tree: &Tree, source: Source) {
        for command in tree.commands() {
            for redirection in tree.list(command.redirections) {
                let writes = !matches!(
                    redirection.operator,
                    Operator::Read
                        | Operator::CopyIn
                        | Operator::Heredoc
                        | Operator::HeredocTabs
                        | Operator::HereString
                );
                if writes && let Some(word) = tree.only(redirection.target) {
                    self.targets.push(claims(&tree.value(word)));
                }
            }
            if let Kind::Simple(simple) = command.kind {
                let words: Vec<Claim> = tree
                    .list(simple.words)
                    .iter()
                    .flat_map(|word| claims(&tree.value(word)))
                    .collect();
                if !words.is_empty() {
                    self.open(reader, &words, source);
                    // With several redirections of one descriptor zsh serves them all.
                    let leads = if tree.dialect() == Dialect::Zsh {
                        Leads::default()
                    } else {
                        Leads::of(tree, command)
                    };
                    self.commands.push(Named { claims: words, leads, is_data: source.is_data });
                }
            }
        }
        for word in tree.words() {
            if word.place == Place::Value
                && let Value::Literal(bytes) = tree.value(word)
            {
                self.expand_again(reader, bytes, source);
            }
        }
    }

    /// Opens the text that a command is given to run.
    fn open(&mut self, reader: &Reader, words: &[Claim], source: Source) {
        let Some(bare) = bare(words) else { return };
        let Some(Claim::Exactly(program)) = bare.claims.first() else { return };
        let rest = bare.claims.get(1..).unwrap_or_default();
        let literal = |claim: &Claim| match claim {
            Claim::Exactly(bytes) => Some(bytes.clone()),
            Claim::One(_) | Claim::Some(_) | Claim::Any(_) => None,
        };
        match program.as_slice() {
            b"eval" => match rest.iter().map(literal).collect::<Option<Vec<_>>>() {
                Some(words) => self.read_text(reader, &words.join(&b' '), source),
                None => self.is_open = true,
            },
            b"trap" => match rest.first().map(literal) {
                Some(Some(text)) => self.read_text(reader, &text, source),
                Some(None) => self.is_open = true,
                None => {}
            },
            b"." | b"source" => self.is_open = true,
            other if EVALUATING.contains(&other) => {
                for text in rest.iter().filter_map(literal) {
                    self.expand_again(reader, &text, source);
                }
            }
            _ => {}
        }
    }

    fn read_text(&mut self, reader: &Reader, text: &[u8], source: Source) {
        match reader.parse(text) {
            Ok(tree) if source.depth < DEPTH => self.add(reader, &tree, source.inner()),
            _ => self.is_open = true,
        }
    }

    /// Opens what a second expansion of a value would run.
    fn expand_again(&mut self, reader: &Reader, value: &[u8], source: Source) {
        if value.windows(2).any(|pair| pair == b"$(") || value.contains(&b'`') {
            let text = [b": <<THE_END\n", value, b"\nTHE_END\n"].concat();
            match reader.parse(&text) {
                Ok(tree) if source.depth < DEPTH => {
                    self.add(reader, &tree, Source { is_data: true, ..source.inner() });
                }
                _ => self.is_open = true,
            }
        }
    }
}

impl Named {
    /// Whether this command can be the one that started a program with these arguments.
    pub fn accounts(&self, record: &Record) -> bool {
        if account(&self.claims, &record.arguments) {
            return true;
        }
        // What stands first may be nothing at all, and then the next word is the builtin.
        let vanishing =
            self.claims.iter().take_while(|claim| matches!(claim, Claim::Any(_))).count();
        (0..=vanishing).filter_map(|start| bare(self.claims.get(start..)?)).any(|bare| {
            let Some(called) = &bare.called else {
                return account(&bare.claims, &record.arguments);
            };
            let (program, rest) = match bare.claims.split_first() {
                Some((Claim::Exactly(program), rest)) => (program.as_slice(), rest.to_vec()),
                Some((Claim::One(_), rest)) => (record.name(), rest.to_vec()),
                Some((Claim::Some(_) | Claim::Any(_), rest)) => {
                    (record.name(), [&[Claim::Any(Vec::new())], rest].concat())
                }
                None => return false,
            };
            program.ends_with(record.name())
                && record.arguments.split_first().is_some_and(|(first, fields)| {
                    account(std::slice::from_ref(called), std::slice::from_ref(first))
                        && account(&rest, fields)
                })
        })
    }

    /// Whether nothing about its words is left open.
    pub fn is_exact(&self) -> bool {
        self.claims.iter().all(|claim| matches!(claim, Claim::Exactly(_)))
    }

    /// Whether one of its words is exactly this.
    pub fn says(&self, word: &[u8]) -> bool {
        self.claims.iter().any(|claim| matches!(claim, Claim::Exactly(bytes) if bytes == word))
    }
}

/// A command without the builtins that only pass it on.
struct Bare {
    /// The name given by `exec -a`.
    called: Option<Claim>,
    claims: Vec<Claim>,
}

/// Takes `command`, `builtin` and `exec` off; nothing where nothing would run.
fn bare(claims: &[Claim]) -> Option<Bare> {
    let mut rest = claims;
    let mut called = None;
    let says = |claim: Option<&Claim>, words: &[&[u8]]| matches!(claim, Some(Claim::Exactly(bytes)) if words.contains(&bytes.as_slice()));
    while says(rest.first(), &[b"command", b"builtin", b"exec"]) {
        let may_name = says(rest.first(), &[b"exec"]);
        rest = rest.get(1..)?;
        loop {
            let glued = match rest.first() {
                Some(Claim::Exactly(word)) if may_name => word.strip_prefix(b"-a"),
                _ => None,
            };
            if says(rest.first(), &[b"-v", b"-V"]) {
                return None;
            } else if may_name && says(rest.first(), &[b"-a"]) {
                called = Some(rest.get(1)?.clone());
                rest = rest.get(2..)?;
            } else if let Some(name) = glued {
                called = Some(Claim::Exactly(name.to_vec()));
                rest = rest.get(1..)?;
            } else if says(rest.first(), &[b"--", b"-c"]) {
                rest = rest.get(1..)?;
            } else {
                break;
            }
        }
    }
    Some(Bare { called, claims: rest.to_vec() })
}
