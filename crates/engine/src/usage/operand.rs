//! Operands: sub-commands, services and their verbs, and what else has no dash.

use super::{Reader, reads_only};
use crate::arg::{Arg, Text};
use crate::catalog::{Entry, Except, Role, Services, ValueKind};
use crate::effect::Effects;
use crate::few::Few;
use crate::glob;

impl<'a> Reader<'a> {
    /// Takes an operand; false once the rest is a command of its own.
    pub(super) fn operand(&mut self, at: usize) -> bool {
        let Some(arg) = self.args.get(at) else { return true };
        let may_be_sub = !self.entry.subs.is_empty() || self.entry.services != Services::None;
        if may_be_sub && self.usage.operands.is_empty() && self.verb.is_none() && self.sub(arg, at)
        {
            return true;
        }
        self.usage.operands.push(at);
        let place = self.usage.operands.len() - 1;
        let skipped = usize::from(self.has_unless);
        let command = self.entry.operands.iter().position(|role| role.kind == ValueKind::Command);
        if command.is_some_and(|command| place + skipped >= command) {
            self.usage.command = Some(at);
            return false;
        }
        if command.is_some() && matches!(arg.text, Text::Any(_) | Text::Files { .. }) {
            let message = "this word may become several, and one of them the command";
            self.unknown(message, arg.span, true);
        }
        true
    }

    /// Takes a sub-command, a service or its verb; false if the word is an ordinary operand.
    fn sub(&mut self, arg: &'a Arg, at: usize) -> bool {
        let Some(name) = arg.as_known() else {
            let takes_operands = !self.entry.operands.is_empty() || self.entry.any_operand;
            if !takes_operands || self.entry.services != Services::None {
                self.unknown("this word decides what the program does", arg.span, true);
            }
            return false;
        };
        if let Some(sub) = self.entry.sub(name) {
            self.usage.subs.push(at);
            self.services.push(name);
            self.enter(sub.entry);
            if sub.entry.named {
                self.usage.extras.push(at);
            }
            return true;
        }
        if let Some(service) = self.serving() {
            return self.service(service, name, at);
        }
        if let Some(sub) = self.entry.otherwise.and_then(|meant| self.entry.sub(meant)) {
            self.enter(sub.entry);
            return self.sub_again(arg, at);
        }
        if self.entry.operands.is_empty() && !self.entry.any_operand {
            self.unknown(&format!("sub-command `{name}` is not known"), arg.span, false);
        }
        false
    }

    /// Tries the word in the entry just entered; an operand there is not taken here.
    fn sub_again(&mut self, arg: &'a Arg, at: usize) -> bool {
        !self.entry.subs.is_empty() && self.sub(arg, at)
    }

    pub(super) fn enter(&mut self, entry: &'static Entry) {
        self.outer.push(self.entry);
        self.entry = entry;
    }

    /// The entry whose verbs count here: this one, or one around it unless this one is closed.
    fn serving(&self) -> Option<&'static Entry> {
        if self.entry.services != Services::None {
            return Some(self.entry);
        }
        if self.entry.closed || self.entry.otherwise.is_some() {
            return None;
        }
        self.outer.iter().rev().copied().find(|entry| entry.services != Services::None)
    }

    /// Takes a word as the name of a service or as its verb.
    fn service(&mut self, entry: &'static Entry, name: &'a str, at: usize) -> bool {
        if let Services::Words(words) = entry.services
            && self.services.is_empty()
            && words.iter().any(|word| word.strip_prefix('^') == Some(name))
        {
            // A stage such as `beta` stands before the service and changes nothing.
            self.usage.subs.push(at);
            return true;
        }
        let is_group = match entry.services {
            Services::None => false,
            Services::Any => self.services.is_empty(),
            Services::All => self
                .args
                .get(at + 1)
                .is_some_and(|next| next.as_known().is_some_and(|word| !word.starts_with('-'))),
            Services::Words(words) => {
                let parent = self.services.last();
                let is_listed = |word: &&str| {
                    word.ends_with(name)
                        && match word.split_once('/') {
                            Some((above, below)) => below == name && parent == Some(&above),
                            None => *word == name,
                        }
                };
                let is_first = self.services.is_empty() && entry.services_first.contains(&name);
                is_first || words.iter().any(is_listed)
            }
        };
        self.usage.subs.push(at);
        self.services.push(name);
        if !is_group {
            self.verb = Some(verb(entry, name));
            if self.verb.is_some_and(Effects::is_empty) {
                let span = self.args.get(at).map(|arg| arg.span).unwrap_or_default();
                self.unknown(&format!("`{name}` is not known"), span, false);
            }
        }
        true
    }

    /// The exceptions that fit the words up to the verb and the options.
    pub(super) fn excepted(&self) -> Option<&'static Except> {
        let path = self.services.join(" ");
        let entries = [self.entry].into_iter().chain(self.outer.iter().rev().copied());
        entries.flat_map(|entry| entry.except).find(|except| {
            except.path.iter().any(|pattern| glob::matches(pattern, &path))
                && (except.option.is_empty() || self.usage.has_option(except.option))
        })
    }

    /// Gives every operand its role.
    pub(super) fn place_operands(&mut self) {
        let mut roles = self.entry.operands;
        if self.has_unless {
            roles = roles.split_first().map_or(roles, |(_, rest)| rest);
        }
        if self.has_target {
            roles = roles.split_last().map_or(roles, |(_, rest)| rest);
        }
        let operands = std::mem::replace(&mut self.usage.operands, Few::new(0));
        let star = roles.iter().position(|role| role.count == '*');
        let behind = star.map_or(0, |star| roles.len() - star - 1);
        let is_several = |place: &usize| {
            let arg = self.args.get(*place);
            arg.is_some_and(|arg| matches!(arg.text, Text::Any(_) | Text::Files { .. }))
        };
        // What stands behind those of any number stands there however many they are.
        let has_tail = behind > 0
            && operands.len() > behind
            && !operands.iter().rev().take(behind).any(is_several);
        let several: Few<bool, 8> = operands.iter().map(is_several).collect();
        let mut is_uncertain = false;
        for (at, &place) in operands.iter().enumerate() {
            let left = operands.len() - at;
            let found = match star {
                Some(star) if at >= star && left > behind => Some(star),
                Some(_) if left <= behind => Some(roles.len() - left),
                _ => Some(at),
            };
            let role = found.and_then(|found| roles.get(found));
            let Some(arg) = self.args.get(place) else { continue };
            // Once a word may be several, each later place may hold any later word.
            is_uncertain |= several.get(at).copied().unwrap_or_default();
            if is_uncertain && !(has_tail && left <= behind) {
                let before = if has_tail { roles.len() - behind } else { roles.len() };
                let roles = roles.get(..before).unwrap_or_default();
                self.any_role(roles, found.unwrap_or_default(), arg, place);
                continue;
            }
            match role {
                Some(&role) => {
                    if self.writes_beside(role) {
                        self.usage.extras.push(place);
                    }
                    self.value(role.kind, arg, place, None);
                }
                None => {
                    self.unknown(
                        "more operands than the program is known to take",
                        arg.span,
                        false,
                    );
                }
            }
        }
        self.usage.operands = operands;
    }

    /// Whether a reader that is given this operand is not reading any more: one more word names
    /// what it writes.
    fn writes_beside(&self, role: Role) -> bool {
        matches!(
            role.kind,
            ValueKind::Write | ValueKind::Into | ValueKind::Tree | ValueKind::Output
        ) && role.count == '?'
            && reads_only(self.entry.effects)
    }

    /// A word that may stand in any place from `from` on.
    fn any_role(&mut self, roles: &'static [Role], from: usize, arg: &Arg, place: usize) {
        let mut kinds: Vec<ValueKind> = Vec::new();
        if roles.iter().skip(from).any(|role| self.writes_beside(*role)) {
            self.usage.extras.push(place);
        }
        for role in roles.iter().skip(from) {
            if !kinds.contains(&role.kind) {
                kinds.push(role.kind);
            }
        }
        if kinds.is_empty() {
            self.unknown("more operands than the program is known to take", arg.span, false);
        }
        for kind in kinds {
            self.value(kind, arg, place, None);
        }
    }
}

/// What a verb does by its name; nothing if its name says nothing.
fn verb(entry: &'static Entry, name: &str) -> Effects {
    let fits = |patterns: &&[&str]| patterns.iter().any(|pattern| glob::matches(pattern, name));
    entry
        .verbs
        .iter()
        .find(|(_, patterns)| fits(patterns))
        .map_or(Effects(0), |(effects, _)| *effects)
}
