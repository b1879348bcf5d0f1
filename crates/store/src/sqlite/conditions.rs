//! Conditions: the part of a query that a filter makes.

use portcullis_approval::Owners;
use rusqlite::types::Value;

/// Conditions that must all hold, with the values they name.
#[derive(Default)]
pub(super) struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Conditions {
    /// One that names no value.
    pub(super) fn plain(&mut self, condition: &str) {
        self.text.push_str(if self.text.is_empty() { " WHERE " } else { " AND " });
        self.text.push_str(condition);
    }

    /// One about a value, which stands behind the operator at its end.
    pub(super) fn with(&mut self, condition: &str, value: impl Into<Value>) {
        self.plain(condition);
        self.text.push_str(" ?");
        self.values.push(value.into());
    }

    /// The same where there is a value.
    pub(super) fn maybe(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.with(condition, value);
        }
    }

    /// Not both: the node is this one, and the position is not behind this one.
    pub(super) fn beyond(&mut self, node: String, position: i64) {
        self.with("NOT (node =", node);
        self.with("position <=", position);
        self.text.push(')');
    }

    /// The column is one of these texts.
    pub(super) fn one_of(&mut self, column: &str, texts: &[String]) {
        let marks = vec!["?"; texts.len()].join(", ");
        self.plain(&format!("{column} IN ({marks})"));
        self.values.extend(texts.iter().cloned().map(Value::from));
    }

    /// The owner is one of these.
    pub(super) fn owners(&mut self, column: &str, owners: &Owners) {
        match owners {
            Owners::All => {}
            Owners::Some(owners) => self.one_of(column, owners),
        }
    }

    /// The query with these conditions, its order and how many rows at most.
    pub(super) fn query(mut self, select: &str, order: &str, limit: usize) -> (String, Vec<Value>) {
        self.values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        (format!("{select}{} ORDER BY {order} LIMIT ?", self.text), self.values)
    }
}
