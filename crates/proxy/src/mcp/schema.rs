//! Whether arguments fit a tool's schema, as far as it is written in words that are known here.
//!
//! An approver's edit is forwarded only if it fits; a schema with other words fits nothing.

use serde_json::Value;

/// Words that say nothing about which values fit.
const REMARKS: &[&str] =
    &["$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"];

/// Whether a value fits.
///
/// # Errors
/// It does not, or nobody here can tell; the message says where.
pub fn check(schema: &Value, value: &Value) -> Result<(), String> {
    fits(schema, value, "the input")
}

fn fits(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let words = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(words) => words,
        Value::Null
        | Value::Bool(false)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_) => {
            return Err(format!("{at} must not be there"));
        }
    };
    for (word, said) in words {
        match word.as_str() {
            "type" if !is_type(said, value) => return Err(format!("{at} is not of its type")),
            "enum" if !said.as_array().is_some_and(|all| all.contains(value)) => {
                return Err(format!("{at} is none of its values"));
            }
            "const" if said != value => return Err(format!("{at} is not its value")),
            "required" => {
                let names = said.as_array().into_iter().flatten().filter_map(Value::as_str);
                for name in names {
                    if value.is_object() && value.get(name).is_none() {
                        return Err(format!("{at} lacks `{name}`"));
                    }
                }
            }
            "properties" => {
                for (name, inner) in said.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        fits(inner, value, &format!("`{name}`"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = words.get("properties").and_then(Value::as_object);
                for (name, value) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        fits(said, value, &format!("`{name}`"))?;
                    }
                }
            }
            "items" => {
                for value in value.as_array().into_iter().flatten() {
                    fits(said, value, &format!("an item of {at}"))?;
                }
            }
            "type" | "enum" | "const" => {}
            other if REMARKS.contains(&other) => {}
            other => return Err(format!("nobody can tell whether {at} fits `{other}`")),
        }
    }
    Ok(())
}

fn is_type(said: &Value, value: &Value) -> bool {
    if let Some(several) = said.as_array() {
        return several.iter().any(|said| is_type(said, value));
    }
    match said.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_surely_fits_is_forwarded() {
        let schema = json!({
            "type": "object", "required": ["path"], "additionalProperties": false,
            "properties": {
                "path": { "type": "string", "description": "where" },
                "mode": { "enum": ["a", "b"] },
                "lines": { "type": "array", "items": { "type": "integer" } },
            },
        });
        #[rustfmt::skip]
        let cases = [
            (json!({ "path": "x" }),                      true,  "what is needed"),
            (json!({ "path": "x", "lines": [1, 2] }),     true,  "items that fit"),
            (json!({ "path": 1 }),                        false, "of another type"),
            (json!({ "mode": "a" }),                      false, "something is missing"),
            (json!({ "path": "x", "mode": "c" }),         false, "none of the values"),
            (json!({ "path": "x", "more": 1 }),           false, "nothing more may be there"),
            (json!({ "path": "x", "lines": [1.5] }),      false, "an item that does not fit"),
        ];
        for (value, want, why) in cases {
            assert_eq!(check(&schema, &value).is_ok(), want, "{why}: {value}");
        }
        assert!(check(&json!({ "oneOf": [] }), &json!({})).is_err(), "nobody can tell");
        assert!(check(&json!({ "pattern": "x" }), &json!("x")).is_err(), "nobody can tell");
    }
}
