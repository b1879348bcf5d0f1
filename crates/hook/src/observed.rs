//! What a host tells after a call, without asking: noted, and never a reason to block.

use crate::call::{Call, Failure, Part};
use crate::hosts::Host;
use crate::link::Place;
use crate::options::{Daemon, Options};
use crate::watched::Watch;
use crate::{Started, json, worker};

/// Notes what a host tells without asking: with the daemon, else in the journal.
pub fn observe(
    host: &Host,
    options: &Options,
    started: &Started,
    place: &Place,
    call: &Call,
    document: &[u8],
    watch: &Watch,
) {
    if options.daemon != Daemon::Off && call.part == Part::Result {
        let document = str::from_utf8(document).unwrap_or_default();
        if place.tell(&format!("/v1/hooks/{}", host.name), document, watch) {
            return;
        }
    }
    // Nothing is blocked by what cannot be noted.
    let _ = worker::judge(started, place, call, watch);
}

/// Notes in the journal that what a host told after a call could not be read; gives the failure.
pub fn noted(
    host: &Host,
    options: &Options,
    started: &Started,
    failure: Failure,
    watch: &Watch,
) -> Failure {
    let part = host.part(options.event.as_deref());
    if matches!(part, Part::Result | Part::Notice)
        && let Ok(place) = Place::find(started, options, watch)
    {
        let event = options.event.clone().unwrap_or_default();
        let input = json::object(&[("failure", json::quoted(failure.code))]);
        let slot = format!("{}/{event}", host.name);
        let tool = event.clone();
        let call = Call { host: host.name, tool, event, part, input, slot, ..Call::default() };
        // Nothing is blocked by what cannot be noted.
        let _ = worker::judge(started, &place, &call, watch);
    }
    failure
}
