//! Values of statements, and texts as PostgreSQL can hold them.
//!
//! PostgreSQL's texts cannot hold the character zero, which an agent may well send. It is written
//! as two characters, of which the first is one that is written as two itself.

use std::borrow::Cow;

use portcullis_approval::{Id, Moment, Owners};
use tokio_postgres::types::ToSql;

use crate::StoreError;
use crate::rows::{Row, integer};

/// One value of a statement.
pub(super) type Value = Box<dyn ToSql + Sync + Send>;

/// A statement with its values.
pub(super) struct Statement {
    /// The text, with `$1` and so on.
    pub(super) text: Cow<'static, str>,
    /// The values.
    pub(super) values: Vec<Value>,
}

impl Statement {
    /// A statement.
    pub(super) fn new(text: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Statement {
        Statement { text: text.into(), values }
    }

    /// The values as the driver takes them.
    pub(super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

/// The values of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::postgres::values::Put::put($value)),*] };
}
pub(super) use values;

/// What can be a value.
pub(super) trait Put {
    /// The value.
    fn put(self) -> Value;
}

impl Put for &str {
    fn put(self) -> Value {
        Box::new(escaped(self).into_owned())
    }
}

impl Put for &String {
    fn put(self) -> Value {
        self.as_str().put()
    }
}

impl Put for String {
    fn put(self) -> Value {
        self.as_str().put()
    }
}

impl Put for Option<&str> {
    fn put(self) -> Value {
        Box::new(self.map(|text| escaped(text).into_owned()))
    }
}

impl Put for &Option<String> {
    fn put(self) -> Value {
        self.as_deref().put()
    }
}

impl Put for Option<String> {
    fn put(self) -> Value {
        self.as_deref().put()
    }
}

impl Put for Vec<String> {
    fn put(self) -> Value {
        Box::new(self.iter().map(|text| escaped(text).into_owned()).collect::<Vec<String>>())
    }
}

impl Put for i64 {
    fn put(self) -> Value {
        Box::new(self)
    }
}

impl Put for u64 {
    fn put(self) -> Value {
        integer(self).put()
    }
}

impl Put for usize {
    fn put(self) -> Value {
        i64::try_from(self).unwrap_or(i64::MAX).put()
    }
}

impl Put for bool {
    fn put(self) -> Value {
        i64::from(self).put()
    }
}

impl Put for Vec<i64> {
    fn put(self) -> Value {
        Box::new(self)
    }
}

impl Put for Vec<Vec<u8>> {
    fn put(self) -> Value {
        Box::new(self)
    }
}

impl Put for Vec<Option<String>> {
    fn put(self) -> Value {
        let escape = |text: Option<String>| text.map(|text| escaped(&text).into_owned());
        Box::new(self.into_iter().map(escape).collect::<Vec<Option<String>>>())
    }
}

impl Put for Option<Vec<u8>> {
    fn put(self) -> Value {
        Box::new(self)
    }
}

impl Put for &[u8; 32] {
    fn put(self) -> Value {
        Box::new(self.to_vec())
    }
}

impl Put for Id {
    fn put(self) -> Value {
        Box::new(self.as_bytes().to_vec())
    }
}

impl Put for Moment {
    fn put(self) -> Value {
        self.ms().put()
    }
}

impl Put for Option<Moment> {
    fn put(self) -> Value {
        Box::new(self.map(Moment::ms))
    }
}

/// The character that the two-character writing begins with.
const MARK: char = '\u{10ffff}';

/// A text as PostgreSQL can hold it.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        match character {
            '\0' => out.extend([MARK, '0']),
            MARK => out.extend([MARK, '1']),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// A text as it was.
pub(crate) fn unescaped(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            MARK if characters.next() == Some('0') => out.push('\0'),
            other => out.push(other),
        }
    }
    out
}

impl Row for tokio_postgres::Row {
    fn text(&self, place: usize) -> Result<Option<String>, StoreError> {
        Ok(self.try_get::<_, Option<String>>(place)?.map(unescaped))
    }

    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError> {
        Ok(self.try_get(place)?)
    }

    fn bytes(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.try_get(place)?)
    }
}

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
    pub(super) fn with(&mut self, condition: &str, value: impl Put) {
        self.plain(condition);
        let place = self.take(value);
        self.text.push_str(&place);
    }

    /// The same where there is a value.
    pub(super) fn maybe(&mut self, condition: &str, value: Option<impl Put>) {
        if let Some(value) = value {
            self.with(condition, value);
        }
    }

    /// The owner is one of these.
    pub(super) fn owners(&mut self, column: &str, owners: &Owners) {
        match owners {
            Owners::All => {}
            Owners::Some(owners) => {
                let place = self.take(owners.clone());
                self.plain(&format!("{column} = ANY ({place})"));
            }
        }
    }

    /// Where a value stands in the statement.
    pub(super) fn take(&mut self, value: impl Put) -> String {
        self.values.push(value.put());
        format!(" ${}", self.values.len())
    }

    /// The conditions as text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The query with these conditions, its order and how many rows at most.
    pub(super) fn query(mut self, select: &str, order: &str, limit: usize) -> Statement {
        let place = self.take(limit);
        let text = format!("{select}{} ORDER BY {order} LIMIT{place}", self.text);
        Statement::new(text, self.values)
    }

    /// A whole text with these values.
    pub(super) fn statement(self, text: String) -> Statement {
        Statement::new(text, self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\0", "\u{10ffff}", "\u{10ffff}0", "\0\u{10ffff}1\0"] {
            let held = escaped(text).into_owned();
            assert!(!held.contains('\0'), "{text:?}");
            assert_eq!(unescaped(held), text);
        }
    }
}
