//! Patterns of paths, as other systems write them, in ours: `*` stays in a directory, `**` does not.

use portcullis_engine::Outcome;

use super::Fate;

/// The pattern of a file tool, as ours: paths like those of gitignore, made absolute or relative
/// to the workspace.
pub fn path_pattern(pattern: &str) -> String {
    // What begins with a dot and a slash lies right there.
    let (pattern, is_here) = match pattern.strip_prefix("./") {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (name, below) = match pattern.strip_suffix('/') {
        Some(directory) => (directory, "/**"),
        None => (pattern, ""),
    };
    // A slash inside anchors a pattern there; without one it means any depth.
    let is_anchored = is_here || name.contains('/') || name.starts_with("**");
    if is_anchored || name.starts_with('~') {
        format!("{name}{below}")
    } else {
        format!("**/{name}{below}")
    }
}

/// A pattern whose `*` crosses directories. What it allows gets narrower, what it denies or asks
/// about never does: several stars become one, and one that stands inside a name becomes two rules.
pub fn crossing(pattern: &str, outcome: Outcome) -> Vec<(String, Fate)> {
    let is_within = pattern.replace("**", "").contains('*');
    let stars = pattern.replace("**", "*");
    let (Some((head, rest)), Some((_, tail))) = (stars.split_once('*'), stars.rsplit_once('*'))
    else {
        return vec![(pattern.to_owned(), Fate::Exact)];
    };
    if outcome == Outcome::Allow {
        let fate = if is_within { Fate::Narrowed } else { Fate::Exact };
        return vec![(pattern.to_owned(), fate)];
    }
    let fate = if rest.contains('*') { Fate::Widened } else { Fate::Exact };
    let is_whole = head.is_empty() || head.ends_with('/');
    let patterns = match (is_whole, tail) {
        (true, "") => vec![format!("{head}**")],
        (true, tail) => vec![format!("{head}**/*{tail}")],
        (false, "") => vec![format!("{head}*"), format!("{head}*/**")],
        (false, tail) => vec![format!("{head}*{tail}"), format!("{head}*/**/*{tail}")],
    };
    patterns.into_iter().map(|pattern| (pattern, fate)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_that_crosses_directories_denies_no_less() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], Fate)] = &[
            ("x.py",        &["x.py"],                       Fate::Exact),
            ("*",           &["**"],                         Fate::Exact),
            ("*.env",       &["**/*.env"],                   Fate::Exact),
            ("src/*",       &["src/**"],                     Fate::Exact),
            ("src/**",      &["src/**"],                     Fate::Exact),
            ("src/*.py",    &["src/**/*.py"],                Fate::Exact),
            ("src*",        &["src*", "src*/**"],            Fate::Exact),
            ("a*b",         &["a*b", "a*/**/*b"],            Fate::Exact),
            ("src/*/t/*.py", &["src/**/*.py"],               Fate::Widened),
        ];
        for (pattern, want, fate) in cases {
            for outcome in [Outcome::Ask, Outcome::Deny] {
                let want: Vec<_> = want.iter().map(|it| ((*it).to_owned(), *fate)).collect();
                assert_eq!(crossing(pattern, outcome), want, "{pattern}");
            }
        }
        let allowed = |pattern: &str| crossing(pattern, Outcome::Allow).remove(0);
        assert_eq!(allowed("src/*.py"), ("src/*.py".to_owned(), Fate::Narrowed));
        assert_eq!(allowed("src/**"), ("src/**".to_owned(), Fate::Exact));
    }
}
