//! Agentbot's conversations with a real node, one test for each requirement.

#![cfg(test)]

#[path = "agentbot/asks.rs"]
mod asks;
#[path = "agentbot/calls.rs"]
mod calls;
#[path = "agentbot/credentials.rs"]
mod credentials;
#[path = "agentbot/doors.rs"]
mod doors;
#[path = "agentbot/house.rs"]
mod house;
#[path = "agentbot/requirements.rs"]
mod requirements;
#[path = "agentbot/sockets.rs"]
mod sockets;
#[path = "agentbot/tiers.rs"]
mod tiers;
