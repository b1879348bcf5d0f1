//! Overlays: what a dialect lays over every policy, and the profiles that lie in its files.

use std::sync::Arc;

use portcullis_approval::Moment;
use portcullis_engine::Policy;
use portcullis_engine::policy_text::Listed;

use super::Authority;

/// What a dialect lays over every policy, and how its calls go on.
#[derive(Clone)]
pub struct Overlay {
    /// The policy as it is for its calls.
    pub lay: Arc<dyn Fn(&Policy) -> Policy + Send + Sync>,
    /// Whether a call that a person changed comes as a call of its own: its wire has no way to
    /// hand the changed input to whoever waits.
    pub comes_again: bool,
    /// Profiles that lie in files of its own, named `<door>:<name>`, if it has any. They hold for
    /// calls of every door that name one.
    pub profiles: Option<Arc<dyn Profiles>>,
}

/// Profiles in files of a dialect.
pub trait Profiles: Send + Sync {
    /// The policy with a profile laid over it.
    fn lay(&self, policy: &Policy, name: &str) -> Policy;

    /// Adds entries to the allowlist in a profile's file, if there is one. Entries that it has
    /// change nothing.
    fn keep(&self, name: &str, entries: &[Listed], at: Moment) -> Kept;

    /// What is worth telling about the files since this was last asked.
    fn notes(&self) -> Vec<ProfileNote>;
}

/// What became of entries that were to be kept in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing had to be written.
    Nothing,
    /// The patterns before and after.
    Changed(Vec<String>, Vec<String>),
    /// The file could not be written; the grants hold all the same.
    Failed(String),
}

/// Something about a profile's file that its owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileNote {
    /// The profile.
    pub profile: String,
    /// What kind of audit entry it is: `profile.invalid`, `profile.wide`.
    pub kind: &'static str,
    /// One sentence.
    pub message: String,
}

impl Authority {
    /// The dialect whose file a profile lies in, and its name there.
    pub(super) fn profiles_of<'a>(
        &'a self,
        profile: &'a str,
    ) -> Option<(&'static str, &'a str, &'a Arc<dyn Profiles>)> {
        let (door, name) = profile.split_once(':')?;
        let mut overlays = self.inner.overlays.iter();
        let (known, overlay) = overlays.find(|(known, _)| *known == door)?;
        Some((*known, name, overlay.profiles.as_ref()?))
    }

    /// What is worth telling about profiles in files, as audit entries.
    pub async fn note_profiles(&self) {
        let files = self.inner.overlays.iter().filter_map(|(_, overlay)| overlay.profiles.as_ref());
        let notes: Vec<ProfileNote> = files.flat_map(|files| files.notes()).collect();
        if notes.is_empty() {
            return;
        }
        let now = self.now();
        let entries = notes.into_iter().map(|note| {
            tracing::warn!("profile `{}`: {}", note.profile, note.message);
            super::record::profile(note.kind, "files", &note.profile, &note.message, now)
        });
        let entries = entries.collect();
        if let Err(error) = self.store().record(entries, Vec::new(), now).await {
            tracing::error!("a note about a profile could not be recorded: {error}");
        }
    }
}
