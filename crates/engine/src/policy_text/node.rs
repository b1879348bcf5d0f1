//! Nodes: a policy text as a tree of values with their places, whether it was TOML or JSON.

use std::ops::Range;

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::PolicyError;

/// One value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Option<Range<usize>>,
    pub(super) value: Value,
}

/// A value of a policy text.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Bool(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Something that no key takes: a date, a fraction, null.
    Other(&'static str, Json),
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) span: Option<Range<usize>>,
    pub(super) node: Node,
}

impl Node {
    /// Reads TOML.
    pub(super) fn from_toml(text: &str) -> Result<Node, PolicyError> {
        let table = DeTable::parse(text)
            .map_err(|error| PolicyError::new(one_line(error.message()), error.span()))?;
        Ok(of_table(table.get_ref(), table.span()))
    }

    /// Takes a JSON value, which has no places.
    pub(super) fn from_json(value: &Json) -> Node {
        let value = match value {
            Json::String(text) => Value::Text(text.clone()),
            Json::Bool(is_true) => Value::Bool(*is_true),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::Integer(integer),
                None => Value::Other("a fraction", value.clone()),
            },
            Json::Array(items) => Value::List(items.iter().map(Node::from_json).collect()),
            Json::Object(members) => Value::Table(
                members
                    .iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        span: None,
                        node: Node::from_json(value),
                    })
                    .collect(),
            ),
            Json::Null => Value::Other("null", Json::Null),
        };
        Node { span: None, value }
    }

    /// The same value as JSON.
    pub(super) fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) => Json::String(text.clone()),
            Value::Integer(integer) => Json::from(*integer),
            Value::Bool(is_true) => Json::Bool(*is_true),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(entries) => Json::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect(),
            ),
            Value::Other(_, value) => value.clone(),
        }
    }

    /// What sort of value it is, in words.
    pub(super) fn sort(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "an integer",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(sort, _) => sort,
        }
    }
}

fn of_table(table: &DeTable<'_>, span: Range<usize>) -> Node {
    let entries = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            span: Some(key.span()),
            node: of_value(value),
        })
        .collect();
    Node { span: Some(span), value: Value::Table(entries) }
}

fn of_value(value: &Spanned<DeValue<'_>>) -> Node {
    let span = value.span();
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Other("an integer beyond all bounds", Json::Null),
        },
        DeValue::Float(float) => {
            let number = float.as_str().parse::<f64>().map_or(Json::Null, Json::from);
            Value::Other("a fraction", number)
        }
        DeValue::Boolean(is_true) => Value::Bool(*is_true),
        DeValue::Datetime(date) => Value::Other("a date", Json::String(date.to_string())),
        DeValue::Array(items) => Value::List(items.iter().map(of_value).collect()),
        DeValue::Table(table) => return of_table(table, span),
    };
    Node { span: Some(span), value }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', "; ")
}
