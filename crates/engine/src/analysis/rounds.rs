//! Rounds: a loop over words that are written out runs its commands once with each of them.
//! A variable that got the directory that is worked in is a loop with one round.
//!
//! Only programs are told apart like that. Builtins and functions change the shell itself, and the
//! second round of those would begin where the first one ended.

use std::rc::Rc;

use portcullis_shell::{
    Action, Assigned as Written, Assignment, Command, Kind, List, Part, PartKind, Prefix, Span,
    Value, Word,
};

use super::walk::Walk;
use crate::act::{Act, Assigned};
use crate::arg::{self, Arg};
use crate::catalog;

/// So many words of one loop are followed.
const WORDS: usize = 16;

/// So many rounds of all loops around a command.
const ROUNDS: usize = 64;

/// Why a word that is put together is asked about.
pub(super) const PIECED: &str = "a word that loops put together is not followed so far";

impl Walk<'_, '_> {
    /// Notes what the variable of a loop takes in turn, if it is set nowhere else.
    pub(super) fn begin_rounds(&mut self, name: List<Word>, words: List<Word>) {
        let [name] = self.tree.list(name) else { return };
        let name = String::from_utf8_lossy(self.tree.text(name.span)).into_owned();
        let mut texts = Vec::new();
        for word in self.tree.list(words) {
            match self.tree.value(word) {
                Value::Literal(text) => texts.push(text.to_vec()),
                Value::Set(members) => {
                    for member in &members {
                        let Value::Literal(text) = member else { return };
                        texts.push(text.to_vec());
                    }
                }
                Value::Tainted(_) => match self.elements_of(word) {
                    Some(elements) => texts.extend(elements),
                    None => return,
                },
                Value::Pattern { .. } => return,
            }
        }
        // A loop whose words are written out, but not told apart, is kept without them.
        let texts: Option<Vec<String>> = texts.into_iter().map(plain).collect();
        let texts = texts.filter(|texts| texts.len() <= WORDS && self.is_set_once(&name));
        self.analysis.state.rounds.push((name, Rc::from(texts.unwrap_or_default())));
    }

    /// Notes what the parameters of a function take in turn, if every call of it is written out.
    pub(super) fn begin_calls(&mut self, name: List<Word>, body: List<Command>) {
        self.know_numbers();
        let is_told = self.analysis.state.sets.as_ref().is_some_and(|sets| sets.is_told);
        let [name] = self.tree.list(name) else { return };
        let name = self.tree.text(name.span);
        if !is_told || !self.is_called_plainly(name, body) {
            return;
        }
        let mut columns: Vec<Option<Vec<String>>> = Vec::new();
        // Up to which place no word of a call begins with a dash, where it is given at all.
        let mut operands = 9;
        for (call, words) in self.calls(name).enumerate() {
            let told = |word: &Word| match self.tree.value(word) {
                Value::Literal(text) => plain(text.to_vec()),
                Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => None,
            };
            let texts: Vec<Option<String>> = words.iter().map(told).collect();
            let is_operand =
                |text: &Option<String>| text.as_ref().is_some_and(|text| !text.starts_with('-'));
            let doubtful = texts.iter().position(|text| !is_operand(text));
            operands = operands.min(doubtful.unwrap_or(9));
            if call == 0 {
                columns.resize(texts.len(), Some(Vec::new()));
            }
            for (at, column) in columns.iter_mut().enumerate() {
                let text = texts.get(at).cloned().flatten();
                *column = column.take().zip(text).map(|(mut column, text)| {
                    column.push(text);
                    column
                });
            }
            // A word that becomes several moves those behind it.
            if let Some(at) = texts.iter().position(Option::is_none) {
                columns.truncate(at);
            }
        }
        for place in 1..=operands {
            self.analysis.state.operands.insert(place.to_string());
        }
        for (at, column) in columns.into_iter().enumerate().take(9) {
            if let Some(texts) = column.filter(|texts| texts.len() <= WORDS) {
                self.analysis.state.rounds.push(((at + 1).to_string(), Rc::from(texts)));
            }
        }
    }

    /// The words behind a name, wherever it is called.
    fn calls<'n>(&'n self, name: &'n [u8]) -> impl Iterator<Item = &'n [Word]> {
        self.tree.commands().filter_map(move |command| {
            let Kind::Simple(simple) = command.kind else { return None };
            let (first, words) = self.tree.list(simple.words).split_first()?;
            (self.tree.value(first) == Value::Literal(name)).then_some(words)
        })
    }

    /// Whether a function has its name alone, is called by it only, and leaves its parameters.
    fn is_called_plainly(&self, name: &[u8], body: List<Command>) -> bool {
        let tree = self.tree;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let inside = tree.list(body).iter().map(|command| command.span);
        let inside: Vec<Span> = inside.collect();
        let is_inside =
            |span: Span| inside.iter().any(|body| body.start <= span.start && span.end <= body.end);
        let mut functions = 0_usize;
        let is_plain = tree.commands().all(|command| match command.kind {
            Kind::Function { .. } => {
                functions += 1;
                true
            }
            Kind::Simple(simple) => match tree.list(simple.words).first() {
                None => true,
                Some(first) => match tree.value(first) {
                    Value::Literal(b"shift" | b"set" | b"getopts") => !is_inside(command.span),
                    Value::Literal(b"trap" | b"alias" | b"command" | b"builtin" | b"unset")
                    | Value::Set(_)
                    | Value::Pattern { .. }
                    | Value::Tainted(_) => false,
                    Value::Literal(_) => true,
                },
            },
            Kind::Coproc { .. } => false,
            Kind::For(_)
            | Kind::Select(_)
            | Kind::Subshell(_)
            | Kind::Group(_)
            | Kind::If(_)
            | Kind::While(_)
            | Kind::Until(_)
            | Kind::ArithmeticFor { .. }
            | Kind::Case { .. }
            | Kind::Test(_)
            | Kind::Arithmetic(_) => true,
        });
        is_plain && functions == 1 && name.iter().all(is_name)
    }

    /// The elements of an array that a word stands for, if they are written out.
    fn elements_of(&mut self, word: &Word) -> Option<Vec<Vec<u8>>> {
        self.know_numbers();
        let text = std::str::from_utf8(self.tree.text(word.span)).ok()?;
        let name = text.strip_prefix("\"${")?.strip_suffix("[@]}\"")?;
        let sets = self.analysis.state.sets.as_ref()?;
        let elements = sets.arrays.get(name)?;
        Some(elements.iter().map(|element| element.clone().into_bytes()).collect())
    }

    /// Notes variables that get the directory that is worked in, or a path below it, and those
    /// that get a text that is written out: a loop may put words together from these.
    pub(super) fn hold_places(&mut self, written: List<Assignment>, assigned: &[Assigned]) {
        for (written, assigned) in self.tree.list(written).iter().zip(assigned) {
            // What is written out is known to the reader of words.
            let is_told = match written.value {
                Written::Word(word) => {
                    let mut words = self.tree.list(word).iter();
                    words.all(|word| matches!(self.tree.value(word), Value::Literal(_)))
                }
                Written::Array(_) => true,
            };
            if is_told {
                let text = assigned.value.clone().and_then(|text| plain(text.into_bytes()));
                let text = text.filter(|_| self.is_set_once(&assigned.name));
                let texts = Rc::from(text.into_iter().collect::<Vec<String>>());
                self.analysis.state.told.push((assigned.name.clone(), texts));
                continue;
            }
            let place = assigned.value.clone();
            if let Some(place) = place.and_then(|place| plain(place.into_bytes()))
                && place.starts_with('/')
                && self.is_set_once(&assigned.name)
            {
                self.analysis.state.rounds.push((assigned.name.clone(), Rc::from(vec![place])));
            }
        }
    }

    /// Scripts of sed and awk that choose lines by numbers: which numbers does not matter.
    pub(super) fn count(&mut self, words: &[Word], act: &mut Act) {
        let is_sed = match act.base_name() {
            Some("sed" | "gsed") => true,
            Some("awk" | "gawk" | "mawk") => false,
            _ => return,
        };
        let is_told = act.args.iter().all(|arg| arg.as_known().is_some());
        if is_told || words.len() != act.args.len() {
            return;
        }
        self.know_numbers();
        let state = &self.analysis.state;
        let numbers = state.sets.as_deref();
        let (directory, homes) = (state.here(), &state.homes);
        let budget = &self.analysis.braces;
        let known = arg::Known { directory, homes, round: &[], numbers, budget };
        for (word, arg) in words.iter().zip(&mut act.args) {
            if arg.as_known().is_some() {
                continue;
            }
            let mut counted = Vec::with_capacity(1);
            arg::add_word(self.tree, word, known, &mut counted);
            if let [one] = counted.as_slice()
                && one.as_known().is_some_and(|text| chooses_lines(text, is_sed))
            {
                arg.text = one.text.clone();
            }
        }
    }

    /// The arguments of a command in each round of the loops around it; none where no variable of
    /// a loop stands in them, or where rounds cannot be told apart.
    pub(super) fn rounds(&self, words: &[Word], act: &Act) -> Option<Vec<Vec<Arg>>> {
        let state = &self.analysis.state;
        if state.rounds.is_empty() {
            return None;
        }
        let is_used = |(name, texts): &(String, Rc<[String]>)| {
            !texts.is_empty() && words.iter().any(|word| self.holds(word.parts, name.as_bytes()))
        };
        let mut used: Vec<&(String, Rc<[String]>)> = Vec::new();
        for round in &state.rounds {
            if is_used(round) {
                used.push(round);
            }
        }
        if used.is_empty() {
            return None;
        }
        used.extend(state.told.iter().filter(|told| is_used(told)));
        let count = used.iter().try_fold(1, |all: usize, (_, texts)| all.checked_mul(texts.len()));
        if count.is_none_or(|count| count > ROUNDS) {
            return None;
        }
        let mut all = Vec::new();
        for at in 0..count? {
            let mut left = at;
            let mut round: Vec<(&str, &str)> = Vec::with_capacity(used.len());
            for (name, texts) in &used {
                round.push((name.as_str(), texts.get(left % texts.len())?.as_str()));
                left /= texts.len();
            }
            let known = arg::Known { round: &round, ..self.known() };
            let mut args = Vec::with_capacity(words.len());
            for word in words {
                arg::add_word(self.tree, word, known, &mut args);
            }
            for (arg, before) in args.iter_mut().zip(&act.args) {
                arg.is_operand = before.is_operand;
                arg.span = self.within.unwrap_or(arg.span);
            }
            // A word that became several stands for something else.
            let name = args.first().and_then(Arg::as_known);
            let is_told = args.len() == act.args.len()
                && name.is_some_and(|name| count == Some(1) || self.is_apart(name));
            all.push(is_told.then_some(args)?);
        }
        Some(all)
    }

    /// Whether a word is put together from several variables that the script writes out itself, a
    /// loop's among them, and is not followed: what it names is hidden in plain sight.
    pub(super) fn is_pieced(&self, words: &[Word], is_followed: bool) -> bool {
        let state = &self.analysis.state;
        if state.rounds.is_empty() {
            return false;
        }
        let of = |list: &'_ [(String, Rc<[String]>)], name: &[u8]| {
            let found = list.iter().find(|(known, _)| known.as_bytes() == name);
            found.map(|(_, texts)| texts.is_empty())
        };
        words.iter().any(|word| {
            let mut names = Vec::new();
            self.names(word.parts, &mut names);
            let written = |name: &&[u8]| of(&state.rounds, name).or_else(|| of(&state.told, name));
            names.len() > 1
                && names.iter().any(|name| of(&state.rounds, name).is_some())
                && names.iter().all(|name| written(name).is_some())
                && !(is_followed && names.iter().all(|name| written(name) == Some(false)))
        })
    }

    /// The variables in the parts of a word.
    fn names<'n>(&'n self, parts: List<Part>, names: &mut Vec<&'n [u8]>) {
        for part in self.tree.list(parts) {
            if let PartKind::DoubleQuoted { parts, .. } = part.kind {
                self.names(parts, names);
            } else if let PartKind::Parameter(expansions) = part.kind {
                let all = self.tree.list(expansions).iter();
                names.extend(all.map(|expansion| self.tree.text(expansion.name)));
            }
        }
    }

    /// Whether a program changes nothing of this shell.
    pub(super) fn is_apart(&self, name: &str) -> bool {
        let is_shell = catalog::find(name).is_some_and(|program| program.is_builtin);
        let is_printing = matches!(name, "echo" | "printf" | "test" | "[");
        (!is_shell || is_printing)
            && !self.analysis.state.functions.contains_key(name)
            && !self.analysis.state.aliases.contains(name)
    }

    /// Whether a variable is read as it is somewhere in the parts of a word.
    fn holds(&self, parts: List<Part>, name: &[u8]) -> bool {
        self.tree.list(parts).iter().any(|part| match part.kind {
            PartKind::DoubleQuoted { parts, .. } => self.holds(parts, name),
            PartKind::Parameter(expansions) => self.tree.list(expansions).iter().any(|only| {
                only.prefix == Prefix::None
                    && only.operator == Action::Read
                    && only.subscript.is_empty()
                    && self.tree.text(only.name) == name
            }),
            PartKind::Literal
            | PartKind::Escaped(_)
            | PartKind::SingleQuoted(_)
            | PartKind::AnsiC(_)
            | PartKind::Command { .. }
            | PartKind::Process { .. }
            | PartKind::Arithmetic { .. }
            | PartKind::Glob
            | PartKind::ExtendedGlob { .. }
            | PartKind::Brace(_)
            | PartKind::Sequence
            | PartKind::Tilde
            | PartKind::Array(_) => false,
        })
    }
}

/// A text that stays one word, whatever stands around it.
fn plain(text: Vec<u8>) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:@+,%~".contains(byte);
    let text = String::from_utf8(text).ok()?;
    let is_begun = !text.is_empty() && !text.starts_with('~');
    (is_begun && text.as_bytes().iter().all(is_plain)).then_some(text)
}

/// Whether a script does nothing but print, drop or end at lines by their numbers.
fn chooses_lines(text: &str, is_sed: bool) -> bool {
    let signs: &[u8] = if is_sed { b",+~$!;pqd=n" } else { b" NR=<>&|!{}print$;" };
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || signs.contains(&byte));
    let begins = text.starts_with(|letter: char| letter.is_ascii_digit());
    is_plain
        && if is_sed { begins && text.ends_with(['p', 'q', 'd']) } else { text.starts_with("NR") }
}
