//! Words: their parts, their expansions and what they are worth.

use portcullis_shell::{
    Action, CommandForm, Expansion, Part, PartKind, Place, Prefix, Tree, Value, Word,
};

use super::commands::{assignment, each, only, script};
use super::{Fact, Node, Worth};

pub(super) fn word<'t>(tree: &'t Tree, word: &'t Word) -> Node<'t> {
    let place = match word.place {
        Place::Alternative => "alternative",
        Place::Argument => "argument",
        Place::AssignmentArgument => "assignment-argument",
        Place::Value => "value",
        Place::Target => "target",
        Place::Pattern => "pattern",
        Place::Single => "single",
        Place::Delimiter => "delimiter",
        Place::Body => "body",
        Place::Arithmetic => "arithmetic",
        Place::Name => "name",
    };
    let mut node = Node::new("word", tree.locate(word.span))
        .text("text", tree.text(word.span))
        .name("place", place);
    // What an alternative is worth shows in the word around it.
    if word.place != Place::Alternative {
        node = node.fact("value", Fact::Worth(worth(tree, tree.value(word))));
    }
    node.many("parts", each(tree, word.parts, part))
}

fn worth<'t>(tree: &'t Tree, value: Value<'t>) -> Worth<'t> {
    match value {
        Value::Literal(text) => Worth::Literal(text),
        Value::Set(values) => {
            Worth::Set(values.into_iter().map(|value| worth(tree, value)).collect())
        }
        Value::Pattern { prefix } => Worth::Pattern(prefix),
        Value::Tainted(taint) => Worth::Tainted {
            kind: taint.kind,
            span: tree.locate(taint.span),
            prefix: taint.prefix,
            one_field: taint.one_field,
        },
    }
}

fn part<'t>(tree: &'t Tree, part: &'t Part) -> Node<'t> {
    let at = |kind| Node::new(kind, tree.locate(part.span));
    match part.kind {
        PartKind::Literal => at("literal").text("text", tree.text(part.span)),
        PartKind::Escaped(text) => at("escaped").text("text", tree.text(text)),
        PartKind::SingleQuoted(text) => at("single-quoted").text("text", tree.text(text)),
        PartKind::AnsiC(text) => at("ansi-c").text("text", tree.text(text)),
        PartKind::DoubleQuoted { parts, locale } => {
            at("double-quoted").flag("locale", locale).many("parts", each(tree, parts, self::part))
        }
        PartKind::Parameter(list) => match tree.only(list) {
            Some(parameter) => expansion(tree, at("parameter"), parameter),
            None => at("parameter"),
        },
        PartKind::Command { form, script: body } => {
            let form = match form {
                CommandForm::Dollar => "dollar",
                CommandForm::Backtick => "backtick",
                CommandForm::Brace => "brace",
                CommandForm::BraceReply => "brace-reply",
            };
            at("command-substitution").name("form", form).one("script", Some(script(tree, body)))
        }
        PartKind::Process { output, script: body } => at("process-substitution")
            .flag("output", output)
            .one("script", Some(script(tree, body))),
        PartKind::Arithmetic { bracket, expression } => at("arithmetic")
            .flag("bracket", bracket)
            .one("expression", only(tree, expression, word)),
        PartKind::Glob => at("glob").text("text", tree.text(part.span)),
        PartKind::ExtendedGlob { operator: _, alternatives } => at("extended-glob")
            .text("sign", tree.text(part.span).get(..1).unwrap_or_default())
            .many("alternatives", each(tree, alternatives, word)),
        PartKind::Brace(alternatives) => {
            at("brace").many("alternatives", each(tree, alternatives, word))
        }
        PartKind::Sequence => at("sequence").text("text", tree.text(part.span)),
        PartKind::Tilde => at("tilde").text("text", tree.text(part.span)),
        PartKind::Array(elements) => at("array").many("elements", each(tree, elements, assignment)),
    }
}

fn expansion<'t>(tree: &'t Tree, node: Node<'t>, expansion: &'t Expansion) -> Node<'t> {
    let operator = match expansion.operator {
        Action::Read => "read",
        Action::Default => "default",
        Action::Assign => "assign",
        Action::Complain => "complain",
        Action::Alternative => "alternative",
        Action::Slice => "slice",
        Action::Trim => "trim",
        Action::Replace => "replace",
        Action::Case => "case",
        Action::Transform => "transform",
    };
    let mut node = node.text("name", tree.text(expansion.name)).flag("braced", expansion.braced);
    match expansion.prefix {
        Prefix::None => {}
        Prefix::Length => node = node.name("prefix", "length"),
        Prefix::Indirect => node = node.name("prefix", "indirect"),
        Prefix::Names => node = node.name("prefix", "names"),
    }
    node = node.name("operator", operator);
    if !expansion.sign.is_empty() {
        node = node.text("sign", tree.text(expansion.sign));
    }
    node.one("subscript", only(tree, expansion.subscript, word))
        .many("arguments", each(tree, expansion.arguments, word))
}
