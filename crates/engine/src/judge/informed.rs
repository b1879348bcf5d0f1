//! What a person is told about a shell call under `[exec]`: findings that inform and decide
//! nothing. Shell syntax and file paths as arguments are found only where `exec.strict` is on.

use portcullis_shell::Span;

use super::exec::is_path;
use super::{Bench, Facts};
use crate::act::{Act, ActKind};
use crate::analysis::Syntax;
use crate::arg::Arg;
use crate::effect::{Effect, Target};
use crate::guard::Finding;
use crate::verdict::{Outcome, Tier};

/// Programs that run what they get on standard input.
const INTERPRETERS: [&str; 14] = [
    "ash", "bash", "dash", "fish", "ksh", "node", "perl", "php", "python", "python2", "python3",
    "ruby", "sh", "zsh",
];

/// Directories that belong to the system.
const SYSTEM: [&str; 5] = ["/etc", "/usr", "/sys", "/proc", "/dev"];

/// Programs that take packages from the network, with the sub-commands that do.
const INSTALLERS: [(&str, &[&str]); 12] = [
    ("apt", &["install"]),
    ("apt-get", &["install"]),
    ("brew", &["install"]),
    ("cargo", &["add", "install"]),
    ("gem", &["install"]),
    ("go", &["get", "install"]),
    ("npm", &["add", "ci", "i", "install"]),
    ("pip", &["download", "install"]),
    ("pip3", &["download", "install"]),
    ("pnpm", &["add", "dlx", "i", "install"]),
    ("uv", &["add", "pip", "tool"]),
    ("yarn", &["add", "dlx", "install"]),
];

/// Programs that fetch a package and run it.
const RUNNERS: [&str; 4] = ["bunx", "npx", "pipx", "uvx"];

/// Adds what a person is told.
pub(super) fn inform(bench: &Bench<'_>, syntax: &[(Syntax, Span)], acts: &mut [Facts]) {
    let Some(exec) = bench.policy.exec.as_ref().filter(|_| bench.text.is_some()) else { return };
    for facts in acts.iter_mut() {
        let told = tell(bench, facts, exec.is_strict);
        for (guard, tier, message) in told {
            add(facts, guard, tier, message, facts.act.span);
        }
    }
    if !exec.is_strict {
        return;
    }
    for (sign, span) in syntax {
        let (guard, message) = sentence(*sign);
        let behind = acts.iter().rposition(|facts| facts.act.span.start <= span.start);
        if let Some(facts) = acts.get_mut(behind.unwrap_or(0)) {
            add(facts, guard, Tier::Dangerous, message, *span);
        }
    }
}

fn add(facts: &mut Facts, guard: &'static str, tier: Tier, message: &str, span: Span) {
    if facts.findings.iter().any(|finding| finding.guard == guard) {
        return;
    }
    facts.findings.push(Finding {
        guard,
        tier,
        outcome: Outcome::Allow,
        is_firm: false,
        message: message.to_owned(),
        span,
    });
}

const fn sentence(sign: Syntax) -> (&'static str, &'static str) {
    match sign {
        Syntax::PipesErrors => ("exec_pipes_errors", "pipes errors together with output"),
        Syntax::Or => ("exec_or", "runs another command if the first one fails"),
        Syntax::FeedsInterpreter => FED,
        Syntax::Substitution => ("exec_substitution", "runs a command inside another one"),
        Syntax::Background => ("exec_background", "leaves a command running in the background"),
        Syntax::Sequence => ("exec_sequence", "runs several commands in a row"),
        Syntax::Subshell => ("exec_subshell", "runs commands in a subshell"),
    }
}

const FED: (&str, &str) = ("exec_fed", "hands output to a shell for execution");

type Told = (&'static str, Tier, &'static str);

fn tell(bench: &Bench<'_>, facts: &Facts, is_strict: bool) -> Vec<Told> {
    let act = &facts.act;
    let mut told = Vec::new();
    if act.kind == ActKind::Scanned {
        return told;
    }
    if writes_system(facts) {
        told.push(("exec_system_write", Tier::Dangerous, "writes to a system location"));
    } else if facts.changed().any(|touched| touched.effect == Effect::Write) {
        told.push(("exec_write", Tier::Review, "writes a file"));
    }
    let Some(base) = act.base_name().filter(|_| act.kind == ActKind::Command) else { return told };
    let has = |names: &[&str]| act.options.iter().any(|option| names.contains(option));
    let first = act.args.get(1).and_then(Arg::as_known).unwrap_or_default();
    match base {
        "rm" | "grm" | "srm" => {
            if has(&["-r", "-R", "--recursive"]) {
                told.push(("exec_recursive", Tier::Dangerous, "deletes recursively"));
            }
            if has(&["-f", "--force"]) {
                told.push(("exec_forced", Tier::Dangerous, "deletes without asking back"));
            }
        }
        "chmod" | "chown" | "chgrp" => {
            if base == "chmod" && opens(act) {
                told.push(("exec_open", Tier::Dangerous, "lets everybody write"));
            }
            if has(&["-R", "--recursive"]) {
                let message = "changes rights or owner of a whole tree";
                told.push(("exec_tree", Tier::Dangerous, message));
            }
        }
        "eval" => told.push(("exec_eval", Tier::Dangerous, "runs text as code")),
        "exec" => told.push(("exec_exec", Tier::Dangerous, "replaces the shell")),
        "shutdown" | "reboot" | "halt" | "poweroff" => {
            told.push(("exec_power", Tier::Dangerous, "stops or restarts the machine"));
        }
        "killall" | "pkill" => told.push(KILLED),
        "kill" if kills(act) => told.push(KILLED),
        "iptables" | "ip6tables" | "ufw" => {
            told.push(("exec_firewall", Tier::Dangerous, "changes the firewall"));
        }
        "find" if act.has(Effect::Delete) => told.push(LISTED),
        _ => {}
    }
    let is_removal = matches!(base, "rm" | "unlink" | "rmdir" | "shred");
    if is_removal && act.via.iter().any(|via| matches!(*via, "find" | "xargs")) {
        told.push(LISTED);
    }
    let reads_file = act
        .effects
        .iter()
        .any(|on| on.effect == Effect::Read && matches!(on.target, Target::Path(_)));
    if act.has(Effect::Connect) && reads_file {
        told.push(("exec_sends", Tier::Dangerous, "sends a file to the network"));
    }
    if INTERPRETERS.contains(&base) && is_fed(bench, act) {
        told.push((FED.0, Tier::Dangerous, FED.1));
    }
    if !act.code.is_empty() {
        told.push(("exec_code", Tier::Review, "runs code that stands in the command"));
    }
    let installs = INSTALLERS.iter().any(|(name, words)| *name == base && words.contains(&first));
    if installs || RUNNERS.contains(&base) {
        told.push(("exec_package", Tier::Review, "takes a package from the network"));
    }
    if act.has(Effect::Unknown) {
        told.push(("exec_unknown", Tier::Review, "what it does is not known"));
    }
    if is_strict && act.via.is_empty() && act.args.iter().skip(1).any(is_path) {
        told.push(("exec_path", Tier::Review, "names a file by its path"));
    }
    told
}

const KILLED: Told = ("exec_killed", Tier::Dangerous, "ends processes by force or by name");

const LISTED: Told = ("exec_listed", Tier::Dangerous, "deletes whatever another command lists");

fn writes_system(facts: &Facts) -> bool {
    facts.changed().any(|touched| {
        let place = touched.place.as_ref();
        let paths = place.map(|place| [Some(&place.normalised), place.resolved.as_ref()]);
        let mut paths = paths.into_iter().flatten().flatten();
        paths.any(|path| SYSTEM.iter().any(|tree| crate::place::is_within(path, tree)))
    })
}

/// Whether a mode gives everybody the right to write.
fn opens(act: &Act) -> bool {
    let words = act.args.iter().skip(1).filter_map(Arg::as_known);
    words.filter(|word| !word.starts_with("--")).any(|word| {
        let is_number = word.len() >= 3 && word.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        let last = word.bytes().last().unwrap_or(b'0');
        let is_open = is_number && (last - b'0') & 2 != 0;
        is_open || word.split(',').any(grants_all)
    })
}

/// Whether a clause such as `a+w` or `o=rw` gives others the right to write.
fn grants_all(clause: &str) -> bool {
    let Some(at) = clause.find(['+', '=']) else { return false };
    let (who, what) = clause.split_at(at);
    let is_all = who.is_empty() || who.contains(['a', 'o']);
    is_all && who.chars().all(|letter| "ugoa".contains(letter)) && what.contains('w')
}

fn kills(act: &Act) -> bool {
    let mut words = act.args.iter().skip(1).filter_map(Arg::as_known).map(str::to_uppercase);
    words.any(|word| {
        let signal = word.trim_start_matches('-').trim_start_matches("SIGNAL=");
        matches!(signal.trim_start_matches("SIG"), "9" | "KILL" | "S9" | "SKILL")
            && word.starts_with('-')
            || matches!(word.as_str(), "KILL" | "SIGKILL")
    })
}

/// Whether what stands before an act in its pipeline is what it runs.
fn is_fed(bench: &Bench<'_>, act: &Act) -> bool {
    let reads_input = act
        .args
        .iter()
        .skip(1)
        .all(|arg| arg.as_known().is_some_and(|word| matches!(word, "-" | "-s" | "-x" | "-e")));
    let text = bench.text.unwrap_or_default();
    let before = text.get(..act.span.start as usize).unwrap_or_default().trim_end();
    let is_piped = before.ends_with('|') && !before.ends_with("||") || before.ends_with("|&");
    reads_input && is_piped
}
