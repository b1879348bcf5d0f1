//! How far an act reaches: disks, owners, files with two names, Portcullis' own process.

use super::{CHANGES, Findings, Scene, listener};
use crate::act::Act;
use crate::arg::Arg;
use crate::effect::Effect;
use crate::lists;
use crate::place::{self, Touched};
use crate::world::WorldKind;

pub(super) fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    let base = found.base;
    let changes = found.effects.has_any(&CHANGES);
    for touched in touched.iter().filter(|touched| touched.effect == Effect::Write) {
        let Some(place) = &touched.place else { continue };
        let path = place.resolved.as_deref().unwrap_or(&place.normalised);
        if lists::DISKS
            .iter()
            .any(|disk| path.starts_with(disk) || place.normalised.starts_with(disk))
        {
            found.about("disk", "overwrites a disk or file system");
        }
        if scene.world.is_shared(path) {
            // What cannot be told may be such a file too.
            let message = "writes where nobody can tell beforehand which file that is";
            found.add("hard_link", act.span, place.resolved.is_none().then_some(message));
        }
    }
    inspect_links(act, touched, scene, found);
    if matches!(base, Some("chown" | "chgrp"))
        && changes
        && !act.notes.iter().any(|note| note.guard == "open_permissions")
    {
        found.add("owner_change", act.span, None);
    }
    let names_us = |arg: &Arg| arg.written().contains("portcullis");
    let is_pattern = matches!(base, Some("pkill" | "killall"));
    let fits_us = |arg: &Arg| {
        const RUN: usize = 5;
        let text = arg.prefix();
        let is_sign = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
        let plain = text.split(is_sign).next().unwrap_or_default();
        // `p[o]rtcullis`, `.*cullis`
        let text = text.replace(['[', ']', '\\'], "");
        let mut runs = text.split(is_sign).filter(|run| run.len() >= RUN);
        !text.starts_with('-')
            && (plain.len() > 2 && "portcullis".contains(plain)
                || runs.any(|run| "portcullis".contains(run)))
    };
    if is_pattern && act.args.iter().skip(1).any(fits_us) {
        found.about("self_protection", "stops Portcullis");
    }
    let names_socket = |arg: &Arg| {
        const SOCKET: &str = "portcullis.sock";
        // Most words are shorter.
        let holds = |text: &str| text.len() >= SOCKET.len() && text.contains(SOCKET);
        holds(arg.written()) || holds(&arg.ending)
    };
    listener::inspect(act, found);
    if act.args.iter().skip(1).any(names_socket) {
        found.about("self_protection", "talks to Portcullis' own socket");
    }
    let is_package = |arg: &Arg| {
        const NAMES: [&str; 3] = ["portcullis", "portcullis-cli", "portcullis-hook"];
        let text = arg.written();
        if !matches!(text.bytes().next_back(), Some(b's' | b'i' | b'k')) {
            return false;
        }
        let before = NAMES.iter().find_map(|name| text.strip_suffix(name));
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let removes = || {
        base.is_some_and(|name| lists::INSTALLERS.contains(&name))
            && act.args.iter().any(|arg| lists::REMOVALS.contains(&arg.written()))
    };
    if act.args.iter().skip(1).any(is_package) && removes() {
        found.about("self_protection", "removes Portcullis");
    }
    // Under another name nothing would know it.
    let is_program = |touched: &Touched| {
        let ends = ["/bin/portcullis", "/release/portcullis", "/debug/portcullis"];
        let path = touched.place.as_ref().map(|place| place.normalised.as_str());
        touched.effect == Effect::Read
            && path.is_some_and(|path| ends.iter().any(|end| path.ends_with(end)))
    };
    if found.effects.has(Effect::Write) && touched.iter().any(is_program) {
        found.about("self_protection", "copies Portcullis' own program");
    }
    if changes
        && base.is_some_and(|name| lists::STOPPERS.contains(&name))
        && act.args.iter().skip(1).any(names_us)
    {
        found.about("self_protection", "stops Portcullis");
    }
}

/// What the entries of a directory lead to that the act names only together.
fn inspect_links(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    if scene.world.kind() == WorldKind::Lexical {
        return;
    }
    let is_lost = |one: &Touched| {
        let has_home = scene.ground.home.is_some() && !one.written.starts_with("~-");
        let is_placed = act.directory.is_some() && (has_home || !one.written.starts_with('~'));
        one.is_pattern && !one.is_listing && one.place.is_none() && is_placed
    };
    if touched.iter().any(is_lost) {
        found.about("dynamic", "may name links among more files than are looked at");
    }
    let leaves = |one: &Touched| {
        one.place.as_ref().is_some_and(|place| {
            one.is_deep
                && place::is_within(&place.normalised, &scene.ground.root)
                && !scene.ground.holds(place)
        })
    };
    if place::follows(act) && touched.iter().any(leaves) {
        found.add("followed_links", act.span, None);
    }
}
