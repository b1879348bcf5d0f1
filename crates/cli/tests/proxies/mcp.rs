//! `portcullis mcp` between a client and a server, and `mcp-approver`.

use std::fs;

use serde_json::{Value, json};

use super::house::{House, Proxy};

const POLICY: &str = r#"
[rules]
allow = ["mcp__files__read"]
deny = ["mcp__files__secret"]
"#;

fn started(house: &House) -> Proxy {
    let log = house.root.join("seen").display().to_string();
    let mut proxy = house.proxy(&["mcp", "--server", "files"], Some(("server.py", &[&log])));
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    let hello = proxy.asked(0, "initialize", &hello);
    assert_eq!(hello["result"]["serverInfo"]["name"], "files");
    proxy
}

fn seen(house: &House) -> String {
    fs::read_to_string(house.root.join("seen")).unwrap_or_default()
}

fn called(name: &str, path: &str) -> Value {
    json!({ "name": name, "arguments": { "path": path } })
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn calls_are_judged_and_everything_else_passes_to_the_byte() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);

    let odd = r#"{ "jsonrpc":"2.0","method":"odd",  "id":"x\u0041","params":{"n":1.50e1, "é":"\u00e9"} }"#;
    proxy.line(odd);
    assert_eq!(proxy.message()["result"]["odd"]["n"], 15.0);
    assert!(seen(&house).contains(odd), "to the byte: {}", seen(&house));

    let list = proxy.asked(1, "tools/list", &json!({}));
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["read", "write"], "what is shut is not shown");

    let allowed = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{"path":"a","n":1e2},"name":"read"}}"#;
    proxy.line(allowed);
    assert!(text(&proxy.message()).starts_with("ran read"));
    assert!(seen(&house).contains(allowed), "the original bytes");

    let denied = proxy.asked(3, "tools/call", &called("secret", "a"));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    assert!(text(&denied).contains("[rule.deny]"), "{denied}");
    assert!(!seen(&house).contains("\"secret\""), "the server never saw it");

    // A text that another program could read otherwise runs nothing.
    for line in [
        r#"{"jsonrpc":"2.0","id":4,"method":"odd","method":"tools/call","params":{"name":"secret"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"Method":"tools/call","params":{"name":"secret"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call""#,
        r#"{"jsonrpc":"2.0","id":4,"method":"Tools/Call","params":{"name":"secret"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call ","params":{"name":"secret"}}"#,
    ] {
        proxy.line(line);
        assert!(proxy.message()["error"]["code"].is_number(), "{line}");
    }
    let twice = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","NAME":"secret"}}"#;
    proxy.line(twice);
    assert_eq!(proxy.message()["result"]["isError"], true);
    assert!(!seen(&house).contains("secret"), "{}", seen(&house));

    // A call that is too long to be judged is denied; another long message passes.
    let long = proxy.asked(8, "tools/call", &called("read", &"x".repeat(8 << 20)));
    assert!(text(&long).contains("[HOOK_TOO_LARGE]"), "{}", text(&long));
    let long = proxy.asked(9, "odd", &json!({ "n": "x".repeat(9 << 20) }));
    assert_eq!(long["result"]["odd"]["n"].as_str().unwrap().len(), 9 << 20);

    let batch = json!([
        { "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": called("secret", "a") },
        { "jsonrpc": "2.0", "method": "notifications/odd" },
        { "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": called("read", "b") },
    ]);
    proxy.line(&batch.to_string());
    let answers = proxy.message();
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(6), &json!(7)), "in order");
    assert_eq!(answers[0]["result"]["isError"], true);
    assert!(text(&answers[1]).starts_with("ran read"));
    assert!(proxy.end().success());
}

#[test]
fn a_person_is_asked_and_the_client_hears_that_it_waits() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    proxy.asked(1, "tools/list", &json!({}));

    let mut waiting = called("write", "a");
    waiting["_meta"] = json!({ "progressToken": "t-1" });
    proxy.say(2, "tools/call", &waiting);
    let progress = proxy.message();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "t-1");
    let ask = house.ask();
    assert_eq!((&ask["door"], &ask["call"]["tool"]), (&json!("mcp"), &json!("mcp__files__write")));
    house.answer("approve", &ask, &[]);
    assert!(text(&proxy.answered(&json!(2))).starts_with("ran write"));

    proxy.say(3, "tools/call", &called("write", "b"));
    house.answer("reject", &house.ask(), &["--feedback", "not there"]);
    let denied = proxy.answered(&json!(3));
    assert!(
        text(&denied).contains("rejected by") && text(&denied).contains("not there"),
        "{denied}"
    );

    // Another input runs if it fits what the tool takes.
    proxy.say(4, "tools/call", &called("write", "c"));
    house.answer("approve", &house.ask(), &["--input", r#"{"path":"d"}"#]);
    assert!(text(&proxy.answered(&json!(4))).contains(r#"{"path": "d"}"#));
    proxy.say(5, "tools/call", &called("write", "e"));
    house.answer("approve", &house.ask(), &["--input", r#"{"path":7}"#]);
    let denied = proxy.answered(&json!(5));
    assert!(text(&denied).contains("does not fit"), "{denied}");

    // Whoever takes a call back takes its question back.
    proxy.say(6, "tools/call", &called("write", "f"));
    house.ask();
    proxy.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#);
    for _ in 0..2000 {
        if house.waiting() == 0 {
            break;
        }
    }
    assert_eq!(house.waiting(), 0);
    assert!(!seen(&house).contains("\"f\""), "it never ran");
}

#[test]
fn a_call_hidden_between_carriage_returns_is_no_line_of_its_own() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    // The server, like many, takes a carriage return for the end of a line.
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"secret"}}"#;
    proxy.line(&format!("{{\"a\":\r{call}\r}}"));
    proxy.line(&format!("\r{{\"jsonrpc\":\"2.0\",\"method\":\"odd\",\"params\":\r{call}\r}}\r"));
    assert_eq!(proxy.asked(8, "odd", &json!(1))["result"]["odd"], 1);
    assert!(!seen(&house).lines().any(|line| line == call), "{}", seen(&house));
}

#[test]
fn a_name_that_a_client_gives_twice_is_no_second_execution() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    let mut named = called("write", "a");
    named["_meta"] = json!({ "claudecode/toolUseId": "toolu_1" });
    proxy.say(2, "tools/call", &named);
    house.answer("approve", &house.ask(), &[]);
    assert!(text(&proxy.answered(&json!(2))).starts_with("ran write"));
    proxy.say(3, "tools/call", &named);
    house.answer("reject", &house.ask(), &[]);
    assert_eq!(proxy.answered(&json!(3))["result"]["isError"], true);
    assert_eq!(seen(&house).matches("\"write\"").count(), 1, "{}", seen(&house));
}

#[test]
fn a_tool_that_says_something_else_than_at_its_first_use_is_asked_about() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    proxy.asked(1, "tools/list", &json!({}));
    proxy.asked(2, "tools/call", &called("read", "a"));
    fs::write(house.root.join("seen.changed"), "").unwrap();
    assert!(proxy.end().success());

    let mut proxy = started(&house);
    proxy.asked(1, "tools/list", &json!({}));
    proxy.say(2, "tools/call", &called("read", "a"));
    let ask = house.ask();
    assert_eq!(ask["call"]["tool"], "McpToolChanged");
    assert_eq!(ask["call"]["input"]["description"], "reads and sends");
    house.answer("approve", &ask, &[]);
    assert!(text(&proxy.answered(&json!(2))).starts_with("ran read"));
    assert!(text(&proxy.asked(3, "tools/call", &called("read", "a"))).starts_with("ran read"));
}

#[test]
fn without_a_daemon_nothing_runs() {
    let mut house = House::with(POLICY);
    let mut proxy = started(&house);
    house.stop();
    let denied = proxy.asked(1, "tools/call", &called("read", "a"));
    assert!(text(&denied).contains("[HOOK_NO_DAEMON]"), "{denied}");
    assert_eq!(proxy.asked(2, "odd", &json!(1))["result"]["odd"], 1, "the rest passes");
}

#[test]
fn the_approver_answers_the_prompts_of_headless_runs() {
    let house = House::with("[rules]\nallow = [\"Bash(echo:*)\"]\ndeny = [\"Bash(rm:*)\"]\n");
    let mut proxy = house.proxy(&["mcp-approver"], None);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "claude-code", "version": "2" } });
    proxy.asked(0, "initialize", &hello);
    proxy.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let list = proxy.asked(1, "tools/list", &json!({}));
    assert_eq!(list["result"]["tools"][0]["name"], "approve");

    let prompt = |command: &str, id: &str| {
        json!({ "name": "approve", "arguments": {
            "tool_name": "Bash", "input": { "command": command }, "tool_use_id": id } })
    };
    let document = |answer: &Value| -> Value { serde_json::from_str(&text(answer)).unwrap() };
    let allowed = document(&proxy.asked(2, "tools/call", &prompt("echo hi", "t1")));
    assert_eq!(allowed, json!({ "behavior": "allow", "updatedInput": { "command": "echo hi" } }));
    let denied = document(&proxy.asked(3, "tools/call", &prompt("rm -r x", "t2")));
    assert_eq!(denied["behavior"], "deny");
    assert!(denied["message"].as_str().unwrap().contains("[rule.deny]"));
    proxy.say(4, "tools/call", &prompt("touch x", "t3"));
    house.answer("approve", &house.ask(), &[]);
    assert_eq!(document(&proxy.answered(&json!(4)))["behavior"], "allow");
    let bad = proxy.asked(5, "tools/call", &json!({ "name": "approve", "arguments": {} }));
    assert_eq!(document(&bad)["behavior"], "deny");
}
