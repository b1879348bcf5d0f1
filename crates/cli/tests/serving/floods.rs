//! The real daemon under more connections than it can hold, and under many that say nothing.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::house::{Daemon, Home, json};

/// So many idle approvers, where this process may have as many descriptors.
const IDLE: usize = 10_000;

/// What each may hold. The figure to reach is measured by `cargo xtask bench daemon`; this build is
/// not made to be small, and is only kept from growing without end.
const MOST_EACH: usize = 96 << 10;

fn descriptors() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    line.split_whitespace().nth(3).unwrap().parse().unwrap_or(usize::MAX)
}

fn resident(daemon: &Daemon) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

fn listen(daemon: &Daemon, key: &str) -> TcpStream {
    let at = daemon.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let head = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {key}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 101");
    stream
}

fn allows(daemon: &Daemon) {
    let said = daemon.says(&["call", "ls", "--cwd", "/"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.error);
}

#[test]
fn many_idle_approvers_cost_little_and_hold_nobody_up() {
    let home = Home::new();
    let key = home.says(&["keys", "create", "--role", "approver", "--name", "idle"]).out;
    let command = home.serving();
    let daemon = home.serve_by(command);
    let count = IDLE.min(descriptors().saturating_sub(200));
    let mut idle = vec![listen(&daemon, key.trim_end())];
    let before = resident(&daemon);
    while idle.len() < count {
        idle.push(listen(&daemon, key.trim_end()));
    }
    allows(&daemon);
    let each = resident(&daemon).saturating_sub(before) / count;
    assert!(each <= MOST_EACH, "{each} bytes for each of {count}");
    drop(idle);
    allows(&daemon);
}

#[test]
fn more_connections_than_there_are_descriptors_leave_the_socket_of_the_user_open() {
    let home = Home::new();
    let binary = env!("CARGO_BIN_EXE_portcullis");
    let script = format!("ulimit -n 200 && exec {binary} serve --listen 127.0.0.1:0");
    let command = home.command("sh", &["-c", &script]);
    let daemon = home.serve_by(command);
    let at = daemon.url.strip_prefix("http://").unwrap();
    let flood: Vec<TcpStream> = (0..400).filter_map(|_| TcpStream::connect(at).ok()).collect();
    assert!(flood.len() > 200, "the kernel takes them all");
    allows(&daemon);
    let asked = daemon.says(&["call", "npm publish", "--cwd", "/", "--wait", "0"]);
    assert_eq!(asked.code, 3, "the store has its own: {}{}", asked.out, asked.error);
    drop(flood);
    allows(&daemon);
    let logs = daemon.logs.lock().unwrap();
    assert!(!logs.contains("os error 24"), "descriptors ran out: {logs}");
}

#[test]
fn no_call_of_an_agent_keeps_people_from_the_others() {
    let home = Home::new();
    let command = home.serving();
    let daemon = home.serve_by(command);
    let first = daemon.says(&["call", "npm publish", "--cwd", "/", "--wait", "0"]);
    assert_eq!(first.code, 3, "{}{}", first.out, first.error);
    // As deep as a call may be: a list of asks has it deeper still.
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(62), "]".repeat(62));
    let words = ["call", "--tool", "Anything", "--input", &deep, "--cwd", "/", "--wait", "0"];
    let second = daemon.says(&words);
    assert_eq!(second.code, 3, "{}{}", second.out, second.error);
    let list = json(&daemon.says(&["asks", "--json"]).out);
    let asks: Vec<&str> =
        list["asks"].as_array().unwrap().iter().map(|ask| ask["id"].as_str().unwrap()).collect();
    assert_eq!(asks.len(), 2, "{list}");
    for ask in asks {
        let said = daemon.says(&["reject", ask]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.error);
    }
}
