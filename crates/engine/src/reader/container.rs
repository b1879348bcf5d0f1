//! Containers and clusters: what a mount or a namespace gives away, and what runs inside.

use super::{Reading, system};
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};
use crate::peel::{Inner, Where};

/// `docker run` and its kind; `docker top` hands its words to `ps`.
pub(super) fn docker_run(reading: &mut Reading<'_, '_>) {
    let is_top = reading.subs().last() == Some("top");
    if is_top && reading.act.base_name() != Some("podman") {
        let words = reading.operands();
        if system::shows_environments(words.get(1..).unwrap_or_default()) {
            reading.act.note("secret_read", reading.act.span);
        }
    }
    let is_run = reading.subs().any(|sub| matches!(sub, "run" | "create" | "exec"));
    if !is_run {
        return;
    }
    let mut escapes = false;
    let args = reading.args().to_vec();
    for (at, arg) in args.iter().enumerate() {
        let text = arg.prefix();
        let (name, attached) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let value = attached.or_else(|| args.get(at + 1).map(Arg::prefix)).unwrap_or_default();
        escapes |= match name {
            "-v" | "--volume" | "--mount" => {
                mount(reading, value);
                gives_away(value)
            }
            "--pid" | "--userns" | "--ipc" | "--uts" | "--network" | "--net" => value == "host",
            "--privileged" | "--cap-add" | "--device" | "--security-opt" => true,
            // `-itv` ends in the option that takes the mount.
            _ if !name.starts_with("--") && name.len() > 2 && name.ends_with('v') => {
                gives_away(value)
            }
            _ => name
                .strip_prefix("-v")
                .is_some_and(|rest| !name.starts_with("--") && gives_away(rest)),
        };
        if escapes {
            break;
        }
    }
    if escapes {
        reading.effect(Effect::Escalate);
        reading.act.note("container_escape", reading.act.span);
    }
}

/// Whether what is described may be the token of an account, of all secrets the one that is then
/// shown in full.
fn describes_tokens(operands: &[Arg]) -> bool {
    let known: Vec<Option<String>> =
        operands.iter().map(|arg| arg.as_known().map(str::to_lowercase)).collect();
    let is_secret = |kinds: &str| {
        let mut kinds = kinds.split(',').filter_map(|kind| kind.split('.').next());
        kinds.any(|kind| matches!(kind, "secret" | "secrets"))
    };
    let is_token = |name: &Option<String>| name.as_ref().is_none_or(|name| name.contains("token"));
    let is_named = |word: &String| {
        let named = word.split_once('/');
        named.is_some_and(|(kind, name)| is_secret(kind) && name.contains("token"))
    };
    match known.split_first() {
        Some((Some(first), names)) if is_secret(first) && !first.contains('/') => {
            names.is_empty() || names.iter().any(is_token)
        }
        _ => known.iter().flatten().any(is_named),
    }
}

/// What a mount hands over can be read inside.
fn mount(reading: &mut Reading<'_, '_>, mount: &str) {
    let source = source(mount);
    if source.starts_with(['/', '.', '~']) {
        let target = Target::Path(source.to_owned());
        let on = EffectOn::new(Effect::Read, target);
        reading.act.effects.push(EffectOn { is_deep: true, ..on });
    }
}

/// The part of a mount that lies on this machine.
fn source(mount: &str) -> &str {
    mount
        .split(',')
        .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")))
        .unwrap_or_else(|| mount.split(':').next().unwrap_or_default())
}

/// Whether a mount hands over the root, a home or the daemon's own socket.
fn gives_away(mount: &str) -> bool {
    let source = source(mount);
    if source == "/" {
        return true;
    }
    let source = source.trim_end_matches('/');
    let parts = source.split('/').filter(|part| !part.is_empty()).count();
    source.is_empty() && mount.starts_with('/')
        || source == "~"
        || source.ends_with("docker.sock")
        || source.ends_with("podman.sock")
        || source.starts_with('/') && parts <= 1
        || source.starts_with("/home/") && parts <= 2
        || ["/etc/", "/usr/", "/var/run", "/run", "/proc", "/sys", "/dev", "/boot"]
            .iter()
            .any(|tree| source.starts_with(tree))
}

/// `kubectl exec`, `run`, `debug`: the command stands behind `--`.
pub(super) fn kubectl_exec(reading: &mut Reading<'_, '_>) {
    if reading.subs().last() == Some("describe") && describes_tokens(&reading.operands()) {
        reading.act.note("secret_read", reading.act.span);
    }
    let is_run = reading.subs().any(|sub| matches!(sub, "run" | "debug"));
    if !is_run {
        return;
    }
    let args = reading.args().to_vec();
    if let Some(at) = args.iter().position(|arg| arg.as_known() == Some("--")) {
        let command = args.get(at + 1..).unwrap_or_default().to_vec();
        reading.inner.push(Inner::Argv(command, Vec::new(), Where::Unknown));
    }
}
