//! Tools that a policy declares.

use super::node::{Node, Value};
use super::table::{Table, wrong_sort};
use crate::error::PolicyError;
use crate::tool::{Condition, Field, Safety, Test, ToolKind, ToolText};
use crate::verdict::Outcome;

const TOOL: [&str; 11] = [
    "name",
    "hosts",
    "kind",
    "rule",
    "fields",
    "shell",
    "listing",
    "read_only",
    "read_only_when",
    "safety",
    "about",
];

const TESTS: [&str; 9] =
    ["field", "equals", "one_of", "prefix", "suffix", "contains", "glob", "present", "absent"];

/// Reads one `[[tool]]`.
pub(super) fn tool(node: &Node) -> Result<ToolText, PolicyError> {
    let table = Table::open(node, "tool", &TOOL)?;
    let kinds: Vec<(&str, ToolKind)> =
        ToolKind::ALL.into_iter().map(|kind| (kind.name(), kind)).collect();
    let mut fields = Vec::new();
    if let Some(given) = table.get("fields") {
        let known: Vec<&str> = Field::ALL.into_iter().map(Field::name).collect();
        let given = Table::open(given, "tool.fields", &known)?;
        for field in Field::ALL {
            let names = match given.get(field.name()) {
                None => continue,
                Some(Node { value: Value::Text(name), .. }) => vec![name.clone()],
                Some(_) => given.texts(field.name())?.unwrap_or_default(),
            };
            fields.push((field, names));
        }
    }
    table.text("about")?;
    let mut safety = Vec::new();
    for item in table.list("safety")?.unwrap_or_default() {
        safety.push(self::safety(item)?);
    }
    let mut read_only_when = Vec::new();
    for item in table.list("read_only_when")?.unwrap_or_default() {
        read_only_when.push(condition("tool.read_only_when", item)?);
    }
    Ok(ToolText {
        name: table.required("name")?,
        hosts: table.texts("hosts")?.unwrap_or_default(),
        kind: table.choice("kind", &kinds)?,
        rule: table.text("rule")?,
        fields,
        is_foreign_shell: table
            .choice("shell", &[("bash", false), ("powershell", true), ("cmd", true)])?
            .unwrap_or_default(),
        is_listing: table.bool("listing")?.unwrap_or_default(),
        is_read_only: table.bool("read_only")?.unwrap_or_default(),
        read_only_when,
        safety,
    })
}

fn safety(node: &Node) -> Result<Safety, PolicyError> {
    let table = Table::open(node, "tool.safety", &["when", "outcome", "firm", "message"])?;
    let when = match table.get("when") {
        None => Vec::new(),
        Some(Node { value: Value::List(items), .. }) => items
            .iter()
            .map(|item| condition("tool.safety.when", item))
            .collect::<Result<_, _>>()?,
        Some(one) => vec![condition("tool.safety.when", one)?],
    };
    let outcome = table.choice("outcome", &[("ask", Outcome::Ask), ("deny", Outcome::Deny)])?;
    Ok(Safety {
        when,
        outcome: outcome.unwrap_or(Outcome::Ask),
        is_firm: table.bool("firm")?.unwrap_or_default(),
        message: table.required("message")?,
    })
}

fn condition(name: &str, node: &Node) -> Result<Condition, PolicyError> {
    let table = Table::open(node, name, &TESTS)?;
    let mut tests = Vec::new();
    if let Some(value) = table.get("equals") {
        tests.push(Test::OneOf(vec![value.to_json()]));
    }
    if let Some(items) = table.list("one_of")? {
        tests.push(Test::OneOf(items.iter().map(Node::to_json).collect()));
    }
    let add = |key: &str, test: fn(String) -> Test, tests: &mut Vec<Test>| {
        table.text(key).map(|given| tests.extend(given.map(test)))
    };
    add("prefix", Test::Prefix, &mut tests)?;
    add("suffix", Test::Suffix, &mut tests)?;
    add("contains", Test::Contains, &mut tests)?;
    add("glob", Test::Glob, &mut tests)?;
    if let Some(is_present) = table.bool("present")? {
        tests.push(Test::Present(is_present));
    }
    if let Some(is_absent) = table.bool("absent")? {
        tests.push(Test::Present(!is_absent));
    }
    if tests.is_empty() {
        let error = wrong_sort(name, "a condition", node);
        return Err(PolicyError { message: format!("`{name}` tests nothing"), ..error }.with_help(
            "add `equals`, `one_of`, `prefix`, `suffix`, `contains`, `glob`, `present` or `absent`",
        ));
    }
    Ok(Condition { field: table.required("field")?, tests })
}
