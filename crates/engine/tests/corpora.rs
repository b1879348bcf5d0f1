//! The corpora beside the project: attacks are never allowed, everyday commands are, and every
//! path gets the answer it must get. Without the corpora there is nothing to check.

#![cfg(test)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use portcullis_engine::call::Shell;
use portcullis_engine::world::WorldKind;
use portcullis_engine::{
    Call, Lexical, Outcome, Policy, PolicyText, Source, Verdict, World, judge,
};
use portcullis_shell::Dialect;
use serde_json::{Value, json};

const HOME: &str = "/home/dev";

fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora").join(name);
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn policy(value: &Value) -> Policy {
    let text = PolicyText::from_json(value).unwrap();
    Policy::of_layers(&[(Source::User, text)]).unwrap()
}

fn bash(row: &Value) -> Call {
    let cwd = row["context"]["cwd"].as_str().unwrap_or("/home/dev/proj");
    let mut call = Call::bash(row["command"].as_str().unwrap(), cwd);
    call.home = Some(HOME.to_owned());
    if row["shell"] == "zsh" {
        call.shell = Some(Shell::Known(Dialect::Zsh));
    }
    call
}

fn told(row: &Value, verdict: &Verdict) -> String {
    let reason = verdict.reasons.first().map(|reason| reason.message.clone()).unwrap_or_default();
    let code = verdict.reasons.first().map(|reason| reason.code.to_string()).unwrap_or_default();
    format!("{} {} -> {:?} {code}: {reason}", row["id"], row["command"], verdict.outcome)
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_attack_is_allowed() {
    let mut wrong = Vec::new();
    for row in rows("attacks.jsonl") {
        let mode = row["context"]["mode"].as_str().unwrap_or("default");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let given = list(&row["context"]["allow"]);
        let also = [given.clone(), list(&row["also_with_allow"])].concat();
        for allow in [given, also] {
            let (ask, deny) = (list(&row["context"]["ask"]), list(&row["context"]["deny"]));
            let rules = json!({ "allow": allow, "ask": ask, "deny": deny });
            let policy = policy(&json!({ "mode": mode, "rules": rules }));
            let verdict = judge(&policy, &bash(&row), &Lexical);
            let is_right = match row["must"].as_str() {
                Some("deny") => verdict.outcome == Outcome::Deny,
                _ => verdict.outcome != Outcome::Allow,
            };
            if !is_right {
                wrong.push(format!("{} under {allow:?}", told(&row, &verdict)));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn everyday_commands_are_allowed() {
    let mut wrong = Vec::new();
    for row in rows("benign.jsonl") {
        let verdict = judge(&policy(&json!({})), &bash(&row), &Lexical);
        if verdict.outcome != Outcome::Allow || !verdict.is_read_only {
            wrong.push(told(&row, &verdict));
        }
    }
    assert_none(&wrong);
}

/// A disk with nothing on it but links.
struct Links(BTreeMap<String, String>);

impl World for Links {
    fn kind(&self) -> WorldKind {
        WorldKind::Recorded
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let mut walked = String::new();
        let mut ahead: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => walked.truncate(walked.rfind('/').unwrap_or(0)),
                name => {
                    walked.push('/');
                    walked.push_str(name);
                }
            }
            if let Some(target) = self.0.get(&walked) {
                walked.clear();
                ahead.extend(target.split('/').rev().map(str::to_owned));
            }
        }
        Some(if walked.is_empty() { "/".to_owned() } else { walked })
    }

    fn is_shared(&self, _path: &str) -> bool {
        false
    }

    fn folds_case(&self, _path: &str) -> bool {
        false
    }
}

fn links(row: &Value, cwd: &str) -> Links {
    let mut links = BTreeMap::new();
    for (name, target) in row["fs"].as_object().into_iter().flatten() {
        let target = target.as_str().unwrap().trim_start_matches("-> ");
        let target = target.split_whitespace().next().unwrap();
        let name = if name.starts_with('/') { name.clone() } else { format!("{cwd}/{name}") };
        links.insert(name, target.to_owned());
    }
    Links(links)
}

#[test]
fn every_path_gets_its_answer() {
    let mut wrong = Vec::new();
    for row in rows("paths.jsonl") {
        let cwd = row["cwd"].as_str().unwrap();
        let tool = match row["tool"].as_str().unwrap() {
            "read" => "Read",
            "write" => "Write",
            _ => "Edit",
        };
        let call = Call {
            tool: tool.to_owned(),
            input: json!({ "file_path": row["path"] }),
            cwd: cwd.to_owned(),
            root: None,
            home: row["home"].as_str().map(str::to_owned),
            shell: None,
            host: None,
        };
        let world = links(&row, cwd);
        let rules = json!({ "allow": ["Read(**)", "Write(**)", "Edit(**)"] });
        let policies = [
            json!({ "workspace": row["workdirs"], "rules": rules }),
            json!({ "workspace": row["workdirs"], "paths": {} }),
        ];
        for value in policies {
            let verdict = judge(&policy(&value), &call, &world);
            let code = verdict.reasons.first().map(|reason| reason.code.to_string());
            let code = code.unwrap_or_default();
            let is_guarded = code.starts_with("guard.") || code == "self_protection";
            let is_right = match row["must"].as_str().unwrap() {
                "ok" => verdict.outcome == Outcome::Allow,
                "sensitive" => verdict.outcome != Outcome::Allow && is_guarded,
                _ => verdict.outcome != Outcome::Allow,
            };
            if !is_right {
                let must = &row["must"];
                wrong.push(format!(
                    "{} {tool} {} must be {must}: {:?} {code} under {value}",
                    row["id"], row["path"], verdict.outcome
                ));
            }
        }
    }
    assert_none(&wrong);
}
