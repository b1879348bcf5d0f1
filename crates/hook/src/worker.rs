//! The worker: the same binary, started once more, which judges a call with the policy files.
//!
//! It reads text that an agent chose, so that it may die of it. This process only looks at what
//! the worker said: one line of the known shape after a clean end counts, everything else is no
//! verdict.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::Started;
use crate::call::{Call, Failure, Part};
use crate::link::Place;
use crate::told::Told;

/// How long judging may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long before the deadline the worker is given up.
const MARGIN: Duration = Duration::from_millis(250);

/// The longest line it may say.
const MOST_BYTES: u64 = 64 << 10;

/// Has a call judged here, and noted in the journal.
///
/// # Errors
/// There is no verdict.
pub fn judge(started: &Started, place: &Place, call: &Call, end: Instant) -> Result<Told, Failure> {
    let left = end.saturating_duration_since(Instant::now());
    let left = left.checked_sub(MARGIN).unwrap_or(left / 2).min(LIMIT);
    let end = Instant::now() + left;
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
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let failed = |what: &str| Failure::new("HOOK_INTERNAL", format!("local judging: {what}"));
    let mut child = command.spawn().map_err(|_| failed("it could not be started"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        let _ = child.kill();
        return Err(failed("it could not be started"));
    };
    let body = call.body(place.installed.home.as_deref(), 0);
    // Beside, because a worker that neither reads nor writes would hold us.
    let beside = |work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().stack_size(256 << 10).spawn(work).is_ok()
    };
    let writes = beside(Box::new(move || drop(stdin.write_all(body.as_bytes()))));
    let (tell, told) = mpsc::channel();
    let reads = beside(Box::new(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        let _ = tell.send(read.map(|_| bytes));
    }));
    let said = if writes && reads {
        told.recv_timeout(end.saturating_duration_since(Instant::now()))
    } else {
        Err(mpsc::RecvTimeoutError::Disconnected)
    };
    let Ok(said) = said else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(Failure::new("HOOK_DEADLINE", "local judging took too long"));
    };
    let said = said.map_err(|_| failed("its answer was cut off"));
    if said.as_ref().is_ok_and(|said| said.len() as u64 > MOST_BYTES) {
        let _ = child.kill();
    }
    // Its output is closed; what is left of it is its end, or it is ended.
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => {
                return Told::of_worker(&said?)
                    .map_err(|what| failed(&format!("its answer: {what}")));
            }
            Ok(Some(_)) => return Err(failed("it died")),
            Ok(None) => std::thread::sleep(Duration::from_micros(200)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(failed("it did not end"))
}
