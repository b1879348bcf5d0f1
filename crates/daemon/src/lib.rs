//! HTTP and WebSocket around one authority.
//!
//! [`open`] brings a node up from its parts; [`Node::serve`] answers until it is told to stop.
//! `authority` is the one place where pure code meets I/O, `router` and `routes` say what
//! can be asked, [`identity`] who may ask it, and `doors` speak the dialects of others.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::receipt::Signer;
use portcullis_layers::{LayerError, Places};
use portcullis_store::{Store, StoreError};
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

mod authority;
pub mod chance;
pub mod clock;
pub mod config;
mod doors;
mod error;
mod expiry;
mod extract;
mod feed;
pub mod identity;
mod journal;
mod listen;
mod metrics;
mod openapi;
mod policies;
mod refusals;
mod router;
mod routes;
mod signing;
mod tally;
mod tending;
mod tls;
pub mod traces;
mod waiters;

use authority::Authority;
use config::Config;
use feed::Feed;
use identity::{Caller, Identity};
use metrics::Metrics;
use policies::Policies;
use refusals::Refusals;
use tally::Tallies;
use tls::TlsError;

/// What handlers work with; clones are the same, and cost one count: each request makes some.
#[derive(Clone)]
pub(crate) struct App(Arc<Rooms>);

impl std::ops::Deref for App {
    type Target = Rooms;

    fn deref(&self) -> &Rooms {
        &self.0
    }
}

/// What a node consists of.
pub(crate) struct Rooms {
    /// The authority.
    pub(crate) authority: Authority,
    /// Who callers are.
    pub(crate) identity: Arc<Identity>,
    /// What changed.
    pub(crate) feed: Feed,
    /// Comma's clients.
    pub(crate) comma: doors::comma::hub::Hub,
    /// Numbers.
    pub(crate) metrics: Arc<Metrics>,
    /// What the audit adds up to.
    pub(crate) tallies: Tallies,
    /// Where refusals are noted.
    pub(crate) refusals: Refusals,
    /// The configuration.
    pub(crate) config: Arc<Config>,
    /// Multica's devices.
    pub(crate) hub: Arc<doors::multica::Hub>,
    /// Whether connections are encrypted here.
    pub(crate) has_tls: bool,
}

impl App {
    /// Reads the keys again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn refresh_keys(&self) -> Result<(), StoreError> {
        self.identity.refresh(self.authority.store()).await?;
        self.authority.remember_keys(self.identity.keys().into_iter());
        Ok(())
    }

    /// Comes when the key of a caller counts no longer.
    pub(crate) async fn ended(&self, caller: &Caller) {
        self.identity.ended(&caller.key, self.authority.clock()).await;
    }

    /// Whether the key of a caller still counts.
    pub(crate) fn counts(&self, caller: &Caller) -> bool {
        self.identity.by_id(caller.key.id, self.authority.now()).is_some()
    }

    /// Writes the policy that somebody set for all nodes into this one's file, where they differ.
    async fn take_shared_policy(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let Some(text) = self.authority.store().policy().await? else { return Ok(()) };
        let Some(path) = self.authority.policies().places().user_policy() else { return Ok(()) };
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            portcullis_layers::files::replace(&path, &text)?;
        }
        Ok(())
    }

    /// Says what the authors of the policy in force should know.
    fn warn_of_policy(&self) {
        // A broken file is told where it is read.
        let Ok(in_force) = self.authority.policies().everywhere() else { return };
        for warning in &in_force.warnings {
            tracing::warn!("policy: {warning}");
        }
    }

    /// Looks at the policy files, and says in the audit if they changed.
    pub(crate) async fn look_at_policies(&self, actor: Option<&str>) {
        if let Err(error) = self.take_shared_policy().await {
            tracing::error!("the policy that nodes share could not be taken over: {error}");
        }
        let changes = self.authority.policies().look();
        if let Some(fault) = changes.fault {
            tracing::error!("{fault}; the last good policy holds");
        }
        let Some((before, after)) = changes.changed else { return };
        tracing::info!("policy `{after}` is in force");
        self.warn_of_policy();
        // Kept at once: it may be replaced before anybody looks again.
        self.authority.keep_policies().await;
        let now = self.authority.now();
        let entry = routes::policies::changed(&before, &after, actor.unwrap_or("files"), now);
        if let Err(error) = self.authority.store().record(vec![entry], Vec::new(), now).await {
            tracing::error!("the change of policy could not be recorded: {error}");
        }
    }
}

/// What a node is made from.
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Where policy files lie.
    pub places: Places,
    /// A policy file that stands in for the user's and the project's.
    pub policy: Option<PathBuf>,
    /// What signs.
    pub signer: Signer,
    /// The configuration.
    pub config: Config,
    /// The value of `INTERNAL_API_KEY`.
    pub internal_key: Option<String>,
}

/// Why a node could not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The policy is broken.
    #[error(transparent)]
    Policy(#[from] LayerError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Other nodes sign with another key.
    #[error(
        "the other nodes of this store sign with key `{theirs}` and this one would with `{ours}`: \
         copy `signing.key` from the data directory of one of them into that of this node; to \
         change the key of all, stop all first (docs/runbook.md)"
    )]
    OtherSigner {
        /// The name of this node's key.
        ours: String,
        /// The name of theirs.
        theirs: String,
    },
}

/// A node that is up and not yet listening.
pub struct Node {
    app: App,
    tls: Option<TlsAcceptor>,
    journal: Option<PathBuf>,
}

/// Brings a node up.
///
/// # Errors
/// The policy is broken, or the store or the certificate cannot be used.
pub async fn open(parts: Parts) -> Result<Node, StartError> {
    let tls = parts.config.tls.as_ref().map(tls::acceptor).transpose()?;
    let profiles = doors::multica::Files::new(&parts.config, parts.places.home.as_deref());
    let policies = Policies::open(parts.places, parts.policy)?;
    let limits = parts.config.limits.clone();
    let overlays = doors::overlays(&parts.config, &profiles);
    let hub = Arc::new(doors::multica::Hub::new(&parts.signer, profiles));
    let metrics = Arc::new(Metrics::default());
    let replaced = signing::agree(&*parts.store, &parts.signer).await?;
    let authority =
        Authority::new(parts.store, policies, parts.signer, limits, overlays, Arc::clone(&metrics))
            .await?;
    let identity = Arc::new(Identity::new(parts.internal_key.as_deref()));
    let rooms = Rooms {
        refusals: Refusals::new(&authority),
        identity,
        feed: Feed::default(),
        comma: doors::comma::hub::Hub::default(),
        hub,
        metrics,
        tallies: Tallies::default(),
        has_tls: tls.is_some(),
        config: Arc::new(parts.config),
        authority,
    };
    let app = App(Arc::new(rooms));
    app.refresh_keys().await?;
    if app.authority.store().is_alone() {
        app.authority.resume_runs().await?;
    }
    if let Some(before) = replaced {
        signing::note(&app.authority, &before).await?;
    }
    Ok(Node { app, tls, journal: None })
}

impl Node {
    /// The node, which takes over what hooks write to this file while no daemon runs.
    #[must_use]
    pub fn with_journal(self, journal: PathBuf) -> Node {
        Node { journal: Some(journal), ..self }
    }

    /// The router with every route.
    pub fn router(&self) -> axum::Router {
        router::router(&self.app, &routes::all(&self.app.config))
    }

    /// The link by which a browser logs in, once and soon.
    ///
    /// # Errors
    /// There is no chance to make it from, or the store could not keep it.
    pub async fn login_code(&self) -> Result<String, StoreError> {
        let authority = &self.app.authority;
        self.app.identity.new_code(authority.store(), authority.now()).await
    }

    /// Answers until `stop` comes, then finishes what was begun.
    ///
    /// # Errors
    /// The start could not be recorded.
    pub async fn serve(
        self,
        tcp: TcpListener,
        socket: Option<(UnixListener, u32)>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), StoreError> {
        let app = &self.app;
        let router = self.router();
        self.note("node.started").await?;
        app.warn_of_policy();
        if doors::waives_keys(&app.config) {
            tracing::warn!("whoever reaches this machine's loopback is an approver here");
            self.note("key.waived").await?;
        }
        let stopping = app.authority.stopping();
        let feed = app.feed.clone();
        tokio::spawn(feed.pump(app.authority.clone(), Arc::clone(&app.identity)));
        if app.config.dialects.comma.on {
            tokio::spawn(app.comma.clone().pump(app.clone()));
        }
        tokio::spawn(expiry::watch(app.authority.clone()));
        tokio::spawn(authority::look_again(app.authority.clone()));
        tokio::spawn(tending::tend(app.clone(), self.journal.clone()));
        tokio::spawn(tending::share_rates(app.authority.clone()));
        let mut listeners = tokio::task::JoinSet::new();
        let places = listen::Places::new();
        let listen = |tcp: TcpListener, address, router| {
            let Config { host_names, origins, .. } = &*app.config;
            let names = Arc::new(listen::Names::new(address, app.has_tls, host_names, origins));
            listen::serve_tcp(
                tcp,
                self.tls.clone(),
                names,
                router,
                stopping.clone(),
                places.clone(),
            )
        };
        for (address, routes) in doors::listeners(&app.config) {
            // A busy port of another program must not keep the daemon from its own work.
            match TcpListener::bind(address).await {
                Ok(own) => {
                    listeners.spawn(listen(own, address, router::router(app, &routes)));
                }
                Err(error) => tracing::error!("nobody listens at {address}: {error}"),
            }
        }
        // The last one to answer is the main one: who hears from it finds the others there.
        if let Ok(address) = tcp.local_addr() {
            listeners.spawn(listen(tcp, address, router.clone()));
        }
        if let Some((socket, user)) = socket {
            let (stopping, places) = (stopping.clone(), places.clone());
            listeners.spawn(listen::serve_socket(socket, user, router, stopping, places));
        }
        stop.await;
        app.authority.stop();
        while listeners.join_next().await.is_some() {}
        signing::sign(&app.authority).await;
        self.note("node.stopped").await?;
        signing::sign(&app.authority).await;
        app.authority.store().close().await;
        Ok(())
    }

    async fn note(&self, kind: &'static str) -> Result<(), StoreError> {
        let authority = &self.app.authority;
        let now = authority.now();
        let entry = Entry {
            kind,
            at: now,
            actor: "portcullis".to_owned(),
            subject: authority.store().node().to_owned(),
            owner: None,
            data: object(vec![("version", quoted(env!("CARGO_PKG_VERSION")))]).into(),
        };
        authority.store().record(vec![entry], Vec::new(), now).await
    }
}

/// One row of the table of routes, for whoever checks that none is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteInfo {
    /// The method.
    pub method: String,
    /// The path, with names in braces.
    pub path: &'static str,
    /// The parameter of the query that tells it from other rows of its path.
    pub mark: Option<&'static str>,
    /// Who may use it.
    pub who: &'static str,
}

/// The table of routes, with every dialect spoken.
#[must_use]
pub fn table() -> Vec<RouteInfo> {
    let routes = routes::all(&Config::default());
    let info = |route: &Arc<router::Route>| RouteInfo {
        method: route.method.to_string(),
        path: route.path,
        mark: route.mark,
        who: route.who.name(),
    };
    routes.iter().map(info).collect()
}
