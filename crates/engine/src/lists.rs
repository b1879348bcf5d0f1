//! Lists: words that mechanisms compare with, from `data/lists.toml`.

include!(concat!(env!("OUT_DIR"), "/lists.rs"));
