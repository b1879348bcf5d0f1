//! What a key does, by what the keys are about.

#![expect(clippy::wildcard_enum_match_arm, reason = "in each mode most keys mean nothing")]

use portcullis_approval::Moment;

use super::{Draft, Effect, Inbox, Mode};
use crate::render::ask::text;
use crate::watch::answer::{Reach, approval, changed_call, choices, editable, edited, rejection};
use crate::watch::card::Card;
use crate::watch::editor::Editor;
use crate::watch::keys::Key;

/// How far a page scrolls.
const PAGE: usize = 10;

/// The word that approves what could destroy.
pub const SURE: &str = "yes";

/// How often `some times` is at first, and at most.
const FIRST_USES: u32 = 3;
const MOST_USES: u32 = 99;

/// Takes a key, and gives what is to be done.
pub fn pressed(inbox: &mut Inbox, key: Key, now: Moment) -> Vec<Effect> {
    if key == Key::Interrupt {
        return vec![Effect::Quit];
    }
    match std::mem::replace(&mut inbox.mode, Mode::Inbox) {
        Mode::Inbox => return in_inbox(inbox, key, now),
        Mode::Full => in_full(inbox, Mode::Full, key),
        Mode::Why(why) => in_full(inbox, Mode::Why(why), key),
        Mode::Help => {}
        Mode::Many(approves) => return in_many(inbox, approves, key),
        Mode::Approve(draft) => return in_approve(inbox, draft, key, now),
        Mode::Sure(draft, reach, typed) => return in_sure(inbox, draft, reach, typed, key, now),
        Mode::Reject(editor, for_run) => return in_reject(inbox, editor, for_run, key),
        Mode::Edit(editor) => return in_edit(inbox, editor, key, now),
        Mode::Judging(editor, input) => {
            inbox.mode = match key {
                Key::Escape => Mode::Edit(editor),
                _ => Mode::Judging(editor, input),
            };
        }
        Mode::Edited(editor, draft, verdict) => match key {
            Key::Char('a') if text(&verdict, "outcome") == "deny" => {
                inbox.say("the edited call is denied; nobody can approve it".to_owned(), now);
                inbox.mode = Mode::Edited(editor, draft, verdict);
            }
            Key::Char('a') => return approve(inbox, draft, Reach::Once),
            Key::Char('e') => inbox.mode = Mode::Edit(editor),
            Key::Escape => {}
            _ => inbox.mode = Mode::Edited(editor, draft, verdict),
        },
    }
    Vec::new()
}

/// Takes a pasted text. Outside of an editor it does nothing: a paste never decides.
pub fn pasted(inbox: &mut Inbox, text: &str) {
    if let Mode::Reject(editor, _) | Mode::Edit(editor) = &mut inbox.mode {
        editor.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
    }
}

fn in_inbox(inbox: &mut Inbox, key: Key, now: Moment) -> Vec<Effect> {
    match key {
        Key::Char('q') => return vec![Effect::Quit],
        Key::Char('?') => inbox.mode = Mode::Help,
        Key::Char('j') | Key::Down => step(inbox, inbox.place() + 1),
        Key::Char('k') | Key::Up => step(inbox, inbox.place().saturating_sub(1)),
        Key::Home => step(inbox, 0),
        Key::End => step(inbox, inbox.cards.len().saturating_sub(1)),
        Key::PageDown | Key::Char(' ') => inbox.scroll += PAGE,
        Key::PageUp => inbox.scroll = inbox.scroll.saturating_sub(PAGE),
        Key::Char('f') | Key::Enter if inbox.card().is_some() => {
            inbox.scroll = 0;
            inbox.mode = Mode::Full;
        }
        Key::Char('a' | 'r' | 'e') if !inbox.hears(now) => {
            inbox.say("that ask is gone; press again for the one shown now".to_owned(), now);
        }
        Key::Char(letter @ ('a' | 'r')) if !inbox.marked.is_empty() => {
            inbox.mode = Mode::Many(letter == 'a');
        }
        Key::Char(letter @ ('x' | 'X')) => mark(inbox, letter == 'X'),
        Key::Escape => inbox.marked.clear(),
        Key::Char('t') => {
            let id = inbox.card().map(|card| card.id.clone());
            if let Some(id) = id {
                inbox.scroll = 0;
                inbox.mode = Mode::Why(None);
                return vec![Effect::Explain(id)];
            }
        }
        Key::Char('a') => {
            let draft = inbox.card().map(|card| Draft {
                offer: None,
                uses: FIRST_USES,
                input: None,
                tier: card.tier(),
            });
            inbox.mode = draft.map_or(Mode::Inbox, Mode::Approve);
        }
        Key::Char('r') if inbox.card().is_some() => {
            inbox.mode = Mode::Reject(Editor::default(), false);
        }
        Key::Char('e') => {
            let editor = inbox.card().map(|card| Editor::new(&editable(card)));
            inbox.mode = editor.map_or(Mode::Inbox, Mode::Edit);
        }
        _ => {}
    }
    Vec::new()
}

fn step(inbox: &mut Inbox, place: usize) {
    let place = place.min(inbox.cards.len().saturating_sub(1));
    if let Some(card) = inbox.cards.get(place) {
        inbox.selected = Some(card.id.clone());
        inbox.scroll = 0;
    }
}

fn in_full(inbox: &mut Inbox, mode: Mode, key: Key) {
    match key {
        Key::Char('f' | 't' | 'q') | Key::Enter | Key::Escape => {
            inbox.scroll = 0;
            return;
        }
        Key::Char('j') | Key::Down => inbox.scroll += 1,
        Key::Char('k') | Key::Up => inbox.scroll = inbox.scroll.saturating_sub(1),
        Key::PageDown | Key::Char(' ') => inbox.scroll += PAGE,
        Key::PageUp => inbox.scroll = inbox.scroll.saturating_sub(PAGE),
        Key::Home => inbox.scroll = 0,
        Key::End => inbox.scroll = usize::MAX / 2,
        _ => {}
    }
    inbox.mode = mode;
}

/// Marks the ask that is looked at, or all of its kind; again, and it is marked no longer.
fn mark(inbox: &mut Inbox, all: bool) {
    let Some(card) = inbox.card() else { return };
    let (id, kind) = (card.id.clone(), card.kind());
    if all {
        let alike = inbox.cards.iter().filter(|card| card.kind() == kind);
        inbox.marked.extend(alike.map(|card| card.id.clone()).collect::<Vec<_>>());
    } else if !inbox.marked.remove(&id) {
        inbox.marked.insert(id);
    }
}

/// Answers those that are marked: `o` approves them once, Enter rejects them.
fn in_many(inbox: &mut Inbox, approves: bool, key: Key) -> Vec<Effect> {
    let wanted = if approves { Key::Char('o') } else { Key::Enter };
    if key == Key::Escape {
        return Vec::new();
    }
    if key != wanted || (approves && inbox.refuses_many().is_some()) {
        inbox.mode = Mode::Many(approves);
        return Vec::new();
    }
    let answer = if approves { approval(Reach::Once, None, None) } else { rejection("", false) };
    let decide = |card: &Card| Effect::Decide(card.id.clone(), answer.clone());
    let effects = inbox.chosen().into_iter().map(decide).collect();
    inbox.marked.clear();
    effects
}

fn in_approve(inbox: &mut Inbox, mut draft: Draft, key: Key, now: Moment) -> Vec<Effect> {
    let Some(card) = inbox.card() else { return Vec::new() };
    let offers = card.offers().len();
    match key {
        Key::Escape => return Vec::new(),
        // What stands first is to reject: that is where Enter leads.
        Key::Enter | Key::Char('r') => {
            inbox.mode = Mode::Reject(Editor::default(), false);
            return Vec::new();
        }
        Key::Tab => {
            draft.offer = match draft.offer {
                None if offers > 0 => Some(0),
                Some(at) if at + 1 < offers => Some(at + 1),
                None | Some(_) => None,
            };
        }
        Key::Char('+') => draft.uses = (draft.uses + 1).min(MOST_USES),
        Key::Char('-') => draft.uses = draft.uses.saturating_sub(1).max(2),
        Key::Char(character) => {
            let rule = draft.offer.and_then(|at| card.offers().get(at));
            let ways = choices(card, rule, draft.uses);
            if let Some(choice) = ways.into_iter().find(|choice| choice.key == character) {
                return approve(inbox, draft, choice.reach);
            }
            inbox.say(format!("`{character}` is no way to approve"), now);
        }
        _ => {}
    }
    inbox.mode = Mode::Approve(draft);
    Vec::new()
}

/// Approves, or takes the second step first.
fn approve(inbox: &mut Inbox, draft: Draft, reach: Reach) -> Vec<Effect> {
    // A tier that nobody knows counts as the worst.
    if crate::watch::card::rank(draft.tier) == 0 {
        inbox.mode = Mode::Sure(draft, reach, 0);
        return Vec::new();
    }
    decide(inbox, &draft, reach)
}

fn decide(inbox: &Inbox, draft: &Draft, reach: Reach) -> Vec<Effect> {
    let Some(card) = inbox.card() else { return Vec::new() };
    let rule = draft.offer.and_then(|at| card.offers().get(at));
    let answer = approval(reach, rule, draft.input.as_ref());
    vec![Effect::Decide(card.id.clone(), answer)]
}

fn in_sure(
    inbox: &mut Inbox,
    draft: Draft,
    reach: Reach,
    typed: usize,
    key: Key,
    now: Moment,
) -> Vec<Effect> {
    let want = SURE.chars().nth(typed).map(Key::Char);
    if Some(key) != want {
        inbox.say("it was not approved and still waits".to_owned(), now);
        return Vec::new();
    }
    if typed + 1 < SURE.len() {
        inbox.mode = Mode::Sure(draft, reach, typed + 1);
        return Vec::new();
    }
    decide(inbox, &draft, reach)
}

fn in_reject(inbox: &mut Inbox, mut editor: Editor, mut for_run: bool, key: Key) -> Vec<Effect> {
    let Some(card) = inbox.card() else { return Vec::new() };
    match key {
        Key::Escape => return Vec::new(),
        Key::Enter => {
            let answer = rejection(&editor.text(), for_run);
            return vec![Effect::Decide(card.id.clone(), answer)];
        }
        Key::Tab => for_run = !for_run && !card.text("run").is_empty(),
        key => typed(&mut editor, key),
    }
    inbox.mode = Mode::Reject(editor, for_run);
    Vec::new()
}

fn in_edit(inbox: &mut Inbox, mut editor: Editor, key: Key, now: Moment) -> Vec<Effect> {
    let Some(card) = inbox.card() else { return Vec::new() };
    match key {
        Key::Escape => return Vec::new(),
        Key::Enter => {
            let input = match edited(card, &editor.text()) {
                Ok(input) => input,
                Err(why) => {
                    inbox.say(format!("the input is not JSON: {why}"), now);
                    inbox.mode = Mode::Edit(editor);
                    return Vec::new();
                }
            };
            let effect = Effect::Judge(card.id.clone(), changed_call(card, &input));
            inbox.mode = Mode::Judging(editor, input);
            return vec![effect];
        }
        key => typed(&mut editor, key),
    }
    inbox.mode = Mode::Edit(editor);
    Vec::new()
}

fn typed(editor: &mut Editor, key: Key) {
    match key {
        Key::Char(character) => editor.insert(character.encode_utf8(&mut [0; 4])),
        Key::LineEnd => editor.insert("\n"),
        Key::Backspace => editor.backspace(),
        Key::Delete => editor.delete(),
        Key::Left => editor.left(),
        Key::Right => editor.right(),
        Key::Home | Key::Up => editor.home(),
        Key::End | Key::Down => editor.end(),
        Key::Tab | Key::Enter | Key::Escape | Key::PageUp | Key::PageDown | Key::Interrupt => {}
    }
}
