//! The chain: whatever was done to its lines is seen.

use portcullis_approval::audit::{Chain, Checkpoint, Entry, Link, NOTHING};
use portcullis_approval::canonical::{Canonical, quoted};
use portcullis_approval::receipt::Signer;
use portcullis_law::law;
use proptest::prelude::*;
use proptest::{collection, sample};

use crate::samples::NOW;

/// The lines of a chain, from the texts of its entries.
fn lines(texts: &[(String, String)]) -> Vec<String> {
    let mut prev = NOTHING;
    let line = |((actor, data), seq): (&(String, String), u64)| {
        let entry = Entry {
            kind: "call.judged",
            at: NOW,
            actor: actor.clone(),
            subject: "s".to_owned(),
            owner: None,
            data: Canonical::read(&format!("{{\"x\":{}}}", quoted(data))).unwrap(),
        };
        let link = Link { node: "here", seq, prev };
        prev = entry.written().hash(&link);
        entry.written().line(&link)
    };
    texts.iter().zip(1..).map(line).collect()
}

fn texts(least: usize) -> impl Strategy<Value = Vec<(String, String)>> {
    collection::vec(("[a-c\"ä]{0,3}", "[ -~]{0,12}"), least..6)
}

/// Takes lines up to the first that is wrong.
fn holds(lines: &[String]) -> bool {
    let mut chain = Chain::default();
    lines.iter().all(|line| chain.take(line).is_ok())
}

#[test]
fn a_chain_that_nobody_touched_holds() {
    law(texts(0), |texts| {
        let lines = lines(&texts);
        prop_assert!(holds(&lines));
        // It holds from any place on, if that is known.
        let mut chain = Chain::default();
        for (at, line) in lines.iter().enumerate() {
            let (seq, hash) = chain.head();
            let mut rest = Chain::after(seq, hash);
            prop_assert!(lines[at..].iter().all(|line| rest.take(line).is_ok()));
            chain.take(line).unwrap();
        }
        Ok(())
    });
}

#[test]
fn a_line_that_was_changed_is_seen() {
    let strategy = (texts(1), any::<sample::Index>(), any::<sample::Index>(), 1_u8..128);
    law(strategy, |(texts, at, byte, flip)| {
        let mut lines = lines(&texts);
        let line = at.get_mut(&mut lines);
        let mut bytes = line.clone().into_bytes();
        let byte = byte.index(bytes.len());
        bytes[byte] ^= flip;
        if let Ok(changed) = String::from_utf8(bytes) {
            *line = changed;
            prop_assert!(!holds(&lines), "{:?}", lines);
        }
        Ok(())
    });
}

#[test]
fn lines_that_were_dropped_put_in_or_swapped_are_seen() {
    let strategy = (texts(2), any::<sample::Index>(), any::<sample::Index>());
    law(strategy, |(texts, at, other)| {
        let whole = lines(&texts);
        let (at, other) = (at.index(whole.len()), other.index(whole.len()));
        if at + 1 < whole.len() {
            // What is cut off at the end leaves no gap: that is what checkpoints are for.
            let mut dropped = whole.clone();
            dropped.remove(at);
            prop_assert!(!holds(&dropped), "dropped {}", at);
        }
        let mut doubled = whole.clone();
        doubled.insert(at, whole[other].clone());
        prop_assert!(!holds(&doubled), "put {} in at {}", other, at);
        if at != other {
            let mut swapped = whole.clone();
            swapped.swap(at, other);
            prop_assert!(!holds(&swapped), "swapped {} and {}", at, other);
        }
        Ok(())
    });
}

#[test]
fn a_chain_written_anew_is_not_what_the_checkpoint_says() {
    let signer = Signer::new(&[3; 32]);
    law((texts(1), texts(1)), |(one, other)| {
        let head = |texts: &[(String, String)]| {
            let mut chain = Chain::default();
            for line in lines(texts) {
                chain.take(&line).unwrap();
            }
            chain.head()
        };
        let (seq, hash) = head(&one);
        prop_assert_eq!(head(&other) == (seq, hash), one == other);
        let checkpoint = Checkpoint::sign("here", seq, hash, NOW, &signer);
        prop_assert!(checkpoint.is_signed_by(&signer.public()));
        prop_assert_eq!(Checkpoint::read(&checkpoint.line()), Some(checkpoint.clone()));
        let moved = Checkpoint { seq: seq + 1, ..checkpoint.clone() };
        let elsewhere = Checkpoint { node: "there".to_owned(), ..checkpoint };
        for wrong in [moved, elsewhere] {
            prop_assert!(!wrong.is_signed_by(&signer.public()));
        }
        Ok(())
    });
}
