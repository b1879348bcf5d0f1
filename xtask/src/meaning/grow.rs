//! Growing texts: harmless command lines that reach into every corner of the grammar.
//!
//! A text is grown from a seed: the same seed gives the same text. Every command it means to run
//! carries a tag of its own (`t7`), so that what ran can be told apart; commands that are only
//! data (quoted, commented out) carry a `d7` instead, and no reader may take them for commands.
//! The grower knows no danger, because the sandbox holds none: programs are recorders, builtins
//! are harmless ones, loops are bounded, files are named relative to the sandbox.
//!
//! To reach a new corner, add an arm to the function of its place: `words.rs` for what stands in
//! a word, `spelling.rs` for ways to write the same word, `commands.rs` and `compounds.rs` for
//! commands, `redirections.rs` for descriptors and here-documents, `constants.rs` for variables
//! whose value could be known, `traps.rs` for whole lines known to fool readers.

mod commands;
mod compounds;
mod constants;
mod expansions;
mod mutation;
mod redirections;
mod spelling;
mod traps;
mod words;

use portcullis_shell::Dialect;

use crate::chance::Chance;

use redirections::Pending;

/// Grows one text.
pub fn grow(chance: &mut Chance, dialect: Dialect) -> Vec<u8> {
    loop {
        let size = chance.between(3, 24);
        let mut grower = Grower::new(chance, dialect, size);
        match grower.chance.below(20) {
            0..=8 => grower.script(),
            9..=14 => grower.constants(),
            _ => grower.trap(),
        }
        grower.finish();
        let mut text = grower.out.into_bytes();
        if chance.once_in(12) {
            text = mutation::mutate(chance, &text);
        }
        if is_harmless(&text) && text.len() < 4000 {
            return text;
        }
    }
}

/// Whether a text can reach nothing but the sandbox, as far as its letters tell.
///
/// The wall around the sandbox does not depend on this; it holds back what the wall could not.
pub fn is_harmless(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let reaches_devices = text.replace("/dev/null", "").contains("/dev");
    let leaves_the_path = text.contains("command") && text.contains("-p");
    let never =
        ["kill", "/bin", "/usr", "/etc", "/proc", "/tmp", "~root", "enable", "hash", "PATH"];
    !reaches_devices && !leaves_the_path && !never.iter().any(|word| text.contains(word))
}

/// A text while it grows.
pub struct Grower<'c> {
    chance: &'c mut Chance,
    dialect: Dialect,
    out: String,
    /// How many more nodes may be grown; with none left, everything takes its shortest form.
    budget: usize,
    depth: usize,
    tags: u32,
    /// Here-documents whose bodies stand after the next newline.
    pending: Vec<Pending>,
}

impl Grower<'_> {
    fn new(chance: &mut Chance, dialect: Dialect, budget: usize) -> Grower<'_> {
        Grower {
            chance,
            dialect,
            out: String::new(),
            budget,
            depth: 0,
            tags: 0,
            pending: Vec::new(),
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// One of several texts, put down.
    fn put_one(&mut self, choices: &[&'static str]) {
        let choice = self.chance.pick(choices);
        self.put(choice);
    }

    /// Whether there is room for another node; takes it if so.
    fn spend(&mut self) -> bool {
        let room = self.budget > 0 && self.depth < 7;
        self.budget = self.budget.saturating_sub(1);
        room
    }

    fn is_bash(&self) -> bool {
        self.dialect == Dialect::Bash
    }

    /// A tag for a command that is meant to run.
    fn tag(&mut self) -> String {
        self.tags += 1;
        format!("t{}", self.tags)
    }

    /// A tag for a command that is only data.
    fn decoy(&mut self) -> String {
        self.tags += 1;
        format!("d{}", self.tags)
    }

    /// Grows something apart from the text, as for a nested text that must be escaped.
    fn apart(&mut self, grow: impl FnOnce(&mut Self)) -> String {
        let outer = std::mem::take(&mut self.out);
        let waiting = std::mem::take(&mut self.pending);
        self.depth += 1;
        grow(self);
        self.close_line();
        self.depth -= 1;
        self.pending = waiting;
        std::mem::replace(&mut self.out, outer)
    }

    /// One or more blanks, or what reads like blanks.
    fn blank(&mut self) {
        match self.chance.below(16) {
            0 => self.put("  "),
            1 => self.put("\t"),
            2 => self.put(" \\\n"),
            3 => self.put("\\\n "),
            _ => self.put(" "),
        }
    }

    /// A newline, with the bodies that wait for it.
    fn newline(&mut self) {
        self.put("\n");
        self.bodies();
    }

    /// Ends the line if bodies wait for that.
    fn close_line(&mut self) {
        if !self.pending.is_empty() {
            self.newline();
        }
    }

    fn finish(&mut self) {
        if self.pending.is_empty() {
            self.put_one(&["", "", "\n", " ", ";", " # p1 d0", "\\\n"]);
        } else if self.chance.once_in(8) {
            self.put("\n");
            self.unclosed_bodies();
        } else {
            self.newline();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_grows_the_same_text_and_every_text_is_harmless() {
        for seed in 0..2000 {
            let text = grow(&mut Chance::new(seed), Dialect::Bash);
            assert_eq!(text, grow(&mut Chance::new(seed), Dialect::Bash));
            assert!(is_harmless(&text), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn what_could_leave_the_sandbox_is_not_harmless() {
        for text in ["> /dev/sda", "command -p rm x", "PATH=. ls", "kill 1", "cat /etc/passwd"] {
            assert!(!is_harmless(text.as_bytes()), "`{text}`");
        }
        assert!(is_harmless(b"p1 > /dev/null"));
    }
}
