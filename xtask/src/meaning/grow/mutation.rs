//! Mutations: small damage to a text, so that broken and odd texts are tried too.

use crate::chance::Chance;

/// What may be put into a text. No slash, so that no new path arises.
const INSERTS: &[&str] = &[
    "'", "\"", "`", "$(", ")", "(", "{", "}", "\\", "\n", ";", "|", "<", ">", "#", "$", "=", " ",
    "\\\n", "((", "))", "[", "]", "[[", ";;", "<<", "!", "if ", "${", "\t",
];

/// The text with one to three changes.
pub fn mutate(chance: &mut Chance, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..chance.between(1, 3) {
        let place = chance.below(text.len() + 1);
        let end = (place + chance.between(1, 6)).min(text.len());
        match chance.below(4) {
            0 => {
                text.drain(place..end);
            }
            1 => {
                let copy = text.get(place..end).unwrap_or_default().to_vec();
                let target = chance.below(text.len() + 1);
                text.splice(target..target, copy);
            }
            _ => {
                let insert = chance.pick(INSERTS);
                text.splice(place..place, insert.bytes());
            }
        }
    }
    text
}
