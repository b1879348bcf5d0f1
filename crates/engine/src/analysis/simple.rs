//! Simple commands and assignments.

use portcullis_shell::{
    Assigned as Value, Assignment, Command, Dialect, List, Part, PartKind, Place, Simple, Span,
    Value as Known, Word,
};

use super::names;
use super::rounds::PIECED;
use super::walk::Walk;
use crate::act::{Act, ActKind, Assigned, Shown};
use crate::arg::{Arg, Text};
use crate::effect::{Effect, EffectOn};
use crate::environment::{self, Setting};
use crate::peel;

/// Which words of a command certainly do not begin with a dash; nearly all commands are short.
#[derive(Default)]
struct Dashless {
    first: u64,
    rest: Vec<bool>,
}

impl Dashless {
    /// Notes the next word.
    fn note(&mut self, at: usize, is_dashless: bool) {
        match u32::try_from(at).ok().filter(|at| *at < u64::BITS) {
            Some(at) => self.first |= u64::from(is_dashless) << at,
            None => self.rest.push(is_dashless),
        }
    }

    fn has(&self, at: usize) -> bool {
        match u32::try_from(at).ok().filter(|at| *at < u64::BITS) {
            Some(at) => self.first >> at & 1 == 1,
            None => self.rest.get(at - u64::BITS as usize).copied().unwrap_or_default(),
        }
    }
}

impl Walk<'_, '_> {
    pub(super) fn simple(&mut self, command: &Command, simple: Simple) {
        let words = self.tree.list(simple.words);
        if words.first().is_some_and(|word| self.tree.text(word.span) == b"let") {
            self.know_numbers();
        }
        self.evaluated(words);
        let (first, handed) = (self.analysis.found.acts.len(), self.analysis.handed.len());
        self.declares_tables(words);
        self.keep_declared(words);
        let outer = self.analysis.shown.take();
        let mut dashless = Dashless::default();
        for (at, word) in words.iter().enumerate() {
            // Most words are text and nothing else: nothing runs in them.
            if let [Part { kind: PartKind::Literal, span }] = self.tree.list(word.parts)
                && word.place != Place::Arithmetic
            {
                dashless.note(at, self.tree.text(*span).first() != Some(&b'-'));
                continue;
            }
            let from = self.analysis.found.acts.len();
            self.word(word);
            dashless.note(at, self.is_operand(word, from));
        }
        self.analysis.declares_tables = false;
        self.hold_declared(words);
        let mut assignments = Vec::new();
        for assignment in self.tree.list(simple.assignments) {
            assignments.push(self.assignment(assignment));
        }
        self.redirections(command.redirections);
        let shows = std::mem::replace(&mut self.analysis.shown, outer);
        let span = self.span(command.span);
        let mut args = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            self.add_args(word, dashless.has(at), &mut args);
        }
        // Words that vanish leave the next one as the program.
        if args.is_empty() {
            for assigned in &assignments {
                let value = assigned.value.as_deref();
                if !(assigned.name == "IFS" && self.parts_less(value)) {
                    self.analysis.state.assign(&assigned.name, value);
                }
            }
            if words.is_empty() && !assignments.is_empty() {
                self.hold_places(simple.assignments, &assignments);
                self.bare_assignments(span, assignments);
            }
            self.analysis.handed.truncate(handed);
            return;
        }
        // Behind the command its variables are again what they were before.
        for assigned in &assignments {
            self.hold(&assigned.name, false);
        }
        let nested = self.analysis.found.acts.get(first..).unwrap_or_default();
        let is_fetched = nested.iter().any(|act| act.has(Effect::Connect));
        self.hand_over(first);
        self.hand_joined(words);
        // An act is large: it is made where it stays.
        let mut act = Box::<Act>::default();
        (act.span, act.args, act.assignments) = (span, args, assignments);
        (act.shows, act.is_fetched) = (shows.map(Shown::Variable), is_fetched);
        self.count(words, &mut act);
        let rounds = self.rounds(words, &act);
        let name = act.args.first().and_then(Arg::as_known);
        if self.is_pieced(words, rounds.is_some()) && name.is_some_and(|name| self.is_apart(name)) {
            self.analysis.push_unknown(PIECED, span);
        }
        let read = act.args.first().is_some_and(|arg| arg.as_known() == Some("read"));
        let read = (read && command.redirections.is_empty()).then(|| act.assignments.clone());
        match rounds {
            Some(rounds) => {
                for args in rounds {
                    peel::resolve(self.analysis, Box::new(Act { args, ..(*act).clone() }));
                }
            }
            None => peel::resolve(self.analysis, act),
        }
        if let Some(assignments) = read {
            self.takes_line(words, &assignments, self.analysis.piped);
        }
        self.analysis.handed.truncate(handed);
    }

    /// `X=1` alone: it changes the shell and nothing else, unless it changes which code runs.
    fn bare_assignments(&mut self, span: Span, assignments: Vec<Assigned>) {
        let is_loader = assignments.iter().any(|assigned| {
            let value = assigned.value.as_deref();
            environment::setting(&assigned.name, value) == Setting::Loader
                && !(assigned.name == "IFS" && self.parts_less(value))
        });
        let mut act = Act { kind: ActKind::Assignment, span, assignments, ..Act::default() };
        act.effects.push(EffectOn::of(Effect::Read));
        act.via.clone_from(&self.analysis.via);
        if is_loader {
            act.note("loader_environment", span);
            for value in act.assignments.iter().filter_map(|assigned| assigned.value.clone()) {
                self.analysis.suspect_text(&value, &act);
            }
        }
        self.analysis.push(act);
    }

    /// Whether words are parted by some of the usual signs only, and none of those that are known
    /// is parted at all: then each stays what it is taken for.
    fn parts_less(&self, signs: Option<&str>) -> bool {
        let is_usual = |signs: &str| {
            !signs.is_empty() && signs.chars().all(|sign| matches!(sign, ' ' | '\t' | '\n'))
        };
        let is_parted = |word: &Word| {
            let mut parts = self.tree.list(word.parts).iter();
            let is_open = parts.any(|part| matches!(part.kind, PartKind::Parameter(_)));
            is_open && !matches!(self.tree.value(word), Known::Literal(_) | Known::Tainted(_))
        };
        self.analysis.dialect != Dialect::Zsh
            && signs.is_some_and(is_usual)
            && !self.tree.words().any(is_parted)
    }

    /// A variable that something else than an assignment sets.
    pub(super) fn sets(&mut self, name: &str, value: Option<&str>, span: Span) {
        let name = environment::meant(name, value, self.analysis.dialect);
        let span = self.span(span);
        self.analysis.state.assign(name, value);
        if environment::setting(name, value) == Setting::Loader {
            let assigned = Assigned { name: name.to_owned(), value: value.map(str::to_owned) };
            self.bare_assignments(span, vec![assigned]);
        }
    }

    /// `declare -A`: subscripts of such arrays are texts and no arithmetic.
    fn declares_tables(&mut self, words: &[Word]) {
        let Some((first, rest)) = words.split_first() else { return };
        if !matches!(self.tree.text(first.span), b"declare" | b"typeset" | b"local") {
            return;
        }
        let text = |word: &Word| String::from_utf8_lossy(self.tree.text(word.span)).into_owned();
        let rest: Vec<String> = rest.iter().map(text).collect();
        if !rest.iter().any(|word| word.starts_with('-') && word.contains('A')) {
            return;
        }
        for word in rest.iter().filter(|word| !word.starts_with(['-', '+'])) {
            let name = word.split('=').next().unwrap_or_default().trim_end_matches('+');
            self.analysis.state.tables.insert(name.to_owned());
        }
        self.analysis.declares_tables = true;
    }

    /// What runs in a subscript, which is arithmetic unless the array is a table.
    pub(super) fn subscript(&mut self, name: &str, subscript: List<Word>) {
        if self.analysis.state.tables.contains(name) {
            for word in self.tree.list(subscript) {
                self.parts(word.parts);
            }
        } else {
            self.words(subscript);
        }
    }

    /// The elements of an array that is written out.
    pub(super) fn elements(&mut self, name: &str, elements: List<Assignment>) {
        let is_table = self.analysis.declares_tables || self.analysis.state.tables.contains(name);
        for element in self.tree.list(elements) {
            if is_table {
                for word in self.tree.list(element.subscript) {
                    self.parts(word.parts);
                }
                let plain = Assignment { subscript: List::default(), ..*element };
                self.assignment(&plain);
            } else {
                self.assignment(element);
            }
        }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment) -> Assigned {
        let name = String::from_utf8_lossy(self.tree.text(assignment.name)).into_owned();
        self.subscript(&name, assignment.subscript);
        let value = match assignment.value {
            Value::Word(word) => {
                let (first, handed) = (self.analysis.found.acts.len(), self.analysis.handed.len());
                let shown = self.analysis.shown.take();
                let is_whole = self.operands(word);
                if std::mem::replace(&mut self.analysis.shown, shown).is_some() {
                    self.analysis.state.secrets.insert(name.clone());
                }
                let is_all = assignment.subscript.is_empty() && !assignment.appends;
                // What is not told may hold blanks, which part words where no quotes stand.
                let is_told = |arg: &Arg| matches!(arg.text, Text::Known(_) | Text::Home(_));
                let args = self.args(self.tree.list(word));
                let are_told = args.iter().all(is_told);
                let are_operands = are_told || self.are_operands(word, first);
                self.hold(&name, is_all && is_whole && are_operands);
                if is_all && (is_whole || self.is_whole_operand(word, first)) {
                    self.hold_whole(&name);
                }
                self.keep_args(&args, first);
                if assignment.appends {
                    self.analysis.keep(vec![names::made()]);
                }
                let defaults = self.analysis.handed.split_off(handed);
                self.analysis.keep(defaults);
                if let [Arg { text: Text::Home(path), .. }] = args.as_slice() {
                    self.analysis.state.homes.insert(name.clone(), path.clone());
                }
                match args.as_slice() {
                    [] => Some(String::new()),
                    [only] => only.as_known().map(str::to_owned),
                    _ => None,
                }
            }
            Value::Array(elements) => {
                self.elements(&name, elements);
                None
            }
        };
        let value = value.filter(|_| assignment.subscript.is_empty() && !assignment.appends);
        let name = environment::meant(&name, value.as_deref(), self.analysis.dialect).to_owned();
        Assigned { name, value }
    }
}

/// The text that a command does nothing but print.
pub(super) fn printed(act: &Act) -> Option<String> {
    if act.is_call || !matches!(act.program(), Some("echo" | "printf")) {
        return None;
    }
    let words: Option<Vec<&str>> = act.args.iter().map(Arg::as_known).collect();
    match words?.as_slice() {
        ["echo", words @ ..] => {
            let (words, decodes) = match words {
                ["-n", rest @ ..] => (rest, false),
                ["-e" | "-ne" | "-en", rest @ ..] => (rest, true),
                [first, ..] if first.starts_with('-') => return None,
                all => (all, false),
            };
            let text = words.join(" ");
            if decodes {
                return unescaped(&text);
            }
            (!text.contains('\\')).then_some(text)
        }
        ["printf", "--", rest @ ..] | ["printf", rest @ ..] => formatted(rest),
        _ => None,
    }
}

/// The text with the escapes of `printf` and `echo -e` read; none where one is not known here.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        out.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            '\\' => '\\',
            '"' => '"',
            'x' => {
                let digits: String = letters.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).ok().filter(u8::is_ascii)?.into()
            }
            '0' => {
                let digits: String = letters.by_ref().take(3).collect();
                u8::from_str_radix(&digits, 8).ok().filter(u8::is_ascii)?.into()
            }
            first @ '1'..='7' => {
                let digits: String = letters.by_ref().take(2).collect();
                u8::from_str_radix(&format!("{first}{digits}"), 8).ok().filter(u8::is_ascii)?.into()
            }
            _ => return None,
        });
    }
    Some(out)
}

/// How many arguments of `printf` are followed.
const FORMATTED: usize = 64;

/// What `printf` makes of its arguments: the format is used again until all are taken.
pub(super) fn formatted(words: &[&str]) -> Option<String> {
    let (format, mut rest) = words.split_first()?;
    if format.starts_with('-') || rest.len() > FORMATTED {
        return None;
    }
    let mut out = String::new();
    loop {
        let before = rest.len();
        let mut pieces = format.split('%');
        out.push_str(&unescaped(pieces.next()?)?);
        while let Some(piece) = pieces.next() {
            if piece.is_empty() {
                out.push('%');
                out.push_str(&unescaped(pieces.next()?)?);
                continue;
            }
            let word = rest.first().copied().unwrap_or_default();
            rest = rest.get(1..).unwrap_or_default();
            let behind = match piece.chars().next()? {
                's' => {
                    out.push_str(word);
                    piece.get(1..)?
                }
                'b' => {
                    out.push_str(&unescaped(word)?);
                    piece.get(1..)?
                }
                'd' | 'i' if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                    out.push_str(word);
                    piece.get(1..)?
                }
                _ => return None,
            };
            out.push_str(&unescaped(behind)?);
        }
        if rest.is_empty() || rest.len() == before {
            return Some(out);
        }
    }
}
