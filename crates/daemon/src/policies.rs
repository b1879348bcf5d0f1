//! Policies: what is in force for a call, reloaded when its files change.
//!
//! A file that breaks while the daemon runs changes nothing: the last good version holds, and the
//! fault is told. A project's file counts only for callers on this machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use portcullis_approval::key::hex_sha256;
use portcullis_engine::policy::{profile_of, with_profile};
use portcullis_engine::{Policy, PolicyText, Source};
use portcullis_layers::{LayerError, Layers, Places};

/// How long a policy counts before its files are looked at again.
const FRESH: Duration = Duration::from_secs(1);

/// So many directories are remembered.
const MOST_DIRECTORIES: usize = 1000;

/// What is in force in one place, with its profiles.
#[derive(Debug)]
pub struct InForce {
    /// The policy without a profile.
    pub policy: Arc<Policy>,
    /// What its layers are called by: changes when one of them does.
    pub version: String,
    /// What is worth knowing about it.
    pub warnings: Vec<String>,
    layers: Vec<(Source, PolicyText)>,
    files: Vec<(PathBuf, Option<Stamp>)>,
    profiles: Mutex<HashMap<String, Arc<Policy>>>,
}

/// What tells two versions of a file apart without reading it.
type Stamp = (SystemTime, u64);

impl InForce {
    /// The policy for an agent: the profile it names, or the first one meant for it.
    ///
    /// None where it names one that is not there or not meant for it.
    #[must_use]
    pub fn for_agent(&self, key_name: &str, profile: Option<&str>) -> Option<Arc<Policy>> {
        let meant = profile_of(&self.layers, key_name);
        let name = match (profile, meant) {
            (None, None) => return Some(Arc::clone(&self.policy)),
            (None, Some(meant)) => meant,
            (Some(named), _) => {
                let is_meant = |(_, text): &(Source, PolicyText)| {
                    text.profiles.iter().any(|profile| {
                        let mut globs = profile.agents.iter();
                        profile.name == named
                            && globs.any(|glob| portcullis_engine::glob::matches(glob, key_name))
                    })
                };
                if !self.layers.iter().any(is_meant) {
                    return None;
                }
                named
            }
        };
        let mut profiles = self.profiles.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(policy) = profiles.get(name) {
            return Some(Arc::clone(policy));
        }
        let layers = with_profile(&self.layers, name)?;
        let policy = Arc::new(Policy::of_layers(&layers).ok()?);
        profiles.insert(name.to_owned(), Arc::clone(&policy));
        Some(policy)
    }
}

/// The policies of a daemon.
#[derive(Debug)]
pub struct Policies {
    places: Places,
    named: Option<PathBuf>,
    by_directory: Mutex<HashMap<Option<PathBuf>, Held>>,
}

#[derive(Debug)]
struct Held {
    in_force: Arc<InForce>,
    looked_at: Instant,
    fault: Option<String>,
}

/// What a look at the files brought.
#[derive(Debug, Default)]
pub struct Changes {
    /// The version that is in force since, if it is another one: before and after.
    pub changed: Option<(String, String)>,
    /// What is wrong with a file, if that is new.
    pub fault: Option<String>,
}

impl Policies {
    /// Reads the policy that is in force everywhere.
    ///
    /// # Errors
    /// A file cannot be read or is no policy.
    pub fn open(places: Places, named: Option<PathBuf>) -> Result<Policies, LayerError> {
        let policies = Policies { places, named, by_directory: Mutex::default() };
        policies.load(None)?;
        Ok(policies)
    }

    /// Where policy files lie.
    #[must_use]
    pub const fn places(&self) -> &Places {
        &self.places
    }

    /// What is in force everywhere.
    ///
    /// # Errors
    /// There is none, and never was.
    pub fn everywhere(&self) -> Result<Arc<InForce>, LayerError> {
        self.held(None)
    }

    /// What is in force in a directory of this machine.
    ///
    /// # Errors
    /// The project's file cannot be read or is no policy, and never was one.
    pub fn in_directory(&self, directory: &Path) -> Result<Arc<InForce>, LayerError> {
        self.held(Some(directory))
    }

    /// Looks at the files of the policy that is in force everywhere.
    pub fn look(&self) -> Changes {
        let before = {
            let by_directory = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
            by_directory.get(&None).map(|held| (Arc::clone(&held.in_force), held.fault.clone()))
        };
        let Some((before, old_fault)) = before else { return Changes::default() };
        if !is_stale(&before) {
            return Changes::default();
        }
        match self.load(None) {
            Ok(after) if after.version == before.version => Changes::default(),
            Ok(after) => Changes {
                changed: Some((before.version.clone(), after.version.clone())),
                fault: None,
            },
            Err(error) => {
                let fault = error.to_string();
                let is_new = old_fault.as_ref() != Some(&fault);
                let mut held = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(held) = held.get_mut(&None) {
                    held.fault = Some(fault.clone());
                }
                Changes { changed: None, fault: is_new.then_some(fault) }
            }
        }
    }

    fn held(&self, directory: Option<&Path>) -> Result<Arc<InForce>, LayerError> {
        let key = directory.map(Path::to_owned);
        let known = {
            let by_directory = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
            by_directory.get(&key).map(|held| (Arc::clone(&held.in_force), held.looked_at))
        };
        match known {
            // Everywhere is looked at in the background.
            Some((in_force, looked_at)) if directory.is_none() || looked_at.elapsed() < FRESH => {
                Ok(in_force)
            }
            Some((in_force, _)) if !is_stale(&in_force) => {
                self.keep(key, &in_force);
                Ok(in_force)
            }
            // A broken file never means another policy: the last good one holds.
            Some((in_force, _)) => Ok(self.load(directory).unwrap_or(in_force)),
            None => self.load(directory),
        }
    }

    fn load(&self, directory: Option<&Path>) -> Result<Arc<InForce>, LayerError> {
        let read = Layers::read_for(&self.places, directory, self.named.as_deref())?;
        let policy = read.policy()?;
        let texts: Vec<String> = read
            .layers
            .iter()
            .map(|layer| format!("{}\n{}", layer.source.name(), layer.text))
            .collect();
        let version = hex_sha256(texts.join("\0").as_bytes()).chars().take(16).collect();
        let files = read.looked_at.iter().map(|path| (path.clone(), stamp(path))).collect();
        let layers =
            read.layers.iter().map(|layer| (layer.source, layer.counted.clone())).collect();
        let in_force = Arc::new(InForce {
            policy: Arc::new(policy),
            version,
            warnings: read.warnings,
            layers,
            files,
            profiles: Mutex::default(),
        });
        self.keep(directory.map(Path::to_owned), &in_force);
        Ok(in_force)
    }

    fn keep(&self, directory: Option<PathBuf>, in_force: &Arc<InForce>) {
        let mut by_directory = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
        if by_directory.len() >= MOST_DIRECTORIES && !by_directory.contains_key(&directory) {
            by_directory.retain(|directory, _| directory.is_none());
        }
        let held = Held { in_force: Arc::clone(in_force), looked_at: Instant::now(), fault: None };
        by_directory.insert(directory, held);
    }
}

/// Whether one of the files is not what it was.
fn is_stale(in_force: &InForce) -> bool {
    in_force.files.iter().any(|(path, known)| stamp(path) != *known)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
