//! Policies, as `policy show`, `policy lint` and `policy test` write them.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// One policy file: what it says, key by key.
#[derive(Serialize)]
pub struct Layer<'a> {
    /// Whose it is.
    pub source: &'static str,
    /// Where it lies.
    pub path: Cow<'a, str>,
    /// The keys that do not count because nobody has trusted the file.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub left_out: &'a [String],
    /// Its keys, dotted, with their values.
    pub settings: Map<String, Value>,
}

/// One key in force.
#[derive(Serialize)]
pub struct Effective<'a> {
    /// The key, dotted.
    pub key: &'static str,
    /// The value.
    pub value: &'a Value,
    /// The layers it comes from.
    pub sources: &'a [&'static str],
}

/// Something its author should know.
#[derive(Serialize)]
pub struct Warning<'a> {
    /// A stable code.
    pub code: &'static str,
    /// One sentence.
    pub message: &'a str,
    /// The file.
    pub path: Cow<'a, str>,
    /// The bytes of the file it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<[usize; 2]>,
}

/// One case of a policy's tests.
#[derive(Serialize)]
pub struct Tested<'a> {
    /// The file it stands in.
    pub path: Cow<'a, str>,
    /// What was judged, in one line.
    pub case: String,
    /// The outcome its author wants.
    pub wanted: &'static str,
    /// The outcome it has.
    pub got: &'static str,
    /// Whether they are the same.
    pub passed: bool,
}

/// `GET /v1/policy/cache`: what a hook on another machine keeps of the policy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cache {
    /// The version of the policy; answers to that hook's calls name the one in force.
    pub version: String,
    /// A line with version, hash and signature, and what can stop a call of this key: deny and ask
    /// rules, mode and dials. It is kept to the byte.
    pub cache: String,
}
