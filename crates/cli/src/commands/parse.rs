//! `portcullis parse`: how a shell text is read, or why it is refused.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use portcullis_shell::{Dialect, Reader};

use crate::palette::Palette;
use crate::render;

/// Shows how a shell text is read: exit code 0, or 1 with the reason why it is refused.
#[derive(Args)]
pub struct Parse {
    /// Whose grammar the text is read by.
    #[arg(long, value_enum, default_value = "bash")]
    dialect: Grammar,
    /// Writes JSON, with byte offsets on everything.
    #[arg(long)]
    json: bool,
    /// The text; `-` reads standard input.
    text: OsString,
}

/// The dialects, as arguments.
#[derive(Clone, Copy, ValueEnum)]
enum Grammar {
    /// GNU bash.
    Bash,
    /// What every POSIX shell reads alike.
    Sh,
    /// What zsh reads as bash does.
    Zsh,
}

impl Parse {
    /// Reads the text and shows what became of it.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let dialect = match self.dialect {
            Grammar::Bash => Dialect::Bash,
            Grammar::Sh => Dialect::Sh,
            Grammar::Zsh => Dialect::Zsh,
        };
        let text = given(self.text)?;
        match Reader::new(dialect).parse(&text) {
            Ok(tree) if self.json => render::json::tree(out, &tree)?,
            Ok(tree) => render::tree::tree(out, &tree, palette)?,
            Err(refusal) => {
                if self.json {
                    render::json::refusal(out, dialect, &text, &refusal)?;
                } else {
                    render::refusal::refusal(out, &text, &refusal, palette)?;
                }
                return Ok(ExitCode::FAILURE);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The bytes of the argument, or of standard input where it is `-`.
fn given(text: OsString) -> anyhow::Result<Vec<u8>> {
    if text != "-" {
        return Ok(text.into_encoded_bytes());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}
