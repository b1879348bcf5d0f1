//! `AgentScope`: the body of its `check`, and the decision that answers it.
//!
//! A context is turned into the JSON of a policy file, which the engine reads as any other; what
//! its rules say, how modes are spelled and which bucket a rule stands in is checked here.

pub mod calls;
pub mod context;

use portcullis_engine::call::Call;
use portcullis_engine::verdict::{self as engine, Outcome};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::batch::kind;
use crate::errors::Error;
use crate::explanation::Finding;
use crate::json;
use crate::nearest::nearest;

/// A call with the policy it is judged by.
#[derive(Debug)]
pub struct Check {
    /// The name of the tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// The home of the user, absolute.
    pub home: Option<String>,
    /// The policy, in the shape of a policy file.
    pub policy: Value,
}

impl Check {
    /// The call, with the directory and the home of the process where the body names none.
    #[must_use]
    pub fn call(&self, cwd: &str, home: Option<&str>) -> Call {
        Call {
            tool: self.tool.clone(),
            input: self.input.clone(),
            cwd: self.cwd.clone().unwrap_or_else(|| cwd.to_owned()),
            home: self.home.clone().or_else(|| home.map(str::to_owned)),
            shell: None,
            root: None,
            host: Some("agentscope".to_owned()),
        }
    }
}

/// Reads the body of a `check`.
///
/// # Errors
/// It is not one; the message names the field.
pub fn check(bytes: &[u8]) -> Result<Check, Error> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    let body = json::value(text).map_err(Error::invalid)?;
    let mut body = Fields::new(BODY, body, &["context", "tool_call", "cwd", "home", "tools"])?;
    let call = body.take("tool_call").ok_or_else(|| missing("tool_call"))?;
    let mut call = Fields::new("tool_call", call, &["id", "name", "input"])?;
    let tool = call.text("name")?.ok_or_else(|| missing("tool_call.name"))?;
    call.text("id")?;
    let input = call.take("input").ok_or_else(|| missing("tool_call.input"))?;
    if !input.is_object() {
        return Err(wrong("tool_call.input", "an object", &input));
    }
    Ok(Check {
        tool,
        input,
        cwd: body.directory("cwd")?,
        home: body.directory("home")?,
        policy: policy(body.take("context"), body.take("tools"))?,
    })
}

/// The policy file that says what a context says.
fn policy(context: Option<Value>, tools: Option<Value>) -> Result<Value, Error> {
    let known = ["mode", "working_directories", "allow_rules", "deny_rules", "ask_rules"];
    let context = context.unwrap_or_else(|| Value::Object(Map::new()));
    let mut context = Fields::new("context", context, &known)?;
    let mode = context
        .text("mode")?
        .map_or_else(|| "default".to_owned(), |mode| mode.to_ascii_lowercase().replace('_', "-"));
    let mut workspace = Vec::new();
    if let Some(directories) = context.take("working_directories") {
        let Value::Object(directories) = directories else {
            return Err(wrong("context.working_directories", "an object", &directories));
        };
        for (key, directory) in directories {
            let place = format!("context.working_directories.{key}");
            let mut directory = Fields::new(&place, directory, &["path", "source"])?;
            workspace.push(directory.directory("path")?.unwrap_or(key));
        }
    }
    let mut bucket = |behavior| rules(&mut context, behavior);
    let rules =
        json!({ "allow": bucket("allow")?, "ask": bucket("ask")?, "deny": bucket("deny")? });
    let mut policy = json!({ "mode": mode, "workspace": workspace, "rules": rules });
    if let (Some(tools), Some(policy)) = (tools, policy.as_object_mut()) {
        policy.insert("tool".to_owned(), tools);
    }
    Ok(policy)
}

/// The rules of one bucket, as a policy file writes them.
fn rules(context: &mut Fields, behavior: &str) -> Result<Vec<String>, Error> {
    let bucket = format!("{behavior}_rules");
    let tools = match context.take(&bucket) {
        None => return Ok(Vec::new()),
        Some(Value::Object(tools)) => tools,
        Some(other) => return Err(wrong(&format!("context.{bucket}"), "an object", &other)),
    };
    let mut written = Vec::new();
    for (tool, rules) in tools {
        let place = format!("context.{bucket}.{tool}");
        let Value::Array(rules) = rules else { return Err(wrong(&place, "a list", &rules)) };
        for (index, rule) in rules.into_iter().enumerate() {
            written.push(rule_text(&format!("{place}[{index}]"), &tool, behavior, rule)?);
        }
    }
    Ok(written)
}

fn rule_text(place: &str, tool: &str, behavior: &str, rule: Value) -> Result<String, Error> {
    let known = ["tool_name", "rule_content", "behavior", "source"];
    let mut rule = Fields::new(place, rule, &known)?;
    let absent = |name: &str| Error::invalid(format!("`{place}.{name}` is missing"));
    let name = rule.text("tool_name")?.ok_or_else(|| absent("tool_name"))?;
    if name != tool {
        let message = format!("`{place}.tool_name` is `{name}` and stands under `{tool}`");
        return Err(Error::invalid(message));
    }
    let said = rule.text("behavior")?.ok_or_else(|| absent("behavior"))?;
    if said != behavior {
        let message = format!("`{place}.behavior` is `{said}` and stands in `{behavior}_rules`");
        return Err(Error::invalid(message));
    }
    rule.text("source")?.ok_or_else(|| absent("source"))?;
    match rule.take("rule_content").ok_or_else(|| absent("rule_content"))? {
        Value::Null => Ok(name),
        Value::String(content) if content.is_empty() => Ok(name),
        Value::String(content) => Ok(format!("{name}({content})")),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(wrong(&format!("{place}.rule_content"), "a text or null", &other))
        }
    }
}

/// What the outermost object is called.
const BODY: &str = "the body";

/// An object whose members are taken out one by one.
struct Fields {
    place: String,
    members: Map<String, Value>,
}

impl Fields {
    fn new(place: &str, value: Value, known: &[&str]) -> Result<Fields, Error> {
        let Value::Object(members) = value else { return Err(wrong(place, "an object", &value)) };
        if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
            let way_out = match nearest(name, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            let place = if place == BODY { place.to_owned() } else { format!("`{place}`") };
            return Err(Error::invalid(format!("unknown field `{name}` in {place}; {way_out}")));
        }
        Ok(Fields { place: place.to_owned(), members })
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name)
    }

    fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(&self.full(name), "a text", &other)),
        }
    }

    fn directory(&mut self, name: &str) -> Result<Option<String>, Error> {
        let path = self.text(name)?;
        match &path {
            Some(relative) if !relative.starts_with('/') && !relative.starts_with('~') => {
                let name = self.full(name);
                Err(Error::invalid(format!("`{name}` must be an absolute path, not `{relative}`")))
            }
            Some(_) | None => Ok(path),
        }
    }

    fn full(&self, name: &str) -> String {
        match self.place.as_str() {
            BODY => name.to_owned(),
            place => format!("{place}.{name}"),
        }
    }
}

fn missing(name: &str) -> Error {
    Error::invalid(format!("`{name}` is missing"))
}

fn wrong(name: &str, wanted: &str, found: &Value) -> Error {
    if let (Value::Number(number), "a whole number") = (found, wanted) {
        return Error::invalid(format!("`{name}` must be {wanted} of 0 or more, not `{number}`"));
    }
    Error::invalid(format!("`{name}` must be {wanted}, not {}", kind(found)))
}

/// The answer to a `check`.
pub struct Decision<'a> {
    /// The verdict behind it.
    pub verdict: &'a engine::Verdict,
    /// The input, which an allowed call is executed with.
    pub input: &'a Value,
}

impl Serialize for Decision<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verdict = self.verdict;
        let reason = verdict.reasons.first();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("behavior", verdict.outcome.name())?;
        map.serialize_entry("message", reason.map_or("", |reason| &reason.message))?;
        let code = reason.map_or("", |reason| &*reason.code);
        map.serialize_entry("decision_reason", &code.replace('-', "_"))?;
        if verdict.outcome == Outcome::Ask {
            map.serialize_entry("bypass_immune", &verdict.is_firm)?;
        }
        let suggests = match verdict.outcome {
            Outcome::Ask => true,
            Outcome::Deny => !verdict.suggestions.is_empty(),
            Outcome::Allow => false,
        };
        if suggests {
            let rules: Vec<_> = verdict.suggestions.iter().map(suggested).collect();
            map.serialize_entry("suggested_rules", &rules)?;
        }
        if verdict.outcome == Outcome::Allow {
            map.serialize_entry("updated_input", self.input)?;
        }
        let findings: Vec<_> =
            verdict.acts.iter().flat_map(|act| &act.findings).map(Finding).collect();
        map.serialize_entry("risk", &Risk { tier: verdict.tier.name(), findings })?;
        map.end()
    }
}

#[derive(Serialize)]
struct Risk<'a> {
    tier: &'static str,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct SuggestedRule<'a> {
    tool_name: &'a str,
    rule_content: Option<&'a str>,
    behavior: &'static str,
    source: &'static str,
}

fn suggested(suggestion: &engine::Suggestion) -> SuggestedRule<'_> {
    let (tool_name, rule_content) = match suggestion.rule.split_once('(') {
        Some((tool, content)) => (tool, content.strip_suffix(')')),
        None => (suggestion.rule.as_str(), None),
    };
    SuggestedRule { tool_name, rule_content, behavior: "allow", source: "suggested" }
}
