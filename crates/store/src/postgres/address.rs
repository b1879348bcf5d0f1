//! The address of a database, and how a connection to it is made.

use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::Tls;
use crate::{StoreError, broken};

/// How long a connection may take to come up.
const CONNECT: Duration = Duration::from_secs(3);

/// How long what was sent may go unacknowledged before the connection counts as gone.
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);

/// How long one statement may run, and how long it may wait for a lock: a writer that has stopped
/// in the middle is ended by the database before others give up waiting for it.
const SETTINGS: &str = "-c statement_timeout=5000 -c lock_timeout=4000 \
    -c idle_in_transaction_session_timeout=2000 -c synchronous_commit=on \
    -c default_transaction_isolation=read\\ committed -c application_name=portcullis";

/// Where the certificates of this machine stand.
const SYSTEM_ROOTS: &[&str] = &["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/cert.pem"];

/// How the database is reached.
#[derive(Clone)]
pub(crate) struct Address {
    /// What the driver needs.
    pub(crate) config: Config,
    /// What encrypts.
    pub(crate) tls: Tls,
}

impl Address {
    /// Reads `postgres://…`. `sslmode` is `disable`, `prefer` (the default: encrypted where the
    /// server can), `require` or `verify-full`; a certificate is always checked, against
    /// `sslrootcert` where it is given and the machine's own otherwise.
    pub(crate) fn read(address: &str) -> Result<Address, StoreError> {
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut roots = None;
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslrootcert", path)) => roots = Some(unpercent(path)),
                Some(("sslmode", "verify-full" | "verify-ca")) => {
                    kept.push("sslmode=require".to_owned());
                }
                _ => kept.push(pair.to_owned()),
            }
        }
        let text = format!("{base}?{}", kept.join("&"));
        let mut config: Config = text.trim_end_matches('?').parse().map_err(unusable)?;
        let options = match config.get_options() {
            Some(own) => format!("{SETTINGS} {own}"),
            None => SETTINGS.to_owned(),
        };
        config.options(options);
        config.connect_timeout(CONNECT).tcp_user_timeout(UNACKNOWLEDGED);
        config.keepalives_idle(Duration::from_secs(10)).keepalives_interval(Duration::from_secs(3));
        let is_plain = config.get_ssl_mode() == SslMode::Disable;
        let tls = if is_plain { None } else { trusted(roots.as_deref())? };
        if tls.is_none() && config.get_ssl_mode() == SslMode::Require {
            return Err(broken("no certificates to check the server by; name them in sslrootcert"));
        }
        if tls.is_none() {
            config.ssl_mode(SslMode::Disable);
        }
        Ok(Address { config, tls: Tls::new(tls) })
    }
}

/// An address is not shown back: it may hold a password.
fn unusable(error: tokio_postgres::Error) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// What encrypts, by the certificates it trusts; none where there are none.
fn trusted(path: Option<&str>) -> Result<Option<Arc<rustls::ClientConfig>>, StoreError> {
    let paths = path.map_or_else(|| SYSTEM_ROOTS.to_vec(), |path| vec![path]);
    let Some(file) = paths.iter().find(|path| std::path::Path::new(path).exists()) else {
        return match path {
            Some(path) => Err(broken(&format!("there is no file `{path}` (sslrootcert)"))),
            None => Ok(None),
        };
    };
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(file)
        .map_err(|error| broken(&format!("`{file}` holds no certificates: {error}")))?;
    roots.add_parsable_certificates(found.filter_map(Result::ok));
    if roots.is_empty() {
        return Err(broken(&format!("`{file}` holds no certificates")));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unavailable(Box::new(error)))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Some(Arc::new(config)))
}

/// A text of an address without its percent signs.
fn unpercent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (ahead.next(), ahead.next());
        let digit = |byte: u8| char::from(byte).to_digit(16);
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) => match (digit(high), digit(low)) {
                (Some(high), Some(low)) => {
                    bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                    rest = ahead;
                }
                _ => bytes.push(byte),
            },
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
