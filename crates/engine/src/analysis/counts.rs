//! Commands that print a number, and nothing else, told by how they are written.

/// Whether a command prints one number: the last of its pipeline counts what it gets.
pub(crate) fn counts(text: &str) -> bool {
    let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner.filter(|inner| !inner.contains([';', '&', '`', '\n', '(', '{'])) else {
        return false;
    };
    if numbers_lines(inner) {
        return true;
    }
    let last = inner.rsplit('|').next().unwrap_or_default();
    let words: Vec<&str> = last.split('<').next().unwrap_or_default().split_whitespace().collect();
    match words.as_slice() {
        ["nproc"] | ["id", "-u" | "-g"] | ["git", "log", "-1", "--format=%ct" | "--format=%at"] => {
            true
        }
        ["date", before @ .., format] => is_digits(format) && is_moment(before),
        ["seq", rest @ ..] => !rest.is_empty() && rest.iter().all(|word| is_integer(word)),
        ["cut", "-f1" | "-f", ..] => weighs(inner),
        ["wc", option] => matches!(*option, "-l" | "-c" | "-w" | "-m"),
        ["stat", "-c", format, file] => {
            let format = format.trim_matches(['"', '\'']);
            matches!(format, "%s" | "%Y" | "%X" | "%Z" | "%a" | "%h" | "%i") && is_one_file(file)
        }
        ["grep", "-c", pattern] => !pattern.starts_with('-'),
        ["grep", "-c", pattern, file] => !pattern.starts_with('-') && is_one_file(file),
        ["git", "rev-list", "--count", range] => !range.starts_with('-'),
        _ => false,
    }
}

/// Whether a pipeline prints how much one directory holds.
fn weighs(pipeline: &str) -> bool {
    let Some((du, cut)) = pipeline.split_once('|') else { return false };
    let words: Vec<&str> = du.split_whitespace().collect();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte);
    matches!(cut.trim(), "cut -f1" | "cut -f 1")
        && matches!(words.as_slice(), ["du", "-s" | "-sk" | "-sm" | "-sb", path]
            if !path.starts_with('-') && path.bytes().all(is_plain))
}

/// Whether a format of `date` makes nothing but digits.
fn is_digits(format: &str) -> bool {
    let signs = format.trim_matches(['"', '\'']).strip_prefix('+').unwrap_or_default();
    let mut pieces = signs.split('%');
    let is_sign = |piece: &str| piece.len() == 1 && "sYyjuwmdHMSNUV".contains(piece);
    pieces.next() == Some("") && !signs.is_empty() && pieces.all(is_sign)
}

/// Whether words between `date` and its format say which moment is meant, and no format.
fn is_moment(words: &[&str]) -> bool {
    let words = words.strip_prefix(&["-u"]).unwrap_or(words);
    let Some((option, value)) = words.split_first() else { return true };
    let text = value.join(" ");
    let is_quoted = |sign: char| {
        text.strip_prefix(sign)
            .and_then(|text| text.strip_suffix(sign))
            .is_some_and(|inner| !inner.contains(['"', '\'', '\\']))
    };
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-+.:/@_".contains(&byte);
    matches!(*option, "-d" | "--date" | "-r")
        && (is_quoted('"') || is_quoted('\'') || !text.is_empty() && text.bytes().all(is_bare))
}

/// Whether a pipeline prints the numbers of the lines that `grep` finds in one file.
fn numbers_lines(pipeline: &str) -> bool {
    let stages: Vec<&str> = pipeline.split('|').map(str::trim).collect();
    let (Some(first), Some(last)) = (stages.first(), stages.last()) else { return false };
    let is_cut = matches!(*last, "cut -d: -f1" | "cut -f1 -d:" | "cut -d : -f 1" | "cut -d':' -f1");
    let is_part = |stage: &&str| {
        matches!(
            *stage,
            "head -1" | "head -n1" | "head -n 1" | "tail -1" | "tail -n1" | "tail -n 1"
        )
    };
    let between = stages.get(1..stages.len().saturating_sub(1)).unwrap_or_default();
    let Some(rest) =
        first.strip_prefix("grep -n").filter(|_| is_cut && between.iter().all(is_part))
    else {
        return false;
    };
    let (flags, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let Some((pattern, file)) = rest.trim().rsplit_once(' ') else { return false };
    let sign = if pattern.starts_with('"') { '"' } else { '\'' };
    let quoted = pattern.strip_prefix(sign).and_then(|inner| inner.strip_suffix(sign));
    let is_pattern = match quoted {
        Some(inner) => !inner.contains(['"', '\'', '\\']) && !inner.starts_with(['-', '$']),
        None => pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-$\"{}".contains(&byte);
    flags.bytes().all(|flag| b"EFiwx".contains(&flag))
        && is_pattern
        && is_one_file(file)
        && file.bytes().all(is_plain)
}

/// Whether a word, as written, names one file and is no option.
fn is_one_file(word: &str) -> bool {
    let is_quoted = word.len() > 1 && word.starts_with('"') && word.ends_with('"');
    let inner = if is_quoted { word.trim_matches('"') } else { word };
    !inner.starts_with('-')
        && !inner.contains(['"', '\'', '\\'])
        && (is_quoted || !inner.contains(['*', '?', '[', '{', '$', '~']))
}

pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
