//! Where in a text an item or a member stands, which of them are ours, and which we left empty.

use serde_json::Value;

use super::tree::{Kind, Node, member, value};

/// Where an item stands, and where the one before it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) before: Option<usize>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The places of the items of a list or the members of an object.
pub(super) fn places(node: &Node) -> Vec<Place> {
    let spans: Vec<(usize, usize)> = match &node.kind {
        Kind::Object(members) => {
            members.iter().map(|member| (member.start, member.value.end)).collect()
        }
        Kind::Array(items) => items.iter().map(|item| (item.start, item.end)).collect(),
        Kind::Plain => Vec::new(),
    };
    let before = std::iter::once(None).chain(spans.iter().map(|(_, end)| Some(*end)));
    let place = |(&(start, end), before)| Place { before, start, end };
    spans.iter().zip(before).map(place).collect()
}

pub(super) fn find_ours(
    text: &str,
    node: &Node,
    is_ours: &dyn Fn(&Value) -> bool,
) -> Option<Place> {
    match &node.kind {
        Kind::Object(members) => {
            members.iter().find_map(|member| find_ours(text, &member.value, is_ours))
        }
        Kind::Array(items) => items.iter().zip(places(node)).find_map(|(item, place)| {
            if is_ours(&value(text, item)) {
                return Some(place);
            }
            find_ours(text, item, is_ours)
        }),
        Kind::Plain => None,
    }
}

/// The item or member around a place whose lists are all empty: a group without hooks, an event
/// without groups, hooks without events.
pub(super) fn find_emptied(root: &Node, at: usize, stood: Option<&Node>) -> Option<Place> {
    let is_empty = |node: &Node| match &node.kind {
        Kind::Object(members) => members.is_empty(),
        Kind::Array(items) => items.is_empty(),
        Kind::Plain => false,
    };
    // A group is empty if its list of hooks is, whatever its matcher.
    let is_group = |node: &Node| {
        member(node, "hooks").is_some_and(|member| {
            matches!(member.value.kind, Kind::Array(_)) && is_empty(&member.value)
        })
    };
    let around = |node: &Node| node.start <= at && at <= node.end;
    let inner: Vec<(&Node, Option<&Node>)> = match &root.kind {
        Kind::Object(members) => {
            let before = |name: &str| Some(&member(stood?, name)?.value);
            members.iter().map(|member| (&member.value, before(&member.name))).collect()
        }
        Kind::Array(items) => items.iter().map(|item| (item, None)).collect(),
        Kind::Plain => Vec::new(),
    };
    let mut inner = inner.into_iter().zip(places(root));
    let ((node, stood), place) = inner.find(|((node, _), _)| around(node))?;
    if is_empty(node) || (matches!(root.kind, Kind::Array(_)) && is_group(node)) {
        return stood.is_none().then_some(place);
    }
    find_emptied(node, at, stood)
}
