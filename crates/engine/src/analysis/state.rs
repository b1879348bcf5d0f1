//! What later commands of a script depend on.

use std::collections::BTreeSet;

use crate::act::Assigned;

/// What is known at one point of a script.
#[derive(Clone, Debug)]
pub struct State {
    /// The working directory relative to where the call began; none once it is not known.
    pub directory: Option<String>,
    /// The functions the script has defined so far.
    pub functions: BTreeSet<String>,
    /// Whether something changed which program a name means.
    pub is_poisoned: bool,
}

impl Default for State {
    fn default() -> State {
        State { directory: Some(String::new()), functions: BTreeSet::new(), is_poisoned: false }
    }
}

impl State {
    /// Notes a variable that outlives its command.
    pub fn assign(&mut self, assigned: &Assigned) {
        use crate::environment::{Setting, setting};
        let is_loader = setting(&assigned.name, assigned.value.as_deref()) == Setting::Loader;
        self.is_poisoned |= is_loader;
    }

    /// Moves to another directory.
    pub fn change_directory(&mut self, to: Option<&str>) {
        self.directory = match (self.directory.take(), to) {
            (_, Some(to)) if to.starts_with('/') || to.starts_with('~') => Some(to.to_owned()),
            (Some(from), Some(to)) if from.is_empty() => Some(to.to_owned()),
            (Some(from), Some(to)) => Some(format!("{}/{to}", from.trim_end_matches('/'))),
            _ => None,
        };
    }
}
