//! Reads shell text into a tree that loses nothing.
//!
//! [`Reader::parse`] reads a text to its last byte or refuses it with a sentence a person
//! understands. The [`Tree`] holds every command at every depth, nested scripts and
//! here-documents included, with byte spans on everything, and tells what each word is worth
//! ([`Value`]). The crate knows syntax, not danger: what a program does is the engine's matter.
//!
//! ```
//! use portcullis_shell::{Dialect, Kind, Reader, Value};
//!
//! let tree = Reader::new(Dialect::Bash).parse(b"ls | r\\m -rf \"$HOME\"")?;
//! let programs: Vec<Value> = tree
//!     .commands()
//!     .filter_map(|command| match command.kind {
//!         Kind::Simple(simple) => tree.list(simple.words).first(),
//!         _ => None,
//!     })
//!     .map(|word| tree.value(word))
//!     .collect();
//! assert_eq!(programs, [Value::Literal(b"ls"), Value::Literal(b"rm")]);
//! # Ok::<(), portcullis_shell::Refusal>(())
//! ```

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod constants;
mod dialect;
mod few;
mod fold;
mod glyph;
mod hazard;
mod lexer;
mod limits;
mod origin;
mod parser;
mod printer;
mod reader;
mod refusal;
mod scan;
mod sequence;
mod shape;
mod span;
mod tree;
mod value;
mod word;

pub use dialect::Dialect;
pub use glyph::{Glyph, glyphs};
pub use hazard::{Hazard, HazardKind, hazards};
pub use limits::Limits;
pub use printer::print;
pub use reader::Reader;
pub use refusal::{Refusal, RefusalKind};
pub use scan::{Token, scan};
pub use span::Span;
pub use tree::{
    Arm, ArmEnd, Assigned, Assignment, Branch, Command, Descriptor, Heredoc, Item, Join, Kind,
    List, Loop, Operator, Pipeline, Redirection, Script, Shelved, Simple, Test, TestKind, Time,
    Tree,
};
pub use value::{Taint, TaintKind, Value};
pub use word::{Action, CommandForm, Expansion, Part, PartKind, Place, Prefix, Word};
