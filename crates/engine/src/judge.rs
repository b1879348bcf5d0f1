//! Judging: from a policy, a call and the world to the verdict.

use std::borrow::Cow;

use crate::call::Call;
use crate::policy::Policy;
use crate::verdict::{Outcome, Reason, Tier, Verdict};
use crate::world::World;

/// The verdict about one call. Total: every call gets one.
#[must_use]
pub fn judge(policy: &Policy, call: &Call, world: &dyn World) -> Verdict {
    Verdict {
        outcome: policy.mode.bend(Outcome::Ask),
        tier: Tier::Review,
        is_read_only: false,
        is_firm: false,
        world: world.kind(),
        reasons: vec![Reason {
            code: Cow::Borrowed(policy.mode.code()),
            message: format!("no rule allows `{}`", call.tool),
            span: None,
        }],
        acts: Vec::new(),
        suggestions: Vec::new(),
    }
}
