//! What stands around a command never loosens the answer about it, however it is written.

use portcullis_engine::verdict::JudgedAct;
use portcullis_engine::{Policy, Verdict};
use portcullis_law::law;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

use crate::samples::{JOINERS, command, mode, one, policy, rules, verdict};

#[test]
fn a_script_is_as_strict_as_its_strictest_part() {
    let strategy = (one(), select(&JOINERS[..]), one(), rules(), rules(), mode());
    law(strategy, |(first, joiner, second, allow, deny, mode)| {
        let policy = policy(mode, &allow, &[], &deny);
        // What does not end by itself ends with whoever reads from it, and whose words come from
        // a pipe are told more of them there.
        let is_pipe = matches!(joiner.trim(), "|" | "|&");
        let is_told = |script: &str| script.split_whitespace().any(|word| word == "xargs");
        prop_assume!(!is_pipe || !is_endless(&policy, first) && !is_told(second));
        let parts = verdict(&policy, first).outcome.max(verdict(&policy, second).outcome);
        let whole = verdict(&policy, &format!("{first}{joiner}{second}"));
        prop_assume!(is_read(&whole));
        prop_assert!(whole.outcome >= parts, "{first}{joiner}{second} in {}", mode.name());
        Ok(())
    });
}

#[test]
fn what_is_appended_never_turns_an_ask_into_an_allow() {
    law((command(), command(), rules(), mode()), |(first, second, allow, mode)| {
        let policy = policy(mode, &allow, &[], &[]);
        let before = verdict(&policy, &first).outcome;
        let after = verdict(&policy, &format!("{first}\n{second}")).outcome;
        prop_assert!(after >= before, "{first} then {second} in {}", mode.name());
        Ok(())
    });
}

/// Programs that start what stands behind them.
pub const WRAPPERS: [&str; 16] = [
    "sudo",
    "doas -u x",
    "env",
    "env -u A B=1",
    "nice -n 5",
    "nohup",
    "timeout -k 1 5",
    "stdbuf -oL",
    "setsid",
    "command",
    "exec",
    "ionice -c 3",
    "taskset 1",
    "chroot /x",
    "strace -f",
    "time",
];

/// Constructs of the shell and programs that read a text; `{}` is where the command stands, `''`
/// where it stands in quotes.
const CONSTRUCTS: [&str; 19] = [
    "( {} )",
    "{ {}; }",
    "! {}",
    "true && {}",
    "echo a | {}",
    "{} &",
    "if {}; then :; fi",
    "while false; do {}; done",
    "for i in 1; do {}; done",
    "case x in x) {};; esac",
    "f() { {}; }; f",
    "echo \"a $({}) b\"",
    "x=$({})",
    "echo ${x:-$({})}",
    "cat <({})",
    "bash -c ''",
    "sh -ec ''",
    "eval ''",
    "nice bash -c ''",
];

/// Whether a text was read; of one that was refused only the words are known, and rules about
/// files have nothing to speak about.
fn is_read(verdict: &Verdict) -> bool {
    verdict.reasons.iter().all(|reason| !matches!(&*reason.code, "unreadable" | "syntax"))
}

/// Whatever `text` makes of a command is answered at least as strictly.
fn holds(policy: &Policy, command: &str, text: &str) -> TestCaseResult {
    let (alone, inside) = (verdict(policy, command), verdict(policy, text));
    prop_assume!(is_read(&inside));
    let (alone, inside) = (alone.outcome, inside.outcome);
    prop_assert!(inside >= alone, "`{text}`: {inside:?}, alone {alone:?}");
    Ok(())
}

/// Whether a command is asked about because it does not end.
fn is_endless(policy: &Policy, command: &str) -> bool {
    let why = |act: &JudgedAct| act.act.unknown.as_ref().map(|unknown| unknown.message.clone());
    let mut acts = verdict(policy, command).acts.into_iter();
    acts.any(|act| why(&act).is_some_and(|message| message.ends_with("does not end")))
}

/// Whether the shell reads words behind it as those of one program.
pub fn is_simple(command: &str) -> bool {
    !command.contains(['=', '|', ';', '&', '<', '>', '(', '{', '$', '`', '~', '[', '!'])
}

#[test]
fn a_wrapper_never_loosens() {
    let stack = proptest::collection::vec(select(&WRAPPERS[..]), 1..4);
    law((one(), stack, rules(), rules(), mode()), |(command, stack, allow, deny, mode)| {
        let policy = policy(mode, &allow, &[], &deny);
        // `timeout` ends what does not end by itself, and nothing else is asked about that.
        let ends = !stack.iter().any(|wrapper| wrapper.starts_with("timeout"));
        prop_assume!(is_simple(command) && (ends || !is_endless(&policy, command)));
        // How the shell reads on is set by its builtin alone, and a program starts none.
        prop_assume!(!command.starts_with("set "));
        holds(&policy, command, &format!("{} {command}", stack.join(" ")))
    });
}

#[test]
fn a_construct_never_loosens() {
    let strategy = (one(), select(&CONSTRUCTS[..]), rules(), rules(), mode());
    law(strategy, |(command, construct, allow, deny, mode)| {
        // A here-document would lose its end, and a comment would take the rest with it.
        prop_assume!(!command.contains("<<") && !command.contains('#'));
        // A pipeline is turned round at its beginning only, and two brackets are arithmetic.
        prop_assume!(!command.starts_with(['!', '(']) && !command.ends_with('&'));
        let quoted = format!("'{}'", command.replace('\'', "'\\''"));
        let text = construct.replace("''", &quoted).replace("{}", command);
        holds(&policy(mode, &allow, &[], &deny), command, &text)
    });
}

#[test]
fn an_unknown_variable_never_loosens() {
    let name = "[A-Z_][A-Z0-9_]{0,12}";
    let way = select(vec!["{}=1 ", "export {}=./x; ", "env {}=x ", "declare -x {}='() { :; }'; "]);
    law((one(), name, way, rules(), mode()), |(command, name, way, allow, mode)| {
        prop_assume!(is_simple(command));
        holds(
            &policy(mode, &allow, &[], &[]),
            command,
            &format!("{}{command}", way.replace("{}", &name)),
        )
    });
}

/// One letter in one of the ways to write it.
fn spelled(letter: char, way: u8) -> String {
    match way {
        0 => format!("\\{letter}"),
        1 => format!("'{letter}'"),
        2 => format!("\"{letter}\""),
        3 => format!("$'\\x{:02x}'", u32::from(letter)),
        _ => letter.to_string(),
    }
}

#[test]
fn quoting_changes_nothing() {
    let ways = proptest::collection::vec(0..12_u8, 64);
    law((one(), ways, rules(), rules(), mode()), |(command, ways, allow, deny, mode)| {
        // Words without a sign of the shell: what is quoted there is the same word.
        prop_assume!(
            is_simple(command) && !command.contains(['\'', '"', '\\', '*', '?', '#', '%'])
        );
        let mut ways = ways.iter().cycle();
        let letter = |letter: char| match letter {
            // A keyword, a builtin's option or a program may be any of these letters.
            'a'..='z' | 'A'..='Z' => spelled(letter, *ways.next().unwrap_or(&9)),
            other => other.to_string(),
        };
        let text: String = command.chars().map(letter).collect();
        let policy = policy(mode, &allow, &[], &deny);
        let (plain, quoted) = (verdict(&policy, command), verdict(&policy, &text));
        prop_assert_eq!(plain.outcome, quoted.outcome, "`{}` and `{}`", command, text);
        prop_assert_eq!(plain.tier, quoted.tier, "`{}` and `{}`", command, text);
        prop_assert_eq!(plain.is_read_only, quoted.is_read_only, "`{}` and `{}`", command, text);
        Ok(())
    });
}
