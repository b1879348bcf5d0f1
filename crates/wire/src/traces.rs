//! Traces as a collector takes them: OTLP in its JSON form.
//!
//! Numbers of 64 bits are texts there, ids are hexadecimal, and fields are written in camel case.

use serde::Serialize;

/// What is posted: spans of one process.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    resource_spans: [ResourceSpans; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans {
    resource: Resource,
    scope_spans: [ScopeSpans; 1],
}

#[derive(Debug, Serialize)]
struct Resource {
    attributes: Vec<Attribute>,
}

#[derive(Debug, Serialize)]
struct ScopeSpans {
    scope: Scope,
    spans: Vec<Span>,
}

#[derive(Debug, Serialize)]
struct Scope {
    name: &'static str,
}

/// Something that took a while.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The trace it belongs to: 32 digits.
    pub trace_id: String,
    /// Its own id: 16 digits.
    pub span_id: String,
    /// The span it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    /// What took a while.
    pub name: String,
    /// 2 for a request that is served, 1 for what happens inside.
    pub kind: u8,
    /// Nanoseconds since the epoch.
    pub start_time_unix_nano: String,
    /// Nanoseconds since the epoch.
    pub end_time_unix_nano: String,
    /// What is told about it.
    pub attributes: Vec<Attribute>,
}

/// One thing that is told about a span.
#[derive(Debug, Serialize)]
pub struct Attribute {
    key: &'static str,
    value: AttributeValue,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum AttributeValue {
    StringValue(String),
    IntValue(String),
}

impl Attribute {
    /// A text.
    #[must_use]
    pub fn text(key: &'static str, value: impl Into<String>) -> Attribute {
        Attribute { key, value: AttributeValue::StringValue(value.into()) }
    }

    /// A number.
    #[must_use]
    pub fn number(key: &'static str, value: u64) -> Attribute {
        Attribute { key, value: AttributeValue::IntValue(value.to_string()) }
    }
}

impl Export {
    /// Spans of this program.
    #[must_use]
    pub fn new(version: &str, spans: Vec<Span>) -> Export {
        let attributes = vec![
            Attribute::text("service.name", "portcullis"),
            Attribute::text("service.version", version),
        ];
        let scope_spans = [ScopeSpans { scope: Scope { name: "portcullis" }, spans }];
        Export {
            resource_spans: [ResourceSpans { resource: Resource { attributes }, scope_spans }],
        }
    }
}
