//! What must hold for every input of each target, shared by the guided targets and the storm.
//!
//! To add a target, add its file here, a line to [`TARGETS`], and a few lines in `targets/` that
//! hand it to libFuzzer.

pub mod fold;
pub mod frames;
pub mod hook;
mod input;
pub mod judge;
pub mod languages;
pub mod memory;
pub mod parse;
pub mod policy;
pub mod print_parse;
pub mod scan;
pub mod wire;

/// A target: its name, and what tries one input and panics if something does not hold.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, in the order of the manifest.
pub const TARGETS: [Target; 10] = [
    ("parse", parse::try_input),
    ("print_parse", print_parse::try_input),
    ("fold", fold::try_input),
    ("scan", scan::try_input),
    ("judge", judge::try_input),
    ("languages", languages::try_input),
    ("policy", policy::try_input),
    ("wire", wire::try_input),
    ("frames", frames::try_input),
    ("hook", hook::try_input),
];
