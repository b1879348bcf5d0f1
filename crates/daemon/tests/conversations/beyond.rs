//! What conversations as data cannot say about Multica: races, tokens whose time has passed, and
//! what another node decides.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use portcullis_approval::audit::Entry;
use portcullis_approval::key::hash;
use portcullis_approval::{
    Decision, Grant, Granted, Id, Moment, Owners, Reach, Reply, Role, Scope, Settlement, State,
};
use portcullis_converse::{Conversation, play};
use portcullis_daemon::clock::Clock;
use portcullis_engine::Outcome;
use portcullis_store::{
    AskFilter, Asks as _, Audit as _, AuditFilter, Devices as _, Keys as _, PairingRecord, Sqlite,
};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::stage::House;

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A plain connection.
struct Device {
    name: String,
    hub: String,
    kept: Vec<Value>,
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Device {
    async fn connect(house: &House, name: &str, kind: &str, key: &str) -> Device {
        let stage = house.stage();
        let key = &stage.values[key];
        let query = format!("deviceId={name}&deviceType={kind}&token={key}");
        let (stream, _) =
            connect_async(format!("ws://{}/ws?{query}", stage.address)).await.unwrap();
        Device { name: name.to_owned(), hub: String::new(), kept: Vec::new(), stream }
    }

    async fn call(&mut self, id: &str, method: &str, params: Value) {
        let envelope = json!({ "id": id, "from": self.name, "to": self.hub, "action": "request",
            "payload": { "requestId": id, "method": method, "params": params } });
        self.stream.send(Message::text(envelope.to_string())).await.unwrap();
    }

    /// The payload of the next message of this action; others are kept for later.
    async fn next(&mut self, action: &str) -> Value {
        if let Some(at) = self.kept.iter().position(|envelope| envelope["action"] == action) {
            return self.kept.remove(at)["payload"].clone();
        }
        loop {
            let next = tokio::time::timeout(PATIENCE, self.stream.next()).await;
            let message = next.unwrap_or_else(|_| panic!("no `{action}` for {}", self.name));
            let Message::Text(text) = message.unwrap().unwrap() else { continue };
            let envelope: Value = serde_json::from_str(&text).unwrap();
            if envelope["action"] == action {
                return envelope["payload"].clone();
            }
            self.kept.push(envelope);
        }
    }

    /// The id of the hub, which the refusal of a stranger's message tells too.
    async fn learn_hub(&mut self) {
        let stray = json!({ "id": "1", "from": self.name, "to": "nobody", "action": "hello" });
        self.stream.send(Message::text(stray.to_string())).await.unwrap();
        loop {
            if let Message::Text(text) = self.stream.next().await.unwrap().unwrap() {
                let envelope: Value = serde_json::from_str(&text).unwrap();
                self.hub = envelope["from"].as_str().unwrap().to_owned();
                return;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mu_21_of_two_clients_that_answer_at_once_exactly_one_counts() {
    let house = House::new("", "").await;
    let mut agent = Device::connect(&house, "agent", "agent", "agent").await;
    let mut devices = Vec::new();
    for (name, key) in [("one", "approver"), ("two", "anna"), ("three", "approver")] {
        let mut device = Device::connect(&house, name, "client", key).await;
        device.learn_hub().await;
        devices.push(device);
    }
    let [mut one, mut two, mut watcher] = <[Device; 3]>::try_from(devices).ok().unwrap();
    agent.learn_hub().await;
    for round in 0..25 {
        let command = format!("make {round}");
        agent.call("ask", "requestExecApproval", json!({ "command": command })).await;
        let mut id = Value::Null;
        for device in [&mut one, &mut two, &mut watcher] {
            id = device.next("exec-approval-request").await["approvalId"].clone();
        }
        let params = |word: &str| json!({ "approvalId": id, "decision": word });
        tokio::join!(
            one.call("x", "resolveExecApproval", params("allow-once")),
            two.call("x", "resolveExecApproval", params("deny")),
        );
        let (first, second) = tokio::join!(one.next("response"), two.next("response"));
        let won: Vec<bool> = [&first, &second].iter().map(|answer| answer["ok"] == true).collect();
        assert!(won[0] != won[1], "{first} {second}");
        let (by, word, loser) =
            if won[0] { ("carol", "allow-once", &second) } else { ("anna", "deny", &first) };
        assert_eq!(loser["error"]["code"], "NOT_FOUND");
        assert_eq!(
            (&loser["error"]["resolvedBy"], &loser["error"]["decision"]),
            (&json!(by), &json!(word))
        );
        let lost = if won[0] { &mut two } else { &mut one };
        for device in [lost, &mut watcher] {
            let told = device.next("exec-approval-resolved").await;
            assert_eq!((&told["approvalId"], &told["resolvedBy"]), (&id, &json!(by)));
            assert_eq!(told["decision"], word);
        }
        let result = agent.next("response").await;
        assert_eq!(result["payload"]["approved"], won[0], "{result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mu_5_a_token_does_not_work_after_its_time_and_is_spent_by_trying() {
    let house = House::new("", "").await;
    let store = Sqlite::open(house.store_path(), "n").unwrap();
    let keys = store.keys().await.unwrap();
    let approver = keys.iter().find(|record| record.key.role == Role::Approver).unwrap();
    let now = Clock::new().now();
    for (token, chance, expires_at) in
        [("pair_old", 1, Moment::from_ms(now.ms() - 1)), ("pair_new", 2, now.after_s(60))]
    {
        let pairing = PairingRecord {
            id: Id::new(now, &[chance; 10]),
            hash: hash(token),
            key: approver.key.id,
            agent: None,
            must_confirm: false,
            made_at: now,
            expires_at,
        };
        store.offer_pairing(&pairing, Vec::new()).await.unwrap();
    }
    let address = house.stage().address;
    let device = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
    let query = format!("EIO=4&transport=websocket&deviceId={device}&deviceType=client");
    let (mut stream, _) = connect_async(format!("ws://{address}/ws/?{query}")).await.unwrap();
    let mut hub = Value::Null;
    stream.send(Message::text("40")).await.unwrap();
    let mut answers = Vec::new();
    let mut tokens = ["pair_old", "pair_old", "pair_new"].into_iter();
    while answers.len() < 3 {
        let next = tokio::time::timeout(PATIENCE, stream.next()).await.unwrap();
        let Message::Text(text) = next.unwrap().unwrap() else { continue };
        let is_answer = text.starts_with("42[\"receive\"");
        if text.starts_with("42[\"registered\"") {
            stream.send(Message::text("420[\"list-devices\"]")).await.unwrap();
            continue;
        } else if text.as_str() == "2" {
            stream.send(Message::text("3")).await.unwrap();
            continue;
        } else if let Some(list) = text.strip_prefix("430") {
            let list: Value = serde_json::from_str(list).unwrap();
            hub = list[0]["devices"][0]["deviceId"].clone();
        } else if is_answer {
            let event: Value = serde_json::from_str(text.get(2..).unwrap()).unwrap();
            answers.push(event[1]["payload"].clone());
        } else {
            continue;
        }
        if let Some(token) = tokens.next() {
            let envelope = json!({ "id": "m", "from": device, "to": hub, "action": "request",
                "payload": { "requestId": "v", "method": "verify", "params": { "token": token } } });
            let text = format!("42[\"send\",{envelope}]");
            stream.send(Message::text(text)).await.unwrap();
        }
    }
    let said: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["message"]).collect();
    let late = json!("Invalid or expired token");
    assert_eq!(said, [&late, &late, &Value::Null], "{answers:?}");
    assert_eq!(store.take_pairing(hash("pair_old")).await.unwrap(), None, "it is spent");
}

/// What another node decides about an ask: it is approved for good, by the entry that is offered.
async fn approve_elsewhere(store: &Sqlite) {
    let pending = store.asks(&AskFilter::pending(Owners::All, 10)).await.unwrap();
    let ask = &pending[0].ask;
    let now = Clock::new().now();
    let grant = Grant {
        id: Id::new(now, &[1; 10]),
        owner: ask.asker.owner.clone(),
        key: Some(ask.asker.key),
        agent: None,
        profile: ask.call.profile.clone(),
        granted: Granted::Pattern(ask.offers[0].rule.clone()),
        reach: Reach::Always,
        expires_at: None,
        uses_left: None,
        made_by: "carol".to_owned(),
        made_at: now,
        ask: Some(ask.id),
    };
    let decision = Decision {
        ask: ask.id,
        state: State::Approved,
        outcome: Outcome::Allow,
        reply: Some(Reply::Approve),
        scope: Scope::Always,
        by: "carol".to_owned(),
        door: "api".to_owned(),
        at: now,
        reason: "approver".to_owned(),
        feedback: None,
        input: None,
        grants: vec![grant.id],
    };
    let settled = Entry {
        kind: "ask.settled",
        at: now,
        actor: "carol".to_owned(),
        subject: ask.id.to_string(),
        owner: Some(ask.asker.owner.clone()),
        data: "{}".to_owned().into(),
    };
    let settlement = Settlement { decision, grants: vec![grant] };
    store.settle_ask(&settlement, vec![settled]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn mu_26_a_file_that_follows_what_another_node_decided_is_in_the_audit() {
    let mut house = House::new("[dialects.multica]\nprofiles = \"${dir}/profiles\"", "").await;
    let directory = std::path::Path::new(&house.stage().values["dir"]).join("profiles/p");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.json"), r#"{"execApproval": {}}"#).unwrap();
    let mut client = Device::connect(&house, "client", "client", "approver").await;
    let mut agent = Device::connect(&house, "agent", "agent", "agent").await;
    agent.learn_hub().await;
    let params = json!({ "command": "make x", "cwd": "/srv/p", "profileId": "p" });
    agent.call("r", "requestExecApproval", params).await;
    client.next("exec-approval-request").await;

    let other = Sqlite::open(house.store_path(), "other").unwrap();
    approve_elsewhere(&other).await;
    let answer = agent.next("response").await;
    assert_eq!(answer["payload"]["decision"], "allow-always", "{answer}");
    let text = std::fs::read_to_string(directory.join("config.json")).unwrap();
    assert!(text.contains("make **"), "{text}");
    let mut filter = AuditFilter::after(0, 100);
    filter.kinds = vec!["profile.changed".to_owned()];
    let changed = other.audit(&filter).await.unwrap();
    let [entry] = changed.as_slice() else { panic!("one entry: {changed:?}") };
    assert_eq!((entry.actor.as_str(), entry.subject.as_str()), ("carol", "multica:p"));
    assert_eq!(entry.data, r#"{"after":["make **"],"before":[]}"#);
    house.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mu_16_what_was_shown_is_not_denied_because_nobody_is_there_any_more() {
    let mut house = House::new("", "").await;
    let mut steps = vec![
        json!({ "http": "POST /v1/devices", "key": "${approver}", "body": {}, "expect": { "hub_id": "<uuid:hub>", "...": true } }),
        json!({ "on": "agent", "connect": "/ws?deviceId=agent&deviceType=agent&token=${agent}" }),
    ];
    for round in 0..30 {
        let device = format!("/ws?deviceId=c{round}&deviceType=client&token=${{approver}}");
        let params = json!({ "command": format!("make {round}"), "cwd": "/srv/p" });
        let asked = json!({ "requestId": "r", "method": "requestExecApproval", "params": params });
        steps.extend([
            json!({ "on": "client", "connect": device }),
            json!({ "on": "agent", "send": { "id": "m", "from": "agent", "to": "${hub}", "action": "request", "payload": asked } }),
            // Whoever has seen it goes at once.
            json!({ "on": "client", "expect": { "action": "exec-approval-request", "payload": { "approvalId": "<uuid:id>", "...": true }, "...": true } }),
            json!({ "on": "client", "disconnect": true }),
            json!({ "sleep_ms": 5 }),
            json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "reject" } }),
            json!({ "on": "agent", "expect": { "action": "response", "payload": { "payload": { "reason": "<like:approver: *>", "...": true }, "...": true }, "...": true } }),
        ]);
    }
    let conversation = Conversation::of("seen", &steps).unwrap();
    play(&conversation, house.stage(), async || Err("no restart".to_owned())).await.unwrap();
    house.stop().await;
}
