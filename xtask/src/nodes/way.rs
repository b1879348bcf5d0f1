//! The way from one node to the database and to those who call it: a real network where one can be
//! made, and something that stands for it otherwise.

use std::net::{IpAddr, Ipv4Addr};

use portcullis_database::Database;

use super::cut::Cut;
use super::network::{Network, PORT};

/// The way of one node.
pub enum Way {
    /// Links of a network namespace.
    Links(Network),
    /// A program in between.
    Between(Cut),
}

impl Way {
    /// The store as the node names it.
    pub fn store(&self, database: &Database) -> String {
        let (address, port) = match self {
            Way::Links(network) => (IpAddr::V4(network.database()), database.port()),
            Way::Between(cut) => (cut.address.ip(), cut.address.port()),
        };
        let own = format!("@127.0.0.1:{}/", database.port());
        database.address().replace(&own, &format!("@{address}:{port}/"))
    }

    /// Where the node listens; on a port of its own where it shares an address.
    pub fn listen(&self) -> (Ipv4Addr, u16) {
        match self {
            Way::Links(network) => (network.door(), PORT),
            Way::Between(_) => (Ipv4Addr::LOCALHOST, 0),
        }
    }

    /// What the node is started with.
    pub fn entrance(&self) -> Vec<String> {
        match self {
            Way::Links(network) => network.entrance(),
            Way::Between(_) => Vec::new(),
        }
    }

    /// Nothing comes through to the database any more, and nobody is told.
    pub fn hold(&self) -> anyhow::Result<()> {
        match self {
            Way::Links(network) => network.hold(),
            Way::Between(cut) => {
                cut.hold();
                Ok(())
            }
        }
    }

    /// The same, and nobody who calls gets through either, where that can be done.
    pub fn isolate(&self) -> anyhow::Result<()> {
        match self {
            Way::Links(network) => network.isolate(),
            Way::Between(_) => self.hold(),
        }
    }

    /// Whatever the node sends to the database is refused at once.
    pub fn refuse(&self) -> anyhow::Result<()> {
        match self {
            Way::Links(network) => network.refuse(),
            Way::Between(cut) => {
                cut.refuse();
                Ok(())
            }
        }
    }

    /// Everything between the node and the database takes its time.
    pub fn slow(&self) -> anyhow::Result<()> {
        match self {
            Way::Links(network) => network.slow(),
            Way::Between(cut) => {
                cut.slow();
                Ok(())
            }
        }
    }

    /// All is well again.
    pub fn heal(&self) {
        match self {
            Way::Links(network) => network.heal(),
            Way::Between(cut) => cut.heal(),
        }
    }
}
