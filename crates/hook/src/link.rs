//! The daemon's socket: where it is, whether it is the right one, and what it says about a call.
//!
//! The hook falls back only as long as no daemon has taken the call. From then on a lost
//! connection is tried again with the same call until the deadline, and then the call is denied.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::Started;
use crate::call::{Call, Failure};
use crate::http::{Dial, Reply, Server, Trouble};
use crate::json;
use crate::options::Options;
use crate::told::{Outcome, Told};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_millis(300);

/// How long the daemon may take to hear something that is no question.
const HEARD: Duration = Duration::from_secs(5);

/// The longest one request is held.
const MOST_HELD: Duration = Duration::from_mins(10);

/// How long before the deadline an answer must be there, so that it can still be said.
const MARGIN: Duration = Duration::from_millis(150);

/// How long is waited before a lost connection is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// What `install` wrote down about this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// The home of the user.
    pub home: Option<String>,
    /// The public key that receipts are signed with.
    pub key: Option<String>,
    /// A daemon elsewhere.
    pub url: Option<String>,
}

/// Where the daemon and its files are.
#[derive(Clone, Debug)]
pub struct Place {
    /// The data directory, if there is one.
    pub data_dir: Option<PathBuf>,
    /// Whether the directory was named in the arguments: then no variable counts.
    pub is_named: bool,
    /// What `install` wrote down.
    pub installed: Installed,
    url: Option<String>,
    key: Option<String>,
    dial: Dial,
}

/// Receipt, key and call, for whoever can check them.
pub struct Proof<'a> {
    /// The receipt.
    pub receipt: &'a str,
    /// The public key it must be signed with: hexadecimal digits.
    pub key: &'a str,
    /// The call it must be about.
    pub call: &'a Call,
    /// The input it must be about: the call's, or what a person made of it.
    pub input: &'a str,
    /// Where it can be written down that it was used.
    pub data_dir: Option<&'a Path>,
    /// Whether the daemon is elsewhere, and this directory perhaps nobody's to write.
    pub is_elsewhere: bool,
}

/// Why no daemon was asked.
#[derive(Debug)]
pub enum Unasked {
    /// None is there that can be trusted; the call was not handed to anybody.
    Unreachable,
    /// One may have taken the call, and there is no verdict.
    Failed(Failure),
}

impl Place {
    /// The place that arguments, environment and `install.json` name, in this order.
    ///
    /// # Errors
    /// `install.json` is there and cannot be read.
    pub fn find(started: &Started, options: &Options) -> Result<Place, Failure> {
        let variable = |name: &str| (started.variable)(name).filter(|value| !value.is_empty());
        let absolute = |name: &str| variable(name).filter(|path| path.starts_with('/'));
        let is_named = options.data_dir.is_some();
        let data_dir = options.data_dir.clone().or_else(|| {
            let below = |path: String, rest: &str| PathBuf::from(path).join(rest);
            absolute("PORTCULLIS_DATA_DIR")
                .map(PathBuf::from)
                .or_else(|| absolute("XDG_DATA_HOME").map(|path| below(path, "portcullis")))
                .or_else(|| absolute("HOME").map(|path| below(path, ".local/share/portcullis")))
        });
        let mut installed =
            data_dir.as_deref().map_or_else(|| Ok(Installed::default()), installed)?;
        if installed.home.is_none() && !is_named {
            installed.home = absolute("HOME");
        }
        let named = options.url.clone().or_else(|| installed.url.clone());
        let url = if is_named { named } else { named.or_else(|| variable("PORTCULLIS_URL")) };
        let key = variable("PORTCULLIS_AGENT_KEY");
        Ok(Place { data_dir, is_named, installed, url, key, dial: started.dial })
    }

    /// Asks the daemon about a call and waits for a person if it asks one.
    ///
    /// # Errors
    /// Nobody was asked, or there is no verdict.
    pub fn ask(
        &self,
        started: &Started,
        call: &Call,
        end: Instant,
        waits: bool,
    ) -> Result<Told, Unasked> {
        let (server, key) = self.server().ok_or(Unasked::Unreachable)?;
        let key = key.as_deref();
        // One name for this very call, so that a second request about it is no second call.
        let mut call = call.clone();
        if call.call_id.is_none() && call.session.is_some() {
            call.call_id = Some(started.name.clone());
        }
        let end = end.checked_sub(MARGIN).unwrap_or(end);
        let mut is_taken = false;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Told::late());
            }
            let stream = match server.connect(Instant::now() + left.min(CONNECT)) {
                Ok(stream) => stream,
                Err(_) if !is_taken => return Err(Unasked::Unreachable),
                Err(_) => {
                    std::thread::sleep(AGAIN.min(left));
                    continue;
                }
            };
            let held = if waits { left.min(MOST_HELD) } else { Duration::ZERO };
            let wait_ms = u64::try_from(held.as_millis()).unwrap_or(0);
            let body = call.body(self.installed.home.as_deref(), wait_ms);
            is_taken = true;
            let reply = match server.exchange(stream, "POST", "/v1/calls", key, &body, end) {
                Ok(reply) => reply,
                Err(Trouble::Late) => return Ok(Told::late()),
                Err(Trouble::Unreachable | Trouble::Lost) => {
                    std::thread::sleep(AGAIN.min(left));
                    continue;
                }
                Err(Trouble::Broken) => return Err(nonsense("it is no HTTP")),
            };
            let told = self.told(started, &call, &reply)?;
            if told.outcome == Outcome::Ask && waits {
                // The node goes down, or the request was held as long as it may be.
                std::thread::sleep(AGAIN.min(left));
                continue;
            }
            return Ok(told);
        }
    }

    /// Tells the daemon about something that is no question; whether it heard it.
    pub fn tell(&self, path: &str, document: &str) -> bool {
        let Some((server, key)) = self.server() else { return false };
        let Ok(stream) = server.connect(Instant::now() + CONNECT) else { return false };
        let end = Instant::now() + HEARD;
        let told = server.exchange(stream, "POST", path, key.as_deref(), document, end);
        told.is_ok_and(|reply| reply.status == 200)
    }

    /// The daemon to ask, if there is one that can be trusted, and the key it wants.
    fn server(&self) -> Option<(Server, Option<String>)> {
        if let Some(url) = &self.url {
            let key = self.key.clone().filter(|key| is_agent_key(key))?;
            return Some((Server::of_url(url).ok()?, Some(key)));
        }
        let directory = self.data_dir.as_deref()?;
        let socket = directory.join("portcullis.sock");
        is_ours(directory, &socket).then(|| (Server::of_socket(&socket, self.dial), None))
    }

    fn told(&self, started: &Started, call: &Call, reply: &Reply) -> Result<Told, Unasked> {
        let value = json::value(&reply.body).map_err(nonsense)?;
        let Value::Object(answer) = value else { return Err(nonsense("it is no object")) };
        if reply.status != 200 {
            return Err(Unasked::Failed(refused(reply.status, &answer)));
        }
        let mut told = Told::of_answer(&answer).map_err(nonsense)?;
        if told.outcome != Outcome::Allow {
            return Ok(told);
        }
        // The input stands in the answer to the byte; a value would lose how it was written.
        if answer.get("input").is_some_and(|input| !input.is_null()) {
            let fields = crate::call::Fields::read(&reply.body);
            let fields = fields.map_err(|_| nonsense("its input cannot be read"))?;
            told.input = fields.raw("input").map(str::to_owned);
        }
        let receipt = answer.get("receipt").and_then(Value::as_str);
        let receipt = receipt.ok_or_else(|| unproven("the daemon gave no receipt"))?;
        let key = self.pinned().ok_or_else(|| unproven("no key of the daemon is known here"))?;
        let input = told.input.as_deref().unwrap_or(&call.input);
        let (data_dir, is_elsewhere) = (self.data_dir.as_deref(), self.url.is_some());
        let proof = Proof { receipt, key: &key, call, input, data_dir, is_elsewhere };
        (started.check)(&proof).map_err(|what| unproven(&format!("the receipt: {what}")))?;
        Ok(told)
    }

    /// The key that `install` pinned, or the one that lies beside the socket.
    fn pinned(&self) -> Option<String> {
        let beside = || {
            let directory = self.data_dir.as_deref().filter(|_| self.url.is_none())?;
            fs::read_to_string(directory.join("signing.pub")).ok()
        };
        let key = self.installed.key.clone().or_else(beside)?;
        Some(key.trim().to_owned())
    }
}

/// Whether directory and socket belong to the user of this process and nobody else may write them.
fn is_ours(directory: &Path, socket: &Path) -> bool {
    let owner = |path: &Path| fs::symlink_metadata(path).ok();
    let (Some(me), Some(directory), Some(socket)) =
        (fs::metadata("/proc/self").ok(), fs::metadata(directory).ok(), owner(socket))
    else {
        return false;
    };
    let is_private = |mode: u32| mode & 0o022 == 0;
    let is_socket = socket.mode() & 0o170_000 == 0o140_000;
    is_socket
        && [directory.uid(), socket.uid()] == [me.uid(), me.uid()]
        && is_private(directory.mode())
        && is_private(socket.mode())
}

fn is_agent_key(key: &str) -> bool {
    let is_other = key.starts_with("pcl_") && !key.starts_with("pcl_agent_");
    !is_other && key.bytes().all(|byte| byte.is_ascii_graphic())
}

fn installed(directory: &Path) -> Result<Installed, Failure> {
    let unreadable = |what: &str| Failure::new("HOOK_INTERNAL", format!("`install.json` {what}"));
    let bytes = match fs::read(directory.join("install.json")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Installed::default());
        }
        Err(_) => return Err(unreadable("cannot be read")),
    };
    let value = json::value(&bytes).map_err(unreadable)?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Installed { home: text("home"), key: text("key"), url: text("url") })
}

fn refused(status: u16, answer: &Map<String, Value>) -> Failure {
    let error = answer.get("error");
    let text = |name: &str| error.and_then(|error| error.get(name)).and_then(Value::as_str);
    let what = text("message").unwrap_or("no reason was given");
    let code = text("code").unwrap_or("HTTP");
    Failure::new("HOOK_INTERNAL", format!("the daemon refused ({status} {code}): {what}"))
}

fn nonsense(what: &str) -> Unasked {
    Unasked::Failed(Failure::new("HOOK_INTERNAL", format!("the daemon's answer: {what}")))
}

fn unproven(what: &str) -> Unasked {
    Unasked::Failed(Failure::new("HOOK_RECEIPT", what))
}
