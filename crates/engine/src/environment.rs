//! The environment: variables that change which code runs.

/// Variables that say nothing about what runs.
const HARMLESS: [&str; 19] = [
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
    "GIT_OPTIONAL_LOCKS",
];

/// Variables that change which code runs, by name or by how they begin.
const LOADERS: [&str; 53] = [
    "BASH_ENV",
    "BASH_FUNC_*",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "CMAKE_*",
    "COMPILER_PATH",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "FCEDIT",
    "FIGNORE",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GIT_*",
    "GLOBIGNORE",
    "GREP_OPTIONS",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LD_*",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFLAGS",
    "MANOPT",
    "MANPAGER",
    "MAVEN_OPTS",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_*",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_*",
    "RUSTFLAGS",
    "SHELL",
    "SHELLOPTS",
    "TAR_OPTIONS",
    "VISUAL",
    "XDG_*",
];

/// Values that make such a variable harmless.
const HARMLESS_VALUES: [(&str, &[&str]); 8] = [
    ("GIT_PAGER", &["cat", ""]),
    ("GIT_TERMINAL_PROMPT", &["0", "1"]),
    ("GIT_EDITOR", &["true", ":"]),
    ("GIT_LITERAL_PATHSPECS", &["0", "1"]),
    ("LESS", &["", "-R", "-FRX", "FRX"]),
    ("PAGER", &["cat", ""]),
    ("MANPAGER", &["cat", ""]),
    ("SYSTEMD_PAGER", &["cat", ""]),
];

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
    let known = HARMLESS_VALUES.iter().find(|(known, _)| *known == name);
    if let (Some((_, values)), Some(value)) = (known, value)
        && values.contains(&value)
    {
        return Setting::Harmless;
    }
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return Setting::Harmless;
    }
    let is_loader = LOADERS.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(family) => name.starts_with(family),
        None => *pattern == name,
    });
    if is_loader { Setting::Loader } else { Setting::Foreign }
}
