//! Redirections: the files they open, and what they feed to a command.

use portcullis_shell::{Descriptor, Heredoc, List, Operator, Redirection, Value};

use super::rounds::PIECED;
use super::walk::{Feed, Walk};
use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};
use crate::usage;

/// Files that are no files.
const STREAMS: [&str; 8] = [
    "/dev/null",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd/0",
    "/dev/fd/1",
    "/dev/fd/2",
];

impl Walk<'_, '_> {
    /// What the redirections put on a command's standard input; none if they do not.
    pub(super) fn fed(&self, redirections: List<Redirection>) -> Option<Feed> {
        let mut feed = None;
        for redirection in self.tree.list(redirections) {
            let is_input = match redirection.descriptor {
                Descriptor::Default => true,
                Descriptor::Number(span) => self.tree.text(span) == b"0",
                Descriptor::Variable(_) => false,
            };
            if !is_input {
                continue;
            }
            match (redirection.operator, redirection.heredoc) {
                (Operator::Heredoc | Operator::HeredocTabs, Some(heredoc)) => {
                    feed = Some(self.document(heredoc));
                }
                (Operator::HereString, _) => {
                    let args = self.args(self.tree.list(redirection.target));
                    feed = Some(match args.as_slice() {
                        [only] => only
                            .as_known()
                            .map_or(Feed::Unknown, |text| Feed::Text(text.to_owned())),
                        _ => Feed::Unknown,
                    });
                }
                (Operator::Read | Operator::ReadWrite | Operator::CopyIn, _) => {
                    let args = self.args(self.tree.list(redirection.target));
                    let is_empty =
                        matches!(args.as_slice(), [only] if only.as_known() == Some("/dev/null"));
                    feed = Some(if is_empty { Feed::Text(String::new()) } else { Feed::Unknown });
                }
                _ => {}
            }
        }
        feed
    }

    /// The file that redirections open as a command's standard input, if one does.
    pub(super) fn input_file(&self, redirections: List<Redirection>) -> Option<Arg> {
        let last = self.tree.list(redirections).iter().rev().find(|redirection| {
            matches!(redirection.descriptor, Descriptor::Default)
                && matches!(redirection.operator, Operator::Read | Operator::ReadWrite)
        })?;
        match self.args(self.tree.list(last.target)).as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    fn document(&self, heredoc: Heredoc) -> Feed {
        let mut text = String::new();
        for word in self.tree.list(heredoc.body) {
            match self.tree.value(word) {
                Value::Literal(part) => text.push_str(&String::from_utf8_lossy(part)),
                Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => return Feed::Unknown,
            }
        }
        Feed::Text(text)
    }

    pub(super) fn redirections(&mut self, redirections: List<Redirection>) {
        for redirection in self.tree.list(redirections) {
            let is_read = matches!(redirection.operator, Operator::Read | Operator::ReadWrite);
            if is_read && self.is_pieced(self.tree.list(redirection.target), false) {
                self.analysis.push_unknown(PIECED, self.span(redirection.span));
            }
            let first = self.analysis.found.acts.len();
            self.words(redirection.target);
            self.hand_over(first);
            self.hand_joined(self.tree.list(redirection.target));
            // `< <(echo …)`: what is only printed is known.
            let is_input = matches!(redirection.operator, Operator::Read)
                && matches!(redirection.descriptor, Descriptor::Default);
            if is_input
                && let [act] = self.analysis.found.acts.get(first..).unwrap_or_default()
                && let [word] = self.tree.list(redirection.target)
                && self.tree.text(word.span).starts_with(b"<(")
                && let Some(text) = super::simple::printed(act)
            {
                self.analysis.feed = Feed::Text(text);
            }
            if let Descriptor::Variable(span) = redirection.descriptor {
                let name = String::from_utf8_lossy(self.tree.text(span)).into_owned();
                let name = name.trim_matches(['{', '}']);
                if let Some((_, subscript)) = name.split_once('[')
                    && !subscript.trim_end_matches(']').bytes().all(|byte| byte.is_ascii_digit())
                {
                    let span = self.span(redirection.span);
                    self.analysis.push_unknown("a subscript is evaluated", span);
                }
                self.sets(name, None, redirection.span);
            }
            if let Some(heredoc) = redirection.heredoc {
                self.words(heredoc.body);
                continue;
            }
            self.redirection(redirection);
        }
    }

    /// The file a redirection opens, as an act of its own.
    fn redirection(&mut self, redirection: &Redirection) {
        let copies = matches!(redirection.operator, Operator::CopyIn | Operator::CopyOut);
        let effect = match redirection.operator {
            Operator::HereString | Operator::Heredoc | Operator::HeredocTabs => return,
            Operator::Read | Operator::CopyIn => Effect::Read,
            Operator::Write
            | Operator::Append
            | Operator::Clobber
            | Operator::ReadWrite
            | Operator::CopyOut
            | Operator::WriteBoth
            | Operator::AppendBoth => Effect::Write,
        };
        let words = self.tree.list(redirection.target);
        let is_process = words.iter().any(|word| {
            let text = self.tree.text(word.span);
            text.starts_with(b">(") || text.starts_with(b"<(")
        });
        if is_process {
            return;
        }
        let args = self.args(words);
        let [target] = args.as_slice() else {
            let span = self.span(redirection.span);
            return self.analysis.push_unknown("a redirection to an unknown place", span);
        };
        let text = target.as_known();
        if copies && text.is_some_and(is_descriptor) {
            return;
        }
        if text.is_some_and(|text| STREAMS.contains(&text)) {
            return;
        }
        let is_network =
            text.is_some_and(|text| text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/"));
        let (effect, target) = match text {
            Some(text) if is_network => (Effect::Connect, Target::Host(text.to_owned())),
            _ => (effect, usage::path(target)),
        };
        let mut effects = vec![EffectOn::new(effect, target)];
        // What is open there goes both ways, whichever way it was opened: it is no fetch.
        effects.extend(is_network.then(|| EffectOn::of(Effect::Change)));
        let mut act = Act {
            kind: ActKind::Redirection,
            span: self.span(redirection.span),
            via: self.analysis.via.clone(),
            effects,
            directory: self.analysis.state.directory.clone(),
            perhaps_in: self.analysis.state.strays.places(),
            ..Act::default()
        };
        self.analysis.give_names(&mut act);
        self.analysis.push(act);
    }
}

/// Whether the target of `>&` or `<&` is a descriptor, or closes one.
fn is_descriptor(text: &str) -> bool {
    let number = text.strip_suffix('-').unwrap_or(text);
    text == "-" || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
