//! What a connection showed last: a program shows the same host and key with each of its requests,
//! and what was found out about them once is so again as long as the keys are the same.
//!
//! Only requests that show nothing else are remembered: no origin, no cookie, no other door. Keys
//! are compared in constant time here too: behind a proxy the requests of others come over the very
//! same connection.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, Uri, header};
use portcullis_approval::Moment;
use subtle::ConstantTimeEq;

use crate::identity::{Caller, Generation, Identity};

/// What was shown last, if it is remembered.
#[derive(Debug, Default)]
pub struct Shown(Mutex<Option<Box<Known>>>);

#[derive(Debug)]
struct Known {
    host: Box<[u8]>,
    authorization: Box<[u8]>,
    caller: Caller,
    // INVARIANT: taken before the key was looked up, so that no answer seems newer than it is.
    keys: Generation,
}

impl Shown {
    /// Who shows this, if the same was shown before and still counts.
    pub(super) fn again(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        uri: &Uri,
        now: Moment,
    ) -> Option<Caller> {
        let (host, authorization) = plain(headers, uri)?;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref()?;
        let is_same = *known.host == *host
            && bool::from(known.authorization.ct_eq(authorization))
            && identity.is_still(&known.keys)
            && known.caller.key.counts_at(now);
        is_same.then(|| known.caller.clone())
    }

    /// Remembers who was let in, if that hangs on nothing else.
    pub(super) fn keep(&self, keys: Generation, headers: &HeaderMap, uri: &Uri, caller: &Caller) {
        let Some((host, authorization)) = plain(headers, uri) else { return };
        let known = Known {
            host: host.into(),
            authorization: authorization.into(),
            caller: caller.clone(),
            keys,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(known));
    }
}

/// The one `Host` and the one `Authorization` of a request that shows nothing else.
// INVARIANT: whatever the gate reads of a request, its route aside, is one of the two or makes
// that there is no answer.
fn plain<'h>(headers: &'h HeaderMap, uri: &Uri) -> Option<(&'h [u8], &'h [u8])> {
    let (mut host, mut authorization) = (None, None);
    for (name, value) in headers {
        let known = if *name == header::HOST {
            &mut host
        } else if *name == header::AUTHORIZATION {
            &mut authorization
        } else if tells_more(name) {
            return None;
        } else {
            continue;
        };
        if known.replace(value.as_bytes()).is_some() {
            return None;
        }
    }
    uri.authority().is_none().then_some(host?).zip(authorization)
}

/// Whether the gate looks at a header besides.
fn tells_more(name: &HeaderName) -> bool {
    *name == header::ORIGIN
        || *name == header::COOKIE
        || *name == header::UPGRADE
        || name.as_str().starts_with("sec-fetch-")
        || name.as_str().starts_with("x-portcullis")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shows_nothing_else_is_remembered() {
        type Given = &'static [(&'static str, &'static str)];
        #[rustfmt::skip]
        let cases: [(Given, &str, bool, &str); 9] = [
            (&[("host", "a"), ("authorization", "b"), ("accept", "c")],        "/x",  true,  "a program"),
            (&[("host", "a"), ("host", "a"), ("authorization", "b")],          "/x",  false, "two hosts"),
            (&[("host", "a"), ("authorization", "b"), ("authorization", "b")], "/x",  false, "two keys"),
            (&[("host", "a")],                                                 "/x",  false, "no key"),
            (&[("host", "a"), ("authorization", "b"), ("origin", "c")],        "/x",  false, "a page"),
            (&[("host", "a"), ("authorization", "b"), ("sec-fetch-site", "c")], "/x", false, "a browser"),
            (&[("host", "a"), ("authorization", "b"), ("cookie", "c")],        "/x",  false, "a browser's key"),
            (&[("host", "a"), ("authorization", "b"), ("x-portcullis-door", "c")], "/x", false, "another door"),
            (&[("host", "a"), ("authorization", "b")],                         "http://a/x", false, "a host in the address"),
        ];
        for (given, uri, want, why) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(HeaderName::from_static(name), value.parse().unwrap());
            }
            let found = plain(&headers, &uri.parse().unwrap());
            let expected: Option<(&[u8], &[u8])> = want.then_some((b"a", b"b"));
            assert_eq!(found, expected, "{why}");
        }
    }
}
