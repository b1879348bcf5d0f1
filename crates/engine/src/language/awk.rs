//! awk programs: what they read, write and run.
//!
//! [`lexer`] cuts the program into tokens, which takes telling a regular expression from a
//! division; this file walks over them. It does not parse: which `>` is a redirection and where
//! a command comes from can be told from the tokens around it, and what cannot counts as a name
//! or command not known before it runs.

use self::lexer::{Brackets, Kind, Token, Trouble, tokens};
use super::{Environment, Facts, Run, is_stream};

mod lexer;
#[cfg(test)]
mod tests;

/// Reads the text of one awk program.
#[must_use]
pub fn awk(program: &[u8]) -> Facts {
    if std::str::from_utf8(program).is_err() {
        return Facts::of_unknown("the awk program is not UTF-8");
    }
    let mut is_torn = false;
    let mut facts = match tokens(program, Brackets::Hide, &mut is_torn) {
        Ok(tokens) => Walk::new(&tokens).read(),
        Err(Trouble::Broken(reason) | Trouble::Unsure(reason)) => Facts::of_unknown(reason),
    };
    if is_torn {
        // Some awks end `/[/]/` at the second slash. What they then refuse they do not run.
        match tokens(program, Brackets::Show, &mut is_torn) {
            Ok(tokens) => facts.merge(Walk::new(&tokens).read()),
            Err(Trouble::Broken(_)) => {}
            Err(Trouble::Unsure(reason)) => facts.doubt(reason),
        }
    }
    facts
}

struct Walk<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
    facts: Facts,
    /// Open parentheses, brackets and braces; `true` for the parentheses of `sub` and `gsub`.
    open: Vec<bool>,
    /// How many of them are those of `sub` and `gsub`, which write to their third argument.
    substitutions: usize,
    /// How many were open when a `print` began that has not ended.
    print: Option<usize>,
    /// How many were open when a `getline` came that may still be redirected.
    getline: Option<usize>,
    writes_environment: bool,
}

impl<'a, 't> Walk<'a, 't> {
    const fn new(tokens: &'a [Token<'t>]) -> Walk<'a, 't> {
        Walk {
            tokens,
            at: 0,
            facts: Facts {
                reads: Vec::new(),
                writes: Vec::new(),
                deletes: Vec::new(),
                runs: Vec::new(),
                connects: false,
                environment: Environment::Untouched,
                unknown: None,
            },
            open: Vec::new(),
            substitutions: 0,
            print: None,
            getline: None,
            writes_environment: false,
        }
    }

    fn read(mut self) -> Facts {
        while let Some(token) = self.tokens.get(self.at) {
            self.read_token(token);
            self.at += 1;
        }
        // Commands inherit what the program does to its environment, `PATH` included.
        if self.writes_environment && !self.facts.runs.is_empty() {
            self.facts.runs = vec![Run::Unknown];
        }
        self.facts
    }

    fn read_token(&mut self, token: &Token<'t>) {
        match token.kind {
            Kind::Open => {
                let called = self.before(1).map(|token| token.text);
                let substitutes = matches!(called, Some(b"sub" | b"gsub"));
                self.substitutions += usize::from(substitutes);
                self.open.push(substitutes);
            }
            Kind::Close => {
                self.substitutions -= usize::from(self.open.pop() == Some(true));
                self.end_if_outside();
                if token.text == b"}" {
                    self.print = None;
                    self.getline = None;
                }
            }
            Kind::End => {
                if self.print.is_some_and(|depth| depth >= self.open.len()) {
                    self.print = None;
                }
                self.getline = None;
            }
            Kind::Name => self.read_name(token.text),
            Kind::Greater if self.print == Some(self.open.len()) => {
                let file = self.string_before_end();
                self.add_file(file, Access::Write);
            }
            Kind::Less if self.getline == Some(self.open.len()) => {
                self.getline = None;
                let file = self.string_before(&[Kind::Operator, Kind::Greater, Kind::Less]);
                self.add_file(file, Access::Read);
            }
            Kind::Pipe => self.read_pipe(token.text),
            Kind::At => self.read_at(),
            Kind::Greater | Kind::Join => self.getline = None,
            Kind::Less
            | Kind::String
            | Kind::Number
            | Kind::Regex
            | Kind::Assign
            | Kind::Increment
            | Kind::Dollar
            | Kind::Operator => {}
        }
    }

    fn read_name(&mut self, name: &'t [u8]) {
        match name {
            b"print" | b"printf" => self.print = Some(self.open.len()),
            b"getline" => self.getline = Some(self.open.len()),
            b"system" => match (self.after(1), self.after(2), self.after(3)) {
                // `system("")` is an old way to flush what was printed.
                (Some(b"("), Some(b"\"\""), Some(b")")) => {}
                (Some(b"("), Some(_), Some(b")")) => {
                    let text = self.tokens.get(self.at + 2).and_then(Token::value);
                    self.run(text);
                }
                _ => self.facts.runs.push(Run::Unknown),
            },
            b"ENVIRON" => {
                let read = self.environment_read();
                self.facts.environment = self.facts.environment.max(read);
                self.writes_environment |= self.may_change_element();
            }
            // awk reads its remaining arguments as files, or as assignments.
            b"ARGV" if self.may_change_element() => self.facts.reads.push(None),
            b"SYMTAB" => self.facts.doubt("the awk program reaches variables by name"),
            _ => {}
        }
    }

    /// How much of the environment is read here: one variable, if its name stands between the
    /// brackets as it is.
    fn environment_read(&self) -> Environment {
        let token = |ahead: usize| self.tokens.get(self.at + ahead);
        let is_plain =
            |token: &Token<'_>| token.kind == Kind::String && !token.text.contains(&b'\\');
        let text = |ahead: usize| token(ahead).map(|token| token.text);
        let is_named = text(1) == Some(b"[") && text(3) == Some(b"]");
        if is_named && token(2).is_some_and(is_plain) {
            Environment::Named
        } else {
            Environment::Whole
        }
    }

    /// Whether the array that stands here may be written to by what surrounds it.
    fn may_change_element(&self) -> bool {
        let before = self.before(1);
        match before.map(|token| token.text) {
            Some(b"in" | b"delete") => return false,
            Some(b"getline") => return true,
            _ => {}
        }
        if before.is_some_and(|token| token.kind == Kind::Increment) || self.substitutions > 0 {
            return true;
        }
        if self.after(1) != Some(b"[") {
            // A whole array given to a function may come back changed.
            let called = self.before(2).map(|token| token.text);
            return called != Some(b"length");
        }
        let Some(close) = self.closing_bracket() else { return true };
        let next = self.tokens.get(close + 1).map(|token| token.kind);
        matches!(next, Some(Kind::Assign | Kind::Increment))
    }

    /// The index of the bracket that closes the one behind this name, if it is near.
    ///
    /// A subscript is short; behind a long one anything may happen, and reading stays linear.
    fn closing_bracket(&self) -> Option<usize> {
        const NEAR: usize = 32;
        let mut depth = 0_usize;
        let start = self.at + 1;
        for (index, token) in self.tokens.iter().enumerate().skip(start).take(NEAR) {
            if token.kind == Kind::Open {
                depth += 1;
            } else if token.kind == Kind::Close {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// `|` and `|&`: towards a command, or from one into `getline`.
    fn read_pipe(&mut self, text: &[u8]) {
        let is_input = self.after(1) == Some(b"getline");
        let command = if is_input {
            // Only if nothing before the string could be joined to it.
            let begins = self.before(2).is_none_or(Token::begins_expression);
            self.before(1).filter(|_| begins).and_then(Token::value)
        } else if self.print == Some(self.open.len()) {
            self.string_before_end()
        } else {
            None
        };
        let is_socket = command.as_ref().is_some_and(|name| name.starts_with(b"/inet"));
        if text == b"|&" && is_socket {
            self.facts.connects = true;
        } else {
            self.run(command);
        }
    }

    /// `@include`, `@load`, `@namespace`, a call by name, or a typed regular expression.
    fn read_at(&mut self) {
        let Some(next) = self.tokens.get(self.at + 1) else {
            return self.facts.doubt("an awk program with a stray `@`");
        };
        match (next.kind, next.text) {
            (Kind::Regex, _) => {}
            (Kind::Name, b"include") => self.facts.doubt("the awk program includes another"),
            (Kind::Name, b"load") => self.facts.doubt("the awk program loads a library"),
            (Kind::Name, b"namespace") => self.facts.doubt("the awk program has a namespace"),
            (Kind::Name, _) => self.facts.runs.push(Run::Unknown),
            _ => self.facts.doubt("an awk program with a stray `@`"),
        }
    }

    fn run(&mut self, text: Option<Vec<u8>>) {
        self.facts.runs.push(text.map_or(Run::Unknown, Run::Shell));
    }

    fn add_file(&mut self, file: Option<Vec<u8>>, access: Access) {
        if let Some(name) = &file {
            if name.starts_with(b"/inet") {
                self.facts.connects = true;
                return;
            }
            if is_stream(name) || (name == b"-" && access == Access::Read) {
                return;
            }
        }
        match access {
            Access::Read => self.facts.reads.push(file),
            Access::Write => self.facts.writes.push(file),
        }
    }

    /// The string behind this token, if the statement ends with it.
    fn string_before_end(&self) -> Option<Vec<u8>> {
        self.string_before(&[])
    }

    /// The string behind this token, if the statement, the parenthesis or the operand ends there.
    fn string_before(&self, ends: &[Kind]) -> Option<Vec<u8>> {
        let value = self.tokens.get(self.at + 1)?.value()?;
        let is_end = match self.tokens.get(self.at + 2) {
            None | Some(Token { kind: Kind::End | Kind::Join | Kind::Close, .. }) => true,
            Some(token) => ends.contains(&token.kind),
        };
        is_end.then_some(value)
    }

    /// Leaving the parentheses in which it stood ends a `getline`.
    fn end_if_outside(&mut self) {
        if self.getline.is_some_and(|depth| depth > self.open.len()) {
            self.getline = None;
        }
    }

    fn before(&self, count: usize) -> Option<&'a Token<'t>> {
        self.tokens.get(self.at.checked_sub(count)?)
    }

    fn after(&self, count: usize) -> Option<&'t [u8]> {
        self.tokens.get(self.at + count).map(|token| token.text)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}
