//! Word patterns: the content of rules about commands.
//!
//! Three forms: `prefix:*`, words with stars, and plain text. Quotes group words as the shell
//! would; a quote without its partner is an ordinary letter.

use crate::glob;

/// What a rule about commands compares an argument list with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPattern {
    /// `prefix:*`: the arguments begin with these words.
    Prefix(Vec<String>),
    /// Word by word; a word that is only a star stands for any number of arguments.
    Glob(Vec<PatternWord>),
    /// Exactly these arguments.
    Plain(Vec<String>),
    /// `:*` alone, which matches nothing.
    Nothing,
}

/// One word of the form with stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternWord {
    /// This very argument.
    Literal(String),
    /// One argument that fits; backslash escapes.
    Fits(String),
    /// Any number of arguments.
    Star,
}

impl WordPattern {
    /// Reads the content of a rule as the shell would see its words.
    #[must_use]
    pub fn parse(content: &str) -> WordPattern {
        WordPattern::read(content, split_quoted)
    }

    /// The same with words split at blanks only, as they stand in raw text.
    #[must_use]
    pub fn parse_raw(content: &str) -> WordPattern {
        WordPattern::read(content, |text| text.split_whitespace().map(str::to_owned).collect())
    }

    fn read(content: &str, split: impl Fn(&str) -> Vec<String>) -> WordPattern {
        if let Some(prefix) = content.strip_suffix(":*") {
            let words = split(prefix);
            return if words.is_empty() {
                WordPattern::Nothing
            } else {
                WordPattern::Prefix(words)
            };
        }
        let words = split(content);
        if !words.iter().any(|word| has_star(word)) {
            return WordPattern::Plain(words.iter().map(|word| unescape(word)).collect());
        }
        WordPattern::Glob(
            words
                .into_iter()
                .map(|word| match word.as_str() {
                    "*" => PatternWord::Star,
                    text if has_star(text) => PatternWord::Fits(word),
                    text => PatternWord::Literal(unescape(text)),
                })
                .collect(),
        )
    }
}

impl WordPattern {
    /// The words it begins with, up to its first star.
    pub(crate) fn leading(&self) -> impl Iterator<Item = &str> {
        let (plain, open) = match self {
            WordPattern::Nothing => (&[][..], &[][..]),
            WordPattern::Prefix(words) | WordPattern::Plain(words) => (words.as_slice(), &[][..]),
            WordPattern::Glob(words) => (&[][..], words.as_slice()),
        };
        let open = open.iter().map_while(|word| match word {
            PatternWord::Literal(text) => Some(text.as_str()),
            PatternWord::Fits(_) | PatternWord::Star => None,
        });
        plain.iter().map(String::as_str).chain(open)
    }
}

/// Whether there is a star that no backslash escapes.
fn has_star(text: &str) -> bool {
    let mut is_escaped = false;
    text.bytes().any(|byte| {
        let is_star = byte == b'*' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_star
    })
}

/// The text without the backslashes before stars and backslashes.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(&next @ ('*' | '\\'))) => {
                out.push(next);
                letters.next();
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Splits at blanks outside quotes and takes quotes away that have a partner.
pub(crate) fn split_quoted(text: &str) -> Vec<String> {
    if !text.contains(['\'', '"']) {
        return text.split_whitespace().map(str::to_owned).collect();
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.char_indices();
    while let Some((at, letter)) = rest.next() {
        let closing = matches!(letter, '\'' | '"')
            .then(|| text.get(at + 1..).and_then(|rest| rest.find(letter)))
            .flatten();
        match closing {
            Some(length) => {
                let quoted = text.get(at + 1..at + 1 + length).unwrap_or_default();
                word.get_or_insert_default().push_str(quoted);
                rest = text.char_indices();
                // Goes on behind the closing quote.
                while rest.offset() < at + length + 2 && rest.next().is_some() {}
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Whether the whole text fits a pattern in which only stars and escapes mean something.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    glob::fits(pattern, text, |pattern, at, byte| {
        let escaped = pattern.get(at + 1).filter(|next| matches!(next, b'*' | b'\\'));
        match (pattern.get(at)?, escaped) {
            (b'\\', Some(&escaped)) => (escaped == byte).then_some(at + 2),
            (&literal, _) => (literal == byte).then_some(at + 1),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{PatternWord, WordPattern, fits};

    #[test]
    fn contents_have_three_forms() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        #[rustfmt::skip]
        let cases = [
            ("npm run:*",        WordPattern::Prefix(words(&["npm", "run"]))),
            (" npm  run :*",     WordPattern::Prefix(words(&["npm", "run"]))),
            ("a *:*",            WordPattern::Prefix(words(&["a", "*"]))),
            (":*",               WordPattern::Nothing),
            ("git status",       WordPattern::Plain(words(&["git", "status"]))),
            ("echo \\*",         WordPattern::Plain(words(&["echo", "*"]))),
            ("echo \\\\",        WordPattern::Plain(words(&["echo", "\\"]))),
            ("echo 'a b' \"c\"", WordPattern::Plain(words(&["echo", "a b", "c"]))),
            ("echo don't",       WordPattern::Plain(words(&["echo", "don't"]))),
            ("git *",            WordPattern::Glob(vec![
                PatternWord::Literal("git".into()), PatternWord::Star])),
            ("a\\* b*",          WordPattern::Glob(vec![
                PatternWord::Literal("a*".into()), PatternWord::Fits("b*".into())])),
        ];
        for (content, want) in cases {
            assert_eq!(WordPattern::parse(content), want, "`{content}`");
        }
    }

    #[test]
    fn stars_and_escapes_are_all_there_is() {
        #[rustfmt::skip]
        let cases = [
            ("b*", "b", true),   ("b*", "ab", false), ("*[x]", "a[x]", true), ("?", "a", false),
            ("\\*", "*", true),  ("\\*", "a", false), ("a*c*e", "abcde", true), ("\\a", "\\a", true),
        ];
        for (pattern, text, want) in cases {
            assert_eq!(fits(pattern, text), want, "`{pattern}` on `{text}`");
        }
    }
}
