//! Verifying: whether the lines of an exported record are whole, by themselves and by what was
//! signed.
//!
//! What is called whole holds every entry as it was written, in order, without a gap, as far as
//! the last checkpoint vouches. Behind that nothing can show that entries were cut off, unless a
//! checkpoint was kept elsewhere ([`Verifier::expect`]).
//!
//! A key may have been replaced by another. A checkpoint of another key than the one given vouches
//! for nothing here; what it speaks of must be vouched for by a later one of this key.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::audit::{Broken, Chain, Checkpoint};
use crate::receipt::key_name;

/// What is wrong with a checkpoint that the key does not vouch for.
const NOT_SIGNED: &str = "its checkpoint is not signed with this key";

/// Takes the entries and checkpoints of a record, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    chains: BTreeMap<String, Chain>,
    points: Vec<Checkpoint>,
    entries: u64,
    signed: BTreeMap<String, u64>,
    /// The entry a chain begins behind, where older ones were removed.
    begins: BTreeMap<String, u64>,
    public: Option<[u8; 32]>,
}

impl Verifier {
    /// One that checks signatures with this key, if there is one.
    #[must_use]
    pub fn new(public: Option<[u8; 32]>) -> Verifier {
        Verifier { public, ..Verifier::default() }
    }

    /// How many entries were taken.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// How many checkpoints.
    #[must_use]
    pub const fn checkpoints(&self) -> usize {
        self.points.len()
    }

    /// The entry each chain begins behind, where older ones were removed.
    #[must_use]
    pub const fn begins(&self) -> &BTreeMap<String, u64> {
        &self.begins
    }

    /// How many of the checkpoints are of another key.
    #[must_use]
    pub fn of_other_keys(&self) -> usize {
        self.points.iter().filter(|point| !self.is_ours(point)).count()
    }

    /// How many of the last entries no checkpoint vouches for.
    #[must_use]
    pub fn unsigned(&self) -> u64 {
        let chains = self.chains.iter().map(|(node, chain)| {
            let signed = self.signed.get(node).or_else(|| self.begins.get(node)).copied();
            chain.head().0.saturating_sub(signed.unwrap_or(0))
        });
        chains.sum()
    }

    /// Begins a chain behind an entry, of which only number and hash are known.
    pub fn begin_behind(&mut self, node: &str, seq: u64, hash: [u8; 32]) {
        self.chains.insert(node.to_owned(), Chain::after(seq, hash));
        self.begins.insert(node.to_owned(), seq);
    }

    /// Takes one line of an exported file: an entry, or the checkpoint about the entry before it.
    ///
    /// # Errors
    /// It is not what must stand there.
    pub fn line(&mut self, line: &str) -> Result<(), Broken> {
        // Only a checkpoint has a signature; an entry that claims one is no entry.
        let Some(point) = Checkpoint::read(line).filter(|point| point.line() == line) else {
            return self.entry(line);
        };
        let head = self.chains.get(&point.node).map(|chain| chain.head().0);
        if head.is_some_and(|seq| seq < point.seq) {
            return Err(wrong(&point, "its checkpoint stands in the wrong place"));
        }
        self.point(point)
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// It is not the next one, or not the one that was signed.
    pub fn entry(&mut self, line: &str) -> Result<(), Broken> {
        let node = serde_json::from_str::<Value>(line).ok();
        let node = node.as_ref().and_then(|entry| entry.get("node")?.as_str()).unwrap_or("");
        // A line that names no node is of the only chain there is, if there is one.
        let node = match self.chains.keys().next() {
            Some(only) if node.is_empty() && self.chains.len() == 1 => only.clone(),
            Some(_) | None => node.to_owned(),
        };
        let chain = self.chains.entry(node.clone()).or_default();
        chain.take(line).map_err(|broken| Broken { node: node.clone(), ..broken })?;
        self.entries += 1;
        let (seq, hash) = chain.head();
        for point in self.points.iter().filter(|point| point.node == node && point.seq == seq) {
            if point.hash != hash {
                return Err(wrong(point, "it is not the one that was signed"));
            }
            if self.is_ours(point) {
                self.signed.insert(node.clone(), seq);
            }
        }
        Ok(())
    }

    /// Takes a checkpoint: its signature is checked now, what it says when its entry comes.
    ///
    /// # Errors
    /// It is not signed, or speaks of another entry than the one there is.
    pub fn point(&mut self, point: Checkpoint) -> Result<(), Broken> {
        let is_ours = self.is_ours(&point);
        if !is_ours {
            self.check_is_of_another_key(&point)?;
        }
        match self.chains.get(&point.node).map(Chain::head) {
            None if point.seq > 0 => {
                self.begin_behind(&point.node, point.seq, point.hash);
                if is_ours {
                    self.signed.insert(point.node.clone(), point.seq);
                }
            }
            Some((seq, hash)) if seq == point.seq => {
                if hash != point.hash {
                    return Err(wrong(&point, "it is not the one that was signed"));
                }
                if is_ours {
                    self.signed.insert(point.node.clone(), seq);
                }
            }
            // Behind its place it would vouch for nothing: the entry it speaks of has gone by.
            Some((seq, _)) if seq > point.seq => {
                return Err(wrong(&point, "its checkpoint stands in the wrong place"));
            }
            // Before its place it is kept until the entry comes.
            None | Some(_) => {}
        }
        self.points.push(point);
        Ok(())
    }

    /// Takes a checkpoint that was kept elsewhere: the entry it speaks of must come.
    ///
    /// # Errors
    /// It is not signed.
    pub fn expect(&mut self, point: Checkpoint) -> Result<(), Broken> {
        if !self.is_ours(&point) {
            return Err(wrong(&point, NOT_SIGNED));
        }
        self.points.push(point);
        Ok(())
    }

    /// Whatever was signed must have been seen, and what another key signed be signed with this
    /// one too.
    ///
    /// # Errors
    /// The first entry that is missing, or that only another key vouches for.
    pub fn end(&self) -> Result<(), Broken> {
        let head =
            |point: &Checkpoint| self.chains.get(&point.node).map_or(0, |chain| chain.head().0);
        if let Some(point) = self.points.iter().find(|point| point.seq > head(point)) {
            let missing = Checkpoint { seq: head(point) + 1, ..point.clone() };
            return Err(wrong(&missing, "it was signed for and is missing"));
        }
        let signed = |point: &Checkpoint| self.signed.get(&point.node).copied().unwrap_or(0);
        let is_open = |point: &&Checkpoint| !self.is_ours(point) && point.seq > signed(point);
        match self.points.iter().find(is_open) {
            Some(point) => Err(wrong(point, NOT_SIGNED)),
            None => Ok(()),
        }
    }

    /// Says that checkpoints of a node may come before its entries.
    pub fn await_node(&mut self, node: &str) {
        self.chains.entry(node.to_owned()).or_default();
    }

    /// Whether a checkpoint is signed with the key; where there is none, everybody's counts.
    fn is_ours(&self, point: &Checkpoint) -> bool {
        self.public.is_none_or(|public| point.is_signed_by(&public))
    }

    /// Whoever names this key must have signed with it.
    fn check_is_of_another_key(&self, point: &Checkpoint) -> Result<(), Broken> {
        if self.public.is_some_and(|public| point.key == key_name(&public)) {
            return Err(wrong(point, NOT_SIGNED));
        }
        Ok(())
    }
}

fn wrong(point: &Checkpoint, what: &str) -> Broken {
    Broken { node: point.node.clone(), seq: point.seq, what: what.to_owned() }
}
