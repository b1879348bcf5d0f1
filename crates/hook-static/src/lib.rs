//! The hook as a process: what the small crate behind it is handed, and the worker it starts.
//!
//! `portcullis hook` hands over to [`run`] before it parses arguments, and `portcullis-hook` is
//! nothing else: a hook must start at once, and answer whatever its arguments are.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portcullis_approval::receipt::{PublicKey, Receipt};
use portcullis_approval::{CallText, Moment, audit};
use portcullis_hook::answer::Printed;
use portcullis_hook::call::Call;
use portcullis_hook::{Checker, OWN_NAME, Proof, Signals, Started, VERDICT_LIMIT};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net;
use used::Unclaimed;

pub mod cached;
mod child;
pub mod installed;
pub mod journal;
mod near;
pub mod pause;
mod signals;
mod used;
mod worker;

/// The name under which Amp starts the binary: it can give no arguments.
const AMP: &str = "portcullis-hook-amp";

/// The words behind `hook`, if this process is one.
#[must_use]
pub fn words() -> Option<Vec<String>> {
    let mut words = std::env::args_os();
    let own = words.next().map(PathBuf::from);
    if own.as_ref().and_then(|own| own.file_name()).is_some_and(|name| name == AMP) {
        return Some(vec!["amp".to_owned()]);
    }
    let is_hook = words.next().is_some_and(|word| word == "hook");
    is_hook.then(|| words.map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Answers an agent host. Release builds end the process with that.
#[must_use]
pub fn run(words: Vec<String>) -> ExitCode {
    let began = Instant::now();
    // What a panic says is for nobody: the answer that stands for it is written at the end.
    std::panic::set_hook(Box::new(|_| {}));
    if words.first().is_some_and(|word| word == "--worker") {
        return worker::run(&words);
    }
    signals::block_on_abort();
    #[cfg(debug_assertions)]
    worker::own_fault();
    let started = Started {
        arguments: words,
        variable: Box::new(|name| std::env::var(name).ok()),
        limit: VERDICT_LIMIT,
        began,
        program: program(),
        kept: kept(),
        directory: std::env::current_dir()
            .ok()
            .and_then(|path| path.into_os_string().into_string().ok()),
        name: format!("{OWN_NAME}{}-{}", std::process::id(), now()),
        user: rustix::process::geteuid().as_raw(),
        ready,
        is_near: near::is_near,
        check,
        dial,
        cache: cached::CACHE,
        signals: Signals { note: signals::note, tell: signals::tell },
        run: child::run,
        end,
    };
    let stdin = Box::new(Input);
    let (mut stdout, mut stderr) = (Output::open(), Output::of_errors());
    let code = portcullis_hook::run(&started, stdin, &mut stdout, &mut stderr);
    if cfg!(debug_assertions) {
        // Where coverage is counted, the counts are written down on the way out.
        return code.into();
    }
    // All is said and nothing is held back: the end of the process tidies up the rest.
    signal_hook::low_level::exit(code.into())
}

/// Says something and ends the process, whatever its other thread does.
fn end(printed: &Printed) {
    let code = portcullis_hook::deliver(printed, &mut Output::open(), &mut Output::of_errors());
    std::process::exit(code.into());
}

/// The present moment, by the wall clock.
#[must_use]
pub fn now() -> Moment {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_ms(i64::try_from(wall.as_millis()).unwrap_or(i64::MAX))
}

/// A connection to a socket of this machine. The limit for sending is the kernel's limit for
/// connecting too; whoever sends afterwards sets its own.
fn dial(path: &Path, limit: Duration) -> std::io::Result<UnixStream> {
    let socket = net::socket_with(
        net::AddressFamily::UNIX,
        net::SocketType::STREAM,
        net::SocketFlags::CLOEXEC,
        None,
    )?;
    // No time at all would be no limit.
    let limit = limit.max(Duration::from_millis(1));
    net::sockopt::set_socket_timeout(&socket, net::sockopt::Timeout::Send, Some(limit))?;
    net::connect(&socket, &net::SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}

/// This program: the file that runs, even if another one lies there by now.
fn program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_default()
}

/// Only a build for tests lets its worker be told to fail.
fn kept() -> Vec<(String, String)> {
    if !cfg!(debug_assertions) {
        return Vec::new();
    }
    let fault = std::env::var(worker::FAULT).ok();
    fault.into_iter().map(|fault| (worker::FAULT.to_owned(), fault)).collect()
}

/// Waits for standard input.
fn ready(limit: Duration) -> bool {
    let Ok(limit) = Timespec::try_from(limit) else { return false };
    let stdin = &mut [PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN)];
    poll(stdin, Some(&limit)).is_ok_and(|count| count > 0)
}

/// Gives what checks receipts: the pinned key signed it, it allows, it is about this call, and no
/// other call has used it. All of that but the receipt is made ready.
fn check(key: &str, call: &Call) -> Box<Checker> {
    let key = audit::unhex(key).and_then(|key| PublicKey::new(&key));
    if let Some(key) = &key {
        key.rehearse();
    }
    let (call, digest) = (call.clone(), digest(call, &call.input));
    Box::new(move |proof| checked(proof, key.as_ref(), &call, digest.as_deref()))
}

/// The digest of a call with this input; none where it is not JSON.
fn digest(call: &Call, input: &str) -> Option<String> {
    let text = CallText {
        tool: call.tool.clone(),
        input: input.to_owned(),
        cwd: call.cwd.clone(),
        host: Some(call.host.to_owned()),
        session: call.session.clone(),
        ..CallText::default()
    };
    text.digest()
}

/// Checks a receipt; the digest is that of the call as it came.
fn checked(
    proof: &Proof<'_>,
    key: Option<&PublicKey>,
    call: &Call,
    came: Option<&str>,
) -> Result<(), String> {
    let key = key.ok_or("the pinned key is none")?;
    let edited = proof.input.map(|input| digest(call, input));
    let digest = edited.as_ref().map_or(came, Option::as_deref);
    let digest = digest.ok_or("the input is not JSON")?;
    let now = now();
    let receipt = Receipt::verify_with(proof.receipt, key, Some(digest), now)
        .map_err(|error| error.to_string())?;
    if receipt.outcome != "allow" {
        return Err("it does not allow".to_owned());
    }
    // What the policy allows it allows each time; what a person approved runs once.
    let Some(data) = proof.data_dir.filter(|_| receipt.ask.is_some()) else { return Ok(()) };
    match used::claim(data, &receipt, call, now) {
        Ok(()) => Ok(()),
        Err(Unclaimed::Unwritten) if proof.is_elsewhere => Ok(()),
        Err(Unclaimed::Unwritten) => Err("its use cannot be written down".to_owned()),
        Err(Unclaimed::Used) => Err("it was used before".to_owned()),
    }
}

/// Standard input, without a buffer.
struct Input;

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), bytes)?)
    }
}

/// Standard output or standard error, without a buffer: one answer is one write.
enum Output {
    Open(File),
    Nothing,
    /// Standard error, which is looked at when there is something to say.
    Errors,
}

impl Output {
    fn open() -> Output {
        Output::on(std::io::stdout().as_fd())
    }

    fn of_errors() -> Output {
        Output::Errors
    }

    fn on(descriptor: BorrowedFd<'_>) -> Output {
        let file = descriptor.try_clone_to_owned().ok().map(File::from);
        // A closed output was opened again on nothing before `main`; what is written there
        // reaches nobody, and that must not look like silence.
        file.filter(|file| !is_nothing(file)).map_or(Output::Nothing, Output::Open)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Output::Errors = self {
            *self = Output::on(std::io::stderr().as_fd());
        }
        match self {
            Output::Open(file) => file.write(bytes),
            Output::Nothing | Output::Errors => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a file is `/dev/null`.
fn is_nothing(file: &File) -> bool {
    let Ok(metadata) = file.metadata() else { return true };
    metadata.file_type().is_char_device()
        && std::fs::metadata("/dev/null").is_ok_and(|nothing| nothing.rdev() == metadata.rdev())
}
