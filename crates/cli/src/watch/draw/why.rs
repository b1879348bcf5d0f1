//! Why an ask was asked: every act with what held it, and the ladder.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::card::labelled;
use super::ink::Inks;
use crate::render::ask::{list, text};
use crate::render::paragraph;
use crate::watch::card::{Card, tier};

/// The lines of an explanation; until the daemon has said it, that it is awaited.
pub fn lines(card: &Card, why: Option<&Value>, columns: usize, inks: Inks) -> Vec<Line<'static>> {
    let Some(why) = why.and_then(|why| why.get("explanation")) else {
        return vec![Line::styled("asking the daemon…", inks.frame())];
    };
    let mut lines = Vec::new();
    for act in list(why, "acts") {
        act_lines(&mut lines, card, act, columns, inks);
    }
    lines.push(Line::styled("the ladder, from the first rung", inks.title()));
    for rung in list(why, "ladder") {
        let held = list(rung, "held").len();
        let number = rung.get("rung").and_then(Value::as_u64).unwrap_or_default();
        let held = if held == 0 { "passed".to_owned() } else { format!("held {held}") };
        let sentence = format!("{number}  {}", text(rung, "about"));
        labelled(&mut lines, &held, &sentence, columns, Style::new(), inks);
    }
    lines
}

fn act_lines(lines: &mut Vec<Line<'static>>, card: &Card, act: &Value, columns: usize, inks: Inks) {
    let tier = tier(act);
    let label = format!("{tier:13}");
    let words = paragraph::shorten(&words(card, act), 4 * columns);
    let room = columns.saturating_sub(label.len()).max(10);
    for (index, line) in paragraph::lines(&words, room).into_iter().enumerate() {
        let label = if index == 0 { label.clone() } else { " ".repeat(label.len()) };
        let style = inks.tier(tier);
        lines.push(Line::from_iter([Span::styled(label, style), Span::styled(line, style)]));
    }
    let mut say = |label: &str, sentence: &str| {
        labelled(lines, label, sentence, columns, Style::new(), inks);
    };
    let reason = act.get("reason").unwrap_or(&Value::Null);
    let rung = act.get("rung").and_then(Value::as_u64).unwrap_or_default();
    let because = format!("{} ({}, rung {rung})", text(reason, "message"), text(reason, "code"));
    say(text(act, "outcome"), &because);
    if !text(act, "rule").is_empty() {
        say("rule", &format!("{} of the {} layer", text(act, "rule"), text(act, "source")));
    }
    for finding in list(act, "findings") {
        let firm = if finding.get("firm") == Some(&Value::Bool(true)) { ", firm" } else { "" };
        let (guard, tier) = (text(finding, "guard"), text(finding, "tier"));
        say("guard", &format!("{} ({guard}, {tier}{firm})", text(finding, "message")));
    }
    for touched in list(act, "touches") {
        let path = match text(touched, "real") {
            "" => text(touched, "path"),
            real => real,
        };
        say("path", &format!("{}: {path}", text(touched, "effect")));
    }
}

/// The words of an act: those of the command it stands in, else its arguments.
fn words(card: &Card, act: &Value) -> String {
    let end = |index: usize| {
        let byte = act.get("span")?.get(index)?.as_u64()?;
        usize::try_from(byte).ok()
    };
    let span = end(0).zip(end(1)).filter(|_| card.is_command);
    let written = span.and_then(|(start, end)| card.text.get(start..end));
    if let Some(written) = written.filter(|written| !written.is_empty()) {
        return written.to_owned();
    }
    let argv: Vec<&str> =
        list(act, "argv").iter().map(|word| word.as_str().unwrap_or("?")).collect();
    argv.join(" ")
}
