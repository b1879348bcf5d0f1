//! Any bytes are a body, a frame or a line of any door, or are refused with a sentence.

use portcullis_wire::dialects::{agentbot, agentscope, comma, multica};
use portcullis_wire::{asks, batch, body, calls, devices, errors, grants, json, pause};

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    if let Ok(call) = calls::Call::read(data) {
        assert!(!call.tool.is_empty(), "a call of no tool");
    }
    if let Err(refused) = batch::line(data) {
        assert!(!refused.error.message.is_empty(), "refused without a word");
    }
    told(body::read::<asks::Answer>(data));
    told(body::read::<asks::Answers>(data));
    told(body::read::<devices::NewPairing>(data));
    told(body::read::<devices::Accept>(data));
    told(body::read::<grants::NewGrant>(data));
    told(body::read::<grants::NewKey>(data));
    told(body::read::<grants::NewRun>(data));
    told(body::read::<grants::EndRun>(data));
    told(body::read::<grants::SessionChange>(data));
    told(body::read::<pause::NewPause>(data));
    told(agentscope::check(data));
    told(agentscope::calls::call(data));
    told(agentscope::calls::confirm(data));
    told(agentscope::context::context(data));
    said(agentbot::Classify::read(data));
    said(agentbot::Decide::read(data));
    said(agentbot::Enable::read(data));
    let Ok(text) = str::from_utf8(data) else { return };
    said(agentbot::said(text));
    said(json::value(text));
    said(multica::settings::Settings::read(text));
    std::hint::black_box(comma::read(text).is_ok());
    if let Ok(envelope) = multica::Envelope::read(text) {
        std::hint::black_box(&envelope);
    }
}

fn told<T>(read: Result<T, errors::Error>) {
    if let Err(error) = read {
        assert!(!error.message.is_empty(), "refused without a word");
    }
}

fn said<T>(read: Result<T, String>) {
    if let Err(sentence) = read {
        assert!(!sentence.is_empty(), "refused without a word");
    }
}
