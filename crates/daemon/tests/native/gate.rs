//! Who gets through: a matrix made from the table of routes, so that no route can be forgotten.

use portcullis_approval::{Owners, Role};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::config::Config;
use portcullis_daemon::identity::{NewKey, make_key};
use portcullis_daemon::{RouteInfo, table};
use portcullis_store::Sqlite;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::node::Node;

/// Origins that are not ours, some of which look like ours.
fn foreign_origins(node: &Node) -> Vec<String> {
    let port = node.address.port();
    vec![
        "Origin: null".to_owned(),
        "Origin: https://evil.example".to_owned(),
        format!("Origin: http://127.0.0.1.evil.example:{port}"),
        format!("Origin: http://localhost.:{port}"),
        format!("Origin: https://127.0.0.1:{port}"),
        format!("Origin: http://127.0.0.1:{}", port.wrapping_add(1)),
        format!("Origin: http://127.0.0.1:{port}/"),
    ]
}

fn filled(route: &RouteInfo) -> String {
    let mark = route.mark.map_or_else(String::new, |mark| format!("?{mark}=4"));
    format!("{}{mark}", route.path)
        .replace("{id}", "019444a0-1234-7abc-8000-abcdef123456")
        // A feed that is let in goes on for ever; with this it is let in and then refused.
        .replace("/v1/events", "/v1/events?nothing=1")
        .replace("{host}", "claude")
        .replace("{cursor}", "00000000000004d2")
        .replace("{grantId}", "019444a0-1234-7abc-8000-abcdef123456")
}

/// A key made beside the node, as the owner of the machine would.
pub async fn key(node: &Node, role: Role, name: &str, owners: Owners, ends: bool) -> String {
    let store = Sqlite::open(node.directory.path().join("db"), "local").unwrap();
    let now = Clock::new().now();
    let expires_at = ends.then_some(now);
    let new = NewKey { role, name: name.to_owned(), owners, expires_at };
    let (_, secret) = make_key(&store, new, "test", now).await.unwrap();
    secret.reveal().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_key_nothing_answers() {
    let node = Node::start().await;
    let expired = key(&node, Role::Admin, "expired", Owners::All, true).await;
    let wrong = format!("pcl_admin_{}", "A".repeat(43));
    for route in table() {
        let path = filled(&route);
        let send = |header: String| {
            let (node, path, method) = (&node, &path, route.method.clone());
            async move {
                let mut headers: Vec<&str> =
                    if header.is_empty() { Vec::new() } else { vec![header.as_str()] };
                // Without it there is nothing to be let in to.
                headers.extend((path == "/ws").then_some("Upgrade: websocket"));
                node.send(&method, path, &headers, "").await.status
            }
        };
        if route.who == "anyone" {
            assert_ne!(send(String::new()).await, 401, "{} {path}", route.method);
            continue;
        }
        let refused = |status: u16| matches!(status, 401 | 403);
        for header in [
            String::new(),
            format!("Authorization: Bearer {wrong}"),
            format!("Authorization: Bearer {expired}"),
            format!("Authorization: bearer {}", node.admin),
            format!("Authorization: Basic {}", node.admin),
            format!("Authorization: Bearer {} {}", node.admin, node.admin),
            format!("Authorization: Bearer {}\r\nAuthorization: Bearer {wrong}", node.admin),
            format!("Cookie: portcullis={wrong}"),
        ] {
            let status = send(header.clone()).await;
            assert!(refused(status), "{} {path} with `{header}`: {status}", route.method);
        }
        let status = send(format!("Authorization: Bearer {}", node.agent)).await;
        let is_for_agents = matches!(route.who, "any-key" | "agent" | "agent-or-approver");
        assert_eq!(refused(status), !is_for_agents, "{} {path}, agent: {status}", route.method);
        let status = send(format!("Authorization: Bearer {}", node.approver)).await;
        let is_for_approvers = matches!(route.who, "any-key" | "approver" | "agent-or-approver");
        assert_eq!(
            refused(status),
            !is_for_approvers,
            "{} {path}, approver: {status}",
            route.method
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_or_origin_gets_nothing_whatever_it_shows() {
    let node = Node::start().await;
    for route in table() {
        let path = filled(&route);
        let keys = [&node.agent, &node.approver, &node.admin];
        for key in keys {
            let key = format!("Authorization: Bearer {key}");
            for origin in foreign_origins(&node) {
                let reply = node.send(&route.method, &path, &[&key, &origin], "").await;
                assert_eq!(reply.status, 403, "{} {path} with `{origin}`", route.method);
            }
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost", "127.0.0.1"] {
            let host = format!("Host: {host}");
            let key = format!("Authorization: Bearer {}", node.admin);
            let reply = node.send(&route.method, &path, &[&key, &host], "").await;
            assert_eq!(reply.status, 403, "{} {path} with `{host}`", route.method);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approver_of_another_owner_sees_and_settles_nothing() {
    let node = Node::start().await;
    let owners = Owners::Some(vec!["berta".to_owned()]);
    let other = key(&node, Role::Approver, "berta", owners, false).await;
    let node = node.restart().await;
    let call = json!({ "tool": "Bash", "input": { "command": "npm publish" }, "run": "r" });
    node.as_key(&node.agent, "POST", "/v1/runs", &json!({ "run": "r" })).await;
    let ask = node.call(&call).await["ask"].as_str().unwrap().to_owned();
    let list = node.as_key(&other, "GET", "/v1/asks", &Value::Null).await;
    assert_eq!(list.json()["asks"], json!([]));
    let answer = json!({ "answer": "approve" });
    for (method, path, body) in [
        ("GET", format!("/v1/asks/{ask}"), &Value::Null),
        ("POST", format!("/v1/asks/{ask}/decision"), &answer),
        ("DELETE", "/v1/runs/r".to_owned(), &Value::Null),
    ] {
        let reply = node.as_key(&other, method, &path, body).await;
        assert_eq!(reply.status, 404, "{method} {path}");
    }
    let audit = node.as_key(&other, "GET", "/v1/audit", &Value::Null).await;
    assert_eq!(audit.json()["entries"], json!([]));
    assert_eq!(node.pending().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_that_asked_never_answers() {
    let node = Node::start().await;
    let call = json!({ "tool": "Bash", "input": { "command": "npm publish" } });
    let ask = node.call(&call).await["ask"].clone();
    let path = format!("/v1/asks/{}/decision", ask.as_str().unwrap());
    let answer = json!({ "answer": "approve" });
    assert_eq!(node.as_key(&node.agent, "POST", &path, &answer).await.status, 403);
    assert_eq!(node.as_key("internal-secret", "POST", &path, &answer).await.status, 403);
    assert_eq!(node.send_local("POST", &path, &answer.to_string()).await.status, 403);
    assert_eq!(node.pending().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_needs_our_mark_to_change_anything() {
    let node = Node::start().await;
    let port = node.address.port();
    let cookie = format!("Cookie: a=b; portcullis={}", node.admin);
    let origin = format!("Origin: http://127.0.0.1:{port}");
    let send = |headers: Vec<String>| {
        let node = &node;
        async move {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            let body = json!({ "answers": [] }).to_string();
            node.send("POST", "/v1/asks/decisions", &headers, &body).await.status
        }
    };
    let mark = "X-Portcullis: 1".to_owned();
    assert_eq!(send(vec![cookie.clone()]).await, 403);
    assert_eq!(send(vec![cookie.clone(), origin.clone()]).await, 403);
    assert_eq!(send(vec![cookie.clone(), origin, mark.clone()]).await, 200);
    assert_eq!(send(vec![cookie.clone(), mark]).await, 200);
    let reply = node.send("GET", "/v1/asks", &[&cookie], "").await;
    assert_eq!(reply.status, 200, "reading changes nothing");
}

/// Signs a browser in; gives the cookie it would show, and the body.
async fn signed_in(node: &Node, body: &Value) -> (String, Value) {
    let text = body.to_string();
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    let (host, length) = (node.address, text.len());
    let head = format!(
        "POST /v1/login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + &text).as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    let cookie = said.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let body = said.split_once("\r\n\r\n").unwrap().1;
    (cookie, serde_json::from_str(body).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_of_the_dashboard_is_half_a_key() {
    let node = Node::start().await;
    let (cookie, said) = signed_in(&node, &json!({ "code": node.code, "page": true })).await;
    let page = said["page"].as_str().unwrap();
    let secret = cookie.split_once('=').unwrap().1;
    let half = format!("X-Portcullis-Page: {page}");
    let mark = "X-Portcullis: 1";
    #[rustfmt::skip]
    let cases: [(Vec<String>, u16, &str); 6] = [
        (vec![cookie.clone(), half.clone()],                             200, "both halves"),
        (vec![cookie.clone()],                                           401, "every port of a host sees this one"),
        (vec![cookie.clone(), "X-Portcullis-Page: ".to_owned()],         401, "nothing is no half"),
        (vec![cookie.clone(), format!("X-Portcullis-Page: {secret}")],   401, "nor is the first one again"),
        (vec![half.clone()],                                             401, "the other one alone"),
        (vec![format!("Authorization: Bearer {secret}")],                401, "half a key is no key"),
    ];
    for (headers, want, why) in &cases {
        let mut headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        headers.push(mark);
        let body = json!({ "answers": [] }).to_string();
        assert_eq!(node.send("GET", "/v1/asks", &headers, "").await.status, *want, "{why}");
        let reply = node.send("POST", "/v1/asks/decisions", &headers, &body).await;
        assert_eq!(reply.status, *want, "{why}: {}", reply.text);
    }
    let audit = node.as_key(&node.admin, "GET", "/v1/audit", &Value::Null).await.text;
    assert!(!audit.contains(page) && !audit.contains(secret), "neither half is recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_that_pages_of_other_origins_may_use_is_whole() {
    let origins = vec!["http://board.example:3000".to_owned()];
    let node = Node::with(Config { origins, ..Config::default() }).await;
    let (cookie, said) = signed_in(&node, &json!({ "code": node.code, "page": true })).await;
    assert_eq!(said, json!({ "role": "admin" }));
    assert_eq!(node.send("GET", "/v1/asks", &[&cookie], "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_refused_and_refusals_are_recorded() {
    let node = Node::start().await;
    let made = json!({ "role": "approver", "name": "carla", "owners": ["local"] });
    let made = node.as_key(&node.admin, "POST", "/v1/keys", &made).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let made = made.json();
    let secret = made["key"].as_str().unwrap();
    assert_eq!(node.as_key(secret, "GET", "/v1/asks", &Value::Null).await.status, 200);
    let listed = node.as_key(&node.admin, "GET", "/v1/keys", &Value::Null).await;
    assert!(!listed.text.contains(secret), "a secret is shown once");
    let path = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(node.as_key(&node.admin, "DELETE", &path, &Value::Null).await.status, 200);
    assert_eq!(node.as_key(secret, "GET", "/v1/asks", &Value::Null).await.status, 401);
    for _ in 0..200 {
        let path = "/v1/audit?kind=access.refused";
        let audit = node.as_key(&node.admin, "GET", path, &Value::Null).await.json();
        if !audit["entries"].as_array().unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the refusal was never recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_recorded_with_who_and_what() {
    let node = Node::start().await;
    let nobodys = "/v1/asks/019444a0-1234-7abc-8000-abcdef123456";
    let wrong = format!("pcl_admin_{}", "A".repeat(43));
    let answer = json!({ "answer": "approve" });
    let decision = format!("{nobodys}/decision");
    #[rustfmt::skip]
    let cases: [(&str, &str, &str, &Value, u16, &str); 5] = [
        (&wrong,         "GET",  "/v1/asks",  &Value::Null,           401, "unknown"),
        (&node.agent,    "POST", &decision,   &answer,                403, "unknown"),
        (&node.approver, "POST", &decision,   &answer,                404, "approver"),
        (&node.agent,    "POST", "/v1/calls", &json!({ "tool": 17 }), 400, "agent"),
        (&node.admin,    "POST", "/v1/keys",  &json!({ "x": 1 }),     400, "admin"),
    ];
    for (key, method, path, body, status, _) in cases {
        assert_eq!(node.as_key(key, method, path, body).await.status, status, "{method} {path}");
    }
    let mut entries = Vec::new();
    for _ in 0..500 {
        let path = "/v1/audit?kind=access.refused";
        let audit = node.as_key(&node.admin, "GET", path, &Value::Null).await.json();
        entries = audit["entries"].as_array().unwrap().clone();
        if entries.len() == cases.len() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let mut told: Vec<(String, String)> = entries
        .iter()
        .map(|entry| (entry["actor"].to_string(), entry["data"]["status"].to_string()))
        .collect();
    let wanted =
        cases.iter().map(|(.., status, actor)| (format!("{actor:?}"), format!("\"{status}\"")));
    let mut wanted: Vec<(String, String)> = wanted.collect();
    told.sort();
    wanted.sort();
    assert_eq!(told, wanted, "{entries:?}");
    assert!(!entries.iter().any(|entry| entry.to_string().contains("pcl_")), "{entries:?}");
}
