//! Inline code: what its text names.

use super::{Findings, Scene};
use crate::act::Act;
use crate::place;
use crate::sensitive::{self, Access};

/// How many words of a program's text are held against the list.
const WORDS: usize = 4096;

pub(super) fn inspect(act: &Act, scene: &Scene<'_>, found: &mut Findings<'_>) {
    let directory = act.directory.as_deref().unwrap_or("/");
    for text in &act.code {
        let is_break =
            |letter: char| letter.is_whitespace() || "\"'`()[]{},;=<>|&+".contains(letter);
        let words = text.split(is_break).filter(|word| word.len() > 3 && word.contains(['/', '.']));
        for word in words.take(WORDS) {
            let home = scene.ground.home.as_deref();
            let Some(path) = place::absolute(word, directory, home) else { continue };
            if let Some(pattern) = sensitive::find(&path, Access::Write) {
                let guard = if pattern.denies { "self_protection" } else { "sensitive_path" };
                found.about(guard, &format!("names `{path}`: {}", pattern.why));
                return;
            }
        }
    }
}
