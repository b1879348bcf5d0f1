//! Arguments: the words of one command as the program would see them.

mod braces;
mod shape;

use std::collections::BTreeMap;

use portcullis_shell::{List, Part, PartKind, Place, Span, TaintKind, Tree, Value, Word};

pub use braces::Budget;
use shape::{Braces, Shape};

use crate::analysis::Sets;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// What is known of its text.
    pub text: Text,
    /// What it ends with for certain, where its text is not known.
    pub ending: String,
    /// Where it stands in the command.
    pub span: Span,
    /// Whether no word of it begins with a dash, whatever else is not known.
    pub is_operand: bool,
}

/// What is known of an argument's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// All of it.
    Known(String),
    /// A path that begins with a home directory, written `~`, `~/x` or `~user/x`.
    Home(String),
    /// File names that fit a pattern; there may be any number of them.
    Files {
        /// What the names begin with.
        prefix: String,
        /// The pattern, with everything else escaped.
        pattern: String,
    },
    /// It begins so; it is exactly one argument.
    Begins(String),
    /// The first begins so; there may be any number of arguments, or none.
    Any(String),
}

impl Arg {
    /// An argument of whose end nothing more is known.
    #[must_use]
    pub const fn new(text: Text, span: Span) -> Arg {
        Arg { text, ending: String::new(), span, is_operand: false }
    }

    /// An argument whose text is known.
    #[must_use]
    pub fn known(text: &str) -> Arg {
        Arg::new(Text::Known(text.to_owned()), Span::default())
    }

    /// The text, where all of it is known.
    #[must_use]
    pub fn as_known(&self) -> Option<&str> {
        match &self.text {
            Text::Known(text) => Some(text),
            Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
        }
    }

    /// The text as rules compare it: a home is known as it is written.
    #[must_use]
    pub fn as_written(&self) -> Option<&str> {
        match &self.text {
            Text::Known(text) | Text::Home(text) => Some(text),
            Text::Files { .. } | Text::Begins(_) | Text::Any(_) => None,
        }
    }

    /// What it begins with for certain; nothing for a home, whose name is not known.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match &self.text {
            Text::Known(text) | Text::Begins(text) | Text::Any(text) => text,
            Text::Files { prefix, .. } => prefix,
            Text::Home(_) => "/",
        }
    }

    /// The text as it is written, as far as it is known.
    #[must_use]
    pub fn written(&self) -> &str {
        match &self.text {
            Text::Known(text) | Text::Home(text) | Text::Begins(text) | Text::Any(text) => text,
            Text::Files { prefix, .. } => prefix,
        }
    }

    /// Whether a program might take it, or one of those it stands for, for an option.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        match &self.text {
            Text::Known(text) => text.starts_with('-'),
            Text::Home(_) => false,
            Text::Files { .. } | Text::Begins(_) if self.is_operand => false,
            Text::Files { prefix, .. } | Text::Begins(prefix) => {
                prefix.is_empty() || prefix.starts_with('-')
            }
            // What follows the first of several may begin with anything.
            Text::Any(_) => !self.is_operand,
        }
    }

    /// Whether it is exactly one argument.
    #[must_use]
    pub const fn is_one(&self) -> bool {
        matches!(self.text, Text::Known(_) | Text::Home(_) | Text::Begins(_))
    }
}

/// What a script knows at one place that words may refer to.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What `$PWD` means.
    pub directory: Option<&'a str>,
    /// Variables that were last set to a path below a home.
    pub homes: &'a BTreeMap<String, String>,
    /// Variables of loops and what they hold in this round.
    pub round: &'a [(&'a str, &'a str)],
    /// What the script sets, where one number is as good as another.
    pub numbers: Option<&'a Sets>,
    /// How many words braces may still stand for.
    pub budget: &'a Budget,
}

/// The arguments a list of words stands for.
#[must_use]
pub fn of_words(tree: &Tree, words: &[Word], known: Known<'_>) -> Vec<Arg> {
    let mut args = Vec::with_capacity(words.len());
    for word in words {
        add_word(tree, word, known, &mut args);
    }
    args
}

/// The text that a word of one piece stands for, if all of it is known; `source` is the text that
/// the tree was made of.
#[must_use]
pub fn text(tree: &Tree, source: &str, word: &Word) -> Option<String> {
    let [part] = tree.list(word.parts) else { return None };
    if matches!(part.kind, PartKind::Brace(_) | PartKind::Sequence) {
        return None;
    }
    let at = tree.literal(word)?;
    Some(match source.get(at.start as usize..at.end as usize) {
        Some(text) => text.to_owned(),
        // It was made of what is written: unescaped, put together.
        None => lossless(tree.text(at)),
    })
}

/// Adds the arguments one word stands for.
pub fn add_word(tree: &Tree, word: &Word, known: Known<'_>, args: &mut Vec<Arg>) {
    let span = tree.locate(word.span);
    if let Some(texts) = braces::texts(tree, word, known) {
        let arg = |(text, ending)| Arg { ending, ..Arg::new(text, span) };
        args.extend(texts.into_iter().map(arg));
        return;
    }
    match tree.value(word) {
        Value::Literal(text) => args.push(Arg::new(Text::Known(lossless(text)), span)),
        value @ (Value::Pattern { .. } | Value::Tainted(_)) => {
            let text = shaped(tree, word, &value, known);
            let text = text.unwrap_or_else(|| plain(&value));
            let ending = ending(tree, word.parts);
            args.push(Arg { ending, ..Arg::new(text, span) });
        }
        Value::Set(members) => {
            args.extend(members.iter().map(|member| Arg::new(plain(member), span)));
        }
    }
}

/// What a value alone tells.
fn plain(value: &Value<'_>) -> Text {
    match value {
        Value::Literal(text) => Text::Known(lossless(text)),
        Value::Pattern { prefix } => {
            let prefix = lossless(prefix);
            Text::Files { pattern: format!("{}**", escaped(&prefix)), prefix }
        }
        Value::Tainted(taint) if taint.one_field => Text::Begins(lossless(taint.prefix)),
        Value::Tainted(taint) => Text::Any(lossless(taint.prefix)),
        // A set holds no sets.
        Value::Set(_) => Text::Any(String::new()),
    }
}

/// What the parts of a word tell beyond its value: a home, the working directory, a pattern.
fn shaped(tree: &Tree, word: &Word, value: &Value<'_>, known: Known<'_>) -> Option<Text> {
    let is_one = match value {
        Value::Pattern { .. } => true,
        Value::Tainted(taint) => match taint.kind {
            TaintKind::Tilde => true,
            TaintKind::Parameter | TaintKind::Command | TaintKind::Arithmetic => taint.one_field,
            TaintKind::Process
            | TaintKind::Array
            | TaintKind::TooMany
            | TaintKind::Brace
            | TaintKind::Pattern => return None,
        },
        Value::Literal(_) | Value::Set(_) => return None,
    };
    let is_open = matches!(
        word.place,
        Place::Argument | Place::Target | Place::Value | Place::Single | Place::AssignmentArgument
    );
    let mut shape = Shape::new(tree, known);
    let is_whole = shape.parts(tree.list(word.parts), is_open).is_some();
    shape.text(is_whole, is_one)
}

/// What a variable gets by a word like `x=~/a*` that may declare it.
#[must_use]
pub fn declared(tree: &Tree, word: &Word, known: Known<'_>) -> Option<Arg> {
    let (first, behind) = tree.list(word.parts).split_first()?;
    let before = std::str::from_utf8(tree.text(first.span)).ok()?;
    let (_, value) = before.split_once('=').filter(|_| !before.starts_with('-'))?;
    let mut shape = Shape::new(tree, known);
    shape.braces = Braces::Any;
    shape.literal(value);
    let is_whole = shape.parts(behind, true).is_some();
    let text = shape.text(is_whole, true)?;
    Some(Arg { ending: ending(tree, word.parts), ..Arg::new(text, tree.locate(word.span)) })
}

/// The text behind the last part of a word that is not known.
fn ending(tree: &Tree, parts: List<Part>) -> String {
    let mut ending = String::new();
    for part in tree.list(parts).iter().rev() {
        let span = match part.kind {
            PartKind::Literal => part.span,
            PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => span,
            PartKind::DoubleQuoted { parts, .. } => {
                ending.insert_str(0, &self::ending(tree, parts));
                break;
            }
            PartKind::Parameter(_)
            | PartKind::Command { .. }
            | PartKind::Process { .. }
            | PartKind::Arithmetic { .. }
            | PartKind::Glob
            | PartKind::ExtendedGlob { .. }
            | PartKind::Brace(_)
            | PartKind::Sequence
            | PartKind::Tilde
            | PartKind::Array(_) => break,
        };
        ending.insert_str(0, &lossless(tree.text(span)));
    }
    ending
}

/// The text with every sign of a pattern escaped.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '{' | '}') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn lossless(text: &[u8]) -> String {
    // Almost everything is plain, and looking at it whole is quicker.
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// What stands before the words of a command that end all words.
pub(crate) fn leading<'a>(all: &'a [Arg], args: &[Arg]) -> &'a [Arg] {
    let at = all.len().saturating_sub(args.len());
    let (before, end) = all.split_at_checked(at).unwrap_or_default();
    let is_same = |(one, other): (&Arg, &Arg)| one.text == other.text && one.span == other.span;
    let is_end = end.len() == args.len() && end.iter().zip(args).all(is_same);
    if is_end { before } else { &[] }
}
