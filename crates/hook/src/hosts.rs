//! One file for each agent host.

pub mod agentbot;
