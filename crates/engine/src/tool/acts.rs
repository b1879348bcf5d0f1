//! From a call to its acts, for every kind of tool.

use portcullis_shell::{Dialect, Refusal, Span};
use serde_json::Value as Json;

use super::{Field, Spec, ToolKind};
use super::{address, elsewhere};
use crate::act::{Act, ActKind};
use crate::analysis::{self, Acts, Syntax, Unread, names};
use crate::arg::Arg;
use crate::call::{Call, Shell};
use crate::catalog::ValueKind;
use crate::effect::{Effect, EffectOn, Target};
use crate::language::{Change, patch_targets};
use crate::lists;
use crate::place::{Ground, absolute};
use crate::sensitive::{self, Access};
use crate::world::World;

/// How many addresses or files one call may name.
const NAMED: usize = 256;

/// How deep an input of an unknown tool is looked through for names of files.
const DEPTH: usize = 8;

/// What a call consists of.
#[derive(Debug, Default)]
pub(crate) struct ToolActs<'c> {
    #[expect(clippy::vec_box, reason = "an act is moved several times, and large")]
    pub(crate) acts: Vec<Box<Act>>,
    /// Why a command, or a text inside it, was not read.
    pub(crate) refusals: Vec<Refusal>,
    /// Texts that were not read.
    pub(crate) unread: Vec<Unread>,
    /// The command as written, where there is one.
    pub(crate) text: Option<&'c str>,
    /// What is wrong with the input itself.
    pub(crate) fault: Option<Fault>,
    /// Whether the field that says what it is about is there.
    pub(crate) has_subject: bool,
    /// Whether the shell is one that is not read here.
    pub(crate) is_other_shell: bool,
    /// Shell syntax of the strict table, where it occurs.
    pub(crate) syntax: Vec<(Syntax, Span)>,
    /// Whether a limit was passed.
    pub(crate) is_cut: bool,
}

/// What is wrong with an input: it then matches every deny and ask rule of its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) message: String,
}

/// A field of an input; `a.b` is field b of object a.
pub(crate) fn member<'a>(input: &'a Json, name: &str) -> Option<&'a Json> {
    input.get(name).or_else(|| {
        // Names are short: looking at each byte is the quickest.
        let dot = name.bytes().position(|byte| byte == b'.')?;
        member(input.get(name.get(..dot)?)?, name.get(dot + 1..)?)
    })
}

/// The acts of a call under one reading.
pub(crate) fn acts<'a>(
    spec: &'a Spec,
    call: &'a Call,
    shell: Shell,
    ground: &'a Ground,
    world: &'a dyn World,
) -> ToolActs<'a> {
    let source = Source { spec, name: &call.tool, input: &call.input, ground, world };
    if !call.input.is_object() && spec.kind.has_fields() {
        return source.no_object();
    }
    let found = match spec.kind {
        ToolKind::Shell if spec.is_foreign_shell => source.guarded(Effect::Unknown),
        ToolKind::Shell => source.shell(shell),
        ToolKind::Read => source.files(Effect::Read),
        ToolKind::Write | ToolKind::Edit => source.files(Effect::Write),
        ToolKind::Patch => source.patch(),
        ToolKind::Search => source.search(),
        ToolKind::Fetch => source.fetch(),
        ToolKind::Agent => source.whole(Effect::Execute),
        ToolKind::Mcp | ToolKind::Other => source.guarded(Effect::Unknown),
    };
    // Half of the programs there are end a name here.
    let ends_early = |on: &EffectOn| match &on.target {
        Target::Path(path) | Target::Pattern(path) => path.contains('\0'),
        Target::Unknown(_) | Target::Host(_) | Target::Named(_) | Target::None => false,
    };
    let mut effects = found.acts.iter().flat_map(|act| &act.effects);
    if spec.kind != ToolKind::Shell && effects.any(ends_early) {
        return source.fault(Field::Path, "a path");
    }
    found
}

struct Source<'a> {
    spec: &'a Spec,
    name: &'a str,
    input: &'a Json,
    ground: &'a Ground,
    world: &'a dyn World,
}

impl<'a> Source<'a> {
    /// The first present value of a field.
    fn get(&self, field: Field) -> Option<&'a Json> {
        let mut names = self.spec.field(field).iter();
        names.find_map(|name| member(self.input, name).filter(|value| !value.is_null()))
    }

    /// The same, but a text that is empty only where there is nothing else.
    fn filled(&self, field: Field) -> Option<&'a Json> {
        let mut names = self.spec.field(field).iter();
        let is_filled = |value: &&Json| !value.is_null() && value.as_str() != Some("");
        let filled = names.find_map(|name| member(self.input, name).filter(is_filled));
        filled.or_else(|| self.get(field))
    }

    fn name(&self, field: Field) -> &str {
        let mut names = self.spec.field(field).iter();
        let present = names.find(|name| member(self.input, name).is_some());
        present.map_or(field.name(), |name| name.as_ref())
    }

    fn fault(&self, field: Field, wanted: &str) -> ToolActs<'a> {
        let message = format!("`{}` is not {wanted}", self.name(field));
        let acts = vec![self.act(EffectOn::of(Effect::Unknown))];
        ToolActs { acts, fault: Some(Fault { message }), has_subject: true, ..ToolActs::default() }
    }

    /// An input that has no fields at all says nothing that can be read.
    fn no_object(&self) -> ToolActs<'a> {
        let message = "the input is no object".to_owned();
        let acts = vec![self.act(EffectOn::of(Effect::Unknown))];
        ToolActs { acts, fault: Some(Fault { message }), has_subject: true, ..ToolActs::default() }
    }

    fn act(&self, effect: EffectOn) -> Box<Act> {
        Box::new(Act {
            kind: ActKind::Tool,
            effects: vec![effect],
            directory: Some(self.ground.cwd.clone()),
            ..Act::default()
        })
    }

    fn of(&self, effects: Vec<EffectOn>) -> ToolActs<'a> {
        let has_subject = !effects.is_empty();
        let acts = effects.into_iter().map(|effect| self.act(effect)).collect();
        ToolActs { acts, has_subject, ..ToolActs::default() }
    }

    /// A tool of which nothing but its kind is known.
    fn whole(&self, effect: Effect) -> ToolActs<'a> {
        self.of(vec![EffectOn::of(effect)])
    }

    /// The same for a tool whose input may say anything: files and commands of Portcullis count.
    fn guarded(&self, effect: Effect) -> ToolActs<'a> {
        let mut texts = Vec::new();
        collect_texts(self.input, &mut texts);
        let mut found = self.whole(effect);
        let home = self.ground.home.as_deref();
        for text in texts.iter().filter(|text| !text.contains(char::is_whitespace)) {
            let path = absolute(text.trim_start_matches("file://"), &self.ground.cwd, home);
            let is_own = path.as_deref().is_some_and(|path| {
                sensitive::find(path, Access::Write).is_some_and(|pattern| pattern.denies)
            });
            if let (true, Some(path), Some(act)) = (is_own, path, found.acts.first_mut()) {
                act.effects.push(file(Effect::Write, &path));
            }
        }
        // A file that it names by one of the words that tools have for that, and that is listed.
        for path in named_files(self.input, 0) {
            let path = path.split('\0').next().unwrap_or_default();
            let path = elsewhere::foreign(path).unwrap_or_else(|| path.to_owned());
            let effect = if self.writes() { Effect::Write } else { Effect::Read };
            let access = if self.writes() { Access::Write } else { Access::Read };
            let place = absolute(&path, &self.ground.cwd, home);
            let is_listed = place.is_some_and(|place| sensitive::find(&place, access).is_some());
            if let (true, Some(act)) = (is_listed, found.acts.first_mut()) {
                act.effects.push(EffectOn::new(effect, Target::Path(path)));
            }
        }
        texts.retain(|text| text.contains("portcullis") && text.contains(char::is_whitespace));
        if !texts.is_empty() {
            found.acts.extend(analysis::analyse_texts(&texts, self.ground, self.world).acts);
        }
        found
    }

    /// Whether the name of a tool says that it changes what it is given.
    fn writes(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        lists::CHANGING_TOOLS.iter().any(|word| name.contains(word))
    }

    fn shell(&self, shell: Shell) -> ToolActs<'a> {
        let ground = match self.get(Field::Cwd) {
            None => None,
            Some(Json::String(cwd)) => absolute(cwd, &self.ground.cwd, self.ground.home.as_deref())
                .map(|cwd| Ground { cwd: cwd.into(), ..self.ground.clone() }),
            Some(_) => return self.fault(Field::Cwd, "a directory"),
        };
        let ground = ground.as_ref().unwrap_or(self.ground);
        let shell = match self.get(Field::Shell) {
            None => self.other_shell().unwrap_or(shell),
            Some(Json::String(name)) => named_shell(name),
            Some(_) => Shell::Other,
        };
        let (dialect, is_other_shell) = match shell {
            Shell::Known(dialect) => (dialect, false),
            Shell::Other => (Dialect::Bash, true),
        };
        let mut found = match self.filled(Field::Command) {
            None => return ToolActs::default(),
            Some(Json::String(command)) if command.trim().is_empty() => return ToolActs::default(),
            Some(Json::String(command)) => {
                let acts = analysis::analyse(command, dialect, ground, self.world);
                ToolActs { text: Some(command), ..of_analysis(acts) }
            }
            Some(Json::Array(_)) if self.spec.name == "Bash" => {
                return self.fault(Field::Command, "a text");
            }
            Some(Json::Array(words)) => {
                let args: Option<Vec<String>> =
                    words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
                match args {
                    None => return self.fault(Field::Command, "a list of texts"),
                    Some(args) if args.is_empty() => return ToolActs::default(),
                    Some(args) => {
                        of_analysis(analysis::analyse_argv(&args, dialect, ground, self.world))
                    }
                }
            }
            Some(_) => return self.fault(Field::Command, "a text"),
        };
        found.has_subject = true;
        found.is_other_shell = is_other_shell;
        let is_set = |is: &Json| !matches!(is, Json::Null | Json::Bool(false));
        if lists::UNBOXING_FIELDS.iter().any(|name| self.input.get(*name).is_some_and(is_set)) {
            for act in &mut found.acts {
                let span = act.span;
                act.note("sandbox_left", span);
            }
        }
        let has_more = !self.others(&[Field::Command], lists::INPUT_COMMANDS).is_empty();
        if has_more || elsewhere::is_set_up(self.input, self.spec, self.ground) {
            found.acts.push(self.act(EffectOn::of(Effect::Unknown)));
        }
        found
    }

    fn files(&self, effect: Effect) -> ToolActs<'a> {
        let mut effects = Vec::new();
        for field in [Field::Path, Field::Paths] {
            match self.get(field) {
                None => {}
                Some(Json::String(path)) if path.is_empty() => {}
                Some(Json::String(path)) => effects.push(file(effect, path)),
                Some(Json::Array(paths)) if field == Field::Paths => {
                    for path in paths.iter().take(NAMED) {
                        let path = path.as_str().or_else(|| path.get("path")?.as_str());
                        match path {
                            Some(path) => effects.extend(files_of(effect, path)),
                            None => return self.fault(field, "a list of paths"),
                        }
                    }
                    if paths.len() > NAMED {
                        return self.fault(field, "a list of so few paths that all are judged");
                    }
                }
                Some(_) => return self.fault(field, "a path"),
            }
        }
        if effects.is_empty() {
            return ToolActs { has_subject: false, ..self.whole(effect) };
        }
        // What another tool would take for a file may be one here.
        for other in self.others(&[Field::Path, Field::Paths], lists::INPUT_PATHS) {
            match texts(other) {
                Some(paths) => effects.extend(paths.into_iter().map(|path| file(effect, path))),
                None => return self.fault(Field::Path, "the only path"),
            }
        }
        // Parts of an input may name files of their own, as edits of several files do.
        let parts = self.input.as_object().into_iter().flat_map(|fields| fields.values());
        let parts = parts.filter(|part| part.is_object() || part.is_array());
        effects.extend(parts.flat_map(|part| named_files(part, 1)).map(|path| file(effect, path)));
        for other in self.others(&[Field::Cwd], lists::INPUT_DIRECTORIES) {
            let Some(directory) = other.as_str().filter(|path| !path.is_empty()) else { continue };
            for path in [Field::Path, Field::Paths].into_iter().filter_map(|field| self.get(field))
            {
                let paths = texts(path).unwrap_or_default().into_iter();
                let relative = paths.filter(|path| !path.starts_with(['/', '~']));
                effects.extend(relative.map(|path| file(effect, &format!("{directory}/{path}"))));
            }
        }
        self.of(effects)
    }

    /// The shell in a field that some tool has for it.
    fn other_shell(&self) -> Option<Shell> {
        let named = self.others(&[Field::Shell], lists::INPUT_SHELLS);
        named.into_iter().find_map(|value| match value {
            Json::String(name) => Some(named_shell(name)),
            Json::Array(_) | Json::Object(_) => Some(Shell::Other),
            Json::Null | Json::Bool(_) | Json::Number(_) => None,
        })
    }

    /// The values of further fields that tools have for the same thing.
    fn others(&self, fields: &[Field], names: &[&str]) -> Vec<&'a Json> {
        // Most calls say one thing.
        if self.input.as_object().is_none_or(|given| given.len() < 2) {
            return Vec::new();
        }
        let taken: Vec<&Json> = fields.iter().filter_map(|field| self.get(*field)).collect();
        elsewhere::others(self.input, names, |key, value| {
            !taken.contains(&value) && !self.spec.has_field_besides(key, fields)
        })
    }

    fn patch(&self) -> ToolActs<'a> {
        let text = match self.get(Field::Patch) {
            None => return ToolActs { has_subject: false, ..self.whole(Effect::Write) },
            Some(Json::String(text)) => text.clone(),
            // `["apply_patch", "*** Begin Patch …"]`
            Some(Json::Array(words)) => match words.last().and_then(Json::as_str) {
                Some(text) => text.to_owned(),
                None => return self.fault(Field::Patch, "a patch"),
            },
            Some(_) => return self.fault(Field::Patch, "a patch"),
        };
        self.of(patched(envelope(&text)))
    }

    fn search(&self) -> ToolActs<'a> {
        let root = match self.get(Field::Path) {
            None => ".",
            Some(Json::String(path)) => path,
            Some(_) => return self.fault(Field::Path, "a path"),
        };
        let mut roots = vec![root.to_owned()];
        let patterns: Vec<&str> = match self.get(Field::Pattern) {
            Some(Json::String(pattern)) => vec![pattern],
            Some(Json::Array(patterns)) => {
                patterns.iter().take(NAMED).filter_map(Json::as_str).collect()
            }
            _ => Vec::new(),
        };
        // A pattern for names may lead elsewhere than below the root.
        for pattern in patterns.into_iter().filter(|_| self.spec.is_listing) {
            let fixed: Vec<&str> = pattern
                .split('/')
                .take_while(|part| !part.contains(['*', '?', '[', '{']))
                .collect();
            if pattern.starts_with(['/', '~']) {
                roots.push(format!("{}/", fixed.join("/")));
            } else if fixed.contains(&"..") || pattern.contains("/..") {
                roots.push(format!("{root}/{pattern}"));
            }
        }
        let mut chosen: Vec<EffectOn> = Vec::new();
        match self.get(Field::Glob) {
            None => {}
            Some(Json::String(glob)) => {
                // Some take several, between commas or blanks; others braces.
                let globs = glob.split([',', ' ', '{', '}']).filter(|glob| !glob.is_empty());
                for glob in globs.chain([glob.as_str()]).take(NAMED) {
                    chosen.extend(names::patterns(ValueKind::Names, &Arg::known(glob), root));
                }
            }
            Some(_) => return self.fault(Field::Glob, "a pattern"),
        }
        for other in self.others(&[Field::Path, Field::Paths], lists::INPUT_PATHS) {
            match texts(other) {
                Some(paths) => roots.extend(paths.into_iter().map(str::to_owned)),
                None => return self.fault(Field::Path, "the only path"),
            }
        }
        for other in self.others(&[Field::Glob], lists::INPUT_GLOBS) {
            for glob in texts(other).unwrap_or_default() {
                chosen.extend(names::patterns(ValueKind::Names, &Arg::known(glob), root));
            }
        }
        let effects = roots.into_iter().map(|root| EffectOn {
            is_deep: true,
            is_listing: self.spec.is_listing,
            ..EffectOn::new(Effect::Read, Target::Path(root))
        });
        let acts: Vec<EffectOn> = effects.collect();
        let mut found = self.of(acts);
        if let Some(act) = found.acts.first_mut() {
            act.effects.extend(chosen);
        }
        found
    }

    fn fetch(&self) -> ToolActs<'a> {
        let mut effects = Vec::new();
        let mut addresses = match self.get(Field::Url) {
            None => Vec::new(),
            Some(Json::String(address)) => vec![address.clone()],
            Some(Json::Array(all)) if all.len() <= NAMED && all.iter().all(Json::is_string) => {
                all.iter().filter_map(Json::as_str).map(str::to_owned).collect()
            }
            Some(_) => return self.fault(Field::Url, "an address"),
        };
        for other in self.others(&[Field::Url], lists::INPUT_URLS) {
            match texts(other) {
                Some(more) => addresses.extend(more.into_iter().map(str::to_owned)),
                None => return self.fault(Field::Url, "the only address"),
            }
        }
        if addresses.is_empty()
            && self.spec.field(Field::Url).is_empty()
            && let Some(Json::String(prompt)) = self.get(Field::Prompt)
        {
            addresses = address::addresses(prompt);
        }
        // Some fetchers read files of this machine, too.
        let files: Vec<EffectOn> = addresses
            .iter()
            .filter_map(|address| address::file(address))
            .map(|path| EffectOn::new(Effect::Read, Target::Path(path)))
            .collect();
        for address in addresses {
            effects.push(EffectOn::new(Effect::Connect, Target::Host(address)));
        }
        if effects.is_empty() {
            let has_subject = self.get(Field::Query).is_some();
            let effect = EffectOn::new(Effect::Connect, Target::Named("the network"));
            return ToolActs { has_subject, ..self.of(vec![effect]) };
        }
        let mut found = self.of(effects);
        if let Some(act) = found.acts.first_mut() {
            act.effects.extend(files);
        }
        found
    }
}

/// The texts of an input, wherever they stand.
fn collect_texts<'a>(value: &'a Json, texts: &mut Vec<&'a str>) {
    if texts.len() >= NAMED {
        return;
    }
    match value {
        Json::String(text) => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn of_analysis(found: Acts) -> ToolActs<'static> {
    ToolActs {
        acts: found.acts,
        refusals: found.refusals,
        unread: found.unread,
        syntax: found.syntax,
        is_cut: found.is_cut,
        ..ToolActs::default()
    }
}

/// The shell of this name or path.
fn named_shell(name: &str) -> Shell {
    match name.rsplit('/').next().unwrap_or(name) {
        "bash" => Shell::Known(Dialect::Bash),
        "sh" | "dash" | "ash" => Shell::Known(Dialect::Sh),
        "zsh" => Shell::Known(Dialect::Zsh),
        _ => Shell::Other,
    }
}

fn file(effect: Effect, path: &str) -> EffectOn {
    EffectOn::new(effect, Target::Path(elsewhere::foreign(path).unwrap_or_else(|| path.to_owned())))
}

/// A file, or with letters that mean something everything below the directories before them.
fn files_of(effect: Effect, path: &str) -> Vec<EffectOn> {
    if effect == Effect::Read && path.contains(['*', '?', '{', '[']) {
        let fixed: Vec<&str> =
            path.split('/').take_while(|part| !part.contains(['*', '?', '{', '['])).collect();
        let root = if fixed.is_empty() { ".".to_owned() } else { fixed.join("/") + "/" };
        let below = path.get(fixed.iter().map(|part| part.len() + 1).sum()..).unwrap_or_default();
        let mut effects = names::patterns(ValueKind::Names, &Arg::known(below), &root);
        effects.push(EffectOn { is_deep: true, ..EffectOn::new(effect, Target::Path(root)) });
        return effects;
    }
    vec![file(effect, path)]
}

/// The texts of fields that are named like a file, at any depth.
fn named_files(value: &Json, depth: usize) -> Vec<&str> {
    if depth > DEPTH {
        return Vec::new();
    }
    let inner: Vec<&Json> = match value {
        Json::Array(items) => items.iter().take(NAMED).collect(),
        Json::Object(fields) => fields.values().take(NAMED).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    };
    let named = elsewhere::others(value, lists::INPUT_PATHS, |_, _| true);
    let named = named.into_iter().filter_map(texts).flatten();
    let below = inner.into_iter().flat_map(|value| named_files(value, depth + 1));
    named.chain(below).take(NAMED).collect()
}

/// One text, or a list of them; nothing where it is neither.
fn texts(value: &Json) -> Option<Vec<&str>> {
    match value {
        Json::String(text) => Some(vec![text]),
        Json::Array(items) if items.len() <= NAMED => items.iter().map(Json::as_str).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// The lines of a patch in its envelope, without what stands around it.
fn envelope(text: &str) -> &str {
    let start = text.find("*** Begin Patch");
    let end = text.rfind("*** End Patch").map(|at| at + "*** End Patch".len());
    match (start, end) {
        (Some(start), Some(end)) => text.get(start..end).unwrap_or(text),
        (Some(start), None) => text.get(start..).unwrap_or(text),
        (None, _) => text,
    }
}

/// What applying a patch does.
fn patched(text: &str) -> Vec<EffectOn> {
    let found = patch_targets(text.as_bytes());
    let on = |effect: Effect, path: &[u8]| file(effect, &String::from_utf8_lossy(path));
    let mut effects = Vec::new();
    for change in &found.changes {
        match change {
            Change::Add(path) | Change::Update(path) => effects.push(on(Effect::Write, path)),
            Change::Delete(path) => effects.push(on(Effect::Delete, path)),
            Change::Move { from, to } => {
                effects.push(on(Effect::Delete, from));
                effects.push(on(Effect::Write, to));
            }
        }
    }
    if found.unknown.is_some() || text.contains('\0') {
        effects.push(EffectOn::of(Effect::Unknown));
    }
    effects
}
