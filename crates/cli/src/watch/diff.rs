//! Differences: what a call of an editing tool would change, line by line.

use serde_json::Value;

/// So many lines around a change are shown.
const AROUND: usize = 2;

/// Names that tools have for the text that goes and the text that comes.
const PAIRS: &[(&str, &str)] =
    &[("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")];

/// Names that tools have for the file.
const PATHS: &[&str] = &["file_path", "path", "filePath", "filename"];

/// Names that tools have for a whole file.
const WHOLES: &[&str] = &["content", "contents", "file_text"];

/// One line: `-` goes, `+` comes, a blank stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What becomes of it.
    pub sign: char,
    /// The line.
    pub text: String,
}

/// What an input would change in a file; none if it is not about one.
pub fn changes(input: &Value) -> Option<Vec<Line>> {
    path(input)?;
    let edits = input.get("edits").and_then(Value::as_array);
    let edits = edits.map_or(std::slice::from_ref(input), Vec::as_slice);
    let pieces: Vec<Line> = edits.iter().filter_map(edit).flatten().collect();
    (!pieces.is_empty()).then_some(pieces)
}

/// The file an input is about.
pub fn path(input: &Value) -> Option<&str> {
    PATHS.iter().find_map(|name| input.get(name)?.as_str())
}

fn edit(edit: &Value) -> Option<Vec<Line>> {
    let text = |name: &str| edit.get(name).and_then(Value::as_str);
    let pair = PAIRS.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)));
    let whole = || WHOLES.iter().find_map(|name| Some(("", text(name)?)));
    let (old, new) = pair.or_else(whole)?;
    Some(lines(old, new))
}

/// The lines of two texts: what they begin and end with alike stays.
fn lines(old: &str, new: &str) -> Vec<Line> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    // A text of nothing has no line.
    let old = if old == [""] { Vec::new() } else { old };
    let new = if new == [""] { Vec::new() } else { new };
    let same = |(one, other): &(&&str, &&str)| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count().min(most);
    let part = |sign: char, texts: &[&str], from: usize, to: usize| -> Vec<Line> {
        let texts = texts.iter().skip(from).take(to.saturating_sub(from));
        texts.map(|text| Line { sign, text: (*text).to_owned() }).collect()
    };
    let mut lines = part(' ', &old, head.saturating_sub(AROUND), head);
    lines.extend(part('-', &old, head, old.len() - tail));
    lines.extend(part('+', &new, head, new.len() - tail));
    lines.extend(part(' ', &old, old.len() - tail, (old.len() - tail + AROUND).min(old.len())));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(input: &Value) -> Option<String> {
        let lines = changes(input)?;
        let line = |line: &Line| format!("{}{}", line.sign, line.text);
        Some(lines.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn an_edit_shows_what_goes_and_what_comes() {
        #[rustfmt::skip]
        let cases = [
            (json!({ "file_path": "a", "old_string": "1\n2\n3", "new_string": "1\nb\n3" }), Some(" 1\n-2\n+b\n 3")),
            (json!({ "file_path": "a", "old_string": "x", "new_string": "" }),              Some("-x")),
            (json!({ "path": "a", "content": "x\ny" }),                                     Some("+x\n+y")),
            (json!({ "path": "a", "edits": [{ "oldText": "1", "newText": "2" }] }),         Some("-1\n+2")),
            (json!({ "file_path": "a" }),                                                   None),
            (json!({ "content": "x" }),                                                     None),
            (json!("x"),                                                                    None),
        ];
        for (input, want) in cases {
            assert_eq!(shown(&input).as_deref(), want, "{input}");
        }
    }
}
