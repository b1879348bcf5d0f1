//! Values: what it does that a value or operand of some kind is given.

use super::{Given, Reader, reads_only};
use crate::arg::{self, Arg, Text};
use crate::catalog::ValueKind;
use crate::effect::{Below, Effect, EffectOn, Target};

impl Reader<'_> {
    /// Notes a value or operand with what its kind does.
    ///
    /// What is more than ordinary use is at `option`, if it is the value of one: whoever names the
    /// option has named what it does.
    pub(super) fn value(&mut self, kind: ValueKind, arg: &Arg, at: usize, option: Option<usize>) {
        let is_option = option.is_some();
        let effect = match kind {
            ValueKind::Opaque | ValueKind::Pattern | ValueKind::Sub | ValueKind::Command => return,
            // Which files they select is said once all options are known.
            ValueKind::Names | ValueKind::Part => {
                return self.usage.values.push(Given { kind, arg: arg.clone(), at });
            }
            ValueKind::Change if !self.is_listing => Effect::Change,
            ValueKind::Remote => remote(arg),
            ValueKind::Read if is_address(arg) => Effect::Connect,
            ValueKind::Read if self.edits.is_some() && !is_option => Effect::Write,
            ValueKind::Write | ValueKind::Into | ValueKind::Tree if !is_stream(arg) => {
                Effect::Write
            }
            ValueKind::Output if !is_stream(arg) && arg.as_known() != Some("-") => Effect::Write,
            ValueKind::Link => Effect::Write,
            ValueKind::Delete | ValueKind::Move => Effect::Delete,
            ValueKind::ShellText | ValueKind::Program | ValueKind::Code | ValueKind::Config => {
                Effect::Execute
            }
            ValueKind::Host if is_this_machine(arg) => Effect::Query,
            ValueKind::Url | ValueKind::Host => Effect::Connect,
            // Small languages are read by themselves.
            ValueKind::Sed
            | ValueKind::Awk
            | ValueKind::Jq
            | ValueKind::Sql
            | ValueKind::Read
            | ValueKind::Directory
            | ValueKind::WorkingDirectory
            | ValueKind::Change
            | ValueKind::Write
            | ValueKind::Into
            | ValueKind::Tree
            | ValueKind::Output => Effect::Read,
        };
        let is_host = matches!(kind, ValueKind::Url | ValueKind::Host);
        let is_other_place = if kind == ValueKind::WorkingDirectory {
            leaves(arg)
        } else if is_host {
            is_option && effect == Effect::Connect
        } else if kind == ValueKind::Remote {
            self.is_extra(effect)
        } else {
            is_option && self.is_extra(effect)
        };
        if is_other_place {
            // A setting is not named by the option that sets any: what it sets is the value's to say.
            let named = option.filter(|_| kind != ValueKind::Config);
            self.usage.extras.push(named.unwrap_or(at));
        }
        let target = target(kind, effect, arg);
        if kind == ValueKind::WorkingDirectory {
            self.usage.directory = Some(arg.clone());
        }
        let is_listing = matches!(kind, ValueKind::Directory | ValueKind::WorkingDirectory);
        if kind == ValueKind::Read
            && let Some((_, behind)) = arg.as_known().and_then(|text| text.split_once('='))
        {
            let target = Target::Path(behind.to_owned());
            self.usage.effects.push(EffectOn::new(effect, target));
        }
        // What is moved or linked to can be read under its new name.
        if matches!(kind, ValueKind::Move | ValueKind::Link) {
            let (effect, target) = (Effect::Read, target.clone());
            self.usage.effects.push(EffectOn { is_deep: true, ..EffectOn::new(effect, target) });
        }
        let is_read_too = self.entry.also_reads || kind == ValueKind::Tree;
        if is_read_too && effect == Effect::Write && !is_option {
            self.usage.effects.push(EffectOn::new(Effect::Read, target.clone()));
        }
        // What is moved away takes along what lies below it, and who rewrites files rewrites those
        // of a directory too.
        let is_tree = matches!(kind, ValueKind::Tree | ValueKind::Move)
            || kind == ValueKind::Read && effect == Effect::Write;
        let below = if kind == ValueKind::Into {
            Below::Named
        } else if is_tree {
            Below::Unnamed
        } else {
            Below::Nothing
        };
        let on = EffectOn::new(effect, target);
        self.usage.effects.push(EffectOn { is_listing, below, ..on });
        self.usage.values.push(Given { kind, arg: arg.clone(), at });
    }

    /// Whether an effect is more than the program has in ordinary use.
    pub(super) fn is_extra(&self, effect: Effect) -> bool {
        match effect {
            Effect::Read | Effect::Query => false,
            Effect::Change => reads_only(self.entry.effects),
            Effect::Execute | Effect::Escalate | Effect::Unknown => true,
            Effect::Write | Effect::Delete => {
                let writes = |kind| {
                    matches!(
                        kind,
                        ValueKind::Write
                            | ValueKind::Into
                            | ValueKind::Tree
                            | ValueKind::Output
                            | ValueKind::Delete
                            | ValueKind::Move
                            | ValueKind::Link
                    )
                };
                !self.entry.effects.has(Effect::Write)
                    && !self.entry.effects.has(Effect::Delete)
                    && !self.entry.operands.iter().any(|role| writes(role.kind))
            }
            Effect::Connect => !self.entry.effects.has(Effect::Connect),
        }
    }
}

/// What a value of some kind is about.
fn target(kind: ValueKind, effect: Effect, arg: &Arg) -> Target {
    match kind {
        ValueKind::Url | ValueKind::Host | ValueKind::Remote => {
            Target::Host(arg.prefix().to_owned())
        }
        ValueKind::Read if effect == Effect::Connect => Target::Host(arg.prefix().to_owned()),
        ValueKind::Sed | ValueKind::Awk | ValueKind::Jq | ValueKind::Sql => Target::None,
        ValueKind::ShellText | ValueKind::Code | ValueKind::Program | ValueKind::Change => {
            Target::None
        }
        ValueKind::Write | ValueKind::Into | ValueKind::Tree | ValueKind::Output
            if effect == Effect::Read =>
        {
            Target::None
        }
        ValueKind::Opaque
        | ValueKind::Pattern
        | ValueKind::Sub
        | ValueKind::Command
        | ValueKind::Names
        | ValueKind::Part
        | ValueKind::Config
        | ValueKind::Read
        | ValueKind::Write
        | ValueKind::Into
        | ValueKind::Tree
        | ValueKind::Output
        | ValueKind::Delete
        | ValueKind::Directory
        | ValueKind::WorkingDirectory
        | ValueKind::Move
        | ValueKind::Link => path(arg),
    }
}

/// The path an argument names.
pub(crate) fn path(arg: &Arg) -> Target {
    match &arg.text {
        // A literal tilde is a name like any other.
        Text::Known(text) if text.starts_with('~') => Target::Path(format!("./{text}")),
        Text::Known(text) | Text::Home(text) => Target::Path(text.clone()),
        Text::Files { pattern, .. } => Target::Pattern(pattern.clone()),
        Text::Begins(prefix) | Text::Any(prefix) if prefix.is_empty() && arg.ending.is_empty() => {
            Target::Unknown(String::new())
        }
        Text::Begins(prefix) | Text::Any(prefix) => {
            Target::Unknown(format!("{}*{}", arg::escaped(prefix), arg::escaped(&arg.ending)))
        }
    }
}

/// A name from the configuration is asked; an address is connected to, or even runs a program.
fn remote(arg: &Arg) -> Effect {
    match arg.as_known() {
        Some(text) if text.starts_with("ext::") || text.starts_with("fd::") => Effect::Execute,
        Some(text) if !text.contains([':', '/', '\\']) => Effect::Query,
        _ => Effect::Connect,
    }
}

fn is_address(arg: &Arg) -> bool {
    let text = arg.prefix();
    // Most words have no colon at all.
    text.as_bytes().contains(&b':') && text.contains("://") && !text.starts_with("file:")
}

fn is_stream(arg: &Arg) -> bool {
    matches!(arg.as_known(), Some("/dev/stdout" | "/dev/stderr" | "/dev/null"))
}

/// Whether a host is the machine itself.
fn is_this_machine(arg: &Arg) -> bool {
    let Some(text) = arg.as_known() else { return false };
    if text.starts_with('/') || text.starts_with("unix:") {
        return true;
    }
    let host = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if host == "::1" || host.starts_with("[::1]") {
        return true;
    }
    let name = host.split(':').next().unwrap_or_default();
    name == "localhost"
        || name.starts_with("127.")
            && name.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
}

/// Whether a directory may lie elsewhere than below the working directory.
fn leaves(arg: &Arg) -> bool {
    match &arg.text {
        Text::Known(text) => {
            text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..")
        }
        Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => true,
    }
}
