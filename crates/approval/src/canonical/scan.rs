//! One pass over a text that is probably canonical: nothing is built, and what is not seen to be
//! canonical is left to whoever reads it properly.
//!
//! Each function takes the bytes and gives what is behind the thing it names, or nothing.

/// Deeper than this is not looked at.
const MOST_DEPTH: usize = 64;

/// So many bytes of a string are looked at at once.
const PIECE: usize = 8;

/// Any value.
pub(super) fn value(bytes: &[u8], depth: usize) -> Option<&[u8]> {
    match bytes.split_first()? {
        _ if depth > MOST_DEPTH => None,
        (b'{', rest) => object(rest, depth + 1),
        (b'[', rest) => array(rest, depth + 1),
        (b'"', rest) => string(rest).map(|(_, rest)| rest),
        (b't', rest) => rest.strip_prefix(b"rue"),
        (b'f', rest) => rest.strip_prefix(b"alse"),
        (b'n', rest) => rest.strip_prefix(b"ull"),
        _ => number(bytes),
    }
}

fn object(bytes: &[u8], depth: usize) -> Option<&[u8]> {
    if let Some(rest) = bytes.strip_prefix(b"}") {
        return Some(rest);
    }
    let mut rest = bytes;
    let mut before: Option<&[u8]> = None;
    loop {
        let (key, behind) = string(rest.strip_prefix(b"\"")?)?;
        if key.contains(&b'\\') || before.is_some_and(|before| before >= key) {
            return None;
        }
        before = Some(key);
        rest = value(behind.strip_prefix(b":")?, depth)?;
        match rest.split_first()? {
            (b',', behind) => rest = behind,
            (b'}', behind) => return Some(behind),
            _ => return None,
        }
    }
}

fn array(bytes: &[u8], depth: usize) -> Option<&[u8]> {
    if let Some(rest) = bytes.strip_prefix(b"]") {
        return Some(rest);
    }
    let mut rest = bytes;
    loop {
        rest = value(rest, depth)?;
        match rest.split_first()? {
            (b',', behind) => rest = behind,
            (b']', behind) => return Some(behind),
            _ => return None,
        }
    }
}

/// A string behind its first quote: what stands in it, and what is behind its last one.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes;
    loop {
        let (_, behind) = rest.split_at_checked(plain(rest))?;
        match behind.split_first()? {
            (b'"', behind) => {
                let inside = bytes.len() - behind.len() - 1;
                return Some((bytes.get(..inside)?, behind));
            }
            (b'\\', behind) => rest = escape(behind)?,
            _ => return None,
        }
    }
}

/// Whether all of these bytes stand for themselves in a string.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    plain(bytes) == bytes.len()
}

/// How many bytes at the beginning stand for themselves in a string.
fn plain(bytes: &[u8]) -> usize {
    let (pieces, rest) = bytes.as_chunks::<PIECE>();
    for (index, piece) in pieces.iter().enumerate() {
        let marks = signs(u64::from_le_bytes(*piece));
        if marks != 0 {
            return index * PIECE + marks.trailing_zeros() as usize / 8;
        }
    }
    let short = rest.iter().take_while(|byte| is_own_sign(**byte)).count();
    pieces.len() * PIECE + short
}

/// The bytes that do not stand for themselves, each marked by its highest bit. Of what is marked
/// only the lowest is sure to be one: a subtraction may borrow from the bytes above it.
const fn signs(piece: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; PIECE]);
    const HIGH: u64 = ONES << 7;
    let quotes = piece ^ (ONES * b'"' as u64);
    let slashes = piece ^ (ONES * b'\\' as u64);
    let low = piece.wrapping_sub(ONES * b' ' as u64) & !piece;
    let quotes = quotes.wrapping_sub(ONES) & !quotes;
    let slashes = slashes.wrapping_sub(ONES) & !slashes;
    (low | quotes | slashes) & HIGH
}

/// Whether a byte stands for itself in a string.
const fn is_own_sign(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// The shortest escape of a character that needs one.
fn escape(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..]
        | [b'u', b'0', b'0', b'0', b'0'..=b'7' | b'b' | b'e' | b'f', rest @ ..]
        | [b'u', b'0', b'0', b'1', b'0'..=b'9' | b'a'..=b'f', rest @ ..] => Some(rest),
        _ => None,
    }
}

fn number(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let mut rest = match rest.split_first()? {
        (b'0', rest) => rest,
        (b'1'..=b'9', _) => digits(rest)?,
        _ => return None,
    };
    if let Some(fraction) = rest.strip_prefix(b".") {
        rest = digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let sign = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-"));
        rest = digits(sign.unwrap_or(exponent))?;
    }
    Some(rest)
}

/// At least one digit.
fn digits(bytes: &[u8]) -> Option<&[u8]> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 { None } else { bytes.get(length..) }
}

#[cfg(test)]
mod tests {
    use super::{is_own_sign, plain};

    #[test]
    fn every_byte_is_seen_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for length in 0..20 {
                for at in 0..length {
                    // Beside bytes that a borrow could reach, and beside the highest there is.
                    for beside in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                        let mut bytes = vec![beside; length];
                        bytes[at] = byte;
                        let want = if is_own_sign(byte) { length } else { at };
                        assert_eq!(plain(&bytes), want, "{byte:#x} at {at} of {length}");
                    }
                }
            }
        }
        assert_eq!(plain(b"\"\\ab\n"), 0);
        assert_eq!(plain(b"abcdefg\\\"\n"), 7);
    }
}
