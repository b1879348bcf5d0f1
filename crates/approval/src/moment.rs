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
        let written = u64::try_from(self.0).ok().filter(|ms| *ms < FAR_MS).map(written);
        if let Some(text) = written.as_ref().and_then(|bytes| str::from_utf8(bytes).ok()) {
            return out.write_str(text);
        }
        let timestamp = Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX);
        write!(out, "{timestamp:.3}")
    }
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The year 2100, before which every fourth year is a leap year.
const FAR_MS: u64 = 47_482 * DAY_MS;

/// A moment between 1970 and 2100: one is written with every audit entry.
fn written(ms: u64) -> [u8; 24] {
    let (day, ms) = (ms / DAY_MS, ms % DAY_MS);
    // Counted from March of 1968, a leap day is the last of its four years.
    let day = day + 671;
    let (cycle, day) = (day / 1461, day % 1461);
    let year = (day / 365).min(3);
    let day = day - year * 365;
    // The months from March on have 31, 30, 31, 30, 31 days, and so again.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = 1968 + cycle * 4 + year + u64::from(month >= 10);
    let month = if month >= 10 { month - 9 } else { month + 3 };
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let parts = [
        (0, 4, year),
        (5, 2, month),
        (8, 2, day),
        (11, 2, ms / 3_600_000),
        (14, 2, ms / 60_000 % 60),
        (17, 2, ms / 1000 % 60),
        (20, 3, ms % 1000),
    ];
    for (at, digits, mut value) in parts {
        let places = text.iter_mut().skip(at).take(digits).rev();
        for place in places {
            *place += u8::try_from(value % 10).unwrap_or(0);
            value /= 10;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{DAY_MS, FAR_MS, Moment};

    #[test]
    fn a_moment_reads_back_as_it_was_written() {
        let moment = Moment::from_ms(1_794_774_900_120);
        assert_eq!(moment.to_string(), "2026-11-15T20:35:00.120Z");
        assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
    }

    #[test]
    fn every_day_is_written_as_the_calendar_has_it() {
        let days = (0..FAR_MS / DAY_MS + 3).map(|day| day * DAY_MS);
        let parts = (0..DAY_MS).step_by(999_331).map(|part| 20_000 * DAY_MS + part);
        for ms in days.chain(parts).flat_map(|ms| [ms.saturating_sub(1), ms, ms + 1]) {
            let ms = i64::try_from(ms).unwrap();
            let known = Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(Moment::from_ms(ms).to_string(), format!("{known:.3}"));
        }
        assert_eq!(Moment::from_ms(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
