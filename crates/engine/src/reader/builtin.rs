//! Builtins of the shell: what they change for the commands behind them.

use std::sync::Arc;

use super::{Reading, words};
use crate::act::{Assigned, Shown};
use crate::analysis::names;
use crate::arg::{Arg, Text, escaped};
use crate::catalog;
use crate::effect::{Effect, EffectOn, Target};
use crate::environment::{self, Setting, setting};
use crate::language;
use crate::lists;
use crate::peel::{Inner, moved, reads_input};
use crate::place;
use portcullis_shell::Dialect;

/// `cd`, `pushd`, `popd`: later paths start elsewhere.
pub(super) fn cd(reading: &mut Reading<'_, '_>) {
    reading.analysis.has_moved = true;
    let is_popd = reading.act.base_name() == Some("popd");
    let operands = reading.operands();
    let to = match operands.as_slice() {
        [] if is_popd || reading.act.base_name() == Some("pushd") => None,
        [] => reading.analysis.ground.home.as_deref().map(Arc::from),
        [only] if only.as_known() == Some("-") && !is_popd => reading.analysis.before(),
        [only] if only.prefix().starts_with(['+', '-']) && only.as_known().is_some() => None,
        [only] => moved(reading.analysis, reading.act.directory.as_deref(), only),
        _ => None,
    };
    match (&to, operands.as_slice()) {
        (Some(to), _) => reading.analysis.been(to),
        (None, [Arg { text: Text::Files { pattern, .. }, .. }]) => {
            let from = reading.act.directory.clone();
            let home = reading.analysis.ground.home.clone();
            let place = place::absolute(pattern, from.as_deref().unwrap_or("/"), home.as_deref());
            if let Some(place) = place {
                reading.analysis.been(&place.into());
            }
        }
        // A place that is not known may be one that the script names.
        (None, [only]) if only.as_known().is_none() => {
            let home = reading.analysis.ground.home.clone();
            let from = reading.act.directory.clone();
            for path in names::paths(reading.analysis.all_names()) {
                let from = from.as_deref().unwrap_or("/");
                if let Some(place) = place::absolute(&path, from, home.as_deref()) {
                    reading.analysis.been(&place.into());
                }
            }
        }
        (None, _) => {}
    }
    let written = operands.first().and_then(|only| only.as_known().map(str::to_owned));
    let written = written.filter(|written| written != "-");
    reading.analysis.go(written.as_deref(), to);
}

/// `alias`: what a name stands for on later lines.
pub(super) fn alias(reading: &mut Reading<'_, '_>) {
    if reading.usage.has_option(&["-g", "-s"]) {
        reading.dynamic("an alias that stands for words anywhere");
    }
    for operand in reading.operands() {
        match operand.as_known().map(|text| text.split_once('=')) {
            Some(Some((name, text))) => {
                reading.analysis.state.aliases.insert(name.to_owned());
                let dialect = reading.analysis.dialect;
                // Whatever follows the name later is appended.
                let text = format!("{text} \"$portcullis\"");
                reading.inner.push(Inner::Text(text, dialect));
            }
            Some(None) => {}
            None => reading.dynamic("an alias that is not known before it runs"),
        }
    }
}

/// `eval`: its operands, joined, are text that runs here.
pub(super) fn eval(reading: &mut Reading<'_, '_>) {
    reading.only_read();
    reading.inner.clear();
    join(reading, 0, reading.analysis.dialect);
    if reading.act.is_fetched {
        reading.act.note("download_and_run", reading.act.span);
    }
}

/// A word as it stands in a text: a home means the same there, if nothing else about it does
/// something.
pub(super) fn spoken(arg: &Arg) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "~/._-".contains(letter);
    arg.as_known().or_else(|| arg.as_written().filter(|text| text.chars().all(is_plain)))
}

/// Joins the operands from one on to shell text that runs.
pub(super) fn join(reading: &mut Reading<'_, '_>, from: usize, dialect: Dialect) {
    let operands = reading.operands();
    let words: Option<Vec<&str>> = operands.iter().skip(from).map(spoken).collect();
    match words {
        Some(words) if words.is_empty() => {}
        Some(words) => reading.inner.push(Inner::Text(words.join(" "), dialect)),
        None => match operands.get(from..) {
            Some([only]) => reading.inner.push(Inner::Partly(only.clone(), dialect)),
            _ => reading.inner.push(Inner::Unknown("a text that runs is not known")),
        },
    }
}

/// `export`, `declare`, `read` and their kind: variables that stay.
pub(super) fn assign(reading: &mut Reading<'_, '_>) {
    let program = reading.act.base_name().unwrap_or_default().to_owned();
    if program == "let" {
        return arithmetic(reading);
    }
    let exports = program == "export" || reading.usage.has_option(&["-x"]);
    let declares = matches!(program.as_str(), "declare" | "typeset" | "local" | "readonly");
    if reading.usage.has_option(&["-n"]) && declares {
        reading.dynamic("a name that stands for another variable");
    }
    if reading.usage.has_option(&["-i"]) && declares {
        reading.dynamic("values that are evaluated as arithmetic");
    }
    let mut named: Vec<Arg> = reading.operands();
    if program == "getopts" {
        // What an option is given may be the rest of any word.
        reading.analysis.keep(vec![names::made()]);
        named = named.into_iter().skip(1).take(1).collect();
    }
    if reads_input(&program) {
        let given = reading.analysis.handed.clone();
        let signs = reading.act.assignments.iter().find(|assigned| assigned.name == "IFS");
        let signs = signs.and_then(|assigned| assigned.value.as_deref()).unwrap_or_default();
        let parts = names::split(&given, signs);
        reading.analysis.keep(given);
        reading.analysis.keep(parts);
    }
    if matches!(program.as_str(), "read" | "mapfile" | "readarray" | "wait") {
        named.extend(
            reading
                .usage
                .value_of(&["-a", "-A", "-p"])
                .cloned()
                .filter(|_| program != "read" || reading.usage.has_option(&["-a", "-A"])),
        );
        if program == "wait" {
            named = reading.usage.value_of(&["-p"]).cloned().into_iter().collect();
        }
    }
    for operand in named {
        let prefix = operand.prefix().to_owned();
        let (name, value) = match prefix.split_once('=') {
            Some((name, value)) => (name.trim_end_matches('+'), operand.as_known().map(|_| value)),
            None if operand.as_known().is_some() => (prefix.as_str(), None),
            None => {
                reading.dynamic("the name of a variable that is not known before it runs");
                continue;
            }
        };
        if name.contains('[') {
            reading.dynamic("a subscript is evaluated");
        }
        if prefix.contains('=') {
            let given = value.map_or_else(|| reading.analysis.handed.clone(), names::of_text);
            reading.analysis.keep(given);
        }
        let dialect = reading.analysis.dialect;
        let is_declared = declares || matches!(program.as_str(), "export" | "unset");
        if is_declared && !prefix.contains('=') && environment::is_evaluated(name, dialect) {
            continue;
        }
        reading.analysis.state.assign(environment::meant(name, value, dialect), value);
        if program == "unset" {
            reading.analysis.state.functions.remove(name);
        }
        if !prefix.contains('=')
            && environment::is_secret(name)
            && reading.usage.has_option(&["-p"])
        {
            reading.act.shows = Some(Shown::Variable(name.to_owned()));
        }
        match setting(environment::meant(name, value, dialect), value) {
            Setting::Loader => {
                let only_shown = !prefix.contains('=')
                    && matches!(program.as_str(), "declare" | "typeset" | "export")
                    && reading.usage.has_option(&["-p"]);
                if !only_shown {
                    reading.act.note("loader_environment", reading.act.span);
                }
            }
            Setting::Foreign if exports && !reading.usage.has_option(&["-n", "-p"]) => {
                reading.analysis.state.exported = Some(name.to_owned());
            }
            Setting::Harmless | Setting::Foreign => {}
        }
        let value = value.map(str::to_owned);
        reading.act.assignments.push(Assigned { name: name.to_owned(), value });
    }
    // What a builtin sets is its own matter, not a prefix of the act.
    reading.act.assignments.clear();
}

/// `let`: every operand is arithmetic.
fn arithmetic(reading: &mut Reading<'_, '_>) {
    for operand in reading.operands() {
        let is_plain = operand.as_known().is_some_and(|text| {
            let mut rest = text;
            if let Some((name, value)) = text.split_once('=') {
                let name = name.trim_end_matches(['+', '-', '*', '/', '%']);
                let (name, value) = (name.trim(), value.trim());
                let is_name = !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if is_name && setting(name, None) != Setting::Loader {
                    rest = value;
                }
            }
            let rest = rest.trim_end_matches("++").trim_end_matches("--");
            rest.bytes().all(|byte| byte.is_ascii_digit() || b" +-*/%()<>=!&|^~".contains(&byte))
                || reading
                    .analysis
                    .state
                    .sets
                    .as_ref()
                    .is_some_and(|sets| sets.numbers.contains(rest))
        });
        if !is_plain {
            reading.dynamic("arithmetic on values that are not known");
        }
    }
}

/// `printf -v` assigns, and evaluates a subscript.
pub(super) fn printf(reading: &mut Reading<'_, '_>) {
    let Some(name) = reading.usage.value_of(&["-v"]).cloned() else {
        // Without an option its words are only printed, whatever they hold, and without a second
        // word there is nothing to assign.
        let args = reading.args();
        let may_be_option =
            args.first().is_some_and(|arg| arg.may_be_option() && arg.as_known().is_none());
        let has_more = args.len() > 1 || args.iter().any(|arg| !arg.is_one());
        if may_be_option && has_more {
            reading.dynamic("the first word may be `-v`, which assigns and evaluates a subscript");
        } else if reading.act.unknown.as_ref().is_some_and(|unknown| unknown.is_dynamic) {
            reading.act.unknown = None;
        }
        return;
    };
    let names = names::of_format(&reading.operands());
    reading.analysis.keep(names);
    reading.analysis.keep_made();
    // What the format makes of them is not known.
    reading.analysis.keep(formatted(&reading.operands()));
    match name.as_known() {
        Some(name) if !name.contains('[') => {
            let name = name.to_owned();
            reading.analysis.state.assign(&name, None);
            let name = environment::meant(&name, None, reading.analysis.dialect);
            if setting(name, None) == Setting::Loader {
                reading.act.note("loader_environment", reading.act.span);
            }
        }
        _ => reading.dynamic("a subscript is evaluated"),
    }
}

/// Whether a text, taken for the name of a variable, runs something in its subscript.
fn holds_code(text: &str) -> bool {
    text.split_once('[').is_some_and(|(_, rest)| rest.contains("$(") || rest.contains('`'))
}

/// The name that a format makes, with anything in the places for words.
fn formatted(operands: &[Arg]) -> Vec<EffectOn> {
    let Some(format) = operands.first().and_then(Arg::as_known) else { return Vec::new() };
    let Some((before, _)) = format.split_once('%') else { return Vec::new() };
    let after = format.rsplit('%').next().unwrap_or_default().get(1..).unwrap_or_default();
    let pattern = format!("{}*{}", escaped(before), escaped(after));
    vec![EffectOn::new(Effect::Read, Target::Unknown(pattern))]
}

/// `test` and `[`.
pub(super) fn test(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let is_bracket = reading.act.base_name() == Some("[");
    let Some(words) = words(&args) else {
        // Words that may be several: only `-v` and `-R` evaluate anything.
        let may_name = args.iter().any(|arg| {
            matches!(arg.as_known(), Some("-v" | "-R"))
                || arg.as_known().is_none() && args.len() < 3
        });
        let names = |text: &str| matches!(text, "-v" | "-R") || holds_code(text);
        if may_name && args.iter().any(|arg| arg.as_known().is_some_and(names))
            || args.iter().filter_map(Arg::as_known).any(holds_code)
        {
            reading.dynamic("the name of a variable that is not known before it runs");
        }
        return;
    };
    let facts = if is_bracket { language::bracket(&words) } else { language::test(&words) };
    // File tests look at attributes and not into files.
    let facts = language::Facts { reads: Vec::new(), ..facts };
    if facts.unknown.is_some() {
        // A name that it looks up may have a subscript, which is evaluated.
        reading.dynamic("a test that may evaluate what a variable holds");
    }
    reading.take(facts);
}

/// `trap`: text that runs at a signal.
pub(super) fn trap(reading: &mut Reading<'_, '_>) {
    reading.only_read();
    reading.inner.clear();
    let operands = reading.operands();
    // One word may be a text and a signal.
    let may_be_two = operands.iter().any(|operand| !operand.is_one());
    if reading.usage.is_dry || operands.len() < 2 && !may_be_two {
        return;
    }
    match operands.first().map(Arg::as_known) {
        Some(Some("-" | "")) => {}
        Some(Some(text)) => {
            let text = text.to_owned();
            let mut signals = operands.iter().skip(1).map(Arg::as_known);
            if signals.any(|signal| signal.is_none_or(comes_between)) && changes_shell(&text) {
                reading.dynamic("the shell is changed between any two commands");
            }
            let dialect = reading.analysis.dialect;
            reading.inner.push(Inner::Text(text, dialect));
        }
        _ => reading.inner.push(Inner::Unknown("a text that runs is not known")),
    }
}

/// Whether a trap of this name springs while the script goes on.
fn comes_between(signal: &str) -> bool {
    let name = signal.to_ascii_uppercase();
    matches!(name.trim_start_matches("SIG"), "DEBUG" | "ERR" | "RETURN" | "ZERR")
}

/// Whether a text may set variables, move or change how words are read, as far as its words tell.
fn changes_shell(text: &str) -> bool {
    let is_end = |letter: char| letter.is_whitespace() || ";&|(){}`'\"$<>".contains(letter);
    let is_changer = |word: &str| {
        let is_builtin = catalog::find(word).is_some_and(|program| program.is_builtin);
        is_builtin && !lists::SAYERS.contains(&word)
    };
    text.contains('=') || text.split(is_end).any(is_changer)
}

/// `set`: options that change how later text is read.
pub(super) fn set(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    if args.is_empty() {
        return reading.act.note("secret_read", reading.act.span);
    }
    let harmless = [
        "allexport",
        "errexit",
        "nounset",
        "pipefail",
        "xtrace",
        "verbose",
        "noclobber",
        "errtrace",
        "functrace",
        "monitor",
        "notify",
        "noglob",
        "hashall",
    ];
    let mut takes_name = false;
    let mut has_options_ended = false;
    for arg in &args {
        let Some(text) = arg.as_known() else {
            if !has_options_ended {
                reading.dynamic("an option of the shell that is not known before it runs");
            }
            continue;
        };
        if std::mem::take(&mut takes_name) {
            if !harmless.contains(&text) {
                reading.analysis.state.is_poisoned = true;
            }
            if text == "allexport" {
                reading.analysis.state.exported = Some("set -a".to_owned());
            }
            continue;
        }
        match text {
            "--" | "-" => has_options_ended = true,
            _ if has_options_ended => {}
            _ if text.starts_with(['-', '+']) => {
                takes_name = text.ends_with('o');
                // -a exports everything.
                if text.starts_with('-') && text.contains('a') {
                    reading.analysis.state.exported = Some("set -a".to_owned());
                }
                // -k makes arguments assignments, -n stops running.
                if text.contains(['k', 'n', 'B', 'H', 'P', 't', 'a', 'A']) {
                    reading.analysis.state.is_poisoned |= text.contains(['k', 'A']);
                }
                if text.contains('k') {
                    reading.dynamic("later arguments become assignments");
                }
            }
            _ => has_options_ended = true,
        }
    }
    // What it sets are the parameters `$1`, `$2` …
    let names = names::of_args(&args);
    reading.analysis.keep(names);
    reading.analysis.keep_made();
}

/// `shopt`: names that change how later text is read.
pub(super) fn shopt(reading: &mut Reading<'_, '_>) {
    if !reading.usage.has_option(&["-s", "-u"]) {
        return;
    }
    let harmless = [
        "nullglob",
        "failglob",
        "dotglob",
        "nocaseglob",
        "nocasematch",
        "globstar",
        "checkwinsize",
        "cmdhist",
        "histappend",
        "lithist",
        "autocd",
        "cdspell",
        "dirspell",
        "direxpand",
        "globasciiranges",
        "inherit_errexit",
        "login_shell",
        "progcomp",
        "promptvars",
        "xpg_echo",
    ];
    let sets = reading.usage.has_option(&["-s"]);
    for operand in reading.operands() {
        if !operand.as_known().is_some_and(|name| harmless.contains(&name)) {
            reading.analysis.state.is_poisoned = true;
        }
        reading.analysis.state.has_dotglob |= sets && operand.as_known() == Some("dotglob");
    }
}

/// `kill`: a signal may stand as an option of its own.
pub(super) fn kill(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let is_query = |arg: &Arg| matches!(arg.as_known(), Some("-0" | "-l" | "-L" | "--list"));
    let is_everybody = |arg: &Arg| arg.as_known() == Some("-1");
    // As the first word it is a signal.
    if args.iter().skip(1).any(is_everybody) && !args.first().is_some_and(is_query) {
        reading.act.note("power", reading.act.span);
    }
    let Some(first) = args.first().and_then(Arg::as_known) else { return };
    let Some(name) = first.strip_prefix('-') else { return };
    let upper = name.to_ascii_uppercase();
    let signal = upper.strip_prefix("SIG").unwrap_or(&upper);
    let is_signal = !name.is_empty()
        && !name.starts_with('-')
        && (name.bytes().all(|byte| byte.is_ascii_digit()) || lists::SIGNALS.contains(&signal));
    if !is_signal {
        if matches!(
            reading.usage.value_of(&["-s", "-n", "--signal"]).and_then(Arg::as_known),
            Some("0")
        ) {
            reading.only_read();
        }
        return;
    }
    // The table took the signal for unknown options.
    if reading.act.unknown.as_ref().is_some_and(|unknown| !unknown.is_dynamic) {
        reading.act.unknown = None;
    }
    match signal {
        "9" | "KILL" => reading.act.note("force_kill", reading.act.span),
        "0" => reading.only_read(),
        _ => {}
    }
}
