//! Scripts, pipelines, commands, redirections and tests.

use portcullis_shell::{
    Arm, ArmEnd, Assigned, Assignment, Branch, Command, Descriptor, Heredoc, Item, Join, Kind,
    List, Loop, Operator, Pipeline, Redirection, Script, Shelved, Span, Test, TestKind, Tree,
};

use super::{Fact, Node};

/// The outline of a whole tree.
pub fn outline(tree: &Tree) -> Node<'_> {
    script(tree, tree.root())
}

/// The outlines of a list.
pub(super) fn each<'t, T: Shelved>(
    tree: &'t Tree,
    list: List<T>,
    outline: fn(&'t Tree, &'t T) -> Node<'t>,
) -> Vec<Node<'t>> {
    tree.list(list).iter().map(|node| outline(tree, node)).collect()
}

/// The outline of the one node a list holds, if it holds one.
pub(super) fn only<'t, T: Shelved>(
    tree: &'t Tree,
    list: List<T>,
    outline: fn(&'t Tree, &'t T) -> Node<'t>,
) -> Option<Node<'t>> {
    tree.only(list).map(|node| outline(tree, node))
}

use super::words::word;

pub(super) fn script(tree: &Tree, script: Script) -> Node<'_> {
    Node::new("script", tree.locate(script.span)).many("items", each(tree, script.items, item))
}

fn item<'t>(tree: &'t Tree, item: &'t Item) -> Node<'t> {
    Node::new("item", tree.locate(item.span))
        .flag("background", item.background)
        .many("pipelines", each(tree, item.pipelines, pipeline))
}

fn pipeline<'t>(tree: &'t Tree, pipeline: &'t Pipeline) -> Node<'t> {
    let join = match pipeline.join {
        Join::First => "first",
        Join::And => "and",
        Join::Or => "or",
    };
    let mut node = Node::new("pipeline", tree.locate(pipeline.span))
        .name("join", join)
        .fact("bangs", Fact::Count(pipeline.bangs));
    if let Some(time) = pipeline.time {
        node = node.name("time", if time.posix { "posix" } else { "default" });
    }
    node.many("commands", each(tree, pipeline.commands, command))
}

fn command<'t>(tree: &'t Tree, command: &'t Command) -> Node<'t> {
    let at = |kind| Node::new(kind, tree.locate(command.span));
    let node = match command.kind {
        Kind::Simple(simple) => at("simple")
            .many("assignments", each(tree, simple.assignments, assignment))
            .many("words", each(tree, simple.words, word)),
        Kind::Subshell(body) => at("subshell").one("body", Some(script(tree, body))),
        Kind::Group(body) => at("group").one("body", Some(script(tree, body))),
        Kind::If(branches) => at("if").many("branches", each(tree, branches, branch)),
        Kind::While(body) => guarded(tree, at("while"), body),
        Kind::Until(body) => guarded(tree, at("until"), body),
        Kind::For(round) => looped(tree, at("for"), round),
        Kind::Select(round) => looped(tree, at("select"), round),
        Kind::ArithmeticFor { head, body } => at("arithmetic-for")
            .many("head", each(tree, head, word))
            .one("body", Some(script(tree, body))),
        Kind::Case { subject, arms } => {
            at("case").one("subject", only(tree, subject, word)).many("arms", each(tree, arms, arm))
        }
        Kind::Function { name, body, keyword } => at("function")
            .flag("keyword", keyword)
            .one("name", only(tree, name, word))
            .one("body", only(tree, body, self::command)),
        Kind::Test(condition) => at("test").one("condition", only(tree, condition, test)),
        Kind::Arithmetic(expression) => {
            at("arithmetic").one("expression", only(tree, expression, word))
        }
        Kind::Coproc { name, command } => at("coproc")
            .one("name", only(tree, name, word))
            .one("command", only(tree, command, self::command)),
    };
    node.flag("pipes_errors", command.pipes_errors)
        .many("redirections", each(tree, command.redirections, redirection))
}

fn guarded<'t>(tree: &'t Tree, node: Node<'t>, branch: Branch) -> Node<'t> {
    node.one("condition", branch.condition.map(|condition| script(tree, condition)))
        .one("body", Some(script(tree, branch.body)))
}

fn looped<'t>(tree: &'t Tree, node: Node<'t>, round: Loop) -> Node<'t> {
    let mut node = node.one("name", only(tree, round.name, word));
    // `for x` walks the positional parameters, `for x in` walks nothing: absent is not empty.
    if let Some(words) = round.words {
        node = node.many("words", each(tree, words, word));
    }
    node.one("body", Some(script(tree, round.body)))
}

fn branch<'t>(tree: &'t Tree, branch: &'t Branch) -> Node<'t> {
    let start = branch.condition.map_or(branch.body.span, |condition| condition.span);
    let span = cover(tree.locate(start), tree.locate(branch.body.span));
    guarded(tree, Node::new("branch", span), *branch)
}

fn arm<'t>(tree: &'t Tree, arm: &'t Arm) -> Node<'t> {
    let end = match arm.end {
        ArmEnd::Break => "break",
        ArmEnd::FallThrough => "fall-through",
        ArmEnd::TryNext => "try-next",
    };
    Node::new("arm", tree.locate(arm.span))
        .name("end", end)
        .many("patterns", each(tree, arm.patterns, word))
        .one("body", Some(script(tree, arm.body)))
}

pub(super) fn assignment<'t>(tree: &'t Tree, assignment: &'t Assignment) -> Node<'t> {
    let mut node = Node::new("assignment", tree.locate(assignment.span));
    if !assignment.name.is_empty() {
        node = node.text("name", tree.text(assignment.name));
    }
    let node = node
        .flag("appends", assignment.appends)
        .one("subscript", only(tree, assignment.subscript, word));
    match assignment.value {
        Assigned::Word(value) => node.one("value", only(tree, value, word)),
        Assigned::Array(elements) => node.many("elements", each(tree, elements, self::assignment)),
    }
}

fn redirection<'t>(tree: &'t Tree, redirection: &'t Redirection) -> Node<'t> {
    let operator = match redirection.operator {
        Operator::Read => "read",
        Operator::Write => "write",
        Operator::Append => "append",
        Operator::Clobber => "clobber",
        Operator::ReadWrite => "read-write",
        Operator::CopyIn => "copy-in",
        Operator::CopyOut => "copy-out",
        Operator::WriteBoth => "write-both",
        Operator::AppendBoth => "append-both",
        Operator::Heredoc => "heredoc",
        Operator::HeredocTabs => "heredoc-tabs",
        Operator::HereString => "here-string",
    };
    let mut node = Node::new("redirection", tree.locate(redirection.span));
    match redirection.descriptor {
        Descriptor::Default => {}
        Descriptor::Number(digits) => node = node.text("descriptor", tree.text(digits)),
        Descriptor::Variable(name) => node = node.text("variable", tree.text(name)),
    }
    node.name("operator", operator)
        .text("sign", redirection.operator.text().as_bytes())
        .one("target", only(tree, redirection.target, word))
        .one("heredoc", redirection.heredoc.map(|body| heredoc(tree, body)))
}

fn heredoc(tree: &Tree, heredoc: Heredoc) -> Node<'_> {
    Node::new("heredoc", tree.locate(heredoc.span))
        .flag("quoted", heredoc.quoted)
        .flag("closed", heredoc.closed)
        .one("body", only(tree, heredoc.body, word))
}

fn test<'t>(tree: &'t Tree, test: &'t Test) -> Node<'t> {
    let at = |kind| Node::new(kind, tree.locate(test.span));
    match test.kind {
        TestKind::Or(tests) => at("or").many("tests", each(tree, tests, self::test)),
        TestKind::And(tests) => at("and").many("tests", each(tree, tests, self::test)),
        TestKind::Not(inner) => at("not").one("test", only(tree, inner, self::test)),
        TestKind::Group(inner) => at("group").one("test", only(tree, inner, self::test)),
        TestKind::Unary(sign, words) => {
            at("unary").text("sign", tree.text(sign)).many("words", each(tree, words, word))
        }
        TestKind::Binary(sign, words) => {
            at("binary").text("sign", tree.text(sign)).many("words", each(tree, words, word))
        }
        TestKind::Word(words) => at("non-empty").many("words", each(tree, words, word)),
    }
}

fn cover(a: Span, b: Span) -> Span {
    Span { start: a.start.min(b.start), end: a.end.max(b.end) }
}
