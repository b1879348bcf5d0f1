//! `portcullis policy test`: whether a policy does what its author expects.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use portcullis_engine::call::Call;
use portcullis_engine::policy_text::TestText;
use portcullis_engine::{Lexical, Policy, Verdict, judge};
use portcullis_layers::Places;
use portcullis_wire::policy as wire;

use crate::local::Ground;
use crate::palette::{Ink, Palette};
use crate::render::fault::Fault;

/// Runs the `[[test]]` entries of the policy files: exit code 1 if one fails.
#[derive(Args)]
pub struct Test {
    /// Tests this file alone, as if it were the user's.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

impl Test {
    /// Judges every case; paths are taken as they are written, whatever is on the disk.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let ground = Ground { mode: None, policy: self.file, cwd: None };
        let places = Places::of_this_user();
        let directory = ground.directory()?;
        let layers = ground.layers(&places, &directory)?;
        let policy = layers.policy()?;
        let home = places.home.as_ref().and_then(|home| home.to_str());

        let (mut passed, mut failed) = (0_usize, 0_usize);
        let mut shapes = Vec::new();
        for layer in &layers.layers {
            for test in &layer.said.tests {
                let verdict = judged(&policy, test, &directory, home);
                let (wanted, got) = (test.outcome.name(), verdict.outcome.name());
                let is_passed = test.outcome == verdict.outcome;
                *(if is_passed { &mut passed } else { &mut failed }) += 1;
                let case = case(test);
                let reason = verdict.reasons.first().map(|reason| reason.message.clone());
                if self.json {
                    let path = layer.path.to_string_lossy();
                    shapes.push(wire::Tested { path, case, wanted, got, passed: is_passed });
                } else if !is_passed {
                    let because = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    let message = format!("{case} should {wanted}, and is {}{because}", done(got));
                    let title = ("failed", Ink::Refused);
                    let (path, text, span) = (&layer.path, &layer.text, test.span.clone());
                    Fault { title, message: &message, path, text, span, help: None }
                        .write(out, palette)?;
                }
            }
        }
        if self.json {
            serde_json::to_writer(&mut *out, &shapes)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{passed} passed, {failed} failed")?;
        }
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn judged(policy: &Policy, test: &TestText, directory: &str, home: Option<&str>) -> Verdict {
    let call = Call {
        tool: test.tool.clone(),
        input: test.input.clone(),
        cwd: test.cwd.clone().unwrap_or_else(|| directory.to_owned()),
        root: None,
        home: home.map(str::to_owned),
        shell: None,
        host: None,
    };
    match test.mode {
        Some(mode) => judge(&policy.clone().with_mode(mode), &call, &Lexical),
        None => judge(policy, &call, &Lexical),
    }
}

/// What a test is about, in one line.
fn case(test: &TestText) -> String {
    match test.input.get("command").and_then(|command| command.as_str()) {
        Some(command) => format!("`{command}`"),
        None => format!("`{}` with `{}`", test.tool, test.input),
    }
}

/// The outcome as it was.
fn done(outcome: &str) -> &'static str {
    match outcome {
        "allow" => "allowed",
        "ask" => "asked about",
        _ => "denied",
    }
}
