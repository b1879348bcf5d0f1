//! Blind spots: the parts of a text about which `-n` does not say all.
//!
//! bash keeps `${…}` as it is and looks into it only when it runs, so it is asked about the part
//! by itself. And what it reads in `${ …; }` is known from 5.3 on; older ones are asked about the
//! text with something plain in its place.

use serde::Deserialize;

use super::compare::{Read, read};
use super::oracle::{Answer, Oracle, Shell};

/// The parts that are not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// `${…}`, which is a bad substitution when it is expanded.
    Parameter,
    /// `${ …; }`, which bash runs from 5.3 on and takes for a parameter before.
    BraceCommand,
}

/// How many closing braces are tried for one that opens.
const BRACES: usize = 24;

/// Whether what begins at `start` is a bad substitution by itself, wherever it ends. It has no
/// brace of its own where only brackets are counted or backticks end before it.
pub fn is_bad_substitution(oracle: &Oracle, text: &[u8], start: usize) -> anyhow::Result<bool> {
    let rest = text.get(start..).unwrap_or_default();
    let mut parts: Vec<Vec<u8>> = (0..rest.len())
        .filter(|end| rest.get(*end) == Some(&b'}'))
        .take(BRACES)
        .map(|end| rest.get(..=end).unwrap_or_default().to_vec())
        .collect();
    if parts.is_empty() {
        let body = rest.split(|byte| *byte == b'`').next().unwrap_or_default();
        parts.extend([rest, body].map(|part| [part, b"}"].concat()));
        // A here-document gets the end of its last line.
        parts.push([rest, b"\n}"].concat());
    }
    for part in parts {
        if oracle.is_bad_substitution(&part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether all agree about `text` once something plain stands in the place of each `${ …; }`.
pub fn agree_without_brace_commands(
    oracle: &Oracle,
    shell: Shell,
    text: &[u8],
) -> anyhow::Result<bool> {
    let mut plain = text.to_vec();
    let mut changed = false;
    let mut before = plain.len();
    // The innermost first, which are the last to begin.
    while let Some(start) =
        plain.get(..before).unwrap_or_default().windows(3).rposition(is_brace_command)
    {
        before = start + 2;
        let ends = (start..plain.len()).filter(|end| plain.get(*end) == Some(&b'}'));
        let mut shorter = ends.take(BRACES).map(|end| {
            let mut shorter = plain.clone();
            shorter.splice(start..=end, *b"a");
            shorter
        });
        let Some(accepted) = shorter.find(|text| matches!(read(shell, text), Read::Accepted(_)))
        else {
            // It is text, in quotes or a here-document.
            continue;
        };
        plain = accepted;
        changed = true;
    }
    Ok(changed && oracle.ask(shell, &plain)? == Answer::Accepts)
}

/// Whether `${ …; }` may stand in a text.
pub fn may_hold_brace_command(text: &[u8]) -> bool {
    text.windows(3).any(is_brace_command)
}

fn is_brace_command(head: &[u8]) -> bool {
    matches!(head, [b'$', b'{', b' ' | b'\t' | b'\n' | b'|'])
}
