//! `cargo xtask`: the work around the code, one module per command.
//!
//! To add a command, add its module and a variant to [`Command`].

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod chance;
mod checkout;
mod clients;
mod converse;
mod coverage;
mod differential;
mod fuzz;
mod hosts;
mod kill;
mod laws;
mod meaning;
mod mutants;
mod nodes;
mod oracle;
mod packages;
mod sbom;
mod schemathesis;
mod simulate;
mod soak;
mod test;
mod threats;
mod tidy;
mod web;

/// The work around the code.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs everything a change must pass.
    Test(test::Arguments),
    /// Checks the rules of the house that a machine can check.
    Tidy(tidy::Arguments),
    /// Checks that every promise of the threat model has a test that lives.
    Threats(threats::Arguments),
    /// Writes what the product is made of as a `CycloneDX` document.
    Sbom(sbom::Arguments),
    /// Compares what the reader accepts with what the shells accept.
    Differential(differential::Arguments),
    /// Compares what ran in a real bash with what the tree named.
    Meaning(meaning::Arguments),
    /// Tries every law on many cases.
    Laws(laws::Arguments),
    /// Runs commands that are judged read-only and watches what they do.
    Oracle(oracle::Arguments),
    /// Says which lines and regions of the pure crates their own tests reach.
    Coverage(coverage::Arguments),
    /// Changes the code in one place at a time and looks whether a test notices.
    Mutants(mutants::Arguments),
    /// Kills a daemon at work, again and again, and looks what it kept.
    Kill(kill::Arguments),
    /// Keeps one daemon under mixed load for hours, and looks whether it holds more and more.
    Soak(soak::Arguments),
    /// Lets three nodes on one PostgreSQL fail in every way, and looks what they kept.
    Nodes(nodes::Arguments),
    /// Lives through many simulated worlds of nodes, agents and faults.
    Simulate(simulate::Arguments),
    /// Plays the real clients of other systems against the daemon.
    Clients(clients::Arguments),
    /// Installs real agent hosts and looks what runs behind our hook.
    Hosts(hosts::Arguments),
    /// Makes requests from the description of the API and looks for failures of the server.
    Schemathesis(schemathesis::Arguments),
    /// Checks and builds the dashboard, and plays it in a real browser.
    Web(web::Arguments),
    /// Plays a conversation against a running daemon.
    Converse(converse::Arguments),
    /// Runs the fuzz targets.
    Fuzz(fuzz::Arguments),
    /// Runs the benchmarks.
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let done = match Xtask::parse().command {
        Command::Test(arguments) => test::run(&arguments),
        Command::Tidy(arguments) => tidy::run(&arguments),
        Command::Threats(arguments) => threats::run(&arguments),
        Command::Sbom(arguments) => sbom::run(&arguments),
        Command::Differential(arguments) => differential::run(&arguments),
        Command::Meaning(arguments) => meaning::run(arguments),
        Command::Laws(arguments) => laws::run(&arguments),
        Command::Oracle(arguments) => oracle::run(&arguments),
        Command::Coverage(arguments) => coverage::run(&arguments),
        Command::Mutants(arguments) => mutants::run(&arguments),
        Command::Kill(arguments) => kill::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Nodes(arguments) => nodes::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Clients(arguments) => clients::run(&arguments),
        Command::Hosts(arguments) => hosts::run(&arguments),
        Command::Schemathesis(arguments) => schemathesis::run(&arguments),
        Command::Web(arguments) => web::run(&arguments),
        Command::Converse(arguments) => converse::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
