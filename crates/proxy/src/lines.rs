//! Lines: messages as bytes, read whole and written one after another.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// The longest call that is judged.
pub const MOST_CALLED: usize = 8 << 20;

/// The longest message.
pub const MOST: u64 = 64 << 20;

/// So many messages may wait to be written.
const QUEUE: usize = 256;

/// Where lines are handed in.
pub type Outlet = mpsc::Sender<Vec<u8>>;

/// The next line with its end; none when there are no more.
///
/// A carriage return inside it is a blank to JSON and the end of a line to some programs, which
/// would find other messages in it than we do: it becomes a blank for both.
///
/// # Errors
/// The stream broke, or the line is longer than `most`.
pub async fn next(
    reader: &mut (impl AsyncBufRead + Unpin + Send),
    most: u64,
) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(most + 1).read_until(b'\n', &mut line).await?;
    if line.len() as u64 > most {
        return Err(Error::new(ErrorKind::InvalidData, "a message is too long"));
    }
    let end = line.len()
        - [&b"\r\n"[..], b"\n"].iter().find(|end| line.ends_with(end)).map_or(0, |end| end.len());
    for byte in line.iter_mut().take(end).filter(|byte| **byte == b'\r') {
        *byte = b' ';
    }
    Ok((!line.is_empty()).then_some(line))
}

/// Writes what is handed in, in order, until nobody hands in any more.
pub fn outlet(
    mut writer: impl AsyncWrite + Unpin + Send + 'static,
) -> (Outlet, tokio::task::JoinHandle<Result<()>>) {
    let (outlet, mut lines) = mpsc::channel::<Vec<u8>>(QUEUE);
    let written = tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            writer.write_all(&line).await?;
            writer.flush().await?;
        }
        writer.shutdown().await
    });
    (outlet, written)
}

/// The text of a line; none where it is no text.
#[must_use]
pub fn text(line: &[u8]) -> Option<&str> {
    str::from_utf8(line).ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_is_one_line_for_every_reader() {
        let mut reader: &[u8] = b"{\"a\":\r{\"b\":1}\r}\r\n{}\n\r\n{}\r";
        let mut lines = Vec::new();
        while let Some(line) = next(&mut reader, 100).await.unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(lines, ["{\"a\": {\"b\":1} }\r\n", "{}\n", "\r\n", "{} "]);
    }
}
