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
    let mut printer = Printer { tree, out: Vec::new(), waiting: Vec::new(), has_bodies: false };
    printer.script(tree.root, true);
    printer.flush();
    printer.out
}

struct Printer<'t> {
    tree: &'t Tree,
    out: Vec<u8>,
    /// Redirections whose here-documents follow the next newline.
    waiting: Vec<Redirection>,
    /// Whether bodies were printed, after which a `;` may be lost in a substitution.
    has_bodies: bool,
}

impl Printer<'_> {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
    }

    /// Prints items, each with its separator.
    fn script(&mut self, script: Script, on_lines: bool) {
        for item in self.tree.list(script.items) {
            self.item(*item);
            let has_body = self.has_body();
            // A here-document that never got a body must not get the next line as one.
            let on_line = has_body || self.waiting.is_empty() && (on_lines || self.has_bodies);
            match (item.background, on_line) {
                (true, true) => self.put(" &\n"),
                (true, false) => self.put(" & "),
                (false, true) => self.put("\n"),
                (false, false) => self.put("; "),
            }
            if has_body {
                self.bodies();
            }
        }
    }

    /// Whether the waiting here-documents can be printed now. One that was never closed takes
    /// all that follows, so it waits until there is nothing more.
    fn has_body(&self) -> bool {
        !self.waiting.is_empty()
            && self
                .waiting
                .iter()
                .all(|redirection| redirection.heredoc.is_some_and(|heredoc| heredoc.closed))
    }

    /// Prints what still waits at the end of a text.
    fn flush(&mut self) {
        let has_text = self.waiting.iter().any(|redirection| {
            let body = redirection.heredoc.and_then(|heredoc| self.tree.only(heredoc.body));
            body.is_some_and(|word| !word.span.is_empty())
        });
        let has_closed = self
            .waiting
            .iter()
            .any(|redirection| redirection.heredoc.is_some_and(|heredoc| heredoc.closed));
        if has_text || has_closed {
            self.put("\n");
            self.bodies();
        }
        self.waiting.clear();
    }

    fn bodies(&mut self) {
        self.has_bodies = true;
        for redirection in std::mem::take(&mut self.waiting) {
            let Some(heredoc) = redirection.heredoc else { continue };
            for word in self.tree.list(heredoc.body) {
                self.body(word);
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
        let mut inner =
            Printer { tree: self.tree, out: Vec::new(), waiting: Vec::new(), has_bodies: false };
        inner.script(script, false);
        inner.flush();
        inner.out
    }

    fn item(&mut self, item: Item) {
        for pipeline in self.tree.list(item.pipelines) {
            match pipeline.join {
                Join::First => {}
                Join::And => self.operator(" && "),
                Join::Or => self.operator(" || "),
            }
            self.pipeline(*pipeline);
        }
    }

    /// An operator that a line may end with; the bodies of here-documents follow at once, since
    /// the next command may go over lines.
    fn operator(&mut self, operator: &str) {
        self.put(operator);
        if self.has_body() {
            self.put("\n");
            self.bodies();
        }
    }

    fn pipeline(&mut self, pipeline: Pipeline) {
        if let Some(time) = pipeline.time {
            self.put(if time.posix { "time -p " } else { "time " });
            let first = self.tree.only(pipeline.commands);
            let is_bare = pipeline.bangs == 0;
            if is_bare && first.is_some_and(|command| self.begins_with_option(command)) {
                self.put("-- ");
            }
        }
        for _ in 0..pipeline.bangs {
            self.put("! ");
        }
        let commands = self.tree.list(pipeline.commands);
        for (at, command) in commands.iter().enumerate() {
            self.command(command);
            if at + 1 < commands.len() {
                self.operator(if command.pipes_errors { " |& " } else { " | " });
            }
        }
    }
}
