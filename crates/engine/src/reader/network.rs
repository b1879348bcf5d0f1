//! curl, wget, ssh: what they fetch, send and run.

use portcullis_shell::Dialect;

use super::{Reading, builtin};
use crate::analysis::Feed;
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};

/// `curl`: addresses, methods, and files that are sent.
pub(super) fn curl(reading: &mut Reading<'_, '_>) {
    let urls: Vec<Arg> =
        reading.operands().into_iter().chain(reading.usage.value_of(&["--url"]).cloned()).collect();
    for url in &urls {
        address(reading, url);
    }
    let methods = ["-X", "--request"];
    if let Some(method) = reading.usage.value_of(&methods) {
        let is_fetch = method.as_known().is_some_and(|method| matches!(method, "GET" | "HEAD"));
        if !is_fetch {
            reading.effect(Effect::Change);
        }
    }
    let data = [
        "-d",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "--json",
        "-F",
        "--form",
        "-T",
        "--upload-file",
    ];
    let values: Vec<(bool, Arg)> = reading
        .usage
        .options
        .iter()
        .filter(|given| data.contains(&given.name))
        .filter_map(|given| Some((given.name == "--data-urlencode", given.value.clone()?)))
        .collect();
    for (is_named, value) in values {
        sent(reading, &value, is_named);
    }
    told(reading);
    saved(reading);
    let only_asks = reading.usage.has_option(&["-G", "--get"])
        && !reading.usage.has_option(&["-F", "--form", "-T", "--upload-file"])
        && !reading.usage.has_option(&methods);
    if only_asks {
        reading.act.effects.retain(|on| on.effect != Effect::Change);
    }
    if urls.is_empty()
        && reading.act.unknown.is_none()
        && !reading.usage.has_option(&["-K", "--config"])
    {
        reading.unknown("no address is given");
    }
}

/// What is saved under a name of its own lies in the directory for all of them.
fn saved(reading: &mut Reading<'_, '_>) {
    let Some(directory) = reading.usage.value_of(&["--output-dir"]).and_then(Arg::as_known) else {
        return;
    };
    let outputs =
        reading.usage.options.iter().filter(|given| matches!(given.name, "-o" | "--output"));
    let names = outputs.filter_map(|given| given.value.as_ref()?.as_known());
    let paths =
        names.filter(|name| !name.starts_with('/')).map(|name| format!("{directory}/{name}"));
    let made: Vec<EffectOn> =
        paths.map(|path| EffectOn::new(Effect::Write, Target::Path(path))).collect();
    reading.act.effects.extend(made);
}

/// Options whose values may name files: a jar of cookies, headers, and what is said at the end.
fn told(reading: &mut Reading<'_, '_>) {
    let options = reading.usage.options.clone();
    for given in options {
        let Some(value) = given.value else { continue };
        let text = value.prefix();
        match given.name {
            // A jar is a file unless it holds cookies itself.
            "-b" | "--cookie" if !text.contains('=') => {
                let target = crate::usage::path(&value);
                reading.act.effects.push(EffectOn::new(Effect::Read, target));
            }
            "-H" | "--header" | "--proxy-header" | "-w" | "--write-out" | "--variable"
            | "--url-query" => {
                let file = text.split_once('@').filter(|(name, _)| !name.contains([':', ' ']));
                if let Some((_, file)) = file {
                    let target = Target::Path(file.to_owned());
                    reading.act.effects.push(EffectOn::new(Effect::Read, target));
                    reading.act.note("sends_file", reading.act.span);
                }
                for made in text.split("%output{").skip(1) {
                    let file = made.split('}').next().unwrap_or_default();
                    let target = Target::Path(file.trim_start_matches('>').to_owned());
                    reading.act.effects.push(EffectOn::new(Effect::Write, target));
                }
            }
            _ => {}
        }
    }
}

/// An address: http and https connect, a file is read, anything else is not understood.
fn address(reading: &mut Reading<'_, '_>, url: &Arg) {
    let Some(text) = url.as_known() else {
        return reading.dynamic("an address that is not known before it runs");
    };
    let lower = text.to_ascii_lowercase();
    match lower.split_once(':') {
        Some(("file", _)) => {
            let path = text.get(5..).unwrap_or_default();
            let path = path.strip_prefix("//").unwrap_or(path);
            let path = path.strip_prefix("localhost").unwrap_or(path);
            let target = Target::Path(path.to_owned());
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
        }
        Some((scheme, rest)) if rest.starts_with("//") && !matches!(scheme, "http" | "https") => {
            reading.extra();
            reading.unknown("an address that is neither http nor https");
        }
        _ => {}
    }
    if reading.usage.has_option(&["--proto-default"]) {
        reading.extra();
        reading.unknown("addresses without a scheme may mean anything");
    }
}

/// A value that begins with `@`, or holds `=@`, sends a file away.
fn sent(reading: &mut Reading<'_, '_>, value: &Arg, is_named: bool) {
    let Some(text) = value.as_known() else {
        return reading.dynamic("what is sent is not known before it runs");
    };
    let behind = text
        .strip_prefix('@')
        .or_else(|| text.split_once("=@").map(|(_, path)| path))
        .or_else(|| text.split_once("=<").map(|(_, path)| path))
        .or_else(|| text.split_once('@').filter(|_| is_named).map(|(_, path)| path));
    if let Some(path) = behind {
        let path = path.split(';').next().unwrap_or(path);
        let target = Target::Path(path.to_owned());
        reading.act.effects.push(EffectOn::new(Effect::Read, target));
        reading.act.note("sends_file", reading.act.span);
    }
}

/// `wget`: it saves what it fetches unless it is told otherwise.
pub(super) fn wget(reading: &mut Reading<'_, '_>) {
    for url in reading.operands() {
        if let Some(text) = url.as_known() {
            let is_odd = text.contains("://")
                && !text.starts_with("http://")
                && !text.starts_with("https://");
            if is_odd {
                reading.unknown("an address that is neither http nor https");
            }
        } else {
            reading.dynamic("an address that is not known before it runs");
        }
    }
    if let Some(file) = reading.usage.value_of(&["--post-file", "--body-file"]).cloned() {
        reading.act.effects.push(EffectOn::new(Effect::Read, crate::usage::path(&file)));
        reading.act.note("sends_file", reading.act.span);
    }
}

/// A client that sends what it is fed; to end it, a letter or nothing is enough.
pub(super) fn sends(reading: &mut Reading<'_, '_>) {
    let is_silent = match &reading.analysis.feed {
        Feed::Nothing => true,
        Feed::Text(text) => matches!(text.trim(), "" | "Q"),
        Feed::Pipe { .. } | Feed::Unknown => false,
    };
    if !is_silent && !reading.usage.has_option(&["-I", "--ignore-stdin"]) {
        reading.effect(Effect::Change);
        reading.extra();
    }
}

/// `ssh`: the words behind the host are shell text that runs there.
pub(super) fn ssh(reading: &mut Reading<'_, '_>) {
    reading.inner.clear();
    builtin::join(reading, 1, Dialect::Sh);
}
