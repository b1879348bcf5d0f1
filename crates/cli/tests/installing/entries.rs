//! Entries that a host does not heed, and files that are not ours.

use std::fs;

use super::Home;

/// A host, its file, what of it is changed into what, and why that opens the gate.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[test]
fn an_entry_that_the_host_does_not_heed_is_no_gate() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        ("claude", ".claude/settings.json", "\"hooks\": {", "\"hoooks\": {", "another name"),
        ("claude", ".claude/settings.json", "\"PreToolUse\": [", "\"PreToolUsed\": [", "another event"),
        ("claude", ".claude/settings.json", "\"matcher\":\"*\"", "\"matcher\":\"Read\"", "one tool"),
        ("claude", ".claude/settings.json", "\"matcher\":\"*\"", "\"if\":\"Bash(git *)\",\"matcher\":\"*\"", "some calls"),
        ("claude", ".claude/settings.json", "\n}\n", ",\n\"hooks\": {}}\n", "the last of two counts"),
        ("gemini", ".gemini/settings.json", "\"matcher\":\"*\"", "\"matcher\":\"read_file\"", "one tool"),
        ("gemini", ".gemini/settings.json", "{", "{\"hooksConfig\":{\"disabled\":[\"portcullis\"]},", "left out by name"),
        ("qwen", ".qwen/settings.json", "\"matcher\":\"*\"", "\"matcher\":\"x\"", "one tool"),
        ("cursor", ".cursor/hooks.json", "\"hooks\": {", "\"hoooks\": {", "another name"),
        ("cursor", ".cursor/hooks.json", "\"version\": 1", "\"version\": 2", "another version"),
        ("cursor", ".cursor/hooks.json", "\"version\": 1", "\"version\": \"1\"", "no number"),
        ("amp", ".config/amp/settings.json", "[", "[{\"tool\":\"*\",\"action\":\"allow\"},", "a rule before it"),
        ("windsurf", ".codeium/windsurf/hooks.json", "\"pre_run_command\"", "\"pre_run_commands\"", "another event"),
        ("droid", ".factory/hooks.json", "\"matcher\":\"*\"", "\"matcher\":\"x\"", "one tool"),
    ];
    for (host, file, from, to, why) in cases {
        let home = Home::new();
        assert_eq!(home.says(&["install", host, "--unverified"]).code, 0);
        let text = home.read(file).unwrap();
        assert!(text.contains(from), "{host}: {text}");
        home.write(file, &text.replacen(from, to, 1));
        let said = home.says(&["doctor", host]);
        assert_eq!(said.code, 1, "{host}, {why}: {}", said.out);
        // What a person set stays.
        if to.contains("disabled") || to.contains("version") {
            continue;
        }
        let again = home.says(&["install", host, "--unverified"]);
        let last = again.out.lines().last().unwrap_or_default();
        assert!(again.code == 0 && last.contains("first now"), "{host}, {why}: {again:?}");
        let said = home.says(&["doctor", host]);
        assert_eq!(said.code, 0, "{host}, {why}: {}", said.out);
    }
}

#[test]
fn an_entry_of_an_older_form_is_replaced() {
    let file = ".claude/settings.json";
    for older in [
        r#"{"type":"command","command":"/old/portcullis hook claude"}"#,
        r#"{"type":"command","command":"'/old/portcullis' hook claude PreToolUse"}"#,
        r#"{"type":"command","command":"/old/portcullis","args":["hook","claude"]}"#,
        r#"{"type":"http","url":"http://127.0.0.1:1/v1/hooks/claude"}"#,
    ] {
        let home = Home::new();
        let mine = r#"{"type":"command","command":"echo mine"}"#;
        let group = format!(r#"{{"matcher":"Bash","hooks":[{mine},{older}]}}"#);
        home.write(file, &format!(r#"{{"hooks":{{"PreToolUse":[{group}]}}}}"#));
        let said = home.says(&["install", "claude"]);
        assert_eq!(said.code, 0, "{said:?}");
        let text = home.read(file).unwrap();
        assert!(!text.contains("/old/") && !text.contains("127.0.0.1:1"), "{text}");
        assert!(text.contains("echo mine"), "{text}");
        assert_eq!(home.says(&["doctor", "claude"]).code, 0);
    }
}

#[test]
fn a_hook_of_somebody_else_is_neither_replaced_nor_removed() {
    for (host, file) in [
        ("cline", "Documents/Cline/Hooks/PreToolUse"),
        ("copilot", ".copilot/hooks/portcullis.json"),
        ("opencode", ".config/opencode/plugins/portcullis.js"),
        ("agentbot", ".config/cagent/hooks.d/50-portcullis.yaml"),
    ] {
        let mine = "#!/bin/sh\necho '{\"cancel\":false}'\n";
        let home = Home::new();
        home.write(file, mine);
        let gone = home.says(&["uninstall", host]);
        assert!(gone.code == 0 && gone.out.contains("nothing of ours"), "{host}: {gone:?}");
        assert_eq!(home.read(file).as_deref(), Some(mine), "{host}");
        let refused = home.says(&["install", host, "--unverified"]);
        assert!(refused.code == 2 && refused.error.contains("somebody else's"), "{host}");
        assert_eq!(home.read(file).as_deref(), Some(mine), "{host}");

        // Where it takes our place later, it stays as well.
        fs::remove_file(home.0.join(file)).unwrap();
        assert_eq!(home.says(&["install", host, "--unverified"]).code, 0, "{host}");
        home.write(file, mine);
        assert_eq!(home.says(&["uninstall", host]).code, 0, "{host}");
        assert_eq!(home.read(file).as_deref(), Some(mine), "{host}");
    }
}

#[test]
fn what_was_proven_with_another_version_is_not_proven() {
    let home = Home::new();
    let says = |version: &str| {
        home.write("bin/gemini", &format!("#!/bin/sh\necho {version}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(home.0.join("bin/gemini"), mode).unwrap();
    };
    says("1.0");
    assert_eq!(home.says(&["install", "gemini"]).code, 0);
    let said = home.says(&["doctor", "gemini"]);
    assert!(said.code == 0 && said.out.contains("holds (static and drills"), "{said:?}");
    let proof = r#"{"gemini":{"version":"1.0","on":"2026-01-02"}}"#;
    home.write(".local/share/portcullis/live.json", proof);
    let said = home.says(&["doctor", "gemini"]);
    assert!(said.code == 0 && said.out.contains("holds (live, 1.0, 2026-01-02)"), "{said:?}");
    says("1.1");
    let said = home.says(&["doctor", "gemini"]);
    let want = "not proven: proven live was 1.0, on 2026-01-02; this is 1.1";
    assert!(said.code == 2 && said.out.contains(want), "{said:?}");
}
