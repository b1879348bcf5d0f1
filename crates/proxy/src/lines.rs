//! Lines: messages as bytes, read whole and written one after another.

use std::io::{Error, ErrorKind, Result};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// The longest message that an agent may send: as long as a call may be.
pub const MOST_SENT: u64 = 8 << 20;

/// The longest message that a server may answer with.
pub const MOST_ANSWERED: u64 = 64 << 20;

/// So many messages may wait to be written.
const QUEUE: usize = 256;

/// Where lines are handed in.
pub type Outlet = mpsc::Sender<Vec<u8>>;

/// The next line with its end; none when there are no more.
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
