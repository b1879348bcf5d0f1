//! Generating: shell texts made by a grammar, so that every construct meets every other.
//!
//! Most texts are meant to be valid, oddly spaced and deeply nested; a few carry something out
//! of place on purpose. The shells decide what is valid, not the grammar. A text is wholly
//! decided by its [`Chance`]. To add a construct, write it where its kind is:
//! [`command`], [`condition`], [`word`], [`expansion`], [`redirect`].

mod command;
mod condition;
mod expansion;
mod redirect;
mod word;

use crate::chance::Chance;

use redirect::Pending;
use word::ODDITIES_AS_WORDS;

/// One text; `extglob` also makes patterns that only bash with that option reads.
pub fn generate(chance: Chance, extglob: bool) -> Vec<u8> {
    let mut writer =
        Writer { chance, out: Vec::new(), pending: Vec::new(), depth: 0, fuel: 60, extglob };
    // Small texts show more, for most of a large one is lost once something in it is wrong.
    let most = if writer.chance.once_in(10) { 60 } else { 20 };
    writer.fuel = writer.chance.between(2, most);
    if writer.chance.once_in(20) {
        writer.spaces();
    }
    writer.script(Ending::Free);
    if !writer.pending.is_empty() || writer.chance.percent(40) {
        writer.newline();
    }
    writer.out
}

/// What must stand at the end of a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A separator or nothing.
    Free,
    /// A separator, for a word such as `done` or `}` follows.
    Separated,
}

/// Writes one text, bit by bit.
struct Writer {
    chance: Chance,
    out: Vec<u8>,
    /// The here-documents whose bodies the next newline brings.
    pending: Vec<Pending>,
    depth: usize,
    /// How much may still be written; nothing nests once it is used up.
    fuel: usize,
    extglob: bool,
}

/// More nesting only makes the texts alike.
const DEEPEST: usize = 6;

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn pick(&mut self, choices: &[&'static str]) {
        let choice = self.chance.pick(choices);
        self.put(choice);
    }

    /// Whether there is room for something that holds something else.
    fn may_nest(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && self.depth < DEEPEST
    }

    fn nest(&mut self, write: impl FnOnce(&mut Writer)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// At least one blank.
    fn blank(&mut self) {
        match self.chance.below(40) {
            0 => self.put("\t"),
            1 => self.put("  "),
            2 => self.put(" \\\n"),
            3 => self.put("\\\n "),
            _ => self.put(" "),
        }
    }

    /// Blanks where none are needed.
    fn gap(&mut self) {
        if self.chance.percent(60) {
            self.blank();
        }
    }

    /// Blanks, comments and empty lines where newlines are welcome.
    fn spaces(&mut self) {
        for _ in 0..self.chance.below(3) {
            match self.chance.below(5) {
                0 => self.newline(),
                1 => {
                    self.put(" ");
                    self.comment();
                }
                _ => self.blank(),
            }
        }
    }

    fn comment(&mut self) {
        self.pick(&["#", "# comment", "#'", "# \"$(", "#`", "# ) } done fi esac", "## <<E", "#\\"]);
        self.newline();
    }

    /// A newline, and with it the bodies of the here-documents that were begun.
    fn newline(&mut self) {
        self.put("\n");
        for heredoc in std::mem::take(&mut self.pending) {
            self.body(&heredoc);
        }
    }

    /// Items with their separators.
    fn script(&mut self, ending: Ending) {
        let count = match self.chance.below(10) {
            0..6 => 1,
            6..9 => 2,
            _ => 3,
        };
        for index in 0..count {
            if index > 0 {
                self.separator();
            }
            self.item();
        }
        match ending {
            Ending::Free if self.chance.percent(25) => self.separator(),
            Ending::Free => {}
            Ending::Separated => self.separator(),
        }
        if ending == Ending::Separated || self.chance.once_in(10) {
            self.gap();
        }
    }

    fn separator(&mut self) {
        self.gap();
        match self.chance.below(20) {
            0..8 => self.put(";"),
            8..10 => self.put("&"),
            10 => {
                self.put(" ");
                self.comment();
            }
            11 => {
                self.put(";");
                self.newline();
                self.spaces();
            }
            12 => {
                self.put("&");
                self.newline();
            }
            _ => self.newline(),
        }
        self.gap();
    }

    /// One and-or list.
    fn item(&mut self) {
        self.pipeline();
        while self.chance.once_in(6) && self.may_nest() {
            self.gap();
            self.pick(&["&&", "||"]);
            self.gap();
            self.spaces();
            self.pipeline();
        }
        if self.chance.once_in(400) {
            self.oddity();
        }
    }

    fn pipeline(&mut self) {
        match self.chance.below(60) {
            0..2 => self.put("! "),
            2 => self.put("time "),
            3 => self.put("time -p "),
            4 => self.pick(&["! ! ", "time ! ", "! time ", "time -- ", "time -p -- ", "!\\\n "]),
            _ => {}
        }
        if self.chance.once_in(300) {
            return;
        }
        self.command();
        while self.chance.once_in(6) && self.may_nest() {
            self.gap();
            self.pick(&["|", "|", "|", "|&"]);
            self.gap();
            self.spaces();
            self.command();
        }
    }

    /// Something that mostly does not belong where it stands.
    fn oddity(&mut self) {
        self.gap();
        self.pick(ODDITIES);
        self.gap();
    }
}

/// What shells look out for; also the words that [`mutate`](super::mutate) inserts.
pub const ODDITIES: &[&str] = &[
    ";",
    "&",
    "|",
    "&&",
    "||",
    ";;",
    ";&",
    ";;&",
    "|&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "[[",
    "]]",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<>",
    ">|",
    ">&",
    "<&",
    "&>",
    "&>>",
    "2>&1",
    "<&-",
    "{x}>",
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "for",
    "in",
    "select",
    "case",
    "esac",
    "function",
    "coproc",
    "time",
    "!",
    "-p",
    "--",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "$'",
    "$\"",
    "$(",
    "$((",
    "${",
    "$[",
    "<(",
    ">(",
    "#",
    "\\\n",
    "\n",
    "\t",
    " ",
    "=",
    "+=",
    "x=",
    "x=(",
    "x[1]=",
    "()",
    "f()",
    "@(",
    "!(",
    "*(",
    "?(",
    "+(",
    "*",
    "?",
    "[",
    "]",
    "~",
    ",",
    "..",
    ":",
    "-",
    "=~",
    "==",
    "!=",
    "-eq",
    "-f",
    "-n",
    "%",
    "^",
    "<<E\nE\n",
    "<<'E'\n$(\nE\n",
    "${x",
    "${x:-",
    "${#",
    "${!",
    "\"$",
    "'\n'",
    "$'\\''",
    "\r",
    "\u{a0}",
    "\u{e9}",
    "#x",
    "a#",
    "\\\\",
    "\\\"",
    "\\'",
    "\\`",
    "\\$",
    "1",
    "12",
    "x",
    "esac)",
    "(esac)",
    ";}",
    "; }",
    "\n}",
    "\nfi",
    "; done",
];
