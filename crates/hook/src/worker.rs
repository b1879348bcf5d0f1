//! The worker: the same binary, started once more, which judges a call with the policy files.
//!
//! It reads text that an agent chose, so that it may die of it. This process only looks at what
//! the worker said: one line of the known shape after a clean end counts, everything else is no
//! verdict.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::Started;
use crate::call::{Call, Failure, Part};
use crate::link::Place;
use crate::told::Told;
use crate::watched::Watch;

/// How long judging may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long before the deadline the worker is given up.
const MARGIN: Duration = Duration::from_millis(250);

/// The longest line it may say.
const MOST_BYTES: usize = 64 << 10;

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
    let left = watch.end.saturating_duration_since(Instant::now());
    let left = left.checked_sub(MARGIN).unwrap_or(left / 2).min(LIMIT);
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
    if matches!(call.part, Part::Result | Part::Notice) {
        command.args(["--note", &call.event]);
    }
    let body = call.body(place.installed.home.as_deref(), 0);
    let failed = |what: &str| Failure::new("HOOK_INTERNAL", format!("local judging: {what}"));
    // Whoever watches is called while the worker starts: until then nothing is waited for.
    let is_watched = || watch.begin().is_ok();
    match (started.run)(&mut command, body.as_bytes(), left, MOST_BYTES, &is_watched) {
        Ok(said) => Told::of_worker(&said).map_err(|what| failed(&format!("its answer: {what}"))),
        Err(Trouble::Unstarted) => Err(failed("it could not be started")),
        Err(Trouble::CutOff) => Err(failed("its answer was cut off")),
        Err(Trouble::Late) => Err(Failure::new("HOOK_DEADLINE", "local judging took too long")),
        Err(Trouble::Died) => Err(failed("it died")),
    }
}
