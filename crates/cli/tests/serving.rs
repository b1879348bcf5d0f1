//! The daemon and the commands that speak with it, as users meet them: the real binary, a home of
//! its own, a port of its own.

#![cfg(test)]

#[path = "serving/floods.rs"]
mod floods;
#[path = "serving/house.rs"]
mod house;
#[path = "serving/packaging.rs"]
mod packaging;
#[path = "serving/stores.rs"]
mod stores;
#[path = "serving/traces.rs"]
mod traces;
#[path = "serving/watching.rs"]
mod watching;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use house::{Daemon, Home, json, of, said};

fn serve(home: Home) -> Daemon {
    let command = home.serving();
    home.serve_by(command)
}

#[test]
fn the_first_start_makes_what_is_needed_for_nobody_else() {
    let daemon = serve(Home::new());
    let mode =
        |file: &str| fs::metadata(daemon.home.data(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    assert_eq!(
        (mode("cli.key"), mode("signing.key"), mode("portcullis.sock")),
        (0o600, 0o600, 0o600)
    );
    assert!(daemon.home.0.join(".config/portcullis/policy.toml").exists());

    let second = daemon.says(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code, 2, "{}", second.error);
    assert!(second.error.contains("a daemon runs on"), "{}", second.error);
    let asks = daemon.says(&["asks"]);
    assert_eq!((asks.out.as_str(), asks.code), ("nothing waits for you\n", 0), "{}", asks.error);
    let home = daemon.stop();
    let gone = home.says(&["asks"]);
    assert_eq!(gone.code, 2);
    assert!(gone.error.contains("start one with `portcullis serve`"), "{}", gone.error);
}

#[test]
fn a_daemon_has_no_more_heaps_than_cores_unless_somebody_says_so() {
    let heaps = |daemon: &Daemon| {
        let environment = fs::read(format!("/proc/{}/environ", daemon.child.id())).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let found = environment.split('\0').find_map(|one| one.strip_prefix("GLIBC_TUNABLES="));
        found.unwrap_or_default().to_owned()
    };
    let daemon = serve(Home::new());
    let cores = std::thread::available_parallelism().unwrap();
    assert_eq!(heaps(&daemon), format!("glibc.malloc.arena_max={cores}"));

    let home = daemon.stop();
    let mut command = home.serving();
    command.env("GLIBC_TUNABLES", "glibc.malloc.arena_max=7");
    assert_eq!(heaps(&home.serve_by(command)), "glibc.malloc.arena_max=7");
}

#[test]
fn keys_are_made_and_revoked_with_and_without_a_daemon() {
    let home = Home::new();
    assert_eq!(home.says(&["keys", "list"]).out, "no keys\n");
    assert_eq!(home.says(&["keys", "list", "--json"]).out, "{\"keys\":[]}\n");
    assert_eq!(home.says(&["keys", "revoke", "early"]).code, 2);
    assert!(!home.0.join(".local").exists(), "whoever only looks makes nothing");
    let before = home.says(&["keys", "create", "--role", "agent", "--name", "early"]);
    assert_eq!(before.code, 0, "{}", before.error);
    assert!(
        before.out.starts_with("pcl_agent_") && before.out.trim_end().len() == 53,
        "{}",
        before.out
    );
    let twice = home.says(&["keys", "create", "--role", "agent", "--name", "early"]);
    assert_eq!(twice.code, 2, "the name is taken");

    let daemon = serve(home);
    let call = |key: &str| {
        let mut command = daemon.home.portcullis(&["call", "ls", "--cwd", "/"]);
        command.env("PORTCULLIS_URL", &daemon.url).env("PORTCULLIS_AGENT_KEY", key.trim_end());
        said(&mut command)
    };
    assert_eq!(call(&before.out).code, 0);
    let made = daemon
        .says(&["keys", "create", "--role", "agent", "--name", "late", "--days", "1", "--json"]);
    let made = json(&made.out);
    let late = made["key"].as_str().unwrap();
    let mut said_late = call(late);
    assert_eq!(said_late.code, 0, "{}", said_late.error);
    assert_eq!(daemon.says(&["keys", "revoke", "late"]).code, 0);
    for _ in 0..200 {
        if said_late.code != 0 {
            break;
        }
        said_late = call(late);
    }
    assert_eq!(said_late.code, 2, "a revoked key counts no longer");
    let list = daemon.says(&["keys", "list", "--json"]).out;
    assert!(!list.contains("pcl_"), "no secret is shown: {list}");
    let names: Vec<_> =
        json(&list)["keys"].as_array().unwrap().iter().map(|key| key["name"].clone()).collect();
    assert_eq!(names, ["early", "anna", "late"]);
    let owners =
        ["keys", "create", "--role", "agent", "--name", "x", "--owner", "a", "--owner", "b"];
    assert_eq!(daemon.says(&owners).code, 2, "an agent has one owner");
}

#[test]
fn a_person_approves_what_a_call_waits_for() {
    let daemon = serve(Home::new());
    assert_eq!(daemon.says(&["call", "ls"]).code, 0);
    let denied = daemon.says(&["call", "rm -rf ~/.local/share/portcullis"]);
    assert_eq!(denied.code, 1, "{}", denied.out);

    let says = "looks \u{202e}harmless\u{1b}[2J";
    let (waiting, _, id) =
        daemon.asking(&["call", "npm publish \u{202e}x", "--session", "s", "--description", says]);
    let asks = daemon.says(&["asks"]).out;
    assert!(asks.contains(&id) && asks.contains("npm publish \\u{202e}x"), "{asks}");
    assert!(asks.contains("looks \\u{202e}harmless\\x1b[2J"), "{asks}");
    assert!(!asks.contains('\u{202e}') && !asks.contains('\u{1b}'), "nothing hides: {asks:?}");
    assert!(asks.lines().all(|line| line.chars().count() <= 80), "{asks}");
    let whole = json(&daemon.says(&["asks", "--json"]).out)["asks"][0]["id"].clone();
    let approved = daemon.says(&["approve", &id]);
    assert_eq!(approved.code, 0, "{}", approved.error);
    assert!(
        approved.out.starts_with(&format!("approved {id}, once: npm publish")),
        "{}",
        approved.out
    );
    let outcome = of(&waiting.wait_with_output().unwrap());
    assert_eq!((outcome.out.as_str(), outcome.code), ("allow: approved by anna (once)\n", 0));

    let again = daemon.says(&["approve", whole.as_str().unwrap(), "--json"]);
    assert_eq!(again.code, 1, "it is settled");
    assert_eq!(json(&again.out)["error"]["code"], "ASK_ALREADY_SETTLED");
    assert_eq!(daemon.says(&["approve", "latest"]).code, 2, "nothing is left to approve");
}

#[test]
fn the_readme_shows_what_an_ask_looks_like() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, example) = readme.split_once("$ portcullis asks\n").expect("the example");
    let (asks, approve) = example.split_once("$ portcullis approve 0da907\n").unwrap();
    let (approved, _) = approve.split_once("```").unwrap();
    let daemon = serve(Home::new());
    let (waiting, mut error, id) = daemon.asking(&["call", "npm publish"]);
    let shown = daemon.says(&["asks"]).out.replace(&id, "0da907");
    // The directory and the time are those of the day.
    let varies = |line: &str| line.starts_with("      in  ") || line.starts_with("0da907  ");
    let steady =
        |text: &str| text.lines().filter(|line| !varies(line)).collect::<Vec<_>>().join("\n");
    assert_eq!(steady(&shown), steady(asks));
    let said = daemon.says(&["approve", &id]);
    // Below may stand that the call has not come back to wait yet.
    assert!(said.out.replace(&id, "0da907").starts_with(approved), "{}{}", said.out, said.error);
    assert!(waiting.wait_with_output().unwrap().status.success());
    let mut rest = String::new();
    error.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "one line of progress is enough");
}

#[test]
fn a_rejection_carries_its_reason() {
    let daemon = serve(Home::new());
    let (waiting, _, _) = daemon.asking(&["call", "npm publish"]);
    let rejected = daemon.says(&["reject", "latest", "--feedback", "not on a Friday"]);
    assert_eq!(rejected.code, 0, "{}", rejected.error);
    let outcome = of(&waiting.wait_with_output().unwrap());
    assert_eq!(
        (outcome.out.as_str(), outcome.code),
        ("deny: rejected by anna: not on a Friday\n", 1)
    );

    let pending = daemon.says(&["call", "npm publish", "--wait", "0", "--json"]);
    assert_eq!(pending.code, 3);
    assert_eq!(json(&pending.out)["outcome"], "ask");
    let changed = daemon.says(&["approve", "latest", "--command", "npm pack", "--json"]);
    assert_eq!(json(&changed.out)["input"]["command"], "npm pack", "{}", changed.error);
}

#[test]
fn grants_reach_as_far_as_was_said_and_can_be_taken_back() {
    let daemon = serve(Home::new());
    let call = ["call", "npm publish", "--session", "s", "--wait", "0"];
    assert_eq!(daemon.says(&call).code, 3);
    let rule = "Bash(npm publish:*)";
    let approved =
        daemon.says(&["approve", "latest", "--scope", "session", "--rule", rule, "--for", "10m"]);
    assert_eq!(approved.code, 0, "{}", approved.error);
    assert_eq!(daemon.says(&call).code, 0, "the grant covers it");
    assert_eq!(daemon.says(&["call", "npm publish", "--session", "t", "--wait", "0"]).code, 3);
    let refused = daemon.says(&["approve", "latest", "--scope", "session", "--rule", "Bash(*)"]);
    assert_eq!(refused.code, 1, "it was not offered: {}", refused.error);

    let grants = daemon.says(&["grants", "list", "--json"]);
    let grants = json(&grants.out);
    assert_eq!(grants["grants"][0]["rule"], rule);
    assert!(daemon.says(&["grants"]).out.contains("session s, owner local, by anna"));
    let id = grants["grants"][0]["id"].as_str().unwrap();
    assert_eq!(daemon.says(&["grants", "revoke", id.get(30..).unwrap()]).code, 0);
    assert_eq!(daemon.says(&call).code, 3, "it asks again");
    assert_eq!(daemon.says(&["grants", "revoke", id]).code, 2, "it is gone");
}

#[test]
fn whoever_watches_sees_asks_come_and_go() {
    let daemon = serve(Home::new());
    let mut watcher = daemon.home.portcullis(&["asks", "--watch", "--json"]).spawn().unwrap();
    let mut events = BufReader::new(watcher.stdout.take().unwrap()).lines();
    assert_eq!(daemon.says(&["call", "npm publish", "--wait", "0"]).code, 3);
    let mut next = || json(&events.next().expect("an event").unwrap());
    let opened = next();
    assert_eq!(opened["type"], "ask.opened");
    assert_eq!(opened["ask"]["call"]["input"]["command"], "npm publish");
    assert_eq!(daemon.says(&["reject", "latest"]).code, 0);
    let settled =
        std::iter::repeat_with(next).find(|event| event["type"] == "ask.settled").unwrap();
    assert_eq!(settled["ask"]["decision"]["door"], "terminal");
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn the_audit_shows_what_was_changed() {
    let daemon = serve(Home::new());
    daemon.says(&["call", "ls"]);
    daemon.says(&["call", "npm publish", "--wait", "0"]);
    daemon.says(&["reject", "latest"]);
    assert!(daemon.says(&["audit", "tail"]).out.contains("ask.settled"));
    let home = daemon.stop();
    let good = home.says(&["audit", "verify"]);
    assert_eq!(good.code, 0, "{}{}", good.out, good.error);
    assert!(good.out.starts_with("whole: entries "), "{}", good.out);
    assert_eq!(home.says(&["audit", "export", "audit.jsonl"]).code, 0);
    let file = home.0.join("audit.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let verify = |text: &str| {
        fs::write(&file, text).unwrap();
        let said = home.says(&["audit", "verify", "audit.jsonl", "--json"]);
        (said.code, json(&said.out))
    };
    assert_eq!(verify(&text).0, 0);
    assert_eq!(verify(&text).1["entries_not_signed_yet"], 0, "the end is signed when it stops");

    let (code, changed) = verify(&text.replace("npm publish", "npm pack"));
    assert_eq!(code, 1);
    assert_eq!(changed["first_wrong"]["what"], "its content was changed");
    let wrong = changed["first_wrong"]["seq"].as_u64().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let line = lines.iter().find(|line| line.contains("npm publish")).unwrap();
    assert_eq!(json(line)["seq"], wrong, "it is the first that is wrong");

    let without = |left_out: usize| {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != left_out);
        kept.fold(String::new(), |text, (_, line)| text + line + "\n")
    };
    let at = lines.iter().position(|other| other == line).unwrap();
    assert_eq!(verify(&without(at)).1["first_wrong"]["seq"], wrong, "an entry was taken out");
    let point = lines.iter().rposition(|line| line.contains("\"signature\"")).unwrap();
    assert_eq!(verify(&without(point - 1)).0, 1, "the last was taken out, its signature stayed");
    let first = lines.iter().position(|line| line.contains("\"signature\"")).unwrap();
    let moved = without(first) + lines[first] + "\n";
    let what = &verify(&moved).1["first_wrong"]["what"];
    assert_eq!(what, "its checkpoint stands in the wrong place");
    let tail = lines.iter().skip(first).fold(String::new(), |text, line| text + line + "\n");
    assert!(verify(&tail).1["begins_behind"]["local"].as_u64() > Some(0), "older ones are gone");
    let cut = lines.iter().take(first).fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(verify(&cut).0, 0, "without a signature nothing tells that more was there");
    fs::write(home.0.join("kept"), lines[point]).unwrap();
    let kept = ["audit", "verify", "audit.jsonl", "--checkpoint", "kept"];
    let missed = home.says(&kept);
    assert!(missed.code == 1 && missed.out.contains("signed for and is missing"), "{}", missed.out);
    fs::write(&file, &text).unwrap();
    assert_eq!(home.says(&kept).code, 0, "what was kept elsewhere tells");
    let forged = text.replace("\"signature\":\"", "\"signature\":\"A");
    assert_eq!(verify(&forged).0, 1, "nobody signed that");
    fs::write(home.0.join("other.pub"), format!("{}\n", "ab".repeat(32))).unwrap();
    fs::write(&file, &text).unwrap();
    let other = home.says(&["audit", "verify", "audit.jsonl", "--public-key", "other.pub"]);
    assert_eq!(other.code, 1, "another key: {}", other.out);

    let db = rusqlite::Connection::open(home.data("portcullis.db")).unwrap();
    let change = "UPDATE audit SET data = replace(data, 'npm publish', 'npm pack')";
    assert!(db.execute(change, []).unwrap() > 0);
    let broken = home.says(&["audit", "verify", "--json"]);
    assert_eq!(broken.code, 1);
    assert_eq!(json(&broken.out)["first_wrong"]["seq"], wrong, "{}", broken.out);
    // Even one who writes every hash anew has no signature for it.
    db.execute("DELETE FROM audit WHERE seq > 2", []).unwrap();
    db.execute("UPDATE chains SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)", [])
        .unwrap();
    let cut = json(&home.says(&["audit", "verify", "--json"]).out);
    assert_eq!(cut["first_wrong"]["what"], "it was signed for and is missing", "{cut}");
}

#[test]
fn a_receipt_holds_for_its_call_alone() {
    let daemon = serve(Home::new());
    let said = daemon.says(&["call", "ls", "--cwd", "/", "--receipt", "--json"]);
    let receipt = json(&said.out)["receipt"].as_str().unwrap().to_owned();
    let call =
        |command: &str| format!(r#"{{"tool":"Bash","input":{{"command":"{command}"}},"cwd":"/"}}"#);
    let verify = |receipt: &str, more: &[&str]| {
        let arguments: Vec<&str> =
            ["receipt", "verify", receipt].iter().chain(more).copied().collect();
        daemon.says(&arguments).code
    };
    assert_eq!(verify(&receipt, &[]), 0);
    assert_eq!(verify(&receipt, &["--call", &call("ls")]), 0);
    assert_eq!(verify(&receipt, &["--call", &call("ls -R")]), 1, "another call");
    assert_eq!(verify(&receipt, &["--call", r#"{"tool":"Bash","tool":"Bash","input":{}}"#]), 2);
    assert_eq!(verify(&receipt, &["--digest", "sha256:00"]), 1);
    assert_eq!(verify(&format!("{receipt}A"), &[]), 1, "forged");
    assert_eq!(verify("v1.e30.AAAA", &[]), 1, "no receipt at all");

    let mut piped = daemon.home.portcullis(&["receipt", "verify", "-"]);
    let mut child = piped.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{receipt}\n").as_bytes()).unwrap();
    assert_eq!(of(&child.wait_with_output().unwrap()).code, 0);
}

#[test]
fn an_agent_cannot_answer_itself() {
    let daemon = serve(Home::new());
    assert_eq!(daemon.says(&["call", "npm publish", "--wait", "0"]).code, 3);
    // A host by name: any program of this name that starts us.
    let host = daemon.home.0.join("claude");
    fs::copy("/bin/sh", &host).unwrap();
    let under = |words: &str| {
        let line = format!("'{}' {words}; exit $?", env!("CARGO_BIN_EXE_portcullis"));
        said(&mut daemon.home.command(host.to_str().unwrap(), &["-c", &line]))
    };
    for words in ["approve latest", "reject latest", "grants", "keys create --role admin --name x"]
    {
        let said = under(words);
        assert_eq!(said.code, 2, "{words}: {}", said.out);
        assert!(
            said.error.contains("`claude`") && said.error.contains("for people"),
            "{}",
            said.error
        );
    }
    assert_eq!(under("call ls").code, 0, "it may ask");
    assert!(daemon.says(&["asks"]).out.starts_with("1 ask waits"), "nothing was answered");
}

#[test]
fn a_daemon_elsewhere_wants_a_key_of_the_right_role() {
    let daemon = serve(Home::new());
    let key = fs::read_to_string(daemon.home.data("cli.key")).unwrap();
    let with = |arguments: &[&str], name: &str, key: &str| {
        let mut command = daemon.home.portcullis(arguments);
        said(command.env("PORTCULLIS_URL", &daemon.url).env(name, key.trim_end()))
    };
    assert_eq!(with(&["asks"], "PORTCULLIS_APPROVER_KEY", &key).code, 0);
    assert_eq!(with(&["asks"], "PORTCULLIS_APPROVER_KEY", "pcl_approver_x").code, 2);
    assert_eq!(with(&["asks"], "UNUSED", "").code, 2, "the key of the command line stays here");
    let wrong = with(&["call", "ls"], "PORTCULLIS_AGENT_KEY", &key);
    assert!(wrong.code == 2 && wrong.error.contains("another role"), "{}", wrong.error);
}

#[test]
fn the_demo_plays_to_its_end() {
    let daemon = serve(Home::new());
    let mut command = daemon.home.portcullis(&["demo", "--answer"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a\nwhat\nr\n").unwrap();
    let said = of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{}", said.error);
    assert!(said.out.contains("allow: approved by anna"), "{}", said.out);
    assert!(said.out.contains("deny: rejected by anna"), "{}", said.out);
    assert!(said.out.contains("(self_protection, destructive)"), "{}", said.out);
    let unanswered = daemon.says(&["demo", "--wait", "0"]);
    assert!(unanswered.out.contains("deny: taken back"), "{}", unanswered.out);
    assert_eq!(daemon.says(&["asks"]).out, "nothing waits for you\n", "nothing is left behind");
}

#[test]
fn the_hook_answers_whatever_happens() {
    let home = Home::new();
    for arguments in [&["hook", "agentbot"][..], &["hook", "agentbot", "--nonsense"]] {
        let said = home.says(arguments);
        assert_eq!((said.code, json(&said.out)["allow"].clone()), (0, false.into()));
        assert_eq!(said.out.lines().count(), 1);
    }
    assert_eq!(home.says(&["hook", "nobody"]).code, 2);
}

#[test]
fn no_secret_is_logged() {
    let home = Home::new();
    let mut command = home.serving();
    command.env("PORTCULLIS_LOG", "trace");
    let daemon = home.serve_by(command);
    let made = daemon.says(&["keys", "create", "--role", "agent", "--name", "a"]);
    let key = made.out.trim_end();
    for (key, code) in [(key, 0), (&format!("{key}x"), 2)] {
        let mut command = daemon.home.portcullis(&["call", "ls", "--cwd", "/"]);
        command.env("PORTCULLIS_URL", &daemon.url).env("PORTCULLIS_AGENT_KEY", key);
        assert_eq!(said(&mut command).code, code);
    }
    daemon.says(&[
        "call",
        "curl -H 'Authorization: Bearer hunter2hunter2' x.example",
        "--wait",
        "0",
    ]);
    let logs = daemon.logs.lock().unwrap().clone();
    assert!(!logs.is_empty(), "something is logged");
    assert!(!logs.contains("pcl_agent_") && !logs.contains("hunter2"), "{logs}");
}

#[test]
fn the_container_knows_whether_the_daemon_answers() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/Containerfile");
    let text = fs::read_to_string(file).unwrap();
    let (_, check) = text.split_once("HEALTHCHECK").unwrap();
    let (_, check) = check.split_once("CMD ").unwrap();
    let words = json(check.lines().next().unwrap());
    let words: Vec<&str> = words.as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    let daemon = serve(Home::new());
    let port = daemon.url.rsplit(':').next().unwrap().to_owned();
    let run = |home: &Home| {
        let words: Vec<String> = words.iter().map(|word| word.replace("4283", &port)).collect();
        let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        said(&mut home.command(&words[0], &rest)).code
    };
    assert_eq!(run(&daemon.home), 0, "it is ready");
    let home = daemon.stop();
    assert_ne!(run(&home), 0, "it is gone");
}

#[test]
fn the_demo_speaks_json() {
    let daemon = serve(Home::new());
    let said = daemon.says(&["demo", "--json", "--wait", "0"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.error);
    let lines: Vec<serde_json::Value> = said.out.lines().map(json).collect();
    let outcomes: Vec<&str> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["allow", "allow", "deny", "deny", "deny"], "{}", said.out);
    assert_eq!(lines[2]["command"], "npm publish --tag next");
    assert_eq!(lines[2]["decision"]["reason"], "withdrawn", "nobody answered");
}

#[test]
fn a_mistake_in_the_configuration_is_shown_where_it_stands() {
    let home = Home::new();
    #[rustfmt::skip]
    let cases = [
        ("listen = \"127.0.0.1:0\"\n[limits]\npending_asks_per_agnt = 3\n",
            "error: unknown key `pending_asks_per_agnt`\n --> c.toml:3:1\n  |\n3 | pending_asks_per_agnt = 3\n  | ^^^^^^^^^^^^^^^^^^^^^\n  = help: did you mean `pending_asks_per_agent`?\n"),
        ("[limits]\npending_asks_per_agent = \"x\"\n",
            "error: `pending_asks_per_agent` must be a whole number, not a text\n --> c.toml:2:26\n  |\n2 | pending_asks_per_agent = \"x\"\n  |                          ^^^\n"),
    ];
    for (text, want) in cases {
        fs::write(home.0.join("c.toml"), text).unwrap();
        let said = home.says(&["serve", "--config", "c.toml"]);
        assert_eq!((said.error.as_str(), said.code), (want, 2), "{text}");
    }
    fs::write(home.0.join("p.toml"), "mod = \"default\"\n").unwrap();
    let said = home.says(&["serve", "--policy", "p.toml", "--listen", "127.0.0.1:0"]);
    let want = "error: unknown key `mod`\n --> p.toml:1:1\n  |\n1 | mod = \"default\"\n  | ^^^\n  = help: did you mean `mode`?\n";
    assert_eq!((said.error.as_str(), said.code), (want, 2));
}
