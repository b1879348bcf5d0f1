//! The daemon's answer, kept and played again: what a person approved for once runs once.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::daemon::{Daemon, answer, asks};
use super::house::{GATES, Home, assert_blocks, assert_fits, feed, fixture, said};

/// Somebody at the daemon's socket who hands requests on and keeps the last answer; where there is
/// no daemon behind any more, the one that was kept is given.
fn eavesdrop(home: &Home) -> Arc<Mutex<Vec<u8>>> {
    let socket = home.data().join("portcullis.sock");
    let behind = home.data().join("behind.sock");
    fs::rename(&socket, &behind).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&kept);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let (behind, keeps) = (behind.clone(), Arc::clone(&keeps));
            std::thread::spawn(move || relay(stream, &behind, &keeps));
        }
    });
    kept
}

fn relay(mut stream: UnixStream, behind: &Path, keeps: &Mutex<Vec<u8>>) {
    // The request is short: one read has all of it.
    let mut request = vec![0; 1 << 16];
    let count = stream.read(&mut request).unwrap_or(0);
    let mut reply = Vec::new();
    match UnixStream::connect(behind) {
        Ok(mut daemon) => {
            daemon.write_all(&request[..count]).unwrap();
            if !request.starts_with(b"POST /v1/calls") {
                // Somebody else, who may say more.
                let (mut from, mut to) = (stream.try_clone().unwrap(), daemon.try_clone().unwrap());
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
                let _ = std::io::copy(&mut daemon, &mut stream);
                return;
            }
            let _ = daemon.read_to_end(&mut reply);
            keeps.lock().unwrap().clone_from(&reply);
        }
        Err(_) => reply.clone_from(&keeps.lock().unwrap()),
    }
    let _ = stream.write_all(&reply);
}

#[test]
fn an_answer_that_is_played_again_is_no_answer() {
    let home = Home::new();
    let mut daemon = Daemon::serve(&home);
    let kept = eavesdrop(&home);
    let gate = &GATES[0];
    let mut document: Value = serde_json::from_slice(&gate.document()).unwrap();
    let mut start = |id: &str| {
        document["tool_use_id"] = id.into();
        let mut child = gate.command(&home, &["--deadline-ms", "20000"]).spawn().unwrap();
        feed(&mut child, document.to_string().as_bytes());
        child
    };
    let waiting = start("one");
    let ask = asks(&home, 1).remove(0);
    answer(&home, &ask, &["approve"]);
    assert_fits(&said(waiting), &fixture("claude/allow"), "approved");
    assert!(!kept.lock().unwrap().is_empty());
    daemon.kill();

    // The host tells of the same call once more: it is no second one.
    assert_fits(&said(start("one")), &fixture("claude/allow"), "the same call");
    let again = said(start("two"));
    assert_blocks(gate, &again, "the same words, another call");
    let text = format!("{}{}", again.out, again.error);
    assert!(text.contains("used before [HOOK_RECEIPT]"), "{text}");
}
