//! The gates of a tool as this wire names them: what is set first, then what people decided.

use std::sync::Arc;

use portcullis_approval::{Asker, Grant, Granted, Reach, Reply};
use portcullis_engine::pattern::json::canonical_text;
use portcullis_store::RunRecord;
use portcullis_wire::dialects::comma::frames::{Frame, Named};

use crate::authority::Authority;
use crate::authority::access::{Kind, key_of};
use crate::authority::runs::About;

/// What subscribers are told when the gates of a tool have changed.
pub(super) fn updated(authority: &Authority, run: &RunRecord, tool: &str) -> Frame {
    let about = About::of(run);
    let mut names = vec!["forbidden-globs", "read-path-policy", "write-path-policy"];
    if about.runs_commands(tool) {
        names.push("deny-commands");
    }
    let names = names.into_iter().map(str::to_owned).chain(decided(authority, run, &about, tool));
    Frame::PolicyUpdated {
        run_id: run.run.clone(),
        tool: tool.to_owned(),
        policies: names.map(|name| Named { name }).collect(),
    }
}

/// The names of what people decided for a tool of a run, in order of decision.
fn decided(authority: &Authority, run: &RunRecord, about: &About, tool: &str) -> Vec<String> {
    let mut kept: Vec<(String, Reply, Kind, String)> = Vec::new();
    for grant in authority.grants() {
        let Granted::Exact { tool: of_tool, input, reply, .. } = &grant.granted else { continue };
        if of_tool != tool || !serves(authority, &grant, run) {
            continue;
        }
        let Some((kind, resource, key)) = key_of(input) else { continue };
        // A newer decision on the same resource replaces the older.
        let key = canonical_text(&key);
        kept.retain(|(known, ..)| *known != key);
        kept.push((key, *reply, kind, resource));
    }
    let folder = about.cwd.as_deref().map(folder).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for (_, reply, kind, resource) in kept {
        let name = name(reply, kind, &resource, &folder);
        let mut unique = name.clone();
        let mut number = 2;
        while names.contains(&unique) {
            unique = format!("{name}-{number}");
            number += 1;
        }
        names.push(unique);
    }
    names
}

/// Whether a grant speaks about accesses of a run.
fn serves(authority: &Authority, grant: &Arc<Grant>, run: &RunRecord) -> bool {
    match &grant.reach {
        Reach::Run(name) => {
            let agent = grant.key.and_then(|key| authority.key(key));
            let is_attached = agent.is_none_or(|key| {
                let (agent, owner) = (key.name.clone(), key.owner().to_owned());
                let asker = Asker { key: key.id, agent, owner, label: None };
                authority.may_attach(&asker, run)
            });
            *name == run.run && is_attached
        }
        Reach::Session(session) => run.session.as_ref() == Some(session),
        Reach::Always => grant.owner == run.owner,
    }
}

/// The forms of a folder that a resource may lie below.
fn folder(cwd: &str) -> Vec<String> {
    let real = std::fs::canonicalize(cwd).ok();
    let real = real.and_then(|real| real.to_str().map(str::to_owned));
    real.into_iter().chain([cwd.to_owned()]).collect()
}

fn name(reply: Reply, kind: Kind, resource: &str, folder: &[String]) -> String {
    let reply = match reply {
        Reply::Approve => "allow",
        Reply::Reject => "deny",
    };
    let word = match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Command => "exec",
    };
    let below = |root: &String| {
        let rest = resource.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/')?;
        (kind != Kind::Command).then_some(rest)
    };
    let resource = folder.iter().find_map(below).unwrap_or(resource);
    let plain = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
    let slug: String = resource.chars().map(plain).collect();
    format!("session-{reply}-{word}-{slug}")
}

#[cfg(test)]
mod tests {
    use portcullis_approval::Reply;

    use super::name;
    use crate::authority::access::Kind;

    #[test]
    fn a_decision_is_named_by_its_resource() {
        let folder = ["/p".to_owned()];
        #[rustfmt::skip]
        let cases = [
            (Reply::Approve, Kind::Write,   "/p/generated/*.json", "session-allow-write-generated---json"),
            (Reply::Reject,  Kind::Read,    "/other/x.txt",        "session-deny-read--other-x-txt"),
            (Reply::Approve, Kind::Command, "npm publish",         "session-allow-exec-npm-publish"),
            (Reply::Approve, Kind::Command, "/p/run.sh",           "session-allow-exec--p-run-sh"),
            (Reply::Approve, Kind::Read,    "/private/ä",          "session-allow-read--private--"),
        ];
        for (reply, kind, resource, want) in cases {
            assert_eq!(name(reply, kind, resource, &folder), want);
        }
    }
}
