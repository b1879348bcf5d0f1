//! A home with a daemon, and a proxy in it with its two ends.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// A home with a daemon, gone when the test is over.
pub struct House {
    pub root: PathBuf,
    daemon: Option<Child>,
}

/// A proxy that runs.
pub struct Proxy {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl House {
    /// A home with this policy, and a daemon in it.
    pub fn with(policy: &str) -> House {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("pclp-{}-{count}", std::process::id()));
        std::fs::create_dir_all(root.join(".config/portcullis")).unwrap();
        std::fs::write(root.join(".config/portcullis/policy.toml"), policy).unwrap();
        let mut house = House { root, daemon: None };
        let mut daemon = house.portcullis(&["serve", "--listen", "127.0.0.1:0"]);
        let mut daemon = daemon.stderr(Stdio::null()).spawn().unwrap();
        let mut first = String::new();
        let mut said = BufReader::new(daemon.stdout.take().unwrap());
        said.read_line(&mut first).unwrap();
        std::thread::spawn(move || said.lines().for_each(drop));
        house.daemon = Some(daemon);
        house
    }

    pub fn portcullis(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for (name, _) in std::env::vars() {
            let is_ours = ["PORTCULLIS_", "XDG_", "CLAUDE", "AGENT", "AMP_"];
            if is_ours.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.args(arguments).env("HOME", &self.root).env("USER", "anna");
        command.current_dir(&self.root).stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    /// Starts a proxy; the words behind it name a script beside this file.
    pub fn proxy(&self, words: &[&str], script: Option<(&str, &[&str])>) -> Proxy {
        let mut command = self.portcullis(words);
        if let Some((script, arguments)) = script {
            let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proxies");
            command.arg("--").arg("python3").arg(here.join(script)).args(arguments);
        }
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Proxy { child, input, output: BufReader::new(output) }
    }

    /// The asks that wait, as soon as there are some.
    pub fn ask(&self) -> Value {
        for _ in 0..2000 {
            let said = self.portcullis(&["asks", "--json"]).output().unwrap();
            let said: Value = serde_json::from_slice(&said.stdout).unwrap();
            if let Some(ask) = said["asks"].get(0) {
                return ask.clone();
            }
        }
        panic!("nobody is asked")
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        let said = self.portcullis(&["asks", "--json"]).output().unwrap();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        said["asks"].as_array().unwrap().len()
    }

    pub fn answer(&self, verb: &str, ask: &Value, words: &[&str]) {
        let mut arguments = vec![verb, ask["id"].as_str().unwrap()];
        arguments.extend(words);
        let said = self.portcullis(&arguments).output().unwrap();
        assert!(said.status.success(), "{said:?}");
    }

    pub fn stop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

impl Proxy {
    /// Says a line.
    pub fn line(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// Says a request.
    pub fn say(&mut self, id: u64, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(&message.to_string());
    }

    /// The next line.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// The next message.
    pub fn message(&mut self) -> Value {
        let line = self.hear();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    }

    /// Says a request and gives the answer to it.
    pub fn asked(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.say(id, method, params);
        self.answered(&json!(id))
    }

    /// The answer to a request; what comes before is dropped.
    pub fn answered(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message();
            if message["id"] == *id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Closes its input and waits for its end.
    pub fn end(mut self) -> std::process::ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
