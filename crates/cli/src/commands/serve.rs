//! `portcullis serve`: the daemon.

use std::fs;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_approval::{Owners, Role};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::config::{Config, Otlp};
use portcullis_daemon::identity::{NewKey, make_key};
use portcullis_daemon::traces::{self, OwnSpans, Teller};
use portcullis_daemon::{Parts, StartError, open};
use portcullis_engine::Policy;
use portcullis_layers::{Places, files};
use portcullis_store::{Store, StoreError};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::data_dir::{DataDir, write_private};
use crate::render::fault::BrokenConfig;

mod heaps;

/// How many threads wait for disks and names, and for how long they stay. The store reads with four
/// at once; threads that come and go would each leave memory behind that the next one does not take.
const BLOCKING_THREADS: usize = 8;
const KEPT_ALIVE: Duration = Duration::from_hours(24);

/// Runs the daemon: judges calls, keeps questions, and waits for answers.
#[derive(Args)]
pub struct Serve {
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, env = "PORTCULLIS_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where the store, the keys and the socket lie.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// The configuration file.
    #[arg(long, env = "PORTCULLIS_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// The store: `sqlite:FILE`, or `postgres://…` for several nodes.
    #[arg(long, env = "PORTCULLIS_STORE", value_name = "ADDRESS")]
    store: Option<String>,
    /// This file stands in for the user's and the project's policy.
    #[arg(long, env = "PORTCULLIS_POLICY", value_name = "FILE")]
    policy: Option<PathBuf>,
}

impl Serve {
    /// Serves until a signal comes.
    pub fn run(self, out: &mut impl Write) -> anyhow::Result<ExitCode> {
        heaps::settle();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_keep_alive(KEPT_ALIVE)
            .build()?;
        runtime.block_on(self.serve(out))
    }

    async fn serve(self, out: &mut impl Write) -> anyhow::Result<ExitCode> {
        more_descriptors();
        let places = Places::of_this_user();
        let config = self.configuration(&places)?;
        let teller = log(config.otlp.as_ref())?;
        let data = DataDir::open(self.data_dir.as_deref())?;
        let address = self.store.clone().unwrap_or_else(|| config.store.clone());
        // From here on a signal is heard; one that comes before everything stands ends it after.
        let stop = stop_signal()?;
        // The socket first: it shows whether a daemon runs on this directory already.
        let socket = listen_on_socket(&data)?;
        let store = data.store(&address).await?;
        let first = first_things(&data, &places, self.policy.as_deref(), &*store).await?;
        let tcp = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("cannot listen on {}", config.listen))?;
        let at = tcp.local_addr()?;
        // Port 0 is none that anybody could be told.
        let config = Config { listen: at, ..config };
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let node = open(Parts {
            store,
            places,
            policy: self.policy,
            signer: data.signer()?,
            config,
            internal_key: std::env::var("INTERNAL_API_KEY").ok(),
        });
        let node = node.await.map_err(|error| match error {
            // Shown with its place, as by every other command.
            StartError::Policy(error) => anyhow::Error::new(error),
            StartError::Store(_) | StartError::Tls(_) | StartError::OtherSigner { .. } => {
                anyhow::Error::new(error)
            }
        })?;
        let node = node.with_journal(data.file(portcullis_hook_static::journal::FILE));
        let link = format!("{scheme}://{at}/#{}", node.login_code().await?);
        writeln!(out, "listening on {scheme}://{at}")?;
        first.tell(out, &link, &data)?;
        out.flush()?;
        let user = data.user()?;
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        let telling = teller.map(|teller| {
            tokio::spawn(teller.run(async move {
                let _ = end.await;
            }))
        });
        node.serve(tcp, Some((socket, user)), stop).await?;
        drop(ended);
        if let Some(telling) = telling {
            let _ = telling.await;
        }
        let _ = fs::remove_file(data.socket()?);
        Ok(ExitCode::SUCCESS)
    }

    fn configuration(&self, places: &Places) -> anyhow::Result<Config> {
        let user = places.config.as_ref().map(|config| config.join("config.toml"));
        let machine = Some(PathBuf::from("/etc/portcullis/config.toml"));
        let found = || [user, machine].into_iter().flatten().find(|path| path.exists());
        let mut config = match self.config.clone().or_else(found) {
            None => Config::default(),
            Some(path) => {
                let text = fs::read_to_string(&path);
                let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
                Config::read(&text).map_err(|error| BrokenConfig { path, text, error })?
            }
        };
        if let Some(listen) = self.listen {
            config.listen = listen;
            config.check().map_err(anyhow::Error::msg)?;
        }
        Ok(config)
    }
}

/// What the first start made.
struct First {
    policy: Option<PathBuf>,
    is_first: bool,
}

/// Makes what is missing: a policy to begin with, and the key of the command line.
async fn first_things(
    data: &DataDir,
    places: &Places,
    named: Option<&Path>,
    store: &dyn Store,
) -> anyhow::Result<First> {
    let key = data.file("cli.key");
    let is_first = !key.exists();
    if is_first {
        let now = store.clock().await?.unwrap_or_else(|| Clock::new().now());
        let new = NewKey {
            role: Role::Approver,
            name: user_name(),
            owners: Owners::All,
            expires_at: None,
        };
        let made = match make_key(store, new.clone(), "serve", now).await {
            // The file was removed: the key of this name stays, and another one is made.
            Err(StoreError::NameTaken(name)) => {
                let name = format!("{name}-{}", now.ms());
                make_key(store, NewKey { name, ..new }, "serve", now).await?
            }
            made => made?,
        };
        write_private(&key, format!("{}\n", made.1.reveal()).as_bytes())?;
    }
    let policy = places.user_policy().filter(|path| named.is_none() && !path.exists());
    if let Some(path) = &policy {
        files::write_new(path, Policy::STARTER)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(First { policy, is_first })
}

impl First {
    fn tell(&self, out: &mut impl Write, link: &str, data: &DataDir) -> anyhow::Result<()> {
        writeln!(out, "dashboard    {link}")?;
        writeln!(out, "             (good once, for 10 minutes)")?;
        writeln!(out, "data         {}", data.path().display())?;
        if let Some(policy) = &self.policy {
            writeln!(out, "policy       {} (new; edit it as you like)", policy.display())?;
        }
        if self.is_first {
            writeln!(out, "try it       portcullis demo --answer      a small agent asks you")?;
            writeln!(
                out,
                "             portcullis watch              what waits for you, and your answers"
            )?;
            writeln!(
                out,
                "agents       portcullis install claude     every tool call asks here first"
            )?;
            writeln!(out, "             portcullis keys create --role agent --name NAME")?;
        }
        Ok(())
    }
}

/// The user's name, by which decisions of the command line are recorded.
pub fn user_name() -> String {
    let named = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    named.ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "owner".to_owned())
}

/// Listens on the socket of the data directory, unless another daemon does.
fn listen_on_socket(data: &DataDir) -> anyhow::Result<UnixListener> {
    let path = data.socket()?;
    if UnixStream::connect(&path).is_ok() {
        bail!("a daemon runs on `{}` already; use another `--data-dir`", data.path().display());
    }
    let _ = fs::remove_file(&path);
    let listener = UnixListener::bind(&path)
        .with_context(|| format!("cannot listen on `{}`", path.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// As many descriptors as this process may have: each connection takes one.
fn more_descriptors() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    // Where that is refused, fewer connections are held.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Comes when somebody wants the daemon to stop.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Sends logs to standard error, as the environment says, and traces to a collector, if there is
/// one: what it gives back must run.
fn log(otlp: Option<&Otlp>) -> anyhow::Result<Option<Teller>> {
    let filter = std::env::var("PORTCULLIS_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = EnvFilter::try_new(&filter)
        .with_context(|| format!("`PORTCULLIS_LOG`: `{filter}` is no filter"))?;
    let is_terminal = std::io::stderr().is_terminal();
    let format = std::env::var("PORTCULLIS_LOG_FORMAT").ok();
    let is_text = match format.as_deref() {
        None | Some("") => is_terminal,
        Some("text") => true,
        Some("json") => false,
        Some(other) => bail!("`PORTCULLIS_LOG_FORMAT`: unknown format `{other}`; use text or json"),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = if is_text {
        lines.with_ansi(is_terminal && std::env::var_os("NO_COLOR").is_none()).boxed()
    } else {
        lines.json().boxed()
    };
    let Some(otlp) = otlp else {
        tracing_subscriber::registry().with(lines).with(filter).init();
        return Ok(None);
    };
    let (traces, teller) = traces::to(otlp).map_err(anyhow::Error::msg)?;
    let traces = traces.with_filter(OwnSpans);
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(traces).init();
    Ok(Some(teller))
}
