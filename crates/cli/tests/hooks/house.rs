//! A home, the binary in it, the fixtures, and what an answer must look like.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A home, gone when the test is over.
pub struct Home(pub PathBuf);

/// What a process said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub out: String,
    pub error: String,
    pub code: Option<i32>,
}

/// One host at its gate.
pub struct Gate {
    pub host: &'static str,
    pub event: &'static str,
    pub input: &'static str,
    pub environment: &'static [(&'static str, &'static str)],
}

const AMP: &[(&str, &str)] =
    &[("AGENT", "amp"), ("AGENT_TOOL_NAME", "Bash"), ("AMP_THREAD_ID", "T-1")];

/// Every host with a document of its gate.
#[rustfmt::skip]
pub const GATES: &[Gate] = &[
    Gate { host: "claude",   event: "PreToolUse",           input: "claude/PreToolUse.Bash",                 environment: &[] },
    Gate { host: "codex",    event: "PreToolUse",           input: "codex/PreToolUse.Bash",                  environment: &[] },
    Gate { host: "gemini",   event: "BeforeTool",           input: "gemini/BeforeTool.run_shell_command",    environment: &[] },
    Gate { host: "copilot",  event: "preToolUse",           input: "copilot/preToolUse.bash",                environment: &[] },
    Gate { host: "qwen",     event: "PreToolUse",           input: "qwen/PreToolUse.run_shell_command",      environment: &[] },
    Gate { host: "opencode", event: "tool.execute.before",  input: "opencode/tool.execute.before.bash",      environment: &[] },
    Gate { host: "cursor",   event: "beforeShellExecution", input: "cursor/documented.beforeShellExecution", environment: &[] },
    Gate { host: "agentbot", event: "pre_tool_use",         input: "agentbot/documented.pre_tool_use.shell", environment: &[] },
    Gate { host: "amp",      event: "delegate",             input: "amp/documented.delegate.Bash",           environment: AMP },
    Gate { host: "windsurf", event: "pre_run_command",      input: "windsurf/documented.pre_run_command",    environment: &[] },
    Gate { host: "kiro",     event: "preToolUse",           input: "kiro/documented.preToolUse",             environment: &[] },
    Gate { host: "droid",    event: "PreToolUse",           input: "droid/documented.PreToolUse",            environment: &[] },
    Gate { host: "cline",    event: "PreToolUse",           input: "cline/documented.PreToolUse",            environment: &[] },
];

impl Gate {
    /// The recorded document.
    pub fn document(&self) -> Vec<u8> {
        let document = fixture(self.input);
        match document.get("stdin") {
            Some(stdin) => stdin.to_string().into_bytes(),
            None => document.to_string().into_bytes(),
        }
    }

    /// Starts the hook and gives it a document.
    pub fn answer(&self, home: &Home, words: &[&str], stdin: &[u8]) -> Said {
        let mut command = self.command(home, words);
        fed(&mut command, stdin)
    }

    /// The hook, not started yet.
    pub fn command(&self, home: &Home, words: &[&str]) -> Command {
        let mut command = home.portcullis(&["hook", self.host, self.event]);
        command.args(words).envs(self.environment.iter().copied());
        command
    }
}

impl Home {
    pub fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("pclh-{}-{count}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Home(root)
    }

    /// A home with a policy of the user.
    pub fn with(policy: &str) -> Home {
        let home = Home::new();
        home.policy(policy);
        home
    }

    pub fn policy(&self, text: &str) {
        fs::create_dir_all(self.0.join(".config/portcullis")).unwrap();
        fs::write(self.0.join(".config/portcullis/policy.toml"), text).unwrap();
    }

    /// The data directory, made if need be.
    pub fn data(&self) -> PathBuf {
        let data = self.0.join(".local/share/portcullis");
        if !data.exists() {
            fs::create_dir_all(&data).unwrap();
            fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        }
        data
    }

    pub fn portcullis(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for (name, _) in std::env::vars() {
            let is_ours = ["PORTCULLIS_", "XDG_", "CLAUDE", "AGENT", "AMP_"];
            if is_ours.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env_remove("INTERNAL_API_KEY").env("HOME", &self.0).env("USER", "anna");
        command.args(arguments).current_dir(&self.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command with this on standard input.
pub fn fed(command: &mut Command, stdin: &[u8]) -> Said {
    let mut child = command.spawn().expect("the binary starts");
    feed(&mut child, stdin);
    said(child)
}

/// Gives a child its standard input, beside.
pub fn feed(child: &mut Child, stdin: &[u8]) {
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    std::thread::spawn(move || drop(pipe.write_all(&stdin)));
}

/// What a child said in the end.
pub fn said(mut child: Child) -> Said {
    let (mut out, mut error) = (Vec::new(), Vec::new());
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_end(&mut out).unwrap();
    }
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_end(&mut error).unwrap();
    }
    let code = child.wait().unwrap().code();
    Said { out: String::from_utf8(out).unwrap(), error: String::from_utf8(error).unwrap(), code }
}

/// A fixture.
pub fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/fixtures");
    let path = path.join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("no {}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Whether a fixture is there.
pub fn has_fixture(name: &str) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/fixtures");
    path.join(format!("{name}.json")).exists()
}

/// Fields that hold a reason.
const REASONS: &[&str] = &[
    "permissionDecisionReason",
    "permission_decision_reason",
    "reason",
    "message",
    "user_message",
    "agent_message",
    "errorMessage",
];

/// A document with every reason replaced, after a look at it: one line, with a code.
pub fn without_reasons(value: &Value) -> Value {
    let Some(members) = value.as_object() else { return value.clone() };
    members
        .iter()
        .map(|(name, value)| {
            if !REASONS.contains(&name.as_str()) {
                return (name.clone(), without_reasons(value));
            }
            let text = value.as_str().expect("a reason is a text");
            check_reason(text);
            (name.clone(), Value::from("…"))
        })
        .collect()
}

/// A reason is one line with a stable code in brackets.
pub fn check_reason(text: &str) {
    assert!(text.starts_with("Portcullis: "), "{text:?}");
    assert!(!text.contains(char::is_control), "one line: {text:?}");
    let code =
        text.rsplit_once('[').and_then(|(_, code)| code.split_once(']')).map(|(code, _)| code);
    let is_code = |code: &str| {
        !code.is_empty()
            && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    assert!(code.is_some_and(is_code), "a code in brackets: {text:?}");
}

/// Compares what a hook said with the recorded answer: shape, emptiness, exit code.
pub fn assert_fits(said: &Said, answer: &Value, context: &str) {
    let want = answer["exit"].as_i64().map(|code| i32::try_from(code).unwrap());
    assert_eq!(said.code, want, "{context}: {said:?}");
    match Some(&answer["stdout"]).filter(|document| !document.is_null()) {
        None => assert_eq!(said.out, "", "{context}"),
        Some(document) => {
            let out: Value = serde_json::from_str(&said.out)
                .unwrap_or_else(|_| panic!("{context}: exactly one document: {said:?}"));
            assert_eq!(said.out, said.out.trim(), "{context}: nothing around it");
            assert_eq!(without_reasons(&out), without_reasons(document), "{context}");
        }
    }
    match answer["stderr"].as_str().unwrap() {
        "" => assert_eq!(said.error, "", "{context}"),
        _ => check_reason(&said.error),
    }
}

/// Whether what was said is one of the answers after which a host runs the tool anyway.
pub fn is_forbidden(host: &str, said: &Said) -> Option<String> {
    if !has_fixture(&format!("{host}/must-not")) {
        return None;
    }
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let blank = |text: &str| {
        fn walk(value: &Value) -> Value {
            let Some(members) = value.as_object() else { return value.clone() };
            members
                .iter()
                .map(|(name, value)| {
                    let is_reason = REASONS.contains(&name.as_str());
                    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
                    let blank = Value::from("…");
                    (name.clone(), if is_reason && is_text { blank } else { walk(value) })
                })
                .collect()
        }
        parse(text).map(|value| walk(&value))
    };
    let rows = fixture(&format!("{host}/must-not"));
    let found = rows["rows"].as_array().unwrap().iter().find(|row| {
        let text = row["stdout_text"].as_str().unwrap();
        let same_code = row["exit"].as_i64().map(|code| i32::try_from(code).unwrap()) == said.code;
        let same_error = row["stderr"].as_str().unwrap().is_empty() == said.error.is_empty();
        let same_out = match (blank(text), blank(&said.out)) {
            (Some(row), Some(out)) => row == out,
            (None, None) => text.is_empty() == said.out.is_empty(),
            _ => false,
        };
        same_code && same_error && same_out
    });
    found.map(|row| row["case"].as_str().unwrap().to_owned())
}

/// What was said must block the tool in this host: the recorded failure, or the recorded denial.
pub fn assert_blocks(gate: &Gate, said: &Said, context: &str) {
    let host = gate.host;
    assert_eq!(is_forbidden(host, said), None, "{context}: the tool would run: {said:?}");
    if said.code == Some(2) && host != "cline" {
        assert_eq!(said.out, "", "{context}: {said:?}");
        check_reason(&said.error);
        return;
    }
    assert_fits(said, &fixture(&format!("{host}/deny")), context);
}
