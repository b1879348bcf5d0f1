//! Verdicts as cases: the tables in `tests/verdicts/*.toml`.
//!
//! A file holds groups with a policy and where the call happens; a case is a command, or a tool
//! with its input, the outcome it must have, and why.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use portcullis_engine::act::ActKind;
use portcullis_engine::effect::Effect;
use portcullis_engine::policy::{ExactAnswer, ExactGrant, Grants};
use portcullis_engine::tool::{CustomFinding, CustomTool};
use portcullis_engine::verdict::JudgedAct;
use portcullis_engine::world::{Listing, WorldKind};
use portcullis_engine::{
    Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, Verdict, World, judge,
};
use serde_json::Value as Json;
use toml::{Table, Value};

/// A disk that a case describes.
struct Disk {
    links: BTreeMap<String, String>,
    shared: Vec<String>,
    folds: bool,
    cut: Vec<String>,
    names: BTreeMap<String, Arc<[String]>>,
}

impl World for Disk {
    fn kind(&self) -> WorldKind {
        WorldKind::Recorded
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let mut walked = String::new();
        for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name == ".." {
                walked.truncate(walked.rfind('/').unwrap_or(0));
                continue;
            }
            walked = format!("{walked}/{name}");
            if let Some(target) = self.links.get(&walked) {
                walked.clone_from(target);
            }
        }
        Some(if walked.is_empty() { "/".to_owned() } else { walked })
    }

    fn is_shared(&self, path: &str) -> bool {
        self.shared.iter().any(|shared| shared == path)
    }

    fn folds_case(&self, _path: &str) -> bool {
        self.folds
    }

    fn names(&self, directory: &str) -> Option<Arc<[String]>> {
        self.names.get(directory).cloned()
    }

    fn listing(&self, directory: &str) -> Option<Arc<Listing>> {
        let name = |path: &String| {
            let (above, name) = path.rsplit_once('/')?;
            (above == directory.trim_end_matches('/')).then(|| name.to_owned())
        };
        let links: Vec<String> = self.links.keys().filter_map(name).collect();
        let directories = self.names.keys().filter_map(name).collect();
        let is_cut = self.cut.iter().any(|cut| cut == directory);
        Some(Arc::new(Listing { links, directories, is_cut }))
    }
}

#[test]
fn every_case_has_its_verdict() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let rows = Rows::asked();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !rows.may_be_in(&name) {
            continue;
        }
        let table: Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        let mut row = 0;
        for group in list(&table, "group") {
            let before = row;
            for case in list(group, "case") {
                for (case, mode) in modes(case) {
                    row += 1;
                    if !rows.holds(&name, row) {
                        continue;
                    }
                    count += 1;
                    let verdict = verdict(group, &case, mode);
                    for mistake in mistakes(&case, &verdict) {
                        wrong.push(format!("{name}: {} {mistake}", shown(&case, mode)));
                    }
                    assert!(wrong.is_empty() || rows.is_all(), "{}", wrong.join("\n"));
                }
            }
            assert!(row > before, "{name}: a group has no `case`: {group:?}");
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Which rows are tried. `cargo xtask mutants` asks for those that come where something is
/// changed, and for the first mistake: `PORTCULLIS_ROWS` names them by table (`rules:3,17`), and
/// each row leaves its name in the file that `PORTCULLIS_REACHED` names.
struct Rows {
    asked: Option<BTreeMap<String, BTreeSet<usize>>>,
    told: Option<std::fs::File>,
}

impl Rows {
    fn asked() -> Rows {
        let asked = std::env::var("PORTCULLIS_ROWS").ok().map(|text| {
            let table = |text: &str| {
                let (name, rows) = text.split_once(':').unwrap();
                (name.to_owned(), rows.split(',').map(|row| row.parse().unwrap()).collect())
            };
            text.split_whitespace().map(table).collect()
        });
        let told = std::env::var_os("PORTCULLIS_REACHED");
        let told = told.map(|path| std::fs::File::options().append(true).open(path).unwrap());
        Rows { asked, told }
    }

    fn is_all(&self) -> bool {
        self.asked.is_none()
    }

    fn may_be_in(&self, table: &str) -> bool {
        self.asked.as_ref().is_none_or(|asked| asked.contains_key(table))
    }

    fn holds(&self, table: &str, row: usize) -> bool {
        let rows = self.asked.as_ref().and_then(|asked| asked.get(table));
        let holds = self.is_all() || rows.is_some_and(|rows| rows.contains(&row));
        if let Some(mut told) = self.told.as_ref().filter(|_| holds) {
            writeln!(told, "{table}:{row}").unwrap();
        }
        holds
    }
}

/// A tool written in Rust that says the same as a declaration.
#[derive(Debug)]
struct Deploy;

impl CustomTool for Deploy {
    fn name(&self) -> &'static str {
        "Deploy"
    }

    fn is_read_only(&self, input: &Json) -> bool {
        assert!(input["operation"] != "panic", "a tool may fail");
        input["operation"] == "list"
    }

    fn matches(&self, content: &str, input: &Json) -> bool {
        input["target"] == content
    }

    fn inspect(&self, input: &Json) -> Option<CustomFinding> {
        let target = input["target"].as_str()?;
        target.starts_with("prod-").then(|| CustomFinding {
            outcome: Outcome::Ask,
            is_firm: true,
            message: "touches production".to_owned(),
        })
    }
}

#[test]
fn both_ways_to_declare_a_tool_give_equal_verdicts() {
    let rules = serde_json::json!({ "allow": ["Deploy(*)"] });
    let tool = serde_json::json!([{
        "name": "Deploy",
        "read_only_when": [{ "field": "operation", "equals": "list" }],
        "safety": [{ "when": { "field": "target", "prefix": "prod-" }, "outcome": "ask", "firm": true, "message": "touches production" }],
    }]);
    let policy = |value: Json| {
        let text = PolicyText::from_json(&value).unwrap();
        Policy::of_layers(&[(Source::User, text)]).unwrap()
    };
    for rules in [rules, serde_json::json!({})] {
        let declared = policy(serde_json::json!({ "rules": rules, "tool": tool }));
        let written = policy(serde_json::json!({ "rules": rules })).with_tool(Arc::new(Deploy));
        let inputs = [
            serde_json::json!({ "operation": "list" }),
            serde_json::json!({ "operation": "push", "target": "dev" }),
            serde_json::json!({ "operation": "list", "target": "prod-1" }),
        ];
        for input in inputs {
            for mode in Mode::ALL {
                let call = Call::new("Deploy", input.clone(), "/w");
                let one = judge(&declared.clone().with_mode(mode), &call, &Lexical);
                let other = judge(&written.clone().with_mode(mode), &call, &Lexical);
                assert_eq!(one.outcome, other.outcome, "{input} in {}", mode.name());
                assert_eq!(one.is_firm, other.is_firm, "{input} in {}", mode.name());
                assert_eq!(one.is_read_only, other.is_read_only, "{input} in {}", mode.name());
            }
        }
    }
    let failing = Call::new("Deploy", serde_json::json!({ "operation": "panic" }), "/w");
    let verdict = judge(&Policy::builtin().with_tool(Arc::new(Deploy)), &failing, &Lexical);
    assert!(verdict.is_firm && verdict.outcome == Outcome::Ask, "one that fails is a firm ask");
}

#[test]
fn a_tool_says_which_input_a_rule_means() {
    let rules = serde_json::json!({ "allow": ["Deploy(dev)"], "deny": ["Deploy(live)"] });
    let text = PolicyText::from_json(&serde_json::json!({ "rules": rules })).unwrap();
    let policy = Policy::of_layers(&[(Source::User, text)]).unwrap().with_tool(Arc::new(Deploy));
    for (target, want) in
        [("dev", Outcome::Allow), ("live", Outcome::Deny), ("elsewhere", Outcome::Ask)]
    {
        let call = Call::new("Deploy", serde_json::json!({ "target": target }), "/w");
        assert_eq!(judge(&policy, &call, &Lexical).outcome, want, "{target}");
    }
}

#[test]
fn what_is_not_read_stands_among_the_acts() {
    let command = "ls; echo 'a";
    let verdict = judge(&Policy::builtin(), &Call::bash(command, "/w"), &Lexical);
    let is_unread = |judged: &&JudgedAct| judged.act.kind == ActKind::Unreadable;
    let act = &verdict.acts.iter().find(is_unread).expect("an act that stands for it").act;
    let effects: Vec<Effect> = act.effects.iter().map(|on| on.effect).collect();
    assert_eq!(effects, [Effect::Unknown], "what it would do is not known");
    assert_eq!(act.span.of(command.as_bytes()), b"'", "it is where the text cannot be read");
    let unknown = act.unknown.as_ref().map(|unknown| &unknown.message);
    let told = verdict.reasons.first().map(|reason| &reason.message);
    assert!(unknown.is_some() && unknown == told, "it says why: {unknown:?}");
}

#[test]
fn grants_answer_the_very_call() {
    let call = Call::bash("rm -rf build", "/home/dev/proj");
    let grant = |answer: ExactAnswer| {
        let mut grants = Grants::default();
        let input = serde_json::json!({ "command": "rm -rf build" });
        let cwd = Some("/home/dev/proj".to_owned());
        grants.insert(ExactGrant { tool: "Bash".to_owned(), input, cwd, answer });
        grants
    };
    let once = ExactAnswer::Allow { answers_firm: true };
    assert!(Grants::default().is_empty() && !grant(once).is_empty());
    let always = ExactAnswer::Allow { answers_firm: false };
    #[rustfmt::skip]
    let cases = [
        (once,              "rm -rf build", Mode::Default, Outcome::Allow, "a limited grant answers a firm finding"),
        (always,            "rm -rf build", Mode::Default, Outcome::Ask,   "one without an end does not"),
        (once,              "rm -rf bui",   Mode::Default, Outcome::Ask,   "it is this very call"),
        (once,              "rm -rf build", Mode::Explore, Outcome::Deny,  "not in explore"),
        (ExactAnswer::Deny, "rm -rf build", Mode::Bypass,  Outcome::Deny,  "a remembered rejection"),
    ];
    for (answer, command, mode, want, why) in cases {
        let policy = Policy::builtin().with_mode(mode).with_grants(grant(answer));
        let call = Call::bash(command, &call.cwd);
        assert_eq!(judge(&policy, &call, &Lexical).outcome, want, "`{command}`: {why}");
    }
    // A newer answer to the same call replaces the older, and no other.
    let other = ExactGrant {
        tool: "Exec".to_owned(),
        input: call.input.clone(),
        cwd: Some(call.cwd.clone()),
        answer: ExactAnswer::Deny,
    };
    let mut grants = grant(ExactAnswer::Deny);
    grants.insert(other.clone());
    grants.insert(ExactGrant { tool: "Bash".to_owned(), answer: once, ..other });
    assert_eq!(grants.answer(&call), Some(once), "the newer one");
    let elsewhere = Call { tool: "Exec".to_owned(), ..call.clone() };
    assert_eq!(grants.answer(&elsewhere), Some(ExactAnswer::Deny), "of another tool");

    let denied = Policy::builtin().with_grants(grant(once));
    let denied = denied.with_rule(Outcome::Deny, "Bash(rm:*)", Source::User).unwrap();
    assert_eq!(judge(&denied, &call, &Lexical).outcome, Outcome::Deny, "a deny rule comes first");

    let patterned = Policy::builtin().with_rule(Outcome::Allow, "Bash(npm run:*)", Source::Grant);
    let verdict = judge(&patterned.unwrap(), &Call::bash("npm run x", "/w"), &Lexical);
    assert_eq!(verdict.outcome, Outcome::Allow, "a pattern grant is an allow rule");
    assert_eq!(verdict.acts.first().and_then(|act| act.source), Some("grant"));
}

/// A case, or five of them where it says what every mode answers.
fn modes(case: &Table) -> Vec<(Table, Option<Mode>)> {
    let Some(all) = text(case, "modes") else { return vec![(case.clone(), None)] };
    let wants: Vec<&str> = all.split_whitespace().collect();
    assert_eq!(wants.len(), 5, "`modes` has an outcome for each mode: {all}");
    let each = Mode::ALL.into_iter().zip(wants);
    each.map(|(mode, want)| {
        let mut case = case.clone();
        case.insert("want".to_owned(), Value::String(want.to_owned()));
        (case, Some(mode))
    })
    .collect()
}

fn verdict(group: &Table, case: &Table, mode: Option<Mode>) -> Verdict {
    let given = |key: &str| case.get(key).or_else(|| group.get(key));
    let string = |key: &str| given(key).and_then(Value::as_str);
    let mut policy = Policy::builtin();
    if let Some(json) = given("policy") {
        let text = PolicyText::from_json(&json_of(json)).unwrap_or_else(|error| panic!("{error}"));
        policy = Policy::of_layers(&[(Source::User, text)]).unwrap();
    }
    let mode = mode.or_else(|| string("mode").map(|name| Mode::from_name(name).unwrap()));
    if let Some(mode) = mode {
        policy = policy.with_mode(mode);
    }
    let input = match text(case, "command") {
        Some(command) => serde_json::json!({ "command": command }),
        None => match (text(case, "json"), case.get("path").or_else(|| case.get("file_path"))) {
            (Some(json), _) => serde_json::from_str(json).unwrap(),
            (None, Some(path)) => serde_json::json!({ "file_path": path.as_str().unwrap() }),
            (None, None) => case.get("input").map_or(Json::Null, json_of),
        },
    };
    let mut call = Call::new(string("tool").unwrap_or("Bash"), input, "");
    call.cwd = string("cwd").unwrap_or("/home/dev/proj").to_owned();
    call.root = string("root").map(str::to_owned);
    call.home = Some(string("home").unwrap_or("/home/dev").to_owned());
    call.host = string("host").map(str::to_owned);
    let strings = |value: &Value| value.as_str().unwrap().to_owned();
    let disk = Disk {
        links: given("links").map_or_else(BTreeMap::new, |links| {
            links
                .as_table()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), strings(value)))
                .collect()
        }),
        shared: given("shared").map_or_else(Vec::new, |shared| {
            shared.as_array().unwrap().iter().map(strings).collect()
        }),
        folds: given("folds").is_some_and(|folds| folds.as_bool().unwrap()),
        cut: given("cut")
            .map_or_else(Vec::new, |cut| cut.as_array().unwrap().iter().map(strings).collect()),
        names: given("names").map_or_else(BTreeMap::new, |names| {
            let of = |value: &Value| value.as_array().unwrap().iter().map(strings).collect();
            names.as_table().unwrap().iter().map(|(key, value)| (key.clone(), of(value))).collect()
        }),
    };
    judge(&policy, &call, &disk)
}

fn mistakes(case: &Table, verdict: &Verdict) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, want: Option<String>, got: String| {
        if let Some(want) = want.filter(|want| *want != got) {
            let why = text(case, "why").unwrap_or("");
            let reasons: Vec<String> = verdict
                .reasons
                .iter()
                .map(|reason| format!("{}: {}", reason.code, reason.message))
                .collect();
            wrong.push(format!(
                "must have {what} {want}, has {got}: {why} [{}]",
                reasons.join("; ")
            ));
        }
    };
    let string = |key: &str| text(case, key).map(str::to_owned);
    let flag = |key: &str| case.get(key).map(|value| value.as_bool().unwrap().to_string());
    let code = verdict.reasons.first().map_or_else(String::new, |reason| reason.code.to_string());
    compare("outcome", string("want"), verdict.outcome.name().to_owned());
    compare("tier", string("tier"), verdict.tier.name().to_owned());
    compare("code", string("code"), code);
    compare("firm", flag("firm"), verdict.is_firm.to_string());
    compare("read_only", flag("read_only"), verdict.is_read_only.to_string());
    let first = verdict.reasons.first();
    compare("message", string("message"), first.map_or("", |reason| &reason.message).to_owned());
    let span = first.and_then(|reason| reason.span);
    let span = span.map_or_else(String::new, |span| format!("{}..{}", span.start, span.end));
    compare("span", string("span"), span);
    // Of the first act.
    let act = verdict.acts.first();
    let rule = act.and_then(|judged| judged.rule.clone()).unwrap_or_default();
    compare("rule", string("rule"), rule);
    let effects = act.map_or(&[][..], |judged| &judged.act.effects);
    let effects: Vec<&str> = effects.iter().map(|on| on.effect.name()).collect();
    compare("effects", string("effects"), effects.join(" "));
    if let Some(told) = string("told") {
        let is_told = verdict.reasons.iter().any(|reason| reason.message == told);
        compare("it told", Some(told.clone()), if is_told { told } else { String::new() });
    }
    if let Some(untold) = string("untold") {
        let is_told = verdict.reasons.iter().any(|reason| reason.message == untold);
        compare("not told", Some("false".to_owned()), is_told.to_string());
    }
    if let Some(rules) = case.get("suggestions") {
        let rules: Vec<&str> =
            rules.as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
        let got: Vec<&str> =
            verdict.suggestions.iter().map(|suggestion| suggestion.rule.as_str()).collect();
        compare("suggestions", Some(format!("{rules:?}")), format!("{got:?}"));
    }
    // What holds for every verdict.
    let strictest = verdict.acts.iter().map(|act| act.outcome).max().unwrap_or(Outcome::Allow);
    compare(
        "the strictest of its acts",
        Some(strictest.name().to_owned()),
        verdict.outcome.name().to_owned(),
    );
    let told: Vec<_> = verdict.reasons.iter().map(|reason| format!("{reason:?}")).collect();
    let different: BTreeSet<&String> = told.iter().collect();
    compare("each reason once", Some(told.len().to_string()), different.len().to_string());
    compare("at most 16 reasons", Some("true".to_owned()), (told.len() <= 16).to_string());
    if verdict.outcome != Outcome::Allow {
        for reason in &verdict.reasons {
            if let Some(word) = teaches(&reason.message) {
                wrong.push(format!("says `{}`, and `{word}` names a way round", reason.message));
            }
        }
    }
    wrong
}

/// Words of a refusal that would name a way round it; what it quotes is the agent's own.
fn teaches(message: &str) -> Option<&'static str> {
    const WAYS: [&str; 12] = [
        "bypass",
        "pause",
        "uninstall",
        "disable",
        "switch off",
        "turn off",
        "allow rule",
        "instead",
        "try ",
        "trust",
        "accept-edits",
        "unless",
    ];
    let own: String = message.split('`').step_by(2).collect();
    WAYS.into_iter().find(|way| own.contains(way))
}

fn shown(case: &Table, mode: Option<Mode>) -> String {
    let what = text(case, "command").or_else(|| text(case, "path")).or_else(|| text(case, "json"));
    let what = what.map_or_else(|| format!("{:?}", case.get("input")), |what| format!("`{what}`"));
    mode.map_or_else(String::new, |mode| format!("[{}] ", mode.name())) + &what
}

fn list<'a>(table: &'a Table, key: &str) -> Vec<&'a Table> {
    let items = table.get(key).and_then(Value::as_array);
    items.map_or_else(Vec::new, |items| items.iter().map(|item| item.as_table().unwrap()).collect())
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).map(|value| value.as_str().unwrap_or_else(|| panic!("`{key}` is no text")))
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::from(text.as_str()),
        Value::Integer(number) => Json::from(*number),
        Value::Float(number) => Json::from(*number),
        Value::Boolean(is_true) => Json::from(*is_true),
        Value::Datetime(date) => Json::from(date.to_string()),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::Table(table) => {
            Json::Object(table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
        }
    }
}
