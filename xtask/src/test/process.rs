//! Runs a process and keeps what it says.

use std::io::Read;
use std::process::{Command, Stdio};

use anyhow::Context;

/// Whether the process succeeded, and both of its outputs in the order they were written.
pub fn run(command: &mut Command) -> anyhow::Result<(bool, String)> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (mut reader, writer) = std::io::pipe().context("cannot open a pipe")?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone().context("cannot share a pipe")?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("cannot start `{program}`"))?;
    // Our own copies of the writing end must go, or the reading end never ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut output = Vec::new();
    reader.read_to_end(&mut output).with_context(|| format!("cannot read from `{program}`"))?;
    let status = child.wait().with_context(|| format!("cannot wait for `{program}`"))?;
    Ok((status.success(), String::from_utf8_lossy(&output).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_are_kept_in_order() {
        let script = "echo one; echo two >&2; echo three; exit 3";
        let (succeeded, output) = run(Command::new("sh").args(["-c", script])).unwrap();
        assert!(!succeeded);
        assert_eq!(output, "one\ntwo\nthree\n");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert_eq!(error.to_string(), "cannot start `no-such-program-here`");
    }
}
