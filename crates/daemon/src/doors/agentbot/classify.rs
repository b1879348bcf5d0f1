//! `POST /api/hooks/classify`: a hook asks what becomes of a call.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::{Asker, CallText};
use portcullis_engine::Outcome;
use portcullis_wire::dialects::agentbot::answers::Classified;
use portcullis_wire::dialects::agentbot::{Classify, as_given};

use super::{NAME, fault, not_classified, taken, words};
use crate::App;
use crate::authority::{Answered, Seen, Submission, decision_of};
use crate::doors::hook_text;
use crate::error::json_response;
use crate::extract::{BadBody, Bytes};
use crate::identity::Caller;

/// Judges a call; what must be asked about is queued and not waited for.
pub async fn classify(
    State(app): State<App>,
    caller: Caller,
    body: Result<Bytes, BadBody>,
) -> Response {
    let body = match taken(body, Classify::read) {
        Ok(body) => body,
        Err((status, sentence)) => return not_classified(status, &sentence),
    };
    let mut submission = submission(&app, &caller, body);
    // In a piece of its own: the allocator is quick with small ones only.
    match Box::pin(app.authority.submit(&mut submission)).await {
        Ok(answered) => json_response(StatusCode::OK, &shape(&submission.call, &answered)),
        Err(why) => {
            let (status, body) = fault(why);
            not_classified(status, &body.error)
        }
    }
}

/// What a body asks, in our words: the key says who calls, the body only under a shared one.
fn submission(app: &App, caller: &Caller, body: Classify) -> Submission {
    let asker = if app.identity.is_of_many(caller.key.id) {
        Asker { label: Some(body.user), ..caller.asker(Some(&body.agent)) }
    } else {
        caller.asker(None)
    };
    Submission {
        call: CallText {
            tool: body.tool,
            input: body.input_text,
            host: Some(NAME.to_owned()),
            ..CallText::default()
        },
        input: body.input,
        asker,
        key: caller.key.clone(),
        door: NAME,
        mode: None,
        profile: None,
        overrides: false,
        wants_receipt: false,
        seen: Seen::Nothing,
        wait: Duration::ZERO,
        access: None,
    }
}

fn shape(call: &CallText, answered: &Answered) -> Classified {
    let outcome = answered.outcome;
    let verdict = &answered.verdict;
    let mut shape = Classified {
        allow: outcome == Outcome::Allow,
        tier: words::tier(verdict.tier),
        reason: String::new(),
        request_id: None,
        modified_input: None,
    };
    let Some(record) = &answered.ask else {
        shape.reason = answered.said(NAME, || match outcome {
            Outcome::Allow => words::allowed(call, verdict, &answered.used),
            Outcome::Ask | Outcome::Deny => words::denied(verdict),
        });
        return shape;
    };
    let Some(decision) = decision_of(record) else {
        shape.reason = format!("Queued for approval: {}", words::asked(&record.ask));
        shape.request_id = Some(hook_text(record.ask.id));
        return shape;
    };
    if let (Outcome::Allow, Some(input)) = (decision.outcome, &decision.input) {
        let field = words::shell_field(&record.ask.call).unwrap_or_default();
        shape.allow = false;
        "Approved only with changed input".clone_into(&mut shape.reason);
        shape.modified_input = Some(as_given(input, field));
    } else if outcome == Outcome::Allow {
        shape.reason = format!("Approved by {}", decision.by);
    } else {
        shape.reason = format!("Denied: rejected by {}", decision.by);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Authority;

    /// Larger pieces are not kept by the thread that frees them, and cost a lock each.
    const QUICK: usize = 1032;

    fn size<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    fn size_with<'a, A: 'a, B: 'a, F: 'a>(_: impl Fn(&'a A, &'a mut B) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn the_futures_of_a_call_are_small_pieces() {
        let (classify, submit) = (size(classify), size_with(Authority::submit));
        assert!(classify < QUICK && submit < QUICK, "{classify}, {submit}");
    }
}
