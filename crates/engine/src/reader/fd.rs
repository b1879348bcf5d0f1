//! `fd`: what it finds is handed to a command.

use super::Reading;
use super::file::{MOST_NAMES, filled};
use crate::analysis::names;
use crate::arg::{Arg, Text};
use crate::catalog::ValueKind;
use crate::effect::{Effect, EffectOn, Target};
use crate::peel::{Inner, Where};
use crate::usage;

/// `fd`: `-x` and `-X` run a command for what is found.
pub(super) fn fd(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let is_run =
        |arg: &Arg| matches!(arg.as_known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    let Some(at) = args.iter().position(is_run) else {
        if args.iter().any(|arg| arg.prefix().starts_with("--exec")) {
            reading.unknown("a command that is attached to its option is not read");
        }
        return;
    };
    // What the table saw behind it were words of the command.
    if reading.act.unknown.as_ref().is_some_and(|unknown| !unknown.is_dynamic) {
        reading.act.unknown = None;
    }
    // The table took the first word of the command for a program of its own.
    reading.act.effects.clear();
    reading.effect(Effect::Read);
    let is_place = |given: &&usage::Given| given.kind == ValueKind::Directory && given.at < at;
    let places: Vec<Arg> =
        reading.usage.values.iter().filter(is_place).map(|given| given.arg.clone()).collect();
    let is_moved = reading.usage.directory.is_some();
    for place in &places {
        let on = EffectOn::new(Effect::Read, usage::path(place));
        reading.act.effects.push(EffectOn { is_deep: true, ..on });
    }
    if is_moved && places.is_empty() {
        let on = EffectOn::new(Effect::Read, Target::Path(".".to_owned()));
        reading.act.effects.push(EffectOn { is_deep: true, ..on });
    }
    let starts: Vec<String> = match places.as_slice() {
        [] => vec![".".to_owned()],
        places => places.iter().map(start_of).collect(),
    };
    let selects = |given: &usage::Given| {
        matches!(given.kind, ValueKind::Names | ValueKind::Part) && given.at < at
    };
    let chosen: Vec<usage::Given> =
        reading.usage.values.iter().filter(|given| selects(given)).cloned().collect();
    let mut names = Vec::new();
    for start in &starts {
        let patterns =
            chosen.iter().flat_map(|given| names::patterns(given.kind, &given.arg, start));
        let before = names.len();
        names.extend(patterns);
        let ending = reading.usage.value_of(&["-e", "--extension"]).and_then(Arg::as_known);
        if let Some(ending) = ending {
            let target =
                Target::Pattern(format!("{start}/**/*.{}", ending.trim_start_matches('.')));
            names.push(EffectOn::new(Effect::Read, target));
        } else if names.len() == before && reading.usage.has_option(reading.usage.entry.hidden) {
            names.push(EffectOn::new(Effect::Read, Target::Pattern(format!("{start}/**/.*"))));
        }
    }
    if names.len() <= MOST_NAMES {
        reading.act.found_names = names.clone().into();
    }
    reading.act.effects.extend(names);
    reading.extra();
    let rest = args.get(at + 1..).unwrap_or_default();
    let end = rest.iter().position(|arg| arg.as_known() == Some(";")).unwrap_or(rest.len());
    if rest.get(end + 1..).is_some_and(|behind| !behind.is_empty()) {
        return reading.unknown("words behind the command are not read");
    }
    // Every name that is handed over begins with where it was found, unless its end is asked for.
    let begins = match starts.as_slice() {
        [only] => format!("{only}/"),
        _ => "./".to_owned(),
    };
    let place = |arg: &Arg| {
        let is_end = arg.prefix().starts_with("{/}") || arg.prefix().starts_with("{/.}");
        let found = if is_end { "" } else { begins.as_str() };
        filled(arg, &["{}", "{/}", "{//}", "{.}", "{/.}"], found)
    };
    let command = rest.get(..end).unwrap_or_default();
    let has_place = command.iter().any(|arg| place(arg).is_some());
    let mut words: Vec<Arg> =
        command.iter().map(|arg| place(arg).unwrap_or_else(|| arg.clone())).collect();
    if !has_place {
        words.push(Arg::new(Text::Begins(begins.clone()), reading.act.span));
    }
    let place = match (is_moved, &reading.act.directory) {
        (false, _) => Where::Here,
        (true, Some(directory)) => Where::In(directory.to_string()),
        (true, None) => Where::Unknown,
    };
    reading.inner.clear();
    reading.inner.push(Inner::Argv(words, Vec::new(), place));
}

/// A directory in which `fd` looks, as a pattern begins with it.
fn start_of(place: &Arg) -> String {
    match &place.text {
        Text::Known(text) => crate::arg::escaped(text.trim_end_matches('/')),
        Text::Home(path) => path.trim_end_matches('/').to_owned(),
        Text::Files { .. } | Text::Begins(_) | Text::Any(_) => "**".to_owned(),
    }
}
