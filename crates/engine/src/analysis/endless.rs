//! What does not end by itself: loops whose condition stays true, sources that never run dry,
//! braces that make more words than a machine holds.

use portcullis_shell::{Branch, Command, Kind, List, Part, PartKind, Word};

use super::walk::Walk;
use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};
use crate::usage::Unknown;

/// So many words may the braces of one word make.
const WORDS: u64 = 100_000;

impl Walk<'_, '_> {
    /// A loop with a condition, of which the acts from `first` on were found.
    pub(super) fn ends(&mut self, branch: Branch, is_until: bool, first: usize, body: usize) {
        let constants: &[&[u8]] = if is_until { &[b"false"] } else { &[b"true", b":"] };
        let is_constant = branch.condition.is_some_and(|condition| {
            let [item] = self.tree.list(condition.items) else { return false };
            let [pipeline] = self.tree.list(item.pipelines) else { return false };
            let [command] = self.tree.list(pipeline.commands) else { return false };
            if let Kind::Simple(simple) = command.kind {
                let words = self.texts(simple.words);
                match words.as_slice() {
                    [only] => constants.contains(only),
                    // A test of one word asks whether it is empty.
                    [b"test", word] | [b"[", word, b"]"] => !is_until && is_plain(word),
                    _ => false,
                }
            } else if let Kind::Arithmetic(words) = command.kind {
                let words = self.texts(words);
                let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
                let is_true =
                    |word: &[u8]| is_number(word) && word.iter().any(|&digit| digit != b'0');
                matches!(words.as_slice(), [only] if !is_until && is_true(only))
            } else {
                false
            }
        });
        if is_constant && !self.leaves(body) {
            self.doubt_end(first, "a loop that does not end by itself");
        }
    }

    /// Words as they are written.
    fn texts(&self, words: List<Word>) -> Vec<&[u8]> {
        self.tree.list(words).iter().map(|word| self.tree.text(word.span).trim_ascii()).collect()
    }

    /// `for ((;;))`: without a condition it goes on.
    pub(super) fn arithmetic_ends(&mut self, head: List<Word>, command: &Command, body: usize) {
        let is_open = match self.tree.list(head) {
            [] => true,
            [_, condition, _] => self.tree.text(condition.span).trim_ascii().is_empty(),
            _ => false,
        };
        if is_open && !self.leaves(body) {
            let first = self.analysis.found.acts.len();
            let (span, effects) = (self.span(command.span), vec![EffectOn::of(Effect::Read)]);
            self.analysis.push(Act { kind: ActKind::Assignment, span, effects, ..Act::default() });
            self.doubt_end(first, "a loop that does not end by itself");
        }
    }

    /// Whether something among the acts from there on may leave a loop.
    fn leaves(&self, first: usize) -> bool {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        acts.iter().any(|act| matches!(act.program(), Some("break" | "exit" | "return" | "exec")))
    }

    /// The commands of a pipeline from the act `first` on: what never runs dry must be cut off.
    pub(super) fn runs_dry(&mut self, first: usize) {
        let acts = self.analysis.found.acts.get(first..).unwrap_or_default();
        let Some(source) = acts.iter().rposition(|act| is_source(act)) else { return };
        // A file stands before the command that reads it.
        let behind = acts.get(source..).unwrap_or_default();
        if behind.iter().any(|act| stops(act)) {
            return;
        }
        let is_yes =
            acts.get(source).is_some_and(|act| matches!(act.base_name(), Some("yes" | "gyes")));
        if is_yes && behind.len() > 1 {
            return;
        }
        self.doubt_end(first + source, "what it reads or prints does not end");
    }

    fn doubt_end(&mut self, at: usize, message: &str) {
        if let Some(act) = self.analysis.found.acts.get_mut(at) {
            let (message, span) = (message.to_owned(), act.span);
            act.unknown.get_or_insert(Unknown { message, span, is_dynamic: false });
        }
    }

    /// The braces of one word.
    pub(super) fn braces(&mut self, parts: List<Part>) {
        let mut count = 1_u64;
        for part in self.tree.list(parts) {
            if let PartKind::Brace(words) = part.kind {
                count = count.saturating_mul(self.tree.list(words).len() as u64);
            } else if matches!(part.kind, PartKind::Sequence) {
                count = count.saturating_mul(steps(self.tree.text(part.span)));
            }
        }
        if count > WORDS {
            let span =
                self.tree.list(parts).first().map_or_else(Default::default, |part| part.span);
            let span = self.span(span);
            self.analysis.push_unknown("braces that stand for very many words", span);
        }
    }
}

/// Whether a word is nothing but letters and digits.
fn is_plain(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(u8::is_ascii_alphanumeric)
}

/// How many words a sequence such as `{1..9}` or `{a..z}` stands for.
fn steps(text: &[u8]) -> u64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut ends = text.trim_matches(['{', '}']).split("..");
    let mut number = || {
        let end = ends.next()?;
        let letter = end.bytes().next().filter(|byte| end.len() == 1 && !byte.is_ascii_digit());
        letter.map(i64::from).or_else(|| end.parse::<i64>().ok())
    };
    let Some((from, to)) = number().zip(number()) else { return 1 };
    let step = number().map_or(1, i64::unsigned_abs).max(1);
    (from.abs_diff(to) / step).saturating_add(1)
}

/// Whether an act prints without end, or opens a device that does.
fn is_source(act: &Act) -> bool {
    const DEVICES: &[&str] = &["/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    let is_device = |on: &EffectOn| {
        let Target::Path(path) = &on.target else { return false };
        let is_read = on.effect == Effect::Read && !on.is_listing;
        is_read && path.starts_with("/dev/") && DEVICES.contains(&path.as_str())
    };
    let is_idle = || {
        let follows = |option: &&str| matches!(*option, "-f" | "-F" | "--follow");
        let is_empty = |arg: &Arg| arg.as_known() == Some("/dev/null");
        act.options.iter().any(follows) && act.args.iter().any(is_empty)
    };
    match act.base_name() {
        Some("yes" | "gyes") => true,
        Some("seq" | "gseq") => act.args.iter().skip(1).any(is_far),
        Some("tail" | "gtail") if is_idle() => true,
        _ => act.effects.iter().any(is_device),
    }
}

/// Whether a number is so large, or so far from any, that nobody counts to it.
fn is_far(arg: &Arg) -> bool {
    let Some(number) = arg.as_known().and_then(|text| text.parse::<f64>().ok()) else {
        return false;
    };
    !number.is_finite() || number.abs() >= 1e9
}

/// Whether an act takes only so much of what it gets.
fn stops(act: &Act) -> bool {
    let has = |names: &[&str]| act.options.iter().any(|option| names.contains(option));
    // Devices without line ends: the first line never comes to its end.
    let is_endless_line = |on: &EffectOn| match &on.target {
        Target::Path(path) => matches!(path.as_str(), "/dev/zero" | "/dev/full"),
        Target::Pattern(_)
        | Target::Unknown(_)
        | Target::Host(_)
        | Target::Named(_)
        | Target::None => false,
    };
    match act.base_name() {
        Some("head" | "ghead") => {
            has(&["-c", "--bytes"]) || !act.effects.iter().any(is_endless_line)
        }
        // The device is where chance comes from, not what is sorted.
        Some("shuf" | "sort" | "gshuf" | "gsort") => has(&["--random-source"]),
        Some("mapfile" | "readarray") => has(&["-n"]),
        Some(
            "dd" | "read" | "cmp" | "ls" | "stat" | "file" | "test" | "[" | "basename" | "dirname",
        ) => true,
        Some("od" | "god") => has(&["-N", "--read-bytes"]),
        Some("xxd") => has(&["-l", "-len", "--len"]),
        Some("hexdump" | "hd") => has(&["-n", "--length"]),
        Some("grep" | "egrep" | "fgrep" | "rg") => has(&["-m", "--max-count", "-q", "--quiet"]),
        Some("sed" | "awk" | "gawk" | "mawk") => {
            let ends = |arg: &Arg| arg.prefix().ends_with('q') || arg.prefix().contains("exit");
            act.args.iter().any(ends)
        }
        _ => act.via.contains(&"timeout"),
    }
}
