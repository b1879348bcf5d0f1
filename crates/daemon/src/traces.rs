//! Traces: what took how long, told to a collector where the configuration names one.
//!
//! [`Traces`] is a layer beside the log: it keeps the times of spans with the few plain fields of
//! `TOLD`, and hands each over when it ends. [`Teller`] posts them in batches as OTLP over HTTP.
//! A collector that is slow or gone costs spans, never a request.

mod teller;

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use portcullis_approval::key::hex;
use portcullis_wire::traces::{Attribute, Span};
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;

use crate::chance;
use crate::config::{ConfigError, Otlp};

use teller::Collector;
pub use teller::Teller;

/// So many spans wait to be told; what comes on top of them is not.
const MOST_WAITING: usize = 4096;

/// The fields that leave the machine, with the names collectors know them by. What is not listed
/// is never told: no input, no key, no address.
const TOLD: &[(&str, &str)] = &[
    ("method", "http.request.method"),
    ("route", "http.route"),
    ("status", "http.response.status_code"),
    ("outcome", "portcullis.outcome"),
    ("tier", "portcullis.tier"),
];

/// The field that says what a request is a part of elsewhere; see [`parent`].
const PARENT: &str = "traceparent";

/// The layer that keeps spans.
#[derive(Debug)]
pub struct Traces {
    spans: mpsc::Sender<Span>,
}

/// What is known of a span that goes on.
struct Open {
    trace: [u8; 16],
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    began: SystemTime,
    attributes: Vec<Attribute>,
}

/// The layer, and what must run beside it.
///
/// # Errors
/// The address of the collector is none that can be used.
pub fn to(otlp: &Otlp) -> Result<(Traces, Teller), ConfigError> {
    let collector = Collector::at(&otlp.endpoint)?;
    let (sender, receiver) = mpsc::channel(MOST_WAITING);
    Ok((Traces { spans: sender }, Teller::new(collector, receiver)))
}

/// Whether the collector of a configuration can be used.
///
/// # Errors
/// It cannot; the message says why.
pub fn check(otlp: &Otlp) -> Result<(), ConfigError> {
    Collector::at(&otlp.endpoint).map(drop)
}

/// What a request says it is a part of, if that has the form of a W3C `traceparent`.
#[must_use]
pub fn parent(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(PARENT)?.to_str().ok()?;
    ids(text).map(|_| text)
}

/// The trace and the span of a `traceparent`.
fn ids(text: &str) -> Option<([u8; 16], [u8; 8])> {
    let mut parts = text.split('-');
    let (version, trace, span, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_known = version == "00" && flags.len() == 2 && parts.next().is_none();
    let (trace, span) = (bytes::<16>(trace)?, bytes::<8>(span)?);
    (is_known && trace != [0; 16] && span != [0; 8]).then_some((trace, span))
}

/// Exactly so many bytes in small hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// Lets the daemon's own spans through, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct OwnSpans;

impl<S> Filter<S> for OwnSpans {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        metadata.is_span() && metadata.target().starts_with(env!("CARGO_CRATE_NAME"))
    }
}

impl<S> Layer<S> for Traces
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let within = span
            .parent()
            .and_then(|parent| parent.extensions().get::<Open>().map(|open| (open.trace, open.id)));
        let elsewhere = || fields.parent.as_deref().and_then(ids);
        let (trace, parent) = match within.or_else(elsewhere) {
            Some((trace, parent)) => (trace, Some(parent)),
            // Ids carry no authority: without chance the spans are merely hard to tell apart.
            None => (chance::bytes().unwrap_or([1; 16]), None),
        };
        span.extensions_mut().insert(Open {
            trace,
            id: chance::bytes().unwrap_or([1; 8]),
            parent,
            began: SystemTime::now(),
            attributes: fields.attributes,
        });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        record.record(&mut fields);
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            open.attributes.extend(fields.attributes);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(open) = span.extensions_mut().remove::<Open>() else { return };
        let name = span.name();
        // A full queue is a collector that does not keep up.
        let _ = self.spans.try_send(Span {
            trace_id: hex(&open.trace),
            span_id: hex(&open.id),
            parent_span_id: open.parent.map(|parent| hex(&parent)),
            name: name.to_owned(),
            kind: if name == "request" { 2 } else { 1 },
            start_time_unix_nano: nanoseconds(open.began),
            end_time_unix_nano: nanoseconds(SystemTime::now()),
            attributes: open.attributes,
        });
    }
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

/// The fields of a span that are told.
#[derive(Default)]
struct Fields {
    attributes: Vec<Attribute>,
    parent: Option<String>,
}

impl Fields {
    fn known_as(field: &Field) -> Option<&'static str> {
        TOLD.iter().find(|(name, _)| *name == field.name()).map(|(_, known)| *known)
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.attributes.extend(Fields::known_as(field).map(|key| Attribute::number(key, value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == PARENT {
            self.parent = Some(value.to_owned());
        }
        self.attributes.extend(Fields::known_as(field).map(|key| Attribute::text(key, value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = |key| Attribute::text(key, format!("{value:?}"));
        self.attributes.extend(Fields::known_as(field).map(text));
    }
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn a_parent_has_one_form() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (trace, span) = ids(good).unwrap();
        assert_eq!((trace[0], span[7]), (0x0a, 0x31));
        #[rustfmt::skip]
        let cases = [
            ("",                                                          "nothing"),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",   "large letters"),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01",   "no trace"),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",   "no span"),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",   "another version"),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-a", "more than that"),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",    "too short"),
        ];
        for (text, why) in cases {
            assert_eq!(ids(text), None, "{why}");
        }
    }
}
