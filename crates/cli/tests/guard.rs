//! The guard of a tool author against the real binary: over the socket and over TCP, with a person
//! who answers, and without a daemon.

#![cfg(test)]

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use portcullis_client::{Address, Client};
use portcullis_guard::{Access, Guard, Refusal, Run};
use serde_json::{Value, json};

/// A daemon with a home of its own.
struct Daemon {
    home: tempfile::TempDir,
    child: Child,
    url: String,
}

impl Daemon {
    fn start() -> Daemon {
        let home = tempfile::tempdir().unwrap();
        for directory in ["p/.git", "p/src", "out"] {
            std::fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for (name, _) in std::env::vars() {
            if name.starts_with("PORTCULLIS_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", home.path());
        command.env_remove("INTERNAL_API_KEY").stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut logs = child.stderr.take().unwrap();
        std::thread::spawn(move || logs.read_to_end(&mut Vec::new()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first.strip_prefix("listening on ").unwrap().to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Daemon { home, child, url }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    fn data(&self, file: &str) -> PathBuf {
        self.path(".local/share/portcullis").join(file)
    }

    fn socket(&self) -> Client {
        Client::new(Address::Socket(self.data("portcullis.sock")))
    }

    fn person(&self) -> Client {
        let key = std::fs::read_to_string(self.data("cli.key")).unwrap();
        Client::new(Address::url(&self.url).unwrap()).with_key(key.trim())
    }

    async fn guard(&self, client: Client) -> Guard {
        let run = Run {
            id: Some("r".to_owned()),
            folder: Some(self.path("p")),
            agents: vec!["writer".to_owned()],
            ..Run::default()
        };
        Guard::start(client, run).await.unwrap().for_tool("write_file").for_agent("writer")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn played(conversation: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().unwrap().block_on(conversation);
}

/// Answers the one ask that is pending, once there is one.
async fn answer(person: &Client, answer: Value) -> Value {
    for _ in 0..1000 {
        if let Some(ask) = person.pending().await.unwrap().first() {
            let id = ask["id"].as_str().unwrap();
            person.decide(id, &answer).await.unwrap();
            return ask.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody asked");
}

fn cause(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::Denied { cause, .. } => cause.as_deref(),
        Refusal::Unanswered(_) | Refusal::Failed(_) => None,
    }
}

#[test]
fn leave_is_given_by_the_policy_or_a_person_and_refused_with_its_cause() {
    let daemon = Daemon::start();
    played(async {
        let (guard, person) = (daemon.guard(daemon.socket()).await, daemon.person());
        let inside = Access::write("src/a.txt", "text");
        assert!(guard.authorize(&inside).await.unwrap().receipt.is_some());
        let forbidden = guard.authorize(&Access::read(".git/config")).await.unwrap_err();
        assert_eq!(cause(&forbidden), Some("forbidden"), "{forbidden}");

        let outside = Access::write("../out/a.txt", "text");
        let (permit, ask) = tokio::join!(
            guard.authorize(&outside),
            answer(&person, json!({ "answer": "approve" }))
        );
        assert!(permit.unwrap().receipt.is_some());
        assert_eq!(ask["call"]["input"]["resource"], daemon.path("out/a.txt").to_str().unwrap());
        let no = json!({ "answer": "reject", "scope": "run", "feedback": "not there" });
        let (refusal, _) = tokio::join!(guard.authorize(&outside), answer(&person, no));
        let refusal = refusal.unwrap_err();
        assert_eq!(cause(&refusal), Some("rejected"));
        assert!(refusal.to_string().ends_with("not there"), "{refusal}");
        let refusal = guard.authorize(&outside).await.unwrap_err();
        assert_eq!(cause(&refusal), Some("session-deny"));
        let exception = outside.overriding();
        let (permit, _) = tokio::join!(
            guard.authorize(&exception),
            answer(&person, json!({ "answer": "approve" }))
        );
        assert!(permit.is_ok(), "the person made one exception");

        let late = guard.waiting(Duration::from_millis(50));
        let refusal = late.authorize(&Access::change("../out/b.txt")).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Unanswered(_)), "{refusal}");
        assert!(person.pending().await.unwrap().is_empty(), "the question was taken back");

        guard.end("done").await.unwrap();
        assert!(guard.authorize(&inside).await.is_err(), "the run is over");
    });
}

#[test]
fn a_listing_shows_what_may_be_read_and_asks_nobody() {
    let daemon = Daemon::start();
    std::os::unix::fs::symlink(daemon.path("out"), daemon.path("p/away")).unwrap();
    let key = Command::new(env!("CARGO_BIN_EXE_portcullis"))
        .args(["keys", "create", "--role", "agent", "--name", "tool", "--json"])
        .env("HOME", daemon.home.path())
        .output()
        .unwrap();
    let key: Value = serde_json::from_slice(&key.stdout).unwrap_or_default();
    let key = key["key"].as_str().unwrap_or_default().to_owned();
    played(async {
        let away = Client::new(Address::url(&daemon.url).unwrap()).with_key(key);
        for client in [daemon.socket(), away] {
            let guard = daemon.guard(client).await;
            #[rustfmt::skip]
            let cases = [
                ("README.md",     true),
                ("src/../a.txt",  true),
                (".env",          false),
                ("sub/.git",      false),
                ("away/x",        false),
                ("../out/x",      false),
            ];
            for (path, may) in cases {
                assert_eq!(guard.can_access(&Access::read(path)).await, may, "{path}");
            }
            assert!(guard.can_access(&Access::command("ls -la")).await);
            assert!(!guard.can_access(&Access::command("npm publish")).await);
        }
        assert!(daemon.person().pending().await.unwrap().is_empty());
    });
}

#[test]
fn a_daemon_that_goes_away_permits_nothing() {
    let mut daemon = Daemon::start();
    played(async {
        let guard = daemon.guard(daemon.socket()).await;
        let (asking, person) = (guard.clone(), daemon.person());
        let waiting =
            tokio::spawn(async move { asking.authorize(&Access::command("npm publish")).await });
        while person.pending().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        daemon.child.kill().unwrap();
        daemon.child.wait().unwrap();
        assert!(matches!(waiting.await.unwrap(), Err(Refusal::Failed(_))));
        let inside = Access::read("a.txt");
        assert!(matches!(guard.authorize(&inside).await, Err(Refusal::Failed(_))));
        assert!(!guard.can_access(&inside).await);
    });
}
