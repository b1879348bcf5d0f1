//! The layers of a policy: which files there are for a directory, and what counts of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_engine::{Policy, PolicyError, PolicyText, Source};

use crate::LayerError;
use crate::files::{self, Places};
use crate::trust::Trust;

/// One policy file that was found.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Whose it is.
    pub source: Source,
    /// Where it lies.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
    /// What it says.
    pub said: Arc<PolicyText>,
    /// What of that counts.
    pub counted: Arc<PolicyText>,
    /// The keys that do not count because nobody has trusted the file yet.
    pub left_out: Vec<String>,
}

/// The policy files for one directory, strongest authority first.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The files.
    pub layers: Vec<Layer>,
    /// What is worth knowing and stops nothing.
    pub warnings: Vec<String>,
    /// The files that were looked for, those that are not there included: as long as none of them
    /// changes, neither does what they say.
    pub looked_at: Vec<PathBuf>,
}

impl Layers {
    /// Reads the files in force for a directory. A file that is named stands in for those of the
    /// user and the project.
    ///
    /// # Errors
    /// One of them cannot be read or is no policy.
    pub fn read(
        places: &Places,
        directory: &Path,
        named: Option<&Path>,
    ) -> Result<Layers, LayerError> {
        Layers::read_for(places, Some(directory), named)
    }

    /// The same; without a directory no project has a say.
    ///
    /// # Errors
    /// One of them cannot be read or is no policy.
    pub fn read_for(
        places: &Places,
        directory: Option<&Path>,
        named: Option<&Path>,
    ) -> Result<Layers, LayerError> {
        let mut layers = Layers::default();
        layers.add(Source::Organization, &places.organization)?;
        if let Some(named) = named {
            if !layers.add(Source::User, named)? {
                let why = "no such file".to_owned();
                return Err(LayerError::Unreadable { path: named.to_owned(), why });
            }
            return Ok(layers);
        }
        let user = places.user_policy();
        if let Some(user) = &user {
            layers.add(Source::User, user)?;
        }
        let Some(directory) = directory else { return Ok(layers) };
        layers.looked_at.extend(files::project_places(directory));
        layers.looked_at.extend(places.trust());
        if let Some(project) = files::project_policy(directory)
            && layers.add(Source::Project, &project)?
        {
            layers.weigh_project(places);
        }
        Ok(layers)
    }

    /// The policy they make together.
    ///
    /// # Errors
    /// One of them says what only a stronger one may.
    pub fn policy(&self) -> Result<Policy, LayerError> {
        let counted: Vec<_> =
            self.layers.iter().map(|layer| (layer.source, &*layer.counted)).collect();
        Policy::of_layers(&counted).map_err(|error| self.broken(error))
    }

    /// Reads one file; says whether there is one.
    fn add(&mut self, source: Source, path: &Path) -> Result<bool, LayerError> {
        if source != Source::Project {
            self.looked_at.push(path.to_owned());
        }
        let read = files::read(path);
        let unreadable = |why| LayerError::Unreadable { path: path.to_owned(), why };
        let Some(text) = read.map_err(unreadable)? else { return Ok(false) };
        match PolicyText::from_toml(&text) {
            Ok(said) => {
                let said = Arc::new(said);
                let (path, counted) = (path.to_owned(), Arc::clone(&said));
                let left_out = Vec::new();
                self.layers.push(Layer { source, path, text, said, counted, left_out });
                Ok(true)
            }
            Err(error) => {
                Err(LayerError::Broken { path: path.to_owned(), text, error: Box::new(error) })
            }
        }
    }

    /// Leaves out of the project's file what only a trusted one may say.
    fn weigh_project(&mut self, places: &Places) {
        let Some(layer) = self.layers.last_mut() else { return };
        let (stricter, left_out) = layer.said.stricter_only();
        if left_out.is_empty() {
            return;
        }
        let trust = places.trust().map_or_else(|| Ok(Trust::default()), |path| Trust::read(&path));
        match trust {
            Ok(trust) if trust.covers(&layer.path, &layer.text) => return,
            Ok(_) => self.warnings.push(format!(
                "nobody has trusted `{}`; left out: {} (see `portcullis trust`)",
                layer.path.display(),
                left_out.join(", ")
            )),
            Err(error) => self.warnings.push(error.to_string()),
        }
        layer.counted = Arc::new(stricter);
        layer.left_out = left_out;
    }

    fn broken(&self, error: PolicyError) -> LayerError {
        let layer = error.layer.and_then(|index| self.layers.get(index));
        let (path, text) =
            layer.map_or_else(Default::default, |layer| (layer.path.clone(), layer.text.clone()));
        LayerError::Broken { path, text, error: Box::new(error) }
    }
}
