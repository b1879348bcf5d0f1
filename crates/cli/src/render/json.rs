//! JSON: the outline for programs.
//!
//! Fields are `snake_case`, names of kinds `kebab-case`, and what is not there is absent. Every
//! node has its `kind` and its `span`, two byte offsets into the text as given. Text that is not
//! UTF-8 is `{"escaped": …}` with `\xNN` for the bytes and `\\` for a backslash.

use std::io::{self, Write};

use portcullis_shell::{Dialect, Hazard, Refusal, Span, Tree, hazards};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::json;

use crate::escape;
use crate::outline::{Children, Fact, Node, Worth, outline};

/// Writes a tree on one line.
pub fn tree(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    let answer = Answer {
        dialect: tree.dialect(),
        result: Ok(outline(tree)),
        hazards: hazards(tree.source()),
    };
    line(out, &answer)
}

/// Writes a refusal on one line.
pub fn refusal(
    out: &mut impl Write,
    dialect: Dialect,
    text: &[u8],
    refusal: &Refusal,
) -> io::Result<()> {
    line(out, &Answer { dialect, result: Err(refusal), hazards: hazards(text) })
}

fn line(out: &mut impl Write, answer: &Answer<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    writeln!(out)
}

struct Answer<'t> {
    dialect: Dialect,
    result: Result<Node<'t>, &'t Refusal>,
    hazards: Vec<Hazard>,
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("dialect", self.dialect.name())?;
        match &self.result {
            Ok(node) => map.serialize_entry("tree", node)?,
            Err(refusal) => {
                let shape = json!({
                    "kind": refusal.kind.name(),
                    "span": pair(refusal.span),
                    "message": refusal.message,
                });
                map.serialize_entry("refusal", &shape)?;
            }
        }
        let shape = |hazard: &Hazard| json!({ "kind": hazard.kind.name(), "span": pair(hazard.span), "code": hazard.code });
        map.serialize_entry("hazards", &self.hazards.iter().map(shape).collect::<Vec<_>>())?;
        map.end()
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("span", &pair(self.span))?;
        for (name, fact) in &self.facts {
            map.serialize_entry(name, fact)?;
        }
        for (role, children) in &self.children {
            map.serialize_entry(role, children)?;
        }
        map.end()
    }
}

impl Serialize for Children<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Children::One(node) => node.serialize(serializer),
            Children::Many(nodes) => {
                let mut list = serializer.serialize_seq(Some(nodes.len()))?;
                for node in nodes {
                    list.serialize_element(node)?;
                }
                list.end()
            }
        }
    }
}

impl Serialize for Fact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Fact::Flag(flag) => flag.serialize(serializer),
            Fact::Count(count) => count.serialize(serializer),
            Fact::Name(name) => name.serialize(serializer),
            Fact::Text(text) => Text(text).serialize(serializer),
            Fact::Worth(worth) => worth.serialize(serializer),
        }
    }
}

impl Serialize for Worth<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Worth::Literal(text) => map.serialize_entry("literal", &Text(text))?,
            Worth::Set(values) => map.serialize_entry("set", values)?,
            Worth::Pattern(prefix) => {
                map.serialize_entry("pattern", &json!({ "prefix": Text(prefix) }))?;
            }
            Worth::Tainted { kind, span, prefix, one_field } => {
                let shape = json!({
                    "kind": kind.name(),
                    "span": pair(*span),
                    "prefix": Text(prefix),
                    "one_field": one_field,
                });
                map.serialize_entry("tainted", &shape)?;
            }
        }
        map.end()
    }
}

/// Bytes that are most often, but not always, UTF-8.
struct Text<'t>(&'t [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(text) = str::from_utf8(self.0) {
            return text.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("escaped", &escape::exact(self.0))?;
        map.end()
    }
}

fn pair(span: Span) -> [u32; 2] {
    [span.start, span.end]
}
