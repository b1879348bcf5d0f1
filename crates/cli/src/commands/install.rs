//! `portcullis install` and `uninstall`: hooks in the configuration of agent hosts.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_daemon::clock::Clock;
use portcullis_engine::Policy;
use portcullis_hook_static::installed::{Entry, Installed};
use portcullis_layers::Places;

use super::{REFUSED, TROUBLE};
use crate::ancestors;
use crate::data_dir::{DataDir, public_key};
use crate::doctor;
use crate::escape;
use crate::install::hosts::{self, Ground, Host, Scope};
use crate::install::{codex, diff, files, record};
use crate::palette::{Ink, Palette};

/// What installing and uninstalling share.
#[derive(Args)]
struct Where {
    /// The host.
    host: String,
    /// How far it reaches.
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// The data directory.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Shows what would change, and changes nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Where {
    /// The data directory; where nothing is to change it is not made either.
    fn data(&self) -> anyhow::Result<DataDir> {
        let named = self.data_dir.as_deref();
        if self.dry_run { DataDir::look(named) } else { DataDir::open(named) }
    }
}

/// Writes the hook into a host's configuration, and proves that it holds.
#[derive(Args)]
pub struct Install {
    #[command(flatten)]
    place: Where,
    /// Whether the daemon is asked: where it runs, always, or never.
    #[arg(long, default_value = "auto", value_parser = ["auto", "required", "off"])]
    daemon: String,
    /// A daemon elsewhere on this machine; its key comes from `PORTCULLIS_AGENT_KEY`.
    #[arg(long, value_name = "URL", requires = "public_key")]
    url: Option<String>,
    /// The public key of that daemon: its `signing.pub`.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// How long a call waits for a person.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait_s: u64,
    /// How the host reaches the hook; HTTP is for Claude Code.
    #[arg(long, default_value = "command", value_parser = ["command", "http"])]
    transport: String,
    /// Installs for a host that is known from its documentation only.
    #[arg(long)]
    unverified: bool,
}

/// Takes out of a host's configuration exactly what `install` wrote.
#[derive(Args)]
pub struct Uninstall {
    #[command(flatten)]
    place: Where,
}

impl Install {
    /// Installs, and says what is protected now.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        ancestors::refuse_agents("`install`")?;
        let host = hosts::find(&self.place.host)?;
        if host.is_unverified && !self.unverified {
            bail!("`{}` is known from its documentation only; add `--unverified`", host.name);
        }
        let data = self.place.data()?;
        let places = Places::of_this_user();
        let mut installed = record::open(&data, &places)?;
        if let Some(url) = &self.url {
            let file = self.public_key.as_deref().context("`--url` needs `--public-key`")?;
            installed.key = Some(portcullis_approval::key::hex(&public_key(file)?));
            installed.url = Some(url.clone());
        }
        let http = self.http(host)?;
        let mut ground = ground(&places, &data)?;
        (ground.wait_s, ground.daemon, ground.http) = (self.wait_s, self.daemon.clone(), http);
        ground.program = files::program(&ground.project, &ground.home)?;
        let file = host.file(self.place.scope, &ground)?;
        files::check(&file)?;
        let before = files::read(&file)?;
        let after = host.written(before.as_deref(), &ground).with_context(|| {
            format!("`{}` is not understood; nothing was changed", file.display())
        })?;
        if self.place.dry_run {
            diff::show(out, &file, before.as_deref().unwrap_or_default(), &after)?;
            return Ok(ExitCode::SUCCESS);
        }
        record::pin(&mut installed, &data)?;
        prepare(host, &places, &data, &ground)?;
        let scope = self.place.scope.name();
        let known = record::entry(&installed, host.name, scope, &file).cloned();
        let is_changed = before.as_deref() != Some(after.as_str());
        let backup = match &known {
            // What stood there before us is kept as long as nobody else has changed the file.
            Some(known)
                if before.as_deref().is_some_and(|text| files::hash(text) == known.file_sha256) =>
            {
                known.backup.clone()
            }
            _ => backup(&data, host, scope, before.as_deref())?,
        };
        let mut made = known.as_ref().map(|known| known.made.clone()).unwrap_or_default();
        made.extend(files::missing(&file));
        if is_changed {
            files::write(&file, &after, host.is_program())?;
        }
        let mut entry = Entry {
            host: host.name.to_owned(),
            scope: scope.to_owned(),
            ours_sha256: files::hash(&serde_json::to_string(&host.heeded(&after)?)?),
            file_sha256: files::hash(&after),
            program_sha256: files::hash_file(&ground.program)?,
            program: ground.program.clone(),
            wait_s: ground.wait_s,
            host_timeout: host.timeout(&ground),
            host_version: doctor::version(host.program),
            at: Clock::new().now().to_string(),
            backup,
            made,
            trusted: known.map(|known| known.trusted).unwrap_or_default(),
            file: file.clone(),
        };
        record::replace(&mut installed, entry.clone());
        record::write(&data, &installed)?;
        let is_trusted = match trusted(host, &ground, &file) {
            Ok(keys) => {
                entry.trusted = keys;
                record::replace(&mut installed, entry);
                record::write(&data, &installed)?;
                true
            }
            Err(error) => {
                let title = palette.paint(Ink::Refused, "open");
                writeln!(
                    out,
                    "{title}: codex does not trust the hook and will skip it: {error:#}"
                )?;
                false
            }
        };
        let note = recovery(&data, host, &file)?;
        let checks = doctor::statics(host, &installed, data.path());
        let failed: Vec<_> = checks.iter().filter(|check| check.is_failed()).collect();
        for check in &failed {
            writeln!(
                out,
                "{}: {}: {}",
                palette.paint(Ink::Refused, "open"),
                check.step,
                check.told
            )?;
        }
        if !is_trusted || !failed.is_empty() {
            return Ok(REFUSED.into());
        }
        writeln!(out, "not covered: {}", host.limits)?;
        writeln!(out, "to get out by hand, see `{}`", note.display())?;
        self.tell(out, palette, host, is_changed, &ground)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Says what else is needed, and in one line what is protected.
    fn tell(
        &self,
        out: &mut impl Write,
        palette: Palette,
        host: &Host,
        is_changed: bool,
        ground: &Ground,
    ) -> std::io::Result<()> {
        if ground.http.is_some() {
            let told =
                "give it the key of an agent in `PORTCULLIS_AGENT_KEY`, or every call is blocked";
            writeln!(out, "{told}: portcullis keys create --role agent --name {}", host.name)?;
        }
        let place = match self.place.scope {
            Scope::Project => {
                format!(" in `{}`", escape::line(ground.project.as_os_str().as_bytes()))
            }
            Scope::User | Scope::System => String::new(),
        };
        writeln!(
            out,
            "{}: every tool call of {}{place} asks Portcullis first {} ({} scope, waits {} s, daemon {})",
            palette.paint(Ink::Allow, "protected"),
            host.name,
            if is_changed { "now" } else { "as before" },
            self.place.scope.name(),
            self.wait_s,
            self.daemon
        )
    }

    /// The address of hooks over HTTP, where they are wanted.
    fn http(&self, host: &Host) -> anyhow::Result<Option<String>> {
        match (self.transport.as_str(), host.name) {
            ("http", "claude") => {
                let base = self.url.as_deref().unwrap_or("http://127.0.0.1:4283");
                let base = base.trim_end_matches('/');
                Ok(Some(format!("{base}/v1/hooks/claude")))
            }
            ("http", name) => bail!("`{name}` has no hooks over HTTP that fail closed"),
            _ => Ok(None),
        }
    }
}

/// Has Codex trust our entries; gives their keys. Other hosts need no trust.
fn trusted(host: &Host, ground: &Ground, file: &Path) -> anyhow::Result<Vec<String>> {
    if host.name != "codex" {
        return Ok(Vec::new());
    }
    let commands: Vec<String> =
        host.events.iter().map(|event| host.command(event, ground)).collect();
    codex::trust(file.parent().unwrap_or_else(|| Path::new("/")), &ground.project, &commands)
}

impl Uninstall {
    /// Takes the hook out.
    pub fn run(self, out: &mut impl Write, _: Palette) -> anyhow::Result<ExitCode> {
        ancestors::refuse_agents("`uninstall`")?;
        let host = hosts::find(&self.place.host)?;
        let data = self.place.data()?;
        let places = Places::of_this_user();
        let mut installed = Installed::read(data.path())?.unwrap_or_default();
        let ground = ground(&places, &data)?;
        let scope = self.place.scope.name();
        let file = host.file(self.place.scope, &ground)?;
        let known = record::entry(&installed, host.name, scope, &file).cloned();
        let Some(before) = files::read(&file)? else {
            writeln!(out, "`{}` is not there; nothing to take out", file.display())?;
            return Ok(ExitCode::SUCCESS);
        };
        files::check(&file)?;
        let after = restored(host, known.as_ref(), &before).with_context(|| {
            format!("`{}` is not understood; nothing was changed", file.display())
        })?;
        if self.place.dry_run {
            diff::show(out, &file, &before, after.as_deref().unwrap_or_default())?;
            return Ok(ExitCode::SUCCESS);
        }
        if known.is_none() && after.as_ref() == Some(&before) {
            writeln!(out, "`{}` has nothing of ours; nothing to take out", file.display())?;
            return Ok(ExitCode::SUCCESS);
        }
        match &after {
            Some(after) if *after == before => {}
            Some(after) => files::write(&file, after, host.is_program())?,
            None => {
                std::fs::remove_file(&file)?;
                // Those that were made for it, if nobody has put anything else there.
                let made = known.iter().flat_map(|known| known.made.iter().rev());
                made.for_each(|directory| drop(std::fs::remove_dir(directory)));
            }
        }
        if let Some(known) = &known
            && !known.trusted.is_empty()
        {
            let config = file.parent().unwrap_or_else(|| Path::new("/")).join("config.toml");
            if let Some(text) = files::read(&config)? {
                let keys: Vec<&str> = known.trusted.iter().map(String::as_str).collect();
                files::write(&config, &codex::untrusted(&text, &keys), false)?;
            }
        }
        installed.entries.retain(|entry| Some(entry) != known.as_ref());
        record::write(&data, &installed)?;
        let subject = format!("{} {scope}", host.name);
        let noted = portcullis_hook_static::journal::append(
            data.path(),
            "hook.uninstalled",
            &subject,
            "{}",
            Clock::new().now(),
        );
        if noted.is_err() {
            return Ok(TROUBLE.into());
        }
        writeln!(out, "{} is no longer protected ({scope} scope)", host.name)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The text of a file as it was before us; none where there was no file.
fn restored(host: &Host, known: Option<&Entry>, before: &str) -> anyhow::Result<Option<String>> {
    // Nobody has changed it since: exactly what stood there comes back.
    if let Some(known) = known
        && files::hash(before) == known.file_sha256
    {
        return match &known.backup {
            Some(backup) => files::read(backup),
            None => Ok(None),
        };
    }
    let stood = match known.and_then(|known| known.backup.as_ref()) {
        Some(backup) => files::read(backup)?,
        None => None,
    };
    let after = host.without(before, stood.as_deref())?;
    // Where there was no file, an empty one is ours too.
    let is_bare = after.split_whitespace().collect::<String>() == "{}";
    let is_ours =
        after.is_empty() || (is_bare && known.is_some_and(|known| known.backup.is_none()));
    Ok((!is_ours).then_some(after))
}

/// Keeps what stood in a file before us.
fn backup(
    data: &DataDir,
    host: &Host,
    scope: &str,
    before: Option<&str>,
) -> anyhow::Result<Option<PathBuf>> {
    let Some(before) = before else { return Ok(None) };
    let without = if host.entries(before)?.is_empty() {
        before.to_owned()
    } else {
        host.without(before, None)?
    };
    if without.is_empty() && !before.is_empty() {
        return Ok(None);
    }
    let name = format!("{}-{scope}-{}", host.name, Clock::new().now().ms());
    let path = data.file("backups").join(name);
    files::write(&path, &without, false)?;
    Ok(Some(path))
}

/// The note for somebody whom a broken hook has locked out.
fn recovery(data: &DataDir, host: &Host, file: &Path) -> anyhow::Result<PathBuf> {
    let path = data.file("recovery").join(format!("{}.txt", host.name));
    let text = format!(
        "If {} refuses every call because the hook is broken: open\n  {}\nand {}.\n",
        host.name,
        file.display(),
        host.recovery
    );
    files::write(&path, &text, false)?;
    Ok(path)
}

/// Makes what a hook needs beside its entry: a policy to judge by, and for Amp a name to start.
fn prepare(host: &Host, places: &Places, data: &DataDir, ground: &Ground) -> anyhow::Result<()> {
    if let Some(policy) = places.user_policy().filter(|path| !path.exists()) {
        portcullis_layers::files::write_new(&policy, Policy::STARTER)?;
    }
    if host.name == "amp" {
        link_amp(data, &ground.program)?;
    }
    Ok(())
}

fn link_amp(data: &DataDir, program: &Path) -> anyhow::Result<()> {
    let link = data.file("portcullis-hook-amp");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(program, &link)
        .with_context(|| format!("cannot make `{}`", link.display()))
}

/// What is known of this user and directory.
pub fn ground(places: &Places, data: &DataDir) -> anyhow::Result<Ground> {
    let home = places.home.clone().context("there is no home directory")?;
    let project = std::env::current_dir()?.canonicalize()?;
    if !hosts::is_plain_path(data.path()) {
        bail!(
            "`{}` has signs that a command line cannot hold; use another `--data-dir`",
            data.path().display()
        );
    }
    Ok(Ground {
        home,
        project,
        program: PathBuf::new(),
        data: data.path().to_owned(),
        wait_s: 600,
        daemon: "auto".to_owned(),
        http: None,
        variable: |name| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        },
    })
}
