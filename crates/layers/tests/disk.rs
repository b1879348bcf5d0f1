//! Policy files, trust and the live world against a real disk.

#![cfg(test)]

#[path = "disk/directory.rs"]
mod directory;
#[path = "disk/entries.rs"]
mod entries;
#[path = "disk/layers.rs"]
mod layers;
#[path = "disk/world.rs"]
mod world;
