//! Codex trusts a hook by its hash: what it has not been told to trust it skips in silence.
//!
//! Its own server is asked what it sees, and the hashes of our entries alone are written down, as
//! a person would do in its dialog; then it is asked again.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::files;

/// How long its server may take.
const LIMIT: Duration = Duration::from_secs(30);

/// One hook as Codex sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands: file, event and positions.
    pub key: String,
    /// Its hash.
    pub hash: String,
    /// The command.
    pub command: String,
    /// Whether it is trusted and switched on.
    pub is_trusted: bool,
}

/// What Codex sees in a directory.
pub fn hooks(program: &str, cwd: &Path) -> anyhow::Result<Vec<Seen>> {
    let mut child = Command::new(program)
        .arg("app-server")
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start `{program} app-server`"))?;
    let seen = talk(&mut child, cwd);
    let _ = child.kill();
    let _ = child.wait();
    seen
}

fn talk(child: &mut Child, cwd: &Path) -> anyhow::Result<Vec<Seen>> {
    let mut stdin = child.stdin.take().context("no way to write to it")?;
    let stdout = child.stdout.take().context("no way to read from it")?;
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + LIMIT;
    let mut send = |message: Value| writeln!(stdin, "{message}");
    let version = env!("CARGO_PKG_VERSION");
    send(json!({ "id": 1, "method": "initialize",
                 "params": { "clientInfo": { "name": "portcullis", "version": version } } }))?;
    answer(&told, 1, end)?;
    send(json!({ "method": "initialized" }))?;
    send(json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [cwd] } }))?;
    let result = answer(&told, 2, end)?;
    let data = result.get("data").and_then(Value::as_array).context("it lists nothing")?;
    let hooks = data.iter().filter_map(|place| place.get("hooks")?.as_array()).flatten();
    Ok(hooks.filter_map(seen).collect())
}

/// The result of the request with this id.
fn answer(told: &Receiver<String>, id: u64, end: Instant) -> anyhow::Result<Value> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = told.recv_timeout(left).context("it does not answer")?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message.get("id").and_then(Value::as_u64) != Some(id) {
            continue;
        }
        match message.get("result") {
            Some(result) => return Ok(result.clone()),
            None => bail!("it refuses: {message}"),
        }
    }
}

fn seen(hook: &Value) -> Option<Seen> {
    let text = |name: &str| hook.get(name).and_then(Value::as_str).map(str::to_owned);
    let is_on = hook.get("enabled").and_then(Value::as_bool) == Some(true);
    Some(Seen {
        key: text("key")?,
        hash: text("currentHash")?,
        command: text("command")?,
        is_trusted: is_on && text("trustStatus")? == "trusted",
    })
}

/// The configuration with these hooks trusted.
pub fn trusted(config: &str, hooks: &[Seen]) -> String {
    let keys: Vec<&str> = hooks.iter().map(|hook| hook.key.as_str()).collect();
    let mut text = untrusted(config, &keys);
    for hook in hooks {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = writeln!(text, "\n{}\ntrusted_hash = {}", header(&hook.key), json!(hook.hash));
    }
    text
}

/// The configuration without the trust in hooks with these keys.
pub fn untrusted(config: &str, keys: &[&str]) -> String {
    let headers: Vec<String> = keys.iter().map(|key| header(key)).collect();
    let mut kept = String::new();
    let mut is_ours = false;
    for line in config.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            let was_ours = is_ours;
            is_ours = headers.iter().any(|header| header == trimmed);
            // The blank line before our table went in with it.
            if is_ours && !was_ours && kept.ends_with("\n\n") {
                kept.pop();
            }
        }
        if !is_ours {
            kept.push_str(line);
        }
    }
    kept
}

fn header(key: &str) -> String {
    format!("[hooks.state.{}]", json!(key))
}

/// Makes Codex trust the entries whose commands these are; gives their keys.
pub fn trust(home: &Path, cwd: &Path, commands: &[String]) -> anyhow::Result<Vec<String>> {
    let ours = |seen: Vec<Seen>| -> Vec<Seen> {
        seen.into_iter().filter(|hook| commands.contains(&hook.command)).collect()
    };
    let seen = ours(hooks("codex", cwd)?);
    if seen.len() < commands.len() {
        bail!("codex sees {} of {} entries", seen.len(), commands.len());
    }
    if seen.iter().any(|hook| !hook.is_trusted) {
        let path = home.join("config.toml");
        let before = files::read(&path)?.unwrap_or_default();
        files::write(&path, &trusted(&before, &seen), false)?;
        if ours(hooks("codex", cwd)?).iter().any(|hook| !hook.is_trusted) {
            bail!("codex still does not trust them");
        }
    }
    Ok(seen.into_iter().map(|hook| hook.key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_goes_in_and_out_and_the_rest_stays() {
        let config =
            "# mine\nmodel = \"x\" # why\n\n[hooks.state.\"other\"]\ntrusted_hash = \"sha256:1\"\n";
        let hook = Seen {
            key: "/h/hooks.json:pre_tool_use:0:0".to_owned(),
            hash: "sha256:2".to_owned(),
            command: String::new(),
            is_trusted: false,
        };
        let with = trusted(config, std::slice::from_ref(&hook));
        assert!(with.contains(
            "[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:2\"\n"
        ));
        assert_eq!(trusted(&with, std::slice::from_ref(&hook)), with, "twice is once");
        assert_eq!(untrusted(&with, &[&hook.key]), config);
    }
}
