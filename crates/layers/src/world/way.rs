//! Ways: where a path leads, component by component, as the kernel walks it.

use std::borrow::Cow;
use std::fs;

use super::is_absence;

/// So many links are followed on the way to one file; the kernel follows no more either.
const MOST_LINKS: usize = 40;

/// The way to a file: component by component, as the kernel walks it.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// The physical path so far; empty at the root.
    walked: String,
    /// How many links were followed.
    links: usize,
    /// Whether there is nothing of that name.
    is_missing: bool,
}

impl Way {
    /// Walks on; none where it cannot be told where that leads.
    pub(super) fn walk(mut self, path: &str) -> Option<Way> {
        // What is still to be walked, the next component last.
        let mut ahead: Vec<Cow<'_, str>> = components(path).map(Cow::Borrowed).collect();
        self.walked.reserve(path.len());
        while let Some(component) = ahead.pop() {
            if component == ".." {
                // A link that leads through a directory that is not there leads nowhere yet.
                if self.is_missing {
                    return None;
                }
                self.walked.truncate(self.walked.rfind('/').unwrap_or(0));
                continue;
            }
            let view = own_view(&self.walked, &component);
            let parent = self.walked.len();
            self.walked.push('/');
            self.walked.push_str(&component);
            match view {
                OwnView::Elsewhere => return None,
                OwnView::Kept => continue,
                OwnView::Ordinary if self.is_missing => continue,
                OwnView::Ordinary => {}
            }
            match fs::symlink_metadata(&self.walked) {
                Ok(metadata) if metadata.is_symlink() => {
                    self.links += 1;
                    if self.links > MOST_LINKS {
                        return None;
                    }
                    let target = fs::read_link(&self.walked).ok()?;
                    let target = target.to_str()?;
                    self.walked.truncate(if target.starts_with('/') { 0 } else { parent });
                    ahead.extend(components(target).map(|part| Cow::Owned(part.to_owned())));
                }
                Ok(_) => {}
                Err(error) if is_absence(&error) => self.is_missing = true,
                Err(_) => return None,
            }
        }
        Some(self)
    }

    /// Where it leads.
    pub(super) fn end(&self) -> String {
        if self.walked.is_empty() { "/".to_owned() } else { self.walked.clone() }
    }
}

/// How a component is to be taken that may mean something else in another process.
enum OwnView {
    /// As everywhere.
    Ordinary,
    /// As it is written: what it leads to is a matter of the process, and harmless to name.
    Kept,
    /// It leads into another process's files, directory or root.
    Elsewhere,
}

/// What this process sees in `/proc/self` and `/dev/fd` says nothing about the one that will run.
fn own_view(directory: &str, component: &str) -> OwnView {
    let is_process = |name: &str| {
        matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
    };
    match directory {
        "/proc" if is_process(component) => OwnView::Kept,
        "/dev" if matches!(component, "fd" | "stdin" | "stdout" | "stderr") => OwnView::Kept,
        "/dev/fd" => OwnView::Elsewhere,
        _ => match directory.strip_prefix("/proc/") {
            Some(process) if is_process(process) => match component {
                "cwd" | "root" | "exe" | "fd" | "map_files" | "task" => OwnView::Elsewhere,
                _ => OwnView::Ordinary,
            },
            Some(_) | None => OwnView::Ordinary,
        },
    }
}

/// The parts of a path, the first one last.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit('/').filter(|part| !part.is_empty() && *part != ".")
}
