//! The catalog: what is known of programs.
//!
//! The knowledge is data (`data/commands/*.toml`), compiled into static tables. To add a program,
//! add a table to a file there with examples both ways; `tests/catalog.rs` checks them.

mod lookup;

pub use lookup::{find, names, programs};

use crate::effect::Effects;

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// One program.
#[derive(Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// What is known of it.
    pub entry: &'static Entry,
    /// Whether the shell itself has it.
    pub is_builtin: bool,
    /// Whether only zsh has it.
    pub is_zsh: bool,
    read_only: &'static str,
    not_read_only: &'static str,
}

impl Program {
    /// Command lines that must be read-only.
    pub fn read_only(&self) -> impl Iterator<Item = &'static str> {
        self.read_only.split('\u{1f}').filter(|line| !line.is_empty())
    }

    /// Command lines that must not be.
    pub fn not_read_only(&self) -> impl Iterator<Item = &'static str> {
        self.not_read_only.split('\u{1f}').filter(|line| !line.is_empty())
    }
}

/// What is known of a program or of one of its sub-commands.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the data")]
pub struct Entry {
    /// How options are written.
    pub style: Style,
    /// What using it does.
    pub effects: Effects,
    /// Whether any option is accepted, because the act is not read-only anyway.
    pub any_option: bool,
    /// The known options, sorted by name.
    pub options: &'static [OptionSpec],
    /// Whether any operand is accepted and means nothing.
    pub any_operand: bool,
    /// The operands by position.
    pub operands: &'static [Role],
    /// Options that take the place of the first operand.
    pub unless: &'static [&'static str],
    /// Options that take the place of the last operand.
    pub target: &'static [&'static str],
    /// The effects where there is no operand.
    pub alone: Option<Effects>,
    /// Further effects where there is one.
    pub with_operand: Effects,
    /// Whether it runs another command that its operands name.
    pub wraps: Wraps,
    /// Whether its options may follow its sub-commands.
    pub global: bool,
    /// Whether `-5` is harmless.
    pub digits: bool,
    /// Whether `+x` is harmless.
    pub plus: bool,
    /// Whether it prints secrets.
    pub secrets: bool,
    /// A guard that fires on every use.
    pub finding: Option<&'static str>,
    /// A documented side effect that nobody is asked about.
    pub soft: Option<&'static str>,
    /// Rules of its arguments that no table can hold.
    pub reader: Option<&'static str>,
    /// Which words name a service before the verb, as a cloud's client has them.
    pub services: Services,
    /// Words that name a service only as the first.
    pub services_first: &'static [&'static str],
    /// Verbs of services by what they do; globs.
    pub verbs: &'static [(Effects, &'static [&'static str])],
    /// Verbs that are not what their names say.
    pub except: &'static [Except],
    /// Whether a verb that is not listed here is unknown, whatever its name says.
    pub closed: bool,
    /// Whether letter case in sub-commands does not count.
    pub fold: bool,
    /// Commands of the client itself that only show something.
    pub harmless_meta: &'static [&'static str],
    /// Words that, alone behind the sub-commands, only print help.
    pub help: &'static [&'static str],
    /// Options that turn it to another host, repository, context or root; behind `^` only before
    /// the sub-command.
    pub turns: &'static [&'static str],
    /// The sub-command that is meant where none is named.
    pub otherwise: Option<&'static str>,
    /// Options with which the act does not happen, some with a value.
    pub dry: &'static [&'static str],
    /// What is left of the act then.
    pub dry_effects: Effects,
    /// Options with which operands only select what is listed.
    pub listing: &'static [&'static str],
    /// Options with which directories are read to the bottom; `*` for always.
    pub recurses: &'static [&'static str],
    /// Whether an allow rule covers it only if it names the sub-command.
    pub named: bool,
    /// Whether it runs a command that stands somewhere in its words.
    pub runner: bool,
    /// Options with which no word that it prints begins with a dash; `*` for always.
    pub dashless: &'static [&'static str],
    /// The same for the first word of every line.
    pub leads: &'static [&'static str],
    /// Options with which it prints the first word of every line and no more.
    pub picks: &'static [&'static str],
    /// The text by which it prints, if an option gives one.
    pub format: Option<&'static Format>,
    /// Whether it prints lines of its input and nothing else.
    pub passes: bool,
    /// Whether it reads the files that its operands make it write.
    pub also_reads: bool,
    /// Options with which it reads the files that its input names; `*` for always.
    pub takes_names: &'static [&'static str],
    /// What its output may name.
    pub prints: Prints,
    /// Options with which it names hidden files too.
    pub hidden: &'static [&'static str],
    /// Options with which it reads hidden files, or those that the project leaves out, where it
    /// does not otherwise; none for a program that reads all files.
    pub tidy: &'static [&'static str],
    /// Settings that may be given on the command line without consequence.
    pub harmless_config: &'static [&'static str],
    /// What is added under conditions.
    pub when: &'static [When],
    /// Sub-commands.
    pub subs: &'static [Sub],
    /// The names of these, sorted by length and then by their bytes, with their places.
    subs_by_name: &'static [(Name, u16)],
    /// The places of those with a star in a name.
    open_subs: &'static [u16],
}

/// What is added where all conditions that are given hold.
#[derive(Debug)]
pub struct When {
    /// One of these options is given.
    pub option: &'static [&'static str],
    /// A value of that option fits one of these.
    pub value: &'static [&'static str],
    /// An operand fits one of these.
    pub operand: &'static [&'static str],
    /// The first operand fits one of these.
    pub first: &'static [&'static str],
    /// None of these options is given.
    pub without: &'static [&'static str],
    /// What fitted does not fit one of these.
    pub except: &'static [&'static str],
    /// Whether letter case does not count.
    pub fold: bool,
    /// What is then done.
    pub effects: Effects,
    /// A guard that then fires.
    pub finding: Option<&'static str>,
    /// Whether secrets are then shown.
    pub secrets: bool,
    /// There are fewer operands than this; 0 where that does not matter.
    pub few: usize,
    /// An operand is not known before it runs.
    pub open: bool,
}

/// A text by which a program prints.
#[derive(Debug)]
pub struct Format {
    /// The options whose value it is.
    pub option: &'static [&'static str],
    /// What may stand for a word in it: nothing that this is replaced by begins with a dash.
    pub safe: &'static [&'static str],
    /// Options that add nothing to what is printed; `*` for all.
    pub with: &'static [&'static str],
}

/// Which words name a service before the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Services {
    /// There are no services.
    None,
    /// The first word, whatever it is.
    Any,
    /// All words but the last before the first option.
    All,
    /// Words on this list; `parent/word` only behind that parent.
    Words(&'static [&'static str]),
}

/// A verb of a service that is not what its name says.
#[derive(Debug)]
pub struct Except {
    /// Globs for the words up to the verb, joined by blanks.
    pub path: &'static [&'static str],
    /// Counts only if one of these options is given.
    pub option: &'static [&'static str],
    /// What it does.
    pub effects: Effects,
    /// A guard that fires on it.
    pub finding: Option<&'static str>,
    /// Whether it shows secrets.
    pub secrets: bool,
}

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Bundles, unique abbreviations, options after operands.
    Gnu,
    /// The same without abbreviations.
    Exact,
    /// Options end at the first operand.
    Posix,
    /// `-name value` and `-name=value`.
    Go,
    /// No options.
    Raw,
}

/// Which files the output of a program may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prints {
    /// None that is known.
    Nothing,
    /// What its operands say.
    Operands,
    /// Files that its operands name, or that fit them.
    Selected,
    /// The directories of what its operands say.
    Parents,
    /// What it lists: directories, and files that options select.
    Listed,
    /// What its expression looks for.
    Found,
    /// Lines that fit its first operand.
    Matching,
    /// Where the programs lie that its operands name.
    Programs,
}

impl Prints {
    /// Whether what its operands say comes out again.
    #[must_use]
    pub const fn repeats(self) -> bool {
        matches!(self, Prints::Operands | Prints::Selected | Prints::Parents)
    }
}

/// Whether a program runs another one that its operands name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wraps {
    /// It does not.
    No,
    /// It does, and adds nothing of its own.
    Plain,
    /// It does, and remains an act beside the inner one.
    Kept,
}

/// One option.
#[derive(Debug)]
pub struct OptionSpec {
    /// Its name with dashes.
    name: Name,
    /// Whether it takes a value.
    pub arity: Arity,
    /// What the value is.
    pub kind: ValueKind,
    /// What giving it does.
    pub effects: Effects,
    /// Whether the files that would be read are written in place.
    pub edits: bool,
    /// Whether the program stops there, whatever else is said.
    pub quiet: bool,
    /// A guard that fires on it.
    pub finding: Option<&'static str>,
}

/// A name in the one text that holds the names of all options and sub-commands.
// INVARIANT: the catalog compiler sorts the names of one entry by their marks.
#[derive(Clone, Copy, Debug)]
struct Name {
    at: u32,
    len: u8,
    mark: u16,
}

impl Name {
    fn bytes(self) -> &'static [u8] {
        let at = self.at as usize;
        TEXT.as_bytes().get(at..at + usize::from(self.len)).unwrap_or_default()
    }
}

impl OptionSpec {
    /// Its name with dashes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let at = self.name.at as usize;
        TEXT.get(at..at + usize::from(self.name.len)).unwrap_or_default()
    }

    /// Whether a word that might be this option could do harm.
    #[must_use]
    pub fn is_dangerous(&self) -> bool {
        self.edits
            || self.finding.is_some()
            || self.effects.iter().any(|effect| !effect.is_reading())
            || matches!(
                self.kind,
                ValueKind::Write
                    | ValueKind::Into
                    | ValueKind::Tree
                    | ValueKind::Output
                    | ValueKind::Delete
                    | ValueKind::ShellText
                    | ValueKind::Program
                    | ValueKind::Code
                    | ValueKind::Config
                    | ValueKind::Url
                    | ValueKind::Host
            )
    }
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// It takes none.
    None,
    /// It takes one, attached or as the next word.
    Required,
    /// It may have one attached.
    Optional,
}

/// One place for operands.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// What stands there.
    pub kind: ValueKind,
    /// `1` one, `?` at most one, `*` any number.
    pub count: char,
}

/// What a value or operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Text that means nothing beyond the program.
    Opaque,
    /// A path that is read.
    Read,
    /// A path that is created or changed.
    Write,
    /// A file that is created, or the directory that gets what the operands name.
    Into,
    /// A directory that is written in under names that are not told.
    Tree,
    /// A path that is created or changed, where `-` is standard output.
    Output,
    /// A path that is removed.
    Delete,
    /// A directory that is looked into.
    Directory,
    /// A directory the program works in from then on.
    WorkingDirectory,
    /// Shell text that is run.
    ShellText,
    /// A program that is started.
    Program,
    /// The first word of a command that is run.
    Command,
    /// Inline code.
    Code,
    /// An address.
    Url,
    /// A host.
    Host,
    /// Configuration that can make the program run code.
    Config,
    /// A sed script.
    Sed,
    /// An awk program.
    Awk,
    /// A jq program.
    Jq,
    /// SQL.
    Sql,
    /// A pattern to search for.
    Pattern,
    /// A path that is moved away.
    Move,
    /// A path that is linked to.
    Link,
    /// A sub-command.
    Sub,
    /// Something whose being named changes it.
    Change,
    /// A name from the configuration, or else an address.
    Remote,
    /// A pattern for the names of the files that count.
    Names,
    /// A part of those names, or an expression that they fit.
    Part,
}

/// One sub-command under its names, which may hold `*`.
#[derive(Debug)]
pub struct Sub {
    /// Its names.
    pub names: &'static [&'static str],
    /// What is known of it.
    pub entry: &'static Entry,
}

/// An entry about which nothing is said.
const PLAIN: Entry = Entry {
    style: Style::Gnu,
    effects: Effects(0),
    any_option: false,
    options: &[],
    any_operand: false,
    operands: &[],
    unless: &[],
    target: &[],
    alone: None,
    with_operand: Effects(0),
    wraps: Wraps::No,
    global: false,
    digits: false,
    plus: false,
    secrets: false,
    finding: None,
    soft: None,
    reader: None,
    services: Services::None,
    services_first: &[],
    verbs: &[],
    except: &[],
    closed: false,
    fold: false,
    harmless_meta: &[],
    help: &[],
    turns: &[],
    otherwise: None,
    dry: &[],
    dry_effects: Effects(0),
    listing: &[],
    recurses: &[],
    named: false,
    runner: false,
    dashless: &[],
    leads: &[],
    picks: &[],
    format: None,
    passes: false,
    also_reads: false,
    takes_names: &[],
    prints: Prints::Nothing,
    hidden: &[],
    tidy: &[],
    harmless_config: &[],
    when: &[],
    subs: &[],
    subs_by_name: &[],
    open_subs: &[],
};

/// An option without a value that does nothing.
const FLAG: OptionSpec = OptionSpec {
    name: Name { at: 0, len: 0, mark: 0 },
    arity: Arity::None,
    kind: ValueKind::Opaque,
    effects: Effects(0),
    edits: false,
    quiet: false,
    finding: None,
};
