//! A copy of the checkout that holds mutants, and what is built of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::listing::Mutant;
use super::switch::{self, Switched};
use crate::checkout;

/// How often what does not compile is taken out; types, borrows and lints each take one turn.
const TURNS: usize = 8;

/// A copy of the checkout for one package.
pub struct Tree {
    root: PathBuf,
    package: String,
}

/// What was built.
pub struct Built {
    /// The test programs of the package, with the names of their targets.
    pub programs: Vec<(String, PathBuf)>,
    /// The mutants in them, by their place in the list; their number is one more.
    pub switched: BTreeSet<usize>,
    /// Those that must be built alone.
    pub apart: BTreeSet<usize>,
}

impl Tree {
    /// Copies what is needed to build the package; files that did not change keep their time.
    pub fn copy(root: &Path, package: &str) -> anyhow::Result<Tree> {
        let tree = Tree { root: root.join("target/mutants/tree"), package: package.to_owned() };
        for file in checkout::files(root)? {
            let is_needed = ["crates/", "docs/", "xtask/", "Cargo."]
                .iter()
                .any(|part| file.path.starts_with(part));
            if is_needed {
                tree.write(&file.path, &file.text)?;
            }
        }
        Ok(tree)
    }

    /// The directory in which the tests of the package run.
    pub fn directory(&self) -> PathBuf {
        self.root.join("crates").join(&self.package)
    }

    fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let place = self.root.join(path);
        if fs::read(&place).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        if let Some(directory) = place.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&place, text).with_context(|| format!("cannot write `{}`", place.display()))
    }

    /// Puts every mutant behind its switch, takes out what does not compile, and builds the tests.
    pub fn build(&self, mutants: &[&Mutant], out: &mut impl Write) -> anyhow::Result<Built> {
        let texts = Tree::texts(mutants)?;
        let mut switched: BTreeSet<usize> = BTreeSet::new();
        let mut apart = BTreeSet::new();
        for (at, mutant) in mutants.iter().enumerate() {
            let text = texts.get(&mutant.file).map_or("", String::as_str);
            let place = if switch::may_switch(text, mutant) { &mut switched } else { &mut apart };
            place.insert(at);
        }
        let door = format!("crates/{}/src/lib.rs", self.package);
        self.write(&door, &format!("{}{}", original(&door)?, switch::CHOICE))?;
        for turn in 1..=TURNS {
            let mut arms: BTreeMap<String, Switched> = BTreeMap::new();
            for (file, text) in &texts {
                let of_file: Vec<(u32, &Mutant)> = mutants
                    .iter()
                    .enumerate()
                    .filter(|(at, mutant)| mutant.file == *file && switched.contains(at))
                    .map(|(at, mutant)| Ok((u32::try_from(at + 1)?, *mutant)))
                    .collect::<anyhow::Result<_>>()?;
                let text = switch::switch(text, &of_file);
                self.write(file, &text.text)?;
                arms.insert(file.clone(), text);
            }
            // A function inside a switched one has no arm of its own.
            let in_arms: BTreeSet<usize> = arms
                .values()
                .flat_map(|text| &text.arms)
                .filter_map(|(number, _)| usize::try_from(*number).ok()?.checked_sub(1))
                .collect();
            apart.extend(switched.difference(&in_arms));
            switched = in_arms;
            let refused = self.refused(&arms)?;
            writeln!(
                out,
                "turn {turn}: {} behind switches, {} do not compile",
                switched.len(),
                refused.len()
            )?;
            if refused.is_empty() {
                let built = self.compile(&["test", "--no-run"])?;
                ensure!(built.0, "the mutants do not build\n{}", errors(&built.1));
                return Ok(Built { programs: programs(&built.1), switched, apart });
            }
            switched.retain(|at| !refused.contains(at));
        }
        anyhow::bail!("the mutants do not compile after {TURNS} turns")
    }

    /// Builds the tests with one mutant and no switches, or nothing if it does not compile.
    pub fn build_alone(&self, mutant: &Mutant) -> anyhow::Result<Option<Vec<(String, PathBuf)>>> {
        let switched = self.text_here(&mutant.file)?;
        let text = switch::alone(&original(&mutant.file)?, mutant);
        self.write(
            &mutant.file,
            &text.with_context(|| format!("cannot apply `{}`", mutant.name))?,
        )?;
        let built = self.compile(&["test", "--no-run"])?;
        self.write(&mutant.file, &switched)?;
        Ok(built.0.then(|| programs(&built.1)))
    }

    /// The texts in which the mutants are, as the checkout has them.
    fn texts(mutants: &[&Mutant]) -> anyhow::Result<BTreeMap<String, String>> {
        let files: BTreeSet<&String> = mutants.iter().map(|mutant| &mutant.file).collect();
        files.into_iter().map(|file| Ok((file.clone(), original(file)?))).collect()
    }

    fn text_here(&self, file: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.root.join(file)).with_context(|| format!("cannot read `{file}`"))
    }

    /// The mutants that the compiler refuses.
    fn refused(&self, arms: &BTreeMap<String, Switched>) -> anyhow::Result<BTreeSet<usize>> {
        let (succeeded, messages) = self.compile(&["check", "--lib"])?;
        let mut refused = BTreeSet::new();
        for message in &messages {
            for (file, begin) in error_places(message) {
                let arms = arms.get(file).map(|text| &text.arms);
                let arm = arms.into_iter().flatten().find(|(_, arm)| arm.contains(&begin));
                let number = arm.and_then(|(number, _)| usize::try_from(*number).ok());
                refused.extend(number.and_then(|number| number.checked_sub(1)));
            }
        }
        ensure!(
            succeeded || !refused.is_empty(),
            "what stands around the mutants does not compile\n{}",
            errors(&messages)
        );
        Ok(refused)
    }

    /// Whether cargo succeeded, and its messages.
    fn compile(&self, arguments: &[&str]) -> anyhow::Result<(bool, Vec<Value>)> {
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--package", &format!("portcullis-{}", self.package), "--message-format=json"])
            .arg("--target-dir")
            .arg(self.root.join("../build"))
            .args([
                "--config",
                "profile.dev.debug=false",
                "--config",
                "profile.dev.incremental=true",
            ])
            .args(["--config", "profile.dev.opt-level=1"])
            .current_dir(&self.root)
            .env("RUSTFLAGS", "--cap-lints=allow")
            .output()
            .context("cannot start cargo")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let messages = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((output.status.success(), messages))
    }
}

/// A text as the checkout has it.
fn original(file: &str) -> anyhow::Result<String> {
    let place = checkout::root().join(file);
    fs::read_to_string(&place).with_context(|| format!("cannot read `{file}`"))
}

/// The error in a line of cargo, if it is one.
fn error(message: &Value) -> Option<&Value> {
    message.get("message").filter(|error| error.get("level").is_some_and(|level| level == "error"))
}

/// Where an error is, if the message is one: the file and the first byte.
fn error_places(message: &Value) -> impl Iterator<Item = (&str, usize)> {
    let spans = error(message).and_then(|error| error.get("spans")?.as_array());
    spans.into_iter().flatten().filter_map(|span| {
        let begin = usize::try_from(span.get("byte_start")?.as_u64()?).ok()?;
        let is_primary = span.get("is_primary")?.as_bool()?;
        span.get("file_name")?.as_str().filter(|_| is_primary).map(|file| (file, begin))
    })
}

/// The errors as people read them.
fn errors(messages: &[Value]) -> String {
    let errors = messages.iter().filter_map(error);
    errors.filter_map(|error| error.get("rendered")?.as_str()).collect()
}

/// The test programs that cargo names.
fn programs(messages: &[Value]) -> Vec<(String, PathBuf)> {
    messages
        .iter()
        .filter_map(|message| {
            let is_test = message.pointer("/profile/test")?.as_bool()?;
            let name = message.pointer("/target/name")?.as_str().filter(|_| is_test)?;
            Some((name.to_owned(), PathBuf::from(message.get("executable")?.as_str()?)))
        })
        .collect()
}
