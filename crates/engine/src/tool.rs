//! Tools: what kind each host's tool is, which name rules use for it, and what its input says.
//!
//! The knowledge is data (`data/tools.toml`), compiled into static tables; a policy adds its own
//! with `[[tool]]`. A tool that is not listed is `other`: its name is its rule name.

mod acts;
mod address;
mod custom;
mod elsewhere;
mod spec;

use serde_json::Value as Json;

use crate::verdict::Outcome;

pub(crate) use acts::{ToolActs, acts, member};
pub(crate) use address::hosts as host_names;
pub(crate) use custom::{Asked, ask_custom};
pub use custom::{CustomFinding, CustomTool};
pub use spec::Spec;
pub(crate) use spec::{Family, Names, families, names, readings};

/// What kind of thing a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// Runs a command.
    Shell,
    /// Reads files.
    Read,
    /// Creates, replaces or removes files.
    Write,
    /// Changes files.
    Edit,
    /// Changes several files at once.
    Patch,
    /// Looks for files, or in them.
    Search,
    /// Sends an address or a question away and brings back what it finds.
    Fetch,
    /// Starts another agent.
    Agent,
    /// A tool of an MCP server.
    Mcp,
    /// Anything else.
    #[default]
    Other,
}

impl ToolKind {
    /// Every kind.
    pub const ALL: [ToolKind; 10] = [
        ToolKind::Shell,
        ToolKind::Read,
        ToolKind::Write,
        ToolKind::Edit,
        ToolKind::Patch,
        ToolKind::Search,
        ToolKind::Fetch,
        ToolKind::Agent,
        ToolKind::Mcp,
        ToolKind::Other,
    ];

    /// Whether what its tools do stands in fields of their input.
    #[must_use]
    pub const fn has_fields(self) -> bool {
        match self {
            ToolKind::Shell
            | ToolKind::Read
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Patch
            | ToolKind::Search
            | ToolKind::Fetch => true,
            ToolKind::Agent | ToolKind::Mcp | ToolKind::Other => false,
        }
    }

    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ToolKind::Shell => "shell",
            ToolKind::Read => "read",
            ToolKind::Write => "write",
            ToolKind::Edit => "edit",
            ToolKind::Patch => "patch",
            ToolKind::Search => "search",
            ToolKind::Fetch => "fetch",
            ToolKind::Agent => "agent",
            ToolKind::Mcp => "mcp",
            ToolKind::Other => "other",
        }
    }
}

/// What a field of a tool's input says, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The command, a text or an argument list.
    Command,
    /// The directory it runs in.
    Cwd,
    /// The shell that runs it.
    Shell,
    /// A file.
    Path,
    /// Several files.
    Paths,
    /// What is written.
    Content,
    /// What is looked for.
    Pattern,
    /// An address, or several.
    Url,
    /// A question that is sent away.
    Query,
    /// Words for another agent or model.
    Prompt,
    /// A patch.
    Patch,
    /// The name of another agent or a skill.
    Agent,
    /// An MCP server.
    Server,
    /// A tool of that server.
    Tool,
    /// The input of that tool.
    Input,
    /// How long it may take.
    Timeout,
    /// A pattern for the names of the files that are searched.
    Glob,
}

impl Field {
    /// Every field.
    pub const ALL: [Field; 17] = [
        Field::Command,
        Field::Cwd,
        Field::Shell,
        Field::Path,
        Field::Paths,
        Field::Content,
        Field::Pattern,
        Field::Url,
        Field::Query,
        Field::Prompt,
        Field::Patch,
        Field::Agent,
        Field::Server,
        Field::Tool,
        Field::Input,
        Field::Timeout,
        Field::Glob,
    ];

    /// The field's name in the data and in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Field::Command => "command",
            Field::Cwd => "cwd",
            Field::Shell => "shell",
            Field::Path => "path",
            Field::Paths => "paths",
            Field::Content => "content",
            Field::Pattern => "pattern",
            Field::Url => "url",
            Field::Query => "query",
            Field::Prompt => "prompt",
            Field::Patch => "patch",
            Field::Agent => "agent",
            Field::Server => "server",
            Field::Tool => "tool",
            Field::Input => "input",
            Field::Timeout => "timeout",
            Field::Glob => "glob",
        }
    }
}

/// A tool that a policy declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolText {
    /// Its name, or a glob over names.
    pub name: String,
    /// The hosts it belongs to; none for all.
    pub hosts: Vec<String>,
    /// Its kind; `other` where it is not named.
    pub kind: Option<ToolKind>,
    /// The name rules use; its own where it is not named.
    pub rule: Option<String>,
    /// Which of its input's fields say what.
    pub fields: Vec<(Field, Vec<String>)>,
    /// Whether its commands are for PowerShell or cmd.
    pub is_foreign_shell: bool,
    /// Whether it looks at names only.
    pub is_listing: bool,
    /// Whether it only reads, whatever its input.
    pub is_read_only: bool,
    /// Conditions under which it only reads; one of them is enough.
    pub read_only_when: Vec<Condition>,
    /// What its author wants looked at.
    pub safety: Vec<Safety>,
}

/// Tests of one field of an input, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    /// The field; `a.b` is field b of object a.
    pub field: String,
    /// The tests.
    pub tests: Vec<Test>,
}

/// One test of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It equals one of these.
    OneOf(Vec<Json>),
    /// It is a text that begins so.
    Prefix(String),
    /// It is a text that ends so.
    Suffix(String),
    /// It is a text that contains this.
    Contains(String),
    /// It is a text that fits this glob.
    Glob(String),
    /// It is there, or not.
    Present(bool),
}

/// A finding that a policy declares for a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Safety {
    /// Conditions that must all hold; none for always.
    pub when: Vec<Condition>,
    /// Ask or deny.
    pub outcome: Outcome,
    /// Whether no allow rule can silence it.
    pub is_firm: bool,
    /// One sentence for a person.
    pub message: String,
}
