//! Keyed hashing of the words of rules: short texts, looked up many times for each act.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Hashes with a key of its own, so that nobody can write rules whose words all meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Keyed {
        Keyed(RandomState::new().hash_one(0_u8))
    }
}

impl BuildHasher for Keyed {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed { key: self.0, mixed: self.0 }
    }
}

/// What was hashed so far: each eight bytes are multiplied by something that only the key tells.
pub(super) struct Mixed {
    key: u64,
    mixed: u64,
}

impl Mixed {
    fn mix(&mut self, bytes: u64) {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(self.mixed ^ bytes) * u128::from((self.key ^ ODD) | 1);
        let [low, high] = [product, product >> 64].map(|half| half & u128::from(u64::MAX));
        self.mixed = u64::try_from(low ^ high).unwrap_or_default().wrapping_add(ODD);
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks();
        for eight in eights {
            self.mix(u64::from_le_bytes(*eight));
        }
        // The length tells apart what is filled up.
        let last = rest.iter().fold(bytes.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        self.mix(last);
    }

    fn write_u8(&mut self, _end: u8) {
        // What ends a text says no more than its length does.
    }

    fn finish(&self) -> u64 {
        self.mixed
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::Keyed;

    #[test]
    fn words_are_told_apart_by_every_byte_and_by_their_length() {
        let keyed = Keyed::default();
        let words = ["", "a", "b", "ab", "ba", "\0", "\0\0", "tool1 run", "tool2 run", "12345678"];
        for (at, one) in words.iter().enumerate() {
            assert_eq!(keyed.hash_one(one), keyed.hash_one(one), "`{one}`");
            for other in words.iter().skip(at + 1) {
                assert_ne!(keyed.hash_one(one), keyed.hash_one(other), "`{one}` and `{other}`");
            }
        }
    }
}
