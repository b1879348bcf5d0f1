//! The nearest known name: what somebody probably meant.

/// The name among `known` that is closest to `name`, if one is close enough to be meant.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let most = name.chars().count().div_ceil(3).max(1);
    known
        .iter()
        .map(|candidate| (distance(name, candidate), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().take(64).collect();
    let to: Vec<char> = to.chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let at =
                |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, column) + usize::from(letter != other);
            let mut best = replaced.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let is_swap = row > 0
                && column > 0
                && from.get(row - 1) == Some(other)
                && to.get(column - 1) == Some(letter);
            if is_swap {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_close_is_meant() {
        let known = ["command", "cwd", "home", "input", "policy", "shell", "tool"];
        #[rustfmt::skip]
        let cases = [
            ("comand",   Some("command"), "a letter is missing"),
            ("plicoy",   Some("policy"),  "letters are swapped"),
            ("tools",    Some("tool"),    "a letter too many"),
            ("banana",   None,            "nothing is close"),
            ("",         None,            "nothing is nothing"),
        ];
        for (name, want, why) in cases {
            assert_eq!(nearest(name, &known), want, "`{name}`: {why}");
        }
    }
}
