//! Programs that run others in a changed setting, and a few with habits of their own.

use portcullis_shell::Dialect;

use super::{Reading, arg_of, builtin, interpreter};
use crate::act::{Assigned, Note, Shown};
use crate::analysis::names;
use crate::arg::{Arg, Text};
use crate::catalog::ValueKind;
use crate::effect::Effect;
use crate::environment::{Setting, is_secret, setting};
use crate::language::{self, Directory, Word};
use crate::lists;
use crate::peel::{Inner, Where};
use crate::place;

/// `printenv`: alone it shows every variable, else those it names.
pub(super) fn printenv(reading: &mut Reading<'_, '_>) {
    if reading.usage.is_quiet {
        return;
    }
    let mut names = reading.args().iter().filter(|arg| !arg.prefix().starts_with('-')).peekable();
    let shown = if names.peek().is_none() {
        Some(Shown::Environment)
    } else {
        let secret = names.filter_map(Arg::as_known).find(|name| is_secret(name));
        secret.map(|name| Shown::Variable(name.to_owned()))
    };
    if let Some(shown) = shown {
        let (message, span) = (Some(shown.to_string()), reading.act.span);
        reading.act.notes.push(Note { guard: "secret_read", span, message });
    }
}

/// `env`: variables, a directory, and the command they are for.
pub(super) fn env(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let words: Option<Vec<Word>> = args
        .iter()
        .map(|arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Begins(prefix) if prefix.contains('=') && !prefix.starts_with('-') => {
                Some(Some(prefix.as_bytes()))
            }
            Text::Any(prefix) if prefix.contains('=') && !prefix.starts_with('-') => None,
            Text::Begins(_) | Text::Files { .. } | Text::Any(_) => Some(None),
        })
        .collect();
    let Some(words) = words else {
        reading.analysis.suspect_names(&[], reading.act);
        return reading.dynamic("a word of env that is not known before it runs");
    };
    // Programs of other names that set variables for a command take whatever options it has.
    let is_env = !reading.usage.entry.any_option;
    let found = language::env(&words);
    reading.inner.clear();
    if is_env {
        reading.only_read();
    }
    if let Some(reason) = found.unknown {
        reading.extra();
        return reading.unknown(reason);
    }
    // What the command is called may decide what it does.
    if found.is_disguised {
        reading.extra();
        reading.unknown("env runs the command under another name or path");
    }
    if found.argv.is_empty() {
        // Without a command it prints what it would have given one.
        if is_env && !found.clears && !found.is_help {
            reading.act.shows = Some(Shown::Environment);
        }
        return;
    }
    // A second one after the first has cleared everything prints what the command itself sets.
    if found.clears && matches!(found.argv.as_slice(), [Some(only)] if only == b"env") {
        return;
    }
    let mut assignments = std::mem::take(&mut reading.act.assignments);
    for (name, value) in &found.assignments {
        let name = String::from_utf8_lossy(name).into_owned();
        let value = String::from_utf8_lossy(value).into_owned();
        // A value of which only the beginning is known is not known.
        let is_whole = args
            .iter()
            .any(|arg| arg.as_known().is_some_and(|text| text == format!("{name}={value}")))
            || found.command.is_none();
        reading.analysis.keep(names::of_text(&value));
        assignments.push(Assigned { name, value: Some(value).filter(|_| is_whole) });
    }
    reading.act.assignments.clone_from(&Vec::new());
    let place = match &found.directory {
        Directory::Same => Where::Here,
        Directory::Named(path) => Where::In(String::from_utf8_lossy(path).into_owned()),
        Directory::Unknown => Where::Unknown,
    };
    let inner = match found.command {
        Some(at) => args.get(at..).unwrap_or_default().to_vec(),
        None => found.argv.into_iter().map(|word| arg_of(word, reading.act.span)).collect(),
    };
    reading.inner.push(Inner::Argv(inner, assignments, place));
}

/// `sudo`: assignments before the command; a shell without one.
pub(super) fn sudo(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    let args = reading.args().to_vec();
    let mut at = reading.usage.command.unwrap_or(args.len());
    let mut assignments = reading.act.assignments.clone();
    while let Some((name, value)) =
        args.get(at).and_then(Arg::as_known).and_then(|text| text.split_once('='))
    {
        assignments.push(Assigned { name: name.to_owned(), value: Some(value.to_owned()) });
        at += 1;
    }
    let command = args.get(at..).unwrap_or_default().to_vec();
    if reading.usage.has_option(&["-s", "-i", "--shell", "--login"]) && !command.is_empty() {
        let words: Option<Vec<&str>> = command.iter().map(super::builtin::spoken).collect();
        reading.inner.push(match words {
            Some(words) => Inner::Text(words.join(" "), Dialect::Sh),
            None => Inner::Unknown("a text that runs is not known"),
        });
    } else if !command.is_empty() {
        reading.inner.push(Inner::Argv(command, assignments, Where::Here));
    }
}

/// `flock`: behind the lock file `-c` is shell text.
pub(super) fn flock(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let Some(at) = reading.usage.command else {
        let is_number = |arg: &Arg| {
            arg.as_known().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if let [only] = reading.operands().as_slice()
            && is_number(only)
        {
            reading.only_read();
        }
        return;
    };
    if matches!(args.get(at).and_then(Arg::as_known), Some("-c" | "--command")) {
        reading.inner.clear();
        reading.inner.push(match args.get(at + 1).and_then(Arg::as_known) {
            Some(text) => Inner::Text(text.to_owned(), Dialect::Sh),
            None => Inner::Unknown("a text that runs is not known"),
        });
    }
}

/// `watch`: its operands are joined to shell text.
pub(super) fn watch(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    reading.only_read();
    if reading.usage.has_option(&["-x", "--exec"]) {
        let command = reading.operands();
        reading.inner.push(Inner::Argv(command, Vec::new(), Where::Here));
    } else {
        builtin::join(reading, 0, Dialect::Sh);
    }
}

/// `make`: operands may set variables that choose what runs.
pub(super) fn make(reading: &mut Reading<'_, '_>) {
    let is_input = |text: &str| matches!(text, "-" | "/dev/stdin" | "/dev/fd/0");
    let mut files = reading.usage.values.iter().filter(|given| given.kind == ValueKind::Config);
    if files.any(|given| given.arg.as_known().is_some_and(is_input)) {
        interpreter::fed(reading);
    }
    let elsewhere: Vec<usize> = (1..reading.act.args.len())
        .filter(|at| reading.act.args.get(*at).is_some_and(|arg| gives_place(arg, reading)))
        .collect();
    reading.act.extras.extend(elsewhere);
    for operand in reading.operands() {
        let Some((name, value)) = operand.prefix().split_once('=') else { continue };
        // What is between these, or behind `!=`, a shell runs.
        let runs = name.ends_with('!') || ["$(", "${", "`"].iter().any(|sign| value.contains(sign));
        let name = name.trim_end_matches([':', '?', '+', '!', ' ']);
        let chooses = matches!(
            name,
            "SHELL"
                | ".SHELLFLAGS"
                | "MAKEFLAGS"
                | "MAKEFILES"
                | "CC"
                | "CXX"
                | "LD"
                | "AR"
                | "AS"
                | "CPP"
                | "YACC"
                | "LEX"
                | "RM"
                | "INSTALL"
                | "MAKE"
        ) || setting(name, None) == Setting::Loader;
        if chooses || runs {
            reading.analysis.suspect_text(operand.prefix(), reading.act);
            reading.act.note("loader_environment", reading.act.span);
        }
    }
}

/// Whether a word gives a variable of make a place outside the workspace; programs of the system
/// are no such place.
fn gives_place(arg: &Arg, reading: &Reading<'_, '_>) -> bool {
    let Some((name, value)) = arg.prefix().split_once('=') else { return false };
    let is_path = value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..");
    if name.starts_with('-') || !is_path {
        return false;
    }
    let ground = reading.analysis.ground;
    let from = reading.act.directory.as_deref().unwrap_or("/");
    let path = place::absolute(value, from, ground.home.as_deref());
    path.is_none_or(|path| {
        let is_program = lists::PROGRAM_DIRECTORIES.iter().any(|tree| path.starts_with(tree));
        !is_program && !ground.holds_path(&path) && path != "/dev/null"
    })
}

/// `ps`: letters without a dash; `e` among them prints environments.
pub(super) fn ps(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    // `-aux` is read as letters where there is no user `x`.
    let is_old = |arg: &Arg| {
        let letters = arg.as_known().and_then(|text| text.strip_prefix("-aux"));
        letters.is_some_and(|letters| letters.bytes().all(|byte| b"wfhe".contains(&byte)))
    };
    if args.iter().any(is_old) {
        reading.act.unknown = None;
    }
    if shows_environments(&args) {
        reading.act.note("secret_read", reading.act.span);
    }
}

/// Options of `ps` whose value is the next word.
const PS_VALUED: &[&str] = &[
    "--pid",
    "--ppid",
    "--sort",
    "--format",
    "--user",
    "--User",
    "--group",
    "--tty",
    "--sid",
    "--cols",
    "--columns",
    "--rows",
    "--lines",
    "--width",
];

/// Whether these words of `ps` make it print the environment of processes.
pub(super) fn shows_environments(args: &[Arg]) -> bool {
    if args.iter().any(|arg| arg.prefix().contains("environ")) {
        return true;
    }
    // Whether the next word may be a value, and whether it may be a word of its own.
    let (mut may_be_value, mut may_be_own) = (false, true);
    for arg in args {
        let Some(text) = arg.as_known() else {
            // What may vanish leaves its place to the next word.
            may_be_value &= !arg.is_one() && !arg.is_operand;
            may_be_own = true;
            continue;
        };
        let was_value = may_be_value;
        if may_be_own {
            let Some(takes_value) = letters_take(text) else { return true };
            (may_be_value, may_be_own) = (takes_value, !takes_value || was_value);
        } else {
            (may_be_value, may_be_own) = (false, true);
        }
    }
    false
}

/// Whether a word of `ps` takes the next one for its value; none if it shows environments.
fn letters_take(text: &str) -> Option<bool> {
    if let Some(letters) = text.strip_prefix("-aux") {
        return (!letters.contains('e')).then_some(false);
    }
    if text.starts_with('-') {
        let is_valued = text.ends_with(|last| "CGgpqstUuOoknD".contains(last));
        let is_short = is_valued && !text.contains('=') && text.len() <= 4;
        return Some(is_short || PS_VALUED.contains(&text));
    }
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Some(false);
    }
    let value_at = text.find(['o', 'O', 'k', 'p', 'q', 't', 'U']);
    let letters = value_at.map_or(text, |at| text.get(..at).unwrap_or(text));
    (!letters.contains('e')).then_some(value_at.is_some_and(|at| at + 1 == text.len()))
}

/// `service NAME status` asks; every other action changes.
pub(super) fn service(reading: &mut Reading<'_, '_>) {
    let operands = reading.operands();
    if operands.get(1).and_then(Arg::as_known) == Some("status") && operands.len() == 2 {
        reading.act.effects.clear();
        reading.effect(Effect::Query);
    }
}
