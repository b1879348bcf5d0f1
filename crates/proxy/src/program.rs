//! The program behind a proxy: started with its streams in our hands, ended with the conversation.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::BufReader;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::ProxyError;

/// How long a program may take to end by itself when its input is closed.
const GOODBYE: Duration = Duration::from_secs(2);

/// A program that runs.
pub struct Program {
    input: Option<ChildStdin>,
    /// What it says.
    pub output: BufReader<ChildStdout>,
    child: Child,
}

/// Starts a program; what it says on standard error goes where ours goes.
pub fn start(command: &[String]) -> Result<Program, ProxyError> {
    let (program, arguments) = command.split_first().ok_or_else(|| ProxyError::Start {
        program: String::new(),
        cause: std::io::ErrorKind::NotFound.into(),
    })?;
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let cannot = |cause| ProxyError::Start { program: program.clone(), cause };
    let mut child = started.map_err(cannot)?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(cannot(std::io::ErrorKind::BrokenPipe.into()));
    };
    Ok(Program { input: Some(input), output: BufReader::new(output), child })
}

impl Program {
    /// What it reads; whoever holds it closes it.
    pub fn take_input(&mut self) -> std::io::Result<ChildStdin> {
        self.input.take().ok_or_else(|| std::io::ErrorKind::BrokenPipe.into())
    }

    /// Lets it end, and ends it where it does not.
    pub async fn end(mut self) {
        drop(self.input.take());
        if tokio::time::timeout(GOODBYE, self.child.wait()).await.is_err() {
            let _ = self.child.kill().await;
        }
    }
}
