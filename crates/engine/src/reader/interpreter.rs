//! Interpreters and shells: where their program comes from.

use portcullis_shell::Dialect;

use super::Reading;
use crate::act::Act;
use crate::analysis::{Feed, Syntax, names};
use crate::arg::{Arg, Text};
use crate::effect::{Effect, EffectOn};
use crate::lists;
use crate::peel::Inner;

/// An interpreter: inline code, a script, or standard input.
pub(super) fn interpreter(reading: &mut Reading<'_, '_>) {
    if reading.usage.is_dry {
        return;
    }
    let has_code = reading.act.effects.iter().any(|on| on.effect == Effect::Execute)
        && reading.usage.values.iter().any(|given| {
            matches!(
                given.kind,
                crate::catalog::ValueKind::Code | crate::catalog::ValueKind::ShellText
            )
        });
    let script = reading.operands().first().cloned();
    let is_stream = script.as_ref().is_some_and(is_input);
    if reading.act.is_fetched {
        reading.act.note("download_and_run", reading.act.span);
    }
    if !has_code && (script.is_none() || is_stream) {
        fed(reading);
    }
    if let Some(script) = script.filter(|_| !is_stream) {
        for text in reading.analysis.take_written(&script) {
            reading.analysis.suspect_text(&text, reading.act);
        }
    }
}

/// `source`: a file that runs in this very shell.
pub(super) fn source(reading: &mut Reading<'_, '_>) {
    if reading.act.is_fetched {
        reading.act.note("download_and_run", reading.act.span);
    }
    let Some(file) = reading.operands().first().cloned() else { return };
    if !is_input(&file) {
        if file.as_known().is_none() || is_descriptor(&file) {
            reading.analysis.suspect_names(&[], reading.act);
        }
        let dialect = reading.analysis.dialect;
        for text in reading.analysis.take_written(&file) {
            reading.inner.push(Inner::Text(text, dialect));
        }
        return;
    }
    match reading.analysis.feed.clone() {
        Feed::Text(text) => {
            let dialect = reading.analysis.dialect;
            reading.act.note("piped_code", reading.act.span);
            reading.inner.push(Inner::Text(text, dialect));
        }
        Feed::Nothing | Feed::Pipe { .. } | Feed::Unknown => fed(reading),
    }
}

/// Whether a file is the standard input.
fn is_input(file: &Arg) -> bool {
    matches!(file.as_known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// Whether a file is something that the script has opened before.
fn is_descriptor(file: &Arg) -> bool {
    let is_open = |name: &str| name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
    file.as_known().is_some_and(is_open)
}

/// A program that starts a shell where it is given nothing to run: what it is fed are commands.
pub(super) fn bare_shell(reading: &mut Reading<'_, '_>) {
    match reading.analysis.feed.clone() {
        Feed::Text(text) => reading.inner.push(Inner::Text(text, Dialect::Bash)),
        Feed::Nothing | Feed::Pipe { .. } | Feed::Unknown => fed(reading),
    }
}

/// A program that comes from standard input.
pub(super) fn fed(reading: &mut Reading<'_, '_>) {
    match reading.analysis.feed.clone() {
        Feed::Nothing => {}
        Feed::Pipe { is_fetched } => {
            reading.analysis.suspect_names(&[], reading.act);
            reading.analysis.found.syntax.push((Syntax::FeedsInterpreter, reading.act.span));
            let guard = if is_fetched { "download_and_run" } else { "piped_code" };
            reading.act.note(guard, reading.act.span);
        }
        Feed::Text(text) => {
            reading.analysis.suspect_text(&text, reading.act);
            reading.act.note("piped_code", reading.act.span);
        }
        Feed::Unknown => {
            reading.analysis.suspect_names(&[], reading.act);
            reading.act.note("piped_code", reading.act.span);
            let file = reading.analysis.feed_file.clone();
            let texts = file.map(|file| reading.analysis.take_written(&file));
            for text in texts.into_iter().flatten() {
                if is_shell(reading.act) {
                    reading.inner.push(Inner::Text(text, Dialect::Bash));
                } else {
                    reading.analysis.suspect_text(&text, reading.act);
                }
            }
        }
    }
}

/// Whether a program runs what it is fed as commands.
fn is_shell(act: &Act) -> bool {
    act.base_name().is_some_and(|name| lists::SHELLS.contains(&name))
}

/// A shell: `-c` text, a script, or standard input.
pub(super) fn shell(reading: &mut Reading<'_, '_>) {
    let dialect = match reading.act.base_name() {
        Some("bash" | "rbash" | "bash5") if !reading.usage.has_option(&["--posix"]) => {
            Dialect::Bash
        }
        Some("zsh") => Dialect::Zsh,
        _ => Dialect::Sh,
    };
    let words = Words::of(reading.args());
    if reading.act.is_fetched {
        reading.act.note("download_and_run", reading.act.span);
    }
    let Some(words) = words else {
        reading.analysis.suspect_names(&[], reading.act);
        return reading.dynamic("an option of the shell that is not known before it runs");
    };
    let operand = words.operand.and_then(|at| reading.args().get(at)).cloned();
    if words.only_reads {
        reading.only_read();
        // With `-v` it prints every line, and of a faulty one otherwise.
        let target = operand.as_ref().map(crate::usage::path);
        let read = target.map(|target| EffectOn::new(Effect::Read, target));
        return reading.act.effects.extend(read);
    }
    if words.has_text {
        // What follows the text are its parameters.
        let behind = words.operand.map_or(usize::MAX, |at| at + 1);
        let given = names::of_args(reading.args().get(behind..).unwrap_or_default());
        reading.analysis.keep(given);
        let Some(text) = operand else { return reading.unknown("the shell lacks its text") };
        opened(reading, &text, dialect);
        return;
    }
    let is_stream = operand.as_ref().is_none_or(is_input);
    if !words.reads_input && !is_stream {
        if let Some(operand) = operand {
            if operand.as_known().is_none() {
                reading.analysis.suspect_names(&[], reading.act);
            }
            if is_descriptor(&operand) {
                reading.analysis.suspect_names(&[], reading.act);
            }
            let target = crate::usage::path(&operand);
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
            for text in reading.analysis.take_written(&operand) {
                reading.inner.push(Inner::Text(text, dialect));
            }
        }
        // A script runs code of a file: the table says so.
        return;
    }
    match reading.analysis.feed.clone() {
        Feed::Text(text) => {
            reading.only_read();
            reading.inner.push(Inner::Text(text, dialect));
        }
        Feed::Nothing | Feed::Pipe { .. } | Feed::Unknown => fed(reading),
    }
}

/// Text that the shell is given: what it does is what its commands do.
fn opened(reading: &mut Reading<'_, '_>, text: &Arg, dialect: Dialect) {
    let Some(known) = text.as_known() else {
        reading.analysis.suspect_text(text.prefix(), reading.act);
        return reading.inner.push(Inner::Partly(text.clone(), dialect));
    };
    let has_files = reading.usage.has_option(&["--rcfile", "--init-file"]);
    if !has_files {
        reading.only_read();
        // What follows the text are its own parameters.
        if reading.usage.unknown.is_none() {
            reading.forget();
        }
    }
    reading.inner.push(Inner::Text(known.to_owned(), dialect));
}

/// What the options of a shell say.
#[derive(Default)]
struct Words {
    /// `-c`
    has_text: bool,
    /// `-s`
    reads_input: bool,
    /// `-n` and nothing that undoes it.
    only_reads: bool,
    /// The place of the first operand.
    operand: Option<usize>,
}

impl Words {
    /// Reads the options; none if a word may be one and is not known.
    fn of(args: &[Arg]) -> Option<Words> {
        let mut words = Words::default();
        let mut is_interactive = false;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let Some(text) = arg.as_known() else {
                if arg.may_be_option() {
                    return None;
                }
                words.operand = Some(at);
                break;
            };
            at += 1;
            match text {
                "--" | "-" => {
                    words.operand = args.get(at).map(|_| at);
                    break;
                }
                "--rcfile" | "--init-file" | "--emulate" => at += 1,
                _ if text.starts_with("--") => {}
                _ if text.starts_with('-') && text.len() > 1 => {
                    words.has_text |= text.contains('c');
                    words.reads_input |= text.contains('s');
                    words.only_reads |= text.contains('n');
                    is_interactive |= text.contains('i');
                    if text.ends_with(['o', 'O']) {
                        let name = args.get(at).and_then(Arg::as_known)?;
                        words.only_reads |= name == "noexec";
                        at += 1;
                    }
                }
                _ if text.starts_with('+') && text.len() > 1 => {
                    if text.contains('n') || text.ends_with(['o', 'O']) {
                        words.only_reads = false;
                        is_interactive = true;
                    }
                    at += usize::from(text.ends_with(['o', 'O']));
                }
                _ => {
                    words.operand = Some(at - 1);
                    break;
                }
            }
        }
        // Options end with the script; a word that may begin with a sign may undo the `-n`.
        let until = words.operand.map_or(args.len(), |at| at + 1);
        let undone = |arg: &Arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => text.starts_with('+'),
            Text::Begins(prefix) | Text::Files { prefix, .. } => {
                prefix.is_empty() || prefix.starts_with('+')
            }
            Text::Any(_) => true,
        };
        words.only_reads &= !args.iter().take(until).any(undone);
        words.only_reads &= !is_interactive && !words.reads_input && words.operand.is_some();
        Some(words)
    }
}
