//! A network of one's own: each node lives in a network namespace, with one link to the database
//! and one to whoever calls it, and each link can be cut, closed and slowed down.
//!
//! The whole run stands in a namespace of its own (see [`enter`]), so that nothing of the machine's
//! network is touched, and all of it is gone with the processes. That takes root, `unshare`,
//! `nsenter` and `ip`; without them [`super::cut`] stands in for the network.

use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};

/// Set for the process that runs inside the namespace.
const INSIDE: &str = "PORTCULLIS_NODES_INSIDE";

/// The port each node listens on: every one has an address of its own.
pub const PORT: u16 = 4283;

/// What slows a link down, the best first: some kernels have none of the first.
const SLOWLY: &[&str] = &[
    "netem delay 60ms 40ms",
    "tbf rate 128kbit burst 2kb latency 2s",
    "tbf rate 1mbit burst 2kb latency 2s",
];

/// Where a run stands.
pub enum Standing {
    /// Inside a namespace of its own.
    Inside,
    /// Namespaces are not permitted here, or not to be had: why.
    Outside(String),
}

/// Starts this program again inside a network namespace, and ends with it; comes back where that
/// has happened, or cannot.
pub fn enter() -> anyhow::Result<Standing> {
    if std::env::var_os(INSIDE).is_some() {
        run("ip", "link set lo up")?;
        return Ok(Standing::Inside);
    }
    for (program, arguments) in [
        ("unshare", "--net true"),
        ("nsenter", "--version"),
        ("ip", "-V"),
        ("setpriv", "--version"),
    ] {
        if let Err(error) = run(program, arguments) {
            return Ok(Standing::Outside(error.to_string()));
        }
    }
    let mut again = Command::new("unshare");
    again.args(["--net", "--"]).arg(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1)).env(INSIDE, "1");
    let ended = again.status()?;
    std::process::exit(ended.code().unwrap_or(1));
}

/// One end in the namespace of the run, the other in a node's.
struct Link {
    near: String,
    far: String,
    near_address: Ipv4Addr,
    far_address: Ipv4Addr,
}

/// The namespace of one node with its two links.
pub struct Network {
    /// Holds the namespace as long as it lives.
    holder: Child,
    database: Link,
    door: Link,
}

impl Network {
    /// A namespace for the node of this number.
    pub fn new(number: u8) -> anyhow::Result<Network> {
        let holder = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--", "unshare", "--net", "--", "sleep", "infinity"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot hold a namespace")?;
        let link = |name: &str, third: u8| Link {
            near: format!("{name}{number}"),
            far: name.to_owned(),
            near_address: Ipv4Addr::new(10, 231, third, number * 4 + 1),
            far_address: Ipv4Addr::new(10, 231, third, number * 4 + 2),
        };
        let (database, door) = (link("database", 1), link("door", 2));
        let network = Network { holder, database, door };
        network.wait_for_holder()?;
        for link in [&network.database, &network.door] {
            let Link { near, far, near_address, far_address } = link;
            let pid = network.holder.id();
            run("ip", &format!("link add {near} type veth peer name {far} netns {pid}"))?;
            run("ip", &format!("address add {near_address}/30 dev {near}"))?;
            run("ip", &format!("link set {near} up"))?;
            network.inside(&format!("ip address add {far_address}/30 dev {far}"))?;
            network.inside(&format!("ip link set {far} up"))?;
        }
        network.inside("ip link set lo up")?;
        Ok(network)
    }

    /// Until the holder has left the namespace it was started in.
    fn wait_for_holder(&self) -> anyhow::Result<()> {
        let own = std::fs::read_link("/proc/self/ns/net")?;
        let theirs = format!("/proc/{}/ns/net", self.holder.id());
        for _ in 0..500 {
            if std::fs::read_link(&theirs).is_ok_and(|theirs| theirs != own) {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        bail!("no namespace came up")
    }

    /// Where the node finds the database.
    pub const fn database(&self) -> Ipv4Addr {
        self.database.near_address
    }

    /// Where the node listens.
    pub const fn door(&self) -> Ipv4Addr {
        self.door.far_address
    }

    /// What a program is started with to live here.
    pub fn entrance(&self) -> Vec<String> {
        ["nsenter", "--net", "--target", &self.holder.id().to_string(), "--"]
            .map(str::to_owned)
            .to_vec()
    }

    /// Nothing comes through to the database any more, and nobody is told.
    pub fn hold(&self) -> anyhow::Result<()> {
        run("ip", &format!("link set {} down", self.database.near))
    }

    /// The node is cut off from everybody.
    pub fn isolate(&self) -> anyhow::Result<()> {
        self.hold()?;
        run("ip", &format!("link set {} down", self.door.near))
    }

    /// Whatever the node sends to the database is refused at once.
    pub fn refuse(&self) -> anyhow::Result<()> {
        self.inside(&format!("ip route add unreachable {}/32", self.database()))
    }

    /// Everything to and from the database takes its time.
    pub fn slow(&self) -> anyhow::Result<()> {
        let mut refused = None;
        for how in SLOWLY {
            let near = format!("qdisc replace dev {} root {how}", self.database.near);
            let far = format!("tc qdisc replace dev {} root {how}", self.database.far);
            match run("tc", &near).and_then(|()| self.inside(&far)) {
                Ok(()) => return Ok(()),
                Err(error) => refused = Some(error),
            }
        }
        bail!("no link can be slowed down here: {refused:?}")
    }

    /// All is well again.
    pub fn heal(&self) {
        for link in [&self.database, &self.door] {
            let _ = run("ip", &format!("link set {} up", link.near));
            let _ = run("tc", &format!("qdisc del dev {} root", link.near));
        }
        let _ = self.inside(&format!("tc qdisc del dev {} root", self.database.far));
        let _ = self.inside(&format!("ip route del unreachable {}/32", self.database()));
    }

    fn inside(&self, command: &str) -> anyhow::Result<()> {
        let target = self.holder.id();
        run("nsenter", &format!("--net --target {target} -- {command}"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn run(program: &str, arguments: &str) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments.split(' ').filter(|word| !word.is_empty())).stdin(Stdio::null());
    let done = command.output().with_context(|| format!("cannot start {program}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "`{program} {arguments}`: {}", said.trim());
    Ok(())
}
