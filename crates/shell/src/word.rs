//! Words: what they are made of.
//!
//! A word is a run of parts. What it is worth is its [`Value`](crate::Value), which
//! [`Tree::value`](crate::Tree::value) tells.

use crate::span::Span;
use crate::tree::{Assignment, List, Script};

/// One word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word {
    /// The whole word.
    pub span: Span,
    /// What it is made of; none for an empty word such as the value of `x=`.
    pub parts: List<Part>,
    /// Where the word stands, which decides what the shell does to it.
    pub place: Place,
    /// The place of its value, once it is folded.
    pub(crate) value: u32,
}

impl Word {
    pub(crate) const fn new(span: Span, parts: List<Part>, place: Place) -> Word {
        Word { span, parts, place, value: u32::MAX }
    }
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// A program, an argument, an array element: braces, splitting, file names.
    #[default]
    Argument,
    /// An argument that reads like an assignment (`export x=~/y`): tildes after `=` and `:`.
    AssignmentArgument,
    /// An alternative between braces; what it is worth is part of the word's value.
    Alternative,
    /// The value of an assignment or a here-string: neither split nor matched against files.
    Value,
    /// The target of a redirection: split, and an error if it is not one field.
    Target,
    /// A pattern of `case`, of `[[ == ]]`, of an expansion.
    Pattern,
    /// The subject of `case` or a side of `[[ ]]`: one field, whatever it holds.
    Single,
    /// The delimiter of a here-document: quotes are removed and nothing else happens.
    Delimiter,
    /// The body of a here-document.
    Body,
    /// An arithmetic expression: names in it are evaluated, again and again.
    Arithmetic,
    /// A name that is written down, such as a function's.
    Name,
}

impl Place {
    /// Whether names of files are looked for here.
    #[must_use]
    pub(crate) const fn finds_files(self) -> bool {
        matches!(self, Place::Argument | Place::AssignmentArgument | Place::Target)
    }
}

/// One part of a word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// The whole part, quotes included.
    pub span: Span,
    /// What it is.
    pub kind: PartKind,
}

/// The kinds of parts.
#[derive(Clone, Copy, Debug, Default)]
pub enum PartKind {
    /// Text that stands for itself.
    #[default]
    Literal,
    /// `\x`: the span of the escaped byte.
    Escaped(Span),
    /// `'…'`: the span between the quotes.
    SingleQuoted(Span),
    /// `$'…'`: the decoded text.
    AnsiC(Span),
    /// `"…"` or `$"…"`.
    DoubleQuoted {
        /// What stands between the quotes.
        parts: List<Part>,
        /// Whether it is `$"…"`, which may be translated.
        locale: bool,
    },
    /// `$x` or `${…}`: one expansion.
    Parameter(List<Expansion>),
    /// `$(…)`, backticks or `${ …;}`.
    Command {
        /// How it is written.
        form: CommandForm,
        /// What runs.
        script: Script,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// Whether it is `>(…)`.
        output: bool,
        /// What runs.
        script: Script,
    },
    /// `$((…))` or `$[…]`: one word.
    Arithmetic {
        /// Whether it is `$[…]`.
        bracket: bool,
        /// The expression.
        expression: List<Word>,
    },
    /// `*`, `?` or `[…]`.
    Glob,
    /// `@(…)` and its kin.
    ExtendedGlob {
        /// One of `?*+@!`.
        operator: u8,
        /// The alternatives between the bars.
        alternatives: List<Word>,
    },
    /// `{a,b}`: the alternatives.
    Brace(List<Word>),
    /// `{1..9}`: the bounds and the step as written.
    Sequence,
    /// `~`, `~user`, `~+`, `~-`.
    Tilde,
    /// `( … )` after `name=` in an argument of `declare` and its kin: the elements.
    Array(List<Assignment>),
}

/// How a command substitution is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandForm {
    /// `$( … )`
    Dollar,
    /// `` ` … ` ``
    Backtick,
    /// `${ …; }`, which runs in the shell itself
    Brace,
    /// `${| …; }`, which yields `REPLY`
    BraceReply,
}

/// A parameter expansion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expansion {
    /// The parameter: a name, digits, or one special character.
    pub name: Span,
    /// Whether it stands in braces.
    pub braced: bool,
    /// The sign before the name.
    pub prefix: Prefix,
    /// One word, the subscript; none where there is none.
    pub subscript: List<Word>,
    /// The operator.
    pub operator: Action,
    /// The operator as written, for example `:-`.
    pub sign: Span,
    /// The words the operator works with: at most two.
    pub arguments: List<Word>,
}

/// The sign before the name of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// No sign.
    #[default]
    None,
    /// `${#x}`
    Length,
    /// `${!x}`: the parameter whose name `x` holds.
    Indirect,
    /// `${!x*}`, `${!x@}`: the names that begin so.
    Names,
}

/// What an expansion does with the parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Nothing but reading it.
    #[default]
    Read,
    /// `:-` and `-`
    Default,
    /// `:=` and `=`
    Assign,
    /// `:?` and `?`
    Complain,
    /// `:+` and `+`
    Alternative,
    /// `:offset` and `:offset:length`
    Slice,
    /// `#`, `##`, `%`, `%%`
    Trim,
    /// `/`, `//`, `/#`, `/%`
    Replace,
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case,
    /// `@Q` and its kin; the sign is the letter. `@P` can run commands.
    Transform,
}
