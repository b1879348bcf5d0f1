//! Picks: which acts print the first word of every line, and no more.
//!
//! Whoever hands over such words relies on how their lines begin. A program that parts lines by
//! anything but blanks, or prints whole lines, hands over words from the middle too.

use super::dashes::{is_filter, is_given};
use crate::act::Act;
use crate::arg::Arg;
use crate::catalog::ValueKind;
use crate::usage::Usage;

/// Whether an act prints the first word of every line, or of some lines, and no more.
pub(crate) fn picks(act: &Act, usage: &Usage) -> bool {
    if !is_filter(act) {
        return false;
    }
    let separator = usage.value_of(&["-d", "--delimiter", "-F", "--field-separator"]);
    let separator = separator.map(Arg::as_known);
    let mut programs = usage.values.iter().filter(|given| given.kind == ValueKind::Awk);
    match programs.next() {
        // Without a delimiter `cut` takes what stands before a tab, blanks included.
        None => {
            separator == Some(Some(" "))
                && usage.options.len() == 2
                && is_given(usage.entry.picks, usage)
        }
        Some(program) => {
            // Any other option may say how lines are parted.
            let is_plain = |name: &str| matches!(name, "-F" | "--field-separator");
            matches!(separator, None | Some(Some(" ")))
                && usage.options.iter().all(|option| is_plain(option.name))
                && program.arg.as_known().is_some_and(prints_first)
                && programs.next().is_none()
        }
    }
}

/// Whether an awk program prints the first word of the lines it chooses, and does nothing else.
fn prints_first(program: &str) -> bool {
    let Some(action) = behind_pattern(program.as_bytes()) else { return false };
    // A line break would end the statement: `print` alone prints the whole line.
    let action = action.iter().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let action: Vec<u8> = action.copied().collect();
    matches!(action.as_slice(), b"{print$1}" | b"{print$1;}")
}

/// The text from the first action on, if nothing before it does more than compare.
fn behind_pattern(text: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    let mut is_value = false;
    loop {
        let rest = text.get(at..)?;
        let (is_next_value, len) = match rest {
            [b'{', ..] => return Some(rest),
            [b' ' | b'\t', ..] => (is_value, 1),
            [b'/' | b'"', ..] if is_value => return None,
            [quote @ (b'/' | b'"'), inner @ ..] => (true, quoted(inner, *quote)? + 2),
            [b'&', b'&', ..] | [b'|', b'|', ..] | [b'!' | b'=' | b'<' | b'>', b'=', ..] => {
                (false, 2)
            }
            [b'!' | b'~' | b'<' | b'>' | b'(' | b'%', ..] => (false, 1),
            [b')', ..] => (true, 1),
            [b'$' | b'0'..=b'9', ..] => {
                (true, 1 + rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count())
            }
            _ => {
                let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                let is_known = matches!(rest.get(..name)?, b"NR" | b"NF" | b"FNR");
                (is_known.then_some(true)?, name)
            }
        };
        is_value = is_next_value;
        at += len;
    }
}

/// How long the text is before the sign that closes it; none where readers may differ.
fn quoted(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            // Whether a slash in a set closes the expression depends on the awk.
            b'\n' | b'[' if quote == b'/' => {
                let end = text.get(at..)?.iter().position(|byte| matches!(byte, b']' | b'/'))?;
                if byte == b'\n' || text.get(at + end) != Some(&b']') {
                    return None;
                }
                at += end + 1;
            }
            b'\\' => at += 2,
            _ if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::prints_first;

    #[test]
    fn a_program_that_only_compares_prints_first_words() {
        #[rustfmt::skip]
        let cases = [
            ("{print $1}",                          true,  "every line"),
            ("{ print $1; }",                       true,  "blanks and a semicolon"),
            ("NR>1{print $1}",                      true,  "a number"),
            ("NR>=2 && $3 != \"Running\" {print $1}", true,  "comparisons of fields"),
            ("/Error|Crash/{print $1}",             true,  "an expression"),
            ("$2 ~ /^[0-9]+$/ {print $1}",          true,  "a set"),
            ("!/x/ {print $1}",                     true,  "the lines that do not fit"),
            ("/a{2}/{print $1}",                    true,  "braces in an expression"),
            ("{print\n$1}",                         false, "a line break ends the statement"),
            ("{print $2}",                          false, "another word"),
            ("{print $1, $2}",                      false, "two words"),
            ("{print}",                             false, "whole lines"),
            ("FS=2{print $1}",                      false, "a pattern may assign"),
            ("$1=\"-x\"{print $1}",                 false, "a pattern may change the word"),
            ("sub(/a/,\"-\"){print $1}",            false, "a call may change the word"),
            ("n++ {print $1}",                      false, "what else it does is not looked at"),
            ("/[/]/{print $1} /x/{print $1}",       false, "a slash in a set"),
            ("BEGIN{FS=\"x\"}{print $1}",           false, "an action before it"),
            ("/x/{print $1}{print $1}",             false, "two actions"),
            ("/x/",                                 false, "no action prints whole lines"),
        ];
        for (program, want, why) in cases {
            assert_eq!(prints_first(program), want, "`{program}`: {why}");
        }
    }
}
