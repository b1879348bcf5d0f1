//! The corpus against a real bash: `bash -n` must accept what the reader accepts, and reject
//! what the reader refuses for its syntax.

#![cfg(test)]

#[expect(dead_code, reason = "the expectations are the other test's matter")]
#[path = "corpus/cases.rs"]
mod cases;

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use cases::{Case, encode};
use portcullis_shell::{Dialect, RefusalKind};

#[test]
fn bash_accepts_and_rejects_the_same_texts() {
    if !bash_is_recent() {
        eprintln!("no bash 5.2 or later here: nothing is confirmed");
        return;
    }
    let mut report = String::new();
    for file in cases::files() {
        let name = file.path.file_name().unwrap().to_string_lossy().into_owned();
        for case in file.cases.iter().filter(|case| case.settings.reader.dialect == Dialect::Bash) {
            confirm(&name, case, &mut report);
        }
    }
    assert!(report.is_empty(), "{report}");
}

fn confirm(name: &str, case: &Case, report: &mut String) {
    for text in &case.texts {
        let refusal = match case.settings.reader.parse(text) {
            Ok(_) => None,
            Err(refusal) if refusal.kind == RefusalKind::Syntax => Some(refusal.message),
            // What is refused for another reason is no claim about bash.
            Err(_) => continue,
        };
        let expected = case.settings.bash_accepts.unwrap_or(refusal.is_none());
        let complaint = complaint(text, case.settings.reader.extglob);
        if expected != complaint.is_none() {
            let ours = refusal.unwrap_or_else(|| "read".to_owned());
            let theirs = complaint.unwrap_or_else(|| "accepted".to_owned());
            let (line, title, text) = (case.line, &case.title, encode(text));
            writeln!(
                report,
                "{name}:{line}: {title}\n{text}\n--- here: {ours}\n--- bash: {theirs}\n"
            )
            .unwrap();
        }
    }
}

/// What `bash -n` has against a text.
///
/// Its status alone does not tell: for a malformed `[[ ]]` it complains and reports success.
fn complaint(text: &[u8], extglob: bool) -> Option<String> {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile"]);
    if extglob {
        bash.args(["-O", "extglob"]);
    }
    let output = bash
        .args(["-n", "-c"])
        .arg(std::ffi::OsStr::from_bytes(text))
        .env_remove("BASH_ENV")
        .env_remove("SHELLOPTS")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    let complaints = messages.lines().filter(|line| !line.contains(": warning: "));
    let complaint = complaints.collect::<Vec<_>>().join("; ");
    (!output.status.success() || !complaint.is_empty()).then_some(complaint)
}

fn bash_is_recent() -> bool {
    let script = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502))";
    Command::new("bash").args(["-c", script]).status().is_ok_and(|status| status.success())
}
