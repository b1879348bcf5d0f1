//! What is expected: values with placeholders, held against what came.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values by name: what was given, and what was captured.
pub type Values = BTreeMap<String, Value>;

/// A text or a value with its `${name}` filled in.
pub fn fill(value: &Value, values: &Values) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match sole(text) {
            Some(name) => lookup(name, values)?.clone(),
            None => Value::String(fill_text(text, values)?),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill(item, values)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (name, value) in members {
                filled.insert(fill_text(name, values)?, fill(value, values)?);
            }
            Value::Object(filled)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// A text with its `${name}` filled in.
pub fn fill_text(text: &str, values: &Values) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        filled.push_str(before);
        let (name, after) =
            behind.split_once('}').ok_or_else(|| format!("`{text}`: `${{` without `}}`"))?;
        filled.push_str(&text_of(lookup(name, values)?));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A text as it is, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The name, where a text is nothing but `${name}`.
fn sole(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}').filter(|name| !name.contains(['$', '}']))
}

fn lookup<'v>(name: &str, values: &'v Values) -> Result<&'v Value, String> {
    values.get(name).ok_or_else(|| {
        let known: Vec<&str> = values.keys().map(String::as_str).collect();
        format!("nothing is called `{name}`; known are {}", known.join(", "))
    })
}

/// Holds what came against what is wanted, and captures on the way; else where they differ.
pub fn fit(want: &Value, came: &Value, values: &mut Values) -> Result<(), String> {
    fit_at("", &fill(want, values)?, came, values)
}

fn fit_at(path: &str, want: &Value, came: &Value, values: &mut Values) -> Result<(), String> {
    let differ = || {
        let place = if path.is_empty() { String::new() } else { format!("at `{path}`: ") };
        Err(format!("{place}wanted {want}, came {came}"))
    };
    match (want, came) {
        (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => {
            if is_class(text, came, values)? { Ok(()) } else { differ() }
        }
        (Value::Object(members), Value::Array(items)) if members.contains_key("<has>") => {
            let wanted =
                members.get("<has>").and_then(Value::as_array).map_or(&[][..], |list| list);
            for want in wanted {
                let mut fits = items.iter().map(|item| fit_at(path, want, item, values));
                if !fits.any(|fit| fit.is_ok()) {
                    return Err(format!("at `{path}`: wanted an item {want}, came {came}"));
                }
            }
            Ok(())
        }
        (Value::Object(members), Value::Object(got)) => {
            for (name, want) in members.iter().filter(|(name, _)| *name != "...") {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let came = got
                    .get(name)
                    .ok_or_else(|| format!("at `{path}`: wanted {want}, came nothing"))?;
                fit_at(&path, want, came, values)?;
            }
            let extra = got.keys().find(|name| !members.contains_key(*name));
            match extra {
                Some(name) if !members.contains_key("...") => {
                    let value = got.get(name).unwrap_or(&Value::Null);
                    let place =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    Err(format!("at `{place}`: wanted nothing, came {value}"))
                }
                _ => Ok(()),
            }
        }
        (Value::Array(wanted), Value::Array(items)) => {
            let is_open = wanted.last().is_some_and(|last| last == "...");
            let count = wanted.len() - usize::from(is_open);
            if items.len() < count || (!is_open && items.len() > count) {
                return differ();
            }
            for (index, (want, came)) in wanted.iter().take(count).zip(items).enumerate() {
                fit_at(&format!("{path}[{index}]"), want, came, values)?;
            }
            Ok(())
        }
        _ if want == came => Ok(()),
        _ => differ(),
    }
}

/// Whether a value is of the class a placeholder names; captures it where that has a name.
fn is_class(placeholder: &str, came: &Value, values: &mut Values) -> Result<bool, String> {
    let inner = placeholder.trim_start_matches('<').trim_end_matches('>');
    let (class, rest) =
        inner.split_once(':').map_or((inner, None), |(class, rest)| (class, Some(rest)));
    let text = came.as_str();
    let fits = match class {
        "any" => true,
        "text" => text.is_some(),
        "number" => came.is_number(),
        "bool" => came.is_boolean(),
        "object" => came.is_object(),
        "list" => came.is_array(),
        "ts" => text.is_some_and(is_moment),
        "uuid" => text.is_some_and(is_uuid),
        "perm" => text.and_then(|text| text.strip_prefix("perm-")).is_some_and(is_uuid),
        "hook" => text.is_some_and(is_hook),
        "like" => return Ok(text.is_some_and(|text| is_like(rest.unwrap_or_default(), text))),
        _ => return Err(format!("`{placeholder}`: no class `{class}` is known")),
    };
    if let (true, Some(name)) = (fits, rest) {
        values.insert(name.to_owned(), came.clone());
    }
    Ok(fits)
}

/// `2025-01-15T10:30:01.000Z`.
fn is_moment(text: &str) -> bool {
    has_shape(text, "dddd-dd-ddTdd:dd:dd.dddZ")
}

/// A UUID of version 7, in lower case.
fn is_uuid(text: &str) -> bool {
    has_shape(text, "xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx")
}

fn is_hook(text: &str) -> bool {
    let rest = text.strip_prefix("hook_").and_then(|rest| rest.split_once('_'));
    rest.is_some_and(|(ms, rest)| {
        ms.bytes().all(|byte| byte.is_ascii_digit())
            && rest.len() == 16
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    })
}

fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            fixed => byte == fixed,
        })
}

/// Whether a text fits a glob whose only sign is `*`.
fn is_like(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Values, fit};

    #[test]
    fn what_differs_is_named() {
        #[rustfmt::skip]
        let cases = [
            (json!({ "a": 1 }),                     json!({ "a": 1 }),             ""),
            (json!({ "a": 1 }),                     json!({ "a": 2 }),             "at `a`: wanted 1, came 2"),
            (json!({ "a": 1 }),                     json!({ "a": 1, "b": 2 }),     "at `b`: wanted nothing, came 2"),
            (json!({ "a": 1, "...": true }),        json!({ "a": 1, "b": 2 }),     ""),
            (json!({ "a": { "b": "x" } }),          json!({ "a": {} }),            "at `a.b`: wanted \"x\", came nothing"),
            (json!([1, "..."]),                     json!([1, 2, 3]),              ""),
            (json!([1, 2]),                         json!([1]),                    "wanted [1,2], came [1]"),
            (json!({ "<has>": [{ "a": 1, "...": true }] }), json!([{ "a": 2 }, { "a": 1, "c": 0 }]), ""),
            (json!({ "<has>": [3] }),               json!([1, 2]),                 "at ``: wanted an item 3, came [1,2]"),
            (json!("<ts>"),                         json!("2025-01-15T10:30:01.000Z"), ""),
            (json!("<ts>"),                         json!("2025-01-15T10:30:01Z"), "wanted \"<ts>\", came \"2025-01-15T10:30:01Z\""),
            (json!("<perm>"),                       json!("perm-019444a0-1234-7abc-8000-abcdef123456"), ""),
            (json!("<perm>"),                       json!("perm-019444a0-1234-4abc-8000-abcdef123456"), "wanted \"<perm>\", came \"perm-019444a0-1234-4abc-8000-abcdef123456\""),
            (json!("<like:a*c*>"),                  json!("abcd"),                 ""),
            (json!("<like:a*x>"),                   json!("abcd"),                 "wanted \"<like:a*x>\", came \"abcd\""),
            (json!("${key}-${key}"),                json!("k-k"),                  ""),
            (json!("<thing>"),                      json!(1),                      "`<thing>`: no class `thing` is known"),
            (json!("${nothing}"),                   json!(1),                      "nothing is called `nothing`; known are key"),
        ];
        for (want, came, fault) in cases {
            let mut values = Values::from([("key".to_owned(), json!("k"))]);
            let got = fit(&want, &came, &mut values).err().unwrap_or_default();
            assert_eq!(got, fault, "{want} and {came}");
        }
    }

    #[test]
    fn what_is_captured_can_be_used() {
        let mut values = Values::new();
        fit(&json!({ "a": "<number:n>" }), &json!({ "a": 7 }), &mut values).unwrap();
        fit(&json!({ "b": "${n}", "c": "n${n}" }), &json!({ "b": 7, "c": "n7" }), &mut values)
            .unwrap();
    }
}
