//! Drawing: the inbox on a screen of any size. It decides nothing.
//!
//! The list stands above, the card of the selected ask below it, a dialog below that; at the foot
//! what was said last, and the keys. Everything of a call is escaped by `rows` or `paragraph`.

use portcullis_approval::Moment;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::card::Card;
use super::state::{Inbox, Link, Mode};
use super::{diff, rows};
use crate::escape::Glyph;
use crate::render::ask::text;
use crate::render::paragraph;

mod card;
mod dialog;
mod ink;
mod why;

pub use ink::Inks;

/// A screen with less than this shows too little to decide by.
const LEAST_COLUMNS: u16 = 40;
const LEAST_ROWS: u16 = 12;

/// A worst act shorter than this says too little alone.
const SHORT: usize = 16;

/// The rows of the text that was drawn last, so that a long one is laid out once.
#[derive(Debug, Default)]
pub struct Laid {
    of: (String, usize, bool),
    rows: Vec<Vec<Glyph>>,
}

impl Laid {
    fn rows(&mut self, card: &Card, columns: usize) -> &[Vec<Glyph>] {
        let of = (card.id.clone(), columns, false);
        if self.of != of {
            *self = Laid { of, rows: rows::rows(&card.text, columns) };
        }
        &self.rows
    }

    /// The rows of all there is: of a change its lines, and the call as it stands below them.
    fn whole(&mut self, card: &Card, columns: usize) -> &[Vec<Glyph>] {
        let of = (card.id.clone(), columns, true);
        if self.of != of {
            let changes = card.call().get("input").and_then(diff::changes).unwrap_or_default();
            let line = |change: &diff::Line| {
                rows::rows(&format!("{} {}\n", change.sign, change.text), columns)
            };
            let mut rows: Vec<_> = changes.iter().flat_map(line).collect();
            rows.extend(rows::rows(&card.text, columns));
            *self = Laid { of, rows };
        }
        &self.rows
    }
}

/// Draws the inbox; gives how far it can really be scrolled.
pub fn draw(frame: &mut Frame, inbox: &Inbox, laid: &mut Laid, now: Moment, inks: Inks) -> usize {
    let area = frame.area();
    if area.width < LEAST_COLUMNS || area.height < LEAST_ROWS {
        let least = format!("too small; {LEAST_COLUMNS}x{LEAST_ROWS} at least");
        put(frame, area, &[Line::from(least)]);
        return inbox.scroll;
    }
    let columns = usize::from(area.width);
    let rows = usize::from(area.height);
    let [head, foot] = [header(inbox, columns, inks), footer(inbox, columns, inks)];
    put(frame, part(area, 0, 1), &[head]);
    put(frame, part(area, rows - 1, 1), &[foot]);
    let notices = notices(inbox, columns, now, inks);
    let notices_at = rows - 1 - notices.len();
    put(frame, part(area, notices_at, notices.len()), &notices);

    if inbox.mode == Mode::Help {
        put(frame, part(area, 2, notices_at.saturating_sub(2)), &help(columns, inks));
        return inbox.scroll;
    }
    let Some(card) = inbox.card() else {
        let empty = match inbox.link {
            Link::Opening => "connecting…",
            Link::Live => "nothing waits for you",
            Link::Away => "the daemon is away; what waits there goes on waiting",
        };
        put(frame, part(area, rows / 2, 1), &[Line::styled(empty, inks.title()).centered()]);
        return 0;
    };
    if inbox.mode == Mode::Full {
        return full(frame, area, notices_at, card, inbox, laid, inks);
    }
    if let Mode::Why(why) = &inbox.mode {
        let title = format!("why {} was asked", card.short());
        put(frame, part(area, 1, 1), &[rule(&title, columns, inks)]);
        let lines = why::lines(card, why.as_ref(), columns, inks);
        return scrolled(
            frame,
            part(area, 2, notices_at.saturating_sub(2)),
            &lines,
            inbox.scroll,
            inks,
        );
    }
    let mut dialog = if let Mode::Many(approves) = inbox.mode {
        dialog::many(inbox, approves, columns, inks)
    } else {
        dialog::lines(&inbox.mode, Some(card), columns, inks)
    };
    // A dialog is about one ask; the others give their room to it.
    let most_listed = if dialog.is_empty() { (rows / 6).max(2) } else { 1 };
    let shown = inbox.cards.len().min(most_listed);
    let first = inbox.place().saturating_sub(shown - 1).min(inbox.cards.len() - shown);
    let listed = inbox.cards.iter().enumerate().skip(first).take(shown);
    let list: Vec<_> = listed
        .map(|(index, card)| {
            let is_marked = inbox.marked.contains(&card.id);
            list_line(card, (index == inbox.place(), is_marked), columns, now, inks)
        })
        .collect();
    put(frame, part(area, 1, shown), &list);
    let place = format!("{} of {}", inbox.place() + 1, inbox.cards.len());
    put(
        frame,
        part(area, 1 + shown, 1),
        &[rule(&format!("{}, {place}", card.short()), columns, inks)],
    );

    let card_at = shown + 2;
    // The card keeps at least its title. A dialog that is too long keeps its beginning, where the
    // dangerous part stands, and its last line, which says what the keys do.
    let most = notices_at.saturating_sub(card_at + 1);
    if dialog.len() > most {
        let keys = dialog.pop();
        dialog.truncate(most.saturating_sub(1));
        dialog.extend(keys);
    }
    let dialog_at = notices_at - dialog.len();
    put(frame, part(area, dialog_at, dialog.len()), &dialog);
    let text_rows = laid.rows(card, columns.saturating_sub(2));
    let lines = card::lines(card, text_rows, columns, now, inks);
    scrolled(frame, part(area, card_at, dialog_at - card_at), &lines, inbox.scroll, inks)
}

/// A text on one line of exactly `columns`.
fn sized(text: &str, columns: usize) -> String {
    let cut = paragraph::cut(text, columns);
    let gap = columns.saturating_sub(cut.width());
    cut + &" ".repeat(gap)
}

/// How long is left until the deadline; nothing if there is none.
fn left(card: &Card, now: Moment) -> String {
    let Some(end) = card.deadline_at else { return String::new() };
    let seconds = (end.ms() - now.ms()).max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A line across the screen with a title in it.
fn rule(title: &str, columns: usize, inks: Inks) -> Line<'static> {
    let title = format!("── {} ", paragraph::cut(title, columns.saturating_sub(8).max(1)));
    let rest = "─".repeat(columns.saturating_sub(title.width()));
    Line::styled(title + &rest, inks.frame())
}

fn header(inbox: &Inbox, columns: usize, inks: Inks) -> Line<'static> {
    let count = match inbox.cards.len() {
        0 => "nothing waits".to_owned(),
        1 => "1 ask waits".to_owned(),
        many => format!("{many} asks wait"),
    };
    let (link, style) = match inbox.link {
        Link::Opening => ("connecting", inks.frame()),
        Link::Live => ("live", inks.frame()),
        Link::Away => ("the daemon went away; waiting for it", inks.hazard()),
    };
    let name = format!("portcullis  {count}");
    let gap = columns.saturating_sub(name.width() + link.width());
    Line::from_iter([
        Span::styled(name, inks.title()),
        Span::raw(" ".repeat(gap)),
        Span::styled(link, style),
    ])
}

fn footer(inbox: &Inbox, columns: usize, inks: Inks) -> Line<'static> {
    // Where not all of it has room, what one cannot do without and where the rest is told.
    let keys: &[&str] = match inbox.mode {
        Mode::Inbox if inbox.cards.is_empty() => &["? keys  q end"],
        Mode::Inbox if !inbox.marked.is_empty() => &[
            "marked: a approve…  r reject…  x mark  X all of this kind  Escape none",
            "marked: a approve…  r reject…  Escape",
        ],
        Mode::Inbox => &[
            "j k move  r reject  a approve…  e edit  f text  t why  x mark  ? keys  q end",
            "j k  r reject  a approve…  ? keys  q end",
        ],
        Mode::Why(_) => &["j k scroll  space page  t back"],
        Mode::Full => &["j k scroll  space page  f back"],
        Mode::Help => &["any key goes back"],
        Mode::Approve(_) => &["r reject"],
        Mode::Sure(..)
        | Mode::Many(_)
        | Mode::Reject(..)
        | Mode::Edit(_)
        | Mode::Judging(..)
        | Mode::Edited(..) => &[],
    };
    let fits = |keys: &&&str| keys.width() <= columns;
    let keys = keys.iter().find(fits).or(keys.last()).copied().unwrap_or_default();
    Line::styled(keys, inks.frame())
}

fn notices(inbox: &Inbox, columns: usize, now: Moment, inks: Inks) -> Vec<Line<'static>> {
    let line = |notice: &super::state::Notice| {
        let text = paragraph::cut(&notice.text, columns.saturating_sub(2));
        Line::from_iter([Span::styled("* ", inks.frame()), Span::raw(text)])
    };
    inbox.said(now).map(line).collect()
}

fn help(columns: usize, inks: Inks) -> Vec<Line<'static>> {
    let line = |(keys, does): &(&str, &str)| {
        let does: String = does.chars().take(columns.saturating_sub(16)).collect();
        Line::from_iter([Span::styled(format!("  {keys:14}"), inks.title()), Span::raw(does)])
    };
    dialog::HELP.iter().map(line).collect()
}

fn list_line(
    card: &Card,
    (is_selected, is_marked): (bool, bool),
    columns: usize,
    now: Moment,
    inks: Inks,
) -> Line<'static> {
    let left = left(card, now);
    let mark = match (is_selected, is_marked) {
        (true, true) => "X ",
        (true, false) => "> ",
        (false, true) => "x ",
        (false, false) => "  ",
    };
    let room = columns.saturating_sub(2 + 13 + 2 + left.len());
    let (lead, about, size) = about(card, room);
    let left_for_it = room.saturating_sub(lead.width() + size.len());
    let call = lead.to_owned() + &rows::line(&about, left_for_it) + &size;
    let gap = " ".repeat(room.saturating_sub(call.width()) + 2);
    let base = if is_selected { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    Line::from_iter([
        Span::styled(mark, base),
        Span::styled(format!("{:13}", card.tier()), inks.tier(card.tier())),
        Span::styled(call, base),
        Span::raw(gap),
        Span::styled(left, inks.frame()),
    ])
}

/// What a call is about, in a line: of a long command its worst act and how long it is, of another
/// tool what it works on. A sign of ours stands before what is not the beginning.
fn about(card: &Card, room: usize) -> (&'static str, String, String) {
    if card.is_command {
        let worst = card.acts.first().filter(|act| !act.words.is_empty());
        let is_long = card.text.len() > room && card.acts.len() > 1;
        let Some(worst) = worst.filter(|_| is_long) else {
            return ("", card.text.clone(), String::new());
        };
        let size = format!(" (in {})", rows::size(&card.text));
        let size = if room < 40 { String::new() } else { size };
        if worst.words.len() < SHORT {
            let room = room.saturating_sub(1 + size.len());
            if let Some(more) = with_words_before(&card.text, worst.span, room) {
                return ("⋯", more.to_owned(), size);
            }
        }
        return ("", worst.words.clone(), size);
    }
    let input = card.call().get("input");
    let named = || ["url", "resource"].iter().find_map(|name| input?.get(name)?.as_str());
    let about = input.and_then(diff::path).or_else(named);
    let tool = text(card.call(), "tool");
    let about = about.map_or_else(|| card.text.clone(), |about| format!("{tool} {about}"));
    ("", about, String::new())
}

/// A part of a text with as much of what stands before it as has room, from the beginning of a
/// word or of a part of one: `example.com/install.sh | sh` says more than `sh`.
fn with_words_before(text: &str, (start, end): (usize, usize), room: usize) -> Option<&str> {
    let parts = |sign: char| sign.is_whitespace() || "/=:,;".contains(sign);
    let begins = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let behind = text.get(*at..).and_then(|behind| behind.chars().next());
        before.is_none_or(parts) && behind.is_some_and(|sign| !parts(sign))
    };
    let before = text.get(..start)?;
    let from = before.char_indices().rev().take(room).map(|(at, _)| at).filter(begins);
    from.filter_map(|at| text.get(at..end)).take_while(|part| rows::width(part) <= room).last()
}

fn full(
    frame: &mut Frame,
    area: Rect,
    end: usize,
    card: &Card,
    inbox: &Inbox,
    laid: &mut Laid,
    inks: Inks,
) -> usize {
    let columns = usize::from(area.width);
    let rows = laid.whole(card, columns);
    let room = end.saturating_sub(2);
    let scroll = inbox.scroll.min(rows.len().saturating_sub(room));
    let last = (scroll + room).min(rows.len());
    let title = format!(
        "{}, all of it: {}; rows {} to {last} of {}",
        card.short(),
        rows::size(&card.text),
        scroll + 1,
        rows.len()
    );
    put(frame, part(area, 1, 1), &[rule(&title, columns, inks)]);
    let shown = rows.iter().skip(scroll).take(room);
    let lines: Vec<_> = shown.map(|row| card::row(row, card, inks)).collect();
    put(frame, part(area, 2, room), &lines);
    scroll
}

/// Puts lines that may be more than fit; says so where they are.
fn scrolled(frame: &mut Frame, area: Rect, lines: &[Line<'_>], scroll: usize, inks: Inks) -> usize {
    let room = usize::from(area.height);
    if lines.len() <= room {
        put(frame, area, lines);
        return 0;
    }
    let room = room.saturating_sub(1);
    let scroll = scroll.min(lines.len() - room);
    let shown: Vec<_> = lines.iter().skip(scroll).take(room).cloned().collect();
    put(frame, area, &shown);
    let below = lines.len() - room - scroll;
    let note = format!("⋯ {scroll} lines above, {below} below; space scrolls ⋯");
    put(frame, part(area, room, 1), &[Line::styled(note, inks.hazard())]);
    scroll
}

/// Some rows of an area.
fn part(area: Rect, from: usize, count: usize) -> Rect {
    let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    let y = area.y.saturating_add(small(from)).min(area.bottom());
    Rect { y, height: small(count).min(area.bottom() - y), ..area }
}

fn put(frame: &mut Frame, area: Rect, lines: &[Line<'_>]) {
    for (row, line) in area.rows().zip(lines) {
        frame.render_widget(line, row);
    }
}

#[cfg(test)]
#[path = "draw/tests.rs"]
mod tests;
