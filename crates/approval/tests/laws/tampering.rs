//! Tampering: whatever was done to an exported record is seen, or changed no entry of it.
//!
//! A thousand random changes of a large record are tried with every run of the tests;
//! `PORTCULLIS_TAMPERINGS=100000` tries as many as it says.

use portcullis_approval::audit::{Checkpoint, Entry, Link, NOTHING};
use portcullis_approval::canonical::{Canonical, quoted};
use portcullis_approval::receipt::Signer;
use portcullis_approval::verify::Verifier;

use crate::samples::NOW;

/// A record as it is exported, and who checks it: with the key, and with the checkpoint about its
/// end that somebody kept elsewhere.
struct Record {
    text: String,
    verifier: Verifier,
}

/// A record of so many entries with a checkpoint behind every few of them.
fn record(entries: u64, every: u64) -> Record {
    let signer = Signer::new(&[5; 32]);
    let (mut text, mut prev) = (String::new(), NOTHING);
    let mut kept = None;
    for seq in 1..=entries {
        let entry = Entry {
            kind: if seq % 3 == 0 { "ask.settled" } else { "call.judged" },
            at: NOW,
            actor: format!("agent-{}", seq % 7),
            subject: format!("sha256:{seq:064x}"),
            owner: None,
            data: Canonical::read(&format!("{{\"command\":{}}}", quoted("npm publish \"ä\"\n")))
                .unwrap(),
        };
        let link = Link { node: "here", seq, prev };
        prev = entry.written().hash(&link);
        text += &entry.written().line(&link);
        text.push('\n');
        if seq % every == 0 || seq == entries {
            let point = Checkpoint::sign("here", seq, prev, NOW, &signer);
            text += &point.line();
            text.push('\n');
            kept = Some(point);
        }
    }
    let mut verifier = Verifier::new(Some(signer.public()));
    verifier.expect(kept.unwrap()).unwrap();
    Record { text, verifier }
}

fn is_point(line: &str) -> bool {
    line.contains("\"signature\":")
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !is_point(line))
}

/// What became of a changed record.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It is not called whole.
    Refused,
    /// It is, but its beginning is said to be gone.
    Shortened,
    /// It is, and every entry is there as it was written.
    Unharmed,
    /// It is, and it is not.
    Unseen,
}

impl Record {
    fn fate(&self, bytes: &[u8]) -> Fate {
        // What is no text is no record.
        let Ok(text) = std::str::from_utf8(bytes) else { return Fate::Refused };
        let mut verifier = self.verifier.clone();
        let taken = text.lines().try_for_each(|line| verifier.line(line));
        match taken.and_then(|()| verifier.end()) {
            Err(_) => Fate::Refused,
            Ok(()) if !verifier.begins().is_empty() => Fate::Shortened,
            Ok(()) if entries(text).eq(entries(&self.text)) => Fate::Unharmed,
            Ok(()) => Fate::Unseen,
        }
    }
}

#[test]
fn what_an_older_key_signed_is_vouched_for_by_the_newer_one() {
    let signers = [Signer::new(&[5; 32]), Signer::new(&[6; 32])];
    // A letter is an entry, and a number a checkpoint of that key behind it.
    let written = |text: &str| {
        let (mut lines, mut prev, mut seq) = (Vec::new(), NOTHING, 0);
        for letter in text.chars() {
            if let Some(signer) = letter.to_digit(10) {
                let signer = &signers[signer as usize];
                lines.push(Checkpoint::sign("here", seq, prev, NOW, signer).line());
                continue;
            }
            seq += 1;
            let (kind, actor) = ("call.judged", letter.to_string());
            let (subject, data) = (String::new(), "{}".to_owned().into());
            let entry = Entry { kind, at: NOW, actor, subject, owner: None, data };
            let link = Link { node: "here", seq, prev };
            prev = entry.written().hash(&link);
            lines.push(entry.written().line(&link));
        }
        lines
    };
    #[rustfmt::skip]
    let cases = [
        ("ab1cd1",   true,  0, "one key"),
        ("ab0cd1",   true,  1, "the newer key vouches for everything before"),
        ("ab0cd0e1", true,  2, "for all of the older one's checkpoints"),
        ("ab0cd1e",  true,  1, "what came since is not signed yet"),
        ("ab0cd",    false, 0, "nothing is vouched for by this key"),
        ("ab1cd0",   false, 0, "the end is vouched for by another key alone"),
    ];
    for (text, want, others, why) in cases {
        let lines = written(text);
        let mut verifier = Verifier::new(Some(signers[1].public()));
        let taken = lines.iter().try_for_each(|line| verifier.line(line));
        let whole = taken.and_then(|()| verifier.end());
        assert_eq!(whole.is_ok(), want, "{text}: {why}: {whole:?}");
        assert!(!want || verifier.of_other_keys() == others, "{text}: {why}");
    }
    // Whoever names the key and cannot sign with it is no older one.
    let mut lines = written("ab1cd1");
    lines[2] = lines[2].replace("\"signature\":\"", "\"signature\":\"AA");
    let mut verifier = Verifier::new(Some(signers[1].public()));
    assert!(lines.iter().try_for_each(|line| verifier.line(line)).is_err());
    // A changed entry shows by the older key's checkpoint, too.
    let mut verifier = Verifier::new(Some(signers[1].public()));
    let (one, other) = (written("ab0cd1"), written("ax0cd1"));
    let mixed = [&one[..2], &other[2..3], &one[3..]].concat();
    assert!(mixed.iter().try_for_each(|line| verifier.line(line)).is_err());
}

fn joined(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect()
}

#[test]
fn every_single_change_of_a_small_record_is_seen() {
    let record = record(3, 2);
    let bytes = record.text.as_bytes();
    assert_eq!(record.fate(bytes), Fate::Unharmed, "untouched it is whole");
    let lines: Vec<&str> = record.text.lines().collect();
    // Which bytes are part of an entry.
    let mut is_entry = Vec::new();
    for line in &lines {
        is_entry.extend(std::iter::repeat_n(!is_point(line), line.len()));
        is_entry.push(false);
    }
    let mut tried = 0_u64;
    let mut see = |changed: &[u8], what: &str, at: usize| {
        tried += 1;
        let fate = record.fate(changed);
        assert_ne!(fate, Fate::Unseen, "{what} at {at}");
        fate
    };
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            changed[at] ^= 1 << bit;
            let fate = see(&changed, "a bit", at);
            assert!(!is_entry[at] || fate == Fate::Refused, "bit {bit} of {at}");
            changed[at] ^= 1 << bit;
        }
        see(&bytes[..at], "a cut", at);
        let fate = see(&[&bytes[..at], &bytes[at + 1..]].concat(), "a byte taken out", at);
        assert!(!is_entry[at] || fate == Fate::Refused, "a byte taken out at {at}");
        for byte in [b' ', b'0', b'"', b'\n', b'a', b',', b'}'] {
            see(&[&bytes[..at], &[byte], &bytes[at..]].concat(), "a byte put in", at);
        }
        if at + 1 < bytes.len() {
            changed.swap(at, at + 1);
            see(&changed, "two bytes swapped", at);
            changed.swap(at, at + 1);
        }
    }
    for at in 0..lines.len() {
        let fate = see(&joined(&[&lines[..at], &lines[at + 1..]].concat()), "a line taken out", at);
        assert!(is_point(lines[at]) || fate == Fate::Refused, "line {at} taken out");
        let fate = see(&joined(&lines[..at]), "an end cut off", at);
        assert!(at + 1 == lines.len() || fate == Fate::Refused, "the end from {at} cut off");
        see(&joined(&lines[at..]), "a beginning cut off", at);
        for other in 0..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            see(&joined(&swapped), "two lines swapped", at);
            see(
                &joined(&[&lines[..at], &lines[other..=other], &lines[at..]].concat()),
                "a line put in",
                at,
            );
        }
    }
    println!("{tried} single changes of a record of {} bytes, all seen", bytes.len());
}

#[test]
fn random_changes_of_a_large_record_are_seen() {
    let rounds = std::env::var("PORTCULLIS_TAMPERINGS").ok().and_then(|text| text.parse().ok());
    let rounds: u64 = rounds.unwrap_or(1_000);
    let record = record(if rounds > 1_000 { 500 } else { 100 }, 25);
    let lines: Vec<&str> = record.text.lines().collect();
    let bytes = record.text.as_bytes();
    let mut refused = 0_u64;
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        // Splitmix: the same numbers in every run.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from(mixed ^ (mixed >> 31)).unwrap() % bound
    };
    for round in 0..rounds {
        let (at, other) = (below(bytes.len()), below(bytes.len()));
        let (line, row) = (below(lines.len()), below(lines.len()));
        let changed = match round % 10 {
            0 | 1 => {
                let mut changed = bytes.to_vec();
                for _ in 0..=below(4) {
                    changed[below(bytes.len())] ^= 1 << below(8);
                }
                changed
            }
            2 => [&bytes[..at.min(other)], &bytes[at.max(other)..]].concat(),
            3 => [&bytes[..at], &bytes[other..(other + below(400)).min(bytes.len())], &bytes[at..]]
                .concat(),
            4 => bytes[..at].to_vec(),
            5 => joined(&[&lines[..line], &lines[line + 1..]].concat()),
            6 => joined(&[&lines[..line], &lines[row..=row], &lines[line..]].concat()),
            7 => {
                let mut swapped = lines.clone();
                swapped.swap(line, row);
                joined(&swapped)
            }
            8 => joined(&lines[..line]),
            _ => {
                let mut replaced = lines.clone();
                replaced[line] = lines[row];
                joined(&replaced)
            }
        };
        let fate = record.fate(&changed);
        assert_ne!(fate, Fate::Unseen, "round {round}");
        refused += u64::from(fate == Fate::Refused);
    }
    let size = bytes.len();
    println!("{rounds} random changes of a record of {size} bytes: {refused} refused, none unseen");
}
