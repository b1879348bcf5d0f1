//! Writes the catalog as Rust.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::entry::{EFFECTS, Entry, Except, Program, Sets, When};
use crate::options::OptionToken;

/// The text of `catalog.rs`.
pub fn catalog(programs: &BTreeMap<String, Program>, words: &Sets) -> Result<String, String> {
    let mut out = String::new();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let _ = writeln!(out, "pub(super) static PROGRAMS: &[Program] = &[");
    for (place, program) in programs.values().enumerate() {
        for name in std::iter::once(&program.name).chain(&program.aliases) {
            if names.insert(name, place).is_some() {
                return Err(format!("two programs are called `{name}`"));
            }
        }
        let _ = writeln!(
            out,
            "Program {{ name: {:?}, entry: {}, is_builtin: {}, read_only: &{:?}, not_read_only: &{:?} }},",
            program.name,
            entry(&program.entry),
            program.is_builtin,
            program.read_only,
            program.not_read_only
        );
    }
    let _ = writeln!(out, "];\npub(super) static NAMES: &[(&str, u16)] = &[");
    for (name, place) in names {
        let _ = writeln!(out, "({name:?}, {place}),");
    }
    let _ = writeln!(out, "];\npub(super) static WORDS: &[(&str, &[&str])] = &[");
    for (name, listed) in words {
        let mut listed: Vec<&str> = listed.split_whitespace().collect();
        listed.sort_unstable();
        let _ = writeln!(out, "({name:?}, &{listed:?}),");
    }
    let _ = writeln!(out, "];");
    Ok(out)
}

fn entry(entry: &Entry) -> String {
    let style = match entry.style.as_str() {
        "exact" => "Exact",
        "posix" => "Posix",
        "go" => "Go",
        "raw" => "Raw",
        _ => "Gnu",
    };
    let wraps = match entry.wraps.as_str() {
        "plain" => "Plain",
        "kept" => "Kept",
        _ => "No",
    };
    let options: Vec<String> = entry.options.iter().map(option).collect();
    let operands: Vec<String> = entry
        .operands
        .iter()
        .map(|(name, mark)| {
            format!("Role {{ kind: ValueKind::{}, count: {:?} }}", kind(name), mark)
        })
        .collect();
    let whens: Vec<String> = entry.when.iter().map(when).collect();
    let verbs: Vec<String> = entry
        .verbs
        .iter()
        .map(|(own, names)| format!("(Effects({}), &{names:?})", effects(own)))
        .collect();
    let excepts: Vec<String> = entry.except.iter().map(except).collect();
    let services = match entry.services.as_str() {
        "" => "Services::None".to_owned(),
        "any" => "Services::Any".to_owned(),
        "all" => "Services::All".to_owned(),
        listed => format!("Services::Words(&{:?})", listed.split_whitespace().collect::<Vec<_>>()),
    };
    let subs: Vec<String> = entry
        .subs
        .iter()
        .map(|(names, sub)| format!("Sub {{ names: &{names:?}, entry: {} }}", self::entry(sub)))
        .collect();
    format!(
        "Entry {{ style: Style::{style}, effects: Effects({}), any_option: {}, options: &[{}], any_operand: {}, \
         operands: &[{}], unless: &{:?}, target: &{:?}, alone: {}, with_operand: Effects({}), \
         wraps: Wraps::{wraps}, global: {}, digits: {}, plus: {}, secrets: {}, finding: {:?}, soft: {:?}, \
         reader: {:?}, services: {}, services_first: &{:?}, verbs: &[{}], except: &[{}], closed: {}, fold: {}, \
         harmless_meta: &{:?}, help: &{:?}, otherwise: {:?}, dry: &{:?}, dry_effects: Effects({}), \
         listing: &{:?}, recurses: &{:?}, harmless_config: &{:?}, when: &[{}], subs: &[{}] }}",
        effects(&entry.effects),
        entry.any_option,
        options.join(", "),
        entry.any_operand,
        operands.join(", "),
        entry.unless,
        entry.target,
        entry
            .alone
            .as_ref()
            .map_or("None".into(), |all| format!("Some(Effects({}))", effects(all))),
        effects(&entry.with_operand),
        entry.global,
        entry.digits,
        entry.plus,
        entry.secrets,
        entry.finding,
        entry.soft,
        entry.reader,
        services,
        entry.services_first,
        verbs.join(", "),
        excepts.join(", "),
        entry.closed,
        entry.fold,
        entry.harmless_meta,
        entry.help,
        entry.otherwise,
        entry.dry,
        effects(&entry.dry_effects),
        entry.listing,
        entry.recurses,
        entry.harmless_config,
        whens.join(", "),
        subs.join(", ")
    )
}

fn except(except: &Except) -> String {
    format!(
        "Except {{ path: &{:?}, option: &{:?}, effects: Effects({}), finding: {:?}, secrets: {} }}",
        except.path,
        except.option,
        effects(&except.effects),
        except.finding,
        except.secrets
    )
}

fn when(when: &When) -> String {
    format!(
        "When {{ option: &{:?}, value: &{:?}, operand: &{:?}, first: &{:?}, without: &{:?}, except: &{:?}, \
         fold: {}, effects: Effects({}), finding: {:?}, secrets: {}, few: {} }}",
        when.option,
        when.value,
        when.operand,
        when.first,
        when.without,
        when.except,
        when.fold,
        effects(&when.effects),
        when.finding,
        when.secrets,
        when.few
    )
}

fn option(option: &OptionToken) -> String {
    let arity = match option.arity {
        'r' => "Required",
        'o' => "Optional",
        _ => "None",
    };
    format!(
        "OptionSpec {{ name: {:?}, arity: Arity::{arity}, kind: ValueKind::{}, effects: Effects({}), \
         edits: {}, quiet: {}, finding: {:?} }}",
        option.name,
        kind(&option.kind),
        effects(&option.effects),
        option.edits,
        option.quiet,
        option.finding
    )
}

/// The effects as bits, in the order of [`EFFECTS`].
fn effects(names: &[String]) -> u16 {
    names
        .iter()
        .filter_map(|name| EFFECTS.iter().position(|known| known == name))
        .fold(0, |bits, place| bits | 1 << place)
}

fn kind(name: &str) -> &'static str {
    match name {
        "read" => "Read",
        "write" => "Write",
        "delete" => "Delete",
        "dir" => "Directory",
        "cd" => "WorkingDirectory",
        "run" => "ShellText",
        "program" => "Program",
        "command" => "Command",
        "code" => "Code",
        "url" => "Url",
        "host" => "Host",
        "config" => "Config",
        "sed" => "Sed",
        "awk" => "Awk",
        "jq" => "Jq",
        "sql" => "Sql",
        "pattern" => "Pattern",
        "move" => "Move",
        "link" => "Link",
        "sub" => "Sub",
        "change" => "Change",
        "remote" => "Remote",
        _ => "Opaque",
    }
}
