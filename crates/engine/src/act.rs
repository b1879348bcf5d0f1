//! Acts: the single things a tool call would do.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use portcullis_shell::Span;

use crate::analysis::Dashes;
use crate::arg::{Arg, Text};
use crate::effect::{Effect, EffectOn};
use crate::few::Few;
use crate::usage::Unknown;

/// One thing a tool call would do: one simple command, one file that a redirection opens.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with one another")]
pub struct Act {
    /// What sort of thing it is.
    pub kind: ActKind,
    /// Where it stands in the command.
    pub span: Span,
    /// The program and its arguments; none for a redirection or a bare assignment.
    pub args: Vec<Arg>,
    /// The programs it was seen through, from the outside in.
    pub via: Vec<&'static str>,
    /// The words before it by which another program runs it, where its own words end those: of
    /// `npm test` in `nice -n 5 npm test` they are `nice -n 5`.
    pub led_by: Vec<Arg>,
    /// What it does.
    pub effects: Vec<EffectOn>,
    /// Guards that the catalog or the analysis names for it, with where they fire.
    pub notes: Vec<Note>,
    /// Variables that are set for it alone.
    pub assignments: Vec<Assigned>,
    /// The directory it runs in, absolute; none where it is not known.
    pub directory: Option<Arc<str>>,
    /// The directories the script has been in, where this one is not known, and otherwise those it
    /// is in if a change of directory failed: what rules that are stricter than the mode are tried
    /// in.
    pub perhaps_in: Arc<[Arc<str>]>,
    /// Why it is not understood.
    pub unknown: Option<Unknown>,
    /// A documented side effect that nobody is asked about.
    pub soft: Option<&'static str>,
    /// The places among [`args`](Act::args) that give it an effect its program does not have in
    /// ordinary use; an allow rule covers the act only if it names them.
    pub extras: Vec<usize>,
    /// The options that are given, as the catalog names them.
    pub options: Few<&'static str, 4>,
    /// The names of what a search looks for and hands on: what the open words of the commands
    /// stand for that it runs.
    pub found_names: Arc<[EffectOn]>,
    /// Names that it is told to leave out below the directories that it reads.
    pub left_out: Vec<String>,
    /// Whether it reads no hidden files below a directory, and none that the project leaves out.
    pub is_tidy: bool,
    /// Files that it may change or remove where its words are not known, by what these may stand
    /// for. Only what is stricter than the mode may look at this.
    pub may_change: Vec<EffectOn>,
    /// Files that it may name on its output, where somebody gets that.
    pub prints: Vec<EffectOn>,
    /// Which words of what it prints may begin with a dash, where somebody gets them.
    pub dashes: Dashes,
    /// Whether it prints the first word of every line that it gets, and no more.
    pub picks: bool,
    /// What it shows of variables that may hold secrets.
    pub shows: Option<Shown>,
    /// Inline code of an interpreter.
    pub code: Vec<String>,
    /// The places of options, and their values, that stand before the sub-command.
    pub globals: Vec<usize>,
    /// Whether those options are all harmless.
    pub has_harmless_globals: bool,
    /// The places, among the acts of the call, of what it runs: it only reads if all of them do.
    pub inner: Range<usize>,
    /// Whether what its words are made of came from the network.
    pub is_fetched: bool,
    /// Whether a function of the script has its program's name: what it prints is up to that.
    pub is_call: bool,
}

/// What is shown of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// One that holds a secret by its name.
    Variable(String),
    /// All of the environment, or what nobody can name before it runs.
    Environment,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => {
                write!(f, "shows variable `{name}`, which holds a secret by its name")
            }
            Self::Environment => f.write_str("shows the environment, keys and passwords included"),
        }
    }
}

/// The sorts of acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActKind {
    /// A simple command.
    #[default]
    Command,
    /// A file that a redirection opens.
    Redirection,
    /// Variables that are set and nothing else.
    Assignment,
    /// Text or an expansion that cannot be known before it runs, or was refused.
    Unreadable,
    /// Words found in refused text: only deny and ask rules look at them.
    Scanned,
    /// A file, an address or anything else that a tool other than a shell names.
    Tool,
}

/// A guard that is named for an act, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The guard's name.
    pub guard: &'static str,
    /// What leads to it.
    pub span: Span,
    /// More than the guard's own sentence, where there is more to say.
    pub message: Option<String>,
}

/// A variable that a command sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Its name.
    pub name: String,
    /// Its value, where it is known.
    pub value: Option<String>,
}

impl Act {
    /// Whether nothing but reading is done, as far as the catalog can tell.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.unknown.is_none() && self.notes.is_empty() && self.has_reading_effects()
    }

    /// Whether nothing else is known to be done, understood or not.
    pub(crate) fn has_reading_effects(&self) -> bool {
        self.effects.iter().all(|on| on.effect.is_reading())
    }

    /// Keeps why it is not understood: of two reasons the first, unless the other is one that no
    /// rule answers.
    pub(crate) fn doubt(&mut self, unknown: Unknown) {
        if self.unknown.as_ref().is_none_or(|kept| unknown.is_dynamic && !kept.is_dynamic) {
            self.unknown = Some(unknown);
        }
    }

    /// The program's name as written, where it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.args.first().and_then(Arg::as_known)
    }

    /// The program's name without the directories before it.
    #[must_use]
    pub fn base_name(&self) -> Option<&str> {
        let program = self.program()?;
        // Names are short: looking at each byte is the quickest.
        let behind = program.bytes().rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
        program.get(behind..)
    }

    /// The program's name behind its last slash, also where the directory before it is known only
    /// when it runs: `~/bin/rm` and `$X/rm` are some `rm`.
    #[must_use]
    pub fn last_name(&self) -> Option<&str> {
        let program = self.args.first()?;
        let path = match &program.text {
            Text::Known(_) => return self.base_name(),
            Text::Home(path) => path,
            Text::Files { .. } | Text::Begins(_) | Text::Any(_) => &program.ending,
        };
        path.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
    }

    /// Whether its program has this name, without the directories before it.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let before = self.program().and_then(|program| program.strip_suffix(name));
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }

    /// Whether the act has this effect.
    #[must_use]
    pub fn has(&self, effect: Effect) -> bool {
        self.effects.iter().any(|on| on.effect == effect)
    }

    /// Names a guard for it.
    pub fn note(&mut self, guard: &'static str, span: Span) {
        if !self.notes.iter().any(|note| note.guard == guard) {
            self.notes.push(Note { guard, span, message: None });
        }
    }
}
