//! Mutating: texts that are almost like others.
//!
//! A mutation works on pieces: runs of word bytes, runs of blanks, and single signs. What it
//! inserts comes from the signs shells look out for, so that most results are close to the
//! border between valid and invalid.

use super::generate::ODDITIES;
use crate::chance::Chance;

/// A longer text is cut to a few of its lines first.
const LONGEST: usize = 400;

/// One to four changes of `first`, some of which bring in a part of `second`.
pub fn mutate(chance: &mut Chance, first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut pieces = pieces(window(chance, first));
    let others = self::pieces(window(chance, second));
    for _ in 0..chance.between(1, 4) {
        change(chance, &mut pieces, &others);
    }
    pieces.concat()
}

/// The text in pieces: runs of word bytes, runs of blanks, and every other byte by itself.
pub fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | 0x80.. => 1,
        b' ' | b'\t' => 2,
        _ => 0,
    };
    text.chunk_by(|left, right| class(*left) != 0 && class(*left) == class(*right)).collect()
}

/// A few whole lines of a text.
fn window<'t>(chance: &mut Chance, text: &'t [u8]) -> &'t [u8] {
    if text.len() <= LONGEST {
        return text;
    }
    let start = chance.below(text.len());
    let start = text.get(..start).and_then(|before| before.iter().rposition(|byte| *byte == b'\n'));
    let rest = text.get(start.map_or(0, |newline| newline + 1)..).unwrap_or_default();
    let cut = rest.get(..chance.between(20, LONGEST)).unwrap_or(rest);
    let end = cut.iter().rposition(|byte| *byte == b'\n').unwrap_or(cut.len());
    cut.get(..end).unwrap_or(cut)
}

fn change<'t>(chance: &mut Chance, pieces: &mut Vec<&'t [u8]>, others: &[&'t [u8]]) {
    let at = chance.below(pieces.len() + 1);
    let odd = chance.pick(ODDITIES).as_bytes();
    let run = |chance: &mut Chance, len: usize| {
        let start = chance.below(len + 1);
        start..start + chance.between(0, 3).min(len - start)
    };
    match chance.below(16) {
        0..2 => drop(pieces.drain(run(chance, pieces.len()))),
        2..6 => pieces.insert(at, odd),
        6..8 => {
            if let Some(piece) = pieces.get_mut(at) {
                *piece = odd;
            }
        }
        8 => {
            let other = chance.below(pieces.len());
            if at < pieces.len() {
                pieces.swap(at, other);
            }
        }
        9 => {
            if let Some(piece) = pieces.get(at).copied() {
                pieces.insert(chance.below(pieces.len()), piece);
            }
        }
        10 => pieces.truncate(at),
        11 => drop(pieces.drain(..at.min(pieces.len()))),
        12 => {
            pieces.truncate(at);
            let from = chance.below(others.len() + 1);
            pieces.extend_from_slice(others.get(from..).unwrap_or_default());
        }
        13 => {
            let borrowed = run(chance, others.len());
            let borrowed = others.get(borrowed).unwrap_or_default().to_vec();
            pieces.splice(at..at, borrowed);
        }
        14 => wrap(chance, pieces, at),
        _ => {
            // Half of a piece: the border of what was read as one.
            if let Some(piece) = pieces.get_mut(at) {
                let half = chance.below(piece.len());
                *piece = piece.get(half..).unwrap_or_default();
            }
        }
    }
}

/// Puts brackets of some kind around a run of pieces.
fn wrap(chance: &mut Chance, pieces: &mut Vec<&[u8]>, at: usize) {
    const BRACKETS: &[(&str, &str)] = &[
        ("$(", ")"),
        ("`", "`"),
        ("\"", "\""),
        ("'", "'"),
        ("(", ")"),
        ("((", "))"),
        ("{ ", "; }"),
        ("${x:-", "}"),
        ("\"${x#", "}\""),
        ("[[ ", " ]]"),
        ("if ", "; then a; fi"),
        ("case a in ", " esac"),
        ("$((", "))"),
        ("<(", ")"),
        ("x=(", ")"),
        ("@(", ")"),
        ("<<E\n", "\nE\n"),
        ("while ", "; do a; done"),
        ("f() { ", "\n}"),
        ("${ ", ";}"),
    ];
    let (opener, closer) = chance.pick(BRACKETS);
    let end = (at + chance.between(0, 8)).min(pieces.len());
    pieces.insert(end, closer.as_bytes());
    pieces.insert(at.min(end), opener.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lose_nothing() {
        let text = b"for x in a.b  c; do\n\t\"$x\"&&y;done";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(b"ab  c;;"), [&b"ab"[..], b"  ", b"c", b";", b";"]);
    }

    #[test]
    fn a_mutation_is_decided_by_its_seed() {
        let mutated = |seed| mutate(&mut Chance::new(seed), b"a | b && c", b"if x; then y; fi");
        assert_eq!(mutated(5), mutated(5));
        assert!((0..20).any(|seed| mutated(seed) != mutated(seed + 1)));
        for seed in 0..2_000 {
            mutate(&mut Chance::new(seed), b"", b"");
            mutate(&mut Chance::new(seed), &b"long line\n".repeat(100), b"x");
        }
    }
}
