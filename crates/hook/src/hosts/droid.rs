//! Droid, by its documentation: Claude's documents; an ask and an edit become a deny.

use super::{Host, blocked, claude, never, takes_nothing};
use crate::call::Part;

/// The row.
pub const HOST: Host = Host {
    name: "droid",
    events: EVENTS,
    read: |given| claude::like(given, "droid", EVENTS),
    say: |call, answer| claude::gate(&call.event, answer),
    fail: blocked,
    may_ask: never,
    takes: takes_nothing,
    may_pass: false,
    leaves_prompts: false,
    hides_reasons: false,
};

const EVENTS: &[(&str, Part)] = &[("PreToolUse", Part::Gate)];
