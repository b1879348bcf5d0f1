//! Rules of other systems, imported: what each became, and that nothing gets wider.

#![cfg(test)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A directory, gone when the test is over.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("pclm-{}-{count}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Place(root)
    }

    fn says(&self, arguments: &[&str]) -> (String, String, i32) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for (name, _) in std::env::vars() {
            if name.starts_with("PORTCULLIS_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", &self.0).current_dir(&self.0).args(arguments).stdin(Stdio::null());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A source, a file, its text, and of each rule: a part of it, its fate, and what it became.
type Case<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str, &'a str)]);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("claude", "settings.json", r#"{ // mine
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Bash(git diff *)", "Bash(git * main)", "Bash(python:*)", "Edit(src/**)", "Read(//etc/hosts)", "mcp__files", "WebFetch(domain:example.com)"],
    "ask": ["Bash(git push:*)"],
    "deny": ["Bash(git * --force)", "Read(.env)", "Edit(~/.ssh/**)", "Agent(model:opus)"],
    "additionalDirectories": ["/srv/data"],
    "defaultMode": "acceptEdits"
  }
}"#, &[
        ("Bash(npm run test:*)", "exact", "allow Bash(npm run test:*)"), ("Bash(git diff *)", "exact", "allow Bash(git diff:*)"),
        ("Bash(git * main)", "narrowed", "allow Bash(git * main)"), ("Bash(python:*)", "downgraded", "ask Bash(python:*)"),
        ("Edit(src/**)", "narrowed", "allow Edit(src/**)"), ("Read(//etc/hosts)", "exact", "allow Read(/etc/hosts)"),
        ("mcp__files", "exact", "allow mcp__files__*"), ("WebFetch(domain:example.com)", "exact", "allow WebFetch(domain:example.com)"),
        ("Bash(git push:*)", "exact", "ask Bash(git push:*)"), ("Bash(git * --force)", "partial", "deny Bash(git * --force)"),
        ("Read(.env)", "partial", "deny Read|Grep|Glob(**/.env)"), ("Edit(~/.ssh/**)", "exact", "deny Edit|Write(~/.ssh/**)"),
        ("Agent(model:opus)", "exact", "deny Agent(model:opus)"),
        ("/srv/data", "exact", "workspace /srv/data"), ("defaultMode", "exact", "mode = \"accept-edits\""),
    ]),
    ("codex", "default.rules", r#"# mine
prefix_rule(
    pattern = ["git", ["status", "log"]],
    decision = "allow", # reading
    match = ["git status"],
    not_match = ["git push"],
)
prefix_rule(pattern=["curl"], decision="prompt", not_match=["nice curl x"])
prefix_rule(pattern=["touch"], decision="allow", not_match=["touch x"])
prefix_rule(pattern=["rm"], decision="forbidden", justification="use trash")
prefix_rule(pattern=["bash", "-c"], decision="allow")
host_executable(name="rm", paths=["/bin/rm"])
network_rule(host="example.com", decision="allow")
load("//x.star", "y")
prefix_rule(pattern=make("a"), decision="allow")
"#, &[
        ("\"status\", \"log\"", "exact", "allow Bash(git status:*), allow Bash(git log:*)"),
        ("nice curl x", "widened", "ask Bash(curl:*)"), ("touch x", "unmapped", ""),
        ("use trash", "exact", "deny Bash(rm:*), deny Bash(/bin/rm:*)"), ("\"bash\", \"-c\"", "downgraded", "ask Bash(bash -c:*)"),
        ("host_executable", "exact", ""), ("network_rule", "partial", "allow WebFetch(domain:example.com)"),
        ("load(", "unmapped", ""), ("make(", "unmapped", ""),
    ]),
    ("gemini", "rules.toml", r#"
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git ", "npm test"]
decision = "allow"
priority = 10
[[rule]]
commandPrefix = "rm"
decision = "deny"
priority = 5
[[rule]]
commandPrefix = "rm -i"
decision = "allow"
priority = 50
[[rule]]
mcpName = "files"
toolName = "touch"
decision = "ask_user"
[[rule]]
toolName = "write_file"
argsPattern = "x"
decision = "deny"
"#, &[
        ("npm test", "narrowed", "allow Bash(git:*), allow Bash(npm test:*)"), ("\"rm\"", "partial", "deny Bash(rm:*)"),
        ("rm -i", "unmapped", ""), ("touch", "exact", "ask mcp__files__touch"), ("argsPattern", "unmapped", ""),
    ]),
    ("opencode", "opencode.json", r#"{ "permission": {
  "edit": { "*": "ask", "src/**": "allow", "secrets/**": "deny" },
  "bash": { "git push *": "deny", "git push origin *": "allow", "ls?": "allow", "npm test*": "allow" },
  "webfetch": "deny", "doom_loop": "ask", "external_directory": { "/srv/x/**": "allow" }
} }"#, &[
        ("\"edit\"", "exact", "mode = \"default\""), ("src/**", "exact", "allow Edit|Write(src/**)"), ("secrets/**", "exact", "deny Edit|Write(secrets/**)"),
        ("git push *: deny", "exact", "deny Bash(git push:*)"), ("git push origin *", "unmapped", ""), ("ls?", "unmapped", ""),
        ("npm test*", "narrowed", "allow Bash(npm test:*)"), ("webfetch", "exact", "deny WebFetch"), ("doom_loop", "unmapped", ""),
        ("/srv/x", "exact", "workspace /srv/x"),
    ]),
    ("copilot", "flags.txt", "--allow-tool 'shell(git:*)' --deny-tool \"shell(git push)\"\n--deny-tool 'write(.env)' --allow-tool files --deny-tool 'files(touch)'\n--allow-url https://example.com/docs --deny-url example.org --yolo\n", &[
        ("shell(git:*)", "exact", "allow Bash(git:*)"), ("shell(git push)", "exact", "deny Bash(git push)"),
        ("write(.env)", "exact", "deny Edit|Write(.env)"), ("--allow-tool files", "exact", "allow mcp__files__*"), ("files(touch)", "exact", "deny mcp__files__touch"),
        ("example.com", "downgraded", "ask WebFetch(domain:example.com)"), ("example.org", "exact", "deny WebFetch(domain:example.org)"), ("--yolo", "unmapped", ""),
    ]),
    ("multica", "config.json", r#"{ "execApproval": { "security": "full", "ask": "on-miss", "timeoutMs": 60000, "askFallback": "full",
  "allowlist": [ { "pattern": "git **" }, { "pattern": "make release" }, { "pattern": "a?b" } ] } }"#, &[
        ("security", "narrowed", "exec.security = \"allowlist\""), ("\"ask\"", "exact", "exec.ask = \"on-miss\""), ("timeoutMs", "exact", "asks.deadline_s = 60"),
        ("askFallback", "narrowed", "asks.fallback = \"deny\""), ("git **", "narrowed", "allow Bash(git:*)"), ("make release", "narrowed", "allow Bash(make release)"), ("a?b", "unmapped", ""),
    ]),
    ("agentscope", "context.json", r#"{ "mode": "accept_edits", "working_directories": ["/w"],
  "allow_rules": { "Bash": [ { "rule_content": "git:*" }, { "rule_content": "npm test" } ], "Read": [ { "rule_content": "src/*.py" } ] },
  "deny_rules": { "Bash": [ { "rule_content": "rm" } ], "Write": [ { "rule_content": "/etc/*" } ], "DeployTool": [ { "rule_content": null } ] } }"#, &[
        ("\"mode\"", "exact", "mode = \"accept-edits\""), ("/w", "exact", "workspace /w"), ("allow_rules: Bash(git:*)", "exact", "allow Bash(git:*)"),
        ("npm test", "unmapped", ""), ("src/*.py", "narrowed", "allow Read(src/*.py)"), ("deny_rules: Bash(rm)", "partial", "deny Bash(rm:*)"),
        ("/etc/*", "exact", "deny Write(/etc/**)"), ("DeployTool", "exact", "deny DeployTool"),
    ]),
    // What is malformed, unknown or means something else there: nothing of it is allowed for it.
    ("claude", "odd.json", r#"{ "permissions": { "deny": "Bash", "ask": [["x"]], "additionalDirectories": [5], "defaultMode": 5,
  "allow": [7, null, "Edit(src", "Read()", "Bash(", "Read(./a)", "Read(b)"] } }"#, &[
        ("deny: \"Bash\"", "unmapped", ""), ("ask: [", "unmapped", ""), ("additionalDirectories: 5", "unmapped", ""), ("defaultMode: 5", "unmapped", ""),
        ("allow: 7", "unmapped", ""), ("allow: null", "unmapped", ""), ("Edit(src", "unmapped", ""), ("Read()", "unmapped", ""), ("Bash(", "unmapped", ""),
        ("Read(./a)", "exact", "allow Read(a)"), ("Read(b)", "exact", "allow Read(**/b)"),
    ]),
    ("claude", "list.json", r#"{ "permissions": [] }"#, &[("permissions: []", "unmapped", "")]),
    ("gemini", "odd.toml", r#"
[[rule]]
toolName = "web_fetch"
onlyOnSundays = true
decision = "allow"
[[rule]]
toolName = "write_file"
onlyOnMondays = true
decision = "deny"
[[rule]]
toolName = "write_file"
commandPrefix = "git"
decision = "allow"
[[rule]]
toolName = "run_shell_command"
commandPrefix = [5, "git"]
decision = "allow"
[[rule]]
commandPrefix = "npm"
decision = "deny"
modes = ["yolo"]
[[rule]]
commandPrefix = "npm test"
decision = "allow"
priority = 7
"#, &[
        ("onlyOnSundays", "unmapped", ""), ("onlyOnMondays", "widened", "deny Write"), ("\"git\",\"decision\":\"allow\",\"toolName\":\"write_file\"", "unmapped", ""), ("[5,", "unmapped", ""),
        ("yolo", "unmapped", ""), ("npm test", "narrowed", "allow Bash(npm test:*)"),
    ]),
    ("gemini", "settings.json", r#"{ "tools": { "allowed": ["write_file(git)", "read_file(", "run_shell_command(git)", 5], "exclude": "glob" } }"#, &[
        ("write_file(git)", "unmapped", ""), ("read_file(", "unmapped", ""), ("run_shell_command(git)", "narrowed", "allow Bash(git:*)"),
        ("allowed: 5", "unmapped", ""), ("exclude", "unmapped", ""),
    ]),
    ("gemini", "all.toml", r#"
[[rule]]
toolName = "*"
decision = "ask_user"
priority = 1
[[rule]]
commandPrefix = "git"
decision = "allow"
priority = 2
[[rule]]
toolName = "*"
decision = "deny"
priority = 3
modes = ["default"]
[[rule]]
mcpName = "files"
decision = "allow"
priority = 4
"#, &[
        ("ask_user", "exact", "mode = \"default\""), ("\"git\"", "narrowed", "allow Bash(git:*)"), ("\"deny\"", "exact", "deny *"),
        ("\"files\"", "unmapped", ""),
    ]),
    ("opencode", "stars.json", r#"{ "permission": { "edit": { "*": "ask", "notes.md": "allow", "docs/*.md": "allow", "src/*": "deny", "*.env": "deny", "a*b": "deny" } } }"#, &[
        ("\"edit\"", "exact", "mode = \"default\""), ("notes.md", "exact", "allow Edit|Write(notes.md)"), ("docs/*.md", "narrowed", "allow Edit|Write(docs/*.md)"),
        ("src/*", "exact", "deny Edit|Write(src/**)"), ("*.env", "exact", "deny Edit|Write(**/*.env)"),
        ("a*b", "exact", "deny Edit|Write(a*b), deny Edit|Write(a*/**/*b)"),
    ]),
    ("agentscope", "stars.json", r#"{ "deny_rules": { "Edit": [ { "rule_content": "*.env" } ] }, "ask_rules": { "Write": [ { "rule_content": "src/*.py" } ] } }"#, &[
        ("*.env", "exact", "deny Edit(**/*.env)"), ("src/*.py", "exact", "ask Write(src/**/*.py)"),
    ]),
    ("opencode", "odd.json", r#"{ "permission": { "*": "ask", "bash": { "git *": "allow", "*": "ask" }, "edit": 5, "read": ["x"] } }"#, &[
        ("\"*\"", "exact", "mode = \"default\""), ("git *", "exact", "allow Bash(git:*)"), ("bash: *: ask", "exact", "ask Bash"),
        ("edit: 5", "unmapped", ""), ("read: [", "unmapped", ""),
    ]),
    ("copilot", "odd.txt", "--deny-tool shell(git push) --allow-tool write(src --allow-tool\n--allow-tool 'files(' --allow-tool 'shell(git *)' --add-dir /x\n", &[
        ("shell(git push)", "exact", "deny Bash(git push)"), ("write(src", "unmapped", ""),
        ("files(", "unmapped", ""), ("shell(git *)", "unmapped", ""), ("--add-dir", "unmapped", ""),
    ]),
    ("multica", "odd.json", r#"{ "execApproval": { "security": "some", "ask": 5, "timeoutMs": "x", "askFallback": "perhaps",
  "allowlist": [ { "pattern": 5 }, { "pattern": "" }, {}, { "pattern": "git *" }, { "pattern": "npm run test:*" }, { "pattern": "make *.o" } ] } }"#, &[
        ("security: some", "unmapped", ""), ("ask: 5", "unmapped", ""), ("timeoutMs", "unmapped", ""), ("askFallback: perhaps", "unmapped", ""),
        ("pattern: 5", "unmapped", ""), ("", "unmapped", ""), ("pattern: {}", "unmapped", ""), ("git *", "unmapped", ""), ("npm run test:*", "unmapped", ""),
        ("make *.o", "narrowed", "allow Bash(make *.o)"),
    ]),
    ("agentscope", "odd.json", r#"{ "mode": "yolo", "working_directories": { "/w": { "path": "/w", "source": "userSettings" } },
  "allow_rules": { "Read": [ { "rule_content": 5 }, "src/**" ], "Edit": {} }, "ask_rules": [], "deny_rules": { "Bash": [ { "rule_content": "rm:*", "behavior": "allow" } ] } }"#, &[
        ("mode: yolo", "unmapped", ""), ("/w", "exact", "workspace /w"), ("Read: {\"rule_content\":5}", "unmapped", ""), ("Read: \"src/**\"", "unmapped", ""),
        ("Edit: {}", "unmapped", ""), ("ask_rules: []", "unmapped", ""), ("rm:*", "exact", "deny Bash(rm:*)"),
    ]),
];

/// The same for files in which something stands that nobody looks for, or that is not what it seems.
#[rustfmt::skip]
const HIDDEN: &[Case] = &[
    ("claude", "more.json", r#"{ "permissions": { "deny": ["Edit", "Read"], "alow": ["Bash(x)"], "disableBypassPermissionsMode": "disable" }, "allowedTools": ["Bash(rm:*)"], "model": "x" }"#, &[
        ("Edit", "exact", "deny Edit|Write"), ("Read", "exact", "deny Read|Grep|Glob"), ("permissions.alow", "unmapped", ""),
        ("permissions.disableBypassPermissionsMode", "unmapped", ""), ("allowedTools", "unmapped", ""),
    ]),
    ("codex", "block.rules", r#"
host_executable(name="git", paths=["/usr/bin/git"])
if False:
    prefix_rule(pattern=["a"], decision="allow")
prefix_rule(pattern=["b"], decision="allow") if False else None
prefix_rule(pattern=["c\x20"], decision="forbidden")
prefix_rule(pattern=["d"], decision="allow") # plain
x = [
prefix_rule(pattern=["e"], decision="allow")
"#, &[
        ("host_executable", "exact", ""), ("if False:", "unmapped", ""), ("[\"a\"]", "unmapped", ""), ("[\"b\"]", "unmapped", ""),
        ("[\"c", "unmapped", ""), ("[\"d\"]", "exact", "allow Bash(d:*)"), ("x = [", "unmapped", ""), ("[\"e\"]", "unmapped", ""),
    ]),
    ("codex", "text.rules", r#"
"""
prefix_rule(pattern=["a"], decision="allow")
"""
"#, &[("[\"a\"]", "unmapped", ""), ("\"\"\"", "unmapped", ""), ("\"", "unmapped", "")]),
    ("codex", "named.rules", r#"
def prefix_rule(pattern, decision): pass
prefix_rule(pattern=["a"], decision="allow")
"#, &[("def ", "unmapped", ""), ("[\"a\"]", "unmapped", "")]),
    ("gemini", "more.toml", r#"
[[rules]]
toolName = "z"
decision = "deny"
[[safety_checker]]
toolName = "*"
[[rule]]
toolName = "list_directory"
decision = "allow"
"#, &[("rules: ", "unmapped", ""), ("safety_checker: ", "unmapped", ""), ("list_directory", "exact", "allow list_directory")]),
    ("gemini", "more.json", r#"{ "excludeTools": ["write_file"], "coreTools": ["x"], "mcp": { "excluded": ["slow"] },
  "mcpServers": { "t": { "excludeTools": ["u"], "trust": true }, "v": { "command": "w", "trust": false } } }"#, &[
        ("write_file", "exact", "deny Write"), ("coreTools", "unmapped", ""), ("slow", "exact", "deny mcp__slow__*"),
        ("mcpServers.t.excludeTools: u", "exact", "deny mcp__t__u"), ("mcpServers.t.trust", "unmapped", ""),
    ]),
    // The order is that of the rules themselves, whatever an agent's rules before them say.
    ("opencode", "order.json", r#"{ "agent": { "x": { "permission": { "bash": { "*": "ask", "git *": "allow" } } } },
  "tools": { "webfetch": false, "write": false, "bash": true },
  "permission": { "bash": { "git *": "allow", "*": "ask" } } }"#, &[
        ("agent.x.permission", "unmapped", ""), ("tools: webfetch", "exact", "deny WebFetch"), ("tools: write", "widened", "deny Edit|Write"),
        ("bash: git *", "exact", "allow Bash(git:*)"), ("bash: *: ask", "exact", "ask Bash"),
    ]),
    ("copilot", "more.txt", "shell(rm:*)\n--disallow-temp-dir --model x\n", &[("shell(rm:*)", "unmapped", ""), ("--disallow-temp-dir", "unmapped", "")]),
    ("copilot", "more.json", r#"{ "trusted_folders": ["/a"], "allowed_urls": ["a.example"], "denied_urls": ["https://b.example/x"] }"#, &[
        ("/a", "exact", "workspace /a"), ("allowed_urls: a", "exact", "allow WebFetch(domain:a.example)"), ("denied_urls", "widened", "deny WebFetch(domain:b.example)"),
    ]),
    ("multica", "more.json", r#"{ "execApproval": { "ask": "always", "denylist": ["x"] } }"#, &[("\"ask\"", "exact", "exec.ask = \"always\""), ("execApproval.denylist", "unmapped", "")]),
    ("agentscope", "more.json", r#"{ "mode": "default", "extra_rules": { "Bash": [] } }"#, &[("\"mode\"", "exact", "mode = \"default\""), ("extra_rules", "unmapped", "")]),
];

#[test]
fn what_is_no_object_is_no_source() {
    for (source, name) in [("claude", "a.json"), ("opencode", "a.json"), ("multica", "a.json")] {
        let place = Place::new();
        fs::write(place.0.join(name), "[]").unwrap();
        let (_, error, code) = place.says(&["policy", "import", source, name]);
        assert!(code == 2 && error.contains("where an object should stand"), "{source}: {error}");
    }
}

#[test]
fn every_rule_stands_in_the_report_with_what_became_of_it() {
    for (source, name, text, wants) in CASES.iter().chain(HIDDEN) {
        let place = Place::new();
        fs::write(place.0.join(name), text).unwrap();
        let (out, error, code) = place.says(&[
            "policy",
            "import",
            source,
            name,
            "--write",
            "policy.toml",
            "--report",
            "json",
        ]);
        assert_eq!(
            code,
            if out.contains("\"losses\":true") { 3 } else { 0 },
            "{source}: {out}{error}"
        );
        let report: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{source}: {out}{error}"));
        let rules = report["rules"].as_array().unwrap();
        assert_eq!(rules.len(), wants.len(), "{source}: {report:#}");
        for (part, fate, became) in *wants {
            let found = rules.iter().find(|rule| {
                let source = rule["text"].as_str().unwrap();
                source.contains(part) || source.contains(&part.replace('"', "\\\""))
            });
            let found = found.unwrap_or_else(|| panic!("{source}: no {part} in {report:#}"));
            let now: Vec<&str> = found["became"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(
                (found["fate"].as_str().unwrap(), now.join(", ").as_str()),
                (*fate, *became),
                "{source}: {part}"
            );
            let line = found["line"].as_u64().unwrap();
            assert!(line >= 1 && line <= text.lines().count() as u64, "{source}: {found}");
        }
        let policy = fs::read(place.0.join("policy.toml")).unwrap();
        let (_, error, code) = place.says(&["check", "--policy", "policy.toml", "ls"]);
        assert!([0, 1, 3].contains(&code), "{source}: the policy is understood: {error}");
        let (_, error, code) = place.says(&["policy", "test", "policy.toml"]);
        assert!(code == 0 || *source != "codex", "{source}: its own examples hold: {error}");
        place.says(&[
            "policy",
            "import",
            source,
            name,
            "--write",
            "policy.toml",
            "--report",
            "json",
        ]);
        assert_eq!(
            fs::read(place.0.join("policy.toml")).unwrap(),
            policy,
            "{source}: twice is once"
        );
        assert!(place.0.join("policy.toml.report.json").exists());
    }
}

#[test]
fn a_file_that_is_no_import_is_kept_and_unknown_sources_are_named() {
    let place = Place::new();
    fs::write(place.0.join("policy.toml"), "mode = \"explore\"\n").unwrap();
    fs::write(place.0.join("s.json"), "{}").unwrap();
    let (_, error, code) =
        place.says(&["policy", "import", "claude", "s.json", "--write", "policy.toml"]);
    assert!(code == 2 && error.contains("no import of ours"), "{error}");
    assert_eq!(fs::read_to_string(place.0.join("policy.toml")).unwrap(), "mode = \"explore\"\n");
    let (_, error, code) = place.says(&["policy", "import", "nobody"]);
    assert!(code == 2 && error.contains("use one of claude"), "{error}");
    let (_, error, code) = place.says(&["policy", "import", "claude"]);
    assert!(code == 2 && error.contains("no files"), "{error}");
    let (_, _, code) = place.says(&["policy", "import", "claude", "s.json"]);
    assert_eq!(code, 0, "nothing was lost");
}
