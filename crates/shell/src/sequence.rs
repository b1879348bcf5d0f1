//! Sequences: `{1..9}`, `{01..10..3}`, `{a..e}`.

/// A sequence of numbers or of letters, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    first: i64,
    last: i64,
    step: i64,
    /// Digits that numbers are filled up to; 0 for none.
    width: usize,
    is_letters: bool,
}

impl Sequence {
    /// Reads the text between the braces.
    pub(crate) fn read(text: &[u8]) -> Option<Sequence> {
        let text = std::str::from_utf8(text).ok()?;
        let mut ends = text.split("..");
        let (first, last) = (ends.next()?, ends.next()?);
        let step = match ends.next() {
            None => 1,
            Some(step) => number(step)?,
        };
        if ends.next().is_some() {
            return None;
        }
        if let (Some(first_number), Some(last_number)) = (number(first), number(last)) {
            let is_padded = |end: &str| {
                let digits = end.trim_start_matches(['-', '+']);
                digits.len() > 1 && digits.starts_with('0')
            };
            let width =
                if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
            return Some(Sequence::new(first_number, last_number, step, width, false));
        }
        match (first.as_bytes(), last.as_bytes()) {
            ([first], [last]) if first.is_ascii_alphabetic() && last.is_ascii_alphabetic() => {
                Some(Sequence::new(i64::from(*first), i64::from(*last), step, 0, true))
            }
            _ => None,
        }
    }

    fn new(first: i64, last: i64, step: i64, width: usize, is_letters: bool) -> Sequence {
        let step = match step.checked_abs() {
            None | Some(0) => 1,
            Some(step) => step,
        };
        Sequence { first, last, step, width, is_letters }
    }

    /// Whether every text is a number or a letter: between the cases stand signs, one of which
    /// is a backslash, and braces are expanded before backslashes are taken off.
    pub(crate) fn is_plain(&self) -> bool {
        let case = |letter: i64| u8::try_from(letter).is_ok_and(|byte| byte.is_ascii_lowercase());
        !self.is_letters || case(self.first) == case(self.last)
    }

    /// How many texts the sequence has.
    pub(crate) fn len(&self) -> u64 {
        let steps = self.first.abs_diff(self.last) / self.step.unsigned_abs().max(1);
        steps.saturating_add(1)
    }

    /// The texts in order; only for sequences known to be short.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let mut next = Some(self.first);
        std::iter::from_fn(move || {
            let here = next?;
            next = if here.abs_diff(self.last) < self.step.unsigned_abs() {
                None
            } else if self.first <= self.last {
                here.checked_add(self.step)
            } else {
                here.checked_sub(self.step)
            };
            Some(self.text(here))
        })
    }

    fn text(&self, value: i64) -> Vec<u8> {
        if self.is_letters {
            return u8::try_from(value).map_or_else(|_| Vec::new(), |letter| vec![letter]);
        }
        let sign = if value < 0 { "-" } else { "" };
        let digits = value.unsigned_abs().to_string();
        let zeros = self.width.saturating_sub(sign.len() + digits.len());
        format!("{sign}{}{digits}", "0".repeat(zeros)).into_bytes()
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = text.trim_start_matches(['-', '+']);
    if digits.is_empty()
        || text.len() - digits.len() > 1
        || !digits.bytes().all(|b| b.is_ascii_digit())
    {
        return None;
    }
    text.trim_start_matches('+').parse().ok()
}
