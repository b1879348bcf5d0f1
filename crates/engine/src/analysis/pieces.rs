//! Pieces: the words of a plain pipeline, as they are written.
//!
//! For [`counts`](mod@super::counts), which looks at texts that nobody has walked yet. Whatever is more
//! than words, quotes, pipes and a file that is read is not taken apart.

/// One word without its quotes.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether a part of it is a variable.
    pub(super) opens: bool,
    /// Whether it may become several words, or none.
    pub(super) globs: bool,
}

impl Piece {
    /// Whether it begins as an option does, or with something that may.
    pub(super) fn may_be_option(&self) -> bool {
        self.text.starts_with('-') || self.opens && self.text.starts_with('$')
    }

    /// Whether it names one file, be it one that a variable holds.
    pub(super) fn is_one_file(&self) -> bool {
        !self.globs && !self.text.starts_with('-') && !self.text.is_empty()
    }

    /// Whether it names one file, and is certainly no option.
    pub(super) fn is_known_file(&self) -> bool {
        self.is_one_file() && !self.may_be_option()
    }
}

/// The texts of words.
pub(super) fn texts(words: &[Piece]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// The words of each command of a pipeline, without files that stand behind `<` and `2>/dev/null`;
/// nothing if there is anything else in it.
pub(super) fn stages(text: &str) -> Option<Vec<Vec<Piece>>> {
    let mut stages = vec![Vec::new()];
    let mut rest = text.trim_start_matches([' ', '\t']);
    let mut is_source = false;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('|') {
            if is_source || after.starts_with(['|', '&']) || stages.last()?.is_empty() {
                return None;
            }
            stages.push(Vec::new());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("2>/dev/null") {
            if !(after.is_empty() || after.starts_with([' ', '\t', '|'])) {
                return None;
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix('<') {
            if is_source || after.starts_with(['<', '(', '&', '>']) {
                return None;
            }
            is_source = true;
            rest = after;
        } else {
            let (piece, after) = piece(rest)?;
            if is_source {
                is_source = false;
            } else {
                stages.last_mut()?.push(piece);
            }
            rest = after;
        }
        rest = rest.trim_start_matches([' ', '\t']);
    }
    let is_whole = !is_source && stages.iter().all(|stage| !stage.is_empty());
    is_whole.then_some(stages)
}

/// The word at the start of a text, and what follows it.
fn piece(text: &str) -> Option<(Piece, &str)> {
    let mut piece = Piece::default();
    let mut rest = text;
    loop {
        let Some(sign) = rest.chars().next() else { return Some((piece, rest)) };
        match sign {
            ' ' | '\t' | '|' => return Some((piece, rest)),
            '\'' | '"' => {
                let (inner, after) = rest.get(1..)?.split_once(sign)?;
                let is_open = sign == '"' && inner.contains('$');
                if inner.contains('\n')
                    || sign == '"' && (inner.contains(['\\', '`', '!']) || inner.contains("$("))
                {
                    return None;
                }
                piece.opens |= is_open;
                piece.text.push_str(inner);
                rest = after;
                continue;
            }
            '$' => {
                let is_name = |sign: char| sign.is_ascii_alphabetic() || sign == '_';
                if !rest.get(1..)?.starts_with(is_name) {
                    return None;
                }
                piece.opens = true;
                piece.globs = true;
            }
            '*' | '?' | '[' | '~' => piece.globs = true,
            _ if is_plain(sign) => {}
            _ => return None,
        }
        piece.text.push(sign);
        rest = rest.get(sign.len_utf8()..)?;
    }
}

fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || "_./-+:,=%@^".contains(sign)
}
