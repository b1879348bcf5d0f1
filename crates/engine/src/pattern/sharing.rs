//! Whether a pattern of a command and one of a rule may name the same file.
//!
//! Only what is stricter than the mode looks at this: what a pattern of a command fits is known
//! when it runs, and a rule that denies holds for each file that it may be.

use crate::glob;
use crate::pattern::path::{Segment, names};
use crate::sensitive::share_a_name;

/// One part of a rule's pattern.
#[derive(Clone, Copy, Debug)]
pub enum Listed<'a> {
    /// This very name.
    Name(&'a str),
    /// One name that fits.
    Fits(&'a str),
    /// One name that ends so.
    Ends(&'a str),
    /// Any number of names.
    Deep,
}

impl<'a> From<&'a Segment> for Listed<'a> {
    fn from(segment: &'a Segment) -> Listed<'a> {
        match segment {
            Segment::Literal(name) => Listed::Name(name),
            Segment::Fits(glob) => Listed::Fits(glob),
            Segment::Deep => Listed::Deep,
        }
    }
}

/// Whether a name is a pattern for several.
#[must_use]
pub fn is_open(name: &str) -> bool {
    name.contains(['*', '?', '[', '\\'])
}

/// Whether some file fits both; where `is_deep` is set, what lies below a file that the first one
/// fits counts as that file.
#[must_use]
pub fn may_share(given: &[&str], listed: &[Listed<'_>], is_deep: bool) -> bool {
    // Row by row from the end: whether the rest of one and the rest of the other may share.
    let mut row: Vec<bool> = vec![is_deep; listed.len()];
    // What a rule names at any depth is not reached before one of its names is met.
    let floats = matches!(listed, [Listed::Deep, ..]);
    if floats {
        row.iter_mut().take(2).for_each(|cell| *cell = false);
    }
    row.push(true);
    for (at, name) in given.iter().enumerate().rev() {
        // Where the shell says so, it stands for directories too.
        let is_any = *name == "**";
        // `src/*` means what lies there, and none of the names that a rule has for any directory.
        let says_nothing = floats && name.bytes().all(|byte| byte == b'*');
        let mut above = vec![false; listed.len() + 1];
        for (place, part) in listed.iter().enumerate().rev() {
            let get = |row: &[bool], place: usize| row.get(place).copied().unwrap_or(false);
            let is_shared = match part {
                Listed::Deep if place + 1 == listed.len() => at < given.len(),
                Listed::Deep => get(&above, place + 1) || get(&row, place),
                _ if says_nothing => false,
                _ if is_any => get(&above, place + 1) || get(&row, place) || get(&row, place + 1),
                Listed::Name(text) => {
                    is_shown(name, text) && glob::matches(name, text) && get(&row, place + 1)
                }
                Listed::Fits(text) => {
                    is_shown(name, text) && meets(name, text) && get(&row, place + 1)
                }
                Listed::Ends(end) => meets(name, &format!("*{end}")) && get(&row, place + 1),
            };
            if let Some(cell) = above.get_mut(place) {
                *cell = is_shared;
            }
        }
        row = above;
    }
    row.first().copied().unwrap_or(false)
}

/// The directory, with any name in it, below which a pattern looks for a name everywhere: of
/// `src/**/*.py` that is `src`. None for one that says nothing of the names.
#[must_use]
pub fn searched<'g>(given: &[&'g str]) -> Option<Vec<&'g str>> {
    const SOME: &str = "\u{1}";
    let deep = given.iter().position(|name| *name == "**")?;
    let (start, behind) = given.split_at_checked(deep)?;
    let says = |name: &&str| name.bytes().any(|byte| !matches!(byte, b'*' | b'?'));
    let is_told = behind.last().is_some_and(says);
    is_told.then(|| start.iter().copied().chain([SOME]).collect())
}

/// Whether two patterns for one name may meet. Of two that only say how names end, one must fit
/// the plainest name of the other: `*.rs` is not meant by `*.t*`, though `a.t.rs` fits both. Who
/// leaves the end open means a listed end only where he begins to write it: `*.p*` means `*.pem`,
/// and `src/*` means what lies there and no kind of file.
fn meets(given: &str, listed: &str) -> bool {
    let is_plain = |end: &str| !end.is_empty() && !is_open(end);
    match (given.strip_prefix('*'), listed.strip_prefix('*')) {
        (_, Some(end)) if is_plain(end) && given.ends_with('*') => {
            let begun = given.trim_end_matches('*');
            let mut begins = end.char_indices().map(|(at, _)| end.get(..at).unwrap_or_default());
            // A dot alone begins any ending.
            begins.any(|begin| begin.len() > 1 && begun.ends_with(begin)) || begun.ends_with(end)
        }
        (Some(end), Some(_)) if is_plain(end) => glob::matches(listed, &format!("x{end}")),
        (Some(_), Some(end)) if is_plain(end) => glob::matches(given, &format!("x{end}")),
        (_, Some(core)) if core.strip_suffix('*').is_some_and(is_plain) => {
            share_a_name(given, listed) && comes_near(given, core.trim_end_matches('*'))
        }
        _ => share_a_name(given, listed),
    }
}

/// Whether a pattern writes some of a word that a name holds: all of it, where it begins or ends
/// at a star, or a part of it between two.
fn comes_near(given: &str, core: &str) -> bool {
    let runs: Vec<&str> = given.split(['*', '?', '[', ']']).collect();
    let last = runs.len().saturating_sub(1);
    runs.iter().enumerate().any(|(at, run)| {
        let begins = |len: usize| core.get(..len).is_some_and(|begin| run.ends_with(begin));
        let ends = |from: usize| core.get(from..).is_some_and(|end| run.starts_with(end));
        let is_part = run.len() > 1 && core.contains(run);
        run.contains(core)
            || at < last && (2..core.len()).any(begins)
            || at > 0 && (1..core.len().saturating_sub(1)).any(ends)
            || at > 0 && at < last && is_part
    })
}

/// Whether a pattern names hidden files, if the other names one: a star does not begin them.
fn is_shown(given: &str, listed: &str) -> bool {
    !listed.starts_with('.') || !given.starts_with(['*', '?', '['])
}

/// What a pattern says below a directory that its first parts may name.
#[must_use]
pub fn behind(pattern: &str, base: &str) -> Option<String> {
    let mut given = names(pattern);
    for name in names(base) {
        let part = given.next()?;
        if part != name && !(is_shown(part, name) && glob::matches(part, name)) {
            return None;
        }
    }
    let rest: Vec<&str> = given.collect();
    (!rest.is_empty()).then(|| rest.join("/"))
}

/// Whether a pattern may name a directory or one above it.
#[must_use]
pub fn is_above(pattern: &str, base: &str) -> bool {
    let mut parts = names(base);
    names(pattern).all(|given| {
        parts.next().is_some_and(|name| {
            given == name || is_shown(given, name) && glob::matches(given, name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{behind, is_above, may_share};
    use crate::pattern::path::{PathGlob, Reach, names};

    #[test]
    fn patterns_share_what_both_may_name() {
        #[rustfmt::skip]
        let cases = [
            ("sec*/x",   "secret/**",    false, true),  ("*/x",     "secret/**",    false, true),
            ("*",        "secret/**",    false, false), ("*",       "secret/**",    true,  true),
            ("*/x",      ".ssh/**",      false, false), (".s*/x",   ".ssh/**",      false, true),
            ("src/*",    "secret/**",    true,  false), ("*.p*",    "**/*.pem",     false, true),
            ("*.md",     "**/*.pem",     false, false), ("*",       "**/*.pem",     false, false),
            ("*.p?m",    "**/*.pem",     false, true),  ("a.*",     "**/*.pem",     false, false),
            ("a.pem*",   "**/*.pem",     false, true),  ("Make*",   "**/*.pem",     false, false),
            ("src/*",    "src/*.pem",    false, false), ("src/*.p*","src/*.pem",    false, true),
            ("*.js",     "**/.ssh/**",   true,  false), ("*.rs",    "*.t*",         false, false),
            (".ss?",     "**/.ssh/**",   true,  true),  ("*.tar.gz","**/*.gz",      false, true),
            ("a/*/c",    "**/b/**",      false, false), ("a/b*/c",  "**/b/**",      false, true),
            ("a/*",      "**/b/**",      true,  false), ("b/*",     "**/b/**",      true,  true),
            ("a*.txt",   "**/*cred*",    false, false), ("cr*.txt", "**/*cred*",    false, true),
            ("*red*",    "**/*cred*",    false, true),  ("my-cr*",  "**/*cred*",    false, true),
            ("**/*.md",  "b/**",         false, true),
            ("a/*",      "a/b",          false, true),  ("a/*",     "a/b/c",        false, false),
            ("a/*",      "a/b/c",        true,  true),  ("x/**/y",  "x/a/b/y",      false, true),
            ("x/*/y",    "x/*/z",        false, false), ("x/?",     "x/ab",         false, false),
            ("a\\*",     "a*",           false, true),  ("lib/*.rs","**/gen/*.rs",  false, false),
        ];
        for (given, listed, is_deep, want) in cases {
            let glob = PathGlob::parse(listed, Reach::Root).unwrap();
            let listed_parts: Vec<_> = glob.segments.iter().map(Into::into).collect();
            let given_parts: Vec<&str> = names(given).collect();
            let shares = may_share(&given_parts, &listed_parts, is_deep);
            assert_eq!(shares, want, "`{given}` and `{listed}`, deep: {is_deep}");
        }
    }

    #[test]
    fn a_pattern_may_name_the_directories_above() {
        assert_eq!(behind("/home/*/proj/a*", "/home/dev/proj").as_deref(), Some("a*"));
        assert_eq!(behind("/home/*/other/a*", "/home/dev/proj"), None);
        assert_eq!(behind("/home/*", "/home/dev/proj"), None);
        assert!(is_above("/home/*", "/home/dev/proj") && !is_above("/h/*", "/home/dev/proj"));
    }
}
