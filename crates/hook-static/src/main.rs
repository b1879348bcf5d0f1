//! `portcullis-hook`: the hook by itself, for containers and other places where the whole binary
//! is too much. Its words are those behind `portcullis hook`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    // Command lines that name the big binary's command fit here too.
    if words.first().is_some_and(|word| word == "hook") {
        words.remove(0);
    }
    portcullis_hook_static::run(words)
}
