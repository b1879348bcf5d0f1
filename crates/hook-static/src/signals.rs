//! Signals that would end a hook: some hosts run the tool of a hook that died, so it answers first.

use std::fs::OpenOptions;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::low_level::pipe;

/// Those by which a host ends what it started.
const ENDS: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// The others that end a process which does not heed them: limits that are reached, timers, and
/// whatever somebody sends. Few come to one that has just begun, so that they are heeded once it
/// waits.
const OTHERS: [i32; 10] =
    [SIGXCPU, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGSYS, SIGTRAP];

/// Whether an abort ends the process without a word.
static IS_MUTE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Has a process that gives itself up end with the code that blocks: out of memory, or of stack, the
/// runtime says why on standard error and aborts.
pub fn block_on_abort() {
    let is_mute = IS_MUTE.get_or_init(|| Arc::new(AtomicBool::new(true)));
    let _ = flag::register_conditional_shutdown(SIGABRT, 2, Arc::clone(is_mute));
}

/// Has it noted that one came.
pub fn note(came: &Arc<AtomicBool>) -> std::io::Result<()> {
    ENDS.iter().try_for_each(|signal| flag::register(*signal, Arc::clone(came)).map(drop))
}

/// Makes each that comes one byte.
pub fn tell(stream: &UnixStream) -> std::io::Result<()> {
    speak_on_abort();
    let mut all = ENDS.iter().chain(&OTHERS);
    all.try_for_each(|signal| pipe::register(*signal, stream.try_clone()?).map(drop))
}

/// Has an abort that somebody else sends say something before it ends the process: a code without
/// a word blocks in few hosts, and here a byte is all that can be said.
fn speak_on_abort() {
    // Opened anew: what is set on it must not be set on the terminal of others.
    let Ok(errors) = OpenOptions::new().append(true).open("/proc/self/fd/2") else { return };
    let is_heard = pipe::register(SIGABRT, errors).is_ok()
        && flag::register_conditional_shutdown(SIGABRT, 2, Arc::new(AtomicBool::new(true))).is_ok();
    if let (true, Some(is_mute)) = (is_heard, IS_MUTE.get()) {
        is_mute.store(false, Ordering::Release);
    }
}
