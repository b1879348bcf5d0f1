//! Comma: the messages of its clients, read as its own daemon reads them.
//!
//! A message is an object with a `type`; unknown members are passed over, everything known is
//! checked, and every fault of a message is named. What the server says is in [`frames`].

pub mod frames;
mod read;

use read::Reader;

/// The longest name of a run, in characters.
pub const MOST_RUN: usize = 200;

/// What a client says, with the id it wants to see again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its own id for the message.
    pub request: Option<String>,
    /// The message.
    pub message: Message,
}

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Are you there?
    Ping,
    /// An answer to an ask.
    Decision {
        /// The run.
        run: String,
        /// The ask, as it was written.
        ask: String,
        /// What is answered.
        choice: Choice,
    },
    /// A change of a run's gates.
    UpdatePolicy {
        /// The run.
        run: String,
        /// One tool; every one where absent.
        tool: Option<String>,
        /// Whether it is about writes.
        is_write: bool,
        /// The change.
        patch: Patch,
    },
    /// Wants to hear of a run.
    Subscribe(String),
    /// Wants to hear of it no longer.
    Unsubscribe(String),
    /// Which runs there are, perhaps in one folder.
    ListRuns(Option<String>),
    /// The same in another shape.
    ListStrategies,
    /// Makes a run, or attaches to one.
    Prepare(Prepare),
    /// Starts a prepared run.
    Start(String),
    /// Continues one that was prepared for it.
    Continue(String),
    /// Stops a run.
    Stop(String),
    /// Text for an agent, which nobody asked for.
    UserInput {
        /// The run.
        run: String,
        /// The agent.
        agent: String,
    },
    /// An answer to a question, which nobody asked.
    QuestionResponse {
        /// The run.
        run: String,
        /// The question.
        question: String,
    },
    /// A word to a run on its way.
    Steer(String),
    /// Which MCP servers there are.
    ListMcpServers,
    /// Something this daemon does not offer, with the code that says so.
    Foreign {
        /// The type of the message.
        kind: String,
        /// The code.
        code: &'static str,
    },
}

/// How an ask is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This once.
    Allow,
    /// Not this once.
    Deny,
    /// Until the run ends.
    AllowSession,
    /// Not until the run ends.
    DenySession,
}

/// A change of the gate of reads or of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// More that passes.
    pub allow: Vec<String>,
    /// More that does not.
    pub deny: Vec<String>,
    /// What happens to the rest, if that changes: `allow`, `deny` or `ask`.
    pub default: Option<String>,
}

/// What a run is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepare {
    /// What it is called.
    pub run: Option<String>,
    /// Its strategy file.
    pub strategy: Option<String>,
    /// Its folder.
    pub cwd: Option<String>,
}

/// Why a frame is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not JSON.
    NotJson,
    /// It is no message that is known, or a member is wrong: `path: reason` each.
    Invalid {
        /// What is wrong.
        faults: Vec<String>,
        /// Its own id for the message, if that can be read.
        request: Option<String>,
    },
}

/// Messages that are understood and not offered.
const FOREIGN: [(&str, &str); 9] = [
    ("update_mcp_server", "MCP_UPDATE_FAILED"),
    ("trash_restore", "RESTORE_FAILED"),
    ("list_providers", UNSUPPORTED),
    ("get_available_models", UNSUPPORTED),
    ("register_provider", UNSUPPORTED),
    ("unregister_provider", UNSUPPORTED),
    ("set_credential", UNSUPPORTED),
    ("trash_list", UNSUPPORTED),
    ("trash_clear", UNSUPPORTED),
];

const UNSUPPORTED: &str = "NOT_SUPPORTED";

const HUB: &str = "HUB_ERROR";

/// Reads a frame.
///
/// # Errors
/// It is no message; what is wrong is named.
pub fn read(text: &str) -> Result<Said, Unread> {
    let mut reader = Reader::new(text)?;
    let kind = reader.kind();
    let message = match kind.as_str() {
        "ping" => Message::Ping,
        "permission_decision" => {
            let (run, ask) = (reader.run(), reader.text("permissionRequestId"));
            Message::Decision { run, ask, choice: reader.choice() }
        }
        "update_policy" => Message::UpdatePolicy {
            run: reader.run(),
            tool: reader.maybe_text("tool"),
            is_write: reader.one_of("mode", &["read", "write"]) == "write",
            patch: Patch {
                allow: reader.texts("allow"),
                deny: reader.texts("deny"),
                default: reader.maybe_one_of("default", &["allow", "deny", "ask"]),
            },
        },
        "subscribe" => Message::Subscribe(reader.run()),
        "unsubscribe" => Message::Unsubscribe(reader.run()),
        "list_runs" => Message::ListRuns(reader.maybe_text("cwd")),
        "list_strategies" => Message::ListStrategies,
        "prepare_run" => {
            let (run, strategy) = (reader.maybe_run(), reader.maybe_text("strategyPath"));
            let cwd = reader.maybe_text("cwd");
            reader.maybe_text("modelOverride");
            reader.maybe_text("manifestPath");
            if run.is_none() && strategy.is_none() && reader.is_clean() {
                reader.fault("strategyPath", "prepare_run requires runId or strategyPath");
            }
            Message::Prepare(Prepare { run, strategy, cwd })
        }
        "start_run" => {
            reader.maybe_any_text("input");
            Message::Start(reader.run())
        }
        "continue_run" => {
            let run = reader.run();
            reader.any_text("input");
            Message::Continue(run)
        }
        "stop_run" => Message::Stop(reader.run()),
        "user_input" => {
            let (run, agent) = (reader.run(), reader.text("agentName"));
            reader.any_text("text");
            Message::UserInput { run, agent }
        }
        "question_response" => {
            let (run, question) = (reader.run(), reader.text("questionRequestId"));
            reader.any_text("response");
            Message::QuestionResponse { run, question }
        }
        "steer_run" => {
            let run = reader.run();
            reader.text("text");
            Message::Steer(run)
        }
        "list_mcp_servers" => {
            for name in ["cwd", "strategyPath"] {
                reader.maybe_text(name);
            }
            reader.maybe_run();
            Message::ListMcpServers
        }
        other => {
            let code = foreign(other).unwrap_or_else(|| {
                reader.unknown_kind();
                UNSUPPORTED
            });
            Message::Foreign { kind: other.to_owned(), code }
        }
    };
    reader.finish(message)
}

fn foreign(kind: &str) -> Option<&'static str> {
    let known = FOREIGN.iter().find(|(known, _)| *known == kind).map(|(_, code)| *code);
    known.or_else(|| kind.strip_prefix("hub_").filter(|rest| !rest.is_empty()).map(|_| HUB))
}
