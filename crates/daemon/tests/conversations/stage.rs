//! A node in this process for one conversation.

use std::path::Path;
use std::sync::Arc;

use portcullis_approval::receipt::Signer;
use portcullis_approval::{Owners, Role};
use portcullis_converse::Stage;
use portcullis_converse::keys::KEYS;
use portcullis_daemon::clock::Clock;
use portcullis_daemon::config::Config;
use portcullis_daemon::identity::{NewKey, make_key};
use portcullis_daemon::{Parts, open};
use portcullis_layers::Places;
use portcullis_store::{Audit as _, AuditFilter, Sqlite};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What every node here is configured with: tests ask more than agents may.
const LIMITS: &str = "[limits]\npending_asks_per_agent = 100000\nasks_per_minute_per_agent = 0\n";

/// A running node.
pub struct House {
    directory: tempfile::TempDir,
    config: String,
    stage: Stage,
    running: Option<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl House {
    /// A node with this configuration and policy. Its keys are values of the conversation:
    /// `approver` answers for everybody, `anna` and `bob` for themselves; `agent` works for
    /// `anna`, `other_agent` for `bob`; and so is the address `own`, for a listener of a dialect.
    pub async fn new(config: &str, policy: &str) -> House {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("config")).unwrap();
        std::fs::write(directory.path().join("config/policy.toml"), policy).unwrap();
        let store = Sqlite::open(directory.path().join("portcullis.db"), "n").unwrap();
        let mut stage = Stage::default();
        for (value, name, role, owners) in KEYS {
            let role = Role::named(role).unwrap();
            let some = || Owners::Some(owners.iter().map(ToString::to_string).collect());
            let owners = if owners.is_empty() { Owners::All } else { some() };
            let new = NewKey { role, name: name.to_owned(), owners, expires_at: None };
            let (_, secret) = make_key(&store, new, "test", Clock::new().now()).await.unwrap();
            stage.values.insert(value.to_owned(), secret.reveal().to_owned());
        }
        let socket = directory.path().join("portcullis.sock");
        let work = directory.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&work).unwrap();
        let work = work.to_string_lossy().into_owned();
        let own = free_address();
        for (name, value) in [
            ("internal", "internal-secret"),
            ("own", &own),
            ("dir", &work),
            ("socket", &socket.to_string_lossy()),
            ("policy_file", &directory.path().join("config/policy.toml").to_string_lossy()),
        ] {
            stage.values.insert(name.to_owned(), value.to_owned());
        }
        let config = config.replace("${own}", &own).replace("${dir}", &work);
        let config = format!("{config}\n{LIMITS}");
        let mut house = House { directory, config, stage, running: None };
        house.start(store).await;
        house
    }

    /// Where its store lies.
    pub fn store_path(&self) -> std::path::PathBuf {
        self.directory.path().join("portcullis.db")
    }

    /// What a conversation is played against.
    pub fn stage(&self) -> Stage {
        Stage { address: self.stage.address.clone(), values: self.stage.values.clone() }
    }

    /// The asks that the audit says were settled, in order.
    pub async fn settled(&self) -> Vec<String> {
        let store = Sqlite::open(self.directory.path().join("portcullis.db"), "look").unwrap();
        let mut filter = AuditFilter::after(0, 100_000);
        filter.kinds = vec!["ask.settled".to_owned()];
        let entries = store.audit(&filter).await.unwrap();
        entries.into_iter().map(|entry| entry.subject).collect()
    }

    /// Brings the node down.
    pub async fn stop(&mut self) {
        if let Some(Running { stop, served }) = self.running.take() {
            stop.send(()).unwrap();
            served.await.unwrap();
        }
    }

    /// Brings the node down and up again, after so many milliseconds; gives its new address.
    pub async fn restart(&mut self, down_ms: u64) -> String {
        self.stop().await;
        tokio::time::sleep(std::time::Duration::from_millis(down_ms)).await;
        let store = Sqlite::open(self.directory.path().join("portcullis.db"), "n").unwrap();
        self.start(store).await;
        self.stage.address.clone()
    }

    async fn start(&mut self, store: Sqlite) {
        let directory = self.directory.path();
        let parts = Parts {
            store: Arc::new(store),
            places: places(directory),
            policy: None,
            signer: Signer::new(&[7; 32]),
            config: Config::read(&self.config).unwrap(),
            internal_key: Some("internal-secret".to_owned()),
        };
        let node = open(parts).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let socket = directory.join("portcullis.sock");
        let _ = std::fs::remove_file(&socket);
        let socket = UnixListener::bind(&socket).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let user = user();
            let stop = async {
                let _ = stopped.await;
            };
            node.serve(listener, Some((socket, user)), stop).await.unwrap();
        });
        self.stage.address = address.to_string();
        self.running = Some(Running { stop, served });
        // The own listeners are bound before the main one answers.
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let request =
            format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
}

fn places(directory: &Path) -> Places {
    Places {
        organization: directory.join("none.toml"),
        config: Some(directory.join("config")),
        data: Some(directory.to_owned()),
        home: None,
    }
}

/// Who runs the tests, as the kernel says it of a file of ours.
fn user() -> u32 {
    use std::os::unix::fs::MetadataExt;
    let file = tempfile::tempfile().unwrap();
    file.metadata().unwrap().uid()
}

/// An address where nobody listens.
fn free_address() -> String {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().to_string()
}
