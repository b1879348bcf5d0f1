//! Compiles the data: `data/commands/*.toml` become `catalog.rs`, `data/tools.toml` `tools.rs`.
//!
//! A mistake in the data stops the build with the file, the program and the way out.

#![expect(clippy::print_stdout, reason = "cargo reads what a build script prints")]

mod entry;
mod environment;
mod keys;
mod lists;
mod options;
mod sensitive;
mod shelves;
mod tools;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use entry::{Entry, Program};

fn main() {
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/shelf/mark.rs");
    if let Err(message) = compile() {
        println!("cargo::error={message}");
    }
}

fn compile() -> Result<(), String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|error| error.to_string())?);
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("data/commands"))
        .map_err(|error| format!("data/commands cannot be read: {error}"))?
        .filter_map(|file| file.ok().map(|file| file.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut tables = Vec::new();
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let text = fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        let table: toml::Table =
            text.parse().map_err(|error| format!("{name}: {}", one_line(&error)))?;
        let sets = entry::sets(&table).map_err(|error| format!("{name}: {error}"))?;
        tables.push((name, table, sets));
    }
    for (name, table, sets) in tables {
        let is_builtin = name == "builtins.toml";
        let found = entry::programs(&table, &sets, is_builtin);
        for program in found.map_err(|error| format!("{name}: {error}"))? {
            let key = program.name.clone();
            if programs.insert(key.clone(), program).is_some() {
                return Err(format!("{name}: program `{key}` stands in two files; keep one"));
            }
        }
    }
    stand_in(&mut programs)?;
    let text = write::catalog(&programs)?;
    fs::write(out.join("catalog.rs"), text).map_err(|error| error.to_string())?;
    table(&root, &out, "sensitive_paths.toml", "sensitive.rs", sensitive::compile)?;
    table(&root, &out, "environment.toml", "environment.rs", environment::compile)?;
    table(&root, &out, "lists.toml", "lists.rs", lists::compile)?;
    table(&root, &out, "tools.toml", "tools.rs", tools::compile)
}

/// Compiles one file of data into one file of Rust.
fn table(
    root: &Path,
    out: &Path,
    name: &str,
    to: &str,
    compile: fn(&str) -> Result<String, String>,
) -> Result<(), String> {
    let path = root.join("data").join(name);
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let text = compile(&text).map_err(|error| format!("{name}: {error}"))?;
    fs::write(out.join(to), text).map_err(|error| error.to_string())
}

/// Gives programs that stand for another's sub-command what is known of that.
fn stand_in(programs: &mut BTreeMap<String, Program>) -> Result<(), String> {
    let wanted: Vec<(String, String)> = programs
        .iter()
        .filter_map(|(name, program)| Some((name.clone(), program.entry.stands_for.clone()?)))
        .collect();
    let known = programs.clone();
    for program in programs.values_mut() {
        stand_in_subs(&known, &mut program.entry, 0)?;
    }
    for (name, path) in wanted {
        let mut found =
            find(&known, &path).ok_or(format!("`{name}` stands for unknown `{path}`"))?;
        if let Some(program) = programs.get_mut(&name) {
            let own = std::mem::take(&mut program.entry.subs);
            found.subs.splice(0..0, own);
            program.entry = found;
        }
    }
    Ok(())
}

/// How often a program may stand inside another one's sub-command.
const DEEPEST: usize = 2;

/// The same for sub-commands that are another program.
fn stand_in_subs(
    programs: &BTreeMap<String, Program>,
    entry: &mut Entry,
    depth: usize,
) -> Result<(), String> {
    for (_, sub) in &mut entry.subs {
        let mut depth = depth;
        if let Some(path) = sub.stands_for.take() {
            depth += 1;
            if depth > DEEPEST {
                *sub = Entry { effects: vec!["unknown".to_owned()], ..Entry::default() };
                continue;
            }
            *sub = find(programs, &path)
                .ok_or(format!("a sub-command stands for unknown `{path}`"))?;
        }
        stand_in_subs(programs, sub, depth)?;
    }
    Ok(())
}

/// What is known of a program, or of one of its sub-commands.
fn find(programs: &BTreeMap<String, Program>, path: &str) -> Option<Entry> {
    let mut words = path.split_whitespace();
    let first = words.next()?.to_owned();
    let program = programs
        .values()
        .find(|program| program.name == first || program.aliases.contains(&first))?;
    let mut found = program.entry.clone();
    for word in words {
        let sub = found.subs.iter().find(|(names, _)| names.iter().any(|known| known == word));
        found = sub?.1.clone();
    }
    Some(found)
}

fn one_line(error: &toml::de::Error) -> String {
    error.to_string().replace('\n', " | ")
}
