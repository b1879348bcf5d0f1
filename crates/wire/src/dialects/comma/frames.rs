//! What the server says: one object per frame, its moment in every one, nothing null but the end
//! of a run in a list.

use serde::Serialize;
use serde_json::Value;

/// A frame as text.
#[must_use]
pub fn text(frame: &Frame, ts: &str) -> String {
    #[derive(Serialize)]
    struct Stamped<'a> {
        #[serde(flatten)]
        frame: &'a Frame,
        ts: &'a str,
    }
    serde_json::to_string(&Stamped { frame, ts }).unwrap_or_default()
}

/// A message to a client, without its moment.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Frame {
    /// Here.
    Pong {
        /// The id of the ping.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// Something could not be done.
    Error(Fault),
    /// A person must decide.
    RequestPermission(Asked),
    /// The gates of a tool have changed.
    PolicyUpdated {
        /// The run.
        run_id: String,
        /// The tool.
        tool: String,
        /// Its chain.
        policies: Vec<Named>,
    },
    /// An ask is settled.
    PermissionResolved {
        /// The run.
        run_id: String,
        /// The ask.
        request_id: String,
        /// What was decided.
        decision: &'static str,
        /// Who decided.
        by: String,
        /// Through which door.
        via: String,
        /// How it ended.
        outcome: &'static str,
    },
    /// A run can be started, or was attached to.
    RunPrepared {
        /// The run.
        #[serde(flatten)]
        run: Shown,
        /// What was said in it: nothing that is kept here.
        conversation: Conversation,
        /// Its MCP servers: none.
        mcp_servers: [Value; 0],
        /// The id of the message that is answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// A run was started.
    StrategyStarted {
        /// The run.
        #[serde(flatten)]
        run: Shown,
        /// The id of the message that started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// A run came to its end.
    StrategyCompleted {
        /// The run.
        run_id: String,
        /// What it brought.
        result: String,
        /// What it used.
        usage: Usage,
        /// The id of the message that started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// A run broke off.
    StrategyError {
        /// The run.
        run_id: String,
        /// Why.
        error: Broken,
    },
    /// Which runs there are.
    RunList {
        /// The runs, newest first.
        runs: Vec<ListedRun>,
        /// The id of the message that is answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// The same in another shape.
    StrategyList {
        /// The runs, newest first.
        runs: Vec<ListedStrategy>,
        /// The id of the message that is answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// Which MCP servers there are: none.
    McpServerList {
        /// The servers.
        servers: [Value; 0],
        /// The id of the message that is answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
}

/// Something that could not be done.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// A stable code.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// The id of the message that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Who settled the ask before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// What was decided then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Through which door.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// A question.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The run.
    pub run_id: String,
    /// The ask.
    pub request_id: String,
    /// The agent.
    pub agent_name: String,
    /// The tool.
    pub tool_name: String,
    /// What would be done.
    pub operation: &'static str,
    /// To what.
    pub resource: String,
    /// Why it is asked.
    pub reason: &'static str,
    /// What helps to decide.
    pub details: Details,
}

/// What helps to decide.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// How bad it could be.
    pub tier: &'static str,
    /// Why it is asked.
    pub reasons: Vec<String>,
    /// How many bytes would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Their beginning, with nothing hidden in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The digest of the call.
    pub call_digest: String,
    /// When it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// One policy of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// What it is called.
    pub name: String,
}

/// A run as it is shown when it begins.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The run.
    pub run_id: String,
    /// What it does.
    pub strategy_name: String,
    /// Its agents.
    pub agents: Vec<String>,
    /// How they work together.
    pub flow_tree: Value,
}

/// What was said in a run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Nothing that is kept here.
    pub records: [Value; 0],
    /// Nothing that is kept here.
    pub retention_events: [Value; 0],
    /// Nothing that is kept here.
    pub inputs: [Value; 0],
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens that went in.
    pub prompt_tokens: u64,
    /// Tokens that came out.
    pub completion_tokens: u64,
}

/// Why a run broke off.
#[derive(Clone, Debug, Serialize)]
pub struct Broken {
    /// `CANCELLED` or `EXECUTION_ERROR`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedRun {
    /// The run.
    pub run_id: String,
    /// Its folder.
    pub cwd: String,
    /// What it does.
    pub strategy_name: String,
    /// Its strategy file.
    pub strategy_path: String,
    /// When it was made.
    pub started_at: String,
    /// When it ended; null while it goes on.
    pub completed_at: Option<String>,
    /// How it stands.
    pub status: &'static str,
}

/// A run in a list of strategies.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedStrategy {
    /// The run.
    pub run_id: String,
    /// What it does.
    pub strategy_name: String,
    /// How it stands.
    pub status: &'static str,
    /// When it was made.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
}
