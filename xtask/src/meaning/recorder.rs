//! The recorder: the one program behind every name that a generated text can run.
//!
//! This file is a program of its own. `sandbox.rs` compiles it, links it under every name in the
//! sandbox, and reads the log back. Each start appends one record with a single write: the
//! program, the working directory, the arguments, the open descriptors and, for `cat`, what came
//! in on standard input. What it prints and how it ends depend on its name alone.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;

/// Keeps the texts apart from what belongs to the sandbox itself.
const SANDBOX_DESCRIPTOR: &str = "9";

fn main() -> ExitCode {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let descriptors = descriptors();
    let input = if name == "cat" { input() } else { Vec::new() };

    let mut record = Vec::with_capacity(512);
    let mut field = |bytes: Vec<u8>| {
        record.extend_from_slice(&bytes);
        record.push(0);
    };
    field(program.clone().into_os_string().into_vec());
    field(fs::read_link("/proc/self/cwd").unwrap_or_default().into_os_string().into_vec());
    field(arguments.len().to_string().into_bytes());
    for argument in &arguments {
        field(argument.clone().into_vec());
    }
    field(descriptors.len().to_string().into_bytes());
    for (number, target) in descriptors {
        field(number.into_vec());
        field(target.into_os_string().into_vec());
    }
    field(input.clone());

    let log = program.parent().and_then(|place| place.parent()).map(|root| root.join("log"));
    if let Some(log) = log
        && let Ok(mut file) = fs::OpenOptions::new().append(true).open(log)
    {
        let _ = file.write_all(&record);
    }

    let said = match name.as_str() {
        "p4" => b"p6 w\n".to_vec(),
        "p5" => b"1\n".to_vec(),
        "p6" => {
            let mut line = Vec::new();
            for argument in arguments.into_iter().skip(1) {
                line.extend(argument.into_vec());
                line.push(b' ');
            }
            line.push(b'\n');
            line
        }
        "p9" => b"o1 f1\no2\n".to_vec(),
        "cat" => input,
        _ => Vec::new(),
    };
    let _ = std::io::stdout().write_all(&said);
    match name.as_str() {
        "p7" => ExitCode::FAILURE,
        "p8" => ExitCode::from(3),
        _ => ExitCode::SUCCESS,
    }
}

/// The open descriptors with what they lead to.
fn descriptors() -> Vec<(OsString, PathBuf)> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let mut found: Vec<(OsString, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name() != SANDBOX_DESCRIPTOR)
        .filter_map(|entry| Some((entry.file_name(), fs::read_link(entry.path()).ok()?)))
        .collect();
    // The last is the directory being listed.
    found.retain(|(_, target)| !(target.starts_with("/proc") && target.ends_with("fd")));
    found
}

/// What stands on standard input, if that is short.
fn input() -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = std::io::stdin().take(1 << 16).read_to_end(&mut bytes);
    bytes.retain(|byte| *byte != 0);
    bytes
}
