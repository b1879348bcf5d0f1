//! Receipts: proof that a decision or a verdict belongs to one exact call.

use portcullis_approval::receipt::Receipt;
use portcullis_approval::{CallText, Moment};
use portcullis_store::AskRecord;

use super::{Authority, Judged, record};
use crate::chance;

impl Authority {
    /// The receipt of a settled ask.
    #[must_use]
    pub fn receipt(&self, record: &AskRecord) -> Option<String> {
        self.receipt_about(record, &record.ask.call)
    }

    /// The receipt of a settled ask about a call that it answers.
    pub(super) fn receipt_about(&self, record: &AskRecord, call: &CallText) -> Option<String> {
        let decision = record.decision.as_ref()?;
        let digest = match &decision.input {
            Some(input) => call.with_input(input).digest()?,
            None => call.digest()?,
        };
        let receipt = Receipt {
            id: record.ask.id,
            digest,
            outcome: decision.outcome.name().to_owned(),
            ask: Some(record.ask.id),
            by: decision.by.clone(),
            at: decision.at,
            expires_at: decision.at.after_s(record.ask.unused_approval_s),
            bound: record::bound(&record.ask.bound),
        };
        Some(receipt.issue(self.signer()))
    }

    pub(super) fn receipt_for_verdict(&self, judged: &Judged, now: Moment) -> String {
        let receipt = Receipt {
            id: chance::id(now),
            digest: judged.digest.clone(),
            outcome: judged.verdict.outcome.name().to_owned(),
            ask: None,
            by: "policy".to_owned(),
            at: now,
            expires_at: now.after_s(judged.asks.unused_approval_s),
            bound: record::bound(&judged.bound),
        };
        receipt.issue(self.signer())
    }
}
