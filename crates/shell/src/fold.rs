//! Folding: from the parts of a word to its value.
//!
//! A word of literal and quoted text is worth that text. Braces make a set of fields, patterns
//! keep the text before them, and everything else taints. Parameters are unknown here unless
//! [`constants`] found an assignment that must have been made.

mod braces;
mod field;
mod parameter;

use field::{End, Field};

use crate::constants::{self, Constants};
use crate::dialect::Dialect;
use crate::limits::Limits;
use crate::span::{Span, narrow};
use crate::tree::{List, Tree};
use crate::value::{Stored, TaintKind};
use crate::word::{Expansion, Part, PartKind, Place, Prefix, Word};

/// Folds every word of the tree.
pub(crate) fn fold(tree: &mut Tree) {
    let nothing = Constants::default();
    tree.values.reserve_exact(tree.words.len());
    for at in 0..tree.words.len() {
        let value = value_of(tree, at, &nothing);
        tree.values.push(value);
        if let Some(word) = tree.words.get_mut(at) {
            word.value = narrow(at);
        }
    }
    if !tree.expansions.is_empty() && constants::may_exist(tree) {
        constants::propagate(tree);
    }
}

/// Folds one word again under what is known of the parameters.
pub(crate) fn fold_again(tree: &mut Tree, at: usize, known: &Constants) {
    let value = value_of(tree, at, known);
    if let Some(stored) = tree.values.get_mut(at) {
        *stored = value;
    }
}

fn value_of(tree: &mut Tree, at: usize, known: &Constants) -> Stored {
    let Some(&word) = tree.words.get(at) else { return Stored::default() };
    if word.place == Place::Alternative {
        return Stored::default();
    }
    match tree.list(word.parts) {
        [] => Stored::Literal(Span { start: word.span.start, end: word.span.start }),
        [Part { span, kind: PartKind::Literal }] => Stored::Literal(*span),
        [Part { kind: PartKind::SingleQuoted(inner) | PartKind::AnsiC(inner), .. }] => {
            Stored::Literal(*inner)
        }
        parts => match value_of_quoted(tree, parts) {
            Some(literal) => Stored::Literal(literal),
            None => Folder::new(tree, known, word).fold(word),
        },
    }
}

/// `"text"` and nothing else is worth the text between the quotes, without a copy.
fn value_of_quoted(tree: &Tree, parts: &[Part]) -> Option<Span> {
    let [Part { kind: PartKind::DoubleQuoted { parts, locale: false }, span }] = parts else {
        return None;
    };
    match tree.list(*parts) {
        [] => Some(Span { start: span.start, end: span.start }),
        [Part { span, kind: PartKind::Literal }] => Some(*span),
        _ => None,
    }
}

struct Folder<'t, 'c> {
    tree: &'t mut Tree,
    known: &'c Constants,
    place: Place,
    splits: bool,
    /// Whether the word holds braces that expand.
    has_braces: bool,
    /// The only field, as long as `fields` is empty.
    first: Field,
    fields: Vec<Field>,
    /// Where too much came together; the value is then unknown.
    overflow: Option<Span>,
}

impl<'t, 'c> Folder<'t, 'c> {
    fn new(tree: &'t mut Tree, known: &'c Constants, word: Word) -> Folder<'t, 'c> {
        // Some shells split what `export` assigns.
        let splits = matches!(word.place, Place::Argument | Place::Target)
            && tree.dialect != Dialect::Zsh
            || word.place == Place::AssignmentArgument && tree.dialect == Dialect::Sh;
        let has_braces = tree
            .list(word.parts)
            .iter()
            .any(|part| matches!(part.kind, PartKind::Brace(_) | PartKind::Sequence));
        let (first, fields, place) = (Field::default(), Vec::new(), word.place);
        Folder { tree, known, place, splits, has_braces, first, fields, overflow: None }
    }

    fn fold(mut self, word: Word) -> Stored {
        self.parts(word.parts, false);
        let is_list =
            matches!(self.place, Place::Argument | Place::AssignmentArgument | Place::Target);
        if let Some(span) = self.overflow {
            let prefix = self.first.text;
            return Stored::Tainted { kind: TaintKind::TooMany, span, prefix, one_field: !is_list };
        }
        if self.fields.is_empty() && (!is_list || self.first.is_filled()) {
            return self.first.store(!is_list);
        }
        let kept = self.fields.iter().filter(|field| field.is_filled());
        let members: Vec<Stored> = kept.map(|&field| field.store(!is_list)).collect();
        if let [only] = *members {
            return only;
        }
        let start = self.tree.sets.len();
        self.tree.sets.extend_from_slice(&members);
        Stored::set(start, members.len())
    }

    fn each(&mut self) -> &mut [Field] {
        if self.fields.is_empty() {
            std::slice::from_mut(&mut self.first)
        } else {
            &mut self.fields
        }
    }

    fn parts(&mut self, parts: List<Part>, quoted: bool) {
        for at in parts.range() {
            if self.overflow.is_some() {
                return;
            }
            if let Some(&part) = self.tree.parts.get(at) {
                self.part(part, quoted, parts, at);
            }
        }
    }

    fn part(&mut self, part: Part, quoted: bool, siblings: List<Part>, at: usize) {
        match part.kind {
            PartKind::Literal => self.append(part.span),
            PartKind::Escaped(inner) | PartKind::SingleQuoted(inner) | PartKind::AnsiC(inner) => {
                self.keep_empty();
                self.append(inner);
            }
            // Without a catalogue of translations `$"…"` is worth what it says.
            PartKind::DoubleQuoted { parts, .. } => {
                self.keep_empty_unless_list(parts);
                self.parts(parts, true);
            }
            PartKind::Glob => self.glob(part, siblings, at),
            PartKind::ExtendedGlob { .. } => self.pattern(),
            PartKind::Parameter(expansion) => self.parameter(part.span, expansion, quoted),
            PartKind::Command { .. } => self.taint(TaintKind::Command, part.span, quoted),
            PartKind::Process { .. } => self.taint(TaintKind::Process, part.span, true),
            PartKind::Arithmetic { .. } => self.taint(TaintKind::Arithmetic, part.span, quoted),
            PartKind::Tilde => self.taint(TaintKind::Tilde, part.span, true),
            PartKind::Array(_) => self.taint(TaintKind::Array, part.span, true),
            PartKind::Brace(_) | PartKind::Sequence if self.tree.braces_are_doubtful => {
                self.taint(TaintKind::Brace, part.span, false);
            }
            PartKind::Brace(alternatives) => self.brace(part.span, alternatives),
            PartKind::Sequence => self.sequence(part.span),
        }
    }

    fn keep_empty(&mut self) {
        for field in self.each() {
            field.is_kept |= field.end.is_none() && !field.is_closed;
        }
    }

    /// `"$@"` alone may be no field at all; every other quoted text is one.
    fn keep_empty_unless_list(&mut self, parts: List<Part>) {
        let is_list = self.tree.list(parts).iter().any(
            |part| matches!(part.kind, PartKind::Parameter(expansion) if self.is_list(expansion)),
        );
        if !is_list {
            self.keep_empty();
        }
    }

    fn is_list(&self, expansion: List<Expansion>) -> bool {
        let Some(expansion) = self.tree.only(expansion) else { return true };
        let is_at = |span: Span| self.tree.text(span) == b"@";
        is_at(expansion.name)
            || expansion.prefix != Prefix::None && expansion.prefix != Prefix::Length
            || self.tree.only(expansion.subscript).is_some_and(|word| is_at(word.span))
            || self
                .tree
                .list(expansion.arguments)
                .iter()
                .any(|word| self.tree.text(word.span).contains(&b'@'))
    }

    fn append(&mut self, span: Span) {
        if self.fields.is_empty() {
            self.first.append(self.tree, span);
            return;
        }
        for field in &mut self.fields {
            field.append(self.tree, span);
        }
        // Fields that grow in turn are copied each time, which must not go on for ever.
        if self.tree.text.len() > self.most_text() {
            self.first.text = Span::default();
            self.overflow = Some(span);
        }
    }

    /// How long the text may grow with what is made from it.
    fn most_text(&self) -> usize {
        let source = self.tree.origins.source_len();
        source.saturating_add(Limits::derived(source))
    }

    fn taint(&mut self, kind: TaintKind, span: Span, one_field: bool) {
        for field in self.each().iter_mut().filter(|field| !field.is_closed) {
            match &mut field.end {
                None => field.end = Some(End::Taint { kind, span, one_field }),
                // A pattern before it hides how many fields there are, whatever follows.
                Some(End::Pattern) => field.end = Some(End::Taint { kind, span, one_field: false }),
                Some(End::Taint { one_field: before, .. }) => *before &= one_field,
            }
        }
    }

    fn pattern(&mut self) {
        match self.place {
            Place::Argument | Place::Target | Place::Pattern | Place::AssignmentArgument => {
                for field in self.each().iter_mut().filter(|field| !field.is_closed) {
                    match field.end {
                        None => field.end = Some(End::Pattern),
                        Some(End::Taint { ref mut one_field, .. }) => *one_field = false,
                        Some(End::Pattern) => {}
                    }
                }
            }
            Place::Alternative
            | Place::Value
            | Place::Single
            | Place::Delimiter
            | Place::Body
            | Place::Arithmetic
            | Place::Name => {}
        }
    }

    fn glob(&mut self, part: Part, siblings: List<Part>, at: usize) {
        let is_matched = matches!(
            self.place,
            Place::Argument | Place::Target | Place::Pattern | Place::AssignmentArgument
        );
        let is_open = self.tree.text(part.span) == b"[";
        if is_matched && (!is_open || self.has_closer(siblings, at)) {
            if self.tree.patterns_are_doubtful {
                // Where letter case does not count, not even the beginning is certain.
                for field in self.each().iter_mut().filter(|field| field.end.is_none()) {
                    field.text = Span::default();
                }
                self.taint(TaintKind::Pattern, part.span, false);
                return;
            }
            self.pattern();
        } else {
            self.append(part.span);
        }
    }

    /// Whether a `]` that could close the bracket at `at` follows in the word.
    fn has_closer(&self, siblings: List<Part>, at: usize) -> bool {
        let after = self.tree.parts.get(at + 1..siblings.range().end).unwrap_or_default();
        after.iter().any(|part| {
            !matches!(part.kind, PartKind::Literal) || self.tree.text(part.span).contains(&b']')
        })
    }

    /// Gives up where values grow beyond what is kept.
    fn check_size(&mut self, span: Span) {
        let bytes: usize = self.each().iter().map(|field| field.text.len()).sum();
        if bytes > Limits::VALUE_BYTES || self.tree.text.len() > self.most_text() {
            self.first.text = Span::default();
            self.overflow = Some(span);
        }
    }
}
