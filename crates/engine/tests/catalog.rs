//! Every example of the catalog is what it says it is.

#![cfg(test)]

use portcullis_engine::act::Act;
use portcullis_engine::analysis::analyse;
use portcullis_engine::catalog::{Entry, OptionSpec, Program, ValueKind, find, programs};
use portcullis_engine::effect::{Effect, Effects};
use portcullis_engine::guard::{self, Scene, Sensitive};
use portcullis_engine::place::Ground;
use portcullis_engine::verdict::Outcome;
use portcullis_engine::world::Lexical;
use portcullis_engine::{Call, Policy, Source, judge};
use portcullis_shell::Dialect;

fn only_reads(command: &str, is_zsh: bool) -> (bool, String) {
    let dialect = if is_zsh { Dialect::Zsh } else { Dialect::Bash };
    let ground = Ground::new("/home/dev/proj", Some("/home/dev"), &[], &Lexical);
    let found = analyse(command, dialect, &ground, &Lexical);
    let scene = Scene {
        ground: &ground,
        world: &Lexical,
        sensitive: &Sensitive::default(),
        asks_for_secrets: true,
    };
    let only_reads = |act: &Act| {
        act.only_reads()
            && guard::inspect(act, &ground.touched(act, &Lexical), &scene)
                .iter()
                .all(|finding| finding.outcome == Outcome::Allow)
    };
    let reads = !found.acts.is_empty()
        && found.refusals.is_empty()
        && found.acts.iter().all(|act| only_reads(act));
    let first = found.acts.iter().find(|act| !only_reads(act));
    let why = first.map_or_else(String::new, |act| match &act.unknown {
        Some(unknown) => unknown.message.clone(),
        None => format!("{:?} {:?}", act.effects, act.notes),
    });
    (reads, why)
}

#[test]
fn examples_are_what_they_say() {
    let mut wrong = Vec::new();
    for program in programs() {
        for command in program.read_only() {
            let (reads, why) = only_reads(command, program.is_zsh);
            if !reads {
                wrong.push(format!("{}: `{command}` must be read-only: {why}", program.name));
            }
        }
        for command in program.not_read_only() {
            if only_reads(command, program.is_zsh).0 {
                wrong.push(format!("{}: `{command}` must not be read-only", program.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// How the examples are put together: alone, with others, behind and inside of others.
const FRAMES: [&str; 8] = [
    "{}",
    "{} && npm test",
    "sudo {}",
    "timeout 5 {}",
    "{} > out.txt",
    "bash -c '{}'",
    "CI=1 {}",
    "FOO=1 {}",
];

#[test]
fn with_every_offer_accepted_the_same_call_is_allowed() {
    let (mut wrong, mut offered) = (Vec::new(), 0);
    let examples = programs().iter().flat_map(Program::not_read_only);
    for (command, frame) in examples.flat_map(|one| FRAMES.map(|frame| (one, frame))) {
        let command = frame.replace("{}", command);
        let mut call = Call::bash(&command, "/home/dev/proj");
        call.home = Some("/home/dev".to_owned());
        let asked = judge(&Policy::builtin(), &call, &Lexical);
        if asked.suggestions.is_empty() {
            continue;
        }
        offered += 1;
        let mut policy = Policy::builtin();
        for suggestion in &asked.suggestions {
            policy = policy.with_rule(Outcome::Allow, &suggestion.rule, Source::Grant).unwrap();
        }
        let after = judge(&policy, &call, &Lexical);
        // Only five are given, however many there would have to be.
        if after.outcome != Outcome::Allow && asked.suggestions.len() < 5 {
            wrong.push(format!("`{command}` with {:?}", asked.suggestions));
        }
    }
    assert!(wrong.is_empty(), "{} of {offered} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(offered > 1000, "only {offered} calls had an offer");
}

/// Programs that are known to start others or to write files, by an option, an operand or a text.
const ABLE: &str = include_str!("data/able.txt");

#[test]
fn what_can_run_or_write_is_read_only_by_the_table_alone() {
    let mut wrong = Vec::new();
    for name in ABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some(program) = find(name) else { continue };
        let is_guarded = may_harm(program.entry) && program.not_read_only().next().is_some();
        if !is_guarded {
            wrong.push(format!("{name}: nothing in its entry is dangerous, and it can do harm"));
        }
        // A word that nobody knows must not pass.
        for command in [format!("{name} --portcullis-unknown-option"), format!("{name} $X $Y")] {
            if only_reads(&command, program.is_zsh).0 {
                wrong.push(format!("`{command}` must not be read-only"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether anything that an entry knows does more than read.
/// Where a policy allows fetching, what only connects is allowed: an entry of this kind must know
/// every word, or an option that sends, saves or runs would pass for a part of the fetch.
#[test]
fn what_only_connects_knows_all_its_words() {
    let mut wrong = Vec::new();
    for program in programs() {
        open_connections(program.entry, program.name, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

fn open_connections(entry: &Entry, name: &str, wrong: &mut Vec<String>) {
    let only_connects = entry.effects.iter().any(|effect| effect == Effect::Connect)
        && entry.effects.iter().all(|effect| effect == Effect::Connect || effect.is_reading());
    if only_connects && (entry.any_option || entry.any_operand) {
        wrong.push(format!("{name}: it connects, and takes words that it does not know"));
    }
    for sub in entry.subs {
        open_connections(sub.entry, &format!("{name} {}", sub.names.join(" ")), wrong);
    }
}

fn may_harm(entry: &Entry) -> bool {
    let reads = |effects: Effects| effects.iter().all(Effect::is_reading);
    !reads(entry.effects)
        || !reads(entry.with_operand)
        || entry.alone.is_some_and(|alone| !reads(alone))
        || entry.reader.is_some()
        || entry.options.iter().any(OptionSpec::is_dangerous)
        || entry.when.iter().any(|when| !reads(when.effects))
        || entry.verbs.iter().any(|(effects, _)| !reads(*effects))
        || entry.operands.iter().any(|role| {
            !matches!(
                role.kind,
                ValueKind::Read | ValueKind::Opaque | ValueKind::Pattern | ValueKind::Directory
            )
        })
        || entry.subs.iter().any(|sub| may_harm(sub.entry))
}
