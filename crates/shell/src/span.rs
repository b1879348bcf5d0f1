//! Spans: where in the text something stands.

/// A run of bytes: `start` is the first, `end` the one after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` up to but not including `end`.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start: narrow(start), end: narrow(end) }
    }

    /// How many bytes the span covers.
    #[must_use]
    pub const fn len(self) -> usize {
        (self.end.saturating_sub(self.start)) as usize
    }

    /// Whether the span covers no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether `other` lies wholly inside this span.
    #[must_use]
    pub const fn covers(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The bytes of `text` under this span; empty where the span does not fit.
    #[must_use]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Texts are refused beyond 2 GiB, long before an offset could be cut.
#[expect(clippy::cast_possible_truncation, reason = "texts beyond u32 are refused at the door")]
pub(crate) const fn narrow(offset: usize) -> u32 {
    offset as u32
}
