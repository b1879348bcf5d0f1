//! What a host starts: its document on standard input, the exact answer on standard output.
//!
//! It cannot fail open: whatever happens, one answer is written, and it allows only what a verdict
//! allows. Reading, asking the daemon (`link`) and having a call judged here (`worker`) may panic
//! or hang; before they hang, a second thread watches and answers where they do not (`watched`).
//! This crate knows std and `serde_json` and nothing else, so that it starts at once; what it
//! needs beyond that are functions in [`Started`]. To add a host, add a file under `hosts/` and a
//! row to [`hosts::HOSTS`].

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub mod answer;
pub mod cache;
pub mod call;
mod document;
mod dropin;
pub mod hosts;
mod http;
mod json;
mod link;
mod observed;
pub mod options;
pub mod told;
mod watched;
mod worker;

use answer::{Answer, Printed};
use cache::Cache;
use call::{Call, Failure, Part};
use hosts::Host;
use observed::{noted, observe};
use options::{Daemon, Options};
use told::{Outcome, Told};
use watched::{Early, Watch, watched};

pub use document::read;
pub use http::Dial;
pub use link::Proof;
pub use watched::Signals;
pub use worker::{Run, Trouble};

/// How long a verdict may take.
pub const VERDICT_LIMIT: Duration = Duration::from_secs(10);

/// How long the drop-in may take at most.
const DROP_IN_LIMIT: Duration = Duration::from_hours(24);

/// How names begin that a hook gives to a call whose host gives none.
pub const OWN_NAME: &str = "hook-";

/// Gives what checks receipts: that this key (hexadecimal digits) signed them, and that they are
/// about this very call. What can be made ready before there is a receipt it makes ready.
pub type Check = fn(&str, &Call) -> Box<Checker>;

/// Checks a receipt.
pub type Checker = dyn Fn(&Proof<'_>) -> Result<(), String>;

/// Waits until standard input has something to say, for so long at most; whether it has.
pub type Ready = fn(Duration) -> bool;

/// Says something in the name of the process, and ends it.
pub type End = fn(&Printed);

/// The environment: a name gives a value.
pub type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What a hook finds when it is started.
pub struct Started {
    /// The words behind `hook`.
    pub arguments: Vec<String>,
    /// The environment.
    pub variable: Box<Variables>,
    /// How long a verdict of the drop-in may take: [`VERDICT_LIMIT`].
    pub limit: Duration,
    /// When the process began.
    pub began: Instant,
    /// This program, to start it once more.
    pub program: PathBuf,
    /// The variables that a worker keeps where it keeps no others.
    pub kept: Vec<(String, String)>,
    /// The directory of this process.
    pub directory: Option<String>,
    /// A name that no other process has: [`OWN_NAME`] and more.
    pub name: String,
    /// The user of this process.
    pub user: u32,
    /// Waits for standard input.
    pub ready: Ready,
    /// Whether no other machine can keep waiting whoever looks into a directory.
    pub is_near: fn(&Path) -> bool,
    /// Gives what checks receipts.
    pub check: Check,
    /// Connects to the daemon's socket.
    pub dial: Dial,
    /// What is done with what is kept of a policy.
    pub cache: Cache,
    /// Has signals that would end this process noted and told instead.
    pub signals: Signals,
    /// Starts a program and hears it out.
    pub run: Run,
    /// Says something in the name of the process, and ends it.
    pub end: End,
}

/// Answers one document; gives the exit code.
pub fn run(
    started: &Started,
    stdin: Box<dyn Read + Send>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    // Work may panic and is caught where it is done; this is for what stands around it.
    let printed = catch_unwind(AssertUnwindSafe(|| answer(started, stdin)));
    deliver(&printed.unwrap_or_else(|_| Printed::blocked(UNWRITTEN)), stdout, stderr)
}

/// Writes what is said and gives the exit code. Where a document cannot be written, the reason on
/// standard error and the exit code must do.
pub fn deliver(printed: &Printed, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    if !printed.stdout.is_empty() {
        let written = stdout.write_all(printed.stdout.as_bytes()).and_then(|()| stdout.flush());
        if written.is_err() {
            let _ = stderr.write_all(UNWRITTEN.as_bytes());
            return 2;
        }
    }
    if printed.stderr.is_empty() {
        return printed.code;
    }
    let told = stderr.write_all(printed.stderr.as_bytes()).and_then(|()| stderr.flush());
    let instead = printed.instead.as_bytes();
    if told.is_err()
        && !instead.is_empty()
        && stdout.write_all(instead).and_then(|()| stdout.flush()).is_ok()
    {
        return 0;
    }
    printed.code
}

const UNWRITTEN: &str = "Portcullis: the answer could not be written [HOOK_INTERNAL]";

fn answer(started: &Started, stdin: Box<dyn Read + Send>) -> Printed {
    let Some((name, words)) = started.arguments.split_first() else {
        return Printed::blocked(
            "Portcullis: the hook was started without a host [HOOK_BAD_INPUT]",
        );
    };
    let is_event = words.first().is_some_and(|word| !word.starts_with("--"));
    if name == "agentbot" && !is_event {
        return drop_in(started, stdin);
    }
    let Some(host) = hosts::find(name) else {
        let known: Vec<&str> = hosts::HOSTS.iter().map(|host| host.name).collect();
        let text = format!("no hook for `{name}`; use one of {}", known.join(", "));
        return Printed::blocked(&answer::reason(&text, "HOOK_BAD_INPUT"));
    };
    match Options::read(words) {
        Ok(options) => supervised(host, options, started, stdin),
        Err(failure) => {
            let event = words.first().map(String::as_str).filter(|_| is_event);
            blocked(host, event, host.part(event), &failure.reason())
        }
    }
}

/// Has the work done, and answers at the deadline whatever became of it.
fn supervised(
    host: &'static Host,
    options: Options,
    started: &Started,
    stdin: Box<dyn Read + Send>,
) -> Printed {
    let options = Arc::new(options);
    let end = started.began + options.deadline;
    // What was understood so far: it says in which words a failure is told.
    let understood: Arc<Mutex<Option<Call>>> = Arc::default();
    let instead = {
        let (options, understood, end) =
            (Arc::clone(&options), Arc::clone(&understood), started.end);
        move |early| {
            let failure = match early {
                Early::Late => Failure::new("HOOK_DEADLINE", "no answer in time; try again later"),
                Early::Signal => {
                    Failure::new("HOOK_INTERNAL", "the hook was told to end before it knew")
                }
            };
            said(end, || failed(host, &options, taken(&understood).as_ref(), &failure));
        }
    };
    let work = |watch: &Watch| work(host, &options, started, stdin, &understood, watch);
    let failure = match watched(work, end, started.signals, instead) {
        Some(Ok(printed)) => return printed,
        Some(Err(failure)) => failure,
        None => Failure::new("HOOK_INTERNAL", "could not judge this call"),
    };
    failed(host, &options, taken(&understood).as_ref(), &failure)
}

fn taken(understood: &Mutex<Option<Call>>) -> Option<Call> {
    understood.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Ends the process with an answer; the one that blocks everywhere if even that one panics.
fn said(end: End, answer: impl FnOnce() -> Printed) {
    let printed = catch_unwind(AssertUnwindSafe(answer));
    end(&printed.unwrap_or_else(|_| Printed::blocked(UNWRITTEN)));
}

/// How a failure is said: by exit code and reason, or by a document where the host wants one.
fn failed(host: &Host, options: &Options, call: Option<&Call>, failure: &Failure) -> Printed {
    let reason = failure.reason();
    let is_late = failure.code == "HOOK_DEADLINE" || failure.code == "HOOK_RECEIPT";
    match call {
        Some(call) if call.part == Part::Gate && (host.hides_reasons || is_late) => {
            (host.say)(call, &Answer::Deny(reason))
        }
        Some(call) => blocked(host, Some(&call.event), call.part, &reason),
        None => {
            let event = options.event.as_deref();
            blocked(host, event, host.part(event), &reason)
        }
    }
}

/// The host's word for a failure; at a gate with the document that would deny, for where nobody
/// reads that word.
fn blocked(host: &Host, event: Option<&str>, part: Part, reason: &str) -> Printed {
    let mut printed = (host.fail)(part, reason);
    if part == Part::Gate && printed.code != 0 {
        let known = host.events.iter().map(|(name, _)| *name);
        let event = known.clone().find(|name| event == Some(name)).or_else(|| known.clone().next());
        let event = event.unwrap_or_default().to_owned();
        let call = Call { host: host.name, event, part, ..Call::default() };
        printed.instead = (host.say)(&call, &Answer::Deny(reason.to_owned())).stdout;
    }
    printed
}

fn work(
    host: &Host,
    options: &Options,
    started: &Started,
    stdin: Box<dyn Read + Send>,
    understood: &Mutex<Option<Call>>,
    watch: &Watch,
) -> Result<Printed, Failure> {
    let bytes = match document::bytes(stdin, started.ready, watch) {
        Ok(bytes) => bytes,
        Err(failure) => return Err(noted(host, options, started, failure, watch)),
    };
    let call = match read(host, options, &bytes, &started.variable, started.directory.as_deref()) {
        Ok(call) => call,
        // Whatever the arguments say, nothing but this stands before the call.
        Err(failure) if failure.code == "HOOK_WRONG_HOST" && document::is_gate(started, &bytes) => {
            return Ok(blocked(host, None, Part::Gate, &failure.reason()));
        }
        Err(failure) => return Err(noted(host, options, started, failure, watch)),
    };
    *understood.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.clone());
    let place = link::Place::find(started, options, watch)?;
    if matches!(call.part, Part::Result | Part::Notice) {
        observe(host, options, started, &place, &call, &bytes, watch);
        return Ok(Printed::nothing());
    }
    let answer = decide(host, options, started, &place, &call, watch)?;
    Ok((host.say)(&call, &fitted(host, options, &call, answer)))
}

/// Asks the daemon, or has the call judged here.
fn decide(
    host: &Host,
    options: &Options,
    started: &Started,
    place: &link::Place,
    call: &Call,
    watch: &Watch,
) -> Result<Answer, Failure> {
    if options.daemon != Daemon::Off {
        // Only a run that nobody watches may be told to end; so it is not held at first.
        let may_defer = host.name == "claude" && call.is_attended == Some(false);
        let mut asked = place.ask(started, call, !may_defer, watch);
        if let Ok(told) = &asked
            && told.outcome == Outcome::Ask
        {
            if told.policy.defers && call.part == Part::Gate {
                return Ok(Answer::Defer);
            }
            asked = place.ask(started, call, true, watch);
        }
        match asked {
            Ok(told) => {
                if let Some(version) = told.version.as_deref().filter(|_| place.is_elsewhere()) {
                    cache::refresh(started, place, version, watch);
                }
                return Ok(with_daemon(host, call, told));
            }
            Err(link::Unasked::Failed(failure)) => return Err(failure),
            Err(link::Unasked::Unreachable) if options.daemon == Daemon::Required => {
                return Ok(without_daemon(host, call));
            }
            Err(link::Unasked::Unreachable) => {}
        }
    }
    let told = worker::judge(started, place, call, watch)?;
    Ok(by_worker(host, options, call, &told))
}

/// The answer to what the daemon said.
#[must_use]
pub fn with_daemon(host: &Host, call: &Call, told: Told) -> Answer {
    let reason = told.reason();
    match (call.part, told.outcome) {
        (Part::Gate, Outcome::Allow) => Answer::Allow { reason, input: told.input },
        // A rule is no answer to a prompt that the host's own rules want, unless the policy says so.
        (Part::Prompt, Outcome::Allow)
            if told.is_by_person || told.policy.answers_prompts || !host.leaves_prompts =>
        {
            Answer::Allow { reason, input: told.input }
        }
        (Part::Prompt, Outcome::Allow) | (Part::Result | Part::Notice, _) => Answer::Nothing,
        (Part::Prompt, Outcome::Deny) if told.code == "HOOK_DEADLINE" && host.leaves_prompts => {
            Answer::Nothing
        }
        (Part::Gate | Part::Prompt, Outcome::Ask | Outcome::Deny) => Answer::Deny(reason),
    }
}

fn without_daemon(host: &Host, call: &Call) -> Answer {
    if call.part == Part::Prompt && host.leaves_prompts {
        return Answer::Nothing;
    }
    let text = "this call needs a person and the approval daemon is not running; \
                ask the user to run: portcullis serve";
    Answer::Deny(answer::reason(text, "HOOK_NO_DAEMON"))
}

/// The answer to what the worker said.
fn by_worker(host: &Host, options: &Options, call: &Call, told: &Told) -> Answer {
    let may_ask = match options.native_ask {
        Some(false) => false,
        Some(true) => (host.may_ask)(call) || host.name == "agentbot",
        None => (host.may_ask)(call),
    };
    match told.outcome {
        Outcome::Deny => Answer::Deny(told.reason()),
        Outcome::Allow | Outcome::Ask if told.policy.needs_daemon => without_daemon(host, call),
        Outcome::Allow if call.part == Part::Prompt && host.leaves_prompts => {
            if told.policy.answers_prompts {
                Answer::Allow { reason: told.reason(), input: None }
            } else {
                Answer::Nothing
            }
        }
        Outcome::Allow => Answer::Allow { reason: told.reason(), input: None },
        Outcome::Ask if call.part == Part::Gate && may_ask => Answer::Ask(answer::reason(
            &format!("this call needs a person: {}", told.text),
            &told.code,
        )),
        Outcome::Ask => without_daemon(host, call),
    }
}

/// The answer as this host can take it.
#[must_use]
pub fn fitted(host: &Host, options: &Options, call: &Call, answer: Answer) -> Answer {
    let Answer::Allow { input, .. } = &answer else { return answer };
    match input {
        Some(input) if !(host.takes)(call, input) => Answer::Deny(answer::edited(input)),
        None if options.passes && host.may_pass && call.part == Part::Gate => Answer::Nothing,
        Some(_) | None => answer,
    }
}

/// Agentbot's own hook: one answer and exit code 0, whatever happens.
fn drop_in(started: &Started, mut stdin: Box<dyn Read + Send>) -> Printed {
    let denied = || dropin::denied("could not judge this call [HOOK_INTERNAL]");
    let words: Vec<String> = started.arguments.iter().skip(1).cloned().collect();
    // It has its own limits; this one only ends what hangs for ever.
    let (end, last) = (started.end, started.began + DROP_IN_LIMIT);
    let work = |watch: &Watch| match watch.begin() {
        Ok(()) => dropin::answer(started, &words, &mut stdin),
        Err(_) => denied(),
    };
    watched(work, last, started.signals, move |_| said(end, denied)).unwrap_or_else(denied)
}
