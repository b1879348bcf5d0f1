//! The card: one ask with everything that matters, the worst first.

use portcullis_approval::Moment;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::ink::Inks;
use super::{left, sized};
use crate::escape::Glyph;
use crate::render::ask::{ago, list, text};
use crate::render::paragraph;
use crate::watch::card::{Act, Card};
use crate::watch::{diff, rows};

/// So many acts are shown; the worst come first.
const MOST_ACTS: usize = 4;

/// So many rows of a long text are shown: of its beginning, around what decides, of its end.
const ROWS_AT_START: usize = 4;
const ROWS_AROUND: usize = 1;
const ROWS_AT_END: usize = 2;

/// So many lines of a change are shown.
const MOST_CHANGES: usize = 12;

/// So many other calls are named that a rule would cover.
const MOST_COVERED: usize = 3;

/// Columns of the labels on the left.
const LABEL: usize = 10;

/// The lines of a card within `columns`; `text_rows` are the rows of its text within the same.
pub fn lines(
    card: &Card,
    text_rows: &[Vec<Glyph>],
    columns: usize,
    now: Moment,
    inks: Inks,
) -> Vec<Line<'static>> {
    let mut lines = vec![title(card, columns, now, inks)];
    acts(&mut lines, card, columns, inks);
    for (index, reason) in list(card.verdict(), "reasons").iter().enumerate() {
        let firm = if index == 0 && card.is_firm() { ", firm" } else { "" };
        let label = if index == 0 { "because" } else { "also" };
        let sentence = format!("{} ({}{firm})", text(reason, "message"), text(reason, "code"));
        labelled(&mut lines, label, &sentence, columns, Style::new(), inks);
    }
    let changes = card.call().get("input").and_then(diff::changes);
    match &changes {
        Some(changes) => change_lines(&mut lines, card, changes, columns, inks),
        None => text_lines(&mut lines, card, text_rows, inks),
    }
    facts(&mut lines, card, columns, now, inks);
    let words = text(card.call(), "description");
    if !words.is_empty() {
        let style = Style::new().add_modifier(Modifier::ITALIC);
        let said = format!("\"{words}\" (the agent's own words)");
        labelled(&mut lines, "it says", &said, columns, style, inks);
    }
    for (index, offer) in card.offers().iter().enumerate() {
        let label = if index == 0 { "offers" } else { "" };
        labelled(&mut lines, label, &offer_line(offer), columns, Style::new(), inks);
    }
    lines
}

/// A row of a text: what is spelled out stands out, the rest has the colour of its act.
pub fn row(row: &[Glyph], card: &Card, inks: Inks) -> Line<'static> {
    let style = |glyph: &Glyph| match card.tier_at(glyph.start) {
        _ if glyph.is_escaped => inks.hazard(),
        Some(tier) => inks.tier(tier),
        None => Style::new(),
    };
    let is_alike = |one: &Glyph, other: &Glyph| style(one) == style(other);
    let spans = row.chunk_by(is_alike).map(|run| {
        let shown: String = run.iter().map(|glyph| glyph.shown.as_str()).collect();
        Span::styled(shown, run.first().map_or(Style::new(), style))
    });
    spans.collect()
}

/// Adds a sentence behind its label.
pub fn labelled(
    lines: &mut Vec<Line<'static>>,
    label: &str,
    sentence: &str,
    columns: usize,
    style: Style,
    inks: Inks,
) {
    let room = columns.saturating_sub(LABEL).max(10);
    for (index, line) in paragraph::lines(sentence, room).into_iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        let label = Span::styled(format!("{label:LABEL$}"), inks.frame());
        lines.push(Line::from_iter([label, Span::styled(line, style)]));
    }
}

/// One act with its effects.
pub fn act_lines(lines: &mut Vec<Line<'static>>, act: &Act, columns: usize, inks: Inks) {
    let label = format!("{:13}", act.tier);
    let room = columns.saturating_sub(label.len()).max(10);
    let words = paragraph::shorten(&act.words, 2 * room);
    for (index, line) in paragraph::lines(&words, room).into_iter().enumerate() {
        let label = if index == 0 { label.clone() } else { " ".repeat(label.len()) };
        let style = inks.tier(act.tier);
        lines.push(Line::from_iter([Span::styled(label, style), Span::styled(line, style)]));
    }
    chips(lines, &act.effects, columns, inks);
}

fn title(card: &Card, columns: usize, now: Moment, inks: Inks) -> Line<'static> {
    let when = left(card, now);
    let fallback = match card.text("fallback") {
        "" => String::new(),
        _ if columns < 60 => String::new(),
        "allow" => ", then allow".to_owned(),
        "allow-covered" => ", then allow what is covered".to_owned(),
        _ => ", then deny".to_owned(),
    };
    let when =
        if when.is_empty() { "no deadline".to_owned() } else { format!("{when} left{fallback}") };
    let tier = card.tier();
    let who = format!("{} by {}", text(card.call(), "tool"), card.text("agent"));
    let room = columns.saturating_sub(tier.len() + when.len() + 4);
    Line::from_iter([
        Span::styled(tier, inks.tier(card.tier()).add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::styled(sized(&who, room), inks.title()),
        Span::raw("  "),
        Span::raw(when),
    ])
}

fn acts(lines: &mut Vec<Line<'static>>, card: &Card, columns: usize, inks: Inks) {
    match card.acts.as_slice() {
        [] => {}
        // The command itself shows a single act.
        [only] => chips(lines, &only.effects, columns, inks),
        acts => {
            for act in acts.iter().take(MOST_ACTS) {
                act_lines(lines, act, columns, inks);
            }
            if acts.len() > MOST_ACTS {
                let more =
                    format!("{:13}and {} more that are no worse", "", acts.len() - MOST_ACTS);
                lines.push(Line::styled(more, inks.frame()));
            }
        }
    }
}

fn chips(lines: &mut Vec<Line<'static>>, effects: &[String], columns: usize, inks: Inks) {
    let mut line = Line::from(" ".repeat(13));
    let mut used = 13;
    for effect in effects {
        let chip = format!("[{}]", paragraph::cut(effect, columns.saturating_sub(18).max(10)));
        let width = chip.chars().count();
        if used > 13 && used + width > columns {
            lines.push(std::mem::replace(&mut line, Line::from(" ".repeat(13))));
            used = 13;
        }
        line.push_span(Span::styled(chip, inks.effect(effect)));
        line.push_span(" ");
        used += width + 1;
    }
    if used > 13 {
        lines.push(line);
    }
}

/// The text of the call: all of a short one, of a long one what matters, with the count of the rest.
fn text_lines(lines: &mut Vec<Line<'static>>, card: &Card, text_rows: &[Vec<Glyph>], inks: Inks) {
    let spelled = text_rows.iter().flatten().filter(|glyph| glyph.is_escaped).count();
    let size = rows::size(&card.text);
    let mut head = vec![Span::styled(format!("{:LABEL$}{size}", "call"), inks.frame())];
    if spelled > 0 {
        let what = if spelled == 1 { "1 sign" } else { &format!("{spelled} signs") };
        head.push(Span::styled(format!("; {what} spelled out that would mislead"), inks.hazard()));
    }
    lines.push(Line::from(head));
    let holds = |row: &Vec<Glyph>| row.last().is_some_and(|last| card.focus() <= last.start);
    let focus = text_rows.iter().position(holds).unwrap_or(0);
    let mut left_out = (0, 0);
    for (index, one) in text_rows.iter().enumerate() {
        let is_shown = index < ROWS_AT_START
            || index + ROWS_AT_END >= text_rows.len()
            || index.abs_diff(focus) <= ROWS_AROUND;
        if is_shown {
            left_out_line(lines, &mut left_out, inks);
            let mut line = Line::from("  ");
            line.spans.extend(row(one, card, inks).spans);
            lines.push(line);
        } else {
            let start = one.first().map_or(0, |glyph| glyph.start);
            let next = text_rows.get(index + 1).and_then(|row| row.first());
            let end = next.map_or(card.text.len(), |glyph| glyph.start);
            left_out = (left_out.0 + 1, left_out.1 + end - start);
        }
    }
    left_out_line(lines, &mut left_out, inks);
}

fn left_out_line(lines: &mut Vec<Line<'static>>, left_out: &mut (usize, usize), inks: Inks) {
    let (rows, bytes) = std::mem::take(left_out);
    if rows > 0 {
        let note = format!("  ⋯ {bytes} bytes on {rows} rows are not shown; f shows all ⋯");
        lines.push(Line::styled(note, inks.hazard()));
    }
}

fn change_lines(
    lines: &mut Vec<Line<'static>>,
    card: &Card,
    changes: &[diff::Line],
    columns: usize,
    inks: Inks,
) {
    let input = card.call().get("input").unwrap_or(&Value::Null);
    labelled(lines, "changes", diff::path(input).unwrap_or(""), columns, inks.title(), inks);
    let room = columns.saturating_sub(4).max(10);
    for change in changes.iter().take(MOST_CHANGES) {
        let style = inks.change(change.sign);
        let line = format!("  {} {}", change.sign, rows::line(&change.text, room));
        lines.push(Line::styled(line, style));
    }
    if changes.len() > MOST_CHANGES {
        let more = format!("  ⋯ {} more lines; f shows all ⋯", changes.len() - MOST_CHANGES);
        lines.push(Line::styled(more, inks.hazard()));
    }
}

fn facts(lines: &mut Vec<Line<'static>>, card: &Card, columns: usize, now: Moment, inks: Inks) {
    let cwd = text(card.call(), "cwd");
    let cwd = if cwd.is_empty() { "a directory nobody named" } else { cwd };
    labelled(lines, "in", cwd, columns, Style::new(), inks);
    let age = now.ms() - card.opened_at.ms();
    let mut who = vec![format!("asked {}", ago(age))];
    for (label, name) in [
        ("host", "host"),
        ("door", "door"),
        ("session", "session"),
        ("run", "run"),
        ("owner", "owner"),
    ] {
        let value = card.text(name);
        if !value.is_empty() {
            who.push(format!("{label} {value}"));
        }
    }
    labelled(lines, "who", &who.join(", "), columns, Style::new(), inks);
}

fn offer_line(offer: &Value) -> String {
    let texts =
        |name: &str| -> Vec<&str> { list(offer, name).iter().filter_map(Value::as_str).collect() };
    let line = format!("{} ({})", text(offer, "rule"), texts("scopes").join(", "));
    let covers: Vec<&str> = texts("also_covers").into_iter().take(MOST_COVERED).collect();
    if covers.is_empty() { line } else { format!("{line}; also covers {}", covers.join(", ")) }
}
