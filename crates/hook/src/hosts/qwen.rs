//! Qwen Code: Claude's documents, Gemini's tools; it runs the original input whatever it is told.

use super::{Host, PLAIN, blocked_or_left, claude};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Part};

/// The row.
pub const HOST: Host = Host {
    name: "qwen",
    events: EVENTS,
    read: |given| claude::like(given, "qwen", EVENTS),
    say,
    fail: blocked_or_left,
    may_ask: |_| true,
    may_pass: true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("PreToolUse", Part::Gate),
    ("PostToolUse", Part::Result),
    ("PostToolUseFailure", Part::Result),
    ("Notification", Part::Notice),
];

fn say(call: &Call, answer: &Answer) -> Printed {
    if call.part == Part::Gate { claude::gate(&call.event, answer) } else { Printed::nothing() }
}
