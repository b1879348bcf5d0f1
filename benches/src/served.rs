//! The processes that are measured: the real daemon, and a bare route that parses the same JSON and
//! answers a constant.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::post;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpListener;

/// Set in the process that is to be the bare route.
pub const BARE: &str = "PORTCULLIS_BENCH_BARE";

/// A process that listens, ended when it is dropped.
pub struct Served {
    child: Child,
    /// Where.
    pub address: SocketAddr,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Starts a process and reads where it listens.
    fn start(mut command: Command) -> Served {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let address = first.strip_prefix("listening on http://").expect("where it listens");
        let address = address.parse().expect("an address");
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, address }
    }

    /// The bare route, in a process of its own.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn bare() -> Served {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.env(BARE, "1");
        Served::start(command)
    }

    /// The daemon, with its data in a directory.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn daemon(directory: &Path) -> Served {
        let mut command = portcullis(directory);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Served::start(command)
    }

    /// A daemon on a store of several, with everything else in a directory; it signs with the key
    /// that all of them share.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn node(directory: &Path, store: &str) -> Served {
        let data = directory.join("data/portcullis");
        std::fs::create_dir_all(&data).expect("a directory");
        std::fs::write(data.join("signing.key"), [7; 32]).expect("a key");
        for (path, mode) in [(&data, 0o700), (&data.join("signing.key"), 0o600)] {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("its own rights");
        }
        let mut command = portcullis(directory);
        command.args(["serve", "--listen", "127.0.0.1:0", "--store", store]);
        Served::start(command)
    }

    /// Bytes of memory it holds.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
    }

    /// Seconds of CPU time it has used.
    #[must_use]
    pub fn cpu(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let text = text.unwrap_or_default();
        let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        // User and system time, in hundredths: the twelfth and thirteenth behind the name.
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
    }

    /// Ends it at once.
    pub fn kill(self) {}
}

/// The binary, with everything of its own in a directory.
#[must_use]
pub fn portcullis(directory: &Path) -> Command {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/portcullis");
    let binary = std::env::var_os("PORTCULLIS_BIN").unwrap_or_else(|| built.into());
    let mut command = Command::new(PathBuf::from(binary));
    command.env("HOME", directory).env("XDG_CONFIG_HOME", directory.join("config"));
    command.env("XDG_DATA_HOME", directory.join("data")).env("INTERNAL_API_KEY", "bench");
    command.env("PORTCULLIS_LOG", "warn").current_dir(directory);
    command
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    tool_name: &'a str,
    #[serde(borrow)]
    tool_input: &'a RawValue,
    agent_id: &'a str,
    user_id: &'a str,
}

/// Serves the bare route.
///
/// # Panics
/// It cannot listen.
pub async fn serve_bare() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    println!("listening on http://{}", listener.local_addr().expect("an address"));
    let route = post(|body: Bytes| async move {
        let body: Body<'_> = serde_json::from_slice(&body).expect("a body");
        let known = body.tool_name.len() + body.tool_input.get().len();
        assert!(known + body.agent_id.len() + body.user_id.len() > 0);
        let answer = r#"{"allow":true,"tier":"safe","reason":"Safe: read-only command"}"#;
        ([(header::CONTENT_TYPE, "application/json")], answer)
    });
    let router: Router = Router::new().route("/api/hooks/classify", route);
    axum::serve(listener, router).await.expect("served");
}
