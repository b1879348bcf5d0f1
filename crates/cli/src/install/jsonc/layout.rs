//! What a text looks like behind an edit: commas, comments, blanks and line ends.

use super::place::{Place, places};
use super::tree::{Node, Reader};

/// Cuts out an item, with one comma and the blanks beside it.
pub(super) fn cut(text: &str, place: Place) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let behind = text.get(place.end..).unwrap_or_default();
    let mut reader = Reader { text, at: place.end };
    let has_comma = reader.skip().is_ok() && reader.eat(',');
    if has_comma {
        let rest = reader.rest();
        if rest.trim_start().starts_with([']', '}']) {
            // The comma of the item before ends the list now.
            return format!("{}{rest}", before.trim_end());
        }
        // The next item takes the place.
        return format!("{before}{}", rest.trim_start());
    }
    let Some(end) = place.before else { return format!("{}{behind}", before.trim_end()) };
    let between = text.get(end..place.start).unwrap_or_default();
    let mut reader = Reader { text, at: end };
    let comma = if reader.skip().is_ok() { reader.at - end } else { 0 };
    let (comment, rest) = between.split_at_checked(comma).unwrap_or((between, ""));
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_end();
    format!("{}{comment}{rest}{behind}", text.get(..end).unwrap_or_default())
}

/// Puts an item at the beginning or the end of an object or list.
pub(super) fn put(text: &str, node: &Node, item: &str, is_first: bool) -> String {
    let places = places(node);
    let is_on_lines = text.get(node.start..node.end).unwrap_or_default().contains('\n');
    let end = line_end(text);
    let blank = |start: usize| {
        if is_on_lines { format!("{end}{}", indent(text, start)) } else { " ".to_owned() }
    };
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        let own = indent(text, node.start);
        let behind = part(node.start + 1, text.len()).trim_start();
        let deeper = step(text);
        return format!("{}{end}{own}{deeper}{item}{end}{own}{behind}", part(0, node.start + 1));
    };
    if is_first {
        let blank = blank(first.start);
        return format!("{}{item},{blank}{}", part(0, first.start), part(first.start, text.len()));
    }
    // Comments behind the last item stay with it.
    let mut reader = Reader { text, at: last.end };
    let has_comma = reader.skip().is_ok() && reader.eat(',');
    let between = part(last.end, node.end - 1).trim_end();
    let (before, behind) = if has_comma { ("", ",") } else { (",", "") };
    format!(
        "{}{before}{between}{}{item}{behind}{}",
        part(0, last.end),
        blank(last.start),
        part(last.end + between.len(), text.len())
    )
}

/// How the lines of a text end.
fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// By how much a text is indented: as its first line that is.
fn step(text: &str) -> &str {
    let blanks = |line: &'_ str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = text.lines().find(|line| blanks(line) > 0 && !line.trim().is_empty());
    first.and_then(|line| line.get(..blanks(line))).unwrap_or("  ")
}

/// The blanks that the line of a place begins with.
fn indent(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|sign| *sign == ' ' || *sign == '\t').collect()
}

/// A new document, indented by its depth.
pub(super) fn laid_out(text: &str) -> String {
    let mut depth = 0_usize;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with(['}', ']']) {
            depth = depth.saturating_sub(1);
        }
        lines.push(format!("{}{line}", "  ".repeat(depth)));
        if line.ends_with(['{', '[']) {
            depth += 1;
        }
    }
    lines.join("\n")
}
