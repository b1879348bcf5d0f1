//! Laws: what holds for every text.
//!
//! `portcullis_law` says how many texts are tried.

#![cfg(test)]

#[path = "laws/spans.rs"]
mod spans;
#[path = "laws/texts.rs"]
mod texts;

use portcullis_law::config;
use portcullis_shell::{
    Dialect, HazardKind, Kind, Reader, RefusalKind, Token, Tree, Value, hazards, print, scan,
};
use proptest::prelude::*;
use proptest::sample::select;

fn readers() -> impl Iterator<Item = Reader> {
    Dialect::ALL
        .into_iter()
        .flat_map(|dialect| [false, true].map(|extglob| Reader { extglob, ..Reader::new(dialect) }))
}

/// Reads a text in every way; what is read must have sound spans and survive printing.
fn hold_laws(text: &[u8]) -> Result<(), TestCaseError> {
    for reader in readers() {
        let Ok(tree) = reader.parse(text) else { continue };
        if let Err(wrong) = spans::check(&tree) {
            return Err(TestCaseError::fail(format!("{wrong}\n{}", show(text))));
        }
        let printed = print(&tree);
        let again = match reader.parse(&printed) {
            Ok(again) => again,
            Err(refusal) => {
                let printed = show(&printed);
                return Err(TestCaseError::fail(format!("{refusal}: {}\n{printed}", show(text))));
            }
        };
        prop_assert_eq!(tree.shape(), again.shape(), "{}\n{}", show(text), show(&printed));
    }
    Ok(())
}

/// Reads a text that bash reads; nothing where it is of a kind that is not read here.
fn sound(text: &str) -> Result<Option<Tree>, TestCaseError> {
    match Reader::new(Dialect::Bash).parse(text.as_bytes()) {
        Ok(tree) => Ok(Some(tree)),
        Err(refusal) if refusal.kind == RefusalKind::Unsupported => Ok(None),
        Err(refusal) => Err(TestCaseError::fail(format!("{refusal}: {}", show(text.as_bytes())))),
    }
}

fn show(text: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(text).escape_debug())
}

/// The values of the words of the first simple command.
fn values(tree: &Tree) -> Vec<Value<'_>> {
    let command = tree.commands().next().unwrap();
    let Kind::Simple(simple) = command.kind else { panic!("no simple command") };
    tree.list(simple.words).iter().map(|word| tree.value(word)).collect()
}

/// The programs of a tree that are known.
fn programs(tree: &Tree) -> Vec<Vec<u8>> {
    let mut programs = Vec::new();
    for command in tree.commands() {
        if let Kind::Simple(simple) = command.kind
            && let Some(word) = tree.only(simple.words)
            && let Value::Literal(program) = tree.value(word)
        {
            programs.push(program.to_vec());
        }
    }
    programs
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn reading_any_bytes_ends(text in texts::noise()) {
        hold_laws(&text)?;
        drop((hazards(&text), scan(&text)));
    }

    #[test]
    fn reading_any_tokens_ends(text in texts::soup()) {
        hold_laws(&text)?;
        drop((hazards(&text), scan(&text)));
    }

    #[test]
    fn every_sound_script_is_read_and_printed(text in texts::script()) {
        if let Some(tree) = sound(&text)? {
            prop_assert_eq!(tree.source(), text.as_bytes());
            hold_laws(text.as_bytes())?;
        }
    }

    #[test]
    fn a_command_behind_a_script_is_never_lost(text in texts::script()) {
        let text = format!("{text}\nportcullis-last x");
        let Some(tree) = sound(&text)? else { return Ok(()) };
        let found = programs(&tree).contains(&b"portcullis-last".to_vec());
        prop_assert!(found, "{}", show(text.as_bytes()));
    }

    #[test]
    fn requoting_a_word_keeps_its_value((value, spelling) in texts::spelled()) {
        let text = [b"echo ".as_slice(), &spelling].concat();
        let tree = Reader::new(Dialect::Bash).parse(&text).unwrap();
        let found = values(&tree);
        let expected: &[u8] = &value;
        prop_assert!(matches!(found[1], Value::Literal(found) if found == expected), "{}", show(&text));
    }

    #[test]
    fn every_known_program_is_also_found_by_the_scanner(text in texts::script()) {
        let Some(tree) = sound(&text)? else { return Ok(()) };
        let found = scan(text.as_bytes());
        let literal = |token: &Token, program: &[u8]| token.text == program;
        for program in programs(&tree) {
            let is_found = found.iter().any(|token| literal(token, &program));
            prop_assert!(is_found, "{} in {}", show(&program), show(text.as_bytes()));
        }
    }

    #[test]
    fn hazards_are_found_wherever_they_stand(
        before in "[a-z][ -~]{0,20}",
        (hazard, kind) in select(&[
            ('\r', HazardKind::CarriageReturn),
            ('\u{a0}', HazardKind::LookalikeBlank),
            ('\u{2003}', HazardKind::LookalikeBlank),
            ('\u{3000}', HazardKind::LookalikeBlank),
            ('\u{200b}', HazardKind::Invisible),
            ('\u{feff}', HazardKind::Invisible),
            ('\u{202e}', HazardKind::Bidirectional),
            ('\u{2066}', HazardKind::Bidirectional),
            ('\u{2028}', HazardKind::Control),
        ][..]),
        after in "[ -~é]{0,20}",
    ) {
        let text = format!("{before}{hazard}{after}");
        let found = hazards(text.as_bytes());
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].kind, kind);
        prop_assert_eq!(found[0].span.start as usize, before.len());
        prop_assert_eq!(found[0].span.len(), hazard.len_utf8());
    }
}
