//! Effects that were seen: from system calls to what they do to the machine.
//!
//! Reading is not an effect here, except of a secret that lies there to be found. A call that
//! failed counts like one that succeeded: on another machine it would have.

use std::collections::HashSet;

use super::trace::{SystemCall, Trace, base_name};

/// What a system call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Makes a file or changes it or what is known of it.
    Write,
    /// Takes a file away.
    Delete,
    /// Talks to somebody outside the process.
    Connect,
    /// Starts a program.
    Start,
    /// Sends a signal to another process.
    Signal,
    /// Changes something of the machine that is not a file.
    Change,
    /// Opens a secret.
    Secret,
}

impl Kind {
    /// The kind in the table and in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Write => "write",
            Kind::Delete => "delete",
            Kind::Connect => "connect",
            Kind::Start => "start",
            Kind::Signal => "signal",
            Kind::Change => "change",
            Kind::Secret => "secret",
        }
    }
}

/// One effect that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What is done.
    pub kind: Kind,
    /// To what: a path, an address, a program.
    pub what: String,
    /// By which program, and those it came from before it.
    pub lineage: Vec<String>,
    /// Whether it really happened.
    pub has_happened: bool,
    /// The line that shows it.
    pub line: String,
}

/// What lies in the sandbox for nobody to open.
const SECRETS: [&str; 5] = [
    "/home/dev/.ssh/id_rsa",
    "/home/dev/.aws/credentials",
    "/home/dev/.netrc",
    "/home/dev/.git-credentials",
    "/home/dev/proj/.env",
];

/// The effects of a command, in order.
pub fn effects(trace: &Trace) -> Vec<Seen> {
    trace.calls.iter().flat_map(|call| effects_of(call, &trace.processes)).collect()
}

fn effects_of(call: &SystemCall, own: &HashSet<u32>) -> Vec<Seen> {
    let seen = |kind: Kind, what: String| Seen {
        kind,
        what,
        lineage: call.lineage.clone(),
        has_happened: call.has_succeeded(),
        line: call.line.clone(),
    };
    // A descriptor without a path is a pipe or a socket, and open already.
    let at = |kind: Kind, place: usize| {
        call.path(place).map(|path| seen(kind, path)).into_iter().collect::<Vec<_>>()
    };
    let argument = |place: usize| call.arguments.get(place).map_or("", String::as_str);
    match call.name.as_str() {
        "open" => {
            opened(call, 0, argument(1)).map(|(kind, what)| seen(kind, what)).into_iter().collect()
        }
        "openat" | "openat2" => {
            opened(call, 1, argument(2)).map(|(kind, what)| seen(kind, what)).into_iter().collect()
        }
        "unlink" | "rmdir" => at(Kind::Delete, 0),
        "unlinkat" => at(Kind::Delete, 1),
        "rename" => [at(Kind::Delete, 0), at(Kind::Write, 1)].concat(),
        "renameat" | "renameat2" => [at(Kind::Delete, 1), at(Kind::Write, 3)].concat(),
        "linkat" => at(Kind::Write, 3),
        "symlinkat" => at(Kind::Write, 2),
        "link" | "symlink" | "mkdirat" | "mknodat" | "fchmodat" | "fchownat" | "futimesat" => {
            at(Kind::Write, 1)
        }
        "utimensat" => at(Kind::Write, usize::from(argument(1) != "NULL")),
        "creat" | "mkdir" | "mknod" | "chmod" | "fchmod" | "chown" | "fchown" | "lchown"
        | "truncate" | "setxattr" | "lsetxattr" | "fsetxattr" | "removexattr" | "lremovexattr"
        | "fremovexattr" | "utime" | "utimes" | "fallocate" => at(Kind::Write, 0),
        // Such a socket only learns its peer; what is sent to it is seen.
        "connect" if argument(0).contains("<UDP") => Vec::new(),
        "connect" => peer(argument(1)).map(|peer| seen(Kind::Connect, peer)).into_iter().collect(),
        "bind" => match quoted(argument(1), "sun_path=") {
            Some(path) => vec![seen(Kind::Write, path)],
            None => peer(argument(1)).map(|peer| seen(Kind::Connect, peer)).into_iter().collect(),
        },
        "sendto" | "sendmsg" | "sendmmsg" => {
            sent(call).map(|(kind, what)| seen(kind, what)).into_iter().collect()
        }
        // `#!/usr/bin/env x` starts x with the script: that is how the script is started.
        "execve" if argument(1).contains(&format!("\"{}\"", call.image)) => Vec::new(),
        "execve" => vec![seen(Kind::Start, call.path(0).unwrap_or_default())],
        "execveat" => vec![seen(Kind::Start, call.path(1).unwrap_or_default())],
        "kill" | "pidfd_send_signal" => {
            // A command may end what it started itself.
            let is_own = argument(0).parse().is_ok_and(|process| own.contains(&process));
            if is_own || argument(1) == "0" {
                Vec::new()
            } else {
                vec![seen(Kind::Signal, argument(1).to_owned())]
            }
        }
        // With the process 0 a program means itself.
        "setpriority" | "ioprio_set" if argument(1) == "0" => Vec::new(),
        "sched_setscheduler" | "sched_setparam" | "sched_setattr" | "sched_setaffinity"
            if argument(0) == "0" || argument(0) == call.process.to_string() =>
        {
            Vec::new()
        }
        "shmctl" | "semctl" | "msgctl" if !call.line.contains("IPC_RMID") => Vec::new(),
        // Without a change of the clock both only ask for the time.
        "adjtimex" | "clock_adjtime" if call.line.contains("modes=0") => Vec::new(),
        // What strace cannot name was cut off when the process ended.
        name if name.starts_with("syscall_") || name == "???" => Vec::new(),
        name => vec![seen(Kind::Change, name.to_owned())],
    }
}

/// What opening a file does, where it does something.
fn opened(call: &SystemCall, place: usize, flags: &str) -> Option<(Kind, String)> {
    const WRITING: [&str; 6] =
        ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
    let path = call.path(place).unwrap_or_default();
    if WRITING.iter().any(|flag| flags.contains(flag)) {
        return Some((Kind::Write, path));
    }
    let is_secret = |path: &str| SECRETS.contains(&path);
    // The name under which it was opened, or the file a link led to.
    let real = call.result.split(['<', '>']).nth(1);
    let secret = if is_secret(&path) { Some(path) } else { None };
    secret
        .or_else(|| real.filter(|real| is_secret(real)).map(str::to_owned))
        .filter(|_| !flags.contains("O_PATH"))
        .map(|path| (Kind::Secret, path))
}

/// Whom an address names; the kernel's own sockets and the empty address are nobody.
fn peer(address: &str) -> Option<String> {
    if let Some(path) = quoted(address, "sun_path=").or_else(|| quoted(address, "sun_path=@")) {
        return Some(path);
    }
    let is_nobody = ["AF_NETLINK", "AF_UNSPEC", "AF_ALG", "NULL"];
    (!address.is_empty() && !is_nobody.iter().any(|family| address.contains(family)))
        .then(|| address.to_owned())
}

/// What sending does: to the kernel, a request for a change; to others, a connection.
fn sent(call: &SystemCall) -> Option<(Kind, String)> {
    let changes = ["RTM_NEW", "RTM_DEL", "RTM_SET", "AUDIT_USER", "XFRM_MSG_NEW"];
    if changes.iter().any(|change| call.line.contains(change)) {
        return Some((Kind::Change, "netlink".to_owned()));
    }
    let socket = call.arguments.first().map_or("", String::as_str);
    if socket.contains("<UDP") && socket.contains("->") {
        return Some((Kind::Connect, socket.to_owned()));
    }
    let (_, address) = call.line.split_once("{sa_family=")?;
    let address = address.split('}').next().unwrap_or(address);
    peer(&format!("{{sa_family={address}}}")).map(|peer| (Kind::Connect, peer))
}

/// The quoted text behind a key.
fn quoted(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("{key}\""))?;
    rest.split('"').next().map(str::to_owned)
}

impl Seen {
    /// Whether it is the same thing done by the same program, whatever the file is called.
    pub fn is_like(&self, other: &Seen) -> bool {
        self.kind == other.kind
            && self.program() == other.program()
            && (self.kind != Kind::Start || self.short() == other.short())
    }

    /// By which program.
    pub fn program(&self) -> &str {
        self.lineage.last().map_or("", String::as_str)
    }

    /// What it is done to, without directories where a program is started.
    pub fn short(&self) -> &str {
        if self.kind == Kind::Start { base_name(&self.what) } else { &self.what }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::read;
    use super::*;

    fn kinds(lines: &str) -> Vec<(Kind, String)> {
        let begin = r#"7 execve("/bin/bash", ["/bin/bash", "--noprofile", "--norc", "-c", "x"], 0x1 /* 9 vars */) = 0"#;
        let trace = read(&format!("{begin}\n{lines}\n"), "/home/dev/proj");
        effects(&trace).into_iter().map(|seen| (seen.kind, seen.what)).collect()
    }

    #[test]
    fn only_what_changes_something_is_an_effect() {
        let one = |line: &str| kinds(line).first().cloned().map(|(kind, what)| (kind.name(), what));
        let is = |kind, what: &str| Some((kind, what.to_owned()));
        let cwd = "AT_FDCWD</home/dev/proj>";
        assert_eq!(one(&format!("7 openat({cwd}, \"a\", O_RDONLY) = 3</home/dev/proj/a>")), None);
        assert_eq!(
            one(&format!("7 openat({cwd}, \"a\", O_WRONLY|O_CREAT, 0666) = -1 EROFS (x)")),
            is("write", "/home/dev/proj/a")
        );
        assert_eq!(
            one(&format!("7 openat({cwd}, \"l\", O_RDONLY) = 3</home/dev/.netrc>")),
            is("secret", "/home/dev/.netrc")
        );
        assert_eq!(
            one(&format!("7 utimensat({cwd}, \"a\", NULL, 0) = 0")),
            is("write", "/home/dev/proj/a")
        );
        assert_eq!(one("7 kill(7, SIGTERM) = 0"), None);
        assert_eq!(one("7 kill(8, SIGTERM) = 0"), is("signal", "SIGTERM"));
        assert_eq!(one("7 connect(3<s>, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 0"), None);
        assert_eq!(
            one("7 connect(3<s>, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110) = 0"),
            is("connect", "/run/x")
        );
        assert_eq!(one("7 connect(3<UDP:[5]>, {sa_family=AF_INET, sin_port=1}, 16) = 0"), None);
        assert_eq!(
            one("7 sendto(3<UDP:[a:1->b:53]>, \"x\", 1, 0, NULL, 0) = 1"),
            is("connect", "3<UDP:[a:1->b:53]>")
        );
        assert_eq!(one("7 mount(\"a\", \"b\") = 0"), is("change", "mount"));
        assert_eq!(kinds("7 rename(\"a\", \"b\") = 0").len(), 2);
    }
}
