//! Files that a program makes or changes and that its table alone does not tell.

use super::Reading;
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::usage;

/// `ssh-keygen`: the file that `-f` names is read or made, as the other options say.
pub(super) fn keys(reading: &mut Reading<'_, '_>) {
    if reading.usage.is_dry || !reading.act.has(Effect::Write) {
        return;
    }
    if let Some(file) = reading.usage.value_of(&["-f"]).map(usage::path) {
        if let Target::Path(path) = &file {
            let public = Target::Path(format!("{path}.pub"));
            reading.act.effects.push(EffectOn::new(Effect::Write, public));
        }
        reading.act.effects.push(EffectOn::new(Effect::Write, file));
    }
}

/// `rename`: every file behind its expression may get another name.
pub(super) fn renames(reading: &mut Reading<'_, '_>) {
    let files: Vec<Target> = reading.operands().iter().skip(1).map(usage::path).collect();
    reading.act.effects.extend(files.into_iter().map(|file| EffectOn::new(Effect::Write, file)));
}

/// Programs that write what their last operand names: `convert a.png b.jpg`, `dpkg-deb -x a.deb b`.
pub(super) fn last(reading: &mut Reading<'_, '_>) {
    const SHOWERS: [&str; 6] = ["animate", "compare", "display", "identify", "play", "stream"];
    if reading.act.base_name().is_some_and(|name| SHOWERS.contains(&name))
        || reading.usage.is_dry
        || !reading.act.has(Effect::Write)
    {
        return;
    }
    let operands = reading.operands();
    let Some(last) = operands.last().filter(|_| operands.len() > 1) else { return };
    let is_far = last.prefix().split('/').next().unwrap_or_default().contains(':');
    if !is_far {
        let on = EffectOn::new(Effect::Write, usage::path(last));
        reading.act.effects.push(EffectOn { below: Below::Named, ..on });
    }
}

/// `mktemp`: the directory that it is given gets a file of some name.
pub(super) fn temporary(reading: &mut Reading<'_, '_>) {
    let directory = reading.usage.value_of(&["-p", "--tmpdir"]).map(usage::path);
    if let Some(directory) = directory.filter(|_| !reading.usage.is_dry) {
        let on = EffectOn::new(Effect::Write, directory);
        reading.act.effects.push(EffectOn { below: Below::Unnamed, ..on });
    }
}
