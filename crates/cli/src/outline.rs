//! The outline: a tree with names on everything, ready to be shown or written as JSON.
//!
//! One walk visits every kind of node the reader knows, so that what people see and what
//! programs get cannot differ. The walk is in `outline/`; how an outline looks is
//! [`render`](crate::render)'s business.

use portcullis_shell::{Span, TaintKind};

mod commands;
mod words;

pub use commands::outline;

/// One node with everything known about it.
#[derive(Debug)]
pub struct Node<'t> {
    /// What it is, in the words of the glossary.
    pub kind: &'static str,
    /// Where it stands in the text as given.
    pub span: Span,
    /// What is known about it besides its children.
    pub facts: Vec<(&'static str, Fact<'t>)>,
    /// Its children by the part they play, in the order of the text.
    pub children: Vec<(&'static str, Children<'t>)>,
}

/// One thing known about a node.
#[derive(Debug)]
pub enum Fact<'t> {
    /// It is so, or it is not.
    Flag(bool),
    /// How many.
    Count(u32),
    /// One of a few names.
    Name(&'static str),
    /// Bytes of the text.
    Text(&'t [u8]),
    /// What a word is worth.
    Worth(Worth<'t>),
}

/// What a word is worth.
#[derive(Debug)]
pub enum Worth<'t> {
    /// Exactly these bytes.
    Literal(&'t [u8]),
    /// These fields, in order.
    Set(Vec<Worth<'t>>),
    /// The names of files that begin so.
    Pattern(&'t [u8]),
    /// Not known before it runs.
    Tainted {
        /// Why.
        kind: TaintKind,
        /// Because of what, in the text as given.
        span: Span,
        /// What it begins with.
        prefix: &'t [u8],
        /// Whether it is one field, whatever it holds.
        one_field: bool,
    },
}

/// The children that play one part.
#[derive(Debug)]
pub enum Children<'t> {
    /// There is exactly one place for it.
    One(Box<Node<'t>>),
    /// Any number.
    Many(Vec<Node<'t>>),
}

impl<'t> Node<'t> {
    fn new(kind: &'static str, span: Span) -> Node<'t> {
        Node { kind, span, facts: Vec::new(), children: Vec::new() }
    }

    fn fact(mut self, name: &'static str, fact: Fact<'t>) -> Node<'t> {
        self.facts.push((name, fact));
        self
    }

    fn flag(self, name: &'static str, flag: bool) -> Node<'t> {
        self.fact(name, Fact::Flag(flag))
    }

    fn name(self, name: &'static str, value: &'static str) -> Node<'t> {
        self.fact(name, Fact::Name(value))
    }

    fn text(self, name: &'static str, text: &'t [u8]) -> Node<'t> {
        self.fact(name, Fact::Text(text))
    }

    fn one(mut self, role: &'static str, child: Option<Node<'t>>) -> Node<'t> {
        self.children.extend(child.map(|child| (role, Children::One(Box::new(child)))));
        self
    }

    fn many(mut self, role: &'static str, children: Vec<Node<'t>>) -> Node<'t> {
        self.children.push((role, Children::Many(children)));
        self
    }
}

impl Children<'_> {
    /// The children, whatever their number.
    pub fn nodes(&self) -> &[Node<'_>] {
        match self {
            Children::One(node) => std::slice::from_ref(node),
            Children::Many(nodes) => nodes,
        }
    }
}
