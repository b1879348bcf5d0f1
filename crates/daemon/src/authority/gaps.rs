//! Gaps: calls that ran without a decision. Each shows that some path avoids the gate.

use portcullis_approval::{Asker, CallText, Owners};
use portcullis_engine::Outcome;
use portcullis_store::{AskFilter, AuditFilter};
use serde_json::Value;

use super::{Authority, Fault, record};

/// So far is looked back.
const LOOK_BACK: usize = 100;

impl Authority {
    /// A host says that a call has run; notes a gap where nothing had let it.
    ///
    /// # Errors
    /// The store could not be read or written.
    pub async fn ran(&self, asker: &Asker, call: &CallText) -> Result<(), Fault> {
        let Some(digest) = call.digest() else { return Ok(()) };
        let now = self.now();
        if self.was_let(asker, call, &digest).await? {
            return Ok(());
        }
        let entry = record::gap(asker, call, digest, now);
        self.store().record(vec![entry], Vec::new(), now).await?;
        tracing::error!("a call ran that nothing had let run; see the gaps in the audit");
        Ok(())
    }

    /// Whether a verdict or a person has let this call run.
    async fn was_let(&self, asker: &Asker, call: &CallText, digest: &str) -> Result<bool, Fault> {
        let mut filter = AuditFilter::after(0, LOOK_BACK);
        filter.kinds = vec!["call.judged".to_owned()];
        filter.subject = Some(digest.to_owned());
        filter.before = Some(u64::MAX >> 1);
        let judged = self.store().audit(&filter).await?;
        let is_allowed = judged.iter().any(|entry| {
            let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
            data.get("outcome").and_then(Value::as_str) == Some("allow")
        });
        if is_allowed {
            return Ok(true);
        }
        let filter = AskFilter {
            state: Some(portcullis_approval::State::Approved),
            key: Some(asker.key),
            session: call.session.clone(),
            ..AskFilter::pending(Owners::All, 1000)
        };
        let asks = self.store().asks(&filter).await?;
        Ok(asks.iter().any(|record| {
            let Some(decision) = &record.decision else { return false };
            let decided = match &decision.input {
                Some(input) => record.ask.call.with_input(input).digest(),
                None => Some(record.ask.digest.clone()),
            };
            decision.outcome == Outcome::Allow && decided.as_deref() == Some(digest)
        }))
    }
}
