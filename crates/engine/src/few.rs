//! A few: a list that needs no allocation while it is short.

use std::fmt;
use std::ops::Deref;

/// A list of which the first `N` stand in place.
#[derive(Clone)]
pub struct Few<T, const N: usize> {
    inline: [T; N],
    len: usize,
    /// All of them, once they are more.
    spill: Vec<T>,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// No members; `filler` stands where they will.
    pub(crate) const fn new(filler: T) -> Few<T, N> {
        Few { inline: [filler; N], len: 0, spill: Vec::new() }
    }

    pub(crate) fn push(&mut self, member: T) {
        if let Some(place) = self.inline.get_mut(self.len) {
            *place = member;
        } else {
            if self.spill.is_empty() {
                self.spill.extend_from_slice(&self.inline);
            }
            self.spill.push(member);
        }
        self.len += 1;
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Few<T, N> {
        Few::new(T::default())
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Few<T, N> {
        let mut few = Few::default();
        for member in members {
            few.push(member);
        }
        few
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.inline.get(..self.len).unwrap_or(&self.spill)
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Few<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn members_stay_in_order_when_they_become_many() {
        let mut few: Few<usize, 2> = Few::new(0);
        for member in 0..5 {
            assert_eq!(&*few, (0..member).collect::<Vec<_>>());
            few.push(member);
        }
        assert_eq!(format!("{few:?}"), "[0, 1, 2, 3, 4]");
    }
}
