//! A batch: calls in, verdicts out, one line each, in order, for as long as there are any.
//!
//! Memory does not grow with the number of lines. What is answered is written when the input
//! pauses, or when there is much of it.

use std::io::Write;
use std::process::ExitCode;

use portcullis_engine::{Lexical, Policy, PolicyText, Source, judge};
use portcullis_layers::{Live, Places};
use portcullis_wire::batch::{self, Refused};
use portcullis_wire::compact;
use portcullis_wire::dialects::agentscope;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::json;
use portcullis_wire::verdict::Verdict;

use super::lines::{Line, Lines, MOST_BYTES};
use crate::commands::TROUBLE;
use crate::local::Ground;
use crate::render;

/// So much is written at once.
const PIECE: usize = 256 << 10;

/// So much text of policies is kept for the lines to come, and so many of them.
const KEPT_BYTES: usize = 16 << 20;
const KEPT_POLICIES: usize = 32;

/// Answers one line at the end of what was answered so far.
type Answer<'a> = for<'l> fn(&mut Batch<'a>, &'l [u8], &mut Vec<u8>) -> Result<(), Refused<'l>>;

/// What all lines share.
pub struct Batch<'a> {
    ground: &'a Ground,
    places: Places,
    cwd: String,
    home: Option<String>,
    /// Policies that lines brought with them, by their text.
    brought: Kept,
    /// Policies of files, by the directory they are for.
    found: Kept,
}

impl<'a> Batch<'a> {
    /// A batch of calls, most of them in one directory.
    pub fn new(ground: &'a Ground) -> anyhow::Result<Batch<'a>> {
        let places = Places::of_this_user();
        let home = places.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        let cwd = ground.directory()?;
        Ok(Batch { ground, places, cwd, home, brought: Kept::default(), found: Kept::default() })
    }

    /// Answers every line; one that is not understood is told so, and the run goes on.
    pub fn run(mut self, out: &mut impl Write, answer: Answer<'a>) -> anyhow::Result<ExitCode> {
        let mut lines = Lines::new(std::io::stdin().lock());
        let mut answers = Vec::with_capacity(2 * PIECE);
        let mut number = 0;
        let mut is_clean = true;
        loop {
            if answers.len() >= PIECE || (!answers.is_empty() && !lines.has_line()) {
                out.write_all(&answers)?;
                out.flush()?;
                answers.clear();
            }
            let Some(line) = lines.next_line()? else { break };
            number += 1;
            let done = match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => answer(&mut self, line, &mut answers),
                Line::TooLong => Err(too_long()),
            };
            if let Err(mut refused) = done {
                is_clean = false;
                refused.error.line = Some(number);
                compact::write(&mut answers, &refused)?;
            }
            answers.push(b'\n');
        }
        out.write_all(&answers)?;
        out.flush()?;
        Ok(if is_clean { ExitCode::SUCCESS } else { TROUBLE.into() })
    }

    /// Answers one line in our own words.
    pub fn native<'l>(&mut self, line: &'l [u8], answers: &mut Vec<u8>) -> Result<(), Refused<'l>> {
        let line = batch::line(line)?;
        let (id, policy) = (line.id, line.policy);
        let call = line.call(&self.cwd, self.home.as_deref());
        let refused = |error| Refused { id, error };
        let verdict = if let Some(policy) = policy {
            let policy = self.brought("policy", policy.get(), json::value).map_err(refused)?;
            judge(policy, &call, &Lexical)
        } else {
            let policy = self.found(&call.cwd).map_err(refused)?;
            judge(policy, &call, &Live::new())
        };
        written(answers, &Verdict { id, verdict: &verdict }).map_err(refused)
    }

    /// Answers one body of `AgentScope`'s `check`.
    pub fn agentscope<'l>(
        &mut self,
        line: &'l [u8],
        answers: &mut Vec<u8>,
    ) -> Result<(), Refused<'l>> {
        let refused = |error| Refused { id: None, error };
        let check = agentscope::check(line).map_err(refused)?;
        let call = check.call(&self.cwd, self.home.as_deref());
        let text = check.policy.to_string();
        let policy = self.brought("context", &text, |_| Ok(check.policy)).map_err(refused)?;
        let verdict = judge(policy, &call, &Lexical);
        let decision = agentscope::Decision { verdict: &verdict, input: &call.input };
        written(answers, &decision).map_err(refused)
    }

    /// The policy that a line brought with it, under this name.
    fn brought(
        &mut self,
        name: &str,
        text: &str,
        value: impl FnOnce(&str) -> Result<serde_json::Value, String>,
    ) -> Result<&Policy, Error> {
        let ground = self.ground;
        self.brought.get(text, || {
            let value = value(text).map_err(|message| Error::invalid(inside(name, &message)))?;
            let policy = PolicyText::from_json(&value)
                .and_then(|text| Policy::of_layers(&[(Source::User, text)]))
                .map_err(|error| Error::invalid(inside(name, &error.to_string())))?;
            Ok(ground.in_mode(policy))
        })
    }

    /// The policy of the files for a directory.
    fn found(&mut self, directory: &str) -> Result<&Policy, Error> {
        let (ground, places) = (self.ground, &self.places);
        self.found.get(directory, || {
            let layers = ground.layers(places, directory).map_err(|error| unavailable(&error))?;
            let policy = layers.policy().map_err(|error| unavailable(&error.into()))?;
            Ok(ground.in_mode(policy))
        })
    }
}

/// Policies of earlier lines, the one used last in front.
#[derive(Default)]
struct Kept {
    policies: Vec<(String, Policy)>,
}

impl Kept {
    /// The policy of this name, made where it is not kept.
    fn get(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Result<Policy, Error>,
    ) -> Result<&Policy, Error> {
        match self.policies.iter().position(|(known, _)| known == name) {
            Some(0) => {}
            Some(index) => {
                if let Some(before) = self.policies.get_mut(..=index) {
                    before.rotate_right(1);
                }
            }
            None => {
                let policy = make()?;
                self.policies.insert(0, (name.to_owned(), policy));
                self.forget();
            }
        }
        match self.policies.first() {
            Some((_, policy)) => Ok(policy),
            None => Err(Error::invalid("no policy is kept")),
        }
    }

    /// Lets the oldest go until little enough is kept; the newest always stays.
    fn forget(&mut self) {
        let mut bytes = 0;
        let fits = |(index, (name, _)): &(usize, &(String, Policy))| {
            bytes += name.len();
            *index == 0 || (*index < KEPT_POLICIES && bytes <= KEPT_BYTES)
        };
        let count = self.policies.iter().enumerate().take_while(fits).count();
        self.policies.truncate(count);
    }
}

fn written(answers: &mut Vec<u8>, answer: &impl serde::Serialize) -> Result<(), Error> {
    compact::write(answers, answer).map_err(|error| Error::invalid(error.to_string()))
}

/// What is wrong with a part of a line.
fn inside(name: &str, message: &str) -> String {
    format!("in `{name}`: {message}")
}

fn unavailable(error: &anyhow::Error) -> Error {
    let message = match error.downcast_ref() {
        Some(error) => render::fault::sentence(error),
        None => format!("{error:#}"),
    };
    Error::new(Code::Unavailable, message)
}

fn too_long<'l>() -> Refused<'l> {
    let message = format!("the line is longer than {} MiB", MOST_BYTES >> 20);
    Refused { id: None, error: Error::new(Code::TooLarge, message) }
}
