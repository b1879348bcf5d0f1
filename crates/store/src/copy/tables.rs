//! The tables of a store, as both kinds have them.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Integer,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
}

/// A table.
pub(super) struct Table {
    /// Its name.
    pub(super) name: &'static str,
    /// Its columns.
    pub(super) columns: &'static [(&'static str, Kind)],
    /// Whether the database counts its first column by itself.
    pub(super) is_counted: bool,
}

/// What stands in a column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Nothing.
    Empty,
    /// A number.
    Integer(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// It in a way that no two different cells share.
    pub(super) fn written(&self) -> String {
        match self {
            Cell::Empty => "-;".to_owned(),
            Cell::Integer(number) => format!("{number};"),
            Cell::Text(text) => format!("{}:{text};", text.len()),
            Cell::Bytes(bytes) => format!("x{};", portcullis_approval::key::hex(bytes)),
        }
    }
}

use Kind::{Bytes as B, Integer as I, Text as T};

/// Every table that is moved, those that others refer to first. How many asks are pending is not
/// moved but counted anew.
#[rustfmt::skip]
pub(super) const TABLES: [Table; 11] = [
    Table { name: "asks", is_counted: true, columns: &[
        ("number", I), ("id", B), ("key", B), ("agent", T), ("owner", T), ("label", T), ("session", T),
        ("run", T), ("call_id", T), ("digest", T), ("opened_at", I), ("deadline_at", I),
        ("unused_approval_s", I), ("state", T), ("outcome", T), ("reply", T), ("scope", T),
        ("decided_by", T), ("decided_door", T), ("decided_at", I), ("reason", T), ("feedback", T),
        ("decided_input", T), ("grants", B), ("claimed_at", I)] },
    Table { name: "ask_texts", is_counted: false, columns: &[
        ("number", I), ("door", T), ("tool", T), ("input", T), ("cwd", T), ("home", T), ("shell", T),
        ("host", T), ("description", T), ("bound", T), ("verdict", T), ("tier", T), ("is_firm", I),
        ("offers", T), ("fallback", T), ("profile", T)] },
    Table { name: "grants", is_counted: false, columns: &[
        ("id", B), ("owner", T), ("key", B), ("agent", T), ("rule", T), ("tool", T), ("input", T),
        ("cwd", T), ("reply", T), ("reach", T), ("reach_name", T), ("expires_at", I),
        ("uses_left", I), ("made_by", T), ("made_at", I), ("ask", B), ("revoked_at", I),
        ("used", I), ("used_at", I), ("profile", T)] },
    Table { name: "keys", is_counted: false, columns: &[
        ("id", B), ("role", T), ("name", T), ("owners", T), ("made_at", I), ("expires_at", I),
        ("revoked_at", I), ("hash", B)] },
    Table { name: "devices", is_counted: false, columns: &[
        ("id", B), ("hash", B), ("key", B), ("agent", T), ("about", T), ("paired_at", I),
        ("revoked_at", I)] },
    Table { name: "pairings", is_counted: false, columns: &[
        ("id", B), ("hash", B), ("key", B), ("agent", T), ("must_confirm", I), ("made_at", I),
        ("expires_at", I)] },
    Table { name: "sessions", is_counted: false, columns: &[
        ("session", T), ("key", B), ("owner", T), ("root", T), ("policy", T), ("began_at", I),
        ("seen_at", I)] },
    Table { name: "runs", is_counted: false, columns: &[
        ("key", B), ("run", T), ("owner", T), ("session", T), ("about", T), ("started_at", I),
        ("ended_at", I)] },
    Table { name: "audit", is_counted: false, columns: &[
        ("position", I), ("node", T), ("seq", I), ("at", I), ("kind", T), ("actor", T),
        ("subject", T), ("owner", T), ("data", T), ("prev", B), ("hash", B)] },
    Table { name: "chains", is_counted: false, columns: &[
        ("node", T), ("seq", I), ("hash", B), ("position", I), ("base_seq", I), ("base_hash", B),
        ("base_position", I)] },
    Table { name: "checkpoints", is_counted: true, columns: &[
        ("number", I), ("node", T), ("seq", I), ("hash", B), ("at", I), ("key", T),
        ("signature", T)] },
];

impl Table {
    /// The names of the columns.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}
