//! The MCP and ACP proxies: what an agent calls through them is judged, everything else passes
//! byte for byte, both ways and in order.
//!
//! Both stand on standard input and output between two programs that speak JSON-RPC, one message
//! a line. [`gate`] asks the daemon, [`message`] reads envelopes, [`lines`] carries bytes; [`mcp`],
//! [`acp`] and [`approver`] know one conversation each. They fail closed: without a daemon every
//! call is denied, and a proxy that cannot go on ends both streams.

pub mod acp;
pub mod approver;
pub mod gate;
pub mod lines;
pub mod mcp;
pub mod message;
mod program;

/// Why a proxy ended before its streams did.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The program behind the proxy could not be started.
    #[error("cannot start `{program}`: {cause}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// The address is none that is spoken here.
    #[error("`{0}` is no address of an MCP server; use `http://HOST[:PORT]/PATH` or `https://…`")]
    Address(String),
    /// One of the streams broke.
    #[error("a stream broke: {0}")]
    Stream(#[from] std::io::Error),
    /// Somebody said something that could be read in two ways.
    #[error("{0}; both streams are closed")]
    Unreadable(String),
}
