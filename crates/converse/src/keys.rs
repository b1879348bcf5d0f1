//! The keys that recorded conversations expect, made at a running daemon and taken back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::link::{Request, send};

/// The keys: the value a conversation has it by, its name, its role, its owners.
pub const KEYS: [(&str, &str, &str, &[&str]); 6] = [
    ("admin", "alice", "admin", &[]),
    ("approver", "carol", "approver", &[]),
    ("anna", "anna", "approver", &["anna"]),
    ("bob", "bob", "approver", &["bob"]),
    ("agent", "coder", "agent", &["anna"]),
    ("other_agent", "tester", "agent", &["bob"]),
];

/// Keys that were made.
#[derive(Debug, Default)]
pub struct Made {
    /// Their secrets, by value.
    pub values: BTreeMap<String, String>,
    ids: Vec<String>,
}

/// Makes the keys with an admin's key.
///
/// # Errors
/// The daemon refuses one; those that were made are taken back.
pub async fn make(address: &str, admin: &str) -> Result<Made, String> {
    let mut made = Made::default();
    for (value, name, role, owners) in KEYS {
        let body = json!({ "role": role, "name": name, "owners": owners });
        let request = request(address, admin, "POST", "/v1/keys", body.to_string());
        let answer = send(&request).await;
        let text =
            |body: &Value, name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        let key = match &answer {
            Ok((201, body)) => text(body, "id").zip(text(body, "key")),
            Ok(_) | Err(_) => None,
        };
        let Some((id, secret)) = key else {
            revoke(address, admin, &made).await;
            return Err(format!("no key `{name}` could be made: {answer:?}"));
        };
        made.values.insert(value.to_owned(), secret);
        made.ids.push(id);
    }
    Ok(made)
}

/// Takes the keys back.
pub async fn revoke(address: &str, admin: &str, made: &Made) {
    for id in &made.ids {
        // One that is gone already is gone.
        let path = format!("/v1/keys/{id}");
        let _ = send(&request(address, admin, "DELETE", &path, String::new())).await;
    }
}

fn request(address: &str, admin: &str, method: &str, path: &str, body: String) -> Request {
    let authorization = ("Authorization".to_owned(), format!("Bearer {admin}"));
    Request {
        address: address.to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        headers: BTreeMap::from([authorization]),
        body,
    }
}
