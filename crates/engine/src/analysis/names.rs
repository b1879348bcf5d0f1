//! Names that flow: out of a command's output, a text or a variable into the words of another.
//!
//! A word that is not known before it runs may still come from a known place. What that place
//! names is kept here, and a command that reads an unknown file counts as reading all of it.

use std::collections::HashSet;
use std::ops::Range;

use super::state::Function;
use super::{Analysis, joined};
use crate::act::{Act, Note};
use crate::arg::{Arg, Text};
use crate::catalog::{Prints, ValueKind};
use crate::effect::{Effect, EffectOn, Target};
use crate::language::globs_of_expression;
use crate::pattern::path::{ALTERNATIVES, alternatives};
use crate::sensitive;
use crate::usage::{self, Usage};

/// How many names are kept at one place of a script.
const NAMES: usize = 256;

/// A file whose content is read if a name reaches a reader.
fn read(target: Target, is_deep: bool) -> EffectOn {
    EffectOn { is_deep, ..EffectOn::new(Effect::Read, target) }
}

/// A file of which the whole name is known.
pub(super) fn of_path(path: String) -> EffectOn {
    read(Target::Path(path), false)
}

/// The paths among names, each once.
pub(crate) fn paths(names: Vec<EffectOn>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for name in names {
        if let Target::Path(path) = name.target
            && !paths.contains(&path)
        {
            paths.push(path);
        }
    }
    paths
}

/// What stands for a name that is put together while a command runs.
const MADE: &str = "a name that is put together";

/// A name that is put together while a command runs, out of texts that it holds.
pub(crate) fn made() -> EffectOn {
    read(Target::Named(MADE), false)
}

/// What stands for a word that is put together, so that what stands beside it stays beside it.
const MADE_WORD: &str = "a word that is put together";

/// A single word that is put together while a command runs.
pub(super) fn made_word() -> EffectOn {
    read(Target::Named(MADE_WORD), false)
}

pub(super) fn is_made(on: &EffectOn) -> bool {
    matches!(on.target, Target::Named(MADE | MADE_WORD))
}

/// Whether a name that is put together may be that of a secret, where this is read.
fn may_be_secret(made: &EffectOn, on: &EffectOn) -> bool {
    let Target::Unknown(pattern) = &on.target else { return false };
    let ending = pattern.rsplit('*').next().unwrap_or_default();
    made.target != Target::Named(MADE_WORD) || ending.is_empty() || sensitive::may_end(ending)
}

/// What stands for a text that a variable of the script may hold.
const HELD: &str = "a text that is held";

/// A text that a variable may hold: its words are kept, but another can be made of it.
pub(crate) fn held() -> EffectOn {
    read(Target::Named(HELD), false)
}

pub(super) fn is_held(on: &EffectOn) -> bool {
    on.target == Target::Named(HELD)
}

/// So many names as are kept at one place, and any name where there are more.
pub(super) fn kept(mut names: impl Iterator<Item = EffectOn>) -> Vec<EffectOn> {
    let mut kept: Vec<EffectOn> = names.by_ref().take(NAMES).collect();
    if names.next().is_some() {
        kept.push(made());
    }
    kept
}

/// Adds names to those of one place; what it does not take any more may be any name.
pub(super) fn add(to: &mut Vec<EffectOn>, names: Vec<EffectOn>) {
    match to.len() {
        0..NAMES => to.extend(names),
        NAMES.. if names.is_empty() || to.last().is_some_and(is_made) => {}
        NAMES.. => to.push(made()),
    }
}

/// Whether a name is written out and has letters that another could be made of.
pub(super) fn is_written(on: &EffectOn) -> bool {
    is_made(on) || matches!(&on.target, Target::Path(text) if has_letters(text))
}

pub(super) fn has_letters(text: &str) -> bool {
    text.contains(char::is_alphabetic)
}

/// Whether a pattern that finds names may find one that is more than the name of a secret.
pub(super) fn hides(on: &EffectOn) -> bool {
    let Target::Pattern(pattern) = &on.target else { return false };
    let name = pattern.rsplit('/').next().unwrap_or_default();
    name.starts_with(['.', '[']) || sensitive::holds_a_name(name)
}

/// The names that the texts in a program hold, one per word.
pub(crate) fn of_program(program: &str) -> Vec<EffectOn> {
    let texts = program.split('"').skip(1).step_by(2);
    kept(texts.flat_map(of_text))
}

/// The file that an argument names, if it names one.
fn named(arg: &Arg) -> Option<EffectOn> {
    let target = usage::path(arg);
    let is_open = matches!(&target, Target::Unknown(pattern) if pattern.is_empty());
    (!is_open).then(|| read(target, false))
}

/// The names that a text holds, one per word.
pub(crate) fn of_text(text: &str) -> Vec<EffectOn> {
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let name = |word: &str| read(Target::Path(word.to_owned()), false);
    if !text.contains('\\') {
        return kept(words.filter(|word| !word.is_empty()).map(name));
    }
    // Some programs are told `\n` and print a new line.
    let words = words.flat_map(|word| word.split("\\n")).flat_map(|word| word.split("\\0"));
    kept(words.filter(|word| !word.is_empty()).map(name))
}

/// The parts of names between these signs.
pub(crate) fn split(names: &[EffectOn], signs: &str) -> Vec<EffectOn> {
    let is_sign = |letter: char| signs.contains(letter);
    let whole = paths(names.to_vec()).into_iter().filter(|path| path.contains(is_sign));
    let parts = whole.flat_map(|path| path.split(is_sign).map(str::to_owned).collect::<Vec<_>>());
    kept(parts.filter(|part| !part.is_empty()).map(of_path))
}

/// The names that the operands of `printf` hold, each and together.
pub(crate) fn of_format(operands: &[Arg]) -> Vec<EffectOn> {
    let words: Option<Vec<&str>> = operands.iter().map(Arg::as_known).collect();
    let whole = words.and_then(|words| super::simple::formatted(&words));
    let whole = whole.map(|text| of_text(&text)).unwrap_or_default();
    whole.into_iter().chain(of_args(operands)).collect()
}

/// The names that arguments hold.
pub(crate) fn of_args<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Vec<EffectOn> {
    let is_sign = |letter: char| letter.is_whitespace() || letter == '\\';
    let mut names = Vec::new();
    for arg in args {
        match arg.as_known() {
            _ if names.len() > NAMES => break,
            Some(text) if text.contains(is_sign) => names.extend(of_text(text)),
            _ => names.extend(named(arg)),
        }
    }
    kept(names.into_iter())
}

/// What an act prints that may be the name of a file.
pub(crate) fn printed(act: &Act, usage: &Usage, prints: Prints) -> Vec<EffectOn> {
    if prints == Prints::Nothing {
        return Vec::new();
    }
    let args = act.args.get(1..).unwrap_or_default();
    let mut operands = usage.operands.iter().filter_map(|&at| args.get(at));
    match prints {
        Prints::Nothing => Vec::new(),
        Prints::Operands => {
            // A format may join its arguments to one name.
            let whole = super::simple::printed(act).map(|text| of_text(&text)).unwrap_or_default();
            let names = of_args(operands);
            if whole.is_empty() { names } else { whole.into_iter().chain(names).collect() }
        }
        Prints::Selected => {
            let named = usage.values.iter().filter(|given| given.kind == ValueKind::Names);
            let named = named.flat_map(|given| patterns(given.kind, &given.arg, "."));
            of_args(operands).into_iter().map(selected).chain(named).collect()
        }
        Prints::Parents => {
            let known = operands.filter_map(|arg| match &arg.text {
                Text::Known(path) | Text::Home(path) => Some(path.as_str()),
                Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
            });
            let above = known.filter_map(|path| path.trim_end_matches('/').rsplit_once('/'));
            let above = above.map(|(above, _)| if above.is_empty() { "/" } else { above });
            above.map(|path| of_path(path.to_owned())).collect()
        }
        Prints::Programs => {
            let wrapped = usage.command.filter(|_| usage.is_dry).and_then(|at| args.get(at..));
            let known = operands.chain(wrapped.unwrap_or_default()).filter_map(Arg::as_known);
            known.map(|name| read(Target::Path(format!("/usr/local/bin/{name}")), false)).collect()
        }
        Prints::Found => {
            let names = crate::reader::file::named(args, &starts(act));
            let is_deep = !crate::reader::file::narrows(args);
            starts(act).into_iter().map(|start| read(start, is_deep)).chain(names).collect()
        }
        Prints::Listed => {
            let is_local = |kind| matches!(kind, ValueKind::Directory | ValueKind::Read);
            let has_start = usage.entry.operands.iter().any(|role| is_local(role.kind));
            let start = if has_start { "." } else { "" };
            let patterns: Vec<EffectOn> = usage
                .values
                .iter()
                .filter(|given| matches!(given.kind, ValueKind::Names | ValueKind::Part))
                .flat_map(|given| patterns(given.kind, &given.arg, start))
                .collect();
            let starts = starts(act);
            let hidden = usage.has_option(usage.entry.hidden);
            let listed = starts.iter().map(|start| read(start.clone(), false));
            let mut all: Vec<EffectOn> = listed.collect();
            if hidden && !patterns.iter().any(says_enough) {
                all.extend(starts.iter().filter_map(below_hidden));
            }
            all.extend(patterns);
            all
        }
        Prints::Matching => {
            let is_turned = usage.has_option(&["-v", "--invert-match"]);
            let first = operands.next().filter(|_| !is_turned);
            first.into_iter().flat_map(|arg| patterns(ValueKind::Part, arg, ".")).collect()
        }
    }
}

/// A name that a program takes for a pattern, as what fits it below: no piece of another name.
fn selected(on: EffectOn) -> EffectOn {
    match as_pattern(&on).map(|on| on.target) {
        Some(Target::Pattern(glob)) => {
            let glob = glob.trim_start_matches("**/");
            read(Target::Pattern(format!("./**/{glob}")), false)
        }
        Some(_) | None => on,
    }
}

/// Whether a pattern tells the names that it fits from others.
fn says_enough(on: &EffectOn) -> bool {
    match &on.target {
        Target::Pattern(glob) => sensitive::says_enough(glob),
        Target::Path(_)
        | Target::Unknown(_)
        | Target::Host(_)
        | Target::Named(_)
        | Target::None => true,
    }
}

/// The directories that an act lists.
fn starts(act: &Act) -> Vec<Target> {
    let listed = act.effects.iter().filter(|on| on.is_listing);
    let is_place = |target: &Target| matches!(target, Target::Path(_) | Target::Pattern(_));
    let mut all: Vec<Target> = listed.map(|on| on.target.clone()).filter(is_place).collect();
    if all.is_empty() {
        all.push(Target::Path(".".to_owned()));
    }
    all
}

/// The hidden files of a directory.
fn below_hidden(start: &Target) -> Option<EffectOn> {
    match start {
        Target::Path(path) => {
            let path = crate::arg::escaped(path.trim_end_matches('/'));
            Some(read(Target::Pattern(format!("{path}/.*")), false))
        }
        Target::Pattern(_)
        | Target::Unknown(_)
        | Target::Host(_)
        | Target::Named(_)
        | Target::None => None,
    }
}

/// The files somewhere below a directory that a value selects by their names.
pub(crate) fn patterns(kind: ValueKind, arg: &Arg, start: &str) -> Vec<EffectOn> {
    let text = match &arg.text {
        Text::Known(text) => text.clone(),
        // A pattern that fits no file of the shell's is the program's.
        Text::Files { pattern, .. } => pattern.clone(),
        Text::Begins(known) | Text::Any(known) if !known.is_empty() || !arg.ending.is_empty() => {
            format!("{known}*{}", arg.ending)
        }
        Text::Home(_) | Text::Begins(_) | Text::Any(_) => return Vec::new(),
    };
    if text.starts_with('!') {
        return Vec::new();
    }
    let globs: Vec<String> = if kind == ValueKind::Names {
        // `TYPE:GLOB` names what is behind the colon.
        let named = alternatives(text.rsplit(':').next().unwrap_or(&text));
        if named.len() > ALTERNATIVES {
            return vec![EffectOn::of(Effect::Unknown)];
        }
        named.iter().map(|name| name.trim_start_matches("**/").to_owned()).collect()
    } else {
        globs_of_expression(&text)
    };
    let start = start.trim_end_matches('/');
    globs
        .into_iter()
        .map(|glob| read(Target::Pattern([start, "/**/", &glob].concat()), false))
        .collect()
}

impl Analysis<'_> {
    /// Keeps names that variables may hold from now on.
    pub(crate) fn keep(&mut self, names: Vec<EffectOn>) {
        // Whoever writes to a state that is shared copies it.
        if !names.is_empty() {
            add(&mut self.state.named, names);
        }
    }

    /// Whether words of this command hold a name that is put together.
    pub(crate) fn is_given_made(&self) -> bool {
        self.handed.iter().any(is_made)
    }

    /// Keeps that a variable gets a name that is put together.
    pub(crate) fn keep_made(&mut self) {
        if self.is_given_made() {
            self.keep(vec![made()]);
        }
    }

    /// Everything that an unknown word may stand for here.
    pub(crate) fn all_names(&self) -> Vec<EffectOn> {
        self.handed.iter().chain(self.state.named.iter()).cloned().collect()
    }

    /// Lets an act that reads an unknown file read all that its words may stand for.
    pub(crate) fn give_names(&mut self, act: &mut Act) {
        let has_unknown = act.effects.iter().any(reads_unknown);
        if has_unknown {
            self.listen();
            let mut names = self.all_names();
            names.extend(self.hears_builder.then(made));
            add_names(act, &names, &self.told, &mut self.looks);
            self.give_places(act);
        }
        if self.state.has_dotglob {
            if has_unknown {
                act.effects.push(read(Target::Pattern("./.*".to_owned()), false));
            }
            let hidden: Vec<EffectOn> = act.effects.iter().filter_map(hidden_too).collect();
            act.effects.extend(hidden);
        }
    }

    /// Lets an act that reads a file somewhere read it where the script has been: `$OLDPWD/x`.
    fn give_places(&self, act: &mut Act) {
        if !self.been_in.is_empty() {
            let places: Vec<EffectOn> =
                self.been_in.iter().map(|place| of_path(place.to_string())).collect();
            let there: Vec<EffectOn> =
                act.effects.iter().flat_map(|on| with(on, &places)).collect();
            act.effects.extend(there);
        }
    }

    /// Whether a variable may hold a text that the script writes out.
    pub(crate) fn holds_text(&self) -> bool {
        self.state.named.iter().any(is_written)
    }

    /// The acts of a function, and of all that it calls in turn: what it is given may reach each.
    pub(crate) fn bodies(&self, function: &Function) -> Vec<Range<usize>> {
        let mut bodies = vec![function.acts.clone()];
        let mut at = 0;
        while let Some(body) = bodies.get(at).cloned() {
            let acts = self.found.acts.get(body).unwrap_or_default();
            for called in acts.iter().filter_map(|act| self.state.functions.get(act.program()?)) {
                if !bodies.contains(&called.acts) {
                    bodies.push(called.acts.clone());
                }
            }
            at += 1;
        }
        bodies
    }

    /// The same for the acts of a function, once its arguments, its input and the variables that
    /// it finds are known.
    pub(crate) fn give_arguments(&mut self, acts: Range<usize>, args: &[Arg]) {
        let mut names = of_args(args);
        names.extend(joined::of_arguments(args));
        names.extend(self.all_names());
        let names = kept(names.into_iter());
        for act in self.found.acts.get_mut(acts).unwrap_or_default() {
            if act.effects.iter().any(reads_unknown) {
                add_names(act, &names, &[], &mut self.looks);
            }
        }
    }
}

/// Lets an act read what these names stand for, also where they are only the beginning.
fn add_names(act: &mut Act, names: &[EffectOn], told: &[String], looks: &mut usize) {
    // Mostly nothing is known of what it reads.
    if names.is_empty() && told.is_empty() && *looks > 0 {
        return;
    }
    let pieces = joined::of_names(names, told, looks);
    let names = &[names, &pieces].concat();
    let unknown: Vec<&EffectOn> = act.effects.iter().filter(|on| reads_unknown(on)).collect();
    let joined: Vec<EffectOn> = unknown.iter().flat_map(|on| with(on, names)).collect();
    let is_open = |made: &EffectOn| unknown.iter().any(|on| may_be_secret(made, on));
    let is_made_here = names.iter().filter(|on| is_made(on)).any(is_open);
    if is_made_here && !act.notes.iter().any(|note| note.guard == "secret_read") {
        let message = Some("reads a file whose name is put together while it runs".to_owned());
        act.notes.push(Note { guard: "secret_read", span: act.span, message });
    }
    // It may read anything by now, and so may all that come after it.
    if *looks == 0 {
        return;
    }
    let given: Vec<EffectOn> =
        names.iter().filter(|on| !is_made(on) && !is_held(on)).cloned().chain(joined).collect();
    let patterns: Vec<EffectOn> = given.iter().filter_map(as_pattern).collect();
    // A function that is called again mostly reads what it has read.
    let known: HashSet<&EffectOn> = act.effects.iter().collect();
    let is_new = |on: &EffectOn| !known.contains(on);
    let new: Vec<EffectOn> = patterns.into_iter().chain(given).filter(is_new).collect();
    act.effects.extend(new);
}

/// A name as the pattern that it is where a variable stands outside quotes.
fn as_pattern(on: &EffectOn) -> Option<EffectOn> {
    let Target::Path(name) = &on.target else { return None };
    name.contains(['*', '?', '[']).then(|| read(Target::Pattern(name.clone()), false))
}

/// What a function prints: what the acts of its body do, and its arguments.
pub(crate) fn of_body<'a>(body: impl Iterator<Item = &'a Box<Act>>, args: &[Arg]) -> Vec<EffectOn> {
    let printed = body.flat_map(|act| act.prints.iter().cloned());
    kept(printed.chain(of_args(args)))
}

/// The names that a path of which only the end is known has, if it begins with one of these.
fn with(on: &EffectOn, names: &[EffectOn]) -> Vec<EffectOn> {
    let end = match &on.target {
        Target::Unknown(pattern) if reads_unknown(on) => pattern.strip_prefix('*'),
        Target::Unknown(_)
        | Target::Path(_)
        | Target::Pattern(_)
        | Target::Host(_)
        | Target::Named(_)
        | Target::None => None,
    };
    let Some(end) = end.filter(|end| !end.is_empty() && !end.contains('*')) else {
        return Vec::new();
    };
    let begins = names.iter().filter_map(|name| match &name.target {
        Target::Path(begin) if name.is_deep => {
            let begin = crate::arg::escaped(begin.trim_end_matches('/'));
            let end = crate::arg::escaped(end.trim_start_matches('/'));
            Some(read(Target::Pattern(format!("{begin}/**/{end}")), false))
        }
        Target::Path(begin) => Some(read(Target::Path(format!("{begin}{end}")), false)),
        Target::Pattern(begin) => {
            let end = crate::arg::escaped(end);
            Some(read(Target::Pattern(format!("{begin}{end}")), false))
        }
        Target::Unknown(_) | Target::Host(_) | Target::Named(_) | Target::None => None,
    });
    begins.collect()
}

/// Whether the content of a file is read whose name is not known.
fn reads_unknown(on: &EffectOn) -> bool {
    on.effect == Effect::Read && !on.is_listing && matches!(on.target, Target::Unknown(_))
}

/// The hidden files that a pattern means under `dotglob`.
fn hidden_too(on: &EffectOn) -> Option<EffectOn> {
    let Target::Pattern(pattern) = &on.target else { return None };
    let (above, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    if on.is_listing || !name.starts_with(['*', '?', '[']) {
        return None;
    }
    let slash = if pattern.contains('/') { "/" } else { "" };
    let target = Target::Pattern(format!("{above}{slash}.{name}"));
    Some(EffectOn { target, ..on.clone() })
}
