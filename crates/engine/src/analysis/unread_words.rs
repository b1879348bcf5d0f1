//! Words whose role no table knows: where they name files, those count.
//!
//! A program that sends, fetches or runs something may read every file that its words name, and
//! may write those outside the workspace. Readers are not concerned: their words are all known.

use super::Analysis;
use crate::act::Act;
use crate::arg::{Arg, Text};
use crate::catalog::Services;
use crate::effect::{Effect, EffectOn, Target};
use crate::few::Few;
use crate::lists;
use crate::place;
use crate::sensitive::{self, Access};
use crate::usage::Usage;

/// How many words are looked at.
const WORDS: usize = 64;

impl Analysis<'_> {
    /// Adds the files that words of an act may name.
    pub(crate) fn name_files(&self, act: &mut Act, usage: Option<&Usage>) {
        let is_open = usage.is_none_or(|usage| {
            let entry = usage.entry;
            let has_verbs = entry.services != Services::None || !entry.verbs.is_empty();
            // What a script does with its words nobody knows.
            let runs_script =
                matches!(usage.reader, Some("interpreter" | "shell")) && usage.operands.len() > 1;
            entry.any_operand
                || entry.any_option
                || has_verbs
                || usage.unknown.is_some()
                || runs_script
        });
        if !is_open || act.unknown.is_none() && act.only_reads() {
            return;
        }
        let moves = [Effect::Write, Effect::Connect, Effect::Change].iter().any(|&on| act.has(on))
            && !act.is_named("ssh");
        let first = usage.map_or(1, |usage| usage.subs.len() + 1);
        let mut named = Vec::new();
        for arg in act.args.iter().skip(first.max(1)).take(WORDS) {
            self.files_of(arg, act, moves, &mut named);
        }
        act.effects.extend(named);
    }

    fn files_of(&self, arg: &Arg, act: &Act, moves: bool, named: &mut Vec<EffectOn>) {
        let (text, is_home) = match &arg.text {
            Text::Known(text) => (text.as_str(), false),
            Text::Home(text) => (text.as_str(), true),
            Text::Files { .. } | Text::Begins(_) | Text::Any(_) => return,
        };
        let has_sign = text.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'_'));
        if !has_sign && !is_home || text.contains(char::is_whitespace) {
            return;
        }
        let may_be_address = text.as_bytes().contains(&b':');
        for &(piece, is_whole) in &pieces(text) {
            let looks = piece.contains(['/', '.', '_']) || is_home;
            if !looks || may_be_address && piece.contains("://") {
                continue;
            }
            let read = EffectOn::new(Effect::Read, Target::Path(piece.to_owned()));
            named.push(read);
            if !moves {
                continue;
            }
            let home = self.ground.home.as_deref();
            let directory = act.directory.as_deref().unwrap_or("/");
            let path = place::absolute(piece, directory, home);
            let is_kept = path.as_deref().is_some_and(|path| {
                sensitive::find(path, Access::Write).is_some()
                    && sensitive::find(path, Access::Read).is_none()
            });
            let is_elsewhere = is_whole
                && lists::ELSEWHERE.iter().any(|tree| piece.starts_with(tree))
                || piece == "..";
            if is_kept || is_elsewhere && !self.is_ours(path.as_deref()) {
                named.push(EffectOn::new(Effect::Write, Target::Path(piece.to_owned())));
            }
        }
    }

    /// Whether a path lies in the workspace.
    fn is_ours(&self, path: Option<&str>) -> bool {
        let roots = self.ground.workspace.iter().map(String::as_str);
        let mut roots = roots.chain([&*self.ground.cwd]);
        path.is_some_and(|path| roots.any(|root| place::is_within(path, root)))
    }
}

/// What in a word may be a path, and whether all of its beginning is there.
fn pieces(text: &str) -> Few<(&str, bool), 4> {
    let mut all = Few::default();
    let mut add = |piece, is_whole| {
        if !str::is_empty(piece) {
            all.push((piece, is_whole));
        }
    };
    let bare = text.strip_prefix("file://").or_else(|| text.strip_prefix("fileb://"));
    let text = bare.unwrap_or(text);
    if !text.starts_with('-') && !text.as_bytes().contains(&b':') {
        add(text, true);
    }
    // `-oDIR`, `--option=FILE`, `name=@FILE`, `type=x,src=FILE`, `KIND:FILE`.
    if text.starts_with('-') && !text.starts_with("--") {
        add(text.get(2..).unwrap_or_default().trim_start_matches('='), true);
    }
    // Most words are nothing but a path.
    if !text.bytes().any(|byte| matches!(byte, b'=' | b'@' | b',' | b':')) {
        return all;
    }
    for rest in text.match_indices(['=', '@', ',']).filter_map(|(at, _)| text.get(at + 1..)) {
        let rest = rest.split(',').next().unwrap_or(rest);
        add(rest.trim_start_matches(['@', '<']), true);
    }
    for rest in text.match_indices(':').filter_map(|(at, _)| text.get(at + 1..)) {
        add(rest, false);
    }
    if let Some((before, _)) = text.split_once(':') {
        add(before, false);
    }
    all
}
