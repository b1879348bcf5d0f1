//! What a server's tools say they are: listed, pinned at their first use, and compared from then
//! on, also in later conversations.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// What one tool says it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What it says it does.
    pub description: Option<String>,
    /// What it takes.
    pub schema: Value,
    hash: String,
}

/// The tools of one server.
#[derive(Default)]
pub struct Tools {
    said: HashMap<String, Said>,
    /// What each tool said in the pages of the last list, so that none says two things.
    pages: HashMap<String, Vec<String>>,
    /// What used tools said, by hash.
    pinned: BTreeMap<String, String>,
    file: Option<PathBuf>,
}

/// A list of tools as a server gave it.
pub struct Listed<'a> {
    whole: &'a str,
    count: usize,
    tools: Vec<(Named, &'a RawValue)>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    description: Option<String>,
    #[serde(rename = "inputSchema", default)]
    schema: Value,
}

impl<'a> Listed<'a> {
    /// Reads the answer to `tools/list`; none where it is an error or no list.
    pub fn read(text: &'a str) -> Option<Listed<'a>> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            result: Tools<'a>,
        }
        #[derive(Deserialize)]
        struct Tools<'a> {
            #[serde(borrow)]
            tools: &'a RawValue,
        }
        let answer: Answer<'_> = serde_json::from_str(text).ok()?;
        let whole = answer.result.tools.get();
        let items: Vec<&RawValue> = serde_json::from_str(whole).ok()?;
        // A tool that cannot be read could not be pinned: it is not shown.
        let read = |item: &'a RawValue| {
            portcullis_wire::json::value(item.get()).ok()?;
            Some((serde_json::from_str(item.get()).ok()?, item))
        };
        let count = items.len();
        Some(Listed { whole, count, tools: items.into_iter().filter_map(read).collect() })
    }

    /// The names of the tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(tool, _)| tool.name.as_str())
    }

    /// The same answer without some of them; none where it stays as it is.
    pub fn without(&self, text: &str, hidden: &HashSet<String>) -> Option<String> {
        let kept: Vec<&str> = self
            .tools
            .iter()
            .filter(|(tool, _)| !hidden.contains(&tool.name))
            .map(|(_, item)| item.get())
            .collect();
        if kept.len() == self.count {
            return None;
        }
        replaced(text, self.whole, &format!("[{}]", kept.join(",")))
    }
}

/// A text with a part of it replaced; the part is a slice of the text.
pub fn replaced(text: &str, part: &str, by: &str) -> Option<String> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (before, behind) = (text.get(..start)?, text.get(start + part.len()..)?);
    Some(format!("{before}{by}{behind}"))
}

impl Tools {
    /// What is known from conversations before this one.
    pub fn read(file: Option<PathBuf>) -> Tools {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let pinned = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Tools { pinned, file, ..Tools::default() }
    }

    /// Takes note of a page of a list. What is listed twice says all of it.
    pub fn saw(&mut self, listed: &Listed<'_>, is_first: bool) {
        if is_first {
            self.pages.clear();
        }
        for (tool, _) in &listed.tools {
            let text = serde_json::json!([tool.name, tool.description, tool.schema]).to_string();
            let texts = self.pages.entry(tool.name.clone()).or_default();
            if !texts.contains(&text) {
                texts.push(text);
            }
            let mut hash = String::new();
            for byte in Sha256::digest(texts.join("\n").as_bytes()) {
                // Writing to memory cannot fail.
                let _ = write!(hash, "{byte:02x}");
            }
            let said =
                Said { description: tool.description.clone(), schema: tool.schema.clone(), hash };
            self.said.insert(tool.name.clone(), said);
        }
    }

    /// What a tool says now, if it said something else when it was first used.
    pub fn changed(&self, name: &str) -> Option<Said> {
        let (said, pinned) = (self.said.get(name)?, self.pinned.get(name)?);
        (said.hash != *pinned).then(|| said.clone())
    }

    /// A tool is used: what it says is pinned, if that is its first use.
    pub fn used(&mut self, name: &str) {
        if !self.pinned.contains_key(name) {
            self.renewed(name);
        }
    }

    /// What a tool says now is accepted.
    pub fn renewed(&mut self, name: &str) {
        let Some(said) = self.said.get(name) else { return };
        self.pinned.insert(name.to_owned(), said.hash.clone());
        if let Some(file) = &self.file {
            // What cannot be kept is known for this conversation at least.
            let _ = keep(file, &self.pinned);
        }
    }

    /// What a tool takes.
    pub fn schema(&self, name: &str) -> Option<Value> {
        self.said.get(name).map(|said| said.schema.clone())
    }
}

fn keep(file: &Path, pinned: &BTreeMap<String, String>) -> std::io::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&beside, serde_json::to_string(pinned)?)?;
    std::fs::rename(beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_says_something_else_is_known_by_it() {
        let list = |description: &str| {
            format!(
                r#"{{"id":1, "result":{{"tools":[{{"name":"a","description":"{description}","inputSchema":{{}}}},{{"name":"b"}}],"nextCursor":"c"}}}}"#
            )
        };
        let mut tools = Tools::default();
        let (first, second) = (list("reads"), list("reads and sends"));
        tools.saw(&Listed::read(&first).unwrap(), true);
        assert_eq!(tools.changed("a"), None, "never used");
        tools.used("a");
        tools.saw(&Listed::read(&second).unwrap(), true);
        assert!(tools.changed("a").is_some() && tools.changed("b").is_none());
        tools.used("a");
        assert!(tools.changed("a").is_some(), "use alone accepts nothing");
        tools.renewed("a");
        assert_eq!(tools.changed("a"), None);

        let listed = Listed::read(&first).unwrap();
        let hidden = HashSet::from(["a".to_owned()]);
        assert_eq!(
            listed.without(&first, &hidden).unwrap(),
            r#"{"id":1, "result":{"tools":[{"name":"b"}],"nextCursor":"c"}}"#
        );
        assert_eq!(listed.without(&first, &HashSet::new()), None, "to the byte");
    }

    #[test]
    fn a_tool_that_is_listed_twice_says_both() {
        let page = |tools: &str| format!(r#"{{"id":1,"result":{{"tools":[{tools}]}}}}"#);
        let good = page(r#"{"name":"a","description":"reads","inputSchema":{}}"#);
        let bad = page(r#"{"name":"a","description":"reads and sends","inputSchema":{}}"#);
        let mut tools = Tools::default();
        tools.saw(&Listed::read(&good).unwrap(), true);
        tools.used("a");
        tools.saw(&Listed::read(&good).unwrap(), false);
        assert_eq!(tools.changed("a"), None, "the same once more");
        tools.saw(&Listed::read(&bad).unwrap(), true);
        tools.saw(&Listed::read(&good).unwrap(), false);
        assert!(tools.changed("a").is_some(), "the last page does not speak for the first");
        tools.saw(&Listed::read(&good).unwrap(), true);
        assert_eq!(tools.changed("a"), None, "a new list");
    }

    #[test]
    fn a_tool_that_cannot_be_read_is_not_shown() {
        let list = r#"{"id":1,"result":{"tools":[{"name":"a","description":{"x":1}},{"name":"b","name":"c"},{"name":"d"}]}}"#;
        let listed = Listed::read(list).unwrap();
        let shown = listed.without(list, &HashSet::new()).unwrap();
        assert_eq!(shown, r#"{"id":1,"result":{"tools":[{"name":"d"}]}}"#);
    }
}
