//! `cargo xtask sbom`: what the product is made of, as a CycloneDX document.
//!
//! It is made from the lock file and from what cargo says, for the packages that reach a binary,
//! without build and test dependencies. The same checkout gives the same document: it holds no
//! time and no random number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::checkout;

/// The packages that are binaries.
const PRODUCTS: [&str; 2] = ["portcullis-cli", "portcullis-hook-static"];

/// What `cargo xtask sbom` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the document is written; standard output if nowhere.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The platform whose dependencies count.
    #[arg(long, default_value = "x86_64-unknown-linux-gnu")]
    target: String,
}

/// Writes the document.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform"])
        .arg(&arguments.target)
        .current_dir(&root)
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`cargo metadata` failed: {}", said.trim());
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let lock: toml::Table = std::fs::read_to_string(root.join("Cargo.lock"))?.parse()?;
    let document = document(&metadata, &hashes(&lock));
    let count = document["components"].as_array().map_or(0, Vec::len);
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    match &arguments.output {
        Some(path) => {
            std::fs::write(path, text)?;
            writeln!(std::io::stdout(), "sbom: {count} components in `{}`", path.display())?;
        }
        None => std::io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

/// The hashes of packages from a registry, by name and version.
fn hashes(lock: &toml::Table) -> BTreeMap<(String, String), String> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let packages = packages.map_or(&[][..], Vec::as_slice).iter();
    let text = |package: &toml::Value, key: &str| package.get(key)?.as_str().map(str::to_owned);
    packages
        .filter_map(|package| {
            let name = (text(package, "name")?, text(package, "version")?);
            Some((name, text(package, "checksum")?))
        })
        .collect()
}

/// The document, from what cargo says.
fn document(metadata: &Value, hashes: &BTreeMap<(String, String), String>) -> Value {
    let empty = Vec::new();
    let list = |value: &Value| value.as_array().unwrap_or(&empty).clone();
    let packages: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .map(|package| (text(&package["id"]).to_owned(), package))
        .collect();
    let nodes: BTreeMap<String, Vec<String>> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| {
            let deps = list(&node["deps"])
                .into_iter()
                .filter(|dep| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
            (text(&node["id"]).to_owned(), deps.map(|dep| text(&dep["pkg"]).to_owned()).collect())
        })
        .collect();
    let is_product = |package: &&Value| PRODUCTS.contains(&text(&package["name"]));
    let mut ahead: Vec<String> = packages
        .values()
        .filter(is_product)
        .map(|package| text(&package["id"]).to_owned())
        .collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = ahead.pop() {
        if reached.insert(id.clone()) {
            ahead.extend(nodes.get(&id).into_iter().flatten().cloned());
        }
    }
    let name = |id: &String| packages.get(id).map_or_else(String::new, reference);
    let mut components: Vec<Value> = reached
        .iter()
        .filter_map(|id| packages.get(id))
        .map(|package| component(package, hashes))
        .collect();
    components.sort_by_key(|component| component["bom-ref"].to_string());
    let mut dependencies: Vec<Value> = reached
        .iter()
        .map(|id| {
            let mut on: Vec<String> = nodes.get(id).into_iter().flatten().map(name).collect();
            on.sort();
            json!({ "ref": name(id), "dependsOn": on })
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let version =
        packages.values().find(is_product).map_or("", |package| text(&package["version"]));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "portcullis", "version": version } },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(package: &Value, hashes: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let mut component = json!({
        "type": "library", "bom-ref": reference(package), "name": name, "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    let Some(members) = component.as_object_mut() else { return component };
    if let Some(licence) = package["license"].as_str() {
        // An old way to write alternatives.
        let expression = licence.replace('/', " OR ");
        members.insert("licenses".to_owned(), json!([{ "expression": expression }]));
    }
    if let Some(hash) = hashes.get(&(name.to_owned(), version.to_owned())) {
        members.insert("hashes".to_owned(), json!([{ "alg": "SHA-256", "content": hash }]));
    }
    if let Some(repository) = package["repository"].as_str() {
        let reference = json!([{ "type": "vcs", "url": repository }]);
        members.insert("externalReferences".to_owned(), reference);
    }
    component
}

fn reference(package: &Value) -> String {
    format!("{}@{}", text(&package["name"]), text(&package["version"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_a_binary_is_listed_with_its_hash() {
        let package = |id: &str, name: &str| json!({ "id": id, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" });
        let dep = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("p", "portcullis-cli"), package("a", "used"), package("t", "tested"), package("o", "other")],
            "resolve": { "nodes": [
                { "id": "p", "deps": [dep("a", Value::Null), dep("t", "dev".into())] },
                { "id": "a", "deps": [] }, { "id": "t", "deps": [] }, { "id": "o", "deps": [] },
            ] },
        });
        let hashes = BTreeMap::from([(("used".to_owned(), "1.0.0".to_owned()), "ab".to_owned())]);
        let document = document(&metadata, &hashes);
        let components = document["components"].as_array().unwrap();
        let names: Vec<&str> = components.iter().map(|one| text(&one["name"])).collect();
        assert_eq!(names, ["portcullis-cli", "used"], "neither test nor foreign packages");
        assert_eq!(components[1]["hashes"][0]["content"], "ab");
        assert_eq!(components[1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["dependencies"][0]["dependsOn"], json!(["used@1.0.0"]));
    }
}
