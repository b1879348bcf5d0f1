//! The data directory: the store, the keys and the socket of one user, for nobody else.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use portcullis_approval::receipt::Signer;
use portcullis_layers::Places;
use portcullis_store::{Store, is_postgres};

/// The longest path a socket may have.
const MOST_SOCKET_PATH: usize = 100;

/// The name of this node's chain in a store of its own.
const NODE: &str = "local";

/// A data directory.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
}

impl DataDir {
    /// The directory that was named, or the user's; made where there is none.
    pub fn open(named: Option<&Path>) -> anyhow::Result<DataDir> {
        let path = place(named)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.with_context(|| format!("cannot make the data directory `{}`", path.display()))?;
        DataDir::checked(path)
    }

    /// The directory that was named, or the user's, whether it is there or not; nothing is made.
    pub fn look(named: Option<&Path>) -> anyhow::Result<DataDir> {
        let path = place(named)?;
        if path.exists() { DataDir::checked(path) } else { Ok(DataDir { path }) }
    }

    /// The directory that was named, or the user's, which must be there.
    pub fn find(named: Option<&Path>) -> anyhow::Result<DataDir> {
        let path = place(named)?;
        if !path.is_dir() {
            bail!("there is no data directory `{}`; start with `portcullis serve`", path.display());
        }
        DataDir::checked(path)
    }

    fn checked(path: PathBuf) -> anyhow::Result<DataDir> {
        let metadata = fs::metadata(&path)?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            bail!(
                "others may use the data directory `{path}` (mode {mode:o}); run `chmod 700 {path}`",
                path = path.display()
            );
        }
        Ok(DataDir { path })
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The user it belongs to.
    pub fn user(&self) -> anyhow::Result<u32> {
        Ok(fs::metadata(&self.path)?.uid())
    }

    /// The path of the daemon's socket.
    pub fn socket(&self) -> anyhow::Result<PathBuf> {
        let socket = self.file("portcullis.sock");
        let length = socket.as_os_str().len();
        if length > MOST_SOCKET_PATH {
            bail!(
                "`{}` is too long for a socket ({length} bytes, {MOST_SOCKET_PATH} at most); \
                 use a shorter `--data-dir`",
                socket.display()
            );
        }
        Ok(socket)
    }

    /// The store that an address names; the one in this directory where it names none.
    pub async fn store(&self, address: &str) -> anyhow::Result<Arc<dyn Store>> {
        let own = format!("sqlite:{}", self.file("portcullis.db").display());
        open_store(if address.is_empty() { &own } else { address }).await
    }

    /// The pair of keys that signs receipts and checkpoints; made where there is none.
    pub fn signer(&self) -> anyhow::Result<Signer> {
        let path = self.file("signing.key");
        let mut secret = [0; 32];
        match File::open(&path) {
            Ok(mut file) => {
                let read = file.read_exact(&mut secret);
                read.with_context(|| format!("`{}` is no signing key", path.display()))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                getrandom::fill(&mut secret)?;
                write_private(&path, &secret)?;
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
            }
        }
        let signer = Signer::new(&secret);
        let public = portcullis_approval::key::hex(&signer.public());
        let public_path = self.file("signing.pub");
        if fs::read_to_string(&public_path).ok().as_deref() != Some(&format!("{public}\n")) {
            fs::write(&public_path, format!("{public}\n"))?;
        }
        Ok(signer)
    }
}

/// Opens the store that an address names.
pub async fn open_store(address: &str) -> anyhow::Result<Arc<dyn Store>> {
    if !address.starts_with("sqlite:") && !is_postgres(address) {
        bail!("`{address}` is no store; use `sqlite:FILE` or `postgres://…`");
    }
    let store = portcullis_store::open(address, NODE).await;
    store.with_context(|| format!("cannot open the store `{}`", without_password(address)))
}

/// An address as it may be shown.
pub fn without_password(address: &str) -> String {
    let shown = address.strip_prefix("sqlite:").unwrap_or(address);
    match (shown.split_once("://"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://…@{place}"),
        _ => shown.to_owned(),
    }
}

/// Where the directory lies.
fn place(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    match named {
        Some(path) => Ok(std::path::absolute(path)?),
        None => Places::of_this_user()
            .data
            .context("there is no home to keep data in; use `--data-dir`"),
    }
}

/// The public key that was named, or that of the data directory.
pub fn checking_key(named: Option<&Path>, data_dir: Option<&Path>) -> anyhow::Result<[u8; 32]> {
    match named {
        Some(path) => public_key(path),
        None => public_key(&DataDir::find(data_dir)?.file("signing.pub")),
    }
}

/// Reads a public key, as `signing.pub` holds it.
pub fn public_key(path: &Path) -> anyhow::Result<[u8; 32]> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
    let key = portcullis_approval::audit::unhex(text.trim());
    key.with_context(|| format!("`{}` is no public key: 64 hexadecimal digits", path.display()))
}

/// Writes a file that only this user may read, where there is none.
pub fn write_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = made.with_context(|| format!("cannot make `{}`", path.display()))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(())
}
