//! Pieces of listed names: what a script could put one together from.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::{Access, Pattern, find, last, table};

/// Whether a text, or the last name of a path, is found in some listed pattern.
#[must_use]
pub fn is_in_a_name(text: &str) -> bool {
    let text = text.to_lowercase();
    let text = text.rsplit('/').next().unwrap_or_default();
    !text.is_empty()
        && has_pairs(text)
        && table::PATTERNS.iter().any(|pattern| pattern.pattern.contains(text))
}

/// Whether every two letters of a text stand beside one another in some listed pattern; most
/// texts have two that do not.
fn has_pairs(text: &str) -> bool {
    static PAIRS: OnceLock<BTreeSet<[u8; 2]>> = OnceLock::new();
    let pairs = PAIRS.get_or_init(|| {
        let texts = table::PATTERNS.iter().map(|pattern| pattern.pattern.as_bytes());
        texts.flat_map(|text| text.windows(2).filter_map(|pair| pair.try_into().ok())).collect()
    });
    text.as_bytes()
        .windows(2)
        .all(|pair| <[u8; 2]>::try_from(pair).is_ok_and(|pair| pairs.contains(&pair)))
}

/// Whether a text has in it what the name of a secret is recognised by.
#[must_use]
pub fn holds_a_name(text: &str) -> bool {
    let text = text.to_lowercase();
    let told = |pattern: &Pattern| {
        let name = pattern.segments.last().copied().unwrap_or_default();
        let told = name.split(['*', '?']).max_by_key(|part| part.len()).unwrap_or_default();
        told.len() >= SHORTEST_TOLD && text.contains(told)
    };
    table::PATTERNS.iter().filter(|pattern| pattern.reads).any(told)
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
