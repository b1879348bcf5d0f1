//! A policy away from its daemon: what a hook keeps of it, signed.
//!
//! One line, then the policy as JSON to its last byte:
//! `portcullis-policy 1 VERSION HOLDER SHA256 SIGNATURE`. The signature is about the words before
//! it, so that neither the version nor for whose key it was made can be exchanged.

use crate::key::{hash, hex, hex_sha256};
use crate::receipt::{PublicKey, Signer};

/// How the line begins; a later form begins otherwise.
const FORM: &str = "portcullis-policy 1";

/// What a hook keeps of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// The policy's version.
    pub version: String,
    /// For whose key it was made: [`holder`].
    pub holder: String,
    /// The layers, as JSON.
    pub document: String,
}

/// Why a kept policy does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCache {
    /// It has not the form of one.
    #[error("it is no kept policy")]
    NotOne,
    /// What stands in it is not what was hashed.
    #[error("it was changed or is not whole")]
    Changed,
    /// Another key signed it, or nobody.
    #[error("the daemon that was pinned has not signed it")]
    Forged,
}

/// What the holder of a secret is called: enough to tell two apart, and no way back to it.
#[must_use]
pub fn holder(secret: &str) -> String {
    hex(&hash(secret)).chars().take(16).collect()
}

impl Cache {
    /// The text of it, signed.
    #[must_use]
    pub fn issue(&self, signer: &Signer) -> String {
        let sha256 = hex_sha256(self.document.as_bytes());
        let words = format!("{FORM} {} {} {sha256}", self.version, self.holder);
        let signature = signer.sign(&words);
        format!("{words} {signature}\n{}", self.document)
    }

    /// Reads a text and checks that it is whole and that this key signed it.
    ///
    /// # Errors
    /// One of these does not hold.
    pub fn verify(text: &str, public: &PublicKey) -> Result<Cache, BadCache> {
        let (line, document) = text.split_once('\n').ok_or(BadCache::NotOne)?;
        let (signed, signature) = line.rsplit_once(' ').ok_or(BadCache::NotOne)?;
        let words = signed.strip_prefix(FORM).ok_or(BadCache::NotOne)?;
        let mut words = words.split(' ').skip(1);
        let (Some(version), Some(holder), Some(sha256), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(BadCache::NotOne);
        };
        if hex_sha256(document.as_bytes()) != sha256 {
            return Err(BadCache::Changed);
        }
        if !public.has_signed(signed, signature) {
            return Err(BadCache::Forged);
        }
        let [version, holder, document] = [version, holder, document].map(str::to_owned);
        Ok(Cache { version, holder, document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_in_one_place_does_not_count() {
        let (signer, other) = (Signer::new(&[7; 32]), Signer::new(&[8; 32]));
        let key = PublicKey::new(&signer.public()).unwrap();
        let cache = Cache {
            version: "00ff".to_owned(),
            holder: holder("pcl_agent_x"),
            document: "{\"layers\":[]}\n".to_owned(),
        };
        let text = cache.issue(&signer);
        assert_eq!(Cache::verify(&text, &key), Ok(cache.clone()));
        assert_eq!(Cache::verify(&cache.issue(&other), &key), Err(BadCache::Forged));
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Cache::verify(&changed, &key).is_err(), "byte {at}: {changed:?}");
            let (cut, _) = text.split_at(at);
            assert!(Cache::verify(cut, &key).is_err(), "cut off at byte {at}");
        }
        assert_eq!(Cache::verify(&format!("{text} "), &key), Err(BadCache::Changed));
    }
}
