//! Chance: a small seeded generator, so that every run can be repeated from its seed.
//!
//! The sequence is `SplitMix64`: a counter and a mixing of its bits. It is fast, has no state to
//! get wrong, and is not for secrets.

/// A source of numbers that is wholly decided by its seed.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// The sequence that belongs to `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Chance {
        Chance { state: seed }
    }

    /// A sequence of its own for the `index`-th of many texts, so that texts can be made in any
    /// order and on any thread and still be the same.
    #[must_use]
    pub fn split(seed: u64, index: u64) -> Chance {
        let mut chance = Chance::new(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        chance.next();
        chance
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`; zero where `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            return 0;
        }
        let wide = u128::from(self.next()) * bound as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// True `percent` times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the choices; the default where there is none.
    pub fn pick<T: Copy + Default>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len());
        choices.get(index).copied().unwrap_or_default()
    }

    /// Puts the elements into another order, every order alike.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut left, mut right) = (Chance::new(7), Chance::new(7));
        for _ in 0..100 {
            assert_eq!(left.next(), right.next());
        }
        assert_ne!(Chance::split(7, 0).next(), Chance::split(7, 1).next());
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut chance = Chance::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[chance.below(5)] = true;
            assert!((3..=4).contains(&chance.between(3, 4)));
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.pick::<u8>(&[]), 0);
    }

    #[test]
    fn shuffling_keeps_every_element() {
        let mut elements: Vec<usize> = (0..20).collect();
        Chance::new(3).shuffle(&mut elements);
        let mut sorted = elements.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert_ne!(elements, sorted);
    }
}
