//! Usage: one command line read by its program's own rules.
//!
//! Options are found as the program would find them: bundles, attached values, abbreviations,
//! `--`. One token that the catalog does not know makes the whole usage unknown. What options and
//! operands add up to is in `usage/finish.rs`.

mod finish;
mod operand;
mod option;
pub(crate) mod turning;
mod value;

pub(crate) use value::path;

use portcullis_shell::Span;

use crate::arg::{Arg, Text};
use crate::catalog::{Arity, Entry, OptionSpec, Style, ValueKind, Wraps};
use crate::effect::{Effect, EffectOn, Effects};
use crate::few::Few;

/// What a command line says once its options are understood.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The entry of the innermost sub-command.
    pub entry: &'static Entry,
    /// What it does, by the table.
    pub effects: Vec<EffectOn>,
    /// How many of the effects come from options.
    pub option_effects: usize,
    /// The values and operands that are more than text, in order.
    pub values: Vec<Given>,
    /// Where the command begins that it runs: a place among the arguments.
    pub command: Option<usize>,
    /// The sub-commands, by their places.
    pub subs: Few<usize, 4>,
    /// The options that were given, with their values.
    pub options: Vec<GivenOption>,
    /// The operands that stand behind the sub-commands, by their places.
    pub operands: Few<usize, 8>,
    /// Guards that the table names.
    pub findings: Vec<&'static str>,
    /// Rules of its arguments that no table can hold.
    pub reader: Option<&'static str>,
    /// Whether it runs another command that its operands name.
    pub wraps: Wraps,
    /// The directory that an option makes it work in.
    pub directory: Option<Arg>,
    /// Whether the program stops at an option such as `--help`.
    pub is_quiet: bool,
    /// Whether an option makes it do nothing but say what it would do.
    pub is_dry: bool,
    /// Why the command line is not understood.
    pub unknown: Option<Unknown>,
    /// The places of arguments with an effect that the program does not have in ordinary use.
    pub extras: Vec<usize>,
    /// The places of options and their values before the sub-command.
    pub globals: Vec<usize>,
    /// Whether some of its words are accepted without being known.
    pub is_loose: bool,
}

/// One option that was given.
#[derive(Clone, Debug)]
pub struct GivenOption {
    /// Its name, as the catalog has it.
    pub name: &'static str,
    /// Its value.
    pub value: Option<Arg>,
    /// Its place among the arguments.
    pub at: usize,
}

/// One value or operand with its kind.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is.
    pub kind: ValueKind,
    /// The value itself, which may be part of an argument.
    pub arg: Arg,
    /// Its place among the arguments.
    pub at: usize,
}

/// Why a command line is not understood, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// A sentence for a person.
    pub message: String,
    /// Where the token stands.
    pub span: Span,
    /// Whether the token is unknown because its text is: it may become an option.
    pub is_dynamic: bool,
}

impl Usage {
    /// What is said before the first word is read.
    pub(crate) fn new(entry: &'static Entry) -> Usage {
        Usage {
            entry,
            effects: Vec::with_capacity(2),
            option_effects: 0,
            values: Vec::new(),
            command: None,
            subs: Few::new(0),
            options: Vec::new(),
            operands: Few::new(0),
            findings: Vec::new(),
            reader: None,
            wraps: Wraps::No,
            directory: None,
            is_quiet: false,
            is_dry: false,
            unknown: None,
            extras: Vec::new(),
            is_loose: false,
            globals: Vec::new(),
        }
    }

    /// Reads the arguments of the program, without its name.
    pub(crate) fn read(&mut self, args: &[Arg]) {
        let mut reader = Reader::new(self.entry, args, self);
        reader.run();
        reader.finish();
    }

    /// Whether one of these options is given.
    #[must_use]
    pub fn has_option(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.name))
    }

    /// The value of the last of these options that is given.
    #[must_use]
    pub fn value_of(&self, names: &[&str]) -> Option<&Arg> {
        let given = self.options.iter().rev().find(|option| names.contains(&option.name))?;
        given.value.as_ref()
    }

    /// The names of directories that are left out on the way to the bottom.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let given = self.options.iter().filter(|option| option.name == "--exclude-dir");
        given.filter_map(|option| option.value.as_ref()?.as_known())
    }
}

/// Reads the arguments of a program, without its name.
#[must_use]
pub fn read(entry: &'static Entry, args: &[Arg]) -> Usage {
    let mut usage = Usage::new(entry);
    usage.read(args);
    usage
}

#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was seen so far")]
pub(crate) struct Reader<'a> {
    /// The entry of the innermost sub-command so far, and those around it.
    entry: &'static Entry,
    outer: Few<&'static Entry, 4>,
    args: &'a [Arg],
    usage: &'a mut Usage,
    /// Whether an option makes the files that would be read be written.
    edits: Option<usize>,
    is_listing: bool,
    has_unless: bool,
    has_target: bool,
    /// Words that named services so far.
    services: Few<&'a str, 4>,
    /// What the verb of a service does.
    verb: Option<Effects>,
    /// Findings of options, which a dry run drops.
    option_findings: Vec<&'static str>,
    /// An option that is accepted only because any is.
    has_unlisted: bool,
    /// A word that may turn out to be an option, where none that is listed does harm.
    open_word: Option<Span>,
    /// Whether an option that only prints something is taken back, or means something else.
    is_loud: bool,
}

impl<'a> Reader<'a> {
    fn new(entry: &'static Entry, args: &'a [Arg], usage: &'a mut Usage) -> Reader<'a> {
        Reader {
            entry,
            outer: Few::new(entry),
            args,
            usage,
            edits: None,
            is_listing: false,
            has_unless: false,
            has_target: false,
            services: Few::new(""),
            verb: None,
            option_findings: Vec::new(),
            has_unlisted: false,
            open_word: None,
            is_loud: false,
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut options_end = false;
        while let Some(arg) = self.args.get(at) {
            at += 1;
            if options_end || self.entry.style == Style::Raw || !self.is_option(arg) {
                if !self.operand(at - 1) {
                    return;
                }
                options_end |= self.entry.style == Style::Posix && !self.usage.operands.is_empty();
                continue;
            }
            let before = at - 1;
            match &arg.text {
                Text::Known(text) if text == "--" => options_end = true,
                Text::Known(text) => at = self.option(text, at),
                // A pattern that fits no file stays as it is written.
                Text::Begins(prefix) | Text::Files { prefix, .. }
                    if self.begins_a_value(prefix) =>
                {
                    at = self.option(prefix, at);
                }
                Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => {
                    self.dynamic(arg);
                    // Where a command may stand it is one; it is read by itself.
                    let runs =
                        self.entry.operands.iter().any(|role| role.kind == ValueKind::Command);
                    if !runs {
                        self.usage.operands.push(at - 1);
                    } else if !self.operand(at - 1) {
                        return;
                    }
                    continue;
                }
            }
            if self.usage.subs.is_empty() && !self.entry.subs.is_empty() {
                self.usage.globals.extend(before..at);
            }
        }
    }

    /// Whether the end of a word that begins so belongs to the value of an option.
    fn begins_a_value(&self, prefix: &str) -> bool {
        let (name, value) = split_value(prefix);
        let takes = |name| self.find(name).is_some_and(|option| option.arity == Arity::Required);
        value.is_some() && (name.starts_with("--") || name.len() == 2 && takes(name))
    }

    /// Whether the program would look at this argument as an option.
    fn is_option(&self, arg: &Arg) -> bool {
        match &arg.text {
            Text::Known(text) => {
                text.len() > 1
                    && (text.starts_with('-') || self.entry.plus && text.starts_with('+'))
            }
            Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => {
                arg.may_be_option()
            }
        }
    }

    /// An argument that may turn out to be an option: harmless only if no option does harm.
    fn dynamic(&mut self, arg: &Arg) {
        let entries = self.outer.iter().filter(|entry| entry.global).copied().chain([self.entry]);
        let may_harm = entries.into_iter().any(|entry| {
            // An option may take back what keeps the act from happening.
            (entry.any_option || !entry.dry.is_empty()) && !reads_only(entry.effects)
                || entry.options.iter().any(OptionSpec::is_dangerous)
                || !entry.when.is_empty()
        });
        let decides = !self.entry.subs.is_empty() && self.usage.operands.is_empty();
        if may_harm || decides {
            let message = "it is not known whether this word begins with a dash, which would make it \
                 an option; write it out, or put `--` before it";
            self.unknown(message, arg.span, true);
        } else {
            self.open_word.get_or_insert(arg.span);
        }
    }

    fn unknown(&mut self, message: &str, span: Span, is_dynamic: bool) {
        // What may become anything stands before what is merely not listed.
        if self.usage.unknown.as_ref().is_none_or(|kept| is_dynamic && !kept.is_dynamic) {
            self.usage.unknown = Some(Unknown { message: message.to_owned(), span, is_dynamic });
        }
    }

    fn effects(&mut self, effects: Effects) {
        for effect in effects.iter() {
            self.usage.effects.push(EffectOn::of(effect));
        }
    }

    /// The option in this entry, or in one around it whose options go everywhere.
    fn find(&self, name: &str) -> Option<&'static OptionSpec> {
        let outer = self.outer.iter().rev().filter(|entry| entry.global);
        let here = self.entry.option(name);
        here.or_else(|| outer.into_iter().find_map(|entry| entry.option(name)))
    }
}

pub(crate) fn reads_only(effects: Effects) -> bool {
    effects.iter().all(Effect::is_reading)
}

/// A name and the value that is attached to it.
fn split_value(text: &str) -> (&str, Option<&str>) {
    // Options are short: looking at each byte is the quickest.
    let at = text.bytes().position(|byte| byte == b'=');
    match at.and_then(|at| text.get(..at).zip(text.get(at + 1..))) {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}
