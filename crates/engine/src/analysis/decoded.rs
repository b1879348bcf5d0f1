//! Escapes: what a text says that programs print with its escapes read.

/// Words of small languages that make a text of numbers or of other text.
const BUILDERS: [&str; 10] = [
    "char(",
    "chr(",
    "implode",
    "base64",
    "b64dec",
    "unhex",
    "from_hex",
    "fromcharcode",
    "reverse(",
    "rot13",
];

/// Whether a text has words that build another one.
pub(super) fn builds(text: &str) -> bool {
    // Most words of commands are short, and have no sign of a language.
    if !text.contains(['(', '{', '|', '"', ' ']) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    BUILDERS.iter().any(|word| lower.contains(word))
        || lower.contains("printf") && lower.contains("%c")
}

/// The text with every escape read that stands for a letter, a digit or a sign, whoever knows it:
/// `\056`, `\x2e`, `\u002e`, `\o056`, `\d046`, `%x2e`, `%2e`, `0x2e65`, `x'2e65'`. None if there is
/// none.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !text.contains(['\\', '%']) && !text.contains("0x") && !text.contains("x'") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_changed = false;
    while let Some(letter) = rest.chars().next() {
        if let Some((read, len)) = escape(rest).or_else(|| hexadecimal(rest)) {
            out.push_str(&read);
            rest = rest.get(len..).unwrap_or_default();
            is_changed = true;
        } else {
            out.push(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    is_changed.then_some(out)
}

/// The sign that a text begins with as an escape, and how long that is.
fn escape(text: &str) -> Option<(String, usize)> {
    // What introduces it, the base of its digits, and how many there may be.
    const FORMS: [(&str, u32, usize); 9] = [
        ("\\x", 16, 2),
        ("\\u", 16, 4),
        ("\\U", 16, 8),
        ("\\o", 8, 3),
        ("\\d", 10, 3),
        ("\\0", 8, 3),
        ("\\", 8, 3),
        ("%x", 16, 2),
        ("%", 16, 2),
    ];
    FORMS.iter().find_map(|(start, base, most)| {
        let behind = text.strip_prefix(start)?;
        let is_digit = |letter: &char| letter.is_digit(*base);
        let digits: String = behind.chars().take(*most).take_while(is_digit).collect();
        let sign = u32::from_str_radix(&digits, *base).ok().and_then(char::from_u32)?;
        let is_whole = *start != "%" && *start != "%x" || digits.len() == 2;
        let len = start.len() + digits.len();
        (sign.is_ascii_graphic() && is_whole).then(|| (sign.to_string(), len))
    })
}

/// The text that a text begins with as a number in hexadecimal digits, and how long that is.
fn hexadecimal(text: &str) -> Option<(String, usize)> {
    let start = ["0x", "0X", "x'", "X'"].into_iter().find(|start| text.starts_with(start))?;
    let digits = text.get(start.len()..)?;
    let end = digits.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(digits.len());
    let digits = digits.get(..end)?;
    let pairs = digits.as_bytes().chunks(2);
    let read: Option<String> = pairs
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            let byte = u8::from_str_radix(pair, 16).ok()?;
            byte.is_ascii_graphic().then(|| char::from(byte))
        })
        .collect();
    let len = start.len() + digits.len() + usize::from(start.ends_with('\''));
    read.filter(|read| read.len() > 1).map(|read| (read, len.min(text.len())))
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_are_read_whoever_knows_them() {
        #[rustfmt::skip]
        let cases = [
            (r"\056env", ".env"),   (r".\x65nv", ".env"),       (r".en\u0076", ".env"), ("%x2eenv", ".env"),
            (r"s/.*/.en\o166/", "s/.*/.env/"), ("%2eenv", ".env"), ("select 0x2e656e76", "select .env"),
            ("select x'2e656e76'", "select .env"), (r"\0056env", ".env"), (r".en\d118", ".env"),
        ];
        for (text, want) in cases {
            assert_eq!(decoded(text).as_deref(), Some(want), "{text}");
        }
        for text in [r"%p\0", r"%s\n", "%h %s", "a.rs", "%x00", "100%"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
