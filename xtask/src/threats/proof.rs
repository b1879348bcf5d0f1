//! Proofs: how a test is named in the data, and whether it lives.
//!
//! - `crates/a/tests/b.rs#name`: a test function of that file that is not ignored, or a law of the
//!   stores' suite, which stands in its list.
//! - `web/tests/a.test.ts#title`, `web/tests/browser/a.mjs#title`: a test of the dashboard.
//! - `crates/engine/tests/verdicts/a.toml#command`: a case of that table.
//! - `tests/conversations/a/b.jsonl`: a conversation.
//! - `fuzz/targets/a.rs`: a fuzz target.
//! - `cargo xtask name`: a step that every change must pass.

use std::collections::BTreeMap;

use anyhow::Context;
use toml::{Table, Value};

use crate::checkout::File;
use crate::test;

/// Where verdicts stand as cases.
const CASES: &str = "crates/engine/tests/verdicts/";

/// The list of the stores' suite, and where its laws are.
const SUITE: &str = "crates/store/tests/conformance";

/// What there is to prove with.
pub struct Proofs<'a> {
    files: BTreeMap<&'a str, &'a str>,
    cases: Vec<Case<'a>>,
}

/// One case of a table of verdicts.
struct Case<'a> {
    path: &'a str,
    what: String,
    incidents: Vec<String>,
}

impl Proofs<'_> {
    /// What stands in these files.
    pub fn of(files: &[File]) -> anyhow::Result<Proofs<'_>> {
        let mut cases = Vec::new();
        let tables = files.iter().filter(|file| file.path.starts_with(CASES));
        for file in tables.filter(|file| file.extension() == "toml") {
            let table: Table =
                file.text.parse().with_context(|| format!("cannot read `{}`", file.path))?;
            for group in tables_in(&table, "group") {
                cases.extend(tables_in(group, "case").map(|case| Case::of(&file.path, case)));
            }
        }
        let files = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        Ok(Proofs { files, cases })
    }

    /// What is wrong with a proof, if anything.
    pub fn fault(&self, proof: &str) -> Option<String> {
        if let Some(step) = proof.strip_prefix("cargo xtask ") {
            return (!test::has_step(step))
                .then(|| format!("no step `{step}` runs with the tests"));
        }
        let (path, name) = match proof.split_once('#') {
            Some((path, name)) => (path, Some(name)),
            None => (proof, None),
        };
        let Some(text) = self.files.get(path) else {
            return Some(format!("there is no `{path}`"));
        };
        let extension = path.rsplit('.').next().unwrap_or("");
        match (extension, name) {
            ("jsonl", None) => None,
            ("rs", None) if path.starts_with("fuzz/targets/") => None,
            (_, None) => Some(format!("`{path}` names no test; write `{path}#name`")),
            ("toml", Some(name)) => {
                let is_it = |case: &Case| case.path == path && case.what == name;
                (!self.cases.iter().any(is_it))
                    .then(|| format!("there is no case `{name}` in `{path}`"))
            }
            ("ts" | "tsx", Some(name)) => {
                let is_there = text.contains(&format!("test(\"{name}\""));
                (!is_there).then(|| format!("there is no test `{name}` in `{path}`"))
            }
            ("mjs", Some(name)) => {
                let is_there = text.contains(&format!("\n  \"{name}\": async"));
                (!is_there).then(|| format!("there is no test `{name}` in `{path}`"))
            }
            (_, Some(name)) => match life(text, name) {
                Life::Lives => None,
                Life::Ignored => Some(format!("`{name}` in `{path}` is ignored")),
                Life::Missing if self.is_law(path, name) => None,
                Life::Missing => Some(format!("there is no test `{name}` in `{path}`")),
            },
        }
    }

    /// Whether this is a law that the stores' suite lists.
    fn is_law(&self, path: &str, name: &str) -> bool {
        let room = path.strip_prefix(SUITE).and_then(|rest| rest.strip_prefix('/'));
        let Some(room) = room.and_then(|rest| rest.strip_suffix(".rs")) else { return false };
        let list = self.files.get(format!("{SUITE}.rs").as_str()).copied().unwrap_or("");
        let laws =
            list.split_once(&format!("{room}::{{")).and_then(|(_, rest)| rest.split_once('}'));
        let is_listed = laws.is_some_and(|(laws, _)| laws.split(',').any(|law| law.trim() == name));
        let text = self.files.get(path).copied().unwrap_or("");
        is_listed && text.contains(&format!("pub async fn {name}("))
    }

    /// How many cases state this incident.
    pub fn cases_of(&self, incident: &str) -> usize {
        self.cases.iter().filter(|case| case.incidents.iter().any(|one| one == incident)).count()
    }

    /// How many cases state an incident.
    pub fn case_count(&self) -> usize {
        self.cases.iter().filter(|case| !case.incidents.is_empty()).count()
    }

    /// Every incident that a case states.
    pub fn incidents(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().flat_map(|case| &case.incidents).map(String::as_str)
    }
}

impl<'a> Case<'a> {
    fn of(path: &'a str, case: &Table) -> Case<'a> {
        let text = |key: &str| case.get(key).and_then(Value::as_str);
        let what = text("command").or_else(|| text("path")).or_else(|| text("json"));
        let what = what.or_else(|| text("why")).unwrap_or_default().to_owned();
        let incidents = text("incident").unwrap_or("").split(',').map(str::trim);
        let incidents = incidents.filter(|one| !one.is_empty()).map(str::to_owned).collect();
        Case { path, what, incidents }
    }
}

fn tables_in<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let items = table.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(Value::as_table)
}

/// Whether a test function runs.
#[derive(Debug, PartialEq, Eq)]
enum Life {
    Lives,
    Ignored,
    Missing,
}

/// Looks for a test function and for what stands above it.
fn life(text: &str, name: &str) -> Life {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = [format!("fn {name}("), format!("async fn {name}(")];
    for (at, line) in lines.iter().enumerate() {
        if !begins.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        let above: Vec<&str> = lines
            .iter()
            .take(at)
            .rev()
            .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
            .copied()
            .collect();
        let has = |begin: &str| above.iter().any(|line| line.starts_with(begin));
        if has("#[test]") || has("#[tokio::test") {
            return if has("#[ignore") { Life::Ignored } else { Life::Lives };
        }
    }
    Life::Missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_lives_if_it_is_one_and_is_not_ignored() {
        let text = "#[test]\nfn one() {}\n\n/// Says.\n#[tokio::test(flavor = \"multi_thread\")]\n\
                    async fn two() {}\n#[test]\n#[ignore = \"#7: slow\"]\nfn three() {}\nfn four() {}";
        #[rustfmt::skip]
        let cases = [
            ("one",   Life::Lives,   "a test"),
            ("two",   Life::Lives,   "one that waits"),
            ("three", Life::Ignored, "one that never runs"),
            ("four",  Life::Missing, "a function"),
            ("on",    Life::Missing, "the beginning of a name"),
        ];
        for (name, want, why) in cases {
            assert_eq!(life(text, name), want, "{name}: {why}");
        }
    }

    #[test]
    fn every_kind_of_proof_is_looked_up() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [
            file("crates/store/tests/conformance.rs", "laws! { asks::{ a_law, }, }"),
            file(
                "crates/store/tests/conformance/asks.rs",
                "pub async fn a_law(p: &P) {}\npub async fn another(p: &P) {}",
            ),
            file("web/tests/a.test.ts", "test(\"a title\", () => {});\ntest.skip(\"none\", 1);"),
            file(
                "web/tests/browser/a.mjs",
                "export const a = {\n  \"a scene\": async ({ page }) => {",
            ),
            file("crates/engine/tests/verdicts/a.toml", "[[group]]\ncase = [{ command = \"ls\" }]"),
            file("tests/conversations/a/b.jsonl", "{}"),
        ];
        let proofs = Proofs::of(&files).unwrap();
        #[rustfmt::skip]
        let cases = [
            ("crates/store/tests/conformance/asks.rs#a_law",   true,  "a law of the suite"),
            ("crates/store/tests/conformance/asks.rs#another", false, "one that is not listed"),
            ("web/tests/a.test.ts#a title",                    true,  "a title"),
            ("web/tests/a.test.ts#none",                       false, "one that is skipped"),
            ("web/tests/browser/a.mjs#a scene",                true,  "a scene"),
            ("crates/engine/tests/verdicts/a.toml#ls",         true,  "a case"),
            ("crates/engine/tests/verdicts/a.toml#rm",         false, "no such case"),
            ("tests/conversations/a/b.jsonl",                  true,  "a conversation"),
            ("tests/conversations/a/c.jsonl",                  false, "no such file"),
            ("cargo xtask kill",                               true,  "a step"),
            ("cargo xtask hope",                               false, "no such step"),
            ("web/tests/a.test.ts",                            false, "a file is no test"),
        ];
        for (proof, want, why) in cases {
            assert_eq!(proofs.fault(proof).is_none(), want, "{proof}: {why}");
        }
    }
}
