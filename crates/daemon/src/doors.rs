//! The doors of other dialects: each speaks its own words on the one queue.

pub mod agentbot;
pub mod agentscope;
pub mod comma;
pub mod multica;
pub mod ws;

use std::net::SocketAddr;
use std::sync::Arc;

use portcullis_approval::{Ask, Id};
use serde_json::Value;

use crate::authority::Overlay;
use crate::config::{Config, Dialects};
use crate::router::Route;

/// The routes of the dialects that are spoken.
#[must_use]
pub fn routes(config: &Config) -> Vec<Arc<Route>> {
    let mut routes = Vec::new();
    if config.dialects.agentbot.on {
        routes.extend(agentbot::routes());
    }
    if config.dialects.agentscope.on {
        routes.extend(agentscope::routes());
    }
    if config.dialects.comma.on {
        routes.extend(comma::routes());
    }
    if config.dialects.multica.on {
        routes.extend(multica::routes());
    }
    routes
}

/// Gives the routes of a dialect.
type Own = fn() -> Vec<Arc<Route>>;

/// The addresses of the dialects' own listeners, each with the routes that are served there.
#[must_use]
pub fn listeners(config: &Config) -> Vec<(SocketAddr, Vec<Arc<Route>>)> {
    let Dialects { agentbot, comma, multica, .. } = &config.dialects;
    let own: [(bool, &str, Own); 3] = [
        (agentbot.on, &agentbot.listen, agentbot::routes),
        (comma.on, &comma.listen, comma::routes),
        (multica.on, &multica.listen, multica::own_routes),
    ];
    let listens = |(is_on, listen, routes): (bool, &str, Own)| {
        Some((listen.parse().ok().filter(|_| is_on)?, routes()))
    };
    own.into_iter().filter_map(listens).collect()
}

/// Whether a dialect that is spoken takes a local process without a key for an approver.
#[must_use]
pub fn waives_keys(config: &Config) -> bool {
    routes(config).iter().any(|route| (route.is_waived)(config))
}

/// What each dialect lays over every policy, by its door.
#[must_use]
pub fn overlays(config: &Config, profiles: &Arc<multica::Files>) -> Vec<(&'static str, Overlay)> {
    vec![
        (agentbot::NAME, agentbot::overlay(&config.dialects.agentbot)),
        (multica::NAME, multica::overlay(profiles)),
    ]
}

/// What may stand beside a command without changing what it does.
const BESIDE: [&str; 8] = [
    "command",
    "description",
    "timeout",
    "timeout_ms",
    "run_in_background",
    "is_background",
    "sync",
    "mode",
];

/// Whether an input is a command and what hosts say about one, and nothing else.
fn is_command(input: &Value) -> bool {
    input.as_object().is_some_and(|members| {
        members.get("command").is_some_and(Value::is_string)
            && members.keys().all(|name| BESIDE.contains(&name.as_str()))
    })
}

/// The command of an ask, where it says all of the call: a shell would run it, and nothing stands
/// beside it that it would hide.
#[must_use]
pub fn sole_command(ask: &Ask) -> Option<String> {
    let input: Value = serde_json::from_str(&ask.call.input).ok()?;
    let verdict: Value = serde_json::from_str(&ask.verdict).ok()?;
    let acts = verdict.get("acts").and_then(Value::as_array)?;
    // What is no shell's has acts without words; a text that cannot be read has acts at spans.
    let is_shell = acts.iter().any(|act| {
        let words = act.get("argv").and_then(Value::as_array).is_some_and(|argv| !argv.is_empty());
        let span = act.get("span").and_then(Value::as_array);
        words || span.is_some_and(|span| span.iter().any(|at| at.as_u64() != Some(0)))
    });
    let command = input.get("command").and_then(Value::as_str)?;
    (is_shell && is_command(&input)).then(|| command.to_owned())
}

/// The digits of base 36.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// How many bits of an id stand behind its time.
const REST_BITS: u32 = 80;

/// How many digits they have.
const REST_DIGITS: usize = 16;

/// The id of an ask in whatever form a door writes it; none where the text is none.
#[must_use]
pub fn ask_id(text: &str) -> Option<Id> {
    if let Some(rest) = text.strip_prefix("hook_").or_else(|| text.strip_prefix("perm_")) {
        return hook_id(rest);
    }
    text.strip_prefix("perm-").unwrap_or(text).parse().ok()
}

/// An id as Agentbot writes it: `hook_<ms>_<rest>`.
#[must_use]
pub fn hook_text(id: Id) -> String {
    let number = id.as_number();
    let ms = number >> REST_BITS;
    let mut rest = number & ((1 << REST_BITS) - 1);
    let mut digits = [b'0'; REST_DIGITS];
    for digit in digits.iter_mut().rev() {
        let at = usize::try_from(rest % 36).unwrap_or(0);
        *digit = DIGITS.get(at).copied().unwrap_or(b'0');
        rest /= 36;
    }
    format!("hook_{ms}_{}", String::from_utf8_lossy(&digits))
}

fn hook_id(text: &str) -> Option<Id> {
    let (ms, rest) = text.split_once('_')?;
    let is_plain = !ms.is_empty()
        && ms.bytes().all(|byte| byte.is_ascii_digit())
        && (ms == "0" || !ms.starts_with('0'));
    if !is_plain || rest.len() != REST_DIGITS {
        return None;
    }
    let ms: u128 = ms.parse().ok().filter(|ms| *ms < 1 << 48)?;
    let mut number: u128 = 0;
    for byte in rest.bytes() {
        let digit = DIGITS.iter().position(|digit| *digit == byte)?;
        number = number.checked_mul(36)?.checked_add(u128::try_from(digit).ok()?)?;
    }
    if number >= 1 << REST_BITS {
        return None;
    }
    Id::from_number((ms << REST_BITS) | number)
}

#[cfg(test)]
mod tests {
    use super::{ask_id, hook_text};

    #[test]
    fn every_rendering_of_an_id_is_the_same_ask() {
        let uuid = "019444a0-1234-7abc-8000-abcdef123456";
        let id = uuid.parse().unwrap();
        assert_eq!(hook_text(id), "hook_1736318128692_2mdti2lcvbsy215i");
        for text in [
            uuid,
            "perm-019444a0-1234-7abc-8000-abcdef123456",
            "hook_1736318128692_2mdti2lcvbsy215i",
            "perm_1736318128692_2mdti2lcvbsy215i",
        ] {
            assert_eq!(ask_id(text), Some(id), "`{text}`");
        }
        for text in [
            "",
            "hook_",
            "hook_1_x",
            "hook_01736318128692_2mdti2lcvbsy215i",
            "hook_1736318128692_zzzzzzzzzzzzzzzz",
            "019444A0-1234-7abc-8000-abcdef123456",
            "019444a0-1234-4abc-8000-abcdef123456",
            "hook_1736318128692_2MDTI2LCVBSY215I",
        ] {
            assert_eq!(ask_id(text), None, "`{text}`");
        }
    }
}
