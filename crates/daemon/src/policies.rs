//! Policies: what is in force for a call, reloaded when its files change.
//!
//! A file that breaks while the daemon runs changes nothing: the last good version holds, and the
//! fault is told. A project's file counts only for callers on this machine.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use portcullis_approval::key::hex_sha256;
use portcullis_engine::policy::{profile_of, with_profile};
use portcullis_engine::{Policy, PolicyError, PolicyText, Source};
use portcullis_layers::merge::Layer;
use portcullis_layers::{LayerError, Layers, Places};

mod cache;

/// How long a policy counts before its files are looked at again.
const FRESH: Duration = Duration::from_secs(1);

/// So many directories are remembered.
const MOST_DIRECTORIES: usize = 1000;

/// So many variations of one policy are remembered.
const MOST_VARIATIONS: usize = 1000;

/// What is in force in one place, with its profiles.
#[derive(Debug)]
pub struct InForce {
    /// The policy without a profile.
    pub policy: Arc<Policy>,
    /// What its layers are called by: changes when one of them does.
    pub version: String,
    /// What is worth knowing about it.
    pub warnings: Vec<String>,
    /// The files it is made of.
    pub texts: Vec<LayerText>,
    layers: Vec<(Source, PolicyText)>,
    files: Vec<(PathBuf, Option<Stamp>)>,
    variations: Mutex<HashMap<Variation, Arc<Policy>>>,
    laid: Mutex<HashMap<(&'static str, usize), Laid>>,
    /// What hooks on other machines keep of it, by profile.
    cached: Mutex<HashMap<Option<String>, Arc<str>>>,
}

/// A policy, and the same with what a door lays over it.
// INVARIANT: the first is kept, so that no other policy can come to lie at its address.
type Laid = (Arc<Policy>, Arc<Policy>);

/// One policy file, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerText {
    /// Whose it is.
    pub source: Source,
    /// Where it lies.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
    /// The keys that do not count because nobody has trusted the file.
    pub left_out: Vec<String>,
}

/// The agent names a profile it may not have.
struct NotOpen;

/// A profile, and what a session says besides.
type Variation = (Option<String>, Option<String>);

/// What tells two versions of a file apart without reading it.
type Stamp = (SystemTime, u64);

impl InForce {
    /// What these files, which lie nowhere any more, made together.
    ///
    /// # Errors
    /// One of them is no policy to this version.
    pub fn of_texts(version: &str, texts: Vec<LayerText>) -> Result<InForce, PolicyError> {
        let mut layers = Vec::new();
        for layer in &texts {
            let said = PolicyText::from_toml(&layer.text)?;
            let is_whole = layer.left_out.is_empty();
            layers.push((layer.source, if is_whole { said } else { said.stricter_only().0 }));
        }
        Ok(InForce {
            policy: Arc::new(Policy::of_layers(&layers)?),
            version: version.to_owned(),
            warnings: Vec::new(),
            texts,
            layers,
            files: Vec::new(),
            variations: Mutex::default(),
            laid: Mutex::default(),
            cached: Mutex::default(),
        })
    }

    /// The policy for an agent: the profile it names, or the first one meant for it, and what its
    /// session says besides.
    ///
    /// None where it names a profile that is not there or not meant for it.
    ///
    /// # Errors
    /// What the session says is no policy.
    pub fn for_agent(
        &self,
        key_name: &str,
        profile: Option<&str>,
        own: Option<&str>,
    ) -> Result<Option<Arc<Policy>>, PolicyError> {
        let Ok(profile) = self.profile(key_name, profile) else { return Ok(None) };
        if profile.is_none() && own.is_none() {
            return Ok(Some(Arc::clone(&self.policy)));
        }
        let key = (profile.map(str::to_owned), own.map(str::to_owned));
        let known = {
            let variations = self.variations.lock().unwrap_or_else(PoisonError::into_inner);
            variations.get(&key).cloned()
        };
        if known.is_some() {
            return Ok(known);
        }
        let mut layers = match profile {
            Some(name) => with_profile(&self.layers, name).unwrap_or_else(|| self.layers.clone()),
            None => self.layers.clone(),
        };
        if let Some(own) = own {
            let value = serde_json::from_str(own).unwrap_or_default();
            layers.push((Source::Call, PolicyText::from_json(&value)?));
        }
        let policy = Arc::new(Policy::of_layers(&layers)?);
        let mut variations = self.variations.lock().unwrap_or_else(PoisonError::into_inner);
        if variations.len() >= MOST_VARIATIONS {
            variations.clear();
        }
        variations.insert(key, Arc::clone(&policy));
        Ok(Some(policy))
    }

    /// A policy of this place with what a door lays over it, made once.
    pub fn laid(
        &self,
        door: &'static str,
        policy: &Arc<Policy>,
        lay: impl Fn(&Policy) -> Policy,
    ) -> Arc<Policy> {
        let key = (door, Arc::as_ptr(policy).addr());
        let mut laid = self.laid.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = laid.get(&key) {
            return Arc::clone(known);
        }
        if laid.len() >= MOST_VARIATIONS {
            laid.clear();
        }
        let made = Arc::new(lay(policy));
        laid.insert(key, (Arc::clone(policy), Arc::clone(&made)));
        made
    }

    /// Whether a layer says how long asks wait.
    #[must_use]
    pub fn names_deadline(&self) -> bool {
        self.layers.iter().any(|(_, text)| text.asks.deadline_s.is_some())
    }

    /// The profile in force, if any.
    fn profile<'a>(
        &'a self,
        key_name: &str,
        profile: Option<&'a str>,
    ) -> Result<Option<&'a str>, NotOpen> {
        let meant = profile_of(&self.layers, key_name);
        let Some(named) = profile else { return Ok(meant) };
        let mut profiles = self.layers.iter().flat_map(|(_, text)| &text.profiles);
        let is_open = profiles.any(|profile| {
            let mut globs = profile.agents.iter();
            profile.name == named
                && globs.any(|glob| portcullis_engine::glob::matches(glob, key_name))
        });
        if is_open { Ok(Some(named)) } else { Err(NotOpen) }
    }
}

/// The policies of a daemon.
#[derive(Debug)]
pub struct Policies {
    places: Places,
    named: Option<PathBuf>,
    by_directory: Mutex<HashMap<Option<PathBuf>, Held>>,
    kept: Mutex<HashSet<String>>,
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
        let policies =
            Policies { places, named, by_directory: Mutex::default(), kept: Mutex::default() };
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

    /// What is in force somewhere under this version, if it still is.
    #[must_use]
    pub fn of_version(&self, version: &str) -> Option<Arc<InForce>> {
        let by_directory = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = by_directory.values();
        held.find(|held| held.in_force.version == version).map(|held| Arc::clone(&held.in_force))
    }

    /// What is in force somewhere and was not yet marked as kept, one of each version.
    #[must_use]
    pub fn unkept(&self) -> Vec<Arc<InForce>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let by_directory = self.by_directory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unkept: HashMap<&str, &Arc<InForce>> = HashMap::new();
        for held in by_directory.values().filter(|held| !kept.contains(&held.in_force.version)) {
            unkept.insert(&held.in_force.version, &held.in_force);
        }
        unkept.into_values().cloned().collect()
    }

    /// Marks a version as kept.
    pub fn mark_kept(&self, version: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(version.to_owned());
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
        let layers = read
            .layers
            .iter()
            .map(|layer| (layer.source, PolicyText::clone(&layer.counted)))
            .collect();
        let text = |layer: &Layer| LayerText {
            source: layer.source,
            path: layer.path.clone(),
            text: layer.text.clone(),
            left_out: layer.left_out.clone(),
        };
        let texts = read.layers.iter().map(text).collect();
        let mut warnings = read.warnings;
        warnings.extend(policy.warnings().iter().map(|warning| warning.message.clone()));
        let in_force = Arc::new(InForce {
            policy: Arc::new(policy),
            version,
            warnings,
            texts,
            layers,
            files,
            variations: Mutex::default(),
            laid: Mutex::default(),
            cached: Mutex::default(),
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
