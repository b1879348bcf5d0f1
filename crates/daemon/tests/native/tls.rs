//! Encrypted listeners: what they serve, whom they do not, and certificates that are none.

use std::sync::Arc;

use portcullis_daemon::config::{Config, Tls};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::node::{Node, talk};

/// A certificate for `localhost` with its key, in files of a directory.
fn certificate(directory: &TempDir) -> Tls {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let tls = Tls { cert: path("cert.pem"), key: path("key.pem") };
    std::fs::write(&tls.cert, made.cert.pem()).unwrap();
    std::fs::write(&tls.key, made.signing_key.serialize_pem()).unwrap();
    tls
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_with_a_certificate_speaks_tls_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    let tls = certificate(&directory);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&tls.cert).unwrap()).unwrap();
    let node = Node::with(Config { tls: Some(tls), ..Config::default() }).await;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = TlsConnector::from(Arc::new(client));

    // One that never ends its handshake holds up nobody.
    let _silent = TcpStream::connect(node.address).await.unwrap();
    let ask = async |headers: &[&str]| {
        let stream = TcpStream::connect(node.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = client.connect(name, stream).await.unwrap();
        let host = format!("Host: localhost:{}", node.address.port());
        let headers: Vec<&str> = [host.as_str()].iter().chain(headers).copied().collect();
        talk(stream, "GET", "/v1/asks", &headers, "").await
    };
    let key = format!("Authorization: Bearer {}", node.approver);
    let own = format!("Origin: https://localhost:{}", node.address.port());
    let plain = format!("Origin: http://localhost:{}", node.address.port());
    assert_eq!(ask(&[&key]).await.status, 200);
    assert_eq!(ask(&[&key, &own]).await.status, 200);
    assert_eq!(ask(&[&key, &plain]).await.status, 403);
    assert_eq!(ask(&[]).await.status, 401);

    let in_the_clear = node.send("GET", "/healthz", &[], "").await;
    assert_eq!(in_the_clear.status, 0, "{}", in_the_clear.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_none_keeps_the_node_down() {
    let directory = TempDir::new().unwrap();
    let good = certificate(&directory);
    let other = certificate(&TempDir::new_in(directory.path()).unwrap());
    let empty = directory.path().join("empty.pem").to_str().unwrap().to_owned();
    std::fs::write(&empty, "").unwrap();
    let others_key = directory.path().join("others.pem").to_str().unwrap().to_owned();
    let another = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&others_key, another.signing_key.serialize_pem()).unwrap();
    let tls = |cert: &str, key: &str| Tls { cert: cert.to_owned(), key: key.to_owned() };
    let cases = [
        (tls(&other.cert, &good.key), "`tls.cert`"),
        (tls(&empty, &good.key), "holds no certificate"),
        (tls(&good.cert, &empty), "`tls.key`"),
        (tls(&good.cert, &others_key), "do not go together"),
    ];
    for (tls, want) in cases {
        let node = Node::try_with(Config { tls: Some(tls), ..Config::default() }).await;
        let error = node.err().expect("no node").to_string();
        assert!(error.contains(want), "{error}");
    }
}
