//! Readers: rules of arguments that no table can hold, found by the name the catalog gives them.
//!
//! A reader sees an act as the table left it, and adds what the table cannot say: effects, what
//! the act runs, or that it is not understood. To add one, name it in the catalog, add a line to
//! [`read`] and a function under `reader/`.

mod archive;
mod builtin;
mod cloud;
mod container;
pub(crate) mod database;
mod fd;
pub(crate) mod file;
mod git;
mod interpreter;
mod made;
mod network;
mod system;
mod text;

use portcullis_shell::{Dialect, Span};

use crate::act::{Act, Shown};
use crate::analysis::Analysis;
use crate::arg::{Arg, Text};
use crate::catalog::{ValueKind, Wraps};
use crate::effect::{Effect, EffectOn, Target};
use crate::environment;
use crate::language::{Environment, Facts, Run, Word};
use crate::peel::{Inner, Where, unknown};
use crate::usage::Usage;

/// Reads the filters that an act, of a program other than jq, applies to what it prints.
pub(crate) fn read_filters(
    analysis: &mut Analysis<'_>,
    act: &mut Act,
    usage: &Usage,
    inner: &mut Vec<Inner>,
) {
    let has_filter = usage.values.iter().any(|given| given.kind == ValueKind::Jq);
    if has_filter && !matches!(usage.reader, Some("jq" | "yq")) {
        text::filters(&mut Reading { analysis, act, usage, inner });
    }
}

/// Reads what a program is fed that runs others, or with the rights of others, and has got
/// nothing to run.
pub(crate) fn read_fed(
    analysis: &mut Analysis<'_>,
    act: &mut Act,
    usage: &Usage,
    inner: &mut Vec<Inner>,
) {
    // `exec < file` goes on in this very shell, and only opens the file.
    let stays = usage.reader == Some("xargs") || act.is_named("exec");
    let starts_shell = usage.wraps == Wraps::Kept && !stays
        || usage.reader == Some("ssh")
        || act.has(Effect::Escalate);
    let is_idle = usage.is_dry || usage.is_quiet || usage.command.is_some();
    if starts_shell && !is_idle && inner.is_empty() {
        interpreter::bare_shell(&mut Reading { analysis, act, usage, inner });
    }
}

/// Reads an act by the rules of that name.
pub(crate) fn read(
    name: &str,
    analysis: &mut Analysis<'_>,
    act: &mut Act,
    usage: &Usage,
    inner: &mut Vec<Inner>,
) {
    let mut reading = Reading { analysis, act, usage, inner };
    match name {
        "alias" => builtin::alias(&mut reading),
        "assign" => builtin::assign(&mut reading),
        "cd" => builtin::cd(&mut reading),
        "eval" => builtin::eval(&mut reading),
        "kill" => builtin::kill(&mut reading),
        "printf" => builtin::printf(&mut reading),
        "set" => builtin::set(&mut reading),
        "shopt" => builtin::shopt(&mut reading),
        "test" => builtin::test(&mut reading),
        "trap" => builtin::trap(&mut reading),
        "cloud" => cloud::cloud(&mut reading),
        "gh-api" => cloud::gh_api(&mut reading),
        "docker-run" => container::docker_run(&mut reading),
        "kubectl-exec" => container::kubectl_exec(&mut reading),
        "mongo" => database::mongo(&mut reading),
        "sql" => database::sql(&mut reading),
        "dd" => file::dd(&mut reading),
        "fd" => fd::fd(&mut reading),
        "find" => file::find(&mut reading),
        "parallel" => file::parallel(&mut reading),
        "patch" => file::patch(&mut reading),
        "pdftotext" => file::pdftotext(&mut reading),
        "tar" => archive::tar(&mut reading),
        "rsync" => file::rsync(&mut reading),
        "unzip" => archive::unzip(&mut reading),
        "unpacks" => archive::unpacks(&mut reading),
        "keys" => made::keys(&mut reading),
        "renames" => made::renames(&mut reading),
        "last" => made::last(&mut reading),
        "temporary" => made::temporary(&mut reading),
        "xargs" => file::xargs(&mut reading),
        "git" => git::git(&mut reading),
        "interpreter" => interpreter::interpreter(&mut reading),
        "fed" => interpreter::fed(&mut reading),
        "shell" => interpreter::shell(&mut reading),
        "source" => interpreter::source(&mut reading),
        "curl" => network::curl(&mut reading),
        "sends" => network::sends(&mut reading),
        "ssh" => network::ssh(&mut reading),
        "wget" => network::wget(&mut reading),
        "env" => system::env(&mut reading),
        "flock" => system::flock(&mut reading),
        "make" => system::make(&mut reading),
        "printenv" => system::printenv(&mut reading),
        "ps" => system::ps(&mut reading),
        "service" => system::service(&mut reading),
        "sudo" => system::sudo(&mut reading),
        "watch" => system::watch(&mut reading),
        "awk" => text::awk(&mut reading),
        "jq" | "yq" => text::jq(&mut reading),
        "sed" => text::sed(&mut reading),
        "copies" => file::copies(&mut reading, &["-S", "--suffix"]),
        _ => reading.unknown("arguments of this kind are not read"),
    }
}

/// An act while a reader looks at it.
pub(crate) struct Reading<'a, 'g> {
    pub(crate) analysis: &'a mut Analysis<'g>,
    pub(crate) act: &'a mut Act,
    pub(crate) usage: &'a Usage,
    pub(crate) inner: &'a mut Vec<Inner>,
}

impl Reading<'_, '_> {
    /// The arguments without the program.
    fn args(&self) -> &[Arg] {
        self.act.args.get(1..).unwrap_or_default()
    }

    /// The sub-commands, as written.
    fn subs(&self) -> impl Iterator<Item = &str> {
        let places = self.usage.subs.iter();
        places.filter_map(|at| self.args().get(*at)).filter_map(Arg::as_known)
    }

    /// The operands behind the sub-commands.
    fn operands(&self) -> Vec<Arg> {
        let at = self.usage.operands.iter();
        at.filter_map(|&at| self.act.args.get(at + 1)).cloned().collect()
    }

    fn unknown(&mut self, message: &str) {
        let unknown = unknown(self.act, message, false);
        self.act.doubt(unknown);
    }

    fn dynamic(&mut self, message: &str) {
        let unknown = unknown(self.act, message, true);
        self.act.doubt(unknown);
    }

    /// Forgets that the table knew no role for a word: the reader knows it.
    fn forget(&mut self) {
        self.act.unknown.take_if(|unknown| !unknown.is_dynamic);
    }

    fn effect(&mut self, effect: Effect) {
        self.act.effects.push(EffectOn::of(effect));
    }

    /// Notes that no pattern for the program alone covers this use of it.
    fn extra(&mut self) {
        let last = self.act.args.len().saturating_sub(1);
        self.act.extras.push(last.max(1));
    }

    /// Leaves nothing of what the table said but reading, and what options do.
    fn only_read(&mut self) {
        self.act.effects.truncate(self.usage.option_effects);
        self.effect(Effect::Read);
    }

    /// Takes over what a small language does.
    fn take(&mut self, facts: Facts) {
        let Facts { reads, writes, deletes, runs, connects, environment, unknown } = facts;
        match environment {
            Environment::Untouched => {}
            Environment::Named => self.act.shows = self.secret_named().map(Shown::Variable),
            Environment::Whole => self.act.shows = Some(Shown::Environment),
        }
        if !runs.is_empty() || !writes.is_empty() || !deletes.is_empty() || connects {
            self.extra();
        }
        for (effect, names) in
            [(Effect::Read, reads), (Effect::Write, writes), (Effect::Delete, deletes)]
        {
            for name in names {
                let target = match name {
                    Some(name) => Target::Path(String::from_utf8_lossy(&name).into_owned()),
                    None => Target::Unknown(String::new()),
                };
                self.act.effects.push(EffectOn::new(effect, target));
            }
        }
        if connects {
            self.effect(Effect::Connect);
        }
        // Whatever a program for text runs, it is no longer a program for text.
        if !runs.is_empty() {
            self.effect(Effect::Execute);
        }
        for run in runs {
            self.run(run);
        }
        if let Some(reason) = unknown {
            // What it could do beyond its ordinary use nobody has read.
            self.extra();
            self.unknown(reason);
        }
    }

    /// A variable with a secret that a program among its words names.
    fn secret_named(&self) -> Option<String> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = self.usage.values.iter().flat_map(|given| {
            let text = given.arg.prefix();
            text.split(move |letter| !is_part(letter))
        });
        let mut secrets = words.filter(|word| environment::is_secret(word));
        secrets.next().map(str::to_owned)
    }

    /// Goes on with a command that a small language runs.
    fn run(&mut self, run: Run) {
        self.inner.push(match run {
            Run::Shell(text) => match String::from_utf8(text) {
                Ok(text) => Inner::Text(text, Dialect::Sh),
                Err(_) => Inner::Unknown("a text that runs is not UTF-8"),
            },
            Run::Argv(words) => {
                let args = words.into_iter().map(|word| arg_of(word, self.act.span)).collect();
                Inner::Argv(args, Vec::new(), Where::Here)
            }
            Run::Unknown => Inner::Unknown("a command that is not known before it runs"),
        });
    }
}

/// The arguments as words of a small language; none if one may be several.
fn words(args: &[Arg]) -> Option<Vec<Word<'_>>> {
    args.iter()
        .map(|arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Begins(_) => Some(None),
            Text::Files { .. } | Text::Any(_) => None,
        })
        .collect()
}

/// An argument that a small language gives: exactly one, known or not.
fn arg_of(word: Option<Vec<u8>>, span: Span) -> Arg {
    let text = match word {
        Some(word) => Text::Known(String::from_utf8_lossy(&word).into_owned()),
        None => Text::Begins(String::new()),
    };
    Arg::new(text, span)
}
