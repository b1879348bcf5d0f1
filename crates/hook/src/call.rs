//! One tool call as a host's document says it, and what the document's fields are read with.
//!
//! Reading is lenient about fields nobody asks for and strict about the ones that decide: a field
//! of the wrong type, said twice or missing is no call.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::json;
use crate::options::Options;

/// What a host wants of the hook at an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// May this call run?
    #[default]
    Gate,
    /// The host's own prompt stands open, or would: is there an answer to it?
    Prompt,
    /// A call has run.
    Result,
    /// Something happened that is no call.
    Notice,
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable code: `HOOK_…`.
    pub code: &'static str,
    /// One sentence.
    pub text: String,
}

impl Failure {
    /// A failure.
    pub fn new(code: &'static str, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    /// A document that is not understood.
    pub fn input(text: impl Into<String>) -> Failure {
        Failure::new("HOOK_BAD_INPUT", text)
    }

    /// The line that a host is told.
    #[must_use]
    pub fn reason(&self) -> String {
        crate::answer::reason(&self.text, self.code)
    }
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The host, as the tables of tools know it.
    pub host: &'static str,
    /// The event, in the host's word.
    pub event: String,
    /// What is wanted.
    pub part: Part,
    /// The host's name for the tool; the event where there is none.
    pub tool: String,
    /// Its input: the text of a JSON object, to the byte.
    pub input: String,
    /// The working directory.
    pub cwd: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// What the host calls this call.
    pub call_id: Option<String>,
    /// The agent, where the host names one of several.
    pub agent: Option<String>,
    /// A mode; it can only tighten.
    pub mode: Option<&'static str>,
    /// Whether a person sits in front of the host; none where it does not say.
    pub is_attended: Option<bool>,
    /// Which entry and event it came through.
    pub slot: String,
    /// Whether the answer has the shape of another dialect of the host.
    pub is_pascal: bool,
    /// Where its paths lead on this machine, for a daemon on another: the text of an object.
    pub world: Option<String>,
}

impl Call {
    /// The call as `POST /v1/calls` takes it.
    #[must_use]
    pub fn body(&self, home: Option<&str>, wait_ms: u64) -> String {
        let mut members = vec![
            ("tool", json::quoted(&self.tool)),
            ("input", self.input.clone()),
            ("host", json::quoted(self.host)),
            ("receipt", "true".to_owned()),
            ("wait_ms", wait_ms.to_string()),
        ];
        let others = [
            ("cwd", self.cwd.as_deref()),
            ("home", home),
            ("session", self.session.as_deref()),
            ("run", self.run.as_deref()),
            ("call_id", self.call_id.as_deref()),
            ("agent", self.agent.as_deref()),
            ("mode", self.mode),
            ("slot", Some(&self.slot)),
        ];
        for (name, value) in others {
            members.extend(value.map(|value| (name, json::quoted(value))));
        }
        members.extend(self.world.clone().map(|world| ("world", world)));
        json::object(&members)
    }
}

/// The fields of a document.
#[derive(Debug)]
pub struct Fields<'a> {
    fields: BTreeMap<String, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Reads a document that is one JSON object.
    ///
    /// # Errors
    /// It is none, or says something twice.
    pub fn read(bytes: &'a [u8]) -> Result<Fields<'a>, Failure> {
        let text = str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
        json::check(text).map_err(bad)?;
        Fields::of(text).ok_or_else(|| bad("it is no JSON object"))
    }

    /// The fields of the text of an object that was checked before.
    fn of(text: &'a str) -> Option<Fields<'a>> {
        Some(Fields { fields: serde_json::from_str(text).ok()? })
    }

    /// Whether a field is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|raw| raw.get() != "null")
    }

    /// A text, if it is there.
    ///
    /// # Errors
    /// It is no text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let Some(raw) = self.fields.get(name).filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        let text = serde_json::from_str(raw.get());
        text.map(Some).map_err(|_| Failure::input(format!("`{name}` is no text")))
    }

    /// A text that must be there and say something.
    ///
    /// # Errors
    /// It is no text, or not there.
    pub fn need(&self, name: &str) -> Result<String, Failure> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| Failure::input(format!("`{name}` is missing")))
    }

    /// The text of an object that must be there, to the byte.
    ///
    /// # Errors
    /// It is no object, or not there.
    pub fn object(&self, name: &str) -> Result<String, Failure> {
        let raw = self.fields.get(name).map(|raw| raw.get());
        let raw = raw.ok_or_else(|| Failure::input(format!("`{name}` is missing")))?;
        if raw.starts_with('{') {
            return Ok(raw.to_owned());
        }
        Err(Failure::input(format!("`{name}` is no object")))
    }

    /// The fields of an object inside, if it is there.
    ///
    /// # Errors
    /// It is no object.
    pub fn inside(&self, name: &str) -> Result<Option<Fields<'a>>, Failure> {
        let Some(raw) = self.fields.get(name).filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        let raw: &'a RawValue = raw;
        let fields = Fields::of(raw.get());
        fields.map(Some).ok_or_else(|| Failure::input(format!("`{name}` is no object")))
    }

    /// The input of a call that stands as JSON inside a text, or as an object.
    ///
    /// # Errors
    /// It is neither, or not there.
    pub fn object_or_text(&self, name: &str) -> Result<String, Failure> {
        let raw = self.fields.get(name).map_or("", |raw| raw.get());
        if !raw.starts_with('"') {
            return self.object(name);
        }
        let text = self.need(name)?;
        json::check(&text).map_err(|what| Failure::input(format!("`{name}`: {what}")))?;
        if text.trim_start().starts_with('{') {
            return Ok(text.trim().to_owned());
        }
        Err(Failure::input(format!("`{name}` holds no object")))
    }

    /// The names of the fields.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// A field, to the byte.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.fields.get(name).map(|raw| raw.get())
    }
}

/// What a host's reader works with.
pub struct Given<'a> {
    /// The fields of its document.
    pub fields: &'a Fields<'a>,
    /// The words behind `hook`.
    pub options: &'a Options,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The directory of this process.
    pub directory: Option<&'a str>,
    /// The document, to the byte.
    pub text: &'a str,
}

impl Given<'_> {
    /// The event and what it wants: what the document says, which must be what the arguments say.
    ///
    /// # Errors
    /// There is none, it is unknown, or the arguments name another.
    pub fn event(&self, events: &[(&str, Part)]) -> Result<(String, Part), Failure> {
        let said = self.fields.text("hook_event_name")?;
        self.event_of(said, events)
    }

    /// The same where the document names its event elsewhere, or not at all.
    ///
    /// # Errors
    /// There is none, it is unknown, or the arguments name another.
    pub fn event_of(
        &self,
        said: Option<String>,
        events: &[(&str, Part)],
    ) -> Result<(String, Part), Failure> {
        let name = match (said, &self.options.event) {
            (Some(said), Some(given)) if said != *given => {
                let text = format!("the document is about another event than `{given}`");
                return Err(Failure::new("HOOK_WRONG_HOST", text));
            }
            (Some(name), _) => name,
            (None, Some(given)) => given.clone(),
            (None, None) => return Err(Failure::input("no event is named")),
        };
        let part = events.iter().find(|(known, _)| *known == name).map(|(_, part)| *part);
        let part = part.ok_or_else(|| Failure::input("the event is unknown"))?;
        Ok((name, part))
    }
}

fn bad(what: &str) -> Failure {
    Failure::input(format!("standard input: {what}"))
}
