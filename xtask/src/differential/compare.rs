//! Comparing: one text, our reader and one shell.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use portcullis_shell::{Refusal, RefusalKind, Span, Tree};

use super::explain::Rules;
use super::laws;
use super::minimise::minimise;
use super::oracle::{Answer, Oracle, Shell};
use super::structure;

/// How our answer stands to theirs.
#[derive(Clone, Debug)]
pub enum Relation {
    /// Both accept.
    BothAccept,
    /// Both refuse.
    BothRefuse,
    /// We refuse what they accept.
    WeRefuse {
        /// Our kind of refusal.
        kind: RefusalKind,
        /// Our sentence.
        message: String,
        /// Where we stopped.
        span: Span,
    },
    /// We accept what they reject.
    WeAccept {
        /// Their complaint.
        complaint: String,
    },
    /// We accept it, and our tree breaks a law of its own.
    Unlawful {
        /// Which one, and how.
        law: String,
    },
    /// The shell gave no answer.
    Silent,
}

impl Relation {
    /// What failures with the same cause mostly have in common; nothing where nothing failed.
    pub fn key(&self) -> Option<String> {
        match self {
            Relation::BothAccept | Relation::BothRefuse | Relation::Silent => None,
            Relation::WeRefuse { kind, message, .. } => {
                Some(format!("we refuse ({}): {}", kind.name(), without_details(message)))
            }
            Relation::WeAccept { complaint } => {
                Some(format!("we accept, they say: {}", without_details(complaint)))
            }
            Relation::Unlawful { law } => {
                let law = law.split_once("; it is").map_or(law.as_str(), |(law, _)| law);
                Some(format!("law: {}", without_details(law)))
            }
        }
    }
}

/// A message without what it quotes and without numbers.
fn without_details(message: &str) -> String {
    let mut plain = String::new();
    let mut quoted = false;
    for byte in message.chars() {
        match byte {
            '`' if !quoted => quoted = true,
            '`' | '\'' if quoted => {
                quoted = false;
                plain.push('…');
            }
            _ if quoted => {}
            '0'..='9' if plain.ends_with('N') => {}
            '0'..='9' => plain.push('N'),
            _ => plain.push(byte),
        }
    }
    plain
}

/// One worker's means to compare.
pub struct Comparer {
    oracle: Oracle,
    rules: Arc<Rules>,
}

impl Comparer {
    /// A comparer that keeps the text it asks about in `directory` under `name`.
    pub fn new(directory: &Path, name: &str, rules: Arc<Rules>) -> Comparer {
        Comparer { oracle: Oracle::new(directory, name), rules }
    }

    /// The same comparer, for asking about many texts that are almost the same.
    pub fn remembering(self) -> Comparer {
        Comparer { oracle: self.oracle.remembering(), ..self }
    }

    /// Reads `text` with our reader and with `shell`.
    pub fn compare(&self, shell: Shell, text: &[u8]) -> anyhow::Result<Relation> {
        let ours = read(shell, text);
        let theirs = self.oracle.ask(shell, text)?;
        Ok(match (ours, theirs) {
            (_, Answer::Silent) => Relation::Silent,
            (Read::Panicked(law), _) => Relation::Unlawful { law },
            (Read::Accepted(_), Answer::Rejects(complaint)) => Relation::WeAccept { complaint },
            (Read::Accepted(tree), Answer::Accepts) => match law(shell, &tree) {
                Some(law) => Relation::Unlawful { law },
                None => match self.structure(shell, text, &tree)? {
                    Some(law) => Relation::Unlawful { law },
                    None => Relation::BothAccept,
                },
            },
            (Read::Refused(_), Answer::Rejects(_)) => Relation::BothRefuse,
            (Read::Refused(refusal), Answer::Accepts) => Relation::WeRefuse {
                kind: refusal.kind,
                message: refusal.message,
                span: refusal.span,
            },
        })
    }

    /// How the commands that bash prints differ from ours.
    fn structure(&self, shell: Shell, text: &[u8], tree: &Tree) -> anyhow::Result<Option<String>> {
        let printed = self.oracle.reprint(shell, text)?;
        Ok(printed.and_then(|printed| structure::differs(&shell.reader(), tree, &printed)))
    }

    /// The name of the listed difference that explains a failure.
    pub fn explain(
        &self,
        shell: Shell,
        text: &[u8],
        relation: &Relation,
    ) -> anyhow::Result<Option<&str>> {
        self.rules.explain(&self.oracle, shell, text, relation)
    }

    /// Whether `text` fails with this key.
    pub fn fails_alike(&self, shell: Shell, text: &[u8], key: &str) -> anyhow::Result<bool> {
        // Our own answer costs a thousandth of theirs: most candidates are settled by it.
        let ours = read(shell, text);
        let hopeless = match ours {
            Read::Accepted(_) => key.starts_with("we refuse"),
            Read::Refused(_) => !key.starts_with("we refuse"),
            Read::Panicked(_) => false,
        };
        if hopeless {
            return Ok(false);
        }
        Ok(self.compare(shell, text)?.key().as_deref() == Some(key))
    }

    /// Whether `text` fails with this key and no listed difference explains it.
    pub fn fails_unexplained(&self, shell: Shell, text: &[u8], key: &str) -> anyhow::Result<bool> {
        let relation = self.compare(shell, text)?;
        Ok(relation.key().as_deref() == Some(key)
            && self.explain(shell, text, &relation)?.is_none())
    }

    /// The smallest text that fails like `text` and is not explained either.
    ///
    /// To explain takes long, so it is only asked at the end; where it turns out that a smaller
    /// text is explained, it is asked at every step.
    pub fn smallest(&self, shell: Shell, text: &[u8], key: &str) -> anyhow::Result<Vec<u8>> {
        let small = minimise(text, &mut |text| self.fails_alike(shell, text, key))?;
        if self.fails_unexplained(shell, &small, key)? {
            return Ok(small);
        }
        minimise(text, &mut |text| {
            Ok(self.fails_alike(shell, text, key)? && self.fails_unexplained(shell, text, key)?)
        })
    }
}

/// What our reader made of a text.
pub enum Read {
    Accepted(Box<Tree>),
    Refused(Refusal),
    Panicked(String),
}

/// Reads a text; a panic is an answer too, and the worst.
pub fn read(shell: Shell, text: &[u8]) -> Read {
    let reader = shell.reader();
    match catch_unwind(AssertUnwindSafe(|| reader.parse(text))) {
        Ok(Ok(tree)) => Read::Accepted(Box::new(tree)),
        Ok(Err(refusal)) => Read::Refused(refusal),
        Err(_) => Read::Panicked("the reader panics".to_owned()),
    }
}

fn law(shell: Shell, tree: &Tree) -> Option<String> {
    let reader = shell.reader();
    catch_unwind(AssertUnwindSafe(|| laws::broken(&reader, tree)))
        .unwrap_or_else(|_| Some("the printer panics".to_owned()))
}
