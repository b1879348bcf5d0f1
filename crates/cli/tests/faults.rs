//! The daemon while the disk and the clock fail: whatever happens, nothing is allowed that was not
//! recorded, the message says what is wrong, and work goes on once it is right again.
//!
//! Faults are made by `faults/layer.c` between the real binary and its C library.

#![cfg(test)]

#[path = "serving/house.rs"]
mod house;

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use house::{Daemon, Home, json, of};

/// The layer, compiled once.
fn layer() -> &'static PathBuf {
    static LAYER: OnceLock<PathBuf> = OnceLock::new();
    LAYER.get_or_init(|| {
        let made = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("faults-{}.so", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/layer.c");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o", made.to_str().unwrap(), source])
            .status();
        assert!(status.expect("a C compiler").success());
        made
    })
}

/// A daemon whose disk and clock fail when they are told to.
fn serve(home: Home) -> Daemon {
    let mut command = home.serving();
    fs::write(home.0.join("faults"), "").unwrap();
    command
        .env("LD_PRELOAD", layer())
        .env("FAULTS", home.0.join("faults"))
        .env("FAULTS_IN", home.data(""));
    home.serve_by(command)
}

/// Says what is wrong from now on.
fn fault(daemon: &Daemon, faults: &str) {
    let (new, file) = (daemon.home.0.join("faults.new"), daemon.home.0.join("faults"));
    fs::write(&new, format!("{faults}\n")).unwrap();
    fs::rename(new, file).unwrap();
}

fn kill(mut daemon: Daemon) -> Home {
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    let home = Home(daemon.home.0.clone());
    std::mem::forget(std::mem::replace(&mut daemon.home, Home(PathBuf::new())));
    home
}

fn is_whole(home: &Home) {
    let said = home.says(&["audit", "verify"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.error);
}

/// The status a route answers with.
fn status(daemon: &Daemon, path: &str) -> String {
    let address = daemon.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

/// What cannot be recorded is not allowed; the log tells why.
fn refuses(daemon: &Daemon, arguments: &[&str], reason: &str) {
    let said = daemon.says(arguments);
    assert_eq!(said.code, 2, "{}{}", said.out, said.error);
    assert!(said.error.contains("the log of the daemon says why"), "{}", said.error);
    let logs = daemon.logs.lock().unwrap().clone();
    assert!(logs.contains(reason), "no `{reason}` in {logs}");
}

#[test]
fn a_disk_that_takes_nothing_means_no() {
    for (number, reason) in [(28, "full"), (30, "disk I/O error"), (5, "disk I/O error")] {
        let daemon = serve(Home::new());
        assert_eq!(daemon.says(&["call", "ls"]).code, 0);
        let (waiting, mut log, id) = daemon.asking(&["call", "npm publish"]);

        fault(&daemon, &format!("errno {number}"));
        refuses(&daemon, &["call", "ls"], reason);
        refuses(&daemon, &["call", "npm pack"], reason);
        refuses(&daemon, &["approve", &id], reason);
        assert_eq!(status(&daemon, "/readyz"), "503");
        assert_eq!(status(&daemon, "/healthz"), "200", "it lives");

        // What was asked before waits on, and is answered once the disk is right again.
        fault(&daemon, "");
        assert_eq!(daemon.says(&["call", "ls"]).code, 0, "{number}");
        assert_eq!(daemon.says(&["approve", &id]).code, 0);
        let mut said = String::new();
        log.read_to_string(&mut said).unwrap();
        assert_eq!(of(&waiting.wait_with_output().unwrap()).code, 0, "{said}");
        is_whole(&daemon.stop());
    }
}

#[test]
fn a_slow_disk_makes_slow_answers_and_no_others() {
    let daemon = serve(Home::new());
    fault(&daemon, "slow 400");
    let began = Instant::now();
    let calls: Vec<_> = (0..8)
        .map(|_| daemon.home.portcullis(&["call", "ls"]).spawn().unwrap())
        .chain([daemon
            .home
            .portcullis(&["call", "rm -rf ~/.local/share/portcullis"])
            .spawn()
            .unwrap()])
        .map(|child| of(&child.wait_with_output().unwrap()).code)
        .collect();
    assert_eq!(calls, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert!(
        began.elapsed() >= Duration::from_millis(400),
        "nothing was answered before it was kept"
    );
    fault(&daemon, "");
    let home = daemon.stop();
    let tail = home.says(&["audit", "export"]).out;
    assert_eq!(tail.matches("\"call.judged\"").count(), 9);
    is_whole(&home);
}

#[test]
fn a_wall_clock_that_jumps_ends_nothing_early_and_revives_nothing() {
    let home = Home::new();
    let policy = home.0.join(".config/portcullis");
    fs::create_dir_all(&policy).unwrap();
    fs::write(policy.join("policy.toml"), "asks = { deadline_s = 5 }\n").unwrap();
    let daemon = serve(home);
    for jump in ["clock 86400", "clock -86400"] {
        fault(&daemon, "");
        let began = Instant::now();
        let (mut waiting, _, _) = daemon.asking(&["call", "npm publish"]);
        fault(&daemon, jump);
        std::thread::sleep(Duration::from_secs(2));
        assert!(waiting.try_wait().unwrap().is_none(), "{jump}: it waits on");
        let said = of(&waiting.wait_with_output().unwrap());
        assert_eq!(said.code, 1, "{jump}: {}", said.out);
        let took = began.elapsed().as_secs();
        assert!((4..60).contains(&took), "{jump}: it ends at its deadline, not after {took} s");
    }
    is_whole(&daemon.stop());
}

#[test]
fn a_clock_set_back_while_nobody_served_extends_nothing() {
    let home = Home::new();
    let policy = home.0.join(".config/portcullis");
    fs::create_dir_all(&policy).unwrap();
    fs::write(policy.join("policy.toml"), "asks = { deadline_s = 2 }\n").unwrap();
    let daemon = serve(home);
    assert_eq!(daemon.says(&["call", "npm publish", "--wait", "0"]).code, 3);
    let home = kill(daemon);
    let mut command = home.serving();
    fs::write(home.0.join("faults"), "clock -86400\n").unwrap();
    command.env("LD_PRELOAD", layer()).env("FAULTS", home.0.join("faults"));
    let daemon = home.serve_by(command);
    let until = Instant::now() + Duration::from_mins(1);
    while daemon.says(&["asks"]).out != "nothing waits for you\n" {
        assert!(Instant::now() < until, "it never ended: {}", daemon.says(&["asks"]).out);
        std::thread::sleep(Duration::from_millis(200));
    }
    let asks = daemon.says(&["audit", "export"]).out;
    assert!(asks.contains("\"state\":\"expired\""), "{asks}");
    is_whole(&daemon.stop());
}

#[test]
fn a_store_that_was_deleted_is_written_no_more() {
    for file in ["portcullis.db", "portcullis.db-wal"] {
        let daemon = serve(Home::new());
        let (waiting, _, id) = daemon.asking(&["call", "npm publish", "--wait", "3"]);
        fs::remove_file(daemon.home.data(file)).unwrap();
        refuses(&daemon, &["call", "ls"], "was removed or replaced");
        refuses(&daemon, &["approve", &id], "was removed or replaced");
        let home = kill(daemon);
        let said = of(&waiting.wait_with_output().unwrap());
        assert_ne!(said.code, 0, "{}", said.out);
        // What is left is what was committed to the other file, and it still is whole or refused.
        let daemon = serve(home);
        assert_ne!(daemon.says(&["call", "npm publish", "--wait", "0"]).code, 0);
    }
}

/// Overwrites the last page of a file.
fn spoil(file: &Path) {
    let mut file = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let length = file.metadata().unwrap().len();
    let mut page = vec![0; 4096];
    file.seek(SeekFrom::Start(length - 4096)).unwrap();
    file.read_exact(&mut page).unwrap();
    for byte in &mut page {
        *byte ^= 0xa5;
    }
    file.seek(SeekFrom::Start(length - 4096)).unwrap();
    file.write_all(&page).unwrap();
}

#[test]
fn a_spoiled_page_allows_nothing_and_is_noticed() {
    let daemon = serve(Home::new());
    for count in 0..60 {
        assert_eq!(daemon.says(&["call", &format!("echo {count}")]).code, 0);
    }
    let home = daemon.stop();
    spoil(&home.data("portcullis.db"));
    let verified = home.says(&["audit", "verify"]);
    assert_ne!(verified.code, 0, "{}", verified.out);
    assert!(!verified.error.contains("panicked"), "{}", verified.error);
    let mut command = home.serving();
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let call = home.says(&["call", "npm publish", "--wait", "0"]);
    assert_ne!(call.code, 0, "{}", call.out);
    let _ = child.kill();
    let said = of(&child.wait_with_output().unwrap());
    assert!(!said.error.contains("panicked"), "{}", said.error);
}

#[test]
fn a_spoiled_end_of_the_log_gives_no_approval_twice_and_none_that_nobody_gave() {
    let daemon = serve(Home::new());
    assert_eq!(daemon.says(&["call", "npm publish", "--wait", "0"]).code, 3);
    assert_eq!(daemon.says(&["approve", "latest"]).code, 0);
    let home = kill(daemon);
    spoil(&home.data("portcullis.db-wal"));
    let daemon = serve(home);
    let said = daemon.says(&["call", "npm publish", "--wait", "0", "--json"]);
    // The approval may be lost with the page; then the question stands again.
    assert!(matches!(said.code, 0 | 3), "{}{}", said.out, said.error);
    if said.code == 0 {
        assert_eq!(json(&said.out)["decision"]["by"], "anna");
    }
    is_whole(&daemon.stop());
}
