//! A daemon on another machine: what a hook keeps of its policy, and what that is worth while the
//! daemon is away. Both are the real binary, each in a home of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};

use super::house::{GATES, Home, Said, fed, said};

/// What the daemon's policy says at first.
const THEIRS: &str =
    "[rules]\nallow = [\"Bash(mkdir:*)\"]\nask = [\"Bash(pwd)\"]\ndeny = [\"Bash(uname:*)\"]\n";

/// What the policy of the machine with the hook says.
const OURS: &str = "[rules]\nallow = [\"Bash(touch:*)\"]\ndeny = [\"Bash(whoami)\"]\n";

/// A daemon with an address that stays, and an agent's machine whose hook knows it.
struct Two {
    there: Home,
    here: Home,
    address: String,
    secret: String,
    daemon: Option<Child>,
}

impl Two {
    fn new() -> Two {
        let (there, here) = (Home::with(THEIRS), Home::with(OURS));
        let made = said(
            there
                .portcullis(&["keys", "create", "--role", "agent", "--name", "far", "--json"])
                .spawn()
                .unwrap(),
        );
        let made: Value = serde_json::from_str(&made.out).unwrap_or_else(|_| panic!("{made:?}"));
        let secret = made["key"].as_str().unwrap().to_owned();
        let mut two = Two { there, here, address: "127.0.0.1:0".to_owned(), secret, daemon: None };
        two.serve();
        two.install(&json!({}));
        two
    }

    fn serve(&mut self) {
        let mut child =
            self.there.portcullis(&["serve", "--listen", &self.address]).spawn().unwrap();
        drop(child.stdin.take());
        let mut logs = child.stderr.take().unwrap();
        std::thread::spawn(move || logs.read_to_end(&mut Vec::new()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("http://")?;
            let is_part = |sign: &char| sign.is_ascii_alphanumeric() || ".:".contains(*sign);
            Some(address.chars().take_while(is_part).collect())
        });
        self.address = first.expect("it says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        self.daemon = Some(child);
    }

    fn kill(&mut self) {
        let mut child = self.daemon.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What `install --url` writes down.
    fn install(&self, more: &Value) {
        let public = fs::read_to_string(self.there.data().join("signing.pub")).unwrap();
        let mut installed = json!({
            "home": self.here.0, "config": self.here.0.join(".config/portcullis"),
            "url": format!("http://{}", self.address), "key": public.trim(),
        });
        for (name, value) in more.as_object().unwrap() {
            installed[name] = value.clone();
        }
        fs::write(self.here.data().join("install.json"), installed.to_string()).unwrap();
    }

    fn hook(&self, command: &str, words: &[&str], secret: &str) -> Said {
        let data = self.here.data();
        let mut hook = GATES[0].command(&self.here, &["--data-dir", data.to_str().unwrap()]);
        hook.args(words).env("PORTCULLIS_AGENT_KEY", secret);
        let mut document: Value = serde_json::from_slice(&GATES[0].document()).unwrap();
        document["tool_input"] = json!({ "command": command });
        fed(&mut hook, document.to_string().as_bytes())
    }

    /// The decision about a command, and the code of its reason.
    fn says(&self, command: &str) -> (String, String) {
        answer(&self.hook(command, &["--deadline-ms", "5000"], &self.secret))
    }

    fn cache(&self) -> PathBuf {
        self.here.data().join("policy.cache")
    }

    /// The version of what is kept.
    fn version(&self) -> String {
        let text = fs::read_to_string(self.cache()).unwrap();
        text.split(' ').nth(2).unwrap().to_owned()
    }

    /// Every call is denied because there is no daemon.
    fn assert_shut(&self, why: &str) {
        for command in ["ls", "touch x", "uname"] {
            let (decision, code) = self.says(command);
            assert_eq!(decision, "deny", "{why}: {command}");
            assert!(["HOOK_NO_DAEMON", "rule.deny"].contains(&code.as_str()), "{why}: {code}");
        }
        assert_eq!(self.says("ls").1, "HOOK_NO_DAEMON", "{why}");
    }

    fn doctor(&self) -> Vec<Value> {
        let data = self.here.data();
        let words = ["doctor", "claude", "--json", "--data-dir", data.to_str().unwrap()];
        let said = said(self.here.portcullis(&words).spawn().unwrap());
        let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
        let checks = report["hosts"][0]["checks"].as_array().unwrap();
        checks.iter().filter(|check| check["step"] == "cache").cloned().collect()
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        if self.daemon.is_some() {
            self.kill();
        }
    }
}

fn answer(said: &Said) -> (String, String) {
    assert_eq!(said.code, Some(0), "{said:?}");
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    let output = &document["hookSpecificOutput"];
    let reason = output["permissionDecisionReason"].as_str().unwrap();
    let code = reason.rsplit_once('[').unwrap().1.trim_end_matches(']');
    (output["permissionDecision"].as_str().unwrap().to_owned(), code.to_owned())
}

fn is(decision: &str, code: &str) -> (String, String) {
    (decision.to_owned(), code.to_owned())
}

#[test]
fn what_is_kept_stops_calls_while_the_daemon_is_away() {
    let mut two = Two::new();
    assert_eq!(two.says("uname -a"), is("deny", "rule.deny"), "the daemon says so");
    let mode = fs::metadata(two.cache()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(two.says("mkdir x"), is("allow", "rule.allow"), "the daemon's own rule");
    let kept = fs::read(two.cache()).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("mkdir"), "what only opens stays there");

    two.kill();
    assert_eq!(two.says("uname -a"), is("deny", "rule.deny"), "its deny rule is kept");
    assert_eq!(two.says("pwd"), is("ask", "rule.ask"), "its ask rule is kept");
    assert_eq!(two.says("whoami"), is("deny", "rule.deny"), "the rules here count too");
    assert_eq!(two.says("ls").0, "allow", "what only reads runs by both");
    assert_eq!(two.says("mkdir x").0, "ask", "what opens there is not kept");
    assert_eq!(two.says("touch x").0, "ask", "and a rule here opens nothing that it would ask");
    let said = two.hook("ls", &["--daemon", "required"], &two.secret);
    assert_eq!(answer(&said), is("deny", "HOOK_NO_DAEMON"), "`required` stays so");
    let said = two.hook("touch x", &["--native-ask", "never"], &two.secret);
    assert_eq!(answer(&said), is("deny", "HOOK_NO_DAEMON"));
    let journal = fs::read_to_string(two.here.data().join("journal.jsonl")).unwrap();
    assert!(journal.contains("\"rule.deny\""), "{journal}");
    assert_eq!(fs::read(two.cache()).unwrap(), kept, "nobody wrote it");
}

#[test]
fn what_changes_on_the_daemon_is_kept_from_the_next_call_on() {
    let mut two = Two::new();
    two.says("ls");
    let before = two.version();
    let written = fs::metadata(two.cache()).unwrap().modified().unwrap();
    two.says("ls");
    assert_eq!(fs::metadata(two.cache()).unwrap().modified().unwrap(), written, "not again");
    two.kill();
    two.there.policy("[rules]\ndeny = [\"Bash(ls:*)\"]\n");
    assert_eq!(two.says("ls").0, "allow", "nobody has heard of it");
    two.serve();
    assert_eq!(two.says("pwd").0, "allow");
    assert_ne!(two.version(), before);
    two.kill();
    assert_eq!(two.says("ls"), is("deny", "rule.deny"));
    assert_eq!(two.says("uname -a").0, "allow", "the old rule is gone");

    // From here on the daemon is wanted for every call.
    two.there.policy("[hosts]\ndaemon = \"required\"\n");
    two.serve();
    two.says("pwd");
    two.kill();
    two.assert_shut("the policy there wants the daemon");
}

#[test]
fn what_cannot_be_believed_is_as_good_as_nothing() {
    let mut two = Two::new();
    two.says("ls");
    let (good, path) = (fs::read_to_string(two.cache()).unwrap(), two.cache());
    two.kill();
    two.install(&json!({}));
    assert_eq!(two.says("ls").0, "allow", "as it was written");
    let put = |text: &str| {
        let _ = fs::remove_file(&path);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    #[rustfmt::skip]
    let damaged = [
        ("without a rule",      good.replace("Bash(uname:*)", "Bash(unami:*)")),
        ("cut off",             good.split_at(good.len() - 7).0.to_owned()),
        ("another version",     good.replacen(&two.version(), "0000000000000000", 1)),
        ("no signature",        good.replacen(good.split([' ', '\n']).nth(5).unwrap(), "", 1)),
        ("empty",               String::new()),
        ("a policy in TOML",    "mode = \"bypass\"\n".to_owned()),
        ("longer than it was",  format!("{good}\n")),
    ];
    for (what, text) in damaged {
        put(&text);
        two.assert_shut(what);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{what}: it stays for who looks");
    }
    put(&good);
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        two.assert_shut("others may write it");
    }
    put(&good);
    let data = two.here.data();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    two.assert_shut("others may write its directory");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
        two.assert_shut("somebody else owns it");
    }
    fs::rename(&path, data.join("aside")).unwrap();
    two.assert_shut("there is none");
    symlink(data.join("aside"), &path).unwrap();
    two.assert_shut("it is a link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    two.assert_shut("it is a directory");
    fs::remove_dir(&path).unwrap();

    put(&good);
    let other = format!("pcl_agent_{}", "A".repeat(43));
    let said = two.hook("ls", &[], &other);
    assert_eq!(answer(&said), is("deny", "HOOK_NO_DAEMON"), "it is of another agent's key");
    two.install(&json!({ "key": "ab".repeat(32) }));
    two.assert_shut("another daemon was pinned");
    two.install(&json!({ "key": null }));
    two.assert_shut("no key was pinned");
    two.install(&json!({}));
    assert_eq!(two.says("ls").0, "allow", "nothing else was changed");

    // A call through the daemon mends whatever stands there.
    put("damaged");
    two.serve();
    two.install(&json!({}));
    two.says("ls");
    two.kill();
    assert_eq!(two.says("ls").0, "allow");
}

#[test]
fn a_daemon_elsewhere_hears_where_paths_lead_here() {
    let two = Two::new();
    let place = two.here.0.join("work");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("plain"), "x").unwrap();
    symlink("/etc/shadow", place.join("innocent")).unwrap();
    symlink("loop", place.join("loop")).unwrap();
    let says = |command: &str, fault: &str| {
        let data = two.here.data();
        let mut hook = GATES[0].command(&two.here, &["--data-dir", data.to_str().unwrap()]);
        hook.args(["--deadline-ms", "4000"]).env("PORTCULLIS_AGENT_KEY", &two.secret);
        hook.env("PORTCULLIS_HOOK_FAULT", fault);
        let mut document: Value = serde_json::from_slice(&GATES[0].document()).unwrap();
        document["tool_input"] = json!({ "command": command });
        document["cwd"] = json!(place);
        fed(&mut hook, document.to_string().as_bytes())
    };
    assert_eq!(answer(&says("cat plain", "")), is("allow", "read_only"));
    assert_eq!(answer(&says("cat new/missing", "")), is("allow", "read_only"));
    assert_eq!(answer(&says("cat innocent", "")), is("deny", "HOOK_DEADLINE"), "a person is asked");
    assert_eq!(answer(&says("mkdir new", "")), is("allow", "rule.allow"));
    assert_eq!(answer(&says("mkdir loop/new", "")), is("deny", "HOOK_DEADLINE"), "who can tell");
    let asks = said(two.there.portcullis(&["asks", "--json"]).spawn().unwrap());
    assert!(asks.out.contains("\"recorded\"") && asks.out.contains("secret_read"), "{asks:?}");
    for fault in ["abort", "panic", "silence", "garbage", "half"] {
        let said = says("cat plain", fault);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{fault}: {said:?}");
        assert!(said.error.contains("[HOOK_INTERNAL]"), "{fault}: {said:?}");
    }
}

#[test]
fn doctor_tells_what_is_kept() {
    let mut two = Two::new();
    let url = format!("http://{}", two.address);
    let public = two.there.data().join("signing.pub");
    fs::remove_file(two.here.data().join("install.json")).unwrap();
    let words = ["install", "claude", "--url", &url, "--public-key", public.to_str().unwrap()];
    let installed = said(two.here.portcullis(&words).spawn().unwrap());
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let none = two.doctor();
    assert_eq!(none[0]["state"], "untested", "{none:?}");
    two.says("ls");
    let kept = two.doctor();
    assert_eq!(kept[0]["state"], "holds", "{kept:?}");
    let told = kept[0]["told"].as_str().unwrap();
    assert!(told.contains(&two.version()) && told.contains("2 deny and ask rules"), "{told}");
    two.kill();
    fs::write(two.cache(), "mode = \"bypass\"\n").unwrap();
    let damaged = two.doctor();
    assert_eq!(damaged[0]["state"], "open", "{damaged:?}");
}
