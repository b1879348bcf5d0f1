//! The description of the API: complete, closed, and the one that is published.

use portcullis_daemon::table;
use serde_json::Value;

use crate::node::Node;

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value.as_str()) {
                    ("$ref", Some(reference)) => found.push(reference),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_says_what_there_is() {
    let node = Node::start().await;
    let document = node.send("GET", "/openapi.json", &[], "").await.json();
    for route in table().iter().filter(|route| route.path.starts_with("/v1/")) {
        let method = route.method.to_ascii_lowercase();
        assert!(document["paths"][route.path][&method].is_object(), "{} {}", method, route.path);
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "`{reference}` leads nowhere");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    if std::env::var_os("PORTCULLIS_ACCEPT").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(published == text, "docs/openapi.json is old; run this test with PORTCULLIS_ACCEPT=1");
}
