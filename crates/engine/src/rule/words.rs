//! Rules about commands, found by walking the words of an argument list.

use std::collections::HashMap;

use super::keyed::Keyed;
use super::{Behind, same};
use crate::lists;
use crate::pattern::words::{PatternWord, WordPattern, fits};

/// The place of a rule in its list.
pub(super) type RuleId = u32;

/// Up to this many children are looked through; more are hashed.
const FEW: usize = 8;

/// How many words of a rule are looked for among those of a command before it is taken apart.
const LOOKS: usize = 3;

/// Rules about commands as a tree of words.
#[derive(Clone, Debug, Default)]
pub(super) struct WordIndex {
    nodes: Vec<Node>,
    /// Whether there are rules that raw text is compared with.
    has_raw: bool,
    /// Programs that may be the same as one with rules; only those that deny or ask look there.
    // INVARIANT: sorted, each once.
    same: Vec<&'static str>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: Children,
    /// Those of the children that are options.
    options: Vec<(Box<str>, u32)>,
    /// A rule `prefix:*` whose words end here.
    prefix: Option<RuleId>,
    /// A plain rule whose words end here.
    plain: Option<RuleId>,
    /// Rules whose first word with a star stands here.
    globs: Vec<Tail>,
}

/// The words of a rule from its first star on.
#[derive(Clone, Debug)]
struct Tail {
    words: Vec<PatternWord>,
    /// The same words as one text, for stars that cross arguments.
    text: String,
    rule: RuleId,
}

#[derive(Clone, Debug, Default)]
enum Children {
    #[default]
    None,
    /// Most words have one behind them.
    One(Box<str>, u32),
    Few(Vec<(Box<str>, u32)>),
    Many(HashMap<Box<str>, u32, Keyed>),
}

impl Children {
    fn get(&self, word: &str) -> Option<u32> {
        match self {
            Children::None => None,
            Children::One(known, node) => (**known == *word).then_some(*node),
            Children::Few(few) => {
                few.iter().find(|(known, _)| **known == *word).map(|(_, node)| *node)
            }
            Children::Many(many) => many.get(word).copied(),
        }
    }

    fn insert(&mut self, word: &str, node: u32) {
        let word: Box<str> = word.into();
        *self = match std::mem::take(self) {
            Children::None => Children::One(word, node),
            Children::One(known, first) => Children::Few(vec![(known, first), (word, node)]),
            Children::Few(mut few) if few.len() < FEW => {
                few.push((word, node));
                Children::Few(few)
            }
            Children::Few(few) => Children::Many(few.into_iter().chain([(word, node)]).collect()),
            Children::Many(mut many) => {
                many.insert(word, node);
                Children::Many(many)
            }
        };
    }
}

/// One argument as rules see it: its text where that is known.
pub(super) type Known<'a> = Option<&'a str>;

impl WordIndex {
    /// Adds the pattern of a rule that denies or asks: it speaks about commands in other words too.
    pub(super) fn insert_strict(&mut self, pattern: &WordPattern, rule: RuleId) {
        let begins = |program: &str| {
            self.nodes.first().is_some_and(|root| root.children.get(program).is_some())
        };
        if let Some(program) = pattern.leading().next().filter(|program| !begins(program)) {
            for other in same::neighbours(program) {
                if let Err(at) = self.same.binary_search(&other) {
                    self.same.insert(at, other);
                }
            }
        }
        self.insert(pattern, rule);
    }

    /// Adds a rule's pattern.
    pub(super) fn insert(&mut self, pattern: &WordPattern, rule: RuleId) {
        match pattern {
            WordPattern::Nothing => {}
            WordPattern::Prefix(words) => {
                if let Some(node) = self.path(words.iter().map(String::as_str)) {
                    node.prefix.get_or_insert(rule);
                }
            }
            WordPattern::Plain(words) => {
                self.has_raw = true;
                if let Some(node) = self.path(words.iter().map(String::as_str)) {
                    node.plain.get_or_insert(rule);
                }
            }
            WordPattern::Glob(words) => {
                self.has_raw = true;
                let leading = words.iter().map_while(|word| match word {
                    PatternWord::Literal(text) => Some(text.as_str()),
                    PatternWord::Fits(_) | PatternWord::Star => None,
                });
                let count = leading.clone().count();
                let tail = words.get(count..).unwrap_or_default();
                let text: Vec<String> = tail.iter().map(spelled).collect();
                let tail = Tail { words: tail.to_vec(), text: text.join(" "), rule };
                if let Some(node) = self.path(leading) {
                    node.globs.push(tail);
                }
            }
        }
    }

    /// A rule that names this argument list: every extra place must be named by its words.
    pub(super) fn covers(&self, args: &[Known<'_>], extras: &[usize]) -> Option<RuleId> {
        self.walk(args, |node, depth| {
            let is_named = extras.iter().all(|place| *place < depth);
            let plain = node.plain.filter(|_| depth == args.len());
            let rest = args.get(depth..).unwrap_or_default();
            plain.or(node.prefix.filter(|_| is_named)).or_else(|| {
                node.tail(|tail| {
                    match_words(&tail.words, rest, depth, extras)
                        && !climbs(words_of(&tail.words), rest.iter().flatten().copied())
                })
            })
        })
    }

    /// Whether a rule begins with stars, or with one of these words.
    pub(super) fn begins(&self, words: &[Known<'_>]) -> bool {
        self.nodes.first().is_some_and(|root| {
            let is_open = root.prefix.is_some() || root.plain.is_some() || !root.globs.is_empty();
            is_open || words.iter().flatten().any(|word| root.children.get(word).is_some())
        })
    }

    /// Whether a rule begins with this program, or with one that may be the same.
    pub(super) fn begins_same(&self, program: &str) -> bool {
        let root = self.nodes.first();
        root.is_some_and(|root| root.children.get(program).is_some())
            || self.same.binary_search(&program).is_ok()
    }

    /// A rule that speaks about this argument list, extras or not.
    pub(super) fn speaks(&self, args: &[Known<'_>], behind: Behind) -> Option<RuleId> {
        self.walk(args, |node, depth| {
            let rest = args.get(depth..).unwrap_or_default();
            let plain = node.plain.filter(|_| match behind {
                Behind::Nothing => rest.is_empty(),
                Behind::Unknown => rest.iter().all(Option::is_none),
                Behind::Text => true,
            });
            plain.or(node.prefix).or_else(|| {
                node.tail(|tail| match_words(&tail.words, rest, depth, &[])).or_else(|| {
                    if node.globs.is_empty() {
                        return None;
                    }
                    let text: Vec<&str> = rest.iter().map(|arg| arg.unwrap_or_default()).collect();
                    let text = text.join(" ");
                    node.tail(|tail| fits(&tail.text, &text))
                })
            })
        })
    }

    /// A rule that begins with these words and options, wherever the options stand.
    pub(super) fn speaks_anyhow(&self, words: &[&str], options: &[&str]) -> Option<RuleId> {
        let root = self.nodes.first()?;
        let (program, words) = words.split_first()?;
        let node = self.nodes.get(root.children.get(program)? as usize)?;
        self.anyhow(node, words, options)
    }

    /// Whether a rule may begin with a program and some of these words, or an option, in whatever
    /// order.
    pub(super) fn goes_on(&self, program: &str, words: &[&str]) -> bool {
        let Some(root) = self.nodes.first() else { return false };
        root.children.get(program).is_some_and(|child| self.leads_on(child, words, LOOKS))
    }

    /// Whether what stands behind a node may be made of these words; so many of them are looked at.
    fn leads_on(&self, node: u32, words: &[&str], looks: usize) -> bool {
        let Some(node) = self.nodes.get(node as usize) else { return false };
        let is_open = node.prefix.is_some() || !node.options.is_empty() || !node.globs.is_empty();
        is_open
            || looks == 0
            || words.iter().any(|word| {
                let child = node.children.get(word);
                child.is_some_and(|child| self.leads_on(child, words, looks - 1))
            })
    }

    fn anyhow(&self, node: &Node, words: &[&str], options: &[&str]) -> Option<RuleId> {
        let is_end = |tail: &Tail| match tail.words.as_slice() {
            [PatternWord::Star] => true,
            // `git push --force*`
            [PatternWord::Fits(text)] | [PatternWord::Fits(text), PatternWord::Star] => {
                text.starts_with('-')
                    && (options.iter().any(|option| fits(text, option))
                        || text.strip_suffix('*').is_some_and(|text| is_among(text, options)))
            }
            _ => false,
        };
        let found = node.prefix.or_else(|| node.tail(is_end));
        if found.is_some() {
            return found;
        }
        let named = node.options.iter().filter(|(option, _)| is_among(option, options));
        let behind = named.filter_map(|(_, child)| self.nodes.get(*child as usize));
        let mut found = behind.filter_map(|node| self.anyhow(node, words, options));
        found.next().or_else(|| {
            let (word, words) = words.split_first()?;
            let node = self.nodes.get(node.children.get(word)? as usize)?;
            self.anyhow(node, words, options)
        })
    }

    /// A plain rule or one with stars that fits raw text, in which stars cross blanks.
    pub(super) fn speaks_of_raw(&self, raw: &str) -> Option<RuleId> {
        if !self.has_raw {
            return None;
        }
        let mut node = self.nodes.first()?;
        let mut rest = if is_bare(raw.bytes().next_back()) { raw } else { raw.trim_end() };
        rest = trim_start(rest);
        loop {
            if rest.is_empty() {
                return node.plain.or_else(|| node.tail(|tail| fits(&tail.text, "")));
            }
            let found = node.tail(|tail| fits(&tail.text, rest));
            if found.is_some() {
                return found;
            }
            let (word, behind) = first_word(rest);
            node = self.nodes.get(node.children.get(word)? as usize)?;
            rest = trim_start(behind);
        }
    }

    /// Goes down as far as the words are known and have rules; `look` sees every node on the way.
    fn walk(
        &self,
        args: &[Known<'_>],
        look: impl Fn(&Node, usize) -> Option<RuleId>,
    ) -> Option<RuleId> {
        let mut node = self.nodes.first()?;
        for depth in 0..=args.len() {
            let found = look(node, depth);
            if found.is_some() {
                return found;
            }
            let word = args.get(depth).copied().flatten()?;
            node = self.nodes.get(node.children.get(word)? as usize)?;
        }
        None
    }

    /// The node at the end of these words, made if need be.
    fn path<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Option<&mut Node> {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for word in words {
            let child = self.nodes.get(at).and_then(|node| node.children.get(word));
            at = if let Some(child) = child {
                child as usize
            } else {
                let new = self.nodes.len();
                let id = u32::try_from(new).ok()?;
                let node = self.nodes.get_mut(at)?;
                node.children.insert(word, id);
                if at > 0 && word.len() > 1 && word.starts_with('-') {
                    node.options.push((word.into(), id));
                }
                self.nodes.push(Node::default());
                new
            };
        }
        self.nodes.get_mut(at)
    }
}

impl Node {
    fn tail(&self, test: impl Fn(&Tail) -> bool) -> Option<RuleId> {
        self.globs.iter().find(|tail| test(tail)).map(|tail| tail.rule)
    }
}

/// Whether an option is given, in this spelling or another.
fn is_among(option: &str, given: &[&str]) -> bool {
    if given.contains(&option) {
        return true;
    }
    let same = |one: &str| lists::SAME_OPTIONS.iter().find(|group| is_in_group(group, one));
    let has = |one: &str| {
        let group = same(one);
        given.iter().any(|word| {
            *word == one
                || group.is_some_and(|group| is_in_group(group, word))
                || letters(word).is_some_and(|letters| {
                    letters.chars().any(|letter| {
                        let letter = format!("-{letter}");
                        letter == one || group.is_some_and(|group| is_in_group(group, &letter))
                    })
                })
        })
    };
    match letters(option) {
        Some(letters) => letters.chars().all(|letter| has(&format!("-{letter}"))),
        None => has(option),
    }
}

/// Whether one of the spellings in a group, with commas between them, is this.
fn is_in_group(group: &str, option: &str) -> bool {
    group.split(',').any(|spelling| spelling == option)
}

/// The letters of short options that stand together.
fn letters(word: &str) -> Option<&str> {
    const MOST: usize = 4;
    let letters = word.strip_prefix('-')?;
    let is_bundle =
        letters.len() <= MOST && letters.bytes().all(|letter| letter.is_ascii_alphanumeric());
    (is_bundle && !letters.is_empty()).then_some(letters)
}

/// Whether a byte is surely no blank.
fn is_bare(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_graphic())
}

/// The text without blanks before it; most has none.
fn trim_start(text: &str) -> &str {
    if is_bare(text.bytes().next()) { text } else { text.trim_start() }
}

/// The text up to the first blank, and what stands behind that.
fn first_word(text: &str) -> (&str, &str) {
    // Most words are plain, and looking at each byte is the quickest.
    let is_end = |byte: u8| !byte.is_ascii_graphic();
    let at = text.bytes().position(is_end).unwrap_or(text.len());
    match (text.get(..at), text.get(at + 1..)) {
        (Some(word), Some(behind)) if text.as_bytes().get(at) == Some(&b' ') => (word, behind),
        _ if at == text.len() => (text, ""),
        _ => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    }
}

/// A word as it is compared where stars cross arguments.
fn spelled(word: &PatternWord) -> String {
    match word {
        PatternWord::Star => "*".to_owned(),
        PatternWord::Fits(text) => text.clone(),
        PatternWord::Literal(text) => text.replace('\\', "\\\\").replace('*', "\\*"),
    }
}

/// The words of a pattern that are more than a star.
fn words_of(words: &[PatternWord]) -> impl Iterator<Item = &str> {
    words.iter().filter_map(|word| match word {
        PatternWord::Star => None,
        PatternWord::Fits(text) | PatternWord::Literal(text) => Some(text.as_str()),
    })
}

/// Whether words leave the directory that a pattern writes out before its star: `scripts/*` is
/// about what lies there, and not about `scripts/../x`.
pub(crate) fn climbs<'a>(
    pattern: impl Iterator<Item = &'a str>,
    words: impl Iterator<Item = &'a str>,
) -> bool {
    let ups = |word: &str| word.split('/').filter(|part| *part == "..").count();
    let (mut written, mut has_directory) = (0, false);
    for word in pattern {
        written += ups(word);
        has_directory |= word.contains('*') && word.contains('/');
    }
    has_directory && words.map(ups).sum::<usize>() > written
}

/// Word by word; a lone star takes any number of arguments, but none that must be named.
fn match_words(words: &[PatternWord], args: &[Known<'_>], depth: usize, extras: &[usize]) -> bool {
    // The same way as with letters: after a mismatch the last star takes one argument more.
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let is_taken = match (words.get(at), args.get(here)) {
            (Some(PatternWord::Star), _) => {
                star = Some((at + 1, here));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (None, Some(_)) | (Some(_), None) => false,
            (Some(PatternWord::Literal(text)), Some(arg)) => *arg == Some(text.as_str()),
            (Some(PatternWord::Fits(text)), Some(arg)) => arg.is_some_and(|arg| fits(text, arg)),
        };
        match star {
            _ if is_taken => {
                at += 1;
                here += 1;
            }
            Some((behind, from)) if from < args.len() && !extras.contains(&(depth + from)) => {
                star = Some((behind, from + 1));
                at = behind;
                here = from + 1;
            }
            _ => return false,
        }
    }
}
