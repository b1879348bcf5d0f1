//! Portcullis' own listeners: nobody who is asked about may answer, make keys, change the policy
//! or pause.
//!
//! The engine does not know what a configuration says. On the ports that everybody has, whatever
//! is not known to be harmless counts; on any other port of this machine, the paths that are
//! Portcullis' own.

use super::Findings;
use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};
use crate::effect::{Effect, Target};
use crate::lists;

/// The main listener's port, and the one that a dialect's clients insist on. The other dialects'
/// ports are those of half the world's servers: there the paths tell.
const PORTS: [&str; 2] = ["4283", "7422"];

/// How the names of this machine begin or end.
const HERE: [&str; 11] = [
    "localhost",
    "127.",
    "[::1]",
    "::1",
    "[::]",
    "0.0.0.0",
    "[::ffff:127.",
    "[::ffff:7f",
    "2130706433",
    "0x7f",
    "ip6-localhost",
];

/// What an agent may send to: its own calls, and what they would come to.
const OPEN: [&str; 5] =
    ["/v1/calls", "/v1/check", "/v1/hooks", "/agentscope/calls", "/agentscope/check"];

/// What decides, makes keys, changes the policy or pauses, on whatever port.
const OWN: [&str; 7] = [
    "/v1/asks",
    "/v1/keys",
    "/v1/grants",
    "/v1/policy",
    "/v1/pause",
    "/v1/devices",
    "/agentscope/confirm",
];

pub(super) fn inspect(act: &Act, found: &mut Findings<'_>) {
    if is_talk(act, found) {
        found.about("self_protection", "talks to Portcullis' own listener");
    }
}

fn is_talk(act: &Act, found: &Findings<'_>) -> bool {
    if act.kind == ActKind::Redirection {
        return act.effects.iter().any(|on| {
            let (Target::Path(text) | Target::Host(text)) = &on.target else { return false };
            let socket = text.strip_prefix("/dev/tcp/");
            let parts = socket.and_then(|socket| socket.split_once('/'));
            parts.is_some_and(|(host, port)| is_here(host) && PORTS.contains(&port))
        });
    }
    let sends = found.effects.has_any(&[Effect::Change, Effect::Execute, Effect::Unknown]);
    let may_act = |address: &Address<'_>| {
        let is_under = |paths: &[&str]| paths.iter().any(|path| address.path.starts_with(path));
        if PORTS.contains(&address.port) { !is_under(&OPEN) } else { is_under(&OWN) }
    };
    if act
        .code
        .iter()
        .any(|text| addresses(text).any(|address| may_act(&address) && !is_look(&address)))
    {
        return true;
    }
    let Some(name) = found.base else { return false };
    let fetches = lists::FETCHERS.contains(&name);
    // Few programs talk at all.
    if fetches && !sends || !fetches && !lists::TALKERS.contains(&name) {
        return false;
    }
    let texts: Vec<String> = act.args.iter().skip(1).flat_map(texts).collect();
    let words = || texts.iter().map(String::as_str);
    if fetches {
        return words().any(|word| addresses(word).any(|address| may_act(&address)));
    }
    let names_port = words().any(|word| PORTS.contains(&word));
    words()
        .any(|word| addresses(word).any(|address| may_act(&address)) || names_port && is_here(word))
}

/// What an argument says, and what it may say with the likeliest host or port in the place that
/// is not known.
fn texts(arg: &Arg) -> Vec<String> {
    let mut texts = vec![match &arg.text {
        Text::Files { pattern, .. } => pattern.replace('\\', ""),
        Text::Known(_) | Text::Home(_) | Text::Begins(_) | Text::Any(_) => arg.written().to_owned(),
    }];
    if arg.as_known().is_none() {
        let (begin, end) = (arg.prefix(), arg.ending.as_str());
        texts.push(format!("localhost{end}"));
        if begin.ends_with(':') {
            texts.extend(PORTS.first().map(|port| [begin, port, end].concat()));
        }
    }
    texts
}

/// A place on this machine that a text names.
struct Address<'a> {
    port: &'a str,
    path: &'a str,
}

/// Every address of this machine in a text: `http://127.0.0.1:4283/x`, `TCP:localhost:4283`.
fn addresses(text: &str) -> impl Iterator<Item = Address<'_>> {
    text.match_indices(':').filter_map(|(at, _)| {
        let (before, behind) = (text.get(..at)?, text.get(at + 1..)?);
        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
        let port = behind.get(..end).filter(|port| !port.is_empty())?;
        let is_sign = |letter: char| {
            letter.is_whitespace()
                || matches!(letter, '/' | '@' | '"' | '\'' | '=' | ',' | '(' | '`')
        };
        let host = before.rsplit(is_sign).next()?;
        let host = if host.contains('[') { host } else { host.rsplit(':').next()? };
        let path = behind.get(end..)?;
        let stop = |letter: char| {
            letter.is_whitespace() || matches!(letter, '"' | '\'' | '?' | '#' | '`' | ')')
        };
        let path = path.split(stop).next()?;
        is_here(host).then_some(Address { port, path })
    })
}

/// Whether an address is one that only tells how the daemon is.
fn is_look(address: &Address<'_>) -> bool {
    matches!(address.path, "/healthz" | "/readyz" | "/metrics")
}

fn is_here(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host == "0" || host.ends_with(".localhost") || HERE.iter().any(|here| host.starts_with(here))
}

#[cfg(test)]
mod tests {
    use super::addresses;

    #[test]
    fn addresses_of_this_machine_are_found() {
        #[rustfmt::skip]
        let cases = [
            ("http://127.0.0.1:4283/v1/keys?x", Some(("4283", "/v1/keys"))),
            ("http://LOCALHOST:4283",           Some(("4283", ""))),
            ("http://u:p@[::1]:4283/x",         Some(("4283", "/x"))),
            ("TCP:localhost:4283",              Some(("4283", ""))),
            ("fetch('http://127.1:7422/ws')",   Some(("7422", "/ws"))),
            ("http://example.org:4283/x",       None),
            ("http://my127.0.0.1.org:4283/x",   None),
        ];
        for (text, want) in cases {
            let found = addresses(text).next().map(|address| (address.port, address.path));
            assert_eq!(found, want, "`{text}`");
        }
    }
}
