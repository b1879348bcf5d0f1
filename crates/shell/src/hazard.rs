//! Hazards: characters that show a person something else than the shell reads.

use crate::span::Span;

/// A character that misleads the eye. The shell keeps it as part of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// What sort of character it is.
    pub kind: HazardKind,
    /// Where it stands.
    pub span: Span,
    /// Its code point, or the raw byte where the text is not UTF-8.
    pub code: u32,
}

/// The sorts of misleading characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HazardKind {
    /// A carriage return, which a terminal uses to overwrite the line.
    CarriageReturn,
    /// A blank that is not one for the shell, such as the no-break space.
    LookalikeBlank,
    /// A character of no width.
    Invisible,
    /// A character that turns the direction of writing.
    Bidirectional,
    /// A control character beyond ASCII, or a line or paragraph separator.
    Control,
    /// A byte that is not UTF-8.
    NotUtf8,
    /// A sign at the very start, by which a shell may take the text for options.
    OptionSign,
}

impl HazardKind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HazardKind::CarriageReturn => "carriage-return",
            HazardKind::LookalikeBlank => "lookalike-blank",
            HazardKind::Invisible => "invisible",
            HazardKind::Bidirectional => "bidirectional",
            HazardKind::Control => "control",
            HazardKind::NotUtf8 => "not-utf8",
            HazardKind::OptionSign => "option-sign",
        }
    }
}

/// Code points by kind: first, last, kind; sorted.
const RANGES: &[(u32, u32, HazardKind)] = &[
    (0x000D, 0x000D, HazardKind::CarriageReturn),
    (0x007F, 0x009F, HazardKind::Control),
    (0x00A0, 0x00A0, HazardKind::LookalikeBlank),
    (0x00AD, 0x00AD, HazardKind::Invisible),
    (0x034F, 0x034F, HazardKind::Invisible),
    (0x061C, 0x061C, HazardKind::Bidirectional),
    (0x115F, 0x1160, HazardKind::Invisible),
    (0x1680, 0x1680, HazardKind::LookalikeBlank),
    (0x17B4, 0x17B5, HazardKind::Invisible),
    (0x180B, 0x180F, HazardKind::Invisible),
    (0x2000, 0x200A, HazardKind::LookalikeBlank),
    (0x200B, 0x200D, HazardKind::Invisible),
    (0x200E, 0x200F, HazardKind::Bidirectional),
    (0x2028, 0x2029, HazardKind::Control),
    (0x202A, 0x202E, HazardKind::Bidirectional),
    (0x202F, 0x202F, HazardKind::LookalikeBlank),
    (0x205F, 0x205F, HazardKind::LookalikeBlank),
    (0x2060, 0x2065, HazardKind::Invisible),
    (0x2066, 0x2069, HazardKind::Bidirectional),
    (0x206A, 0x206F, HazardKind::Invisible),
    (0x2800, 0x2800, HazardKind::LookalikeBlank),
    (0x3000, 0x3000, HazardKind::LookalikeBlank),
    (0x3164, 0x3164, HazardKind::Invisible),
    (0xFE00, 0xFE0F, HazardKind::Invisible),
    (0xFEFF, 0xFEFF, HazardKind::Invisible),
    (0xFFA0, 0xFFA0, HazardKind::Invisible),
    (0xFFF0, 0xFFFB, HazardKind::Invisible),
    (0x1BCA0, 0x1BCA3, HazardKind::Invisible),
    (0x1D173, 0x1D17A, HazardKind::Invisible),
    (0xE0000, 0xE0FFF, HazardKind::Invisible),
];

/// Every misleading character of a text, in order.
#[must_use]
pub fn hazards(text: &[u8]) -> Vec<Hazard> {
    let mut found = Vec::new();
    if let Some(&sign @ (b'-' | b'+')) = text.first() {
        let span = Span::new(0, 1);
        found.push(Hazard { kind: HazardKind::OptionSign, span, code: u32::from(sign) });
    }
    // Whole pieces are looked at at once.
    let is_odd = |byte: &u8| u8::from(*byte >= 0x7F) | u8::from(*byte == b'\r');
    let mut pieces = text.chunks(32);
    if pieces.all(|piece| piece.iter().fold(0, |odd, byte| odd | is_odd(byte)) == 0) {
        return found;
    }
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        let mut before = ' ';
        for character in chunk.valid().chars() {
            let end = at + character.len_utf8();
            let is_styled = matches!(character, '\u{FE0F}' | '\u{200D}') && is_symbol(before);
            before = if is_styled { before } else { character };
            if let Some(kind) = kind_of(character as u32).filter(|_| !is_styled) {
                found.push(Hazard { kind, span: Span::new(at, end), code: character as u32 });
            }
            at = end;
        }
        for &byte in chunk.invalid() {
            let span = Span::new(at, at + 1);
            found.push(Hazard { kind: HazardKind::NotUtf8, span, code: u32::from(byte) });
            at += 1;
        }
    }
    found
}

/// Whether a character is a symbol or emoji, behind which a selector or joiner only styles it.
const fn is_symbol(character: char) -> bool {
    matches!(
        character,
        '\u{2190}'..='\u{27BF}' | '\u{2900}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}'
    )
}

pub(crate) fn kind_of(code: u32) -> Option<HazardKind> {
    let after = RANGES.partition_point(|&(first, _, _)| first <= code);
    let &(_, last, kind) = RANGES.get(after.checked_sub(1)?)?;
    (code <= last).then_some(kind)
}

/// The first control character that no shell text has: all but tab, newline, carriage return.
pub(crate) fn first_control(text: &[u8]) -> Option<(usize, u8)> {
    let is_control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    // Looking at every byte without an early end is what turns into vector instructions.
    if text.iter().fold(0, |any, &byte| any | u8::from(is_control(byte))) == 0 {
        return None;
    }
    text.iter().copied().enumerate().find(|&(_, byte)| is_control(byte))
}
