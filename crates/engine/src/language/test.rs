//! `test` and `[`: conditions, which do nothing but look.
//!
//! One of them does more: `-v` evaluates the subscript of a variable, and a subscript can run
//! commands. So a condition is harmless unless a word that is or may be `-v` stands before one
//! that has or may have a subscript.

use super::{Facts, Word};

/// Reads the arguments of `test`.
#[must_use]
pub fn test(arguments: &[Word]) -> Facts {
    let mut facts = Facts::default();
    let risky = arguments.windows(2).any(|pair| match pair {
        [first, second] => may_be_set_operator(*first) && may_have_subscript(*second),
        _ => false,
    });
    if risky {
        facts.doubt("the condition may evaluate a subscript, which can run commands");
    }
    if !is_condition(arguments) {
        facts.doubt("an unknown form of condition");
    }
    facts
}

/// Reads the arguments of `[`, the closing `]` among them.
#[must_use]
pub fn bracket(arguments: &[Word]) -> Facts {
    match arguments.split_last() {
        Some((Some(b"]"), condition)) => test(condition),
        _ => Facts::of_unknown("`[` is not closed by `]`"),
    }
}

/// Whether a word asks whether a variable is set, and evaluates the variable's subscript.
fn may_be_set_operator(word: Word) -> bool {
    word.is_none_or(|word| matches!(word, b"-v" | b"-R"))
}

fn may_have_subscript(word: Word) -> bool {
    let Some(word) = word else { return true };
    let Some(at) = word.iter().position(|byte| *byte == b'[') else { return false };
    let subscript = word.get(at + 1..).unwrap_or_default();
    let is_plain = match subscript.strip_suffix(b"]") {
        Some(b"@" | b"*") => true,
        Some(index) => !index.is_empty() && index.iter().all(u8::is_ascii_digit),
        None => false,
    };
    !is_plain
}

fn is_unary(word: &[u8]) -> bool {
    const LETTERS: &[u8] = b"GLNORSabcdefghknoprstuvwxz";
    matches!(word, [b'-', letter] if LETTERS.contains(letter))
}

fn is_binary(word: &[u8]) -> bool {
    matches!(
        word,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

/// Whether the words are terms joined by `-a` and `-o`, with negations and parentheses.
///
/// An unknown word stands for an operand. A term takes as many words as it can, as the shells do
/// it; this never goes back, so it stays linear.
fn is_condition(words: &[Word]) -> bool {
    if let [] | [_] = words {
        return true;
    }
    let mut at = 0;
    let mut open = 0_usize;
    loop {
        let rest = words.get(at..).unwrap_or_default();
        let is_join = |word: &[u8]| matches!(word, b"-a" | b"-o");
        // `! = x` compares an exclamation mark.
        at += match rest {
            [_, Some(operator), _, ..] if is_binary(operator) => 3,
            [Some(b"!"), _, ..] => {
                at += 1;
                continue;
            }
            [Some(b"("), _, ..] => {
                open += 1;
                at += 1;
                continue;
            }
            [Some(operator), Some(next), third, ..] if is_unary(operator) => {
                // `-f -a x` joins a word `-f` with another; `-f -a` looks for a file `-a`.
                let joins = is_join(next) && !third.is_some_and(is_join);
                if joins { 1 } else { 2 }
            }
            [Some(operator), _, ..] if is_unary(operator) => 2,
            [_, ..] => 1,
            [] => return false,
        };
        while open > 0 && words.get(at) == Some(&Some(b")")) {
            open -= 1;
            at += 1;
        }
        match words.get(at) {
            None => return open == 0,
            Some(Some(b"-a" | b"-o")) => at += 1,
            Some(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Word<'_>> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| (word != "?").then_some(word.as_bytes()))
            .collect()
    }

    #[test]
    fn conditions_are_harmless() {
        let conditions = [
            "",
            "x",
            "?",
            "-f",
            "-f README.md",
            "-n ?",
            "-z ?",
            "! -e x",
            "! ?",
            "? = y",
            "? != ?",
            "a == b",
            "? -eq 0",
            "1 -lt ?",
            "a -nt b",
            "a < b",
            "-d a -a -d b",
            "? = a -o ? = b",
            "( -f a )",
            "! ( -f a -o -f b )",
            "-f a -a ( ? = b -o -z ? )",
            "-v name",
            "-v a[0]",
            "-v a[@]",
            "-v a[*]",
            "-t 1",
            "-x /bin/ls",
            "? = -v",
            "-n a[x]",
            "a[x] = ?",
            "-o errexit",
            "! = x",
            "( = (",
            "-a x",
            "-L link -o -h link",
            "? -ge 1 -a ? -le 5",
            "! ! x",
        ];
        for condition in conditions {
            assert!(test(&words(condition)).is_harmless(), "`{condition}`");
            let closed = format!("{condition} ]");
            assert!(bracket(&words(&closed)).is_harmless(), "`[ {closed}`");
        }
    }

    #[test]
    fn what_may_run_or_is_no_condition_is_unknown() {
        let conditions = [
            "-v a[$(id)]",
            "-v a[i]",
            "-v ?",
            "-R ?",
            "-v a[",
            "-v a[0]x]",
            "? a[i]",
            "? ?",
            "! -v a[x]",
            "-f x -o -v a[`id`]",
            "a b",
            "a -foo b",
            "-foo x",
            "a = b c",
            "( a",
            "a -a",
            "x = y -o",
            "a b c d",
        ];
        for condition in conditions {
            assert!(test(&words(condition)).unknown.is_some(), "`{condition}`");
        }
        for open in ["", "-f x", "-f x ] y", "-f x ?"] {
            assert!(bracket(&words(open)).unknown.is_some(), "`[ {open}`");
        }
    }
}
