//! A few: a list that needs no allocation while it is short.

use crate::tree::{List, Shelved, Tree};

/// Collects nodes until their list is complete; the first `N` stand on the stack.
pub(crate) struct Few<T, const N: usize> {
    inline: [T; N],
    len: usize,
    spill: Vec<T>,
}

impl<T: Shelved, const N: usize> Few<T, N> {
    pub(crate) fn new() -> Few<T, N> {
        Few { inline: [T::default(); N], len: 0, spill: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, node: T) {
        if let Some(slot) = self.inline.get_mut(self.len) {
            *slot = node;
        } else {
            if self.spill.is_empty() {
                self.spill.reserve(N * 4);
                self.spill.extend_from_slice(&self.inline);
            }
            self.spill.push(node);
        }
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if self.len <= N { self.inline.get(..self.len).unwrap_or_default() } else { &self.spill }
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        let last = self.len.checked_sub(1)?;
        if self.len <= N { self.inline.get_mut(last) } else { self.spill.last_mut() }
    }

    /// Puts the nodes on their shelf.
    pub(crate) fn shelve(&mut self, tree: &mut Tree) -> List<T> {
        if self.len == 0 {
            return List::default();
        }
        let nodes = T::shelf_mut(tree);
        let start = nodes.len();
        if start == 0 && self.spill.capacity() > nodes.capacity() {
            // A long list that is the first of its kind becomes the shelf, without a copy.
            *nodes = std::mem::take(&mut self.spill);
            return List::new(start, self.len);
        }
        if nodes.capacity() == 0 {
            nodes.reserve(self.len.max(N));
        }
        nodes.extend_from_slice(self.as_slice());
        List::new(start, self.len)
    }
}

/// Nodes of lists that are being read, the innermost list last: reading a list costs nothing but
/// its nodes.
#[derive(Default)]
pub(crate) struct Stack<T> {
    nodes: Vec<T>,
}

impl<T: Shelved> Stack<T> {
    pub(crate) fn with_capacity(nodes: usize) -> Stack<T> {
        Stack { nodes: Vec::with_capacity(nodes) }
    }

    /// Where a list that begins now will begin.
    pub(crate) fn mark(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn push(&mut self, node: T) {
        self.nodes.push(node);
    }

    /// How many nodes the list has that began at `mark`.
    pub(crate) fn len(&self, mark: usize) -> usize {
        self.nodes.len().saturating_sub(mark)
    }

    /// The first node of the list that began at `mark`.
    pub(crate) fn first(&self, mark: usize) -> Option<T> {
        self.nodes.get(mark).copied()
    }

    /// Gives up the list that began at `mark`.
    pub(crate) fn discard(&mut self, mark: usize) {
        self.nodes.truncate(mark);
    }

    /// Moves the list that began at `mark` to its shelf.
    pub(crate) fn shelve(&mut self, mark: usize, tree: &mut Tree) -> List<T> {
        let nodes = self.nodes.get(mark..).unwrap_or_default();
        if nodes.is_empty() {
            return List::default();
        }
        let shelved = T::shelf_mut(tree);
        let start = shelved.len();
        let len = nodes.len();
        if start == 0 && mark == 0 && len > shelved.capacity() {
            // A long list that is the first of its kind becomes the shelf, without a copy.
            *shelved = std::mem::take(&mut self.nodes);
            return List::new(start, len);
        }
        shelved.extend_from_slice(nodes);
        self.nodes.truncate(mark);
        List::new(start, len)
    }
}

/// Puts one node on its shelf.
pub(crate) fn shelve_one<T: Shelved>(tree: &mut Tree, node: T) -> List<T> {
    let shelf = T::shelf_mut(tree);
    let start = shelf.len();
    shelf.push(node);
    List::new(start, 1)
}
