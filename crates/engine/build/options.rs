//! Reads option tokens: `NAME[=KIND][!EFFECT][@FINDING]`.

use std::collections::BTreeMap;

use crate::shelves;

/// One option of a program.
#[derive(Clone, Debug)]
pub struct OptionToken {
    pub name: String,
    /// `n` none, `r` required, `o` optional.
    pub arity: char,
    pub kind: String,
    pub effects: Vec<String>,
    pub edits: bool,
    pub quiet: bool,
    pub finding: Option<String>,
}

/// The kinds of values and operands.
pub const KINDS: [&str; 34] = [
    "names", "part", "change", "remote", "", "opaque", "read", "write", "output", "delete", "dir",
    "cd", "run", "program", "command", "code", "url", "host", "config", "sed", "awk", "jq", "sql",
    "name", "text", "pattern", "move", "link", "sub", "number", "list", "path", "into", "tree",
];

/// Reads every token of a list of options.
pub fn read(text: &str) -> Result<Vec<OptionToken>, String> {
    let mut options: Vec<OptionToken> = Vec::new();
    for token in text.split_whitespace().filter(|token| *token != "*") {
        let option = one(token)?;
        // The later one stands: an entry may sharpen what a shared set says.
        options.retain(|known| known.name != option.name);
        options.push(option);
    }
    options.sort_by(|one, other| shelves::order(&one.name).cmp(&shelves::order(&other.name)));
    Ok(options)
}

/// Whether a list says the same of an option wherever it names it: of two marks the first would
/// be lost.
pub fn agree(text: &str) -> Result<(), String> {
    let mut known = BTreeMap::new();
    for token in text.split_whitespace().filter(|token| *token != "*") {
        if let Some(before) = known.insert(one(token)?.name, token)
            && before != token
        {
            return Err(format!("option `{token}`: it is `{before}` too"));
        }
    }
    Ok(())
}

fn one(token: &str) -> Result<OptionToken, String> {
    let wrong = |why: &str| format!("option `{token}`: {why}");
    let (rest, finding) = match token.rsplit_once('@') {
        Some((rest, finding)) if !rest.is_empty() && rest != "-" => {
            (rest, Some(finding.to_owned()))
        }
        _ => (token, None),
    };
    let mut marks = rest.split('!');
    let head = marks.next().unwrap_or_default();
    let mut effects = Vec::new();
    let (mut edits, mut quiet) = (false, false);
    for mark in marks {
        match mark {
            "edits" => edits = true,
            "quiet" => quiet = true,
            _ if crate::entry::EFFECTS.contains(&mark) => effects.push(mark.to_owned()),
            _ => return Err(wrong(&format!("unknown effect `{mark}`"))),
        }
    }
    let (name, value) = match head.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (head, None),
    };
    if !name.starts_with(['-', '+']) || name.len() < 2 {
        return Err(wrong("a name begins with `-`"));
    }
    let (arity, kind) = match value {
        None => ('n', ""),
        Some(value) => match value.strip_prefix('?') {
            Some(kind) => ('o', kind),
            None => ('r', value),
        },
    };
    if !KINDS.contains(&kind) {
        return Err(wrong(&format!("unknown kind `{kind}`; use one of {}", KINDS.join(", "))));
    }
    Ok(OptionToken { name: name.into(), arity, kind: kind.into(), effects, edits, quiet, finding })
}
