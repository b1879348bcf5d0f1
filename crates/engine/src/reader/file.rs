//! Programs that look for files, pack them, or hand them to other programs.

use portcullis_shell::Dialect;

use super::{Reading, arg_of, words};
use crate::act::Act;
use crate::analysis::Feed;
use crate::arg::{Arg, Text};
use crate::effect::{Effect, EffectOn, Target};
use crate::language::{self, Directory, Run, Word};
use crate::peel::{Inner, Where};
use crate::usage;

/// `find`: where it starts, and what its expression does.
pub(super) fn find(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let words: Option<Vec<Word>> = args
        .iter()
        .map(|arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Files { prefix, .. } | Text::Begins(prefix) | Text::Any(prefix)
                if begins_a_path(prefix) && !matches!(arg.text, Text::Any(_)) =>
            {
                Some(Some(prefix.as_bytes()))
            }
            Text::Begins(_) => Some(None),
            Text::Files { .. } | Text::Any(_) => None,
        })
        .collect();
    let Some(words) = words else {
        return reading.dynamic("a word of find that is not known before it runs");
    };
    let mut found = language::find(&words);
    reading.only_read();
    // What is handed to a command may be read whole.
    let is_listing = found.facts.runs.is_empty();
    let names = named(&args);
    let is_deep = is_listing || names.is_empty();
    for &at in &found.start_indices {
        if let Some(arg) = args.get(at) {
            let target = usage::path(arg);
            reading.act.effects.push(EffectOn {
                effect: Effect::Read,
                target,
                is_deep,
                is_listing,
            });
        }
    }
    if !is_listing {
        reading.act.effects.extend(names);
    }
    if found.start_indices.is_empty() {
        let target = Target::Path(".".to_owned());
        reading.act.effects.push(EffectOn {
            effect: Effect::Read,
            target,
            is_deep: true,
            is_listing: true,
        });
    }
    let runs = std::mem::take(&mut found.facts.runs);
    let removes = std::mem::take(&mut found.facts.deletes);
    if !runs.is_empty() || !removes.is_empty() {
        reading.extra();
    }
    for start in removes {
        let target = start.map_or(Target::Unknown(String::new()), |start| {
            Target::Path(String::from_utf8_lossy(&start).into_owned())
        });
        let on = EffectOn { effect: Effect::Delete, target, is_deep: true, is_listing: false };
        reading.act.effects.push(on);
    }
    for run in runs {
        match run {
            Run::Argv(words) => {
                let starts: Vec<String> = found
                    .starts
                    .iter()
                    .flatten()
                    .map(|start| String::from_utf8_lossy(start).into_owned())
                    .collect();
                let args = words
                    .into_iter()
                    .map(|word| found_arg(word, &starts, found.may_begin_with_dash, reading))
                    .collect();
                let place = if found.runs_where_found { Where::Unknown } else { Where::Here };
                reading.inner.push(Inner::Argv(args, Vec::new(), place));
            }
            Run::Shell(_) | Run::Unknown => reading.run(run),
        }
    }
    reading.take(found.facts);
}

/// The files that an act names on its output, for whoever reads them.
pub(crate) fn handed(act: &Act) -> Vec<EffectOn> {
    let read = |target: Target, is_deep: bool| EffectOn {
        effect: Effect::Read,
        target,
        is_deep,
        is_listing: false,
    };
    let args = act.args.get(1..).unwrap_or_default();
    match act.base_name() {
        Some("echo" | "printf") => args.iter().map(|arg| read(usage::path(arg), false)).collect(),
        Some("find" | "fd" | "ls" | "tree" | "locate") => {
            let names = named(args);
            let is_deep = names.is_empty();
            let listed = act.effects.iter().filter(|on| on.is_listing);
            let mut all: Vec<EffectOn> =
                listed.map(|on| read(on.target.clone(), is_deep)).collect();
            if act.base_name() == Some("ls") && all.is_empty() {
                all.push(read(Target::Path(".".to_owned()), false));
            }
            all.extend(names);
            all
        }
        _ => Vec::new(),
    }
}

/// The names that an expression looks for, as files somewhere below.
pub(crate) fn named(args: &[Arg]) -> Vec<EffectOn> {
    let tests = ["-name", "-iname", "-path", "-ipath", "-wholename"];
    let is_test = |arg: &Arg| arg.as_known().is_some_and(|text| tests.contains(&text));
    args.windows(2)
        .filter_map(|pair| match pair {
            [test, name] if is_test(test) => name.as_known(),
            _ => None,
        })
        .map(|name| EffectOn::new(Effect::Read, Target::Pattern(format!("./{name}"))))
        .collect()
}

/// A word of `-exec`: what holds `{}` begins with a start path.
fn found_arg(
    word: Option<Vec<u8>>,
    starts: &[String],
    may_begin_with_dash: bool,
    reading: &Reading<'_, '_>,
) -> Arg {
    match (word, starts) {
        (None, [start]) if !may_begin_with_dash => {
            let text = format!("{}/", start.trim_end_matches('/'));
            Arg::new(Text::Begins(text), reading.act.span)
        }
        (None, _) if !may_begin_with_dash => {
            Arg::new(Text::Begins("./".to_owned()), reading.act.span)
        }
        (word, _) => arg_of(word, reading.act.span),
    }
}

/// Whether a word that begins so is a path and no part of an expression.
fn begins_a_path(prefix: &str) -> bool {
    !prefix.is_empty() && !prefix.starts_with(['-', '(', ')', '!', ','])
}

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
    reading.only_read();
    reading.extra();
    let rest = args.get(at + 1..).unwrap_or_default();
    let end = rest.iter().position(|arg| arg.as_known() == Some(";")).unwrap_or(rest.len());
    if rest.get(end + 1..).is_some_and(|behind| !behind.is_empty()) {
        return reading.unknown("words behind the command are not read");
    }
    let is_place =
        |text: &str| ["{}", "{/}", "{//}", "{.}", "{/.}"].iter().any(|mark| text.contains(mark));
    let command = rest.get(..end).unwrap_or_default();
    let has_place = command.iter().any(|arg| arg.as_known().is_some_and(is_place));
    let mut words: Vec<Arg> = command
        .iter()
        .map(|arg| match arg.as_known() {
            Some(text) if is_place(text) => Arg::new(Text::Begins("./".to_owned()), arg.span),
            _ => arg.clone(),
        })
        .collect();
    if !has_place {
        words.push(Arg::new(Text::Begins("./".to_owned()), reading.act.span));
    }
    reading.inner.clear();
    reading.inner.push(Inner::Argv(words, Vec::new(), Where::Here));
}

/// `xargs`: a command with words from outside.
pub(super) fn xargs(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    let args = reading.args().to_vec();
    let Some(words) = words(&args) else {
        return reading.dynamic("a word of xargs that is not known before it runs");
    };
    let found = language::xargs(&words);
    reading.only_read();
    let runs = found.facts.clone();
    let span = reading.act.span;
    if let Some(command) = found.command {
        let replace = found.replace.as_deref();
        let holds = |text: &[u8]| {
            replace.is_some_and(|replace| text.windows(replace.len()).any(|part| part == replace))
        };
        let mut inner: Vec<Arg> = args
            .iter()
            .skip(command)
            .map(|arg| match &arg.text {
                Text::Known(text) | Text::Home(text) if holds(text.as_bytes()) => {
                    // What stands before the mark is certain.
                    let mark = replace.map(String::from_utf8_lossy).unwrap_or_default();
                    let before = text.split(&*mark).next().unwrap_or_default();
                    let ending = text.rsplit(&*mark).next().unwrap_or_default().to_owned();
                    Arg { text: Text::Begins(before.to_owned()), ending, span }
                }
                Text::Known(_)
                | Text::Home(_)
                | Text::Files { .. }
                | Text::Begins(_)
                | Text::Any(_) => arg.clone(),
            })
            .collect();
        if found.appends {
            inner.push(Arg::new(Text::Any(String::new()), span));
        }
        let is_fetched = matches!(reading.analysis.feed, Feed::Pipe { is_fetched: true });
        reading.act.is_fetched |= is_fetched;
        reading.inner.push(Inner::Argv(inner, Vec::new(), Where::Here));
    }
    reading.take(language::Facts { runs: Vec::new(), ..runs });
}

/// `parallel`: its words are shell text with places for arguments.
pub(super) fn parallel(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    reading.only_read();
    let operands = reading.operands();
    let is_separator =
        |arg: &Arg| matches!(arg.as_known(), Some(":::" | "::::" | ":::+" | "::::+"));
    let end = operands.iter().position(is_separator).unwrap_or(operands.len());
    let command: Option<Vec<&str>> = operands.iter().take(end).map(Arg::as_known).collect();
    match command {
        Some(words) if words.is_empty() => {
            reading.inner.push(Inner::Unknown("each line of the input is a command"));
        }
        Some(words) => {
            let text = words.join(" ");
            if text.contains("{=") {
                return reading.unknown("a place with Perl in it");
            }
            // A place is filled with text from outside, which the shell reads anew.
            let mut text = text;
            for mark in ["{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}"] {
                text = text.replace(mark, "\"$portcullis\"");
            }
            reading.inner.push(Inner::Text(format!("{text} \"$portcullis\""), Dialect::Sh));
        }
        None => reading.inner.push(Inner::Unknown("a text that runs is not known")),
    }
}

/// `tar`: what it does depends on its mode.
pub(super) fn tar(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let words: Option<Vec<Word>> = args
        .iter()
        .map(|arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Files { prefix, .. } if begins_a_path(prefix) => Some(None),
            Text::Begins(_) => Some(None),
            Text::Files { .. } | Text::Any(_) => None,
        })
        .collect();
    let Some(words) = words else {
        return reading.dynamic("a word of tar that is not known before it runs");
    };
    // The reader knows every option itself; what the table could not say is forgotten.
    let found = language::tar(&words);
    if found.facts.unknown.is_none()
        && reading.act.unknown.as_ref().is_some_and(|unknown| !unknown.is_dynamic)
    {
        reading.act.unknown = None;
    }
    reading.only_read();
    reading.inner.clear();
    // Paths of tar are joined to its own directory already.
    reading.act.directory.take_if(|_| found.directory == Directory::Unknown);
    let is_remote = found.archives.iter().flatten().any(|archive| {
        archive.contains(&b':') && !args.iter().any(|arg| arg.as_known() == Some("--force-local"))
    });
    if is_remote {
        reading.effect(Effect::Connect);
    }
    let runs_or_writes = !found.facts.runs.is_empty();
    let before = reading.act.extras.len();
    reading.take(found.facts);
    // What is packed is read to the bottom.
    for on in reading.act.effects.iter_mut().filter(|on| on.effect == Effect::Read) {
        on.is_deep = true;
    }
    if !runs_or_writes {
        // Writing files is what it is for.
        reading.act.extras.truncate(before);
    }
}

/// `dd`: every word is `NAME=VALUE`.
pub(super) fn dd(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    reading.forget();
    if let [only] = args.as_slice()
        && matches!(only.as_known(), Some("--help" | "--version"))
    {
        reading.act.notes.clear();
        return reading.only_read();
    }
    let Some(words) = words(&args) else {
        return reading.dynamic("a word of dd that is not known before it runs");
    };
    reading.take(language::dd(&words));
}

/// `patch`: the files it changes are named in the patch.
pub(super) fn patch(reading: &mut Reading<'_, '_>) {
    if matches!(reading.act.base_name(), Some("apply_patch" | "applypatch"))
        && let Some(text) = reading.operands().first()
    {
        return match text.as_known().map(|text| language::patch_targets(text.as_bytes())) {
            Some(patch) => reading.take(patch.facts()),
            None => reading.dynamic("a patch that is not known before it runs"),
        };
    }
    if reading.usage.is_dry || !reading.operands().is_empty() {
        return;
    }
    match reading.analysis.feed.clone() {
        Feed::Text(text) => reading.take(language::patch_targets(text.as_bytes()).facts()),
        Feed::Nothing | Feed::Pipe { .. } | Feed::Unknown => {
            let on = EffectOn::new(Effect::Write, Target::Unknown(String::new()));
            reading.act.effects.push(on);
        }
    }
}

/// `pdftotext`: without a second operand it writes beside the first.
pub(super) fn pdftotext(reading: &mut Reading<'_, '_>) {
    if reading.operands().len() == 1 {
        reading.effect(Effect::Write);
    }
}
