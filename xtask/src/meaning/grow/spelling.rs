//! Spellings: many ways to write the same literal word.

use super::Grower;

/// What may stand unquoted anywhere in a word.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_./-".contains(letter)
}

impl Grower<'_> {
    /// Writes a word so that the shell reads exactly `meaning`.
    pub(super) fn spell(&mut self, meaning: &str) {
        if meaning.is_empty() {
            self.put_one(&["''", "\"\"", "''\"\"", "\"\"''"]);
            return;
        }
        if meaning.chars().all(is_plain) && self.chance.percent(60) {
            self.put(meaning);
            return;
        }
        let letters: Vec<char> = meaning.chars().collect();
        let mut rest = letters.as_slice();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(self.chance.between(1, rest.len()));
            rest = after;
            self.chunk(chunk);
            if self.chance.once_in(10) {
                self.put_one(&["''", "\"\"", "\\\n"]);
            }
        }
    }

    fn chunk(&mut self, chunk: &[char]) {
        match self.chance.below(6) {
            0 if !chunk.contains(&'\'') => {
                self.put("'");
                self.out.extend(chunk);
                self.put("'");
            }
            1 => self.double_quoted_chunk(chunk),
            2 if self.is_bash() => self.ansi_chunk(chunk),
            3 if self.is_bash() => {
                self.put("$");
                self.double_quoted_chunk(chunk);
            }
            _ => {
                for letter in chunk {
                    if *letter == '\n' {
                        self.put("'\n'");
                    } else {
                        if !is_plain(*letter) || self.chance.once_in(6) {
                            self.put("\\");
                        }
                        self.out.push(*letter);
                    }
                }
            }
        }
    }

    fn double_quoted_chunk(&mut self, chunk: &[char]) {
        self.put("\"");
        for letter in chunk {
            if "\"$`\\".contains(*letter) {
                self.put("\\");
            } else if self.chance.once_in(20) {
                self.put("\\\n");
            }
            self.out.push(*letter);
        }
        self.put("\"");
    }

    fn ansi_chunk(&mut self, chunk: &[char]) {
        self.put("$'");
        for (index, letter) in chunk.iter().enumerate() {
            let code = u32::from(*letter);
            let next = chunk.get(index + 1).copied().unwrap_or(' ');
            match (self.chance.below(6), letter) {
                (0, _) if code < 128 => self.put(&format!("\\{code:03o}")),
                (1, _) if code < 128 && !next.is_ascii_hexdigit() => {
                    self.put(&format!("\\x{code:x}"));
                }
                (2, _) if code < 128 => self.put(&format!("\\x{code:02x}")),
                (3, _) => self.put(&format!("\\u{code:04x}")),
                (_, '\n') => self.put("\\n"),
                (_, '\t') => self.put("\\t"),
                (_, '\'' | '\\') => {
                    self.put("\\");
                    self.out.push(*letter);
                }
                (_, '"' | '?') if self.chance.once_in(2) => {
                    self.put("\\");
                    self.out.push(*letter);
                }
                _ => self.out.push(*letter),
            }
        }
        self.put("'");
    }

    /// A word that means exactly itself, often one that looks like something else.
    pub(super) fn literal(&mut self) {
        let meaning = match self.chance.below(12) {
            0 => self.decoy_text(),
            1..=4 => self.chance.pick(&["a", "b", "-n", "--", "x.y", "f1", "-f", "0"]).to_owned(),
            5..=8 => {
                let odd = [
                    "b c", "it's", "x;y", "|", "&&", "a*b", "#c", "{a,b}", "~", "\\", "a\\b", "\n",
                    "\t", "é", "!", "*", "?", "[a]", "=x", "a=b", "$x", "${x}", "$((1))", "'",
                    "\"", "`", "", "a\nb", ")", ";;", "\\n", "\\$x", "<", ">o", "a b  c", "$",
                    "~/x", "$'a'", "{1..3}", "@(a|b)", "\\\n", "-", " ", "\\\\", "\u{1}",
                ];
                let index = self.chance.below(odd.len() - 1);
                odd.get(index).copied().unwrap_or_default().to_owned()
            }
            _ => {
                // Reserved words are ordinary words where no command begins.
                let words = [
                    "if", "then", "fi", "do", "done", "case", "esac", "in", "for", "while", "{",
                    "}", "[[", "]]", "!", "time", "function", "select", "coproc", "else", "until",
                ];
                let word = self.chance.pick(&words);
                self.put(word);
                return;
            }
        };
        self.spell(&meaning);
    }

    /// Text that would run a command if it were not quoted.
    pub(super) fn decoy_text(&mut self) -> String {
        let tag = self.decoy();
        match self.chance.below(8) {
            0 => format!("`p1 {tag}`"),
            1 => format!("; p1 {tag}"),
            2 => format!("x\np1 {tag}\n"),
            3 => format!("<(p1 {tag})"),
            4 => format!("${{x:-$(p1 {tag})}}"),
            5 => format!("a' \"$(p1 {tag})\" 'b"),
            6 => format!("$((a[$(p1 {tag})]))"),
            _ => format!("$(p1 {tag})"),
        }
    }
}
