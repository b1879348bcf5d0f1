//! A text with all its mutants in it: each function once for each of its mutants, behind a switch.
//!
//! `fn f() -> T { body }` becomes `fn f() -> T { match crate::mutant() { 7 => { body with mutant
//! 7 } … _ => { body } } }`, so that one build holds them all and a variable chooses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::listing::{Mutant, Spot};

/// What a package needs beside its texts: the number of the mutant that counts, 0 for none.
pub const CHOICE: &str = r#"
#[doc(hidden)]
pub(crate) fn mutant() -> u32 {
    static CHOICE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *CHOICE.get_or_init(|| {
        std::env::var("PORTCULLIS_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    })
}
"#;

/// A text with switches, and which part of it belongs to which mutant.
#[derive(Debug, Default)]
pub struct Switched {
    /// The text.
    pub text: String,
    /// The arms, by the number of their mutant.
    pub arms: Vec<(u32, Range<usize>)>,
}

/// What stands between the braces of a function, and the mutants in it.
struct Body<'a> {
    part: Range<usize>,
    mutants: Vec<(u32, &'a Mutant)>,
}

/// Whether a mutant can stand behind a switch. A constant function cannot ask which one counts,
/// and the bodies of one that returns `impl Trait` have different types.
pub fn may_switch(text: &str, mutant: &Mutant) -> bool {
    body(text, mutant).is_some_and(|body| {
        let head = text.get(body.0..body.1.start).unwrap_or("");
        !head.contains("const fn ")
            && mutant
                .function
                .as_ref()
                .is_some_and(|function| !function.return_type.contains("impl "))
    })
}

/// Puts the mutants of one file into its text.
pub fn switch(text: &str, mutants: &[(u32, &Mutant)]) -> Switched {
    let mut bodies: BTreeMap<usize, Body<'_>> = BTreeMap::new();
    for (number, mutant) in mutants {
        if let Some((_, body)) = body(text, mutant) {
            let known = bodies.entry(body.start);
            known
                .or_insert_with(|| Body { part: body, mutants: Vec::new() })
                .mutants
                .push((*number, mutant));
        }
    }
    let mut switched = Switched::default();
    let mut done = 0;
    for Body { part: body, mutants } in bodies.into_values() {
        // A function inside another is switched with the outer one's own text only.
        if body.start < done {
            continue;
        }
        let original = text.get(body.clone()).unwrap_or("");
        switched.text += text.get(done..body.start).unwrap_or("");
        switched.text += " match crate::mutant() {\n";
        for (number, mutant) in mutants {
            let Some(changed) = apply(text, mutant, &body) else { continue };
            let begin = switched.text.len();
            switched.text += &[&number.to_string(), " => {\n", &changed, "\n}\n"].concat();
            switched.arms.push((number, begin..switched.text.len()));
        }
        switched.text += &["_ => {\n", original, "\n}\n}\n"].concat();
        done = body.end;
    }
    switched.text += text.get(done..).unwrap_or("");
    switched
}

/// The whole text with one mutant in it.
pub fn alone(text: &str, mutant: &Mutant) -> Option<String> {
    apply(text, mutant, &(0..text.len()))
}

/// A part of the text with one mutant in it.
fn apply(text: &str, mutant: &Mutant, part: &Range<usize>) -> Option<String> {
    let (from, to) = (offset(text, mutant.span.start)?, offset(text, mutant.span.end)?);
    if from < part.start || to > part.end {
        return None;
    }
    let before = text.get(part.start..from)?;
    let behind = text.get(to..part.end)?;
    Some(format!("{before} {} {behind}", mutant.replacement))
}

/// Where the function of a mutant begins behind its comments, and what stands between its braces.
fn body(text: &str, mutant: &Mutant) -> Option<(usize, Range<usize>)> {
    let span = mutant.function.as_ref()?.span;
    let (begin, end) = (offset(text, span.start)?, offset(text, span.end)?);
    let mut at = begin;
    for line in text.get(begin..end)?.split_inclusive('\n') {
        let is_note = line.trim_start().starts_with("//") || line.trim_start().starts_with("#[");
        if !is_note && format!(" {line}").contains(" fn ") {
            let open = at + text.get(at..end)?.find('{')?;
            return Some((at, open + 1..end - 1));
        }
        at += line.len();
    }
    None
}

/// The byte at which a place lies.
fn offset(text: &str, spot: Spot) -> Option<usize> {
    let mut begin = 0;
    let mut lines = text.split_inclusive('\n');
    for _ in 1..spot.line {
        begin += lines.next()?.len();
    }
    let line = lines.next().unwrap_or("");
    let column = line.char_indices().nth(spot.column - 1).map_or(line.len(), |(at, _)| at);
    Some(begin + column)
}

#[cfg(test)]
mod tests {
    use super::super::listing::{Function, Span};
    use super::*;

    const TEXT: &str =
        "/// Says `fn {`.\nfn larger(a: u8, b: u8) -> bool {\n    a > b\n}\nfn last() {}\n";

    fn mutant(span: [usize; 4], replacement: &str) -> Mutant {
        let span_of = |[line, column, to_line, to_column]: [usize; 4]| Span {
            start: Spot { line, column },
            end: Spot { line: to_line, column: to_column },
        };
        let function = Function { span: span_of([1, 1, 4, 2]), return_type: "-> bool".to_owned() };
        Mutant {
            file: String::new(),
            name: String::new(),
            function: Some(function),
            span: span_of(span),
            replacement: replacement.to_owned(),
        }
    }

    #[test]
    fn every_mutant_has_its_arm() {
        let (whole, operator) = (mutant([3, 5, 3, 10], "true"), mutant([3, 7, 3, 8], "<"));
        assert!(may_switch(TEXT, &whole));
        let switched = switch(TEXT, &[(7, &whole), (8, &operator)]);
        let squeezed: Vec<&str> = switched.text.split_whitespace().collect();
        assert_eq!(
            squeezed.join(" "),
            "/// Says `fn {`. fn larger(a: u8, b: u8) -> bool { match crate::mutant() { \
             7 => { true } 8 => { a < b } _ => { a > b } } } fn last() {}"
        );
        let (number, arm) = &switched.arms[1];
        assert_eq!(
            (*number, switched.text.get(arm.clone()).unwrap()),
            (8, "8 => {\n\n    a  <  b\n\n}\n")
        );
    }

    #[test]
    fn what_is_constant_stands_alone() {
        let text = TEXT.replace("fn larger", "const fn larger");
        let mutant = mutant([3, 5, 3, 10], "true");
        assert!(!may_switch(&text, &mutant));
        assert!(alone(&text, &mutant).unwrap().contains("{\n     true \n}"));
    }
}
