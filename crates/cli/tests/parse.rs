//! `portcullis parse`, as users meet it: the real binary, its output, its exit code.
//!
//! Each file under `parse/` is one case: the arguments as JSON, what is on standard input if
//! anything is, then exactly what is printed, then the exit code. After a change on purpose,
//! `UPDATE=1 cargo test -p portcullis-cli` writes the files anew; read the difference.

#![cfg(test)]

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn portcullis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.env_remove("NO_COLOR");
    command
}

fn output(command: &mut Command, stdin: &[u8]) -> Output {
    let piped = Stdio::piped;
    let mut child =
        command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(stdin).expect("the binary reads");
    child.wait_with_output().expect("the binary ends")
}

fn json(text: &[u8]) -> Value {
    let output = output(portcullis().args(["parse", "--json"]).arg(OsStr::from_bytes(text)), b"");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_case_prints_what_its_file_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let case = fs::read_to_string(&path).unwrap();
        let (head, _) = case.split_once("---\n").expect("a line of dashes below the arguments");
        let line = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let arguments: Vec<String> = serde_json::from_str(line("args: ").unwrap()).unwrap();
        let stdin: String =
            line("stdin: ").map_or(String::new(), |text| serde_json::from_str(text).unwrap());

        let output = output(portcullis().args(&arguments), stdin.as_bytes());
        let printed = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let got =
            format!("{head}---\n{printed}{said}---\nexit {}\n", output.status.code().unwrap());
        if got != case {
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&path, &got).unwrap();
            }
            wrong.push(format!("{}:\n{got}", path.display()));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10, "only {count} cases were found");
}

/// Counts the nodes below `node` and checks that each stands inside `length` bytes.
fn walk(node: &Value, length: u64) -> usize {
    let mut count = 0;
    if let Some(kind) = node.get("kind") {
        let span = node["span"].as_array().expect("a span");
        let [start, end] = [span[0].as_u64().unwrap(), span[1].as_u64().unwrap()];
        assert!(start <= end && end <= length, "{kind} at {start}..{end}");
        count = 1;
    }
    let children: Vec<&Value> = match node {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(children) => children.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    count + children.into_iter().map(|child| walk(child, length)).sum::<usize>()
}

#[test]
fn every_node_has_a_kind_and_a_span_inside_its_text() {
    let text = "for f in *.{c,h} \"$(ls `pwd`)\"; do [[ -f $f && ! x =~ ^a$ ]] || cat <<E >&2; done\n\
                $((1+${#f[@]}))\nE\ncase $x in a|b) ;; esac; f() { (cd ~; ls <(x) &); } 2>/dev/null";
    let answer = json(text.as_bytes());
    let count = walk(&answer["tree"], text.len() as u64);
    assert!(count > 60, "only {count} nodes in {answer}");
}

#[test]
fn bytes_that_are_not_utf8_come_through() {
    let answer = json(b"echo caf\xe9 'a\\b'");
    let words = &answer["tree"]["items"][0]["pipelines"][0]["commands"][0]["words"];
    assert_eq!(words[1]["value"]["literal"]["escaped"], "caf\\xe9");
    assert_eq!(words[2]["value"]["literal"], "a\\b");
    assert_eq!(answer["hazards"][0]["kind"], "not-utf8");
    assert_eq!(answer["hazards"][0]["span"], serde_json::json!([8, 9]));
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let text = "echo x;".repeat(4000);
    let mut child = portcullis()
        .args(["parse", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let mut first = [0];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_is_no_call_is_told_so() {
    #[rustfmt::skip]
    let cases: [&[&str]; 5] = [
        &[],
        &["parse"],
        &["parse", "--dialect", "fish", "ls"],
        &["parse", "ls", "-la"],
        &["unheard-of"],
    ];
    for arguments in cases {
        let output = output(portcullis().args(arguments), b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_portcullis")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());

    let mut count = 0;
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block ends");
        let (command, want) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        // Whoever runs the tests may have a policy of their own.
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", &path).env("HOME", "/nonexistent");
        let output = output(shell.env_remove("XDG_CONFIG_HOME").env_remove("NO_COLOR"), b"");
        assert_eq!(String::from_utf8_lossy(&output.stdout), want, "`{command}`");
        count += 1;
    }
    assert!(count >= 2, "only {count} examples were found");
}
