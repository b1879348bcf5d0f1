//! Cards: an ask with what a person needs to know about it, the worst first.

use std::collections::BTreeSet;

use portcullis_approval::Moment;
use serde_json::Value;

use crate::reach::short;
use crate::render::ask::{TIERS, call_text, list, particular, text};

/// One ask, as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// All of it, as the daemon said it.
    pub ask: Value,
    /// The ask's id.
    pub id: String,
    /// The command; of another tool its name and input.
    pub text: String,
    /// Whether `text` is a command, so that acts have a place in it.
    pub is_command: bool,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it ends by itself.
    pub deadline_at: Option<Moment>,
    /// Its acts, the worst first.
    pub acts: Vec<Act>,
}

/// One act of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// How bad it could be.
    pub tier: &'static str,
    /// The words of the command that are this act.
    pub words: String,
    /// Where they begin and end.
    pub span: (usize, usize),
    /// What it does, and to what: `deletes ~/build`.
    pub effects: Vec<String>,
}

impl Card {
    /// The card of an ask; none if it has no id.
    pub fn new(ask: Value) -> Option<Card> {
        let id = text(&ask, "id").to_owned();
        if id.is_empty() {
            return None;
        }
        let call = ask.get("call").unwrap_or(&Value::Null);
        let (words, is_command) = call_text(call);
        let moment = |name: &str| Moment::parse(text(&ask, name));
        let verdict = ask.get("verdict").unwrap_or(&Value::Null);
        Some(Card {
            acts: acts(verdict, &words, is_command),
            opened_at: moment("opened_at").unwrap_or_default(),
            deadline_at: moment("deadline_at"),
            text: words,
            is_command,
            id,
            ask,
        })
    }

    /// The short id.
    pub fn short(&self) -> &str {
        short(&self.id)
    }

    /// The engine's answer when it was opened.
    pub fn verdict(&self) -> &Value {
        self.ask.get("verdict").unwrap_or(&Value::Null)
    }

    /// The call it is about.
    pub fn call(&self) -> &Value {
        self.ask.get("call").unwrap_or(&Value::Null)
    }

    /// How bad the call could be.
    pub fn tier(&self) -> &'static str {
        tier(self.verdict())
    }

    /// The tier as a number; the worst is 0, and so is one that nobody knows.
    pub fn rank(&self) -> usize {
        rank(self.tier())
    }

    /// The kind of call, for answering many at once: the same tool and programs, as bad as each
    /// other.
    pub fn kind(&self) -> String {
        let acts = list(self.verdict(), "acts");
        let is_doing = |act: &&Value| act.get("read_only") != Some(&Value::Bool(true));
        let doing: Vec<&Value> = acts.iter().filter(is_doing).collect();
        let all = if doing.is_empty() { acts.iter().collect() } else { doing };
        let programs: BTreeSet<String> = all.into_iter().map(runs).collect();
        let programs: Vec<String> = programs.into_iter().collect();
        format!("{}\n{}\n{}", text(self.call(), "tool"), self.tier(), programs.join("\n"))
    }

    /// Whether a finding holds that no rule can silence.
    pub fn is_firm(&self) -> bool {
        self.verdict().get("firm") == Some(&Value::Bool(true))
    }

    /// The rules that would answer it for good.
    pub fn offers(&self) -> &[Value] {
        list(&self.ask, "offers")
    }

    /// A member of the ask that is a text.
    pub fn text(&self, name: &str) -> &str {
        text(&self.ask, name)
    }

    /// Where the part begins that decided.
    pub fn focus(&self) -> usize {
        let span = list(self.verdict(), "reasons").first().and_then(|reason| reason.get("span"));
        let start = span.and_then(|span| byte(span, 0));
        start.or_else(|| self.acts.first().map(|act| act.span.0)).unwrap_or(0)
    }

    /// How bad what stands at this byte could be: the worst act that reaches there.
    pub fn tier_at(&self, byte: usize) -> Option<&'static str> {
        let reaches = |act: &&Act| act.span.0 <= byte && byte < act.span.1;
        self.acts.iter().find(reaches).map(|act| act.tier)
    }
}

/// The tier of a verdict or an act; one that nobody knows is told so.
pub fn tier(of: &Value) -> &'static str {
    TIERS.iter().find(|known| **known == text(of, "tier")).copied().unwrap_or("unknown")
}

/// A tier as a number; the worst is 0.
pub fn rank(tier: &str) -> usize {
    TIERS.iter().position(|known| *known == tier).unwrap_or(0)
}

/// The acts of a verdict, the worst first.
fn acts(verdict: &Value, command: &str, is_command: bool) -> Vec<Act> {
    let mut merged: Vec<Act> = Vec::new();
    for value in list(verdict, "acts") {
        let act = read_act(value, command, is_command);
        // A wrapper and what it runs are the same words: they are shown once, with all they do.
        let is_run = !list(value, "via").is_empty();
        let (start, end) = act.span;
        let holds = |known: &&mut Act| {
            known.span == act.span || is_run && known.span.0 <= start && end <= known.span.1
        };
        match merged.iter_mut().find(holds).filter(|_| is_command) {
            None => merged.push(act),
            Some(known) => {
                let is_new = |effect: &String| !known.effects.contains(effect);
                let more: Vec<String> = act.effects.into_iter().filter(is_new).collect();
                known.effects.extend(more);
                if rank(act.tier) < rank(known.tier) {
                    known.tier = act.tier;
                }
            }
        }
    }
    merged.sort_by_key(|act| rank(act.tier));
    merged
}

fn read_act(act: &Value, command: &str, is_command: bool) -> Act {
    let end = |index| act.get("span").and_then(|span| byte(span, index)).unwrap_or(0);
    let span = if is_command { (end(0), end(1)) } else { (0, 0) };
    let words = command.get(span.0..span.1).unwrap_or_default().to_owned();
    let effects = particular(list(act, "effects")).map(|effect| {
        let does = does(text(effect, "effect"));
        match text(effect, "target") {
            "" => does.to_owned(),
            target => format!("{does} {target}"),
        }
    });
    let mut effects: Vec<String> = effects.collect();
    effects.dedup();
    Act { tier: tier(act), words, span, effects }
}

/// What an act runs, in a word or two: `npm install`.
fn runs(act: &Value) -> String {
    let mut words = list(act, "argv").iter().map(|word| word.as_str().unwrap_or("?"));
    let program = words.next().unwrap_or("?");
    let program = program.rsplit('/').next().unwrap_or(program);
    let is_plain = |word: &&str| {
        word.starts_with(|sign: char| sign.is_ascii_lowercase())
            && word.chars().all(|sign| sign.is_ascii_lowercase() || sign == '-')
    };
    match words.next().filter(is_plain) {
        Some(more) => format!("{program} {more}"),
        None => program.to_owned(),
    }
}

/// What an effect does, as a verb.
fn does(effect: &str) -> &str {
    match effect {
        "read" => "reads",
        "query" => "queries",
        "write" => "writes",
        "delete" => "deletes",
        "change" => "changes",
        "execute" => "runs",
        "connect" => "connects",
        "escalate" => "escalates",
        "unknown" => "does something unknown",
        other => other,
    }
}

fn byte(span: &Value, index: usize) -> Option<usize> {
    usize::try_from(span.get(index)?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_worst_act_comes_first() {
        let ask = json!({
            "id": "0199aaaa-0000-7000-8000-00000000beef",
            "call": { "tool": "Bash", "input": { "command": "ls && rm -rf x" } },
            "verdict": { "tier": "destructive", "reasons": [{ "code": "c", "span": [6, 14] }],
                "acts": [
                    { "span": [0, 2], "tier": "safe", "effects": [{ "effect": "read" }] },
                    { "span": [6, 14], "tier": "destructive",
                      "effects": [{ "effect": "delete", "target": "x" }] },
                ] },
        });
        let card = Card::new(ask).unwrap();
        let words: Vec<_> = card.acts.iter().map(|act| act.words.as_str()).collect();
        assert_eq!(words, ["rm -rf x", "ls"]);
        assert_eq!(card.acts[0].effects, ["deletes x"]);
        assert_eq!((card.focus(), card.rank()), (6, 0));
        assert_eq!(card.tier_at(1), Some("safe"));
        assert_eq!(card.tier_at(3), None);
        assert_eq!(Card::new(json!({})), None);
    }

    #[test]
    fn a_wrapper_and_what_it_runs_are_one() {
        let verdict = json!({ "acts": [
            { "span": [0, 9], "tier": "review", "effects": [{ "effect": "escalate" }, { "effect": "read" }] },
            { "span": [5, 9], "tier": "destructive", "via": ["sudo"],
              "effects": [{ "effect": "read" }, { "effect": "delete", "target": "x" }] },
        ] });
        let acts = acts(&verdict, "sudo rm x", true);
        assert_eq!(acts.len(), 1);
        assert_eq!((acts[0].tier, acts[0].words.as_str()), ("destructive", "sudo rm x"));
        assert_eq!(acts[0].effects, ["escalates", "reads", "deletes x"]);
    }
}
