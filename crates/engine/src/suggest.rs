//! Suggestions: allow rules that would answer the question.

use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::catalog::{self, Wraps};
use crate::judge::{Bench, Facts, Step, has_covered_assignments};
use crate::mode::Mode;
use crate::pattern::json;
use crate::place::{self, Place};
use crate::tool::ToolKind;
use crate::verdict::{Outcome, Suggestion};

/// The tool that offers for commands name.
pub(crate) const SHELL: &str = "Bash";

/// How many are given.
const SUGGESTIONS: usize = 5;

/// The longest rule that is suggested: nobody reads a longer one, and everybody would be shown it.
const MOST_RULE: usize = 4 << 10;

/// Programs for which no rule is proposed: what they run is not in their words.
const NEVER: [&str; 36] = [
    "ash",
    "bash",
    "bunx",
    "busybox",
    "cmd",
    "csh",
    "dash",
    "doas",
    "eval",
    "exec",
    "expect",
    "fish",
    "ksh",
    "node",
    "npx",
    "osascript",
    "parallel",
    "perl",
    "php",
    "pipx",
    "powershell",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "sh",
    "source",
    "ssh",
    "su",
    "sudo",
    "tclsh",
    "uvx",
    "watch",
    "xargs",
    "zsh",
];

/// Package runners that are a sub-command of something else.
const RUNNERS: [(&str, &str); 9] = [
    ("bun", "x"),
    ("npm", "exec"),
    ("npm", "x"),
    ("pipx", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("uv", "run"),
    ("uv", "tool"),
    ("yarn", "dlx"),
];

/// Shell words that change nothing.
const WORDS: [&str; 5] = ["cd", "echo", "false", "printf", "true"];

/// Options with which an interpreter takes code from its arguments.
const INLINE: [&str; 5] = ["-c", "-e", "-m", "--eval", "-p"];

/// The suggestions of a verdict: for what asks, or was denied only because nobody is asked.
pub(crate) fn suggestions(
    bench: &Bench<'_>,
    facts: &[Facts],
    steps: &[Step<'_>],
    outcome: Outcome,
    rests_on_firm: bool,
) -> Vec<Suggestion> {
    let would_ask = match outcome {
        Outcome::Allow => false,
        Outcome::Ask => true,
        Outcome::Deny => bench.policy.mode == Mode::DontAsk,
    };
    // In `explore` no allow rule is heard.
    if !would_ask || rests_on_firm || bench.policy.mode == Mode::Explore {
        return Vec::new();
    }
    let (mut found, mut asking): (Vec<Suggestion>, Vec<&Facts>) = (Vec::new(), Vec::new());
    for (facts, step) in facts.iter().zip(steps) {
        if step.outcome == Outcome::Allow || facts.act.kind == ActKind::Scanned {
            continue;
        }
        // Where one act stays as it is, an answer about the others changes nothing: what is denied
        // for another reason than that nobody is asked, what stands under a gate or where
        // everything asks, and what a finding holds.
        let code = &*step.reason.code;
        let is_denied = step.rung <= 3;
        let is_deaf = code == "exec.always" || code.starts_with("paths.");
        let stays = bench.policy.mode == Mode::DontAsk && facts.asking().is_some();
        if is_denied || is_deaf || stays || facts.firm().is_some() {
            return Vec::new();
        }
        let short = |found: &Suggestion| found.rule.len() <= MOST_RULE;
        let Some(suggestion) = suggestion(bench, facts).filter(short) else {
            return Vec::new();
        };
        if !found.iter().any(|known| known.rule == suggestion.rule) {
            found.push(suggestion);
        }
        asking.push(facts);
    }
    // An offer that would not answer the question is none.
    if !bench.would_cover(&found, &asking) {
        return Vec::new();
    }
    found.truncate(SUGGESTIONS);
    found
}

fn suggestion(bench: &Bench<'_>, facts: &Facts) -> Option<Suggestion> {
    let rule = &*bench.spec.rule;
    match bench.spec.kind {
        ToolKind::Shell if bench.spec.is_foreign_shell => None,
        // A rule never silences the workspace boundary.
        ToolKind::Shell if !bench.is_within_rules(facts) => None,
        ToolKind::Shell => command(&facts.act),
        ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Patch => {
            let place = facts.touched.first()?.place.as_ref()?;
            let (content, covers) = if bench.policy.opened.is_some() {
                let path = place.resolved.as_deref().filter(|path| path.trim() == *path)?;
                (relative(bench, path), "this very file and nothing else".to_owned())
            } else {
                directory(bench, place)?
            };
            Some(Suggestion { rule: format!("{rule}({content})"), covers })
        }
        ToolKind::Search => {
            let place = facts.touched.first()?.place.as_ref()?;
            let root = relative(bench, place.resolved.as_deref()?);
            let content = match root.as_str() {
                "" => "**".to_owned(),
                "/" => "/**".to_owned(),
                root => format!("{root}/**"),
            };
            let covers = format!("every search below `{}`", place::shown(&place.normalised));
            Some(Suggestion { rule: format!("{rule}({content})"), covers })
        }
        ToolKind::Fetch | ToolKind::Agent | ToolKind::Mcp | ToolKind::Other => {
            let name = if bench.spec.kind == ToolKind::Mcp { &bench.call.tool } else { rule };
            let content = match bench.custom {
                Some(custom) => custom.suggest(&bench.call.input)?,
                None => json::canonical_text(&bench.call.input),
            };
            let covers = "this very input and nothing else".to_owned();
            Some(Suggestion { rule: format!("{name}({content})"), covers })
        }
    }
}

/// Whether what an act runs is not in its program's name: a shell, an interpreter, a wrapper, a
/// package runner, or a program whose rights are another user's.
pub(crate) fn runs_others(act: &Act) -> bool {
    let Some(base) = act.base_name() else { return true };
    let is_wrapper = catalog::find(base).is_some_and(|known| known.entry.wraps != Wraps::No);
    let first = act.args.get(1).and_then(Arg::as_known).unwrap_or_default();
    is_wrapper || NEVER.contains(&base) || has_inline_code(act) || RUNNERS.contains(&(base, first))
}

/// `program sub-command:*`; the sub-command is the first argument that is a literal word.
fn command(act: &Act) -> Option<Suggestion> {
    let program = act.program()?;
    let base = act.base_name()?;
    let is_wrapper = catalog::find(base).is_some_and(|known| known.entry.wraps != Wraps::No);
    let never = act.kind != ActKind::Command
        || is_wrapper
        || NEVER.contains(&base)
        || WORDS.contains(&base)
        || has_inline_code(act)
        || !act.extras.is_empty()
        || !has_covered_assignments(act);
    if never {
        return None;
    }
    let words = act.args.get(1..).unwrap_or_default();
    let is_skipped = |at: usize| act.globals.contains(&(at + 1)) && act.has_harmless_globals;
    let open = words.iter().enumerate().filter(|(at, _)| !is_skipped(*at));
    let mut open = open.map(|(_, word)| word.as_known().filter(|word| is_literal_word(word)));
    let first = open.next()??;
    // `cargo +nightly build`: which version works stands before what it does.
    let (before, sub) =
        if first.starts_with('+') { (Some(first), open.next()??) } else { (None, first) };
    if RUNNERS.contains(&(base, sub)) || !is_literal_word(program) {
        return None;
    }
    let words: Vec<&str> = [Some(program), before, Some(sub)].into_iter().flatten().collect();
    let words = words.join(" ");
    let covers = ["every command that begins with `", &words, "`, inside the workspace"];
    let rule = [SHELL, "(", &words, ":*)"];
    Some(Suggestion { rule: rule.concat(), covers: covers.concat() })
}

fn has_inline_code(act: &Act) -> bool {
    let is_inline = |arg: &Arg| arg.as_known().is_some_and(|word| INLINE.contains(&word));
    let is_interpreter = !act.code.is_empty();
    is_interpreter && act.args.iter().skip(1).any(is_inline)
}

/// A word that means the same in a rule as in the command.
fn is_literal_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && !word.contains(|letter: char| {
            letter.is_whitespace() || letter.is_control() || "'\"*()\\".contains(letter)
        })
}

/// The parent directory and what lies below it; the file itself directly in a root.
fn directory(bench: &Bench<'_>, place: &Place) -> Option<(String, String)> {
    let path = place.resolved.as_deref().filter(|path| path.trim() == *path)?;
    let (parent, _) = path.rsplit_once('/')?;
    let ground = bench.ground;
    let is_root = parent.is_empty()
        || ground.workspace.iter().any(|root| root == parent)
        || ground.home.as_deref() == Some(parent);
    if is_root {
        let covers = "this very file and nothing else".to_owned();
        return Some((relative(bench, path), covers));
    }
    let covers = format!("every file below `{parent}`");
    Some((format!("{}/**", relative(bench, parent)), covers))
}

/// A path as a pattern has it: relative to the workspace root where it lies there, escaped.
fn relative(bench: &Bench<'_>, path: &str) -> String {
    let root = bench.ground.workspace.first().map_or("", String::as_str);
    let rest = path.strip_prefix(root.trim_end_matches('/'));
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (path, is_inside) = match rest {
        Some(rest) => (rest.trim_start_matches('/'), true),
        None => (path, false),
    };
    let mut out = String::with_capacity(path.len());
    for (at, letter) in path.char_indices() {
        if "*?[]\\".contains(letter) || at == 0 && is_inside && letter == '~' {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
