//! A program that is started, fed and heard out, by one thread and within a limit.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_hook::Trouble;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long is slept between two looks at a program whose end nobody tells.
const LOOK: Duration = Duration::from_micros(200);

/// Starts a program, feeds it and hears it out.
pub fn run(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    most: usize,
    meanwhile: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Trouble> {
    let end = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| Trouble::Unstarted)?;
    let heard = talk(&mut child, input, end, most, meanwhile).and_then(|said| {
        await_end(&mut child, end)?;
        Ok(said)
    });
    if heard.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    heard
}

/// Writes and reads as the other side likes it, until it closes its output.
fn talk(
    child: &mut Child,
    mut input: &[u8],
    end: Instant,
    most: usize,
    meanwhile: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Trouble> {
    let mut stdin = child.stdin.take();
    let mut stdout = child.stdout.take().ok_or(Trouble::Unstarted)?;
    if let Some(stdin) = &stdin {
        rustix::io::ioctl_fionbio(stdin, true).map_err(|_| Trouble::Unstarted)?;
    }
    let mut said = Vec::new();
    let mut chunk = [0; 4 << 10];
    let mut is_first = true;
    loop {
        if stdin.as_mut().is_some_and(|stdin| is_fed(stdin, &mut input)) {
            stdin = None;
        }
        // It has something to read by now.
        if std::mem::take(&mut is_first) && !meanwhile() {
            return Err(Trouble::CutOff);
        }
        if !is_ready(&stdout, stdin.as_ref(), end)? {
            continue;
        }
        match stdout.read(&mut chunk) {
            Ok(0) => return Ok(said),
            Ok(count) => said.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Trouble::CutOff),
        }
        if said.len() > most {
            return Err(Trouble::CutOff);
        }
    }
}

/// Writes what can be written now; whether there is nothing left, or nobody to read it.
fn is_fed(stdin: &mut ChildStdin, input: &mut &[u8]) -> bool {
    while !input.is_empty() {
        match stdin.write(input) {
            Ok(count) => *input = input.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
    true
}

/// Waits until there is something to do; whether it is something to read.
fn is_ready(stdout: &impl AsFd, stdin: Option<&ChildStdin>, end: Instant) -> Result<bool, Trouble> {
    let mut both = vec![PollFd::new(stdout, PollFlags::IN)];
    both.extend(stdin.map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
    poll_until(&mut both, end)?;
    Ok(both.first().is_some_and(|stdout| !stdout.revents().is_empty()))
}

/// Waits for the end of a program, and that it is a good one.
fn await_end(child: &mut Child, end: Instant) -> Result<(), Trouble> {
    let told = teller(child);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) | Err(_) => return Err(Trouble::Died),
            Ok(None) => {}
        }
        match &told {
            Some(told) => poll_until(&mut [PollFd::new(told, PollFlags::IN)], end)?,
            None if Instant::now() < end => std::thread::sleep(LOOK),
            None => return Err(Trouble::Late),
        }
    }
}

/// What tells of the end of a program, where the system has such a thing.
#[cfg(target_os = "linux")]
fn teller(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = Pid::from_raw(i32::try_from(child.id()).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn teller(_: &Child) -> Option<OwnedFd> {
    None
}

fn poll_until(files: &mut [PollFd<'_>], end: Instant) -> Result<(), Trouble> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Trouble::Late);
    }
    let left = Timespec::try_from(left).map_err(|_| Trouble::Late)?;
    match poll(files, Some(&left)) {
        Ok(0) => Err(Trouble::Late),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(_) => Err(Trouble::CutOff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8], limit_ms: u64) -> Result<Vec<u8>, Trouble> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(&mut command, input, Duration::from_millis(limit_ms), 1 << 20, &|| true)
    }

    #[test]
    fn a_program_is_heard_to_its_end_or_not_at_all() {
        let long = vec![b'x'; 1 << 20];
        assert_eq!(shell("cat", b"hello", 5000), Ok(b"hello".to_vec()));
        // It reads and writes at once more than a pipe holds.
        assert_eq!(shell("cat", &long, 5000), Ok(long.clone()));
        assert_eq!(shell("echo said", &long, 5000), Ok(b"said\n".to_vec()), "it reads nothing");
        assert_eq!(shell("echo said; exit 3", b"", 5000), Err(Trouble::Died));
        assert_eq!(shell("echo said; kill -9 $$", b"", 5000), Err(Trouble::Died));
        assert_eq!(shell("exec sleep 20", b"", 100), Err(Trouble::Late));
        assert_eq!(shell("exec >&-; exec sleep 20", b"", 100), Err(Trouble::Late));
        assert_eq!(shell("exec yes", b"", 5000), Err(Trouble::CutOff));
        let second = Duration::from_secs(1);
        let nothing = run(&mut Command::new("/nothing"), b"", second, 1, &|| true);
        assert_eq!(nothing, Err(Trouble::Unstarted));
        let unwatched = run(&mut Command::new("cat"), b"hello", second, 99, &|| false);
        assert_eq!(unwatched, Err(Trouble::CutOff));
    }
}
