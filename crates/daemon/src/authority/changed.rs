//! Changed calls at doors where they come as calls of their own.
//!
//! There an approval with a changed input leaves an exact grant for it, and the call as it was
//! first made is told so, as long as the changed one may still come.

use portcullis_approval::grant::Caller;
use portcullis_approval::{Id, Owners, State};
use portcullis_store::{AskFilter, AskRecord};

use super::{Authority, Fault, Submission, decision_of};

impl Authority {
    /// The approval of this very call that fits only the call as it was changed, while that one
    /// may still come; none at doors where whoever waits runs the changed call at once.
    pub(super) async fn changed_approval(
        &self,
        submission: &Submission,
        digest: &str,
    ) -> Result<Option<AskRecord>, Fault> {
        if !self.comes_again(submission.door) {
            return Ok(None);
        }
        let caller = Caller { asker: &submission.asker, session: None, run: None, profile: None };
        let good = self.inner.grants.serving(&caller, self.now());
        if good.iter().all(|grant| grant.ask.is_none()) {
            return Ok(None);
        }
        let owners = Owners::Some(vec![submission.asker.owner.clone()]);
        let filter = AskFilter {
            state: Some(State::Approved),
            key: Some(submission.asker.key),
            agent: Some(submission.asker.agent.clone()),
            digest: Some(digest.to_owned()),
            ..AskFilter::pending(owners, 1000)
        };
        let is_good = |id: &Id| good.iter().any(|grant| grant.id == *id);
        let approved = self.store().asks(&filter).await?;
        Ok(approved.into_iter().rev().find(|record| {
            decision_of(record).is_some_and(|decision| {
                decision.input.is_some() && decision.grants.iter().any(is_good)
            })
        }))
    }

    /// Whether a changed call comes as a call of its own at this door.
    pub(super) fn comes_again(&self, door: &str) -> bool {
        self.inner.overlays.iter().any(|(known, overlay)| *known == door && overlay.comes_again)
    }
}
