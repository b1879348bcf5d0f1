//! Braces beside what is not known: `~/.{a,b}`, `$x/{a,b}`.

use portcullis_shell::{Part, PartKind, Tree, Word};

use super::{Braces, Known, Shape, Signs, Text, lossless};

/// What a word with braces stands for beside something that is not known, so that its members
/// have no value of their own: each member with what it ends with, or a pattern where the members
/// are not plain.
pub(super) fn texts(tree: &Tree, word: &Word, known: Known<'_>) -> Option<Vec<(Text, String)>> {
    let parts = tree.list(word.parts);
    let brace = parts
        .iter()
        .find_map(|part| if let PartKind::Brace(words) = part.kind { Some(words) } else { None })?;
    let member = |word: &Word| {
        let parts = tree.list(word.parts);
        let is_plain = |part: &Part| matches!(part.kind, PartKind::Literal | PartKind::Tilde);
        parts.iter().all(is_plain).then(|| lossless(tree.text(word.span)))
    };
    let members: Option<Vec<String>> = tree.list(brace).iter().map(member).collect();
    let is_open = |part: &Part| {
        matches!(
            part.kind,
            PartKind::Tilde
                | PartKind::Parameter(_)
                | PartKind::DoubleQuoted { .. }
                | PartKind::Command { .. }
        )
    };
    let has_home = |members: &Vec<String>| members.iter().any(|member| member.starts_with('~'));
    if !parts.iter().any(is_open) && !members.as_ref().is_some_and(has_home) {
        return None;
    }
    let is_brace = |part: &&Part| matches!(part.kind, PartKind::Brace(_) | PartKind::Sequence);
    let members: Vec<Option<String>> = match members {
        Some(members) if parts.iter().filter(is_brace).count() == 1 => {
            members.into_iter().map(Some).collect()
        }
        _ => vec![None],
    };
    let shape = |member: Option<String>| {
        let mut shape = Shape::new(tree, known);
        shape.braces = member.clone().map_or(Braces::Any, Braces::One);
        if shape.parts(word.parts, true).is_none() {
            return (Text::Any(String::new()), ending(tree, parts, member.as_deref()));
        }
        let Shape { text, pattern, home, signs, prefix, .. } = shape;
        let text = match (signs != Signs::No, home) {
            (true, _) => Text::Files { prefix: prefix.unwrap_or_default(), pattern },
            (false, true) => Text::Home(text),
            (false, false) => Text::Known(text),
        };
        (text, String::new())
    };
    Some(members.into_iter().map(shape).collect())
}

/// The text behind the last part that is not known, with a member in the place of the braces.
fn ending(tree: &Tree, parts: &[Part], member: Option<&str>) -> String {
    let mut ending = String::new();
    for part in parts.iter().rev() {
        match (part.kind, member) {
            (PartKind::Literal, _) => ending.insert_str(0, &lossless(tree.text(part.span))),
            (PartKind::Brace(_), Some(member)) => ending.insert_str(0, member),
            _ => break,
        }
    }
    ending
}
