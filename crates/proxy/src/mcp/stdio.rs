//! A server that is a program of this machine, reached over its standard streams.

use tokio::io::{AsyncBufRead, AsyncWrite};

use super::{Relay, Setting};
use crate::ProxyError;
use crate::lines::{self, MOST};
use crate::program;

/// Starts the server and stands between it and the client until one of them ends.
///
/// # Errors
/// The server cannot be started, or a stream broke.
pub async fn run(
    setting: Setting,
    command: &[String],
    mut client: impl AsyncBufRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ProxyError> {
    let mut server = program::start(command)?;
    let (to_client, told) = lines::outlet(output);
    let (to_server, _) = lines::outlet(server.take_input()?);
    let relay = Relay::new(setting, to_client, to_server);
    let from_client = async {
        while let Some(line) = lines::next(&mut client, MOST).await? {
            relay.take_client(line).await;
        }
        Ok(())
    };
    let from_server = async {
        while let Some(line) = lines::next(&mut server.output, MOST).await? {
            relay.take_server(line).await;
        }
        Ok(())
    };
    // Whoever ends first ends the conversation: nothing passes that was not looked at.
    let ended: Result<(), ProxyError> = tokio::select! {
        ended = from_client => ended,
        ended = from_server => ended,
    };
    relay.end().await;
    drop(relay);
    let _ = told.await;
    server.end().await;
    ended
}
