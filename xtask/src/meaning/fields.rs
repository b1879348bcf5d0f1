//! Fields: whether the values of words account for the arguments a program got.

use portcullis_shell::Value;

/// What one word, or one piece of it, says about the fields it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// One field with exactly these bytes.
    Exactly(Vec<u8>),
    /// One field that begins so.
    One(Vec<u8>),
    /// One or more fields that all begin so.
    Some(Vec<u8>),
    /// Any number of fields, even none; the first begins so, if it is not empty.
    Any(Vec<u8>),
}

impl Claim {
    fn holds(&self, field: &[u8]) -> bool {
        match self {
            Claim::Exactly(bytes) => field == bytes.as_slice(),
            Claim::One(prefix) | Claim::Some(prefix) | Claim::Any(prefix) => {
                field.starts_with(prefix)
            }
        }
    }
}

/// What a value claims, field by field.
pub fn claims(value: &Value<'_>) -> Vec<Claim> {
    match value {
        Value::Literal(bytes) => vec![Claim::Exactly(bytes.to_vec())],
        Value::Set(fields) => fields.iter().flat_map(claims).collect(),
        Value::Pattern { prefix } => vec![Claim::Some(prefix.to_vec())],
        Value::Tainted(taint) if taint.one_field => vec![Claim::One(taint.prefix.to_vec())],
        Value::Tainted(taint) => vec![Claim::Any(taint.prefix.to_vec())],
    }
}

/// Whether the claims, taken in order, can stand for all the fields.
pub fn account(claims: &[Claim], fields: &[Vec<u8>]) -> bool {
    // `reached[n]` tells whether the claims so far can stand for the first `n` fields.
    let mut reached = vec![false; fields.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for claim in claims {
        let mut next = vec![false; fields.len() + 1];
        for (start, _) in reached.iter().enumerate().filter(|(_, is_reached)| **is_reached) {
            let rest = fields.get(start..).unwrap_or_default();
            let run = match claim {
                Claim::Exactly(_) | Claim::One(_) => {
                    usize::from(rest.first().is_some_and(|field| claim.holds(field)))
                }
                Claim::Some(_) => rest.iter().take_while(|field| claim.holds(field)).count(),
                Claim::Any(_) => {
                    if rest.first().is_some_and(|field| claim.holds(field)) {
                        rest.len()
                    } else {
                        0
                    }
                }
            };
            let least = usize::from(!matches!(claim, Claim::Any(_)));
            for length in least..=run {
                if let Some(place) = next.get_mut(start + length) {
                    *place = true;
                }
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(words: &str) -> Vec<Vec<u8>> {
        words.split_whitespace().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn claims_stand_for_fields_in_order_and_without_rest() {
        let exactly = |word: &str| Claim::Exactly(word.into());
        let any = || Claim::Any(Vec::new());
        let some = |prefix: &str| Claim::Some(prefix.into());
        #[rustfmt::skip]
        let cases = [
            (vec![exactly("a"), exactly("b")],        "a b",      true,  "word for word"),
            (vec![exactly("a")],                      "a b",      false, "a field is left over"),
            (vec![exactly("a"), exactly("b")],        "a",        false, "a claim is left over"),
            (vec![exactly("a"), any(), exactly("z")], "a b c z",  true,  "anything between"),
            (vec![exactly("a"), any(), exactly("z")], "a z",      true,  "nothing between"),
            (vec![some("f")],                         "f1 f2",    true,  "a pattern matches files"),
            (vec![some("f")],                         "f1 g",     false, "a pattern keeps its prefix"),
            (vec![some("f")],                         "",         false, "a pattern is never nothing"),
        ];
        for (claims, words, want, why) in cases {
            assert_eq!(account(&claims, &fields(words)), want, "{why}");
        }
    }
}
