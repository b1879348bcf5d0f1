//! Tiers: the tables of the page, row by row, with every spelling.

use std::collections::BTreeMap;
use std::future::ready;

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::json;

use crate::house::House;

type Rows = BTreeMap<String, Vec<String>>;

#[derive(Deserialize)]
struct Tables {
    safe: Rows,
    not_safe: Rows,
    destructive: Rows,
    spellings: Rows,
    destructive_only: Rows,
    dangerous: Rows,
    writes: Rows,
    tools: Rows,
}

fn tables() -> Tables {
    toml::from_str(include_str!("tiers.toml")).unwrap()
}

/// What differs from the tier that every row should have.
async fn differing(house: &House, rows: &Rows, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let cases = rows.iter().flat_map(|(row, commands)| commands.iter().map(move |one| (row, one)));
    // Many at once share the store's commits.
    let answers = stream::iter(cases)
        .map(|(row, command)| async move { (row, command, house.bash(command).await) })
        .buffered(32);
    let wrong = answers.filter_map(|(row, command, body)| {
        let is_wrong = !fits(body["tier"].as_str().unwrap());
        ready(is_wrong.then(|| format!("{row}: `{command}`: {body}")))
    });
    wrong.collect().await
}

#[tokio::test]
async fn ab_17_every_safe_entry_is_safe_and_none_is_with_a_bad_argument() {
    let (house, tables) = (House::plain().await, tables());
    let mut wrong = differing(&house, &tables.safe, |tier| tier == "safe").await;
    wrong.extend(differing(&house, &tables.not_safe, |tier| tier != "safe").await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn ab_18_every_destructive_row_is_recognised_in_every_spelling() {
    let (house, tables) = (House::plain().await, tables());
    let is_destructive = |tier: &str| tier == "destructive";
    let mut wrong = differing(&house, &tables.destructive_only, is_destructive).await;
    let mut rows = Rows::new();
    for (row, commands) in &tables.destructive {
        let spelled = commands.iter().flat_map(|command| {
            let around = tables.spellings["around"].iter().map(|form| form.replace('@', command));
            let inner = tables.spellings["inner"].iter().map(|form| form.replace('@', command));
            std::iter::once(command.clone()).chain(around).chain(inner)
        });
        rows.insert(row.clone(), spelled.collect());
    }
    wrong.extend(differing(&house, &rows, is_destructive).await);
    assert!(wrong.is_empty(), "{} are not:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn ab_19_what_is_unknown_or_unreadable_is_dangerous() {
    let (house, tables) = (House::plain().await, tables());
    let mut wrong = differing(&house, &tables.dangerous, |tier| tier == "dangerous").await;
    for tool in &tables.tools["unknown"] {
        let input = json!({ "command": "ls", "path": "a.txt", "file_path": "a.txt" });
        let body = house.classify(tool, input).await;
        if body["tier"] != "dangerous" || body["allow"] != false {
            wrong.push(format!("`{tool}`: {body}"));
        }
    }
    for (input, tier) in [
        (json!({}), "dangerous"),
        (json!({ "command": "" }), "dangerous"),
        (json!({ "command": "", "input": "ls" }), "safe"),
        (json!({ "command": "ls", "input": "rm -rf /" }), "safe"),
        (json!({ "command": "  " }), "dangerous"),
    ] {
        for tool in ["bash", "exec", "shell"] {
            let body = house.classify(tool, input.clone()).await;
            if body["tier"] != tier {
                wrong.push(format!("{tool} {input}: {body}"));
            }
        }
    }
    for (name, tier) in [("safe", "safe"), ("sensitive", "dangerous")] {
        for path in &tables.writes[name] {
            for (tool, field) in [("write", "path"), ("file_write", "file_path")] {
                let body = house.classify(tool, json!({ field: path, "content": "x" })).await;
                if body["tier"] != tier {
                    wrong.push(format!("{tool} `{path}`: {body}"));
                }
            }
        }
    }
    let body = house.classify("write", json!({ "content": "x" })).await;
    if body["tier"] != "dangerous" {
        wrong.push(format!("a write without a path: {body}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn stricter_modes_deny_where_this_dialect_would_queue() {
    for (mode, write) in [("explore", false), ("dont-ask", true)] {
        let house = House::new("", &format!("mode = \"{mode}\"\n")).await;
        let asked = house.bash("node x.js").await;
        assert_eq!((&asked["allow"], asked.get("requestId")), (&json!(false), None), "{mode}");
        assert!(asked["reason"].as_str().unwrap().starts_with("Denied: "), "{asked}");
        assert_eq!(house.bash("git status").await["allow"], true, "{mode}");
        let body = house.classify("write", json!({ "path": "a.txt" })).await;
        assert_eq!(body["allow"], write, "{mode}: {body}");
    }
    for mode in ["bypass", "accept-edits"] {
        let house = House::new("", &format!("mode = \"{mode}\"\n")).await;
        assert!(house.bash("node x.js").await["requestId"].is_string(), "{mode}");
        assert_eq!(house.bash("rm -rf /").await["tier"], "destructive", "{mode}");
    }
}
