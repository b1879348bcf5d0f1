//! `$'…'`: quotes whose escapes are decoded while reading.

use crate::dialect::Dialect;
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::word::{Part, PartKind};

impl Parser<'_> {
    /// Reads `$'…'`; the parser stands before the quote, `start` is at the `$`.
    pub(crate) fn ansi_quoted(&mut self, start: usize) -> Parsed<Part> {
        let open = self.pos;
        let mut at = open + 1;
        loop {
            match self.byte(at) {
                b'\'' => break,
                b'\\' => at += 1,
                _ => {}
            }
            if at >= self.end {
                return Err(self.unclosed(start, 2, "the quote `$'`", "'"));
            }
            at += 1;
        }
        self.derive(open, at - open)?;
        let from = self.tree.text.len();
        self.tree.origins.record(from, open + 1);
        let raw = self.tree.text(Span::new(open + 1, at)).to_vec();
        if self.reader.dialect == Dialect::Zsh && raw.windows(2).any(|pair| pair == b"\\\n") {
            return Err(self.unsupported(start, at, "a line break in `$'`"));
        }
        decode(&raw, &mut self.tree.text);
        self.pos = at + 1;
        let kind = PartKind::AnsiC(Span::new(from, self.tree.text.len()));
        Ok(Part { span: Span::new(start, self.pos), kind })
    }
}

/// Decodes the escapes of `raw` onto `out`; a decoded NUL ends the text, as it does in bash.
pub(crate) fn decode(raw: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    let peek = |at: usize| raw.get(at).copied();
    while let Some(byte) = peek(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(escape) = peek(at) else {
            out.push(b'\\');
            return;
        };
        at += 1;
        let simple = match escape {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' | b'E' => 0x1B,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0B,
            b'\\' | b'\'' | b'"' | b'?' => escape,
            b'0'..=b'7' => {
                let mut code = u32::from(escape - b'0');
                let mut digits = 1;
                while let Some(digit @ b'0'..=b'7') = peek(at).filter(|_| digits < 3) {
                    code = code * 8 + u32::from(digit - b'0');
                    digits += 1;
                    at += 1;
                }
                low_byte(code)
            }
            b'x' => {
                let braced = peek(at) == Some(b'{');
                let begin = at + usize::from(braced);
                let (code, end) = hex(raw, begin, if braced { usize::MAX } else { 2 });
                if end == begin && !braced {
                    out.extend_from_slice(b"\\x");
                    continue;
                }
                at = end;
                if braced && peek(at) == Some(b'}') {
                    at += 1;
                }
                low_byte(code)
            }
            b'u' | b'U' => {
                let most = if escape == b'u' { 4 } else { 8 };
                let (code, end) = hex(raw, at, most);
                if end == at {
                    out.extend_from_slice(&[b'\\', escape]);
                    continue;
                }
                at = end;
                if code == 0 {
                    return;
                }
                push_code_point(code, out);
                continue;
            }
            b'c' => {
                let Some(control) = peek(at) else {
                    out.extend_from_slice(b"\\c");
                    return;
                };
                at += 1;
                if control == b'\\' && peek(at) == Some(b'\\') {
                    at += 1;
                }
                if control == b'?' { 0x7F } else { control.to_ascii_uppercase() & 0x1F }
            }
            other => {
                out.push(b'\\');
                other
            }
        };
        if simple == 0 {
            return;
        }
        out.push(simple);
    }
}

/// The low eight bits, which are all that bash keeps.
fn low_byte(code: u32) -> u8 {
    code.to_le_bytes().first().copied().unwrap_or(0)
}

/// Reads at most `most` hexadecimal digits; the value and the offset behind them.
fn hex(raw: &[u8], from: usize, most: usize) -> (u32, usize) {
    let mut at = from;
    let mut code = 0_u32;
    while let Some(digit) = raw.get(at).and_then(|&byte| char::from(byte).to_digit(16)) {
        if at - from >= most {
            break;
        }
        code = code.wrapping_mul(16).wrapping_add(digit);
        at += 1;
    }
    (code, at)
}

/// Appends a code point in UTF-8, beyond Unicode too, as bash does.
fn push_code_point(code: u32, out: &mut Vec<u8>) {
    if let Some(character) = char::from_u32(code) {
        let mut buffer = [0; 4];
        out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        return;
    }
    let (lead, trail) = match code {
        0..=0xFFFF => (0xE0, 2),
        0x1_0000..=0x1F_FFFF => (0xF0, 3),
        0x20_0000..=0x3FF_FFFF => (0xF8, 4),
        _ => (0xFC, 5),
    };
    out.push(low_byte(lead | (code >> (6 * trail))));
    for shift in (0..trail).rev() {
        out.push(low_byte(0x80 | ((code >> (6 * shift)) & 0x3F)));
    }
}
