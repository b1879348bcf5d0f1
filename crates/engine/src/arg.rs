//! Arguments: the words of one command as the program would see them.

use portcullis_shell::{Span, Tree, Value, Word};

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// What is known of its text.
    pub text: Text,
    /// Where it stands in the command.
    pub span: Span,
}

/// What is known of an argument's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// All of it.
    Known(String),
    /// File names that begin so; there may be any number of them.
    Files(String),
    /// It begins so; it is exactly one argument.
    Begins(String),
    /// The first begins so; there may be any number of arguments, or none.
    Any(String),
}

impl Arg {
    /// An argument whose text is known.
    #[must_use]
    pub fn known(text: &str) -> Arg {
        Arg { text: Text::Known(text.to_owned()), span: Span::default() }
    }

    /// The text, where all of it is known.
    #[must_use]
    pub fn as_known(&self) -> Option<&str> {
        match &self.text {
            Text::Known(text) => Some(text),
            Text::Files(_) | Text::Begins(_) | Text::Any(_) => None,
        }
    }

    /// What it begins with for certain.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match &self.text {
            Text::Known(text) | Text::Files(text) | Text::Begins(text) | Text::Any(text) => text,
        }
    }

    /// Whether a program might take it, or one of those it stands for, for an option.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        match &self.text {
            Text::Known(text) => text.starts_with('-'),
            Text::Files(prefix) | Text::Begins(prefix) => {
                prefix.is_empty() || prefix.starts_with('-')
            }
            // What follows the first of several may begin with anything.
            Text::Any(_) => true,
        }
    }

    /// Whether it is exactly one argument.
    #[must_use]
    pub const fn is_one(&self) -> bool {
        matches!(self.text, Text::Known(_) | Text::Begins(_))
    }
}

/// The arguments a list of words stands for.
#[must_use]
pub fn of_words(tree: &Tree, words: &[Word]) -> Vec<Arg> {
    let mut args = Vec::with_capacity(words.len());
    for word in words {
        push(tree.value(word), tree.locate(word.span), &mut args);
    }
    args
}

fn push(value: Value<'_>, span: Span, args: &mut Vec<Arg>) {
    let lossless = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let text = match value {
        Value::Literal(text) => Text::Known(lossless(text)),
        Value::Pattern { prefix } => Text::Files(lossless(prefix)),
        Value::Tainted(taint) if taint.one_field => Text::Begins(lossless(taint.prefix)),
        Value::Tainted(taint) => Text::Any(lossless(taint.prefix)),
        Value::Set(members) => {
            for member in members {
                push(member, span, args);
            }
            return;
        }
    };
    args.push(Arg { text, span });
}
