//! Descriptors: what a command's own redirections say about the files it starts with.

use std::collections::BTreeMap;

use portcullis_shell::{Command, Descriptor, Operator, Redirection, Tree, Value};

use super::record::Record;

/// What a descriptor must lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// The file of this name.
    File(Vec<u8>),
    /// This text, on standard input.
    Text(Vec<u8>),
    /// Nothing: it was closed.
    Closed,
    /// The reader does not say.
    Unknown,
}

/// Where the descriptors of one command lead, as far as its own redirections tell.
#[derive(Clone, Debug, Default)]
pub struct Leads {
    numbered: BTreeMap<u32, Lead>,
    /// Files behind `{name}>`, whose number the shell chooses.
    somewhere: Vec<Vec<u8>>,
}

impl Leads {
    /// What the redirections of a command say, taken in order.
    pub fn of(tree: &Tree, command: &Command) -> Leads {
        let mut leads = Leads::default();
        for redirection in tree.list(command.redirections) {
            leads.redirect(tree, redirection);
        }
        if command.pipes_errors {
            leads.numbered.insert(2, Lead::Unknown);
        }
        leads
    }

    /// Whether the program started with its descriptors so.
    pub fn hold(&self, record: &Record) -> bool {
        let numbered = self.numbered.iter().all(|(number, lead)| {
            let found = record.descriptors.get(number);
            match lead {
                Lead::File(name) => found.is_some_and(|path| *path == absolute(record, name)),
                Lead::Text(text) => {
                    record.name() != b"cat" || *number != 0 || record.input == *text
                }
                // A program's start puts `/dev/null` where a standard descriptor is closed.
                Lead::Closed => found.is_none_or(|path| path == b"/dev/null"),
                Lead::Unknown => true,
            }
        });
        let somewhere = self.somewhere.iter().all(|name| {
            let path = absolute(record, name);
            record.descriptors.iter().any(|(number, found)| *number >= 10 && *found == path)
        });
        numbered && somewhere
    }

    fn redirect(&mut self, tree: &Tree, redirection: &Redirection) {
        let value = tree.only(redirection.target).map(|word| tree.value(word));
        let target = match &value {
            Some(Value::Literal(bytes)) => Some(bytes.to_vec()),
            _ => None,
        };
        let file = target.clone().map_or(Lead::Unknown, Lead::File);
        let number = match redirection.descriptor {
            Descriptor::Default => None,
            Descriptor::Number(span) => {
                std::str::from_utf8(tree.text(span)).ok().and_then(|digits| digits.parse().ok())
            }
            Descriptor::Variable(_) => {
                if let Some(name) = target.filter(|_| opens_file(redirection.operator)) {
                    self.somewhere.push(name);
                }
                return;
            }
        };
        match redirection.operator {
            Operator::Read | Operator::ReadWrite => self.set(number.unwrap_or(0), file),
            Operator::Write | Operator::Append | Operator::Clobber => {
                self.set(number.unwrap_or(1), file);
            }
            Operator::WriteBoth | Operator::AppendBoth => {
                self.set(1, file.clone());
                self.set(2, file);
            }
            Operator::CopyIn => self.copy(number.unwrap_or(0), target.as_deref(), false),
            Operator::CopyOut => {
                self.copy(number.unwrap_or(1), target.as_deref(), number.is_none());
            }
            Operator::Heredoc | Operator::HeredocTabs => {
                let body = redirection.heredoc.and_then(|heredoc| tree.only(heredoc.body));
                let text = match body.map(|word| tree.value(word)) {
                    Some(Value::Literal(bytes)) => Lead::Text(bytes.to_vec()),
                    None if redirection.heredoc.is_some() => Lead::Text(Vec::new()),
                    _ => Lead::Unknown,
                };
                self.set(number.unwrap_or(0), text);
            }
            Operator::HereString => {
                let text = target.map_or(Lead::Unknown, |mut bytes| {
                    bytes.push(b'\n');
                    Lead::Text(bytes)
                });
                self.set(number.unwrap_or(0), text);
            }
        }
    }

    fn set(&mut self, number: u32, lead: Lead) {
        self.numbered.insert(number, lead);
    }

    /// `>&word` and `<&word`: another descriptor, a closing dash, or a file for both outputs.
    fn copy(&mut self, number: u32, target: Option<&[u8]>, may_be_file: bool) {
        let text = target.and_then(|bytes| std::str::from_utf8(bytes).ok());
        let lead = match text {
            Some("-") => Lead::Closed,
            Some(word) => {
                let digits = word.strip_suffix('-').unwrap_or(word);
                if let Ok(other) = digits.parse::<u32>() {
                    let lead = self.numbered.get(&other).cloned().unwrap_or(Lead::Unknown);
                    if digits.len() < word.len() && other != number {
                        self.set(other, Lead::Closed);
                    }
                    lead
                } else if may_be_file && !word.is_empty() {
                    let lead = Lead::File(word.as_bytes().to_vec());
                    self.set(2, lead.clone());
                    lead
                } else {
                    Lead::Unknown
                }
            }
            None => {
                if may_be_file {
                    self.set(2, Lead::Unknown);
                }
                Lead::Unknown
            }
        };
        self.set(number, lead);
    }
}

/// Whether the operator opens the file it names.
pub fn opens_file(operator: Operator) -> bool {
    match operator {
        Operator::Read
        | Operator::Write
        | Operator::Append
        | Operator::Clobber
        | Operator::ReadWrite
        | Operator::WriteBoth
        | Operator::AppendBoth => true,
        Operator::CopyIn
        | Operator::CopyOut
        | Operator::Heredoc
        | Operator::HeredocTabs
        | Operator::HereString => false,
    }
}

/// The path of a file that a program's own redirection calls `name`.
fn absolute(record: &Record, name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let mut path: Vec<&[u8]> = record.directory.split(|byte| *byte == b'/').collect();
    for step in name.split(|byte| *byte == b'/') {
        match step {
            b"" | b"." => {}
            b".." => {
                path.pop();
            }
            _ => path.push(step),
        }
    }
    path.join(&b'/')
}

/// Whether a path can be the file a redirection calls `name`, from whatever directory.
pub fn is_named(path: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b"/") {
        return path == name;
    }
    let last = |path: &[u8]| path.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec);
    last(path) == last(name)
}
