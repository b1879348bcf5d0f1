//! Programs that look for files, pack them, or hand them to other programs.

use portcullis_shell::Dialect;

use super::{Reading, arg_of, words};
use crate::act::Act;
use crate::analysis::{Dashes, Feed, names};
use crate::arg::{Arg, Text};
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::language::{self, Run, Word};
use crate::peel::{Inner, Where};
use crate::sensitive;
use crate::usage;

/// What stands for a place of which nothing is known but that it is one.
const PLACE: &[u8] = b"./\0";

/// So many names that are looked for are told to the commands that run for what is found.
pub(super) const MOST_NAMES: usize = 8;

/// `find`: where it starts, and what its expression does.
pub(super) fn find(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let words = find_words(&args);
    let Some(words) = words else {
        reading.analysis.suspect_names(&[], reading.act);
        return reading.dynamic("a word of find that is not known before it runs");
    };
    let mut found = language::find(&words);
    for start in found.starts.iter_mut().chain(&mut found.facts.deletes) {
        start.take_if(|start| start == PLACE);
    }
    reading.only_read();
    // What is handed to a command may be read whole, unless it only looks at names.
    let is_listing = found.facts.runs.iter().all(looks_at_names);
    let mut starts: Vec<Target> =
        found.start_indices.iter().filter_map(|&at| args.get(at)).map(usage::path).collect();
    let is_here = starts.is_empty();
    if is_here {
        starts.push(Target::Path(".".to_owned()));
    }
    let names = named(&args, &starts);
    let is_deep = is_listing || !narrows(&args);
    for &at in &found.start_indices {
        if let Some(arg) = args.get(at) {
            let target = usage::path(arg);
            let on = EffectOn::new(Effect::Read, target);
            reading.act.effects.push(EffectOn { is_deep, is_listing, ..on });
        }
    }
    if !found.facts.deletes.is_empty() {
        removed(reading.act, &names, &starts);
    }
    if !is_listing {
        reading.act.effects.extend(names.iter().cloned());
    }
    if is_here {
        let target = Target::Path(".".to_owned());
        let on = EffectOn::new(Effect::Read, target);
        reading.act.effects.push(EffectOn { is_deep: true, is_listing: true, ..on });
    }
    let runs = std::mem::take(&mut found.facts.runs);
    let removes = std::mem::take(&mut found.facts.deletes);
    if !runs.is_empty() || !removes.is_empty() {
        reading.extra();
    }
    // Where names tell what is removed, the directory stays.
    let below = if narrows(&args) { Below::Named } else { Below::Nothing };
    for start in removes {
        let target = start.map_or(Target::Unknown(String::new()), |start| {
            Target::Path(String::from_utf8_lossy(&start).into_owned())
        });
        let on = EffectOn { is_deep: true, below, ..EffectOn::new(Effect::Delete, target) };
        reading.act.effects.push(on);
    }
    let removes_found = |run: &Run| match run {
        Run::Argv(words) => matches!(
            words.first().and_then(Option::as_deref),
            Some(b"rm" | b"/bin/rm" | b"/usr/bin/rm" | b"unlink" | b"shred")
        ),
        Run::Shell(_) | Run::Unknown => false,
    };
    if runs.iter().any(removes_found) {
        let of_names = names.iter().map(|name| name.target.clone()).filter(|_| narrows(&args));
        reading.act.may_change.extend(of_names.map(|name| EffectOn::new(Effect::Delete, name)));
        for start in &starts {
            let on = EffectOn::new(Effect::Delete, start.clone());
            reading.act.effects.push(EffectOn { is_deep: true, below, ..on });
        }
    }
    if narrows(&args) && names.len() <= MOST_NAMES {
        reading.act.found_names = names.into();
    }
    run_found(reading, &found, runs);
    reading.take(found.facts);
}

/// The commands of an expression, with what it finds among their words.
fn run_found(reading: &mut Reading<'_, '_>, found: &language::Find, runs: Vec<Run>) {
    for run in runs {
        match run {
            Run::Argv(words) => {
                let starts: Vec<String> = found
                    .starts
                    .iter()
                    .flatten()
                    .map(|start| String::from_utf8_lossy(start).into_owned())
                    .collect();
                let has_place = starts.len() < found.starts.len();
                let is_open = found.may_begin_with_dash || has_place;
                let args = words
                    .into_iter()
                    .map(|word| {
                        let is_found = word.is_none();
                        let arg = found_arg(word, &starts, is_open, reading);
                        let is_operand = is_found && has_place && !found.may_begin_with_dash;
                        Arg { is_operand, ..arg }
                    })
                    .collect();
                let place = if found.runs_where_found { Where::Unknown } else { Where::Here };
                reading.inner.push(Inner::Argv(args, Vec::new(), place));
            }
            Run::Shell(_) | Run::Unknown => reading.run(run),
        }
    }
}

/// The words of find as its reader takes them; none where several may stand for one.
fn find_words(args: &[Arg]) -> Option<Vec<Word<'_>>> {
    let is_start = |at: usize| {
        let before = args.get(..at).unwrap_or_default();
        let is_path = |arg: &Arg| arg.is_operand || begins_a_path(arg.prefix());
        let is_before = |arg: &Arg| matches!(arg.as_known(), Some("-L" | "-H" | "-P" | "--"));
        before.iter().all(|arg| is_path(arg) || is_before(arg))
    };
    // What begins with no dash is a place to start from, whatever else it is.
    let is_place = |at: usize, arg: &Arg| {
        arg.is_operand && matches!(arg.text, Text::Begins(_)) && is_start(at)
    };
    args.iter()
        .enumerate()
        .map(|(at, arg)| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Files { prefix, .. } | Text::Begins(prefix) | Text::Any(prefix)
                if begins_a_path(prefix) && !matches!(arg.text, Text::Any(_)) =>
            {
                Some(Some(prefix.as_bytes()))
            }
            Text::Begins(_) if is_place(at, arg) => Some(Some(PLACE)),
            Text::Begins(_) => Some(None),
            Text::Files { .. } | Text::Any(_) => None,
        })
        .collect()
}

/// Whether a command tells of files what a directory tells, and nothing of what they hold.
fn looks_at_names(run: &Run) -> bool {
    let Run::Argv(words) = run else { return false };
    let Some((Some(program), words)) = words.split_first() else { return false };
    // A file may be given to it that names others.
    let is_letters = |word: &Vec<u8>| word.starts_with(b"-") && !word.starts_with(b"--");
    match program.as_slice() {
        b"du" => words.iter().flatten().all(|word| is_letters(word) && !word.contains(&b'X')),
        program => matches!(program, b"ls" | b"stat" | b"echo" | b"basename" | b"dirname"),
    }
}

/// The files that an expression looks for by name, somewhere below where it starts.
pub(crate) fn named(args: &[Arg], starts: &[Target]) -> Vec<EffectOn> {
    let tests = ["-name", "-iname", "-lname", "-ilname"];
    let whole = ["-path", "-ipath", "-wholename", "-iwholename"];
    let fitting = ["-regex", "-iregex"];
    let is_one_of =
        |arg: &Arg, names: &[&str]| arg.as_known().is_some_and(|text| names.contains(&text));
    let mut found = Vec::new();
    for (at, pair) in args.windows(2).enumerate() {
        let [test, name] = pair else { continue };
        let is_turned = at
            .checked_sub(1)
            .and_then(|before| args.get(before))
            .is_some_and(|before| is_one_of(before, &["!", "-not"]));
        if is_one_of(test, &["-samefile"]) && !is_turned {
            found.push(EffectOn::new(Effect::Read, usage::path(name)));
        }
        let Some(name) = name.as_known().filter(|_| !is_turned) else { continue };
        let globs = if is_one_of(test, &tests) {
            vec![name.to_owned()]
        } else if is_one_of(test, &whole) {
            vec![name.trim_start_matches(['*', '/', '.']).to_owned(), name.to_owned()]
        } else if is_one_of(test, &fitting) {
            language::globs_of_expression(&format!("^{name}$"))
        } else {
            continue;
        };
        for start in starts {
            let Target::Path(start) = start else { continue };
            let start = crate::arg::escaped(start.trim_end_matches('/'));
            found.extend(globs.iter().map(|glob| {
                EffectOn::new(Effect::Read, Target::Pattern(format!("{start}/**/{glob}")))
            }));
        }
    }
    found
}

/// Whether an expression finds only files of certain names: each of its alternatives looks for
/// some, and says something of them.
pub(crate) fn narrows(args: &[Arg]) -> bool {
    let word = |at: usize| args.get(at).and_then(Arg::as_known).unwrap_or_default();
    let is_not = |text: &str| matches!(text, "!" | "-not");
    let is_or = |text: &str| matches!(text, "-o" | "-or" | ",");
    let (mut is_narrow, mut narrows_all) = (false, true);
    for at in 0..args.len() {
        match word(at) {
            // What is turned inside brackets is not looked at.
            text if is_not(text) && word(at + 1) == "(" => return false,
            text if is_or(text) => narrows_all &= std::mem::take(&mut is_narrow),
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex"
            | "-iregex" => {
                let is_turned = at.checked_sub(1).is_some_and(|before| is_not(word(before)));
                // Of a whole path the name counts: what it begins with may be where it starts.
                let name = word(at + 1).rsplit('/').next().unwrap_or_default();
                is_narrow |= !is_turned && sensitive::says_enough(name);
            }
            _ => {}
        }
    }
    narrows_all && is_narrow
}

/// A word of `-exec`: what holds `{}` begins with a start path.
fn found_arg(
    word: Option<Vec<u8>>,
    starts: &[String],
    is_open: bool,
    reading: &Reading<'_, '_>,
) -> Arg {
    let span = reading.act.span;
    let found = match starts {
        _ if is_open => String::new(),
        [start] => format!("{}/", start.trim_end_matches('/')),
        _ => "./".to_owned(),
    };
    match word {
        None => Arg::new(Text::Begins(found), span),
        Some(word) => {
            let arg = arg_of(Some(word), span);
            filled(&arg, &["{}"], &found).unwrap_or(arg)
        }
    }
}

/// The word with what is found in the places of these marks, if there are any.
pub(super) fn filled(arg: &Arg, marks: &[&str], found: &str) -> Option<Arg> {
    let text = arg.as_known()?;
    let first = marks.iter().filter_map(|mark| text.find(mark)).min()?;
    let ends = marks.iter().filter_map(|mark| Some(text.rfind(mark)? + mark.len()));
    let before = text.get(..first).unwrap_or_default();
    let begins = if before.is_empty() { found } else { before };
    let ending = text.get(ends.max()?..).unwrap_or_default().to_owned();
    Some(Arg { ending, ..Arg::new(Text::Begins(begins.to_owned()), arg.span) })
}

/// What an expression removes: what it looks for, or everything below where it starts.
fn removed(act: &mut Act, names: &[EffectOn], starts: &[Target]) {
    for name in names {
        let on = EffectOn { effect: Effect::Delete, is_listing: false, ..name.clone() };
        act.effects.push(on);
    }
    for start in starts.iter().filter(|_| names.is_empty()) {
        let on = EffectOn::new(Effect::Delete, start.clone());
        act.effects.push(EffectOn { is_deep: true, ..on });
    }
}

/// Whether a word that begins so is a path and no part of an expression.
pub(super) fn begins_a_path(prefix: &str) -> bool {
    !prefix.is_empty() && !prefix.starts_with(['-', '(', ')', '!', ','])
}

/// `xargs`: a command with words from outside.
pub(super) fn xargs(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    let args = reading.args().to_vec();
    let Some(words) = words(&args) else {
        reading.analysis.suspect_names(&[], reading.act);
        return reading.dynamic("a word of xargs that is not known before it runs");
    };
    let found = language::xargs(&words);
    reading.only_read();
    let runs = found.facts.clone();
    let span = reading.act.span;
    if let Some(command) = found.command {
        let is_operand = match reading.analysis.piped {
            Dashes::Nowhere => true,
            Dashes::BehindTheFirst => found.by_line,
            Dashes::Anywhere => false,
        };
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
                    if text.contains(char::is_whitespace) {
                        let filled = text.replace(&*mark, "x");
                        reading.analysis.suspect_text(&filled, reading.act);
                    }
                    let before = text.split(&*mark).next().unwrap_or_default();
                    let ending = text.rsplit(&*mark).next().unwrap_or_default().to_owned();
                    Arg { ending, is_operand, ..Arg::new(Text::Begins(before.to_owned()), span) }
                }
                Text::Known(_)
                | Text::Home(_)
                | Text::Files { .. }
                | Text::Begins(_)
                | Text::Any(_) => arg.clone(),
            })
            .collect();
        if found.appends {
            inner.push(Arg { is_operand, ..Arg::new(Text::Any(String::new()), span) });
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
    // Values of options have places too: labels, directories, separators.
    if reading.args().iter().any(|arg| arg.written().contains("{=")) {
        return reading.unknown("a place with Perl in it");
    }
    let operands = reading.operands();
    let is_separator =
        |arg: &Arg| matches!(arg.as_known(), Some(":::" | "::::" | ":::+" | "::::+"));
    let end = operands.iter().position(is_separator).unwrap_or(operands.len());
    let given = names::of_args(operands.get(end..).unwrap_or_default());
    reading.analysis.keep(given);
    // `::::` takes its arguments out of files.
    let mut is_file = false;
    for operand in operands.get(end..).unwrap_or_default() {
        if is_separator(operand) {
            is_file = operand.prefix().starts_with("::::");
        } else if is_file {
            let on = EffectOn::new(Effect::Read, usage::path(operand));
            reading.act.effects.push(on);
        }
    }
    let command: Option<Vec<&str>> = operands.iter().take(end).map(Arg::as_known).collect();
    match command {
        Some(words) if words.is_empty() => {
            for line in operands.get(end..).unwrap_or_default() {
                reading.analysis.suspect_text(line.prefix(), reading.act);
            }
            reading.inner.push(Inner::Unknown("each line of the input is a command"));
        }
        Some(words) => {
            // A place is filled with text from outside, which the shell reads anew.
            let mut text = words.join(" ");
            for mark in ["{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}"] {
                text = text.replace(mark, "\"$portcullis\"");
            }
            reading.inner.push(Inner::Text(format!("{text} \"$portcullis\""), Dialect::Sh));
        }
        None => reading.inner.push(Inner::Unknown("a text that runs is not known")),
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
    for arg in &args {
        let effect = match (&arg.text, arg.prefix()) {
            (Text::Begins(_) | Text::Any(_), "of=") => Effect::Write,
            (Text::Begins(_) | Text::Any(_), "if=") => Effect::Read,
            _ => continue,
        };
        let target = Target::Unknown(format!("*{}", crate::arg::escaped(&arg.ending)));
        reading.act.effects.push(EffectOn::new(effect, target));
    }
    let Some(words) = words(&args) else {
        let known = args.iter().filter_map(Arg::as_known);
        let known: Vec<language::Word<'_>> = known.map(|word| Some(word.as_bytes())).collect();
        reading.take(language::dd(&known));
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

/// `rsync`: with `--delete` everything in its target may go.
pub(super) fn rsync(reading: &mut Reading<'_, '_>) {
    // What a directory holds is what it is asked for.
    for on in reading.act.effects.iter_mut().filter(|on| on.effect == Effect::Read) {
        on.is_deep |= matches!(&on.target, Target::Path(path) if path.ends_with('/'));
    }
    let deletes = reading.usage.options.iter().any(|given| given.name.starts_with("--del"));
    let operands = reading.operands();
    let Some(last) = operands.last().filter(|_| deletes && !reading.usage.is_dry) else { return };
    let target = usage::path(last);
    let is_local = !matches!(&target, Target::Path(path) if path.contains(':'));
    if is_local {
        let on = EffectOn::new(Effect::Delete, target);
        reading.act.effects.push(EffectOn { is_deep: true, ..on });
    }
}

/// `pdftotext`: without a second operand it writes beside the first.
pub(super) fn pdftotext(reading: &mut Reading<'_, '_>) {
    if reading.operands().len() == 1 {
        reading.effect(Effect::Write);
    }
}

/// What is kept of a file before it is replaced has its name with something behind it, or around
/// it: the copy is written, too.
pub(super) fn copies(reading: &mut Reading<'_, '_>, options: &[&str]) {
    // A copy that is a link is another name for the file: who writes it writes that.
    let links = reading.usage.has_option(&["-l", "--link", "-s", "--symbolic-link"]);
    if links && matches!(reading.act.base_name(), Some("cp" | "gcp")) {
        let read = reading.act.effects.iter().filter(|on| on.effect == Effect::Read);
        let linked = read.map(|on| EffectOn { effect: Effect::Write, ..on.clone() });
        let linked: Vec<EffectOn> = linked.collect();
        reading.act.effects.extend(linked);
    }
    let Some(suffix) = reading.usage.value_of(options).cloned() else { return };
    let Some(suffix) = suffix.as_known().filter(|suffix| !suffix.contains('/')) else {
        // It is kept somewhere else.
        let on = EffectOn::new(Effect::Write, Target::Unknown(String::new()));
        return reading.act.effects.push(on);
    };
    let operands = reading.operands();
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let written = |on: &EffectOn| match (&on.target, on.effect) {
        (Target::Path(path) | Target::Pattern(path), Effect::Write) => Some(path.clone()),
        _ => None,
    };
    let targets: Vec<String> = reading.act.effects.iter().filter_map(written).collect();
    let below = targets.iter().flat_map(|target| {
        operands.iter().map(move |source| format!("{target}/{}", name(source.prefix())))
    });
    let all: Vec<String> = targets.iter().cloned().chain(below).collect();
    for path in all {
        let (above, last) = path.rsplit_once('/').unwrap_or(("", &path));
        let copy = if suffix.contains('*') {
            suffix.replace('*', last)
        } else {
            format!("{last}{suffix}")
        };
        let copy = if above.is_empty() { copy } else { format!("{above}/{copy}") };
        let is_open = copy.contains(['*', '?', '[']);
        let target = if is_open { Target::Pattern(copy) } else { Target::Path(copy) };
        reading.act.effects.push(EffectOn::new(Effect::Write, target));
    }
}
