//! A verdict on one line: the answer, the sentence, the code, the tier.

use std::io::{self, Write};

use portcullis_engine::Verdict;

use crate::escape;
use crate::palette::{Ink, Palette};

/// Writes the line.
pub fn verdict(out: &mut impl Write, verdict: &Verdict, palette: Palette) -> io::Result<()> {
    let outcome = palette.paint(Ink::from(verdict.outcome), verdict.outcome.name());
    let tier = verdict.tier.name();
    match verdict.reasons.first() {
        Some(reason) => {
            let message = escape::line(reason.message.as_bytes());
            let code = palette.paint(Ink::Frame, &format!("({}, {tier})", reason.code));
            writeln!(out, "{outcome}: {message} {code}")
        }
        None => writeln!(out, "{outcome} ({tier})"),
    }
}
