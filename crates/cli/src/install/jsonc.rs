//! JSON with comments, changed in place: what is not ours stays as it is, to the byte.
//!
//! The text is read into places; an edit cuts out or puts in text at one of them. Nothing is ever
//! written back from values.

use anyhow::bail;
use serde_json::Value;

use layout::{cut, laid_out, put};
use place::{Place, find_emptied, find_ours};
use tree::{Kind, Node, member};

pub use tree::{names, read, value};

mod layout;
mod place;
mod tree;

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
