//! What would change in a file, line by line.

use std::io::{self, Write};
use std::path::Path;

/// So many lines around a change are shown.
const AROUND: usize = 3;

/// Shows the lines that differ between two texts, with a few around them.
pub fn show(out: &mut impl Write, path: &Path, before: &str, after: &str) -> io::Result<()> {
    if before == after {
        return writeln!(out, "`{}` stays as it is", path.display());
    }
    let name =
        |text: &str| if text.is_empty() { "/dev/null".into() } else { path.to_string_lossy() };
    writeln!(out, "--- {}\n+++ {}", name(before), name(after))?;
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count().min(most);
    let start = head.saturating_sub(AROUND);
    let lines = |texts: &[&str], from: usize, to: usize| -> Vec<String> {
        texts
            .iter()
            .skip(from)
            .take(to.saturating_sub(from))
            .map(|text| (*text).to_owned())
            .collect()
    };
    let behind = (old.len() - tail + AROUND).min(old.len());
    let (olds, news) = (behind - start, new.len() - tail - start + (behind - (old.len() - tail)));
    writeln!(out, "@@ -{},{olds} +{},{news} @@", start + 1, start + 1)?;
    for line in lines(&old, start, head) {
        writeln!(out, " {line}")?;
    }
    for line in lines(&old, head, old.len() - tail) {
        writeln!(out, "-{line}")?;
    }
    for line in lines(&new, head, new.len() - tail) {
        writeln!(out, "+{line}")?;
    }
    for line in lines(&old, old.len() - tail, behind) {
        writeln!(out, " {line}")?;
    }
    Ok(())
}
