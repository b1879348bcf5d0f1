//! How figures are taken here.
//!
//! Time is the CPU time of the measuring thread, the least of many short batches, with all peers
//! taking turns in one run: on a shared machine wall times vary twentyfold, these by a few per
//! cent. Verdicts are ratios within the run; microseconds are printed for information.

pub mod allocation;
pub mod clock;
pub mod corpus;
pub mod fill;
pub mod load;
pub mod peer;
pub mod served;
pub mod table;
pub mod unshared;

#[path = "../../crates/shell/tests/stress/shapes.rs"]
#[expect(
    missing_docs,
    clippy::must_use_candidate,
    reason = "documented where it stands, with the stress test"
)]
pub mod shapes;
