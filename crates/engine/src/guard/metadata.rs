//! The address at which a cloud hands a machine its credentials.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::Findings;
use crate::act::Act;
use crate::effect::Target;
use crate::lists;
use crate::tool;

pub(super) fn inspect(act: &Act, found: &mut Findings<'_>) {
    let mut hosts = act.effects.iter().filter_map(|on| match &on.target {
        Target::Host(address) => Some(address.to_ascii_lowercase()),
        Target::Path(_)
        | Target::Pattern(_)
        | Target::Unknown(_)
        | Target::Named(_)
        | Target::None => None,
    });
    if hosts.any(|address| gives_credentials(&address)) {
        found.about("secret_read", "asks the cloud for the credentials of this machine");
    }
}

/// Whether an address, in lower case, leads there in any spelling.
fn gives_credentials(address: &str) -> bool {
    lists::METADATA_SPELLINGS.iter().any(|spelling| address.contains(spelling))
        || tool::host_names(address).iter().any(|host| {
            lists::METADATA_HOSTS.contains(&host.as_str())
                || version_4(host).is_some_and(is_local)
                || host.parse::<Ipv6Addr>().is_ok_and(is_local_6)
        })
}

/// Link-local addresses reach nothing but the machine's own surroundings.
fn is_local(address: Ipv4Addr) -> bool {
    address.is_link_local() || address == Ipv4Addr::new(100, 100, 100, 200)
}

fn is_local_6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_named = matches!(segments, [0xfd00, 0x0ec2, ..] | [0xfd20, 0x00ce, ..]);
    is_named || address.to_ipv4().is_some_and(is_local)
}

/// An address of version 4 as programs read it: one to four numbers, each decimal, octal or
/// hexadecimal, of which the last fills what is left.
fn version_4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, before) = numbers.split_last()?;
    let left = 32_u32.checked_sub(8 * u32::try_from(before.len()).ok()?)?;
    let is_small = |number: &u32| *number < 256;
    let is_too_long = last.checked_shr(left).is_some_and(|beyond| beyond != 0);
    if before.len() > 3 || is_too_long || !before.iter().all(is_small) {
        return None;
    }
    let start = before.iter().fold(0_u32, |start, number| (start << 8) | number);
    Some(Ipv4Addr::from(start.checked_shl(left).unwrap_or(0) | last))
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::gives_credentials;

    #[test]
    fn every_spelling_of_the_address_is_known() {
        for address in [
            "http://169.254.169.254/latest/meta-data/",
            "169.254.169.254",
            "http://2852039166/latest",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.43518/",
            "http://[::ffff:169.254.169.254]/",
            "http://[fd00:ec2::254]/latest",
            "http://169.254.170.2/v2/credentials",
            "http://100.100.100.200/",
            "http://metadata.google.internal/computemetadata/v1/",
            "http://metadata/computemetadata/v1/",
            "http://169.254.169.254.nip.io/",
            "::169.254.169.254:80",
        ] {
            assert!(gives_credentials(address), "{address}");
        }
        for address in [
            "https://example.org/169",
            "http://127.0.0.1:8080/",
            "http://192.168.1.1/",
            "http://10.0.0.1/metadata",
            "https://metadata.example.org/",
            "http://1.2.3.4.5/",
            "",
        ] {
            assert!(!gives_credentials(address), "{address}");
        }
    }
}
