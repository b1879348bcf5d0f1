//! `install.json`: what was installed, so that hooks find their ground and `uninstall` its way back.

use std::path::Path;

use portcullis_approval::key::hex;
use portcullis_hook_static::installed::{Entry, FILE, Installed};
use portcullis_layers::Places;

use super::files;
use crate::data_dir::DataDir;

/// The record, with what every hook needs filled in.
pub fn open(data: &DataDir, places: &Places) -> anyhow::Result<Installed> {
    let mut installed = Installed::read(data.path())?.unwrap_or_default();
    installed.home.clone_from(&places.home);
    installed.config.clone_from(&places.config);
    Ok(installed)
}

/// Pins the key of the daemon of this directory, unless it is another one that is asked.
pub fn pin(installed: &mut Installed, data: &DataDir) -> anyhow::Result<()> {
    if installed.url.is_none() {
        installed.key = Some(hex(&data.signer()?.public()));
    }
    Ok(())
}

/// Writes the record.
pub fn write(data: &DataDir, installed: &Installed) -> anyhow::Result<()> {
    let text = format!("{:#}\n", serde_json::to_value(installed)?);
    files::write(&data.file(FILE), &text, false)
}

/// The entry of a host in a scope for a file.
pub fn entry<'a>(
    installed: &'a Installed,
    host: &str,
    scope: &str,
    file: &Path,
) -> Option<&'a Entry> {
    let is_it = |entry: &&Entry| entry.host == host && entry.scope == scope && entry.file == file;
    installed.entries.iter().find(is_it)
}

/// Puts an entry in the place of the one it follows.
pub fn replace(installed: &mut Installed, entry: Entry) {
    let is_other = |known: &Entry| {
        (&known.host, &known.scope, &known.file) != (&entry.host, &entry.scope, &entry.file)
    };
    installed.entries.retain(is_other);
    installed.entries.push(entry);
}
