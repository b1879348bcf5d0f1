//! The form between `*** Begin Patch` and `*** End Patch`.

use super::{Change, Patch};

/// Reads the markers of a patch.
///
/// A marker counts wherever a line, without the blanks around it, begins with one: readers trim
/// the line where they look for the next file, and keep it where they look for context.
pub(super) fn read(text: &str) -> Patch {
    let mut patch = Patch::default();
    let mut begins = 0_usize;
    let mut ends = 0_usize;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.contains(is_other_line_end) && line.contains("*** ") {
            patch.unknown = Some("a line of the patch that some readers take for two");
        }
        let Some(marker) = line.trim().strip_prefix("*** ") else { continue };
        if let Some(path) = marker.strip_prefix("Add File:") {
            patch.add(path, Change::Add);
        } else if let Some(path) = marker.strip_prefix("Delete File:") {
            patch.add(path, Change::Delete);
        } else if let Some(path) = marker.strip_prefix("Update File:") {
            patch.add(path, Change::Update);
        } else if let Some(path) = marker.strip_prefix("Move to:") {
            patch.add_move(path);
        } else if marker == "Begin Patch" {
            begins += 1;
        } else if marker == "End Patch" {
            ends += 1;
        } else if marker != "End of File" {
            patch.unknown = Some("an unknown marker in the patch");
        }
    }
    if begins != 1 || ends != 1 {
        patch.unknown = Some("a patch begins once and ends once");
    }
    patch
}

/// Whether a character ends a line for some readers of text.
const fn is_other_line_end(character: char) -> bool {
    matches!(
        character,
        '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

impl Patch {
    fn add(&mut self, path: &str, change: fn(Vec<u8>) -> Change) {
        match path.trim() {
            "" => self.unknown = Some("a file of the patch has no name"),
            path => self.changes.push(change(path.as_bytes().to_vec())),
        }
    }

    /// The file that was named last gets another name.
    fn add_move(&mut self, path: &str) {
        let to = path.trim().as_bytes().to_vec();
        match self.changes.pop() {
            Some(Change::Update(from)) if !to.is_empty() => {
                self.changes.push(Change::Move { from, to });
            }
            other => {
                self.changes.extend(other);
                self.changes.push(Change::Add(to));
                self.unknown = Some("a new name in the patch without an old one");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        let read = read(text);
        let shown = read.changes.iter().map(|change| match change {
            Change::Add(path) => format!("+{}", String::from_utf8_lossy(path)),
            Change::Update(path) => format!("~{}", String::from_utf8_lossy(path)),
            Change::Delete(path) => format!("-{}", String::from_utf8_lossy(path)),
            Change::Move { from, to } => {
                format!("{}>{}", String::from_utf8_lossy(from), String::from_utf8_lossy(to))
            }
        });
        let shown = shown.collect::<Vec<_>>().join(" ");
        if read.unknown.is_some() { format!("{shown} ?") } else { shown }
    }

    #[test]
    fn every_file_is_named() {
        #[rustfmt::skip]
        let cases = [
            ("*** Add File: a b.txt\n+x\n",                   "+a b.txt",   "a new file"),
            ("*** Update File: a\n@@ f\n x\n-y\n+z\n",        "~a",         "a changed file"),
            ("*** Delete File: a\n",                          "-a",         "a removed file"),
            ("*** Update File: a\n*** Move to: b\n@@\n-x\n",  "a>b",        "a moved file"),
            ("*** Add File: a\n+x\n*** Add File: b\n+y\n",    "+a +b",      "two files"),
            ("  *** Add File: a  \n+x\n",                     "+a",         "blanks around the marker"),
            ("*** Add File:a\n",                              "+a",         "no blank before the name"),
            ("*** Add File: a\r\n+x\r\n",                     "+a",         "lines of another system"),
            ("*** Add File: a\n+*** Add File: b\n",           "+a",         "added text is text"),
            ("*** Update File: a\n-*** Delete File: b\n",     "~a",         "removed text is text"),
            ("*** Update File: a\n *** Delete File: b\n",     "~a -b",      "context may be a marker for some"),
            ("*** Update File: a\n@@\n x\n*** End of File\n", "~a",         "the end of a file"),
            ("*** Update File: /etc/passwd\n",                "~/etc/passwd", "any path"),
            ("*** Add File: \n",                              " ?",         "no name"),
            ("*** Move to: b\n",                              "+b ?",       "no old name"),
            ("*** Rename File: b\n",                          " ?",         "an unknown marker"),
            ("*** Add File: a\rb\n+x\n",                       "+a\rb ?",    "a name that some cut"),
            ("\u{a0}*** Add File: a\n+x\n",                  "+a",         "blanks of every kind"),
            ("x\u{2028}*** Add File: a\n",                   " ?",         "lines of every kind"),
            ("*** End Patch\n*** Add File: b\n",              "+b ?",       "two ends"),
        ];
        for (body, want, why) in cases {
            let text = format!("*** Begin Patch\n{body}*** End Patch\n");
            assert_eq!(show(&text), want, "`{body}`: {why}");
        }
        assert_eq!(show("*** Begin Patch\n*** Add File: a\n+x\n"), "+a ?", "no end");
        let heredoc = "<<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n";
        assert_eq!(show(heredoc), "+a", "a here-document around it");
    }
}
