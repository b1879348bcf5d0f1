//! `portcullis acp` between an editor and an agent.

use serde_json::{Value, json};

use super::house::{House, Proxy};

const POLICY: &str = r#"
[rules]
allow = ["Bash(echo:*)", "Read(**)"]
deny = ["Bash(rm:*)"]
"#;

fn started(house: &House) -> Proxy {
    let mut proxy = house.proxy(&["acp"], Some(("agent.py", &[])));
    let new = json!({ "cwd": house.root, "mcpServers": [] });
    assert_eq!(proxy.asked(1, "session/new", &new)["result"]["sessionId"], "s-1");
    proxy
}

/// Has the agent send this request to its editor.
fn prompt(proxy: &mut Proxy, id: u64, request: &Value) {
    let text = json!([{ "type": "text", "text": request.to_string() }]);
    proxy.say(id, "session/prompt", &json!({ "sessionId": "s-1", "prompt": text }));
}

fn permission(input: &Value) -> Value {
    json!({ "method": "session/request_permission", "params": {
        "sessionId": "s-1",
        "toolCall": { "toolCallId": format!("call {input}"), "title": "words", "kind": "execute",
            "rawInput": input },
        "options": [
            { "optionId": "always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Once", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ] } })
}

fn command(text: &str) -> Value {
    permission(&json!({ "command": text }))
}

/// What the agent was told in the end.
fn told(proxy: &mut Proxy, id: u64) -> Value {
    proxy.answered(&json!(id))["result"]["told"].clone()
}

#[test]
fn the_policy_answers_what_it_can_and_the_editor_never_sees_it() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    prompt(&mut proxy, 2, &command("echo hi"));
    let first = proxy.message();
    assert_eq!(first["result"]["told"]["outcome"]["optionId"], "yes", "{first}");
    prompt(&mut proxy, 3, &command("rm -rf x"));
    let first = proxy.message();
    assert_eq!(first["result"]["told"]["outcome"]["optionId"], "no", "{first}");

    // Words alone let nothing run, and still a deny rule bites.
    let mut words = command("");
    words["params"]["toolCall"]["title"] = "rm -rf x".into();
    words["params"]["toolCall"].as_object_mut().unwrap().remove("rawInput");
    prompt(&mut proxy, 4, &words);
    assert_eq!(told(&mut proxy, 4)["outcome"]["optionId"], "no");
    words["params"]["toolCall"]["title"] = "echo hi".into();
    prompt(&mut proxy, 5, &words);
    let shown = proxy.message();
    assert_eq!(shown["method"], "session/request_permission", "at best asked");
    let ask = house.ask();
    assert_eq!((&ask["call"]["tool"], &ask["door"]), (&json!("AcpToolCall"), &json!("acp")));
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"selected","optionId":"no"}}}"#);
    assert_eq!(told(&mut proxy, 5)["outcome"]["optionId"], "no");

    let mut none = command("rm x");
    none["params"]["options"] = json!([{ "optionId": "y", "name": "Y", "kind": "allow_once" }]);
    prompt(&mut proxy, 6, &none);
    assert_eq!(told(&mut proxy, 6)["outcome"]["outcome"], "cancelled", "no option of the kind");
    assert!(proxy.end().success());
}

#[test]
fn of_editor_and_daemon_the_first_answer_counts() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);

    // The daemon first; what the editor says later reaches nobody.
    prompt(&mut proxy, 2, &command("touch a"));
    assert_eq!(proxy.message()["method"], "session/request_permission");
    house.answer("approve", &house.ask(), &[]);
    assert_eq!(told(&mut proxy, 2)["outcome"]["optionId"], "yes");
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"selected","optionId":"no"}}}"#);

    // The editor first; its question is taken back, and always means once.
    prompt(&mut proxy, 3, &command("touch b"));
    assert_eq!(proxy.message()["method"], "session/request_permission");
    house.ask();
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"selected","optionId":"always"}}}"#);
    assert_eq!(told(&mut proxy, 3)["outcome"]["optionId"], "yes");
    for _ in 0..2000 {
        if house.waiting() == 0 {
            break;
        }
    }
    assert_eq!(house.waiting(), 0);

    // Cancelling takes the question back too.
    prompt(&mut proxy, 4, &command("touch c"));
    assert_eq!(proxy.message()["method"], "session/request_permission");
    house.ask();
    proxy.line(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}"#);
    for _ in 0..2000 {
        if house.waiting() == 0 {
            break;
        }
    }
    assert_eq!(house.waiting(), 0);
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"cancelled"}}}"#);
    assert_eq!(told(&mut proxy, 4)["outcome"]["outcome"], "cancelled");
}

#[test]
fn what_the_agent_does_through_the_editor_is_judged() {
    let mut house = House::with(POLICY);
    let mut proxy = started(&house);
    let path = house.root.join("notes.txt");

    prompt(
        &mut proxy,
        2,
        &json!({ "method": "fs/read_text_file", "params": { "sessionId": "s-1", "path": path } }),
    );
    assert_eq!(proxy.message()["method"], "fs/read_text_file", "a rule allows it");
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"content":"x"}}"#);
    assert_eq!(told(&mut proxy, 2)["content"], "x", "to the byte");

    let terminal = |command: &str, args: &[&str]| json!({ "method": "terminal/create", "params": { "sessionId": "s-1", "command": command, "args": args } });
    prompt(&mut proxy, 3, &terminal("rm", &["-rf", "x"]));
    let denied = told(&mut proxy, 3);
    assert!(denied["message"].as_str().unwrap().contains("[rule.deny]"), "{denied}");
    prompt(&mut proxy, 4, &terminal("sh", &["-c", "rm x"]));
    assert!(told(&mut proxy, 4)["message"].as_str().unwrap().contains("[rule.deny]"));
    prompt(&mut proxy, 5, &terminal("echo", &["hi"]));
    assert_eq!(proxy.message()["method"], "terminal/create");
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"terminalId":"t"}}"#);
    assert_eq!(told(&mut proxy, 5)["terminalId"], "t");

    house.stop();
    prompt(&mut proxy, 6, &terminal("echo", &["hi"]));
    let denied = told(&mut proxy, 6);
    assert!(denied["message"].as_str().unwrap().contains("[HOOK_NO_DAEMON]"), "{denied}");

    // What could be read in two ways ends both streams.
    proxy.line(r#"{"jsonrpc":"2.0","id":9,"method":"a","method":"b"}"#);
    assert_eq!(proxy.hear(), "", "closed");
    assert!(!proxy.end().success());
}

#[test]
fn a_call_is_judged_with_all_that_belongs_to_it() {
    let house = House::with(POLICY);
    let mut proxy = started(&house);
    // `echo` alone is allowed, `git` alone would be: what stands beside the program counts.
    let push = permission(&json!({ "command": "git", "args": ["push", "--force"] }));
    prompt(&mut proxy, 2, &push);
    assert_eq!(proxy.message()["method"], "session/request_permission", "at best asked");
    assert_eq!(house.ask()["call"]["input"]["command"], "git push --force");
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"selected","optionId":"no"}}}"#);
    assert_eq!(told(&mut proxy, 2)["outcome"]["optionId"], "no");
    let mut other = permission(&json!({ "command": "echo hi", "env": { "LD_PRELOAD": "x" } }));
    prompt(&mut proxy, 3, &other);
    assert_eq!(proxy.message()["method"], "session/request_permission", "nobody knows `env`");
    proxy.line(r#"{"jsonrpc":"2.0","id":"a-1","result":{"outcome":{"outcome":"selected","optionId":"no"}}}"#);
    assert_eq!(told(&mut proxy, 3)["outcome"]["optionId"], "no");
    other = command("echo hi");
    other["params"]["toolCall"]["kind"] = "other".into();
    prompt(&mut proxy, 4, &other);
    assert_eq!(proxy.message()["method"], "session/request_permission", "it is no shell");
}
