//! Blind spots: the parts of a text that `-n` does not look into.
//!
//! bash keeps what stands between backticks, in `$((…)…)`, in `${…}` and in the body of a
//! here-document as it is, and looks into it only when it runs. We look into it at once, so we
//! refuse more. That is right if bash would refuse the part when it got there, and nothing else
//! is wrong with the text. Both are asked: the part is given to bash by itself, and the text with
//! the part cut out is given to both.

use portcullis_shell::RefusalKind;
use serde::Deserialize;

use super::compare::{Read, read};
use super::oracle::{Answer, Oracle, Shell};

/// The parts that are not looked into.
// INVARIANT: what is tried first stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Between two backticks.
    Backticks,
    /// The body of a here-document whose delimiter is not quoted.
    Heredoc,
    /// `$(…)`, `<(…)` or `>(…)` where bash only counts brackets: in an expression behind `=~`,
    /// and wherever a second bracket follows the first.
    Substitution,
    /// An arithmetic expression, where bash only counts brackets.
    Arithmetic,
    /// `${…}`, which is a bad substitution when it is expanded.
    Parameter,
    /// `${ …; }`, which bash runs from 5.3 on and takes for a parameter before.
    BraceCommand,
}

/// How many parts may be cut out one after the other or one inside the other.
const DEEPEST: usize = 6;

/// How many beginnings of a parameter are tried, from the place we refused on back.
const NEAREST: usize = 2;

/// How many cuts are tried for one text.
const PATIENCE: usize = 100;

/// The first blind spot that explains why we refuse `text` and `shell` does not.
pub fn spot(oracle: &Oracle, shell: Shell, text: &[u8]) -> anyhow::Result<Option<Part>> {
    Search { oracle, shell, tried: 0 }.spot(text, DEEPEST)
}

/// Whether all agree about `text` once something plain stands in the place of each `${ …; }`.
pub fn agree_without_brace_commands(
    oracle: &Oracle,
    shell: Shell,
    text: &[u8],
) -> anyhow::Result<bool> {
    let mut plain = text.to_vec();
    let mut changed = false;
    // The innermost first, which are the last to begin.
    while let Some(start) = plain.windows(3).rposition(is_brace_command) {
        let ends = (start..plain.len()).filter(|end| plain.get(*end) == Some(&b'}'));
        let mut shorter = ends.take(4 * DEEPEST).map(|end| {
            let mut shorter = plain.clone();
            shorter.splice(start..=end, *b"a");
            shorter
        });
        let Some(accepted) = shorter.find(|text| matches!(read(shell, text), Read::Accepted(_)))
        else {
            return Ok(false);
        };
        plain = accepted;
        changed = true;
    }
    Ok(changed && oracle.ask(shell, &plain)? == Answer::Accepts)
}

fn is_brace_command(head: &[u8]) -> bool {
    matches!(head, [b'$', b'{', b' ' | b'\t' | b'\n' | b'|' | b'('])
}

struct Search<'o> {
    oracle: &'o Oracle,
    shell: Shell,
    tried: usize,
}

impl Search<'_> {
    fn spot(&mut self, text: &[u8], depth: usize) -> anyhow::Result<Option<Part>> {
        let Read::Refused(refusal) = read(self.shell, text) else { return Ok(None) };
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let offset = refusal.span.start as usize;
        if refusal.message.contains("a bad substitution") && self.is_bad(text, offset)? {
            return Ok(Some(Part::Parameter));
        }
        for (part, start, end) in candidates(text, offset) {
            self.tried += 1;
            if self.tried > PATIENCE {
                return Ok(None);
            }
            let mut rest = text.to_vec();
            rest.splice(start..end, *b"a");
            let inside = text.get(start..end).unwrap_or_default();
            // Most candidates fall here, at the price of one reading of ours.
            if !self.is_refused(part, inside, depth)? {
                continue;
            }
            let rest_is_fine = match read(self.shell, &rest) {
                Read::Accepted(_) => self.oracle.ask(self.shell, &rest)? == Answer::Accepts,
                // Our own kinds are explained by the rules about them.
                Read::Refused(next) if next.kind != RefusalKind::Syntax => true,
                // What is refused at the same place or before was not helped by the cut.
                Read::Refused(next) if (next.span.start as usize) <= start => false,
                Read::Refused(_) => self.spot(&rest, depth)?.is_some(),
                Read::Panicked(_) => false,
            };
            if rest_is_fine {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// Whether what begins at `start` is a bad substitution by itself, wherever it ends. It has no
    /// brace of its own where only brackets are counted.
    fn is_bad(&self, text: &[u8], start: usize) -> anyhow::Result<bool> {
        let rest = text.get(start..).unwrap_or_default();
        let mut parts: Vec<Vec<u8>> = (0..rest.len())
            .filter(|end| rest.get(*end) == Some(&b'}'))
            .take(DEEPEST)
            .map(|end| rest.get(..=end).unwrap_or_default().to_vec())
            .collect();
        if parts.is_empty() {
            parts.push([rest, b"}"].concat());
        }
        for part in parts {
            if self.oracle.is_bad_substitution(&part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the shell would refuse the part when it came to run it.
    fn is_refused(&mut self, part: Part, inside: &[u8], depth: usize) -> anyhow::Result<bool> {
        match part {
            // In double quotes the backslash before a quote is taken off too.
            Part::Backticks => Ok(self.is_refused_script(&unescape(inside, b"$`\\"), depth)?
                || self.is_refused_script(&unescape(inside, b"$`\\\""), depth)?),
            Part::Substitution => self.is_refused_script(inside, depth),
            Part::Parameter => self.oracle.is_bad_substitution(inside),
            // No older bash can tell what a newer one refuses.
            Part::BraceCommand => Ok(true),
            // Both are expanded as if they stood in double quotes.
            Part::Heredoc | Part::Arithmetic => {
                let mut quoted = b": \"".to_vec();
                quoted.extend(inside.iter().filter(|byte| **byte != b'"'));
                quoted.push(b'"');
                self.is_refused_script(&quoted, depth)
            }
        }
    }

    /// Whether we refuse a script and so does the shell, at once or at a blind spot in it.
    fn is_refused_script(&mut self, script: &[u8], depth: usize) -> anyhow::Result<bool> {
        Ok(matches!(read(self.shell, script), Read::Refused(_))
            && (self.oracle.ask(self.shell, script)? != Answer::Accepts
                || self.spot(script, depth)?.is_some()))
    }
}

/// The parts around an offset, each as what would be cut out: those that hold the most first, of
/// one kind the innermost, and of those with the same beginning the shortest.
fn candidates(text: &[u8], offset: usize) -> Vec<(Part, usize, usize)> {
    let ends = |closer: u8, from: usize| {
        text.iter()
            .enumerate()
            .skip(from)
            .filter(move |(_, byte)| **byte == closer)
            .map(|(end, _)| end)
            .take(DEEPEST)
    };
    let mut found = Vec::new();
    let ticks = ticks(text);
    found.extend(ticks.windows(2).filter_map(|pair| match pair {
        [open, close] if *open <= offset && offset <= *close => {
            Some((Part::Backticks, open + 1, *close))
        }
        _ => None,
    }));
    let mut parameters = 0;
    for (start, head) in text.windows(2).enumerate().take(offset + 1).rev() {
        match head {
            b"<<" => found.extend(body(text, start).map(|(from, to)| (Part::Heredoc, from, to))),
            [b'$' | b'<' | b'>', b'('] => {
                found.extend(ends(b')', offset).map(|end| (Part::Substitution, start + 2, end)));
            }
            b"((" => found.extend(ends(b')', start).map(|end| (Part::Arithmetic, start + 2, end))),
            b"${" if parameters < NEAREST => {
                parameters += 1;
                // We may have read beyond the brace that bash takes for the closing one.
                found.extend(ends(b'}', start).map(|end| (Part::Parameter, start, end + 1)));
            }
            _ => {}
        }
        if text.get(start..start + 3).is_some_and(is_brace_command) {
            found.extend(ends(b'}', offset).map(|end| (Part::BraceCommand, start, end + 1)));
        }
    }
    found.retain(|(_, start, end)| start < end);
    found.sort_by_key(|(part, ..)| *part);
    found
}

/// The backticks that no backslash escapes.
fn ticks(text: &[u8]) -> Vec<usize> {
    let mut escaped = false;
    let mut ticks = Vec::new();
    for (index, byte) in text.iter().enumerate() {
        if *byte == b'`' && !escaped {
            ticks.push(index);
        }
        escaped = *byte == b'\\' && !escaped;
    }
    ticks
}

/// From the line behind a `<<` to the line that is its delimiter, or to the end.
fn body(text: &[u8], operator: usize) -> Option<(usize, usize)> {
    let behind = text.get(operator + 2..)?;
    let delimiter: Vec<u8> = behind
        .iter()
        .copied()
        .skip_while(|byte| b"- \t".contains(byte))
        .take_while(|byte| !b" \t\n;&|()<>`\"'\\".contains(byte))
        .collect();
    let newline = behind.iter().position(|byte| *byte == b'\n')?;
    let start = operator + 2 + newline + 1;
    let mut end = start;
    for line in text.get(start..)?.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii() == delimiter {
            break;
        }
        end += line.len();
    }
    // The last newline stays, or the delimiter's line would no longer be one.
    let ends_line = end > start && text.get(end - 1) == Some(&b'\n');
    Some((start, end - usize::from(ends_line)))
}

/// What bash runs for a body between backticks: the backslash before some bytes is taken off.
fn unescape(body: &[u8], escaped: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = body.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte == b'\\' && rest.peek().is_some_and(|next| escaped.contains(next)) {
            plain.extend(rest.next());
        } else {
            plain.push(byte);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_around_an_offset_are_found() {
        assert_eq!(candidates(b"a `if` b", 4), [(Part::Backticks, 3, 5)]);
        assert_eq!(candidates(b"a `if` b", 7), []);
        assert_eq!(
            candidates(b"$((a)a)", 5),
            [(Part::Substitution, 2, 6), (Part::Arithmetic, 3, 4), (Part::Arithmetic, 3, 6)]
        );
        assert_eq!(candidates(b"cat <<E\n$(\nE\n", 8), [(Part::Heredoc, 8, 10)]);
    }

    #[test]
    fn one_level_of_backslashes_is_taken_off() {
        assert_eq!(unescape(br"a\`b\\\`c\x", b"$`\\"), br"a`b\`c\x");
    }
}
