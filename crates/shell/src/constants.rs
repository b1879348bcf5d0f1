//! Constants: parameters whose value is known where they are used.
//!
//! `X=rm; $X a` runs `rm`. The walk below follows a script in the order it runs and keeps an
//! assignment as long as it must have been made, is literal, and nothing since could have changed
//! it. Where paths meet, only what all of them agree on is kept; where anything could happen,
//! nothing is. An expansion that fails makes bash skip the rest of its line, so after one that
//! can fail nothing is known for good.

mod assign;
mod effect;
mod walk;

use crate::dialect::Dialect;
use crate::limits::Limits;
use crate::span::Span;
use crate::tree::Tree;
use crate::word::Action;

/// How many constants are followed; further assignments are forgotten.
const MOST: usize = 64;

/// Parameters the shell sets by itself or does not let anybody set.
const UNRELIABLE: [&[u8]; 29] = [
    b"_",
    b"COLUMNS",
    b"COMPREPLY",
    b"COPROC",
    b"DIRSTACK",
    b"EPOCHREALTIME",
    b"EPOCHSECONDS",
    b"EUID",
    b"FUNCNAME",
    b"GROUPS",
    b"HISTCMD",
    b"IFS",
    b"LINENO",
    b"LINES",
    b"MAPFILE",
    b"OLDPWD",
    b"OPTARG",
    b"OPTIND",
    b"PIPESTATUS",
    b"POSIXLY_CORRECT",
    b"PPID",
    b"PWD",
    b"RANDOM",
    b"REPLY",
    b"SECONDS",
    b"SHELLOPTS",
    b"SHLVL",
    b"SRANDOM",
    b"UID",
];

/// Beginnings of such names.
const UNRELIABLE_FAMILIES: [&[u8]; 4] = [b"BASH", b"COMP_", b"COPROC_", b"READLINE_"];

fn is_reliable(name: &[u8]) -> bool {
    // All of them begin with a capital or are `_`.
    name.first().is_some_and(u8::is_ascii_lowercase)
        || !UNRELIABLE.contains(&name)
            && !UNRELIABLE_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// What is known of the parameters at one point of a script.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    // INVARIANT: names are distinct; both spans lie in the tree's text.
    entries: Vec<(Span, Span)>,
    /// Whether unquoted values are parted at blanks and nowhere else.
    pub(crate) splits_on_blanks: bool,
    /// Whether something ran after which nothing can be known any more.
    poisoned: bool,
}

impl Default for Constants {
    fn default() -> Constants {
        Constants { entries: Vec::new(), splits_on_blanks: true, poisoned: false }
    }
}

impl Constants {
    /// The value of a parameter, if it is known.
    pub(crate) fn get(&self, tree: &Tree, name: &[u8]) -> Option<Span> {
        let found = self.entries.iter().find(|(known, _)| tree.text(*known) == name);
        found.map(|&(_, value)| value)
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn set(&mut self, tree: &Tree, name: Span, value: Span) {
        self.forget(tree, tree.text(name));
        if is_reliable(tree.text(name))
            && value.len() <= Limits::CONSTANT_BYTES
            && !self.poisoned
            && self.entries.len() < MOST
        {
            self.entries.push((name, value));
        }
    }

    fn forget(&mut self, tree: &Tree, name: &[u8]) {
        self.entries.retain(|(known, _)| tree.text(*known) != name);
    }

    fn forget_all(&mut self) {
        self.entries.clear();
    }

    /// Forgets everything for good: from here on a trap or an alias may do anything.
    fn poison(&mut self) {
        self.forget_all();
        self.poisoned = true;
    }

    /// Keeps what this and the other path agree on.
    fn meet(&mut self, tree: &Tree, other: &Constants) {
        self.poisoned |= other.poisoned;
        let mut place = 0;
        self.entries.retain(|&(name, value)| {
            // Paths that part and meet again mostly hold the same in the same order.
            let is_twin = other.entries.get(place) == Some(&(name, value));
            place += 1;
            is_twin
                || other
                    .get(tree, tree.text(name))
                    .is_some_and(|theirs| theirs == value || tree.text(theirs) == tree.text(value))
        });
    }
}

/// Whether the tree assigns to any parameter at all.
pub(crate) fn may_exist(tree: &Tree) -> bool {
    // In zsh many names are the shell's own, so nothing is told of them.
    if tree.dialect == Dialect::Zsh {
        return false;
    }
    !tree.assignments.is_empty()
        || tree.words.iter().any(|word| word.place == crate::word::Place::AssignmentArgument)
}

/// Folds again every word that reads a constant.
pub(crate) fn propagate(tree: &mut Tree) {
    let summary = effect::Summary::of(tree);
    let start = Constants { splits_on_blanks: !summary.names_ifs, ..Constants::default() };
    walk::Walk::new(tree, summary).run(start);
}

/// Whether an expansion can change the parameter it reads.
const fn assigns(action: Action) -> bool {
    matches!(action, Action::Assign)
}
