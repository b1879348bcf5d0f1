//! A host's document: its bytes from standard input, and the call that they say.

use std::io::{ErrorKind, Read};
use std::time::Instant;

use crate::call::{Call, Failure, Fields, Given, Part};
use crate::hosts::{HOSTS, Host};
use crate::options::Options;
use crate::watched::Watch;
use crate::{Ready, Started, Variables};

/// The longest document that is read.
const MOST_BYTES: u64 = 8 << 20;

/// How much of it is read at once: most are shorter.
const CHUNK: usize = 2 << 10;

/// So many copies of a long document are made at most before it is answered.
const COPIES: usize = 10;

/// The bytes of standard input.
pub fn bytes(stdin: Box<dyn Read + Send>, ready: Ready, watch: &Watch) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut stdin = stdin.take(MOST_BYTES + 1);
    let mut chunk = [0; CHUNK];
    loop {
        let moment = watch.limit(watch.end).saturating_duration_since(Instant::now());
        if watch.is_alone() && !ready(moment) {
            watch.begin()?;
        }
        let count = match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Err(Failure::input("standard input cannot be read")),
        };
        let read = chunk.get(..count).unwrap_or_default();
        // Asked for politely: a machine without memory gives an answer too.
        bytes.try_reserve(count).map_err(|_| Failure::new("HOOK_INTERNAL", "no memory is left"))?;
        bytes.extend_from_slice(read);
        watch.begin_if_long(bytes.len())?;
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::new("HOOK_TOO_LARGE", "the call is larger than 8 MiB"));
    }
    if !watch.is_alone() && !has_room(bytes.len().saturating_mul(COPIES)) {
        return Err(Failure::new("HOOK_INTERNAL", "no memory is left"));
    }
    Ok(bytes)
}

/// Whether so much memory can be had. Whoever asks before needs not give up in the middle.
fn has_room(bytes: usize) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let is_there = room.try_reserve_exact(bytes).is_ok();
    drop(std::hint::black_box(room));
    is_there
}

/// Reads a document of a host.
///
/// # Errors
/// It is not understood, or is another host's.
pub fn read(
    host: &Host,
    options: &Options,
    bytes: &[u8],
    variable: &Variables,
    directory: Option<&str>,
) -> Result<Call, Failure> {
    let fields = Fields::read(bytes)?;
    let text = str::from_utf8(bytes).unwrap_or_default();
    let given = Given { fields: &fields, options, variable: &variable, directory, text };
    host.call(&given)
}

/// Whether a document, whoever's it is, is about a call that has not run.
pub fn is_gate(started: &Started, bytes: &[u8]) -> bool {
    let (variable, directory) = (&started.variable, started.directory.as_deref());
    let fields = Fields::read(bytes).ok();
    let name = fields.and_then(|fields| fields.text("hook_event_name").ok().flatten());
    let is_named = |host: &Host| {
        let event = host.events.iter().find(|(known, _)| name.as_deref() == Some(known));
        event.is_some_and(|(_, part)| *part == Part::Gate)
    };
    let is_read = |host: &Host| {
        let call = read(host, &Options::default(), bytes, variable, directory);
        call.is_ok_and(|call| call.part == Part::Gate)
    };
    HOSTS.iter().any(|host| is_named(host) || is_read(host))
}
