//! The proxies: the real binary between real programs, with a daemon.

#![cfg(test)]

#[path = "proxies/acp.rs"]
mod acp;
#[path = "proxies/house.rs"]
mod house;
#[path = "proxies/mcp.rs"]
mod mcp;
