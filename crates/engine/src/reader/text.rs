//! sed, awk, jq: programs for text that are programs themselves.

use super::{Reading, file};
use crate::arg::Arg;
use crate::catalog::ValueKind;
use crate::effect::{Effect, EffectOn, Target};
use crate::language::{self, Facts, Run};
use crate::sensitive::{self, Access};
use crate::usage;

/// The texts of one kind; none if one is not known.
fn texts(reading: &Reading<'_, '_>, kind: ValueKind) -> Option<Vec<String>> {
    reading
        .usage
        .values
        .iter()
        .filter(|given| given.kind == kind)
        .map(|given| given.arg.as_known().map(str::to_owned))
        .collect()
}

/// `sed`: its scripts may write, read and run.
pub(super) fn sed(reading: &mut Reading<'_, '_>) {
    let Some(scripts) = texts(reading, ValueKind::Sed) else {
        reading.act.note("sed", reading.act.span);
        return reading.dynamic("a sed script that is not known before it runs");
    };
    // What stands in a file cannot be followed.
    if reading.usage.has_option(&["-f", "--file"]) {
        reading.act.note("sed", reading.act.span);
    }
    if scripts.is_empty() {
        if reading.usage.unknown.is_none() {
            reading.unknown("sed lacks its script");
        }
        return;
    }
    file::copies(reading, &["-i", "--in-place", "-I"]);
    let bytes: Vec<&[u8]> = scripts.iter().map(String::as_bytes).collect();
    let extended = reading.usage.has_option(&["-E", "-r", "--regexp-extended"]);
    let facts = language::sed(&bytes, extended);
    if !facts.runs.is_empty() || facts.unknown.is_some() {
        reading.act.note("sed", reading.act.span);
    }
    reading.take(facts);
}

/// `awk`: its program may write, read, connect and run.
pub(super) fn awk(reading: &mut Reading<'_, '_>) {
    let Some(programs) = texts(reading, ValueKind::Awk) else {
        return reading.dynamic("an awk program that is not known before it runs");
    };
    let mut facts = Facts::default();
    for program in &programs {
        let read = language::awk(program.as_bytes());
        if read.reads.contains(&None) || program.contains("ARGV") || program.contains("ARGC") {
            reading.extra();
            reading.unknown("an awk program that chooses its own files");
            chosen(reading, program);
        }
        facts.merge(read);
    }
    let only_filters = facts.runs.iter().all(is_filter);
    let filters = if only_filters { std::mem::take(&mut facts.runs) } else { Vec::new() };
    reading.take(facts);
    let includes = |given: &usage::GivenOption| {
        matches!(given.name, "-i" | "--include")
            && given.value.as_ref().is_some_and(|value| value.as_known() == Some("inplace"))
    };
    if reading.usage.options.iter().any(includes) {
        let is_read = |on: &&EffectOn| on.effect == Effect::Read && on.target != Target::None;
        let files: Vec<EffectOn> = reading.act.effects.iter().filter(is_read).cloned().collect();
        let written = files.into_iter().map(|on| EffectOn { effect: Effect::Write, ..on });
        reading.act.effects.extend(written);
    }
    for filter in filters {
        reading.run(filter);
    }
}

/// Programs that an awk program hands its lines to, or asks for the time.
const FILTERS: [&str; 9] = ["cat", "column", "date", "head", "nl", "sort", "tail", "uniq", "wc"];

/// Whether a command that an awk program runs is a filter with plain words: what it does is said by
/// its own act alone.
fn is_filter(run: &Run) -> bool {
    let Run::Shell(text) = run else { return false };
    // Where errors go lines may go.
    let ends: [&[u8]; 2] = [b" 1>&2", b" >&2"];
    let text = ends.iter().find_map(|end| text.strip_suffix(*end)).unwrap_or(text);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" -,.+%:_/".contains(byte);
    let name = text.split(|byte| *byte == b' ').next();
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    text.iter().all(is_plain) && name.is_some_and(|name| FILTERS.contains(&name))
}

/// What an awk program may choose: every text in it, and every variable it is given.
fn chosen(reading: &mut Reading<'_, '_>, program: &str) {
    let texts = program.split('"').skip(1).step_by(2);
    let values = reading.act.args.iter().skip(1).filter_map(Arg::as_known);
    let values = values.filter_map(|word| word.split_once('=')).map(|(_, value)| value);
    let names: Vec<String> = texts.chain(values).map(str::to_owned).collect();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        reading.act.effects.push(EffectOn::new(Effect::Read, Target::Path(name)));
    }
}

/// `jq` and `yq`: their programs compute, and may read files and the environment.
pub(super) fn jq(reading: &mut Reading<'_, '_>) {
    let is_yq = reading.act.base_name() == Some("yq");
    pairs(reading);
    // A program that the call itself feeds is in no file that anybody looked at.
    let is_fed = reading.usage.value_of(&["-f", "--from-file"]).is_some_and(|arg| {
        let is_stream =
            |file: &str| file == "-" || file.starts_with("/dev/") || file.starts_with("/proc/");
        arg.as_written().is_none_or(is_stream)
    });
    if is_fed {
        reading.unknown("a program that is fed, which may show the environment");
    }
    let Some(programs) = texts(reading, ValueKind::Jq) else {
        // An unknown jq program only computes; one of yq may load files.
        if is_yq {
            reading.dynamic("a program that is not known before it runs");
        }
        return;
    };
    let mut facts = Facts::default();
    let operands = reading.operands();
    // A single word of yq may be its file; the xq written in Go takes no other word.
    let may_be_file = matches!(reading.act.base_name(), Some("yq" | "xq"));
    let edits = reading.usage.has_option(&["-i", "--inplace", "--in-place"]);
    if let (true, [only]) = (may_be_file, operands.as_slice())
        && let Some(text) = only.as_known()
        && (edits || sensitive::find(&format!("/{text}"), Access::Read).is_some())
    {
        let target = Target::Path(text.to_owned());
        let effect = if edits { Effect::Write } else { Effect::Read };
        reading.act.effects.push(EffectOn::new(effect, target));
    }
    let is_sub = |text: &str| matches!(text, "eval" | "eval-all" | "e" | "ea");
    let behind = operands.get(1).and_then(Arg::as_known).map(str::to_owned);
    let programs: Vec<String> = programs
        .into_iter()
        .filter_map(|text| if is_yq && is_sub(&text) { behind.clone() } else { Some(text) })
        .collect();
    for program in &programs {
        let read = if is_yq { language::yq } else { language::jq };
        facts.merge(read(program.as_bytes()));
    }
    reading.take(facts);
}

/// The jq filter that another program applies to its output.
pub(super) fn filters(reading: &mut Reading<'_, '_>) {
    for filter in texts(reading, ValueKind::Jq).into_iter().flatten() {
        reading.take(language::jq(filter.as_bytes()));
    }
}

/// Options of jq that take two words: the second may be a file.
fn pairs(reading: &mut Reading<'_, '_>) {
    let files: Vec<Arg> = reading
        .usage
        .options
        .iter()
        .filter(|given| matches!(given.name, "--slurpfile" | "--rawfile" | "--argfile"))
        .filter_map(|given| reading.args().get(given.at + 2).cloned())
        .collect();
    for file in files {
        let target = usage::path(&file);
        reading.act.effects.push(EffectOn::new(Effect::Read, target));
    }
}
