//! Addresses: the host a URL leads to, as whoever fetches it would see it.

/// The host of an address, lower case; none where it cannot be told for certain.
pub(super) fn host(address: &str) -> Option<String> {
    let address = plain(address);
    let rest = match address.split_once(':') {
        Some((scheme, rest)) if ["http", "https"].contains(&&*scheme.to_ascii_lowercase()) => rest,
        // `example.com:8080/x` has no scheme; `file:x` leads to no host.
        Some((head, rest)) if head.contains('.') && !rest.starts_with('/') => address.as_str(),
        Some((head, _)) if head.contains('/') => address.as_str(),
        Some(_) => return None,
        None => address.as_str(),
    };
    let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(literal) => literal.split_once(']')?.0,
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
    (!host.is_empty() && host.chars().all(is_plain)).then_some(host)
}

/// The file of this machine that an address means, however it says so.
pub(super) fn file(address: &str) -> Option<String> {
    let address = plain(address);
    let lower = address.to_ascii_lowercase();
    let path = match lower.find("file:") {
        Some(at) if at == 0 || lower.get(..at)?.ends_with(':') => address.get(at + 5..)?,
        None if address.starts_with(['/', '~']) => return Some(address),
        Some(_) | None => return None,
    };
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..))?,
        None => path,
    };
    Some(decoded(path.split(['?', '#', '!']).next()?))
}

/// What browsers and fetchers do: blanks at the ends and line breaks vanish, a backslash is a
/// slash.
fn plain(address: &str) -> String {
    let kept = address.trim().chars().filter(|letter| !matches!(letter, '\t' | '\n' | '\r'));
    kept.map(|letter| if letter == '\\' { '/' } else { letter }).collect()
}

/// A path in an address, in which any byte may be written in digits.
fn decoded(path: &str) -> String {
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let (Some(byte), Some(rest)) = (byte, part.get(2..)) {
            bytes.push(byte);
            bytes.extend_from_slice(rest.as_bytes());
        } else {
            bytes.push(b'%');
            bytes.extend_from_slice(part.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The hosts that an address leads to, for whoever fetches it: where a backslash stands in it,
/// browsers take that for a slash and others for a letter.
pub(crate) fn hosts(address: &str) -> Vec<String> {
    let Some(host) = host(address) else { return Vec::new() };
    let mut all = vec![host];
    if address.contains('\\') {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let other = authority.rsplit('@').next().unwrap_or_default();
        let other = other.split(':').next().unwrap_or_default().to_ascii_lowercase();
        all.extend(Some(other).filter(|other| !all.contains(other)));
    }
    all
}

/// The addresses in running text.
pub(super) fn addresses(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = lower.get(from..).and_then(|rest| rest.find("http")) {
        let start = from + at;
        let rest = text.get(start..).unwrap_or_default();
        let is_address =
            |scheme: &str| lower.get(start..).is_some_and(|rest| rest.starts_with(scheme));
        let end = rest
            .find(|letter: char| letter.is_whitespace() || "<>\"'`".contains(letter))
            .unwrap_or(rest.len());
        if is_address("http:") || is_address("https:") {
            found.push(rest.get(..end).unwrap_or_default().to_owned());
            from = start + end.max(1);
        } else {
            from = start + 4;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{addresses, file, host};

    #[test]
    fn the_file_is_the_one_that_is_read() {
        #[rustfmt::skip]
        let cases = [
            ("file:///etc/shadow",            Some("/etc/shadow")),
            (" FILE:/etc/shadow",             Some("/etc/shadow")),
            ("file://localhost/etc/shadow",   Some("/etc/shadow")),
            ("file:///etc/sh%61dow?x",        Some("/etc/shadow")),
            ("view-source:file:///a/.env",    Some("/a/.env")),
            ("file:\\\\\\a\\b",             Some("/a/b")),
            ("/etc/shadow",                   Some("/etc/shadow")),
            ("https://h/a?x=profile:1",       None),
            ("https://h/file:x",              None),
            ("example.com/x",                 None),
        ];
        for (address, path) in cases {
            assert_eq!(file(address).as_deref(), path, "{address}");
        }
    }

    #[test]
    fn the_host_is_the_one_that_is_reached() {
        #[rustfmt::skip]
        let cases = [
            ("https://example.com/a",              Some("example.com")),
            ("HTTPS://Example.COM./a",             Some("example.com")),
            ("https://good.com@evil.com/",         Some("evil.com")),
            ("https://good.com:80@evil.com:81/x",  Some("evil.com")),
            ("https://evil.com\\@good.com/",       Some("evil.com")),
            ("https://ev\til.com/",                Some("evil.com")),
            ("https:evil.com",                     Some("evil.com")),
            ("example.com/x:y",                    Some("example.com")),
            ("example.com:8080/x",                 Some("example.com")),
            ("http://[::1]:80/",                   Some("::1")),
            ("http://ex%61mple.com/",              None),
            ("file:///etc/passwd",                 None),
            ("",                                   None),
        ];
        for (address, want) in cases {
            assert_eq!(host(address).as_deref(), want, "`{address}`");
        }
        let text = "see https://a.example/x and <http://b.example>, not httpd";
        assert_eq!(addresses(text), ["https://a.example/x", "http://b.example"]);
    }
}
