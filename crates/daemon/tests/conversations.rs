//! The recorded conversations, each with a node of its own; `crates/converse` says how to write one.

#![cfg(test)]

#[path = "conversations/stage.rs"]
mod stage;

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use portcullis_converse::{Conversation, play};

use stage::House;

/// So many are played at once.
const AT_ONCE: usize = 4;

fn directory(dialect: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conversations");
    root.canonicalize().unwrap().join(dialect)
}

/// Plays every conversation of a dialect, and names every one that went otherwise.
async fn play_all(dialect: &str) {
    let conversations = Conversation::all(&directory(dialect)).unwrap();
    assert!(!conversations.is_empty());
    let played = futures_util::stream::iter(&conversations).map(async |conversation| {
        let mut house = House::new(&conversation.config, &conversation.policy).await;
        let stage = house.stage();
        let restart = async || Ok(house.restart().await);
        play(conversation, stage, restart).await
    });
    let faults: Vec<String> = played
        .buffer_unordered(AT_ONCE)
        .filter_map(async |played| played.err().map(|fault| fault.to_string()))
        .collect()
        .await;
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn agentbot() {
    play_all("agentbot").await;
}
