//! `cargo xtask sbom`: what the product is made of, as a `CycloneDX` document.
//!
//! It is made from the lock file and from what cargo says, for the packages that reach a binary,
//! without build and test dependencies. The same checkout gives the same document: it holds no
//! time and no random number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;
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

/// What cargo says about everything it would build.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
}

impl Package {
    fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dep>,
}

#[derive(Deserialize)]
struct Dep {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

/// `dev` or `build`; absent for an ordinary dependency.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
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
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let lock: toml::Table = std::fs::read_to_string(root.join("Cargo.lock"))?.parse()?;
    let document = document(&metadata, &hashes(&lock));
    let count = document.get("components").and_then(Value::as_array).map_or(0, Vec::len);
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
fn document(metadata: &Metadata, hashes: &BTreeMap<(String, String), String>) -> Value {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, Vec<&str>> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| {
            let is_ordinary = |dep: &&Dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none());
            let deps = node.deps.iter().filter(is_ordinary).map(|dep| dep.pkg.as_str());
            (node.id.as_str(), deps.collect())
        })
        .collect();
    let products = packages.values().filter(|package| PRODUCTS.contains(&&*package.name));
    let mut ahead: Vec<&str> = products.clone().map(|package| package.id.as_str()).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = ahead.pop() {
        if reached.insert(id) {
            ahead.extend(nodes.get(id).into_iter().flatten());
        }
    }
    let name = |id: &str| packages.get(id).map_or_else(String::new, |package| package.reference());
    let mut listed: Vec<&Package> =
        reached.iter().filter_map(|id| packages.get(id).copied()).collect();
    listed.sort_by_key(|package| package.reference());
    let components: Vec<Value> = listed.iter().map(|package| component(package, hashes)).collect();
    let dependencies = listed.iter().map(|package| {
        let on = nodes.get(package.id.as_str()).into_iter().flatten();
        let mut on: Vec<String> = on.map(|id| name(id)).collect();
        on.sort();
        json!({ "ref": package.reference(), "dependsOn": on })
    });
    let dependencies: Vec<Value> = dependencies.collect();
    let version = products.clone().next().map_or("", |package| package.version.as_str());
    let product = json!({ "type": "application", "name": "portcullis", "version": version });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": product },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(package: &Package, hashes: &BTreeMap<(String, String), String>) -> Value {
    let Package { name, version, .. } = package;
    let mut component = json!({
        "type": "library", "bom-ref": package.reference(), "name": name, "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    let Some(members) = component.as_object_mut() else { return component };
    if let Some(licence) = &package.license {
        // An old way to write alternatives.
        let expression = licence.replace('/', " OR ");
        members.insert("licenses".to_owned(), json!([{ "expression": expression }]));
    }
    if let Some(hash) = hashes.get(&(name.clone(), version.clone())) {
        members.insert("hashes".to_owned(), json!([{ "alg": "SHA-256", "content": hash }]));
    }
    if let Some(repository) = &package.repository {
        let reference = json!([{ "type": "vcs", "url": repository }]);
        members.insert("externalReferences".to_owned(), reference);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_a_binary_is_listed_with_its_hash() {
        let package = |id: &str, name: &str| json!({ "id": id, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" });
        let dep = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let metadata = serde_json::from_value(json!({
            "packages": [package("p", "portcullis-cli"), package("a", "used"), package("t", "tested"), package("o", "other")],
            "resolve": { "nodes": [
                { "id": "p", "deps": [dep("a", Value::Null), dep("t", "dev".into())] },
                { "id": "a", "deps": [] }, { "id": "t", "deps": [] }, { "id": "o", "deps": [] },
            ] },
        }))
        .unwrap();
        let hashes = BTreeMap::from([(("used".to_owned(), "1.0.0".to_owned()), "ab".to_owned())]);
        let document = document(&metadata, &hashes);
        let components = document["components"].as_array().unwrap();
        let names: Vec<&str> = components.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["portcullis-cli", "used"], "neither test nor foreign packages");
        assert_eq!(components[1]["hashes"][0]["content"], "ab");
        assert_eq!(components[1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["dependencies"][0]["dependsOn"], json!(["used@1.0.0"]));
    }
}
