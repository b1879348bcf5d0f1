//! What deny and ask rules say about one act.

use std::cell::{Cell, OnceCell};

use portcullis_shell::Span;

use super::cover::{known, without};
use super::held::{Access, Held};
use super::spellings::{Spoken, without_version};
use super::{Bench, Facts};
use crate::act::{Act, ActKind};
use crate::analysis::Heard;
use crate::arg::{Arg, Text};
use crate::catalog;
use crate::lists;
use crate::place::Place;
use crate::rule::paths::Meant;
use crate::rule::{Behind, CallRules, Command, Glance, Input, Rule};
use crate::tool::ToolKind;
use crate::verdict::Outcome;

/// What the rules of one outcome say, whatever the act.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said<'a> {
    /// The first of them for the tool.
    pub(super) any: Option<&'a Rule>,
    /// One for the whole tool.
    whole: Option<&'a Rule>,
    /// Whether there is none, for the tool or for the files that it touches.
    is_silent: bool,
}

/// The ask rule and the deny rule that speak about the words of an act.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfWords<'a> {
    asking: Option<&'a Rule>,
    denying: Option<&'a Rule>,
}

/// What rules of each outcome look at of one act, found once.
#[derive(Debug, Default)]
pub(super) struct OfAct<'a> {
    words: OfWords<'a>,
    /// Its files, once somebody asks for them.
    held: OnceCell<Vec<Held>>,
}

impl<'a> Bench<'a> {
    /// Tells whether a rule may speak about a command that begins with a word, or about the text
    /// there.
    pub(super) fn concerns(&self) -> impl Fn(Heard<'_>, Span) -> bool {
        const STRICT: [Outcome; 2] = [Outcome::Deny, Outcome::Ask];
        let always = self.raw.0.or(self.raw.1).or(self.asking.whole).or(self.denying.whole);
        // Many words stand in one text.
        let seen: Cell<Option<(Span, bool)>> = Cell::new(None);
        move |word: Heard<'_>, span: Span| {
            let first = word.written;
            let base = word.known.and_then(|word| word.rsplit('/').next());
            let plain = base.and_then(plain_name);
            let words = [first, base.filter(|base| Some(*base) != first), plain];
            let fits = || {
                if let Some((_, fits)) = seen.get().filter(|(known, _)| *known == span) {
                    return fits;
                }
                let raw = self.raw_text(span);
                let mut strict = STRICT.into_iter();
                let fits = strict.any(|outcome| self.rules.speaks_of_raw(outcome, raw).is_some());
                seen.set(Some((span, fits)));
                fits
            };
            always.is_some()
                || STRICT.into_iter().any(|outcome| self.rules.begins(outcome, &words))
                || fits()
        }
    }

    /// What the rules of an outcome say at all.
    pub(super) fn said_by(&self, outcome: Outcome) -> Said<'a> {
        let any = self.rules.any(outcome);
        let others = [&self.writers, &self.readers, &self.patchers];
        let is_silent = any.is_none() && others.iter().all(|rules| rules.any(outcome).is_none());
        Said { any, whole: self.rules.whole(outcome), is_silent }
    }

    /// Whether rules for files ask or deny anything that a command may do.
    pub(super) fn has_file_rules(&self) -> bool {
        [&self.writers, &self.readers]
            .iter()
            .any(|rules| rules.any(Outcome::Ask).or(rules.any(Outcome::Deny)).is_some())
    }

    fn said(&self, outcome: Outcome) -> Said<'a> {
        match outcome {
            Outcome::Ask => self.asking,
            Outcome::Deny => self.denying,
            Outcome::Allow => self.said_by(outcome),
        }
    }

    /// The text of the command at a place.
    fn raw_text(&self, span: Span) -> &str {
        let text = self.text.unwrap_or_default();
        text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// A deny or ask rule that speaks about an act.
    pub(super) fn speaking(
        &self,
        outcome: Outcome,
        facts: &Facts,
        of_act: &OfAct<'a>,
    ) -> Option<&'a Rule> {
        let said = self.said(outcome);
        if self.has_fault {
            return said.any;
        }
        if said.whole.is_some() {
            return said.whole;
        }
        if self.spec.kind == ToolKind::Shell {
            return self.speaking_of_shell(outcome, facts, of_act);
        }
        if let Some(custom) = self.custom {
            return self.rules.by_custom(outcome, &**custom, &self.call.input);
        }
        let mut places = facts.touched.iter().filter_map(|touched| touched.place.as_ref());
        match self.spec.kind {
            ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Patch => {
                places.find_map(|place| {
                    self.rules.speaks_of_path(outcome, place, Meant::File, self.ground, self.world)
                })
            }
            ToolKind::Search => {
                let of = |place: &Place| {
                    let (ground, world) = (self.ground, self.world);
                    self.rules.speaks_of_path(outcome, place, Meant::Search, ground, world)
                };
                places.find_map(of).or_else(|| self.searched().iter().find_map(of))
            }
            ToolKind::Shell
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => {
                let lookup = |key: &str| self.values(key, facts);
                let input = Input { canonical: &self.canonical, lookup: &lookup };
                self.rules.speaks_of_input(outcome, &input)
            }
        }
    }

    fn speaking_of_shell(
        &self,
        outcome: Outcome,
        facts: &Facts,
        of_act: &OfAct<'a>,
    ) -> Option<&'a Rule> {
        let act = &facts.act;
        if self.said(outcome).is_silent {
            return None;
        }
        let (words, raw) = match outcome {
            Outcome::Ask => (of_act.words.asking, self.raw.0),
            Outcome::Allow | Outcome::Deny => (of_act.words.denying, self.raw.1),
        };
        let said = words.or(raw);
        // Most commands name no file.
        if said.is_some() || facts.touched.is_empty() && act.code.is_empty() {
            return said;
        }
        let patches = patches(act).then_some(&self.patchers);
        if let Some(rule) = patches.and_then(|rules| rules.whole(outcome)) {
            return Some(rule);
        }
        let held = if self.may_speak_of_held(outcome, facts, patches) {
            of_act.held.get_or_init(|| self.held(facts)).as_slice()
        } else {
            &[]
        };
        held.iter().find_map(|held| self.speaking_of_held(outcome, held, facts, patches))
    }

    /// Whether there are rules for what is done to a file of a command: most only read, and most
    /// rules about files are about writing.
    fn may_speak_of_held(
        &self,
        outcome: Outcome,
        facts: &Facts,
        patches: Option<&CallRules<'a>>,
    ) -> bool {
        let has = |rules: &CallRules<'a>| rules.any(outcome).is_some();
        has(&self.readers) && Bench::may_hold(facts, Access::Read)
            || (has(&self.writers) || patches.is_some_and(has))
                && Bench::may_hold(facts, Access::Write)
    }

    /// The rule of the reading, writing or patching tools that speaks about a file of a command.
    fn speaking_of_held(
        &self,
        outcome: Outcome,
        held: &Held,
        facts: &Facts,
        patches: Option<&CallRules<'a>>,
    ) -> Option<&'a Rule> {
        let rules = match held.access {
            Access::Read => &self.readers,
            Access::Write => &self.writers,
            Access::Named => return None,
        };
        let patches = patches.filter(|_| held.access == Access::Write);
        [Some(rules), patches].into_iter().flatten().find_map(|rules| {
            let (ground, way) = (self.ground, self.way(held, facts));
            rules.speaks_on(outcome, &held.place, held.meant, ground, self.world, way)
        })
    }

    /// What rules look at of an act.
    pub(super) fn of_act(&self, act: &Act) -> OfAct<'a> {
        OfAct { words: self.of_words(act), ..OfAct::default() }
    }

    /// The rules that speak about the words of a command, or about its text.
    fn of_words(&self, act: &Act) -> OfWords<'a> {
        let is_open = |said: Said<'_>| !said.is_silent && said.whole.is_none();
        let (asks, denies) = (is_open(self.asking), is_open(self.denying));
        if self.spec.kind != ToolKind::Shell || self.has_fault || !asks && !denies {
            return OfWords::default();
        }
        let raw = self.raw_text(act.span);
        let first = act.args.first().and_then(Arg::as_written);
        let last = act.last_name();
        let base = last.filter(|base| Some(*base) != first);
        let plain = last.and_then(plain_name);
        // Most texts begin with the very word.
        let is_same = first.is_some_and(|first| begins_with(raw, first));
        let names = [first, base, plain, last.and_then(without_version)];
        if !self.rules.may_speak(&names, || glance(act, raw)) {
            // Behind a wrapper or in quotes the text may still be one that a rule means.
            let speaks = |outcome, is_open: bool| {
                let is_asked = is_open && !is_same;
                is_asked.then(|| self.rules.speaks_of_raw(outcome, raw)).flatten()
            };
            return OfWords {
                asking: speaks(Outcome::Ask, asks),
                denying: speaks(Outcome::Deny, denies),
            };
        }
        let spoken = Spoken::of(act);
        let same = |outcome, is_open: bool| {
            is_open.then(|| self.speaking_of_same(outcome, act, &spoken)).flatten()
        };
        let begins = |outcome| self.rules.begins(outcome, &[first, base, plain]);
        let (begins_ask, begins_deny) =
            (asks && begins(Outcome::Ask), denies && begins(Outcome::Deny));
        let args = known(act);
        let others =
            if begins_ask || begins_deny { spellings(act, &args, plain) } else { Vec::new() };
        let behind = behind(act);
        let command = Command { args: &args, others: &others, extras: &[], raw, behind };
        let speaks = |outcome, is_open, begins| {
            let found = match (is_open, begins) {
                (true, true) => self.rules.speaks_of_command(outcome, &command),
                (true, false) if !is_same => self.rules.speaks_of_raw(outcome, raw),
                _ => None,
            };
            found.or_else(|| same(outcome, is_open))
        };
        OfWords {
            asking: speaks(Outcome::Ask, asks, begins_ask),
            denying: speaks(Outcome::Deny, denies, begins_deny),
        }
    }
}

/// Whether an act applies a patch, so that rules about patches speak of it.
fn patches(act: &Act) -> bool {
    let Some(name) = act.base_name() else { return false };
    let applies = |arg: &Arg| matches!(arg.as_known(), Some("apply" | "am"));
    lists::PATCHERS.contains(&name) || name == "git" && act.args.iter().skip(1).any(applies)
}

/// What may stand behind the words of an act: a program that runs others adds what it gets.
fn behind(act: &Act) -> Behind {
    let is_added = || act.args.last().is_some_and(|arg| arg.as_known().is_none());
    if act.kind == ActKind::Scanned {
        Behind::Text
    } else if !act.via.is_empty() && is_added() {
        Behind::Unknown
    } else {
        Behind::Nothing
    }
}

/// The words behind the program of an act as rules see them, and the second one of its text; what
/// is not known stands for some word.
fn glance(act: &Act, raw: &str) -> Glance {
    let words = act.args.iter().skip(1).fold(Glance::default(), |words, arg| match &arg.text {
        Text::Known(text) => words.with(text),
        Text::Home(text) => words.with(text).with(""),
        Text::Files { .. } | Text::Begins(_) | Text::Any(_) => words.with(""),
    });
    second_word(raw).map_or(words, |second| words.with(second))
}

/// The second word of a text between blanks.
fn second_word(text: &str) -> Option<&str> {
    // Most texts begin with two plain words, and looking at each byte is the quickest.
    let is_end = |byte: u8| !byte.is_ascii_graphic();
    let end = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        from + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    };
    let (first, from) = (end(0), end(0) + 1);
    let second = end(from.min(text.len()));
    let is_blank = |at: usize| text.as_bytes().get(at).is_none_or(|byte| *byte == b' ');
    if first > 0 && second > from && is_blank(first) && is_blank(second) {
        return text.get(from..second);
    }
    text.split_whitespace().nth(1)
}

/// The words of an act by the other names of its program, and all of them without the options
/// before the sub-command.
fn spellings<'a>(
    act: &'a Act,
    args: &[Option<&'a str>],
    plain: Option<&'a str>,
) -> Vec<Vec<Option<&'a str>>> {
    let mut others = Vec::new();
    let base = act.last_name().filter(|base| Some(*base) != act.program());
    for name in [base, plain].into_iter().flatten() {
        let mut short = args.to_vec();
        if let Some(program) = short.first_mut() {
            *program = Some(name);
        }
        others.push(short);
    }
    if !act.globals.is_empty() {
        let all = others.iter().map(Vec::as_slice).chain([args]);
        let short: Vec<_> = all.map(|args| without(args, act)).collect();
        others.extend(short);
    }
    others
}

/// The name of a GNU program where no other has it: `touch` for `gtouch`, which is the same one.
fn plain_name(base: &str) -> Option<&str> {
    let plain = base.strip_prefix('g')?;
    let (one, other) = (catalog::find(plain)?, catalog::find(base)?);
    std::ptr::eq(one.entry, other.entry).then_some(plain)
}

/// Whether this word, and nothing else, is the first of a text.
fn begins_with(text: &str, word: &str) -> bool {
    let behind = text.strip_prefix(word);
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_graphic())
}
