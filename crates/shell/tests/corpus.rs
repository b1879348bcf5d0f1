//! Cases as data: `corpus/*.txt` against the reader.
//!
//! `UPDATE=1 cargo test -p portcullis-shell --test corpus` writes what the reader says into the
//! files; the difference is for a person to review.

#![cfg(test)]

#[path = "corpus/cases.rs"]
mod cases;
#[path = "corpus/show.rs"]
mod show;

use std::fmt::Write;

use cases::{Case, encode};
use portcullis_shell::Dialect;

#[test]
fn every_spelling_reads_as_its_case_says() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut report = String::new();
    let mut count = 0;
    for file in cases::files() {
        let name = file.path.file_name().unwrap().to_string_lossy().into_owned();
        let found: Vec<String> =
            file.cases.iter().map(|case| judge(&name, case, &mut report)).collect();
        count += file.cases.iter().map(|case| case.texts.len()).sum::<usize>();
        if update {
            file.rewrite(&found);
            continue;
        }
        for (case, found) in file.cases.iter().zip(&found) {
            if *found != case.want {
                let (line, title) = (case.line, &case.title);
                let text = encode(&case.texts[0]);
                writeln!(
                    report,
                    "{name}:{line}: {title}\n{text}\n--- expected\n{}\n--- found\n{found}\n",
                    case.want
                )
                .unwrap();
            }
        }
    }
    assert!(count > 500, "only {count} texts were found");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_case_names_its_source_and_has_a_title_of_its_own() {
    for file in cases::files() {
        let mut titles = std::collections::HashSet::new();
        for case in &file.cases {
            let at = format!("{}:{}", file.path.display(), case.line);
            assert!(!case.settings.source.is_empty(), "{at}: no source");
            assert!(titles.insert(&case.title), "{at}: `{}` stands twice", case.title);
        }
    }
}

/// What the reader says about the first spelling; reports every other that reads otherwise.
fn judge(name: &str, case: &Case, report: &mut String) -> String {
    let mut found = case.texts.iter().map(|text| show::show(&case.settings, text));
    let first = found.next().unwrap_or_default();
    for (text, other) in case.texts[1..].iter().zip(found) {
        let same = match (first.strip_prefix("refused"), other.strip_prefix("refused")) {
            // Sentences and places differ from spelling to spelling; the kind must not.
            (Some(first), Some(other)) => first.split(':').next() == other.split(':').next(),
            _ => first == other,
        };
        if !same {
            let (line, title) = (case.line, &case.title);
            let text = encode(text);
            writeln!(report, "{name}:{line}: {title}: a spelling reads otherwise\n{text}\n--- the first reads\n{first}\n--- this one\n{other}\n").unwrap();
        }
    }
    first
}

/// Writes every text of the corpus as a seed for the fuzzers, where `FUZZ_SEEDS` asks for it.
///
/// The first byte of a seed says how to read the rest; `fuzz/targets/input.rs` knows how.
#[test]
fn seeds_are_written_where_asked() {
    let Some(directory) = std::env::var_os("FUZZ_SEEDS") else { return };
    let directory = std::path::Path::new(&directory);
    std::fs::create_dir_all(directory).unwrap();
    for file in cases::files() {
        let stem = file.path.file_stem().unwrap().to_string_lossy().into_owned();
        for case in &file.cases {
            let reader = &case.settings.reader;
            let dialect = match reader.dialect {
                Dialect::Bash => 0,
                Dialect::Sh => 1,
                Dialect::Zsh => 2,
            };
            let how =
                b'0' | dialect | u8::from(reader.extglob) << 2 | u8::from(reader.interactive) << 3;
            for (at, text) in case.texts.iter().enumerate() {
                let seed = [&[how], text.as_slice()].concat();
                std::fs::write(directory.join(format!("{stem}-{}-{at}", case.line)), seed).unwrap();
            }
        }
    }
}
