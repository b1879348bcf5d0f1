//! The recorded documents of every host, answered under three policies.

use serde_json::Value;

use super::house::{GATES, Home, Said, assert_fits, fed, fixture, is_forbidden};

const ALLOWS: &str = "mode = \"bypass\"\n";
const ASKS: &str = "mode = \"default\"\n";
const DENIES: &str = "mode = \"dont-ask\"\n";

/// Documents of gates beside those of `GATES`.
#[rustfmt::skip]
const MORE: &[(&str, &str, &str)] = &[
    ("claude",  "PreToolUse",         "claude/PreToolUse.Edit"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.Write"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.Read"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.WebFetch"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.mcp"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.Bash.parallel-1"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.Bash.parallel-2"),
    ("claude",  "PreToolUse",         "claude/PreToolUse.Bash.resumed"),
    ("codex",   "PreToolUse",         "codex/PreToolUse.mcp"),
    ("codex",   "PreToolUse",         "codex/PreToolUse.Bash.apply_patch"),
    ("gemini",  "BeforeTool",         "gemini/BeforeTool.mcp"),
    ("gemini",  "BeforeTool",         "gemini/BeforeTool.read_file"),
    ("gemini",  "BeforeTool",         "gemini/BeforeTool.write_file"),
    ("gemini",  "BeforeTool",         "gemini/BeforeTool.web_fetch"),
    ("copilot", "preToolUse",         "copilot/preToolUse.create"),
    ("copilot", "preToolUse",         "copilot/preToolUse.mcp"),
    ("cursor",  "beforeMCPExecution", "cursor/documented.beforeMCPExecution"),
    ("cursor",  "beforeReadFile",     "cursor/documented.beforeReadFile"),
];

/// A host, its event, a document, and the environment.
type Case = (&'static str, &'static str, Vec<u8>, &'static [(&'static str, &'static str)]);

fn cases() -> Vec<Case> {
    let gates = GATES.iter().map(|gate| (gate.host, gate.event, gate.document(), gate.environment));
    let more = MORE.iter().map(|(host, event, input)| {
        (*host, *event, fixture(input).to_string().into_bytes(), &[][..])
    });
    gates.chain(more).collect()
}

fn answered(
    home: &Home,
    host: &str,
    event: &str,
    document: &[u8],
    environment: &[(&str, &str)],
) -> Said {
    let mut command = home.portcullis(&["hook", host, event, "--daemon", "off"]);
    fed(command.envs(environment.iter().copied()), document)
}

#[test]
fn an_allow_is_said_as_recorded() {
    let home = Home::with(ALLOWS);
    for (host, event, document, environment) in cases() {
        let said = answered(&home, host, event, &document, environment);
        let context = format!("{host} {}", String::from_utf8_lossy(&document));
        assert_fits(&said, &fixture(&format!("{host}/allow")), &context);
    }
}

#[test]
fn a_deny_is_said_as_recorded() {
    let home = Home::with(DENIES);
    for (host, event, document, environment) in cases() {
        let said = answered(&home, host, event, &document, environment);
        let context = format!("{host} {}", String::from_utf8_lossy(&document));
        assert_fits(&said, &fixture(&format!("{host}/deny")), &context);
        assert_eq!(is_forbidden(host, &said), None, "{context}");
    }
}

#[test]
fn an_ask_without_a_daemon_is_native_only_where_that_is_safe() {
    let home = Home::with(ASKS);
    for (host, event, document, environment) in cases() {
        let said = answered(&home, host, event, &document, environment);
        let context = format!("{host} {event} {}", String::from_utf8_lossy(&document));
        let is_native = match host {
            "claude" | "copilot" | "qwen" => true,
            "cursor" => event != "beforeReadFile",
            _ => false,
        };
        let answer = if is_native { format!("{host}/ask") } else { format!("{host}/deny") };
        assert_fits(&said, &fixture(&answer), &context);
        assert_eq!(is_forbidden(host, &said), None, "{context}");
        if !is_native {
            assert!(
                format!("{}{}", said.out, said.error).contains("[HOOK_NO_DAEMON]"),
                "{context}"
            );
        }
        let mut never = home.portcullis(&["hook", host, event, "--daemon", "off"]);
        never.args(["--native-ask", "never"]).envs(environment.iter().copied());
        assert_fits(&fed(&mut never, &document), &fixture(&format!("{host}/deny")), &context);
    }
}

#[test]
fn a_prompt_is_answered_by_a_denial_and_else_left_or_denied() {
    #[rustfmt::skip]
    let cases = [
        ("claude",  "PermissionRequest", "claude/PermissionRequest.Bash",     [Some("leave"), Some("leave"), Some("deny")]),
        ("claude",  "PermissionRequest", "claude/PermissionRequest.Bash.tui", [Some("leave"), Some("leave"), Some("deny")]),
        ("codex",   "PermissionRequest", "codex/PermissionRequest.Bash",      [Some("leave"), Some("leave"), Some("deny")]),
        ("codex",   "PermissionRequest", "codex/PermissionRequest.mcp",       [Some("leave"), Some("leave"), Some("deny")]),
        ("copilot", "permissionRequest", "copilot/permissionRequest.bash",    [Some("allow"), Some("deny"),  Some("deny")]),
        ("copilot", "permissionRequest", "copilot/permissionRequest.edit",    [Some("allow"), Some("deny"),  Some("deny")]),
        ("copilot", "permissionRequest", "copilot/permissionRequest.mcp",     [Some("allow"), Some("deny"),  Some("deny")]),
    ];
    for (number, policy) in [ALLOWS, ASKS, DENIES].into_iter().enumerate() {
        let home = Home::with(policy);
        for (host, event, input, wants) in cases {
            let document = fixture(input).to_string();
            let said = answered(&home, host, event, document.as_bytes(), &[]);
            let want = fixture(&format!("{host}/permission-request.{}", wants[number].unwrap()));
            assert_fits(&said, &want, &format!("{input} under {policy}"));
        }
    }
    let home = Home::with("mode = \"bypass\"\n[hosts]\nanswer_native_prompts = true\n");
    let document = fixture("claude/PermissionRequest.Bash").to_string();
    let said = answered(&home, "claude", "PermissionRequest", document.as_bytes(), &[]);
    assert_fits(&said, &fixture("claude/permission-request.allow"), "the policy lets it");
}

#[test]
fn what_only_tells_is_noted_and_answered_with_silence() {
    let home = Home::with(DENIES);
    #[rustfmt::skip]
    let cases = [
        ("claude", "PostToolUse", "claude/PostToolUse.Bash"), ("claude", "PostToolUse", "claude/PostToolUse.Edit"),
        ("claude", "PostToolUse", "claude/PostToolUse.Read"), ("claude", "PostToolUse", "claude/PostToolUse.Write"),
        ("claude", "PostToolUse", "claude/PostToolUse.mcp"),
        ("claude", "PostToolUseFailure", "claude/PostToolUseFailure.WebFetch"),
        ("claude", "Notification", "claude/Notification"),
        ("gemini", "AfterTool", "gemini/AfterTool.mcp"), ("gemini", "AfterTool", "gemini/AfterTool.read_file"),
        ("gemini", "AfterTool", "gemini/AfterTool.web_fetch"), ("gemini", "AfterTool", "gemini/AfterTool.write_file"),
        ("copilot", "postToolUse", "copilot/postToolUse.create"), ("copilot", "postToolUse", "copilot/postToolUse.mcp"),
    ];
    for (host, event, input) in cases {
        let said = answered(&home, host, event, fixture(input).to_string().as_bytes(), &[]);
        let silence = Said { out: String::new(), error: String::new(), code: Some(0) };
        assert_eq!(said, silence, "{input}");
    }
    let journal = std::fs::read_to_string(home.data().join("journal.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), cases.len(), "each is noted: {journal}");
}

#[test]
fn a_shared_settings_file_is_answered_in_the_shape_of_its_file() {
    let document = fixture("copilot/PreToolUse.Bash.pascal").to_string();
    let home = Home::with(DENIES);
    for host in ["claude", "copilot"] {
        let said = answered(&home, host, "PreToolUse", document.as_bytes(), &[]);
        assert_fits(&said, &fixture("copilot/pascal.deny"), host);
    }
    let journal = std::fs::read_to_string(home.data().join("journal.jsonl")).unwrap();
    assert_eq!(journal.matches("\"host\":\"copilot\"").count(), 2, "{journal}");
}

#[test]
fn a_document_of_another_host_or_event_is_denied() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        for other in GATES {
            let looks_alike = matches!((gate.host, other.host), ("droid", "claude" | "droid"));
            if gate.host == other.host || looks_alike || gate.host == "amp" || other.host == "amp" {
                continue;
            }
            let said = gate.answer(&home, &["--daemon", "off"], &other.document());
            super::house::assert_blocks(gate, &said, &format!("{} gets {}", gate.host, other.host));
            let text = format!("{}{}", said.out, said.error);
            let is_named = text.contains("[HOOK_WRONG_HOST]") || text.contains("[HOOK_BAD_INPUT]");
            assert!(is_named, "{text}");
        }
    }
    let pairs = [("PreToolUse", "PostToolUse.Bash"), ("PostToolUse", "PreToolUse.Bash")];
    for (event, document) in pairs {
        let document = fixture(&format!("claude/{document}")).to_string();
        let said = answered(&home, "claude", event, document.as_bytes(), &[]);
        assert!(said.code == Some(2) && said.error.contains("[HOOK_WRONG_HOST]"), "{said:?}");
    }
    let mut document = fixture("claude/PreToolUse.Bash");
    document.as_object_mut().unwrap().remove("hook_event_name");
    let said = answered(&home, "claude", "PreToolUse", document.to_string().as_bytes(), &[]);
    assert!(said.code == Some(2) && said.error.contains("[HOOK_BAD_INPUT]"), "{said:?}");
}

#[test]
fn no_arguments_make_a_call_that_has_not_run_an_observation() {
    let home = Home::with(ALLOWS);
    #[rustfmt::skip]
    let others = [
        ("claude", "PostToolUse"), ("claude", "PostToolUseFailure"), ("claude", "Notification"), ("claude", "PermissionRequest"),
        ("codex", "PostToolUse"), ("codex", "PermissionRequest"), ("gemini", "AfterTool"), ("gemini", "Notification"),
        ("copilot", "postToolUse"), ("copilot", "PostToolUse"), ("qwen", "PostToolUse"), ("qwen", "Notification"),
        ("opencode", "tool.execute.after"), ("agentbot", "post_tool_use"),
    ];
    for gate in GATES {
        for (host, event) in others {
            let said = answered(&home, host, event, &gate.document(), gate.environment);
            let context = format!("`hook {host} {event}` gets a call of {}", gate.host);
            assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{context}: {said:?}");
            super::house::check_reason(&said.error);
        }
    }
}

#[test]
fn plan_mode_tightens_and_bypass_changes_nothing() {
    let home = Home::with("[rules]\nallow = [\"Bash(echo:*)\"]\n");
    let mut document = fixture("claude/PreToolUse.Bash");
    document["tool_input"]["command"] = "touch x".into();
    for (mode, want) in [("default", "ask"), ("bypassPermissions", "ask"), ("plan", "deny")] {
        document["permission_mode"] = mode.into();
        let said = answered(&home, "claude", "PreToolUse", document.to_string().as_bytes(), &[]);
        assert_fits(&said, &fixture(&format!("claude/{want}")), mode);
    }
}

#[test]
fn an_allow_may_be_left_to_the_host() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        let said = gate.answer(&home, &["--daemon", "off", "--on-allow", "pass"], &gate.document());
        if ["claude", "copilot", "qwen"].contains(&gate.host) {
            let silence = Said { out: String::new(), error: String::new(), code: Some(0) };
            assert_eq!(said, silence, "{}", gate.host);
        } else {
            assert_fits(&said, &fixture(&format!("{}/allow", gate.host)), gate.host);
        }
    }
    let home = Home::with(DENIES);
    let said =
        GATES[0].answer(&home, &["--daemon", "off", "--on-allow", "pass"], &GATES[0].document());
    assert_fits(&said, &fixture("claude/deny"), "a denial is always said");
}

#[test]
fn the_journal_is_a_chain() {
    let home = Home::with(ASKS);
    let documents: Vec<Vec<u8>> = GATES.iter().take(6).map(super::house::Gate::document).collect();
    std::thread::scope(|scope| {
        for (gate, document) in GATES.iter().zip(&documents) {
            let home = &home;
            scope.spawn(move || gate.answer(home, &["--daemon", "off"], document));
        }
    });
    let journal = std::fs::read_to_string(home.data().join("journal.jsonl")).unwrap();
    let entries: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), 6, "parallel hooks lose nothing");
    for (before, after) in entries.iter().zip(entries.iter().skip(1)) {
        assert_eq!(after["prev"], before["hash"]);
    }
}
