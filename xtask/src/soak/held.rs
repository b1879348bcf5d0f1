//! What a process holds: memory of its own, and descriptors.

use std::fmt;

use anyhow::Context;

/// What was held at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Memory that belongs to nobody else, in kilobytes; pages of files are the system's.
    pub memory_kb: u64,
    /// Open descriptors.
    pub descriptors: usize,
}

impl Held {
    /// What a process holds now.
    pub fn by(process: u32) -> anyhow::Result<Held> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let memory = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
        Ok(Held {
            memory_kb: memory.context("the system does not say what memory it has")?,
            descriptors: std::fs::read_dir(format!("/proc/{process}/fd"))?.count(),
        })
    }

    /// The middle of each figure over several moments.
    pub fn middle(moments: &[Held]) -> Held {
        let mut memory: Vec<u64> = moments.iter().map(|held| held.memory_kb).collect();
        let mut descriptors: Vec<usize> = moments.iter().map(|held| held.descriptors).collect();
        memory.sort_unstable();
        descriptors.sort_unstable();
        Held {
            memory_kb: memory.get(memory.len() / 2).copied().unwrap_or_default(),
            descriptors: descriptors.get(descriptors.len() / 2).copied().unwrap_or_default(),
        }
    }

    /// The larger of each figure.
    pub fn most(self, other: Held) -> Held {
        Held {
            memory_kb: self.memory_kb.max(other.memory_kb),
            descriptors: self.descriptors.max(other.descriptors),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} kB and {} descriptors", self.memory_kb, self.descriptors)
    }
}
