//! Rules of other systems, in our words: nothing gets wider, nothing is dropped in silence.
//!
//! Each source has a file that turns its rules into [`Taken`]; every rule of the source appears in
//! the report, with what became of it. To add a source, add a file and a row to [`SOURCES`].

mod agentscope;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod multica;
mod opencode;
mod paths;
pub mod shell;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_engine::{Outcome, PolicyText};
use serde::Serialize;
use serde_json::Value;

/// What became of a rule, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It says the same.
    Exact,
    /// An allow that covers less.
    Narrowed,
    /// A deny or ask that covers more.
    Widened,
    /// An allow that asks now.
    Downgraded,
    /// A deny or ask that covers less.
    Partial,
    /// It cannot be said.
    Unmapped,
}

/// One rule or setting of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The file.
    pub file: String,
    /// The line.
    pub line: usize,
    /// What stands there.
    pub text: String,
    /// What became of it.
    pub fate: Fate,
    /// What it is now: `allow Bash(git:*)`, `mode = "explore"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub became: Vec<String>,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// What was taken from all files of a source.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// Every rule and setting, in order.
    pub taken: Vec<Taken>,
    rules: Vec<(Outcome, String)>,
    settings: Vec<(&'static str, Value)>,
    workspace: Vec<String>,
    tests: Vec<(String, &'static str)>,
    /// Whether modes without questions were asked for.
    pub accepts_bypass: bool,
    /// Whether there is one file of the source, and what stands in it is all.
    pub is_sole: bool,
}

/// One file of a source.
pub struct File<'a> {
    /// Its name, as it was given.
    pub name: String,
    /// What stands in it.
    pub text: &'a str,
    /// The directory it lies in.
    pub directory: PathBuf,
}

/// A source: its name, where its files lie below a home or a project, and its reader.
pub struct Source {
    /// The name.
    pub name: &'static str,
    /// Files, or directories with an ending, relative to home (`~/`) or the project.
    pub places: &'static [&'static str],
    /// Reads one file.
    pub read: fn(&mut Import, &File<'_>) -> anyhow::Result<()>,
}

/// Every source.
#[rustfmt::skip]
pub const SOURCES: &[Source] = &[
    Source { name: "claude",     places: &["~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"], read: claude::read },
    Source { name: "codex",      places: &["~/.codex/rules/*.rules", ".codex/rules/*.rules"], read: codex::read },
    Source { name: "gemini",     places: &["~/.gemini/policies/*.toml", "~/.gemini/settings.json", ".gemini/settings.json"], read: gemini::read },
    Source { name: "opencode",   places: &["~/.config/opencode/opencode.json", "opencode.json"], read: opencode::read },
    Source { name: "copilot",    places: &[], read: copilot::read },
    Source { name: "multica",    places: &[], read: multica::read },
    Source { name: "agentscope", places: &[], read: agentscope::read },
];

impl File<'_> {
    /// The line on which a text stands first.
    pub fn line(&self, needle: &str) -> usize {
        let at = self.text.find(needle).unwrap_or(0);
        self.text.get(..at).unwrap_or_default().matches('\n').count() + 1
    }

    /// The line of a JSON text.
    pub fn line_of(&self, text: &str) -> usize {
        self.line(&Value::from(text).to_string())
    }

    /// The file as JSON, comments left out.
    pub fn json(&self) -> anyhow::Result<Value> {
        let node = crate::install::jsonc::read(self.text);
        let node = node.with_context(|| format!("`{}` is not JSON", self.name))?;
        let value = crate::install::jsonc::value(self.text, &node);
        if !value.is_object() {
            bail!("`{}` holds {} where an object should stand", self.name, shown(&value));
        }
        Ok(value)
    }
}

impl Import {
    /// Takes a rule, as these rules of ours; the worst of their fates is told.
    pub fn rule(
        &mut self,
        file: &File<'_>,
        line: usize,
        text: &str,
        outcome: Outcome,
        became: Vec<(String, Fate)>,
        why: &str,
    ) {
        let mut told = Taken {
            file: file.name.clone(),
            line,
            text: text.to_owned(),
            fate: Fate::Exact,
            became: Vec::new(),
            why: why.to_owned(),
        };
        for (rule, fate) in became {
            let is_broad = outcome == Outcome::Allow && shell::is_broad(&rule);
            let now = if is_broad { Outcome::Ask } else { outcome };
            let fate = if is_broad { Fate::Downgraded } else { fate };
            if is_broad && told.why.is_empty() {
                "it would let anything run; it asks now".clone_into(&mut told.why);
            }
            if let Err(why) = is_rule(&rule, now) {
                told.fate = Fate::Unmapped;
                told.why = why;
                continue;
            }
            if fate as u8 > told.fate as u8 {
                told.fate = fate;
            }
            told.became.push(format!("{} {rule}", now.name()));
            if !self.rules.contains(&(now, rule.clone())) {
                self.rules.push((now, rule));
            }
        }
        if told.became.is_empty() {
            told.fate = Fate::Unmapped;
        }
        self.taken.push(told);
    }

    /// Reports what cannot be said.
    pub fn unmapped(&mut self, file: &File<'_>, line: usize, text: &str, why: &str) {
        self.taken.push(Taken {
            file: file.name.clone(),
            line,
            text: text.to_owned(),
            fate: Fate::Unmapped,
            became: Vec::new(),
            why: why.to_owned(),
        });
    }

    /// Takes what says something about other rules, and nothing by itself.
    pub fn heeded(&mut self, file: &File<'_>, line: usize, text: &str, why: &str) {
        self.unmapped(file, line, text, why);
        if let Some(taken) = self.taken.last_mut() {
            taken.fate = Fate::Exact;
        }
    }

    /// Reports members of an object that nobody here knows.
    pub fn strange(
        &mut self,
        file: &File<'_>,
        above: &str,
        members: &[(&str, &Value)],
        known: &[&str],
    ) {
        for (name, value) in members.iter().filter(|(name, _)| !known.contains(name)) {
            let text = format!("{above}{name}: {}", shown(value));
            self.unmapped(file, file.line_of(name), &text, "nothing here knows it");
        }
    }

    /// The members of an object of the source; anything else in its place is reported.
    pub fn members<'v>(
        &mut self,
        file: &File<'_>,
        name: &str,
        value: Option<&'v Value>,
    ) -> Vec<(&'v str, &'v Value)> {
        match value {
            Some(Value::Object(members)) => {
                members.iter().map(|(name, value)| (name.as_str(), value)).collect()
            }
            other => self.odd(file, name, other, "no object"),
        }
    }

    /// The items of a list of the source; anything else in its place is reported.
    pub fn items<'v>(
        &mut self,
        file: &File<'_>,
        name: &str,
        value: Option<&'v Value>,
    ) -> Vec<&'v Value> {
        match value {
            Some(Value::Array(items)) => items.iter().collect(),
            other => self.odd(file, name, other, "no list"),
        }
    }

    /// The texts of a list of the source; what is none is reported.
    pub fn texts<'v>(
        &mut self,
        file: &File<'_>,
        name: &str,
        value: Option<&'v Value>,
    ) -> Vec<&'v str> {
        let items = self.items(file, name, value);
        items.into_iter().filter_map(|item| self.text(file, name, Some(item))).collect()
    }

    /// A text of the source; anything else in its place is reported.
    pub fn text<'v>(
        &mut self,
        file: &File<'_>,
        name: &str,
        value: Option<&'v Value>,
    ) -> Option<&'v str> {
        match value {
            Some(Value::String(text)) => Some(text),
            Some(Value::Null) => {
                self.unmapped(file, file.line_of(name), &format!("{name}: null"), "it is no text");
                None
            }
            other => self.odd::<&str>(file, name, other, "no text").pop(),
        }
    }

    /// Reports what stands in the place of something else; nothing and null say nothing.
    fn odd<T>(&mut self, file: &File<'_>, name: &str, value: Option<&Value>, what: &str) -> Vec<T> {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            let text = format!("{name}: {}", shown(value));
            self.unmapped(file, file.line_of(name), &text, &format!("it is {what}"));
        }
        Vec::new()
    }

    /// Takes a setting.
    pub fn setting(
        &mut self,
        file: &File<'_>,
        text: &str,
        key: &'static str,
        value: Value,
        fate: Fate,
        why: &str,
    ) {
        self.taken.push(Taken {
            file: file.name.clone(),
            line: file.line(text),
            text: text.to_owned(),
            fate,
            became: vec![format!("{key} = {value}")],
            why: why.to_owned(),
        });
        self.settings.retain(|(known, _)| *known != key);
        self.settings.push((key, value));
    }

    /// Takes a directory into the workspace.
    pub fn directory(&mut self, file: &File<'_>, path: &str) {
        let is_absolute = path.starts_with('/') || path.starts_with('~');
        if !is_absolute {
            let line = file.line_of(path);
            self.unmapped(file, line, path, "a workspace is absolute or begins with `~`");
            return;
        }
        self.taken.push(Taken {
            file: file.name.clone(),
            line: file.line_of(path),
            text: path.to_owned(),
            fate: Fate::Exact,
            became: vec![format!("workspace {path}")],
            why: String::new(),
        });
        if !self.workspace.iter().any(|known| known == path) {
            self.workspace.push(path.to_owned());
        }
    }

    /// Takes an example of the source as a test of the policy.
    pub fn test(&mut self, command: &str, outcome: &'static str) {
        self.tests.push((command.to_owned(), outcome));
    }

    /// The policy that was taken, as a file.
    pub fn policy(&self, source: &str) -> String {
        let mut text = format!("# Imported from {source} by `portcullis policy import`.\n");
        let list = |items: Vec<&str>| {
            let items: Vec<String> =
                items.iter().map(|item| format!("  {},\n", Value::from(*item))).collect();
            if items.is_empty() { "[]".to_owned() } else { format!("[\n{}]", items.concat()) }
        };
        let line = |key: &str, value: &Value| format!("{key} = {value}\n");
        let (own, tables): (Vec<_>, Vec<_>) =
            self.settings.iter().partition(|(key, _)| !key.contains('.'));
        for (key, value) in own {
            text += &line(key, value);
        }
        if !self.workspace.is_empty() {
            let _ = writeln!(
                text,
                "workspace = {}",
                list(self.workspace.iter().map(String::as_str).collect())
            );
        }
        text += "\n[rules]\n";
        for outcome in [Outcome::Allow, Outcome::Ask, Outcome::Deny] {
            let of = self.rules.iter().filter(|(known, _)| *known == outcome);
            let _ = writeln!(
                text,
                "{} = {}",
                outcome.name(),
                list(of.map(|(_, rule)| rule.as_str()).collect())
            );
        }
        let mut table = "";
        for (key, value) in tables {
            let Some((name, key)) = key.split_once('.') else { continue };
            if name != table {
                let _ = write!(text, "\n[{name}]\n");
                table = name;
            }
            text += &line(key, value);
        }
        for (command, outcome) in &self.tests {
            let _ = write!(
                text,
                "\n[[test]]\ncommand = {}\noutcome = \"{outcome}\"\n",
                Value::from(command.as_str())
            );
        }
        text
    }

    /// Whether something was lost.
    pub fn has_losses(&self) -> bool {
        self.taken.iter().any(|taken| matches!(taken.fate, Fate::Partial | Fate::Unmapped))
    }
}

/// A value as it stands in a report: short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A rule in the form `Tool` or `Tool(content)`.
///
/// # Errors
/// It is neither. Taken for the tool alone it would speak about every call.
pub fn parts(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    let Some((tool, rest)) = text.split_once('(') else { return Ok((text, None)) };
    match rest.strip_suffix(')') {
        None => Err("its parenthesis is not closed"),
        Some(content) if content.trim().is_empty() => Err("its parentheses are empty"),
        Some(content) => Ok((tool, Some(content))),
    }
}

/// Whether the engine understands a rule.
fn is_rule(rule: &str, outcome: Outcome) -> Result<(), String> {
    let text = format!("[rules]\n{} = [{}]\n", outcome.name(), Value::from(rule));
    PolicyText::from_toml(&text).map(drop).map_err(|error| error.to_string())
}

/// The files of a source that there are.
pub fn files(source: &Source, home: Option<&Path>, project: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in source.places {
        let path = match (place.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => continue,
            (None, _) => project.join(place),
        };
        let ending =
            path.file_name().and_then(|name| name.to_str()?.strip_prefix('*').map(str::to_owned));
        let Some(ending) = ending else {
            found.extend(path.is_file().then_some(path));
            continue;
        };
        let directory = path.parent().map(std::fs::read_dir).and_then(Result::ok);
        let mut all: Vec<PathBuf> = directory
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_str().is_some_and(|path| path.ends_with(&ending)))
            .collect();
        all.sort();
        found.extend(all);
    }
    found
}
