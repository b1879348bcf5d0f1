//! Options: which one a word is, and which value belongs to it.

use portcullis_shell::Span;

use super::{GivenOption, Reader, reads_only, split_value};
use crate::arg::{Arg, Text};
use crate::catalog::{Arity, OptionSpec, Style, ValueKind};

impl Reader<'_> {
    /// Reads one option; `next` is the place of the argument after it. Gives the place to go on.
    pub(super) fn option(&mut self, text: &str, next: usize) -> usize {
        self.enter_meant(text);
        let span = self.span_before(next);
        if self.entry.style == Style::Go {
            let (name, value) = split_value(text);
            let bare = name.trim_start_matches('-');
            let behind = name.len() - bare.len();
            let with_one = behind.checked_sub(1).and_then(|at| name.get(at..));
            let found = self.find(name).or_else(|| self.find(with_one?)).or_else(|| {
                match behind.checked_sub(2).and_then(|at| name.get(at..)) {
                    Some(with_two) => self.find(with_two),
                    None => self.find(&format!("--{bare}")),
                }
            });
            return self.long(found, name, value, next);
        }
        if text.starts_with("--") {
            let (name, value) = split_value(text);
            let found = self.find(name).or_else(|| match self.entry.style {
                Style::Gnu | Style::Posix => self.entry.abbreviated(name),
                Style::Exact | Style::Go | Style::Raw => None,
            });
            return self.long(found, name, value, next);
        }
        // Some programs have whole words behind one dash.
        let (name, value) = split_value(text);
        if name.len() > 2 && self.find(name).is_some() {
            return self.long(self.find(name), name, value, next);
        }
        self.bundle(text, next, span)
    }

    /// An option that only the sub-command knows which is meant where none is named.
    fn enter_meant(&mut self, text: &str) {
        if !self.usage.operands.is_empty() {
            return;
        }
        let Some(meant) = self.entry.otherwise.and_then(|meant| self.entry.sub(meant)) else {
            return;
        };
        let (name, _) = split_value(text);
        let short = text.get(..2).unwrap_or(text);
        if self.find(name).is_none() && (text.starts_with("--") || self.find(short).is_none()) {
            self.enter(meant.entry);
        }
    }

    fn span_before(&self, next: usize) -> Span {
        next.checked_sub(1)
            .and_then(|at| self.args.get(at))
            .map_or_else(Span::default, |arg| arg.span)
    }

    fn long(
        &mut self,
        found: Option<&'static OptionSpec>,
        name: &str,
        value: Option<&str>,
        next: usize,
    ) -> usize {
        let span = self.span_before(next);
        let Some(option) = found else {
            self.unlisted(name, span);
            return next;
        };
        match (option.arity, value) {
            (Arity::None | Arity::Optional, None) => self.give(option, None, next - 1),
            (Arity::None, Some(value)) => {
                match value {
                    "true" | "1" => self.give(option, None, next - 1),
                    // Denying a flag is harmless where it leaves the flag out, or is refused.
                    "false" | "0" if !option.is_dangerous() || self.denies() => {
                        self.is_loud |= option.quiet;
                        let value = Some(Arg::known("false"));
                        self.usage.options.push(GivenOption {
                            name: option.name(),
                            value,
                            at: next - 1,
                        });
                    }
                    _ => self.unlisted(name, span),
                }
            }
            (Arity::Required | Arity::Optional, Some(value)) => {
                let arg = attached(self.args.get(next - 1), value, span);
                self.give(option, Some(arg), next - 1);
            }
            (Arity::Required, None) => return self.following(option, next),
        }
        next
    }

    /// Whether `--flag=false` leaves the flag out: so it is with clients that have sub-commands
    /// and whose options are never abbreviated.
    fn denies(&self) -> bool {
        matches!(self.entry.style, Style::Exact | Style::Go) && !self.outer.is_empty()
    }

    /// A required value in the next argument.
    fn following(&mut self, option: &'static OptionSpec, next: usize) -> usize {
        match self.args.get(next) {
            Some(arg) if arg.is_one() => {
                self.give(option, Some(arg.clone()), next - 1);
                next + 1
            }
            Some(arg) => {
                // What it may be besides stands where any operand stands.
                if !arg.is_operand {
                    self.dynamic(arg);
                }
                self.give(option, Some(arg.clone()), next - 1);
                let is_plain = |kind| {
                    matches!(kind, ValueKind::Opaque | ValueKind::Read | ValueKind::Directory)
                };
                if !arg.is_operand || !self.entry.operands.iter().all(|role| is_plain(role.kind)) {
                    self.usage.operands.push(next);
                }
                next + 1
            }
            None => {
                self.unknown("an option lacks its value", self.span_before(next), false);
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
        let mut own = String::new();
        for (at, letter) in body.char_indices() {
            // The first stands behind the dash already.
            let first = text.get(..1 + letter.len_utf8()).filter(|_| at == 0);
            let name = if let Some(first) = first {
                first
            } else {
                own.clear();
                own.push('-');
                own.push(letter);
                &own
            };
            let rest = body.get(at + letter.len_utf8()..).unwrap_or_default();
            let Some(option) = self.find(name) else {
                if self.entry.digits && letter.is_ascii_digit() {
                    continue;
                }
                self.unlisted(name, span);
                return next;
            };
            match option.arity {
                Arity::None => self.give(option, None, next - 1),
                Arity::Optional if rest.is_empty() => self.give(option, None, next - 1),
                Arity::Required if rest.is_empty() => return self.following(option, next),
                Arity::Required | Arity::Optional => {
                    let arg = attached(self.args.get(next - 1), rest, span);
                    self.give(option, Some(arg), next - 1);
                    return next;
                }
            }
        }
        next
    }

    fn unlisted(&mut self, name: &str, span: Span) {
        let any = self.entry.any_option
            || !reads_only(self.entry.effects)
                && self.outer.iter().any(|entry| entry.any_option && entry.global)
            || self.verb.is_some() && self.outer.iter().any(|entry| entry.any_option);
        self.has_unlisted = true;
        self.usage.is_loose = true;
        if !any {
            if reads_only(self.entry.effects)
                && let Some(at) = self.args.iter().position(|arg| arg.span == span)
            {
                self.usage.extras.push(at);
            }
            self.unknown(&format!("option `{name}` is not known"), span, false);
        }
    }

    /// Notes a given option with its value.
    fn give(&mut self, option: &'static OptionSpec, value: Option<Arg>, at: usize) {
        let name = option.name();
        self.option_findings.extend(option.finding);
        if option.quiet {
            // What stands before it may already have acted.
            let subs = self.usage.subs.len() + self.services.len();
            self.usage.is_quiet |= at <= subs;
            // Behind a sub-command it may be the version that this works with; before one, docker
            // and its kind go on to it.
            let is_version = matches!(name, "--version" | "-version" | "-v" | "-V");
            let behind = self.args.get(at + 1..).unwrap_or_default();
            let has_subs = !self.entry.subs.is_empty() || !self.entry.verbs.is_empty();
            let leads_on = has_subs && behind.iter().any(|arg| !arg.prefix().starts_with('-'));
            let is_behind = !self.usage.subs.is_empty() && !behind.is_empty();
            self.is_loud |= is_version && (leads_on || is_behind);
        }
        if option.edits {
            self.edits = Some(at);
        }
        self.is_listing |= self.entry.listing.contains(&name);
        self.has_unless |= self.entry.unless.contains(&name);
        self.has_target |= self.entry.target.contains(&name);
        self.effects(option.effects);
        let is_ordinary = option.effects.iter().all(|effect| !self.is_extra(effect));
        if !is_ordinary {
            self.usage.extras.push(at);
        }
        if let Some(arg) = &value {
            let at_value = if self.args.get(at).is_some_and(|word| word.span == arg.span) {
                at
            } else {
                at + 1
            };
            self.value(option.kind, arg, at_value, Some(at));
        }
        self.usage.options.push(GivenOption { name, value, at });
    }
}

/// The value attached to an option, as far as it is known.
fn attached(whole: Option<&Arg>, value: &str, span: Span) -> Arg {
    let text = match whole.map(|arg| &arg.text) {
        Some(Text::Files { pattern, .. }) => {
            let pattern = pattern.split_once('=').map_or(pattern.as_str(), |(_, value)| value);
            Text::Files { prefix: value.to_owned(), pattern: pattern.to_owned() }
        }
        Some(Text::Begins(_) | Text::Any(_) | Text::Home(_)) => Text::Begins(value.to_owned()),
        Some(Text::Known(_)) | None => Text::Known(value.to_owned()),
    };
    let ending = whole.map(|arg| arg.ending.clone()).unwrap_or_default();
    Arg { ending, ..Arg::new(text, span) }
}
