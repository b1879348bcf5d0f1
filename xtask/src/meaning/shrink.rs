//! Shrinking: the shortest text that still shows a fault.
//!
//! Only ever takes tokens away, so that a harmless text stays harmless.

/// Takes tokens away as long as `still` says that the fault is there.
pub fn shrink(text: &[u8], tries: usize, mut still: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut tokens = tokens(text);
    let mut left = tries;
    let mut size = tokens.len() / 2;
    while size > 0 {
        let mut start = 0;
        while start < tokens.len() {
            if left == 0 {
                return tokens.concat();
            }
            left -= 1;
            let end = (start + size).min(tokens.len());
            let mut shorter = tokens.clone();
            shorter.drain(start..end);
            if !shorter.is_empty() && still(&shorter.concat()) {
                tokens = shorter;
            } else {
                start += size;
            }
        }
        size = if size > 8 { size / 2 } else { size - 1 };
    }
    tokens.concat()
}

/// Runs of letters and digits, and every other byte for itself.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = Vec::new();
    for byte in text {
        let is_word = byte.is_ascii_alphanumeric();
        match tokens.last_mut() {
            Some(last) if is_word && last.iter().all(u8::is_ascii_alphanumeric) => last.push(*byte),
            _ => tokens.push(vec![*byte]),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_stays() {
        let short = shrink(b"p1 a; p2 b | p3 c", 1000, |text| {
            let text = String::from_utf8_lossy(text);
            text.contains("p2") && text.contains('|')
        });
        assert_eq!(short, b"p2|");
    }
}
