//! JSON with comments as places in its text: what stands where, and what it is worth.

use anyhow::{Context, bail};
use serde_json::Value;

/// How deep a file may be nested.
const MOST_DEPTH: usize = 128;

/// One value in a text.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Plain,
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) start: usize,
    pub(super) value: Node,
}

/// Reads a text.
///
/// # Errors
/// It is not JSON with comments.
pub fn read(text: &str) -> anyhow::Result<Node> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.skip()?;
    if reader.at != text.len() {
        bail!("something stands behind the end, at byte {}", reader.at);
    }
    Ok(node)
}

/// The value of a node, comments left out.
pub fn value(text: &str, node: &Node) -> Value {
    match &node.kind {
        Kind::Object(members) => {
            members.iter().map(|member| (member.name.clone(), value(text, &member.value))).collect()
        }
        Kind::Array(items) => items.iter().map(|item| value(text, item)).collect(),
        Kind::Plain => {
            let text = text.get(node.start..node.end).unwrap_or_default();
            serde_json::from_str(text).unwrap_or(Value::Null)
        }
    }
}

/// The names of the object behind a path of names, in the order of the text; one that stands there
/// twice stands where it stood first, as for most readers.
pub fn names<'a>(root: &'a Node, path: &[&str]) -> Vec<&'a str> {
    let mut node = Some(root);
    for name in path {
        node = node.and_then(|node| member(node, name)).map(|member| &member.value);
    }
    let mut names: Vec<&str> = Vec::new();
    if let Some(Kind::Object(members)) = node.map(|node| &node.kind) {
        for member in members {
            if !names.contains(&member.name.as_str()) {
                names.push(&member.name);
            }
        }
    }
    names
}

/// The member of an object.
pub(super) fn member<'a>(node: &'a Node, name: &str) -> Option<&'a Member> {
    match &node.kind {
        // Of two members with one name the last one counts, as for most readers.
        Kind::Object(members) => members.iter().rev().find(|member| member.name == name),
        Kind::Array(_) | Kind::Plain => None,
    }
}

/// Goes through a text from place to place.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes over blanks and comments.
    pub(super) fn skip(&mut self) -> anyhow::Result<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']);
            let blanks = rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").context("a comment has no end")? + 2
            } else {
                0
            };
            self.at += blanks + comment;
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> anyhow::Result<Node> {
        if depth > MOST_DEPTH {
            bail!("it is nested too deep");
        }
        self.skip()?;
        let start = self.at;
        let kind = match self.rest().chars().next() {
            Some('{') => {
                self.at += 1;
                self.object(depth)?
            }
            Some('[') => {
                self.at += 1;
                self.array(depth)?
            }
            Some('"') => {
                self.string()?;
                Kind::Plain
            }
            Some(_) => {
                let is_part = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
                let length = self.rest().find(|sign| !is_part(sign)).unwrap_or(self.rest().len());
                let word = self.rest().get(..length).unwrap_or_default();
                serde_json::from_str::<Value>(word)
                    .with_context(|| format!("no value stands at byte {start}"))?;
                self.at += length;
                Kind::Plain
            }
            None => bail!("it ends too early"),
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn object(&mut self, depth: usize) -> anyhow::Result<Kind> {
        let mut members = Vec::new();
        loop {
            self.skip()?;
            if self.eat('}') {
                return Ok(Kind::Object(members));
            }
            let start = self.at;
            let name = self.string()?;
            self.skip()?;
            if !self.eat(':') {
                bail!("a colon is missing at byte {}", self.at);
            }
            let value = self.value(depth + 1)?;
            members.push(Member { name, start, value });
            self.skip()?;
            if !self.eat(',') && !self.rest().starts_with('}') {
                bail!("a comma is missing at byte {}", self.at);
            }
        }
    }

    fn array(&mut self, depth: usize) -> anyhow::Result<Kind> {
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.eat(']') {
                return Ok(Kind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip()?;
            if !self.eat(',') && !self.rest().starts_with(']') {
                bail!("a comma is missing at byte {}", self.at);
            }
        }
    }

    fn string(&mut self) -> anyhow::Result<String> {
        let rest = self.rest();
        let mut is_escaped = false;
        let end = rest.bytes().enumerate().skip(1).find_map(|(at, byte)| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end.then_some(at + 1)
        });
        let text = end.and_then(|end| rest.get(..end)).filter(|text| text.starts_with('"'));
        let text = text.with_context(|| format!("no text stands at byte {}", self.at))?;
        let string = serde_json::from_str(text)?;
        self.at += text.len();
        Ok(string)
    }

    pub(super) fn eat(&mut self, sign: char) -> bool {
        let is_there = self.rest().starts_with(sign);
        self.at += usize::from(is_there);
        is_there
    }
}
