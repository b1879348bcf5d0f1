//! Conversations with a real node over real connections: the native API.
#![cfg(test)]

#[path = "native/agentscope.rs"]
mod agentscope;
#[path = "native/asks.rs"]
mod asks;
#[path = "native/binding.rs"]
mod binding;
#[path = "native/bodies.rs"]
mod bodies;
#[path = "native/calls.rs"]
mod calls;
#[path = "native/feed.rs"]
mod feed;
#[path = "native/floods.rs"]
mod floods;
#[path = "native/gate.rs"]
mod gate;
#[path = "native/hooks.rs"]
mod hooks;
#[path = "native/kept.rs"]
mod kept;
#[path = "native/node.rs"]
mod node;
#[path = "native/nodes.rs"]
mod nodes;
#[path = "native/numbers.rs"]
mod numbers;
#[path = "native/openapi.rs"]
mod openapi;
#[path = "native/pages.rs"]
mod pages;
#[path = "native/record.rs"]
mod record;
#[path = "native/tls.rs"]
mod tls;
