//! Ancestors: whether a command was started by an agent.
//!
//! The key of the command line decides asks; an agent that runs as the same user must not reach
//! it by simply calling the binary. So the processes above this one are looked at: an agent host
//! among them (`data/agent_hosts.txt`), or a hook or proxy of ours, means that no person speaks.
//! It is a second fence: the first is that such a call is denied when it is judged.

use std::fs;

use anyhow::bail;

/// The names, one per line.
const HOSTS: &str = include_str!("../data/agent_hosts.txt");

/// Programs that are called like what they run.
const INTERPRETERS: &[&str] = &["node", "bun", "deno", "python", "python3", "ruby", "npx", "uvx"];

/// Commands of ours that run on behalf of an agent.
const OURS: &[&str] = &["hook", "mcp", "mcp-approver", "acp", "run"];

/// How far is looked up.
const MOST_ANCESTORS: usize = 256;

/// The longest name the kernel keeps.
const MOST_COMM: usize = 15;

/// Refuses where an agent is among the ancestors.
///
/// # Errors
/// One is; the message names it.
pub fn refuse_agents(what: &str) -> anyhow::Result<()> {
    match agent() {
        None => Ok(()),
        Some((process, name)) => bail!(
            "{what} is for people, and `{name}` (process {process}) started this; \
             run it in a terminal of your own, or answer in the dashboard"
        ),
    }
}

/// The nearest ancestor that is an agent host.
fn agent() -> Option<(u32, String)> {
    let mut process = parent(std::process::id())?;
    for _ in 0..MOST_ANCESTORS {
        if let Some(name) = agent_name(process) {
            return Some((process, name));
        }
        process = parent(process).filter(|parent| *parent != 0)?;
    }
    None
}

fn parent(process: u32) -> Option<u32> {
    parent_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The parent in a line of `stat`: behind the name, which may itself hold brackets.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn agent_name(process: u32) -> Option<String> {
    let read = |file: &str| fs::read(format!("/proc/{process}/{file}")).ok();
    let comm = read("comm").unwrap_or_default();
    let comm = String::from_utf8_lossy(&comm).trim_end().to_owned();
    let words = read("cmdline").unwrap_or_default();
    let words: Vec<String> =
        words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect();
    named(&comm, &words)
}

/// The name by which a process is known as an agent's.
fn named(comm: &str, words: &[String]) -> Option<String> {
    let first = words.first().map_or("", |word| base(word));
    if let Some(host) = [comm, first].into_iter().find(|name| is_host(name)) {
        return Some(host.to_owned());
    }
    if [comm, first].contains(&"portcullis") {
        let ours = words.get(1).filter(|word| OURS.contains(&word.as_str()));
        return ours.map(|word| format!("portcullis {word}"));
    }
    let interpreter = |name: &str| {
        let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
        INTERPRETERS.contains(&name) || INTERPRETERS.contains(&bare)
    };
    if !interpreter(comm) && !interpreter(first) {
        return None;
    }
    // The first few words hold the script, or the name of what is run; behind it stand its own
    // arguments, which may be called anything.
    let mut is_name_next = true;
    words.iter().skip(1).take(3).find_map(|word| {
        let may_be_name = is_name_next;
        is_name_next = match word.as_str() {
            "-m" => true,
            option if option.starts_with('-') => is_name_next,
            _ => false,
        };
        (may_be_name || word.contains('/')).then(|| script_host(word)).flatten()
    })
}

/// The host that a script belongs to: by its name, or by the package it lies in.
fn script_host(script: &str) -> Option<String> {
    let name = base(script);
    let stem = name.split('.').next().unwrap_or(name);
    if is_host(stem) {
        return Some(stem.to_owned());
    }
    let parts: Vec<&str> = script.split('/').collect();
    let behind = parts.iter().position(|part| ["node_modules", "site-packages"].contains(part))?;
    parts.iter().skip(behind + 1).find(|part| is_host(part)).map(ToString::to_string)
}

fn is_host(name: &str) -> bool {
    let hosts = HOSTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let name = name.to_ascii_lowercase();
    hosts
        .into_iter()
        .any(|host| host == name || (name.len() == MOST_COMM && host.starts_with(&name)))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_name_or_by_script() {
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], Option<&str>)] = &[
            ("claude",     &["claude"],                                       Some("claude")),
            ("codex",      &["/usr/bin/codex", "exec"],                       Some("codex")),
            ("node",       &["node", "/usr/bin/gemini"],                      Some("gemini")),
            ("MainThread", &["node", "/l/node_modules/@anthropic-ai/claude-code/cli.js"], Some("claude-code")),
            ("python3.12", &["python3.12", "-m", "aider"],                    Some("aider")),
            ("python3",    &["python3", "-I", "-m", "aider"],                 Some("aider")),
            ("node",       &["node", "-r", "./x.js", "/usr/bin/gemini"],      Some("gemini")),
            ("python3",    &["python3", "set_up.py", "claude"],               None),
            ("node",       &["node", "deploy.js", "--for", "codex"],          None),
            ("portcullis", &["portcullis", "hook", "agentbot"],               Some("portcullis hook")),
            ("portcullis", &["portcullis", "serve"],                          None),
            ("vim",        &["vim", "claude"],                                None),
            ("node",       &["node", "/home/claude/server.js"],               None),
            ("bash",       &["-bash"],                                        None),
        ];
        for (comm, words, want) in cases {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(named(comm, &words).as_deref(), *want, "{comm} {words:?}");
        }
    }

    #[test]
    fn a_name_with_brackets_does_not_hide_the_parent() {
        assert_eq!(parent_in("7 (a) R 1) S 42 7 7 0"), Some(42));
        assert_eq!(parent_in("nonsense"), None);
    }
}
