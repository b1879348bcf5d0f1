//! The recorded conversations, each with a node of its own; `crates/converse` says how to write one.

#![cfg(test)]

#[path = "conversations/across.rs"]
mod across;
#[path = "conversations/beyond.rs"]
mod beyond;
#[path = "conversations/races.rs"]
mod races;
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
        let restart = async || Ok(house.restart(conversation.down_ms).await);
        let played = play(conversation, stage, restart).await;
        house.stop().await;
        played
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

/// Every requirement of a page is named by a conversation.
fn proves_all(dialect: &str, prefix: &str, count: usize) {
    let conversations = Conversation::all(&directory(dialect)).unwrap();
    let proven: Vec<&String> =
        conversations.iter().flat_map(|conversation| &conversation.proves).collect();
    let wanted: Vec<String> = (1..=count).map(|number| format!("{prefix}-{number}")).collect();
    let missing: Vec<&String> = wanted.iter().filter(|row| !proven.contains(row)).collect();
    assert!(missing.is_empty(), "no conversation proves {missing:?}");
    let unknown: Vec<_> = proven.into_iter().filter(|row| !wanted.contains(row)).collect();
    assert!(unknown.is_empty(), "no such requirement: {unknown:?}");
}

#[test]
fn every_requirement_of_comma_is_proven() {
    proves_all("comma", "CO", 28);
}

#[tokio::test(flavor = "multi_thread")]
async fn comma() {
    play_all("comma").await;
}

#[test]
fn every_requirement_of_multica_is_proven() {
    proves_all("multica", "MU", 26);
}

#[tokio::test(flavor = "multi_thread")]
async fn native() {
    play_all("native").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn multica() {
    play_all("multica").await;
}
