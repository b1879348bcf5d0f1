//! Archives: what is packed, taken out or only shown.

use super::Reading;
use crate::arg::{Arg, Text};
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::language::{self, Directory, Word};
use crate::sensitive::{self, Access};
use crate::usage;

/// `tar`: what it does depends on its mode.
pub(super) fn tar(reading: &mut Reading<'_, '_>) {
    let args = reading.args().to_vec();
    let words: Option<Vec<Word>> = args
        .iter()
        .map(|arg| match &arg.text {
            Text::Known(text) | Text::Home(text) => Some(Some(text.as_bytes())),
            Text::Files { prefix, .. } if super::file::begins_a_path(prefix) => Some(None),
            Text::Begins(_) => Some(None),
            Text::Files { .. } | Text::Any(_) => None,
        })
        .collect();
    let Some(words) = words else {
        return reading.dynamic("a word of tar that is not known before it runs");
    };
    // The reader knows every option itself; what the table could not say is forgotten.
    let found = language::tar(&words);
    if found.facts.unknown.is_none()
        && reading.act.unknown.as_ref().is_some_and(|unknown| !unknown.is_dynamic)
    {
        reading.act.unknown = None;
    }
    reading.only_read();
    reading.inner.clear();
    // Paths of tar are joined to its own directory already.
    reading.act.directory.take_if(|_| found.directory == Directory::Unknown);
    let is_remote = found.archives.iter().flatten().any(|archive| {
        archive.contains(&b':') && !args.iter().any(|arg| arg.as_known() == Some("--force-local"))
    });
    if is_remote {
        reading.effect(Effect::Connect);
    }
    let runs_or_writes = !found.facts.runs.is_empty();
    let before = reading.act.extras.len();
    reading.take(found.facts);
    let is_printed = args.iter().enumerate().any(|(at, arg)| {
        let text = arg.prefix();
        let has_key = text.starts_with('-') && !text.starts_with("--") || at == 0;
        text == "--to-stdout" || has_key && text.contains('O')
    });
    if is_printed {
        members(reading, &args);
    }
    // What is packed is read to the bottom.
    for on in reading.act.effects.iter_mut().filter(|on| on.effect == Effect::Read) {
        on.is_deep = true;
    }
    // Nobody says which names are in an archive.
    let unpacks = found.mode == Some(language::TarMode::Extract);
    for on in reading.act.effects.iter_mut().filter(|on| unpacks && on.effect == Effect::Write) {
        on.below = Below::Unnamed;
    }
    if !runs_or_writes {
        // Writing files is what it is for.
        reading.act.extras.truncate(before);
    }
}

/// `unzip`: `-d` counts behind the archive too.
pub(super) fn unzip(reading: &mut Reading<'_, '_>) {
    let operands = reading.operands();
    if reading.usage.has_option(&["-p", "-c"]) {
        members(reading, &operands);
    }
    let at = operands.iter().position(|arg| arg.prefix().starts_with("-d"));
    let Some(at) = at.filter(|_| !reading.usage.is_dry) else { return unpacks(reading) };
    let target = match operands.get(at).and_then(Arg::as_known).and_then(|text| text.get(2..)) {
        Some(attached) if !attached.is_empty() => Target::Path(attached.to_owned()),
        _ => operands.get(at + 1).map_or(Target::Unknown(String::new()), usage::path),
    };
    reading.act.effects.push(unpacked(target));
}

/// Programs that unpack into a directory: the one that they are given, or the working directory.
pub(super) fn unpacks(reading: &mut Reading<'_, '_>) {
    let is_told = |on: &EffectOn| on.below == Below::Unnamed;
    let to_stdout = ["-t", "--list", "--to-stdout", "-o", "--create"];
    if reading.usage.is_dry
        || reading.usage.is_quiet
        || reading.usage.has_option(&to_stdout)
        || !reading.act.has(Effect::Write)
        || reading.act.effects.iter().any(is_told)
    {
        return;
    }
    // `unrar x a.rar out/`, `cpio -p out`
    let passes = reading.usage.has_option(&["-p", "--pass-through"]);
    let is_directory = |arg: &Arg| passes || arg.prefix().ends_with('/');
    let target = reading.operands().into_iter().rfind(is_directory);
    let target = target.map_or(Target::Path(".".to_owned()), |arg| usage::path(&arg));
    reading.act.effects.push(unpacked(target));
}

fn unpacked(target: Target) -> EffectOn {
    EffectOn { below: Below::Unnamed, ..EffectOn::new(Effect::Write, target) }
}

/// A secret in an archive is one that is shown too.
fn members(reading: &mut Reading<'_, '_>, args: &[Arg]) {
    for member in args.iter().filter_map(Arg::as_known) {
        if sensitive::find(&format!("/{member}"), Access::Read).is_some() {
            let target = Target::Path(member.to_owned());
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
        }
    }
}
