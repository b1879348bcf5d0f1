//! Work under watch: it may panic or hang, a signal may come, and an answer is still given in time.
//!
//! The thread that was started first does the work, so that what is usual waits for nobody. A
//! second one sleeps beside it, until the deadline or a signal; then it is the one to answer.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Has the signals that ask a process to end written into a stream instead, one byte each.
pub type Signals = fn(&UnixStream) -> std::io::Result<()>;

/// The stack of the one who watches; it is touched only where it has something to say.
const STACK: usize = 256 << 10;

/// Why work was not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// The deadline came first.
    Late,
    /// The process was told to end.
    Signal,
}

/// Does work and gives what came of it; none where it panicked or nobody could watch it.
///
/// At the deadline or a signal `instead` is called in another thread, once, and this never
/// returns: what it says is the answer of the process, which it ends.
pub fn watched<T>(
    work: impl FnOnce() -> T,
    end: Instant,
    signals: Signals,
    instead: impl FnOnce(Early) + Send + 'static,
) -> Option<T> {
    let (told, mut heard) = UnixStream::pair().ok()?;
    // A signal whose arrival cannot be written down ends the process as it would have.
    let _ = signals(&told);
    // INVARIANT: whoever finds this false and makes it true is the one who answers.
    let has_spoken = Arc::new(AtomicBool::new(false));
    let watcher = {
        let has_spoken = Arc::clone(&has_spoken);
        move || {
            let early = wait(&mut heard, end);
            if !has_spoken.swap(true, Ordering::AcqRel) {
                instead(early);
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(watcher).ok()?;
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    if has_spoken.swap(true, Ordering::AcqRel) {
        // The other one answers, and ends the process.
        loop {
            std::thread::park();
        }
    }
    drop(told);
    done
}

/// Waits for the deadline or a byte.
fn wait(heard: &mut UnixStream, end: Instant) -> Early {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || heard.set_read_timeout(Some(left)).is_err() {
            return Early::Late;
        }
        match heard.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Early::Late;
            }
            // A byte; or nothing can be heard any more, and nobody would watch on.
            Ok(_) | Err(_) => return Early::Signal,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// What is said, by whom: the work if it is `Ok`, its watcher if not.
    fn said(work: fn() -> u8, limit: Duration, signals: Signals) -> Result<Option<u8>, Early> {
        let (tell, told) = channel();
        let instead = tell.clone();
        std::thread::spawn(move || {
            let end = Instant::now() + limit;
            let instead = move |early| {
                let _ = instead.send(Err(early));
            };
            let done = watched(work, end, signals, instead);
            let _ = tell.send(Ok(done));
        });
        let said = told.recv().unwrap();
        // There is one answer, and never a second.
        assert!(told.recv_timeout(Duration::from_millis(100)).is_err());
        said
    }

    #[test]
    fn whatever_work_does_one_answer_is_given() {
        let (soon, later) = (Duration::from_millis(50), Duration::from_mins(1));
        let hangs = || {
            std::thread::sleep(Duration::from_millis(120));
            7
        };
        let comes: Signals = |mut stream| stream.write_all(b"X");
        assert_eq!(said(|| 7, later, |_| Ok(())), Ok(Some(7)));
        let panics = || std::panic::resume_unwind(Box::new("told to"));
        assert_eq!(said(panics, later, |_| Ok(())), Ok(None));
        assert_eq!(said(hangs, soon, |_| Ok(())), Err(Early::Late));
        assert_eq!(said(hangs, later, comes), Err(Early::Signal));
    }
}
