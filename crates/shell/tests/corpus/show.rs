//! What a case shows: the tree's shape, the values of its words, or the hazards of its text.
//!
//! Values are written one simple command to a line, in the order of the text: `X:=a` for an
//! assignment, `a` for a literal, `{a b}` for fields, `src/…glob` for a pattern,
//! `/tmp/…?parameter` for what is unknown behind a known beginning, `?parameter*` where it may
//! also be no field or many, and `> a` for a redirection.

use portcullis_shell::{
    Assigned, Assignment, Command, Kind, Reader, Redirection, Tree, Value, Word, hazards,
};

use crate::cases::{Settings, Show, encode};

/// What the reader makes of a text.
pub fn show(settings: &Settings, text: &[u8]) -> String {
    match settings.show {
        Show::Shape => read(&settings.reader, text, |tree| tree.shape().trim_end().to_owned()),
        Show::Values => read(&settings.reader, text, values),
        Show::Hazards => {
            let lines = hazards(text).into_iter().map(|hazard| {
                let bytes = hazard.span.of(text).iter();
                let bytes: Vec<String> = bytes.map(|byte| format!("‹{byte:02x}›")).collect();
                format!("{} {} at {}", hazard.kind.name(), bytes.concat(), hazard.span.start)
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

fn read(reader: &Reader, text: &[u8], show: impl FnOnce(&Tree) -> String) -> String {
    match reader.parse(text) {
        Ok(tree) => show(&tree),
        Err(refusal) => {
            let (kind, span) = (refusal.kind.name(), refusal.span);
            let place = encode(span.of(text)).escape_debug().to_string();
            format!("refused ({kind}): {} at {} `{place}`", refusal.message, span.start)
        }
    }
}

fn values(tree: &Tree) -> String {
    let mut commands: Vec<&Command> = tree.commands().collect();
    commands.sort_by_key(|command| {
        let place = tree.locate(command.span);
        (place.start, std::cmp::Reverse(place.end))
    });
    let lines = commands.into_iter().filter_map(|command| {
        let Kind::Simple(simple) = command.kind else { return None };
        let assignments = tree.list(simple.assignments).iter().map(|one| assignment(tree, one));
        let words = tree.list(simple.words).iter().map(|one| word(tree, one));
        let redirections = tree.list(command.redirections).iter().map(|one| target(tree, one));
        Some(assignments.chain(words).chain(redirections).collect::<Vec<_>>().join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn assignment(tree: &Tree, assignment: &Assignment) -> String {
    let name = encode(tree.text(assignment.name));
    let appends = if assignment.appends { "+" } else { "" };
    let value = match assignment.value {
        Assigned::Word(value) => tree.only(value).map(|one| word(tree, one)).unwrap_or_default(),
        Assigned::Array(elements) => format!("({} elements)", elements.len()),
    };
    format!("{name}:{appends}={value}")
}

fn target(tree: &Tree, redirection: &Redirection) -> String {
    let target = tree.only(redirection.target).map(|one| word(tree, one)).unwrap_or_default();
    format!("{} {target}", redirection.operator.text())
}

fn word(tree: &Tree, word: &Word) -> String {
    value(&tree.value(word))
}

fn value(one: &Value) -> String {
    match one {
        Value::Literal(text) => literal(text),
        Value::Set(fields) => {
            format!("{{{}}}", fields.iter().map(value).collect::<Vec<_>>().join(" "))
        }
        Value::Pattern { prefix } => format!("{}…glob", prefixed(prefix)),
        Value::Tainted(taint) => {
            let many = if taint.one_field { "" } else { "*" };
            let (prefix, kind) = (taint.prefix, taint.kind.name());
            let dots = if prefix.is_empty() { "" } else { "…" };
            format!("{}{dots}?{kind}{many}", prefixed(prefix))
        }
    }
}

fn prefixed(prefix: &[u8]) -> String {
    if prefix.is_empty() { String::new() } else { literal(prefix) }
}

/// A text in quotes unless it is plain.
fn literal(text: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,#~".contains(byte);
    if !text.is_empty() && text.iter().all(plain) {
        return encode(text);
    }
    let text = encode(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
