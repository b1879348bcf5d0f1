//! Structure: bash prints what it has read, and we read the same commands in what it prints.
//!
//! Two readers may accept the same text and take it for different commands. `bash --pretty-print`
//! reads a text and prints it anew without running anything. Where it ended a word or a command
//! elsewhere than we did, its print has blanks, breaks and operators that are none in our tree.

use portcullis_shell::{Command, Kind, List, Part, PartKind, Reader, Span, Tree, Word};

use super::blind;

/// What differs between a text and its print, in one sentence.
///
/// Of a text with a here-document or a coprocess nothing is told: bash forgets the `;` behind the
/// one and prints a name for the other. Nor where a redirection stands before a program, since it
/// is printed behind, and the program may then be a reserved word. Nor of `${ …; }`, which bash
/// before 5.3 ends elsewhere.
pub fn differs(reader: &Reader, tree: &Tree, printed: &[u8]) -> Option<String> {
    let is_misprinted = |command: &Command| {
        let begins = command.span.start;
        matches!(command.kind, Kind::Coproc { .. })
            || matches!(command.kind, Kind::Simple(_))
                && tree.list(command.redirections).iter().any(|target| target.span.start == begins)
            || tree.list(command.redirections).iter().any(|target| target.heredoc.is_some())
    };
    if tree.commands().any(is_misprinted) || blind::may_hold_brace_command(tree.source()) {
        return None;
    }
    let Ok(again) = reader.parse(printed) else { return None };
    let (ours, theirs) = (commands(tree), commands(&again));
    let lost = theirs.iter().find(|command| !ours.contains(command));
    let invented = ours.iter().find(|command| !theirs.contains(command));
    if lost.is_none() && invented.is_none() && ours.len() == theirs.len() {
        return None;
    }
    Some(format!(
        "bash prints other commands: {} of theirs and {} of ours; it is `{}`",
        lost.map_or("none", String::as_str),
        invented.map_or("none", String::as_str),
        printed.escape_ascii()
    ))
}

/// Every simple command as it is spelled, without blanks and without what stands inside
/// substitutions, which are commands themselves.
fn commands(tree: &Tree) -> Vec<String> {
    let mut commands: Vec<String> = tree
        .commands()
        .filter_map(|command| {
            let Kind::Simple(simple) = command.kind else { return None };
            (!simple.words.is_empty()).then_some(simple)
        })
        .map(|simple| {
            let words = tree.list(simple.words).iter().map(|word| spelled(tree, word));
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    commands.sort_unstable();
    commands
}

fn spelled(tree: &Tree, word: &Word) -> String {
    let mut text = String::new();
    parts(tree, word.parts, &mut text);
    // Where quotes stay in the text, `$'a'` is printed with others.
    text.retain(|sign| !sign.is_whitespace() && !matches!(sign, '\'' | '"' | '\\'));
    text
}

/// The bytes of a text that can be seen: blanks and line breaks are printed in another number.
fn seen(tree: &Tree, span: Span) -> String {
    let bytes = tree.text(span).iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.flat_map(|byte| byte.escape_ascii()).map(char::from).collect()
}

fn words(tree: &Tree, words: List<Word>, text: &mut String) {
    for word in tree.list(words) {
        text.push('|');
        parts(tree, word.parts, text);
    }
}

fn parts(tree: &Tree, list: List<Part>, text: &mut String) {
    for part in tree.list(list) {
        match part.kind {
            PartKind::Literal | PartKind::Glob | PartKind::Tilde | PartKind::Sequence => {
                text.push_str(&seen(tree, part.span));
            }
            PartKind::Escaped(inner) | PartKind::SingleQuoted(inner) | PartKind::AnsiC(inner) => {
                text.push_str(&seen(tree, inner));
            }
            PartKind::DoubleQuoted { parts: inner, .. } => parts(tree, inner, text),
            PartKind::Parameter(expansions) => {
                for expansion in tree.list(expansions) {
                    text.push('$');
                    text.push_str(&seen(tree, expansion.name));
                    words(tree, expansion.subscript, text);
                    words(tree, expansion.arguments, text);
                }
            }
            PartKind::Command { .. } => text.push_str("$()"),
            PartKind::Process { .. } => text.push_str("<()"),
            PartKind::Arithmetic { expression, .. } => words(tree, expression, text),
            PartKind::ExtendedGlob { alternatives, .. } | PartKind::Brace(alternatives) => {
                words(tree, alternatives, text);
            }
            PartKind::Array(_) => text.push_str("()"),
        }
    }
}
