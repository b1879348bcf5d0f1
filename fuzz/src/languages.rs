//! Every small language reads any text: it ends, and what it names stands in the text.

use portcullis_engine::language::{
    self, Facts, SqlDialect, Word, globs_of_expression, patch_targets,
};

/// Longer names were made up, not read.
const SIGNS_PER_BYTE: usize = 4;

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    // A text by itself, and as the words of a command line; an empty word is one nobody knows.
    let words: Vec<Word<'_>> =
        data.split(|byte| *byte == b'\n').map(|word| (!word.is_empty()).then_some(word)).collect();
    let scripts: Vec<&[u8]> = words.iter().copied().flatten().collect();
    for facts in [
        language::awk(data),
        language::jq(data),
        language::yq(data),
        language::sed(&scripts, false),
        language::sed(&scripts, true),
        language::dd(&words),
        language::test(&words),
        language::bracket(&words),
        patch_targets(data).facts(),
    ] {
        check(&facts, data);
    }
    for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres, SqlDialect::MySql, SqlDialect::DuckDb]
    {
        std::hint::black_box(language::sql(data, dialect));
        std::hint::black_box(language::sql_files(data, dialect));
    }
    std::hint::black_box(language::env(&words));
    std::hint::black_box(language::find(&words));
    std::hint::black_box(language::tar(&words));
    std::hint::black_box(language::xargs(&words));
    if let Ok(text) = str::from_utf8(data) {
        std::hint::black_box(globs_of_expression(text));
    }
}

fn check(facts: &Facts, data: &[u8]) {
    let named = facts.reads.iter().chain(&facts.writes).chain(&facts.deletes).flatten();
    for name in named {
        assert!(name.len() <= SIGNS_PER_BYTE * data.len(), "{name:?} is longer than the text");
    }
}
