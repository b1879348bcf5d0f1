//! Verdicts: time of one with few and with many rules, growth, the longest text, loading and
//! memory of many rules, beside another policy engine. `cargo bench --bench judge`.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use cedar_policy::{Authorizer, Context, Entities, EntityUid, PolicySet, Request};
use portcullis_benches::allocation::{self, Counting};
use portcullis_benches::clock::{calls_per_batch, now, per_call, quantile};
use portcullis_benches::{corpus, table::Table};
use portcullis_engine::{Call, Lexical, Policy, PolicyText, Source, judge};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many rules a person has, and how many nobody should have.
const FEW: usize = 100;
const MANY: usize = 100_000;

/// Batches of each call in a quick run, and where the calls are many.
const FEW_ROUNDS: u32 = 5;

/// Commands of one act.
const ONE_ACT: [&str; 12] = [
    "git status",
    "git log --oneline -5",
    "git diff --stat",
    "npm run build",
    "npm test",
    "cargo test",
    "ls -la src",
    "cat package.json",
    "head -n 40 src/main.rs",
    "grep -rn needle src",
    "python3 -m pytest tests",
    "make test",
];

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if quick { FEW_ROUNDS } else { 25 };
    let commands = corpus::typical();
    let calls: Vec<Call> = commands.iter().map(|command| bash(command)).collect();
    let tables = [speed(&calls, rounds), everyday(), rules(), long(rounds), hostile(rounds)];
    let holds = tables.iter().all(Table::holds);
    println!("\n{}", if holds { "every judged figure holds" } else { "some figures FAIL" });
    std::process::exit(i32::from(!holds));
}

fn bash(command: &str) -> Call {
    let mut call = Call::new("Bash", json!({ "command": command }), "/home/dev/proj");
    call.home = Some("/home/dev".to_owned());
    call
}

/// The text of a policy with so many rules, most of them for programs that nobody calls.
fn text(count: usize) -> PolicyText {
    let rule = |at: usize| match at % 4 {
        0 => format!("Bash(tool{at} run:*)"),
        1 => format!("Bash(npm run task{at}:*)"),
        2 => format!("Edit(src/part{at}/**)"),
        _ => format!("Bash(git push origin topic{at})"),
    };
    let rules: Vec<String> = (0..count).map(rule).collect();
    let (deny, rest) = rules.split_at(count / 10);
    let (ask, allow) = rest.split_at(count / 10);
    let value = json!({ "rules": { "allow": allow, "ask": ask, "deny": deny } });
    PolicyText::from_json(&value).expect("the rules are understood")
}

fn policy(count: usize) -> Policy {
    Policy::of_layers(&[(Source::User, text(count))]).expect("the policy holds together")
}

/// The least nanoseconds of each call over all rounds.
fn least(calls: &[Call], rounds: u32, mut answer: impl FnMut(&Call)) -> Vec<f64> {
    let times: Vec<u32> = calls
        .iter()
        .map(|call| calls_per_batch(Duration::from_micros(50), || answer(call)))
        .collect();
    let mut least = vec![f64::INFINITY; calls.len()];
    for _ in 0..rounds {
        for ((call, times), least) in calls.iter().zip(&times).zip(&mut least) {
            *least = least.min(per_call(*times, || answer(call)));
        }
    }
    least
}

/// Typical commands under few and under many rules, whole trace included, beside a peer.
fn speed(calls: &[Call], rounds: u32) -> Table {
    let (few, many) = (policy(FEW), policy(MANY));
    let ours = least(calls, rounds, |call| {
        std::hint::black_box(judge(&few, call, &Lexical));
    });
    let with_many = least(calls, rounds, |call| {
        std::hint::black_box(judge(&many, call, &Lexical));
    });
    let median = |times: &[f64]| quantile(times, 0.5);
    let (ours_median, p99) = (median(&ours), quantile(&ours, 0.99));
    let mut table = Table::default();
    let shown = |time: f64| format!("{:.2} µs", time / 1e3);
    table.inform("median, 100 rules", shown(ours_median), "≤ 5 µs", ours_median <= 5e3);
    table.inform("p99, 100 rules", shown(p99), "≤ 25 µs", p99 <= 25e3);
    let one_act: Vec<Call> = ONE_ACT.iter().map(|command| bash(command)).collect();
    let of_one = least(&one_act, rounds, |call| {
        std::hint::black_box(judge(&few, call, &Lexical));
    });
    let of_one = median(&of_one);
    table.inform("median of one act", shown(of_one), "≤ 5 µs", of_one <= 5e3);
    let growth = median(&with_many) / ours_median;
    table.judge("100,000 rules over 100", format!("{growth:.2} ×"), "≤ 1.3 ×", growth <= 1.3);
    let acts = calls.iter().map(|call| judge(&few, call, &Lexical).acts.len());
    let lines: Vec<(usize, f64)> = acts.zip(ours).collect();
    cedar(rounds, of_one, &lines, &mut table);
    agentscope(calls, ours_median, &mut table);
    table.print(&format!(
        "verdicts: {} typical commands, the least of {rounds} batches",
        calls.len()
    ));
    table
}

/// What agents really send: lines of every length, most of them short.
fn everyday() -> Table {
    let few = policy(FEW);
    let calls: Vec<Call> = corpus::everyday().iter().map(|command| bash(command)).collect();
    let times = least(&calls, FEW_ROUNDS, |call| {
        std::hint::black_box(judge(&few, call, &Lexical));
    });
    let mut table = Table::default();
    let shown = |time: f64| format!("{:.2} µs", time / 1e3);
    let (median, p99) = (quantile(&times, 0.5), quantile(&times, 0.99));
    table.inform("median, 100 rules", shown(median), "≤ 5 µs", median <= 5e3);
    table.inform("p99, 100 rules", shown(p99), "≤ 25 µs", p99 <= 25e3);
    table.print(&format!(
        "verdicts: {} everyday lines, the least of {FEW_ROUNDS} batches",
        calls.len()
    ));
    table
}

/// Another policy engine, which answers one question about one program. The like of that is our
/// verdict on a command of one act; a line of several acts is as many questions.
fn cedar(rounds: u32, of_one: f64, lines: &[(usize, f64)], table: &mut Table) {
    let cedar = Cedar::new();
    let asked = least(&[bash("git log --oneline -5")], rounds, |_| {
        std::hint::black_box(cedar.answer());
    });
    let request = quantile(&asked, 0.5);
    table.note("cedar-policy, 100 policies, one request", format!("{:.2} µs", request / 1e3));
    let ratio = request / of_one;
    table.inform("one request over one act", format!("{ratio:.1} ×"), "≥ 20 ×", ratio >= 20.0);
    #[expect(clippy::cast_precision_loss, reason = "a line has a few acts")]
    let ratios: Vec<f64> = lines.iter().map(|(acts, ours)| request * *acts as f64 / ours).collect();
    let ratio = quantile(&ratios, 0.5);
    let shown = format!("{ratio:.1} ×");
    table.inform("as many requests over a line of acts", shown, "≥ 20 ×", ratio >= 20.0);
    let lines: Vec<f64> = lines.iter().map(|(_, ours)| *ours).collect();
    let ratio = request / quantile(&lines, 0.5);
    table.note("one request over a line of three acts", format!("{ratio:.1} ×"));
}

/// The engine of `AgentScope` on the same commands, in a Python that `PORTCULLIS_AGENTSCOPE` names.
fn agentscope(calls: &[Call], ours_median: f64, table: &mut Table) {
    let Some(python) = std::env::var_os("PORTCULLIS_AGENTSCOPE") else {
        return table
            .note("AgentScope", "not measured: PORTCULLIS_AGENTSCOPE is not set".to_owned());
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/data/agentscope_peer.py");
    let lines: Vec<String> = calls.iter().map(|call| call.input["command"].to_string()).collect();
    let input = lines.join("\n");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python starts");
    let mut stdin = child.stdin.take().expect("its input is ours");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends").expect("the commands are taken");
    assert!(output.status.success(), "AgentScope's engine did not answer");
    let text = String::from_utf8_lossy(&output.stdout);
    let times: Vec<f64> =
        text.lines().filter_map(|line| line.parse::<f64>().ok()).map(|time| time * 1e3).collect();
    let median = quantile(&times, 0.5);
    table.note("AgentScope, 100 rules", format!("{:.2} µs", median / 1e3));
    let ratio = median / ours_median;
    table.judge("AgentScope over ours", format!("{ratio:.1} ×"), "≥ 20 ×", ratio >= 20.0);
}

/// One question to another engine: may this agent run this program, by a hundred policies with
/// conditions on the words of the command.
struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
    request: Request,
}

impl Cedar {
    fn new() -> Cedar {
        let policies: Vec<String> = (0..FEW)
            .map(|at| {
                format!(
                    "permit(principal, action == Action::\"run\", resource) when {{ \
                     context.command like \"tool{at} run*\" || context.program == \"tool{at}\" }};\n"
                )
            })
            .collect();
        let uid = |text: &str| text.parse::<EntityUid>().expect("an entity");
        let context = json!({ "command": "git log --oneline -5", "program": "git" });
        let context = Context::from_json_value(context, None).expect("a context");
        let request = Request::new(
            uid("Agent::\"a\""),
            uid("Action::\"run\""),
            uid("Machine::\"m\""),
            context,
            None,
        );
        Cedar {
            authorizer: Authorizer::new(),
            policies: policies.concat().parse().expect("the policies are understood"),
            entities: Entities::empty(),
            request: request.expect("a request"),
        }
    }

    fn answer(&self) -> cedar_policy::Response {
        self.authorizer.is_authorized(&self.request, &self.policies, &self.entities)
    }
}

/// Loading many rules, and what they take.
fn rules() -> Table {
    let text = text(MANY);
    let (loaded, peak) = allocation::held(|| {
        let start = now();
        let policy = Policy::of_layers(&[(Source::User, text.clone())]);
        (policy, now().saturating_sub(start))
    });
    let (policy, took) = loaded;
    let mut table = Table::default();
    let seconds = took.as_secs_f64();
    table.inform("loading 100,000 rules", format!("{seconds:.2} s"), "≤ 0.5 s", seconds <= 0.5);
    #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
    let megabytes = peak as f64 / f64::from(1 << 20);
    table.judge("what they take", format!("{megabytes:.1} MiB"), "≤ 64 MiB", megabytes <= 64.0);
    table.print("many rules");
    drop(policy);
    table
}

/// The longest command that is read.
fn long(rounds: u32) -> Table {
    let few = policy(FEW);
    let piece = "git log --oneline -5 && grep -rn 'needle' src | head -3; ";
    let text = piece.repeat(64 * 1024 / piece.len());
    let call = bash(&text);
    let times = (0..rounds).map(|_| per_call(1, || judge(&few, &call, &Lexical).outcome));
    let milliseconds = times.fold(f64::INFINITY, f64::min) / 1e6;
    let mut table = Table::default();
    let shown = format!("{milliseconds:.1} ms");
    table.inform("a command of 64 KiB", shown, "≤ 20 ms", milliseconds <= 20.0);
    table.print("the longest text");
    table
}

/// Long texts whose commands, names and patterns could each be held against all others.
fn hostile(rounds: u32) -> Table {
    let repeated = |begin: &str, count: usize, piece: &dyn Fn(usize) -> String| {
        let pieces: String = (0..count).map(piece).collect();
        format!("{begin}{pieces}")
    };
    let braces = "{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}[mn]";
    let texts = [
        ("a pipeline of readers", repeated("ls", 2000, &|_| " | xargs cat".to_owned())),
        ("a pipeline of listings", repeated("ls", 4000, &|_| " | ls".to_owned())),
        ("calls of a function", repeated("f() { cat $1; }", 2000, &|at| format!("; f a{at}"))),
        ("texts for readers", repeated(":", 2000, &|at| format!("; cat $x <<< f{at}"))),
        ("names from commands", repeated(":", 1000, &|at| format!("; a{at}=$(ls f{at}); cat $x"))),
        (
            "loops over names",
            repeated(":", 1000, &|at| format!("; for i in a{at} b; do cat $i; done")),
        ),
        ("braces beside sets", repeated("cat", 1400, &|at| format!(" x{at}{braces}"))),
        ("stars in a home", repeated("cat", 2500, &|_| " ~/.s*h/i*d*_*r*s*a".to_owned())),
    ];
    let few = policy(FEW);
    let mut table = Table::default();
    for (name, text) in texts {
        let call = bash(&text);
        let rounds = rounds.min(3);
        let times = (0..rounds).map(|_| per_call(1, || judge(&few, &call, &Lexical).outcome));
        let milliseconds = times.fold(f64::INFINITY, f64::min) / 1e6;
        let shown = format!("{milliseconds:.0} ms for {} KiB", text.len() / 1024);
        table.inform(name, shown, "≤ 100 ms", milliseconds <= 100.0);
    }
    table.print("hostile texts");
    table
}
