//! TLS on the listeners: the certificate and the key of the configuration, read once at start.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

/// Why no encrypted connection can be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read, or is not what it should be.
    #[error("`tls.{key}`: `{path}` {problem}")]
    File {
        /// The key of the configuration.
        key: &'static str,
        /// What it names.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The two do not belong together.
    #[error("`[tls]`: certificate and key do not go together: {0}")]
    Pair(#[from] rustls::Error),
}

/// What encrypts connections with this certificate.
///
/// # Errors
/// The files are not there, are no PEM, or do not belong together.
pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, TlsError> {
    let wrong =
        |key, path: &str, problem: String| TlsError::File { key, path: path.to_owned(), problem };
    let chain = CertificateDer::pem_file_iter(&tls.cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong("cert", &tls.cert, format!("cannot be read as PEM: {error}")))?;
    if chain.is_empty() {
        let problem = "holds no certificate; it must begin with the server's own";
        return Err(wrong("cert", &tls.cert, problem.to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| wrong("key", &tls.key, format!("cannot be read as PEM: {error}")))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
