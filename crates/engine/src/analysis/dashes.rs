//! Dashes: which words that are not known before they run may begin with one.
//!
//! Such a word may become an option of the program that gets it. What a program prints, a pattern
//! finds or a variable holds is looked at here, as far as the catalog and the world can tell.

use portcullis_shell::{Action, Expansion, List, Part, PartKind, Prefix, Value, Word};

use super::walk::Walk;
use super::{Analysis, sets};
use crate::act::Act;
use crate::arg::Arg;
use crate::catalog::{self, Format, Prints};
use crate::effect::{Effect, Target};
use crate::usage::Usage;

/// Variables that name the user and the machine, and begin with no dash as they are found.
const OWN: [&str; 3] = ["HOSTNAME", "LOGNAME", "USER"];

/// Which words of a text may begin with a dash.
// INVARIANT: variants stay sorted from doubtful to certain; the lesser of two is what both give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dashes {
    /// Any.
    #[default]
    Anywhere,
    /// Any but the first of a line.
    BehindTheFirst,
    /// None.
    Nowhere,
}

/// What is known of the words that an act prints.
pub(crate) fn printed(analysis: &Analysis<'_>, act: &Act, usage: &Usage) -> Dashes {
    if act.unknown.is_some() {
        return Dashes::Anywhere;
    }
    let args = act.args.get(1..).unwrap_or_default();
    let is_told = |arg: &Arg| !arg.may_be_option() && arg.as_known().is_some();
    let operands = || usage.operands.iter().filter_map(|&at| args.get(at));
    let entry = usage.entry;
    let has_none = match entry.prints {
        // Every name begins with a starting point.
        Prints::Found => {
            let mut prints = args.iter().filter(|arg| arg.prefix().starts_with("-print"));
            prints.all(|arg| matches!(arg.as_known(), Some("-print" | "-print0")))
        }
        Prints::Matching | Prints::Listed
            if usage.has_option(&["-l", "--files-with-matches", "--files"]) =>
        {
            let is_bare = usage.has_option(&["--files"]);
            let mut files = operands().skip(usize::from(!is_bare)).peekable();
            if files.peek().is_none() {
                analysis.has_no_dash(act.directory.as_deref())
            } else {
                files.all(is_told)
            }
        }
        Prints::Listed => {
            operands().next().is_none() && {
                let is_here = usage.has_option(usage.entry.recurses) || usage.options.is_empty();
                is_here && analysis.has_no_dash(act.directory.as_deref())
            }
        }
        Prints::Nothing
        | Prints::Operands
        | Prints::Selected
        | Prints::Parents
        | Prints::Matching
        | Prints::Programs => false,
    };
    if has_none {
        // The name of a file may hold a blank with a dash behind it.
        return Dashes::BehindTheFirst;
    }
    if operands().any(Arg::may_be_option) {
        return Dashes::Anywhere;
    }
    if let Some(format) = entry.format
        && usage.has_option(format.option)
    {
        return if is_safe(format, usage) { Dashes::Nowhere } else { Dashes::Anywhere };
    }
    if is_given(entry.dashless, usage) {
        let is_world = entry.dashless.contains(&"here");
        return match is_world {
            false => Dashes::Nowhere,
            true if analysis.has_no_dash(act.directory.as_deref()) => Dashes::BehindTheFirst,
            true => Dashes::Anywhere,
        };
    }
    if is_given(entry.leads, usage) { Dashes::BehindTheFirst } else { Dashes::Anywhere }
}

/// Whether the options of a list are given: `*` always, `here` if the world can tell, `-o=name`
/// with that value, and none of those behind `!`.
pub(crate) fn is_given(wanted: &[&str], usage: &Usage) -> bool {
    let given = |wanted: &str| {
        usage.options.iter().any(|option| match wanted.strip_prefix(option.name) {
            Some("") => true,
            Some(rest) => rest
                .strip_prefix('=')
                .is_some_and(|value| option.value.as_ref().and_then(Arg::as_known) == Some(value)),
            None => false,
        })
    };
    let refused = |wanted: &&str| wanted.strip_prefix('!').is_some_and(given);
    wanted.iter().any(|wanted| matches!(*wanted, "*" | "here") || given(wanted))
        && !wanted.iter().any(refused)
}

/// Whether no word of what a format makes begins with a dash.
fn is_safe(format: &Format, usage: &Usage) -> bool {
    let is_format = |name: &str| format.option.contains(&name);
    let is_quiet = |name: &str| is_format(name) || format.with.contains(&name);
    if !format.with.contains(&"*") && usage.options.iter().any(|option| !is_quiet(option.name)) {
        return false;
    }
    let formats = usage.options.iter().filter(|option| is_format(option.name));
    let mut texts = formats.map(|option| option.value.as_ref().and_then(Arg::as_known));
    texts.all(|text| {
        text.is_some_and(|text| {
            let text = text.strip_prefix("format:").unwrap_or(text);
            let text = text.strip_prefix("tformat:").unwrap_or(text);
            let mut words = text.split(char::is_whitespace).flat_map(|word| word.split("\\n"));
            words.all(|word| {
                let begins = |safe: &&str| word.strip_prefix(safe);
                match format.safe.iter().find_map(begins) {
                    // What follows may begin the word if there is nothing before it.
                    Some(rest) => !rest.starts_with(['-', '%', '{']),
                    None => word.is_empty(),
                }
            })
        })
    })
}

/// Whether an act prints nothing but lines of what it gets.
fn passes(act: &Act) -> bool {
    let entry = act.base_name().and_then(catalog::find).map(|program| program.entry);
    !act.is_call && entry.is_some_and(|entry| entry.passes) && is_filter(act)
}

/// Whether an act reads nothing but its standard input.
pub(super) fn is_filter(act: &Act) -> bool {
    act.unknown.is_none()
        && act.effects.iter().all(|on| on.effect == Effect::Read && on.target == Target::None)
}

impl Analysis<'_> {
    /// Whether no name in a directory begins with a dash, as far as the world can tell.
    pub(crate) fn has_no_dash(&self, directory: Option<&str>) -> bool {
        let names = directory.and_then(|directory| self.world.names(directory));
        // `read` without `-r` takes a backslash away, and a line break begins another line.
        let is_doubtful = |name: &String| name.starts_with(['-', '\\']) || name.contains('\n');
        names.is_some_and(|names| !names.iter().any(is_doubtful))
    }
}

impl Walk<'_, '_> {
    /// What is known of the words that the acts from `first` on print.
    pub(super) fn dashes(&self, first: usize) -> Dashes {
        self.dashes_behind(None, first).unwrap_or(Dashes::Anywhere)
    }

    /// The same where something is known of what others printed before them.
    pub(super) fn dashes_behind(&self, before: Option<Dashes>, first: usize) -> Option<Dashes> {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        acts.iter().fold(before, |before, act| match before {
            None => Some(act.dashes),
            Some(_) if passes(act) => before,
            Some(dashes) if act.picks && dashes >= Dashes::BehindTheFirst => Some(Dashes::Nowhere),
            Some(dashes) => Some(dashes.min(act.dashes)),
        })
    }

    /// Whether no word that an argument stands for begins with a dash; `first` is the first act
    /// of what runs in it.
    pub(super) fn is_operand(&self, word: &Word, first: usize) -> bool {
        let mut begun = Begun::No;
        self.are_parts_operands(word.parts, first, false, &mut begun)
    }

    /// The same for each of several words that were walked together.
    pub(super) fn are_operands(&self, words: List<Word>, first: usize) -> bool {
        self.tree.list(words).iter().all(|word| self.is_operand(word, first))
    }

    /// The same for a value that is held together as if it stood in quotes.
    pub(super) fn is_whole_operand(&self, words: List<Word>, first: usize) -> bool {
        let [word] = self.tree.list(words) else { return false };
        self.are_parts_operands(word.parts, first, true, &mut Begun::No)
    }

    /// Whether what the acts from `first` on print begins with no dash: it is what the first of
    /// them prints, or the head of it.
    fn begins_plainly(&self, first: usize) -> bool {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let [from, rest @ ..] = acts else { return false };
        let is_head = |act: &Act| act.program() == Some("head") && passes(act);
        from.dashes >= Dashes::BehindTheFirst && rest.iter().all(|act| is_head(act))
    }

    fn are_parts_operands(
        &self,
        parts: List<Part>,
        first: usize,
        is_quoted: bool,
        begun: &mut Begun,
    ) -> bool {
        self.tree.list(parts).iter().all(|part| {
            // Behind text, what quotes hold together begins no word.
            let is_inside = is_quoted && *begun == Begun::Yes;
            let is_operand = match part.kind {
                PartKind::Literal => is_text(self.tree.text(part.span), begun),
                PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => {
                    is_text(self.tree.text(span), begun)
                }
                PartKind::DoubleQuoted { parts, .. } => {
                    return self.are_parts_operands(parts, first, true, begun);
                }
                PartKind::Command { .. } => {
                    is_inside
                        || self.dashes(first) == Dashes::Nowhere
                        || is_quoted && self.begins_plainly(first)
                }
                PartKind::Parameter(expansions) => {
                    is_inside || self.are_variables_operands(self.tree.list(expansions), is_quoted)
                }
                PartKind::Glob if *begun == Begun::No => {
                    self.analysis.has_no_dash(self.analysis.state.directory.as_deref())
                }
                PartKind::Glob => *begun == Begun::Yes,
                PartKind::Arithmetic { .. } => is_inside,
                // It stands for a path below `/dev` or `/proc`.
                PartKind::Process { .. } => true,
                PartKind::ExtendedGlob { .. }
                | PartKind::Brace(_)
                | PartKind::Sequence
                | PartKind::Tilde
                | PartKind::Array(_) => false,
            };
            if !matches!(
                part.kind,
                PartKind::Literal
                    | PartKind::Escaped(_)
                    | PartKind::SingleQuoted(_)
                    | PartKind::AnsiC(_)
            ) && *begun == Begun::No
            {
                *begun = Begun::Perhaps;
            }
            is_operand
        })
    }

    /// Whether variables are read as they are, and hold no word that begins with a dash.
    pub(super) fn are_variables_operands(&self, expansions: &[Expansion], is_quoted: bool) -> bool {
        let [only] = expansions else { return false };
        let is_plain = only.prefix == Prefix::None
            && only.operator == Action::Read
            && only.subscript.is_empty();
        let name = String::from_utf8_lossy(self.tree.text(only.name));
        let state = &self.analysis.state;
        if only.operator == Action::Default {
            let is_bare = only.prefix == Prefix::None && only.subscript.is_empty();
            let mut instead = self.tree.list(only.arguments).iter();
            return is_bare
                && state.operands.contains(&*name)
                && instead.all(|word| self.is_one_operand(word));
        }
        // A number of this shell: its process, its parameters, how the last command ended.
        let is_number = matches!(&*name, "$" | "#" | "?");
        let is_held = || is_quoted && state.lines.contains(&*name);
        let is_own = || OWN.contains(&&*name) && self.is_left(&name);
        is_plain && (is_number || state.operands.contains(&*name) || is_held() || is_own())
    }

    /// Whether a word is written out, in one piece, and begins with no dash.
    fn is_one_operand(&self, word: &Word) -> bool {
        matches!(self.tree.value(word), Value::Literal(text)
            if text.first() != Some(&b'-') && !text.iter().any(u8::is_ascii_whitespace))
    }

    /// Whether the script leaves a variable as it was.
    pub(super) fn is_left(&self, name: &str) -> bool {
        let sets = self.analysis.state.sets.clone().unwrap_or_else(|| sets::of(self.tree));
        self.analysis.via.is_empty() && sets.is_told && !sets.all.contains(name)
    }

    /// Walks words, and tells whether none of them begins with a dash.
    pub(super) fn operands(&mut self, words: List<Word>) -> bool {
        let mut are_operands = true;
        for word in self.tree.list(words) {
            let first = self.analysis.found.acts.len();
            self.word(word);
            let args = self.args(std::slice::from_ref(word));
            are_operands &=
                self.is_operand(word, first) || args.iter().all(|arg| !arg.may_be_option());
        }
        are_operands
    }
}

/// Whether a word has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// Nothing stands before.
    No,
    /// What stands before may turn out to be nothing, or to end in a blank.
    Perhaps,
    /// Text stands before.
    Yes,
}

/// Whether text begins no word with a dash.
fn is_text(text: &[u8], begun: &mut Begun) -> bool {
    let is_operand = *begun == Begun::Yes || text.first() != Some(&b'-');
    if !text.is_empty() {
        *begun = Begun::Yes;
    }
    is_operand
}
