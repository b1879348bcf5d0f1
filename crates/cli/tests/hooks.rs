//! The hooks as hosts meet them: the real binary, a home of its own, the recorded documents.

#![cfg(test)]

mod hooks {
    pub mod apart;
    pub mod cached;
    pub mod daemon;
    pub mod ends;
    pub mod faults;
    pub mod house;
    pub mod memory;
    pub mod recorded;
    pub mod replay;
}
