//! Every sign at every place between words: it separates as the shell says, or is asked about. (T20)

use portcullis_engine::{Mode, Outcome};
use serde_json::json;

use super::{policy, verdict};

/// Blanks and marks beyond ASCII that some reader takes for white space, or shows as nothing.
const BEYOND: [char; 38] = [
    '\u{85}',
    '\u{a0}',
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{1160}',
    '\u{1680}',
    '\u{17b4}',
    '\u{180e}',
    '\u{2000}',
    '\u{2001}',
    '\u{2002}',
    '\u{2003}',
    '\u{2004}',
    '\u{2005}',
    '\u{2006}',
    '\u{2007}',
    '\u{2008}',
    '\u{2009}',
    '\u{200a}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{200e}',
    '\u{200f}',
    '\u{2028}',
    '\u{2029}',
    '\u{202e}',
    '\u{202f}',
    '\u{205f}',
    '\u{2060}',
    '\u{2066}',
    '\u{2800}',
    '\u{3000}',
    '\u{3164}',
    '\u{feff}',
    '\u{e0041}',
];

/// Places between and inside words; `{}` is the sign.
const PLACES: [&str; 9] = [
    "{}ls -la a",
    "ls{}-la a",
    "l{}s -la a",
    "ls -la{} a",
    "ls -la {} a",
    "ls -la a{}",
    "ls -la a{}touch pwned",
    "ls -la a {} touch pwned",
    "ls -la a;{}touch pwned",
];

#[test]
fn control_signs_and_foreign_blanks_are_asked_about_wherever_they_stand() {
    let policy = policy(Mode::Default, &json!({ "allow": ["Bash(ls:*)"] }));
    let controls = (0..=0x9f).filter_map(char::from_u32).filter(|sign| sign.is_control());
    let controls = controls.filter(|sign| !matches!(sign, '\t' | '\n'));
    for sign in controls.chain(BEYOND) {
        for place in PLACES {
            let text = place.replace("{}", &sign.to_string());
            let answer = verdict(&policy, &text);
            assert_ne!(answer.outcome, Outcome::Allow, "{sign:?} in `{place}`");
        }
    }
}

#[test]
fn what_separates_commands_separates_them_here() {
    let denying = policy(Mode::Bypass, &json!({ "deny": ["Bash(rm:*)"] }));
    for byte in 0..=0x7f_u8 {
        let sign = char::from(byte);
        let text = format!("true{sign}rm x");
        let outcome = verdict(&denying, &text).outcome;
        match sign {
            '\n' | ';' | '&' | '|' => assert_eq!(outcome, Outcome::Deny, "{sign:?}"),
            ' ' | '\t' => assert_eq!(outcome, Outcome::Allow, "{sign:?}: words of one command"),
            // Whatever else it is, with a joiner behind it the rule must bite.
            _ => {
                let text = format!("true {sign}\nrm x");
                let is_open = matches!(sign, '\'' | '"' | '`' | '\\' | '(' | '#');
                let outcome = verdict(&denying, &text).outcome;
                assert!(
                    outcome == Outcome::Deny || (is_open && sign == '\\'),
                    "{sign:?}: {outcome:?}"
                );
            }
        }
    }
}

#[test]
fn ordinary_blanks_are_blanks() {
    let policy = policy(Mode::Default, &json!({}));
    for text in ["ls\t-la\ta", "  ls   -la a  ", "\nls\n\n", "ls -la \\\n a", "ls 'a b' \"c\td\""] {
        assert_eq!(verdict(&policy, text).outcome, Outcome::Allow, "{text:?}");
    }
}
