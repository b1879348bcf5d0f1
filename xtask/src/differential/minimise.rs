//! Minimising: the smallest text that still shows a failure.
//!
//! Runs of lines, pieces and bytes are left out as long as the failure stays, the longest runs
//! first; then brackets are left out in pairs, and runs and words become `a`. Two failures with
//! one cause mostly end as the same text.

use super::mutate::pieces;

/// How often the question may be asked for one text.
const PATIENCE: usize = 20_000;

/// Pairs of pieces are only tried in texts with fewer pieces than this.
const LONGEST: usize = 70;

/// Makes `text` as small as it gets while `fails` holds.
pub fn minimise(
    text: &[u8],
    fails: &mut impl FnMut(&[u8]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u8>> {
    let mut asked = 0;
    let mut fails = |text: &[u8]| -> anyhow::Result<bool> {
        asked += 1;
        Ok(asked <= PATIENCE && fails(text)?)
    };
    let mut best = text.to_vec();
    loop {
        let before = best.clone();
        let lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
        best = leave_out(&lines, &mut fails)?;
        let current = best.clone();
        best = leave_out(&pieces(&current), &mut fails)?;
        let current = best.clone();
        let bytes: Vec<&[u8]> = current.chunks(1).collect();
        best = leave_out(&bytes, &mut fails)?;
        best = leave_out_pairs(&best, &mut fails)?;
        best = simplify(&best, &mut fails)?;
        if best == before {
            return Ok(best);
        }
    }
}

/// Leaves out runs of elements, from half of them down to single ones.
fn leave_out(
    elements: &[&[u8]],
    fails: &mut impl FnMut(&[u8]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u8>> {
    let mut kept = elements.to_vec();
    let mut run = kept.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        while start < kept.len() {
            let mut shorter = kept.clone();
            shorter.drain(start..(start + run).min(kept.len()));
            if fails(&shorter.concat())? {
                kept = shorter;
            } else {
                start += run;
            }
        }
        if run == 1 {
            return Ok(kept.concat());
        }
        run = run.div_ceil(2);
    }
}

/// Leaves out two pieces that need each other, or puts `a` in the place of all from one to the
/// other.
fn leave_out_pairs(
    text: &[u8],
    fails: &mut impl FnMut(&[u8]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u8>> {
    let mut kept: Vec<&[u8]> = pieces(text);
    if kept.len() > LONGEST {
        return Ok(text.to_vec());
    }
    let mut first = 0;
    'first: while first < kept.len() {
        for last in (first + 1..kept.len()).rev() {
            let mut shorter = kept.clone();
            shorter.splice(first..=last, [&b"a"[..]]);
            if fails(&shorter.concat())? {
                kept = shorter;
                continue 'first;
            }
            let mut shorter = kept.clone();
            shorter.remove(last);
            shorter.remove(first);
            if fails(&shorter.concat())? {
                kept = shorter;
                continue 'first;
            }
        }
        first += 1;
    }
    Ok(kept.concat())
}

/// Puts something plainer in the place of a word, a newline or a run of blanks.
fn simplify(
    text: &[u8],
    fails: &mut impl FnMut(&[u8]) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<u8>> {
    let mut elements: Vec<Vec<u8>> = pieces(text).iter().map(|piece| piece.to_vec()).collect();
    for index in 0..elements.len() {
        let Some(original) = elements.get(index).cloned() else { continue };
        let plainer: &[&[u8]] = match original.first() {
            Some(b'a' | b' ') if original.len() == 1 => &[],
            Some(b'\n') => &[b";", b" "],
            Some(b'\t' | b' ') => &[b" "],
            Some(byte) if byte.is_ascii_alphanumeric() || *byte >= 0x80 || *byte == b'_' => &[b"a"],
            _ => &[],
        };
        for choice in plainer {
            if let Some(element) = elements.get_mut(index) {
                *element = choice.to_vec();
            }
            if fails(&elements.concat())? {
                break;
            }
            if let Some(element) = elements.get_mut(index) {
                element.clone_from(&original);
            }
        }
    }
    Ok(elements.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() -> anyhow::Result<()> {
        let text = b"first line\nif true; then echo \"${x:-(}\" >file; fi\nlast line\n";
        let mut fails = |text: &[u8]| Ok(text.windows(2).any(|pair| pair == b"-("));
        assert_eq!(minimise(text, &mut fails)?, b"-(");
        let mut never = |_: &[u8]| Ok(false);
        assert_eq!(minimise(text, &mut never)?, text);
        Ok(())
    }
}
