//! The dashboard, as it was built into `web/dist`: a few files with fixed names.
//!
//! Each is embedded twice, as it is and compressed; whoever takes gzip gets that. To add a file,
//! add a row to [`FILES`] and one to the table of routes.

use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use portcullis_approval::key::hex_sha256;

/// Nothing but our own files, nothing inline, and no page may frame ours.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types portcullis";

/// One file of the dashboard.
struct File {
    path: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    packed: &'static [u8],
}

macro_rules! file {
    ($path:literal, $kind:literal, $name:literal) => {
        File {
            path: $path,
            kind: $kind,
            plain: include_bytes!(concat!("../../../../web/dist/", $name)),
            packed: include_bytes!(concat!("../../../../web/dist/", $name, ".gz")),
        }
    };
}

#[rustfmt::skip]
static FILES: &[File] = &[
    file!("/",                     "text/html; charset=utf-8",       "index.html"),
    file!("/app.js",               "text/javascript; charset=utf-8", "app.js"),
    file!("/app.css",              "text/css; charset=utf-8",        "app.css"),
    file!("/worker.js",            "text/javascript; charset=utf-8", "worker.js"),
    file!("/icon.svg",             "image/svg+xml",                  "icon.svg"),
    file!("/manifest.webmanifest", "application/manifest+json",      "manifest.webmanifest"),
];

/// `GET /` and its files.
pub async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let takes_gzip = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(is_gzip);
    let body = if takes_gzip { file.packed } else { file.plain };
    let tag: String = hex_sha256(body).chars().take(32).collect();
    let tag = format!("\"{tag}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let common = [
        (header::ETAG, tag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Accept-Encoding"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let mut response =
        (StatusCode::OK, common, [(header::CONTENT_TYPE, file.kind)], body).into_response();
    if takes_gzip {
        let gzip = axum::http::HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, gzip);
    }
    response
}

/// Whether one item of `Accept-Encoding` takes gzip.
fn is_gzip(item: &str) -> bool {
    let mut parts = item.split(';').map(str::trim);
    let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
    let is_refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
    is_named && !is_refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_where_it_is_named_and_not_refused() {
        #[rustfmt::skip]
        let cases = [
            ("gzip",       true,  "named"),
            (" GZip;q=1",  true,  "with a weight"),
            ("gzip; q=0",  false, "refused"),
            ("br",         false, "another one"),
            ("xgzip",      false, "one that ends like it"),
        ];
        for (item, want, why) in cases {
            assert_eq!(is_gzip(item), want, "`{item}`: {why}");
        }
    }
}
