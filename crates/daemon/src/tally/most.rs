//! What came most often, of names that others choose: counted in bounded memory.

use std::collections::HashMap;

/// So many names are kept; of more those that came least often are forgotten.
const MOST_NAMES: usize = 4096;

/// Counts of names, each with something that is told beside it.
#[derive(Debug)]
pub struct Most<T>(HashMap<String, (u64, T)>);

impl<T> Default for Most<T> {
    fn default() -> Most<T> {
        Most(HashMap::new())
    }
}

impl<T> Most<T> {
    /// Counts a name once more, and gives what is told beside it.
    pub fn add(&mut self, name: &str, new: impl FnOnce() -> T) -> &mut T {
        if !self.0.contains_key(name) && self.0.len() >= MOST_NAMES {
            self.forget();
        }
        let (count, beside) = self.0.entry(name.to_owned()).or_insert_with(|| (0, new()));
        *count += 1;
        beside
    }

    /// How often a name came, as far as that is known.
    pub fn count(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |(count, _)| *count)
    }

    /// All names, what came most often first, and of those that came as often the longer one:
    /// of rules it is the narrower.
    pub fn sorted(&self) -> Vec<(&str, u64, &T)> {
        let mut names: Vec<_> =
            self.0.iter().map(|(name, (count, beside))| (name.as_str(), *count, beside)).collect();
        names.sort_by(|a, b| (b.1, b.0.len(), a.0).cmp(&(a.1, a.0.len(), b.0)));
        names
    }

    /// Forgets at least half of the names: those that came least often.
    fn forget(&mut self) {
        let mut counts: Vec<u64> = self.0.values().map(|(count, _)| *count).collect();
        counts.sort_unstable();
        let middle = counts.get(counts.len() / 2).copied().unwrap_or_default();
        self.0.retain(|_, (count, _)| *count > middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_often_is_kept_among_any_number_of_names() {
        let mut most = Most::default();
        for number in 0..50_000 {
            *most.add(&format!("once-{number}"), String::new) = "seen".to_owned();
            if number % 10 == 0 {
                most.add("often", String::new);
            }
        }
        assert!(most.0.len() <= MOST_NAMES, "{} names", most.0.len());
        let first = most.sorted().remove(0);
        assert_eq!((first.0, first.1), ("often", 5000));
        assert_eq!(most.count("often"), 5000);
        assert_eq!(most.count("never"), 0);
    }

    #[test]
    fn of_names_that_came_as_often_the_longer_is_first() {
        let mut most = Most::default();
        for name in ["npm", "npm run", "git", "npm run"] {
            most.add(name, || ());
        }
        let names: Vec<&str> = most.sorted().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["npm run", "git", "npm"]);
    }
}
