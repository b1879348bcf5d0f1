//! One run of a test program, within limits.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// How much memory a mutant may take.
const MEMORY_KB: u32 = 4_000_000;

/// How many cases of a law are tried for each mutant; a law that runs with the unit tests tries
/// thousands.
const CASES: &str = "100";

/// How large a stack is: a function with many bodies needs as much as all of them.
const STACK: &str = "536870912";

/// What waits longer than this many times its limit does nothing.
const IDLE: u32 = 20;

/// The signal that ends what takes too much time of a processor.
const SIGXCPU: i32 = 24;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// Every test passed.
    Passed,
    /// A test failed.
    Failed,
    /// It took more than it may.
    Endless,
}

/// What is run.
pub struct Run<'a> {
    /// The test program.
    pub program: &'a Path,
    /// The directory of its package.
    pub directory: &'a Path,
    /// The names of the tests.
    pub tests: &'a [&'a str],
    /// The rows of tables that are tried; all if this is empty.
    pub rows: &'a str,
    /// The number of the mutant that counts, 0 for none.
    pub number: u32,
    /// How much time of a processor it may take.
    pub limit: Duration,
    /// Where it writes which places it reached.
    pub reached: Option<PathBuf>,
}

impl Run<'_> {
    /// Runs it. Time is that of a processor: others may be at work on the machine.
    pub fn run(&self) -> anyhow::Result<Ran> {
        let seconds = self.limit.as_secs().max(1);
        let limits = format!(
            "ulimit -v {MEMORY_KB}; ulimit -c 0; ulimit -S -t {seconds}; ulimit -H -t {}; exec \"$@\"",
            seconds + 2
        );
        let mut command = Command::new("nice");
        command.args(["-n", "10", "sh", "-c", &limits, "sh"]).arg(self.program);
        command.arg("--exact").args(self.tests).current_dir(self.directory);
        if !self.rows.is_empty() {
            command.env("PORTCULLIS_ROWS", self.rows);
        }
        if let Some(reached) = &self.reached {
            command.env("PORTCULLIS_REACHED", reached);
        }
        let mut child = command
            .env("PORTCULLIS_MUTANT", self.number.to_string())
            .env("PORTCULLIS_CASES", CASES)
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("RUST_TEST_THREADS", "1")
            .env("RUST_MIN_STACK", STACK)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the tests")?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(match status.signal() {
                    Some(SIGXCPU) => Ran::Endless,
                    _ if status.success() => Ran::Passed,
                    _ => Ran::Failed,
                });
            }
            if began.elapsed() > self.limit * IDLE {
                child.kill().ok();
                child.wait().ok();
                return Ok(Ran::Endless);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// How much time of a processor everything took that was started here and has ended.
pub fn spent() -> Duration {
    // Fields 16 and 17 behind the name in brackets count from 14 on, in hundredths of a second.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields = behind.split_whitespace().skip(13).take(2);
    Duration::from_millis(fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}
