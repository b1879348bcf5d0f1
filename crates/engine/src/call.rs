//! Tool calls: what an agent wants to do, as its host says it.

use portcullis_shell::Dialect;
use serde_json::Value;

/// One tool call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The host's name for the tool.
    pub tool: String,
    /// Its input, normally an object.
    pub input: Value,
    /// The working directory, absolute.
    pub cwd: String,
    /// The directory the session began in, absolute; the working directory where none is said.
    pub root: Option<String>,
    /// The home of the user the call runs as, absolute.
    pub home: Option<String>,
    /// The shell that would run a command; none where the caller does not say.
    pub shell: Option<Shell>,
    /// The host, where it is known.
    pub host: Option<String>,
}

/// The shell that would run a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// One that is read here.
    Known(Dialect),
    /// Another one: its commands ask.
    Other,
}

impl Shell {
    /// The shell of this name; one that is not read here is another.
    #[must_use]
    pub fn named(name: &str) -> Shell {
        match name {
            "bash" => Shell::Known(Dialect::Bash),
            "sh" => Shell::Known(Dialect::Sh),
            "zsh" => Shell::Known(Dialect::Zsh),
            _ => Shell::Other,
        }
    }
}

impl Call {
    /// A shell command in a directory.
    #[must_use]
    pub fn bash(command: &str, cwd: &str) -> Call {
        Call::new("Bash", serde_json::json!({ "command": command }), cwd)
    }

    /// A call of a tool in a directory.
    #[must_use]
    pub fn new(tool: &str, input: Value, cwd: &str) -> Call {
        Call {
            tool: tool.to_owned(),
            input,
            cwd: cwd.to_owned(),
            root: None,
            home: None,
            shell: None,
            host: None,
        }
    }
}
