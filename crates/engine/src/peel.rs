//! Peeling: from a command as written to the commands that run.
//!
//! Wrappers (`sudo`, `env`, `timeout`, `xargs`, `bash -c`) are taken off until a program is
//! reached that does something itself. Judging, suggesting and showing all see what is found here.

use crate::act::Act;
use crate::analysis::Analysis;
use crate::arg::Arg;
use crate::catalog::{self, ValueKind, Wraps};
use crate::effect::{Effect, EffectOn};
use crate::environment::{self, Setting};
use crate::usage::{self, Unknown, Usage};

/// How many wrappers may stand around one another.
const WRAPPERS: usize = 16;

/// The directories whose programs are those of the catalog.
const SYSTEM: [&str; 8] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/snap/bin/",
];

/// Finds what a command does and adds its acts.
pub(crate) fn resolve(analysis: &mut Analysis, mut act: Act) {
    act.via.clone_from(&analysis.via);
    act.directory.clone_from(&analysis.state.directory);
    let is_loaded = act.assignments.iter().any(|assigned| {
        environment::setting(&assigned.name, assigned.value.as_deref()) != Setting::Harmless
    });
    if is_loaded {
        act.note("loader_environment", act.span);
    }
    let depth = analysis.via.len();
    if depth > WRAPPERS {
        act.unknown = Some(unknown(&act, "too many programs around one another"));
        analysis.push(act);
        return;
    }
    let Some(written) = act.program().map(str::to_owned) else {
        act.unknown = Some(unknown(&act, "the program is not known before it runs"));
        act.effects.push(EffectOn::of(Effect::Execute));
        analysis.push(act);
        return;
    };
    if analysis.state.functions.contains(&written) {
        act.effects.push(EffectOn::of(Effect::Read));
        analysis.push(act);
        return;
    }
    let Some(program) = program_name(&written).and_then(catalog::find) else {
        act.unknown = Some(unknown(&act, &format!("program `{written}` is not known")));
        act.effects.push(EffectOn::of(Effect::Unknown));
        analysis.push(act);
        return;
    };
    if analysis.state.is_poisoned {
        act.unknown = Some(unknown(&act, "which program a name means was changed before"));
    }
    let usage = usage::read(&program.entry, act.args.get(1..).unwrap_or_default());
    take(analysis, act, program, usage);
}

/// Turns what the table says into the act, and goes on with what it runs.
fn take(analysis: &mut Analysis, mut act: Act, program: &'static catalog::Program, usage: Usage) {
    let inner = usage.command.and_then(|at| act.args.get(at + 1..)).map(<[Arg]>::to_vec);
    act.effects.extend(usage.effects);
    for guard in usage.findings {
        act.note(guard, act.span);
    }
    if act.unknown.is_none() {
        act.unknown = usage.unknown;
    }
    if let Some(reader) = usage.reader
        && inner.is_none()
    {
        read_by_name(analysis, &mut act, reader, &usage.values);
    }
    if usage.is_quiet && act.unknown.is_none() {
        act.effects.retain(|on| on.effect == Effect::Read);
    }
    if program.name == "cd" {
        let to = usage.values.first().map(|given| given.arg.as_known());
        analysis.state.change_directory(to.unwrap_or(Some("~")));
    }
    let is_plain = program.entry.wraps == Wraps::Plain && act.only_reads();
    let texts: Vec<Arg> = usage
        .values
        .iter()
        .filter(|given| given.kind == ValueKind::ShellText)
        .map(|given| given.arg.clone())
        .collect();
    let (span, assignments) = (act.span, act.assignments.clone());
    if !(is_plain && inner.is_some()) {
        analysis.push(act);
    }
    analysis.via.push(program.name.to_owned());
    if let Some(args) = inner {
        resolve(analysis, Act { span, args, assignments, ..Act::default() });
    }
    for text in texts {
        match text.as_known() {
            Some(known) => analysis.text(known, Some(span)),
            None => analysis.push_unknown("a text that runs is not known", span),
        }
    }
    analysis.via.pop();
}

/// Rules of arguments that the table cannot hold; a name that is not known here is no rule.
fn read_by_name(_analysis: &mut Analysis, act: &mut Act, reader: &str, _values: &[usage::Given]) {
    act.unknown.get_or_insert_with(|| Unknown {
        message: format!("arguments of the kind `{reader}` are not read yet"),
        span: act.span,
        is_dynamic: false,
    });
}

fn unknown(act: &Act, message: &str) -> Unknown {
    let span = act.args.first().map_or(act.span, |arg| arg.span);
    Unknown { message: message.to_owned(), span, is_dynamic: act.program().is_none() }
}

/// The name under which the catalog may know a program.
fn program_name(written: &str) -> Option<&str> {
    if !written.contains('/') {
        return Some(written);
    }
    SYSTEM
        .iter()
        .find_map(|directory| written.strip_prefix(directory))
        .filter(|name| !name.contains('/'))
}
