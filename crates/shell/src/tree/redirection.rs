//! Redirections: what a command reads from and writes to besides its arguments.

use super::List;
use crate::span::Span;
use crate::word::Word;

/// One redirection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redirection {
    /// From the descriptor to the target.
    pub span: Span,
    /// What stands before the operator.
    pub descriptor: Descriptor,
    /// The operator.
    pub operator: Operator,
    /// One word: the file, the descriptor, the string or the delimiter.
    pub target: List<Word>,
    /// The body, if it is a here-document.
    pub heredoc: Option<Heredoc>,
}

/// What is redirected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descriptor {
    /// What the operator means by itself.
    #[default]
    Default,
    /// `2>`: the digits.
    Number(Span),
    /// `{name}>`: the name.
    Variable(Span),
}

/// The redirection operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    #[default]
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`
    CopyIn,
    /// `>&`
    CopyOut,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<`
    Heredoc,
    /// `<<-`
    HeredocTabs,
    /// `<<<`
    HereString,
}

impl Operator {
    /// The operator as it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Operator::Read => "<",
            Operator::Write => ">",
            Operator::Append => ">>",
            Operator::Clobber => ">|",
            Operator::ReadWrite => "<>",
            Operator::CopyIn => "<&",
            Operator::CopyOut => ">&",
            Operator::WriteBoth => "&>",
            Operator::AppendBoth => "&>>",
            Operator::Heredoc => "<<",
            Operator::HeredocTabs => "<<-",
            Operator::HereString => "<<<",
        }
    }
}

/// The body of a here-document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heredoc {
    /// The body without the delimiter's line.
    pub span: Span,
    /// Whether the delimiter was quoted, so that nothing in the body is expanded.
    pub quoted: bool,
    /// Whether the delimiter was found before the text ended.
    pub closed: bool,
    /// One word: the body, tabs stripped where `<<-` strips them.
    pub body: List<Word>,
}
