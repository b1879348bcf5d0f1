//! How far an act reaches: disks, owners, files with two names, Portcullis' own process.

use super::{Findings, Scene, changes};
use crate::act::Act;
use crate::arg::Arg;
use crate::effect::Effect;
use crate::place::Touched;

/// How the names of disks begin.
const DISKS: [&str; 12] = [
    "/dev/sd",
    "/dev/hd",
    "/dev/vd",
    "/dev/xvd",
    "/dev/nvme",
    "/dev/mmcblk",
    "/dev/dm-",
    "/dev/md",
    "/dev/mapper/",
    "/dev/disk",
    "/dev/rdisk",
    "/dev/loop",
];

/// Programs that stop others by name.
const STOPPERS: [&str; 8] = [
    "kill",
    "killall",
    "launchctl",
    "pkill",
    "rc-service",
    "service",
    "supervisorctl",
    "systemctl",
];

pub(super) fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    for touched in touched.iter().filter(|touched| touched.effect == Effect::Write) {
        let Some(place) = &touched.place else { continue };
        let path = place.resolved.as_deref().unwrap_or(&place.normalised);
        if DISKS.iter().any(|disk| path.starts_with(disk) || place.normalised.starts_with(disk)) {
            found.about("disk", "writes to a disk");
        }
        if scene.world.is_shared(path) {
            found.add("hard_link", act.span, None);
        }
    }
    if matches!(act.base_name(), Some("chown" | "chgrp"))
        && changes(act)
        && !act.notes.iter().any(|note| note.guard == "open_permissions")
    {
        found.add("owner_change", act.span, None);
    }
    let stops = act.base_name().is_some_and(|name| STOPPERS.contains(&name));
    let names_us = |arg: &Arg| arg.prefix().contains("portcullis");
    let is_pattern = matches!(act.base_name(), Some("pkill" | "killall"));
    let fits_us = |arg: &Arg| {
        let text = arg.prefix();
        let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let plain = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
        plain.len() > 2 && !text.starts_with('-') && "portcullis".contains(plain)
    };
    if is_pattern && act.args.iter().skip(1).any(fits_us) {
        found.about("self_protection", "stops Portcullis");
    }
    if act.args.iter().skip(1).any(|arg| arg.prefix().contains("portcullis.sock")) {
        found.about("self_protection", "talks to Portcullis' own socket");
    }
    if stops && changes(act) && act.args.iter().skip(1).any(names_us) {
        found.about("self_protection", "stops Portcullis");
    }
}
