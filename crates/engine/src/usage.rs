//! Usage: one command line read by its program's own rules.
//!
//! Options are found as the program would find them: bundles, attached values, abbreviations,
//! `--`. One token that the catalog does not know makes the whole usage unknown.

use portcullis_shell::Span;

use crate::arg::{Arg, Text};
use crate::catalog::{Arity, Entry, OptionSpec, Role, Style, ValueKind, When};
use crate::effect::{Effect, EffectOn, Effects, Target};
use crate::glob;

/// What a command line says once its options are understood.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// What it does, by the table.
    pub effects: Vec<EffectOn>,
    /// The values and operands that are more than text, in order.
    pub values: Vec<Given>,
    /// Where the command begins that it runs: a place among the arguments.
    pub command: Option<usize>,
    /// The sub-commands, as written.
    pub subs: Vec<String>,
    /// The options that were given, with their values.
    pub options: Vec<(&'static str, Option<Arg>)>,
    /// The operands that stand behind the sub-commands.
    pub operands: Vec<Arg>,
    /// Guards that the table names.
    pub findings: Vec<&'static str>,
    /// Rules of its arguments that no table can hold.
    pub reader: Option<&'static str>,
    /// Whether the program stops at an option such as `--help`.
    pub is_quiet: bool,
    /// Why the command line is not understood.
    pub unknown: Option<Unknown>,
}

/// One value or operand with its kind.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is.
    pub kind: ValueKind,
    /// The value itself, which may be part of an argument.
    pub arg: Arg,
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

/// Reads the arguments of a program, without its name.
#[must_use]
pub fn read(entry: &'static Entry, args: &[Arg]) -> Usage {
    let mut reader = Reader::new(entry, args);
    reader.run();
    reader.finish()
}

struct Reader<'a> {
    /// The entry of the innermost sub-command so far, and those around it.
    entry: &'static Entry,
    outer: Vec<&'static Entry>,
    args: &'a [Arg],
    operands: Vec<usize>,
    usage: Usage,
    edits: bool,
    is_listing: bool,
    has_unless: bool,
    has_target: bool,
    is_past_service: bool,
    /// Findings of options, which a dry run drops.
    option_findings: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(entry: &'static Entry, args: &'a [Arg]) -> Reader<'a> {
        Reader {
            entry,
            outer: Vec::new(),
            args,
            operands: Vec::new(),
            usage: Usage::default(),
            edits: false,
            is_listing: false,
            has_unless: false,
            has_target: false,
            is_past_service: false,
            option_findings: Vec::new(),
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut options_end = self.entry.style == Style::Raw;
        while let Some(arg) = self.args.get(at) {
            at += 1;
            if options_end || !self.is_option(arg) {
                if !self.operand(at - 1) {
                    return;
                }
                let is_last_level = self.entry.subs.is_empty();
                options_end |= self.entry.style == Style::Posix && is_last_level;
                continue;
            }
            match &arg.text {
                Text::Known(text) if text == "--" => options_end = true,
                Text::Known(text) => at = self.option(text, at),
                Text::Begins(prefix) if prefix.contains('=') && prefix.starts_with("--") => {
                    at = self.option(prefix, at);
                }
                Text::Files(_) | Text::Begins(_) | Text::Any(_) => {
                    self.dynamic(arg);
                    self.operands.push(at - 1);
                }
            }
        }
    }

    /// Whether the program would look at this argument as an option.
    fn is_option(&self, arg: &Arg) -> bool {
        match &arg.text {
            Text::Known(text) => {
                text.len() > 1 && text.starts_with('-')
                    || self.entry.plus && text.len() > 1 && text.starts_with('+')
            }
            Text::Files(_) | Text::Begins(_) | Text::Any(_) => arg.may_be_option(),
        }
    }

    /// An argument that may turn out to be an option: harmless only if no option does harm.
    fn dynamic(&mut self, arg: &Arg) {
        let entries = self.outer.iter().copied().chain([self.entry]);
        let may_harm = entries.clone().any(|entry| {
            entry.any_option && !reads_only(entry.effects)
                || entry.options.iter().any(OptionSpec::is_dangerous)
                || entry.reader.is_some()
        });
        if may_harm || !self.entry.subs.is_empty() {
            self.unknown("this word may become an option or a sub-command", arg.span, true);
        }
    }

    fn unknown(&mut self, message: &str, span: Span, is_dynamic: bool) {
        if self.usage.unknown.is_none() {
            self.usage.unknown = Some(Unknown { message: message.to_owned(), span, is_dynamic });
        }
    }

    /// Reads one option; `next` is the place of the argument after it. Gives the place to go on.
    fn option(&mut self, text: &str, next: usize) -> usize {
        let span = self.args.get(next - 1).map_or(Span::default(), |arg| arg.span);
        if self.entry.style == Style::Go {
            let (name, value) = split_value(text);
            let short = format!("-{}", name.trim_start_matches('-'));
            let long = format!("--{}", name.trim_start_matches('-'));
            let found = self.find(&short).or_else(|| self.find(&long));
            return self.long(found, name, value, next, span);
        }
        if text.starts_with("--") {
            let (name, value) = split_value(text);
            let found = self.find(name).or_else(|| match self.entry.style {
                Style::Gnu | Style::Posix => self.entry.abbreviated(name),
                Style::Exact | Style::Go | Style::Raw => None,
            });
            return self.long(found, name, value, next, span);
        }
        // Some programs have whole words behind one dash.
        let (name, value) = split_value(text);
        if name.len() > 2 && self.find(name).is_some() {
            return self.long(self.find(name), name, value, next, span);
        }
        self.bundle(text, next, span)
    }

    /// The option in this entry, or in one around it whose options go everywhere.
    fn find(&self, name: &str) -> Option<&'static OptionSpec> {
        let outer = self.outer.iter().rev().filter(|entry| entry.global);
        let here = self.entry.option(name);
        here.or_else(|| outer.into_iter().find_map(|entry| entry.option(name)))
    }

    fn long(
        &mut self,
        found: Option<&'static OptionSpec>,
        name: &str,
        value: Option<&str>,
        next: usize,
        span: Span,
    ) -> usize {
        let Some(option) = found else {
            self.unknown_option(name, span);
            return next;
        };
        match (option.arity, value) {
            (Arity::None, None) | (Arity::Optional, None) => {
                self.give(option, None);
                next
            }
            (Arity::None, Some(_)) => {
                self.unknown_option(name, span);
                next
            }
            (Arity::Required | Arity::Optional, Some(value)) => {
                let whole = self.args.get(next - 1);
                let arg = attached(whole, value, span);
                self.give(option, Some(arg));
                next
            }
            (Arity::Required, None) => self.following(option, next, span),
        }
    }

    /// A required value in the next argument.
    fn following(&mut self, option: &'static OptionSpec, next: usize, span: Span) -> usize {
        match self.args.get(next) {
            Some(arg) if arg.is_one() => {
                self.give(option, Some(arg.clone()));
                next + 1
            }
            Some(arg) => {
                self.unknown("this word may be more than one argument", arg.span, true);
                next + 1
            }
            None => {
                self.unknown("an option lacks its value", span, false);
                next
            }
        }
    }

    fn bundle(&mut self, text: &str, next: usize, span: Span) -> usize {
        let body = text.get(1..).unwrap_or_default();
        let is_number = !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_digit());
        if text.starts_with('+') || self.entry.digits && is_number {
            return next;
        }
        for (at, letter) in body.char_indices() {
            let name = format!("-{letter}");
            let rest = body.get(at + letter.len_utf8()..).unwrap_or_default();
            let Some(option) = self.find(&name) else {
                if self.entry.digits && letter.is_ascii_digit() {
                    continue;
                }
                self.unknown_option(&name, span);
                return next;
            };
            match option.arity {
                Arity::None => self.give(option, None),
                Arity::Optional if rest.is_empty() => self.give(option, None),
                Arity::Required if rest.is_empty() => return self.following(option, next, span),
                Arity::Required | Arity::Optional => {
                    let whole = self.args.get(next - 1);
                    let arg = attached(whole, rest, span);
                    self.give(option, Some(arg));
                    return next;
                }
            }
        }
        next
    }

    fn unknown_option(&mut self, name: &str, span: Span) {
        let any = self.entry.any_option
            || self.outer.iter().any(|entry| entry.any_option && entry.global);
        if !any {
            self.unknown(&format!("option `{name}` is not known"), span, false);
        }
    }

    /// Notes a given option with its value.
    fn give(&mut self, option: &'static OptionSpec, value: Option<Arg>) {
        self.usage.options.push((option.name, value.clone()));
        self.option_findings.extend(option.finding);
        self.usage.is_quiet |= option.quiet;
        self.edits |= option.edits;
        self.is_listing |= self.entry.listing.contains(&option.name);
        self.has_unless |= self.entry.unless.contains(&option.name);
        self.has_target |= self.entry.target.contains(&option.name);
        self.effects(option.effects);
        if let Some(arg) = value {
            self.value(option.kind, arg);
        }
    }

    fn effects(&mut self, effects: Effects) {
        for effect in effects.iter() {
            self.usage.effects.push(EffectOn::of(effect));
        }
    }

    /// Notes a value or operand with what its kind does.
    fn value(&mut self, kind: ValueKind, arg: Arg) {
        let effect = match kind {
            ValueKind::Opaque | ValueKind::Pattern | ValueKind::Sub | ValueKind::Command => return,
            ValueKind::Change if self.is_listing => Effect::Read,
            ValueKind::Change => Effect::Change,
            ValueKind::Remote => remote(&arg),
            ValueKind::Read if self.edits => Effect::Write,
            ValueKind::Read | ValueKind::Directory | ValueKind::WorkingDirectory => Effect::Read,
            ValueKind::Write | ValueKind::Link => Effect::Write,
            ValueKind::Delete | ValueKind::Move => Effect::Delete,
            ValueKind::ShellText | ValueKind::Program | ValueKind::Code | ValueKind::Config => {
                Effect::Execute
            }
            ValueKind::Url | ValueKind::Host => Effect::Connect,
            // Small languages are read by themselves; until then they do nothing.
            ValueKind::Sed | ValueKind::Awk | ValueKind::Jq | ValueKind::Sql => Effect::Read,
        };
        let target = match (kind, &arg.text) {
            (ValueKind::Url | ValueKind::Host | ValueKind::Remote, _) => {
                Target::Host(arg.prefix().to_owned())
            }
            (ValueKind::Sed | ValueKind::Awk | ValueKind::Jq | ValueKind::Sql, _) => Target::None,
            (_, Text::Known(text)) => Target::Path(text.clone()),
            (_, Text::Files(_) | Text::Begins(_) | Text::Any(_)) => Target::UnknownPath,
        };
        self.usage.effects.push(EffectOn::new(effect, target));
        self.usage.values.push(Given { kind, arg });
    }

    /// Takes an operand; false once the rest is a command of its own.
    fn operand(&mut self, at: usize) -> bool {
        let Some(arg) = self.args.get(at) else { return true };
        let is_sub_place = !self.entry.subs.is_empty() && self.operands.is_empty();
        if is_sub_place {
            let Some(name) = arg.as_known() else {
                self.unknown("this word decides what the program does", arg.span, true);
                self.operands.push(at);
                return true;
            };
            if self.entry.services == crate::catalog::Services::Any && !self.is_past_service && self.entry.sub(name).is_none() {
                self.is_past_service = true;
                self.usage.subs.push(name.to_owned());
                return true;
            }
            if let Some(sub) = self.entry.sub(name) {
                self.usage.subs.push(name.to_owned());
                self.outer.push(self.entry);
                self.entry = &sub.entry;
                return true;
            }
            if let Some(sub) = self.entry.otherwise.and_then(|meant| self.entry.sub(meant)) {
                self.outer.push(self.entry);
                self.entry = &sub.entry;
                return self.operand(at);
            }
            if self.entry.operands.is_empty() && !self.entry.any_operand {
                self.unknown(&format!("sub-command `{name}` is not known"), arg.span, false);
            }
        }
        self.operands.push(at);
        let place = self.operands.len() - 1;
        let is_command =
            self.entry.operands.iter().position(|role| role.kind == ValueKind::Command);
        if is_command.is_some_and(|command| place >= command) {
            self.usage.command = Some(at);
            return false;
        }
        true
    }

    fn finish(mut self) -> Usage {
        if self.operands.is_empty()
            && !self.entry.subs.is_empty()
            && let Some(sub) = self.entry.otherwise.and_then(|meant| self.entry.sub(meant))
        {
            self.outer.push(self.entry);
            self.entry = &sub.entry;
        }
        let entry = self.entry;
        self.usage.reader = entry.reader;
        if self.only_prints_help() {
            self.usage.effects.clear();
            self.usage.unknown = None;
            self.usage.reader = None;
            self.effects(Effects(1 << Effect::Read as u16));
            return self.usage;
        }
        self.usage.operands =
            self.operands.iter().filter_map(|&at| self.args.get(at).cloned()).collect();
        let is_dry = entry.dry.iter().any(|name| self.is_given(name));
        self.own_effects(is_dry);
        for when in entry.when {
            if self.holds(when) {
                self.effects(when.effects);
                self.usage.findings.extend(when.finding);
                self.usage.findings.extend(when.secrets.then_some("secret_read"));
            }
        }
        if self.usage.command.is_some() {
            return self.usage;
        }
        if !entry.any_operand {
            let before = self.usage.effects.len();
            self.place_operands();
            if is_dry {
                for on in self.usage.effects.iter_mut().skip(before) {
                    on.effect = Effect::Read;
                }
            }
        } else if self.edits && !is_dry {
            self.effects(Effects(1 << Effect::Write as u16));
        }
        self.usage
    }

    /// Whether all that is said is that help is wanted.
    fn only_prints_help(&self) -> bool {
        match self.args.get(self.usage.subs.len()..) {
            Some([only]) => only.as_known().is_some_and(|word| self.entry.help.contains(&word)),
            _ => false,
        }
    }

    /// Whether an option is given, with the value the table names if it names one.
    fn is_given(&self, wanted: &str) -> bool {
        let (name, value) = split_value(wanted);
        self.usage.options.iter().any(|(given, arg)| {
            let text = arg.as_ref().and_then(Arg::as_known);
            *given == name
                && if value.is_some() { text == value } else { arg.is_none() || value == text }
        })
    }

    /// What the program itself does, apart from its values.
    fn own_effects(&mut self, is_dry: bool) {
        let entry = self.entry;
        if is_dry {
            self.effects(entry.dry_effects);
            return;
        }
        self.usage.findings.append(&mut self.option_findings);
        self.usage.findings.extend(entry.finding);
        self.usage.findings.extend(entry.secrets.then_some("secret_read"));
        match entry.alone {
            Some(effects) if self.operands.is_empty() => self.effects(effects),
            _ => self.effects(entry.effects),
        }
        if !self.operands.is_empty() {
            self.effects(entry.with_operand);
        }
    }

    /// Whether every condition holds; what is not known fits everything.
    fn holds(&self, when: &When) -> bool {
        let fits_one = |arg: &Arg, patterns: &[&str]| match arg.as_known() {
            None => true,
            Some(text) => {
                let text = if when.fold { text.to_lowercase() } else { text.to_owned() };
                let fits = |patterns: &[&str]| {
                    patterns.iter().any(|pattern| glob::matches(pattern, &text))
                };
                fits(patterns) && !fits(when.except)
            }
        };
        let given = || self.usage.options.iter().filter(|(name, _)| when.option.contains(name));
        if !when.option.is_empty() && given().next().is_none() {
            return false;
        }
        if self.usage.options.iter().any(|(name, _)| when.without.contains(name)) {
            return false;
        }
        let mut values = given().filter_map(|(_, value)| value.as_ref());
        if !when.value.is_empty() && !values.any(|value| fits_one(value, when.value)) {
            return false;
        }
        let operands = &self.usage.operands;
        if !when.operand.is_empty() && !operands.iter().any(|arg| fits_one(arg, when.operand)) {
            return false;
        }
        when.first.is_empty() || operands.first().is_some_and(|arg| fits_one(arg, when.first))
    }

    /// Gives every operand its role.
    fn place_operands(&mut self) {
        let mut roles = self.entry.operands;
        if self.has_unless {
            roles = roles.split_first().map_or(roles, |(_, rest)| rest);
        }
        if self.has_target {
            roles = roles.split_last().map_or(roles, |(_, rest)| rest);
        }
        let operands = std::mem::take(&mut self.operands);
        let star = roles.iter().position(|role| role.count == '*');
        let behind = star.map_or(0, |star| roles.len() - star - 1);
        for (at, &place) in operands.iter().enumerate() {
            let left = operands.len() - at;
            let role = match star {
                Some(star) if at >= star && left > behind => roles.get(star),
                Some(_) if left <= behind => roles.get(roles.len() - left),
                _ => roles.get(at),
            };
            let Some(arg) = self.args.get(place).cloned() else { continue };
            match role {
                Some(&Role { kind, .. }) => self.value(kind, arg),
                None => {
                    self.unknown("more operands than the program is known to take", arg.span, false)
                }
            }
        }
    }
}

/// A name from the configuration is asked; an address is connected to, or even runs a program.
fn remote(arg: &Arg) -> Effect {
    match arg.as_known() {
        Some(text) if text.starts_with("ext::") || text.starts_with("fd::") => Effect::Execute,
        Some(text) if !text.contains([':', '/', '\\']) => Effect::Query,
        _ => Effect::Connect,
    }
}

fn reads_only(effects: Effects) -> bool {
    effects.iter().all(Effect::is_reading)
}

fn split_value(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// The value attached to an option, as far as it is known.
fn attached(whole: Option<&Arg>, value: &str, span: Span) -> Arg {
    let text = match whole.map(|arg| &arg.text) {
        Some(Text::Begins(_) | Text::Any(_) | Text::Files(_)) => Text::Begins(value.to_owned()),
        Some(Text::Known(_)) | None => Text::Known(value.to_owned()),
    };
    Arg { text, span }
}
