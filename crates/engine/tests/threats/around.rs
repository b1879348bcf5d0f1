//! What stands around a command never loosens the answer about it: wrappers, every construct of
//! the shell, assignments. (T2, T3, T9, T11, T22)

use portcullis_engine::WRAPPERS;
use portcullis_engine::{Mode, Outcome};
use serde_json::{Value, json};

use super::{policy, verdict};

/// Simple commands, from harmless to hopeless.
const COMMANDS: [&str; 18] = [
    "ls -la",
    "git status",
    "git push origin main",
    "npm run build",
    "rm notes.txt",
    "rm -rf /",
    "touch a.txt",
    "cp a /tmp/b",
    "cat ~/.ssh/id_rsa",
    "curl https://a.example",
    "find . -delete",
    "make all",
    "mkdir -p x/y",
    "git -c a=b push",
    "sed -i s/a/b/ f",
    "python3 x.py",
    "portcullis approve 1",
    "dd if=a of=/dev/sda",
];

/// Programs that start what stands behind them.
/// (After `xargs` more words follow, so what a file rule says about the last one is not the same.)
const ARGUMENTS: [&str; 22] = [
    "sudo",
    "sudo -u root",
    "doas",
    "env",
    "env -i A=1",
    "nice",
    "nice -n 5",
    "nohup",
    "timeout 5",
    "timeout -k 1 5",
    "stdbuf -oL",
    "setsid",
    "time",
    "command",
    "exec",
    "ionice -c 3",
    "taskset 1",
    "chroot /x",
    "busybox",
    "strace -f",
    "flock a.lock",
    "docker exec c",
];

/// Programs and words that read a text; `{}` is where it stands, in single quotes.
const TEXTS: [&str; 12] = [
    "bash -c {}",
    "sh -ec {}",
    "bash --norc -c {} name",
    "eval {}",
    "su -c {}",
    "ssh host {}",
    "watch {}",
    "script -c {} /dev/null",
    "flock a.lock -c {}",
    "trap {} EXIT",
    "env -S {}",
    "nice bash -c {}",
];

/// Constructs of the shell; `{}` is where the command stands.
const CONSTRUCTS: [&str; 32] = [
    "( {} )",
    "{ {}; }",
    "! {}",
    "true && {}",
    "false || {}",
    "{} | cat",
    "echo a | {}",
    "{} &",
    "if true; then {}; fi",
    "if {}; then :; fi",
    "if false; then :; elif {}; then :; else :; fi",
    "while false; do {}; done",
    "until {}; do :; done",
    "for i in 1; do {}; done",
    "for ((;;)); do {}; done",
    "case x in x) {};; esac",
    "case $({}) in x) :;; esac",
    "f() { {}; }; f",
    "function f { {}; }; f",
    "f() ( {} ); f",
    "echo $({})",
    "echo \"a $({}) b\"",
    "x=$({})",
    "a=(1 $({}))",
    "echo ${x:-$({})}",
    "echo $(( $({}) + 1 ))",
    "[[ -n $({}) ]]",
    "cat <({})",
    "ls > >({})",
    "cat <<E\n$({})\nE",
    "cat <<< \"$({})\"",
    "bash <<'E'\n{}\nE",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Every policy the law is tried under.
fn rules() -> [Value; 4] {
    [
        json!({}),
        json!({ "deny": ["Bash(rm:*)", "Bash(git push:*)", "Write(**/b)"] }),
        json!({ "ask": ["Bash(make:*)", "Bash(ls:*)"], "allow": ["Bash(npm run:*)"] }),
        json!({ "allow": ["Bash(npm run:*)", "Bash(git:*)", "Bash(rm notes.txt)"] }),
    ]
}

/// Whatever `around` makes of a command is answered at least as strictly.
fn never_loosens(around: impl Fn(&str) -> Vec<String>) {
    never_loosens_any(&COMMANDS, around);
}

fn never_loosens_any(commands: &[&str], around: impl Fn(&str) -> Vec<String>) {
    let mut wrong = Vec::new();
    for rules in rules() {
        for mode in Mode::ALL {
            let policy = policy(mode, &rules);
            for command in commands {
                let bare = verdict(&policy, command).outcome;
                for text in around(command) {
                    let answer = verdict(&policy, &text).outcome;
                    if answer < bare {
                        let mode = mode.name();
                        wrong.push(format!(
                            "[{mode}] `{text}`: {answer:?}, alone {bare:?}; {rules}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} loosened\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_wrapper_never_loosens() {
    never_loosens(|command| {
        let before = ARGUMENTS.iter().map(|wrapper| format!("{wrapper} {command}"));
        let read = TEXTS.iter().map(|text| text.replace("{}", &quoted(command)));
        before.chain(read).collect()
    });
}

/// Stacks of wrappers, each so many times.
fn stacks(command: &str, depths: &[usize]) -> Vec<String> {
    let mut stacks = Vec::new();
    for wrapper in ["nice ", "env A=1 ", "sudo "] {
        stacks.extend(depths.iter().map(|depth| format!("{}{command}", wrapper.repeat(*depth))));
    }
    stacks
}

#[test]
fn wrappers_up_to_the_limit_never_loosen() {
    never_loosens(|command| stacks(command, &[2, WRAPPERS - 1, WRAPPERS]));
}

#[test]
fn wrappers_beyond_the_limit_never_loosen_what_words_tell() {
    // What is not peeled is compared by its words: what a rule about files or about a verb behind
    // other options says is not seen there. In every mode but bypass it is asked about all the same.
    let told: Vec<&str> = COMMANDS
        .iter()
        .copied()
        .filter(|one| !one.starts_with("cp") && !one.contains(" -c "))
        .collect();
    never_loosens_any(&told, |command| stacks(command, &[WRAPPERS + 1, 4 * WRAPPERS]));
    for command in COMMANDS {
        for text in stacks(command, &[WRAPPERS + 1, 4 * WRAPPERS]) {
            let policy =
                policy(Mode::Default, &json!({ "allow": ["Bash(nice:*)", "Bash(env:*)"] }));
            assert_ne!(verdict(&policy, &text).outcome, Outcome::Allow, "`{text}`");
        }
    }
}

#[test]
fn a_construct_never_loosens() {
    never_loosens(|command| {
        CONSTRUCTS.iter().map(|construct| construct.replace("{}", command)).collect()
    });
}

#[test]
fn a_construct_in_a_construct_never_loosens() {
    never_loosens(|command| {
        let outer = CONSTRUCTS.iter().step_by(3);
        let pairs =
            outer.flat_map(|outer| CONSTRUCTS.iter().step_by(2).map(move |inner| (outer, inner)));
        pairs
            // A delimiter stands alone on its line, so nothing can follow it there.
            .filter(|(_, inner)| !inner.contains("<<E") && !inner.contains("<<'E'"))
            // Two brackets in a row are arithmetic.
            .filter(|(outer, inner)| !(outer.contains("$({})") && inner.starts_with('(')))
            // A pipeline is turned round at its beginning only.
            .filter(|(outer, inner)| !(outer.contains("| {}") && inner.starts_with('!')))
            .map(|(outer, inner)| outer.replace("{}", &inner.replace("{}", command)))
            .collect()
    });
}

#[test]
fn an_unknown_variable_never_loosens() {
    never_loosens(|command| {
        ["FOO", "X1", "_a", "MY_TOOL_OPTIONS", "LD_NEW_THING", "GIT_NEW_THING"]
            .iter()
            .flat_map(|name| {
                [
                    format!("{name}=1 {command}"),
                    format!("export {name}=./x; {command}"),
                    format!("env {name}=x {command}"),
                    format!("declare -x {name}='() {{ :; }}'; {command}"),
                ]
            })
            .chain([format!("env 'BASH_FUNC_ls%%=() {{ :; }}' {command}")])
            .collect()
    });
}
