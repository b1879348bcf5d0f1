//! Identity: who a caller is, by what it shows and never by what it says.
//!
//! Keys are looked up by their hash. The socket gives the agent's role and no more; a key sent
//! over it counts as what it is. Cookies are keys that a one-time code was exchanged for.
//!
//! A browser shows its cookies to every port of a host, so that whatever serves a page on this
//! machine would learn a cookie that is a whole key. The dashboard's is therefore half of one: the
//! other half lies in the page's own storage, which belongs to one port, and comes in a header.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::key::{LOCAL, Secret, hash};
use portcullis_approval::{Approver, Asker, Id, Key, Moment, Owners, Role};
use portcullis_store::{PairingRecord, Store, StoreError};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

use crate::chance;
use crate::clock::Clock;

/// The name of the browser's cookie.
pub const COOKIE: &str = "portcullis";

/// The header in which a page shows its half of a browser's key.
pub const PAGE: &str = "x-portcullis-page";

/// What the names of browsers' keys begin with.
pub const BROWSER: &str = "dashboard-";

/// How long a login link is good.
const CODE_S: u64 = 600;

/// How long a browser stays logged in.
const COOKIE_S: u64 = 30 * 24 * 3600;

/// How a caller showed who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// By its connection: the socket of this user.
    Socket,
    /// By a key in a header.
    Header,
    /// By a key in the address, where a dialect's clients can do no better.
    Query,
    /// By a cookie.
    Cookie,
    /// By being local, where the configuration waives the key.
    Waiver,
}

/// Somebody whose credential holds.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The key.
    pub key: Arc<Key>,
    /// How it was shown.
    pub via: Via,
    /// Whether it came over the socket of this user, so that its files are this machine's.
    pub is_local: bool,
    /// The door it came through.
    pub door: &'static str,
}

impl Caller {
    /// The caller as an agent, under the name it gives itself.
    #[must_use]
    pub fn asker(&self, agent: Option<&str>) -> Asker {
        Asker {
            key: self.key.id,
            agent: agent.unwrap_or(&self.key.name).to_owned(),
            owner: self.key.owner().to_owned(),
            label: None,
        }
    }

    /// The caller as an approver.
    #[must_use]
    pub fn approver(&self) -> Approver {
        Approver {
            name: self.key.name.clone(),
            key: self.key.id,
            owners: self.owners(),
            door: self.door.to_owned(),
        }
    }

    /// Whose affairs it may see.
    #[must_use]
    pub fn owners(&self) -> Owners {
        match self.key.role {
            Role::Admin => Owners::All,
            Role::Approver | Role::Agent => self.key.owners.clone(),
        }
    }
}

/// Keys by the hashes of their secrets.
type Keys = HashMap<[u8; 32], Arc<Key>>;

/// Which keys there were at some time.
// INVARIANT: weak, and kept: nothing else can come to lie at this address meanwhile.
#[derive(Clone, Debug)]
pub struct Generation(Weak<Keys>);

/// Every credential that counts.
#[derive(Debug)]
pub struct Identity {
    keys: ArcSwap<Keys>,
    /// Tells whoever holds a connection that the keys are others by now.
    changed: watch::Sender<()>,
    socket: Arc<Key>,
    waiver: Arc<Key>,
    internal: Option<(Arc<Key>, [u8; 32])>,
    /// What login codes are kept under: no key has this id.
    login: Id,
}

impl Identity {
    /// The credentials, with the value of `INTERNAL_API_KEY` if there is one.
    #[must_use]
    pub fn new(internal: Option<&str>) -> Identity {
        // Fixed ids: an agent finds its asks again after a restart.
        let fixed = |name: &str, role: Role, chance: &[u8; 10]| {
            Arc::new(Key {
                id: Id::new(Moment::from_ms(0), chance),
                role,
                name: name.to_owned(),
                owners: Owners::Some(vec![LOCAL.to_owned()]),
                made_at: Moment::from_ms(0),
                expires_at: None,
                revoked_at: None,
            })
        };
        let internal = internal.filter(|secret| !secret.is_empty());
        Identity {
            keys: ArcSwap::default(),
            changed: watch::Sender::new(()),
            socket: fixed("local", Role::Agent, b"socket\0\0\0\0"),
            waiver: fixed("loopback", Role::Approver, b"loopback\0\0"),
            internal: internal
                .map(|secret| (fixed("internal", Role::Agent, b"internal\0\0"), hash(secret))),
            login: Id::new(Moment::from_ms(0), b"login\0\0\0\0\0"),
        }
    }

    /// Reads the keys again.
    ///
    /// # Errors
    /// The store cannot be read; the keys that were known still count.
    pub async fn refresh(&self, store: &dyn Store) -> Result<(), StoreError> {
        let keys = store.keys().await?;
        let keys = keys.into_iter().map(|record| (record.hash, Arc::new(record.key))).collect();
        self.keys.store(Arc::new(keys));
        self.changed.send_replace(());
        Ok(())
    }

    /// Which keys there are now.
    #[must_use]
    pub fn generation(&self) -> Generation {
        Generation(Arc::downgrade(&self.keys.load()))
    }

    /// Whether the keys are still those.
    #[must_use]
    pub fn is_still(&self, generation: &Generation) -> bool {
        std::ptr::eq(generation.0.as_ptr(), Arc::as_ptr(&self.keys.load()))
    }

    /// Every key that is known, the fixed ones included.
    #[must_use]
    pub fn keys(&self) -> Vec<Arc<Key>> {
        let fixed = [Some(&self.socket), self.internal.as_ref().map(|(key, _)| key)];
        let known = self.keys.load();
        known.values().chain(fixed.into_iter().flatten()).cloned().collect()
    }

    /// The key of callers over the socket.
    #[must_use]
    pub fn socket(&self) -> Arc<Key> {
        Arc::clone(&self.socket)
    }

    /// The key of local callers without one, where the configuration waives it: an approver of
    /// the owner of whatever has no other.
    #[must_use]
    pub fn waiver(&self) -> Arc<Key> {
        Arc::clone(&self.waiver)
    }

    /// The key of this id, if it counts at this moment.
    #[must_use]
    pub fn by_id(&self, id: Id, now: Moment) -> Option<Arc<Key>> {
        let internal = self.internal.as_ref().map(|(key, _)| key);
        let fixed = [Some(&self.socket), Some(&self.waiver), internal];
        let fixed = fixed.into_iter().flatten().find(|key| key.id == id).cloned();
        fixed.or_else(|| {
            let keys = self.keys.load();
            keys.values().find(|key| key.id == id && key.counts_at(now)).cloned()
        })
    }

    /// Comes when a key counts no longer: it was revoked, or its time is over.
    ///
    /// Who is let in by a key shows it once; a connection that stays open asks here.
    pub async fn ended(&self, key: &Key, clock: &Clock) {
        let mut changed = self.changed.subscribe();
        while self.by_id(key.id, clock.now()).is_some() {
            let left = key.expires_at.map(|end| end.ms().saturating_sub(clock.now().ms()).max(1));
            let over = async {
                match left.and_then(|left| u64::try_from(left).ok()) {
                    Some(left) => tokio::time::sleep(Duration::from_millis(left)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // INVARIANT: `self` holds the sender, so that this ends with a change only.
                _ = changed.changed() => {}
                () = over => {}
            }
        }
    }

    /// Whether a key stands for many agents, which name themselves: the socket's, and the one
    /// that `INTERNAL_API_KEY` gives.
    #[must_use]
    pub fn is_of_many(&self, key: Id) -> bool {
        self.socket.id == key || self.is_shared(key)
    }

    /// Whether a key is the shared one that `INTERNAL_API_KEY` gives.
    #[must_use]
    pub fn is_shared(&self, key: Id) -> bool {
        self.internal.as_ref().is_some_and(|(internal, _)| internal.id == key)
    }

    /// The key a secret opens, if it counts at this moment.
    #[must_use]
    pub fn by_secret(&self, secret: &str, now: Moment) -> Option<Arc<Key>> {
        let shown = hash(secret);
        let internal = self.internal.as_ref().filter(|(_, known)| bool::from(known.ct_eq(&shown)));
        if let Some((key, _)) = internal {
            return Some(Arc::clone(key));
        }
        let keys = self.keys.load();
        let (known, key) = keys.get_key_value(&shown)?;
        (bool::from(known.ct_eq(&shown)) && key.counts_at(now)).then(|| Arc::clone(key))
    }

    /// A code that can be exchanged for a cookie, once and soon, at any node of the store.
    ///
    /// # Errors
    /// There is no chance to make it from, or the store could not keep it.
    pub async fn new_code(&self, store: &dyn Store, now: Moment) -> Result<String, StoreError> {
        let chance = chance::bytes::<32>();
        let chance = chance.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let code = URL_SAFE_NO_PAD.encode(chance);
        let kept = PairingRecord {
            id: chance::id(now),
            hash: hash(&code),
            key: self.login,
            agent: None,
            must_confirm: false,
            made_at: now,
            expires_at: now.after_s(CODE_S),
        };
        store.offer_pairing(&kept, Vec::new()).await?;
        Ok(code)
    }

    /// Takes a code; false where it is none, or was taken.
    ///
    /// # Errors
    /// The store cannot tell.
    pub async fn take_code(
        &self,
        store: &dyn Store,
        code: &str,
        now: Moment,
    ) -> Result<bool, StoreError> {
        let taken = store.take_pairing(hash(code)).await?;
        Ok(taken.is_some_and(|kept| kept.key == self.login && kept.expires_at > now))
    }

    /// Makes a key for a browser: what its cookie holds, and the page's half if it has one.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn login(
        &self,
        store: &dyn Store,
        is_halved: bool,
        now: Moment,
    ) -> Result<(Secret, Option<String>), StoreError> {
        let id = chance::id(now);
        let short: String = id.to_string().chars().rev().take(4).collect();
        let new = NewKey {
            role: Role::Admin,
            name: format!("{BROWSER}{short}"),
            owners: Owners::All,
            expires_at: Some(now.after_s(COOKIE_S)),
        };
        let half = is_halved.then(chance::bytes::<32>).transpose();
        let half = half.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let half = half.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let (_, secret) = keep_key(store, new, half.as_deref(), "login", now).await?;
        self.refresh(store).await?;
        Ok((secret, half))
    }
}

/// A key to make.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What it is for.
    pub role: Role,
    /// What people call it.
    pub name: String,
    /// Whose asks it speaks for.
    pub owners: Owners,
    /// From when on it counts no longer.
    pub expires_at: Option<Moment>,
}

/// Makes a key and keeps it; the secret is shown once.
///
/// # Errors
/// The name is taken, or the store could not keep it.
pub async fn make_key(
    store: &dyn Store,
    new: NewKey,
    actor: &str,
    now: Moment,
) -> Result<(Key, Secret), StoreError> {
    keep_key(store, new, None, actor, now).await
}

async fn keep_key(
    store: &dyn Store,
    new: NewKey,
    half: Option<&str>,
    actor: &str,
    now: Moment,
) -> Result<(Key, Secret), StoreError> {
    let chance = chance::bytes().map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    let secret = Secret::new(new.role, &chance);
    let key = Key {
        id: chance::id(now),
        role: new.role,
        name: new.name,
        owners: new.owners,
        made_at: now,
        expires_at: new.expires_at,
        revoked_at: None,
    };
    let entry = key_entry("key.made", &key, actor, now);
    let known = hash(&joined(secret.reveal(), half));
    store.add_key(&key, known, false, vec![entry]).await?;
    Ok((key, secret))
}

/// What the audit says about a key.
#[must_use]
pub fn key_entry(kind: &'static str, key: &Key, actor: &str, at: Moment) -> Entry {
    let data = object(vec![("name", quoted(&key.name)), ("role", quoted(key.role.name()))]).into();
    let (actor, subject) = (actor.to_owned(), key.id.to_string());
    Entry { kind, at, actor, subject, owner: None, data }
}

/// The key in the one `Authorization` header, spelled exactly `Bearer …`.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, another) = (values.next()?, values.next());
    let secret = value.to_str().ok()?.strip_prefix("Bearer ")?;
    (another.is_none() && !secret.is_empty()).then_some(secret)
}

/// The key of a browser: its cookie, with the page's half behind it where one is shown.
#[must_use]
pub fn browser(headers: &HeaderMap) -> Option<String> {
    let half = headers.get(PAGE).and_then(|value| value.to_str().ok());
    cookie(headers).map(|secret| joined(secret, half))
}

/// The two halves of a key as it is known.
fn joined(secret: &str, half: Option<&str>) -> String {
    half.map_or_else(|| secret.to_owned(), |half| format!("{secret}.{half}"))
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';'));
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}
