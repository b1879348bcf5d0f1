//! The dialects: how other systems spell calls and answers, one file each.

pub mod agentbot;
pub mod agentscope;
pub mod comma;
pub mod multica;
