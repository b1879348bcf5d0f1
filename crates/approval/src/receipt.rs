//! Receipts: proof that a decision belongs to one exact tool call, which an executor can check
//! without asking anybody.
//!
//! `v1.` + base64url(canonical JSON) + `.` + base64url(Ed25519 signature of the text before it).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde_json::Value;

use crate::canonical::{object, quoted};
use crate::id::Id;
use crate::key::hex_sha256;
use crate::moment::Moment;

/// What a receipt says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its own id: whoever runs calls lets each pass once.
    pub id: Id,
    /// The digest of the call.
    pub digest: String,
    /// What was decided: `allow` or `deny`.
    pub outcome: String,
    /// The ask, if a person was asked.
    pub ask: Option<Id>,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Moment,
    /// From when on it counts no longer.
    pub expires_at: Moment,
    /// What else the call is bound to: canonical JSON.
    pub bound: Option<String>,
}

/// Why a receipt does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReceipt {
    /// It has not the form of one.
    #[error("not a receipt")]
    NotOne,
    /// Another key signed it.
    #[error("signed with key `{0}`, not with this one")]
    OtherKey(String),
    /// It was changed, or signed by somebody else.
    #[error("the signature does not fit")]
    Forged,
    /// It is about another call.
    #[error("it is about another call: `{0}`")]
    OtherCall(String),
    /// Its time is over.
    #[error("it ended at {0}")]
    Expired(Moment),
}

/// The pair of keys a node signs with.
pub struct Signer(SigningKey);

impl Signer {
    /// The pair with this secret half.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Signer {
        Signer(SigningKey::from_bytes(secret))
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// What the pair is called in receipts and checkpoints.
    #[must_use]
    pub fn name(&self) -> String {
        key_name(&self.public())
    }

    /// Signs a text.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.0.sign(text.as_bytes()).to_bytes())
    }
}

/// What a public key is called: the beginning of its SHA-256.
#[must_use]
pub fn key_name(public: &[u8; 32]) -> String {
    hex_sha256(public).chars().take(16).collect()
}

/// Whether a signature of a text fits a public key.
#[must_use]
pub fn is_signed(text: &str, signature: &str, public: &[u8; 32]) -> bool {
    PublicKey::new(public).is_some_and(|public| public.has_signed(text, signature))
}

/// A public key, ready for checking what it signed.
pub struct PublicKey {
    key: VerifyingKey,
    name: String,
}

impl PublicKey {
    /// The key of these bytes; none where they are none.
    #[must_use]
    pub fn new(public: &[u8; 32]) -> Option<PublicKey> {
        let key = VerifyingKey::from_bytes(public).ok()?;
        Some(PublicKey { key, name: key_name(public) })
    }

    /// Checks a signature that is none: whoever must wait for one anyway has all that checking
    /// takes at hand when it comes.
    pub fn rehearse(&self) {
        // The point that all others on the curve are multiples of, and no multiple of it.
        let mut point = [0x66; 32];
        point[0] = 0x58;
        let _ = self.key.verify_strict(b"", &Signature::from_components(point, [0; 32]));
    }

    pub(crate) fn has_signed(&self, text: &str, signature: &str) -> bool {
        let check = || {
            let bytes: [u8; 64] = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
            self.key.verify_strict(text.as_bytes(), &Signature::from_bytes(&bytes)).ok()
        };
        check().is_some()
    }
}

impl Receipt {
    /// The text of the receipt, signed.
    #[must_use]
    pub fn issue(&self, signer: &Signer) -> String {
        let mut members = vec![
            ("id", quoted(&self.id.to_string())),
            ("digest", quoted(&self.digest)),
            ("outcome", quoted(&self.outcome)),
            ("by", quoted(&self.by)),
            ("at", quoted(&self.at.to_string())),
            ("expires_at", quoted(&self.expires_at.to_string())),
            ("key", quoted(&signer.name())),
        ];
        members.extend(self.ask.map(|ask| ("ask", quoted(&ask.to_string()))));
        members.extend(self.bound.clone().map(|bound| ("bound", bound)));
        let text = format!("v1.{}", URL_SAFE_NO_PAD.encode(object(members)));
        let signature = signer.sign(&text);
        format!("{text}.{signature}")
    }

    /// Reads a receipt and checks that this key signed it, that it is about the call with this
    /// digest (any call where none is given), and that its time is not over.
    ///
    /// # Errors
    /// One of these does not hold.
    pub fn verify(
        text: &str,
        public: &[u8; 32],
        digest: Option<&str>,
        now: Moment,
    ) -> Result<Receipt, BadReceipt> {
        let public = PublicKey::new(public).ok_or(BadReceipt::Forged)?;
        Receipt::verify_with(text, &public, digest, now)
    }

    /// The same with a key that is ready.
    ///
    /// # Errors
    /// The same.
    pub fn verify_with(
        text: &str,
        public: &PublicKey,
        digest: Option<&str>,
        now: Moment,
    ) -> Result<Receipt, BadReceipt> {
        let (signed, signature) = text.rsplit_once('.').ok_or(BadReceipt::NotOne)?;
        let body = signed.strip_prefix("v1.").ok_or(BadReceipt::NotOne)?;
        let body = URL_SAFE_NO_PAD.decode(body).map_err(|_| BadReceipt::NotOne)?;
        let value: Value = serde_json::from_slice(&body).map_err(|_| BadReceipt::NotOne)?;
        let text_of = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let (receipt, key) = read(&value, &text_of).ok_or(BadReceipt::NotOne)?;
        if key != public.name {
            return Err(BadReceipt::OtherKey(key));
        }
        if !public.has_signed(signed, signature) {
            return Err(BadReceipt::Forged);
        }
        if digest.is_some_and(|digest| digest != receipt.digest) {
            return Err(BadReceipt::OtherCall(receipt.digest));
        }
        if receipt.expires_at <= now {
            return Err(BadReceipt::Expired(receipt.expires_at));
        }
        Ok(receipt)
    }
}

fn read(value: &Value, text_of: &dyn Fn(&str) -> Option<String>) -> Option<(Receipt, String)> {
    let ask = match text_of("ask") {
        Some(ask) => Some(ask.parse().ok()?),
        None => None,
    };
    let receipt = Receipt {
        id: text_of("id")?.parse().ok()?,
        digest: text_of("digest")?,
        outcome: text_of("outcome")?,
        ask,
        by: text_of("by")?,
        at: Moment::parse(&text_of("at")?)?,
        expires_at: Moment::parse(&text_of("expires_at")?)?,
        bound: value.get("bound").map(Value::to_string),
    };
    Some((receipt, text_of("key")?))
}
