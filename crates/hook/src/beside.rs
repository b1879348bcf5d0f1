//! Work beside the thread that answers: it may panic or hang, a signal may come, and an answer is
//! still given in time.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Instant;

/// Has the signals that ask a process to end written into a stream instead, one byte each.
pub type Signals = fn(&UnixStream) -> std::io::Result<()>;

/// How work ended.
pub enum Ended<T> {
    /// With this.
    Done(T),
    /// It panicked, or could not begin.
    Failed,
    /// Not before the deadline.
    Late,
    /// The process was told to end before.
    Signal,
}

/// Wakes whoever waits, also when the thread that holds it unwinds.
struct Waker(UnixStream);

impl Drop for Waker {
    fn drop(&mut self) {
        let _ = self.0.write_all(b".");
    }
}

/// Does work in a thread of its own and waits for its end, the deadline or a signal.
pub fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    end: Instant,
    signals: Signals,
) -> Ended<T> {
    let Ok((wake, mut woken)) = UnixStream::pair() else { return Ended::Failed };
    // A signal whose arrival cannot be written down ends the process as it would have.
    let _ = signals(&wake);
    let (tell, told) = channel();
    let waker = Waker(wake);
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        let _ = tell.send(done);
        drop(waker);
    };
    if std::thread::Builder::new().name("hook".to_owned()).spawn(work).is_err() {
        return Ended::Failed;
    }
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || woken.set_read_timeout(Some(left)).is_err() {
            return Ended::Late;
        }
        match woken.read(&mut [0]) {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ended::Late;
            }
            Err(_) => return Ended::Failed,
        }
    }
    match told.try_recv() {
        Ok(Ok(done)) => Ended::Done(done),
        Ok(Err(_)) => Ended::Failed,
        // Nothing was told, so that it was a signal that woke us.
        Err(_) => Ended::Signal,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn whatever_work_does_it_ends() {
        let soon = || Instant::now() + Duration::from_millis(50);
        let later = || Instant::now() + Duration::from_mins(1);
        assert!(matches!(beside(|| 7, later(), |_| Ok(())), Ended::Done(7)));
        let panics = || -> u8 { std::panic::resume_unwind(Box::new("told to")) };
        assert!(matches!(beside(panics, later(), |_| Ok(())), Ended::Failed));
        let hangs = || std::thread::sleep(Duration::from_mins(1));
        assert!(matches!(beside(hangs, soon(), |_| Ok(())), Ended::Late));
        let comes: Signals = |mut stream| stream.write_all(b"X");
        assert!(matches!(beside(hangs, later(), comes), Ended::Signal));
    }
}
