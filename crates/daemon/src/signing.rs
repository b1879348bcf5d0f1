//! The key of a node: it is that of all nodes, and signs the end of the chain.

use portcullis_approval::audit::{Checkpoint, Entry};
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::receipt::{Signer, key_name};
use portcullis_store::{Signing, Store, StoreError};

use crate::StartError;
use crate::authority::Authority;

/// Sees to it that all nodes sign with one key: what one of them signs, everybody must be able to
/// check. Gives the name of the key that this node's replaces, where nobody else is there.
///
/// # Errors
/// Other nodes are there, and sign with another key.
pub(crate) async fn agree(
    store: &dyn Store,
    signer: &Signer,
) -> Result<Option<String>, StartError> {
    match store.signing_key(signer.public()).await? {
        Signing::Agreed => Ok(None),
        Signing::Replaced(before) => Ok(Some(key_name(&before))),
        Signing::Other(theirs) => {
            let (ours, theirs) = (signer.name(), key_name(&theirs));
            Err(StartError::OtherSigner { ours, theirs })
        }
    }
}

/// Says that from now on another key signs than before.
///
/// # Errors
/// It could not be recorded.
pub(crate) async fn note(authority: &Authority, before: &str) -> Result<(), StoreError> {
    let after = authority.signer().name();
    tracing::warn!("key `{after}` signs from now on, in the place of `{before}`");
    let now = authority.now();
    let entry = Entry {
        kind: "signer.changed",
        at: now,
        actor: "portcullis".to_owned(),
        subject: after.clone(),
        owner: None,
        data: object(vec![("after", quoted(&after)), ("before", quoted(before))]).into(),
    };
    authority.store().record(vec![entry], Vec::new(), now).await
}

/// Looks whether the key that all sign with is still this one's: two that came up in the same
/// moment may not have seen each other.
pub(crate) async fn look(authority: &Authority) {
    let ours = authority.signer();
    if let Ok(Signing::Other(theirs)) = authority.store().signing_key(ours.public()).await {
        let (ours, theirs) = (ours.name(), key_name(&theirs));
        tracing::error!(
            "this node signs with key `{ours}` and others with `{theirs}`: give all nodes one \
             `signing.key` and start them again"
        );
    }
}

/// Signs the end of the chain.
pub(crate) async fn sign(authority: &Authority) {
    let signed = async {
        let head = authority.store().head().await?;
        if head.seq == 0 {
            return Ok(());
        }
        let node = authority.store().node();
        let (now, signer) = (authority.now(), authority.signer());
        let checkpoint = Checkpoint::sign(node, head.seq, head.hash, now, signer);
        authority.store().add_checkpoint(&checkpoint).await
    };
    if let Err::<(), StoreError>(error) = signed.await {
        tracing::error!("the end of the audit could not be signed: {error}");
    }
}
