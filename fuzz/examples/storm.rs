//! Inputs by the million: what the guided targets collected, their seeds, and the commands of the
//! engine's lists and tables, changed by chance.
//!
//! The fuzzer's own book-keeping takes most of a guided run, so this one is built without
//! coverage and keeps no books: it takes an input, changes it in a few places, tries it, and
//! goes on. What must hold is what holds for the target. Arguments: the target, how many, where
//! chance begins, the longest input, the dictionary, and the directories of inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use portcullis_fuzz::memory::Watched;
use portcullis_fuzz::{TARGETS, Target};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Nothing of this length may take longer, even on a busy machine.
const SLOWEST: Duration = Duration::from_secs(2);

/// What is asked for.
struct Order {
    target: Target,
    count: u64,
    seed: u64,
    longest: usize,
    words: Vec<Vec<u8>>,
    inputs: Vec<Vec<u8>>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(order) = order(&arguments) else {
        eprintln!(
            "usage: storm TARGET COUNT SEED LONGEST DICTIONARY DIRECTORY… (with inputs in them)"
        );
        return ExitCode::from(2);
    };
    let began = Instant::now();
    let mut chance = Chance(order.seed.wrapping_mul(2).wrapping_add(1));
    let mut slowest = Duration::ZERO;
    let (name, try_input) = order.target;
    for done in 0..order.count {
        let mut input = change(&order.inputs, &order.words, &mut chance);
        input.truncate(order.longest);
        let start = Instant::now();
        let broke = catch_unwind(AssertUnwindSafe(|| try_input(&input))).is_err();
        let took = start.elapsed();
        slowest = slowest.max(took);
        if broke || took > SLOWEST {
            println!(
                "{name}: input {done} took {took:?} and broke: {broke}: {}",
                input.escape_ascii()
            );
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{name}: {} inputs made of {} from seed {}, in {:.0?}; the slowest took {slowest:.1?}; \
         nothing broke",
        order.count,
        order.inputs.len(),
        order.seed,
        began.elapsed()
    );
    ExitCode::SUCCESS
}

/// What the arguments ask for, if they can be understood and there is something to begin with.
fn order(arguments: &[String]) -> Option<Order> {
    let [target, count, seed, longest, dictionary, directories @ ..] = arguments else {
        return None;
    };
    let mut inputs = Vec::new();
    for directory in directories {
        collect(Path::new(directory), &mut inputs);
    }
    let order = Order {
        target: TARGETS.into_iter().find(|(name, _)| name == target)?,
        count: count.parse().ok()?,
        seed: seed.parse().ok()?,
        longest: longest.parse().ok()?,
        words: words(&std::fs::read_to_string(dictionary).ok()?),
        inputs,
    };
    (!order.inputs.is_empty() && !order.words.is_empty()).then_some(order)
}

/// What a directory and those in it hold: every line of a list, every command of a table, every
/// body of a conversation, every other file.
fn collect(directory: &Path, inputs: &mut Vec<Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, inputs);
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => inputs.extend(text.lines().map(|line| seed(line.into()))),
            Some("toml") => inputs.extend(text.lines().filter_map(command).map(seed)),
            Some("jsonl") => inputs.extend(text.lines().flat_map(bodies)),
            _ => inputs.push(bytes),
        }
    }
}

/// What is sent in one step of a conversation.
fn bodies(line: &str) -> Vec<Vec<u8>> {
    let step: Value = serde_json::from_str(line).unwrap_or_default();
    let sent = ["body", "send"].into_iter().filter_map(|name| step.get(name));
    sent.map(|body| body.as_str().map_or_else(|| body.to_string(), str::to_owned).into()).collect()
}

/// The command of one line of a table, if it has one.
fn command(line: &str) -> Option<Vec<u8>> {
    let (_, rest) = line.split_once("command = \"")?;
    let (command, _) = rest.split_once("\",")?;
    Some(unescaped(command))
}

/// A command as an input: by bash, and the first policy.
fn seed(mut command: Vec<u8>) -> Vec<u8> {
    command.insert(0, b'0');
    command
}

/// The quoted words of a dictionary of libFuzzer.
fn words(text: &str) -> Vec<Vec<u8>> {
    let quoted = text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unescaped).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = word.bytes();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.clone().next()) {
            (b'\\', Some(b'x')) => {
                let digits: Vec<u8> = bytes.by_ref().skip(1).take(2).collect();
                let digits = String::from_utf8_lossy(&digits).into_owned();
                out.extend(u8::from_str_radix(&digits, 16));
            }
            (b'\\', Some(other)) => {
                bytes.next();
                out.push(other);
            }
            _ => out.push(byte),
        }
    }
    out
}

/// One of the inputs with one to six changes, half of them under a policy by chance.
fn change(inputs: &[Vec<u8>], words: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut input = inputs[chance.below(inputs.len())].clone();
    if let Some(first) = input.first_mut().filter(|_| chance.below(2) == 0) {
        *first = *first & 0b111 | chance.byte() & !0b111;
    }
    for _ in 0..=chance.below(6) {
        let at = chance.below(input.len() + 1);
        let to = at + chance.below((input.len() - at).min(12) + 1);
        match chance.below(8) {
            0 => insert(&mut input, at, &[chance.byte()]),
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = chance.byte();
                }
            }
            2 => drop(input.drain(at..to)),
            3 => {
                let piece = input[at..to].to_vec();
                let at = chance.below(input.len() + 1);
                insert(&mut input, at, &piece);
            }
            4 | 5 => insert(&mut input, at, &words[chance.below(words.len())]),
            6 => {
                let other = &inputs[chance.below(inputs.len())];
                input.truncate(at);
                input.extend(&other[chance.below(other.len() + 1)..]);
            }
            _ => {
                if let Some(first) = input.first_mut() {
                    *first = chance.byte();
                }
            }
        }
    }
    input
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// Numbers that look like chance and can be had again.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 33) as usize) % bound
    }

    fn byte(&mut self) -> u8 {
        (self.next() >> 56) as u8
    }
}
