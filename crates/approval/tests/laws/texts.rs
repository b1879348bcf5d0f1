//! Texts: digests, receipts, and what is redacted.

use portcullis_approval::canonical::{canonical, is_canonical};
use portcullis_approval::key::{Role, Secret};
use portcullis_approval::receipt::{BadReceipt, Receipt, Signer};
use portcullis_approval::redact::redact;
use portcullis_approval::{CallText, Moment};
use portcullis_law::law;
use proptest::prelude::*;
use proptest::{collection, option, sample};

use crate::samples::{NOW, id, plain_ask};

fn call() -> impl Strategy<Value = CallText> {
    let text = || option::of("[a-c\"\\\\ä\n]{0,3}");
    let members = collection::btree_map("[a-c]{1,2}", "[0-9a-z\"\\\\ ]{0,4}", 0..4);
    ("[A-C]{1,3}", members, text(), text(), text()).prop_map(
        |(tool, members, cwd, host, session)| CallText {
            tool,
            input: serde_json::Value::from_iter(members).to_string(),
            cwd,
            host,
            session,
            ..CallText::default()
        },
    )
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        any::<i16>().prop_map(|eighths| (f64::from(eighths) / 8.0).into()),
        "\\PC{0,3}|[\u{0}-\u{1f}\"\\\\/]{0,3}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            collection::hash_map("[a-cä_]{0,2}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

#[test]
fn what_is_seen_to_be_canonical_is_so() {
    law(json(), |value| {
        // Written with blanks it goes the long way, and what comes of that is seen to be right.
        let spaced = serde_json::to_string_pretty(&value).unwrap();
        let written = canonical(&spaced).unwrap();
        prop_assert!(is_canonical(&written), "{}", written);
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
        if is_canonical(&spaced) {
            prop_assert_eq!(&spaced, &written);
        }
        Ok(())
    });
    law("[{}\\[\\]\",:0-9a-c.eE+\\\\ntu-]{0,12}", |text| {
        if is_canonical(&text) {
            let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
            prop_assert!(value.is_ok(), "{}", text);
            let spaced = format!(" {text}");
            prop_assert_eq!(canonical(&spaced), Some(text));
        }
        Ok(())
    });
}

#[test]
fn a_changed_call_is_the_same_call_with_another_input() {
    let call = plain_ask().call;
    let changed = call.with_input("{}");
    assert_eq!(changed.input, "{}");
    assert_eq!(CallText { input: call.input.clone(), ..changed }, call);
}

#[test]
fn calls_that_differ_have_other_digests() {
    law((call(), call()), |(one, other)| {
        prop_assert_eq!(one.digest() == other.digest(), one == other);
        Ok(())
    });
    law((call(), "[a-c]{1,3}"), |(call, word)| {
        let digest = call.digest();
        let others = [
            CallText { tool: format!("{}{word}", call.tool), ..call.clone() },
            call.with_input(&format!("[{}]", call.input)),
            CallText { cwd: Some(call.cwd.clone().unwrap_or_default() + &word), ..call.clone() },
            CallText { host: Some(call.host.clone().unwrap_or_default() + &word), ..call.clone() },
            CallText {
                session: Some(call.session.clone().unwrap_or_default() + &word),
                ..call.clone()
            },
        ];
        for other in others {
            prop_assert_ne!(&other.digest(), &digest, "{:?}", other);
        }
        // What only describes the call is no part of it.
        let same = CallText { run: Some(word.clone()), description: Some(word), ..call.clone() };
        prop_assert_eq!(same.digest(), digest);
        Ok(())
    });
}

#[test]
fn a_digest_does_not_see_order_blanks_or_escapes() {
    let members = collection::btree_map("[a-e]", 0_u32..99, 0..5);
    law((call(), members, any::<bool>()), |(call, members, escapes)| {
        let written = |pairs: Vec<(&String, &u32)>, blank: &str| {
            let pair = |(key, value): (&String, &u32)| {
                let key = match (escapes && !blank.is_empty(), key.as_bytes().first()) {
                    (true, Some(byte)) => format!("\\u{byte:04x}"),
                    (_, _) => key.clone(),
                };
                format!("{blank}\"{key}\"{blank}:{blank}{value}{blank}")
            };
            let pairs: Vec<String> = pairs.into_iter().map(pair).collect();
            format!("{{{}}}", pairs.join(","))
        };
        let tidy = written(members.iter().collect(), "");
        let untidy = written(members.iter().rev().collect(), " \n\t");
        prop_assert_eq!(call.with_input(&tidy).digest(), call.with_input(&untidy).digest());
        Ok(())
    });
    assert_eq!(CallText { input: "{".to_owned(), ..CallText::default() }.digest(), None);
}

fn receipt() -> Receipt {
    Receipt {
        id: id(1),
        digest: "sha256:00".to_owned(),
        outcome: "allow".to_owned(),
        ask: Some(id(2)),
        by: "grace".to_owned(),
        at: NOW,
        expires_at: NOW.after_s(60),
        bound: Some("{\"policy\":\"p\"}".to_owned()),
    }
}

#[test]
fn a_receipt_counts_for_its_own_key_and_call() {
    let (signer, other) = (Signer::new(&[1; 32]), Signer::new(&[2; 32]));
    let text = receipt().issue(&signer);
    let verify = |public: &Signer, digest: Option<&str>, now: Moment| {
        Receipt::verify(&text, &public.public(), digest, now)
    };
    assert_eq!(verify(&signer, Some("sha256:00"), NOW), Ok(receipt()));
    assert_eq!(verify(&signer, None, NOW), Ok(receipt()));
    assert_eq!(verify(&other, None, NOW), Err(BadReceipt::OtherKey(signer.name())));
    let other_call = Err(BadReceipt::OtherCall("sha256:00".to_owned()));
    assert_eq!(verify(&signer, Some("sha256:01"), NOW), other_call);
    let ended = Err(BadReceipt::Expired(NOW.after_s(60)));
    assert_eq!(verify(&signer, None, NOW.after_s(60)), ended);
}

#[test]
fn a_receipt_that_was_touched_does_not_count() {
    let signer = Signer::new(&[1; 32]);
    let text = receipt().issue(&signer);
    let public = signer.public();
    law((any::<sample::Index>(), 1_u8..=255), |(at, flip)| {
        let mut bytes = text.clone().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(touched) = String::from_utf8(bytes) {
            let result = Receipt::verify(&touched, &public, None, NOW);
            prop_assert!(result.is_err(), "{} at {}", touched, at);
        }
        Ok(())
    });
    // Each place once, by one bit, and each end.
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let touched = String::from_utf8(bytes).unwrap();
        assert!(Receipt::verify(&touched, &public, None, NOW).is_err(), "{touched}");
        assert!(Receipt::verify(text.get(..at).unwrap(), &public, None, NOW).is_err());
    }
    for more in ["=", "A", ".", " ", "\n"] {
        assert!(Receipt::verify(&format!("{text}{more}"), &public, None, NOW).is_err());
    }
}

#[test]
fn no_key_is_left_in_a_text() {
    let role = sample::select(&Role::ALL[..]);
    let around = || "[ -~ä\n]{0,12}";
    let telling = sample::select(
        &["", "token=", "Authorization: Bearer ", "https://", "https://me:", "\\n", "-u"][..],
    );
    let law_text = (around(), telling, role, any::<[u8; 32]>(), around());
    law(law_text, |(before, telling, role, chance, after)| {
        let secret = Secret::new(role, &chance);
        let text = format!("{before}{telling}{}{after}", secret.reveal());
        let redacted = redact(&text);
        prop_assert!(!redacted.contains(secret.reveal()), "{}", redacted);
        // Nor any half of it.
        let tail = secret.reveal().get(secret.reveal().len() - 20..).unwrap();
        prop_assert!(!redacted.contains(tail), "{}", redacted);
        Ok(())
    });
}

#[test]
fn redacting_twice_is_redacting_once() {
    law("[ -~\n]{0,80}", |text| {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once.clone());
        Ok(())
    });
}

#[test]
fn long_texts_are_read_once() {
    // Read again from each word, one of these would take minutes.
    for piece in ["word ", "-----BEGIN ", "pwd={", "a://", "https://a:b", "token=", "pcl_agent_"] {
        let text = piece.repeat((1 << 17) / piece.len());
        assert!(redact(&text).len() <= text.len() * 3);
    }
}
