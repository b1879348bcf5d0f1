//! Droid, by its documentation: Claude's documents; an ask and an edit become a deny.

use super::{Host, PLAIN, claude};
use crate::call::Part;

/// The row.
pub const HOST: Host = Host {
    name: "droid",
    events: EVENTS,
    read: |given| claude::like(given, "droid", EVENTS),
    say: |call, answer| claude::gate(&call.event, answer),
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[("PreToolUse", Part::Gate)];
