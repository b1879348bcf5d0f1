//! Reads one program of the catalog.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::keys::{flag, format, is_zsh, list, options_or_always, roles, text, word_list, words};
use crate::options::{self, OptionToken};

/// One program with everything that is known of it.
#[derive(Clone)]
pub struct Program {
    pub name: String,
    pub aliases: Vec<String>,
    pub entry: Entry,
    pub is_builtin: bool,
    /// Whether only zsh has it.
    pub is_zsh: bool,
    pub read_only: Vec<String>,
    pub not_read_only: Vec<String>,
}

/// What is known of a program or of one of its sub-commands.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the data")]
pub struct Entry {
    pub style: String,
    pub effects: Vec<String>,
    pub any_option: bool,
    pub options: Vec<OptionToken>,
    pub any_operand: bool,
    pub operands: Vec<(String, char)>,
    pub unless: Vec<String>,
    pub target: Vec<String>,
    pub alone: Option<Vec<String>>,
    pub with_operand: Vec<String>,
    pub wraps: String,
    pub global: bool,
    pub digits: bool,
    pub plus: bool,
    pub secrets: bool,
    pub finding: Option<String>,
    pub soft: Option<String>,
    pub reader: Option<String>,
    pub services: String,
    pub services_first: Vec<String>,
    pub verbs: Vec<(Vec<String>, Vec<String>)>,
    pub except: Vec<Except>,
    pub closed: bool,
    pub fold: bool,
    pub harmless_meta: Vec<String>,
    pub help: Vec<String>,
    pub turns: Vec<String>,
    pub otherwise: Option<String>,
    pub dry: Vec<String>,
    pub dry_effects: Vec<String>,
    pub listing: Vec<String>,
    pub recurses: Vec<String>,
    pub named: bool,
    pub runner: bool,
    pub dashless: Vec<String>,
    pub leads: Vec<String>,
    pub picks: Vec<String>,
    pub format: Option<Format>,
    pub passes: bool,
    pub also_reads: bool,
    pub takes_names: Vec<String>,
    pub prints: String,
    pub hidden: Vec<String>,
    pub tidy: Vec<String>,
    pub harmless_config: Vec<String>,
    pub when: Vec<When>,
    /// Another program's sub-command that this one stands for.
    pub stands_for: Option<String>,
    pub subs: Vec<(Vec<String>, Entry)>,
}

/// What is added where all conditions hold.
#[derive(Clone, Default)]
pub struct When {
    pub option: Vec<String>,
    pub value: Vec<String>,
    pub operand: Vec<String>,
    pub first: Vec<String>,
    pub without: Vec<String>,
    pub except: Vec<String>,
    pub fold: bool,
    pub effects: Vec<String>,
    pub finding: Option<String>,
    pub secrets: bool,
    /// Holds if there are fewer operands than this; 0 for no such condition.
    pub few: i64,
    /// Holds if an operand is not known before it runs.
    pub open: bool,
}

/// A verb of a service that is not what its name says.
#[derive(Clone, Default)]
pub struct Except {
    pub path: Vec<String>,
    pub option: Vec<String>,
    pub effects: Vec<String>,
    pub finding: Option<String>,
    pub secrets: bool,
}

/// A text by which a program prints.
#[derive(Clone, Default)]
pub struct Format {
    pub option: Vec<String>,
    pub safe: Vec<String>,
    pub with: Vec<String>,
}

/// Named lists of options.
pub type Sets = BTreeMap<String, String>;

/// The named lists of one file.
pub fn sets(table: &Table) -> Result<Sets, String> {
    let mut sets = Sets::new();
    let Some(Value::Table(named)) = table.get("set") else { return Ok(sets) };
    for (name, set) in named {
        let options = set.get("options").and_then(Value::as_str);
        let options = options.ok_or(format!("set `{name}` has no `options`"))?;
        sets.insert(name.clone(), options.to_owned());
    }
    Ok(sets)
}

/// Every program of one file.
pub fn programs(table: &Table, sets: &Sets, is_builtin: bool) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for (name, value) in table {
        if name == "set" {
            continue;
        }
        let Value::Table(table) = value else {
            return Err(format!("`{name}` is no table"));
        };
        let context = |error: String| format!("program `{name}`: {error}");
        let mut examples = (Vec::new(), Vec::new());
        let entry = entry(table, sets, None, &mut examples).map_err(context)?;
        let aliases = list(table, "aliases").map_err(context)?;
        let (read_only, not_read_only) = examples;
        programs.push(Program {
            name: name.clone(),
            aliases,
            entry,
            is_builtin,
            is_zsh: is_zsh(table).map_err(context)?,
            read_only,
            not_read_only,
        });
    }
    Ok(programs)
}

const KEYS: [&str; 55] = [
    "turns",
    "also_reads",
    "dashless",
    "takes_names",
    "dialect",
    "format",
    "leads",
    "picks",
    "passes",
    "named",
    "runner",
    "prints",
    "hidden",
    "tidy",
    "closed",
    "except",
    "fold",
    "harmless_meta",
    "services_first",
    "as",
    "dry",
    "dry_effect",
    "harmless_config",
    "help",
    "listing",
    "otherwise",
    "recurses",
    "when",
    "about",
    "aliases",
    "alone",
    "digits",
    "effect",
    "finding",
    "global",
    "operands",
    "options",
    "pager",
    "plus",
    "read_only",
    "not_read_only",
    "reader",
    "secrets",
    "services",
    "soft",
    "style",
    "sub",
    "target",
    "unless",
    "use",
    "verbs",
    "with_operand",
    "wraps",
    "note",
    "why",
];

type Examples = (Vec<String>, Vec<String>);

fn entry(
    table: &Table,
    sets: &Sets,
    outer: Option<&Entry>,
    examples: &mut Examples,
) -> Result<Entry, String> {
    let is_program = outer.is_none();
    for key in table.keys() {
        if !KEYS.contains(&key.as_str()) {
            return Err(format!("unknown key `{key}`; known are {}", KEYS.join(", ")));
        }
    }
    examples.0.extend(list(table, "read_only")?);
    examples.1.extend(list(table, "not_read_only")?);
    let mut texts = Vec::new();
    for name in list(table, "use")? {
        let set = sets.get(&name).ok_or(format!("unknown set `{name}`"))?;
        texts.push(set.clone());
    }
    let own = text(table, "options")?.unwrap_or_default();
    options::agree(&own)?;
    texts.push(own);
    let joined = texts.join(" ");
    let any_option = joined.split_whitespace().any(|token| token == "*");
    let options = options::read(&joined)?;
    let operands = text(table, "operands")?;
    let is_default = operands.is_none();
    let operands = operands.unwrap_or_else(|| {
        if is_program || table.contains_key("sub") { String::new() } else { "*".into() }
    });
    let has_subs = table.contains_key("sub");
    let any_operand = operands.trim() == "*" || (is_default && !is_program && !has_subs);
    let effects = words(text(table, "effect")?.as_deref().unwrap_or("read"));
    let mut built = Entry {
        style: match text(table, "style")? {
            Some(style) => style,
            None => outer.map(|outer| outer.style.clone()).unwrap_or_default(),
        },
        any_option,
        any_operand,
        operands: if any_operand { Vec::new() } else { roles(&operands)? },
        unless: words(text(table, "unless")?.as_deref().unwrap_or_default()),
        target: words(text(table, "target")?.as_deref().unwrap_or_default()),
        alone: text(table, "alone")?.map(|effects| words(&effects)),
        with_operand: words(text(table, "with_operand")?.as_deref().unwrap_or_default()),
        wraps: text(table, "wraps")?.unwrap_or_default(),
        global: flag(table, "global")?,
        digits: flag(table, "digits")?,
        plus: flag(table, "plus")?,
        secrets: flag(table, "secrets")?,
        finding: text(table, "finding")?,
        soft: text(table, "soft")?,
        reader: text(table, "reader")?,
        services: text(table, "services")?.unwrap_or_default(),
        services_first: words(text(table, "services_first")?.as_deref().unwrap_or_default()),
        verbs: Vec::new(),
        except: Vec::new(),
        closed: flag(table, "closed")?,
        fold: flag(table, "fold")? || outer.is_some_and(|outer| outer.fold),
        harmless_meta: words(text(table, "harmless_meta")?.as_deref().unwrap_or_default()),
        help: match text(table, "help")? {
            Some(help) => words(&help),
            None => outer.map(|outer| outer.help.clone()).unwrap_or_default(),
        },
        turns: match text(table, "turns")? {
            Some(turns) => words(&turns),
            None => outer.map(|outer| outer.turns.clone()).unwrap_or_default(),
        },
        otherwise: text(table, "otherwise")?,
        dry: words(text(table, "dry")?.as_deref().unwrap_or_default()),
        dry_effects: words(text(table, "dry_effect")?.as_deref().unwrap_or("read")),
        listing: words(text(table, "listing")?.as_deref().unwrap_or_default()),
        recurses: words(text(table, "recurses")?.as_deref().unwrap_or_default()),
        named: flag(table, "named")?,
        dashless: options_or_always(table, "dashless")?,
        leads: options_or_always(table, "leads")?,
        picks: words(text(table, "picks")?.as_deref().unwrap_or_default()),
        format: format(table)?,
        passes: flag(table, "passes")?,
        also_reads: flag(table, "also_reads")?,
        takes_names: options_or_always(table, "takes_names")?,
        runner: flag(table, "runner")?,
        prints: text(table, "prints")?.unwrap_or_default(),
        hidden: words(text(table, "hidden")?.as_deref().unwrap_or_default()),
        tidy: words(text(table, "tidy")?.as_deref().unwrap_or_default()),
        harmless_config: word_list(table, "harmless_config")?,
        when: whens(table, outer)?,
        stands_for: text(table, "as")?,
        options,
        effects,
        subs: Vec::new(),
    };
    sub_commands(table, sets, &mut built, examples)?;
    verbs(table, &mut built)?;
    check(&built)?;
    Ok(built)
}

/// The sub-commands, each a table or only its effects.
fn sub_commands(
    table: &Table,
    sets: &Sets,
    built: &mut Entry,
    examples: &mut Examples,
) -> Result<(), String> {
    if let Some(Value::Table(subs)) = table.get("sub") {
        for (names, value) in subs {
            let context = |error: String| format!("sub-command `{names}`: {error}");
            let sub = match value {
                Value::String(effects) => Entry {
                    effects: words(effects),
                    style: built.style.clone(),
                    any_option: true,
                    any_operand: true,
                    help: built.help.clone(),
                    turns: built.turns.clone(),
                    when: built.when.clone(),
                    ..Entry::default()
                },
                Value::Table(table) => {
                    entry(table, sets, Some(built), examples).map_err(context)?
                }
                Value::Integer(_)
                | Value::Float(_)
                | Value::Boolean(_)
                | Value::Datetime(_)
                | Value::Array(_) => return Err(context("neither effects nor a table".into())),
            };
            built.subs.push((words(names), sub));
        }
    }
    Ok(())
}

/// The verbs of a service, and those that are not what they seem.
fn verbs(table: &Table, built: &mut Entry) -> Result<(), String> {
    if let Some(Value::Table(verbs)) = table.get("verbs") {
        for (key, value) in verbs {
            if key == "except" {
                built.except = excepts(value)?;
                continue;
            }
            let names = value.as_str().ok_or(format!("verbs of `{key}` are no text"))?;
            built.verbs.push((words(&key.replace('_', " ")), words(names)));
        }
        // What only asks is tried first, as the data says.
        built
            .verbs
            .sort_by_key(|(effects, _)| effects.first().map(String::as_str) != Some("query"));
    }
    if let Some(value) = table.get("except") {
        built.except.extend(excepts(value)?);
    }
    Ok(())
}

fn excepts(value: &Value) -> Result<Vec<Except>, String> {
    let mut all = Vec::new();
    for item in value.as_array().ok_or("`except` is no list")? {
        let item = item.as_table().ok_or("an `except` is no table")?;
        let known = ["path", "option", "effect", "finding", "secrets"];
        if let Some(key) = item.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` in `except`; known are {}", known.join(", ")));
        }
        let path = text(item, "path")?.unwrap_or_default();
        all.push(Except {
            path: path.split(',').map(|path| path.trim().to_owned()).collect(),
            option: words(text(item, "option")?.as_deref().unwrap_or_default()),
            effects: words(text(item, "effect")?.as_deref().unwrap_or_default()),
            finding: text(item, "finding")?,
            secrets: flag(item, "secrets")?,
        });
    }
    Ok(all)
}

pub const EFFECTS: [&str; 9] =
    ["read", "query", "write", "delete", "change", "execute", "connect", "escalate", "unknown"];

fn check(entry: &Entry) -> Result<(), String> {
    let all = entry.effects.iter().chain(&entry.with_operand).chain(entry.alone.iter().flatten());
    for effect in all {
        if !EFFECTS.contains(&effect.as_str()) {
            return Err(format!("unknown effect `{effect}`; use one of {}", EFFECTS.join(", ")));
        }
    }
    let styles = ["", "gnu", "exact", "posix", "go", "raw"];
    if !styles.contains(&entry.style.as_str()) {
        return Err(format!("unknown style `{}`", entry.style));
    }
    let printed =
        ["", "operands", "selected", "parents", "listed", "found", "matching", "programs"];
    if !printed.contains(&entry.prints.as_str()) {
        return Err(format!(
            "unknown `prints`: `{}`; use one of {}",
            entry.prints,
            printed.join(" ")
        ));
    }
    if !["", "plain", "kept"].contains(&entry.wraps.as_str()) {
        return Err(format!("unknown `wraps`: `{}`; use plain or kept", entry.wraps));
    }
    Ok(())
}

fn whens(table: &Table, outer: Option<&Entry>) -> Result<Vec<When>, String> {
    let mut all = outer.map(|outer| outer.when.clone()).unwrap_or_default();
    let Some(value) = table.get("when") else { return Ok(all) };
    let array = value.as_array().ok_or("`when` is no list")?;
    for item in array {
        let item = item.as_table().ok_or("a `when` is no table")?;
        let known = [
            "option", "value", "operand", "first", "without", "except", "few", "fold", "effect",
            "finding", "secrets", "open",
        ];
        if let Some(key) = item.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}` in `when`; known are {}", known.join(", ")));
        }
        let read =
            |key: &str| text(item, key).map(|text| words(text.as_deref().unwrap_or_default()));
        let when = When {
            option: read("option")?,
            value: read("value")?,
            operand: read("operand")?,
            first: read("first")?,
            without: read("without")?,
            except: read("except")?,
            fold: flag(item, "fold")?,
            effects: read("effect")?,
            finding: text(item, "finding")?,
            secrets: flag(item, "secrets")?,
            open: flag(item, "open")?,
            few: item.get("few").and_then(Value::as_integer).unwrap_or_default(),
        };
        all.push(when);
    }
    Ok(all)
}
