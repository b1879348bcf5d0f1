//! JSON with comments, changed in place: what is not ours stays as it is, to the byte.
//!
//! The text is read into places; an edit cuts out or puts in text at one of them. Nothing is ever
//! written back from values.

use anyhow::{Context, bail};
use serde_json::Value;

/// How deep a file may be nested.
const MOST_DEPTH: usize = 128;

/// One value in a text.
#[derive(Clone, Debug)]
pub struct Node {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Plain,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    start: usize,
    value: Node,
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
fn member<'a>(node: &'a Node, name: &str) -> Option<&'a Member> {
    match &node.kind {
        // Of two members with one name the last one counts, as for most readers.
        Kind::Object(members) => members.iter().rev().find(|member| member.name == name),
        Kind::Array(_) | Kind::Plain => None,
    }
}

/// The text with an item put into the array behind a path of names; what is missing is made.
///
/// # Errors
/// The text is none, or something else stands on the path.
pub fn insert(text: &str, path: &[&str], item: &str, is_first: bool) -> anyhow::Result<String> {
    if text.trim().is_empty() {
        let nested = path
            .iter()
            .rev()
            .fold(format!("[\n{item}\n]"), |inner, name| format!("{{\n\"{name}\": {inner}\n}}"));
        return Ok(format!("{}\n", laid_out(&nested)));
    }
    let mut node = &read(text)?;
    for (depth, name) in path.iter().enumerate() {
        if !matches!(node.kind, Kind::Object(_)) {
            match path.get(..depth).unwrap_or_default() {
                [] => bail!("what stands in it is no object"),
                above => bail!("`{}` is no object", above.join(".")),
            }
        }
        let Some(found) = member(node, name) else {
            let rest = path.get(depth + 1..).unwrap_or_default();
            let nested = rest
                .iter()
                .rev()
                .fold(format!("[{item}]"), |inner, name| format!("{{\"{name}\": {inner}}}"));
            return Ok(put(text, node, &format!("\"{name}\": {nested}"), false));
        };
        node = &found.value;
    }
    if !matches!(node.kind, Kind::Array(_)) {
        bail!("`{}` is no list", path.join("."));
    }
    Ok(put(text, node, item, is_first))
}

/// The text with a member of the outermost object set, where there is none of that name.
///
/// # Errors
/// The text is none.
pub fn ensure(text: &str, name: &str, json: &str) -> anyhow::Result<String> {
    let node = read(text)?;
    if member(&node, name).is_some() {
        return Ok(text.to_owned());
    }
    Ok(put(text, &node, &format!("\"{name}\": {json}"), true))
}

/// The text without the items, at any depth, that are ours; and without what they leave empty,
/// unless it stood in the text before us.
///
/// # Errors
/// The text is none.
pub fn remove(
    text: &str,
    before: Option<&str>,
    is_ours: &dyn Fn(&Value) -> bool,
) -> anyhow::Result<String> {
    let stood = before.and_then(|before| read(before).ok());
    let mut text = text.to_owned();
    for _ in 0..1000 {
        let root = read(&text)?;
        let Some(place) = find_ours(&text, &root, is_ours) else { return Ok(text) };
        let around = |text: &str, place: Place| {
            text.get(..place.start).map_or(0, |text| text.trim_end().len())
        };
        let mut at = around(&text, place);
        text = cut(&text, place);
        // What became empty by it goes too, from the inside out.
        while let Some(emptied) = find_emptied(&read(&text)?, at, stood.as_ref()) {
            at = around(&text, emptied);
            text = cut(&text, emptied);
        }
    }
    Ok(text)
}

/// The items, at any depth, that are ours.
pub fn find(text: &str, is_ours: &dyn Fn(&Value) -> bool) -> anyhow::Result<Vec<Value>> {
    fn walk(text: &str, node: &Node, is_ours: &dyn Fn(&Value) -> bool, found: &mut Vec<Value>) {
        match &node.kind {
            Kind::Object(members) => {
                for member in members {
                    walk(text, &member.value, is_ours, found);
                }
            }
            Kind::Array(items) => {
                for item in items {
                    let value = value(text, item);
                    if is_ours(&value) {
                        found.push(value);
                    } else {
                        walk(text, item, is_ours, found);
                    }
                }
            }
            Kind::Plain => {}
        }
    }
    let mut found = Vec::new();
    walk(text, &read(text)?, is_ours, &mut found);
    Ok(found)
}

/// Where an item stands, and where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Place {
    before: Option<usize>,
    start: usize,
    end: usize,
}

/// The places of the items of a list or the members of an object.
fn places(node: &Node) -> Vec<Place> {
    let spans: Vec<(usize, usize)> = match &node.kind {
        Kind::Object(members) => {
            members.iter().map(|member| (member.start, member.value.end)).collect()
        }
        Kind::Array(items) => items.iter().map(|item| (item.start, item.end)).collect(),
        Kind::Plain => Vec::new(),
    };
    let before = std::iter::once(None).chain(spans.iter().map(|(_, end)| Some(*end)));
    let place = |(&(start, end), before)| Place { before, start, end };
    spans.iter().zip(before).map(place).collect()
}

fn find_ours(text: &str, node: &Node, is_ours: &dyn Fn(&Value) -> bool) -> Option<Place> {
    match &node.kind {
        Kind::Object(members) => {
            members.iter().find_map(|member| find_ours(text, &member.value, is_ours))
        }
        Kind::Array(items) => items.iter().zip(places(node)).find_map(|(item, place)| {
            if is_ours(&value(text, item)) {
                return Some(place);
            }
            find_ours(text, item, is_ours)
        }),
        Kind::Plain => None,
    }
}

/// The item or member around a place whose lists are all empty: a group without hooks, an event
/// without groups, hooks without events.
fn find_emptied(root: &Node, at: usize, stood: Option<&Node>) -> Option<Place> {
    let is_empty = |node: &Node| match &node.kind {
        Kind::Object(members) => members.is_empty(),
        Kind::Array(items) => items.is_empty(),
        Kind::Plain => false,
    };
    // A group is empty if its list of hooks is, whatever its matcher.
    let is_group = |node: &Node| {
        member(node, "hooks").is_some_and(|member| {
            matches!(member.value.kind, Kind::Array(_)) && is_empty(&member.value)
        })
    };
    let around = |node: &Node| node.start <= at && at <= node.end;
    let inner: Vec<(&Node, Option<&Node>)> = match &root.kind {
        Kind::Object(members) => {
            let before = |name: &str| Some(&member(stood?, name)?.value);
            members.iter().map(|member| (&member.value, before(&member.name))).collect()
        }
        Kind::Array(items) => items.iter().map(|item| (item, None)).collect(),
        Kind::Plain => Vec::new(),
    };
    let mut inner = inner.into_iter().zip(places(root));
    let ((node, stood), place) = inner.find(|((node, _), _)| around(node))?;
    if is_empty(node) || (matches!(root.kind, Kind::Array(_)) && is_group(node)) {
        return stood.is_none().then_some(place);
    }
    find_emptied(node, at, stood)
}

/// Cuts out an item, with one comma and the blanks beside it.
fn cut(text: &str, place: Place) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let behind = text.get(place.end..).unwrap_or_default();
    let mut reader = Reader { text, at: place.end };
    let has_comma = reader.skip().is_ok() && reader.eat(',');
    if has_comma {
        let rest = reader.rest();
        if rest.trim_start().starts_with([']', '}']) {
            // The comma of the item before ends the list now.
            return format!("{}{rest}", before.trim_end());
        }
        // The next item takes the place.
        return format!("{before}{}", rest.trim_start());
    }
    let Some(end) = place.before else { return format!("{}{behind}", before.trim_end()) };
    let between = text.get(end..place.start).unwrap_or_default();
    let mut reader = Reader { text, at: end };
    let comma = if reader.skip().is_ok() { reader.at - end } else { 0 };
    let (comment, rest) = between.split_at_checked(comma).unwrap_or((between, ""));
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_end();
    format!("{}{comment}{rest}{behind}", text.get(..end).unwrap_or_default())
}

/// Puts an item at the beginning or the end of an object or list.
fn put(text: &str, node: &Node, item: &str, is_first: bool) -> String {
    let places = places(node);
    let is_on_lines = text.get(node.start..node.end).unwrap_or_default().contains('\n');
    let end = line_end(text);
    let blank = |start: usize| {
        if is_on_lines { format!("{end}{}", indent(text, start)) } else { " ".to_owned() }
    };
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        let own = indent(text, node.start);
        let behind = part(node.start + 1, text.len()).trim_start();
        let deeper = step(text);
        return format!("{}{end}{own}{deeper}{item}{end}{own}{behind}", part(0, node.start + 1));
    };
    if is_first {
        let blank = blank(first.start);
        return format!("{}{item},{blank}{}", part(0, first.start), part(first.start, text.len()));
    }
    // Comments behind the last item stay with it.
    let mut reader = Reader { text, at: last.end };
    let has_comma = reader.skip().is_ok() && reader.eat(',');
    let between = part(last.end, node.end - 1).trim_end();
    let (before, behind) = if has_comma { ("", ",") } else { (",", "") };
    format!(
        "{}{before}{between}{}{item}{behind}{}",
        part(0, last.end),
        blank(last.start),
        part(last.end + between.len(), text.len())
    )
}

/// How the lines of a text end.
fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// By how much a text is indented: as its first line that is.
fn step(text: &str) -> &str {
    let blanks = |line: &'_ str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = text.lines().find(|line| blanks(line) > 0 && !line.trim().is_empty());
    first.and_then(|line| line.get(..blanks(line))).unwrap_or("  ")
}

/// The blanks that the line of a place begins with.
fn indent(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().take_while(|sign| *sign == ' ' || *sign == '\t').collect()
}

/// A new document, indented by its depth.
fn laid_out(text: &str) -> String {
    let mut depth = 0_usize;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with(['}', ']']) {
            depth = depth.saturating_sub(1);
        }
        lines.push(format!("{}{line}", "  ".repeat(depth)));
        if line.ends_with(['{', '[']) {
            depth += 1;
        }
    }
    lines.join("\n")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Goes over blanks and comments.
    fn skip(&mut self) -> anyhow::Result<()> {
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

    fn eat(&mut self, sign: char) -> bool {
        let is_there = self.rest().starts_with(sign);
        self.at += usize::from(is_there);
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// mine\n{\n  \"a\": 1, // one\n  \"hooks\": {\n    \"Pre\": [\n      {\"x\": 1}, /* two */\n    ]\n  }\n}\n";

    fn is_ours(value: &Value) -> bool {
        value.get("ours").is_some()
    }

    #[test]
    fn what_is_put_in_can_be_taken_out_and_the_rest_stays() {
        for (text, path) in [
            (TEXT, &["hooks", "Pre"][..]),
            (TEXT, &["hooks", "Post"]),
            (TEXT, &["other", "deep", "list"]),
            ("{}", &["hooks", "Pre"]),
            ("{\"hooks\": {}}\n", &["hooks", "Pre"]),
            ("{\"a\": [1, 2]}", &["a"]),
        ] {
            for is_first in [true, false] {
                let put = insert(text, path, "{\"ours\":true}", is_first).unwrap();
                let root = read(&put).unwrap_or_else(|error| panic!("{error}: {put}"));
                assert_eq!(find(&put, &is_ours).unwrap().len(), 1, "{put}");
                let all = value(&put, &root);
                let _ = path.iter().fold(&all, |value, name| &value[*name]).as_array().unwrap();
                let gone = remove(&put, Some(text), &is_ours).unwrap();
                let want = value(text, &read(text).unwrap());
                let got = value(&gone, &read(&gone).unwrap());
                assert_eq!(got, want, "{text} became {gone}");
                if path.len() == 1 || text == TEXT {
                    assert_eq!(gone, text, "to the byte");
                }
                for comment in ["// mine", "// one", "/* two */"] {
                    assert_eq!(gone.contains(comment), text.contains(comment), "{gone}");
                }
            }
        }
    }

    #[test]
    fn what_stood_empty_before_us_stays() {
        let text = "{\"hooks\": {\"Pre\": [ /* none */ ]}, \"a\": 1}";
        let put = insert(text, &["hooks", "Pre"], "{\"ours\":true}", false).unwrap();
        let put = insert(&put, &["hooks", "Post"], "{\"ours\":true}", false).unwrap();
        let gone = remove(&put.replace('1', "2"), Some(text), &is_ours).unwrap();
        assert!(gone.contains("/* none */") && !gone.contains("Post"), "{gone}");
        let gone = remove(&put, None, &is_ours).unwrap();
        assert!(!gone.contains("hooks"), "{gone}");
    }

    #[test]
    fn lines_end_and_begin_as_they_do_in_the_file() {
        for text in ["{\r\n\t\"a\": {}\r\n}\r\n", "{\r\n\t\"hooks\": {}\r\n}\r\n"] {
            let put = insert(text, &["hooks", "Pre"], "{\"ours\":true}", false).unwrap();
            assert_eq!(put.matches('\n').count(), put.matches("\r\n").count(), "{put:?}");
            assert!(put.lines().all(|line| !line.contains("\t ")), "{put:?}");
        }
    }

    #[test]
    fn a_new_file_is_laid_out() {
        let made = insert("", &["hooks", "Pre"], "{\"ours\":true}", false).unwrap();
        assert_eq!(
            made,
            "{\n  \"hooks\": {\n    \"Pre\": [\n      {\"ours\":true}\n    ]\n  }\n}\n"
        );
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in
            ["{", "[1 2]", "{\"a\" 1}", "{\"a\":}", "{} x", "{\"a\":tru}", "/* no end", "\"a"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(insert("[]", &["hooks"], "1", false).is_err());
        assert!(insert("{\"hooks\": 1}", &["hooks", "Pre"], "1", false).is_err());
        assert!(insert("{\"hooks\": {\"Pre\": {}}}", &["hooks", "Pre"], "1", false).is_err());
    }
}
