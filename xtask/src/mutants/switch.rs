//! A text with all its mutants in it: each function once for each of its mutants, behind a switch.
//!
//! `fn f() -> T { body }` becomes `fn f() -> T { match crate::mutant(7) { 7 => { body with mutant
//! 7 } … _ => { body } } }`, so that one build holds them all and a variable chooses.

use std::collections::BTreeMap;
use std::ops::Range;

use super::listing::{Mutant, Spot};

/// What a package needs beside its texts: the number of the mutant that counts, 0 for none. Where
/// a file is named, each place that asks leaves its number there, once for each line that a test
/// has written there.
pub const CHOICE: &str = r#"
#[doc(hidden)]
pub(crate) fn mutant(place: u32) -> u32 {
    use std::io::Write as _;
    use std::sync::{Mutex, OnceLock};
    struct Note {
        file: std::fs::File,
        length: u64,
        reached: std::collections::HashSet<u32>,
    }
    static CHOICE: OnceLock<(u32, Option<Mutex<Note>>)> = OnceLock::new();
    let (number, note) = CHOICE.get_or_init(|| {
        let number = std::env::var("PORTCULLIS_MUTANT").ok();
        let number = number.and_then(|text| text.parse().ok()).unwrap_or(0);
        let note = std::env::var_os("PORTCULLIS_REACHED").map(|path| {
            let file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            Mutex::new(Note { file, length: 0, reached: Default::default() })
        });
        (number, note)
    });
    if let Some(note) = note {
        let note = &mut *note.lock().unwrap();
        if note.file.metadata().unwrap().len() != note.length {
            note.reached.clear();
        }
        if note.reached.insert(place) {
            writeln!(note.file, "{place}").unwrap();
        }
        note.length = note.file.metadata().unwrap().len();
    }
    *number
}
"#;

/// A text with switches, and which part of it belongs to which mutant.
#[derive(Debug, Default)]
pub struct Switched {
    /// The text.
    pub text: String,
    /// The arms, by the number of their mutant.
    pub arms: Vec<Arm>,
}

/// What holds one mutant.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The number of the mutant; 0 for the text as it is.
    pub number: u32,
    /// The place that asks which mutant counts, by the number of its first one.
    pub place: u32,
    /// Where the arm stands in the text.
    pub part: Range<usize>,
}

/// A function that holds mutants.
struct Body<'a> {
    /// Where it begins behind its comments.
    head: usize,
    /// What stands between its braces.
    part: Range<usize>,
    mutants: Vec<(u32, &'a Mutant)>,
}

/// Whether a mutant can stand behind a switch: it is in a function, and what that returns has one
/// type whatever its body is.
pub fn may_switch(text: &str, mutant: &Mutant) -> bool {
    let returned = mutant.function.as_ref().map(|function| function.return_type.as_str());
    body(text, mutant).is_some()
        && returned.is_some_and(|returned| !returned.contains("impl ") || boxed(returned).is_some())
}

/// What a function returns that says only what its type can do, in a box: bodies may differ.
fn boxed(returned: &str) -> Option<String> {
    let trait_of = returned.strip_prefix("-> impl ").filter(|of| !of.contains("impl "))?;
    let lives = if trait_of.contains('+') { "" } else { " + '_" };
    Some(format!("Box<dyn {trait_of}{lives}>"))
}

/// Whether a mutant is in a constant function, which must lose that to ask a switch.
pub fn is_constant(text: &str, mutant: &Mutant) -> bool {
    let head = body(text, mutant).and_then(|(head, body)| text.get(head..body.start));
    head.is_some_and(|head| head.contains("const fn "))
}

/// Puts the mutants of one file into its text.
pub fn switch(text: &str, mutants: &[(u32, &Mutant)]) -> Switched {
    let mut bodies: BTreeMap<usize, Body<'_>> = BTreeMap::new();
    for (number, mutant) in mutants {
        if let Some((head, part)) = body(text, mutant) {
            let known = bodies.entry(part.start);
            let known = known.or_insert_with(|| Body { head, part, mutants: Vec::new() });
            known.mutants.push((*number, mutant));
        }
    }
    let mut switched = Switched::default();
    let mut done = 0;
    for Body { head, part: body, mutants } in bodies.into_values() {
        // A function inside another is switched with the outer one's own text only.
        if head < done {
            continue;
        }
        let original = text.get(body.clone()).unwrap_or("");
        switched.text += text.get(done..head).unwrap_or("");
        switched.text += &text.get(head..body.start).unwrap_or("").replacen("const fn ", "fn ", 1);
        let (place, first) = mutants.first().map_or((0, None), |(at, first)| (*at, Some(first)));
        let function = first.and_then(|first| first.function.as_ref());
        let boxed = function.and_then(|function| boxed(&function.return_type));
        switched.text += &[" match crate::mutant(", &place.to_string(), ") {\n"].concat();
        let mut add = |label: &str, number: u32, text: &str| {
            let begin = switched.text.len();
            switched.text += &match &boxed {
                Some(boxed) => {
                    [label, " => {\nBox::new({", text, "}) as ", boxed, "\n}\n"].concat()
                }
                None => [label, " => {\n", text, "\n}\n"].concat(),
            };
            let part = begin..switched.text.len();
            switched.arms.push(Arm { number, place, part });
        };
        for (number, mutant) in mutants {
            if let Some(changed) = apply(text, mutant, &body) {
                add(&number.to_string(), number, &changed);
            }
        }
        add("_", 0, original);
        switched.text += "}\n";
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
        let function = Function {
            path: "larger".to_owned(),
            span: span_of([1, 1, 4, 2]),
            return_type: "-> bool".to_owned(),
        };
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
            "/// Says `fn {`. fn larger(a: u8, b: u8) -> bool { match crate::mutant(7) { \
             7 => { true } 8 => { a < b } _ => { a > b } } } fn last() {}"
        );
        let arm = &switched.arms[1];
        assert_eq!((arm.number, arm.place), (8, 7));
        let part = switched.text.get(arm.part.clone()).unwrap();
        assert_eq!(part, "8 => {\n\n    a  <  b\n\n}\n");
    }

    #[test]
    fn a_constant_function_loses_that() {
        let text = TEXT.replace("fn larger", "const fn larger");
        let mutant = mutant([3, 5, 3, 10], "true");
        assert!(is_constant(&text, &mutant) && !is_constant(TEXT, &mutant));
        assert!(switch(&text, &[(7, &mutant)]).text.contains("\nfn larger("));
        assert!(alone(&text, &mutant).unwrap().contains("{\n     true \n}"));
    }

    #[test]
    fn bodies_of_several_types_stand_in_boxes() {
        assert_eq!(
            boxed("-> impl Iterator<Item = u8>").as_deref(),
            Some("Box<dyn Iterator<Item = u8> + '_>")
        );
        assert_eq!(boxed("-> impl Fn(u8)+'a").as_deref(), Some("Box<dyn Fn(u8)+'a>"));
        assert_eq!(boxed("-> Option<impl Fn()>"), None);
    }
}
