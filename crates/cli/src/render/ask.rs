//! An ask: what an agent wants, shown so that nothing in it can hide, the worst first.

use std::io::{self, Write};

use portcullis_approval::Moment;
use serde_json::Value;

use super::explanation::{command, labelled};
use super::paragraph::{self, COLUMNS};
use crate::palette::{Ink, Palette};
use crate::reach::short;

/// So many acts are listed; the worst come first.
const MOST_ACTS: usize = 6;

/// So many reasons are shown.
const MOST_REASONS: usize = 4;

/// So many other commands are named that a rule would cover.
const MOST_COVERED: usize = 3;

/// The tiers, the worst first.
pub const TIERS: &[&str] = &["destructive", "dangerous", "review", "safe"];

/// Writes one ask.
pub fn ask(out: &mut impl Write, ask: &Value, now: Moment, palette: Palette) -> io::Result<()> {
    let verdict = ask.get("verdict").unwrap_or(&Value::Null);
    let id = short(text(ask, "id"));
    let tier = text(verdict, "tier");
    let call = ask.get("call").unwrap_or(&Value::Null);
    let who = format!("{} by {}", text(call, "tool"), text(ask, "agent"));
    let when = when(ask, now);
    let room = COLUMNS.saturating_sub(id.len() + tier.len() + when.chars().count() + 6);
    let who = paragraph::cut(&who, room);
    let gap = " ".repeat(room.saturating_sub(who.chars().count()) + 2);
    writeln!(
        out,
        "{}  {}  {who}{gap}{}",
        palette.paint(Ink::Title, id),
        palette.paint(tier_ink(tier), tier),
        palette.paint(Ink::Frame, &when)
    )?;
    let (shown, _) = call_text(call);
    let focus = focus(verdict);
    command::command(out, &shown, &[], focus, palette)?;
    let mut labelled = |label: &str, text: &str| labelled(out, label, text, Ink::Frame, palette);
    for (index, reason) in list(verdict, "reasons").iter().take(MOST_REASONS).enumerate() {
        let firm = if index == 0 && verdict.get("firm") == Some(&Value::Bool(true)) {
            ", firm"
        } else {
            ""
        };
        let label = if index == 0 { "because" } else { "also" };
        let sentence = format!("{} ({}{firm})", text(reason, "message"), text(reason, "code"));
        labelled(label, &sentence)?;
    }
    let acts = acts(verdict, &shown);
    for (index, line) in acts.iter().take(MOST_ACTS).enumerate() {
        labelled(if index == 0 { "acts" } else { "" }, line)?;
    }
    if acts.len() > MOST_ACTS {
        labelled("", &format!("and {} more that are no worse", acts.len() - MOST_ACTS))?;
    }
    for (label, owner, name) in [
        ("in", call, "cwd"),
        ("session", ask, "session"),
        ("run", ask, "run"),
        ("owner", ask, "owner"),
    ] {
        let value = text(owner, name);
        let is_usual = value.is_empty() || (label == "owner" && value == "local");
        if !is_usual {
            labelled(label, value)?;
        }
    }
    if !text(call, "description").is_empty() {
        labelled("says", &format!("\"{}\"", text(call, "description")))?;
    }
    for (index, offer) in list(ask, "offers").iter().enumerate() {
        labelled(if index == 0 { "offers" } else { "" }, &offer_line(offer))?;
    }
    labelled("answer", &format!("portcullis approve {id}, portcullis reject {id}"))
}

/// What a call would do, on one line.
pub fn call_line(call: &Value, columns: usize) -> String {
    paragraph::cut(&call_text(call).0, columns)
}

/// How long, in one unit, to the nearest.
pub fn duration(ms: i64) -> String {
    let seconds = (ms.max(0) + 500) / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", (seconds + 30) / 60),
        7200..=172_799 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// How long ago.
pub fn ago(ms: i64) -> String {
    if ms < 2000 { "now".to_owned() } else { format!("{} ago", duration(ms)) }
}

/// A member that is a text; empty where it is none.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

/// The members of a list; none where it is none.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The ink of a tier.
pub fn tier_ink(tier: &str) -> Ink {
    match tier {
        "safe" => Ink::Allow,
        "review" => Ink::Ask,
        _ => Ink::Deny,
    }
}

/// The command of a shell call; of another tool its name and input. And whether it is a command.
pub fn call_text(call: &Value) -> (String, bool) {
    let input = call.get("input").unwrap_or(&Value::Null);
    let is_shell = text(call, "tool").eq_ignore_ascii_case("bash");
    let command = ["command", "cmd", "script"].iter().find_map(|name| input.get(name)?.as_str());
    match command {
        Some(command) if is_shell || input.as_object().is_some_and(|input| input.len() == 1) => {
            (command.to_owned(), true)
        }
        _ => (format!("{} {input}", text(call, "tool")), false),
    }
}

fn when(ask: &Value, now: Moment) -> String {
    let moment = |name: &str| Moment::parse(text(ask, name));
    let age = moment("opened_at").map_or(0, |at| now.ms() - at.ms());
    match moment("deadline_at") {
        Some(end) => format!("{}, {} left", ago(age), duration(end.ms() - now.ms())),
        None => ago(age),
    }
}

fn focus(verdict: &Value) -> usize {
    let span = list(verdict, "reasons").first().and_then(|reason| reason.get("span"));
    let start = span.and_then(|span| span.get(0)).and_then(Value::as_u64);
    start.and_then(|start| usize::try_from(start).ok()).unwrap_or(0)
}

/// One line for each act that is not simply safe, the worst first; none for a single act, which
/// the command itself shows.
fn acts(verdict: &Value, command: &str) -> Vec<String> {
    let rank = |act: &Value| {
        let tier = text(act, "tier");
        TIERS.iter().position(|known| *known == tier).unwrap_or(0)
    };
    let mut acts: Vec<&Value> = list(verdict, "acts").iter().collect();
    if acts.len() < 2 {
        return Vec::new();
    }
    acts.sort_by_key(|act| rank(act));
    acts.into_iter().map(|act| act_line(act, command)).collect()
}

fn act_line(act: &Value, command: &str) -> String {
    let end = |index: usize| {
        let span = act.get("span")?.get(index)?.as_u64()?;
        usize::try_from(span).ok()
    };
    let words = match (end(0), end(1)) {
        (Some(start), Some(end)) => command.get(start..end).unwrap_or_default(),
        _ => "",
    };
    let effects: Vec<String> = particular(list(act, "effects"))
        .map(|effect| match text(effect, "target") {
            "" => text(effect, "effect").to_owned(),
            target => format!("{} {target}", text(effect, "effect")),
        })
        .collect();
    let does = if effects.is_empty() { String::new() } else { format!(": {}", effects.join("; ")) };
    paragraph::shorten(&format!("{}, `{words}`{does}", text(act, "tier")), 200)
}

/// The effects worth saying: what is said of something in particular is not said in general.
pub fn particular(effects: &[Value]) -> impl Iterator<Item = &Value> {
    effects.iter().filter(move |on| {
        let is_named = |other: &Value| {
            text(other, "effect") == text(on, "effect") && !text(other, "target").is_empty()
        };
        !text(on, "target").is_empty() || !effects.iter().any(is_named)
    })
}

fn offer_line(offer: &Value) -> String {
    let scopes: Vec<&str> = list(offer, "scopes").iter().filter_map(Value::as_str).collect();
    let line = format!("{} ({})", text(offer, "rule"), scopes.join(", "));
    let covers: Vec<&str> = list(offer, "also_covers").iter().filter_map(Value::as_str).collect();
    if covers.is_empty() {
        return line;
    }
    let covers: Vec<&str> = covers.into_iter().take(MOST_COVERED).collect();
    format!("{line}; covers {}", covers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_ask_shows_the_worst_first_and_hides_nothing() {
        let shape = json!({
            "id": "0199aaaa-0000-7000-8000-00000000beef", "agent": "rev\u{1b}[2J", "owner": "local",
            "opened_at": "2026-11-15T20:15:00.000Z", "deadline_at": "2026-11-15T20:45:00.000Z",
            "call": { "tool": "Bash", "input": { "command": "ls && rm -rf \u{202e}x" }, "cwd": "/p",
                      "description": "harmless\r" },
            "verdict": { "tier": "dangerous", "firm": true,
                "reasons": [{ "code": "guard.forced_removal", "message": "deletes a tree", "span": [6, 15] }],
                "acts": [
                    { "span": [0, 2], "tier": "safe", "effects": [{ "effect": "read" }] },
                    { "span": [6, 17], "tier": "dangerous", "effects": [{ "effect": "delete" }, { "effect": "delete", "target": "x" }] },
                ] },
            "offers": [{ "rule": "Bash(ls:*)", "scopes": ["always"], "also_covers": ["ls -l"] }],
        });
        let now = Moment::parse("2026-11-15T20:17:00.000Z").unwrap();
        let mut out = Vec::new();
        ask(&mut out, &shape, now, Palette::Plain).unwrap();
        let want = "\
00beef  dangerous  Bash by rev\\x1b[2J                     2 min ago, 28 min left
  ls && rm -rf \\u{202e}x
      because deletes a tree (guard.forced_removal, firm)
      acts    dangerous, `rm -rf \\u{202e}x`: delete x
              safe, `ls`: read
      in      /p
      says    \"harmless\\x0d\"
      offers  Bash(ls:*) (always); covers ls -l
      answer  portcullis approve 00beef, portcullis reject 00beef
";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
