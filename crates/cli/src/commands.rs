//! The commands, all of them: one variant here, one file each under `commands/`.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use crate::palette::Palette;

mod answer;
mod asks;
mod audit;
mod call;
mod check;
mod demo;
mod devices;
mod doctor;
mod explain;
mod grants;
mod install;
mod keys;
mod parse;
mod pause;
mod policy;
mod proxy;
mod receipt;
mod serve;
mod store;
mod trust;
mod watch;

/// The exit code of what was denied, rejected or refused, and of a check that failed.
pub const REFUSED: u8 = 1;

/// The exit code of a call that was wrong or could not be carried out, as clap's own is.
pub const TROUBLE: u8 = 2;

/// The exit code of what still waits for a person.
pub const PENDING: u8 = 3;

/// What the binary can do.
#[derive(Subcommand)]
pub enum Command {
    /// Shows how a shell text is read.
    Parse(parse::Parse),
    /// Judges a tool call by the policy: 0 allow, 1 deny, 3 ask.
    Check(check::Check),
    /// Shows what a call would do, and why the verdict is what it is.
    Explain(explain::Explain),
    /// Writes, shows, checks and tests policy files.
    Policy(policy::Policy),
    /// Runs the daemon.
    Serve(serve::Serve),
    /// Plays a small agent, to see the gate work.
    Demo(demo::Demo),
    /// Submits one call and waits: 0 allow, 1 deny, 3 still pending.
    Call(call::Call),
    /// Shows what waits for a person.
    Asks(asks::Asks),
    /// Shows the inbox in a terminal, live, and takes the answers.
    Watch(watch::Watch),
    /// Approves an ask.
    Approve(answer::Approve),
    /// Rejects an ask.
    Reject(answer::Reject),
    /// Lists and revokes what wide approvals left behind.
    Grants(grants::Grants),
    /// Allows for a while what would be asked about.
    Pause(pause::Pause),
    /// Makes, lists and revokes keys.
    Keys(keys::Keys),
    /// Pairs, lists and revokes devices that act as an approver.
    Devices(devices::Devices),
    /// Checks receipts.
    Receipt(receipt::Receipt),
    /// Shows, exports and checks the record of everything.
    Audit(audit::Audit),
    /// Checks the store, or moves everything into another.
    Store(store::Store),
    /// Trusts the project's policy file as it is now.
    Trust(trust::Trust),
    /// Writes the hook into an agent host's configuration.
    Install(install::Install),
    /// Takes the hook out of it again.
    Uninstall(install::Uninstall),
    /// Proves that installed hooks hold: 0 they do, 1 one does not, 2 could not test.
    Doctor(doctor::Doctor),
    /// Stands in front of an MCP server and judges every call of a tool.
    Mcp(proxy::Mcp),
    /// Answers Claude's permission prompts in headless runs.
    McpApprover(proxy::McpApprover),
    /// Stands between an editor and an ACP agent and judges what it asks for.
    Acp(proxy::Acp),
}

impl Command {
    /// Runs the command; what it has to say goes to `out`.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        match self {
            Command::Parse(parse) => parse.run(out, palette),
            Command::Check(check) => check.run(out, palette),
            Command::Explain(explain) => explain.run(out, palette),
            Command::Policy(policy) => policy.run(out, palette),
            Command::Serve(serve) => serve.run(out),
            Command::Demo(demo) => demo.run(out, palette),
            Command::Call(call) => call.run(out, palette),
            Command::Asks(asks) => asks.run(out, palette),
            Command::Watch(watch) => watch.run(palette),
            Command::Approve(approve) => approve.run(out, palette),
            Command::Reject(reject) => reject.run(out, palette),
            Command::Grants(grants) => grants.run(out, palette),
            Command::Pause(pause) => pause.run(out, palette),
            Command::Keys(keys) => keys.run(out, palette),
            Command::Devices(devices) => devices.run(out, palette),
            Command::Receipt(receipt) => receipt.run(out, palette),
            Command::Audit(audit) => audit.run(out, palette),
            Command::Store(store) => store.run(out, palette),
            Command::Trust(trust) => trust.run(out, palette),
            Command::Install(install) => install.run(out, palette),
            Command::Uninstall(uninstall) => uninstall.run(out, palette),
            Command::Doctor(doctor) => doctor.run(out, palette),
            Command::Mcp(mcp) => mcp.run(),
            Command::McpApprover(approver) => approver.run(),
            Command::Acp(acp) => acp.run(),
        }
    }
}
