//! Peeling: from a command as written to the commands that run.
//!
//! Wrappers (`sudo`, `env`, `timeout`, `xargs`, `bash -c`) are taken off until a program is
//! reached that does something itself. Judging, suggesting and showing all see what is found here.

use std::sync::Arc;

use portcullis_shell::{Dialect, Reader, Span};

use crate::act::{Act, Assigned, Note};
use crate::analysis::written::is_foreign;
use crate::analysis::{Analysis, dashes, grave, names, picks};
use crate::arg::{self, Arg, Text};
use crate::catalog::{self, Services, ValueKind, Wraps};
use crate::effect::{Effect, EffectOn, Target};
use crate::environment::{self, Setting};
use crate::lists;
use crate::place;
use crate::reader;
use crate::usage::{Unknown, Usage, turning};

/// How many wrappers may stand around one another.
pub const WRAPPERS: usize = 16;

/// Something that an act runs.
pub(crate) enum Inner {
    /// A command with its arguments, the variables set for it, and where it runs.
    Argv(Vec<Arg>, Vec<Assigned>, Where),
    /// Shell text.
    Text(String, Dialect),
    /// Shell text of which only the beginning and the end are known.
    Partly(Arg, Dialect),
    /// Something that is not known before it runs.
    Unknown(&'static str),
}

/// The directory in which something runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Where the act itself runs.
    Here,
    /// In this one, as written.
    In(String),
    /// Not known.
    Unknown,
}

/// Finds what a command does and adds its acts.
pub(crate) fn resolve(analysis: &mut Analysis<'_>, mut act: Box<Act>) {
    act.via.clone_from(&analysis.via);
    act.directory.clone_from(&analysis.state.directory);
    if !analysis.state.strays.is_empty() {
        act.perhaps_in = analysis.state.strays.places();
    }
    judge_assignments(&mut act);
    expose(analysis, &mut act);
    if analysis.via.len() > WRAPPERS {
        analysis.found.is_cut = true;
        act.unknown = Some(unknown(&act, "too many programs around one another", true));
        act.effects.push(EffectOn::of(Effect::Unknown));
        analysis.push(act);
        return;
    }
    let Some(written) = act.program() else {
        return nameless(analysis, act);
    };
    let is_alias = analysis.state.aliases.contains(written);
    let functions = &analysis.state.functions;
    let function = if functions.is_empty() { None } else { functions.get(written).cloned() };
    let is_function = function.is_some();
    if let Some(function) = function {
        act.is_call = true;
        let args = act.args.get(1..).unwrap_or_default();
        let bodies = analysis.bodies(&function);
        let inside = || bodies.iter().filter_map(|body| analysis.found.acts.get(body.clone()));
        let prints = names::of_body(inside().flatten(), args);
        let takes_input = inside().flatten().any(|inner| inner.program().is_some_and(reads_input));
        if inside().flatten().any(|inner| inner.program().is_none()) {
            analysis.suspect_words(args, &act);
        }
        if takes_input {
            analysis.keep(analysis.handed.clone());
        }
        analysis.keep(names::of_args(args));
        analysis.keep_made();
        for body in bodies {
            analysis.give_arguments(body, args);
        }
        act.prints = prints;
        let mut between = analysis.via.iter().skip(function.depth);
        if function.is_certain && between.all(|program| runs_here(program)) {
            act.effects.push(EffectOn::of(Effect::Read));
            analysis.push(act);
            return;
        }
    }
    if is_alias {
        analysis.suspect_words(act.args.get(1..).unwrap_or_default(), &act);
        act.unknown = Some(unknown(&act, "an alias may stand for this name", true));
    }
    if analysis.ground.folds_names && !is_function {
        fold_names(&mut act);
    }
    let is_zsh = analysis.dialect == Dialect::Zsh;
    let found = act.program().and_then(program_name).and_then(catalog::find);
    let Some(program) = found.filter(|program| !program.is_zsh || is_zsh) else {
        let written = act.program().unwrap_or_default();
        let message = format!("program `{written}` is not known");
        let is_path = written.contains('/');
        act.doubt(unknown(&act, &message, false));
        let effect = if is_path { Effect::Execute } else { Effect::Unknown };
        act.effects.push(EffectOn::of(effect));
        analysis.suspect_unread(&act.args, &act);
        analysis.name_files(&mut act, None);
        reader::database::bare_statement(&mut act);
        let file = act.args.first().filter(|_| is_path).cloned();
        let texts = file.map(|file| analysis.take_written(&file)).unwrap_or_default();
        let mut inner: Vec<Inner> = grave::behind_dashes(&act).into_iter().collect();
        for text in texts {
            if is_foreign(&text) {
                analysis.suspect_text(&text, &act);
            } else {
                inner.push(Inner::Text(text, Dialect::Bash));
            }
        }
        run_all(analysis, act, "sh", inner, true);
        return;
    };
    if analysis.state.is_poisoned {
        let message = "which program a name means was changed before";
        act.doubt(unknown(&act, message, true));
    }
    if let Some(name) = &analysis.state.exported
        && !program.is_builtin
        && !environment::is_unmoved(program.name)
    {
        let message = format!("runs with variable `{name}`, which is not known to be harmless");
        act.doubt(unknown(&act, &message, false));
    }
    let mut usage = Usage::new(program.entry);
    usage.read(act.args.get(1..).unwrap_or_default());
    if program.name == "truncate" && usage.options.is_empty() {
        // The program takes nothing without a size: this is the statement of that name.
        reader::database::bare_statement(&mut act);
    }
    take(analysis, act, program, &mut usage);
}

/// A program that is not known before it runs: its name comes from a variable, or the like.
fn nameless(analysis: &mut Analysis<'_>, mut act: Box<Act>) {
    act.unknown = Some(unknown(&act, "the program is not known before it runs", true));
    act.effects.push(EffectOn::of(Effect::Execute));
    if let Some(Text::Begins(_) | Text::Any(_)) = act.args.first().map(|arg| &arg.text) {
        act.note("late_binding", act.span);
    }
    analysis.suspect_program(&act);
    analysis.push(act);
}

/// Writes a program and its sub-command as the catalog has them, where only letter case differs.
fn fold_names(act: &mut Act) {
    let Some(written) = act.program().map(str::to_owned) else { return };
    let Some(name) = program_name(&written) else { return };
    let lower = name.to_ascii_lowercase();
    let exact = catalog::find(name);
    let Some(program) = exact.or_else(|| catalog::find(&lower)) else { return };
    if let (None, Some(first)) = (exact, act.args.first_mut()) {
        let before = written.strip_suffix(name).unwrap_or_default();
        first.text = Text::Known(format!("{before}{lower}"));
    }
    let Some(second) = act.args.get_mut(1) else { return };
    let Some(word) = second.as_known() else { return };
    let lower = word.to_ascii_lowercase();
    if program.entry.sub(word).is_none() && program.entry.sub(&lower).is_some() {
        second.text = Text::Known(lower);
    }
}

/// Judges the variables that are set for one command alone, by their names.
fn judge_assignments(act: &mut Act) {
    for at in 0..act.assignments.len() {
        let Some(assigned) = act.assignments.get(at) else { continue };
        match environment::setting(&assigned.name, assigned.value.as_deref()) {
            Setting::Harmless => {}
            Setting::Foreign if act.base_name().is_some_and(environment::is_unmoved) => {}
            Setting::Foreign => {
                let message = format!("variable `{}` is not known to be harmless", assigned.name);
                act.doubt(Unknown { message, span: act.span, is_dynamic: false });
            }
            // What `read` splits by changes nothing else.
            Setting::Loader if assigned.name == "IFS" && act.program() == Some("read") => {}
            Setting::Loader => act.note("loader_environment", act.span),
        }
    }
}

/// What was exported before is set for an act too, and no rule for its program covers that.
fn expose(analysis: &Analysis<'_>, act: &mut Act) {
    if let Some(name) = &analysis.state.exported
        && act.base_name().is_some_and(|program| !environment::is_unmoved(program))
    {
        act.assignments.push(Assigned { name: name.clone(), value: None });
    }
}

/// A variable that is set for an act and not known to be harmless.
fn foreign(act: &Act) -> Option<String> {
    let is_foreign = |assigned: &&Assigned| {
        environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Foreign
    };
    act.assignments.iter().find(is_foreign).map(|assigned| assigned.name.clone())
}

/// Adds what an act prints, as far as words and names of files go.
fn add_printed(analysis: &Analysis<'_>, act: &mut Act, usage: &Usage) {
    if !act.is_call {
        act.dashes = dashes::printed(analysis, act, usage);
        act.picks = picks::picks(act, usage);
    }
    let prints = names::printed(act, usage, usage.entry.prints);
    act.prints.extend(prints);
    let is_text = |kind| matches!(kind, ValueKind::Awk | ValueKind::Jq);
    for given in usage.values.iter().filter(|given| is_text(given.kind)) {
        act.prints.extend(names::of_program(given.arg.prefix()));
    }
    let repeats = usage.entry.prints.repeats();
    if repeats && act.args.iter().any(|arg| arg.as_known().is_none()) {
        // `echo ${x:-name}`: what its words may stand for comes out again.
        act.prints.extend(analysis.handed.iter().cloned());
        if analysis.holds_text() {
            act.prints.push(names::held());
        }
    }
    if analysis.makes(act, usage) || repeats && analysis.is_given_made() {
        act.prints.push(names::made());
    }
}

/// Turns what the table says into the act, and goes on with what it runs.
fn take(
    analysis: &mut Analysis<'_>,
    mut act: Box<Act>,
    program: &'static catalog::Program,
    usage: &mut Usage,
) {
    act.soft = usage.entry.soft.or(program.entry.soft);
    if act.effects.is_empty() {
        act.effects = std::mem::take(&mut usage.effects);
    } else {
        act.effects.append(&mut usage.effects);
    }
    for guard in std::mem::take(&mut usage.findings) {
        act.note(guard, act.span);
    }
    let around = act.unknown.clone();
    if let Some(unknown) = usage.unknown.take() {
        act.doubt(unknown);
    }
    act.options = usage.options.iter().map(|given| given.name).collect();
    act.is_tidy = !usage.entry.tidy.is_empty() && !usage.has_option(usage.entry.tidy);
    act.left_out = usage.left_out().map(str::to_owned).collect();
    act.code = usage
        .values
        .iter()
        .filter(|given| given.kind == ValueKind::Code)
        .map(|given| given.arg.prefix().to_owned())
        .collect();
    act.globals = usage.globals.iter().map(|at| at + 1).collect();
    act.extras = usage.extras.iter().map(|at| at + 1).collect();
    let turning = turning::places(usage, act.args.get(1..).unwrap_or_default());
    act.extras.extend(turning.into_iter().map(|at| at + 1));
    // What changes the program itself must be named.
    let has_subs = !program.entry.subs.is_empty() || program.entry.services != Services::None;
    if has_subs && !act.only_reads() {
        let mut words = (1..act.args.len()).filter(|at| !act.globals.contains(at));
        let is_own = |at: &usize| {
            let word = act.args.get(*at).and_then(Arg::as_known);
            word.is_some_and(|word| lists::OWN_WORDS.contains(&word))
        };
        act.extras.extend(words.next().filter(is_own));
    }
    if usage.is_loose && !act.only_reads() {
        let places = outside(analysis, &act, usage);
        act.extras.extend(places);
    }
    act.has_harmless_globals =
        act.unknown.is_none() && !act.globals.iter().any(|at| act.extras.contains(at));
    move_to(analysis, &mut act, usage);
    let mut inner = Vec::new();
    if let Some(command) = usage.command
        && !usage.is_dry
    {
        let args = act.args.get(command + 1..).unwrap_or_default().to_vec();
        let place = match &usage.directory {
            None => Where::Here,
            Some(_) => {
                act.directory.as_deref().map_or(Where::Unknown, |to| Where::In(to.to_owned()))
            }
        };
        inner.push(Inner::Argv(args, act.assignments.clone(), place));
    }
    for given in usage.values.iter().filter(|given| given.kind == ValueKind::ShellText) {
        inner.push(match given.arg.as_known() {
            Some(text) => Inner::Text(text.to_owned(), Dialect::Sh),
            None => Inner::Partly(given.arg.clone(), Dialect::Sh),
        });
    }
    if let Some(name) = usage.reader
        && !(usage.is_dry && usage.wraps != Wraps::No)
    {
        reader::read(name, analysis, &mut act, usage, &mut inner);
    }
    reader::read_filters(analysis, &mut act, usage, &mut inner);
    reader::read_fed(analysis, &mut act, usage, &mut inner);
    // Readers answer for words; a variable or an alias around them is none of theirs.
    if let Some(unknown) = around {
        act.doubt(unknown);
    }
    // Where nobody listens nothing is asked about what is said.
    if analysis.listeners > 0 {
        add_printed(analysis, &mut act, usage);
    }
    if dashes::is_given(usage.entry.takes_names, usage) {
        let target = Target::Unknown(String::new());
        act.effects.push(EffectOn::new(Effect::Read, target));
    }
    analysis.give_names(&mut act);
    analysis.give_removed(&mut act);
    analysis.give_changed(&mut act);
    analysis.suspect(&act, usage);
    inner.extend(grave::among(&act, usage));
    analysis.name_files(&mut act, Some(usage));
    analysis.guard_own(&mut act);
    if let Some(shown) = act.shows.take()
        && usage.reader != Some("test")
        && act.has_reading_effects()
    {
        let message = Some(shown.to_string());
        act.notes.push(Note { guard: "secret_read", span: act.span, message });
    }
    if inner.is_empty() {
        analysis.push(act);
        return;
    }
    run_all(analysis, act, program.name, inner, usage.wraps != Wraps::Plain);
}

/// Moves an act to the directory that its own options name.
fn move_to(analysis: &Analysis<'_>, act: &mut Act, usage: &Usage) {
    let Some(directory) = &usage.directory else { return };
    act.directory = moved(analysis, act.directory.as_deref(), directory);
    if !act.perhaps_in.is_empty() {
        let strays = act.perhaps_in.iter();
        let there = strays.filter_map(|stray| moved(analysis, Some(stray), directory));
        act.perhaps_in = there.collect();
    }
    let is_inside = act.directory.as_ref().is_some_and(|directory| {
        let roots = analysis.ground.workspace.iter().map(String::as_str);
        let mut roots = roots.chain([&*analysis.ground.root]);
        roots.any(|root| place::is_within(directory, root))
    });
    if !is_inside {
        let message = "works in a directory outside the workspace";
        act.doubt(unknown(act, message, false));
    }
}

/// What an act gives to those that it runs.
struct Around {
    /// All words up to its last.
    all: Vec<Arg>,
    /// The names of what it finds.
    found_names: Arc<[EffectOn]>,
}

/// Adds an act of this program and everything that it runs.
fn run_all(
    analysis: &mut Analysis<'_>,
    act: Box<Act>,
    program: &'static str,
    inner: Vec<Inner>,
    is_linked: bool,
) {
    let (span, is_fetched) = (act.span, act.is_fetched);
    let directory = act.directory.clone();
    let foreign = foreign(&act);
    let is_argv = |inner: &Inner| matches!(inner, Inner::Argv(..));
    let all: Vec<Arg> = if inner.iter().any(is_argv) {
        act.led_by.iter().chain(&act.args).cloned().collect()
    } else {
        Vec::new()
    };
    let around = Around { all, found_names: Arc::clone(&act.found_names) };
    let place = analysis.push(act);
    analysis.via.push(program);
    let exported = analysis.state.exported.clone();
    for inner in inner {
        // What is set for a shell is set for everything that its text runs.
        if foreign.is_some() && matches!(inner, Inner::Text(..)) {
            analysis.state.exported.clone_from(&foreign);
        }
        run(analysis, inner, &around, span, directory.as_deref(), is_fetched);
        if foreign.is_some() {
            analysis.state.exported.clone_from(&exported);
        }
    }
    analysis.via.pop();
    if is_linked {
        analysis.close(place);
    }
}

/// Goes on with something that an act runs.
fn run(
    analysis: &mut Analysis<'_>,
    inner: Inner,
    around: &Around,
    span: Span,
    directory: Option<&str>,
    is_fetched: bool,
) {
    let outer = analysis.state.directory.clone();
    let is_shell = analysis.via.last().is_some_and(|program| runs_here(program));
    match inner {
        Inner::Argv(args, assignments, place) => {
            let is_builtin = analysis
                .via
                .last()
                .is_some_and(|program| matches!(*program, "command" | "builtin"));
            match place {
                Where::Here => {}
                Where::In(to) => {
                    analysis.state.directory =
                        directory.or(Some("/").filter(|_| to.starts_with('/'))).and_then(|from| {
                            let home = analysis.ground.home.as_deref();
                            place::absolute(&to, from, home).map(Arc::from)
                        });
                }
                Where::Unknown => analysis.state.directory = None,
            }
            if !args.is_empty() {
                let span = own_span(&args, span);
                let led_by = arg::leading(&around.all, &args).to_vec();
                let found_names = Arc::clone(&around.found_names);
                let own = Act { span, args, led_by, found_names, ..Act::default() };
                let act = Act { assignments, is_fetched, ..own };
                resolve(analysis, Box::new(act));
            }
            // `command cd` moves this very shell.
            if !is_builtin {
                analysis.state.directory = outer;
            }
        }
        Inner::Text(text, dialect) => {
            let state = analysis.state.clone();
            if !is_shell && !analysis.state.functions.is_empty() {
                analysis.state.functions.clear();
            }
            let first = analysis.found.acts.len();
            analysis.text(&text, Some(span), dialect);
            if analysis.via.last().is_some_and(|program| *program == "trap") {
                analysis.waiting.push(first..analysis.found.acts.len());
            }
            // `eval` runs in this very shell; everything else in one of its own.
            if analysis.via.last().is_none_or(|program| *program != "eval") {
                analysis.state = state;
            }
        }
        Inner::Partly(arg, dialect) => {
            run(
                analysis,
                Inner::Unknown("a text that runs is not known"),
                around,
                span,
                directory,
                is_fetched,
            );
            // What is known of it is judged too, with a word in the open place.
            let text = format!("{}$portcullis{}", arg.prefix(), arg.ending);
            if !arg.prefix().trim().is_empty()
                && Reader::new(dialect).parse(text.as_bytes()).is_ok()
            {
                run(analysis, Inner::Text(text, dialect), around, span, directory, is_fetched);
            }
        }
        Inner::Unknown(message) => {
            let via = analysis.via.clone();
            analysis.suspect_names(&[], &Act { span, via, ..Act::default() });
            analysis.push_unknown(message, span);
        }
    }
}

/// Where the words of a command stand inside the one that runs it; all of that where they do not.
fn own_span(args: &[Arg], around: Span) -> Span {
    let is_own = |span: &Span| {
        !span.is_empty() && *span != around && around.start <= span.start && span.end <= around.end
    };
    let mut spans = args.iter().map(|arg| arg.span).filter(is_own);
    let Some(first) =
        spans.next().filter(|first| args.first().is_some_and(|arg| arg.span == *first))
    else {
        return around;
    };
    spans.fold(first, |all, span| Span {
        start: all.start.min(span.start),
        end: all.end.max(span.end),
    })
}

/// Whether a builtin puts what it gets into variables.
pub(crate) fn reads_input(program: &str) -> bool {
    matches!(program, "read" | "mapfile" | "readarray")
}

/// Whether what a builtin runs is run by the shell itself, which knows its functions.
fn runs_here(program: &str) -> bool {
    matches!(program, "eval" | "trap")
}

/// The directory that an option moves a program to.
pub(crate) fn moved(analysis: &Analysis<'_>, from: Option<&str>, to: &Arg) -> Option<Arc<str>> {
    let home = analysis.ground.home.as_deref();
    let path = match &to.text {
        Text::Known(text) if text.starts_with('~') => {
            place::absolute(&format!("./{text}"), from?, home)
        }
        Text::Known(text) | Text::Home(text) => {
            let is_rooted = text.starts_with('/') || matches!(to.text, Text::Home(_));
            place::absolute(text, from.or(is_rooted.then_some("/"))?, home)
        }
        Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
    };
    path.map(Arc::from)
}

/// How many options are looked through for one word.
const LISTED: usize = 256;

/// The words of a program that runs or changes something, up to `--`, that lead out of the
/// workspace: nobody knows what it takes from there, or puts there. A package manager hands what
/// stands behind that to another such program.
fn outside(analysis: &Analysis<'_>, act: &Act, usage: &Usage) -> Vec<usize> {
    let ground = analysis.ground;
    let is_inside = |path: &str| ground.holds_path(path) || place::is_within(path, &ground.root);
    let leads_out = |arg: &Arg| {
        let (Text::Known(text) | Text::Home(text)) = &arg.text else { return false };
        let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
        // Most words have no dot at all.
        let goes_up =
            || text.as_bytes().contains(&b'.') && value.split('/').any(|part| part == "..");
        let is_path = value.starts_with(['/', '~']) || goes_up();
        let place = || {
            let from = act.directory.as_deref().unwrap_or("/");
            place::absolute(value, from, ground.home.as_deref())
        };
        is_path && place().is_none_or(|path| !is_inside(&path) && path != "/dev/null")
    };
    // What a listed option takes is known by its kind.
    let is_listed = |at: usize, arg: &Arg| {
        usage.options.iter().take(LISTED).any(|given| {
            let option = act.args.get(given.at + 1).map_or("", Arg::prefix);
            let is_value = given.value.as_ref().is_some_and(|value| {
                value.prefix() == arg.prefix() && !option.ends_with(value.prefix())
            });
            given.at + 1 == at || given.at + 2 == at && is_value
        })
    };
    let hands_on = act.base_name().is_some_and(|name| lists::PACKAGE_MANAGERS.contains(&name));
    let words = act.args.iter().enumerate().skip(1);
    let words = words.take_while(|(_, arg)| hands_on || arg.as_known() != Some("--"));
    let words = words.filter(|(at, arg)| leads_out(arg) && !is_listed(*at, arg));
    words.map(|(at, _)| at).collect()
}

pub(crate) fn unknown(act: &Act, message: &str, is_dynamic: bool) -> Unknown {
    let span = act.args.first().map_or(act.span, |arg| arg.span);
    Unknown { message: message.to_owned(), span, is_dynamic }
}

/// The name under which the catalog may know a program.
fn program_name(written: &str) -> Option<&str> {
    if !written.contains('/') {
        return Some(written.strip_suffix(".exe").filter(|name| is_ours(name)).unwrap_or(written));
    }
    let name = written.rsplit('/').next().unwrap_or(written);
    if is_ours(name) {
        return Some(name);
    }
    lists::PROGRAM_DIRECTORIES
        .iter()
        .find_map(|directory| written.strip_prefix(directory))
        .filter(|name| !name.contains('/'))
}

/// Whether a program is Portcullis, wherever it lies.
fn is_ours(name: &str) -> bool {
    matches!(name, "portcullis" | "portcullis-hook")
}
