//! Hooks on a machine that has no memory for them, or no stack: what is said blocks the tool.

use std::process::{Command, Stdio};

use super::house::{GATES, Gate, Home, Said, assert_blocks, fed};

const ALLOWS: &str = "mode = \"bypass\"\n";

/// What a hook says that may have so much memory; its worker has none.
fn limited(home: &Home, gate: &Gate, kilobytes: usize, stdin: &[u8]) -> Said {
    let script = format!("ulimit -c 0; ulimit -v {kilobytes}; exec \"$@\"");
    let mut command = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_portcullis");
    command.args(["-c", &script, "sh", binary, "hook", gate.host, gate.event]);
    command.args(["--daemon", "off"]).env("HOME", &home.0);
    command.env("PORTCULLIS_HOOK_FAULT", "memory").envs(gate.environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    fed(&mut command, stdin)
}

#[test]
fn a_machine_without_memory_gives_an_answer_too() {
    let home = Home::with(ALLOWS);
    // Each limit is one that the hook itself may or may not start under; where it starts, it
    // answers, and it allows only with a whole verdict.
    for kilobytes in [100_000, 200_000, 400_000, 800_000] {
        for gate in GATES.iter().take(6) {
            let said = limited(&home, gate, kilobytes, &gate.document());
            assert_blocks(gate, &said, &format!("{} under {kilobytes} kB", gate.host));
        }
    }
}

#[test]
fn a_long_document_that_memory_does_not_hold_is_denied() {
    let home = Home::with(ALLOWS);
    let is_answered = |gate: &Gate, kilobytes: &usize| {
        let said = limited(&home, gate, *kilobytes, &gate.document());
        said.code.is_some_and(|code| code != 127)
    };
    let least = (20_000..).step_by(4_000).find(|kilobytes| is_answered(&GATES[0], kilobytes));
    let least = least.unwrap();
    for gate in GATES {
        let mut document = gate.document();
        assert_eq!(document.pop(), Some(b'}'));
        document.extend_from_slice(b",\"more\":\"");
        document.resize(6 << 20, b'x');
        document.extend_from_slice(b"\"}");
        for kilobytes in (least..least + 80_000).step_by(10_000) {
            let said = limited(&home, gate, kilobytes, &document);
            assert_blocks(gate, &said, &format!("{} under {kilobytes} kB", gate.host));
        }
    }
}

#[test]
fn a_hook_that_gives_itself_up_blocks() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        for fault in ["own-memory", "own-overflow"] {
            let mut command = gate.command(&home, &["--daemon", "off"]);
            command.env("PORTCULLIS_HOOK_FAULT", fault);
            let said = fed(&mut command, &gate.document());
            // The words are the runtime's own: there is no memory left for others.
            assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{} {fault}", gate.host);
            assert!(!said.error.trim().is_empty(), "{} {fault}", gate.host);
        }
    }
}
