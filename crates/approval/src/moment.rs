//! Moments: milliseconds since the epoch, written as RFC 3339 in UTC.

use std::fmt;

use jiff::Timestamp;

/// A moment, to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// The moment so many milliseconds after the epoch.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Moment {
        Moment(ms)
    }

    /// How many milliseconds it lies after the epoch.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.0
    }

    /// The moment so many milliseconds later.
    #[must_use]
    pub fn after_ms(self, ms: u64) -> Moment {
        Moment(self.0.saturating_add_unsigned(ms))
    }

    /// The moment so many seconds later.
    #[must_use]
    pub fn after_s(self, seconds: u64) -> Moment {
        self.after_ms(seconds.saturating_mul(1000))
    }

    /// Reads a moment as it is written.
    #[must_use]
    pub fn parse(text: &str) -> Option<Moment> {
        text.parse::<Timestamp>().ok().map(|timestamp| Moment(timestamp.as_millisecond()))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX);
        write!(out, "{timestamp:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn a_moment_reads_back_as_it_was_written() {
        let moment = Moment::from_ms(1_794_774_900_120);
        assert_eq!(moment.to_string(), "2026-11-15T20:35:00.120Z");
        assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
    }
}
