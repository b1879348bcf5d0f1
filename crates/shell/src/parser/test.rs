//! `[[ … ]]`: words, operators and brackets with a grammar of their own.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::{Class, class, is_break};
use crate::parser::brackets::{Rules, Single};
use crate::parser::words::{Parts, push_literal};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Kind, Test, TestKind};
use crate::word::{Place, Word};

/// Operators that stand before one word: `-f` and its kin.
const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

/// Operators that stand between two words, but for `<` and `>`.
const BINARY: [&[u8]; 13] = [
    b"=", b"==", b"!=", b"=~", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge", b"-nt", b"-ot",
    b"-ef",
];

/// How the right side of an operator is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Word,
    Pattern,
    Regex,
}

impl Parser<'_> {
    /// Reads up to `]]` and over it; the parser stands behind `[[`.
    pub(crate) fn double_bracket(&mut self, start: usize) -> Parsed<Kind> {
        let test = self.or_test()?;
        self.skip_newlines()?;
        let Some(end) = self.closer_end() else {
            if self.pos >= self.end {
                return Err(self.unclosed(start, 2, "`[[`", "]]"));
            }
            return Err(self.unexpected("`]]`"));
        };
        self.pos = end;
        Ok(Kind::Test(self.one(test)))
    }

    fn is_at_closer(&self) -> bool {
        self.closer_end().is_some()
    }

    /// The offset behind the `]]` that stands here.
    fn closer_end(&self) -> Option<usize> {
        let (second, at) = self.second();
        (self.here() == b']' && second == b']' && self.ends_word(at + 1)).then_some(at + 1)
    }

    /// Whether a word ends at `at`; a process substitution would go on with it.
    fn ends_word(&self, at: usize) -> bool {
        let at = self.joined(at);
        let goes_on =
            matches!(self.byte(at), b'<' | b'>') && self.byte(self.joined(at + 1)) == b'(';
        is_break(self.byte(at)) && !goes_on
    }

    fn or_test(&mut self) -> Parsed<Test> {
        self.joined_tests(b'|')
    }

    /// Tests joined by `||`, each of which is tests joined by `&&`.
    fn joined_tests(&mut self, sign: u8) -> Parsed<Test> {
        let mut tests = Few::<Test, 2>::new();
        let begin = self.pos;
        loop {
            let test = if sign == b'|' { self.joined_tests(b'&')? } else { self.term()? };
            tests.push(test);
            self.skip_blanks();
            let (second, at) = self.second();
            if self.here() != sign || second != sign {
                break;
            }
            self.pos = at + 1;
        }
        if let [only] = *tests.as_slice() {
            return Ok(only);
        }
        let span = Span::new(begin, self.pos);
        let list = tests.shelve(&mut self.tree);
        let kind = if sign == b'|' { TestKind::Or(list) } else { TestKind::And(list) };
        Ok(Test { span, kind })
    }

    fn term(&mut self) -> Parsed<Test> {
        self.skip_newlines()?;
        let begin = self.pos;
        match self.here() {
            b'!' if self.ends_word(begin + 1) && self.byte(begin + 1) != b'(' || self.is_bang() => {
                self.pos += 1;
                let inner = self.deeper(Parser::term)?;
                let kind = TestKind::Not(self.one(inner));
                return Ok(Test { span: Span::new(begin, self.pos), kind });
            }
            b'(' => {
                self.pos += 1;
                let inner = self.deeper(Parser::or_test)?;
                self.skip_newlines()?;
                if self.here() != b')' {
                    return Err(self.unexpected("`)`"));
                }
                self.pos += 1;
                let kind = TestKind::Group(self.one(inner));
                let test = Test { span: Span::new(begin, self.pos), kind };
                self.skip_newlines()?;
                return Ok(test);
            }
            b'-' if UNARY.contains(&self.byte(begin + 1)) && self.ends_word(begin + 2) => {
                self.pos += 2;
                let operator = Span::new(begin, self.pos);
                let word = self.operand(Side::Word)?;
                let kind = TestKind::Unary(operator, self.one(word));
                let test = Test { span: Span::new(begin, self.pos), kind };
                self.skip_newlines()?;
                return Ok(test);
            }
            _ => {}
        }
        self.comparison()
    }

    /// Whether a `!` before `(` negates; with `extglob` it would begin a pattern.
    fn is_bang(&self) -> bool {
        self.byte(self.pos + 1) == b'(' && !self.extglob
    }

    /// A word alone, or two with an operator between them.
    fn comparison(&mut self) -> Parsed<Test> {
        let begin = self.pos;
        let left = self.operand(Side::Word)?;
        let after_left = self.pos;
        self.skip_blanks();
        let Some((operator, side)) = self.binary_operator() else {
            let is_end = self.is_at_closer()
                || matches!(
                    (self.here(), self.second().0),
                    (b')', _) | (b'&', b'&') | (b'|', b'|')
                );
            if !is_end {
                let end = self.run(self.pos, |byte| !is_break(byte));
                let text = self.tree.text(Span::new(self.pos, end));
                if text.ends_with(b"\\") && self.byte(end) == b'\n' {
                    let what = "a line break inside an operator of `[[`";
                    return Err(self.unsupported(self.pos, end, what));
                }
                return Err(self.unexpected("an operator or `]]`"));
            }
            let first = self.byte(begin);
            if self.reader.dialect == Dialect::Zsh && matches!(first, b'-' | b'!') {
                return Err(self.unsupported(begin, after_left, "this test"));
            }
            let kind = TestKind::Word(self.one(left));
            return Ok(Test { span: Span::new(begin, after_left), kind });
        };
        self.pos = operator.end as usize;
        let right = self.operand(side)?;
        let mut words = Few::<Word, 2>::new();
        words.push(left);
        words.push(right);
        let kind = TestKind::Binary(operator, words.shelve(&mut self.tree));
        let test = Test { span: Span::new(begin, self.pos), kind };
        self.skip_newlines()?;
        Ok(test)
    }

    fn binary_operator(&self) -> Option<(Span, Side)> {
        let start = self.pos;
        if matches!(self.here(), b'<' | b'>') && self.second().0 != b'(' {
            return Some((Span::new(start, start + 1), Side::Word));
        }
        let mut end = start;
        while !is_break(self.byte(end)) && self.joined(end) == end {
            end += 1;
        }
        if !self.ends_word(end) {
            return None;
        }
        let span = Span::new(start, end);
        let text = self.tree.text(span);
        let side = match text {
            b"=" | b"==" | b"!=" => Side::Pattern,
            b"=~" => Side::Regex,
            _ => Side::Word,
        };
        BINARY.contains(&text).then_some((span, side))
    }

    fn operand(&mut self, side: Side) -> Parsed<Word> {
        self.skip_blanks();
        if self.is_at_closer() {
            return Err(self.unexpected("a word"));
        }
        if side == Side::Regex && matches!(self.here(), b')' | b'&') {
            return Err(self.unsupported(self.pos, self.pos + 1, "nothing as an expression"));
        }
        let is_regex_start = side == Side::Regex && matches!(self.here(), b'(' | b'|');
        if is_break(self.here()) && !self.is_at_process() && !is_regex_start {
            return Err(self.unexpected("a word"));
        }
        if self.reader.dialect == Dialect::Zsh && self.here() == b'!' {
            return Err(self.unsupported(self.pos, self.pos + 1, "`!` as an operand"));
        }
        match side {
            Side::Word => self.word(Place::Single),
            Side::Pattern => {
                let outer = self.extglob;
                self.extglob |= self.reader.dialect == Dialect::Bash;
                let word = self.word(Place::Pattern);
                self.extglob = outer;
                word
            }
            Side::Regex => self.regex(),
        }
    }

    /// The right side of `=~`, where parentheses hold blanks together and `|` is text.
    fn regex(&mut self) -> Parsed<Word> {
        let start = self.pos;
        let mut parts = Parts::new();
        let mut has_brace = false;
        loop {
            let run = self.pos;
            while class(self.here()) == Class::Plain || self.here() == b'|' {
                self.pos += 1;
            }
            if self.pos > run {
                let is_split = self.tree.text(Span::new(run, self.pos)).contains(&b'|');
                if is_split && self.reader.dialect == Dialect::Zsh {
                    return Err(self.unsupported(run, self.pos, "`|` in an expression"));
                }
                push_literal(&mut parts, run, self.pos);
            }
            if self.here() == b'(' {
                self.regex_group(&mut parts)?;
            } else if class(self.here()) == Class::Break
                || !self.special(&mut parts, Place::Pattern, start, &mut has_brace)?
            {
                break;
            }
        }
        self.finish_word(start, &mut parts, Place::Pattern, false)
    }

    fn regex_group(&mut self, parts: &mut Parts) -> Parsed<()> {
        let open = self.pos;
        if self.reader.dialect == Dialect::Zsh {
            return Err(self.unsupported(open, open + 1, "a group in an expression"));
        }
        push_literal(parts, open, open + 1);
        self.pos += 1;
        let rules = Rules {
            stops: b")",
            nests: (b'(', b')'),
            single: Single::Quotes,
            quoted: false,
            bares: true,
            in_braces: false,
            opener: (open, 1, "the group", ")"),
        };
        let counted = self.counted_end(self.pos, b'(', b')')?;
        let unseen = self.unseen;
        let inner = self.bracketed("in a group of an expression", counted, |parser| {
            parser.deeper(|parser| parser.enclosed(&rules))
        })?;
        self.same_end(open, self.pos, counted)?;
        if self.unseen != unseen {
            let what = "a comment or here-document in a group of an expression";
            return Err(self.unsupported(open, self.pos, what));
        }
        for &part in inner.as_slice() {
            parts.push(part);
        }
        push_literal(parts, self.pos, self.pos + 1);
        self.pos += 1;
        Ok(())
    }
}
