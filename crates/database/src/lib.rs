//! A PostgreSQL of one's own for tests and benchmarks.
//!
//! It is made in a private directory, listens on loopback with a password that nobody else knows,
//! and is gone with its directory when it is dropped. The server refuses to run as root, so for
//! root it runs as `postgres`, or as `nobody` where there is no such user.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Where Debian keeps the programs of each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// How long a start or a stop may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The user of the database.
const USER: &str = "portcullis";

/// Why there is no database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The programs are missing.
    #[error("PostgreSQL is not installed; `apt-get install postgresql` brings it")]
    Missing,
    /// A program failed.
    #[error("`{program}` failed: {said}")]
    Failed {
        /// Which one.
        program: String,
        /// What it said.
        said: String,
    },
    /// It did not come up in time.
    #[error("PostgreSQL did not answer in time; its log says:\n{0}")]
    Silent(String),
    /// A file or a process could not be made.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A server with its directory.
#[derive(Debug)]
pub struct Database {
    programs: PathBuf,
    directory: PathBuf,
    password: String,
    port: u16,
    settings: Vec<String>,
    user: Option<(String, String)>,
    child: Option<Child>,
}

impl Database {
    /// Makes a database and starts it with settings besides the usual: `fsync=off`.
    ///
    /// # Errors
    /// PostgreSQL is not installed, or does not start.
    pub fn start(settings: &[&str]) -> Result<Database, DatabaseError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let programs = programs().ok_or(DatabaseError::Missing)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("portcullis-database-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory)?;
        let mut random = [0_u8; 16];
        io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut random)?;
        let password = format!("{:032x}", u128::from_be_bytes(random));
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut database = Database {
            programs,
            directory,
            password,
            port,
            settings: settings.iter().map(ToString::to_string).collect(),
            user: other_user()?,
            child: None,
        };
        database.make()?;
        database.resume()?;
        Ok(database)
    }

    /// The address of its database.
    #[must_use]
    pub fn address(&self) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{}/postgres", self.password, self.port)
    }

    /// The address by which everything lies in a schema of its own, which must be made first.
    #[must_use]
    pub fn address_of(&self, schema: &str) -> String {
        format!("{}?options=-c%20search_path%3D{schema}", self.address())
    }

    /// The port it listens on.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The directory of its data.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// The user it runs as, where that is another one.
    #[must_use]
    pub fn runs_as(&self) -> Option<&str> {
        self.user.as_ref().map(|(user, _)| user.as_str())
    }

    /// Runs SQL as its owner; what `psql` printed.
    ///
    /// # Errors
    /// The database refused it.
    pub fn sql(&self, text: &str) -> Result<String, DatabaseError> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text]);
        psql.arg(self.address());
        said(&mut psql)
    }

    /// Starts it again after [`Database::stop`].
    ///
    /// # Errors
    /// It does not start.
    pub fn resume(&mut self) -> Result<(), DatabaseError> {
        let log = self.directory.join("log");
        let out = fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let mut server = self.as_user("postgres", true);
        server.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        server.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        server.args(["-c", "max_connections=300", "-c", "shared_buffers=64MB"]);
        for setting in &self.settings {
            server.args(["-c", setting]);
        }
        server.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        self.child = Some(server.spawn()?);
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if self.sql("SELECT 1").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(DatabaseError::Silent(fs::read_to_string(&log).unwrap_or_default()))
    }

    /// Starts it anew with a certificate and its key, both as PEM: connections can be encrypted.
    ///
    /// # Errors
    /// It does not start with them.
    pub fn encrypt(&mut self, certificate: &str, key: &str) -> Result<(), DatabaseError> {
        self.stop()?;
        // Where the server looks for them unless it is told otherwise.
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.data().join(name);
            fs::write(&path, text)?;
            said(Command::new("chmod").arg("600").arg(&path))?;
            self.give(&path)?;
        }
        self.settings.push("ssl=on".to_owned());
        self.resume()
    }

    /// Starts it anew so that it listens at these addresses besides loopback, to everybody of a
    /// network who knows the password.
    ///
    /// # Errors
    /// It does not start with them.
    pub fn open_to(
        &mut self,
        addresses: &[std::net::Ipv4Addr],
        network: &str,
    ) -> Result<(), DatabaseError> {
        self.stop()?;
        let rules = self.data().join("pg_hba.conf");
        let text = fs::read_to_string(&rules)?;
        fs::write(&rules, format!("{text}\nhost all all {network} scram-sha-256\n"))?;
        let others: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        self.settings.push(format!("listen_addresses=127.0.0.1,{}", others.join(",")));
        self.resume()
    }

    /// Stops it as a crash would: what was committed is read again from its log.
    ///
    /// # Errors
    /// It could not be told to.
    pub fn crash(&mut self) -> Result<(), DatabaseError> {
        self.end("QUIT")
    }

    /// Stops it in order, and ends every connection.
    ///
    /// # Errors
    /// It could not be told to.
    pub fn stop(&mut self) -> Result<(), DatabaseError> {
        self.end("INT")
    }

    fn end(&mut self, signal: &str) -> Result<(), DatabaseError> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        said(Command::new("kill").args(["-s", signal, &child.id().to_string()]))?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    fn make(&self) -> Result<(), DatabaseError> {
        let secret = self.directory.join("password");
        fs::write(&secret, &self.password)?;
        self.give(&self.directory)?;
        said(Command::new("chmod").arg("-R").arg("go=").arg(&self.directory))?;
        let mut make = self.as_user("initdb", false);
        make.arg("-D").arg(self.data()).args(["-U", USER, "--auth=scram-sha-256"]);
        make.arg("--pwfile").arg(&secret).args(["--encoding=UTF8", "--locale=C", "--no-sync"]);
        said(&mut make).map(drop)
    }

    /// Gives a file or a directory to the user the server runs as.
    fn give(&self, path: &Path) -> Result<(), DatabaseError> {
        let Some((user, group)) = &self.user else { return Ok(()) };
        said(Command::new("chown").arg("-R").arg(format!("{user}:{group}")).arg(path)).map(drop)
    }

    /// A program of the server as the user it may run as; it ends with the one who started it.
    fn as_user(&self, program: &str, is_server: bool) -> Command {
        let mut command = Command::new("setpriv");
        if let Some((user, group)) = &self.user {
            command.args(["--reuid", user, "--regid", group, "--clear-groups"]);
        }
        if is_server {
            command.args(["--pdeathsig", "INT"]);
        }
        command.arg("--").arg(self.programs.join(program));
        command.current_dir(std::env::temp_dir());
        command
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What cannot be stopped or removed now is only left behind.
        let _ = self.end("QUIT");
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Whether the programs are installed.
#[must_use]
pub fn is_installed() -> bool {
    programs().is_some()
}

/// Where the programs lie: where `PORTCULLIS_POSTGRES` says, else those of the newest version.
fn programs() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PORTCULLIS_POSTGRES").map(PathBuf::from) {
        return is_whole(&named).then_some(named);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .map(|(version, path)| (version, path.join("bin")))
        .collect();
    found.sort();
    let debian = found.into_iter().rev().map(|(_, path)| path);
    debian.chain(std::env::split_paths(&path)).find(|path| is_whole(path))
}

fn is_whole(path: &Path) -> bool {
    ["initdb", "postgres", "psql"].iter().all(|program| path.join(program).exists())
}

/// The user the server may run as, where this one is root.
fn other_user() -> Result<Option<(String, String)>, DatabaseError> {
    if said(Command::new("id").arg("-u"))?.trim() != "0" {
        return Ok(None);
    }
    for user in ["postgres", "nobody"] {
        if let Ok(group) = said(Command::new("id").args(["-gn", user])) {
            return Ok(Some((user.to_owned(), group.trim().to_owned())));
        }
    }
    Ok(None)
}

/// Runs a program to its end; what it said.
fn said(command: &mut Command) -> Result<String, DatabaseError> {
    let output = command.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if ExitStatus::success(&output.status) {
        return Ok(text);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(DatabaseError::Failed { program, said: format!("{text}{said}") })
}
