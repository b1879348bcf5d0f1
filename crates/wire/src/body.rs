//! Bodies of requests: read whole and strictly, with the field named that is wrong.

use serde::Deserialize;

use crate::errors::Error;
use crate::json;

/// The longest name of a session, a run, a call, an agent or an owner, in characters.
pub const MOST_NAME: usize = 200;

/// Reads a body: unknown and doubled fields are refused by name.
///
/// # Errors
/// It is not what is expected; the message names the field.
pub fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Error> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    // A list of values without their names would be taken for an object otherwise.
    if text.trim_start().starts_with('[') {
        return Err(Error::invalid("the body is a list; an object is expected"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut reader);
    let value = read.map_err(|error| {
        let path = error.path().to_string();
        let message = json::message(error.inner());
        // What is unknown, missing or doubled is named by the message itself.
        let is_deep = path != "." && message.starts_with("missing field");
        let is_named =
            path == "." || message.contains('`') && !message.starts_with("invalid") && !is_deep;
        Error::invalid(if is_named { message } else { format!("`{path}`: {message}") })
    })?;
    reader.end().map_err(|error| Error::invalid(json::message(&error)))?;
    Ok(value)
}

/// Checks a name that the other side chose: 1 to 200 characters, no control characters.
///
/// # Errors
/// It is none; the message names the field.
pub fn name(field: &str, text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::invalid(format!("`{field}` is empty")));
    }
    if text.chars().count() > MOST_NAME {
        return Err(Error::invalid(format!("`{field}` is longer than {MOST_NAME} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(format!("`{field}` has a control character in it")));
    }
    Ok(())
}

/// Checks a directory: absolute, no NUL.
///
/// # Errors
/// It is none; the message names the field.
pub fn directory(field: &str, text: &str) -> Result<(), Error> {
    if !text.starts_with('/') {
        let message = format!("`{field}` must be an absolute path, not `{text}`");
        return Err(Error::invalid(message));
    }
    if text.contains('\0') {
        return Err(Error::invalid(format!("`{field}` has a NUL in it")));
    }
    Ok(())
}
