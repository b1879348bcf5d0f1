//! `check`, `explain`, `policy` and `trust`, as users meet them: the real binary in a home of its
//! own, its output, its exit codes.
//!
//! Each file under `judging/` is one conversation. Above the dashes stand the files that exist
//! (`file: ["proj/portcullis.toml", "text"]`), what is on standard input (`stdin: "text"`) and the
//! calls in order (`args: ["check", "ls"]`); below stands exactly what each printed, and its exit
//! code. The project is `proj`, the home is `home`, and the directory of both is shown as `~~`.
//! After a change on purpose, `UPDATE=1 cargo test -p portcullis-cli` writes the files anew; read
//! the difference.

#![cfg(test)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// A directory with a home and a project, gone when the test is over.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("portcullis-judging-{}-{count}", std::process::id());
        let root = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir_all(root.join("home")).unwrap();
        fs::create_dir_all(root.join("proj")).unwrap();
        Place(root)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn portcullis(&self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for variable in ["NO_COLOR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PORTCULLIS_DATA_DIR"] {
            command.env_remove(variable);
        }
        command.args(arguments).env("HOME", self.0.join("home")).current_dir(self.0.join("proj"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[impl AsRef<std::ffi::OsStr>], stdin: &[u8]) -> Output {
        let mut child = self.portcullis(arguments).spawn().expect("the binary starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let stdin = stdin.to_vec();
        // It answers while it reads. One that ends early does not read to the end.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().expect("the binary ends");
        writer.join().expect("the writer ends");
        output
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn conversation(head: &str) -> String {
    let place = Place::new();
    let mut said = String::new();
    let mut stdin = String::new();
    for line in head.lines() {
        if let Some(file) = line.strip_prefix("file: ") {
            let [path, text]: [String; 2] = serde_json::from_str(file).unwrap();
            place.write(&path, &text);
        } else if let Some(text) = line.strip_prefix("stdin: ") {
            stdin = serde_json::from_str(text).unwrap();
        } else if let Some(arguments) = line.strip_prefix("args: ") {
            let arguments: Vec<String> = serde_json::from_str(arguments).unwrap();
            let output = place.output(&arguments, stdin.as_bytes());
            said += &String::from_utf8(output.stdout).unwrap();
            said += &String::from_utf8(output.stderr).unwrap();
            said += "exit ";
            said += &output.status.code().unwrap().to_string();
            said += "\n";
        }
    }
    said.replace(place.0.to_str().unwrap(), "~~")
}

#[test]
fn every_conversation_goes_as_its_file_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judging");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let case = fs::read_to_string(&path).unwrap();
        let (head, _) = case.split_once("---\n").expect("a line of dashes below the calls");
        let said = conversation(head);
        let got = format!("{head}---\n{said}");
        if got != case {
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&path, &got).unwrap();
            }
            wrong.push(format!("{}:\n{got}", path.display()));
        }
        // JSON and lines with paths are as long as they are.
        let is_ours = |line: &&str| !line.starts_with(['{', '[']) && !line.contains("~~");
        for line in said.lines().filter(is_ours) {
            assert!(line.chars().count() <= 80, "{}: too wide: {line}", path.display());
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "only {count} conversations were found");
}

#[test]
fn a_batch_answers_while_its_input_pauses() {
    let place = Place::new();
    let mut child = place.portcullis(&["check", "--batch"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..3 {
        let call = json!({ "id": id, "tool": "Bash", "input": { "command": "ls" }, "policy": {} });
        writeln!(stdin, "{call}").unwrap();
        // The stream stays open: only a flush brings the answer.
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    drop(stdin);
    assert!(answers.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_batch_goes_on_behind_what_is_not_understood() {
    let place = Place::new();
    let good = r#"{"id":"good","tool":"Bash","input":{"command":"ls"},"policy":{}}"#;
    let deep =
        format!(r#"{{"id":"deep","tool":"X","input":{}{}}}"#, "[".repeat(80), "]".repeat(80));
    let mut input = Vec::new();
    for line in [
        good.as_bytes(),
        b"{",
        b"\xff",
        deep.as_bytes(),
        b"",
        &vec![b'x'; 9 << 20],
        good.as_bytes(),
    ] {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    let output = place.output(&["check", "--batch"], &input);
    assert_eq!(output.status.code(), Some(2));
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 6, "a blank line is no line");
    assert_eq!((&answers[0]["id"], &answers[5]["id"]), (&json!("good"), &json!("good")));
    let error = |index: usize| {
        let error = &answers[index]["error"];
        (
            error["code"].as_str().unwrap(),
            error["message"].as_str().unwrap(),
            error["line"].as_u64(),
        )
    };
    assert_eq!(error(1), ("INVALID_REQUEST", "not JSON: it ends too early", Some(2)));
    assert_eq!(error(2), ("INVALID_REQUEST", "not UTF-8 from byte 0 on", Some(3)));
    assert_eq!(error(3), ("INVALID_REQUEST", "nested deeper than 64 levels", Some(4)));
    assert_eq!(answers[3]["id"], "deep");
    assert_eq!(error(4), ("TOO_LARGE", "the line is longer than 8 MiB", Some(6)));
}

#[test]
fn many_lines_are_answered_in_order() {
    let place = Place::new();
    let modes = ["default", "explore", "bypass", "dont-ask", "accept-edits"];
    let mut input = String::new();
    for id in 0..3000 {
        let policy = json!({ "mode": modes[id % 5], "workspace": [format!("/w/{}", id % 70)] });
        let call =
            json!({ "id": id, "tool": "Bash", "input": { "command": "ls" }, "policy": policy });
        input += &call.to_string();
        input += "\n";
    }
    let output = place.output(&["check", "--batch"], input.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let answers = String::from_utf8(output.stdout).unwrap();
    let ids: Vec<_> = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (0..3000).collect::<Vec<_>>());
}

#[test]
fn what_is_no_call_is_told_so() {
    let place = Place::new();
    #[rustfmt::skip]
    let cases: [&[&str]; 8] = [
        &["check"],
        &["explain"],
        &["check", "--mode", "yolo", "ls"],
        &["check", "--tool", "Read"],
        &["check", "--tool", "Read", "--input", "{"],
        &["check", "--batch", "ls"],
        &["check", "--dialect", "agentscope", "ls"],
        &["check", "--policy", "missing.toml", "ls"],
    ];
    for arguments in cases {
        let output = place.output(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}
