//! The printer: from a tree back to text that reads as the same tree.
//!
//! Comments and the choice between `;` and newlines are gone; every word is kept as written, with
//! line continuations taken out.

mod command;
mod word;

use crate::tree::{Item, Join, Pipeline, Redirection, Script, Tree};

/// Prints a tree as shell text. Reading the text in the same dialect gives the same tree.
#[must_use]
pub fn print(tree: &Tree) -> Vec<u8> {
    let mut printer = Printer { tree, out: Vec::new(), waiting: Vec::new() };
    printer.script(tree.root, true);
    printer.flush();
    printer.out
}

struct Printer<'t> {
    tree: &'t Tree,
    out: Vec<u8>,
    /// Redirections whose here-documents follow the next newline.
    waiting: Vec<Redirection>,
}

impl Printer<'_> {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
    }

    /// Prints items, each with its separator.
    fn script(&mut self, script: Script, on_lines: bool) {
        for item in self.tree.list(script.items) {
            self.item(*item);
            match (item.background, self.has_body()) {
                (true, _) => self.put(" &"),
                (false, false) if !on_lines => self.put(";"),
                (false, _) => {}
            }
            if self.has_body() {
                self.put("\n");
                self.bodies();
            } else {
                self.put(if on_lines { "\n" } else { " " });
            }
        }
    }

    /// Whether a waiting here-document has something to print.
    fn has_body(&self) -> bool {
        self.waiting.iter().any(|redirection| {
            redirection.heredoc.is_some_and(|heredoc| {
                let body = self.tree.only(heredoc.body);
                heredoc.closed || body.is_some_and(|word| !word.span.is_empty())
            })
        })
    }

    /// Prints what still waits at the end of a script.
    fn flush(&mut self) {
        if self.has_body() {
            self.put("\n");
            self.bodies();
        }
        self.waiting.clear();
    }

    fn bodies(&mut self) {
        for redirection in std::mem::take(&mut self.waiting) {
            let Some(heredoc) = redirection.heredoc else { continue };
            for word in self.tree.list(heredoc.body) {
                self.body(word, heredoc.quoted);
            }
            if heredoc.closed {
                let delimiter = self.delimiter(&redirection);
                self.put(delimiter);
                self.put("\n");
            }
        }
    }

    /// A script of its own, with its own here-documents, as text.
    fn nested(&mut self, script: Script) -> Vec<u8> {
        let mut inner = Printer { tree: self.tree, out: Vec::new(), waiting: Vec::new() };
        inner.script(script, false);
        inner.flush();
        inner.out
    }

    fn item(&mut self, item: Item) {
        for pipeline in self.tree.list(item.pipelines) {
            match pipeline.join {
                Join::First => {}
                Join::And => self.put(" && "),
                Join::Or => self.put(" || "),
            }
            self.pipeline(*pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: Pipeline) {
        if let Some(time) = pipeline.time {
            self.put(if time.posix { "time -p " } else { "time " });
        }
        for _ in 0..pipeline.bangs {
            self.put("! ");
        }
        let commands = self.tree.list(pipeline.commands);
        for (at, command) in commands.iter().enumerate() {
            self.command(command);
            if at + 1 < commands.len() {
                self.put(if command.pipes_errors { " |& " } else { " | " });
            }
        }
    }
}
