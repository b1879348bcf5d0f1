//! The input all targets share: one byte says how to read, the rest is the text.

use portcullis_shell::{Dialect, Reader};

/// The reader and the text of an input. Seeds begin with `0`: bash, nothing else on.
pub fn split(data: &[u8]) -> (Reader, &[u8]) {
    let (&how, text) = data.split_first().unwrap_or((&b'0', &[]));
    let dialect = match how & 0b11 {
        1 => Dialect::Sh,
        2 => Dialect::Zsh,
        _ => Dialect::Bash,
    };
    let extglob = how & 0b100 != 0;
    let interactive = how & 0b1000 != 0;
    (Reader { extglob, interactive, ..Reader::new(dialect) }, text)
}
