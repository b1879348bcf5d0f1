//! Shelves: where the nodes of one kind stand, and runs of them.

use std::marker::PhantomData;

use super::{Arm, Assignment, Branch, Command, Item, Pipeline, Redirection, Test, Tree};
use crate::span::narrow;
use crate::word::{Expansion, Part, Word};

/// A run of nodes on one shelf.
#[derive(Debug)]
pub struct List<T> {
    start: u32,
    len: u32,
    shelf: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// How many nodes the list names.
    #[must_use]
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list names no node.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    pub(crate) const fn new(start: usize, len: usize) -> List<T> {
        List { start: narrow(start), len: narrow(len), shelf: PhantomData }
    }

    pub(crate) const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start as usize).saturating_add(self.len as usize)
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> List<T> {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::new(0, 0)
    }
}

/// A kind of node that has a shelf in the tree.
pub trait Shelved: Copy + Default + 'static {
    /// The shelf of this kind.
    fn shelf(tree: &Tree) -> &Vec<Self>;
    /// The same shelf, for the parser.
    #[doc(hidden)]
    fn shelf_mut(tree: &mut Tree) -> &mut Vec<Self>;
}

macro_rules! shelves {
    ($($kind:ty => $field:ident),* $(,)?) => {
        $(impl Shelved for $kind {
            fn shelf(tree: &Tree) -> &Vec<$kind> { &tree.$field }
            fn shelf_mut(tree: &mut Tree) -> &mut Vec<$kind> { &mut tree.$field }
        })*
    };
}

shelves! {
    Item => items,
    Pipeline => pipelines,
    Command => commands,
    Redirection => redirections,
    Assignment => assignments,
    Branch => branches,
    Arm => arms,
    Test => tests,
    Word => words,
    Part => parts,
    Expansion => expansions,
}
