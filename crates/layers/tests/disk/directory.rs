//! A directory for one test, gone when the test is over.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The directory.
pub struct Directory(PathBuf);

impl Directory {
    /// A fresh one; its name says whose it is.
    pub fn new(name: &str) -> Directory {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("portcullis-{name}-{}-{count}", std::process::id());
        let path = std::env::temp_dir().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    /// A path below it.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.0.join(below)
    }

    /// The same as text.
    pub fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
