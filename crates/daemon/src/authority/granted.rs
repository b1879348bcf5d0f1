//! What a node remembers of grants, keys and sessions, so that judging reads no store.
//!
//! The store is the truth: whoever changes something there has it read again before answering,
//! and the bell has it read again when somebody else did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{canonical, object};
use portcullis_approval::grant::Caller;
use portcullis_approval::{Grant, Id, Key, Moment, Owners};
use portcullis_store::{GrantFilter, SessionRecord, StoreError};

use serde_json::Value;

use super::Authority;

/// So many sessions are remembered.
const MOST_SESSIONS: usize = 10_000;

/// Grants in force, keys by id, and sessions.
#[derive(Default)]
pub(super) struct GrantCache {
    grants: ArcSwap<Vec<Arc<Grant>>>,
    keys: ArcSwap<HashMap<Id, Arc<Key>>>,
    sessions: Mutex<HashMap<(Id, String), SessionRecord>>,
}

impl GrantCache {
    /// The grants that are good for a caller.
    pub(super) fn serving(&self, caller: &Caller<'_>, now: Moment) -> Vec<Arc<Grant>> {
        self.grants.load().iter().filter(|grant| grant.serves(caller, now)).cloned().collect()
    }

    /// Every grant that is good.
    pub(super) fn all(&self) -> Vec<Arc<Grant>> {
        self.grants.load().to_vec()
    }

    /// A session that is remembered.
    pub(super) fn session(&self, key: Id, session: &str) -> Option<SessionRecord> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&(key, session.to_owned())).cloned()
    }

    /// Remembers a session.
    pub(super) fn remember(&self, session: SessionRecord) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MOST_SESSIONS {
            sessions.clear();
        }
        sessions.insert((session.key, session.session.clone()), session);
    }

    /// The name of a key.
    pub(super) fn key_name(&self, key: Id) -> Option<String> {
        self.keys.load().get(&key).map(|key| key.name.clone())
    }
}

impl Authority {
    /// A key by its id, if it is known.
    #[must_use]
    pub fn key(&self, key: Id) -> Option<Arc<Key>> {
        self.inner.grants.keys.load().get(&key).cloned()
    }

    /// Every grant that is good at this moment, oldest first.
    #[must_use]
    pub fn grants(&self) -> Vec<Arc<Grant>> {
        let now = self.now();
        let is_good = |grant: &Arc<Grant>| {
            grant.expires_at.is_none_or(|end| now < end) && grant.uses_left != Some(0)
        };
        self.inner.grants.all().into_iter().filter(is_good).collect()
    }

    /// Reads the grants again.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn refresh_grants(&self) -> Result<(), StoreError> {
        let mut all = Vec::new();
        let mut filter = GrantFilter {
            owners: Owners::All,
            good_at: Some(self.now()),
            after: None,
            limit: 1000,
        };
        loop {
            let page = self.store().grants(&filter).await?;
            let is_last = page.len() < filter.limit;
            filter.after = page.last().map(|record| record.grant.id);
            all.extend(page.into_iter().map(|record| Arc::new(record.grant)));
            if is_last {
                break;
            }
        }
        self.inner.grants.grants.store(Arc::new(all));
        Ok(())
    }

    /// Forgets the sessions: they are read again when they call.
    pub fn forget_sessions(&self) {
        let mut sessions =
            self.inner.grants.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.clear();
    }

    /// Remembers the keys by their ids.
    pub fn remember_keys(&self, keys: impl Iterator<Item = Arc<Key>>) {
        let keys = keys.map(|key| (key.id, key)).collect();
        self.inner.grants.keys.store(Arc::new(keys));
    }

    /// The sessions of this name that are these owners'; agents may call theirs alike.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn sessions_of(
        &self,
        name: &str,
        owners: &Owners,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let mut sessions = self.store().sessions(name).await?;
        sessions.retain(|session| owners.include(&session.owner));
        Ok(sessions)
    }

    /// Sets what the policy of a session says besides the files: a policy as JSON. The next call
    /// is judged by it; the audit keeps what was before and after.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn change_session(
        &self,
        session: &SessionRecord,
        own: &Value,
        actor: &str,
    ) -> Result<(), StoreError> {
        let before =
            session.policy.as_deref().and_then(canonical).unwrap_or_else(|| "{}".to_owned());
        let after = canonical(&own.to_string()).unwrap_or_else(|| "{}".to_owned());
        let entry = Entry {
            kind: "session.changed",
            at: self.now(),
            actor: actor.to_owned(),
            subject: session.session.clone(),
            owner: Some(session.owner.clone()),
            data: object(vec![("before", before), ("after", after.clone())]).into(),
        };
        let own = (after != "{}").then_some(after);
        let store = self.store();
        store.set_session_policy(session.key, &session.session, own, vec![entry]).await?;
        self.forget_sessions();
        Ok(())
    }
}
