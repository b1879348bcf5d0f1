//! A fault of a policy file or of the configuration: the sentence, the place underlined, the way
//! out.

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use portcullis_daemon::config::ConfigError;
use portcullis_layers::LayerError;

use super::excerpt::Spot;
use super::notes;
use super::paragraph::{self, COLUMNS};
use crate::escape;
use crate::palette::{Ink, Palette};

/// Writes why there is no policy.
pub fn layer_error(out: &mut impl Write, error: &LayerError, palette: Palette) -> io::Result<()> {
    match error {
        LayerError::Unreadable { .. } => {
            let title = palette.paint(Ink::Refused, "error");
            writeln!(out, "{title}: {}", escape::line(error.to_string().as_bytes()))
        }
        LayerError::Broken { path, text, error } => {
            let fault = Fault {
                title: ("error", Ink::Refused),
                message: &error.message,
                path,
                text,
                span: error.span.clone(),
                help: error.help.as_deref(),
            };
            fault.write(out, palette)
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug)]
pub struct BrokenConfig {
    /// The file.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
    /// What is wrong with it.
    pub error: ConfigError,
}

impl std::error::Error for BrokenConfig {}

impl fmt::Display for BrokenConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "broken configuration `{}`: {}", self.path.display(), self.error)
    }
}

/// Writes why there is no configuration.
pub fn config_error(
    out: &mut impl Write,
    broken: &BrokenConfig,
    palette: Palette,
) -> io::Result<()> {
    let BrokenConfig { path, text, error } = broken;
    let fault = Fault {
        title: ("error", Ink::Refused),
        message: &error.message,
        path,
        text,
        span: error.span.clone(),
        help: error.help.as_deref(),
    };
    fault.write(out, palette)
}

/// The same as [`layer_error`] on one line.
pub fn sentence(error: &LayerError) -> String {
    let sentence = match error {
        LayerError::Broken { path, text, error } => {
            let place =
                error.span.as_ref().map(|span| notes::position(text.as_bytes(), span.start));
            let place = place.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
            format!("broken policy file `{}{place}`: {error}", path.display())
        }
        LayerError::Unreadable { .. } => error.to_string(),
    };
    escape::line(sentence.as_bytes())
}

/// Something about a file.
pub struct Fault<'a> {
    /// What it is called, and how it looks.
    pub title: (&'static str, Ink),
    /// The sentence.
    pub message: &'a str,
    /// The file.
    pub path: &'a Path,
    /// What stands in it.
    pub text: &'a str,
    /// The bytes it is about.
    pub span: Option<Range<usize>>,
    /// The way out.
    pub help: Option<&'a str>,
}

impl Fault<'_> {
    /// Writes it.
    pub fn write(&self, out: &mut impl Write, palette: Palette) -> io::Result<()> {
        let (title, ink) = self.title;
        // The first line also holds the title, the colon and the blank behind it.
        let room = COLUMNS - title.len() - 2;
        let sentence = paragraph::lines(self.message, room).join("\n    ");
        writeln!(out, "{}: {sentence}", palette.paint(ink, title))?;
        let path = self.path.to_string_lossy();
        let bar = if let Some(bytes) = self.span.clone() {
            let text = self.text.as_bytes();
            Spot { name: Some(&path), text, bytes, ink }.write(out, palette)?
        } else {
            let arrow = palette.paint(Ink::Frame, "-->");
            writeln!(out, " {arrow} {}", escape::line(path.as_bytes()))?;
            format!("  {}", palette.paint(Ink::Frame, "="))
        };
        match self.help {
            Some(help) => {
                let help = paragraph::lines(help, COLUMNS - 12).join("\n          ");
                writeln!(out, "{bar} help: {help}")
            }
            None => Ok(()),
        }
    }
}
