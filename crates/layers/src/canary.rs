//! Canaries: the calls by which `portcullis doctor --live` sees whether a gate holds.
//!
//! A canary is a file with a name that nobody may make (`data/sensitive_paths.toml` of the
//! engine). One of them can be registered: exactly the command that makes it is let through, once,
//! which shows that what did not run before did not run because of the gate.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use portcullis_engine::Verdict;
use portcullis_engine::call::Call;
use portcullis_engine::verdict::{Outcome, Reason, Tier};

/// How every canary's name begins.
pub const PREFIX: &str = "portcullis-canary-";

/// The file in the data directory that holds the one that may be made.
const FILE: &str = "canary";

/// How many digits a nonce has.
const DIGITS: usize = 32;

/// The command that makes a canary.
#[must_use]
pub fn command(nonce: &str) -> String {
    format!("touch {PREFIX}{nonce}")
}

/// Lets the canary of a nonce be made once.
///
/// # Errors
/// The file cannot be written.
pub fn register(data: &Path, nonce: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(data.join(FILE))?;
    file.write_all(nonce.as_bytes())
}

/// Takes back what was registered, if it is still there.
pub fn forget(data: &Path) {
    let _ = fs::remove_file(data.join(FILE));
}

/// Turns the verdict about the canary that is registered into an allow. It counts once.
pub fn let_through(data: &Path, call: &Call, verdict: &mut Verdict) {
    if !is_registered(data, call) {
        return;
    }
    let message = "the canary that `portcullis doctor` registered".to_owned();
    verdict.outcome = Outcome::Allow;
    verdict.tier = Tier::Review;
    verdict.is_firm = false;
    verdict.reasons = vec![Reason { code: "canary".into(), message, span: None }];
    verdict.suggestions.clear();
}

fn is_registered(data: &Path, call: &Call) -> bool {
    let field = |name: &str| call.input.get(name)?.as_str();
    let text = field("command").or_else(|| field("cmd")).unwrap_or_default();
    let nonce = text.strip_prefix("touch ").and_then(|name| name.strip_prefix(PREFIX));
    let is_nonce =
        |nonce: &&str| nonce.len() == DIGITS && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(nonce) = nonce.filter(is_nonce) else { return false };
    let file = data.join(FILE);
    // Of two that come at once one removes it.
    fs::read(&file).is_ok_and(|kept| kept == nonce.as_bytes()) && fs::remove_file(&file).is_ok()
}

#[cfg(test)]
mod tests {
    use portcullis_engine::{Lexical, Policy, judge};

    use super::*;

    const NONCE: &str = "00112233445566778899aabbccddeeff";

    fn judged(data: &Path, command: &str) -> Outcome {
        let policy = Policy::builtin();
        let call = Call::bash(command, "/tmp");
        let mut verdict = judge(&policy, &call, &Lexical);
        let_through(data, &call, &mut verdict);
        verdict.outcome
    }

    #[test]
    fn the_one_that_is_registered_is_let_through_once_and_nothing_else() {
        let data =
            std::env::temp_dir().join(format!("portcullis-canary-test-{}", std::process::id()));
        fs::create_dir_all(&data).unwrap();
        assert_eq!(judged(&data, &command(NONCE)), Outcome::Deny, "none is registered");
        register(&data, NONCE).unwrap();
        let others = [
            command("ffeeddccbbaa99887766554433221100"),
            format!("{} x", command(NONCE)),
            format!("{}; rm x", command(NONCE)),
            format!("rm {PREFIX}{NONCE}"),
        ];
        for other in others {
            assert_eq!(judged(&data, &other), Outcome::Deny, "{other}");
        }
        assert_eq!(judged(&data, &command(NONCE)), Outcome::Allow);
        assert_eq!(judged(&data, &command(NONCE)), Outcome::Deny, "it counts once");
        register(&data, "").unwrap();
        assert_eq!(judged(&data, &command("")), Outcome::Deny, "nothing is no nonce");
        fs::remove_dir_all(&data).unwrap();
    }
}
