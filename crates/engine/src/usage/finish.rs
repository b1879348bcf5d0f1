//! What a command line adds up to once all its words are read.

use std::borrow::Cow;

use super::{GivenOption, Reader, reads_only, split_value};
use crate::analysis::{dashes, names};
use crate::arg::{Arg, Text};
use crate::catalog::{Prints, ValueKind, When};
use crate::effect::{Effect, EffectOn, Effects, Target};
use crate::few::Few;
use crate::glob;
use crate::sensitive;

impl Reader<'_> {
    pub(super) fn finish(&mut self) {
        if self.usage.operands.is_empty()
            && self.verb.is_none()
            && !self.entry.subs.is_empty()
            && let Some(sub) = self.entry.otherwise.and_then(|meant| self.entry.sub(meant))
        {
            self.enter(sub.entry);
        }
        let entry = self.entry;
        self.usage.option_effects = self.usage.effects.len();
        self.usage.entry = entry;
        self.usage.wraps = entry.wraps;
        self.usage.reader = entry.reader.or_else(|| {
            // A program's reader looks at its sub-commands too.
            self.outer.iter().rev().find_map(|outer| outer.reader)
        });
        if self.only_prints_help() {
            self.usage.effects.clear();
            self.usage.unknown = None;
            self.usage.reader = None;
            self.usage.values.clear();
            self.usage.command = None;
            self.usage.extras.clear();
            self.usage.operands = Few::new(0);
            self.usage.is_quiet = true;
            return self.effects(Effects(1 << Effect::Read as u16));
        }
        self.usage.is_dry = self.edits.is_none()
            && entry.dry.iter().any(|name| self.is_given(name))
            && !self.takes_back(entry.dry);
        if self.usage.is_dry && self.has_unlisted {
            let span = self.args.first().map(|arg| arg.span).unwrap_or_default();
            self.unknown("an option that is not known may undo the dry run", span, false);
        }
        if let Some(span) = self.open_word.filter(|_| self.usage.is_dry)
            && !reads_only(entry.effects)
        {
            self.unknown("a word that is not known may undo the dry run", span, true);
        }
        if self.has_unlisted || self.is_loud {
            self.usage.is_quiet = false;
        }
        if self.usage.is_quiet {
            self.usage.reader = None;
            return self.effects(Effects(1 << Effect::Read as u16));
        }
        self.usage.is_loose |= entry.any_operand || entry.any_option;
        self.own_effects();
        for when in entry.when {
            if self.holds(when) {
                if when.effects.iter().any(|effect| self.is_extra(effect)) {
                    self.usage.extras.push(self.args.len().saturating_sub(1));
                }
                self.effects(when.effects);
                self.usage.findings.extend(when.finding);
                self.usage.findings.extend(when.secrets.then_some("secret_read"));
            }
        }
        self.roles();
        self.deepen();
        self.selected();
    }

    /// What the operands do.
    fn roles(&mut self) {
        if self.usage.command.is_some() {
            // What stands before the command has its role; the command is read by itself.
            let before = self.usage.operands.len().saturating_sub(1);
            let operands = self.usage.operands.clone();
            for (role, at) in self.entry.operands.iter().zip(&operands).take(before) {
                if let Some(arg) = self.args.get(*at) {
                    self.value(role.kind, arg, *at, None);
                }
            }
            return;
        }
        let is_open = self.entry.any_operand || self.verb.is_some();
        // Who names no file to edit means those that the program finds.
        if (is_open || self.usage.operands.is_empty()) && self.edits.is_some() && !self.usage.is_dry
        {
            self.effects(Effects(1 << Effect::Write as u16));
        }
        if is_open {
            return;
        }
        let before = self.usage.effects.len();
        self.place_operands();
        if self.usage.is_dry {
            for on in self.usage.effects.iter_mut().skip(before) {
                on.effect = Effect::Read;
            }
        }
    }

    /// Files that are read because their names are given as a pattern.
    fn selected(&mut self) {
        let lists = self.entry.prints == Prints::Listed
            && self.entry.operands.iter().all(|role| !matches!(role.kind, ValueKind::Read));
        if lists || self.is_listing || self.entry.prints == Prints::Selected {
            return;
        }
        let chosen: Vec<EffectOn> = self
            .usage
            .values
            .iter()
            .filter(|given| matches!(given.kind, ValueKind::Names | ValueKind::Part))
            .flat_map(|given| names::patterns(given.kind, &given.arg, "."))
            .collect();
        self.usage.effects.extend(chosen);
    }

    /// Marks what is read to the bottom.
    fn deepen(&mut self) {
        let entry = self.entry;
        if !dashes::is_given(entry.recurses, self.usage) {
            return;
        }
        let is_path =
            |on: &EffectOn| !matches!(on.target, Target::Host(_) | Target::Named(_) | Target::None);
        let mut has_path = false;
        let of_options = self.usage.option_effects;
        for (at, on) in self.usage.effects.iter_mut().enumerate() {
            if is_path(on) {
                on.is_deep = true;
                on.is_listing |= self.is_listing && on.effect == Effect::Read && at >= of_options;
                has_path = true;
            }
        }
        if !has_path
            && entry
                .operands
                .iter()
                .any(|role| matches!(role.kind, ValueKind::Read | ValueKind::Directory))
        {
            let target = Target::Path(".".to_owned());
            let is_listing =
                self.is_listing || entry.operands.iter().all(|role| role.kind != ValueKind::Read);
            let on = EffectOn::new(Effect::Read, target);
            self.usage.effects.push(EffectOn { is_deep: true, is_listing, ..on });
        }
    }

    /// Whether all that is said is that help is wanted.
    fn only_prints_help(&self) -> bool {
        let Some((last, before)) = self.args.split_last() else { return false };
        // Most command lines have more words than that.
        if before.len() > self.usage.subs.len() {
            return false;
        }
        let entries = [self.entry].into_iter().chain(self.outer.last().copied());
        last.as_known().is_some_and(|word| {
            let is_sub = self.subs().next_back() == Some(word);
            // A service's own word for help was taken for its verb.
            let mut entries = entries.take(if is_sub { 2 } else { 1 });
            entries.any(|entry| entry.help.contains(&word))
        }) && before.iter().zip(self.subs()).all(|(arg, sub)| arg.as_known() == Some(sub))
    }

    /// The sub-commands, as written.
    fn subs(&self) -> impl DoubleEndedIterator<Item = &str> {
        let places = self.usage.subs.iter();
        places.filter_map(|at| self.args.get(*at)).filter_map(Arg::as_known)
    }

    /// Whether an option is given, with the value the table names if it names one.
    fn is_given(&self, wanted: &str) -> bool {
        self.usage.options.iter().any(|given| self.fits(given, wanted))
    }

    /// Whether one of several options of these names is given in another form: the last counts.
    fn takes_back(&self, wanted: &[&str]) -> bool {
        let is_named =
            |given: &&GivenOption| wanted.iter().any(|wanted| split_value(wanted).0 == given.name);
        let mut given = self.usage.options.iter().filter(is_named);
        given.any(|given| !wanted.iter().any(|wanted| self.fits(given, wanted)))
    }

    /// Whether this is the wanted option, with the value that is wanted.
    fn fits(&self, given: &GivenOption, wanted: &str) -> bool {
        let (name, value) = split_value(wanted);
        if given.name != name {
            return false;
        }
        let text = given.value.as_ref().and_then(Arg::as_known);
        let mut dry = self.entry.dry.iter().map(|dry| split_value(dry));
        let has_values = dry.any(|(dry, value)| dry == name && value.is_some());
        match (value, text) {
            (Some(value), Some(text)) => glob::matches(value, text),
            (Some(_), None) => false,
            (None, Some(text)) => !has_values && !matches!(text, "false" | "none" | "0" | "no"),
            (None, None) => given.value.is_none(),
        }
    }

    /// What the program itself does, apart from its values.
    fn own_effects(&mut self) {
        let entry = self.entry;
        if let Some(except) = self.verb.and_then(|_| self.excepted()) {
            self.usage.findings.extend(except.finding);
            self.usage.findings.extend(except.secrets.then_some("secret_read"));
            self.usage.findings.append(&mut self.option_findings);
            let effects = if except.effects.is_empty() { self.verb } else { Some(except.effects) };
            self.clear_unknown_verb();
            return self.effects(effects.unwrap_or_default());
        }
        if self.usage.is_dry {
            return self.effects(entry.dry_effects);
        }
        self.usage.findings.append(&mut self.option_findings);
        self.usage.findings.extend(entry.finding);
        self.usage.findings.extend(entry.secrets.then_some("secret_read"));
        if let Some(effects) = self.verb {
            return self.effects(effects);
        }
        match entry.alone {
            Some(effects) if self.usage.operands.is_empty() => self.effects(effects),
            _ => self.effects(entry.effects),
        }
        if let Some(&first) = self.usage.operands.first() {
            if reads_only(entry.effects) && !reads_only(entry.with_operand) {
                self.usage.extras.push(first);
            }
            self.effects(entry.with_operand);
        }
    }

    /// An exception knows a verb whose name says nothing.
    fn clear_unknown_verb(&mut self) {
        if self.verb.is_some_and(Effects::is_empty) {
            self.usage.unknown = None;
        }
    }

    /// Whether every condition holds; what is not known fits everything.
    fn holds(&self, when: &When) -> bool {
        let fits_one = |arg: &Arg, patterns: &[&str]| match &arg.text {
            Text::Known(text) => {
                let text: Cow<'_, str> =
                    if when.fold { text.to_lowercase().into() } else { text.as_str().into() };
                let fits = |patterns: &[&str]| {
                    patterns.iter().any(|pattern| glob::matches(pattern, &text))
                };
                fits(patterns) && !fits(when.except)
            }
            // It is one of the files that fit, or stays as it is written.
            Text::Files { pattern, .. } if !when.fold => patterns.iter().any(|listed| {
                sensitive::share_a_name(pattern, listed)
                    || glob::matches(listed, &pattern.replace('\\', ""))
            }),
            Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => true,
        };
        let given = || self.usage.options.iter().filter(|given| when.option.contains(&given.name));
        if !when.option.is_empty() && given().next().is_none() {
            return false;
        }
        // A dry run that is none is no reason.
        let is_dry = |name: &str| self.entry.dry.iter().any(|dry| split_value(dry).0 == name);
        let mut reasons = when.without.iter().filter(|name| self.usage.is_dry || !is_dry(name));
        if reasons.any(|name| self.usage.has_option(&[name])) {
            return false;
        }
        if when.few > 0 && self.usage.operands.len() >= when.few {
            return false;
        }
        let mut values = given().filter_map(|given| given.value.as_ref());
        if !when.value.is_empty() && !values.any(|value| fits_one(value, when.value)) {
            return false;
        }
        let mut operands = self.usage.operands.iter().filter_map(|&at| self.args.get(at));
        if when.open && !operands.clone().any(|arg| arg.as_known().is_none()) {
            return false;
        }
        if !when.first.is_empty()
            && !operands.clone().next().is_some_and(|arg| fits_one(arg, when.first))
        {
            return false;
        }
        when.operand.is_empty() || operands.any(|arg| fits_one(arg, when.operand))
    }
}
