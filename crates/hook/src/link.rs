//! The daemon's socket: where it is, whether it is the right one, and what it says about a call.
//!
//! The hook falls back only as long as no daemon has taken the call. From then on a lost
//! connection is tried again with the same call until the deadline, and then the call is denied.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::call::{Call, Failure};
use crate::http::{Connection, Dial, Reply, Said, Server, Trouble};
use crate::json;
use crate::options::Options;
use crate::told::{Outcome, Told};
use crate::watched::Watch;
use crate::{Checker, Started, worker};

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
    user: u32,
}

/// Receipt and input, for whoever knows key and call and can check them.
pub struct Proof<'a> {
    /// The receipt.
    pub receipt: &'a str,
    /// What a person made of the call's input, if that is what may run.
    pub input: Option<&'a str>,
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
    pub fn find(started: &Started, options: &Options, watch: &Watch) -> Result<Place, Failure> {
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
        if data_dir.as_deref().is_some_and(|directory| !(started.is_near)(directory)) {
            watch.begin()?;
        }
        let mut installed = match &data_dir {
            Some(directory) => installed(directory, watch)?,
            None => Installed::default(),
        };
        if installed.home.is_none() && !is_named {
            installed.home = absolute("HOME");
        }
        let named = options.url.clone().or_else(|| installed.url.clone());
        let url = if is_named { named } else { named.or_else(|| variable("PORTCULLIS_URL")) };
        let key = variable("PORTCULLIS_AGENT_KEY");
        let (dial, user) = (started.dial, started.user);
        Ok(Place { data_dir, is_named, installed, url, key, dial, user })
    }

    /// Whether the daemon is elsewhere.
    pub fn is_elsewhere(&self) -> bool {
        self.url.is_some()
    }

    /// What the holder of the key is called that is shown to a daemon elsewhere, if there is one.
    pub fn holder(&self, started: &Started) -> Option<String> {
        let key = self.key.as_deref().filter(|key| is_agent_key(key));
        key.map(started.cache.holder)
    }

    /// Asks the daemon about a call and waits for a person if it asks one.
    ///
    /// # Errors
    /// Nobody was asked, or there is no verdict.
    pub fn ask(
        &self,
        started: &Started,
        call: &Call,
        waits: bool,
        watch: &Watch,
    ) -> Result<Told, Unasked> {
        let (server, key) = self.server(watch)?.ok_or(Unasked::Unreachable)?;
        let key = key.as_deref();
        // One name for this very call, so that a second request about it is no second call.
        let mut call = call.clone();
        if call.call_id.is_none() && call.session.is_some() {
            call.call_id = Some(started.name.clone());
        }
        let end = watch.end.checked_sub(MARGIN).unwrap_or(watch.end);
        let mut is_taken = false;
        let mut checker = None;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Told::late());
            }
            let stream = match server.connect(Instant::now() + left.min(CONNECT)) {
                Ok(stream) => stream,
                Err(_) if !is_taken => return Err(Unasked::Unreachable),
                Err(_) => {
                    watch.begin().map_err(Unasked::Failed)?;
                    std::thread::sleep(AGAIN.min(left));
                    continue;
                }
            };
            if self.is_elsewhere() && call.world.is_none() {
                let world = worker::world(started, self, &call, watch);
                call.world = Some(world.map_err(Unasked::Failed)?);
            }
            let held = if waits { left.min(MOST_HELD) } else { Duration::ZERO };
            let wait_ms = u64::try_from(held.as_millis()).unwrap_or(0);
            let body = call.body(self.installed.home.as_deref(), wait_ms);
            is_taken = true;
            let connection = Connection { stream, end, watch: Some(watch) };
            let said = server.say(connection, "POST", "/v1/calls", key, &body);
            // While the daemon judges, what its answer is held against is made ready.
            if said.is_ok() && checker.is_none() {
                checker = self.checker(started, &call, watch)?;
            }
            let reply = match said.and_then(Said::hear) {
                Ok(reply) => reply,
                Err(Trouble::Late) => return Ok(Told::late()),
                Err(Trouble::Unreachable | Trouble::Lost) => {
                    watch.begin().map_err(Unasked::Failed)?;
                    std::thread::sleep(AGAIN.min(left));
                    continue;
                }
                Err(Trouble::Broken) => return Err(nonsense("it is no HTTP")),
            };
            watch.begin_if_long(reply.body.len()).map_err(Unasked::Failed)?;
            let told = self.told(checker.as_deref(), &reply, watch)?;
            if told.outcome == Outcome::Ask && waits {
                // The node goes down, or the request was held as long as it may be.
                watch.begin().map_err(Unasked::Failed)?;
                std::thread::sleep(AGAIN.min(left));
                continue;
            }
            return Ok(told);
        }
    }

    /// Tells the daemon about something that is no question; whether it heard it.
    pub fn tell(&self, path: &str, document: &str, watch: &Watch) -> bool {
        let Ok(Some((server, key))) = self.server(watch) else { return false };
        let Ok(stream) = server.connect(Instant::now() + CONNECT) else { return false };
        let connection = Connection { stream, end: Instant::now() + HEARD, watch: Some(watch) };
        let said = server.say(connection, "POST", path, key.as_deref(), document);
        said.and_then(Said::hear).is_ok_and(|reply| reply.status == 200)
    }

    /// The daemon to ask, if there is one that can be trusted, and the key it wants.
    pub fn server(&self, watch: &Watch) -> Result<Option<(Server, Option<String>)>, Unasked> {
        if let Some(url) = &self.url {
            // Finding the address of a name has no limit.
            watch.begin().map_err(Unasked::Failed)?;
            let key = self.key.clone().filter(|key| is_agent_key(key));
            return Ok(key.and_then(|key| Some((Server::of_url(url).ok()?, Some(key)))));
        }
        let Some(directory) = self.data_dir.as_deref() else { return Ok(None) };
        let socket = directory.join("portcullis.sock");
        let is_ours = is_ours(directory, &socket, self.user);
        Ok(is_ours.then(|| (Server::of_socket(&socket, self.dial), None)))
    }

    /// What checks receipts about a call, if a key of the daemon is known here.
    fn checker(
        &self,
        started: &Started,
        call: &Call,
        watch: &Watch,
    ) -> Result<Option<Box<Checker>>, Unasked> {
        let key = self.pinned(watch).map_err(Unasked::Failed)?;
        Ok(key.map(|key| (started.check)(&key, call)))
    }

    fn told(
        &self,
        checker: Option<&Checker>,
        reply: &Reply,
        watch: &Watch,
    ) -> Result<Told, Unasked> {
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
        let checker = checker.ok_or_else(|| unproven("no key of the daemon is known here"))?;
        if told.is_by_person {
            // That it is used is written down, and the disk may take its time.
            watch.begin().map_err(Unasked::Failed)?;
        }
        let input = told.input.as_deref();
        let (data_dir, is_elsewhere) = (self.data_dir.as_deref(), self.url.is_some());
        let proof = Proof { receipt, input, data_dir, is_elsewhere };
        checker(&proof).map_err(|what| unproven(&format!("the receipt: {what}")))?;
        Ok(told)
    }

    /// The key that `install` pinned, or the one that lies beside the socket.
    fn pinned(&self, watch: &Watch) -> Result<Option<String>, Failure> {
        let beside = self.data_dir.as_deref().filter(|_| self.url.is_none());
        let key = match (&self.installed.key, beside) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(directory)) => {
                let path = directory.join("signing.pub");
                let read = contents(&path, watch)?;
                read.ok().and_then(|bytes| String::from_utf8(bytes).ok())
            }
            (None, None) => None,
        };
        Ok(key.map(|key| key.trim().to_owned()))
    }
}

/// The contents of a file. Somebody watches before one is opened that is none: it may be a pipe
/// into which nobody writes.
fn contents(path: &Path, watch: &Watch) -> Result<std::io::Result<Vec<u8>>, Failure> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            watch.begin_if_long(usize::try_from(metadata.size()).unwrap_or(usize::MAX))?;
        }
        Ok(_) => watch.begin()?,
        Err(error) => return Ok(Err(error)),
    }
    Ok(fs::read(path))
}

/// Whether directory and socket belong to the user of this process and nobody else may write them.
fn is_ours(directory: &Path, socket: &Path, user: u32) -> bool {
    let (Ok(directory), Ok(socket)) = (fs::metadata(directory), fs::symlink_metadata(socket))
    else {
        return false;
    };
    let is_private = |mode: u32| mode & 0o022 == 0;
    let is_socket = socket.mode() & 0o170_000 == 0o140_000;
    is_socket
        && [directory.uid(), socket.uid()] == [user, user]
        && is_private(directory.mode())
        && is_private(socket.mode())
}

fn is_agent_key(key: &str) -> bool {
    let is_other = key.starts_with("pcl_") && !key.starts_with("pcl_agent_");
    !is_other && key.bytes().all(|byte| byte.is_ascii_graphic())
}

fn installed(directory: &Path, watch: &Watch) -> Result<Installed, Failure> {
    let unreadable = |what: &str| Failure::new("HOOK_INTERNAL", format!("`install.json` {what}"));
    let bytes = match contents(&directory.join("install.json"), watch)? {
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
