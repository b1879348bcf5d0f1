//! Dialogs: what a person is asked before something is decided.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::card::{act_lines, labelled};
use super::ink::Inks;
use crate::escape;
use crate::render::ask::{list, text};
use crate::render::paragraph;
use crate::watch::answer::{Reach, choices};
use crate::watch::card::{Card, rank, tier};
use crate::watch::editor::Editor;
use crate::watch::rows;
use crate::watch::state::{Draft, Inbox, Mode, SURE};

/// So many rows of an edited text are shown.
const EDITOR_ROWS: usize = 6;

/// What the keys do.
#[rustfmt::skip]
pub const HELP: &[(&str, &str)] = &[
    ("j k",        "the next ask, the one before (also the arrows)"),
    ("space",      "scrolls the card (also PageDown, PageUp)"),
    ("f, Enter",   "the whole text of the call, with nothing left out"),
    ("a",          "approve: then how far; nothing is approved by Enter or Escape"),
    ("r",          "reject, with what the agent is told"),
    ("e",          "edit and approve: the verdict about the new call comes first"),
    ("t",          "why it was asked: every act, and what held it"),
    ("x, X",       "marks this ask, all of its kind; a and r then answer them all"),
    ("?",          "this page"),
    ("q",          "ends; everything goes on waiting"),
    ("",           ""),
    ("⏎ ⇥ ␣",      "a line end, a tab, a blank at the end of a row"),
    ("\\u{202e}",  "a sign that hides, moves others or looks like another one"),
    ("⋯9 blanks⋯", "many blanks, counted"),
];

/// The lines of the dialog of a mode, its title first; none if it has none.
pub fn lines(mode: &Mode, card: Option<&Card>, columns: usize, inks: Inks) -> Vec<Line<'static>> {
    let Some(card) = card else { return Vec::new() };
    let mut lines = Vec::new();
    let title = |text: String| super::rule(&text, columns, inks);
    match mode {
        Mode::Inbox | Mode::Full | Mode::Why(_) | Mode::Help | Mode::Many(_) => {}
        Mode::Approve(draft) => {
            lines.push(title(format!("approve {}, how far?", card.short())));
            approve(&mut lines, card, draft, columns, inks);
        }
        Mode::Sure(draft, reach, typed) => {
            lines.push(title(format!("{} could destroy", card.short())));
            sure(&mut lines, card, draft, *reach, *typed, columns, inks);
        }
        Mode::Reject(editor, for_run) => {
            lines.push(title(format!("reject {}", card.short())));
            labelled(&mut lines, "tell it", "", columns, Style::new(), inks);
            lines.extend(typed_rows(editor, columns, inks));
            let run = match (card.text("run").is_empty(), *for_run) {
                (true, _) => "",
                (false, false) => "; Tab: for the whole run",
                (false, true) => " for the whole run; Tab: only this call",
            };
            lines.push(Line::styled(format!("Enter rejects{run}; Escape goes back"), inks.frame()));
        }
        Mode::Edit(editor) | Mode::Judging(editor, _) => {
            lines.push(title(format!("edit {}", card.short())));
            lines.extend(typed_rows(editor, columns, inks));
            let hint = if matches!(mode, Mode::Judging(..)) {
                "judging it…"
            } else {
                "Enter shows its verdict, no more; Ctrl-J is a line end; Escape goes back"
            };
            lines.push(Line::styled(hint, inks.frame()));
        }
        Mode::Edited(editor, _, verdict) => {
            lines.push(title(format!("edited {}", card.short())));
            edited_rows(&mut lines, &editor.text(), columns, inks);
            verdict_lines(&mut lines, verdict, columns, inks);
            let hint = if text(verdict, "outcome") == "deny" {
                "denied: nobody can approve it; e edits on, Escape goes back"
            } else {
                "a approves this call once; e edits on; Escape goes back"
            };
            lines.push(Line::styled(hint, inks.frame()));
        }
    }
    lines
}

/// The lines of the dialog about those that are marked.
pub fn many(inbox: &Inbox, approves: bool, columns: usize, inks: Inks) -> Vec<Line<'static>> {
    let chosen = inbox.chosen();
    let what = if approves { "approve" } else { "reject" };
    let title = format!("{what} {} together, once", chosen.len());
    let mut lines = vec![super::rule(&title, columns, inks)];
    for card in chosen.iter().take(EDITOR_ROWS) {
        let tier = format!("  {:13}", card.tier());
        let call = rows::line(&card.text, columns.saturating_sub(tier.len()).max(10));
        lines.push(Line::from_iter([Span::styled(tier, inks.tier(card.tier())), Span::raw(call)]));
    }
    if chosen.len() > EDITOR_ROWS {
        let more = format!("  and {} more", chosen.len() - EDITOR_ROWS);
        lines.push(Line::styled(more, inks.hazard()));
    }
    let hint = match inbox.refuses_many() {
        Some(why) if approves => format!("{why}; Escape goes back"),
        _ if approves => "o approves each of them once; Escape goes back".to_owned(),
        _ => "Enter rejects each of them; Escape goes back".to_owned(),
    };
    lines.push(Line::styled(hint, inks.frame()));
    lines
}

fn approve(lines: &mut Vec<Line<'static>>, card: &Card, draft: &Draft, columns: usize, inks: Inks) {
    let rule = draft.offer.and_then(|at| card.offers().get(at));
    let reject = format!("> r  {:14}{:columns$}", "reject", "Enter leads here too");
    let reject: String = reject.chars().take(columns).collect();
    lines.push(Line::styled(reject, inks.hazard()));
    for choice in choices(card, rule, draft.uses) {
        let name = format!("  {}  {:14}", choice.key, choice.name);
        let room = columns.saturating_sub(name.len() + 7).max(10);
        for (index, stores) in paragraph::lines(&choice.stores, room).into_iter().enumerate() {
            let head =
                if index == 0 { format!("{name}stores ") } else { " ".repeat(name.len() + 7) };
            lines.push(Line::from_iter([Span::raw(head), Span::styled(stores, inks.frame())]));
        }
    }
    if let Some(offer) = rule {
        let covers: Vec<&str> =
            list(offer, "also_covers").iter().filter_map(Value::as_str).collect();
        if !covers.is_empty() {
            let covers = covers.into_iter().take(3).collect::<Vec<_>>().join(", ");
            labelled(lines, "it covers", &covers, columns, Style::new(), inks);
        }
    }
    let offers = card.offers().len();
    let tab = match (offers, draft.offer) {
        (0, _) => String::new(),
        (_, None) => format!("Tab: store a rule instead ({offers} offered); "),
        (_, Some(at)) => format!("Tab: the next ({} of {offers} offers); ", at + 1),
    };
    let hint = format!("{tab}+ -: how often; Escape goes back");
    lines.push(Line::styled(hint, inks.frame()));
}

fn sure(
    lines: &mut Vec<Line<'static>>,
    card: &Card,
    draft: &Draft,
    reach: Reach,
    typed: usize,
    columns: usize,
    inks: Inks,
) {
    match (&draft.input, card.acts.first()) {
        (Some(input), _) => {
            let shown = paragraph::shorten(&input.to_string(), 300);
            labelled(lines, "runs", &shown, columns, inks.tier(draft.tier), inks);
        }
        (None, Some(worst)) if !worst.words.is_empty() => act_lines(lines, worst, columns, inks),
        (None, _) => {
            let shown = paragraph::shorten(&card.text, 300);
            labelled(lines, "runs", &shown, columns, inks.tier(draft.tier), inks);
        }
    }
    let others = card.acts.iter().skip(1).filter(|act| rank(act.tier) == 0).count();
    if others > 0 && draft.input.is_none() {
        let more = format!("{:13}and {others} more that could destroy", "");
        lines.push(Line::styled(more, inks.tier(draft.tier)));
    }
    // The reasons speak about the call as it was asked, not as it was edited.
    let reason = list(card.verdict(), "reasons").first().filter(|_| draft.input.is_none());
    if let Some(reason) = reason {
        let sentence = format!("{} ({})", text(reason, "message"), text(reason, "code"));
        labelled(lines, "because", &sentence, columns, Style::new(), inks);
    }
    let rule = draft.offer.and_then(|at| card.offers().get(at));
    let ways = choices(card, rule, draft.uses);
    if let Some(choice) = ways.into_iter().find(|choice| choice.reach == reach) {
        let way = format!("{}; stores {}", choice.name, choice.stores);
        labelled(lines, "approves", &way, columns, Style::new(), inks);
    }
    let (done, rest) = SURE.split_at_checked(typed).unwrap_or((SURE, ""));
    lines.push(Line::from_iter([
        Span::raw("type "),
        Span::styled(done, inks.frame()),
        Span::styled(rest, inks.hazard()),
        Span::raw(" to approve; any other key leaves it waiting"),
    ]));
}

fn verdict_lines(lines: &mut Vec<Line<'static>>, verdict: &Value, columns: usize, inks: Inks) {
    let outcome = text(verdict, "outcome");
    let head = format!("{outcome}, {}", tier(verdict));
    labelled(lines, "verdict", &head, columns, inks.outcome(outcome), inks);
    for reason in list(verdict, "reasons").iter().take(3) {
        let sentence = format!("{} ({})", text(reason, "message"), text(reason, "code"));
        labelled(lines, "because", &sentence, columns, Style::new(), inks);
    }
}

/// What would run instead: its end too, however long it is.
fn edited_rows(lines: &mut Vec<Line<'static>>, text: &str, columns: usize, inks: Inks) {
    let rows = rows::rows(text, columns.saturating_sub(2));
    let line = |row: &Vec<escape::Glyph>| {
        let style = |glyph: &escape::Glyph| {
            if glyph.is_escaped { inks.hazard() } else { Style::new() }
        };
        let spans = row.iter().map(|glyph| Span::styled(glyph.shown.clone(), style(glyph)));
        [Span::raw("  ")].into_iter().chain(spans).collect::<Line>()
    };
    let half = EDITOR_ROWS / 2;
    if rows.len() <= EDITOR_ROWS {
        lines.extend(rows.iter().map(line));
        return;
    }
    lines.extend(rows.iter().take(half).map(line));
    let note = format!("  ⋯ {} of {} rows are not shown ⋯", rows.len() - EDITOR_ROWS, rows.len());
    lines.push(Line::styled(note, inks.hazard()));
    lines.extend(rows.iter().skip(rows.len() - half).map(line));
}

/// What is being typed, with its place reversed; of a long text the rows around it.
fn typed_rows(editor: &Editor, columns: usize, inks: Inks) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(3).max(10);
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    let mut place = 0;
    let whole = editor.text();
    let end =
        escape::Glyph { shown: " ".to_owned(), width: 1, start: whole.len(), is_escaped: false };
    for glyph in escape::glyphs(whole.as_bytes()).into_iter().chain([end]) {
        if used + glyph.width > room {
            rows.push(Vec::new());
            used = 0;
        }
        used += glyph.width;
        let is_place = glyph.start == editor.at();
        if is_place {
            place = rows.len() - 1;
        }
        let is_end = glyph.shown == "⏎";
        let style = if is_place || glyph.is_escaped { inks.hazard() } else { Style::new() };
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(glyph.shown, style));
        }
        if is_end {
            rows.push(Vec::new());
            used = 0;
        }
    }
    let from = (place + 1).saturating_sub(EDITOR_ROWS);
    let shown = rows.into_iter().skip(from).take(EDITOR_ROWS);
    shown.map(|row| [Span::raw("| ")].into_iter().chain(row).collect()).collect()
}
