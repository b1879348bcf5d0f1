//! Calls that were denied lately: a person may want to enable one of them.
//!
//! The audit has every verdict, but keeps inputs without their secrets; what is enabled must be
//! the call itself. A node that restarts forgets them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::{Asker, CallText};

use super::{Authority, Submission};

/// So many calls are remembered.
const MOST_CALLS: usize = 256;

/// Longer inputs are not.
const MOST_INPUT: usize = 64 << 10;

/// A call that was denied.
#[derive(Debug)]
pub struct DeniedCall {
    /// Its digest.
    pub digest: String,
    /// The call.
    pub call: CallText,
    /// Who made it.
    pub asker: Asker,
}

/// What is remembered.
#[derive(Debug, Default)]
pub(super) struct Denied {
    calls: Mutex<VecDeque<Arc<DeniedCall>>>,
}

impl Denied {
    /// Remembers a call.
    pub(super) fn keep(&self, digest: &str, submission: &Submission) {
        let Submission { call, asker, .. } = submission;
        if call.input.len() > MOST_INPUT {
            return;
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|known| known.digest != digest || known.asker != *asker);
        if calls.len() >= MOST_CALLS {
            calls.pop_front();
        }
        let (call, asker) = (call.clone(), asker.clone());
        calls.push_back(Arc::new(DeniedCall { digest: digest.to_owned(), call, asker }));
    }
}

impl Authority {
    /// The calls of this digest that were denied and that somebody may see, the last one first.
    #[must_use]
    pub fn denied(&self, digest: &str, may_see: impl Fn(&Asker) -> bool) -> Vec<Arc<DeniedCall>> {
        let calls = self.inner.denied.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |call: &&Arc<DeniedCall>| call.digest == digest && may_see(&call.asker);
        calls.iter().rev().filter(is_meant).cloned().collect()
    }
}
