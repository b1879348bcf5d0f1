//! `cargo xtask hosts`: real agent hosts from the npm registry, each against a scripted model on
//! loopback inside a network namespace, with our hook installed as a user would.
//!
//! The model asks for one command that makes a file. Whether the file is there afterwards says
//! whether the command ran, whatever the client says. The table goes into `docs/hosts.md`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use portcullis_live::alone;
use portcullis_live::host::{HOSTS, Host, find};

use crate::checkout;
use crate::kill::built;

mod house;
mod played;

use played::{SCENES, Seen};

/// What `cargo xtask hosts` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The hosts to run; all of them if none is named.
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// The binary to install; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Where clients are installed, and found again.
    #[arg(long, value_name = "DIRECTORY")]
    packages: Option<PathBuf>,
    /// Runs the newest versions instead of those that were read about.
    #[arg(long)]
    newest: bool,
    /// Writes the table into `docs/hosts.md`.
    #[arg(long)]
    write: bool,
    /// Plays only these scenes.
    #[arg(long, value_name = "SCENE")]
    scene: Vec<String>,
    /// Says that the network is away already.
    #[arg(long, hide = true)]
    inside: bool,
}

/// Installs clients, goes where there is no network, and plays every scene with each of them.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let packages = arguments.packages.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("portcullis-packages-{}", std::process::id()))
    });
    let hosts: Vec<&Host> = if arguments.hosts.is_empty() {
        HOSTS.iter().collect()
    } else {
        let known = |name: &String| find(name).with_context(|| format!("no client `{name}`"));
        arguments.hosts.iter().map(known).collect::<Result<_, _>>()?
    };
    let mut out = std::io::stdout();
    if !arguments.inside {
        let binary = match &arguments.binary {
            Some(binary) => binary.canonicalize()?,
            None => built()?,
        };
        for host in &hosts {
            install(host, &packages, arguments.newest, &mut out)?;
        }
        return without_network(arguments, &binary, &packages);
    }
    let binary = arguments.binary.clone().context("no binary is named")?;
    let mut rows = Vec::new();
    for host in hosts {
        let program = packages.join(host.name).join("node_modules/.bin").join(host.program);
        let (version, seen) = played::all(host, &program, &binary, &arguments.scene, &mut out);
        rows.push((host.name, version, seen));
    }
    let table = table(&rows);
    writeln!(out, "{table}")?;
    if arguments.write {
        write(&table)?;
    }
    let failed = rows.iter().flat_map(|(_, _, seen)| seen).filter(|seen| seen.is_open()).count();
    ensure!(failed == 0, "{failed} scenes let a command run that must not, or the other way round");
    Ok(())
}

/// Installs a client, unless it is there.
fn install(host: &Host, packages: &Path, newest: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let directory = packages.join(host.name);
    if directory.join("node_modules/.bin").join(host.program).exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&directory)?;
    std::fs::write(directory.join("package.json"), "{\"private\":true}\n")?;
    let bare = host.package.rsplit_once('@').map_or(host.package, |(bare, _)| bare);
    let package = if newest { bare } else { host.package };
    writeln!(out, "installing {package}")?;
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", package])
        .current_dir(&directory)
        .status()
        .context("cannot start `npm`")?;
    ensure!(status.success(), "`{package}` could not be installed");
    Ok(())
}

/// Runs this very program again where only loopback is there.
fn without_network(arguments: &Arguments, binary: &Path, packages: &Path) -> anyhow::Result<()> {
    let own = std::env::current_exe()?;
    let mut command = alone::command(own);
    command.args(["hosts", "--inside", "--binary"]).arg(binary);
    command.arg("--packages").arg(packages).args(&arguments.hosts);
    for scene in &arguments.scene {
        command.args(["--scene", scene]);
    }
    if arguments.write {
        command.arg("--write");
    }
    let status = command.status().context("cannot start `unshare`")?;
    ensure!(status.success(), "not every scene ended as it must");
    Ok(())
}

/// The table of the results.
fn table(rows: &[(&'static str, String, Vec<Seen>)]) -> String {
    let mut text = String::from("| Host | Version |");
    for scene in SCENES {
        let _ = write!(text, " {} |", scene.name);
    }
    text.push_str("\n| --- | --- |");
    text.push_str(&" --- |".repeat(SCENES.len()));
    for (host, version, seen) in rows {
        let _ = write!(text, "\n| {host} | {version} |");
        for scene in SCENES {
            let cell = seen.iter().find(|seen| seen.scene == scene.name);
            let cell = cell.map_or_else(|| "–".to_owned(), Seen::cell);
            let _ = write!(text, " {cell} |");
        }
    }
    text
}

/// Puts the table between its marks in `docs/hosts.md`.
fn write(table: &str) -> anyhow::Result<()> {
    const MARKS: [&str; 2] = ["<!-- results -->", "<!-- end of results -->"];
    let file = checkout::root().join("docs/hosts.md");
    let text = std::fs::read_to_string(&file).context("cannot read `docs/hosts.md`")?;
    let [begin, end] = MARKS.map(|mark| text.find(mark));
    let (Some(begin), Some(end)) = (begin, end) else {
        anyhow::bail!("`docs/hosts.md` has no marks around its results");
    };
    let date = Command::new("date").arg("+%Y-%m-%d").output()?;
    let date = String::from_utf8_lossy(&date.stdout).trim().to_owned();
    let before = text.get(..begin).unwrap_or_default();
    let behind = text.get(end..).unwrap_or_default();
    let [mark, _] = MARKS;
    std::fs::write(&file, format!("{before}{mark}\nRun on {date}.\n\n{table}\n{behind}"))?;
    Ok(())
}
