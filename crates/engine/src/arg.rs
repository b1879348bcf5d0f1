//! Arguments: the words of one command as the program would see them.

mod braces;

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::{
    Action, List, Part, PartKind, Place, Prefix, Span, TaintKind, Tree, Value, Word,
};

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
    /// Variables that hold numbers, where one number is as good as another.
    pub numbers: Option<&'a BTreeSet<String>>,
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
    let is_whole = shape.parts(word.parts, is_open).is_some();
    let Shape { text, pattern, home, signs, prefix, is_guessed, .. } = shape;
    match (is_whole, home) {
        // What follows is not known, but it lies below a home.
        (_, true) if !is_whole || is_guessed => {
            Some(if is_one { Text::Begins(text) } else { Text::Any(text) })
        }
        (false, _) => None,
        (true, _) if signs != Signs::No => {
            Some(Text::Files { prefix: prefix.unwrap_or_default(), pattern })
        }
        (true, true) => Some(Text::Home(text)),
        (true, false) => Some(Text::Known(text)),
    }
}

struct Shape<'a> {
    tree: &'a Tree,
    known: Known<'a>,
    text: String,
    pattern: String,
    home: bool,
    signs: Signs,
    /// Whether a variable may since have got another value.
    is_guessed: bool,
    /// The text before the first sign of a pattern.
    prefix: Option<String>,
    braces: Braces,
}

/// Which signs of a pattern were seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signs {
    /// None.
    No,
    /// Ordinary ones.
    Plain,
    /// One that may turn around what follows: the pattern says nothing of that.
    Turning,
}

/// What braces stand for.
#[derive(Clone, PartialEq, Eq)]
enum Braces {
    /// They are not looked into.
    Closed,
    /// Anything.
    Any,
    /// This member.
    One(String),
}

impl<'a> Shape<'a> {
    fn new(tree: &'a Tree, known: Known<'a>) -> Shape<'a> {
        let (text, pattern) = (String::new(), String::new());
        let (home, signs, is_guessed) = (false, Signs::No, false);
        Shape {
            tree,
            known,
            text,
            pattern,
            home,
            signs,
            is_guessed,
            prefix: None,
            braces: Braces::Closed,
        }
    }

    fn parts(&mut self, parts: List<Part>, is_open: bool) -> Option<()> {
        for part in self.tree.list(parts) {
            match part.kind {
                PartKind::Literal => self.push(&lossless(self.tree.text(part.span))),
                PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => {
                    self.push(&lossless(self.tree.text(span)));
                }
                PartKind::DoubleQuoted { parts, locale: false } => self.parts(parts, false)?,
                PartKind::Glob => self.glob(&lossless(self.tree.text(part.span))),
                PartKind::Tilde if is_open && self.text.is_empty() => {
                    self.home = true;
                    let written = lossless(self.tree.text(part.span));
                    self.push(&written);
                }
                PartKind::Parameter(expansions) => self.parameter(expansions)?,
                PartKind::Brace(_) | PartKind::Sequence if self.braces != Braces::Closed => {
                    if let Braces::One(member) = self.braces.clone() {
                        self.home |= self.text.is_empty() && member.starts_with('~');
                        self.push(&member);
                    } else {
                        self.glob("*");
                    }
                }
                PartKind::Arithmetic { .. } if self.known.numbers.is_some() => self.push("1"),
                PartKind::Command { .. } if self.is_here(part.span) => {
                    let directory = self.known.directory?;
                    self.push(directory);
                }
                PartKind::DoubleQuoted { .. }
                | PartKind::Command { .. }
                | PartKind::Process { .. }
                | PartKind::Arithmetic { .. }
                | PartKind::ExtendedGlob { .. }
                | PartKind::Brace(_)
                | PartKind::Sequence
                | PartKind::Tilde
                | PartKind::Array(_) => return None,
            }
        }
        Some(())
    }

    /// Whether a command prints nothing but the directory that is worked in, or the root of its
    /// repository, which is taken for the same place.
    fn is_here(&self, span: Span) -> bool {
        let text = lossless(self.tree.text(span));
        let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
        let inner = inner.or_else(|| text.strip_prefix('`')?.strip_suffix('`'));
        let is_plain = self.known.directory.is_some_and(|path| !path.contains(char::is_whitespace));
        is_plain
            && self.text.is_empty()
            && matches!(inner.map(str::trim), Some("pwd" | "git rev-parse --show-toplevel"))
    }

    /// `$HOME`, `$PWD` and what was set below a home, at the start of a word.
    fn parameter(&mut self, expansions: List<portcullis_shell::Expansion>) -> Option<()> {
        let [expansion] = self.tree.list(expansions) else { return None };
        let is_plain = expansion.prefix == Prefix::None
            && expansion.operator == Action::Read
            && expansion.subscript.is_empty();
        let name = self.tree.text(expansion.name);
        let held = self.known.round.iter().find(|(held, _)| held.as_bytes() == name);
        if let Some((_, value)) = held.filter(|_| is_plain) {
            self.push(value);
            return Some(());
        }
        let numbers = self.known.numbers.filter(|_| is_plain);
        let is_number = |name| numbers.is_some_and(|numbers| numbers.contains(name));
        if std::str::from_utf8(name).is_ok_and(is_number) {
            self.push("1");
            return Some(());
        }
        if !is_plain || !self.text.is_empty() {
            return None;
        }
        match name {
            b"HOME" => {
                self.home = true;
                self.push("~");
            }
            b"PWD" => {
                let directory = self.known.directory?;
                self.push(directory);
            }
            name => {
                let value = self.known.homes.get(std::str::from_utf8(name).ok()?)?.clone();
                self.home = true;
                self.is_guessed = true;
                self.push(&value);
            }
        }
        Some(())
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.signs != Signs::Turning {
            self.pattern.push_str(&escaped(text));
        }
    }

    fn glob(&mut self, text: &str) {
        if self.prefix.is_none() {
            self.prefix = Some(self.text.clone());
        }
        self.text.push_str(text);
        if self.signs == Signs::Turning {
            return;
        }
        // What zsh may exclude or turn around fits more than what is written.
        let turns = matches!(text, "~" | "^");
        self.signs = if turns { Signs::Turning } else { Signs::Plain };
        self.pattern.push_str(if turns { "*" } else { text });
    }
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
