//! Peers: who is measured, and what is asked of them.

use brush_parser::{ParserOptions, TokenizerOptions};
use portcullis_shell::{Dialect, Reader};

/// A parser that is measured.
pub trait Peer {
    /// Its name in the table.
    fn name(&self) -> &'static str;
    /// Reads a command; whether it was read without complaint.
    fn read(&mut self, command: &str) -> bool;
}

/// Our reader: the tree, with every word folded to its value.
pub struct Ours(pub Reader);

impl Default for Ours {
    fn default() -> Ours {
        Ours(Reader::new(Dialect::Bash))
    }
}

impl Peer for Ours {
    fn name(&self) -> &'static str {
        "portcullis-shell"
    }

    fn read(&mut self, command: &str) -> bool {
        self.0.parse(command.as_bytes()).is_ok()
    }
}

/// tree-sitter with the bash grammar: the tree; words keep their quotes.
pub struct TreeSitter(tree_sitter::Parser);

impl Default for TreeSitter {
    fn default() -> TreeSitter {
        let mut parser = tree_sitter::Parser::new();
        parser
            .set_language(&tree_sitter_bash::LANGUAGE.into())
            .expect("the grammar fits the library");
        TreeSitter(parser)
    }
}

impl Peer for TreeSitter {
    fn name(&self) -> &'static str {
        "tree-sitter-bash"
    }

    fn read(&mut self, command: &str) -> bool {
        self.0.parse(command, None).is_some_and(|tree| !tree.root_node().has_error())
    }
}

/// brush-parser: tokens, then the tree; words and what is inside them stay text. Its cache of
/// tokens is passed by.
#[derive(Default)]
pub struct Brush {
    tokenizer: TokenizerOptions,
    parser: ParserOptions,
}

impl Peer for Brush {
    fn name(&self) -> &'static str {
        "brush-parser"
    }

    fn read(&mut self, command: &str) -> bool {
        brush_parser::uncached_tokenize_str(command, &self.tokenizer)
            .is_ok_and(|tokens| brush_parser::parse_tokens(&tokens, &self.parser).is_ok())
    }
}
