//! Texts that a script writes into files: who runs such a file runs the text.

use portcullis_shell::{Command, Kind, Operator, Span, Value};

use super::simple::printed;
use super::walk::{Feed, Walk};
use super::{Analysis, names};
use crate::act::Act;
use crate::arg::{Arg, Text};
use crate::place;

/// How many texts are kept apart; what comes behind is added to the last.
const TEXTS: usize = 32;

/// A text in a file that the script itself wrote.
#[derive(Debug)]
pub(crate) struct Written {
    /// The names of the file: where it was written, and where it was copied to.
    names: Vec<String>,
    text: String,
}

impl Walk<'_, '_> {
    /// Notes the texts that a command, whose acts begin at `first`, puts into files.
    pub(super) fn note_written(&mut self, command: &Command, first: usize) {
        let mut files = self.redirected(command);
        let is_plain = matches!(command.kind, Kind::Simple(_));
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        for act in acts.iter().filter(|_| is_plain) {
            match act.base_name() {
                Some("tee") => files.extend(operands(act).map(str::to_owned)),
                Some("dd") => {
                    let named = operands(act).filter_map(|word| word.strip_prefix("of="));
                    files.extend(named.map(str::to_owned));
                }
                _ => {}
            }
        }
        if is_plain {
            self.analysis.copied(first);
        }
        if files.is_empty() {
            return;
        }
        let text = self.put(command, first);
        if text.trim().is_empty() {
            return;
        }
        // Whoever reads one of these files later may get the names in it.
        self.analysis.keep(names::of_text(&text));
        let names = files.iter().map(|name| self.analysis.located(name)).collect::<Vec<_>>();
        let written = &mut self.analysis.written;
        let is_full = written.len() >= TEXTS;
        match written.last_mut().filter(|_| is_full) {
            Some(last) => {
                last.names.extend(names);
                last.text.push('\n');
                last.text.push_str(&text);
            }
            None => written.push(Written { names, text }),
        }
    }

    /// The files that the redirections of a command write, where their names are known.
    fn redirected(&self, command: &Command) -> Vec<String> {
        let writes = |operator| {
            matches!(
                operator,
                Operator::Write
                    | Operator::Append
                    | Operator::Clobber
                    | Operator::ReadWrite
                    | Operator::WriteBoth
                    | Operator::AppendBoth
            )
        };
        let all = self.tree.list(command.redirections).iter();
        let targets = all.filter(|redirection| writes(redirection.operator)).filter_map(|one| {
            let args = self.args(self.tree.list(one.target));
            args.first().and_then(name_of)
        });
        targets.collect()
    }

    /// What a command writes, as far as it stands in the script.
    fn put(&self, command: &Command, first: usize) -> String {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let mut pieces: Vec<String> = Vec::new();
        if let Feed::Text(text) = &self.analysis.feed {
            pieces.push(text.clone());
        }
        let is_inside =
            |span: Span| command.span.start <= span.start && span.end <= command.span.end;
        let is_plain = matches!(command.kind, Kind::Simple(_));
        for inner in self.tree.commands().filter(|inner| is_inside(inner.span)) {
            for redirection in self.tree.list(inner.redirections) {
                let Some(heredoc) = redirection.heredoc else { continue };
                if is_plain && !pieces.is_empty() {
                    continue;
                }
                for word in self.tree.list(heredoc.body) {
                    pieces.push(match self.tree.value(word) {
                        Value::Literal(text) => String::from_utf8_lossy(text).into_owned(),
                        Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
                            String::from_utf8_lossy(self.tree.text(word.span)).into_owned()
                        }
                    });
                }
            }
        }
        pieces.extend(acts.iter().filter_map(|act| printed(act)));
        pieces.join("\n")
    }
}

impl Analysis<'_> {
    /// A name as all its spellings are compared.
    fn located(&self, name: &str) -> String {
        let home = self.ground.home.as_deref();
        let from = self.state.directory.as_deref();
        let absolute = from
            .or_else(|| name.starts_with(['/', '~']).then_some("/"))
            .and_then(|from| place::absolute(name, from, home));
        absolute.unwrap_or_else(|| name.trim_start_matches("./").to_owned())
    }

    /// Notes the text that acts from `first` on print for whoever opens `<( )`: a file without a
    /// name.
    pub(super) fn note_offered(&mut self, first: usize) {
        let acts = self.found.acts.get(first..).unwrap_or_default();
        let text: Vec<String> = acts.iter().filter_map(|act| printed(act)).collect();
        if !text.is_empty() && self.written.len() < TEXTS {
            self.written.push(Written { names: Vec::new(), text: text.join("\n") });
        }
    }

    /// Follows files of the script that its acts from `first` on copy or move.
    fn copied(&mut self, first: usize) {
        if self.written.is_empty() {
            return;
        }
        let acts = self.found.acts.get(first..).unwrap_or_default();
        let moves = |act: &Act| {
            matches!(act.base_name(), Some("cp" | "mv" | "ln" | "install" | "scp" | "rsync"))
        };
        let mut all = Vec::new();
        for act in acts.iter().filter(|act| moves(act)) {
            let words: Vec<String> = operands(act).map(|word| self.located(word)).collect();
            all.push(words);
        }
        for words in all {
            for written in &mut self.written {
                let Some(from) = written.names.iter().find(|name| words.contains(name)) else {
                    continue;
                };
                let base = from.rsplit('/').next().unwrap_or_default().to_owned();
                let within =
                    words.iter().map(|word| format!("{}/{base}", word.trim_end_matches('/')));
                let within: Vec<String> = within.collect();
                written.names.extend(words.iter().cloned().chain(within));
            }
        }
    }

    /// The texts in a file that is about to run; each is told once.
    pub(crate) fn take_written(&mut self, file: &Arg) -> Vec<String> {
        if self.written.is_empty() {
            return Vec::new();
        }
        let name = name_of(file).map(|name| self.located(&name));
        let is_meant =
            |written: &Written| name.as_ref().is_none_or(|name| written.names.contains(name));
        let (meant, rest) = std::mem::take(&mut self.written).into_iter().partition(is_meant);
        self.written = rest;
        let meant: Vec<Written> = meant;
        meant.into_iter().map(|written| written.text).collect()
    }
}

/// Whether a text says that something else than a shell reads it.
pub(crate) fn is_foreign(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!") && !first.trim_end().split(['/', ' ']).any(|word| word.ends_with("sh"))
}

fn operands(act: &Act) -> impl Iterator<Item = &str> {
    let known = act.args.iter().skip(1).filter_map(Arg::as_known);
    known.filter(|word| !word.starts_with('-'))
}

fn name_of(arg: &Arg) -> Option<String> {
    match &arg.text {
        Text::Known(name) | Text::Home(name) => Some(name.clone()),
        Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
    }
}
