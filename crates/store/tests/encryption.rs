//! Encrypted connections to the database: whom they trust, and that nothing goes in the clear.

#![cfg(test)]

use portcullis_database::Database;
use tempfile::TempDir;

/// How many connections of a store the database has, by whether they are encrypted.
const ENCRYPTED: &str = "SELECT coalesce(bool_and(s.ssl), false), count(*) > 0 FROM pg_stat_ssl s \
    JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'portcullis'";

#[tokio::test(flavor = "multi_thread")]
async fn a_store_speaks_with_the_server_its_certificates_vouch_for_and_no_other() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let stranger = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let elsewhere = rcgen::generate_simple_self_signed(["db.example".to_owned()]).unwrap();
    let mut database = Database::start(&["fsync=off"]).unwrap();
    let address = database.address();
    let with = |mode: &str, roots: &str| format!("{address}?sslmode={mode}&sslrootcert={roots}");
    let own_roots = file("own.pem", &own.cert.pem());
    let strangers = file("stranger.pem", &stranger.cert.pem());
    let open = async |address: String| portcullis_store::open(&address, "here").await.map(drop);

    let plain = open(with("verify-full", &own_roots)).await;
    assert!(plain.is_err(), "the server cannot encrypt yet, and must not be spoken with");

    database.encrypt(&own.cert.pem(), &own.signing_key.serialize_pem()).unwrap();
    for mode in ["prefer", "require", "verify-full"] {
        let store = portcullis_store::open(&with(mode, &own_roots), "here").await.unwrap();
        store.ready().await.unwrap();
        assert_eq!(database.sql(ENCRYPTED).unwrap().trim(), "t|t", "{mode}");
        store.close().await;
        let refused = open(with(mode, &strangers)).await;
        assert!(refused.is_err(), "{mode}: nobody vouches for this certificate");
    }
    let missing = with("require", "/nowhere/roots.pem");
    let said = open(missing).await.unwrap_err();
    let said = std::error::Error::source(&said).map_or(said.to_string(), ToString::to_string);
    assert!(said.contains("/nowhere/roots.pem"), "{said}");
    assert!(!said.contains("portcullis:"), "no password: {said}");

    database.encrypt(&elsewhere.cert.pem(), &elsewhere.signing_key.serialize_pem()).unwrap();
    let others = file("elsewhere.pem", &elsewhere.cert.pem());
    assert!(open(with("verify-full", &others)).await.is_err(), "it is another host's");
}
