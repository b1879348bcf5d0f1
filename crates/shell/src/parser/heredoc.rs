//! Here-documents: their bodies stand on the lines after the newline that ends the command.

use crate::dialect::Dialect;
use crate::parser::{Closer, Parsed, Parser};
use crate::span::Span;
use crate::tree::{Heredoc, Operator};
use crate::word::{Part, PartKind, Place, Word};

/// Where a body ends and where reading goes on.
struct Extent {
    end: usize,
    next: usize,
    closed: bool,
    /// Whether lines were joined or tabs are to be taken off, so that the body must be made.
    is_made: bool,
}

impl Parser<'_> {
    /// Moves over a newline; the bodies of waiting here-documents follow it.
    pub(crate) fn newline(&mut self) -> Parsed<()> {
        self.pos += 1;
        if self.waiting.is_empty() {
            return Ok(());
        }
        for place in std::mem::take(&mut self.waiting) {
            self.heredoc(place)?;
        }
        Ok(())
    }

    /// Ends the here-documents whose bodies never came.
    pub(crate) fn end_waiting(&mut self) -> Parsed<()> {
        let end = self.pos;
        if !self.waiting.is_empty() && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(end, end, "a here-document that is not closed"));
        }
        for place in std::mem::take(&mut self.waiting) {
            let body = self.body_word(Span::new(end, end), crate::tree::List::default());
            if let Some(redirection) = self.tree.redirections.get_mut(place) {
                let quoted = redirection.heredoc.is_some_and(|heredoc| heredoc.quoted);
                let span = Span::new(end, end);
                redirection.heredoc = Some(Heredoc { span, quoted, closed: false, body });
            }
        }
        Ok(())
    }

    fn heredoc(&mut self, place: usize) -> Parsed<()> {
        let Some(&redirection) = self.tree.redirections.get(place) else { return Ok(()) };
        let quoted = redirection.heredoc.is_some_and(|heredoc| heredoc.quoted);
        let tabs = redirection.operator == Operator::HeredocTabs;
        let delimiter = self
            .tree
            .only(redirection.target)
            .map_or_else(Vec::new, |word| self.without_quotes(word));
        let start = self.pos;
        let extent = self.extent(&delimiter, quoted, tabs)?;
        // The shell ends the last line even where the text does not.
        let is_cut = self.reader.dialect != Dialect::Zsh
            && !extent.closed
            && extent.end > start
            && self.byte(extent.end.saturating_sub(1)) != b'\n';
        let (from, mut to) = if extent.is_made || is_cut {
            self.make_body(start, extent.end, quoted, tabs)?
        } else {
            (start, extent.end)
        };
        let made = self.tree.text(Span::new(from, to));
        let is_continued =
            !extent.closed && !is_cut && extent.end > start && !made.ends_with(b"\n");
        if is_continued || is_cut && !quoted && self.byte(extent.end - 1) == b'\\' {
            return Err(self.unsupported(extent.end - 1, extent.end, "a last backslash"));
        }
        if !extent.closed && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, extent.end, "a here-document that is not closed"));
        }
        if is_cut {
            self.tree.origins.record(to, extent.end - 1);
            self.tree.text.push(b'\n');
            to += 1;
        }
        let parts = if quoted {
            let span = Span::new(from, to);
            if from == to {
                crate::tree::List::default()
            } else {
                self.one(Part { span, kind: PartKind::SingleQuoted(span) })
            }
        } else {
            // The body is a text of its own: nothing in it ends the substitution around it.
            self.late("in a here-document", |parser| {
                parser.nested(Closer::End, |parser| parser.within(from, to, Parser::body))
            })?
        };
        self.pos = extent.next;
        let body = self.body_word(Span::new(from, to), parts);
        let span = Span::new(start, extent.end);
        let heredoc = Heredoc { span, quoted, closed: extent.closed, body };
        if let Some(redirection) = self.tree.redirections.get_mut(place) {
            redirection.heredoc = Some(heredoc);
        }
        Ok(())
    }

    fn body_word(&mut self, span: Span, parts: crate::tree::List<Part>) -> crate::tree::List<Word> {
        self.one(Word::new(span, parts, Place::Body))
    }

    /// The text of a word with its quotes taken off.
    pub(super) fn without_quotes(&self, word: &Word) -> Vec<u8> {
        let mut text = Vec::new();
        for part in self.tree.list(word.parts) {
            if let PartKind::DoubleQuoted { parts, .. } = part.kind {
                for part in self.tree.list(parts) {
                    text.extend_from_slice(self.tree.text(unquoted(part)));
                }
            } else {
                text.extend_from_slice(self.tree.text(unquoted(part)));
            }
        }
        text
    }

    /// Finds the delimiter's line from the parser's place on.
    fn extent(&self, delimiter: &[u8], quoted: bool, tabs: bool) -> Parsed<Extent> {
        let mut at = self.pos;
        let mut is_made = false;
        let mut made = Vec::new();
        while at < self.end {
            let start = at;
            let mut content = start;
            while tabs && self.byte(content) == b'\t' {
                content += 1;
            }
            let rest = self.tree.text.get(content..self.end).unwrap_or_default();
            let len = rest.iter().position(|&byte| byte == b'\n');
            let mut line = rest.get(..len.unwrap_or(rest.len())).unwrap_or_default();
            let mut is_joined = false;
            if !quoted && line.contains(&b'\\') {
                is_joined = self.logical_line(&mut at, content, &mut made);
                if tabs {
                    // A line that was joined from several loses its tabs as one.
                    let from = made.iter().position(|&byte| byte != b'\t').unwrap_or(made.len());
                    made.drain(..from);
                }
                line = &made;
            } else {
                at = content + line.len() + usize::from(len.is_some());
            }
            let is_delimiter = line == delimiter;
            if is_delimiter {
                return Ok(Extent { end: start, next: at, closed: true, is_made });
            }
            let rest = line.strip_prefix(delimiter);
            if self.closer == Closer::Parenthesis
                && !is_joined
                && rest.is_some_and(|rest| rest.contains(&b')'))
            {
                let next = content + delimiter.len();
                if rest.is_some_and(|rest| rest.first() != Some(&b')')) {
                    let what = "a line that begins with the delimiter and goes on";
                    return Err(self.unsupported(start, next, what));
                }
                return Ok(Extent { end: start, next, closed: true, is_made });
            }
            is_made |= is_joined || content > start;
        }
        Ok(Extent { end: self.end, next: self.end, closed: false, is_made })
    }

    /// Reads one line into `line`, joining continued ones, and moves `at` behind it.
    /// Says whether lines were joined.
    fn logical_line(&self, at: &mut usize, content: usize, line: &mut Vec<u8>) -> bool {
        line.clear();
        let mut is_joined = false;
        *at = content;
        while *at < self.end {
            let byte = self.byte(*at);
            *at += 1;
            match byte {
                b'\n' => return is_joined,
                b'\\' if self.byte(*at) == b'\n' => {
                    *at += 1;
                    is_joined = true;
                }
                b'\\' if *at < self.end => {
                    line.push(byte);
                    line.push(self.byte(*at));
                    *at += 1;
                }
                _ => line.push(byte),
            }
        }
        is_joined
    }

    /// Makes the body without leading tabs and joined lines, behind the text.
    fn make_body(
        &mut self,
        start: usize,
        end: usize,
        quoted: bool,
        tabs: bool,
    ) -> Parsed<(usize, usize)> {
        self.derive(start, end - start)?;
        let from = self.tree.text.len();
        let mut at = start;
        let mut is_line_start = true;
        let mut is_new_run = true;
        while at < end {
            let byte = self.byte(at);
            let next = self.byte(at + 1);
            if byte == b'\\' && !quoted && next == b'\n' && at + 1 < end {
                at += 2;
                is_new_run = true;
                continue;
            }
            if is_line_start && tabs && byte == b'\t' {
                at += 1;
                is_new_run = true;
                continue;
            }
            if is_new_run {
                let made = self.tree.text.len();
                self.tree.origins.record(made, at);
                is_new_run = false;
            }
            self.tree.text.push(byte);
            at += 1;
            if byte == b'\\' && !quoted && at < end {
                self.tree.text.push(next);
                at += 1;
            }
            is_line_start = byte == b'\n' || (byte == b'\\' && next == b'\n');
        }
        let to = self.tree.text.len();
        if is_new_run {
            self.tree.origins.record(to, at.saturating_sub(1).max(start));
        }
        Ok((from, to))
    }
}

/// The text of a part without the quotes around it.
const fn unquoted(part: &Part) -> Span {
    if let PartKind::Escaped(inner) | PartKind::SingleQuoted(inner) | PartKind::AnsiC(inner) =
        part.kind
    {
        inner
    } else {
        part.span
    }
}
