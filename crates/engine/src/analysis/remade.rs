//! Texts made of texts: commands that print a part of what they get, or any of their words.

use super::decoded::{builds, decoded};
use super::names::{has_letters, is_held, is_made};
use super::walk::Feed;
use super::{Analysis, dashes, joined};
use crate::act::Act;
use crate::arg::Arg;
use crate::catalog::{self, Prints, ValueKind};
use crate::effect::EffectOn;
use crate::lists;
use crate::usage::{self, Usage};

impl Analysis<'_> {
    /// Notes what the acts whose output somebody gets may print of their words, where nothing more
    /// is known of them, and whether one of them makes text of its own. Each is looked at once.
    pub(super) fn listen(&mut self) {
        let Analysis { heard, found, looks, told, hears_builder, .. } = self;
        for acts in heard.drain(..) {
            let acts = found.acts.get(acts).unwrap_or_default();
            for words in acts.iter().filter_map(|act| told_words(act)) {
                *hears_builder |= words.iter().filter_map(Arg::as_known).any(builds);
                told.extend(joined::of_words(words, looks));
            }
        }
    }

    /// Whether an act makes other text of the text that it gets, or of its own words.
    pub(crate) fn makes(&self, act: &Act, usage: &Usage) -> bool {
        if !dashes::is_filter(act) {
            return false;
        }
        let is_text = |on: &EffectOn| is_made(on) || is_held(on);
        let gets_text = matches!(self.feed, Feed::Text(_)) || self.handed.iter().any(is_text);
        let cuts = usage.has_option(&["-c", "--bytes"]);
        let passes = usage.entry.passes || changes_blanks(act);
        let is_told = act.args.iter().all(|arg| arg.as_known().is_some());
        let is_printer = usage.entry.prints.repeats() && is_told;
        let is_program = |given: &usage::Given| {
            let text = given.arg.prefix();
            given.kind == ValueKind::Awk && text.contains("BEGIN")
                || given.kind == ValueKind::Jq && usage.has_option(&["-n", "--null-input"])
        };
        gets_text && (cuts || !passes) && usage.entry.prints == Prints::Nothing
            || matches!(usage.reader, Some("printf"))
                && is_printer
                && super::simple::printed(act).is_none()
            || usage.values.iter().any(is_program)
            || !passes && usage.entry.prints == Prints::Nothing && turns_names(act)
            || gets_text && usage.has_option(&["-o", "--only-matching"])
            || self.rewrites(act, usage)
    }

    /// Whether an act prints other text than its words say.
    fn rewrites(&self, act: &Act, usage: &Usage) -> bool {
        let words = act.args.get(1..).unwrap_or_default();
        let mut known = words.iter().filter_map(Arg::as_known);
        let is_told = words.first().is_some_and(|arg| arg.as_known().is_some_and(has_letters));
        match act.base_name() {
            Some("basename") if known.clone().any(names_twin) => true,
            Some("basename") => {
                (usage.operands.len() > 1 || usage.has_option(&["-s", "--suffix"]))
                    && (is_told || self.holds_text())
            }
            Some("expr") => is_told || self.holds_text(),
            Some("printf") => known.next().is_some_and(cuts) && self.holds_text(),
            Some("date" | "seq") => known.any(has_own_letters),
            Some("compgen") => true,
            // Where its escapes are not read here, and may be printed as what they stand for.
            Some("echo") => {
                super::simple::printed(act).is_none() && known.any(|word| decoded(word).is_some())
            }
            _ => false,
        }
    }
}

/// Whether a text names an ending that the harmless neighbour of a secret has.
pub(super) fn names_twin(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| lists::TWINS.contains(&word))
}

/// Whether a filter makes names of secrets of names that are found: it takes the ending of a
/// harmless neighbour away, or puts a dot before them.
fn turns_names(act: &Act) -> bool {
    let is_dotted = |text: &str| {
        // Nearly all words have no dot at all.
        if !text.as_bytes().contains(&b'.') {
            return false;
        }
        let mut letters = text.chars();
        let begins = letters.next() == Some('s')
            && letters.next().is_some_and(|sign| {
                let behind = text.strip_prefix(&format!("s{sign}^{sign}"));
                behind.is_some_and(|behind| behind.trim_start_matches('\\').starts_with('.'))
            });
        begins || ["\".\"", ".&", ".\\1"].iter().any(|sign| text.contains(sign))
    };
    let mut words = act.args.iter().skip(1).filter_map(Arg::as_known);
    words.any(|word| names_twin(word) || is_dotted(word))
}

/// The words of an act that it may print, besides what is known of its program.
fn told_words(act: &Act) -> Option<&[Arg]> {
    let name = act.program()?.rsplit('/').next().unwrap_or_default();
    if name == "find" {
        let format = act.args.iter().position(|arg| arg.as_known() == Some("-printf"))?;
        return act.args.get(format..);
    }
    if let Some(option) = act.args.iter().position(|arg| is_printed_with(name, arg.prefix())) {
        return act.args.get(option.saturating_sub(1)..);
    }
    tells(name).then_some(&act.args)
}

/// Whether a word is an option whose value a program prints: `rg -r x`, `ls --time-style=+x`.
fn is_printed_with(name: &str, word: &str) -> bool {
    let Some(option) = word.strip_prefix('-') else { return false };
    let long = word.split('=').next().unwrap_or_default();
    lists::PRINTED_OPTIONS.contains(&long)
        || name == "rg" && !option.starts_with('-') && option.contains('r')
}

/// Whether a program may print any of its words.
fn tells(name: &str) -> bool {
    catalog::find(name).is_none_or(|found| found.entry.prints == Prints::Nothing)
}

/// `tr ' ' '\n'`: the words stay as they are, whatever stands between them.
fn changes_blanks(act: &Act) -> bool {
    let is_blank =
        |arg: &Arg| matches!(arg.as_known(), Some("-s" | " " | "\n" | "\t" | "\\n" | "\\t"));
    act.is_named("tr") && act.args.iter().skip(1).all(is_blank)
}

/// Whether a format prints only a part of a word, or another word for it.
fn cuts(format: &str) -> bool {
    let is_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.' | '*');
    format.split('%').skip(1).any(|behind| {
        let kind = behind.trim_start_matches(is_number);
        let sizes = behind.get(..behind.len() - kind.len()).unwrap_or_default();
        sizes.contains('.') && kind.starts_with('s') || kind.starts_with(['b', 'c'])
    })
}

/// Whether a format for times or numbers has words of its own.
fn has_own_letters(format: &str) -> bool {
    let format = format
        .strip_prefix("--")
        .map_or(format, |option| option.split_once('=').map_or("", |(_, value)| value));
    let own = format.split('%').enumerate().map(|(at, piece)| {
        let skipped = piece.chars().next().filter(|_| at > 0).map_or(0, char::len_utf8);
        piece.get(skipped..).unwrap_or_default()
    });
    let is_word = |piece: &str| {
        let mut pairs = piece.as_bytes().windows(2);
        pairs.any(|pair| pair.iter().all(u8::is_ascii_alphabetic))
    };
    format.starts_with(['+', '.', '%', '/']) && own.into_iter().any(is_word)
}
