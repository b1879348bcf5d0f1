//! Writes the catalog as Rust.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::entry::{EFFECTS, Entry, Except, Format, Program, When};
use crate::options::OptionToken;
use crate::shelves;

/// The text of `catalog.rs`.
pub fn catalog(programs: &BTreeMap<String, Program>) -> Result<String, String> {
    let mut writer =
        Writer { out: String::new(), shared: BTreeMap::new(), names: Names::default() };
    let mut rows = String::new();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, program) in programs.values().enumerate() {
        for name in std::iter::once(&program.name).chain(&program.aliases) {
            if names.insert(name, place).is_some() {
                return Err(format!("two programs are called `{name}`"));
            }
        }
        let _ = writeln!(
            rows,
            "Program {{ name: {:?}, entry: &{}, is_builtin: {}, is_zsh: {}, read_only: {:?}, not_read_only: {:?} }},",
            program.name,
            writer.entry(&program.entry),
            program.is_builtin,
            program.is_zsh,
            program.read_only.join("\u{1f}"),
            program.not_read_only.join("\u{1f}")
        );
    }
    let mut out = std::mem::take(&mut writer.out);
    let _ = writeln!(out, "pub(super) static PROGRAMS: &[Program] = &[\n{rows}];");
    let _ = writeln!(out, "pub(super) static NAMES: &[(&str, u16)] = &[");
    let mut names: Vec<(String, usize)> =
        names.into_iter().map(|(name, place)| (name.to_owned(), place)).collect();
    let starts = shelves::sort(&mut names);
    for (name, place) in names {
        let _ = writeln!(out, "({name:?}, {place}),");
    }
    let _ = writeln!(out, "];\npub(super) static STARTS: &[u16] = &{starts:?};");
    let _ = writeln!(out, "pub(super) static TEXT: &str = {:?};", writer.names.text);
    Ok(out)
}

/// Writes entries and lists once, however many programs share them.
struct Writer {
    out: String,
    /// The names under which texts are written already.
    shared: BTreeMap<String, String>,
    names: Names,
}

/// The names of options in one text: a pointer for each would have to be set at every start.
#[derive(Default)]
struct Names {
    text: String,
    places: BTreeMap<String, usize>,
}

impl Names {
    /// Where a name stands, as Rust.
    fn place(&mut self, name: &str) -> String {
        let text = &mut self.text;
        let at = *self.places.entry(name.to_owned()).or_insert_with(|| {
            let at = text.len();
            text.push_str(name);
            at
        });
        // Lints look at what is generated too, and want long numbers grouped.
        let at = if at < 1000 { at.to_string() } else { format!("{}_{:03}", at / 1000, at % 1000) };
        let mark = shelves::mark(name.as_bytes());
        format!("Name {{ at: {at}, len: {}, mark: {mark} }}", name.len())
    }
}

impl Writer {
    /// The name of a static that holds this text.
    fn share(&mut self, kind: &str, text: String) -> String {
        if let Some(name) = self.shared.get(&text) {
            return name.clone();
        }
        let name = format!("S{}", self.shared.len());
        let _ = writeln!(self.out, "static {name}: {kind} = {text};");
        self.shared.insert(text, name.clone());
        name
    }

    /// The name of a list of things that are already written as Rust.
    fn list(&mut self, kind: &str, items: &[String]) -> String {
        if items.is_empty() {
            return "&[]".to_owned();
        }
        self.share(&format!("&[{kind}]"), format!("&[{}]", items.join(", ")))
    }

    fn format(&mut self, format: &Format) -> String {
        let Format { option, safe, with } = format;
        let text = format!("Format {{ option: &{option:?}, safe: &{safe:?}, with: &{with:?} }}");
        self.share("Format", text)
    }

    fn entry(&mut self, entry: &Entry) -> String {
        let mut fields = String::new();
        let mut field = |name: &str, value: &str, is_plain: bool| {
            if !is_plain {
                let _ = write!(fields, "{name}: {value}, ");
            }
        };
        let [style, wraps, prints] = variants(entry);
        let services = match entry.services.as_str() {
            "" => String::new(),
            "any" => "Services::Any".to_owned(),
            "all" => "Services::All".to_owned(),
            listed => {
                format!("Services::Words(&{:?})", listed.split_whitespace().collect::<Vec<_>>())
            }
        };
        let set = |names: &[String]| format!("Effects({})", effects(names));
        let alone = entry.alone.as_ref().map(|all| format!("Some({})", set(all)));
        field("style", &format!("Style::{style}"), style == "Gnu");
        field("effects", &set(&entry.effects), false);
        field("alone", &alone.clone().unwrap_or_default(), alone.is_none());
        field("with_operand", &set(&entry.with_operand), entry.with_operand.is_empty());
        field("dry_effects", &set(&entry.dry_effects), entry.dry.is_empty());
        field("wraps", &format!("Wraps::{wraps}"), wraps == "No");
        field("prints", &format!("Prints::{prints}"), prints == "Nothing");
        field("services", &services, services.is_empty());
        for (name, is_set) in [
            ("any_option", entry.any_option),
            ("any_operand", entry.any_operand),
            ("global", entry.global),
            ("digits", entry.digits),
            ("plus", entry.plus),
            ("secrets", entry.secrets),
            ("closed", entry.closed),
            ("fold", entry.fold),
            ("runner", entry.runner),
            ("passes", entry.passes),
            ("also_reads", entry.also_reads),
            ("named", entry.named),
        ] {
            field(name, "true", !is_set);
        }
        for (name, text) in [
            ("finding", &entry.finding),
            ("soft", &entry.soft),
            ("reader", &entry.reader),
            ("otherwise", &entry.otherwise),
        ] {
            field(name, &format!("{text:?}"), text.is_none());
        }
        for (name, list) in word_lists(entry) {
            field(name, &format!("&{list:?}"), list.is_empty());
        }
        if let Some(format) = &entry.format {
            let format = self.format(format);
            let _ = write!(fields, "format: Some(&{format}), ");
        }
        let mut lists = Vec::new();
        let options: Vec<String> =
            entry.options.iter().map(|token| option(token, &mut self.names)).collect();
        lists.push(("options", self.list("OptionSpec", &options)));
        let operands: Vec<String> = entry
            .operands
            .iter()
            .map(|(name, mark)| {
                format!("Role {{ kind: ValueKind::{}, count: {mark:?} }}", kind(name))
            })
            .collect();
        lists.push(("operands", self.list("Role", &operands)));
        let whens: Vec<String> = entry.when.iter().map(when).collect();
        lists.push(("when", self.list("When", &whens)));
        let verbs: Vec<String> = entry
            .verbs
            .iter()
            .map(|(own, names)| format!("(Effects({}), &{names:?})", effects(own)))
            .collect();
        lists.push(("verbs", self.list("(Effects, &[&str])", &verbs)));
        let excepts: Vec<String> = entry.except.iter().map(except).collect();
        lists.push(("except", self.list("Except", &excepts)));
        let mut subs = Vec::new();
        for (names, sub) in &entry.subs {
            let written = self.entry(sub);
            subs.push(format!("Sub {{ names: &{names:?}, entry: &{written} }}"));
        }
        lists.push(("subs", self.list("Sub", &subs)));
        let (by_name, open) = self.sub_names(entry);
        lists.push(("subs_by_name", self.list("(Name, u16)", &by_name)));
        lists.push(("open_subs", self.list("u16", &open)));
        for (name, list) in lists.iter().filter(|(_, list)| list != "&[]") {
            let _ = write!(fields, "{name}: {list}, ");
        }
        self.share("Entry", format!("Entry {{ {fields}..PLAIN }}"))
    }
}

impl Writer {
    /// The names of sub-commands, sorted as they are looked up, with their places; of two that share a name the first has it. And the places of those with a star in a name.
    fn sub_names(&mut self, entry: &Entry) -> (Vec<String>, Vec<String>) {
        let mut places: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let mut open = Vec::new();
        for (place, (names, _)) in entry.subs.iter().enumerate() {
            for name in names {
                places.entry(shelves::order(name)).or_insert(place);
            }
            if names.iter().any(|name| name.contains('*')) {
                open.push(place.to_string());
            }
        }
        let row = |((_, name), place)| format!("({}, {place})", self.names.place(name));
        (places.into_iter().map(row).collect(), open)
    }
}

/// The lists of words that an entry holds, by the names of their fields.
fn word_lists(entry: &Entry) -> [(&'static str, &Vec<String>); 16] {
    [
        ("unless", &entry.unless),
        ("target", &entry.target),
        ("services_first", &entry.services_first),
        ("harmless_meta", &entry.harmless_meta),
        ("help", &entry.help),
        ("turns", &entry.turns),
        ("dry", &entry.dry),
        ("listing", &entry.listing),
        ("recurses", &entry.recurses),
        ("hidden", &entry.hidden),
        ("tidy", &entry.tidy),
        ("dashless", &entry.dashless),
        ("leads", &entry.leads),
        ("picks", &entry.picks),
        ("takes_names", &entry.takes_names),
        ("harmless_config", &entry.harmless_config),
    ]
}

/// The variants that an entry's words stand for: its style, what it wraps, what it prints.
fn variants(entry: &Entry) -> [&'static str; 3] {
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
    let prints = match entry.prints.as_str() {
        "operands" => "Operands",
        "selected" => "Selected",
        "parents" => "Parents",
        "listed" => "Listed",
        "found" => "Found",
        "matching" => "Matching",
        "programs" => "Programs",
        _ => "Nothing",
    };
    [style, wraps, prints]
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
         fold: {}, effects: Effects({}), finding: {:?}, secrets: {}, few: {}, open: {} }}",
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
        when.few,
        when.open
    )
}

fn option(option: &OptionToken, names: &mut Names) -> String {
    let mut fields = format!("name: {}, ", names.place(&option.name));
    match option.arity {
        'r' => fields.push_str("arity: Arity::Required, "),
        'o' => fields.push_str("arity: Arity::Optional, "),
        _ => {}
    }
    let kind = kind(&option.kind);
    if kind != "Opaque" {
        let _ = write!(fields, "kind: ValueKind::{kind}, ");
    }
    if !option.effects.is_empty() {
        let _ = write!(fields, "effects: Effects({}), ", effects(&option.effects));
    }
    for (name, is_set) in [("edits", option.edits), ("quiet", option.quiet)] {
        if is_set {
            let _ = write!(fields, "{name}: true, ");
        }
    }
    if option.finding.is_some() {
        let _ = write!(fields, "finding: {:?}, ", option.finding);
    }
    format!("OptionSpec {{ {fields}..FLAG }}")
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
        "into" => "Into",
        "tree" => "Tree",
        "output" => "Output",
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
        "names" => "Names",
        "part" => "Part",
        _ => "Opaque",
    }
}
