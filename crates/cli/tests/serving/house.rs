//! A home of its own, the real binary in it, and the daemon it serves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A home, gone when the test is over.
pub struct Home(pub PathBuf);

/// A daemon in a home, stopped when the test is over.
pub struct Daemon {
    pub home: Home,
    pub child: Child,
    pub url: String,
    /// What it logged so far.
    pub logs: Arc<Mutex<String>>,
}

/// What a command said.
pub struct Said {
    pub out: String,
    pub error: String,
    pub code: i32,
}

impl Home {
    pub fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("pcl-{}-{count}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Home(root)
    }

    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars() {
            if name.starts_with("PORTCULLIS_") || name.starts_with("XDG_") || name == "NO_COLOR" {
                command.env_remove(name);
            }
        }
        command.env_remove("INTERNAL_API_KEY").env("HOME", &self.0).env("USER", "anna");
        command.args(arguments).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn portcullis(&self, arguments: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_portcullis"), arguments)
    }

    pub fn says(&self, arguments: &[&str]) -> Said {
        said(&mut self.portcullis(arguments))
    }

    pub fn data(&self, file: &str) -> PathBuf {
        self.0.join(".local/share/portcullis").join(file)
    }

    /// What starts the daemon.
    pub fn serving(&self) -> Command {
        self.portcullis(&["serve", "--listen", "127.0.0.1:0"])
    }

    /// Serves by a command made for this home.
    pub fn serve_by(self, mut command: Command) -> Daemon {
        let mut child = command.spawn().unwrap();
        // Logs are read to their end, so that nobody waits for a full pipe.
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let logs = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&logs);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("a first line").unwrap();
        let url = first.strip_prefix("listening on ").expect("the stable first line").to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Daemon { home: self, child, url, logs }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Daemon {
    pub fn says(&self, arguments: &[&str]) -> Said {
        self.home.says(arguments)
    }

    /// Submits a call that asks; gives the waiting process and the short id of its ask.
    pub fn asking(&self, arguments: &[&str]) -> (Child, BufReader<ChildStderr>, String) {
        let mut child = self.home.portcullis(arguments).spawn().unwrap();
        let mut error = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        error.read_line(&mut line).unwrap();
        let id = line.strip_prefix("asked as ").and_then(|rest| rest.get(..6));
        let id = id.unwrap_or_else(|| panic!("no ask: {line}")).to_owned();
        (child, error, id)
    }

    pub fn stop(mut self) -> Home {
        let id = self.child.id().to_string();
        Command::new("kill").arg(id).status().unwrap();
        assert!(self.child.wait().unwrap().success(), "a signal is no failure");
        let home = Home(self.home.0.clone());
        std::mem::forget(std::mem::replace(&mut self.home, Home(PathBuf::new())));
        home
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn said(command: &mut Command) -> Said {
    of(&command.output().expect("the binary runs"))
}

pub fn of(output: &Output) -> Said {
    Said {
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        error: String::from_utf8(output.stderr.clone()).unwrap(),
        code: output.status.code().unwrap(),
    }
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}
