//! What a command can do to the parameters of the shell it runs in.

use crate::dialect::Dialect;
use crate::tree::{Assigned, Command, Kind, Tree};
use crate::value::Value;
use crate::word::{Action, Expansion, PartKind, Prefix, Word};

/// What a simple command does to the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing: it runs as a process of its own, or is a builtin that keeps to itself.
    None,
    /// Its arguments are assignments.
    Declares,
    /// It unsets what it names.
    Unsets,
    /// It may change any parameter now.
    ChangesAny,
    /// It may change any parameter now and later, through a trap, an alias or a sourced text.
    ChangesLater,
}

impl Effect {
    /// This effect if one of the words may be one of these texts.
    fn where_any(self, tree: &Tree, words: &[Word], texts: &[&[u8]]) -> Effect {
        let may_be = |word: &Word| match tree.value(word) {
            Value::Literal(text) => texts.contains(&text),
            Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => true,
        };
        if words.iter().any(may_be) { self } else { Effect::None }
    }
}

/// Builtins that may change any parameter when they run.
const CHANGERS: [&[u8]; 16] = [
    b"builtin",
    b"declare",
    b"getopts",
    b"let",
    b"local",
    b"mapfile",
    b"print",
    b"printf",
    b"read",
    b"readarray",
    b"test",
    b"typeset",
    b"vared",
    b"wait",
    b"zparseopts",
    b"[",
];

/// Builtins after which any command may change any parameter.
const POISONERS: [&[u8]; 12] = [
    b".",
    b"alias",
    b"autoload",
    b"bind",
    b"enable",
    b"eval",
    b"functions",
    b"source",
    b"trap",
    b"unalias",
    b"zle",
    b"zmodload",
];

/// What must be known of the whole text before the walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// Functions the text defines, sorted.
    functions: Vec<Vec<u8>>,
    /// Names that are assigned to more than once, or by something else than an assignment; sorted.
    unstable: Vec<Vec<u8>>,
    /// Whether something in the text may change any parameter.
    pub(super) has_changer: bool,
    /// Names that some declaration gives a nature of its own: `readonly x`, `declare -i x`; sorted.
    barred: Vec<Vec<u8>>,
    /// Whether such a declaration does not say which name it means.
    pub(super) bars_any: bool,
    /// Whether the text speaks of `IFS`.
    pub(super) names_ifs: bool,
}

impl Summary {
    pub(super) fn of(tree: &Tree) -> Summary {
        let mut summary = Summary {
            names_ifs: tree.text.windows(3).any(|window| window == b"IFS"),
            ..Summary::default()
        };
        let mut assigned: Vec<&[u8]> =
            tree.assignments.iter().map(|assignment| tree.text(assignment.name)).collect();
        for command in &tree.commands {
            if let Kind::Function { name, .. } = command.kind {
                summary.functions.extend(tree.only(name).map(|word| tree.text(word.span).to_vec()));
            }
            if let Kind::For(each) | Kind::Select(each) = command.kind {
                let name = tree.only(each.name);
                summary.unstable.extend(name.map(|word| tree.text(word.span).to_vec()));
            }
        }
        for word in &tree.words {
            if word.place == crate::word::Place::AssignmentArgument {
                assigned.push(assigned_name(tree.text(word.span)));
            }
        }
        for expansion in &tree.expansions {
            if super::assigns(expansion.operator) {
                summary.unstable.push(tree.text(expansion.name).to_vec());
            }
        }
        assigned.sort_unstable();
        let mut rest = assigned.as_slice();
        while let [first, tail @ ..] = rest {
            if tail.first() == Some(first)
                && summary.unstable.last().map(Vec::as_slice) != Some(*first)
            {
                summary.unstable.push(first.to_vec());
            }
            rest = tail;
        }
        summary.note_natures(tree);
        summary.unstable.sort_unstable();
        summary.functions.sort_unstable();
        summary.has_changer = tree.commands.iter().any(|command| summary.changes(tree, command))
            || tree.words.iter().any(|word| evaluates(tree, word));
        summary
    }

    /// Notes the names whose assignments do not give what they say.
    fn note_natures(&mut self, tree: &Tree) {
        for command in &tree.commands {
            let Kind::Simple(simple) = command.kind else { continue };
            let words = tree.list(simple.words);
            let at = words.iter().position(|word| is_declaration(tree, word));
            let Some((program, rest)) = at.and_then(|at| words.get(at..)?.split_first()) else {
                continue;
            };
            let is_option = |word: &&Word| match tree.value(word) {
                Value::Literal(text) => text.starts_with(b"-") || text.starts_with(b"+"),
                Value::Tainted(_) | Value::Set(_) | Value::Pattern { .. } => false,
            };
            if tree.value(program) != Value::Literal(b"readonly")
                && !rest.iter().any(|w| is_option(&w))
            {
                continue;
            }
            self.bars_any |=
                rest.iter().any(|word| is_option(&word) && tree.text(word.span).contains(&b'n'));
            for word in rest.iter().filter(|word| !is_option(word)) {
                match (tree.value(word), word.place) {
                    (Value::Literal(_), _) | (_, crate::word::Place::AssignmentArgument) => {
                        self.barred.push(assigned_name(tree.text(word.span)).to_vec());
                    }
                    _ => self.bars_any = true,
                }
            }
        }
        self.barred.sort_unstable();
    }

    /// Whether an assignment to this name may give something else than it says.
    pub(super) fn is_barred(&self, name: &[u8]) -> bool {
        self.bars_any || self.barred.binary_search_by(|known| known.as_slice().cmp(name)).is_ok()
    }

    fn changes(&self, tree: &Tree, command: &Command) -> bool {
        if let Kind::Simple(simple) = command.kind {
            let effect = self.effect(tree, tree.list(simple.words));
            return matches!(effect, Effect::ChangesAny | Effect::ChangesLater);
        }
        matches!(command.kind, Kind::Arithmetic(_) | Kind::ArithmeticFor { .. })
    }

    /// Whether a name is assigned to in one place only.
    pub(super) fn is_stable(&self, name: &[u8]) -> bool {
        self.unstable.binary_search_by(|known| known.as_slice().cmp(name)).is_err()
    }

    /// What a simple command with these words does to the parameters.
    pub(super) fn effect(&self, tree: &Tree, words: &[Word]) -> Effect {
        let Some((first, rest)) = words.split_first() else { return Effect::None };
        let Value::Literal(program) = tree.value(first) else { return Effect::ChangesAny };
        if self.functions.binary_search_by(|known| known.as_slice().cmp(program)).is_ok() {
            return Effect::ChangesAny;
        }
        match program {
            b"command" => match rest.first().map(|word| tree.value(word)) {
                None | Some(Value::Literal(b"-v" | b"-V")) => Effect::None,
                Some(Value::Literal(option)) if option.starts_with(b"-") => Effect::ChangesAny,
                Some(_) => self.effect(tree, rest),
            },
            b"printf" | b"test" | b"[" => uses_option_v(tree, rest),
            b"declare" | b"typeset" if tree.dialect == Dialect::Sh => Effect::ChangesAny,
            // Outside a function it fails, and nothing is assigned.
            b"local" if self.functions.is_empty() => Effect::ChangesAny,
            b"declare" | b"export" | b"local" | b"readonly" | b"typeset" => {
                plain_declaration(tree, rest)
            }
            b"unset" => Effect::Unsets,
            b"shopt" | b"set" => {
                Effect::ChangesLater.where_any(tree, rest, &[b"failglob", b"posix"])
            }
            _ if CHANGERS.contains(&program) => Effect::ChangesAny,
            _ if POISONERS.contains(&program) => Effect::ChangesLater,
            _ => Effect::None,
        }
    }
}

fn is_declaration(tree: &Tree, word: &Word) -> bool {
    const DECLARATIONS: [&[u8]; 7] =
        [b"declare", b"export", b"float", b"integer", b"local", b"readonly", b"typeset"];
    matches!(tree.value(word), Value::Literal(text) if DECLARATIONS.contains(&text))
}

/// The name before the sign of an assignment.
pub(super) fn assigned_name(text: &[u8]) -> &[u8] {
    text.split(|byte| matches!(byte, b'=' | b'+' | b'[')).next().unwrap_or_default()
}

/// `declare x=1` assigns; any option may give the name a nature of its own.
fn plain_declaration(tree: &Tree, words: &[Word]) -> Effect {
    let is_plain = words.iter().all(|word| match tree.value(word) {
        Value::Literal(text) => !text.starts_with(b"-") && !text.starts_with(b"+"),
        Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
            word.place == crate::word::Place::AssignmentArgument
        }
    });
    if is_plain { Effect::Declares } else { Effect::ChangesAny }
}

/// `printf -v` and `test -v` take a name, and names are evaluated.
fn uses_option_v(tree: &Tree, words: &[Word]) -> Effect {
    let is_known = words.iter().all(|word| match tree.value(word) {
        Value::Literal(text) => !text.starts_with(b"-v"),
        Value::Tainted(taint) => {
            taint.one_field && !taint.prefix.is_empty() && !taint.prefix.starts_with(b"-")
        }
        Value::Set(_) | Value::Pattern { .. } => false,
    });
    if is_known { Effect::None } else { Effect::ChangesAny }
}

/// Whether reading a word can evaluate an expression, which can assign to any parameter.
pub(super) fn evaluates(tree: &Tree, word: &Word) -> bool {
    if word.place == crate::word::Place::Arithmetic {
        return !is_number(tree, word);
    }
    let evaluates = |expansion: &Expansion| {
        expansion.prefix == Prefix::Indirect || expansion.operator == Action::Transform
    };
    tree.list(word.parts).iter().any(|part| {
        matches!(part.kind, PartKind::Parameter(list) if tree.only(list).is_some_and(evaluates))
    })
}

/// Whether an expression is nothing but a number, or an index of all: it can neither assign nor
/// fail, and a failure skips the rest of the line.
fn is_number(tree: &Tree, word: &Word) -> bool {
    let text = tree.text(word.span);
    matches!(text, b"@" | b"*") || text.iter().all(u8::is_ascii_digit)
}

/// Whether what is assigned is one word.
pub(super) const fn single_word(value: Assigned) -> Option<crate::tree::List<Word>> {
    match value {
        Assigned::Word(word) => Some(word),
        Assigned::Array(_) => None,
    }
}
