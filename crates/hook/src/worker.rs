//! The worker: the same binary, started once more, which judges a call with the policy files.
//!
//! It reads text that an agent chose, so that it may die of it. This process only looks at what
//! the worker said: one line of the known shape after a clean end counts, everything else is no
//! verdict.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::Started;
use crate::call::{Call, Failure, Fields, Part};
use crate::link::Place;
use crate::told::Told;
use crate::watched::Watch;

/// How long judging may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long before the deadline the worker is given up.
const MARGIN: Duration = Duration::from_millis(250);

/// The longest line it may say.
const MOST_BYTES: usize = 64 << 10;

/// What it may say about where paths lead.
const MOST_WORLD: usize = 1 << 20;

/// Starts a program, feeds it these bytes and hears it out: what it said, if that was no more than
/// so many bytes and it ended well within the limit. It is not left running. Once it runs, the
/// function is called; where that says no, it is not heard.
pub type Run =
    fn(&mut Command, &[u8], Duration, usize, &dyn Fn() -> bool) -> Result<Vec<u8>, Trouble>;

/// Why a program that was started has said nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It could not be started.
    Unstarted,
    /// It said too much, or could not be heard to the end.
    CutOff,
    /// It took too long.
    Late,
    /// It did not end well.
    Died,
}

/// Has a call judged here, and noted in the journal.
///
/// # Errors
/// There is no verdict.
pub fn judge(
    started: &Started,
    place: &Place,
    call: &Call,
    watch: &Watch,
) -> Result<Told, Failure> {
    let mut command = command(started, place);
    if matches!(call.part, Part::Result | Part::Notice) {
        command.args(["--note", &call.event]);
    }
    let said = said(started, place, call, watch, &mut command, MOST_BYTES)?;
    Told::of_worker(&said).map_err(|what| failed(&format!("its answer: {what}")))
}

/// Has a call read here, for a daemon on another machine: where its paths lead, as the text of an
/// object.
///
/// # Errors
/// It could not be read.
pub fn world(
    started: &Started,
    place: &Place,
    call: &Call,
    watch: &Watch,
) -> Result<String, Failure> {
    let mut command = command(started, place);
    command.args(["--world", "true"]);
    let said = said(started, place, call, watch, &mut command, MOST_WORLD)?;
    let world = Fields::read(&said).ok().and_then(|fields| fields.raw("world").map(str::to_owned));
    world.filter(|world| world.starts_with('{')).ok_or_else(|| failed("its answer has no world"))
}

/// The worker, not started yet.
fn command(started: &Started, place: &Place) -> Command {
    let mut command = Command::new(&started.program);
    command.args(["hook", "--worker"]);
    if place.is_named {
        // A repository may set its host's environment; nothing of it reaches the policy.
        command.env_clear();
        command.envs(started.kept.iter().map(|(name, value)| (name, value)));
    }
    if let Some(directory) = &place.data_dir {
        command.arg(if place.is_named { "--installed" } else { "--data-dir" }).arg(directory);
    }
    if place.is_elsewhere() {
        // Without a key of that daemon, or one to show it, nothing that is kept can be believed.
        let key = place.installed.key.as_deref().unwrap_or_default();
        let holder = place.holder(started).unwrap_or_default();
        command.args(["--key", key, "--holder", &holder]);
    }
    command
}

/// What it says about a call.
fn said(
    started: &Started,
    place: &Place,
    call: &Call,
    watch: &Watch,
    command: &mut Command,
    most: usize,
) -> Result<Vec<u8>, Failure> {
    let left = watch.end.saturating_duration_since(Instant::now());
    let left = left.checked_sub(MARGIN).unwrap_or(left / 2).min(LIMIT);
    let body = call.body(place.installed.home.as_deref(), 0);
    // Whoever watches is called while the worker starts: until then nothing is waited for.
    let is_watched = || watch.begin().is_ok();
    (started.run)(command, body.as_bytes(), left, most, &is_watched).map_err(
        |trouble| match trouble {
            Trouble::Unstarted => failed("it could not be started"),
            Trouble::CutOff => failed("its answer was cut off"),
            Trouble::Late => Failure::new("HOOK_DEADLINE", "local judging took too long"),
            Trouble::Died => failed("it died"),
        },
    )
}

fn failed(what: &str) -> Failure {
    Failure::new("HOOK_INTERNAL", format!("local judging: {what}"))
}
