//! Contexts: the policy of a session, there and back.

use std::collections::HashSet;

use portcullis_engine::policy::Source;
use portcullis_engine::rule::Rule;
use portcullis_engine::{Mode, Policy};
use serde_json::{Map, Value, json};

use super::{policy, wrong};
use crate::errors::Error;
use crate::json;

/// The members of a context.
const MEMBERS: [&str; 5] =
    ["mode", "working_directories", "allow_rules", "deny_rules", "ask_rules"];

/// Reads a context and says it as a policy: whole, or only the parts it has.
///
/// # Errors
/// It is no context; the message names the field.
pub fn context(bytes: &[u8]) -> Result<Value, Error> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    let context = json::value(text).map_err(Error::invalid)?;
    let Value::Object(members) = &context else {
        return Err(wrong("context", "an object", &context));
    };
    let has = MEMBERS.map(|name| members.contains_key(name));
    let mut whole = policy(Some(context.clone()), None)?;
    let [mode, workspace, allow, deny, ask] = has;
    if let Some(members) = whole.as_object_mut() {
        if !mode {
            members.remove("mode");
        }
        if !workspace {
            members.remove("workspace");
        }
        if let Some(rules) = members.get_mut("rules").and_then(Value::as_object_mut) {
            for (name, is_there) in [("allow", allow), ("deny", deny), ("ask", ask)] {
                if !is_there {
                    rules.remove(name);
                }
            }
            if rules.is_empty() {
                members.remove("rules");
            }
        }
    }
    Ok(whole)
}

/// A policy of a session with parts of it replaced.
#[must_use]
pub fn patched(own: Value, parts: &Value) -> Value {
    let mut own = if own.is_object() { own } else { json!({}) };
    let (Some(members), Some(parts)) = (own.as_object_mut(), parts.as_object()) else {
        return own;
    };
    for (name, part) in parts {
        let rules = members.get_mut(name).and_then(Value::as_object_mut);
        match (rules, part.as_object()) {
            (Some(rules), Some(part)) => {
                rules.extend(part.iter().map(|(name, list)| (name.clone(), list.clone())));
            }
            _ => {
                members.insert(name.clone(), part.clone());
            }
        }
    }
    own
}

/// A policy as a context.
#[must_use]
pub fn of_policy(policy: &Policy, root: Option<&str>) -> Value {
    let mut directories = Map::new();
    let workspace = policy.workspace.iter().map(|path| (path.as_str(), "userSettings"));
    for (path, source) in workspace.chain(root.map(|root| (root, "session"))) {
        directories.insert(path.to_owned(), json!({ "path": path, "source": source }));
    }
    let bucket = |behavior: &str| {
        let mut tools: Map<String, Value> = Map::new();
        let meant = || policy.rules().filter(|rule| rule.outcome.name() == behavior);
        // Who puts back what was read puts the rules of files back too: they stay the files'.
        let of_files: HashSet<&str> =
            meant().filter(|rule| rule.source != Source::Call).map(|rule| &*rule.text).collect();
        let is_new = |rule: &&Rule| rule.source != Source::Call || !of_files.contains(&*rule.text);
        for rule in meant().filter(is_new) {
            let (tool, content) = match rule.text.split_once('(') {
                Some((tool, content)) => (tool, content.strip_suffix(')')),
                None => (&*rule.text, None),
            };
            let shape = json!({
                "tool_name": tool,
                "rule_content": content,
                "behavior": behavior,
                "source": source(rule.source),
            });
            let list = tools.entry(tool).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(shape);
            }
        }
        tools
    };
    json!({
        "mode": mode(policy.mode),
        "working_directories": directories,
        "allow_rules": bucket("allow"),
        "deny_rules": bucket("deny"),
        "ask_rules": bucket("ask"),
    })
}

fn mode(mode: Mode) -> String {
    mode.name().replace('-', "_")
}

const fn source(source: Source) -> &'static str {
    match source {
        Source::BuiltIn => "builtIn",
        Source::Organization => "policySettings",
        Source::User => "userSettings",
        Source::Project => "projectSettings",
        Source::Grant => "suggested",
        Source::Call => "session",
    }
}
