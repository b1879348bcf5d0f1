//! What is answered, in our words; and what a process says, in bytes and an exit code.

use crate::json;

/// The longest reason; the rest is cut.
const MOST_REASON: usize = 600;

/// What is answered to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call may run; with another input if there is one.
    Allow {
        /// Why, for hosts that take a reason.
        reason: String,
        /// The input to run instead: the text of an object.
        input: Option<String>,
    },
    /// The host's own prompt decides.
    Ask(String),
    /// The run ends here and is resumed when somebody has decided.
    Defer,
    /// The call must not run.
    Deny(String),
    /// Nothing is said: the host goes on as if there were no hook.
    Nothing,
}

/// What a process says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Standard output, whole.
    pub stdout: String,
    /// Standard error, whole; empty unless the exit code is not 0.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
    /// The document that says the same, with exit code 0, where standard error reaches nobody:
    /// some hosts run the tool of a hook that blocks without a word. Empty where there is none.
    pub instead: String,
}

impl Printed {
    /// Nothing at all.
    #[must_use]
    pub fn nothing() -> Printed {
        Printed::default()
    }

    /// A document, and exit code 0.
    #[must_use]
    pub fn document(stdout: String) -> Printed {
        Printed { stdout, ..Printed::default() }
    }

    /// The answer that blocks in every host: a reason on standard error and exit code 2.
    #[must_use]
    pub fn blocked(reason: &str) -> Printed {
        Printed { stderr: reason.to_owned(), code: 2, ..Printed::default() }
    }
}

/// The line that a model reads: one line, nothing hidden in it, with its code in brackets.
#[must_use]
pub fn reason(text: &str, code: &str) -> String {
    let mut line = String::from("Portcullis: ");
    for (count, sign) in text.chars().enumerate() {
        if count == MOST_REASON {
            line.push('…');
            break;
        }
        if is_plain(sign) { line.push(sign) } else { line.extend(sign.escape_unicode()) }
    }
    format!("{line} [{code}]")
}

/// Whether a sign shows itself: no control, no direction mark, nothing without a width.
fn is_plain(sign: char) -> bool {
    !sign.is_control()
        && !matches!(sign,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The sentence for an approval with another input, where the host cannot take one.
#[must_use]
pub fn edited(input: &str) -> String {
    let command = serde_json::from_str::<serde_json::Value>(input).ok().and_then(|value| {
        let command = ["command", "cmd", "command_line"].iter().find_map(|name| value.get(*name));
        command.and_then(serde_json::Value::as_str).map(str::to_owned)
    });
    let text = command.unwrap_or_else(|| input.to_owned());
    reason(&format!("the approver edited this call; run instead: {text}"), "EDITED")
}

/// `{"hookSpecificOutput":{"hookEventName":…,…}}`.
#[must_use]
pub fn specific(event: &str, members: &[(&str, String)]) -> String {
    let mut all = vec![("hookEventName", json::quoted(event))];
    all.extend(members.iter().cloned());
    json::object(&[("hookSpecificOutput", json::object(&all))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_and_hides_nothing() {
        let text = "a\nb\u{202e}c\u{1b}[2Jd\u{200b}";
        let line = reason(text, "rule.deny");
        assert_eq!(line, r"Portcullis: a\u{a}b\u{202e}c\u{1b}[2Jd\u{200b} [rule.deny]");
        let long = reason(&"x".repeat(10_000), "c");
        assert!(long.len() < 700 && long.ends_with("… [c]"), "{}", long.len());
    }

    #[test]
    fn an_edited_call_is_quoted() {
        let line = edited(r#"{"command":"echo a\nb"}"#);
        assert_eq!(
            line,
            r"Portcullis: the approver edited this call; run instead: echo a\u{a}b [EDITED]"
        );
        assert!(edited(r#"{"path":"x"}"#).contains(r#"{"path":"x"}"#));
    }
}
