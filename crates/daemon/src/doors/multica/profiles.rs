//! Profiles: the settings of agents, in files of their own.
//!
//! A file is read anew for each call, so that a change counts with the next one. It is written
//! under a lock, into a temporary file that takes its place; what is not ours in it stays.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::Moment;
use portcullis_approval::key::hex_sha256;
use portcullis_engine::policy::{Asks, Exec};
use portcullis_engine::policy_text::{AskWhen, Listed, Security};
use portcullis_engine::{Mode, Policy};
use portcullis_wire::dialects::multica::settings::{Change, Settings, changed};

use super::NAME;
use crate::authority::{Kept, ProfileNote, Profiles};
use crate::chance;
use crate::config::Config;

/// The longest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// How often a file is read again because somebody else wrote it meanwhile.
const MOST_TRIES: usize = 16;

/// So many notes wait to be told; beyond that they are dropped.
const MOST_NOTES: usize = 256;

/// So many profiles are remembered as told about.
const MOST_TOLD: usize = 10_000;

/// The files of profiles.
#[derive(Debug)]
pub struct Files {
    directory: Option<PathBuf>,
    /// What was last told about each profile, by the hash of its text.
    told: Mutex<HashMap<String, String>>,
    notes: Mutex<Vec<ProfileNote>>,
    /// One writer at a time here; the lock of the file keeps other processes out.
    writing: Mutex<()>,
}

/// The patterns of an allowlist before and after a change.
type Lists = (Vec<String>, Vec<String>);

/// What a profile's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// These settings.
    Settings(Box<Settings>),
    /// Nothing: there is no file, or nothing about commands in it.
    Nothing,
    /// Something that is not understood: every command is denied.
    Invalid(String),
}

impl Files {
    /// The files below the directory that the configuration names.
    #[must_use]
    pub fn new(config: &Config, home: Option<&Path>) -> Arc<Files> {
        let named = config.dialects.multica.profiles.as_str();
        let directory = match (named.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            (Some(_), None) => None,
            (None, _) => Some(PathBuf::from(named)).filter(|path| path.is_absolute()),
        };
        Arc::new(Files {
            directory,
            told: Mutex::default(),
            notes: Mutex::default(),
            writing: Mutex::default(),
        })
    }

    /// What a profile's file says now.
    #[must_use]
    pub fn read(&self, name: &str) -> Read {
        let Some(path) = self.path(name) else {
            return self.told(name, "", &Read::Invalid(format!("`{name}` is no profile id")));
        };
        let (text, read) = match path.map(|path| read_text(&path)) {
            None | Some(Ok(None)) => (String::new(), Read::Nothing),
            Some(Ok(Some(text))) => {
                let read = match Settings::read(&text) {
                    Ok(Some(settings)) => Read::Settings(Box::new(settings)),
                    Ok(None) => Read::Nothing,
                    Err(why) => Read::Invalid(why),
                };
                (text, read)
            }
            Some(Err(why)) => (why.clone(), Read::Invalid(why)),
        };
        self.told(name, &text, &read)
    }

    /// Writes down that entries let a command pass.
    pub fn used(&self, name: &str, entries: &[Listed], at: Moment, command: &str) {
        let change = Change::Used(entries, at.ms(), command);
        if let Err(why) = self.write(name, &change) {
            tracing::warn!("the last use of profile `{name}` could not be written: {why}");
        }
    }

    /// The file of a profile; none where the name is none, and inside that none where files are
    /// nowhere.
    #[expect(clippy::option_option, reason = "a bad name and no files are two things")]
    fn path(&self, name: &str) -> Option<Option<PathBuf>> {
        let is_name = !name.is_empty()
            && name.len() <= 200
            && !name.starts_with('.')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        is_name.then(|| {
            self.directory.as_ref().map(|directory| directory.join(name).join("config.json"))
        })
    }

    /// Notes what is worth telling about a text, once for each.
    fn told(&self, name: &str, text: &str, read: &Read) -> Read {
        let note = match read {
            Read::Invalid(why) => {
                Some(("profile.invalid", format!("{why}; its commands are denied")))
            }
            Read::Settings(settings) if settings.is_wide() => {
                let message = "`full` lets commands run that nobody looked at".to_owned();
                Some(("profile.wide", message))
            }
            Read::Settings(_) | Read::Nothing => None,
        };
        let hash = hex_sha256(text.as_bytes());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MOST_TOLD {
            told.clear();
        }
        let is_new = told.insert(name.to_owned(), hash.clone()).as_ref() != Some(&hash);
        if let Some((kind, message)) = note.filter(|_| is_new) {
            let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            if notes.len() < MOST_NOTES {
                notes.push(ProfileNote { profile: format!("{NAME}:{name}"), kind, message });
            }
        }
        read.clone()
    }

    /// Changes a profile's file; the patterns before and after where it was changed.
    fn write(&self, name: &str, change: &Change<'_>) -> Result<Option<Lists>, String> {
        let Some(Some(path)) = self.path(name) else { return Ok(None) };
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if read_text(&path)?.is_none() {
            return Ok(None);
        }
        let said = |error: std::io::Error| error.to_string();
        let lock = path.with_extension("json.lock");
        let lock = std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(lock)
            .map_err(said)?;
        lock.lock().map_err(said)?;
        for _ in 0..MOST_TRIES {
            // Whatever was written since is what is changed.
            let Some(text) = read_text(&path)? else { return Ok(None) };
            let Some(after) = changed(&text, change)? else { return Ok(None) };
            if replace(&path, &text, &after).map_err(said)? {
                return Ok(Some((patterns(&text), patterns(&after))));
            }
        }
        Err("somebody else keeps writing it".to_owned())
    }
}

impl Profiles for Files {
    fn lay(&self, policy: &Policy, name: &str) -> Policy {
        let mut policy = policy.clone();
        policy.mode = match policy.mode {
            Mode::Explore | Mode::DontAsk => policy.mode,
            Mode::Default | Mode::AcceptEdits | Mode::Bypass => Mode::Default,
        };
        let is_strict = policy.exec.as_ref().is_none_or(|exec| exec.is_strict);
        let is_locked = policy.exec.is_some() && policy.is_locked("exec");
        let unsaid = Settings::default();
        match self.read(name) {
            Read::Settings(settings) => {
                let Settings { security, ask, timeout_ms, fallback, allowlist } = *settings;
                policy.asks.deadline_ms = Some(timeout_ms);
                policy.asks.fallback = fallback;
                if !is_locked {
                    policy.exec = Some(Arc::new(Exec { security, ask, allowlist, is_strict }));
                }
            }
            Read::Nothing => {
                // A policy may hold the profile instead; what it does not say is as on this wire.
                if policy.asks.deadline_s == Asks::default().deadline_s {
                    policy.asks.deadline_ms = Some(unsaid.timeout_ms);
                }
                let exec = Exec {
                    security: unsaid.security,
                    ask: unsaid.ask,
                    allowlist: Vec::new(),
                    is_strict,
                };
                policy.exec.get_or_insert_with(|| Arc::new(exec));
            }
            Read::Invalid(_) => {
                let (security, ask) = (Security::Deny, AskWhen::Off);
                policy.exec =
                    Some(Arc::new(Exec { security, ask, allowlist: Vec::new(), is_strict }));
            }
        }
        policy
    }

    fn keep(&self, name: &str, entries: &[Listed], at: Moment) -> Kept {
        let added: Vec<(String, Listed)> =
            entries.iter().map(|entry| (chance::id(at).to_string(), entry.clone())).collect();
        match self.write(name, &Change::Add(&added)) {
            Ok(None) => Kept::Nothing,
            Ok(Some((before, after))) => Kept::Changed(before, after),
            Err(why) => Kept::Failed(why),
        }
    }

    fn notes(&self) -> Vec<ProfileNote> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Puts a new text into the place of an old one, unless somebody who knows no lock was faster.
fn replace(path: &Path, before: &str, after: &str) -> std::io::Result<bool> {
    let directory = path.parent().unwrap_or(path);
    let id = chance::id(Moment::from_ms(0));
    let temporary = directory.join(format!(".config.json.{id}"));
    let replaced = (|| {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.set_permissions(std::fs::metadata(path)?.permissions())?;
        file.write_all(after.as_bytes())?;
        file.sync_all()?;
        let is_same = std::fs::read_to_string(path)? == before;
        if is_same {
            std::fs::rename(&temporary, path)?;
        }
        Ok(is_same)
    })();
    if !matches!(replaced, Ok(true)) {
        let _ = std::fs::remove_file(&temporary);
    }
    replaced
}

fn patterns(text: &str) -> Vec<String> {
    let settings = Settings::read(text).ok().flatten().unwrap_or_default();
    settings.allowlist.iter().map(|entry| entry.pattern.clone()).collect()
}

/// The text of a file; none where there is none.
fn read_text(path: &Path) -> Result<Option<String>, String> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err("it is no file of a size that is read".to_owned());
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use portcullis_approval::Moment;
    use portcullis_engine::policy_text::Listed;

    use super::{Files, Read};
    use crate::authority::{Kept, Profiles};
    use crate::config::Config;

    fn files(directory: &std::path::Path) -> Arc<Files> {
        let mut config = Config::default();
        config.dialects.multica.profiles = directory.to_string_lossy().into_owned();
        Files::new(&config, None)
    }

    #[test]
    fn a_name_is_one_file_name_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path());
        assert_eq!(files.read("a-B_1.x"), Read::Nothing);
        for name in ["", ".", "..", ".x", "a/b", "a\\b", "a b", "ä", "a\n"] {
            assert!(matches!(files.read(name), Read::Invalid(_)), "`{name}`");
        }
        let notes = files.notes();
        assert!(notes.iter().all(|note| note.kind == "profile.invalid"));
        assert!(files.notes().is_empty(), "each is told once");
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("p")).unwrap();
        let path = directory.path().join("p/config.json");
        std::fs::write(&path, r#"{"z": 1, "execApproval": {"x": [2]}}"#).unwrap();
        // Two daemons, as it were: each has its own lock inside and shares that of the file.
        let both = [files(directory.path()), files(directory.path())];
        std::thread::scope(|scope| {
            for number in 0..16 {
                let files = Arc::clone(&both[number % 2]);
                scope.spawn(move || {
                    let entry = Listed { pattern: format!("t{number} **"), is_exact: false };
                    let kept = files.keep("p", &[entry], Moment::from_ms(1));
                    assert!(matches!(kept, Kept::Changed(..)), "{kept:?}");
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let Read::Settings(settings) = both[0].read("p") else { panic!("{text}") };
        assert_eq!(settings.allowlist.len(), 16);
        assert!(text.contains("\"z\": 1") && text.contains("\"x\": [2]"), "{text}");
    }
}
