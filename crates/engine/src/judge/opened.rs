//! What a dialect opens beside the modes: its file tools, and fetches that are saved.
//!
//! A dialect whose own table says which of its file tools run at once lays an
//! [`Opened`] over the policy. Deny and ask rules come before it, and what
//! it does not open is left to the mode.

use super::{Bench, Facts, Step, finding};
use crate::act::ActKind;
use crate::arg::Arg;
use crate::effect::{Effect, EffectOn, Target};
use crate::guard::{Finding, is_system};
use crate::mode::Mode;
use crate::policy::Opened;
use crate::sensitive::{self, Access};
use crate::tool::ToolKind;
use crate::verdict::{Outcome, Tier};

/// Programs that save what they fetch.
const SAVERS: [&str; 2] = ["wget", "wget2"];

/// Their options with which more than the one named file is saved, or under another name.
const MORE: [&str; 15] = [
    "-r",
    "--recursive",
    "-m",
    "--mirror",
    "-p",
    "--page-requisites",
    "-b",
    "--background",
    "--xattr",
    "-x",
    "--force-directories",
    "--protocol-directories",
    "--content-disposition",
    "--trust-server-names",
    "--default-page",
];

impl<'a> Bench<'a> {
    /// Holds a file tool against the dialect's own list, before anything weighs the findings.
    pub(super) fn inspect_opened(&self, facts: &mut Facts) {
        let Some(opened) = self.policy.opened else { return };
        match self.spec.kind {
            ToolKind::Read if opened.secrets => {
                facts.findings.retain(|finding| finding.guard == "self_protection");
            }
            ToolKind::Write => facts.findings.extend(listed(facts)),
            // Its table has `env` alone among what is safe.
            ToolKind::Shell if words(&facts.act.args).first() == Some(&"env") => {
                facts.findings.retain(|finding| finding.guard != "secret_read");
            }
            ToolKind::Shell if is_statement(&words(&facts.act.args)) => {
                facts.findings.insert(0, destroying(facts));
            }
            ToolKind::Read
            | ToolKind::Shell
            | ToolKind::Edit
            | ToolKind::Patch
            | ToolKind::Search
            | ToolKind::Fetch
            | ToolKind::Agent
            | ToolKind::Mcp
            | ToolKind::Other => {}
        }
    }

    /// The same for a command that is no shell text: a statement for a database may be one.
    pub(super) fn inspect_unread(&self, facts: &mut Facts) {
        let text = self.text.filter(|_| self.policy.opened.is_some());
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().take(3).collect();
        if facts.act.kind == ActKind::Unreadable && is_statement(&words) {
            facts.findings.insert(0, destroying(facts));
        }
    }

    /// Whether the dialect's table leaves out a program that only reads.
    pub(super) fn is_closed(&self, facts: &Facts) -> bool {
        let act = &facts.act;
        if self.policy.opened.is_none() || act.kind != ActKind::Command {
            return false;
        }
        let program = act.base_name().map(str::to_ascii_lowercase);
        let is_file = |word: &&str| word.to_ascii_lowercase().starts_with("file:");
        match program.as_deref() {
            Some("tee" | "printenv") => true,
            Some("xargs") => act.inner.is_empty(),
            Some("curl" | "wget") => words(&act.args).iter().any(is_file),
            _ => false,
        }
    }

    /// Whether a write is one that the dialect lets run.
    pub(super) fn is_opened_write(&self, facts: &Facts) -> bool {
        self.policy.opened.is_some()
            && self.spec.kind == ToolKind::Write
            && facts.findings.iter().all(|finding| finding.outcome == Outcome::Allow)
            && !self.has_fault
    }

    /// The answer of the dialect's own table.
    pub(super) fn opened(&self, facts: &Facts) -> Option<Step<'a>> {
        self.policy.opened?;
        if self.spec.kind == ToolKind::Read && facts.is_read_only {
            return Some(self.read_only(facts));
        }
        if self.policy.mode != Mode::Explore && self.is_opened_write(facts) {
            let message = format!("`{}` writes an ordinary file", self.subject(facts));
            return Some(self.step(Outcome::Allow, 5, "dialect", message, facts));
        }
        None
    }

    /// Whether a write is only that a fetch is saved under its own, ordinary name.
    pub(super) fn is_saved_fetch(&self, facts: &Facts, on: &EffectOn) -> bool {
        let act = &facts.act;
        let is_open = self.policy.opened.is_some_and(|opened: Opened| opened.saved_fetches);
        is_open
            && on.effect == Effect::Write
            && on.target == Target::None
            && act.base_name().is_some_and(|name| SAVERS.contains(&name))
            && !act.options.iter().any(|option| MORE.contains(option))
            && act.args.iter().all(saves_plainly)
    }
}

/// The first words of a command, as far as they are known.
fn words(args: &[Arg]) -> Vec<&str> {
    args.iter().take(3).map_while(Arg::as_known).collect()
}

/// Whether a command is a statement that destroys something in a database, and no program.
fn is_statement(words: &[&str]) -> bool {
    let is = |at: usize, names: &[&str]| {
        words.get(at).is_some_and(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    // There is a program `truncate`: it takes options.
    let truncates =
        is(0, &["truncate"]) && (is(1, &["table"]) || words.first() == Some(&"TRUNCATE"));
    is(0, &["drop"]) && is(1, &["database", "schema", "table"])
        || is(0, &["delete"]) && is(1, &["from"])
        || truncates && words.len() > 1
}

fn destroying(facts: &Facts) -> Finding {
    let message = "destroys what a database holds".to_owned();
    Finding { span: facts.act.span, ..finding("lost_work", Tier::Destructive, true, message) }
}

/// Whether an argument names no address, or one whose last part is an ordinary name.
fn saves_plainly(arg: &Arg) -> bool {
    let Some(text) = arg.as_known() else { return false };
    let Some((_, rest)) = text.split_once("://") else { return true };
    let (path, query) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
    let name = match path.split_once('/') {
        Some((_, path)) => path.rsplit('/').next().unwrap_or_default(),
        None => "",
    };
    // A name that is written otherwise (`%2eenv`) is not looked through.
    !text.contains('%')
        && [name, query].into_iter().all(|part| {
            let path = format!("/{}", part.rsplit('/').next().unwrap_or_default());
            sensitive::find(&path, Access::Write).is_none() && !is_credentials(&path)
        })
}

/// What the dialect's own list says about the file that a tool writes.
fn listed(facts: &Facts) -> Option<Finding> {
    if facts.findings.iter().any(|finding| finding.guard == "sensitive_path") {
        return None;
    }
    let about = |message: String| Some(finding("sensitive_path", Tier::Dangerous, false, message));
    let Some(touched) = facts.touched.first() else {
        return about("writes a file that is not named".to_owned());
    };
    let places = touched
        .place
        .iter()
        .flat_map(|place| [Some(&place.normalised), place.resolved.as_ref()].into_iter().flatten());
    for path in places.map(String::as_str).chain([touched.written.as_str()]) {
        if is_credentials(path) {
            return about(format!("writes `{path}`: a file of credentials"));
        }
        if is_system(path) {
            return about(format!("writes `{path}`: in a system directory"));
        }
    }
    None
}

/// Whether a file is called `credentials`, with or without an extension.
fn is_credentials(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    name.split_once('.').map_or(name.as_str(), |(stem, _)| stem) == "credentials"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::call::Call;
    use crate::place::NOWHERE;
    use crate::policy::{Opened, Policy};
    use crate::verdict::{Outcome, Tier};
    use crate::world::Lexical;
    use crate::{Mode, judge};

    fn verdict(policy: &Policy, tool: &str, input: serde_json::Value) -> (Outcome, Tier) {
        let host = Some("agentbot".to_owned());
        let call = Call { host, ..Call::new(tool, input, NOWHERE) };
        let verdict = judge(policy, &call, &Lexical);
        (verdict.outcome, verdict.tier)
    }

    #[test]
    fn what_a_dialect_opens_runs_and_the_rest_is_left_to_the_mode() {
        use Outcome::{Allow, Ask, Deny};
        let opened = |secrets, mode| {
            let mut policy = Policy::builtin().with_mode(mode);
            policy.opened = Some(Opened { secrets, saved_fetches: true });
            policy.network_reads = Allow;
            policy
        };
        let path = |path: &str| json!({ "path": path });
        let command = |command: &str| json!({ "command": command });
        #[rustfmt::skip]
        let cases = [
            ("write", path("src/a.rs"),     true,  Mode::Default, (Allow, Tier::Safe),      "an ordinary file"),
            ("write", path("src/a.rs"),     true,  Mode::Explore, (Deny,  Tier::Safe),      "only reading runs there"),
            ("write", path("credentials.x"), true, Mode::Default, (Ask,   Tier::Dangerous), "credentials by name"),
            ("write", path("/usr/lib/x"),   true,  Mode::Default, (Ask,   Tier::Dangerous), "the system's"),
            ("write", json!({}),            true,  Mode::Default, (Ask,   Tier::Dangerous), "no file is named"),
            ("read",  path("/x/.ssh/id_rsa"), true, Mode::Default, (Allow, Tier::Safe),     "secrets are open"),
            ("read",  path("/x/.ssh/id_rsa"), false, Mode::Default, (Ask, Tier::Review),    "secrets are not"),
            ("read",  path("a"),            false, Mode::Default, (Allow, Tier::Safe),      "an ordinary file"),
            ("bash",  command("wget https://h/a"),    true, Mode::Default, (Allow, Tier::Safe), "saved under its name"),
            ("bash",  command("wget -r https://h/a"), true, Mode::Default, (Ask, Tier::Review), "more than one file"),
            ("bash",  command("LS -la"),    true,  Mode::Default, (Allow, Tier::Safe),      "any letter case"),
            ("bash",  command("Git STATUS"), true, Mode::Default, (Allow, Tier::Safe),      "of both names"),
            ("bash",  command("drop table x"), true, Mode::Default, (Ask, Tier::Destructive), "a statement"),
            ("bash",  command("DELETE FROM t WHERE a IN (1)"), true, Mode::Default, (Ask, Tier::Destructive), "one that is no shell text"),
            ("bash",  command("echo drop table x"), true, Mode::Default, (Allow, Tier::Safe), "words that are printed"),
            ("bash",  command("truncate table x"), true, Mode::Default, (Ask, Tier::Destructive), "a statement, though there is such a program"),
            ("bash",  command("ls table"),  true,  Mode::Default, (Allow, Tier::Safe),      "a program with the word of a statement"),
            ("bash",  command("ls from"),   true,  Mode::Default, (Allow, Tier::Safe),      "the same"),
            ("bash",  command("ls | tee"),  true,  Mode::Default, (Ask,   Tier::Review),    "a program the table leaves out"),
            ("bash",  command("/usr/bin/tee"), true, Mode::Default, (Ask, Tier::Review),    "the same by its path"),
            ("bash",  command("printenv HOME"), true, Mode::Default, (Ask, Tier::Review),   "another one"),
            ("bash",  command("ls | xargs"), true, Mode::Default, (Ask,   Tier::Review),    "without a literal command"),
            ("bash",  command("ls | xargs cat"), true, Mode::Default, (Allow, Tier::Safe),  "with one that is safe"),
            ("bash",  command("curl file:///etc/hosts"), true, Mode::Default, (Ask, Tier::Review), "no plain GET"),
            ("bash",  command("mkdir"),     true,  Mode::Default, (Ask,   Tier::Review),    "no table has it"),
            ("bash",  json!({ "command": "", "input": "ls" }), true, Mode::Default, (Allow, Tier::Safe), "the second field"),
            ("edit",  path("a"),            true,  Mode::Default, (Ask,   Tier::Review),    "no tool of the table"),
        ];
        for (tool, input, secrets, mode, want, why) in cases {
            let shown = input.to_string();
            assert_eq!(verdict(&opened(secrets, mode), tool, input), want, "{tool} {shown}: {why}");
        }
        let closed = verdict(&Policy::builtin(), "write", path("src/a.rs"));
        assert_eq!(closed, (Ask, Tier::Review), "nothing is open where nobody opens it");
    }
}
