//! What comes again is answered as if it were judged anew, whatever changed between.

use std::os::unix::fs::symlink;
use std::path::Path;

use portcullis_approval::{Granted, Id, Moment, Reach, Reply};
use portcullis_engine::PolicyText;
use portcullis_engine::policy::Source;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// Numbers without an order, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

const POLICIES: [&str; 4] = [
    "",
    "mode = \"accept-edits\"\n",
    "[rules]\ndeny = [\"Bash(git log:*)\"]\n",
    "[rules]\nallow = [\"Bash(make:*)\", \"Bash(cat:*)\"]\n",
];

const COMMANDS: [&str; 6] =
    ["git log", "make all", "cat link/name", "rm -r link", "echo x > link/name", "cat *"];

fn policy(text: &str) -> Arc<Policy> {
    let text = PolicyText::from_toml(text).unwrap();
    Arc::new(Policy::of_layers(&[(Source::User, text)]).unwrap())
}

fn grant(number: u8, granted: Granted) -> Arc<Grant> {
    let at = Moment::from_ms(1);
    Arc::new(Grant {
        id: Id::new(at, &[number; 10]),
        owner: "o".into(),
        key: None,
        agent: None,
        profile: None,
        granted,
        reach: Reach::Always,
        expires_at: None,
        uses_left: None,
        made_by: "p".into(),
        made_at: at,
        ask: None,
    })
}

fn grants(chance: &mut Chance, cwd: &str) -> Vec<Arc<Grant>> {
    let input = json!({ "command": COMMANDS[chance.below(COMMANDS.len())] }).to_string();
    let reply = if chance.below(2) == 0 { Reply::Approve } else { Reply::Reject };
    let exact = Granted::Exact { tool: "Bash".into(), input, cwd: Some(cwd.to_owned()), reply };
    let all = [grant(1, Granted::Pattern("Bash(make:*)".into())), grant(2, exact)];
    all.into_iter().filter(|_| chance.below(2) == 0).collect()
}

/// Turns a link, or a file into one with two names, or makes and removes a name.
fn turn(chance: &mut Chance, root: &Path) {
    let link = root.join("link");
    match chance.below(3) {
        0 => {
            let _ = std::fs::remove_file(&link);
            symlink(chance.pick(&["a", "b", "/etc", "nowhere"]), &link).unwrap();
        }
        1 => {
            let other = root.join("other");
            if std::fs::remove_file(&other).is_err() {
                std::fs::hard_link(root.join("a/name"), &other).unwrap();
            }
        }
        _ => {
            let more = root.join(".env");
            if std::fs::remove_file(&more).is_err() {
                std::fs::write(&more, "x").unwrap();
            }
        }
    }
}

#[test]
fn a_verdict_that_is_given_again_is_the_one_that_would_be_given() {
    let directory = TempDir::new().unwrap();
    let root = directory.path();
    for name in ["a", "b"] {
        std::fs::create_dir(root.join(name)).unwrap();
        std::fs::write(root.join(name).join("name"), "x").unwrap();
    }
    symlink("a", root.join("link")).unwrap();
    let cwd = root.to_str().unwrap();
    let repeats = Repeats::default();
    let mut chance = Chance(7);
    let mut policies: Vec<Arc<Policy>> = POLICIES.map(policy).into();
    let mut good = Vec::new();
    let mut given_again = 0;
    for step in 0..4000 {
        match chance.below(90) {
            // Another policy in the place of the old one, perhaps at its very address.
            0 => {
                let place = chance.below(policies.len());
                policies.remove(place);
                policies.insert(place, policy(chance.pick(&POLICIES)));
            }
            1 => good = grants(&mut chance, cwd),
            2 => turn(&mut chance, root),
            _ => {}
        }
        let input = json!({ "command": chance.pick(&COMMANDS) });
        let call = CallText {
            tool: chance.pick(&["Bash", "Bash", "Bash", "bash"]).to_owned(),
            input: input.to_string(),
            cwd: Some(cwd.to_owned()).filter(|_| chance.below(24) > 0),
            home: Some("/home/ada".to_owned()).filter(|_| chance.below(24) > 0),
            shell: Some("zsh".to_owned()).filter(|_| chance.below(24) == 0),
            host: Some("claude-code".to_owned()).filter(|_| chance.below(24) == 0),
            session: Some(format!("s{}", chance.below(2))),
            call_id: Some(step.to_string()),
            ..CallText::default()
        };
        let question = Question {
            policy: &policies[chance.below(policies.len())],
            grants: &good,
            mode: Some(Mode::Explore).filter(|_| chance.below(24) == 0),
            call: &call,
            input: &input,
            root: Some(cwd).filter(|_| chance.below(12) > 0),
            is_live: chance.below(2) == 0,
        };
        let (verdict, known) = repeats.answer(&question);
        let fresh =
            if question.is_live { question.judge(&Live::new()) } else { question.judge(&Lexical) };
        assert_eq!(format!("{verdict:?}"), format!("{fresh:?}"), "step {step}: {call:?}");
        if let Some(known) = known {
            given_again += 1;
            let texts = Texts::new(&call, &input, &fresh, question.policy.audit_input);
            assert_eq!(known.texts.digest(&call), texts.digest(&call), "step {step}");
            assert_eq!(known.texts.said(), texts.said(), "step {step}");
        }
    }
    assert!(given_again > 1000, "{given_again}");
}

#[test]
fn what_is_kept_has_an_end() {
    let repeats = Repeats::default();
    let policy = policy("");
    let ask = |command: &str| {
        let input = json!({ "command": command });
        let call =
            CallText { tool: "Bash".into(), input: input.to_string(), ..CallText::default() };
        let question = Question {
            policy: &policy,
            grants: &[],
            mode: None,
            call: &call,
            input: &input,
            root: None,
            is_live: false,
        };
        repeats.answer(&question).1
    };
    assert!(ask("git status").is_none(), "most calls come once");
    let known = ask("git status").unwrap();
    assert!(known.bytes < 8 << 10, "{}", known.bytes);
    assert!(Arc::ptr_eq(&ask("git status").unwrap(), &known), "it is given again");
    for number in 0..6000 {
        for _ in 0..2 {
            ask(&format!("cat file-{number}"));
        }
        let shelves = repeats.shelves();
        assert!(shelves.young.len() <= MOST_CALLS && shelves.old.len() <= MOST_CALLS);
        assert!(shelves.bytes <= MOST_BYTES);
        let bytes: usize = shelves.young.values().map(|known| known.bytes).sum();
        assert_eq!(bytes, shelves.bytes);
    }
    let long = format!("cat {}", "x ".repeat(2000));
    assert!(ask(&long).is_none() && ask(&long).is_none(), "what is long is not kept");
    assert_eq!(Arc::strong_count(&policy), 1, "no policy is held");
}
