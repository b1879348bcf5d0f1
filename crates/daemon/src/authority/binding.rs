//! Bindings: what a call hangs on beside its text, and whether that is still the same.

use std::os::unix::fs::MetadataExt;

use portcullis_approval::ask::Bound;
use portcullis_approval::key::hex_sha256;
use portcullis_approval::{Ask, CallText};
use portcullis_engine::Verdict;
use portcullis_engine::effect::Effect;

use super::access;

/// Scripts larger than this are not bound to an ask.
const MOST_SCRIPT_BYTES: u64 = 16 << 20;

/// So many files of one call are bound to it.
const MOST_SCRIPTS: usize = 64;

/// Whether what an ask was bound to on this machine is still the same.
pub(super) fn still_bound(ask: &Ask) -> Result<(), &'static str> {
    if let (Some(known), Some(cwd)) = (ask.bound.cwd, &ask.call.cwd)
        && inode(cwd) != Some(known)
    {
        return Err("bound.cwd");
    }
    if ask.bound.cwd.is_some() && !access::leads_there(ask) {
        return Err("bound.resource");
    }
    let is_same = |(path, hash): &(String, String)| script_hash(path) == *hash;
    if ask.bound.scripts.iter().all(is_same) { Ok(()) } else { Err("bound.script") }
}

/// What a call hangs on beside its text: where it runs, and every file that an act which runs
/// something reads or is, by its name, so that a link which is turned counts as another file.
pub(super) fn bound(call: &CallText, verdict: &Verdict, policy: String) -> Bound {
    let mut scripts: Vec<(String, String)> = Vec::new();
    for judged in &verdict.acts {
        let act = &judged.act;
        if !act.effects.iter().any(|on| on.effect == Effect::Execute) {
            continue;
        }
        let read = judged.touched.iter().filter(|touched| {
            matches!(touched.effect, Effect::Read | Effect::Execute) && !touched.is_listing
        });
        let read = read.filter_map(|touched| Some(touched.place.as_ref()?.normalised.clone()));
        let program = act.program().filter(|program| program.contains('/'));
        let program = program.zip(act.directory.as_deref()).and_then(|(program, directory)| {
            portcullis_engine::place::absolute(program, directory, call.home.as_deref())
        });
        for path in read.chain(program) {
            if scripts.len() < MOST_SCRIPTS && !scripts.iter().any(|(known, _)| *known == path) {
                let hash = script_hash(&path);
                scripts.push((path, hash));
            }
        }
    }
    scripts.sort();
    Bound { cwd: call.cwd.as_deref().and_then(inode), scripts, policy, access: None }
}

fn inode(path: &str) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The hash of a file's content; empty for what is none, cannot be read or is too large.
fn script_hash(path: &str) -> String {
    let is_small = |file: std::fs::Metadata| file.is_file() && file.len() <= MOST_SCRIPT_BYTES;
    match std::fs::metadata(path).is_ok_and(is_small).then(|| std::fs::read(path)) {
        Some(Ok(bytes)) => hex_sha256(&bytes),
        Some(Err(_)) | None => String::new(),
    }
}
