//! The audit: one line per thing that happened, each chained to the one before by its hash.
//!
//! A line is the canonical JSON of `actor`, `at`, `data`, `hash`, `kind`, `node`, `prev`, `seq` and
//! `subject`; `hash` is the SHA-256 of the same without `hash`. A checkpoint is a signed statement
//! about the head of a chain: it shows later that nothing before it was taken away or changed.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical::{Canonical, canonical, object, push_quoted, quoted};
use crate::key::{hex, push_hex};
use crate::moment::Moment;
use crate::receipt::{Signer, is_signed, key_name};

/// The hash before the first entry.
pub const NOTHING: [u8; 32] = [0; 32];

/// Something that happened, before it has its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What kind of thing: `call.judged`, `ask.opened`, `ask.settled`, `grant.made` …
    pub kind: &'static str,
    /// When.
    pub at: Moment,
    /// Who did it.
    pub actor: String,
    /// What it is about: an id, a digest, a name.
    pub subject: String,
    /// Whose affair it is, so that others do not see it; nobody's in particular where absent.
    pub owner: Option<String>,
    /// More about it.
    pub data: Canonical,
}

/// A place in a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The node whose chain it is.
    pub node: &'a str,
    /// The number of the entry, from one.
    pub seq: u64,
    /// The hash of the entry before.
    pub prev: [u8; 32],
}

/// One written entry, in the words it is checked by.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// What kind of thing.
    pub kind: &'a str,
    /// When.
    pub at: Moment,
    /// Who did it.
    pub actor: &'a str,
    /// What it is about.
    pub subject: &'a str,
    /// More about it: canonical JSON.
    pub data: &'a str,
}

impl Entry {
    /// The entry as it is written.
    #[must_use]
    pub fn written(&self) -> Written<'_> {
        Written {
            kind: self.kind,
            at: self.at,
            actor: &self.actor,
            subject: &self.subject,
            data: &self.data,
        }
    }
}

impl Written<'_> {
    /// The hash of the entry at a place.
    #[must_use]
    pub fn hash(&self, link: &Link<'_>) -> [u8; 32] {
        Sha256::digest(self.text(link, None).as_bytes()).into()
    }

    /// The line of the entry at a place.
    #[must_use]
    pub fn line(&self, link: &Link<'_>) -> String {
        self.text(link, Some(&self.hash(link)))
    }

    fn text(&self, link: &Link<'_>, hash: Option<&[u8; 32]>) -> String {
        let texts = [self.actor, self.data, self.kind, link.node, self.subject];
        // The names, the moment, the number and two hashes stand beside them.
        let mut out =
            String::with_capacity(texts.iter().map(|text| text.len()).sum::<usize>() + 320);
        out.push_str("{\"actor\":");
        push_quoted(&mut out, self.actor);
        // Writing to memory cannot fail.
        let _ = write!(out, ",\"at\":\"{}\",\"data\":{}", self.at, self.data);
        if let Some(hash) = hash {
            out.push_str(",\"hash\":\"");
            push_hex(&mut out, hash);
            out.push('"');
        }
        out.push_str(",\"kind\":");
        push_quoted(&mut out, self.kind);
        out.push_str(",\"node\":");
        push_quoted(&mut out, link.node);
        out.push_str(",\"prev\":\"");
        push_hex(&mut out, &link.prev);
        let _ = write!(out, "\",\"seq\":{},\"subject\":", link.seq);
        push_quoted(&mut out, self.subject);
        out.push('}');
        out
    }
}

/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq} of node `{node}`: {what}")]
pub struct Broken {
    /// The node.
    pub node: String,
    /// The number of the first entry that is wrong.
    pub seq: u64,
    /// What is wrong with it.
    pub what: String,
}

/// Checks the lines of one node's chain, one after the other.
#[derive(Clone, Debug)]
pub struct Chain {
    node: Option<String>,
    seq: u64,
    prev: [u8; 32],
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { node: None, seq: 0, prev: NOTHING }
    }
}

impl Chain {
    /// A chain that goes on behind an entry, of which only number and hash are known.
    #[must_use]
    pub const fn after(seq: u64, hash: [u8; 32]) -> Chain {
        Chain { node: None, seq, prev: hash }
    }

    /// The number of the last entry, and its hash.
    #[must_use]
    pub const fn head(&self) -> (u64, [u8; 32]) {
        (self.seq, self.prev)
    }

    /// Takes the next line.
    ///
    /// # Errors
    /// It is not the one that must stand there.
    pub fn take(&mut self, line: &str) -> Result<(), Broken> {
        let seq = self.seq + 1;
        let broken = |what: &str| Broken {
            node: self.node.clone().unwrap_or_default(),
            seq,
            what: what.to_owned(),
        };
        let value: Value = serde_json::from_str(line).map_err(|_| broken("it is not JSON"))?;
        if canonical(line).as_deref() != Some(line) {
            return Err(broken("it is not written as an entry is"));
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let node = text("node").ok_or_else(|| broken("it names no node"))?;
        if self.node.as_deref().is_some_and(|known| known != node) {
            return Err(broken("it belongs to another node"));
        }
        if value.get("seq").and_then(Value::as_u64) != Some(seq) {
            return Err(broken("another number stands there; entries were taken out or put in"));
        }
        if text("prev") != Some(&hex(&self.prev)) {
            return Err(broken("it does not follow the entry before it"));
        }
        let hash = text("hash").ok_or_else(|| broken("it has no hash"))?;
        let bare = line.replacen(&format!("\"hash\":\"{hash}\","), "", 1);
        let real: [u8; 32] = Sha256::digest(bare.as_bytes()).into();
        if hex(&real) != hash {
            return Err(broken("its content was changed"));
        }
        self.node = Some(node.to_owned());
        self.seq = seq;
        self.prev = real;
        Ok(())
    }
}

/// A signed statement about the head of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The node whose chain it is.
    pub node: String,
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash.
    pub hash: [u8; 32],
    /// When it was said.
    pub at: Moment,
    /// The name of the key that signed.
    pub key: String,
    /// The signature.
    pub signature: String,
}

impl Checkpoint {
    /// Signs the head of a chain.
    #[must_use]
    pub fn sign(node: &str, seq: u64, hash: [u8; 32], at: Moment, signer: &Signer) -> Checkpoint {
        let unsigned = Checkpoint {
            node: node.to_owned(),
            seq,
            hash,
            at,
            key: signer.name(),
            signature: String::new(),
        };
        let signature = signer.sign(&unsigned.text());
        Checkpoint { signature, ..unsigned }
    }

    /// Whether this key signed it.
    #[must_use]
    pub fn is_signed_by(&self, public: &[u8; 32]) -> bool {
        self.key == key_name(public) && is_signed(&self.text(), &self.signature, public)
    }

    /// It as canonical JSON, signature included.
    #[must_use]
    pub fn line(&self) -> String {
        let mut members = self.members();
        members.push(("signature", quoted(&self.signature)));
        object(members)
    }

    /// Reads one.
    #[must_use]
    pub fn read(line: &str) -> Option<Checkpoint> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some(Checkpoint {
            node: text("node")?,
            seq: value.get("seq")?.as_u64()?,
            hash: unhex(&text("hash")?)?,
            at: Moment::parse(&text("at")?)?,
            key: text("key")?,
            signature: text("signature")?,
        })
    }

    fn text(&self) -> String {
        object(self.members())
    }

    fn members(&self) -> Vec<(&'static str, String)> {
        vec![
            ("node", quoted(&self.node)),
            ("seq", self.seq.to_string()),
            ("hash", quoted(&hex(&self.hash))),
            ("at", quoted(&self.at.to_string())),
            ("key", quoted(&self.key)),
        ]
    }
}

/// The 32 bytes of a hash in hexadecimal.
#[must_use]
pub fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}
