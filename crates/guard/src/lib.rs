//! What a tool author calls before touching a file or running a command.
//!
//! A [`Guard`] belongs to one run at a daemon. [`Guard::authorize`] gives a [`Permit`] or says why
//! not; a person may be asked meanwhile. It fails closed: a daemon that is away, goes away or
//! answers in words nobody knows permits nothing.
//!
//! ```no_run
//! use portcullis_client::{Address, Client};
//! use portcullis_guard::{Access, Guard, Refusal, Run};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Address::Socket("/home/dev/.local/share/portcullis/portcullis.sock".into()));
//! let run = Run { folder: Some("/home/dev/proj".into()), ..Run::default() };
//! let guard = Guard::start(client, run).await?;
//!
//! // A tool that writes a file.
//! let tool = guard.for_tool("write_file").for_agent("writer");
//! let (path, text) = ("src/index.ts", "export {};\n");
//! match tool.authorize(&Access::write(path, text)).await {
//!     Ok(_permit) => std::fs::write(path, text)?,
//!     Err(Refusal::Denied { code, .. }) => println!("not written: {code}"),
//!     Err(refusal) => println!("not written: {refusal}"),
//! }
//!
//! // A listing that leaves out what may not be read.
//! let mut seen = Vec::new();
//! for path in ["README.md", ".env"] {
//!     if tool.can_access(&Access::read(path)).await {
//!         seen.push(path);
//!     }
//! }
//! guard.end("done").await?;
//! # Ok(())
//! # }
//! ```

mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_client::{Address, Client, ClientError, Outcome};
use serde_json::{Value, json};

/// How long a person is waited for, unless it is said otherwise.
const WAIT: Duration = Duration::from_mins(10);

/// So much of what is written is shown to the person, in characters.
const PREVIEW: usize = 4000;

/// What a tool is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    kind: &'static str,
    resource: String,
    bytes: Option<u64>,
    preview: Option<String>,
    overrides: bool,
}

impl Access {
    fn new(kind: &'static str, resource: impl Into<String>) -> Access {
        Access { kind, resource: resource.into(), bytes: None, preview: None, overrides: false }
    }

    /// Reads a file.
    #[must_use]
    pub fn read(path: impl Into<String>) -> Access {
        Access::new("fs.read", path)
    }

    /// Writes a text to a file; its beginning is shown to whoever is asked.
    #[must_use]
    pub fn write(path: impl Into<String>, text: &str) -> Access {
        Access {
            bytes: u64::try_from(text.len()).ok(),
            preview: Some(text.chars().take(PREVIEW).collect()),
            ..Access::new("fs.write", path)
        }
    }

    /// Writes or removes a file, with nothing to show.
    #[must_use]
    pub fn change(path: impl Into<String>) -> Access {
        Access::new("fs.write", path)
    }

    /// Runs a command.
    #[must_use]
    pub fn command(command: impl Into<String>) -> Access {
        Access::new("command.execute", command)
    }

    /// The same, asking for one exception where a person denied it for the session.
    #[must_use]
    pub fn overriding(self) -> Access {
        Access { overrides: true, ..self }
    }
}

/// What a run is started with.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What it is called; a new name where absent.
    pub id: Option<String>,
    /// Its folder: inside it the usual work is not asked about.
    pub folder: Option<PathBuf>,
    /// What people call what it does.
    pub name: Option<String>,
    /// Its agents.
    pub agents: Vec<String>,
    /// Its tools.
    pub tools: Vec<String>,
}

/// Leave for exactly one access.
#[derive(Clone, Debug)]
#[must_use = "what was permitted is one access"]
pub struct Permit {
    /// Proof for exactly this access, where a person gave leave.
    pub receipt: Option<String>,
}

/// Why an access must not happen.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The policy, a person or a deadline said no.
    #[error("{code}{}: {message}", cause.as_ref().map_or_else(String::new, |cause| format!(" ({cause})")))]
    Denied {
        /// `outside_workspace` or `permission_denied`.
        code: String,
        /// `forbidden`, `denied`, `session-deny`, `rejected`, `expired` or `cancelled`.
        cause: Option<String>,
        /// One sentence, or what the person had to say.
        message: String,
    },
    /// Nobody answered in time; the question was taken back.
    #[error("nobody answered within {} s", .0.as_secs())]
    Unanswered(Duration),
    /// The daemon is away, went away, or said something that is no answer.
    #[error(transparent)]
    Failed(#[from] ClientError),
}

/// The guard of one run.
#[derive(Clone, Debug)]
pub struct Guard {
    client: Client,
    run: String,
    folder: Option<String>,
    tool: String,
    agent: Option<String>,
    wait: Duration,
    /// Told apart from every other guard's: the daemon knows a call that is sent again by it.
    number: Arc<AtomicU64>,
    born: u128,
}

impl Guard {
    /// Starts a run, or attaches to one that a person prepared under this name.
    ///
    /// # Errors
    /// The daemon is away or refuses.
    pub async fn start(client: Client, run: Run) -> Result<Guard, ClientError> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut body = json!({ "agents": run.agents, "tools": run.tools });
        let members = [
            ("run", run.id.clone()),
            ("cwd", run.folder.as_ref().map(text)),
            ("name", run.name.clone()),
        ];
        for (name, value) in members {
            if let (Some(value), Some(body)) = (value, body.as_object_mut()) {
                body.insert(name.to_owned(), value.into());
            }
        }
        let started = client.start_run(&body).await?;
        let member = |name: &str| started.get(name).and_then(Value::as_str).map(str::to_owned);
        let run =
            member("run").ok_or_else(|| ClientError::Unreadable("it names no run".to_owned()))?;
        let born = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
        Ok(Guard {
            client,
            run,
            folder: member("cwd"),
            tool: "tool".to_owned(),
            agent: None,
            wait: WAIT,
            number: Arc::default(),
            born,
        })
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The guard of one tool of the run: what people decide for the session, they decide for it.
    #[must_use]
    pub fn for_tool(&self, tool: impl Into<String>) -> Guard {
        Guard { tool: tool.into(), ..self.clone() }
    }

    /// The same for one agent of the run.
    #[must_use]
    pub fn for_agent(&self, agent: impl Into<String>) -> Guard {
        Guard { agent: Some(agent.into()), ..self.clone() }
    }

    /// The same, waiting so long for a person.
    #[must_use]
    pub fn waiting(&self, wait: Duration) -> Guard {
        Guard { wait, ..self.clone() }
    }

    /// Asks for leave, and waits if a person must give it.
    ///
    /// # Errors
    /// The access must not happen.
    pub async fn authorize(&self, access: &Access) -> Result<Permit, Refusal> {
        let mut call = self.call(access);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let id = format!("guard-{}-{}-{number}", std::process::id(), self.born);
        if let Some(members) = call.as_object_mut() {
            members.insert("call_id".to_owned(), id.into());
            members.insert("receipt".to_owned(), true.into());
        }
        let answered = self.client.submit_and_wait(&call, self.wait).await?;
        match answered.outcome {
            Outcome::Allow => Ok(Permit { receipt: answered.receipt }),
            Outcome::Deny => Err(denied(&answered.whole)),
            Outcome::Ask => {
                if let Some(ask) = &answered.ask {
                    // If somebody answered meanwhile, the answer came too late for this access.
                    let _ = self.client.withdraw(ask).await;
                }
                Err(Refusal::Unanswered(self.wait))
            }
        }
    }

    /// Whether an access would pass without a question; for filtering. Nobody is asked, nothing is
    /// kept, and whatever goes wrong is no.
    pub async fn can_access(&self, access: &Access) -> bool {
        let checked = self.client.check(&self.call(access)).await;
        checked.is_ok_and(|outcome| outcome == Outcome::Allow)
    }

    /// Reports that the run came to its end: what people decided for it is over.
    ///
    /// # Errors
    /// The daemon is away or refuses.
    pub async fn end(&self, result: &str) -> Result<(), ClientError> {
        self.client.end_run(&self.run, &json!({ "result": result })).await
    }

    /// Reports that the run broke off.
    ///
    /// # Errors
    /// As [`end`](Guard::end).
    pub async fn fail(&self, error: &str) -> Result<(), ClientError> {
        self.client.end_run(&self.run, &json!({ "error": error })).await
    }

    fn call(&self, access: &Access) -> Value {
        let mut body = json!({ "kind": access.kind, "resource": access.resource });
        if let Some(members) = body.as_object_mut() {
            members.extend(access.bytes.map(|bytes| ("bytes".to_owned(), bytes.into())));
            let preview = access.preview.clone();
            members.extend(preview.map(|preview| ("preview".to_owned(), preview.into())));
        }
        let mut call = json!({
            "tool": self.tool,
            "access": body,
            "run": self.run,
            "override": access.overrides,
        });
        let Some(members) = call.as_object_mut() else { return call };
        members.extend(self.agent.clone().map(|agent| ("agent".to_owned(), agent.into())));
        // Over the socket the daemon looks at the disk itself.
        let is_away = matches!(self.client.address(), Address::Tcp(_));
        if let (true, Some(folder), false) =
            (is_away, &self.folder, access.kind == "command.execute")
        {
            let world = world::seen(Path::new(folder), &access.resource);
            members.insert("world".to_owned(), world);
        }
        call
    }
}

/// What a denial says.
fn denied(whole: &Value) -> Refusal {
    let text = |path: &str| whole.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let message = text("/decision/feedback").or_else(|| text("/verdict/reasons/0/message"));
    Refusal::Denied {
        code: text("/refusal/code").unwrap_or_else(|| "permission_denied".to_owned()),
        cause: text("/refusal/cause"),
        message: message.unwrap_or_else(|| "it is denied".to_owned()),
    }
}
