//! The tally: how many passed and how many failed, read from what test runners say.

/// How many checks passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
}

impl Tally {
    /// One check.
    pub fn of(passed: bool) -> Tally {
        Tally { passed: usize::from(passed), failed: usize::from(!passed) }
    }

    /// Adds the counts of another one.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Adds up the result lines of `cargo test` or the summary of `cargo nextest`.
pub fn read(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines().map(str::trim) {
        let counts = match (line.strip_prefix("test result: "), line.split_once(" tests run: ")) {
            (Some(counts), _) => counts,
            (None, Some((head, counts))) if head.starts_with("Summary") => counts,
            // nextest says `1 test run` when there is only one.
            _ => match line.split_once(" test run: ") {
                Some((head, counts)) if head.starts_with("Summary") => counts,
                _ => continue,
            },
        };
        tally.passed += number_before(counts, "passed");
        for bad in ["failed", "timed out", "exec failed"] {
            tally.failed += number_before(counts, bad);
        }
    }
    tally
}

/// The number in front of `word`, where the counts are separated by commas or semicolons.
fn number_before(counts: &str, word: &str) -> usize {
    counts
        .split([',', ';', '.', '(', ')'])
        .filter_map(|count| count.trim().strip_suffix(word))
        .find_map(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_both_runners_are_understood() {
        #[rustfmt::skip]
        let cases = [
            ("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s", 12, 0),
            ("test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured",                                11, 1),
            ("test result: ok. 1 passed; 0 failed\ntest result: ok. 2 passed; 0 failed",                        3, 0),
            ("     Summary [   0.004s] 3 tests run: 3 passed, 0 skipped",                                       3, 0),
            ("     Summary [   0.004s] 1 test run: 1 passed, 4 skipped",                                        1, 0),
            ("     Summary [   1.004s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 0 skipped",       6, 3),
            ("     Summary [   1.004s] 9/20 tests run: 8 passed (2 leaky), 1 exec failed, 0 skipped",           8, 1),
            ("error: could not compile `portcullis-shell`",                                                     0, 0),
            ("a test prints: 5 tests run: 5 passed",                                                            0, 0),
        ];
        for (output, passed, failed) in cases {
            assert_eq!(read(output), Tally { passed, failed }, "`{output}`");
        }
    }
}
