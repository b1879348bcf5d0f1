//! A copy of the checkout that holds mutants, and what is built of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::listing::Mutant;
use super::switch::{self, Arm, Switched};
use crate::checkout;

/// How often what does not compile is taken out; types, borrows and lints each take one turn.
const TURNS: usize = 8;

/// A copy of the checkout for one package.
pub struct Tree {
    root: PathBuf,
    package: String,
    tests: Vec<String>,
}

/// What was built.
pub struct Built {
    /// The test programs of the package, with the names of their targets.
    pub programs: Vec<(String, PathBuf)>,
    /// The mutants in them by number, each with the place of its switch.
    pub switched: BTreeMap<u32, u32>,
    /// Those that must be built alone.
    pub apart: BTreeSet<u32>,
}

/// What a turn of the compiler refused.
#[derive(Default)]
struct Refused {
    /// Mutants.
    arms: BTreeSet<u32>,
    /// Mutants of functions that cannot ask a switch.
    around: BTreeSet<u32>,
}

/// Mutants by number.
pub type Numbered<'a> = BTreeMap<u32, &'a Mutant>;

impl Tree {
    /// Copies what is needed to build the package, but for the texts that will hold mutants; what
    /// did not change keeps its time, so that nothing is built twice.
    pub fn copy(
        root: &Path,
        package: &str,
        mutants: &Numbered<'_>,
        tests: &[String],
    ) -> anyhow::Result<Tree> {
        let tree = Tree {
            root: root.join("target/mutants/tree"),
            package: package.to_owned(),
            tests: tests.to_vec(),
        };
        let will_change: BTreeSet<&str> = mutants.values().map(|mutant| &*mutant.file).collect();
        for file in checkout::files(root)? {
            let is_needed = ["crates/", "docs/", "xtask/", "Cargo."]
                .iter()
                .any(|part| file.path.starts_with(part));
            if is_needed && !will_change.contains(&*file.path) && file.path != tree.door() {
                tree.write(&file.path, &file.text)?;
            }
        }
        let door = tree.door();
        tree.write(&door, &format!("{}{}", original(&door)?, switch::CHOICE))?;
        Ok(tree)
    }

    /// How the tests are built: all of them, or some programs.
    fn tests(&self) -> Vec<String> {
        // To optimise each body once for each mutant would take longer than all the tests.
        let plain = format!("profile.dev.package.portcullis-{}.opt-level=0", self.package);
        let mut words = vec!["test", "--no-run", "--config", &plain];
        for program in &self.tests {
            match program.split(':').next().unwrap_or_default() {
                "lib" => words.push("--lib"),
                program => words.extend(["--test", program]),
            }
        }
        words.into_iter().map(str::to_owned).collect()
    }

    fn door(&self) -> String {
        format!("crates/{}/src/lib.rs", self.package)
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
    pub fn build(&self, mutants: &Numbered<'_>, out: &mut impl Write) -> anyhow::Result<Built> {
        let texts = texts(mutants)?;
        let may_switch = |mutant: &Mutant| {
            texts.get(&mutant.file).is_some_and(|text| switch::may_switch(text, mutant))
        };
        let (mut kept, mut apart): (BTreeSet<u32>, BTreeSet<u32>) = mutants
            .keys()
            .partition(|number| mutants.get(number).is_some_and(|mutant| may_switch(mutant)));
        let is_constant = |mutant: &Mutant| {
            texts.get(&mutant.file).is_some_and(|text| switch::is_constant(text, mutant))
        };
        let constant: BTreeMap<u32, &str> = mutants
            .iter()
            .filter(|(_, mutant)| is_constant(mutant))
            .filter_map(|(number, mutant)| Some((*number, mutant.function.as_ref()?.name())))
            .collect();
        for turn in 1..=TURNS {
            let mut arms: BTreeMap<String, Vec<Arm>> = BTreeMap::new();
            for (file, text) in &texts {
                let of_file = mutants
                    .iter()
                    .filter(|(number, mutant)| mutant.file == *file && kept.contains(number));
                let of_file: Vec<(u32, &Mutant)> =
                    of_file.map(|(number, mutant)| (*number, *mutant)).collect();
                let Switched { text, arms: in_text } = switch::switch(text, &of_file);
                self.write(file, &text)?;
                arms.insert(file.clone(), in_text);
            }
            // A function inside a switched one has no arm of its own.
            let switched: BTreeMap<u32, u32> = arms
                .values()
                .flatten()
                .filter(|arm| arm.number > 0)
                .map(|arm| (arm.number, arm.place))
                .collect();
            apart.extend(kept.iter().filter(|number| !switched.contains_key(number)));
            let Refused { arms: refused, around } = self.refused(&arms, &constant)?;
            apart.extend(&around);
            let (held, out_of, alone) = (switched.len(), refused.len(), around.len());
            writeln!(
                out,
                "turn {turn}: {held} behind switches, {out_of} do not compile, {alone} only alone"
            )?;
            if refused.is_empty() && around.is_empty() {
                let built = self.compile(&self.tests())?;
                ensure!(built.0, "the mutants do not build\n{}", errors(&built.1));
                return Ok(Built { programs: programs(&built.1), switched, apart });
            }
            let is_out = |number: &u32| refused.contains(number) || around.contains(number);
            kept = switched.into_keys().filter(|number| !is_out(number)).collect();
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
        let built = self.compile(&self.tests())?;
        self.write(&mutant.file, &switched)?;
        Ok(built.0.then(|| programs(&built.1)))
    }

    fn text_here(&self, file: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.root.join(file)).with_context(|| format!("cannot read `{file}`"))
    }

    /// The mutants that the compiler refuses, and those of functions that bear no switch.
    fn refused(
        &self,
        arms: &BTreeMap<String, Vec<Arm>>,
        constant: &BTreeMap<u32, &str>,
    ) -> anyhow::Result<Refused> {
        let (succeeded, messages) = self.compile(&["check".to_owned(), "--lib".to_owned()])?;
        let mut refused = Refused::default();
        for message in &messages {
            if let Some(name) = not_constant(message) {
                let named = constant.iter().filter(|(_, function)| **function == name);
                refused.around.extend(named.map(|(number, _)| *number));
                continue;
            }
            for (file, begin) in error_places(message) {
                let arms = arms.get(file).map_or(&[][..], Vec::as_slice);
                match arms.iter().find(|arm| arm.part.contains(&begin)) {
                    Some(Arm { number: 0, place, .. }) => {
                        let beside = arms.iter().filter(|arm| arm.place == *place);
                        refused.around.extend(beside.map(|arm| arm.number).filter(|at| *at > 0));
                    }
                    Some(arm) => {
                        refused.arms.insert(arm.number);
                    }
                    None => {}
                }
            }
        }
        // What is wrong with the text as it is is no fault of the mutants beside it.
        refused.arms.retain(|number| !refused.around.contains(number));
        ensure!(
            succeeded || !refused.arms.is_empty() || !refused.around.is_empty(),
            "what stands around the mutants does not compile\n{}",
            errors(&messages)
        );
        Ok(refused)
    }

    /// Whether cargo succeeded, and its messages.
    fn compile(&self, arguments: &[String]) -> anyhow::Result<(bool, Vec<Value>)> {
        let output = checkout::cargo()
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

/// The texts in which the mutants are, as the checkout has them.
pub fn texts(mutants: &Numbered<'_>) -> anyhow::Result<BTreeMap<String, String>> {
    let files: BTreeSet<&String> = mutants.values().map(|mutant| &mutant.file).collect();
    files.into_iter().map(|file| Ok((file.clone(), original(file)?))).collect()
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

/// The function that must stay constant, if the message says so.
fn not_constant(message: &Value) -> Option<&str> {
    let error = error(message)?;
    let code = error.pointer("/code/code")?.as_str()?;
    let path = error.get("message")?.as_str().filter(|_| code == "E0015")?.split('`').nth(1)?;
    path.rsplit("::").next()
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
