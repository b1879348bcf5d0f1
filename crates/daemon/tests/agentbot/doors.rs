//! How the door is opened: its own listener, the waiver, and the browser.

use serde_json::json;

use crate::house::{House, INTERNAL, http};

#[tokio::test]
async fn the_own_listener_serves_the_same_paths_and_no_others() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let house = House::new(&format!("[dialects.agentbot]\nlisten = \"{address}\"\n"), "").await;
    // The main listener answers only after the own one is bound.
    house.bash("ls").await;
    let headers = format!("Host: {address}\r\nAuthorization: Bearer {INTERNAL}\r\n");
    let body = br#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let (status, answer) = http(address, "POST", "/api/hooks/classify", &headers, body).await;
    assert_eq!((status, &answer["reason"]), (200, &json!("Safe: ls")));
    assert_eq!(http(address, "GET", "/v1/asks", &headers, b"").await.0, 404);
}

#[tokio::test]
async fn a_waived_key_means_one_named_approver_and_never_an_agent() {
    let house = House::new("[dialects.agentbot]\nloopback_without_key = true\n", "").await;
    let id = house.queued("node x.js").await;
    let body = json!({ "requestId": id, "decision": "reject" }).to_string();
    assert_eq!(house.send("POST", "/api/permissions", "", &body).await.0, 200);
    assert_eq!(house.status(&id).await["decidedBy"], "loopback");
    let body = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    assert_eq!(house.send("POST", "/api/hooks/classify", "", body).await.0, 401);
    assert_eq!(house.send("GET", "/v1/asks", "", "").await.0, 401, "elsewhere nothing is waived");
}
