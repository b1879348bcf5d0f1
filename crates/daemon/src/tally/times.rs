//! How long answers took: counted in bounded memory, however many there are.

use std::collections::BTreeMap;

/// So many digits of a time are kept; the rest is cut off.
const DIGITS: u32 = 3;

/// How often answers took how many milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(BTreeMap<i64, u64>);

impl Times {
    /// Counts one answer.
    pub fn add(&mut self, ms: i64) {
        *self.0.entry(coarse(ms)).or_default() += 1;
    }

    /// Counts all that others counted.
    pub fn add_all(&mut self, others: &Times) {
        for (ms, count) in &others.0 {
            *self.0.entry(*ms).or_default() += count;
        }
    }

    /// How many answers there were.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The time that half of the answers did not take.
    pub fn median(&self) -> Option<i64> {
        let middle = self.count() / 2;
        let mut passed = 0;
        self.0.iter().find_map(|(ms, count)| {
            passed += count;
            (passed > middle).then_some(*ms)
        })
    }

    /// Each time with how often it was taken, the shortest first.
    pub fn each(&self) -> impl Iterator<Item = (i64, u64)> {
        self.0.iter().map(|(ms, count)| (*ms, *count))
    }
}

/// A time without its last digits, so that there are few different ones.
fn coarse(ms: i64) -> i64 {
    let more = ms.checked_ilog10().map_or(0, |digits| (digits + 1).saturating_sub(DIGITS));
    let step = 10_i64.pow(more);
    ms / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_time_in_the_middle() {
        let mut times = Times::default();
        assert_eq!(times.median(), None);
        for ms in [7, 1, 5] {
            times.add(ms);
        }
        assert_eq!((times.median(), times.count()), (Some(5), 3));
        times.add(900);
        assert_eq!(times.median(), Some(7), "of an even number the later one");
    }

    #[test]
    fn any_number_of_answers_is_held_in_few_counts() {
        let mut times = Times::default();
        for number in 0..200_000_i64 {
            times.add(number * number);
        }
        times.add(i64::MAX);
        assert_eq!(times.count(), 200_001);
        assert!(times.0.len() < 9000, "{} counts", times.0.len());
        assert_eq!(times.median(), Some(10_000_000_000));
    }

    #[test]
    fn three_digits_stay() {
        let cases = [(0, 0), (999, 999), (1000, 1000), (1234, 1230), (59_999, 59_900)];
        for (ms, want) in cases {
            assert_eq!(coarse(ms), want, "{ms}");
        }
    }
}
