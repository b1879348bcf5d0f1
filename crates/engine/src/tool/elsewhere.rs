//! Paths and settings in an input by which a call leaves the place it seems to be in.

use serde_json::Value as Json;

use super::acts::member;
use super::{Field, Spec};
use crate::environment::{self, Setting};
use crate::lists;
use crate::place::{Ground, absolute};

/// Whether an input says where or with which variables a command runs, in words that its tool is
/// not known to have: a host may heed them.
pub(super) fn is_set_up(input: &Json, spec: &Spec, ground: &Ground) -> bool {
    // Hardly an input has such a field.
    let may_say = |key: &String| {
        let mut names = lists::INPUT_DIRECTORIES.iter().chain(lists::INPUT_VARIABLES);
        names.any(|name| name.starts_with(key))
    };
    if !input.as_object().is_some_and(|fields| fields.keys().any(may_say)) {
        return false;
    }
    let known = spec.field(Field::Cwd);
    let is_known = |name: &str| known.iter().any(|known| known.as_ref() == name);
    let is_other_place = |name: &&str| match member(input, name) {
        None | Some(Json::Null) => false,
        Some(Json::String(path)) => {
            let place = absolute(path, &ground.cwd, ground.home.as_deref());
            !path.is_empty() && place.as_deref() != Some(&*ground.cwd)
        }
        Some(_) => true,
    };
    let is_foreign = |(name, value): (&String, &Json)| {
        environment::setting(name, value.as_str()) != Setting::Harmless
    };
    let has_variables = |name: &&str| match member(input, name) {
        None | Some(Json::Null) => false,
        Some(Json::Object(variables)) => variables.iter().any(is_foreign),
        Some(Json::Array(list)) => !list.is_empty(),
        Some(_) => true,
    };
    lists::INPUT_DIRECTORIES.iter().filter(|name| !is_known(name)).any(is_other_place)
        || lists::INPUT_VARIABLES.iter().any(has_variables)
}

/// The values of fields with one of these names, in whatever spelling, of those that count: a host
/// may heed them beside what its tool is known to have.
pub(super) fn others<'a>(
    input: &'a Json,
    names: &[&str],
    counts: impl Fn(&str, &Json) -> bool,
) -> Vec<&'a Json> {
    let is_named = |key: &str| {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|letter| letter.to_ascii_lowercase()).collect()
        };
        // Most keys begin with another letter.
        let first = key.bytes().next().map(|first| first.to_ascii_lowercase());
        let mut near = names.iter().filter(|name| name.bytes().next() == first);
        near.any(|name| *name == key || letters(name) == letters(key))
    };
    let is_empty = |value: &Json| match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    };
    let fields = input.as_object().into_iter().flatten();
    fields
        .filter(|(key, value)| !is_empty(value) && is_named(key) && counts(key, value))
        .map(|(_, value)| value)
        .collect()
}

/// Where a path leads that another system, a shell or an address means by it: a drive, a share, a
/// climb written with backslashes, a variable, `file://`.
pub(super) fn foreign(path: &str) -> Option<String> {
    let slashed = || path.replace('\\', "/");
    if path.starts_with(['$', '%']) {
        return from_variable(&slashed());
    }
    let mut letters = path.chars();
    let has_drive = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('\\' | '/'));
    if has_drive {
        return Some(format!("/{}", slashed()));
    }
    let start = path.get(..5).unwrap_or_default();
    if start.eq_ignore_ascii_case("file:") {
        let rest = path.get(5..).unwrap_or_default();
        // Behind two slashes stands a host.
        let rest = match rest.strip_prefix("//") {
            Some(rest) => rest.find('/').and_then(|at| rest.get(at..)),
            None => Some(rest).filter(|rest| rest.starts_with('/')),
        };
        return rest.map(str::to_owned);
    }
    let climbs = path.contains('\\') && path.split(['/', '\\']).any(|part| part == "..");
    (climbs || path.starts_with('\\')).then(slashed)
}

/// Where a path leads that begins with a variable of the environment, if a host fills it in.
fn from_variable(path: &str) -> Option<String> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let braced = first.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
    let signed = first.strip_prefix('%').and_then(|name| name.strip_suffix('%'));
    let name = braced.or(signed).or_else(|| first.strip_prefix('$'))?;
    // Names of files begin so too (`$id.tsx`); variables of the environment are capitals.
    let is_name = name.starts_with(|sign: char| sign.is_ascii_uppercase())
        && name.chars().all(|sign| sign.is_ascii_uppercase() || "_0123456789".contains(sign));
    match name {
        "HOME" | "USERPROFILE" => Some(format!("~/{rest}")),
        // Anywhere: outside of every workspace.
        _ => is_name.then(|| format!("/{path}")),
    }
}
