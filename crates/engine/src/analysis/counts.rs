//! Commands that print a number, and nothing else, told by how they are written.
//!
//! What a variable holds is evaluated where a number is expected, and may run a command there: a
//! form belongs here only if nothing that a file says or is called can get into what it prints.

use super::pieces::{self, Piece};

/// Whether a command prints one number, or several, each on its line.
pub(crate) fn counts(text: &str) -> bool {
    let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner.map(str::trim) else { return false };
    // What finds nothing fails, and is answered for.
    let instead = ["|| true", "||true", "|| :", "|| echo 0", "||echo 0"];
    let inner = instead.iter().find_map(|end| inner.strip_suffix(end)).unwrap_or(inner);
    let Some(stages) = pieces::stages(inner) else { return false };
    let mut stages = stages.as_slice();
    while let [before @ .., last] = stages
        && !before.is_empty()
        && trims(last)
    {
        stages = before;
    }
    let Some(last) = stages.last() else { return false };
    prints_number(last) || weighs(stages) || numbers_lines(stages)
}

/// Whether numbers stay numbers behind a command: it leaves lines or blanks out.
fn trims(words: &[Piece]) -> bool {
    match pieces::texts(words).as_slice() {
        ["head" | "tail", "-1" | "-n1"]
        | ["head" | "tail", "-n", "1"]
        | ["xargs" | "uniq" | "sort"]
        | ["sort", "-n" | "-rn" | "-nr"] => true,
        ["tr", "-d", _] => words.iter().all(|word| !word.opens),
        _ => false,
    }
}

/// Whether a command prints nothing but numbers, whatever it reads.
fn prints_number(words: &[Piece]) -> bool {
    match pieces::texts(words).as_slice() {
        ["nproc"]
        | ["nproc", "--all"]
        | ["id", "-u" | "-g"]
        | ["tput", "cols" | "lines"]
        | ["getconf", "_NPROCESSORS_ONLN" | "PAGE_SIZE" | "PAGESIZE" | "LONG_BIT"]
        | ["wc", "-l" | "-c" | "-w" | "-m"]
        | ["tr", "-dc" | "-cd", "0-9" | "[:digit:]"]
        | ["git", "log", "-1", "--format=%ct" | "--format=%at"] => true,
        ["date", ..] => is_moment(words.get(1..).unwrap_or_default()),
        ["seq", rest @ ..] => !rest.is_empty() && rest.iter().all(|word| is_integer(word)),
        ["stat", "-c" | "--format", format, _] => {
            is_measure(format) && words.last().is_some_and(Piece::is_one_file)
        }
        ["grep" | "egrep" | "fgrep", ..] => searches(words, b'c'),
        ["sed", "-n", "$=", ..] => {
            words.get(2).is_some_and(|script| !script.opens)
                && words.iter().skip(3).all(Piece::is_known_file)
        }
        ["jq", ..] => measures(words),
        ["awk", ..] => sums(words),
        ["git", "rev-list", rest @ ..] => {
            rest.contains(&"--count") && words.iter().skip(2).all(is_range)
        }
        _ => false,
    }
}

/// Whether a format of `stat` is a number.
fn is_measure(format: &str) -> bool {
    matches!(format, "%s" | "%Y" | "%X" | "%Z" | "%a" | "%h" | "%i")
}

/// Whether a word of `git rev-list --count` chooses what is counted.
fn is_range(word: &Piece) -> bool {
    let is_option = matches!(word.text.as_str(), "--count" | "--no-merges" | "--merges" | "--all")
        || word.text.starts_with("--since=")
        || word.text.starts_with("--until=");
    if word.text.starts_with('-') { is_option } else { word.is_known_file() }
}

/// Whether a pipeline prints how much one directory holds, or one file.
fn weighs(stages: &[Vec<Piece>]) -> bool {
    let [from, cut] = stages else { return false };
    let is_weighing = matches!(
        pieces::texts(from).as_slice(),
        ["du", "-s" | "-sk" | "-sm" | "-sb", _] | ["wc", "-l" | "-c" | "-w" | "-m", _]
    );
    let takes_first = matches!(
        pieces::texts(cut).as_slice(),
        ["cut", "-f1"] | ["cut", "-f", "1"] | ["cut", "-d ", "-f1"] | ["cut", "-d", " ", "-f1"]
    ) || pieces::texts(cut) == ["awk", "{print $1}"]
        && cut.iter().all(|word| !word.opens);
    is_weighing
        && takes_first
        && from.last().is_some_and(|path| path.is_known_file() && !path.opens)
}

/// Whether a pipeline prints the numbers of the lines that `grep` finds in one file.
fn numbers_lines(stages: &[Vec<Piece>]) -> bool {
    let [from, between @ .., cut] = stages else { return false };
    let takes_first = matches!(
        pieces::texts(cut).as_slice(),
        ["cut", "-d:", "-f1"]
            | ["cut", "-f1", "-d:"]
            | ["cut", "-d", ":", "-f1"]
            | ["cut", "-d", ":", "-f", "1"]
            | ["awk", "-F:", "{print $1}"]
            | ["awk", "-F", ":", "{print $1}"]
    ) && cut.iter().all(|word| !word.opens);
    let is_head = |stage: &Vec<Piece>| {
        matches!(
            pieces::texts(stage).as_slice(),
            ["head" | "tail", "-1" | "-n1"] | ["head" | "tail", "-n", "1"]
        )
    };
    // Without a file it prints what it is fed, and a number before it all the same.
    pieces::texts(from).first() == Some(&"grep")
        && searches(from, b'n')
        && takes_first
        && between.iter().all(is_head)
}

/// Whether `grep` looks for one pattern in one file at most, with nothing but plain flags and
/// the one that is wanted: more files, or directories, would bring their names along.
fn searches(words: &[Piece], wanted: u8) -> bool {
    let mut words = words.iter().skip(1).peekable();
    let mut is_wanted = false;
    while let Some(word) = words.next_if(|word| word.text.starts_with('-')) {
        let Some(flags) = word.text.strip_prefix('-').filter(|flags| !flags.is_empty()) else {
            return false;
        };
        if flags == "m1" {
            continue;
        }
        if word.opens || !flags.bytes().all(|flag| flag == wanted || b"EFPiwxvs".contains(&flag)) {
            return false;
        }
        is_wanted |= flags.bytes().any(|flag| flag == wanted);
    }
    let has_pattern =
        words.next().is_some_and(|pattern| !pattern.may_be_option() && !pattern.globs);
    let has_one = words.next().is_none_or(Piece::is_one_file);
    is_wanted && has_pattern && has_one && words.next().is_none()
}

/// Whether `jq` prints the length of something.
fn measures(words: &[Piece]) -> bool {
    let is_flag = |word: &&Piece| matches!(word.text.as_str(), "-r" | "-s" | "-c" | "-rs" | "-e");
    let mut words = words.iter().skip(1).skip_while(is_flag);
    let Some(filter) = words.next() else { return false };
    let is_plain = !filter.opens && !filter.globs && !filter.text.contains(['"', '#', '\\', '@']);
    let last = filter.text.rsplit('|').next().unwrap_or_default();
    is_plain && last.trim() == "length" && words.all(Piece::is_known_file)
}

/// Whether `awk` prints how many lines there are, or a sum, at the end and nothing before.
fn sums(words: &[Piece]) -> bool {
    let mut words = words.iter().skip(1).peekable();
    if let Some(separator) = words.next_if(|word| word.text.starts_with("-F"))
        && (separator.opens || separator.text == "-F" && words.next().is_none())
    {
        return false;
    }
    let Some(program) = words.next().filter(|program| !program.opens && !program.globs) else {
        return false;
    };
    let text: String = program.text.split_whitespace().collect();
    // A word with `=` is an assignment, which counts if no line is added.
    let are_files =
        words.all(|word| word.is_known_file() && !word.opens && !word.text.contains('='));
    are_files && (text == "END{printNR}" || is_sum(&text) || is_place(&text))
}

/// `/pattern/{print NR; exit}`, without its blanks.
fn is_place(program: &str) -> bool {
    let end = ["{printNR;exit}", "{printNR}", "{printFNR;exit}", "{printFNR}"];
    let pattern = end.iter().find_map(|end| program.strip_suffix(end));
    pattern.is_some_and(|pattern| !pattern.contains(['{', '}', '"', '=', ';', '(']))
}

/// `pattern{n+=$1}END{print n}`, without its blanks.
fn is_sum(program: &str) -> bool {
    let sum = || {
        let (before, name) = program.strip_suffix('}')?.split_once("END{print")?;
        let name = name.strip_suffix("+0").unwrap_or(name);
        let (pattern, action) = before.strip_suffix('}')?.split_once('{')?;
        let added = action.strip_prefix(name)?;
        let is_added = added == "++"
            || added.strip_prefix("+=$").is_some_and(|field| {
                !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
            });
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_pattern =
            !pattern.contains(['{', '}', '"', '=', ';', '(']) && !pattern.contains("getline");
        Some(is_added && is_name && is_pattern)
    };
    sum().unwrap_or_default()
}

/// Whether words of `date` make nothing but digits of some moment.
fn is_moment(words: &[Piece]) -> bool {
    let Some((format, before)) = words.split_last() else { return false };
    let before = match before {
        [utc, rest @ ..] if utc.text == "-u" => rest,
        all => all,
    };
    let is_told = match before {
        [] => true,
        [option, value] => matches!(option.text.as_str(), "-d" | "--date" | "-r") && !value.globs,
        _ => false,
    };
    is_told && !format.opens && is_digits(&format.text)
}

/// Whether a format of `date` makes nothing but digits.
fn is_digits(format: &str) -> bool {
    let signs = format.strip_prefix('+').unwrap_or_default();
    let mut pieces = signs.split('%');
    let is_sign = |piece: &str| piece.len() == 1 && "sYyjuwmdHMSNUV".contains(piece);
    pieces.next() == Some("") && !signs.is_empty() && pieces.all(is_sign)
}

pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
