//! Approvers: who answers, and for whom.

use crate::ask::{Ask, Asker};
use crate::id::Id;
use crate::key::Owners;

/// A person, or their delegate, with the credential they showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approver {
    /// The name decisions are recorded under.
    pub name: String,
    /// The key they showed, directly or by way of a login.
    pub key: Id,
    /// Whose asks they may answer.
    pub owners: Owners,
    /// The door they came through.
    pub door: String,
}

impl Approver {
    /// Whether they may see and answer an ask: it is one of their owners', and not raised with
    /// the very key they show.
    #[must_use]
    pub fn may_answer(&self, ask: &Ask) -> bool {
        self.may_answer_for(&ask.asker)
    }

    /// Whether they may see and answer whatever somebody asks.
    #[must_use]
    pub fn may_answer_for(&self, asker: &Asker) -> bool {
        self.owners.include(&asker.owner) && self.key != asker.key
    }
}
