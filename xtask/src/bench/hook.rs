//! `cargo xtask bench hook`: how long a host waits for the hook, beside the least a process can
//! take, beside hooks that others would write, and with `-- --peers` beside guards that others made.
//!
//! Every round starts each of them once, so that what else the machine does hits all alike;
//! medians are compared within the run.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;

use super::peers::{self, Peer};
use super::{Figures, binary, built_in, median};
use crate::checkout;

/// How often each is started.
const ROUNDS: usize = 300;

/// The target of the static build.
const STATIC: &str = "x86_64-unknown-linux-gnu";

/// How the static build is made. It hashes a few hundred bytes: asking the processor for its
/// instructions, which traps in a virtual machine, costs more than they save.
const FLAGS: &str =
    "-C target-feature=+crt-static -C relocation-model=static --cfg sha2_backend=\"soft\"";

/// A hook that only reads JSON and answers, as one would write it for Node.
const NODE: &str = r#"let text = "";
process.stdin.on("data", (part) => { text += part; });
process.stdin.on("end", () => {
  const call = JSON.parse(text);
  const allows = call.tool_input.command !== "rm";
  const permissionDecision = allows ? "allow" : "deny";
  const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision };
  process.stdout.write(JSON.stringify({ hookSpecificOutput }));
});
"#;

/// A hook that asks the daemon, as one would write it for a shell.
const BASH: &str = r#"set -euo pipefail
body=$(jq -c '{tool: .tool_name, input: .tool_input, cwd, session: .session_id, call_id: .tool_use_id, host: "claude"}')
said=$(curl -s --unix-socket "$1" -H 'content-type: application/json' -d "$body" http://localhost/v1/calls)
jq -c '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: .outcome}}' <<<"$said"
"#;

/// One thing that is started again and again.
struct Subject {
    name: &'static str,
    words: Vec<String>,
    home: PathBuf,
    must_say: Option<&'static str>,
    took: Vec<Duration>,
}

/// Builds, measures, and says which goals hold.
pub fn run(with_peers: bool, figures: &mut Figures<'_>) -> anyhow::Result<()> {
    let (big, small) = build()?;
    let root = std::env::temp_dir().join(format!("portcullis-bench-hook-{}", std::process::id()));
    let served = root.join("served");
    let alone = root.join("alone");
    let rules: Vec<String> = (0..1000).map(|n| format!("\"Bash(tool{n} run:*)\"")).collect();
    let policy = format!("[rules]\nallow = [\"Bash(echo:*)\", {}]\n", rules.join(", "));
    for home in [&served, &alone] {
        fs::create_dir_all(home.join(".config/portcullis"))?;
        fs::write(home.join(".config/portcullis/policy.toml"), &policy)?;
    }
    fs::write(root.join("hook.js"), NODE)?;
    fs::write(root.join("hook.sh"), BASH)?;
    let peers =
        if with_peers { peers::install(&root, &mut std::io::stdout())? } else { Vec::new() };
    let daemon = serve(&big, &served)?;
    let done = measured(&root, &big, &small, &served, &alone, peers, figures);
    let mut daemon = daemon;
    daemon.kill()?;
    daemon.wait()?;
    fs::remove_dir_all(&root)?;
    done
}

fn measured(
    root: &Path,
    big: &Path,
    small: &Path,
    served: &Path,
    alone: &Path,
    peers: Vec<Peer>,
    figures: &mut Figures<'_>,
) -> anyhow::Result<()> {
    let text = |path: &Path| path.display().to_string();
    let hook = |program: &Path, rest: &[&str]| {
        let words =
            [text(program), "hook".to_owned(), "claude".to_owned(), "PreToolUse".to_owned()];
        words.into_iter().chain(rest.iter().map(ToString::to_string)).collect::<Vec<_>>()
    };
    let socket = text(&served.join(".local/share/portcullis/portcullis.sock"));
    let subject = |name, words: Vec<String>, home: &Path, must_say| Subject {
        name,
        words,
        home: home.to_owned(),
        must_say,
        took: Vec::with_capacity(ROUNDS),
    };
    let allow = Some("\"allow\"");
    let mut subjects = vec![
        subject("true", vec!["/bin/true".into()], served, None),
        subject("hook", hook(big, &[]), served, allow),
        subject("static hook", hook(small, &[]), served, allow),
        subject("alone", hook(big, &["--daemon", "off"]), alone, allow),
        subject("static alone", hook(small, &["--daemon", "off"]), alone, allow),
        subject("node", vec!["node".into(), text(&root.join("hook.js"))], served, allow),
        subject("bash", vec!["bash".into(), text(&root.join("hook.sh")), socket], served, allow),
    ];
    let others: Vec<&'static str> = peers.iter().map(|peer| peer.name).collect();
    subjects.extend(peers.into_iter().map(|peer| subject(peer.name, peer.words, alone, None)));
    let mut synced = Vec::with_capacity(ROUNDS);
    let mut file = File::create(served.join("sync"))?;
    for round in 0..ROUNDS + 5 {
        for subject in &mut subjects {
            let took = start(subject, round)?;
            // The first rounds fill caches.
            if round >= 5 {
                subject.took.push(took);
            }
        }
        let begun = Instant::now();
        file.write_all(&[b'x'; 512])?;
        file.sync_data()?;
        synced.push(begun.elapsed());
    }
    let sync = median(&mut synced);
    let of = |subjects: &mut Vec<Subject>, name: &str| {
        let found = subjects.iter_mut().find(|subject| subject.name == name);
        found.map(|subject| median(&mut subject.took)).unwrap_or_default()
    };
    let rss = memory(big, served)?;
    figures.line(&format!(
        "medians of {ROUNDS} interleaved runs; one raw sync takes {}",
        shown(sync)
    ))?;
    let names: Vec<&'static str> = subjects.iter().map(|subject| subject.name).collect();
    for name in names {
        figures.line(&format!("{name:<14} {}", shown(of(&mut subjects, name))))?;
    }
    let best_alone = of(&mut subjects, "static alone").as_secs_f64();
    for name in others {
        let times = of(&mut subjects, name).as_secs_f64() / best_alone;
        let what = format!("{name} by the static hook without a daemon");
        figures.note(&what, &format!("{times:.1} ×"))?;
    }
    let bare = of(&mut subjects, "true").as_secs_f64();
    let after = |took: Duration| took.saturating_sub(sync).as_secs_f64() / bare;
    let hook = of(&mut subjects, "hook");
    let fast = of(&mut subjects, "static hook");
    let times = |slow: Duration, quick: Duration| slow.as_secs_f64() / quick.as_secs_f64();
    let (node, bash) = (of(&mut subjects, "node"), of(&mut subjects, "bash"));
    let alone = of(&mut subjects, "alone").as_secs_f64() / bare;
    let best = best_alone / bare;
    let quick = fast.saturating_sub(sync);
    figures.most("hook with daemon, less one sync, by true", after(hook), 2.5)?;
    figures.most("static hook with daemon, less one sync, by true", after(fast), 1.7)?;
    figures.most("without daemon, its own sync included, by true", alone, 6.0)?;
    figures.most("static without daemon, the same", best, 6.0)?;
    figures.least("node by static hook, less one sync", times(node, quick), 40.0)?;
    figures.least("bash, curl and jq by static hook, the same", times(bash, quick), 30.0)?;
    figures.most("memory of the hook in MiB", rss, 12.0)
}

/// The release build, and the hook alone as a static binary.
fn build() -> anyhow::Result<(PathBuf, PathBuf)> {
    let big = binary()?;
    let built = checkout::cargo()
        .args(["build", "--release", "--package", "portcullis-hook-static", "--target", STATIC])
        .current_dir(checkout::root())
        .env("RUSTFLAGS", FLAGS)
        .status()
        .context("cannot start cargo")?;
    ensure!(built.success(), "the static hook does not build");
    Ok((big, built_in().join(STATIC).join("release/portcullis-hook")))
}

fn serve(program: &Path, home: &Path) -> anyhow::Result<Child> {
    let mut command = clean(program, home);
    command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(child.stdout.take().context("no output")?);
    let mut first = String::new();
    said.read_line(&mut first)?;
    std::thread::spawn(move || said.lines().for_each(drop));
    ensure!(first.starts_with("listening"), "the daemon does not start");
    Ok(child)
}

fn clean(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", home).current_dir(home);
    command
}

/// The document of a call, another one each round.
fn document(home: &Path, round: usize, command: &str) -> Vec<u8> {
    let document = json!({
        "session_id": "bench", "transcript_path": "/t", "cwd": home, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command, "description": "says hi" },
        "tool_use_id": format!("toolu_{}_{round}", std::process::id()),
    });
    document.to_string().into_bytes()
}

/// Starts a subject once, from the start to its last word.
fn start(subject: &Subject, round: usize) -> anyhow::Result<Duration> {
    let document = document(&subject.home, round, "echo hi");
    let (program, words) = subject.words.split_first().context("no words")?;
    let mut command = clean(Path::new(program), &subject.home);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
    if let Some(mut input) = child.stdin.take() {
        // `true` reads nothing.
        let _ = input.write_all(&document);
    }
    let mut said = String::new();
    child.stdout.take().context("no output")?.read_to_string(&mut said)?;
    child.wait()?;
    let took = begun.elapsed();
    if let Some(must) = subject.must_say {
        ensure!(said.contains(must), "`{}` said {said:?}", subject.name);
    }
    Ok(took)
}

/// The most memory that a hook holds while it waits for a person, in MiB.
fn memory(program: &Path, home: &Path) -> anyhow::Result<f64> {
    let mut command = clean(program, home);
    command.args(["hook", "claude", "PreToolUse"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&document(home, ROUNDS + 99, "touch x"))?;
    }
    let mut most = 0.0_f64;
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(10));
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<f64>().ok());
        most = most.max(kib.unwrap_or_default() / 1024.0);
    }
    child.kill()?;
    child.wait()?;
    Ok(most)
}

fn shown(took: Duration) -> String {
    format!("{:>9.3} ms", took.as_secs_f64() * 1000.0)
}
