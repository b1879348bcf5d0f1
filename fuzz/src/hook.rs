//! Any document of any host is understood or refused, and what does not allow never reads as if
//! it did.

use portcullis_hook::answer::{Answer, Printed, reason};
use portcullis_hook::call::Part;
use portcullis_hook::hosts::HOSTS;
use portcullis_hook::options::Options;
use portcullis_hook::read;

/// What lets a tool run where a host reads it.
const ALLOWS: [&str; 6] = [
    "\"permissionDecision\":\"allow\"",
    "\"behavior\":\"allow\"",
    "\"decision\":\"allow\"",
    "\"decision\":\"approve\"",
    "\"permission\":\"allow\"",
    "\"cancel\":false",
];

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let options = Options::read(&[]).expect("no option is needed");
    let nothing = |_: &str| None;
    for host in HOSTS {
        match read(host, &options, data, &nothing, Some("/w")) {
            Err(failure) => blocks(&(host.fail)(host.part(None), &failure.reason())),
            Ok(call) if call.part == Part::Gate => {
                assert!(!call.tool.is_empty(), "{}: a call of no tool", host.name);
                blocks(&(host.say)(&call, &Answer::Deny(reason("no", "rule.deny"))));
            }
            Ok(_) => {}
        }
    }
}

fn blocks(printed: &Printed) {
    let text: String = printed.stdout.split_whitespace().collect();
    assert!(!ALLOWS.iter().any(|word| text.contains(word)), "{printed:?}");
    assert!(printed.code != 0 || !text.is_empty(), "silence lets the tool run: {printed:?}");
}
