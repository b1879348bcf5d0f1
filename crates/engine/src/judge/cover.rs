//! What allow rules and the workspace say about one act, and what it is about.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Bench, Facts};
use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::effect::{Effect, Target};
use crate::environment::{self, Setting};
use crate::few::Few;
use crate::lists;
use crate::pattern::json;
use crate::place::{self, NOWHERE, Place, Touched};
use crate::policy::Source;
use crate::rule::paths::Meant;
use crate::rule::{Behind, CallRules, Command, Input, Rule, Rules};
use crate::suggest;
use crate::tool::{self, Field, ToolKind};
use crate::verdict::{Outcome, Suggestion};

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

    /// The allow rule that covers an act, if one does.
    pub(super) fn covering(&self, facts: &Facts) -> Option<&'a Rule> {
        self.covering_by(&self.rules, &self.writers, facts)
    }

    /// Whether offers, each of them a rule made of one of these acts, would cover all of them.
    pub(crate) fn would_cover(&self, offers: &[Suggestion], acts: &[&Facts]) -> bool {
        if self.spec.kind == ToolKind::Shell {
            // Each begins as the command does that it was made of; only the tool may have another
            // name. Nothing needs to be built to see that.
            let (rule, also) = (&*self.spec.rule, self.spec.also.as_deref());
            let names = [Some(&*self.call.tool), Some(rule), also];
            return !self.has_fault && names.contains(&Some(suggest::SHELL));
        }
        let rule = |offer: &Suggestion| Rule::parse(&offer.rule, Outcome::Allow, Source::Grant);
        let Ok(rules) = offers.iter().map(rule).collect() else { return false };
        let rules = Rules::new(rules, &self.policy.tools);
        let names = tool::names(self.spec, self.call);
        let own = CallRules::new([&rules, &rules], &names);
        let writers = CallRules::of_names([&rules, &rules], &["Write", "Edit"]);
        acts.iter().all(|facts| self.covering_by(&own, &writers, facts).is_some())
    }

    fn covering_by<'r>(
        &self,
        rules: &CallRules<'r>,
        writers: &CallRules<'r>,
        facts: &Facts,
    ) -> Option<&'r Rule> {
        let whole = rules.whole(Outcome::Allow);
        if whole.is_some() || self.has_fault {
            return whole;
        }
        let act = &facts.act;
        if self.spec.kind == ToolKind::Shell {
            return match act.kind {
                ActKind::Command => self.covering_command(rules, facts),
                ActKind::Redirection => covering_all(facts.changed(), |place| {
                    writers.covers_path(place, Meant::File, self.ground)
                }),
                ActKind::Assignment | ActKind::Unreadable | ActKind::Scanned | ActKind::Tool => {
                    None
                }
            };
        }
        if let Some(custom) = self.custom {
            return rules.by_custom(Outcome::Allow, &**custom, &self.call.input);
        }
        match self.spec.kind {
            ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Patch => {
                let is_known = !act.has(Effect::Unknown);
                covering_all(facts.touched.iter(), |place| {
                    rules.covers_path(place, Meant::File, self.ground)
                })
                .filter(|_| is_known)
            }
            ToolKind::Search => {
                let covers = |place: &Place| rules.covers_path(place, Meant::Search, self.ground);
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
                // No rule is this very input if that was rounded.
                let is_exact = json::is_exact(&self.call.input);
                let canonical = if is_exact { &self.canonical } else { "" };
                rules.covers_input(&Input { canonical, lookup: &lookup })
            }
        }
    }

    /// A rule with content never silences the workspace boundary, foreign variables, or what a
    /// program does beyond its ordinary use.
    fn covering_command<'r>(&self, rules: &CallRules<'r>, facts: &Facts) -> Option<&'r Rule> {
        let act = &facts.act;
        act.program()?;
        if !self.is_within_rules(facts) {
            return None;
        }
        if let Some(rule) = covering_whole(rules, act) {
            return Some(rule);
        }
        if !has_covered_assignments(act) {
            return None;
        }
        let args = known(act);
        let mut others = Vec::new();
        if !act.globals.is_empty() && act.has_harmless_globals && act.extras.is_empty() {
            others.push(without(&args, act));
        }
        let (extras, behind) = (&act.extras, Behind::Nothing);
        let command = Command { args: &args, others: &others, extras, raw: "", behind };
        rules.covers_command(&command)
    }

    /// Whether an act is where a rule with content can speak for it.
    pub(crate) fn is_within_rules(&self, facts: &Facts) -> bool {
        self.stays_inside(facts) && self.runs_inside(&facts.act)
    }

    /// Whether everything an act is known to change lies in the workspace.
    pub(crate) fn stays_inside(&self, facts: &Facts) -> bool {
        let holds = |touched: &Touched| {
            touched.place.as_ref().is_some_and(|place| self.ground.holds(place))
        };
        let is_change = |effect| matches!(effect, Effect::Write | Effect::Delete | Effect::Change);
        let mut perhaps = self.strays(facts).filter(|touched| is_change(touched.effect));
        facts.changed().all(holds) && perhaps.all(|touched| holds(&touched))
    }

    /// The files of an act where they are if a change of directory before it failed.
    fn strays<'f>(&'f self, facts: &'f Facts) -> impl Iterator<Item = Touched> + 'f {
        let touched = if facts.act.directory.is_some() { &*facts.touched } else { &[] };
        self.ground.perhaps(&facts.act, touched, self.world)
    }

    /// Whether an act runs in the workspace: elsewhere other files decide what it does.
    fn runs_inside(&self, act: &Act) -> bool {
        let is_inside = |directory: &str| {
            directory == &*self.ground.cwd || {
                let place = self.ground.place(directory, "/", self.world);
                place.is_some_and(|place| self.ground.holds(&place))
            }
        };
        let is_known = |directory: &str| is_inside(directory) || self.ground.is_above(directory);
        act.directory.as_deref().is_some_and(is_inside)
            && act.perhaps_in.iter().all(|stray| is_known(stray))
    }

    /// Whether an act is an ordinary edit of the workspace.
    pub(super) fn is_workspace_edit(&self, facts: &Facts) -> bool {
        let act = &facts.act;
        let is_inside = |touched: &Touched| {
            touched.place.as_ref().is_some_and(|place| {
                self.ground.holds(place)
                    // Without a directory nobody knows whose workspace it is.
                    && !place::is_within(&place.normalised, NOWHERE)
                    && !self.world.is_shared(place.resolved.as_deref().unwrap_or_default())
            })
        };
        let all_inside = !facts.touched.is_empty()
            && facts.touched.iter().all(is_inside)
            && self.strays(facts).all(|touched| is_inside(&touched));
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
    pub(super) fn searched(&self) -> Vec<Place> {
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
    pub(super) fn values(&self, key: &str, facts: &Facts) -> Vec<String> {
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

/// The rule that covers a command by all words that are written: with the variables that are set
/// for it, or with the program that runs it. It must name these, and the program that they lead to.
fn covering_whole<'r>(rules: &CallRules<'r>, act: &Act) -> Option<&'r Rule> {
    let has_set = !has_covered_assignments(act);
    if act.led_by.is_empty() && !has_set {
        return None;
    }
    let mut set: Vec<String> = Vec::new();
    let led: HashSet<&str> = if has_set {
        act.led_by.iter().filter_map(Arg::as_known).collect()
    } else {
        HashSet::new()
    };
    for assigned in act.assignments.iter().filter(|_| has_set) {
        let word = [&assigned.name, "=", assigned.value.as_deref()?].concat();
        if !led.contains(word.as_str()) {
            set.push(word);
        }
    }
    let led = act.led_by.iter().map(Arg::as_written);
    let own = act.args.iter().map(Arg::as_written);
    let args: Vec<Option<&str>> =
        set.iter().map(|word| Some(word.as_str())).chain(led).chain(own).collect();
    let before = set.len() + act.led_by.len();
    let extras: Vec<usize> =
        (0..=before).chain(act.extras.iter().map(|place| place + before)).collect();
    let (extras, behind) = (&*extras, Behind::Nothing);
    rules.covers_command(&Command { args: &args, others: &[], extras, raw: "", behind })
}

/// The beginning of a text that a message quotes.
fn quote(text: &str) -> Cow<'_, str> {
    let is_one = !text.as_bytes().contains(&b'\n');
    let line = if is_one { text } else { text.lines().next().unwrap_or_default() };
    let start = line.get(..line.floor_char_boundary(QUOTED)).unwrap_or_default();
    if start.len() < text.trim_end().len() { [start, "…"].concat().into() } else { start.into() }
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

/// The arguments, where they are known; a home is known as it is written.
pub(super) fn known(act: &Act) -> Few<Option<&str>, 12> {
    act.args.iter().map(Arg::as_written).collect()
}

/// The arguments without the options before the sub-command.
pub(super) fn without<'a>(args: &[Option<&'a str>], act: &Act) -> Vec<Option<&'a str>> {
    let kept = args.iter().enumerate().filter(|(place, _)| !act.globals.contains(place));
    kept.map(|(_, arg)| *arg).collect()
}

/// Whether an allow rule for the command speaks for the variables that are set for it, too.
pub(crate) fn has_covered_assignments(act: &Act) -> bool {
    act.assignments
        .iter()
        .all(|assigned| environment::is_covered(&assigned.name, assigned.value.as_deref()))
}

pub(super) fn has_harmless_assignments(act: &Act) -> bool {
    act.assignments.iter().all(|assigned| {
        environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Harmless
    })
}
