//! An explanation: the command underlined by act, the acts, the ladder, the suggestions.

use std::io::{self, Write};

use portcullis_engine::act::{Act, ActKind};
use portcullis_engine::arg::Arg;
use portcullis_engine::call::Call;
use portcullis_engine::effect::{Effect, EffectOn, Target};
use portcullis_engine::guard::Finding;
use portcullis_engine::verdict::{JudgedAct, Outcome, Verdict};
use portcullis_wire::explanation::LADDER;
use unicode_width::UnicodeWidthStr;

use super::paragraph::{self, COLUMNS};
use crate::palette::{Ink, Palette};
use command::Mark;

pub(super) mod command;

/// So many acts are described one by one; of more, those that are not simply allowed come first.
const MOST_ACTS: usize = 40;

/// So many reasons besides the deciding one stand at the top.
const MOST_REASONS: usize = 4;

/// Where what is said about an act begins.
const INDENT: usize = 14;

/// Writes the whole way from a call to its verdict.
pub fn explanation(
    out: &mut impl Write,
    call: &Call,
    verdict: &Verdict,
    palette: Palette,
) -> io::Result<()> {
    headline(out, verdict, palette)?;
    for reason in verdict.reasons.iter().skip(1).take(MOST_REASONS) {
        labelled(
            out,
            "also",
            &format!("{} ({})", reason.message, reason.code),
            Ink::Frame,
            palette,
        )?;
    }
    let more = verdict.reasons.len().saturating_sub(MOST_REASONS + 1);
    if more > 0 {
        labelled(out, "also", &format!("{more} more reasons"), Ink::Frame, palette)?;
    }
    writeln!(out)?;
    let text = command_text(call, verdict);
    if let Some(text) = text {
        let focus = verdict.reasons.first().and_then(|reason| reason.span);
        let focus = focus.map_or(0, |span| span.start as usize);
        command::command(out, text, &marks(&verdict.acts), focus, palette)?;
    } else {
        let input = format!("{} {}", call.tool, call.input);
        for line in paragraph::lines(&paragraph::shorten(&input, 1000), COLUMNS - 4) {
            writeln!(out, "  {line}")?;
        }
    }
    if verdict.acts.is_empty() {
        writeln!(out, "\n{}", palette.paint(Ink::Title, "no acts"))?;
    } else {
        acts(out, call, text.unwrap_or_default(), &verdict.acts, palette)?;
        ladder(out, &verdict.acts, palette)?;
    }
    suggestions(out, verdict, palette)
}

/// The verdict in a sentence.
fn headline(out: &mut impl Write, verdict: &Verdict, palette: Palette) -> io::Result<()> {
    let name = verdict.outcome.name();
    let outcome = palette.paint(Ink::from(verdict.outcome), name);
    let reason = verdict.reasons.first();
    let message = reason.map_or("", |reason| reason.message.as_str());
    let code = reason.map_or("", |reason| &*reason.code);
    let firm = if verdict.is_firm { ", firm" } else { "" };
    let sentence = format!("{message} ({code}, {}{firm})", verdict.tier.name());
    let lines = paragraph::lines(&sentence, COLUMNS - name.len() - 2);
    let indent = format!("\n{}", " ".repeat(name.len() + 2));
    writeln!(out, "{outcome}: {}", lines.join(&indent))
}

/// The text that spans speak about: the command of a shell call.
fn command_text<'a>(call: &'a Call, verdict: &Verdict) -> Option<&'a str> {
    if verdict.acts.iter().all(|judged| judged.act.kind == ActKind::Tool) && call.tool != "Bash" {
        return None;
    }
    ["command", "cmd", "script"].iter().find_map(|field| call.input.get(field)?.as_str())
}

fn marks(acts: &[JudgedAct]) -> Vec<Mark> {
    let mark = |(index, judged): (usize, &JudgedAct)| {
        let (start, end) = (judged.act.span.start as usize, judged.act.span.end as usize);
        Mark { number: index + 1, start, end, outcome: judged.outcome }
    };
    acts.iter().enumerate().map(mark).filter(|mark| mark.end > mark.start).collect()
}

fn acts(
    out: &mut impl Write,
    call: &Call,
    text: &str,
    acts: &[JudgedAct],
    palette: Palette,
) -> io::Result<()> {
    writeln!(out, "\n{}", palette.paint(Ink::Title, "acts"))?;
    // Of very many acts the strictest and worst are worth reading.
    let mut chosen: Vec<usize> = (0..acts.len()).collect();
    chosen.sort_by_key(|&index| {
        std::cmp::Reverse(acts.get(index).map(|judged| (judged.outcome, judged.tier)))
    });
    chosen.truncate(MOST_ACTS);
    chosen.sort_unstable();
    for &index in &chosen {
        if let Some(judged) = acts.get(index) {
            act(out, index + 1, &title(call, text, judged), judged, palette)?;
        }
    }
    let more = acts.len().saturating_sub(MOST_ACTS);
    if more > 0 {
        writeln!(out, "  … and {more} more; `--json` has them all")?;
    }
    Ok(())
}

fn act(
    out: &mut impl Write,
    number: usize,
    title: &str,
    judged: &JudgedAct,
    palette: Palette,
) -> io::Result<()> {
    let answer = format!("{}, {}", judged.outcome.name(), judged.tier.name());
    let room = COLUMNS - 6 - answer.len() - 2;
    let title = paragraph::cut(title, room);
    let width = title.width();
    let gap = " ".repeat(room.saturating_sub(width) + 2);
    let answer = palette.paint(Ink::from(judged.outcome), &answer);
    writeln!(out, "  {number:<3} {}{gap}{answer}", palette.paint(Ink::Name, &title))?;

    let mut say = |label: &str, text: &str, ink: Ink| labelled(out, label, text, ink, palette);
    if !judged.act.via.is_empty() {
        say("through", &judged.act.via.join(", "), Ink::Frame)?;
    }
    let effects = effects(&judged.act.effects);
    if !effects.is_empty() {
        say("does", &effects, Ink::Frame)?;
    }
    let is_found = |message: &str| judged.findings.iter().any(|found| found.message == message);
    if let Some(unknown) = judged.act.unknown.as_ref().filter(|unknown| !is_found(&unknown.message))
    {
        say("unknown", &unknown.message, Ink::Unknown)?;
    }
    for touched in &judged.touched {
        if let Some(place) = &touched.place {
            match &place.resolved {
                Some(resolved) if *resolved != place.normalised => {
                    say("really", &format!("{} is {resolved}", place.normalised), Ink::Unknown)?;
                }
                Some(_) => {}
                None => {
                    let text = format!("where {} leads cannot be told", place.normalised);
                    say("really", &text, Ink::Unknown)?;
                }
            }
        }
    }
    if let Some(soft) = judged.act.soft {
        say("besides", soft, Ink::Frame)?;
    }
    for found in &judged.findings {
        say("found", &finding(found), Ink::from(found.outcome))?;
    }
    let message = &judged.reason.message;
    let reason = if is_found(message) { "of that" } else { message };
    let rule = judged.rule.as_ref().filter(|rule| !message.contains(rule.as_str()));
    let rule = rule.map(|rule| format!("; the rule is `{rule}`")).unwrap_or_default();
    let source = judged.source.map(|source| format!("{source}, ")).unwrap_or_default();
    let code = &judged.reason.code;
    let because = format!("{reason}{rule} ({source}{code}, rung {})", judged.rung);
    say("because", &because, Ink::from(judged.outcome))
}

/// A label and what it is about, in lines below each other.
pub fn labelled(
    out: &mut impl Write,
    label: &str,
    text: &str,
    ink: Ink,
    palette: Palette,
) -> io::Result<()> {
    let lines = paragraph::lines(text, COLUMNS - INDENT);
    let indent = format!("\n{}", " ".repeat(INDENT));
    let label = palette.paint(ink, label) + &" ".repeat(8_usize.saturating_sub(label.len()));
    writeln!(out, "      {label}{}", lines.join(&indent))
}

/// What an act is called: its words, else what stands in the command, else the tool.
fn title(call: &Call, text: &str, judged: &JudgedAct) -> String {
    let act = &judged.act;
    if !act.args.is_empty() {
        return act.args.iter().map(|arg| word(arg, act, text)).collect::<Vec<_>>().join(" ");
    }
    let (start, end) = (act.span.start as usize, act.span.end as usize);
    match text.get(start..end) {
        Some(text) if !text.is_empty() => text.to_owned(),
        Some(_) | None => call.tool.clone(),
    }
}

/// A word as a shell would take it; one that is not known is shown as it is written, if it is:
/// those that a wrapper finds have the place of the whole command.
fn word(arg: &Arg, act: &Act, text: &str) -> String {
    let Some(text) = arg.as_known() else {
        let written = text.get(arg.span.start as usize..arg.span.end as usize);
        // What a program finds has the span of all of it.
        let is_own = act.span.start <= arg.span.start && arg.span.end <= act.span.end;
        let is_part = is_own && arg.span != act.span;
        let written = written.filter(|written| !written.is_empty() && is_part);
        return written.map_or_else(|| format!("{}…", arg.prefix()), str::to_owned);
    };
    let is_plain =
        |letter: char| letter.is_alphanumeric() || "%+,-./:=@_~^{}[]*?!#".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What an act does, each thing once.
fn effects(effects: &[EffectOn]) -> String {
    let mut said: Vec<String> = Vec::new();
    for on in effects {
        // What is said of something in particular need not be said in general.
        let is_general = on.target == Target::None
            && effects
                .iter()
                .any(|other| other.effect == on.effect && other.target != Target::None);
        let text = effect(on);
        if !is_general && !said.contains(&text) {
            said.push(text);
        }
    }
    said.join("; ")
}

fn effect(on: &EffectOn) -> String {
    let name = on.effect.name();
    let below = if on.is_deep { " and everything below" } else { "" };
    match &on.target {
        Target::Path(path) => format!("{name} `{path}`{below}"),
        Target::Pattern(pattern) => format!("{name} what fits `{pattern}`{below}"),
        Target::Unknown(prefix) if prefix.is_empty() => {
            format!("{name} a path that is not known yet")
        }
        Target::Unknown(prefix) => format!("{name} a path like `{prefix}`"),
        Target::Host(host) if on.effect == Effect::Connect => format!("{name} to `{host}`"),
        Target::Host(host) => format!("{name} `{host}`"),
        Target::Named(what) => format!("{name}: {what}"),
        Target::None => name.to_owned(),
    }
}

fn finding(found: &Finding) -> String {
    let how = match (found.outcome, found.is_firm) {
        (Outcome::Allow, _) => "informs",
        (Outcome::Ask, true) => "asks, firm",
        (Outcome::Ask, false) => "asks",
        (Outcome::Deny, _) => "denies",
    };
    format!("{} ({}, {}, {how})", found.message, found.guard, found.tier.name())
}

/// Each rung, with the acts it held.
fn ladder(out: &mut impl Write, acts: &[JudgedAct], palette: Palette) -> io::Result<()> {
    writeln!(out, "\n{}", palette.paint(Ink::Title, "ladder"))?;
    for (index, about) in LADDER.iter().enumerate() {
        let rung = index + 1;
        let held = acts.iter().enumerate().filter(|(_, act)| usize::from(act.rung) == rung);
        let numbers: Vec<_> = held.clone().map(|(index, _)| (index + 1).to_string()).collect();
        if numbers.is_empty() {
            writeln!(out, "  {}", palette.paint(Ink::Frame, &format!("{rung} {about}")))?;
            continue;
        }
        let strictest = held.map(|(_, act)| act.outcome).max().unwrap_or_default();
        let line = format!("{rung} {about}: holds {}", numbered(&numbers));
        let lines = paragraph::lines(&line, COLUMNS - 4).join("\n    ");
        writeln!(out, "{} {lines}", palette.paint(Ink::from(strictest), ">"))?;
    }
    Ok(())
}

/// "act 1", "acts 1, 2 and 4", "acts 1, 2, 3 and 97 more".
fn numbered(numbers: &[String]) -> String {
    match numbers {
        [one] => format!("act {one}"),
        [most @ .., last] if most.len() < 20 => format!("acts {} and {last}", most.join(", ")),
        _ => {
            let (first, rest) = numbers.split_at(numbers.len().min(12));
            format!("acts {} and {} more", first.join(", "), rest.len())
        }
    }
}

fn suggestions(out: &mut impl Write, verdict: &Verdict, palette: Palette) -> io::Result<()> {
    if verdict.suggestions.is_empty() {
        return Ok(());
    }
    let has_ask_rule = verdict.reasons.iter().any(|reason| reason.code == "rule.ask");
    let title = match verdict.suggestions.len() {
        _ if has_ask_rule => {
            "an ask rule goes on asking until it is removed; then this would answer"
        }
        1 => "an allow rule would answer it",
        _ => "allow rules would answer it",
    };
    writeln!(out, "\n{}", palette.paint(Ink::Title, title))?;
    for suggestion in &verdict.suggestions {
        let rule = paragraph::lines(&suggestion.rule, COLUMNS - 2).join("\n  ");
        writeln!(out, "  {}", palette.paint(Ink::Name, &rule))?;
        labelled(out, "covers", &suggestion.covers, Ink::Frame, palette)?;
    }
    Ok(())
}
