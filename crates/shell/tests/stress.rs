//! Stress: texts made to exhaust the reader are read or refused on a small stack.
//!
//! Nothing here looks at a clock; how long these texts take is what `benches/` prints.

#![cfg(test)]

#[path = "stress/shapes.rs"]
mod shapes;

use std::thread;

use portcullis_shell::{Dialect, Limits, Reader, RefusalKind, hazards, print, scan};
use shapes::Shape;

/// Twice what a thread of a small program gets; a quarter of the usual main thread's.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// The nesting under which a tool call is judged, with room for long texts.
const LONG: Limits = Limits { nesting: Limits::JUDGING.nesting, ..Limits::LIFTED };

/// Reads every text on a thread with a small stack, in the dialects and with the limits given.
fn read_all(shapes: Vec<Shape>, limits: Limits, dialects: &'static [Dialect]) -> Vec<Outcome> {
    let reading = move || {
        let mut outcomes = Vec::new();
        for shape in shapes {
            for &dialect in dialects {
                for extglob in [false, true] {
                    let reader = Reader { extglob, limits, ..Reader::new(dialect) };
                    let tree = reader.parse(&shape.text);
                    // Dropping and printing must not recurse deeper than reading does.
                    let kind = tree.map(|tree| drop(print(&tree))).map_err(|refusal| refusal.kind);
                    outcomes.push(Outcome { name: shape.name.clone(), dialect, extglob, kind });
                }
            }
            drop((hazards(&shape.text), scan(&shape.text)));
        }
        outcomes
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(reading).unwrap();
    thread.join().expect("a text that was neither read nor refused")
}

struct Outcome {
    name: String,
    dialect: Dialect,
    extglob: bool,
    kind: Result<(), RefusalKind>,
}

#[test]
fn a_hundred_thousand_openers_are_refused() {
    for outcome in read_all(shapes::nested(100_000), LONG, &Dialect::ALL) {
        // Some openers nest nothing (`~`, `\`); none is allowed to be a hazard.
        assert_ne!(outcome.kind, Err(RefusalKind::Hazard), "{}", outcome.name);
    }
}

#[test]
fn openers_within_the_limit_are_read_on_the_same_stack() {
    let depth = (Limits::JUDGING.nesting / 2) as usize;
    for shape in shapes::nested(depth) {
        drop(read_all(vec![shape], LONG, &[Dialect::Bash]));
    }
}

#[test]
fn half_a_million_items_are_read() {
    for outcome in read_all(shapes::lists(500_000), LONG, &[Dialect::Bash]) {
        let reached = matches!(outcome.kind, Ok(()) | Err(RefusalKind::Limit));
        let Outcome { name, dialect, extglob, kind } = outcome;
        assert!(reached, "{name} ({dialect:?}, extglob {extglob}): {kind:?}");
    }
}

#[test]
fn a_million_times_every_sign_is_read_or_refused() {
    drop(read_all(shapes::runs(1_000_000), LONG, &[Dialect::Bash]));
}

#[test]
fn expansions_without_end_are_read() {
    for outcome in read_all(shapes::expansions(), LONG, &[Dialect::Bash]) {
        assert_eq!(outcome.kind, Ok(()), "{}", outcome.name);
    }
}

#[test]
fn a_script_of_ten_megabytes_is_read() {
    for outcome in read_all(vec![shapes::script(10_000_000)], LONG, &[Dialect::Bash]) {
        assert_eq!(outcome.kind, Ok(()), "{}", outcome.name);
    }
}

#[test]
fn what_is_too_long_for_judging_is_refused_at_the_door() {
    let shapes = vec![shapes::script(10_000_000)];
    for outcome in read_all(shapes, Limits::JUDGING, &Dialect::ALL) {
        assert_eq!(outcome.kind, Err(RefusalKind::Limit), "{}", outcome.name);
    }
}
