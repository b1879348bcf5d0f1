//! The tail: what this process has just recorded, so that who keeps up with it need not read it
//! back.
//!
//! Verdicts are not among it: they are many, and few want them.

use std::collections::VecDeque;

use portcullis_approval::Owners;

use crate::records::VERDICT;
use crate::records::{AuditFilter, AuditRecord};

/// So many entries are remembered.
const MOST: usize = 1024;

/// The newest entries, without verdicts.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Behind this position nothing is missing but verdicts.
    whole_from: u64,
    /// The newest position that is known of.
    newest: u64,
    entries: VecDeque<AuditRecord>,
}

impl Tail {
    /// Nothing behind a position.
    pub(super) fn behind(position: u64) -> Tail {
        Tail { whole_from: position, newest: position, entries: VecDeque::new() }
    }

    /// Remembers what a group recorded that began behind one position and ended at another.
    pub(super) fn extend(&mut self, began: u64, ended: u64, entries: Vec<AuditRecord>) {
        if began != self.newest {
            // Somebody else has written in between.
            *self = Tail::behind(began);
        }
        self.newest = ended;
        self.entries.extend(entries);
        while self.entries.len() > MOST {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.whole_from = oldest.position;
        }
    }

    /// The entries a filter names, if all of them are here.
    pub(super) fn read(&self, filter: &AuditFilter) -> Option<Vec<AuditRecord>> {
        let AuditFilter { after, before, kinds, owners, since, subject, limit } = filter;
        let is_whole = *after >= self.whole_from
            && !kinds.is_empty()
            && !kinds.iter().any(|kind| kind == VERDICT)
            && matches!(owners, Owners::All)
            && before.is_none()
            && since.is_none()
            && subject.is_none();
        let is_meant =
            |entry: &&AuditRecord| entry.position > *after && kinds.contains(&entry.kind);
        is_whole.then(|| self.entries.iter().filter(is_meant).take(*limit).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use portcullis_approval::Moment;

    use super::*;

    fn entry(position: u64, kind: &str) -> AuditRecord {
        AuditRecord {
            position,
            node: "local".to_owned(),
            seq: position,
            at: Moment::from_ms(0),
            kind: kind.to_owned(),
            actor: String::new(),
            subject: String::new(),
            owner: None,
            data: "{}".to_owned(),
            prev: [0; 32],
            hash: [0; 32],
        }
    }

    fn read(tail: &Tail, after: u64, kinds: &[&str]) -> Option<Vec<u64>> {
        let mut filter = AuditFilter::after(after, 10);
        filter.kinds = kinds.iter().map(ToString::to_string).collect();
        let found = tail.read(&filter)?;
        Some(found.into_iter().map(|entry| entry.position).collect())
    }

    #[test]
    fn what_is_whole_is_read_and_the_rest_is_not() {
        let mut tail = Tail::behind(4);
        tail.extend(4, 7, vec![entry(5, "ask.opened"), entry(7, "key.made")]);
        tail.extend(7, 9, Vec::new());
        assert_eq!(read(&tail, 4, &["ask.opened", "key.made"]), Some(vec![5, 7]));
        assert_eq!(read(&tail, 5, &["ask.opened", "key.made"]), Some(vec![7]));
        assert_eq!(read(&tail, 9, &["key.made"]), Some(vec![]));
        assert_eq!(read(&tail, 3, &["key.made"]), None, "older than what is known");
        assert_eq!(read(&tail, 5, &[]), None, "every kind is also verdicts");
        assert_eq!(read(&tail, 5, &["key.made", VERDICT]), None, "verdicts are not kept");
        tail.extend(11, 12, vec![entry(12, "ask.opened")]);
        assert_eq!(read(&tail, 9, &["ask.opened"]), None, "somebody else wrote ten and eleven");
        assert_eq!(read(&tail, 11, &["ask.opened"]), Some(vec![12]));
    }

    #[test]
    fn only_so_much_is_kept() {
        let mut tail = Tail::behind(0);
        for position in 1..=3000 {
            tail.extend(position - 1, position, vec![entry(position, "ask.opened")]);
        }
        assert_eq!(tail.entries.len(), MOST);
        let oldest = 3000 - u64::try_from(MOST).unwrap();
        assert_eq!(read(&tail, oldest - 1, &["ask.opened"]), None);
        assert_eq!(read(&tail, oldest, &["ask.opened"]).unwrap().first(), Some(&(oldest + 1)));
    }
}
