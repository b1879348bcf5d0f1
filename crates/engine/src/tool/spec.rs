//! The table of tools, and which of its entries a call means.

use std::borrow::Cow;
use std::ops::Deref;

use super::{Condition, Field, Safety, ToolKind, ToolText};
use crate::call::Call;
use crate::glob;

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// Hosts whose tools have no other names than those listed for them.
const CLOSED: [&str; 1] = ["agentbot"];

/// How many ways to split an MCP name are tried.
const SPLITS: usize = 16;

/// Words of the data, or of a policy.
type Words = Cow<'static, [Cow<'static, str>]>;

/// What is known of one tool of some hosts.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the data")]
pub struct Spec {
    /// Its name, or a glob over names.
    pub name: Cow<'static, str>,
    /// Who uses it; none or `*` for everybody.
    pub hosts: Words,
    /// What kind of thing it does.
    pub kind: ToolKind,
    /// Whether that was said; a policy may only add to what the table knows.
    pub has_kind: bool,
    /// The name rules use.
    pub rule: Cow<'static, str>,
    /// A second name rules may use.
    pub also: Option<Cow<'static, str>>,
    /// Which of its input's fields say what.
    pub fields: Cow<'static, [(Field, Words)]>,
    /// Whether its commands are for PowerShell or cmd.
    pub is_foreign_shell: bool,
    /// Whether it looks at names only.
    pub is_listing: bool,
    /// Whether it touches nothing but its host's own list, plan or question.
    pub is_read_only: bool,
    /// The field without which it is read-only.
    pub read_only_unless: Option<Cow<'static, str>>,
    /// Conditions under which it is read-only.
    pub read_only_when: Vec<Condition>,
    /// What a policy wants looked at.
    pub safety: Vec<Safety>,
    /// Where an MCP name is split into server and tool.
    pub separator: Option<Cow<'static, str>>,
}

impl Spec {
    /// What a policy declares.
    #[must_use]
    pub fn of_text(text: &ToolText) -> Spec {
        let owned = |texts: &[String]| -> Words {
            texts.iter().map(|text| Cow::Owned(text.clone())).collect::<Vec<_>>().into()
        };
        let fields: Vec<_> =
            text.fields.iter().map(|(field, names)| (*field, owned(names))).collect();
        Spec {
            name: text.name.clone().into(),
            hosts: owned(&text.hosts),
            kind: text.kind.unwrap_or_default(),
            has_kind: text.kind.is_some(),
            rule: text.rule.clone().unwrap_or_else(|| rule_of(text)).into(),
            also: None,
            fields: fields.into(),
            is_foreign_shell: text.is_foreign_shell,
            is_listing: text.is_listing,
            is_read_only: text.is_read_only,
            read_only_unless: None,
            read_only_when: text.read_only_when.clone(),
            safety: text.safety.clone(),
            separator: None,
        }
    }

    /// The host's names of a field, of which the first that is present counts.
    #[must_use]
    pub fn field(&self, field: Field) -> &[Cow<'static, str>] {
        self.fields.iter().find(|(known, _)| *known == field).map_or(&[], |(_, names)| names)
    }

    /// Whether it has this name for another field than these.
    pub(super) fn has_field_besides(&self, name: &str, fields: &[Field]) -> bool {
        let mut others = self.fields.iter().filter(|(known, _)| !fields.contains(known));
        others.any(|(_, names)| names.iter().any(|known| known == name))
    }

    fn is_for(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known == host)
    }

    fn family(&self) -> Family {
        match self.kind {
            ToolKind::Shell if self.is_foreign_shell => Family::Whole,
            ToolKind::Shell => Family::Words,
            ToolKind::Read
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Patch
            | ToolKind::Search => Family::Paths,
            ToolKind::Fetch | ToolKind::Agent | ToolKind::Mcp | ToolKind::Other => Family::Inputs,
        }
    }
}

/// Our name for tools of a kind, where we have one.
fn rule_of(text: &ToolText) -> String {
    let ours = match text.kind.unwrap_or_default() {
        ToolKind::Shell if text.is_foreign_shell => "PowerShell",
        ToolKind::Shell => "Bash",
        ToolKind::Read => "Read",
        ToolKind::Write => "Write",
        ToolKind::Edit => "Edit",
        ToolKind::Patch => "Patch",
        ToolKind::Search if text.is_listing => "Glob",
        ToolKind::Search => "Grep",
        ToolKind::Fetch => "WebFetch",
        ToolKind::Agent => "Agent",
        ToolKind::Mcp | ToolKind::Other => &text.name,
    };
    ours.to_owned()
}

/// How the content of a rule is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// As words of a command.
    Words,
    /// As a glob over paths.
    Paths,
    /// As an input or one of its fields.
    Inputs,
    /// Not at all: only rules for the whole tool count.
    Whole,
}

/// How contents of rules for a tool name, or a glob over names, are read.
pub(crate) fn families(name: &str, tools: &[Spec]) -> Vec<Family> {
    let is_glob = name.contains(['*', '?', '[']);
    let is_named = |known: &str| known == name || is_glob && glob::matches(name, known);
    let mut found = Vec::new();
    for spec in tools.iter().filter(|spec| spec.has_kind).chain(EXACT) {
        let fits = is_named(&spec.name)
            || is_named(&spec.rule)
            || spec.also.as_deref().is_some_and(is_named)
            || spec.name.contains('*') && glob::matches(&spec.name, name);
        if fits && !found.contains(&spec.family()) {
            found.push(spec.family());
        }
    }
    if found.is_empty() || is_glob && !found.contains(&Family::Inputs) {
        found.push(Family::Inputs);
    }
    found
}

/// An entry that a call may mean.
pub(crate) enum Reading<'a> {
    /// As it is listed, or declared.
    Listed(&'a Spec),
    /// With what a policy adds to it, or where nothing is known of the tool.
    Own(Box<Spec>),
}

impl Deref for Reading<'_> {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        match self {
            Reading::Listed(spec) => spec,
            Reading::Own(spec) => spec,
        }
    }
}

/// The entries a call may mean; of several readings the strictest verdict counts.
pub(crate) fn readings<'a>(call: &Call, tools: &'a [Spec]) -> Vec<Reading<'a>> {
    let host = call.host.as_deref();
    let fits = |spec: &Spec| {
        spec.hosts.is_empty() || spec.is_for("*") || host.is_some_and(|host| spec.is_for(host))
    };
    let is_named = |spec: &&Spec| spec.name == call.tool || glob::matches(&spec.name, &call.tool);
    let declared: Vec<&Spec> = tools.iter().filter(is_named).filter(|spec| fits(spec)).collect();
    if let Some(spec) = declared.iter().rev().find(|spec| spec.has_kind) {
        return vec![Reading::Listed(spec)];
    }
    let mut found: Vec<Reading<'a>> = listed(&call.tool, host);
    if found.is_empty() {
        let name: Cow<'static, str> = call.tool.clone().into();
        let spec = Spec { rule: name.clone(), name, ..Spec::default() };
        found.push(Reading::Own(Box::new(spec)));
    }
    for spec in declared {
        for reading in &mut found {
            let mut own = (**reading).clone();
            own.is_read_only |= spec.is_read_only;
            own.read_only_when.extend_from_slice(&spec.read_only_when);
            own.safety.extend_from_slice(&spec.safety);
            *reading = Reading::Own(Box::new(own));
        }
    }
    found
}

/// The entries of the table for a name: the host's own, else everybody's, else anybody's.
fn listed(name: &str, host: Option<&str>) -> Vec<Reading<'static>> {
    let start = EXACT.partition_point(|spec| *spec.name < *name);
    let behind = EXACT.get(start..).unwrap_or_default();
    let count = behind.iter().take_while(|spec| *spec.name == *name).count();
    let named = behind.get(..count).unwrap_or_default();
    let known = EXACT.iter().chain(GLOBS);
    let host = host.filter(|host| known.clone().any(|spec| spec.is_for(host)));
    let fitting = |host: &str| -> Vec<Reading<'static>> {
        let fits = |spec: &&Spec| glob::matches(&spec.name, name);
        let fitting = GLOBS.iter().filter(|spec| spec.is_for(host)).find(fits);
        fitting.into_iter().map(Reading::Listed).collect()
    };
    let pick_or_fit = |host: &str| {
        let picked = named.iter().filter(|spec| spec.is_for(host));
        let picked: Vec<Reading<'static>> = picked.map(Reading::Listed).collect();
        if picked.is_empty() { fitting(host) } else { picked }
    };
    if let Some(host) = host {
        let own = pick_or_fit(host);
        if !own.is_empty() || CLOSED.contains(&host) {
            return own;
        }
    }
    let everybodys = pick_or_fit("*");
    if everybodys.is_empty() && host.is_none() {
        return named.iter().map(Reading::Listed).collect();
    }
    everybodys
}

/// The names under which rules may speak about a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names<'a> {
    /// Each of them is a name of the call.
    pub(crate) sure: Vec<Cow<'a, str>>,
    /// One of them is, and it is not known which.
    pub(crate) perhaps: Vec<String>,
}

/// The names of a call under one reading.
pub(crate) fn names<'a>(spec: &'a Spec, call: &'a Call) -> Names<'a> {
    let mut names = Names { sure: vec![Cow::Borrowed(&*call.tool)], perhaps: Vec::new() };
    if spec.kind != ToolKind::Mcp && *spec.rule != *call.tool {
        names.sure.push(Cow::Borrowed(&*spec.rule));
    }
    if let Some(also) = spec.also.as_deref().filter(|also| **also != *call.tool) {
        names.sure.push(Cow::Borrowed(also));
    }
    if spec.kind != ToolKind::Mcp {
        return names;
    }
    let text = |field: Field| {
        let mut given = spec.field(field).iter().map(|name| super::member(&call.input, name));
        given.find_map(|value| value.and_then(|value| value.as_str()).map(str::to_owned))
    };
    if let Some(server) = text(Field::Server) {
        let tool = text(Field::Tool).unwrap_or_else(|| call.tool.clone());
        names.sure.push(format!("mcp__{server}__{tool}").into());
    }
    if let Some(separator) = spec.separator.as_deref().filter(|separator| *separator != "__") {
        let fixed = spec.name.split('*').next().unwrap_or_default();
        let rest = call.tool.strip_prefix(fixed).unwrap_or(&call.tool);
        if !fixed.is_empty() && !rest.contains(separator) {
            // The host says that it is one, and not of which server.
            names.sure.push(format!("mcp____{rest}").into());
        }
        for (at, _) in rest.match_indices(separator).take(SPLITS) {
            let (server, tool) = (rest.get(..at), rest.get(at + separator.len()..));
            if let (Some(server), Some(tool)) = (server, tool) {
                names.perhaps.push(format!("mcp__{server}__{tool}"));
            }
        }
    }
    names
}
