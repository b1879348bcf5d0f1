//! Unified diffs, with or without git's headers.

use super::{Change, Patch};

/// Reads the headers of a diff and passes its hunks by the line counts they announce, so that
/// text that looks like a header is not taken for one.
pub(super) fn read(text: &[u8]) -> Patch {
    let mut reader = Reader { patch: Patch::default(), file: File::default() };
    let mut lines = text.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some((mut old, mut new)) = hunk_counts(line) else {
            reader.read_header(line);
            continue;
        };
        reader.file.has_hunks = true;
        while old > 0 || new > 0 {
            match lines.next().map(|line| line.first().copied()) {
                Some(Some(b'-')) => old = old.saturating_sub(1),
                Some(Some(b'+')) => new = new.saturating_sub(1),
                // An editor may have taken the blank of an empty line away.
                Some(Some(b' ' | b'\r') | None) if lines.peek().is_some() => {
                    old = old.saturating_sub(1);
                    new = new.saturating_sub(1);
                }
                Some(Some(b'\\')) => {}
                _ => {
                    reader.patch.unknown = Some("a hunk of the diff is shorter than it says");
                    old = 0;
                    new = 0;
                }
            }
        }
    }
    reader.end_file();
    reader.patch
}

struct Reader {
    patch: Patch,
    file: File,
}

/// What the headers of one file said so far.
#[derive(Default)]
struct File {
    /// From `diff --git`, if both names are one.
    name: Option<Vec<u8>>,
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    fate: Fate,
    is_git: bool,
    is_copied: bool,
    has_hunks: bool,
}

/// What becomes of a file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Updated,
    Added,
    Deleted,
}

impl Fate {
    fn change(self, name: Vec<u8>) -> Change {
        match self {
            Fate::Updated => Change::Update(name),
            Fate::Added => Change::Add(name),
            Fate::Deleted => Change::Delete(name),
        }
    }
}

/// The name of no file.
const NOTHING: &[u8] = b"/dev/null";

impl Reader {
    fn read_header(&mut self, line: &[u8]) {
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            self.end_file();
            self.file.is_git = true;
            self.file.name = git_name(names);
        } else if let Some(name) = line.strip_prefix(b"--- ") {
            // Without git's headers this line begins the next file.
            if !self.file.is_git || self.file.old.is_some() {
                self.end_file();
            }
            self.file.old = self.name(name);
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            self.file.new = self.name(name);
        } else if let Some(name) = line.strip_prefix(b"rename from ") {
            self.file.from = self.name(name);
        } else if let Some(name) = line.strip_prefix(b"rename to ") {
            self.file.to = self.name(name);
        } else if let Some(name) = line.strip_prefix(b"copy to ") {
            self.file.is_copied = true;
            self.file.to = self.name(name);
        } else if line.starts_with(b"new file mode ") {
            self.file.fate = Fate::Added;
        } else if line.starts_with(b"deleted file mode ") {
            self.file.fate = Fate::Deleted;
        } else if line.starts_with(b"Index: ") || line.starts_with(b"*** ") {
            self.patch.unknown = Some("a form of diff that is not read");
        } else if is_edit_command(line) && !self.file.is_git {
            self.patch.unknown = Some("an ed script, which can run commands");
        } else if line.first().is_some_and(u8::is_ascii_whitespace) && is_header(line.trim_ascii())
        {
            self.patch.unknown = Some("an indented diff");
        }
    }

    /// A name as a header has it: perhaps quoted, perhaps with a time behind a tab.
    fn name(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        if text.starts_with(b"\"") {
            let name = unquote(text);
            if name.is_none() {
                self.patch.unknown = Some("a quoted name in the diff cannot be read");
            }
            return name;
        }
        let end = text.iter().position(|byte| *byte == b'\t').unwrap_or(text.len());
        let name = text.get(..end).unwrap_or_default().trim_ascii_end();
        (!name.is_empty()).then(|| name.to_vec())
    }

    /// Turns what was said about a file into a change.
    fn end_file(&mut self) {
        let file = std::mem::take(&mut self.file);
        let strips = file.is_git
            || (starts(file.old.as_ref(), b"a/") && starts(file.new.as_ref(), b"b/"))
            || (is_nothing(file.old.as_ref()) && starts(file.new.as_ref(), b"b/"))
            || (is_nothing(file.new.as_ref()) && starts(file.old.as_ref(), b"a/"));
        let strip = |name: Vec<u8>| match name.get(..2) {
            Some(b"a/" | b"b/") if strips => name.get(2..).unwrap_or_default().to_vec(),
            _ => name,
        };
        let fate = if is_nothing(file.old.as_ref()) {
            Fate::Added
        } else if is_nothing(file.new.as_ref()) {
            Fate::Deleted
        } else {
            file.fate
        };
        let old = file.old.filter(|name| name != NOTHING).map(strip);
        let new = file.new.filter(|name| name != NOTHING).map(strip);
        let changes = &mut self.patch.changes;
        match (file.from, file.to) {
            (Some(from), Some(to)) => changes.push(Change::Move { from, to }),
            (None, Some(to)) if file.is_copied => changes.push(Change::Add(to)),
            (None, None) => {}
            _ => self.patch.unknown = Some("half a new name in the diff"),
        }
        if old.is_none() && new.is_none() {
            match file.name {
                Some(name) => changes.push(fate.change(name)),
                None if changes.is_empty() && (file.is_git || file.has_hunks) => {
                    self.patch.unknown = Some("a part of the diff names no file");
                }
                None => {}
            }
            return;
        }
        // Which of two names counts depends on the files that exist: both do.
        for name in [old, new].into_iter().flatten() {
            let change = fate.change(name);
            if changes.last() != Some(&change) {
                changes.push(change);
            }
        }
    }
}

fn starts(name: Option<&Vec<u8>>, prefix: &[u8]) -> bool {
    name.is_some_and(|name| name.starts_with(prefix))
}

fn is_nothing(name: Option<&Vec<u8>>) -> bool {
    name.is_some_and(|name| name == NOTHING)
}

/// The line counts of a hunk: `@@ -1,2 +3,4 @@`.
fn hunk_counts(line: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(line.strip_prefix(b"@@ -")?).ok()?;
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

/// The name in `a/name b/name`, if both halves agree.
fn git_name(names: &[u8]) -> Option<Vec<u8>> {
    let half = names.len().checked_sub(1)? / 2;
    let (old, new) = (names.get(..half)?, names.get(half + 1..)?);
    let (old, new) = (old.strip_prefix(b"a/")?, new.strip_prefix(b"b/")?);
    (old == new && names.get(half) == Some(&b' ')).then(|| old.to_vec())
}

/// A name in double quotes with the escapes of C.
fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return Some(name),
            b'\\' => name.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                escaped @ (b'"' | b'\\') => escaped,
                high @ b'0'..=b'3' => {
                    let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
                    let (middle, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
                    (high - b'0') * 64 + middle * 8 + low
                }
                _ => return None,
            }),
            byte => name.push(byte),
        }
    }
    None
}

/// Whether a line would be a header if it were not indented, which some readers do not mind.
fn is_header(line: &[u8]) -> bool {
    [&b"--- "[..], b"+++ ", b"*** ", b"@@ -", b"diff --git ", b"Index: "]
        .iter()
        .any(|header| line.starts_with(header))
}

/// Whether a line is a command of the old line editor, which `patch` hands on to it, or of a diff
/// without names.
fn is_edit_command(line: &[u8]) -> bool {
    let is_range = |byte: &u8| byte.is_ascii_digit() || *byte == b',';
    let Some(at) = line.iter().position(|byte| !is_range(byte)) else { return false };
    let (range, rest) = line.split_at(at);
    match rest.split_first() {
        Some((b'a' | b'c' | b'd' | b'i' | b's', rest)) => {
            !range.is_empty() && rest.iter().all(is_range)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        let read = read(text.as_bytes());
        let lossy = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let shown = read.changes.iter().map(|change| match change {
            Change::Add(path) => format!("+{}", lossy(path)),
            Change::Update(path) => format!("~{}", lossy(path)),
            Change::Delete(path) => format!("-{}", lossy(path)),
            Change::Move { from, to } => format!("{}>{}", lossy(from), lossy(to)),
        });
        let shown = shown.collect::<Vec<_>>().join(" ");
        if read.unknown.is_some() { format!("{shown} ?") } else { shown }
    }

    #[test]
    fn every_file_is_named() {
        #[rustfmt::skip]
        let cases = [
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",                     "~x",       "a changed file"),
            ("--- x\t2020-01-01\n+++ x\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n", "~x",       "with times"),
            ("--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",                    "~x.orig ~x", "either name may count"),
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",                 "+x",       "a new file"),
            ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",                 "-x",       "a removed file"),
            ("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "~x", "git's headers"),
            ("diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "+x", "a new file"),
            ("diff --git a/x b/x\nnew file mode 100644\nindex 0..0\n",      "+x",       "an empty file"),
            ("diff --git a/x b/x\ndeleted file mode 100644\n",              "-x",       "an empty one goes"),
            ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",      "~x",       "another mode"),
            ("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\nabc\n", "~x", "bytes"),
            ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "x>y", "a new name"),
            ("diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "x>y ~x ~y", "changed too"),
            ("diff --git a/x b/y\ncopy from x\ncopy to y\n",                "+y",       "a copy"),
            ("diff --git \"a/\\303\\274\" \"b/\\303\\274\"\n--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"\n", "~ü", "a quoted name"),
            ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-b\n+++ b/y\n+c\n", "~x",     "text like a header"),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "~x ~y", "two files"),
            ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n",           "~x",       "an empty line without its blank"),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "~x", "no last newline"),
            ("text before\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "~x",    "lines of another system"),
            ("--- a/x\n+++ b/x\n@@ -1,5 +1 @@\n-a\n+b",                     "~x ?",     "shorter than it says"),
            ("Index: x\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",               "~x ?",     "a header that also counts"),
            ("*** x\n--- y\n***************\n",                             "~y ?",     "another kind of diff"),
            ("1d\n",                                                        " ?",       "an ed script"),
            ("--- x\n+++ x\n1,2c1,2\n< a\n",                                "~x ?",     "a diff without names"),
            ("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n  --- y\n  +++ y\n",      "~x ?",     "an indented diff"),
            ("diff --git a/x b/y\n",                                        " ?",       "no name that is sure"),
        ];
        for (text, want, why) in cases {
            assert_eq!(show(text), want, "`{text}`: {why}");
        }
    }
}
