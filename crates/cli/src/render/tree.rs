//! The tree, as people read it: one line per node, lists of one left out.

use std::io::{self, Write};

use portcullis_shell::{TaintKind, Tree, hazards};

use super::notes;
use crate::escape;
use crate::outline::{Children, Fact, Node, Worth, outline};
use crate::palette::{Ink, Palette};

/// How many columns of a word are shown; the rest is in the text.
const WORD_COLUMNS: usize = 72;

/// Writes a tree, and below it what in the text misleads the eye.
pub fn tree(out: &mut impl Write, tree: &Tree, palette: Palette) -> io::Result<()> {
    let node = outline(tree);
    writeln!(out, "{}", palette.paint(Ink::Name, "script"))?;
    branches(out, &node, "", palette)?;
    notes::hazards(out, tree.source(), &hazards(tree.source()), palette)
}

/// One line to come.
struct Entry<'a> {
    /// `&&` or `||`, where the node hangs on the one before it.
    mark: &'static str,
    label: String,
    node: &'a Node<'a>,
}

fn branches(out: &mut impl Write, node: &Node<'_>, lead: &str, palette: Palette) -> io::Result<()> {
    let entries = entries(node);
    let last = entries.len().saturating_sub(1);
    for (index, entry) in entries.iter().enumerate() {
        let (fork, stem) = if index == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let frame = palette.paint(Ink::Frame, &format!("{lead}{fork}"));
        writeln!(out, "{frame}{}", headline(entry, palette))?;
        branches(out, entry.node, &format!("{lead}{stem}"), palette)?;
    }
    Ok(())
}

fn entries<'a>(node: &'a Node<'a>) -> Vec<Entry<'a>> {
    if node.kind == "word" && node.children.iter().all(|(_, children)| is_still(children)) {
        return Vec::new();
    }
    let mut entries = Vec::new();
    for (role, children) in &node.children {
        for child in children.nodes() {
            let label = match (children, child.kind) {
                (Children::One(_), "word" | "script" | "heredoc") => (*role).to_owned(),
                (Children::One(_), kind) => format!("{role}: {kind}"),
                (Children::Many(_), kind) => one_of(role, kind, child).to_owned(),
            };
            entries.push(shortened(Entry { mark: "", label, node: child }));
        }
    }
    entries
}

/// What one of many children is called: by the part it plays, where that says more than its kind.
fn one_of(role: &str, kind: &'static str, child: &Node<'_>) -> &'static str {
    match (role, kind) {
        ("patterns", _) => "pattern",
        ("elements", _) => "element",
        ("arguments", _) => "argument",
        ("alternatives", _) => "alternative",
        (_, "item") if is_flagged(child, "background") => "background",
        (_, "item") => "list",
        (_, kind) => kind,
    }
}

/// Skips lists that hold one thing and say nothing about it.
fn shortened(entry: Entry<'_>) -> Entry<'_> {
    let mark = match fact(entry.node, "join") {
        Some(Fact::Name("and")) => "&&",
        Some(Fact::Name("or")) => "||",
        _ => entry.mark,
    };
    let entry = Entry { mark, ..entry };
    let says_nothing = match entry.node.kind {
        "item" => !is_flagged(entry.node, "background"),
        "pipeline" => {
            fact(entry.node, "time").is_none()
                && matches!(fact(entry.node, "bangs"), Some(Fact::Count(0)))
        }
        _ => false,
    };
    match entry.node.children.first() {
        Some((_, children)) if says_nothing => match children.nodes() {
            [only] => shortened(Entry { mark, label: only.kind.to_owned(), node: only }),
            _ => entry,
        },
        _ => entry,
    }
}

/// Whether parts are nothing but text, quoted or not; what they are worth is on the word's line.
fn is_still(parts: &Children<'_>) -> bool {
    parts.nodes().iter().all(|part| match part.kind {
        "literal" | "escaped" | "single-quoted" | "ansi-c" => true,
        "double-quoted" => part.children.iter().all(|(_, inner)| is_still(inner)),
        _ => false,
    })
}

fn headline(entry: &Entry<'_>, palette: Palette) -> String {
    let mut pieces = Vec::new();
    if !entry.mark.is_empty() {
        pieces.push(palette.paint(Ink::Frame, entry.mark));
    }
    pieces.push(palette.paint(Ink::Name, &entry.label));
    pieces.extend(entry.node.facts.iter().filter_map(|(name, value)| {
        said(entry.node, name, value, palette).filter(|said| !said.is_empty())
    }));
    pieces.join(" ")
}

/// What a fact adds to the line of its node, if it adds anything.
fn said(node: &Node<'_>, name: &str, value: &Fact<'_>, palette: Palette) -> Option<String> {
    match (name, value) {
        // The sign says it, the label has said it, or the place is plain to see.
        (
            "operator" | "join" | "place" | "background" | "braced" | "keyword" | "descriptor"
            | "variable",
            _,
        )
        | ("end", Fact::Name("break"))
        | ("form", Fact::Name("dollar")) => None,
        ("bangs", Fact::Count(count)) => Some("!".repeat(*count as usize)),
        ("time", Fact::Name(form)) => {
            Some(if *form == "posix" { "time -p" } else { "time" }.to_owned())
        }
        ("closed", Fact::Flag(closed)) => {
            (!closed).then(|| palette.paint(Ink::Unknown, "not closed"))
        }
        ("output", Fact::Flag(output)) => Some(if *output { ">( )" } else { "<( )" }.to_owned()),
        ("appends", Fact::Flag(appends)) => appends.then(|| "+=".to_owned()),
        ("pipes_errors", Fact::Flag(both)) => both.then(|| "|&".to_owned()),
        ("sign", Fact::Text(sign)) => Some(redirected(node) + &shown(sign, palette)),
        (_, Fact::Flag(flag)) => flag.then(|| name.to_owned()),
        (_, Fact::Count(count)) => Some(count.to_string()),
        (_, Fact::Name(value)) => Some((*value).to_owned()),
        (_, Fact::Text(text)) => Some(shown(text, palette)),
        (_, Fact::Worth(worth)) => valued(node, worth, palette),
    }
}

/// What stands before the sign of a redirection.
fn redirected(node: &Node<'_>) -> String {
    match (fact(node, "descriptor"), fact(node, "variable")) {
        (Some(Fact::Text(digits)), _) => cut(digits).0,
        (_, Some(Fact::Text(name))) => format!("{{{}}}", cut(name).0),
        _ => String::new(),
    }
}

/// What a word is worth, unless that is what is written.
fn valued(node: &Node<'_>, worth: &Worth<'_>, palette: Palette) -> Option<String> {
    match (worth, fact(node, "text")) {
        (Worth::Literal(value), Some(Fact::Text(text))) if value == text => None,
        (Worth::Pattern(_), _) if matches!(fact(node, "place"), Some(Fact::Name("pattern"))) => {
            None
        }
        (Worth::Tainted { .. }, _) => Some(palette.paint(Ink::Unknown, &worth_text(worth))),
        _ => Some(palette.paint(Ink::Worth, &format!("= {}", worth_text(worth)))),
    }
}

fn worth_text(worth: &Worth<'_>) -> String {
    match worth {
        Worth::Literal(b"") => "(empty)".to_owned(),
        Worth::Literal(text) => cut(text).0,
        Worth::Set(values) => {
            format!("{{{}}}", values.iter().map(worth_text).collect::<Vec<_>>().join(", "))
        }
        Worth::Pattern(b"") => "(the files that match)".to_owned(),
        Worth::Pattern(prefix) => format!("(the files that match, from {})", cut(prefix).0),
        Worth::Tainted { kind, prefix: b"", .. } => format!("(unknown: {})", why(*kind)),
        Worth::Tainted { kind, prefix, .. } => {
            format!("(unknown after {}: {})", cut(prefix).0, why(*kind))
        }
    }
}

const fn why(kind: TaintKind) -> &'static str {
    match kind {
        TaintKind::Parameter => "a parameter",
        TaintKind::Command => "the output of a command",
        TaintKind::Process => "a pipe to a process",
        TaintKind::Arithmetic => "arithmetic",
        TaintKind::Tilde => "a directory only the shell knows",
        TaintKind::Array => "the elements of an array",
        TaintKind::TooMany => "too much to keep",
        TaintKind::Brace => "braces, which not every shell expands",
        TaintKind::Pattern => "a pattern under other options",
    }
}

fn shown(text: &[u8], palette: Palette) -> String {
    let (text, has_hazards) = cut(text);
    if has_hazards { palette.paint(Ink::Hazard, &text) } else { text }
}

/// As much of a text as a line has room for, escaped, and whether anything misleading is in it.
fn cut(text: &[u8]) -> (String, bool) {
    // No character has more than four bytes, so the rest could not be shown anyway.
    let head = text.get(..(WORD_COLUMNS + 1) * 4).unwrap_or(text);
    let mut line = String::new();
    let mut columns = 0;
    let mut has_hazards = false;
    for glyph in escape::glyphs(head) {
        columns += glyph.width;
        if columns > WORD_COLUMNS {
            line.push('…');
            break;
        }
        let is_edge = glyph.start == 0 || glyph.start + 1 == text.len();
        line.push_str(if is_edge && glyph.shown == " " { "␣" } else { &glyph.shown });
        has_hazards |= glyph.is_escaped;
    }
    (line, has_hazards)
}

fn fact<'a>(node: &'a Node<'a>, name: &str) -> Option<&'a Fact<'a>> {
    node.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
}

fn is_flagged(node: &Node<'_>, name: &str) -> bool {
    matches!(fact(node, name), Some(Fact::Flag(true)))
}
