//! Every way a hook can fail, for every host: what is said blocks the tool.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::house::{GATES, Gate, Home, assert_blocks, check_reason, fed, feed, fixture, said};

const ALLOWS: &str = "mode = \"bypass\"\n";

/// What a false daemon does with a connection.
#[derive(Clone)]
pub enum Play {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// Nothing for as long as the other side waits.
    Silence,
    /// The end, before anything was read.
    Hangup,
}

/// A daemon that plays what it is told.
pub fn false_daemon(home: &Home, play: Play) -> Arc<AtomicUsize> {
    let socket = home.data().join("portcullis.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::Relaxed);
            let play = play.clone();
            std::thread::spawn(move || {
                if matches!(play, Play::Hangup) {
                    return;
                }
                // The request is short: one read has its head, and the answer waits for no more.
                let _ = stream.read(&mut vec![0; 1 << 16]);
                match play {
                    Play::Bytes(bytes) => drop(stream.write_all(&bytes)),
                    Play::Silence => drop(stream.read(&mut [0])),
                    Play::Hangup => {}
                }
            });
        }
    });
    count
}

fn reply(status: u16, body: &str) -> Play {
    let length = body.len();
    Play::Bytes(
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes(),
    )
}

#[test]
fn a_document_that_is_not_understood_is_denied() {
    let home = Home::with(ALLOWS);
    let mut documents: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("no JSON", b"this is not json".to_vec()),
        ("a list", b"[]".to_vec()),
        ("null", b"null".to_vec()),
        ("no UTF-8", b"{\"a\":\"\xff\"}".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("deep", format!("{}{}", "[".repeat(5000), "]".repeat(5000)).into_bytes()),
    ];
    documents.push(("a byte order mark", b"\xef\xbb\xbf{}".to_vec()));
    for gate in GATES {
        let document = gate.document();
        let mut own = documents.clone();
        own.push(("cut off", document[..document.len() - 1].to_vec()));
        own.push(("two", [document.clone(), document.clone()].concat()));
        own.push(("text before", [b"x".to_vec(), document.clone()].concat()));
        let mut twice = document.clone();
        twice.pop();
        own.push(("a field twice", [&twice[..], b",\"cwd\":1,\"cwd\":2}"].concat()));
        for (what, document) in own {
            // Amp's documents are the parameters of any tool; an empty object is one of them.
            if gate.host == "amp" && what == "an empty object" {
                continue;
            }
            let said = gate.answer(&home, &["--daemon", "off"], &document);
            assert_blocks(gate, &said, &format!("{}: {what}", gate.host));
            if gate.host != "cline" {
                let want = fixture(&format!("{}/internal-failure", gate.host));
                super::house::assert_fits(&said, &want, &format!("{}: {what}", gate.host));
            }
        }
    }
}

#[test]
fn a_field_that_is_missing_or_of_another_type_never_lets_a_call_through_unread() {
    let home = Home::with("mode = \"dont-ask\"\n");
    for gate in GATES {
        let document: Value = serde_json::from_slice(&gate.document()).unwrap();
        let names: Vec<String> = document.as_object().unwrap().keys().cloned().collect();
        for name in names {
            for other in [None, Some(Value::from(7)), Some(Value::Null), Some(Value::from(""))] {
                let mut changed = document.clone();
                let members = changed.as_object_mut().unwrap();
                match &other {
                    None => drop(members.remove(&name)),
                    Some(other) => drop(members.insert(name.clone(), other.clone())),
                }
                let said = gate.answer(&home, &["--daemon", "off"], changed.to_string().as_bytes());
                assert_blocks(gate, &said, &format!("{}: {name} is {other:?}", gate.host));
            }
        }
    }
}

#[test]
fn a_document_that_is_too_large_is_denied() {
    let home = Home::with(ALLOWS);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(8 << 20));
    for gate in GATES {
        let said = gate.answer(&home, &["--daemon", "off"], large.as_bytes());
        assert_blocks(gate, &said, gate.host);
        assert!(format!("{}{}", said.out, said.error).contains("[HOOK_TOO_LARGE]"), "{said:?}");
    }
}

#[test]
fn whatever_the_worker_dies_of_the_call_is_denied() {
    let home = Home::with(ALLOWS);
    let faults = [
        "panic",
        "abort",
        "overflow",
        "memory",
        "exit",
        "silence",
        "garbage",
        "half",
        "allow-and-die",
        "flood",
    ];
    for gate in GATES {
        for fault in faults {
            let mut command = gate.command(&home, &["--daemon", "off"]);
            command.env("PORTCULLIS_HOOK_FAULT", fault);
            let said = fed(&mut command, &gate.document());
            assert_blocks(gate, &said, &format!("{}: the worker's {fault}", gate.host));
            if !["cline", "copilot"].contains(&gate.host) {
                assert_eq!(said.code, Some(2), "{}: {fault}", gate.host);
            }
        }
        let mut command = gate.command(&home, &["--daemon", "off", "--deadline-ms", "600"]);
        command.env("PORTCULLIS_HOOK_FAULT", "hang");
        let said = fed(&mut command, &gate.document());
        assert_blocks(gate, &said, &format!("{}: the worker hangs", gate.host));
        assert!(format!("{}{}", said.out, said.error).contains("[HOOK_DEADLINE]"), "{said:?}");
    }
}

#[test]
fn an_answer_that_reaches_nobody_is_a_failure() {
    let home = Home::with("mode = \"dont-ask\"\n");
    let binary = env!("CARGO_BIN_EXE_portcullis");
    for gate in GATES {
        for how in [">&-", ">/dev/null", ">/dev/full"] {
            let script = format!("exec \"$@\" {how}");
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh", binary, "hook", gate.host, gate.event]);
            command.args(["--daemon", "off"]).env("HOME", &home.0);
            command.envs(gate.environment.iter().copied());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let said = fed(&mut command, &gate.document());
            assert_eq!(said.code, Some(2), "{} {how}: {said:?}", gate.host);
            check_reason(&said.error);
        }
        // The reader has gone away.
        let mut command = gate.command(&home, &["--daemon", "off"]);
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        feed(&mut child, &gate.document());
        let said = said(child);
        assert_eq!(said.code, Some(2), "{}: {said:?}", gate.host);
        check_reason(&said.error);
    }
}

#[test]
fn a_standard_input_that_never_ends_is_denied_at_the_deadline() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        let mut child =
            gate.command(&home, &["--daemon", "off", "--deadline-ms", "300"]).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let document = gate.document();
        stdin.write_all(&document[..10]).unwrap();
        let said = said(child);
        assert_blocks(gate, &said, gate.host);
        assert!(format!("{}{}", said.out, said.error).contains("[HOOK_DEADLINE]"), "{said:?}");
        drop(stdin);
    }
}

#[test]
fn a_file_that_is_a_pipe_without_an_end_is_denied_at_the_deadline() {
    for file in ["install.json", "signing.pub"] {
        let home = Home::with(ALLOWS);
        false_daemon(&home, reply(200, "{}"));
        let path = home.data().join(file);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        for gate in GATES {
            let said = gate.answer(&home, &["--deadline-ms", "300"], &gate.document());
            assert_blocks(gate, &said, &format!("{}: {file}", gate.host));
            let text = format!("{}{}", said.out, said.error);
            assert!(text.contains("[HOOK_DEADLINE]"), "{file}: {text}");
        }
    }
}

#[test]
fn without_a_standard_input_the_call_is_denied() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        let mut command = gate.command(&home, &["--daemon", "off"]);
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        assert_blocks(gate, &said(child), gate.host);
    }
}

#[test]
fn a_daemon_that_answers_nonsense_is_no_verdict() {
    let allow = r#"{"outcome":"allow","verdict":{"outcome":"allow","reasons":[]}"#;
    let stolen = format!("{allow},\"receipt\":\"v1.eyJhIjoxfQ.AAAA\"}}");
    #[rustfmt::skip]
    let plays = [
        ("no HTTP",          Play::Bytes(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec())),
        ("half an answer",   Play::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"outcome\":\"allow\"".to_vec())),
        ("500",              reply(500, r#"{"error":{"code":"UNAVAILABLE","message":"no store"}}"#)),
        ("200 with HTML",    reply(200, "<html>")),
        ("200 with a list",  reply(200, "[]")),
        ("no verdict",       reply(200, r#"{"outcome":"allow"}"#)),
        ("an unknown word",  reply(200, r#"{"outcome":"forbid","verdict":{}}"#)),
        ("said twice",       reply(200, r#"{"outcome":"deny","outcome":"allow","verdict":{}}"#)),
        ("no receipt",       reply(200, &format!("{allow}}}"))),
        ("a false receipt",  reply(200, &stolen)),
        ("a redirection",    Play::Bytes(b"HTTP/1.1 302 Found\r\nlocation: http://x/\r\ncontent-length: 0\r\n\r\n".to_vec())),
    ];
    for (what, play) in plays {
        let home = Home::with(ALLOWS);
        fs::write(home.data().join("signing.pub"), format!("{}\n", "ab".repeat(32))).unwrap();
        false_daemon(&home, play);
        for gate in GATES {
            let limit = if what.contains("receipt") { "5000" } else { "500" };
            let said = gate.answer(&home, &["--deadline-ms", limit], &gate.document());
            assert_blocks(gate, &said, &format!("{}: {what}", gate.host));
            let text = format!("{}{}", said.out, said.error);
            assert!(!text.contains("HOOK_NO_DAEMON"), "it was taken: {text}");
            if what.contains("receipt") {
                assert!(text.contains("[HOOK_RECEIPT]"), "{what}: {text}");
            }
        }
    }
}

#[test]
fn a_daemon_that_is_slow_or_dies_is_waited_for_until_the_deadline() {
    for (what, play) in [("silence", Play::Silence), ("a hangup", Play::Hangup)] {
        let home = Home::with(ALLOWS);
        let count = false_daemon(&home, play.clone());
        for gate in GATES {
            let before = count.load(Ordering::Relaxed);
            let said = gate.answer(&home, &["--deadline-ms", "450"], &gate.document());
            assert_blocks(gate, &said, &format!("{}: {what}", gate.host));
            let text = format!("{}{}", said.out, said.error);
            assert!(text.contains("[HOOK_DEADLINE]"), "{what}: {text}");
            let tries = count.load(Ordering::Relaxed) - before;
            assert!(tries >= 1, "{what}");
        }
    }
}

#[test]
fn a_daemon_that_takes_no_more_connections_is_no_daemon() {
    let home = Home::with(ALLOWS);
    let socket = home.data().join("portcullis.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    // The one that waits leaves no room for another.
    let _waits = UnixStream::connect(&socket).unwrap();
    for gate in GATES {
        let said = gate.answer(&home, &["--daemon", "required"], &gate.document());
        assert_blocks(gate, &said, gate.host);
        assert!(format!("{}{}", said.out, said.error).contains("[HOOK_NO_DAEMON]"), "{said:?}");
    }
}

#[test]
fn without_a_daemon_that_is_required_everything_is_denied() {
    let home = Home::with(ALLOWS);
    let denied = |gate: &Gate, words: &[&str], home: &Home| {
        let said = gate.answer(home, words, &gate.document());
        assert_blocks(gate, &said, gate.host);
        assert!(format!("{}{}", said.out, said.error).contains("[HOOK_NO_DAEMON]"), "{said:?}");
    };
    let strict = Home::with("mode = \"bypass\"\n[hosts]\ndaemon = \"required\"\n");
    for gate in GATES {
        denied(gate, &["--daemon", "required"], &home);
        denied(gate, &[], &strict);
        denied(gate, &["--daemon", "off"], &strict);
    }
}

#[test]
fn without_a_daemon_that_is_elsewhere_everything_is_denied() {
    let home = Home::with(ALLOWS);
    let data = home.data();
    let config = home.0.join(".config/portcullis");
    let installed = serde_json::json!({
        "home": home.0, "config": config, "url": "http://127.0.0.1:9", "key": "ab".repeat(32),
    });
    fs::write(data.join("install.json"), installed.to_string()).unwrap();
    for gate in GATES {
        for key in [None, Some("pcl_agent_x"), Some("pcl_admin_x")] {
            let mut command = gate.command(&home, &["--data-dir", data.to_str().unwrap()]);
            command.envs(key.map(|key| ("PORTCULLIS_AGENT_KEY", key)));
            let said = fed(&mut command, &gate.document());
            assert_blocks(gate, &said, &format!("{} with {key:?}", gate.host));
            assert!(format!("{}{}", said.out, said.error).contains("[HOOK_NO_DAEMON]"), "{said:?}");
        }
    }
}

#[test]
fn a_socket_that_others_may_write_is_no_daemon() {
    let home = Home::with(ALLOWS);
    let count = false_daemon(&home, reply(200, "{}"));
    let refused = |mode: u32, path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let gate = &GATES[0];
        let said = gate.answer(&home, &["--daemon", "required"], &gate.document());
        assert!(said.out.contains("[HOOK_NO_DAEMON]"), "{said:?}");
        assert_eq!(count.load(Ordering::Relaxed), 0, "nobody was asked");
    };
    let socket = home.data().join("portcullis.sock");
    refused(0o666, &socket);
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    refused(0o777, &home.data());
}

#[test]
fn words_that_are_not_understood_deny() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        for words in [&["--allow", "all"][..], &["--deadline-ms", "x"], &["extra"], &["--daemon"]] {
            let said = gate.answer(&home, words, &gate.document());
            assert_blocks(gate, &said, &format!("{} {words:?}", gate.host));
        }
    }
    for words in [&["hook"][..], &["hook", "nobody"], &["hook", "claude", "NoEvent"]] {
        let said = fed(&mut home.portcullis(words), &GATES[0].document());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{words:?}");
        check_reason(&said.error);
    }
}

#[test]
fn a_broken_policy_or_a_full_disk_denies() {
    let home = Home::with("mode = \"yolo\"\n");
    for gate in GATES {
        let said = gate.answer(&home, &["--daemon", "off"], &gate.document());
        assert_blocks(gate, &said, gate.host);
    }
    let home = Home::with(ALLOWS);
    std::os::unix::fs::symlink("/dev/full", home.data().join("journal.jsonl")).unwrap();
    for gate in GATES {
        let said = gate.answer(&home, &["--daemon", "off"], &gate.document());
        assert_blocks(gate, &said, gate.host);
    }
}

#[test]
fn no_variable_leads_an_installed_hook_elsewhere() {
    let (home, other) = (Home::with("mode = \"dont-ask\"\n"), Home::with(ALLOWS));
    let data = home.data();
    let config = home.0.join(".config/portcullis");
    let installed = serde_json::json!({ "home": home.0, "config": config });
    fs::write(data.join("install.json"), installed.to_string()).unwrap();
    let gate = &GATES[0];
    let mut command = gate.command(&home, &["--data-dir", data.to_str().unwrap()]);
    command.env("HOME", &other.0).env("XDG_CONFIG_HOME", other.0.join(".config"));
    command.env("XDG_DATA_HOME", &other.0).env("PORTCULLIS_DATA_DIR", other.data());
    command.env("PORTCULLIS_URL", "http://127.0.0.1:1");
    let said = fed(&mut command, &gate.document());
    assert_blocks(gate, &said, "the installed policy denies");
    fs::remove_file(data.join("install.json")).unwrap();
    let said = gate.answer(&other, &["--data-dir", data.to_str().unwrap()], &gate.document());
    assert_blocks(gate, &said, "without `install.json` there is no policy");
}
