//! Any text is a policy or is refused with a sentence and a place in the text; a policy judges.

use portcullis_engine::{Call, Lexical, Policy, PolicyError, PolicyText, Source, judge};
use serde_json::json;

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let read = match PolicyText::from_toml(text) {
        Ok(read) => read,
        Err(error) => return check(&error, text),
    };
    // The same text twice, as two layers: merging either holds together or says why not.
    let layers = [(Source::User, read.clone()), (Source::Organization, read)];
    match Policy::of_layers(&layers) {
        Ok(policy) => {
            for command in ["git push", "cat .env", "rm -rf /"] {
                let call = Call::new("Bash", json!({ "command": command }), "/w");
                let verdict = judge(&policy, &call, &Lexical);
                assert!(!verdict.reasons.is_empty(), "a verdict without a reason");
            }
        }
        Err(error) => check(&error, text),
    }
}

fn check(error: &PolicyError, text: &str) {
    assert!(!error.message.is_empty(), "refused without a word");
    if let Some(span) = &error.span {
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} is not in the text");
    }
}
