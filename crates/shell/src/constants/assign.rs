//! Assignments on the walk: which names become constants and which are forgotten.

use crate::constants::effect::{assigned_name, single_word};
use crate::constants::walk::Walk;
use crate::span::Span;
use crate::tree::{Assigned, Assignment, List};
use crate::value::{Stored, Value};
use crate::word::{Place, Word};

impl Walk<'_> {
    fn set(&mut self, name: Span, value: Span) {
        if self.summary.is_barred(self.tree.text(name)) {
            self.now.poison();
        } else {
            self.now.set(self.tree, name, value);
        }
    }

    pub(super) fn forget_span(&mut self, name: Span) {
        let name = self.tree.text(name).to_vec();
        self.now.forget(self.tree, &name);
    }

    pub(super) fn assignment(&mut self, assignment: Assignment) {
        self.words(assignment.subscript);
        let value = match assignment.value {
            Assigned::Word(word) => {
                self.words(word);
                single_word(assignment.value).and_then(|word| self.tree.only(word))
            }
            Assigned::Array(elements) => {
                for at in elements.range() {
                    let Some(&element) = self.tree.assignments.get(at) else { continue };
                    self.words(element.subscript);
                    if let Assigned::Word(word) = element.value {
                        self.words(word);
                    }
                }
                None
            }
        };
        let is_plain = assignment.subscript.is_empty() && !assignment.appends;
        match value.map(|word| self.tree.stored(word)) {
            Some(Stored::Literal(text)) if is_plain => {
                self.set(assignment.name, text);
            }
            _ => self.forget_span(assignment.name),
        }
        if matches!(
            self.tree.text(assignment.name),
            b"PS4"
                | b"PROMPT_COMMAND"
                | b"POSIXLY_CORRECT"
                | b"BASHOPTS"
                | b"BASH_VERSINFO"
                | b"EUID"
                | b"PPID"
                | b"SHELLOPTS"
                | b"UID"
        ) {
            self.now.poison();
        }
    }

    /// `export x=1 y`: names with a literal value become constants, all others are forgotten.
    pub(super) fn declared(&mut self, words: List<Word>) {
        for at in words.range().skip(1) {
            let Some(&word) = self.tree.words.get(at) else { continue };
            let Value::Literal(text) = self.tree.value(&word) else {
                let name = assigned_name(self.tree.text(word.span)).to_vec();
                self.now.forget(self.tree, &name);
                continue;
            };
            let Some(equals) = text.iter().position(|&byte| byte == b'=') else {
                // Inside a function `local x` hides the outer one.
                let name = text.to_vec();
                self.now.forget(self.tree, &name);
                continue;
            };
            let (name, value) = text.split_at(equals);
            if name.last() == Some(&b'+')
                || name.contains(&b'[')
                || word.place != Place::AssignmentArgument
            {
                self.now.forget_all();
                continue;
            }
            let joined = [name, value.get(1..).unwrap_or_default()].concat();
            let start = self.tree.text.len();
            self.tree.text.extend_from_slice(&joined);
            let (middle, end) = (start + equals, self.tree.text.len());
            self.set(Span::new(start, middle), Span::new(middle, end));
        }
    }

    pub(super) fn unset(&mut self, words: List<Word>) {
        for at in words.range().skip(1) {
            let Some(&word) = self.tree.words.get(at) else { continue };
            match self.tree.value(&word) {
                Value::Literal(name) if !name.contains(&b'[') => {
                    let name = name.to_vec();
                    self.now.forget(self.tree, &name);
                }
                Value::Literal(_) | Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
                    self.now.forget_all();
                }
            }
        }
    }
}
