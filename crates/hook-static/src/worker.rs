//! The worker of a hook: one call on standard input, judged with the policy files, noted in the
//! journal, answered with one line.
//!
//! It reads what an agent wrote, and may die of it: the hook that started it then denies.

use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use portcullis_approval::CallText;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::key::hex_sha256;
use portcullis_approval::redact::redact;
use portcullis_engine::call::{Call, Shell};
use portcullis_engine::place::NOWHERE;
use portcullis_engine::policy_text::DaemonUse;
use portcullis_engine::{Lexical, Mode, Outcome, Policy, Verdict, World, judge};
use portcullis_layers::{Layers, Live, Places, canary};
use portcullis_wire as wire;
use serde_json::json;

use crate::installed::Installed;
use crate::{cached, journal, now, pause};

/// The variable that lets a worker fail, in builds for tests.
pub const FAULT: &str = "PORTCULLIS_HOOK_FAULT";

/// The name that a daemon gives to callers over its socket.
const LOCAL: &str = "local";

/// What the worker was started with.
#[derive(Default)]
struct Words {
    data: Option<PathBuf>,
    is_installed: bool,
    note: Option<String>,
    /// Whether it only says where paths lead.
    is_for_world: bool,
    /// The pinned key of a daemon on another machine, and who shows it a key.
    elsewhere: Option<String>,
    holder: String,
}

/// Judges one call.
pub fn run(words: &[String]) -> ExitCode {
    #[cfg(debug_assertions)]
    fault(&std::env::var(FAULT).unwrap_or_default());
    // What went wrong is told as an exit code; the hook has its own words for it.
    match judged(words) {
        Ok(line) => {
            let written = writeln!(std::io::stdout().lock(), "{line}");
            written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        Err(error) => {
            // A policy that cannot be read denies, and says why.
            let line = line("deny", "HOOK_INTERNAL", &format!("{error:#}"), false, false);
            let written = writeln!(std::io::stdout().lock(), "{line}");
            written.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
    }
}

fn judged(words: &[String]) -> anyhow::Result<String> {
    let words = read(words)?;
    let places = match (&words.data, words.is_installed) {
        (Some(data), true) => Installed::places(data)?,
        (data, _) => {
            let user = Places::of_this_user();
            Places { data: data.clone().or(user.data), ..user }
        }
    };
    let data = places.data.clone().context("there is no home to keep a journal in")?;
    let mut bytes = Vec::with_capacity(4 << 10);
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let call = wire::calls::Call::read(&bytes).map_err(|error| anyhow!("{}", error.message))?;
    let (text, input) = call.text().map_err(|error| anyhow!("{}", error.message))?;
    make(&data)?;
    if let Some(event) = &words.note {
        let (digest, noted) = note(&text, event, &input);
        journal::append(&data, "hook.observed", &digest, &noted, now())?;
        return Ok(line("allow", "observed", "noted", false, false));
    }
    if words.is_for_world {
        return Ok(world(&words, &places, &data, &call, &text, input));
    }
    let directory = call.cwd.as_deref().map(Path::new);
    let layers = Layers::read_for(&places, directory, None)?;
    let policy = layers.policy()?;
    let root = call.session.as_deref().zip(call.cwd.as_deref());
    let root = root.map(|(session, cwd)| begun(&data, call.host.as_deref(), session, cwd));
    let engine_call = Call { root: root.transpose()?, ..engine_call(&text, input, &places) };
    let live = Live::new();
    let world: &dyn World = if text.cwd.is_some() { &live } else { &Lexical };
    let mut verdict = verdict(&policy, &engine_call, call.mode.as_deref(), world)?;
    // The policy of a daemon elsewhere is not here, but what stops a call in it may be.
    let kept = words.elsewhere.as_ref().map(|key| cached::policy(&data, key, &words.holder));
    if let Some(Ok(kept)) = &kept {
        let theirs = self::verdict(kept, &engine_call, call.mode.as_deref(), world)?;
        if theirs.outcome > verdict.outcome {
            verdict = theirs;
        }
    }
    let pause = pause::find(now());
    pause::note(&data, pause.as_ref(), now())?;
    let mut verdict = pause::lifted(pause.as_ref(), &text, verdict);
    canary::let_through(&data, &engine_call, &mut verdict);
    let needs = |policy: &Policy| policy.hosts.daemon == DaemonUse::Required;
    let needs_daemon = needs(&policy)
        || has_own_profile(&layers)
        || kept.as_ref().is_some_and(|kept| kept.as_ref().map_or(true, needs));
    let (code, why) = match verdict.reasons.first() {
        Some(reason) => (reason.code.to_string(), redact(&reason.message).into_owned()),
        None => ("verdict".to_owned(), "judged by the policy".to_owned()),
    };
    let (digest, noted) = entry(&text, &verdict, &code, needs_daemon);
    journal::append(&data, "call.judged", &digest, &noted, now())?;
    let answers_prompts = policy.hosts.answers_native_prompts
        && kept
            .as_ref()
            .is_none_or(|kept| kept.as_ref().is_ok_and(|kept| kept.hosts.answers_native_prompts));
    // The process ends: nobody needs back what thousands of rules take.
    std::mem::forget((policy, layers, kept));
    Ok(line(verdict.outcome.name(), &code, &why, answers_prompts, needs_daemon))
}

/// The call as the engine takes it.
fn engine_call(text: &CallText, input: serde_json::Value, places: &Places) -> Call {
    Call {
        tool: text.tool.clone(),
        input,
        cwd: text.cwd.clone().unwrap_or_else(|| NOWHERE.to_owned()),
        root: None,
        home: text.home.clone().or_else(|| places.home.as_ref()?.to_str().map(str::to_owned)),
        shell: text.shell.as_deref().map(Shell::named),
        host: text.host.clone(),
    }
}

/// Where the paths lead that judging this call asks about. What cannot be told is said so: another
/// machine must not take it for the path that was written.
fn world(
    words: &Words,
    places: &Places,
    data: &Path,
    call: &wire::calls::Call,
    text: &CallText,
    input: serde_json::Value,
) -> String {
    let key = words.elsewhere.as_deref().unwrap_or_default();
    let policy = cached::policy(data, key, &words.holder).unwrap_or_else(|_| Policy::builtin());
    let live = Live::new();
    if call.cwd.is_some() {
        // Only what it asks on the way counts here.
        let _ = judge(&policy, &engine_call(text, input, places), &live);
    }
    let mut world = serde_json::Map::new();
    let is_path = |path: &String| path.starts_with('/') && !path.contains('\0');
    for (path, real) in live.answers().resolved {
        let real = real.filter(is_path);
        if !is_path(&path) {
            continue;
        }
        let is_shared = real.is_some() && live.is_shared(&path);
        world.insert(path, json!({ "real": real, "shared": is_shared }));
    }
    json!({ "world": world }).to_string()
}

fn line(
    outcome: &str,
    code: &str,
    text: &str,
    answers_prompts: bool,
    needs_daemon: bool,
) -> String {
    json!({
        "outcome": outcome, "code": code, "text": text,
        "answers_prompts": answers_prompts, "needs_daemon": needs_daemon,
    })
    .to_string()
}

fn read(words: &[String]) -> anyhow::Result<Words> {
    let mut read = Words::default();
    let mut words = words.iter().skip(1);
    while let (Some(word), Some(value)) = (words.next(), words.next()) {
        match word.as_str() {
            "--data-dir" => read.data = Some(value.into()),
            "--installed" => (read.data, read.is_installed) = (Some(value.into()), true),
            "--note" => read.note = Some(value.clone()),
            "--world" => read.is_for_world = true,
            "--key" => read.elsewhere = Some(value.clone()),
            "--holder" => read.holder.clone_from(value),
            _ => bail!("unknown word `{word}`"),
        }
    }
    Ok(read)
}

/// The verdict; a mode that the call names only tightens.
fn verdict(
    policy: &Policy,
    call: &Call,
    mode: Option<&str>,
    world: &dyn World,
) -> anyhow::Result<Verdict> {
    let verdict = judge(policy, call, world);
    let Some(name) = mode else { return Ok(verdict) };
    let mode = Mode::from_name(name).with_context(|| format!("unknown mode `{name}`"))?;
    let other = judge(&policy.clone().with_mode(mode), call, world);
    Ok(if other.outcome > verdict.outcome { other } else { verdict })
}

/// The directory a session began in: the first one that was seen of it.
fn begun(data: &Path, host: Option<&str>, session: &str, cwd: &str) -> anyhow::Result<String> {
    let directory = data.join("sessions");
    let name = hex_sha256(format!("{}\0{session}", host.unwrap_or_default()).as_bytes());
    let path = directory.join(name.get(..32).unwrap_or(&name));
    if let Ok(known) = std::fs::read_to_string(&path)
        && known.starts_with('/')
    {
        return Ok(known);
    }
    make(&directory)?;
    std::fs::write(&path, cwd)?;
    Ok(cwd.to_owned())
}

/// Makes a directory for nobody else.
fn make(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whether a profile speaks for local agents: it is the daemon that knows profiles.
fn has_own_profile(layers: &Layers) -> bool {
    let fits = |agents: &String| match agents.split_once('*') {
        Some((before, _)) => LOCAL.starts_with(before),
        None => agents == LOCAL,
    };
    let profiles = layers.layers.iter().flat_map(|layer| &layer.counted.profiles);
    profiles.into_iter().any(|profile| profile.agents.iter().any(fits))
}

/// What the journal says about a call. Without the daemon that is needed it is denied.
fn entry(call: &CallText, verdict: &Verdict, code: &str, needs_daemon: bool) -> (String, String) {
    let (outcome, code) = match verdict.outcome {
        Outcome::Allow | Outcome::Ask if needs_daemon => (Outcome::Deny, "HOOK_NO_DAEMON"),
        Outcome::Allow | Outcome::Ask | Outcome::Deny => (verdict.outcome, code),
    };
    let mut data = vec![
        ("tool", quoted(&call.tool)),
        ("outcome", quoted(outcome.name())),
        ("tier", quoted(verdict.tier.name())),
        ("reasons", format!("[{}]", quoted(code))),
        ("door", quoted("hook")),
    ];
    data.extend(named(call));
    (call.digest().unwrap_or_default(), object(data))
}

fn note(call: &CallText, event: &str, input: &serde_json::Value) -> (String, String) {
    let mut data = vec![("event", quoted(event)), ("tool", quoted(&call.tool))];
    data.extend(named(call));
    // A document that was not understood names no call: its event stands in for the tool.
    let failure = input.get("failure").and_then(serde_json::Value::as_str);
    if let Some(failure) = failure.filter(|_| call.tool == event) {
        data.push(("failure", quoted(failure)));
    }
    (call.digest().unwrap_or_default(), object(data))
}

fn named(call: &CallText) -> impl Iterator<Item = (&'static str, String)> {
    let others = [
        ("cwd", &call.cwd),
        ("host", &call.host),
        ("session", &call.session),
        ("call_id", &call.call_id),
    ];
    others.into_iter().filter_map(|(name, value)| Some((name, quoted(value.as_ref()?))))
}

/// Dies as a worker is told to, but in the hook itself.
#[cfg(debug_assertions)]
pub fn own_fault() {
    let told = std::env::var(FAULT).unwrap_or_default();
    if let Some(told) = told.strip_prefix("own-") {
        fault(told);
    }
}

/// Dies as it is told, so that tests see what the hook makes of it.
#[cfg(debug_assertions)]
fn fault(told: &str) {
    fn overflow(depth: u64) -> u64 {
        let here = std::hint::black_box([depth; 1024]);
        if depth == u64::MAX {
            return 0;
        }
        overflow(depth + 1) + here.iter().sum::<u64>()
    }
    let say = |text: &str| drop(std::io::stdout().write_all(text.as_bytes()));
    match told {
        "panic" => std::panic::resume_unwind(Box::new("told to")),
        "abort" => std::process::abort(),
        "overflow" => drop(std::hint::black_box(overflow(0))),
        "memory" => drop(std::hint::black_box(vec![1_u8; 1 << 46])),
        "hang" => std::thread::sleep(std::time::Duration::from_hours(1)),
        "exit" => std::process::exit(3),
        "silence" => std::process::exit(0),
        "garbage" => {
            say("starting up\n{\"outcome\":\"allow\"}");
            std::process::exit(0);
        }
        "half" => {
            say("{\"outcome\":\"allow\",\"code\":\"x\",\"te");
            std::process::exit(0);
        }
        "allow-and-die" => {
            say(
                "{\"outcome\":\"allow\",\"code\":\"x\",\"text\":\"y\",\"answers_prompts\":true,\"needs_daemon\":false}\n",
            );
            std::process::abort();
        }
        "flood" => loop {
            say(&"x".repeat(1 << 16));
        },
        _ => {}
    }
}
