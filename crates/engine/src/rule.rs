//! Rules: a tool, a pattern and an outcome, from one source.
//!
//! Rules are kept in an index ([`Rules`]) by tool and content, so that their number does not
//! matter. `CallRules` are those that may speak about one call, whatever its host calls it.

mod heads;
mod index;
mod keyed;
mod others;
pub mod paths;
pub(crate) mod same;
mod words;

use std::ops::Range;

use serde_json::Value as Json;

use crate::error::PolicyError;
use crate::few::Few;
use crate::place::{Ground, Place};
use crate::policy::Source;
use crate::tool::{CustomTool, Names};
use crate::verdict::Outcome;
use crate::world::World;

pub(crate) use heads::Glance;
pub use index::Rules;
use index::{Contents, ToolRules};
use paths::{Meant, Way};
use words::RuleId;
pub(crate) use words::climbs;

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule as written.
    pub text: Box<str>,
    /// What becomes of the acts it names.
    pub outcome: Outcome,
    /// The layer it comes from.
    pub source: Source,
    /// The place of that layer among those that were merged.
    pub layer: usize,
    /// Where it stands in that layer's text.
    pub span: Option<Range<usize>>,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The text is no rule.
    pub fn parse(text: &str, outcome: Outcome, source: Source) -> Result<Rule, PolicyError> {
        split(text).map_err(|help| {
            PolicyError::new(format!("`{text}` is no rule"), None).with_help(help)
        })?;
        Ok(Rule { text: text.trim().into(), outcome, source, layer: 0, span: None })
    }

    /// The content, if it has any.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        split(&self.text).ok()?.1
    }
}

/// Splits a rule into its tool names and its content: everything between the first `(` and the
/// final `)`.
///
/// # Errors
/// The way out.
pub fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    let text = text.trim();
    let (tools, content) = match text.split_once('(') {
        None => (text, None),
        Some((tools, rest)) => match rest.strip_suffix(')') {
            Some(content) => (tools.trim_end(), Some(content)),
            None => return Err("close the parenthesis at its end".to_owned()),
        },
    };
    // Most names are plain, and looking at each byte is the quickest.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !tools.is_empty() && tools.bytes().all(is_plain) {
        return Ok((tools, content));
    }
    if tools.split('|').any(|tool| tool.trim().is_empty()) {
        return Err("write `Tool` or `Tool(pattern)`".to_owned());
    }
    if tools.contains(|letter: char| letter.is_whitespace() || letter == ')') {
        return Err("a tool's name has no blanks; write `Tool` or `Tool(pattern)`".to_owned());
    }
    Ok((tools, content))
}

/// The rules that may speak about one call.
pub(crate) struct CallRules<'p> {
    /// Rules for names that the call has for certain.
    sure: Places<'p>,
    /// Rules for names of which it has one, and it is not known which.
    perhaps: Vec<Places<'p>>,
}

type Named<'p> = (&'p Rules, &'p ToolRules);

/// Hardly any name has rules in more than two lists.
type Places<'p> = Few<Option<Named<'p>>, 3>;

/// An act as rules about commands see it.
pub(crate) struct Command<'a> {
    /// The arguments, where they are known.
    pub(crate) args: &'a [Option<&'a str>],
    /// The same with the program's base name, without options before the sub-command, or both.
    pub(crate) others: &'a [Vec<Option<&'a str>>],
    /// Places that an allow rule must name.
    pub(crate) extras: &'a [usize],
    /// Its own part of the text.
    pub(crate) raw: &'a str,
    /// What may stand behind its words.
    pub(crate) behind: Behind,
}

/// What may stand behind the words of a command that a plain rule names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Nothing: they are all of it.
    Nothing,
    /// Words that are put there while it runs, or none.
    Unknown,
    /// The rest of a text in which it was found.
    Text,
}

/// An input as rules about other tools see it.
pub(crate) struct Input<'a> {
    /// The whole input in its canonical form.
    pub(crate) canonical: &'a str,
    /// What it says for a key of a rule.
    pub(crate) lookup: &'a dyn Fn(&str) -> Vec<String>,
}

impl<'p> CallRules<'p> {
    /// The rules of these lists for a call of these names.
    pub(crate) fn new(lists: [&'p Rules; 2], names: &Names<'_>) -> CallRules<'p> {
        let perhaps = names.perhaps.iter().map(|name| named(lists, &[name.as_str()])).collect();
        CallRules { sure: named(lists, &names.sure), perhaps }
    }

    /// The rules for tools of these names.
    pub(crate) fn of_names(lists: [&'p Rules; 2], names: &[&str]) -> CallRules<'p> {
        CallRules { sure: named(lists, names), perhaps: Vec::new() }
    }

    /// A rule of any content: what an unreadable input is held against.
    pub(crate) fn any(&self, outcome: Outcome) -> Option<&'p Rule> {
        self.strict(outcome, |contents| contents.all.first().copied())
    }

    /// A rule for the whole tool.
    pub(crate) fn whole(&self, outcome: Outcome) -> Option<&'p Rule> {
        match outcome {
            Outcome::Allow => self.covering(|contents| contents.whole),
            Outcome::Ask | Outcome::Deny => self.strict(outcome, |contents| contents.whole),
        }
    }

    /// Whether a deny or ask rule may speak about a command of one of these names with these words,
    /// in its own words or others; a first look that walks no rule.
    pub(crate) fn may_speak(&self, names: &[Option<&str>], words: impl Fn() -> Glance) -> bool {
        let mut all = self.sure.iter().chain(self.perhaps.iter().flatten()).flatten();
        all.any(|(_, tool)| tool.heads.may_speak(names, &words))
    }

    /// Whether a deny or ask rule may speak about commands that begin with one of these words.
    pub(crate) fn begins(&self, outcome: Outcome, words: &[Option<&str>]) -> bool {
        let begins = |contents: &Contents| {
            let index = contents.words.as_deref()?;
            index.begins(words).then(|| contents.all.first().copied()).flatten()
        };
        self.strict(outcome, begins).is_some()
    }

    /// Whether a deny or ask rule may speak about commands of a program, in other words than its
    /// own too.
    pub(crate) fn begins_same(&self, outcome: Outcome, program: &str) -> bool {
        let begins = |contents: &Contents| {
            let index = contents.words.as_deref()?;
            index.begins_same(program).then(|| contents.all.first().copied()).flatten()
        };
        self.strict(outcome, begins).is_some()
    }

    /// A deny or ask rule that speaks about a command.
    pub(crate) fn speaks_of_command(
        &self,
        outcome: Outcome,
        command: &Command<'_>,
    ) -> Option<&'p Rule> {
        self.strict(outcome, |contents| {
            let words = contents.words.as_deref()?;
            let found = words.speaks(command.args, command.behind);
            found
                .or_else(|| {
                    let mut others = command.others.iter();
                    others.find_map(|args| words.speaks(args, command.behind))
                })
                .or_else(|| words.speaks_of_raw(command.raw))
        })
    }

    /// A deny or ask rule that begins with these words and options, in whatever order.
    pub(crate) fn speaks_anyhow(
        &self,
        outcome: Outcome,
        words: &[&str],
        options: &[&str],
    ) -> Option<&'p Rule> {
        self.strict(outcome, |contents| contents.words.as_deref()?.speaks_anyhow(words, options))
    }

    /// Whether a deny or ask rule may begin with a program and some of these words or an option.
    pub(crate) fn goes_on(&self, outcome: Outcome, program: &str, words: &[&str]) -> bool {
        let goes_on = |contents: &Contents| {
            let index = contents.words.as_deref()?;
            index.goes_on(program, words).then(|| contents.all.first().copied()).flatten()
        };
        self.strict(outcome, goes_on).is_some()
    }

    /// A deny or ask rule that raw text fits.
    pub(crate) fn speaks_of_raw(&self, outcome: Outcome, text: &str) -> Option<&'p Rule> {
        self.strict(outcome, |contents| contents.words.as_deref()?.speaks_of_raw(text))
    }

    /// An allow rule that covers a command.
    pub(crate) fn covers_command(&self, command: &Command<'_>) -> Option<&'p Rule> {
        self.covering(|contents| {
            let words = contents.words.as_deref()?;
            words.covers(command.args, command.extras).or_else(|| {
                command.others.iter().find_map(|args| words.covers(args, command.extras))
            })
        })
    }

    /// A deny or ask rule that speaks about a path.
    pub(crate) fn speaks_of_path(
        &self,
        outcome: Outcome,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
    ) -> Option<&'p Rule> {
        self.speaks_on(outcome, place, meant, ground, world, None)
    }

    /// The same for what a reader meets on its way down from the path.
    pub(crate) fn speaks_on(
        &self,
        outcome: Outcome,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
        way: Option<Way<'_>>,
    ) -> Option<&'p Rule> {
        self.strict(outcome, |contents| {
            let paths = contents.paths.as_deref();
            contents.whole.or_else(|| paths?.speaks_on(place, meant, ground, world, way))
        })
    }

    /// An allow rule that covers a path where it really is.
    pub(crate) fn covers_path(
        &self,
        place: &Place,
        meant: Meant,
        ground: &Ground,
    ) -> Option<&'p Rule> {
        self.covering(|contents| {
            contents.whole.or_else(|| contents.paths.as_deref()?.covers(place, meant, ground))
        })
    }

    /// A deny or ask rule that speaks about an input.
    pub(crate) fn speaks_of_input(&self, outcome: Outcome, input: &Input<'_>) -> Option<&'p Rule> {
        self.strict(outcome, |contents| {
            contents.inputs.as_deref()?.speaks(input.canonical, input.lookup)
        })
    }

    /// An allow rule that covers an input.
    pub(crate) fn covers_input(&self, input: &Input<'_>) -> Option<&'p Rule> {
        self.covering(|contents| contents.inputs.as_deref()?.covers(input.canonical, input.lookup))
    }

    /// A rule that a custom tool says names its input.
    pub(crate) fn by_custom(
        &self,
        outcome: Outcome,
        tool: &dyn CustomTool,
        input: &Json,
    ) -> Option<&'p Rule> {
        let named = self.sure.iter().chain(self.perhaps.iter().flatten()).flatten();
        for (rules, tool_rules) in named {
            let all = tool_rules.of(outcome).map_or(&[][..], |contents| &contents.all);
            for rule in all.iter().filter_map(|id| rules.get(*id)) {
                let content = rule.content().filter(|content| !content.trim().is_empty());
                if content
                    .is_none_or(|content| content.trim() == "*" || tool.matches(content, input))
                {
                    return Some(rule);
                }
            }
        }
        None
    }

    /// The first rule that any of the names leads to.
    fn strict(
        &self,
        outcome: Outcome,
        find: impl Fn(&Contents) -> Option<RuleId>,
    ) -> Option<&'p Rule> {
        let sure = self.sure.iter().flatten().find_map(|named| found(named, outcome, &find));
        if sure.is_some() || self.perhaps.is_empty() {
            return sure;
        }
        self.perhaps.iter().flatten().flatten().find_map(|named| found(named, outcome, &find))
    }

    /// A rule that covers the call whichever of its possible names it has.
    fn covering(&self, find: impl Fn(&Contents) -> Option<RuleId>) -> Option<&'p Rule> {
        let mut sure = self.sure.iter().flatten();
        let found_sure = sure.find_map(|named| found(named, Outcome::Allow, &find));
        found_sure.or_else(|| {
            let mut first = None;
            for names in &self.perhaps {
                let rule =
                    names.iter().flatten().find_map(|named| found(named, Outcome::Allow, &find))?;
                first.get_or_insert(rule);
            }
            first
        })
    }
}

/// The rules of these lists for tools of these names.
fn named<'p>(lists: [&'p Rules; 2], names: &[impl AsRef<str>]) -> Places<'p> {
    let mut found = Places::default();
    for rules in lists {
        for name in names {
            rules.for_tool(name.as_ref(), |tool| found.push(Some((rules, tool))));
        }
    }
    found
}

fn found<'p>(
    (rules, tool): &Named<'p>,
    outcome: Outcome,
    find: &impl Fn(&Contents) -> Option<RuleId>,
) -> Option<&'p Rule> {
    tool.of(outcome).and_then(find).and_then(|rule| rules.get(rule))
}
