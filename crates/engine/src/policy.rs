//! The policy: everything in force for a call.
//!
//! Made from layers by [`Policy::of_layers`]; after that it does not change. Adding one grant
//! gives a new policy that shares everything else with the old one.

mod merge;

mod gates;
mod grants;
mod lint;

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::Arc;

use portcullis_shell::Dialect;

use crate::call::Shell;
use crate::error::PolicyError;
use crate::guard::Sensitive;
use crate::mode::Mode;
use crate::policy_text::{
    AskWhen, AuditInput, DaemonUse, Fallback, Headless, Listed, PolicyText, Security,
};
use crate::rule::{Rule, Rules};
use crate::tool::{CustomTool, Spec, ToolText};
use crate::verdict::Outcome;

pub(crate) use gates::Gates;
pub use grants::{ExactAnswer, ExactGrant, Grants};

/// The layer a rule or a value comes from, strongest authority first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What every policy begins with.
    #[default]
    BuiltIn,
    /// The organization's file.
    Organization,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// What an approval left behind.
    Grant,
    /// What a session or a call set.
    Call,
}

impl Source {
    /// The layer's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Source::BuiltIn => "built-in",
            Source::Organization => "organization",
            Source::User => "user",
            Source::Project => "project",
            Source::Grant => "grant",
            Source::Call => "call",
        }
    }

    /// Whether the layer may lock keys and take sensitive paths out.
    #[must_use]
    pub const fn may_lock(self) -> bool {
        matches!(self, Source::BuiltIn | Source::Organization | Source::User)
    }
}

/// Everything in force for a call: rules by source, mode, dials, workspace.
#[derive(Clone, Debug)]
pub struct Policy {
    /// How acts are answered that no rule speaks about.
    pub mode: Mode,
    /// Directories in which edits are ordinary work, besides the call's own.
    pub workspace: Arc<[String]>,
    /// The shell of calls that do not say.
    pub shell: Shell,
    /// Ask, or allow: reading secrets.
    pub sensitive_reads: Outcome,
    /// Ask, or allow: lookups and fetches to standard output.
    pub network_reads: Outcome,
    /// Ask, or deny: what could destroy.
    pub destructive: Outcome,
    /// Ask, or deny: what nobody could want.
    pub hopeless: Outcome,
    /// The policy's own sensitive paths.
    pub sensitive: Arc<Sensitive>,
    /// How shell calls are judged, if not by the mode.
    pub exec: Option<Arc<Exec>>,
    /// What file calls may touch.
    pub paths: Arc<Paths>,
    /// What a dialect opens beside the mode, where one does.
    pub opened: Option<Opened>,
    /// The life of asks.
    pub asks: Asks,
    /// How hooks behave.
    pub hosts: Hosts,
    /// How much of a call's input the audit keeps.
    pub audit_input: AuditInput,
    /// Answers to very calls.
    pub grants: Arc<Grants>,
    pub(crate) gates: Arc<Gates>,
    pub(crate) tools: Arc<[Spec]>,
    pub(crate) custom: Arc<[Arc<dyn CustomTool>]>,
    pub(crate) rules: Arc<Rules>,
    /// Rules that came later, so that a grant does not rebuild the rest.
    pub(crate) added: Arc<Rules>,
    locked: Arc<[String]>,
    warnings: Arc<[Warning]>,
}

/// How shell calls are judged under `[exec]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exec {
    /// How much of the shell is open.
    pub security: Security,
    /// When a person is asked.
    pub ask: AskWhen,
    /// What is open.
    pub allowlist: Vec<Listed>,
    /// Whether shell syntax and path arguments end read-only.
    pub is_strict: bool,
}

/// What a dialect opens beside the mode: its read tools, and its write tools on ordinary files.
///
/// No policy file can say it; deny and ask rules come before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// Whether its read tools read secrets too.
    pub secrets: bool,
    /// Whether a fetch that is saved under its own, ordinary name counts as a read.
    pub saved_fetches: bool,
}

/// What file calls may touch. Lists hold globs as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// What nobody may touch.
    pub forbidden: Vec<String>,
    /// Whether everything outside the workspace is denied.
    pub is_jail: bool,
    /// Whether absolute paths in the input are denied.
    pub refuses_absolute: bool,
    /// What may not be read.
    pub read_deny: Vec<String>,
    /// What may not be written.
    pub write_deny: Vec<String>,
    /// The gate of reads, if there is one.
    pub read: Option<Gate>,
    /// The gate of writes, if there is one.
    pub write: Option<Gate>,
}

/// What passes without a question, and what happens to the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What passes.
    pub allow: Vec<String>,
    /// What happens to the rest.
    pub default: Outcome,
}

/// The life of asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    /// How long an ask waits; 0 for ever.
    pub deadline_s: u64,
    /// The same in milliseconds, where a dialect says it so; no policy file can.
    pub deadline_ms: Option<u64>,
    /// The decision it gets then.
    pub fallback: Fallback,
    /// How long an approval nobody waited for stays good.
    pub unused_approval_s: u64,
}

impl Default for Asks {
    fn default() -> Asks {
        let (fallback, unused_approval_s) = (Fallback::Deny, 600);
        Asks { deadline_s: 1800, deadline_ms: None, fallback, unused_approval_s }
    }
}

/// How hooks behave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Whether a hook needs the daemon.
    pub daemon: DaemonUse,
    /// How long a hook waits.
    pub wait_s: u64,
    /// Whether an allow rule answers a host's own prompt.
    pub answers_native_prompts: bool,
    /// What a headless run does with an ask.
    pub headless: Headless,
}

/// Something about a policy that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A stable code.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The layer it is about.
    pub source: Source,
    /// The place of that layer among those that were merged.
    pub layer: usize,
    /// The bytes of that layer's text.
    pub span: Option<Range<usize>>,
}

impl Policy {
    /// The text of a policy file to begin with: short, commented and livable.
    pub const STARTER: &'static str = include_str!("../data/default_policy.toml");

    /// The policy of somebody who says nothing: no rules, mode default.
    #[must_use]
    pub fn builtin() -> Policy {
        Policy {
            mode: Mode::Default,
            workspace: Arc::new([]),
            shell: Shell::Known(Dialect::Bash),
            sensitive_reads: Outcome::Ask,
            network_reads: Outcome::Ask,
            destructive: Outcome::Ask,
            hopeless: Outcome::Ask,
            sensitive: Arc::default(),
            exec: None,
            paths: Arc::default(),
            opened: None,
            asks: Asks::default(),
            hosts: Hosts {
                daemon: DaemonUse::Auto,
                wait_s: 600,
                answers_native_prompts: false,
                headless: Headless::Ask,
            },
            audit_input: AuditInput::Redacted,
            grants: Arc::default(),
            gates: Arc::default(),
            tools: Arc::new([]),
            custom: Arc::new([]),
            rules: Arc::default(),
            added: Arc::default(),
            locked: Arc::new([]),
            warnings: Arc::new([]),
        }
    }

    /// Merges layers, strongest authority first: deny beats ask beats allow, lists add up, and of
    /// single values the last one counts unless an earlier layer locked it.
    ///
    /// # Errors
    /// A layer that locks keys without the right to, with its place in `layers`.
    pub fn of_layers<T: Borrow<PolicyText>>(layers: &[(Source, T)]) -> Result<Policy, PolicyError> {
        merge::of_layers(layers)
    }

    /// The same policy in another mode, whatever the layers say.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Policy {
        Policy { mode, ..self }
    }

    /// The same policy with a tool whose author answers for it.
    #[must_use]
    pub fn with_tool(self, tool: Arc<dyn CustomTool>) -> Policy {
        let custom = self.custom.iter().cloned().chain([tool]).collect();
        Policy { custom, ..self }
    }

    /// The same policy with other gates for files.
    #[must_use]
    pub fn with_paths(self, paths: Paths) -> Policy {
        let gates = Arc::new(Gates::new(&paths));
        Policy { paths: Arc::new(paths), gates, ..self }
    }

    /// The same policy with a tool declared as `[[tool]]` does it, whatever else is known of it.
    #[must_use]
    pub fn with_declared(self, tool: &ToolText) -> Policy {
        let tools = self.tools.iter().cloned().chain([Spec::of_text(tool)]).collect();
        Policy { tools, ..self }
    }

    /// The same policy with answers to very calls.
    #[must_use]
    pub fn with_grants(self, grants: Grants) -> Policy {
        Policy { grants: Arc::new(grants), ..self }
    }

    /// The same policy with one more rule; the others are shared, not built again.
    ///
    /// # Errors
    /// The text is no rule, or the list is locked.
    pub fn with_rule(
        self,
        outcome: Outcome,
        text: &str,
        source: Source,
    ) -> Result<Policy, PolicyError> {
        let key = match outcome {
            Outcome::Allow => "rules.allow",
            Outcome::Ask => "rules.ask",
            Outcome::Deny => "rules.deny",
        };
        if self.is_locked(key) {
            return Err(PolicyError::new(format!("`{key}` is locked"), None)
                .with_help("change the layer that locks it"));
        }
        let rule = Rule::parse(text, outcome, source)?;
        let added = self.added.with(rule, &self.tools);
        Ok(Policy { added: Arc::new(added), ..self })
    }

    /// Whether a layer locked this key.
    #[must_use]
    pub fn is_locked(&self, key: &str) -> bool {
        self.locked.iter().any(|locked| {
            key.strip_prefix(locked.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// How many rules there are.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.rules.len() + self.added.len()
    }

    /// The rules, as written, with outcome and source.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().chain(self.added.iter())
    }

    /// Keys of its layers that do not count, and why.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What its author should know: rules that can never match, are shadowed, or are wider than
    /// they look, and keys that do not count.
    #[must_use]
    pub fn lint(&self) -> Vec<Warning> {
        let rules: Vec<&Rule> = self.rules().collect();
        self.warnings.iter().cloned().chain(lint::lint(&rules, &self.tools)).collect()
    }
}

/// The layers with a profile's values behind the layer that has it; none where nobody has it.
#[must_use]
pub fn with_profile(
    layers: &[(Source, PolicyText)],
    name: &str,
) -> Option<Vec<(Source, PolicyText)>> {
    let mut found = false;
    let mut out = Vec::with_capacity(layers.len() + 1);
    for (source, text) in layers {
        out.push((*source, text.clone()));
        for profile in text.profiles.iter().filter(|profile| profile.name == name) {
            found = true;
            out.push((*source, profile.text.clone()));
        }
    }
    found.then_some(out)
}

/// The first profile that is meant for an agent.
#[must_use]
pub fn profile_of<'a>(layers: &'a [(Source, PolicyText)], agent: &str) -> Option<&'a str> {
    layers
        .iter()
        .flat_map(|(_, text)| &text.profiles)
        .find(|profile| profile.agents.iter().any(|glob| crate::glob::matches(glob, agent)))
        .map(|profile| profile.name.as_str())
}

#[cfg(test)]
mod tests;
