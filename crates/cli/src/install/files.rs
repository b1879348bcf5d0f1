//! Files of other programs: read with care, written whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_approval::key::hex_sha256;

/// The text of a file; none where there is none.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .with_context(|| format!("`{}` is not UTF-8; nothing was changed", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// Refuses a file that somebody else could change, or that is really another one.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if let Ok(metadata) = fs::symlink_metadata(path) {
        if metadata.is_symlink() {
            let directory = path.parent().and_then(|parent| parent.canonicalize().ok());
            let real = path.canonicalize().with_context(|| format!("`{shown}` leads nowhere"))?;
            if directory.is_none_or(|directory| !real.starts_with(directory)) {
                bail!(
                    "`{shown}` is a link out of its directory, to `{}`; put a file in its place \
                     and install again",
                    real.display()
                );
            }
        }
        let mode = fs::metadata(path)?.permissions().mode();
        if mode & 0o022 != 0 {
            bail!("others may write `{shown}` (mode {:o}); run `chmod go-w {shown}`", mode & 0o777);
        }
    }
    let parent = path.ancestors().skip(1).find(|parent| parent.exists());
    if let Some(parent) = parent {
        let metadata = fs::metadata(parent)?;
        let is_sticky = metadata.mode() & 0o1000 != 0;
        if metadata.mode() & 0o022 != 0 && !is_sticky {
            let parent = parent.display();
            bail!("others may write `{parent}`; run `chmod go-w {parent}`");
        }
    }
    Ok(())
}

/// Writes a file whole, through a link if it is one, with the mode it has.
pub fn write(path: &Path, text: &str, is_program: bool) -> anyhow::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().unwrap_or_else(|| Path::new("/"));
    fs::create_dir_all(directory)?;
    let mode = match fs::metadata(&path) {
        Ok(metadata) => metadata.permissions().mode() & 0o777,
        Err(_) if is_program => 0o755,
        Err(_) => 0o600,
    };
    let (mut file, beside) = portcullis_layers::files::beside(directory, mode)
        .with_context(|| format!("cannot write in `{}`", directory.display()))?;
    let written = (|| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        File::open(directory)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

/// The directories that must be made for a file, the outermost first.
pub fn missing(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|directory| !directory.exists());
    let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// SHA-256 of a text.
pub fn hash(text: &str) -> String {
    hex_sha256(text.as_bytes())
}

/// SHA-256 of a file.
pub fn hash_file(path: &Path) -> anyhow::Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(hex_sha256(&bytes))
}

/// This program, resolved, if nobody else could change it and no workspace contains it.
pub fn program(project: &Path, home: &Path) -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?.canonicalize()?;
    let shown = program.display();
    if fs::metadata(&program)?.mode() & 0o022 != 0 {
        bail!("others may write `{shown}`; run `chmod go-w {shown}`");
    }
    if project != home && project != Path::new("/") && program.starts_with(project) {
        bail!(
            "`{shown}` lies in the workspace, where an agent could change it; install a copy elsewhere"
        );
    }
    if !super::hosts::is_plain_path(&program) {
        bail!("`{shown}` has signs that a command line cannot hold; install a copy elsewhere");
    }
    Ok(program)
}
