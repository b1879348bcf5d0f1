//! What later commands of a script depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut, Range};
use std::rc::Rc;
use std::sync::Arc;

use super::sets::Sets;
use super::strays::Strays;
use super::texts::Texts;
use crate::effect::EffectOn;
use crate::environment::{Setting, setting};
use crate::place;

/// What is known at one point of a script.
///
/// It is copied wherever something runs apart or perhaps, and seldom changed there: all but the
/// directory is shared until somebody writes, and nothing is held until then.
#[derive(Clone, Debug)]
pub struct State {
    /// The working directory, absolute; none once it is not known.
    pub directory: Option<Arc<str>>,
    /// Where the script may be instead, because a change of directory before it failed.
    pub strays: Strays,
    held: Option<Rc<Held>>,
}

/// What is known beside the directory.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// The functions defined so far.
    pub functions: BTreeMap<String, Function>,
    /// Names that an alias may replace.
    pub aliases: BTreeSet<String>,
    /// The directory before this one, to which `cd -` leads if the script certainly left it.
    pub before: Option<Arc<str>>,
    /// Variables that were last set to a path below a home.
    pub homes: BTreeMap<String, String>,
    /// A variable, not known to be harmless, that later programs get.
    pub exported: Option<String>,
    /// Arrays whose subscripts are texts.
    pub tables: BTreeSet<String>,
    /// Files that variables may name.
    pub named: Vec<EffectOn>,
    /// Whether patterns fit hidden files too.
    pub has_dotglob: bool,
    /// Whether something changed which program a name means, or how later text is read.
    pub is_poisoned: bool,
    /// What the script sets; none until somebody asks.
    pub sets: Option<Rc<Sets>>,
    /// Which of its variables may hold a text that it writes out; none until somebody asks.
    pub texts: Option<Rc<Texts>>,
    /// Variables that got what a secret one holds.
    pub secrets: BTreeSet<String>,
    /// Variables of which no word begins with a dash.
    pub operands: BTreeSet<String>,
    /// Variables with a text that does not begin with a dash, whatever words are in it.
    pub lines: BTreeSet<String>,
    /// Variables of the loops around, with the words that each of them takes in turn.
    pub rounds: Vec<(String, Rc<[String]>)>,
    /// Variables that got a text that is written out; the text where it stays the same.
    pub told: Vec<(String, Rc<[String]>)>,
}

/// What most scripts never add to.
const NOTHING: &Held = &Held {
    functions: BTreeMap::new(),
    aliases: BTreeSet::new(),
    before: None,
    homes: BTreeMap::new(),
    exported: None,
    tables: BTreeSet::new(),
    named: Vec::new(),
    has_dotglob: false,
    is_poisoned: false,
    sets: None,
    texts: None,
    secrets: BTreeSet::new(),
    operands: BTreeSet::new(),
    lines: BTreeSet::new(),
    rounds: Vec::new(),
    told: Vec::new(),
};

/// What is only known of the words of one tree; the fields are those of [`Held`].
#[derive(Debug, Default)]
pub(super) struct Aside {
    sets: Option<Rc<Sets>>,
    operands: BTreeSet<String>,
    lines: BTreeSet<String>,
    rounds: Vec<(String, Rc<[String]>)>,
    told: Vec<(String, Rc<[String]>)>,
}

/// A function of the script.
#[derive(Clone, Debug)]
pub struct Function {
    /// Whether its definition certainly ran, and no program has its name.
    pub is_certain: bool,
    /// How many programs its definition was seen through: what runs in another process does not
    /// know it.
    pub depth: usize,
    /// The acts of its body, among those of the call.
    pub acts: Range<usize>,
}

impl State {
    /// The state at the start of a call.
    #[must_use]
    pub fn new(directory: Arc<str>) -> State {
        State { directory: Some(directory), strays: Strays::default(), held: None }
    }

    /// Notes a variable that outlives its command.
    pub fn assign(&mut self, name: &str, value: Option<&str>) {
        if setting(name, value) == Setting::Loader {
            self.is_poisoned = true;
        }
        // Whoever ignores some names sees all the others, hidden ones too.
        if name == "GLOBIGNORE" {
            self.has_dotglob = true;
        }
    }

    /// Moves to another directory, written as the script writes it; none for an unknown one.
    pub fn change_directory(&mut self, to: Option<&str>, home: Option<&str>) {
        self.directory = match (self.directory.take(), to) {
            (Some(from), Some(to)) => place::absolute(to, &from, home).map(Arc::from),
            (None, Some(to)) if to.starts_with(['/', '~']) => {
                place::absolute(to, "/", home).map(Arc::from)
            }
            _ => None,
        };
    }

    /// The directory that `$(pwd)` prints, unless something else has the names that say so.
    pub(super) fn here(&self) -> Option<&str> {
        let is_taken = !self.functions.is_empty()
            && ["pwd", "git"].iter().any(|name| self.functions.contains_key(*name));
        self.directory.as_deref().filter(|_| !is_taken && self.strays.is_empty())
    }

    /// Puts aside what is only known of the words of one tree.
    pub(super) fn set_aside(&mut self) -> Option<Aside> {
        if !self.has_aside() {
            return None;
        }
        let held = &mut **self;
        Some(Aside {
            sets: held.sets.take(),
            operands: std::mem::take(&mut held.operands),
            lines: std::mem::take(&mut held.lines),
            rounds: std::mem::take(&mut held.rounds),
            told: std::mem::take(&mut held.told),
        })
    }

    /// Takes back what was put aside, in place of what was learned since.
    pub(super) fn take_back(&mut self, aside: Option<Aside>) {
        if aside.is_none() && !self.has_aside() {
            return;
        }
        let held = &mut **self;
        let Aside { sets, operands, lines, rounds, told } = aside.unwrap_or_default();
        (held.sets, held.operands, held.lines) = (sets, operands, lines);
        (held.rounds, held.told) = (rounds, told);
    }

    /// Takes over what a function may leave behind, whenever it runs.
    pub(super) fn outlive(&mut self, after: State) {
        if self.holds_the_same(&after) {
            return;
        }
        let after = after.held.map(Rc::unwrap_or_clone).unwrap_or_default();
        Held::outlive(self, after);
    }

    /// Forgets what is only certain if everything up to here ran.
    pub(super) fn doubt(&mut self, before: &State) {
        if self.directory != before.directory {
            self.directory = None;
        }
        self.strays.join(&before.strays);
        if !self.holds_the_same(before) {
            Held::doubt(self, before);
        }
    }

    /// Whether nobody has written to one of two states since they were one.
    fn holds_the_same(&self, other: &State) -> bool {
        match (&self.held, &other.held) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Deref for State {
    type Target = Held;

    fn deref(&self) -> &Held {
        self.held.as_deref().unwrap_or(NOTHING)
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut Held {
        Rc::make_mut(self.held.get_or_insert_default())
    }
}

impl Held {
    fn has_aside(&self) -> bool {
        self.sets.is_some()
            || !self.operands.is_empty()
            || !self.lines.is_empty()
            || !self.rounds.is_empty()
            || !self.told.is_empty()
    }

    fn outlive(&mut self, after: Held) {
        self.is_poisoned |= after.is_poisoned;
        self.has_dotglob |= after.has_dotglob;
        self.named = after.named;
        self.aliases = after.aliases;
        self.secrets = after.secrets;
        self.exported = after.exported.or(self.exported.take());
        self.homes.retain(|name, path| after.homes.get(name) == Some(path));
        self.operands.retain(|name| after.operands.contains(name));
        self.lines.retain(|name| after.lines.contains(name));
        for (name, function) in &mut self.functions {
            function.is_certain &= after.functions.contains_key(name);
        }
    }

    fn doubt(&mut self, before: &Held) {
        if self.before != before.before {
            self.before = None;
        }
        self.tables.retain(|name| before.tables.contains(name));
        self.operands.retain(|name| before.operands.contains(name));
        self.lines.retain(|name| before.lines.contains(name));
        self.rounds.truncate(before.rounds.len());
        for (name, function) in &mut self.functions {
            function.is_certain &= before.functions.contains_key(name);
        }
    }
}
