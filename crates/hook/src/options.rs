//! The words behind `hook`: which host, which event, and how it is answered.

use std::path::PathBuf;
use std::time::Duration;

use crate::call::Failure;

/// How long a hook waits where nobody says.
const WAIT_MS: u64 = 600_000;

/// The longest it may be told to wait.
const MOST_WAIT_MS: u64 = 24 * 3_600_000;

/// Whether the daemon is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Daemon {
    /// Where it runs; else the call is judged here.
    Auto,
    /// Always: without it everything is denied.
    Required,
    /// Never.
    Off,
}

/// The options of one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The event, if it is named.
    pub event: Option<String>,
    /// The data directory, if it is named.
    pub data_dir: Option<PathBuf>,
    /// A daemon elsewhere, if it is named.
    pub url: Option<String>,
    /// Whether the daemon is asked.
    pub daemon: Daemon,
    /// How long everything may take.
    pub deadline: Duration,
    /// Whether the host's own prompt may stand in for a person; none where its own rule counts.
    pub native_ask: Option<bool>,
    /// Whether an allow is said by silence.
    pub passes: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            event: None,
            data_dir: None,
            url: None,
            daemon: Daemon::Auto,
            deadline: Duration::from_millis(WAIT_MS),
            native_ask: None,
            passes: false,
        }
    }
}

impl Options {
    /// Reads the words behind the host's name.
    ///
    /// # Errors
    /// One of them is not understood.
    pub fn read(words: &[String]) -> Result<Options, Failure> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--") else {
                if options.event.replace(word.clone()).is_some() {
                    return Err(wrong(word));
                }
                continue;
            };
            let (flag, joined) = match flag.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (flag, None),
            };
            let value = joined.or_else(|| words.next().cloned()).ok_or_else(|| wrong(word))?;
            match (flag, value.as_str()) {
                ("data-dir", path) if path.starts_with('/') => {
                    options.data_dir = Some(PathBuf::from(path));
                }
                ("url", url) => options.url = Some(url.to_owned()),
                ("daemon", "auto") => options.daemon = Daemon::Auto,
                ("daemon", "required") => options.daemon = Daemon::Required,
                ("daemon", "off") => options.daemon = Daemon::Off,
                ("native-ask", "auto") => options.native_ask = Some(true),
                ("native-ask", "never") => options.native_ask = Some(false),
                ("on-allow", "allow") => options.passes = false,
                ("on-allow", "pass") => options.passes = true,
                ("deadline-ms", number) => {
                    let ms = number.parse().map_err(|_| wrong(number))?;
                    options.deadline = Duration::from_millis(u64::min(ms, MOST_WAIT_MS));
                }
                _ => return Err(wrong(word)),
            }
        }
        Ok(options)
    }
}

fn wrong(word: &str) -> Failure {
    Failure::new(
        "HOOK_BAD_INPUT",
        format!("the hook was started with `{word}`, which it does not know"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Options, Failure> {
        Options::read(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let options = read(&["PreToolUse", "--deadline-ms", "5", "--daemon=off"]).unwrap();
        assert_eq!(options.event.as_deref(), Some("PreToolUse"));
        assert_eq!((options.deadline, options.daemon), (Duration::from_millis(5), Daemon::Off));
        for words in [
            &["a", "b"][..],
            &["--deadline-ms"],
            &["--deadline-ms", "soon"],
            &["--daemon", "maybe"],
            &["--data-dir", "relative"],
            &["--allow", "all"],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
