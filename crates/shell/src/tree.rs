//! The tree: what a shell text says, command by command.
//!
//! The nodes of one kind stand together on one shelf of the [`Tree`], and a node names its
//! children by a [`List`]: a run on a shelf. A tree is therefore a handful of flat vectors, is
//! dropped without recursion, and every command of every depth can be visited by a plain loop
//! ([`Tree::commands`]). Words and what they are made of are in [`word`](crate::word).

mod redirection;
mod shelf;

pub use redirection::{Descriptor, Heredoc, Operator, Redirection};
pub use shelf::{List, Shelved};

use crate::dialect::Dialect;
use crate::origin::Origins;
use crate::span::Span;
use crate::value::{Stored, Value};
use crate::word::{Expansion, Part, Word};

/// A shell text that was read completely.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The text as given, then every text that had to be made from it: unescaped backtick
    /// bodies, stripped here-documents, decoded quotes, folded values.
    pub(crate) text: Vec<u8>,
    pub(crate) origins: Origins,
    pub(crate) dialect: Dialect,
    /// Whether the text may change what patterns match.
    pub(crate) patterns_are_doubtful: bool,
    /// Whether the text may switch brace expansion off.
    pub(crate) braces_are_doubtful: bool,
    pub(crate) root: Script,
    pub(crate) items: Vec<Item>,
    pub(crate) pipelines: Vec<Pipeline>,
    pub(crate) commands: Vec<Command>,
    pub(crate) redirections: Vec<Redirection>,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) tests: Vec<Test>,
    pub(crate) words: Vec<Word>,
    pub(crate) parts: Vec<Part>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) values: Vec<Stored>,
    pub(crate) sets: Vec<Stored>,
}

impl Tree {
    /// The whole script.
    #[must_use]
    pub fn root(&self) -> Script {
        self.root
    }

    /// The dialect the text was read in.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The text as it was given.
    #[must_use]
    pub fn source(&self) -> &[u8] {
        self.text.get(..self.origins.source_len()).unwrap_or_default()
    }

    /// The bytes a span of this tree stands for, unescaped where the text was.
    #[must_use]
    pub fn text(&self, span: Span) -> &[u8] {
        span.of(&self.text)
    }

    /// Where a span of this tree stands in the text as it was given.
    #[must_use]
    pub fn locate(&self, span: Span) -> Span {
        self.origins.locate(span)
    }

    /// The nodes of a list, in order.
    #[must_use]
    pub fn list<T: Shelved>(&self, list: List<T>) -> &[T] {
        T::shelf(self).get(list.range()).unwrap_or_default()
    }

    /// The single node a list of one names.
    #[must_use]
    pub fn only<T: Shelved>(&self, list: List<T>) -> Option<&T> {
        self.list(list).first()
    }

    /// Every command at every depth, each exactly once, in no promised order.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter()
    }

    /// The commands that define an alias or switch aliases on, by their spans.
    ///
    /// Where aliases are on, they change how later lines are read, which the tree does not show.
    pub fn aliases(&self) -> impl Iterator<Item = Span> {
        self.commands.iter().filter_map(|command| {
            let Kind::Simple(simple) = command.kind else { return None };
            let mut texts = self.list(simple.words).iter().map(|word| self.value(word));
            let is_alias = match texts.next() {
                Some(Value::Literal(b"alias")) => texts.next().is_some(),
                Some(Value::Literal(b"shopt")) => {
                    texts.any(|text| text == Value::Literal(b"expand_aliases"))
                }
                _ => false,
            };
            is_alias.then_some(command.span)
        })
    }

    /// Every word at every depth.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.words.iter()
    }

    /// What a word is worth: the text, the fields, the pattern or the reason why it is unknown.
    #[must_use]
    pub fn value(&self, word: &Word) -> Value<'_> {
        self.stored(word).view(self)
    }

    /// Where the text of a word stands that is worth exactly that; none where it is worth
    /// anything else.
    #[must_use]
    pub fn literal(&self, word: &Word) -> Option<Span> {
        match self.stored(word) {
            Stored::Literal(span) => Some(span),
            Stored::Set { .. } | Stored::Pattern(_) | Stored::Tainted { .. } => None,
        }
    }

    /// Puts made text behind the text.
    pub(crate) fn keep(&mut self, text: &[u8]) -> Span {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        Span::new(start, self.text.len())
    }

    /// Copies a piece of the text to its end.
    pub(crate) fn copy(&mut self, span: Span) -> Span {
        let start = self.text.len();
        let (from, to) = (span.start as usize, span.end as usize);
        if from <= to && to <= start {
            self.text.extend_from_within(from..to);
        }
        Span::new(start, self.text.len())
    }

    pub(crate) fn stored(&self, word: &Word) -> Stored {
        self.values.get(word.value as usize).copied().unwrap_or_default()
    }
}

/// A sequence of items: a whole text, or what stands between two brackets or keywords.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// From the first byte after the opener to the last before the closer.
    pub span: Span,
    /// What runs, in order.
    pub items: List<Item>,
}

/// One and-or list with the separator behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item {
    /// The pipelines with their separator.
    pub span: Span,
    /// Pipelines joined by `&&` and `||`, which bind alike and to the left.
    pub pipelines: List<Pipeline>,
    /// Whether `&` follows.
    pub background: bool,
}

/// How a pipeline hangs on the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// It is the first of its item.
    #[default]
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|` and `|&`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipeline {
    /// From `!` or `time` to the last command.
    pub span: Span,
    /// How it hangs on the pipeline before it.
    pub join: Join,
    /// How many `!` stand before it.
    pub bangs: u32,
    /// The word `time`, with or without `-p`.
    pub time: Option<Time>,
    /// The commands; none after a bare `!` or `time`.
    pub commands: List<Command>,
}

/// The reserved word `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Whether `-p` follows.
    pub posix: bool,
}

/// One command with its redirections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Command {
    /// The whole command, redirections included.
    pub span: Span,
    /// What kind of command it is.
    pub kind: Kind,
    /// Its redirections, in order.
    pub redirections: List<Redirection>,
    /// Whether `|&` follows, which pipes standard error too.
    pub pipes_errors: bool,
}

/// The kinds of commands.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Assignments and words; the first word is the program.
    Simple(Simple),
    /// `( … )`
    Subshell(Script),
    /// `{ …; }`
    Group(Script),
    /// `if … then … elif … else … fi`; only the last branch may lack a condition.
    If(List<Branch>),
    /// `while … do … done`
    While(Branch),
    /// `until … do … done`
    Until(Branch),
    /// `for name in … do … done`
    For(Loop),
    /// `select name in … do … done`
    Select(Loop),
    /// `for (( …; …; … )) do … done`; the word holds all three expressions.
    ArithmeticFor {
        /// Three words: start, condition, step.
        head: List<Word>,
        /// What runs each time.
        body: Script,
    },
    /// `case word in … esac`
    Case {
        /// One word: the subject.
        subject: List<Word>,
        /// The arms in order.
        arms: List<Arm>,
    },
    /// A function definition. Its redirections belong to the body.
    Function {
        /// One word: the name.
        name: List<Word>,
        /// One command: the body.
        body: List<Command>,
        /// Whether it was written with the word `function`.
        keyword: bool,
    },
    /// `[[ … ]]`: one test.
    Test(List<Test>),
    /// `(( … ))`: one word.
    Arithmetic(List<Word>),
    /// `coproc`
    Coproc {
        /// One word, the name; none where it was left out.
        name: List<Word>,
        /// One command.
        command: List<Command>,
    },
}

impl Default for Kind {
    fn default() -> Kind {
        Kind::Simple(Simple::default())
    }
}

/// Assignments, then words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simple {
    /// Assignments before the program; with no word they change the shell itself.
    pub assignments: List<Assignment>,
    /// The program and its arguments.
    pub words: List<Word>,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=( … )`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Assignment {
    /// The whole assignment.
    pub span: Span,
    /// The variable's name.
    pub name: Span,
    /// One word, the subscript; none where there is none.
    pub subscript: List<Word>,
    /// Whether it is `+=`.
    pub appends: bool,
    /// What is assigned.
    pub value: Assigned,
}

/// The right side of an assignment.
#[derive(Clone, Copy, Debug)]
pub enum Assigned {
    /// One word, possibly empty.
    Word(List<Word>),
    /// The elements of `( … )`; an element with a subscript is an assignment without a name.
    Array(List<Assignment>),
}

impl Default for Assigned {
    fn default() -> Assigned {
        Assigned::Word(List::default())
    }
}

/// A condition with what it guards.
#[derive(Clone, Copy, Debug, Default)]
pub struct Branch {
    /// What is run to decide; absent for `else`.
    pub condition: Option<Script>,
    /// What runs then.
    pub body: Script,
}

/// `for` and `select`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loop {
    /// One word: the variable's name.
    pub name: List<Word>,
    /// The words after `in`; absent where `in` is.
    pub words: Option<List<Word>>,
    /// What runs each time.
    pub body: Script,
}

/// One arm of a `case`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arm {
    /// From the first pattern to the end of the body.
    pub span: Span,
    /// The patterns, joined by `|`.
    pub patterns: List<Word>,
    /// What runs.
    pub body: Script,
    /// What happens after it.
    pub end: ArmEnd,
}

/// What follows an arm of a `case`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`, or nothing before `esac`
    #[default]
    Break,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the next patterns are tried too.
    TryNext,
}

/// One node of a `[[ ]]` expression.
#[derive(Clone, Copy, Debug, Default)]
pub struct Test {
    /// The whole expression.
    pub span: Span,
    /// What it asks.
    pub kind: TestKind,
}

/// The kinds of `[[ ]]` expressions.
#[derive(Clone, Copy, Debug)]
pub enum TestKind {
    /// `a || b`: two or more tests.
    Or(List<Test>),
    /// `a && b`: two or more tests.
    And(List<Test>),
    /// `! a`: one test.
    Not(List<Test>),
    /// `( a )`: one test.
    Group(List<Test>),
    /// `-f file`: the operator, and one word.
    Unary(Span, List<Word>),
    /// `a = b`: two words and the operator between them.
    Binary(Span, List<Word>),
    /// One word alone: true unless it is empty.
    Word(List<Word>),
}

impl Default for TestKind {
    fn default() -> TestKind {
        TestKind::Word(List::default())
    }
}
