//! The environment: variables that change which code runs.
//!
//! The lists are data (`data/environment.toml`), compiled into static tables.

use portcullis_shell::Dialect;

use crate::glob;
use crate::sensitive::Letters;

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

/// A pattern for names, with the letters that whatever fits it must hold.
struct Glob {
    letters: Letters,
    text: &'static str,
}

impl Glob {
    const fn new(text: &'static str) -> Glob {
        Glob { letters: Letters::demanded(text), text }
    }

    fn first(&self) -> Option<u8> {
        self.text.bytes().next()
    }
}

/// What setting `name` to `value` means.
#[must_use]
pub fn setting(name: &str, value: Option<&str>) -> Setting {
    let has = |names: &[&str], globs: &[Glob]| {
        names.binary_search(&name).is_ok() || fits_one(globs, name)
    };
    if NUMBERS.binary_search(&name).is_ok() {
        return if value.is_some_and(is_number) { Setting::Harmless } else { Setting::Loader };
    }
    if has(HARMLESS, HARMLESS_GLOBS) {
        let is_loaded = value.is_some_and(names_a_file) && has(NAMED, NAMED_GLOBS);
        return if is_loaded { Setting::Loader } else { Setting::Harmless };
    }
    let is_harmless = value.is_some_and(|value| {
        let pair = || name.bytes().chain([b'=']).chain(value.bytes());
        VALUES.binary_search_by(|known| known.bytes().cmp(pair())).is_ok()
    });
    if is_harmless {
        return Setting::Harmless;
    }
    if has(LOADER, LOADER_GLOBS) { Setting::Loader } else { Setting::Foreign }
}

/// Whether an allow rule for a command covers it with this variable set, too.
#[must_use]
pub fn is_covered(name: &str, value: Option<&str>) -> bool {
    let is_listed = COVERED.binary_search(&name).is_ok() || fits_one(COVERED_GLOBS, name);
    is_listed && setting(name, value) == Setting::Harmless
}

/// The name under which a variable counts: zsh has some lists of directories under two names, and
/// evaluates what it assigns to more variables than other shells do.
#[must_use]
pub fn meant<'n>(name: &'n str, value: Option<&str>, dialect: Dialect) -> &'n str {
    if dialect != Dialect::Zsh {
        return name;
    }
    if TIED.binary_search(&name).is_ok() {
        return "PATH";
    }
    let is_evaluated = ZSH.binary_search(&name).is_ok() && !value.is_some_and(is_number);
    if is_evaluated { "RANDOM" } else { name }
}

/// Whether assigning to a variable evaluates what is assigned.
#[must_use]
pub fn is_evaluated(name: &str, dialect: Dialect) -> bool {
    let in_zsh = dialect == Dialect::Zsh && ZSH.binary_search(&name).is_ok();
    in_zsh || NUMBERS.binary_search(&name).is_ok()
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value is a path rather than a name: a locale or a time zone of one's own making.
fn names_a_file(value: &str) -> bool {
    value.starts_with(['/', '.', ':', '~']) || value.contains("/.")
}

/// Whether a name fits one of these patterns, which are sorted: those that begin with a star stand
/// before all others, and of these only those count that begin as the name does.
fn fits_one(globs: &[Glob], name: &str) -> bool {
    let (first, letters) = (name.bytes().next(), Letters::of(name));
    let open = globs.iter().take_while(|glob| glob.first() == Some(b'*'));
    let from = globs.partition_point(|glob| glob.first() < first);
    let near = globs.iter().skip(from).take_while(|glob| glob.first() == first);
    // Most names lack some letter of each.
    let mut near = open.chain(near).filter(|glob| letters.hold(glob.letters));
    near.any(|glob| glob::matches(glob.text, name))
}

/// Whether a program is known to read no variable but the listed ones, and to start nothing.
#[must_use]
pub fn is_unmoved(program: &str) -> bool {
    UNMOVED.binary_search(&program).is_ok()
}

/// Whether a variable holds a secret, by its name.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let is_quiet = name.ends_with("_FILE") || name.ends_with("_PATH");
    !is_quiet && (SECRET.binary_search(&name).is_ok() || fits_one(SECRET_GLOBS, name))
}

#[cfg(test)]
mod tests {
    use super::{
        COVERED_GLOBS, Glob, HARMLESS_GLOBS, LOADER_GLOBS, NAMED_GLOBS, SECRET_GLOBS, VALUES,
    };
    use portcullis_shell::Dialect;

    use super::{Setting, meant, setting};

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
            ("OPTIND", Some("1"), Setting::Harmless),    ("RANDOM", Some("a[$(x)]"), Setting::Loader),
            ("HISTCMD", None, Setting::Loader),          ("COLUMNS", Some("80"), Setting::Harmless),
            ("PWD", Some("/etc"), Setting::Loader),      ("LANGUAGE", Some("de/../x"), Setting::Loader),
        ];
        for (name, value, want) in cases {
            assert_eq!(setting(name, value), want, "`{name}={value:?}`");
        }
    }

    #[test]
    fn lists_are_sorted_so_that_names_are_found() {
        assert!(VALUES.is_sorted());
        for list in [HARMLESS_GLOBS, COVERED_GLOBS, LOADER_GLOBS, NAMED_GLOBS, SECRET_GLOBS] {
            assert!(list.is_sorted_by_key(|glob| glob.text));
            let is_open = |glob: &&Glob| glob.text.starts_with('*');
            assert!(list.iter().skip_while(is_open).all(|glob| !is_open(&glob)));
        }
    }

    #[test]
    fn zsh_has_other_names_for_some() {
        let in_zsh = |name, value| setting(meant(name, value, Dialect::Zsh), value);
        assert_eq!(in_zsh("path", None), Setting::Loader);
        assert_eq!(in_zsh("COLUMNS", Some("80")), Setting::Harmless);
        assert_eq!(in_zsh("COLUMNS", Some("a[$(x)]")), Setting::Loader);
        assert_eq!(meant("path", None, Dialect::Bash), "path");
    }
}
