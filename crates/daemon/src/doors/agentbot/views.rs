//! Views: which of the asks that an approver may see a client wants to see.

use portcullis_approval::key::LOCAL;
use portcullis_approval::{Ask, Owners, Role};
use portcullis_store::{AskFilter, StoreError};

use crate::App;

/// Everything that is visible.
const EVERYTHING: &str = "default";

/// What a client wants to see of what it may see.
#[derive(Clone, Debug)]
pub(super) struct View {
    name: String,
    owners: Owners,
}

impl View {
    /// The view of this name: of a user, of an agent, or of everything; none where these owners'
    /// approver may not have it.
    pub(super) async fn named(
        app: &App,
        owners: Owners,
        name: &str,
    ) -> Result<Option<View>, StoreError> {
        let is_open = is_open(app, &owners, name).await?;
        Ok(is_open.then(|| View { name: name.to_owned(), owners }))
    }

    /// Whether an ask is in it.
    pub(super) fn shows(&self, ask: &Ask) -> bool {
        let asker = &ask.asker;
        self.includes(&asker.owner, &asker.agent, asker.label.as_deref())
    }

    /// Whether something of this owner, agent and label is in it.
    pub(super) fn includes(&self, owner: &str, agent: &str, label: Option<&str>) -> bool {
        self.owners.include(owner)
            && (self.name == EVERYTHING
                || self.name == agent
                || self.name == owner
                || Some(self.name.as_str()) == label)
    }
}

async fn is_open(app: &App, owners: &Owners, name: &str) -> Result<bool, StoreError> {
    if name == EVERYTHING || owners.include(name) {
        return Ok(true);
    }
    // A name that belongs to somebody else is theirs, whatever agents call themselves.
    let keys = app.identity.keys();
    let agents = || keys.iter().filter(|key| key.role == Role::Agent);
    if agents().any(|key| key.owner() == name) {
        return Ok(false);
    }
    let mut named = agents().filter(|key| key.name == name && !app.identity.is_of_many(key.id));
    if let Some(first) = named.next() {
        return Ok(owners.include(first.owner()) || named.any(|key| owners.include(key.owner())));
    }
    if owners.include(LOCAL) {
        return Ok(true);
    }
    // An agent behind a key may have a name of its own.
    let agent = Some(name.to_owned());
    let filter = AskFilter { state: None, agent, ..AskFilter::pending(owners.clone(), 1) };
    Ok(!app.authority.store().asks(&filter).await?.is_empty())
}
