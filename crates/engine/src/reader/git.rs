//! git: settings on the command line, other repositories, revisions with paths, refspecs.

use std::sync::Arc;

use super::Reading;
use crate::analysis::Feed;
use crate::arg::{Arg, Text, escaped};
use crate::catalog;
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::glob;
use crate::language;
use crate::pattern::words::split_quoted;
use crate::peel::{Inner, Where};
use crate::place;
use crate::usage;

pub(super) fn git(reading: &mut Reading<'_, '_>) {
    settings(reading);
    aliases(reading);
    elsewhere(reading);
    if reading.subs().next() == Some("push") {
        refspecs(reading);
    } else if reading.subs().next() == Some("config") {
        config(reading);
    }
    addresses(reading);
    formats(reading);
    revisions(reading);
    pathspecs(reading);
    contents(reading);
    changes_here(reading);
}

/// Whoever shows what changed below a directory shows its files.
fn contents(reading: &mut Reading<'_, '_>) {
    let shows = match reading.subs().next() {
        Some("diff" | "difftool" | "range-diff") => true,
        Some("log" | "show" | "whatchanged" | "stash" | "reflog") => {
            reading.usage.has_option(&[
                "-p",
                "-u",
                "--patch",
                "-L",
                "-W",
                "--patch-with-stat",
                "--patch-with-raw",
            ]) || reading.subs().next() == Some("show")
        }
        _ => false,
    };
    for on in reading.act.effects.iter_mut().filter(|on| shows && on.effect == Effect::Read) {
        on.is_deep |= matches!(on.target, Target::Path(_) | Target::Pattern(_)) && !on.is_listing;
    }
}

/// What changes files below the directory it runs in, or those that a patch names.
fn changes_here(reading: &mut Reading<'_, '_>) {
    if reading.usage.is_dry || reading.act.only_reads() {
        return;
    }
    let here = || vec![Target::Path(".".to_owned())];
    let operands = reading.operands();
    let is_path = |arg: &&Arg| {
        let text = arg.prefix();
        arg.as_known().is_none() || is_whole_tree(text) || text.contains(['/', '.'])
    };
    let targets = match reading.subs().next() {
        Some("clean") if operands.is_empty() => here(),
        Some("clean") => operands.iter().map(usage::path).collect(),
        Some("checkout") if !reading.usage.has_option(&["-b", "-B", "--orphan"]) => {
            let first = operands.iter().take(1).filter(is_path);
            first.chain(operands.iter().skip(1)).map(usage::path).collect()
        }
        Some("apply" | "am") => {
            let text = match reading.analysis.feed.clone() {
                Feed::Text(text) if operands.is_empty() => Some(text),
                Feed::Text(_) | Feed::Nothing | Feed::Pipe { .. } | Feed::Unknown => None,
            };
            let root = reading.usage.value_of(&["--directory"]).and_then(Arg::as_known);
            let root = root.map(|root| format!("{root}/")).unwrap_or_default();
            let facts = text.map(|text| language::patch_targets(text.as_bytes()).facts());
            let files = facts.into_iter().flat_map(|facts| [facts.writes, facts.deletes].concat());
            let named = files
                .flatten()
                .map(|path| Target::Path(format!("{root}{}", String::from_utf8_lossy(&path))));
            here().into_iter().chain(named).collect()
        }
        _ => return,
    };
    for target in targets {
        let on = EffectOn::new(Effect::Write, target);
        reading.act.effects.push(EffectOn { below: Below::Unnamed, ..on });
    }
}

/// `-c NAME=VALUE` counts unless the catalog lists the name as harmless.
fn settings(reading: &mut Reading<'_, '_>) {
    if !reading.usage.has_option(&["-c"]) {
        return;
    }
    let harmless = catalog::find("git").map_or(&[][..], |git| git.entry.harmless_config);
    let is_harmless = |arg: &Arg| {
        arg.as_known().is_some_and(|text| {
            let (name, value) = text.split_once('=').unwrap_or((text, "true"));
            let name = name.to_ascii_lowercase();
            harmless.iter().any(|known| match known.split_once('=') {
                Some((key, wanted)) => glob::matches(key, &name) && wanted == value,
                None => glob::matches(known, &name),
            })
        })
    };
    let given: Vec<(usize, bool)> = reading
        .usage
        .options
        .iter()
        .filter(|given| given.name == "-c" && given.at < first_sub(reading))
        .map(|given| (given.at, given.value.as_ref().is_some_and(is_harmless)))
        .collect();
    let others = reading.usage.options.iter().any(|given| {
        matches!(given.name, "--config-env" | "--exec-path" | "--git-dir") && given.value.is_some()
    });
    if !given.is_empty() && given.iter().all(|(_, is_harmless)| *is_harmless) && !others {
        // The table took each of them for configuration that runs something.
        let mut left = given.len();
        reading.act.effects.retain(|on| {
            let is_setting = on.effect == Effect::Execute && left > 0;
            left -= usize::from(is_setting);
            !is_setting
        });
        let places: Vec<usize> = given.iter().flat_map(|(at, _)| [at + 1, at + 2]).collect();
        reading.act.extras.retain(|at| !places.contains(at));
        let extras = &reading.act.extras;
        reading.act.has_harmless_globals =
            !reading.act.globals.iter().any(|at| extras.contains(at))
                && reading.act.unknown.is_none();
    }
}

/// `-c alias.p=push`: what `git p` runs stands in the same command line.
fn aliases(reading: &mut Reading<'_, '_>) {
    let usage = reading.usage;
    let given = usage.options.iter().filter(|given| given.name == "-c");
    let given: Vec<(usize, String)> = given
        .filter_map(|given| Some((given.at, given.value.as_ref()?.as_known()?.to_owned())))
        .collect();
    let operands = usage.subs.first().into_iter().chain(usage.operands.first());
    let Some(&called) = operands.min() else { return };
    let Some(name) =
        reading.args().get(called).and_then(Arg::as_known).map(str::to_ascii_lowercase)
    else {
        return;
    };
    for (at, setting) in given.iter().filter(|(at, _)| *at < called) {
        let Some((key, meant)) = setting.split_once('=') else { continue };
        let key = key.to_ascii_lowercase();
        // One that begins with `!` is shell text, which is looked at where the setting is.
        if key.strip_prefix("alias.") != Some(&name) || meant.starts_with('!') {
            continue;
        }
        let place = *at..at + 2;
        let before = reading.args().iter().enumerate().take(called);
        let before = before.filter(|(at, _)| !place.contains(at)).map(|(_, arg)| arg.clone());
        let words = split_quoted(meant).into_iter();
        let words = words.map(|word| Arg::new(Text::Known(word), reading.act.span));
        let behind = reading.args().iter().skip(called + 1).cloned();
        let program = reading.act.args.first().cloned();
        let argv = program.into_iter().chain(before).chain(words).chain(behind).collect();
        let assignments = reading.act.assignments.clone();
        reading.inner.push(Inner::Argv(argv, assignments, Where::Here));
    }
}

/// The place of the first sub-command among the arguments.
fn first_sub(reading: &Reading<'_, '_>) -> usize {
    let Some(sub) = reading.subs().next() else { return usize::MAX };
    let is_sub = |arg: &Arg| arg.as_known() == Some(sub);
    let start = reading.usage.globals.last().map_or(0, |at| at + 1);
    reading.args().iter().skip(start).position(is_sub).map_or(usize::MAX, |at| at + start)
}

/// Another repository's configuration runs there.
fn elsewhere(reading: &mut Reading<'_, '_>) {
    let ground = reading.analysis.ground;
    let is_inside = |directory: &Arc<str>| {
        ground.holds_path(directory)
            || place::is_within(directory, &ground.root)
            || ground.is_above(directory)
    };
    let act = &reading.act;
    if !act.directory.iter().any(is_inside) || !act.perhaps_in.iter().all(is_inside) {
        let message =
            "works in a directory outside the workspace, whose configuration may run programs";
        reading.unknown(message);
    }
}

/// `+x` forces, `:x` deletes.
fn refspecs(reading: &mut Reading<'_, '_>) {
    let loses = reading.operands().iter().skip(1).any(|arg| match &arg.text {
        Text::Known(text) => text.starts_with(['+', ':']),
        Text::Home(_) | Text::Files { .. } | Text::Begins(_) | Text::Any(_) => true,
    });
    if loses {
        reading.act.note("lost_work", reading.act.span);
    }
}

/// Writing the configuration of the user or the system, or of this repository.
fn config(reading: &mut Reading<'_, '_>) {
    if reading.act.effects.iter().all(|on| on.effect.is_reading()) {
        return;
    }
    let target = if reading.usage.has_option(&["--global"]) {
        Target::Path("~/.gitconfig".to_owned())
    } else if reading.usage.has_option(&["--system"]) {
        Target::Path("/etc/gitconfig".to_owned())
    } else if let Some(file) = reading.usage.value_of(&["-f", "--file"]) {
        crate::usage::path(file)
    } else {
        Target::Path(".git/config".to_owned())
    };
    reading.act.effects.push(EffectOn::new(Effect::Write, target));
    // Some settings are commands.
    for value in reading.operands().iter().skip(1) {
        reading.analysis.suspect_text(value.prefix(), reading.act);
    }
}

/// Paths behind `--`, and operands that can be nothing else, are read; some are written.
fn pathspecs(reading: &mut Reading<'_, '_>) {
    let all = ["--no-index", "--untracked", "--no-exclude-standard", "-f", "--force"];
    reading.act.is_tidy = !reading.usage.has_option(&all);
    let sub = reading.subs().next();
    let takes_paths = matches!(
        sub,
        Some("add" | "stage" | "blame" | "annotate" | "mv" | "rm" | "restore" | "archive")
    );
    let end = reading.args().iter().position(|arg| arg.as_known() == Some("--"));
    let mut paths = match end {
        Some(end) => reading.args().get(end + 1..).unwrap_or_default().to_vec(),
        None if takes_paths => reading.operands(),
        None => Vec::new(),
    };
    if sub == Some("grep") && paths.is_empty() {
        paths.push(Arg::known("."));
    }
    let changes = matches!(sub, Some("checkout" | "restore" | "rm" | "mv"));
    let writes = changes && !reading.usage.is_dry;
    let loses = matches!(sub, Some("checkout" | "restore"))
        && !reading.usage.has_option(&["--staged", "-S"])
        && !reading.args().iter().any(|arg| matches!(arg.as_known(), Some("--staged" | "-S")));
    let is_all = |arg: &Arg| arg.as_known().is_some_and(is_whole_tree);
    // Without the dashes a word may be a branch, but no branch is called so.
    let is_bare = sub == Some("checkout") && end.is_none() && reading.operands().iter().any(is_all);
    if loses && writes && (is_bare || paths.iter().any(is_all)) {
        reading.act.note("hard_reset", reading.act.span);
    }
    for path in paths {
        let target = crate::usage::path(&path);
        let on = EffectOn { is_deep: true, ..EffectOn::new(Effect::Read, target) };
        if writes {
            reading.act.effects.push(EffectOn { effect: Effect::Write, ..on.clone() });
        }
        reading.act.effects.push(on);
    }
}

/// Whether a path means a whole tree: `.`, `../..`, `:/`.
fn is_whole_tree(path: &str) -> bool {
    let is_dots = |part: &str| matches!(part, "" | "." | "..");
    matches!(path, ":/" | "*" | ":")
        || !path.is_empty() && !path.starts_with('/') && path.split('/').all(is_dots)
}

/// An address in place of a configured remote: a rule covers it only if it names it.
fn addresses(reading: &mut Reading<'_, '_>) {
    let sub = reading.subs().next();
    let is_clone = sub == Some("clone");
    let takes = ["push", "fetch", "pull", "remote", "submodule", "ls-remote", "clone"];
    if !sub.is_some_and(|sub| takes.contains(&sub)) {
        return;
    }
    let is_address = |text: &str| {
        // Whoever clones names an address; one that runs a program is another matter.
        if is_clone {
            return text.contains("::");
        }
        let is_host = text.split_once(':').is_some_and(|(host, path)| {
            host.contains('@') && !host.contains('/') && !path.is_empty()
        });
        text.contains("://") || text.contains("::") || is_host || text.starts_with(['/', '~', '.'])
    };
    for &at in &reading.usage.operands {
        let Some(arg) = reading.act.args.get(at + 1) else { continue };
        let may_be = match &arg.text {
            Text::Known(text) => is_address(text),
            Text::Home(_) => true,
            Text::Files { .. } | Text::Begins(_) | Text::Any(_) => is_address(arg.prefix()),
        };
        if may_be {
            reading.act.extras.push(at + 1);
        }
    }
}

/// Formats that show a signature start gpg.
fn formats(reading: &mut Reading<'_, '_>) {
    let names = ["--format", "--pretty"];
    let starts_gpg = reading.usage.options.iter().any(|given| {
        names.contains(&given.name)
            && given.value.as_ref().is_some_and(|value| match value.as_known() {
                Some(text) => text.contains("%G") || text.contains("%(signature"),
                None => true,
            })
    });
    if starts_gpg {
        reading.effect(Effect::Execute);
    }
}

/// `REV:PATH` shows a file as it was.
fn revisions(reading: &mut Reading<'_, '_>) {
    let shows = matches!(
        reading.subs().next(),
        Some(
            "show"
                | "cat-file"
                | "blame"
                | "diff"
                | "grep"
                | "archive"
                | "ls-tree"
                | "log"
                | "stash"
        )
    );
    let blob = reading.usage.value_of(&["--blob", "--mailmap-blob"]).cloned();
    let names_path = |arg: &&Arg| arg.prefix().contains(':') || arg.ending.contains(':');
    let args = reading.args().iter().filter(|_| shows).filter(names_path).cloned();
    let args: Vec<Arg> = args.chain(blob).collect();
    for arg in args {
        if arg.as_known().is_none()
            && let Some((_, path)) = arg.prefix().split_once(':')
        {
            let pattern = format!("{}*{}", escaped(path), escaped(&arg.ending));
            reading.act.effects.push(EffectOn::new(Effect::Read, Target::Unknown(pattern)));
        } else if arg.as_known().is_none()
            && let Some((_, path)) = arg.ending.split_once(':')
            && !path.is_empty()
        {
            // Only the revision is not known.
            let target = Target::Path(path.to_owned());
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
        }
        // `-L 1,5:PATH` and `-L :NAME:PATH` end in the path.
        let split = |text: &str| {
            let is_range = text.starts_with("-L") || text.starts_with(':');
            let halves = if is_range { text.rsplit_once(':') } else { text.split_once(':') };
            halves.map(|(revision, path)| (revision.to_owned(), path.to_owned()))
        };
        if let Some((revision, path)) = arg.as_known().and_then(split)
            && !path.is_empty()
            && (!revision.starts_with('-') || revision.starts_with("-L"))
        {
            reading.act.effects.push(EffectOn::new(Effect::Read, Target::Path(path)));
        }
    }
}
