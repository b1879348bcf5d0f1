//! Work under watch: it may panic or hang, a signal may come, and an answer is still given in time.
//!
//! The thread that was started first does the work, so that what is usual waits for nobody. For a
//! moment it is [alone](Watch): it waits only where a limit ends its waiting, and a signal is
//! written down. Before it waits longer, or for what has no limit, it has a second thread begin to
//! watch, until the deadline or a signal; then that one answers.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::call::Failure;

/// What is done with the signals that ask a process to end, instead of ending it.
#[derive(Clone, Copy)]
pub struct Signals {
    /// Has it noted that one came.
    pub note: fn(&Arc<AtomicBool>) -> std::io::Result<()>,
    /// Has them written into a stream, one byte each.
    pub tell: fn(&UnixStream) -> std::io::Result<()>,
}

/// The stack of the one who watches; it is touched only where it has something to say.
const STACK: usize = 256 << 10;

/// How long work may wait with nobody watching it.
const ALONE: Duration = Duration::from_millis(30);

/// The longest text that is read with nobody watching.
const SHORT: usize = 64 << 10;

/// Why work was not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// The deadline came first.
    Late,
    /// The process was told to end.
    Signal,
}

/// Who looks after some work: nobody yet, a second thread, or nobody because none can be had.
enum State {
    Alone(Box<dyn FnOnce() -> bool>),
    Watched,
    Unwatchable,
}

/// How work has itself looked after.
///
/// INVARIANT: work that is alone waits for nothing beyond [`Watch::limit`], reads nothing long,
/// and touches no file that another machine may keep it waiting for.
pub struct Watch {
    /// The deadline.
    pub end: Instant,
    state: RefCell<State>,
    alone_until: Instant,
}

impl Watch {
    /// Until when may be waited at once, if something has until `end`.
    pub fn limit(&self, end: Instant) -> Instant {
        if self.is_alone() { end.min(self.alone_until) } else { end }
    }

    /// Whether nobody watches yet.
    pub fn is_alone(&self) -> bool {
        matches!(*self.state.borrow(), State::Alone(_))
    }

    /// Has a second thread watch from here on; one is enough.
    ///
    /// # Errors
    /// None can be had. There is no verdict then, whatever the work comes to.
    pub fn begin(&self) -> Result<(), Failure> {
        let before = self.state.replace(State::Unwatchable);
        let is_watched = match before {
            State::Alone(begin) => begin(),
            State::Watched => true,
            State::Unwatchable => false,
        };
        if !is_watched {
            return Err(Failure::new("HOOK_INTERNAL", "could not judge this call"));
        }
        self.state.replace(State::Watched);
        Ok(())
    }

    /// The same, before a text of this length is read.
    ///
    /// # Errors
    /// The same.
    pub fn begin_if_long(&self, length: usize) -> Result<(), Failure> {
        if length > SHORT { self.begin() } else { Ok(()) }
    }
}

/// Does work and gives what came of it; none where it panicked or nobody could watch it.
///
/// Once somebody watches, at the deadline or a signal `instead` is called in another thread, once,
/// and this never returns: what it says is the answer of the process, which it ends.
pub fn watched<T>(
    work: impl FnOnce(&Watch) -> T,
    end: Instant,
    signals: Signals,
    instead: impl FnOnce(Early) + Send + 'static,
) -> Option<T> {
    // A signal whose arrival cannot be noted ends the process as it would have.
    let came = Arc::new(AtomicBool::new(false));
    let _ = (signals.note)(&came);
    // INVARIANT: whoever finds this false and makes it true is the one who answers.
    let has_spoken = Arc::new(AtomicBool::new(false));
    let begin = {
        let has_spoken = Arc::clone(&has_spoken);
        move || {
            let Ok((mut told, mut heard)) = UnixStream::pair() else { return false };
            let _ = (signals.tell)(&told);
            // From here on each is told; this is for those that came before.
            if came.load(Ordering::Acquire) && told.write_all(b"!").is_err() {
                return false;
            }
            let watcher = move || {
                let early = wait(&mut heard, end);
                if !has_spoken.swap(true, Ordering::AcqRel) {
                    instead(early);
                }
                drop(told);
            };
            std::thread::Builder::new().stack_size(STACK).spawn(watcher).is_ok()
        }
    };
    let alone_until = Instant::now() + ALONE;
    let watch = Watch { end, state: RefCell::new(State::Alone(Box::new(begin))), alone_until };
    let done = catch_unwind(AssertUnwindSafe(|| work(&watch))).ok();
    if has_spoken.swap(true, Ordering::AcqRel) {
        // The other one answers, and ends the process.
        loop {
            std::thread::park();
        }
    }
    match watch.state.into_inner() {
        State::Alone(_) | State::Watched => done,
        State::Unwatchable => None,
    }
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
    use std::sync::mpsc::channel;

    use super::*;

    const NONE: Signals = Signals { note: |_| Ok(()), tell: |_| Ok(()) };

    /// What is said, by whom: the work if it is `Ok`, its watcher if not.
    fn said(
        work: fn(&Watch) -> u8,
        limit: Duration,
        signals: Signals,
    ) -> Result<Option<u8>, Early> {
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
        let begins = |watch: &Watch| {
            watch.begin().unwrap();
            watch.begin().unwrap();
            7
        };
        let hangs = |watch: &Watch| {
            watch.begin().unwrap();
            std::thread::sleep(Duration::from_millis(120));
            7
        };
        let comes = Signals { tell: |mut stream| stream.write_all(b"X"), ..NONE };
        let came = |came: &Arc<AtomicBool>| {
            came.store(true, Ordering::Release);
            Ok(())
        };
        assert_eq!(said(|_| 7, later, NONE), Ok(Some(7)));
        assert_eq!(said(begins, later, NONE), Ok(Some(7)));
        let panics = |_: &Watch| std::panic::resume_unwind(Box::new("told to"));
        assert_eq!(said(panics, later, NONE), Ok(None));
        assert_eq!(said(hangs, soon, NONE), Err(Early::Late));
        assert_eq!(said(hangs, later, comes), Err(Early::Signal));
        // What came while nobody watched is not forgotten.
        assert_eq!(said(hangs, later, Signals { note: came, ..NONE }), Err(Early::Signal));
    }

    #[test]
    fn who_is_alone_waits_for_a_moment_and_reads_what_is_short() {
        let end = Instant::now() + Duration::from_mins(1);
        let done = watched(
            |watch| {
                assert!(watch.limit(end) < end && watch.limit(Instant::now()) <= Instant::now());
                watch.begin_if_long(SHORT).unwrap();
                assert!(watch.is_alone());
                watch.begin_if_long(SHORT + 1).unwrap();
                assert!(!watch.is_alone());
                assert_eq!(watch.limit(end), end);
            },
            end,
            NONE,
            |_| {},
        );
        assert_eq!(done, Some(()));
    }

    #[test]
    fn where_nobody_can_watch_there_is_no_verdict() {
        let done = watched(
            |watch| {
                watch.state.replace(State::Alone(Box::new(|| false)));
                assert!(watch.begin().is_err() && watch.begin().is_err());
                7
            },
            Instant::now() + Duration::from_mins(1),
            NONE,
            |_| {},
        );
        assert_eq!(done, None);
    }
}
