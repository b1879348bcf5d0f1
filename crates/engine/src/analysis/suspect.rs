//! Words that may be commands: what rules that deny or ask look at beside the acts.
//!
//! A program that runs others by rules which no table holds, inline code, and a program whose name
//! is not known before it runs: what they run stands somewhere in their words. Nothing is judged
//! by such words but deny and ask rules, which see a command in each of them.

use super::{Analysis, Unread};
use crate::act::Act;
use crate::arg::{Arg, Text};
use crate::catalog::{self, Services, ValueKind, Wraps};
use crate::effect::{Effect, Target};
use crate::environment::{Setting, setting};
use crate::glob;
use crate::lists;
use crate::usage::Usage;

/// How many names of a script are put together to that of a program, and how long each may be.
const PAIRED: usize = 12;
const LONGEST_NAME: usize = 32;

/// For so many programs the same names are put together.
const PROGRAMS: usize = 16;

impl Analysis<'_> {
    /// Notes the words of an act that may be commands.
    pub(crate) fn suspect(&mut self, act: &Act, usage: &Usage) {
        let is_value =
            |kind| matches!(kind, ValueKind::Code | ValueKind::Config | ValueKind::Program);
        for given in usage.values.iter().filter(|given| is_value(given.kind)) {
            self.suspect_text(given.arg.prefix(), act);
            if given.arg.as_known().is_none() {
                self.suspect_names(&[], act);
            }
        }
        for assigned in &act.assignments {
            if setting(&assigned.name, assigned.value.as_deref()) == Setting::Loader {
                match &assigned.value {
                    Some(value) => self.suspect_text(&value.clone(), act),
                    None => self.suspect_names(&[], act),
                }
            }
        }
        // A program of the workspace that bears our name.
        let sub = usage.subs.first().and_then(|at| act.args.get(at + 1)).and_then(Arg::as_known);
        let is_built =
            sub == Some("run") && act.args.iter().any(|arg| arg.prefix().contains("portcullis"));
        if is_built && let Some(at) = act.args.iter().position(|arg| arg.as_known() == Some("--")) {
            let mut words = vec![Arg::known("portcullis")];
            words.extend(act.args.iter().skip(at + 1).cloned());
            self.suspect_words(&words, act);
        }
        let entry = usage.entry;
        let args = act.args.get(1..).unwrap_or_default();
        let runs = act.unknown.is_some()
            || [Effect::Execute, Effect::Unknown, Effect::Escalate].iter().any(|&on| act.has(on));
        if usage.is_quiet || usage.is_dry {
            return;
        }
        if entry.runner || entry.wraps != Wraps::No && act.unknown.is_some() {
            self.suspect_words(args, act);
        }
        if runs {
            self.suspect_unread(args, act);
        } else if entry.services != Services::None && !act.only_reads() {
            self.suspect_remote(args, act);
        }
    }

    /// What a service is told to run elsewhere: behind `ssh`, and in options for commands.
    fn suspect_remote(&mut self, args: &[Arg], act: &Act) {
        let is_ssh = |arg: &Arg| matches!(arg.as_known(), Some("ssh" | "rsh" | "exec" | "shell"));
        if let Some(at) = args.iter().position(is_ssh) {
            self.suspect_words(args.get(at + 1..).unwrap_or_default(), act);
        }
        for (at, arg) in args.iter().enumerate() {
            let (name, value) = match arg.prefix().split_once('=') {
                Some((name, value)) => (name, value),
                None => (arg.prefix(), args.get(at + 1).map_or("", Arg::prefix)),
            };
            if lists::REMOTE_TEXTS.contains(&name) {
                self.suspect_text(value, act);
            }
        }
    }

    /// The same for a program of which nothing is known: behind `--`, and in texts.
    pub(crate) fn suspect_unread(&mut self, args: &[Arg], act: &Act) {
        if let Some(at) = args.iter().position(|arg| arg.as_known() == Some("--")) {
            self.suspect_words(args.get(at + 1..).unwrap_or_default(), act);
        }
        let is_runner =
            |arg: &Arg| arg.as_known().is_some_and(|text| lists::RUNNERS.contains(&text));
        if let Some(at) = args.iter().position(is_runner) {
            self.suspect_words(args.get(at + 1..).unwrap_or_default(), act);
        }
        for arg in args {
            let text = arg.prefix();
            // Most words hold neither, which shows in their bytes.
            let may_hold = text.bytes().any(|byte| byte <= b'!' || !byte.is_ascii());
            if may_hold && text.contains(|letter: char| letter.is_whitespace() || letter == '!') {
                self.suspect_text(text, act);
                // `--command='text'`, `-c'text'`
                let value = match text.split_once('=') {
                    _ if !text.starts_with('-') => None,
                    Some((name, value)) if !name.contains(char::is_whitespace) => Some(value),
                    _ => text.get(2..),
                };
                self.suspect_text(value.unwrap_or_default(), act);
            }
        }
    }

    /// Notes a program whose name is not known before it runs.
    pub(crate) fn suspect_program(&mut self, act: &Act) {
        let rest = act.args.get(1..).unwrap_or_default();
        if let Some(Arg { text: Text::Files { pattern, .. }, .. }) = act.args.first() {
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            let fitting = catalog::names().filter(|known| glob::matches(name, known));
            for program in fitting {
                let words = [Arg::new(Text::Known(program.to_owned()), act.span)];
                let words = words.into_iter().chain(rest.iter().cloned()).collect();
                self.found.unread.push(Unread::of_command(words, act.span, &act.via));
            }
        }
        // What follows may be blanks: `touch${IFS}x`.
        if let Some(prefix) = act.args.first().map(Arg::prefix).filter(|prefix| !prefix.is_empty())
        {
            let words = [Arg::new(Text::Known(prefix.to_owned()), act.span)];
            let words = words.into_iter().chain(rest.iter().cloned()).collect();
            self.found.unread.push(Unread::of_command(words, act.span, &act.via));
        }
        self.suspect_own(act);
        self.suspect_names(rest, act);
        self.suspect_pairs(rest, act);
    }

    /// Notes the programs whose names two names of the script make together.
    fn suspect_pairs(&mut self, rest: &[Arg], act: &Act) {
        let names = self.all_names();
        let texts = names.iter().filter_map(|on| match &on.target {
            Target::Path(name) if name.len() < LONGEST_NAME => Some(name.as_str()),
            Target::Path(_)
            | Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Host(_)
            | Target::Named(_)
            | Target::None => None,
        });
        let texts: Vec<String> = texts.take(PAIRED).map(str::to_owned).collect();
        if self.paired.0 != texts {
            self.paired = (texts.clone(), 0);
        }
        self.paired.1 += 1;
        if self.paired.1 > PROGRAMS {
            return;
        }
        for first in &texts {
            for second in &texts {
                let pair = format!("{first}{second}");
                let words = [Arg::new(Text::Known(pair), act.span)];
                let words = words.into_iter().chain(rest.iter().cloned()).collect();
                self.found.unread.push(Unread::of_command(words, act.span, &act.via));
            }
        }
    }

    /// Notes everything that unknown words may stand for here, with what follows them.
    pub(crate) fn suspect_names(&mut self, rest: &[Arg], act: &Act) {
        let of_name = |target: &Target| match target {
            Target::Path(name) => Some(Arg::new(Text::Known(name.clone()), act.span)),
            Target::Pattern(_)
            | Target::Unknown(_)
            | Target::Host(_)
            | Target::Named(_)
            | Target::None => None,
        };
        let names = self.all_names();
        if rest.is_empty() {
            if !names.is_empty() && self.suspected == names {
                return;
            }
            self.suspected.clone_from(&names);
        }
        let mut words: Vec<Arg> = names.iter().filter_map(|on| of_name(&on.target)).collect();
        if !words.is_empty() {
            let text: Vec<&str> = words.iter().map(Arg::prefix).collect();
            self.suspect_text(&text.join(" "), act);
            words.extend_from_slice(rest);
            self.guess_grave(&words, act);
            self.suspect_words(&words, act);
        }
    }

    pub(crate) fn suspect_words(&mut self, words: &[Arg], act: &Act) {
        if !words.is_empty() {
            self.found.unread.push(Unread::of_words(words.to_vec(), act.span, &act.via));
        }
    }

    pub(crate) fn suspect_text(&mut self, text: &str, act: &Act) {
        if !text.is_empty() {
            self.found.unread.push(Unread::of_text(text, act.span, &act.via));
        }
    }
}
