//! Policy texts: one layer of a policy as its file, or a call's JSON, says it.
//!
//! Every key is optional here; [`Policy::of_layers`](crate::policy::Policy::of_layers) merges
//! layers and fills in what none of them names. The shape is the same in TOML and in JSON. To
//! add a key, add a field here, its reading to `policy_text/read.rs`, and its meaning to
//! `policy/merge.rs`; say in `policy_text/stricter.rs` whether it may come from a stranger.

mod custom;
mod node;
mod read;
mod stricter;
mod table;

use std::ops::Range;

use serde_json::Value as Json;

use crate::call::Shell;
use crate::error::PolicyError;
use crate::guard::Sensitive;
use crate::mode::Mode;
use crate::tool::ToolText;
use crate::verdict::Outcome;

/// One layer of a policy as read.
#[derive(Clone, Debug, Default)]
pub struct PolicyText {
    /// `mode`.
    pub mode: Option<Mode>,
    /// `workspace`: absolute or beginning with `~`.
    pub workspace: Vec<String>,
    /// `shell`: for calls that do not say.
    pub shell: Option<Shell>,
    /// `sensitive_reads`: ask, or allow.
    pub sensitive_reads: Option<Outcome>,
    /// `network_reads`: ask, or allow.
    pub network_reads: Option<Outcome>,
    /// `destructive`: ask, or deny.
    pub destructive: Option<Outcome>,
    /// `hopeless`: ask, or deny.
    pub hopeless: Option<Outcome>,
    /// `locked`: keys that later layers cannot change.
    pub locked: Vec<Spelled>,
    /// `[rules]`.
    pub rules: RulesText,
    /// `[sensitive]`.
    pub sensitive: Sensitive,
    /// `[exec]`.
    pub exec: Option<ExecText>,
    /// `[paths]`.
    pub paths: Option<PathsText>,
    /// `[asks]`.
    pub asks: AsksText,
    /// `[hosts]`.
    pub hosts: HostsText,
    /// `[audit] input`.
    pub audit_input: Option<AuditInput>,
    /// `[[tool]]`.
    pub tools: Vec<ToolText>,
    /// `[[profile]]`.
    pub profiles: Vec<ProfileText>,
    /// `[[test]]`.
    pub tests: Vec<TestText>,
}

/// A text and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    /// The text.
    pub text: String,
    /// Its bytes in the file; none in JSON.
    pub span: Option<Range<usize>>,
}

/// The three lists of rules, as written; each rule is known to parse.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesText {
    /// Rules that allow.
    pub allow: Vec<Spelled>,
    /// Rules that ask.
    pub ask: Vec<Spelled>,
    /// Rules that deny.
    pub deny: Vec<Spelled>,
}

/// How shell calls are judged under `[exec]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecText {
    /// `security`.
    pub security: Option<Security>,
    /// `ask`.
    pub ask: Option<AskWhen>,
    /// `allowlist`.
    pub allowlist: Vec<Listed>,
    /// `strict`.
    pub strict: Option<bool>,
}

/// How much of the shell is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Nothing.
    Deny,
    /// What the allowlist covers.
    #[default]
    Allowlist,
    /// Everything.
    Full,
}

/// When a person is asked under `[exec]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskWhen {
    /// Never: what is not covered is denied.
    Off,
    /// About what is not covered and not read-only.
    #[default]
    OnMiss,
    /// Always.
    Always,
}

/// One entry of an allowlist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The pattern, trimmed.
    pub pattern: String,
    /// Whether it is compared for equality and knows no wildcards.
    pub is_exact: bool,
}

impl Listed {
    /// It as an offer and a grant name it: `allowlist(git **)`, `allowlist(= make release)`.
    #[must_use]
    pub fn rule(&self) -> String {
        let sign = if self.is_exact { "= " } else { "" };
        format!("allowlist({sign}{})", self.pattern)
    }

    /// The entry that an offer or a grant names; none where the text is an ordinary rule.
    #[must_use]
    pub fn of_rule(rule: &str) -> Option<Listed> {
        let text = rule.strip_prefix("allowlist(")?.strip_suffix(')')?;
        let (pattern, is_exact) = match text.strip_prefix("= ") {
            Some(exact) => (exact, true),
            None => (text, false),
        };
        Some(Listed { pattern: pattern.trim().to_owned(), is_exact })
    }
}

/// The gates of file calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathsText {
    /// Whether file calls go through the gates; false where a stranger's text only forbids.
    pub is_gate: bool,
    /// `forbidden`.
    pub forbidden: Vec<String>,
    /// `jail`.
    pub jail: Option<bool>,
    /// `absolute`.
    pub absolute: Option<bool>,
    /// `read`.
    pub read: GateText,
    /// `write`.
    pub write: GateText,
}

/// One gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateText {
    /// `allow`; none where it is not named.
    pub allow: Option<Vec<String>>,
    /// `deny`.
    pub deny: Vec<String>,
    /// `default`.
    pub default: Option<Outcome>,
}

/// The life of asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsksText {
    /// `deadline_s`; 0 for none.
    pub deadline_s: Option<u64>,
    /// `fallback`.
    pub fallback: Option<Fallback>,
    /// `unused_approval_s`.
    pub unused_approval_s: Option<u64>,
}

/// The decision an ask gets at its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Deny.
    #[default]
    Deny,
    /// Allow.
    Allow,
    /// Allow what the allowlist covers, deny the rest.
    AllowCovered,
}

/// How hooks behave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostsText {
    /// `daemon`.
    pub daemon: Option<DaemonUse>,
    /// `wait_s`.
    pub wait_s: Option<u64>,
    /// `answer_native_prompts`.
    pub answer_native_prompts: Option<bool>,
    /// `headless`.
    pub headless: Option<Headless>,
}

/// Whether a hook needs the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DaemonUse {
    /// It is used where it runs.
    #[default]
    Auto,
    /// Without it everything is denied.
    Required,
    /// It is not used.
    Off,
}

/// What a headless run does with an ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Headless {
    /// It waits.
    #[default]
    Ask,
    /// It ends and is resumed.
    Defer,
}

/// How much of a call's input the audit keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditInput {
    /// The input without what looks like a secret.
    #[default]
    Redacted,
    /// All of it.
    Full,
    /// Its digest.
    Digest,
}

/// A named variation of the policy for some agents.
#[derive(Clone, Debug, Default)]
pub struct ProfileText {
    /// Its name.
    pub name: String,
    /// Globs over the names of agent keys.
    pub agents: Vec<String>,
    /// The values that differ; it locks nothing and has no profiles.
    pub text: PolicyText,
}

/// A case that the policy's author expects to hold.
#[derive(Clone, Debug)]
pub struct TestText {
    /// The tool; `Bash` where a command is given.
    pub tool: String,
    /// The input.
    pub input: Json,
    /// The working directory, where it matters.
    pub cwd: Option<String>,
    /// The mode, where it is not the policy's.
    pub mode: Option<Mode>,
    /// What must come out.
    pub outcome: Outcome,
    /// Where the case stands.
    pub span: Option<Range<usize>>,
}

impl PolicyText {
    /// Reads TOML.
    ///
    /// # Errors
    /// The first mistake, with its bytes and the way out; unknown keys are mistakes.
    pub fn from_toml(text: &str) -> Result<PolicyText, PolicyError> {
        read::policy(&node::Node::from_toml(text)?)
    }

    /// Takes the same shape as JSON.
    ///
    /// # Errors
    /// The first mistake, with the way out; unknown keys are mistakes.
    pub fn from_json(value: &Json) -> Result<PolicyText, PolicyError> {
        read::policy(&node::Node::from_json(value))
    }

    /// The part of it that can only make a policy stricter, and the names of what is left out.
    ///
    /// This is what counts of a project's file that nobody has trusted.
    #[must_use]
    pub fn stricter_only(&self) -> (PolicyText, Vec<String>) {
        stricter::stricter_only(self)
    }
}
