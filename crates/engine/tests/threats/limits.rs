//! Past any limit a person is asked, and deny rules hold for what was read and for the rest:
//! padding buys no weaker check. (T93, T95, T96)

use portcullis_engine::WRAPPERS;
use portcullis_engine::analysis::{ACTS, NESTED_TEXTS};
use portcullis_engine::arg::Budget;
use portcullis_engine::{Mode, Outcome, Verdict};
use portcullis_shell::Limits;
use serde_json::json;

use super::{beginning, policy, verdict};

/// One way to grow: the limit, and a text of that size that runs `command` first, last or inside.
struct Growth {
    name: &'static str,
    limit: usize,
    text: fn(size: usize, command: &str) -> Vec<String>,
}

const GROWTHS: [Growth; 7] = [
    Growth { name: "bytes", limit: Limits::JUDGING.bytes, text: bytes },
    Growth { name: "commands", limit: Limits::JUDGING.commands as usize, text: commands },
    Growth { name: "nesting", limit: Limits::JUDGING.nesting as usize, text: nesting },
    Growth { name: "acts", limit: ACTS, text: acts },
    Growth { name: "nested texts", limit: NESTED_TEXTS, text: texts },
    Growth { name: "wrappers", limit: WRAPPERS, text: wrappers },
    Growth { name: "words of braces", limit: Budget::WORDS, text: braces },
];

fn bytes(size: usize, command: &str) -> Vec<String> {
    let padding = |room: usize| format!("echo {}", "a".repeat(size.saturating_sub(room + 5)));
    let room = command.len() + 1;
    vec![format!("{command};{}", padding(room)), format!("{};{command}", padding(room))]
}

fn commands(size: usize, command: &str) -> Vec<String> {
    let padding = ":;".repeat(size.saturating_sub(1));
    vec![format!("{command};{padding}"), format!("{padding}{command}")]
}

fn acts(size: usize, command: &str) -> Vec<String> {
    let padding = "ls;".repeat(size.saturating_sub(1));
    vec![format!("{command};{padding}"), format!("{padding}{command}")]
}

fn nesting(size: usize, command: &str) -> Vec<String> {
    vec![
        format!("{}{command}{}", "( ".repeat(size), ")".repeat(size)),
        format!("{command}; {}ls{}", "( ".repeat(size), ")".repeat(size)),
        format!("{}ls{}; {command}", "( ".repeat(size), ")".repeat(size)),
    ]
}

fn texts(size: usize, command: &str) -> Vec<String> {
    let nested = |inner: &str| {
        (0..size).fold(inner.to_owned(), |text, _| {
            format!("eval {}", text.replace('\\', "\\\\").replace(' ', "\\ "))
        })
    };
    vec![
        nested(command),
        format!("{}; {command}", nested("ls")),
        format!("{command}; {}", nested("ls")),
    ]
}

fn wrappers(size: usize, command: &str) -> Vec<String> {
    vec![
        format!("{}{command}", "nice ".repeat(size)),
        format!("{}ls; {command}", "nice ".repeat(size)),
    ]
}

fn braces(size: usize, command: &str) -> Vec<String> {
    // Each stands for 256 words.
    let words = " a{,1}{,1}{,1}{,1}{,1}{,1}{,1}{,1}?".repeat(size.div_ceil(256));
    vec![format!("{command}; ls{words}"), format!("ls{words}; {command}")]
}

/// One below, at, one above, and far above; in modes that add nothing only one above.
fn sizes(limit: usize, is_full: bool) -> Vec<usize> {
    if is_full { vec![limit - 1, limit, limit + 1, limit * 3] } else { vec![limit + 1] }
}

#[test]
fn a_denied_act_is_denied_first_last_and_beyond() {
    for mode in Mode::ALL {
        let policy = policy(mode, &json!({ "allow": ["Bash"], "deny": ["Bash(rm:*)"] }));
        for Growth { name, limit, text } in GROWTHS {
            for size in sizes(limit, mode == Mode::Bypass) {
                for text in text(size, "rm x") {
                    let outcome = verdict(&policy, &text).outcome;
                    let shown = beginning(&text);
                    assert_eq!(outcome, Outcome::Deny, "{name} {size} in {}: {shown}", mode.name());
                }
            }
        }
    }
}

#[test]
fn an_act_that_asks_is_never_allowed_by_padding() {
    for (mode, want) in [
        (Mode::Default, Outcome::Ask),
        (Mode::Explore, Outcome::Deny),
        (Mode::DontAsk, Outcome::Deny),
    ] {
        let policy =
            policy(mode, &json!({ "allow": ["Bash(ls:*)", "Bash(echo:*)", "Bash(nice:*)"] }));
        for Growth { name, limit, text } in GROWTHS {
            for size in sizes(limit, mode == Mode::Default) {
                for text in text(size, "npm publish") {
                    let outcome = verdict(&policy, &text).outcome;
                    let shown = beginning(&text);
                    assert_eq!(outcome, want, "{name} {size} in {}: {shown}", mode.name());
                }
            }
        }
    }
}

#[test]
fn past_a_limit_even_what_only_reads_is_asked_about() {
    let default = policy(Mode::Default, &json!({ "allow": ["Bash"] }));
    for Growth { name, limit, text } in GROWTHS {
        for text in text(limit * 3, "ls") {
            let answer = verdict(&default, &text);
            let shown = beginning(&text);
            assert!(answer.outcome == Outcome::Ask && answer.is_firm, "{name}: {shown}");
        }
    }
}

#[test]
fn depth_takes_no_stack_and_patterns_take_no_turns() {
    let policy = policy(
        Mode::Default,
        &json!({ "deny": ["Bash(a*a*a*a*a*a*a*a*a*a*a*a*b:*)", "Write(**/a*a*a*a*a*a*a*b/**/c*c*c*d)"] }),
    );
    // A thread with a small stack, as a hook's would be: an overflow would end the process.
    let judged = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for opener in
            ["(", "{ ", "$(", "\"$(", "`", "if ", "! ", "<(", "${a:-", "$((", "((", "[[ (", "eval "]
        {
            let outcome = verdict(&policy, &opener.repeat(10_000)).outcome;
            assert_ne!(outcome, Outcome::Allow, "{opener}");
        }
        for text in [
            format!("{} x", "a".repeat(60_000)),
            format!("touch {}", "a/".repeat(2_000)),
            format!("touch {}", "a".repeat(60_000)),
        ] {
            assert_ne!(verdict(&policy, &text).outcome, Outcome::Allow);
        }
    });
    judged.unwrap().join().unwrap();
}

#[test]
fn what_commands_hand_each_other_is_looked_at_only_so_often() {
    let many = |begin: &str, piece: &dyn Fn(usize) -> String| {
        let pieces: String = (0..1000).map(piece).collect();
        format!("{begin}{pieces}")
    };
    let texts = [
        many("ls", &|_| " | xargs cat".to_owned()),
        many("ls a b c", &|at| format!(" | xargs cat f{at}")),
        many("f() { cat $1; }", &|at| format!("; f a{at}")),
        many("f() { cat $1; }", &|_| "; f a b c".to_owned()),
        many(":", &|at| format!("; cat $x <<< f{at}")),
        many(":", &|at| format!("; a{at}=$(ls f{at}); cat $x")),
    ];
    let policy = policy(Mode::Default, &json!({}));
    for text in texts {
        let verdict = verdict(&policy, &text);
        let read: usize = verdict.acts.iter().map(|judged| judged.act.effects.len()).sum();
        assert!(read < 30_000, "{read} effects: {}", beginning(&text));
    }
    let once = verdict(&policy, "f() { cat $1; }; f a");
    let again = verdict(&policy, "f() { cat $1; }; f a; f a; f a");
    let effects = |verdict: &Verdict| verdict.acts.first().map(|judged| judged.act.effects.len());
    assert_eq!(effects(&once), effects(&again), "what is read again is counted once");
}
