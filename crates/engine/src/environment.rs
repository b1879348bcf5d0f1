//! The environment: variables that change which code runs.
//!
//! The lists are data (`data/environment.toml`), compiled into static tables.

use crate::glob;

include!(concat!(env!("OUT_DIR"), "/environment.rs"));

/// What setting a variable means for what runs under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// It is on the harmless list.
    Harmless,
    /// Nothing is known of it.
    Foreign,
    /// It changes which code runs.
    Loader,
}

/// What setting `name` to `value` means.
#[must_use]
pub fn setting(name: &str, value: Option<&str>) -> Setting {
    let has = |names: &[&str], globs: &[&str]| {
        names.binary_search(&name).is_ok() || globs.iter().any(|glob| fits(glob, name))
    };
    if has(HARMLESS, HARMLESS_GLOBS) {
        let is_loaded = value.is_some_and(names_a_file) && has(NAMED, NAMED_GLOBS);
        return if is_loaded { Setting::Loader } else { Setting::Harmless };
    }
    let is_harmless = value.is_some_and(|value| {
        let mut pairs = VALUES.iter().filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pairs.any(|harmless| harmless == value)
    });
    if is_harmless {
        return Setting::Harmless;
    }
    if has(LOADER, LOADER_GLOBS) { Setting::Loader } else { Setting::Foreign }
}

/// Whether a value is a path rather than a name: a locale or a time zone of one's own making.
fn names_a_file(value: &str) -> bool {
    value.starts_with(['/', '.', ':', '~']) || value.contains("/.")
}

/// Whether a name fits a pattern; most differ in their first letter.
fn fits(glob: &str, name: &str) -> bool {
    let (first, own) = (glob.bytes().next(), name.bytes().next());
    (first == Some(b'*') || first == own) && glob::matches(glob, name)
}

/// Whether a program is known to read no variable but the listed ones, and to start nothing.
#[must_use]
pub fn is_unmoved(program: &str) -> bool {
    UNMOVED.binary_search(&program).is_ok() || UNMOVED_GLOBS.contains(&program)
}

/// Whether a variable holds a secret, by its name.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let is_quiet = name.ends_with("_FILE") || name.ends_with("_PATH");
    !is_quiet
        && (SECRET.binary_search(&name).is_ok() || SECRET_GLOBS.iter().any(|glob| fits(glob, name)))
}

#[cfg(test)]
mod tests {
    use super::{Setting, setting};

    #[test]
    fn variables_are_judged_by_name_and_value() {
        #[rustfmt::skip]
        let cases = [
            ("LANG", Some("C"), Setting::Harmless),      ("LC_ALL", None, Setting::Harmless),
            ("LD_PRELOAD", Some("x"), Setting::Loader),  ("PATH", None, Setting::Loader),
            ("GIT_PAGER", Some("cat"), Setting::Harmless), ("GIT_PAGER", Some("./x"), Setting::Loader),
            ("GIT_PAGER", None, Setting::Loader),        ("https_proxy", None, Setting::Loader),
            ("x", Some("1"), Setting::Foreign),          ("PYTHONPATH", None, Setting::Loader),
            ("PYTHONUNBUFFERED", Some("1"), Setting::Harmless), ("GOOS", Some("linux"), Setting::Harmless),
            ("LC_ALL", Some("/tmp/x"), Setting::Loader), ("TZ", Some("Europe/Berlin"), Setting::Harmless),
            ("TZ", Some(":/etc/x"), Setting::Loader),    ("LANG", Some("../x"), Setting::Loader),
            ("PWD", Some("/etc"), Setting::Loader),      ("LANGUAGE", Some("de/../x"), Setting::Loader),
        ];
        for (name, value, want) in cases {
            assert_eq!(setting(name, value), want, "`{name}={value:?}`");
        }
    }
}
