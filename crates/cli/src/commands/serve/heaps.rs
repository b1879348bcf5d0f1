//! How many heaps the daemon has.
//!
//! The C library gives nearly every thread a heap of its own, and what is made by one thread and
//! freed by another leaves room behind in each of them: over hours the process grows, though what
//! it holds does not. As many heaps as there are cores are enough. The library hears of that only
//! in the environment that a program begins with, so the daemon begins once more, as the same
//! process, before it has done anything.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where the C library looks, and who says something there is left alone.
const TUNABLES: &str = "GLIBC_TUNABLES";
const OLDER: &str = "MALLOC_ARENA_MAX";

/// Begins once more with as many heaps as cores. Returns where that was said already, and where it
/// cannot be done: the daemon then runs as it is, and only takes more room.
pub fn settle() {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return;
    }
    if env::var_os(TUNABLES).is_some() || env::var_os(OLDER).is_some() {
        return;
    }
    let (Ok(program), Ok(cores)) = (env::current_exe(), std::thread::available_parallelism())
    else {
        return;
    };
    let mut words = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).env(TUNABLES, format!("glibc.malloc.arena_max={cores}"));
    // Only what fails comes back.
    let _ = command.exec();
}
