//! What an agent asks its editor for, as a call that can be judged.
//!
//! A permission request carries the tool's input or does not; titles and contents are words that
//! the agent wrote for people. What cannot be bound to an input is at best asked about.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The tool under which a person is asked about a call that is known by its words alone.
pub const UNBOUND: &str = "AcpToolCall";

/// What `session/request_permission` is called with.
#[derive(Debug, Deserialize)]
pub struct Permission {
    /// The session.
    #[serde(rename = "sessionId")]
    pub session: String,
    /// The call.
    #[serde(rename = "toolCall")]
    pub call: ToolCall,
    /// What may be answered.
    pub options: Vec<Choice>,
}

/// The call that permission is asked for.
#[derive(Debug, Deserialize)]
pub struct ToolCall {
    /// Its name.
    #[serde(rename = "toolCallId")]
    pub id: String,
    title: Option<String>,
    kind: Option<String>,
    #[serde(rename = "rawInput")]
    input: Option<Value>,
    content: Option<Value>,
}

/// One answer that an agent offers.
#[derive(Clone, Debug, Deserialize)]
pub struct Choice {
    /// Its id, in the agent's words.
    #[serde(rename = "optionId")]
    pub id: String,
    /// What it means.
    pub kind: String,
}

/// A call to judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The tool, in our words.
    pub tool: &'static str,
    /// Its input.
    pub input: Value,
    /// Whether the input is what would run; else it is only what was said about it.
    pub is_bound: bool,
}

impl ToolCall {
    /// What a person reads about it.
    pub fn title(&self) -> Option<String> {
        self.title.clone()
    }

    /// The call, by its input where there is one.
    pub fn judged(&self) -> Judged {
        let input = self.input.as_ref().and_then(Value::as_object).filter(|it| !it.is_empty());
        let kind = self.kind.as_deref().unwrap_or("other");
        if let Some((tool, input)) = input.and_then(|input| known(kind, input)) {
            return Judged { tool, input, is_bound: true };
        }
        let mut words = json!({ "unbound": input.is_none(), "kind": kind });
        let others = [
            ("title", self.title.clone().map(Value::from)),
            ("content", self.content.clone()),
            ("input", input.cloned().map(Value::Object)),
        ];
        if let Some(words) = words.as_object_mut() {
            for (name, value) in others {
                words.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
        Judged { tool: UNBOUND, input: words, is_bound: false }
    }

    /// What its words would be as a call, so that a deny rule still bites.
    pub fn guess(&self) -> Option<(String, Value)> {
        let title = self.title.as_deref()?.trim().trim_matches('`');
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || "_-./:".contains(sign);
        match self.kind.as_deref() {
            Some("execute") => Some(("Bash".to_owned(), json!({ "command": title }))),
            Some(_) | None if !title.is_empty() && title.chars().all(is_name) => {
                let input = self.input.clone().filter(Value::is_object);
                Some((title.to_owned(), input.unwrap_or_else(|| json!({}))))
            }
            Some(_) | None => None,
        }
    }
}

/// What may stand beside a command without changing what it does.
const BESIDE_COMMAND: &[&str] = &[
    "command",
    "cmd",
    "args",
    "cwd",
    "description",
    "timeout",
    "timeout_ms",
    "timeoutMs",
    "run_in_background",
    "is_background",
    "background",
    "call_id",
    "turn_id",
    "reason",
    "risk",
    "justification",
    "parsed_cmd",
];

/// What may stand beside a path that is read, or written.
const BESIDE_PATH: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "abs_path",
    "absolute_path",
    "description",
    "offset",
    "limit",
    "line",
    "lines",
];
const BESIDE_TEXT: &[&str] = &[
    "content",
    "file_text",
    "old_string",
    "oldString",
    "new_string",
    "newString",
    "replace_all",
    "replaceAll",
];

/// What may stand beside an address that is fetched.
const BESIDE_URL: &[&str] = &["url", "prompt", "description", "format", "timeout"];

/// A call whose input says what it does: its kind fits, and no other member could change it.
fn known(kind: &str, input: &Map<String, Value>) -> Option<(&'static str, Value)> {
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(*name)?.as_str());
    let has_only = |names: &[&[&str]]| {
        input.keys().all(|name| names.iter().any(|names| names.contains(&name.as_str())))
    };
    let path = text(&["file_path", "filePath", "path", "abs_path", "absolute_path"]);
    match (kind, path, text(&["url"])) {
        ("execute", ..) if has_only(&[BESIDE_COMMAND]) => command(input),
        ("read", Some(path), _) if has_only(&[BESIDE_PATH]) => {
            Some(("Read", json!({ "file_path": path })))
        }
        // A removal and a move have other paths than one; they are asked about.
        ("edit", Some(path), _) if has_only(&[BESIDE_PATH, BESIDE_TEXT]) => {
            let content = text(&["content", "new_string", "newString", "file_text"]);
            let tool = if input.contains_key("content") { "Write" } else { "Edit" };
            let name = if tool == "Write" { "content" } else { "new_string" };
            Some((tool, json!({ "file_path": path, name: content.unwrap_or_default() })))
        }
        ("fetch", _, Some(url)) if has_only(&[BESIDE_URL]) => {
            Some(("WebFetch", json!({ "url": url })))
        }
        _ => None,
    }
}

/// A command line: a text, or words, and what it is started with.
fn command(input: &Map<String, Value>) -> Option<(&'static str, Value)> {
    let list = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let ((Some(said), None) | (None, Some(said))) = (input.get("command"), input.get("cmd")) else {
        return None;
    };
    let mut line = if let Some(text) = said.as_str() {
        text.to_owned()
    } else {
        // What is already `sh -c TEXT` is a command line by itself; all of it is judged.
        let words = list(said).filter(|words| !words.is_empty())?;
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    };
    for argument in input.get("args").map_or_else(|| Some(Vec::new()), list)? {
        line.push(' ');
        line.push_str(&quoted(&argument));
    }
    let mut call = json!({ "command": line });
    if let (Some(cwd), Some(call)) = (input.get("cwd"), call.as_object_mut()) {
        call.insert("cwd".to_owned(), cwd.as_str()?.into());
    }
    Some(("Bash", call))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./:=@%+,".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A request of an agent that is itself an act: reading, writing, or starting a program.
pub fn act(method: &str, params: &Value) -> Option<Result<Judged, &'static str>> {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let path = || text("path").ok_or("`path` is missing");
    let judged = match method {
        "fs/read_text_file" => path().map(|path| ("Read", json!({ "file_path": path }))),
        "fs/write_text_file" => path().and_then(|path| {
            let content = text("content").ok_or("`content` is missing")?;
            Ok(("Write", json!({ "file_path": path, "content": content })))
        }),
        "terminal/create" => terminal(params).map(|input| ("Bash", input)),
        _ => return None,
    };
    Some(judged.map(|(tool, input)| Judged { tool, input, is_bound: true }))
}

fn terminal(params: &Value) -> Result<Value, &'static str> {
    let command = params.get("command").and_then(Value::as_str).ok_or("`command` is missing")?;
    let list = |name: &str| match params.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => value.as_array().cloned().ok_or("a list is none"),
    };
    let mut line = String::new();
    for variable in list("env")? {
        let part = |name: &str| variable.get(name).and_then(Value::as_str);
        let (Some(name), Some(value)) = (part("name"), part("value")) else {
            return Err("`env` is not of its shape");
        };
        if name.is_empty() || !name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
        {
            return Err("`env` names no variable");
        }
        line.extend([name, "=", &quoted(value), " "]);
    }
    // Without arguments editors hand the text to a shell; with them it is the name of a program.
    let arguments = list("args")?;
    line.push_str(command);
    for argument in &arguments {
        line.push(' ');
        line.push_str(&quoted(argument.as_str().ok_or("`args` holds no text")?));
    }
    let mut input = json!({ "command": line });
    if let (Some(cwd), Some(input)) =
        (params.get("cwd").and_then(Value::as_str), input.as_object_mut())
    {
        input.insert("cwd".to_owned(), cwd.into());
    }
    Ok(input)
}

/// The id of the option of a kind.
pub fn option<'a>(options: &'a [Choice], kind: &str) -> Option<&'a str> {
    options.iter().find(|option| option.kind == kind).map(|option| option.id.as_str())
}

/// The result that chooses an option; that nothing was chosen where there is none.
pub fn outcome(id: Option<&str>) -> Value {
    match id {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(call: Value) -> Judged {
        serde_json::from_value::<ToolCall>(call).unwrap().judged()
    }

    #[test]
    fn a_call_is_judged_by_its_input() {
        #[rustfmt::skip]
        let cases = [
            (json!({ "command": "ls -l" }),                          "execute", "Bash",  true),
            (json!({ "command": ["rm", "-rf", "a b"] }),             "execute", "Bash",  true),
            (json!({ "command": "git", "args": ["push"] }),          "execute", "Bash",  true),
            (json!({ "command": "git", "args": "push" }),            "execute", UNBOUND, false),
            (json!({ "command": "ls", "env": { "A": "b" } }),        "execute", UNBOUND, false),
            (json!({ "command": "ls", "cmd": "rm -rf a" }),          "execute", UNBOUND, false),
            (json!({ "command": "ls", "cwd": 1 }),                   "execute", UNBOUND, false),
            (json!({ "command": [] }),                               "execute", UNBOUND, false),
            (json!({ "command": "date", "target": "production" }),   "other",   UNBOUND, false),
            (json!({ "path": "/x", "then": "send" }),                "read",    UNBOUND, false),
            (json!({ "url": "http://x/", "body": "y" }),             "fetch",   UNBOUND, false),
            (json!({ "file_path": "/x", "content": "y" }),           "edit",    "Write", true),
            (json!({ "file_path": "/x", "new_string": "y" }),        "edit",    "Edit",  true),
            (json!({ "path": "/x" }),                                "read",    "Read",  true),
            (json!({ "url": "http://x/" }),                          "fetch",   "WebFetch", true),
            (json!({ "path": "/x" }),                                "delete",  UNBOUND, false),
            (json!({ "query": "x" }),                                "other",   UNBOUND, false),
            (json!(null),                                            "execute", UNBOUND, false),
        ];
        for (input, kind, tool, is_bound) in cases {
            let call = json!({ "toolCallId": "1", "title": "t", "kind": kind, "rawInput": input });
            let judged = judged(call);
            assert_eq!((judged.tool, judged.is_bound), (tool, is_bound), "{kind} {input}");
        }
        let executed = |input: Value| {
            judged(json!({ "toolCallId": "1", "kind": "execute", "rawInput": input }))
        };
        let words = executed(json!({ "command": ["rm", "a b", "$x"] }));
        assert_eq!(words.input["command"], "rm 'a b' '$x'");
        let pushed = executed(json!({ "command": "git", "args": ["push", "-f; x"], "cwd": "/w" }));
        assert_eq!(pushed.input, json!({ "command": "git push '-f; x'", "cwd": "/w" }));
    }

    #[test]
    fn a_terminal_is_a_command_with_its_variables() {
        let params = json!({
            "command": "make", "args": ["all", "X=$(id)"], "cwd": "/w",
            "env": [{ "name": "LD_PRELOAD", "value": "a b" }],
        });
        let judged = act("terminal/create", &params).unwrap().unwrap();
        assert_eq!(judged.input["command"], "LD_PRELOAD='a b' make all 'X=$(id)'");
        assert!(act("terminal/create", &json!({})).unwrap().is_err());
        assert!(act("terminal/output", &json!({})).is_none(), "no act");
    }

    #[test]
    fn recorded_requests_are_understood() {
        // As Claude's agent sends it: with the input. Gemini CLI sends words alone.
        let claude = json!({
            "options": [
                { "kind": "allow_always", "name": "Always Allow", "optionId": "allow_always" },
                { "kind": "allow_once", "name": "Allow", "optionId": "allow" },
                { "kind": "reject_once", "name": "Reject", "optionId": "reject" },
            ],
            "sessionId": "00000000-0000-4000-8000-000000000043",
            "toolCall": {
                "toolCallId": "toolu_fixture_0_0",
                "rawInput": { "command": "echo hi > notes.txt", "description": "Write notes" },
                "title": "echo hi > notes.txt", "kind": "execute",
                "content": [{ "type": "content", "content": { "type": "text", "text": "Write notes" } }],
            },
        });
        let gemini = json!({
            "sessionId": "00000000-0000-4000-8000-000000000044",
            "options": [
                { "optionId": "proceed_once", "name": "Allow", "kind": "allow_once" },
                { "optionId": "cancel", "name": "Reject", "kind": "reject_once" },
            ],
            "toolCall": {
                "toolCallId": "run_shell_command_1700000000000_0", "status": "pending",
                "title": "echo hi > notes.txt", "content": [], "locations": [], "kind": "execute",
            },
        });
        let claude: Permission = serde_json::from_value(claude).unwrap();
        let judged = claude.call.judged();
        assert_eq!(judged.input, json!({ "command": "echo hi > notes.txt" }));
        assert_eq!(option(&claude.options, "allow_once"), Some("allow"));
        let gemini: Permission = serde_json::from_value(gemini).unwrap();
        assert!(!gemini.call.judged().is_bound);
        let (tool, input) = gemini.call.guess().unwrap();
        assert_eq!((tool.as_str(), &input["command"]), ("Bash", &json!("echo hi > notes.txt")));
        assert_eq!(option(&gemini.options, "reject_once"), Some("cancel"));
    }

    #[test]
    fn options_are_chosen_by_what_they_mean() {
        let options: Vec<Choice> = serde_json::from_value(json!([
            { "optionId": "proceed_always", "name": "x", "kind": "allow_always" },
            { "optionId": "proceed_once", "name": "x", "kind": "allow_once" },
        ]))
        .unwrap();
        assert_eq!(option(&options, "allow_once"), Some("proceed_once"));
        assert_eq!(outcome(option(&options, "reject_once"))["outcome"]["outcome"], "cancelled");
    }
}
