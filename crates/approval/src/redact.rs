//! Secrets in texts that are kept: found by their shape, and replaced.

use std::borrow::Cow;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How a secret begins, and how many letters of a word must follow at least.
#[rustfmt::skip]
const SHAPES: &[(&str, usize)] = &[
    ("pcl_agent_", 20), ("pcl_approver_", 20), ("pcl_admin_", 20),
    ("sk-", 20), ("sk_live_", 16), ("rk_live_", 16), ("sk_test_", 16),
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("glpat-", 16),
    ("AKIA", 16), ("ASIA", 16), ("AIza", 30), ("ya29.", 20),
    ("xoxb-", 10), ("xoxp-", 10), ("xoxa-", 10), ("xoxs-", 10), ("xapp-", 10),
    ("npm_", 30), ("pypi-", 30), ("hf_", 20), ("dop_v1_", 30), ("SG.", 30), ("eyJ", 40),
];

/// Words before `=` or `:` whose value is a secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "private_key",
    "client_secret",
    "credential",
    "authorization",
];

/// The same text without the secrets that can be told by their shape.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let may_begin = Beginnings::of(text);
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    // Most letters begin no secret, and are passed over without a closer look.
    while let Some((found, first)) = may_begin.next(text.as_bytes(), at) {
        at = found;
        let Some(rest) = text.get(at..) else { break };
        let found = if begins_word(text, at) {
            secret(rest, first, may_begin.has_address)
        } else {
            own_key(rest)
        };
        if let Some((plain, hidden)) = found {
            out.push_str(text.get(kept..at).unwrap_or_default());
            // What stands before a password, a user's name, may be a secret itself.
            out.push_str(&redact(rest.get(..plain).unwrap_or_default()));
            out.push_str(REDACTED);
            at += plain + hidden;
            kept = at;
        } else {
            at += 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether the value of a member of this name is a secret, whatever it looks like: `password`,
/// `githubToken`, `X-Api-Key`, `credentials`.
#[must_use]
pub fn is_telling(name: &str) -> bool {
    let is_letter = |byte: &u8| !matches!(byte, b'_' | b'-' | b' ' | b'.');
    // `pwd` in an input is a directory more often than not.
    NAMES.iter().filter(|known| **known != "pwd").any(|known| {
        let known = || known.bytes().rev().filter(is_letter);
        let mut letters =
            name.bytes().rev().filter(is_letter).map(|byte| byte.to_ascii_lowercase());
        let mut singular = letters.clone();
        known().all(|byte| letters.next() == Some(byte))
            || (singular.next() == Some(b's') && known().all(|byte| singular.next() == Some(byte)))
    })
}

/// What a byte can begin: `FIRST` a secret of any shape (the first ones of `Beginnings::has`),
/// `LETTER` an address, which any letter and digit may.
const FIRST: u8 = 1;
const LETTER: u8 = 2;

/// The same of each byte.
const BEGINS: [u8; 256] = begins();

const fn begins() -> [u8; 256] {
    let mut begins = [0; 256];
    let mut left: &[u8] = b"-SsAaCcPpTtdxeghnry";
    while let [first, rest @ ..] = left {
        mark(&mut begins, *first, FIRST);
        left = rest;
    }
    let mut byte = 0_u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            mark(&mut begins, byte, LETTER);
        }
        byte += 1;
    }
    begins
}

const fn mark(begins: &mut [u8; 256], byte: u8, what: u8) {
    let (_, from) = begins.split_at_mut(byte as usize);
    if let Some(place) = from.first_mut() {
        *place |= what;
    }
}

/// What a secret in a text can begin with.
struct Beginnings {
    has_address: bool,
}

impl Beginnings {
    fn of(text: &str) -> Beginnings {
        Beginnings { has_address: text.contains("://") }
    }

    /// The next byte that a secret may begin with, and where it stands.
    fn next(&self, bytes: &[u8], from: usize) -> Option<(usize, u8)> {
        let mut at = from;
        loop {
            let rest = bytes.get(at..)?;
            at += rest.iter().position(|byte| self.has_first(*byte))?;
            let byte_at = |at: usize| bytes.get(at).copied().unwrap_or_default();
            let (first, second) = (byte_at(at), byte_at(at + 1));
            // In the midst of a word stands no secret but a key of ours; a letter behind a
            // backslash may be an escape, and what follows it a word.
            let is_inside = at >= 1 && byte_at(at - 1).is_ascii_alphanumeric();
            let is_escaped = at >= 2 && byte_at(at - 2) == b'\\';
            let is_passed = is_inside && !is_escaped && first != b'p';
            if !is_passed && self.has(first, second) {
                return Some((at, first));
            }
            at += 1;
        }
    }

    /// Whether a secret may begin with this byte, seen at one glance.
    fn has_first(&self, first: u8) -> bool {
        let meant = if self.has_address { FIRST | LETTER } else { FIRST };
        BEGINS.get(usize::from(first)).is_some_and(|begins| begins & meant != 0)
    }

    /// Bytes that begin no character are never among them.
    fn has(&self, first: u8, second: u8) -> bool {
        // INVARIANT: the first two bytes of all `SHAPES`, of all `NAMES` in either case, and of
        // `pem`.
        let is_one = match (first, second) {
            (b'-', b'-') | (b'S', b'G') => true,
            (b'A' | b'a', _) => b"KSIcpuCPU".contains(&second),
            (b'C' | b'c', _) => b"lrLR".contains(&second),
            (b'P' | b'p', _) => b"acrwyACRW".contains(&second),
            (b'S' | b's', _) => b"ekE".contains(&second),
            (b'T' | b't', _) => b"oO".contains(&second),
            (b'd' | b'x' | b'e' | b'g' | b'h' | b'n' | b'r' | b'y', _) => {
                b"oaypilhfk".contains(&second)
            }
            _ => false,
        };
        is_one || (self.has_address && first.is_ascii_alphanumeric())
    }
}

/// Whether a word begins here, also behind `\n` and the like in JSON.
fn begins_word(text: &str, at: usize) -> bool {
    let before = |count: usize| at.checked_sub(count).and_then(|at| text.as_bytes().get(at));
    match (before(2), before(1)) {
        (Some(b'\\'), Some(b'b' | b'f' | b'n' | b'r' | b't')) => true,
        (_, before) => !before.is_some_and(u8::is_ascii_alphanumeric),
    }
}

/// A key of ours, which goes wherever it stands.
fn own_key(text: &str) -> Option<(usize, usize)> {
    if text.starts_with("pcl_") { shape(text, b'p') } else { None }
}

/// How many bytes at the beginning stay and how many behind them are a secret, if there is one.
fn secret(text: &str, first: u8, has_address: bool) -> Option<(usize, usize)> {
    shape(text, first)
        .or_else(|| if first == b'-' { pem(text) } else { None })
        .or_else(|| if has_address { user_info(text) } else { None })
        .or_else(|| named(text, first))
}

/// A secret that is told by how it begins.
fn shape(text: &str, first: u8) -> Option<(usize, usize)> {
    let begins = |begin: &str| begin.as_bytes().first() == Some(&first);
    SHAPES.iter().filter(|(begin, _)| begins(begin)).find_map(|(begin, least)| {
        let length = word(text.strip_prefix(begin)?);
        (length >= *least).then_some((0, begin.len() + length))
    })
}

/// The first few letters: what is looked for near the beginning is not looked for in all that
/// follows, or a long text would be read again from each of its words.
fn near(text: &str, letters: usize) -> &str {
    let end = text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// The length of the word at the beginning.
fn word(text: &str) -> usize {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+/=~".contains(byte);
    text.bytes().take_while(|byte| is_letter(byte)).count()
}

/// A private key between its marks.
fn pem(text: &str) -> Option<(usize, usize)> {
    let after = text.strip_prefix("-----BEGIN ")?;
    let head = near(after, 60).find("PRIVATE KEY-----")?;
    let end = after.get(head..)?.find("-----END ").map_or(after.len(), |at| head + at);
    Some((0, text.len() - after.len() + end))
}

/// The password in an address: `https://user:password@host`.
fn user_info(text: &str) -> Option<(usize, usize)> {
    let (scheme, _) = near(text, 15).split_once("://")?;
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let rest = text.get(scheme.len() + 3..)?;
    let host = rest.split(['/', ' ', '"', '\'', '\n']).next()?;
    let (user, _) = host.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let plain = text.len() - rest.len() + name.len() + 1;
    (!password.is_empty()).then_some((plain, password.len()))
}

/// The value behind a telling name: `password=…`, `"token": "…"`, `Authorization: Bearer …`.
fn named(text: &str, first: u8) -> Option<(usize, usize)> {
    let first = first.to_ascii_lowercase();
    let name = NAMES.iter().find(|name| {
        name.as_bytes().first() == Some(&first)
            && text.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    })?;
    let mut rest = text.get(name.len()..)?;
    rest = rest.trim_start_matches(['"', '\'', '\\']);
    rest = rest.strip_prefix([':', '='])?.trim_start_matches([' ', '"', '\'', '\\']);
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "token "] {
        rest = rest.strip_prefix(scheme).unwrap_or(rest);
    }
    // `password=$PASSWORD` names a secret and shows none.
    if rest.starts_with(['$', '<', '{', '[']) {
        return None;
    }
    let length = rest.find([' ', '"', '\'', '\\', '\n', '\t', '&', ';', ',']).unwrap_or(rest.len());
    (length >= 4).then_some((text.len() - rest.len(), length))
}

#[cfg(test)]
mod tests {
    use super::{Beginnings, NAMES, SHAPES, is_telling, redact};

    #[test]
    fn no_secret_is_passed_over() {
        let plain = Beginnings { has_address: false };
        let shapes = SHAPES.iter().map(|(begin, _)| *begin);
        let begins = |text: &str| plain.has(text.as_bytes()[0], text.as_bytes()[1]);
        for begin in shapes.chain(NAMES.iter().copied()).chain(["-----BEGIN "]) {
            assert!(begins(begin), "`{begin}`");
        }
        for name in NAMES {
            let (first, rest) = name.split_at(1);
            assert!(begins(&name.to_uppercase()), "`{name}`");
            assert!(begins(&format!("{}{rest}", first.to_uppercase())), "`{name}`");
            assert!(begins(&format!("{first}{}", rest.to_uppercase())), "`{name}`");
        }
        for (first, second) in
            (0..=u8::MAX).flat_map(|first| (0..=u8::MAX).map(move |second| (first, second)))
        {
            let address = Beginnings { has_address: true };
            assert!(!plain.has(first, second) || plain.has_first(first), "{first} {second}");
            assert!(!address.has(first, second) || address.has_first(first), "{first} {second}");
        }
        assert!(!plain.has(0x80, 0) && !plain.has(0xff, b'a'), "only beginnings of characters");
    }

    #[test]
    fn names_of_members_tell() {
        #[rustfmt::skip]
        let cases = [
            ("password", true), ("DB_PASSWORD", true), ("githubToken", true), ("X-Api-Key", true),
            ("credentials", true), ("client.secret", true), ("tokens", true), ("authorization", true),
            ("command", false), ("tokenizer", false), ("max_token_count", false), ("pwd", false),
            ("path", false), ("", false), ("s", false),
        ];
        for (name, want) in cases {
            assert_eq!(is_telling(name), want, "`{name}`");
        }
    }

    #[test]
    fn a_key_of_ours_goes_in_the_midst_of_a_word_and_behind_escapes() {
        let key = format!("pcl_agent_{}", "a".repeat(43));
        for before in
            ["", "x", "9", "xp", "\\n", "\\nx", "\\\\n", "ä", "-", "\\", "http://", "a://b"]
        {
            assert_eq!(redact(&format!("{before}{key}")), format!("{before}[redacted]"));
        }
        assert_eq!(redact("xpassword=hunter22"), "xpassword=hunter22");
        assert_eq!(redact("\\npassword=hunter22"), "\\npassword=[redacted]");
        assert_eq!(redact("\\xpassword=hunter22"), "\\xpassword=hunter22");
    }

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let key = format!("pcl_agent_{}", "a".repeat(43));
        #[rustfmt::skip]
        let cases = [
            (format!("curl -H 'Authorization: Bearer {key}' x"), "curl -H 'Authorization: Bearer [redacted]' x"),
            ("export TOKEN=abcdef123".to_owned(),       "export TOKEN=[redacted]"),
            ("echo $TOKEN password=$X".to_owned(),      "echo $TOKEN password=$X"),
            ("git clone https://me:hunter22@example.org/x".to_owned(), "git clone https://me:[redacted]@example.org/x"),
            (r#"{"api_key": "abcd1234"}"#.to_owned(),   r#"{"api_key": "[redacted]"}"#),
            ("AKIAABCDEFGHIJKLMNOP and akia".to_owned(), "[redacted] and akia"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----".to_owned(), "[redacted]-----END RSA PRIVATE KEY-----"),
            ("task-sk-abcdefghijklmnopqrstuvwxyz".to_owned(), "task-[redacted]"),
            (format!("curl -u{key} x"),                 "curl -u[redacted] x"),
            (format!("https://{key}:hunter22@example.org"), "https://[redacted]:[redacted]@example.org"),
            (r"echo a\nghp_abcdefghijklmnopqrstuvwxyz".to_owned(), r"echo a\n[redacted]"),
            ("grep -r secret: src; ls ключ".to_owned(), "grep -r secret: src; ls ключ"),
        ];
        for (text, want) in cases {
            assert_eq!(redact(&text), want);
        }
    }
}
