//! Analysis: from the text of a command to the acts it consists of.
//!
//! The walk follows the script in the order it runs and keeps what later commands depend on: the
//! working directory, functions, variables ([`State`]). Nested scripts are walked where they
//! stand, and text that will run is parsed again (`peel.rs`).

mod arithmetic;
mod changed;
mod compound;
mod counts;
pub(crate) mod dashes;
mod decoded;
mod endless;
mod expand;
pub(crate) mod grave;
mod handing;
mod holding;
mod joined;
pub(crate) mod names;
mod own;
pub(crate) mod picks;
mod pieces;
mod redirect;
mod refused;
mod remade;
mod rounds;
mod said;
mod sets;
mod simple;
mod state;
mod strays;
mod suspect;
mod texts;
mod unread_words;
mod walk;
pub(crate) mod written;

use std::ops::Range;
use std::sync::Arc;

use portcullis_shell::{Dialect, Reader, Refusal, Span, hazards};

use crate::act::{Act, ActKind, Note};
use crate::arg::Budget;
use crate::effect::{Effect, EffectOn};
use crate::place::Ground;
use crate::usage::Unknown;
use crate::world::World;

pub(crate) use counts::counts;
pub use dashes::Dashes;
pub(crate) use refused::Heard;
pub use refused::Unread;
pub use sets::Sets;
pub use state::State;
pub(crate) use walk::Feed;

/// How many texts may run inside one another before the rest is unknown.
pub const NESTED_TEXTS: usize = 8;

/// How many acts a call may have; more are unknown.
pub const ACTS: usize = 4096;

/// How many directories a script may have been in for acts whose own is not known.
const DIRECTORIES: usize = 64;

/// What a command consists of.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    /// Its acts, in order.
    pub acts: Vec<Box<Act>>,
    /// Why the text, or a text inside it, was not read.
    pub refusals: Vec<Refusal>,
    /// The texts that were not read.
    pub unread: Vec<Unread>,
    /// What joins its commands.
    pub syntax: Vec<(Syntax, Span)>,
    /// Whether a limit on acts or nesting was passed.
    pub is_cut: bool,
}

/// Signs of the shell that join or nest commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `|&`
    PipesErrors,
    /// `||`
    Or,
    /// A pipe into a shell or interpreter.
    FeedsInterpreter,
    /// Backticks, `$( )`, `<( )`, `>( )`.
    Substitution,
    /// A single `&`.
    Background,
    /// `;` or a newline between commands.
    Sequence,
    /// `( )`
    Subshell,
}

/// Takes a command apart.
#[must_use]
pub fn analyse(text: &str, dialect: Dialect, ground: &Ground, world: &dyn World) -> Acts {
    let mut analysis = Analysis::new(dialect, ground, world);
    analysis.text(text, None, dialect);
    // A script that goes somewhere else may call its functions there.
    if analysis.has_moved && analysis.functions == Functions::Here {
        analysis = Analysis::new(dialect, ground, world);
        analysis.functions = Functions::Anywhere;
        analysis.text(text, None, dialect);
    }
    analysis.hazards(text);
    analysis.unread_rest(text);
    analysis.find_own();
    analysis.tell_directories();
    analysis.found.is_cut |= analysis.braces.is_spent();
    analysis.found
}

/// Takes one command apart whose arguments are given as they are.
#[must_use]
pub fn analyse_argv(args: &[String], dialect: Dialect, ground: &Ground, world: &dyn World) -> Acts {
    let mut analysis = Analysis::new(dialect, ground, world);
    let args = args.iter().map(|arg| crate::arg::Arg::known(arg)).collect();
    crate::peel::resolve(&mut analysis, Box::new(Act { args, ..Act::default() }));
    analysis.find_own();
    analysis.found
}

/// The acts that texts of another language come to: those of Portcullis itself.
#[must_use]
pub fn analyse_texts(texts: &[&str], ground: &Ground, world: &dyn World) -> Acts {
    let mut analysis = Analysis::new(Dialect::Bash, ground, world);
    for text in texts {
        analysis.suspect_text(text, &Act::default());
    }
    analysis.find_own();
    analysis.found
}

/// Where the functions of a script run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Functions {
    /// There are none so far.
    None,
    /// Where they are defined, if the script goes nowhere else.
    Here,
    /// Wherever the script is when it calls them.
    Anywhere,
}

pub(crate) struct Analysis<'g> {
    pub(crate) dialect: Dialect,
    pub(crate) ground: &'g Ground,
    pub(crate) world: &'g dyn World,
    pub(crate) found: Acts,
    pub(crate) state: State,
    /// The programs around the text being read.
    pub(crate) via: Vec<&'static str>,
    /// What the command at hand gets on its standard input.
    pub(crate) feed: Feed,
    /// The names that were last noted for words that are not known, and the pairs of them with how
    /// often they were: the same again tells nothing more.
    pub(crate) suspected: Vec<EffectOn>,
    pub(crate) paired: (Vec<String>, usize),
    /// The file that is its standard input, where it is opened by name.
    pub(crate) feed_file: Option<crate::arg::Arg>,
    /// Files that the command at hand may find named on its input or in its words.
    pub(crate) handed: Vec<EffectOn>,
    /// Acts whose output some command or variable gets, until somebody listens to them.
    pub(crate) heard: Vec<Range<usize>>,
    /// What the acts that were listened to may print of their words, and whether one of them makes
    /// text of its own.
    told: Vec<String>,
    hears_builder: bool,
    /// How many names may still be looked up that the script could put together.
    pub(crate) looks: usize,
    /// How many words braces may still stand for.
    pub(crate) braces: Budget,
    /// Whether the command at hand declares arrays whose subscripts are texts.
    pub(crate) declares_tables: bool,
    /// Which words on the standard input of the command at hand may begin with a dash.
    pub(crate) piped: Dashes,
    /// How many get what the command at hand prints: pipes, words, whoever calls a function.
    pub(crate) listeners: usize,
    /// A variable, read since somebody last asked, that holds a secret.
    pub(crate) shown: Option<String>,
    /// The directories the script has been in, beside the one it began in.
    been_in: Vec<Arc<str>>,
    pub(crate) functions: Functions,
    /// Whether the script goes somewhere else.
    pub(crate) has_moved: bool,
    /// Whether the tree at hand may take functions away; none until somebody asks.
    forgets: Option<bool>,
    /// The acts of texts that wait for a signal.
    pub(crate) waiting: Vec<std::ops::Range<usize>>,
    /// Texts in files that the script wrote.
    written: Vec<written::Written>,
    /// How many commands at hand are only what names of the script may add up to.
    guesses: usize,
    depth: usize,
}

impl<'g> Analysis<'g> {
    fn new(dialect: Dialect, ground: &'g Ground, world: &'g dyn World) -> Analysis<'g> {
        let (found, state) = (Acts::default(), State::new(Arc::clone(&ground.cwd)));
        Analysis {
            dialect,
            ground,
            world,
            found,
            state,
            via: Vec::new(),
            feed: Feed::Nothing,
            suspected: Vec::new(),
            paired: (Vec::new(), 0),
            feed_file: None,
            handed: Vec::new(),
            heard: Vec::new(),
            told: Vec::new(),
            hears_builder: false,
            looks: joined::LOOKS,
            braces: Budget::default(),
            declares_tables: false,
            piped: Dashes::Anywhere,
            listeners: 0,
            shown: None,
            been_in: Vec::new(),
            functions: Functions::None,
            has_moved: false,
            forgets: None,
            waiting: Vec::new(),
            written: Vec::new(),
            guesses: 0,
            depth: 0,
        }
    }

    /// Reads a text that runs; `within` is where it stands if it is part of another.
    pub(crate) fn text(&mut self, text: &str, within: Option<Span>, dialect: Dialect) {
        if self.depth > NESTED_TEXTS || self.found.acts.len() >= ACTS {
            self.found.is_cut = true;
            let span = within.unwrap_or_default();
            self.push_unknown("texts run inside one another too often", span);
            return;
        }
        let outer = std::mem::replace(&mut self.dialect, dialect);
        match Reader::new(dialect).parse(text.as_bytes()) {
            Ok(tree) => {
                self.depth += 1;
                walk::script(self, &tree, text, within);
                self.depth -= 1;
            }
            Err(refusal) => self.refused(text, within, refusal),
        }
        self.dialect = outer;
    }

    /// Characters that show a person something else than the shell reads.
    fn hazards(&mut self, text: &str) {
        if let Some(hazard) = hazards(text.as_bytes()).first() {
            let message =
                format!("holds a character that misleads the eye: {}", hazard.kind.name());
            let note =
                Note { guard: "hidden_characters", span: hazard.span, message: Some(message) };
            let effects = vec![EffectOn::of(Effect::Read)];
            let (kind, span) = (ActKind::Unreadable, hazard.span);
            self.push(Act { kind, span, effects, notes: vec![note], ..Act::default() });
        }
    }

    /// Adds an act and tells its place.
    pub(crate) fn push(&mut self, act: impl Into<Box<Act>>) -> usize {
        let act = act.into();
        let place = self.found.acts.len();
        if let Some(directory) = &act.directory {
            self.been(directory);
        }
        if place < ACTS {
            self.found.acts.push(act);
        } else {
            self.found.is_cut = true;
        }
        place
    }

    /// Notes a directory that the script may have been in.
    pub(crate) fn been(&mut self, directory: &Arc<str>) {
        // It is nearly always the one that the last act was in.
        let first = &self.ground.cwd;
        if Arc::ptr_eq(self.been_in.last().unwrap_or(first), directory) {
            return;
        }
        let is_known = directory == first || self.been_in.contains(directory);
        if !is_known && self.been_in.len() + 1 < DIRECTORIES {
            self.been_in.push(Arc::clone(directory));
        }
    }

    /// Tells acts whose directory is not known where the script has been.
    fn tell_directories(&mut self) {
        // What waits for a signal finds the variables as they are then.
        for acts in std::mem::take(&mut self.waiting) {
            self.give_arguments(acts, &[]);
        }
        if self.found.acts.iter().all(|act| act.directory.is_some()) {
            return;
        }
        let been_in = std::mem::take(&mut self.been_in);
        let been_in = [Arc::clone(&self.ground.cwd)].into_iter().chain(been_in);
        let been_in: Arc<[Arc<str>]> = been_in.collect();
        for act in self.found.acts.iter_mut().filter(|act| act.directory.is_none()) {
            act.perhaps_in = Arc::clone(&been_in);
        }
    }

    /// Notes that the act at `place` runs everything that was added behind it.
    pub(crate) fn close(&mut self, place: usize) {
        let end = self.found.acts.len();
        if let Some(act) = self.found.acts.get_mut(place) {
            act.inner = place + 1..end;
        }
    }

    pub(crate) fn push_unknown(&mut self, message: &str, span: Span) {
        let unknown = Unknown { message: message.to_owned(), span, is_dynamic: true };
        let act = Act {
            kind: ActKind::Unreadable,
            span,
            via: self.via.clone(),
            effects: vec![EffectOn::of(Effect::Unknown)],
            unknown: Some(unknown),
            directory: self.state.directory.clone(),
            ..Act::default()
        };
        // What is evaluated there may be whatever the script holds.
        self.suspect_names(&[], &act);
        self.push(act);
    }
}
