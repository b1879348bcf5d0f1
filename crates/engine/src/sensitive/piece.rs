//! Pieces of listed names: what a script could put one together from.

use std::sync::OnceLock;

use super::hint::Letters;
use super::{Access, Pattern, find, last, table};

/// Whether a text, or the last name of a path, is found in some listed pattern.
#[must_use]
pub fn is_in_a_name(text: &str) -> bool {
    let text = text.to_lowercase();
    let begin = text.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let text = text.get(begin..).unwrap_or_default();
    !text.is_empty() && has_runs(text) && listed().contains(text)
}

/// All listed patterns, one per line.
fn listed() -> &'static str {
    static LISTED: OnceLock<String> = OnceLock::new();
    LISTED.get_or_init(|| {
        let patterns: Vec<&str> = table::PATTERNS.iter().map(|pattern| pattern.pattern).collect();
        patterns.join("\n")
    })
}

/// Whether the end of one text and the beginning of another stand beside one another in some
/// listed pattern, or a sign of a pattern stands there.
#[must_use]
pub fn may_meet(first: &str, second: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, b'*' | b'?' | b'[' | b']');
    match (first.bytes().next_back(), second.bytes().next()) {
        (Some(end), Some(begin)) => {
            let run = [end.to_ascii_lowercase(), begin.to_ascii_lowercase()];
            is_sign(end) || is_sign(begin) || has_run(&run)
        }
        _ => false,
    }
}

/// Whether every three letters of a text, or its two, stand so in some listed pattern; most texts
/// have some that do not.
fn has_runs(text: &str) -> bool {
    text.as_bytes().windows(text.len().clamp(1, 3)).all(|run| run.len() < 2 || has_run(run))
}

/// Whether two or three letters stand so in some listed pattern, or perhaps do.
fn has_run(run: &[u8]) -> bool {
    static RUNS: OnceLock<Box<[u64]>> = OnceLock::new();
    let runs = RUNS.get_or_init(|| {
        let mut runs = vec![0; 1 << 10].into_boxed_slice();
        let texts = table::PATTERNS.iter().map(|pattern| pattern.pattern.as_bytes());
        for run in texts.flat_map(|text| text.windows(2).chain(text.windows(3))) {
            let (at, bit) = mark(run);
            runs.get_mut(at).into_iter().for_each(|word| *word |= bit);
        }
        runs
    });
    let (at, bit) = mark(run);
    runs.get(at).is_some_and(|word| word & bit != 0)
}

/// The place of a run of letters among 65,536.
fn mark(run: &[u8]) -> (usize, u64) {
    let mixed = run.iter().fold(0_u32, |mixed, byte| {
        (mixed ^ u32::from(*byte)).wrapping_mul(0x9E37_79B1).rotate_left(9)
    });
    let place = mixed >> 16;
    (usize::try_from(place >> 6).unwrap_or_default(), 1 << (place & 63))
}

/// Whether a text has in it what the name of a secret is recognised by.
#[must_use]
pub fn holds_a_name(text: &str) -> bool {
    let text = text.to_lowercase();
    let letters = Letters::of(&text);
    // Most texts lack some letter of each.
    told().iter().any(|(demanded, told)| letters.hold(*demanded) && text.contains(told))
}

/// What the names of secrets are recognised by, each with its letters.
fn told() -> &'static [(Letters, &'static str)] {
    static TOLD: OnceLock<Box<[(Letters, &str)]>> = OnceLock::new();
    TOLD.get_or_init(|| {
        let secrets = table::PATTERNS.iter().filter(|pattern| pattern.reads);
        let names = secrets.filter_map(|pattern| pattern.segments.last());
        let told = names.filter_map(|name| name.split(['*', '?']).max_by_key(|part| part.len()));
        let told = told.filter(|told| told.len() >= SHORTEST_TOLD);
        told.map(|told| (Letters::of(told), told)).collect()
    })
}

/// Whether the name of a secret may end so.
#[must_use]
pub fn may_end(ending: &str) -> bool {
    let ending = ending.to_lowercase();
    let name = last(&ending);
    if ending.contains('/') {
        return find(&format!("/-/{name}"), Access::Read).is_some();
    }
    let ends = |pattern: &Pattern| {
        let listed = pattern.segments.last().copied().unwrap_or_default();
        let tail = listed.rsplit(['*', '?']).next().unwrap_or_default();
        if !tail.is_empty() {
            return name.ends_with(tail) || tail.ends_with(name);
        }
        // Behind its beginning anything may follow.
        let head = listed.split(['*', '?']).next().unwrap_or_default();
        let mut begun = (0..head.len().saturating_sub(1)).filter_map(|at| head.get(at..));
        begun.any(|rest| name.starts_with(rest))
    };
    table::PATTERNS.iter().filter(|pattern| pattern.reads).any(ends)
}

/// Less than this does not tell the name of a secret.
const SHORTEST_TOLD: usize = 4;
