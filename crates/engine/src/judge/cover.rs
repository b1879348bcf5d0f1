//! What rules and the workspace say about one act.

use super::facts::is_stream;
use super::{Bench, Facts};
use std::borrow::Cow;
use std::cell::Cell;

use portcullis_shell::Span;

use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};
use crate::catalog;
use crate::effect::{Effect, Target};
use crate::environment::{self, Setting};
use crate::lists;
use crate::place::{Place, Touched};
use crate::rule::paths::Meant;
use crate::rule::{Command, Input, Rule};
use crate::tool::{self, Field, ToolKind};
use crate::verdict::Outcome;

/// What the rules of one outcome say, whatever the act.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said<'a> {
    /// The first of them for the tool.
    pub(super) any: Option<&'a Rule>,
    /// One for the whole tool.
    whole: Option<&'a Rule>,
    /// Whether there is none, for the tool or for the files that it touches.
    is_silent: bool,
}

/// How many bytes of a command a message quotes.
const QUOTED: usize = 80;

impl<'a> Bench<'a> {
    /// What an act is about, for messages.
    pub(crate) fn subject(&self, facts: &Facts) -> Cow<'_, str> {
        if let Some(text) = self.text {
            let span = facts.act.span;
            let bytes = if span.is_empty() { text.as_bytes() } else { span.of(text.as_bytes()) };
            // A little more than is quoted, so that it shows that something is missing.
            let start = bytes.get(..QUOTED + 8).unwrap_or(bytes);
            let from = if span.is_empty() { 0 } else { span.start as usize };
            if let Some(start) = text.get(from..from + start.len()) {
                return quote(start.trim());
            }
            return match String::from_utf8_lossy(start) {
                Cow::Borrowed(text) => quote(text.trim()),
                Cow::Owned(text) => quote(text.trim()).into_owned().into(),
            };
        }
        let subject = {
            let args: Vec<&str> = facts.act.args.iter().map(Arg::prefix).collect();
            let target = facts.act.effects.first().map(|on| match &on.target {
                Target::Path(target) | Target::Pattern(target) | Target::Host(target) => {
                    target.as_str()
                }
                Target::Unknown(_) | Target::Named(_) | Target::None => "",
            });
            match (args.is_empty(), target.unwrap_or_default()) {
                (false, _) => args.join(" "),
                (true, "") => self.call.tool.clone(),
                (true, target) => format!("{} {target}", self.call.tool),
            }
        };
        quote(&subject).into_owned().into()
    }

    /// Tells whether a rule may speak about a command that begins with a word, or about the text
    /// there.
    pub(super) fn concerns(&self) -> impl Fn(&Arg, Span) -> bool {
        const STRICT: [Outcome; 2] = [Outcome::Deny, Outcome::Ask];
        let always = self.raw.0.or(self.raw.1).or(self.asking.whole).or(self.denying.whole);
        // Many words stand in one text.
        let seen: Cell<Option<(Span, bool)>> = Cell::new(None);
        move |word: &Arg, span: Span| {
            let first = as_written(word);
            let base = word.as_known().and_then(|word| word.rsplit('/').next());
            let plain = base.and_then(plain_name);
            let words = [first, base.filter(|base| Some(*base) != first), plain];
            let fits = || {
                if let Some((_, fits)) = seen.get().filter(|(known, _)| *known == span) {
                    return fits;
                }
                let raw = self.raw_text(span);
                let mut strict = STRICT.into_iter();
                let fits = strict.any(|outcome| self.rules.speaks_of_raw(outcome, raw).is_some());
                seen.set(Some((span, fits)));
                fits
            };
            always.is_some()
                || STRICT.into_iter().any(|outcome| self.rules.begins(outcome, &words))
                || fits()
        }
    }

    /// What the rules of an outcome say at all.
    pub(super) fn said_by(&self, outcome: Outcome) -> Said<'a> {
        let any = self.rules.any(outcome);
        let others = [&self.writers, &self.readers];
        let is_silent = any.is_none() && others.iter().all(|rules| rules.any(outcome).is_none());
        Said { any, whole: self.rules.whole(outcome), is_silent }
    }

    fn said(&self, outcome: Outcome) -> Said<'a> {
        match outcome {
            Outcome::Ask => self.asking,
            Outcome::Deny => self.denying,
            Outcome::Allow => self.said_by(outcome),
        }
    }

    /// The text of the command at a place.
    fn raw_text(&self, span: Span) -> &str {
        let text = self.text.unwrap_or_default();
        text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// A deny or ask rule that speaks about an act.
    pub(super) fn speaking(&self, outcome: Outcome, facts: &Facts) -> Option<&'a Rule> {
        let said = self.said(outcome);
        if self.has_fault {
            return said.any;
        }
        if said.whole.is_some() {
            return said.whole;
        }
        if self.spec.kind == ToolKind::Shell {
            return self.speaking_of_shell(outcome, facts);
        }
        if let Some(custom) = self.custom {
            return self.rules.by_custom(outcome, &**custom, &self.call.input);
        }
        let mut places = facts.touched.iter().filter_map(|touched| touched.place.as_ref());
        match self.spec.kind {
            ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Patch => {
                places.find_map(|place| {
                    self.rules.speaks_of_path(outcome, place, Meant::File, self.ground, self.world)
                })
            }
            ToolKind::Search => {
                let of = |place: &Place| {
                    let (ground, world) = (self.ground, self.world);
                    self.rules.speaks_of_path(outcome, place, Meant::Search, ground, world)
                };
                places.find_map(of).or_else(|| self.searched().iter().find_map(of))
            }
            ToolKind::Shell
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => {
                let lookup = |key: &str| self.values(key, facts);
                let input = Input { canonical: &self.canonical, lookup: &lookup };
                self.rules.speaks_of_input(outcome, &input)
            }
        }
    }

    fn speaking_of_shell(&self, outcome: Outcome, facts: &Facts) -> Option<&'a Rule> {
        let act = &facts.act;
        if self.said(outcome).is_silent {
            return None;
        }
        let raw = if outcome == Outcome::Ask { self.raw.0 } else { self.raw.1 };
        let found = self.speaking_of_words(outcome, act).or(raw);
        found.or_else(|| {
            let touched = facts.touched.iter().filter(|touched| !is_stream(touched));
            touched.clone().find_map(|touched| self.speaking_of_file(outcome, touched)).or_else(
                || {
                    let mut perhaps = self.ground.perhaps(act, &facts.touched, self.world);
                    perhaps.find_map(|touched| self.speaking_of_file(outcome, &touched))
                },
            )
        })
    }

    /// The rule that speaks about the words of a command, or about its text.
    fn speaking_of_words(&self, outcome: Outcome, act: &Act) -> Option<&'a Rule> {
        let raw = self.raw_text(act.span);
        let first = act.args.first().and_then(as_written);
        let base = act.base_name().filter(|base| Some(*base) != first);
        let plain = act.base_name().and_then(plain_name);
        if !self.rules.begins(outcome, &[first, base, plain]) {
            // Most texts begin with the very word.
            let is_same = first.is_some_and(|first| begins_with(raw, first));
            return if is_same { None } else { self.rules.speaks_of_raw(outcome, raw) };
        }
        let args = known(act);
        let mut others = Vec::new();
        let base = act.base_name().filter(|base| Some(*base) != act.program());
        for name in [base, plain].into_iter().flatten() {
            let mut short = args.clone();
            if let Some(program) = short.first_mut() {
                *program = Some(name);
            }
            others.push(short);
        }
        if !act.globals.is_empty() {
            others.extend(
                others.iter().chain([&args]).map(|args| without(args, act)).collect::<Vec<_>>(),
            );
        }
        let command = Command { args: &args, others: &others, extras: &[], raw };
        self.rules.speaks_of_command(outcome, &command)
    }

    /// The rule of the writing or reading tools that speaks about a file a command touches.
    fn speaking_of_file(&self, outcome: Outcome, touched: &Touched) -> Option<&'a Rule> {
        let place = touched.place.as_ref()?;
        let (rules, meant) = match touched.effect {
            Effect::Write | Effect::Delete if touched.is_pattern && !touched.is_deep => {
                (&self.writers, Meant::Pattern)
            }
            Effect::Read if touched.is_pattern && !touched.is_listing => {
                (&self.readers, Meant::Pattern)
            }
            Effect::Write | Effect::Delete if touched.is_deep => (&self.writers, Meant::Tree),
            Effect::Write | Effect::Delete | Effect::Change => (&self.writers, Meant::File),
            Effect::Read if touched.is_listing => return None,
            Effect::Read if touched.is_deep => (&self.readers, Meant::Tree),
            Effect::Read | Effect::Execute | Effect::Connect => (&self.readers, Meant::File),
            Effect::Query | Effect::Escalate | Effect::Unknown => return None,
        };
        rules.speaks_of_path(outcome, place, meant, self.ground, self.world)
    }

    /// The allow rule that covers an act, if one does.
    pub(super) fn covering(&self, facts: &Facts) -> Option<&'a Rule> {
        let whole = self.rules.whole(Outcome::Allow);
        if whole.is_some() || self.has_fault {
            return whole;
        }
        let act = &facts.act;
        if self.spec.kind == ToolKind::Shell {
            return match act.kind {
                ActKind::Command => self.covering_command(facts),
                ActKind::Redirection => covering_all(facts.changed(), |place| {
                    self.writers.covers_path(place, Meant::File, self.ground)
                }),
                ActKind::Assignment | ActKind::Unreadable | ActKind::Scanned | ActKind::Tool => {
                    None
                }
            };
        }
        if let Some(custom) = self.custom {
            return self.rules.by_custom(Outcome::Allow, &**custom, &self.call.input);
        }
        match self.spec.kind {
            ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Patch => {
                let is_known = !act.has(Effect::Unknown);
                covering_all(facts.touched.iter(), |place| {
                    self.rules.covers_path(place, Meant::File, self.ground)
                })
                .filter(|_| is_known)
            }
            ToolKind::Search => {
                let covers =
                    |place: &Place| self.rules.covers_path(place, Meant::Search, self.ground);
                covering_all(facts.touched.iter(), covers).or_else(|| {
                    let searched = self.searched();
                    let first = searched.first().and_then(covers)?;
                    searched.iter().all(|place| covers(place).is_some()).then_some(first)
                })
            }
            ToolKind::Shell
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => {
                let lookup = |key: &str| self.values(key, facts);
                let input = Input { canonical: &self.canonical, lookup: &lookup };
                self.rules.covers_input(&input)
            }
        }
    }

    /// A rule with content never silences the workspace boundary, foreign variables, or what a
    /// program does beyond its ordinary use.
    fn covering_command(&self, facts: &Facts) -> Option<&'a Rule> {
        let act = &facts.act;
        act.program()?;
        if !self.stays_inside(facts) || !self.runs_inside(act) || !has_harmless_assignments(act) {
            return None;
        }
        let args = known(act);
        let mut others = Vec::new();
        if !act.globals.is_empty() && act.has_harmless_globals && act.extras.is_empty() {
            others.push(without(&args, act));
        }
        let command = Command { args: &args, others: &others, extras: &act.extras, raw: "" };
        self.rules.covers_command(&command)
    }

    /// Whether everything an act is known to change lies in the workspace.
    pub(crate) fn stays_inside(&self, facts: &Facts) -> bool {
        facts
            .changed()
            .all(|touched| touched.place.as_ref().is_some_and(|place| self.ground.holds(place)))
    }

    /// Whether an act runs in the workspace: elsewhere other files decide what it does.
    fn runs_inside(&self, act: &Act) -> bool {
        act.directory.as_deref().is_some_and(|directory| {
            directory == &*self.ground.cwd || {
                let place = self.ground.place(directory, "/", self.world);
                place.is_some_and(|place| self.ground.holds(&place))
            }
        })
    }

    /// Whether an act is an ordinary edit of the workspace.
    pub(super) fn is_workspace_edit(&self, facts: &Facts) -> bool {
        let act = &facts.act;
        let is_inside = |touched: &Touched| {
            touched.place.as_ref().is_some_and(|place| {
                self.ground.holds(place)
                    && !self.world.is_shared(place.resolved.as_deref().unwrap_or_default())
            })
        };
        let all_inside = !facts.touched.is_empty() && facts.touched.iter().all(is_inside);
        if !all_inside || facts.asking().is_some() {
            return false;
        }
        match self.spec.kind {
            ToolKind::Write | ToolKind::Edit | ToolKind::Patch => !act.has(Effect::Unknown),
            ToolKind::Shell => {
                let is_edit = |effect: Effect| {
                    matches!(effect, Effect::Read | Effect::Write | Effect::Delete)
                };
                act.kind == ActKind::Command
                    && act.base_name().is_some_and(|name| lists::EDITORS.contains(&name))
                    && act.unknown.is_none()
                    && act.extras.is_empty()
                    && act.effects.iter().all(|on| is_edit(on.effect))
                    && has_harmless_assignments(act)
            }
            ToolKind::Read
            | ToolKind::Search
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => false,
        }
    }

    /// The search pattern of a listing tool as a path below its root.
    fn searched(&self) -> Vec<Place> {
        let get = |field: Field| {
            let mut names = self.spec.field(field).iter();
            names.find_map(|name| tool::member(&self.call.input, name)?.as_str())
        };
        let Some(pattern) = get(Field::Pattern).filter(|_| self.spec.is_listing) else {
            return Vec::new();
        };
        let root = get(Field::Path).unwrap_or(".");
        let Some(root) = self.ground.place(root, &self.ground.cwd, self.world) else {
            return Vec::new();
        };
        let marked: Vec<&str> = pattern
            .split('/')
            .map(|part| if part == "**" { crate::pattern::path::DEEP_NAME } else { part })
            .collect();
        let base = root.resolved.as_deref().unwrap_or(&root.normalised);
        self.ground.place(&marked.join("/"), base, self.world).into_iter().collect()
    }

    /// What an act says for a key of a rule about inputs.
    fn values(&self, key: &str, facts: &Facts) -> Vec<String> {
        let address = facts.act.effects.iter().find_map(|on| match &on.target {
            Target::Host(address) => Some(address.as_str()),
            Target::Path(_)
            | Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Named(_)
            | Target::None => None,
        });
        match (key, self.spec.kind, address) {
            ("domain", ToolKind::Fetch, Some(address)) => return tool::host_names(address),
            ("url", ToolKind::Fetch, Some(address)) => return vec![address.to_owned()],
            _ => {}
        }
        let names = self.spec.field(Field::Agent);
        let value = if key.is_empty() {
            names.iter().find_map(|name| tool::member(&self.call.input, name))
        } else {
            tool::member(&self.call.input, key)
        };
        value.map(scalars).unwrap_or_default()
    }
}

/// The beginning of a text that a message quotes.
fn quote(text: &str) -> Cow<'_, str> {
    let is_one = !text.as_bytes().contains(&b'\n');
    let line = if is_one { text } else { text.lines().next().unwrap_or_default() };
    let start = line.get(..line.floor_char_boundary(QUOTED)).unwrap_or_default();
    if start.len() < text.trim_end().len() { format!("{start}…").into() } else { start.into() }
}

/// A rule covers files only if it covers all of them, and there is one.
fn covering_all<'a, 't>(
    files: impl Iterator<Item = &'t Touched>,
    covers: impl Fn(&Place) -> Option<&'a Rule>,
) -> Option<&'a Rule> {
    let mut first = None;
    for touched in files {
        let rule = covers(touched.place.as_ref()?)?;
        first.get_or_insert(rule);
    }
    first
}

/// The texts of a value, or of each of its items.
fn scalars(value: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(scalars).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// The name of a GNU program where no other has it: `touch` for `gtouch`, which is the same one.
fn plain_name(base: &str) -> Option<&str> {
    let plain = base.strip_prefix('g')?;
    let (one, other) = (catalog::find(plain)?, catalog::find(base)?);
    std::ptr::eq(one.entry, other.entry).then_some(plain)
}

/// The arguments, where they are known; a home is known as it is written.
fn known(act: &Act) -> Vec<Option<&str>> {
    act.args.iter().map(as_written).collect()
}

/// The text of an argument as rules compare it.
pub(crate) fn as_written(arg: &Arg) -> Option<&str> {
    match &arg.text {
        Text::Known(text) | Text::Home(text) => Some(text),
        Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
    }
}

/// Whether this word, and nothing else, is the first of a text.
fn begins_with(text: &str, word: &str) -> bool {
    let behind = text.strip_prefix(word);
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The arguments without the options before the sub-command.
fn without<'a>(args: &[Option<&'a str>], act: &Act) -> Vec<Option<&'a str>> {
    let kept = args.iter().enumerate().filter(|(place, _)| !act.globals.contains(place));
    kept.map(|(_, arg)| *arg).collect()
}

pub(super) fn has_harmless_assignments(act: &Act) -> bool {
    act.assignments.iter().all(|assigned| {
        environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Harmless
    })
}
