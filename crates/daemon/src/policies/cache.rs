//! What hooks on other machines may keep of a policy: all that can stop a call, and nothing that
//! only opens.
//!
//! A policy without what opens is never looser than the policy itself, so that a hook which judges
//! with it while nobody answers does not let through what would have been asked about. What an
//! agent has no use for (comments, tests, the profiles of others, where files lie) stays here.
//! Keys that are not named here are not sent; to send one, add it to [`kept`].

use std::sync::Arc;

use portcullis_engine::policy::profile_of;
use serde_json::{Map, Value, json};

use super::InForce;

/// Keys that are sent as they stand.
const WHOLE: &[&str] = &[
    "mode",
    "shell",
    "sensitive_reads",
    "network_reads",
    "destructive",
    "hopeless",
    "locked",
    "tool",
];

/// Tables of which these keys are sent.
const PARTS: &[(&str, &[&str])] = &[
    ("rules", &["ask", "deny"]),
    ("sensitive", &["read", "write"]),
    ("exec", &["security", "ask", "strict"]),
    ("paths", &["forbidden", "jail", "absolute", "read", "write"]),
    ("hosts", &["daemon", "answer_native_prompts"]),
];

/// A place where nothing can lie: a gate without a list lets the whole workspace pass, and one with
/// this list nothing.
const NOWHERE: &str = "/dev/null/nothing";

impl InForce {
    /// The layers as an agent with a key of this name may keep them, as JSON.
    #[must_use]
    pub fn cached(&self, key_name: &str) -> Arc<str> {
        let profile = profile_of(&self.layers, key_name);
        let key = profile.map(str::to_owned);
        let mut cached = self.cached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let written = cached.entry(key).or_insert_with(|| self.written(profile).into());
        Arc::clone(written)
    }

    fn written(&self, profile: Option<&str>) -> String {
        let mut layers = Vec::new();
        for layer in &self.texts {
            // It was read before: what is no policy is not in force.
            let said: Map<String, Value> = toml::from_str(&layer.text).unwrap_or_default();
            let mut push = |said: &Map<String, Value>| {
                layers.push(json!({ "source": layer.source.name(), "policy": kept(said) }));
            };
            push(&said);
            let profiles = said.get("profile").and_then(Value::as_array).into_iter().flatten();
            profiles
                .filter_map(Value::as_object)
                .filter(|it| it.get("name").and_then(Value::as_str) == profile)
                .for_each(push);
        }
        json!({ "layers": layers }).to_string()
    }
}

/// What of one text is sent.
fn kept(said: &Map<String, Value>) -> Value {
    let mut out = Map::new();
    for key in WHOLE {
        out.extend(said.get(*key).map(|value| ((*key).to_owned(), value.clone())));
    }
    for (table, keys) in PARTS {
        let Some(Value::Object(whole)) = said.get(*table) else { continue };
        let part = keys.iter().filter_map(|key| Some((*key, whole.get(*key)?)));
        let part: Map<String, Value> =
            part.map(|(key, value)| (key.to_owned(), closed(value))).collect();
        out.insert((*table).to_owned(), Value::Object(part));
    }
    Value::Object(out)
}

/// A gate of files lets nothing pass any more; anything else is what it was.
fn closed(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(allow) = value.as_object_mut().and_then(|gate| gate.get_mut("allow")) {
        *allow = json!([NOWHERE]);
    }
    value
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use portcullis_engine::call::Call;
    use portcullis_engine::{Lexical, Policy, PolicyText, Source, judge};

    use super::super::LayerText;
    use super::*;

    /// What is in force where the user and the organization say this.
    fn in_force(organization: &str, user: &str) -> InForce {
        let text = |source, text: &str| LayerText {
            source,
            path: PathBuf::new(),
            text: text.to_owned(),
            left_out: Vec::new(),
        };
        let texts = vec![text(Source::Organization, organization), text(Source::User, user)];
        InForce::of_texts("1", texts).unwrap()
    }

    fn policy(document: &str) -> Policy {
        let value: Value = serde_json::from_str(document).unwrap();
        let layers: Vec<(Source, PolicyText)> = value["layers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|layer| {
                let is_organization = layer["source"] == "organization";
                let source = if is_organization { Source::Organization } else { Source::User };
                (source, PolicyText::from_json(&layer["policy"]).unwrap())
            })
            .collect();
        Policy::of_layers(&layers).unwrap()
    }

    const TEXTS: &[&str] = &[
        "",
        "mode = \"bypass\"\n[rules]\ndeny = [\"Bash(git push:*)\"]\nask = [\"Bash(rm:*)\"]\n",
        "mode = \"dont-ask\"\nworkspace = [\"/srv\"]\n[rules]\nallow = [\"Bash(git push:*)\", \"Write(**)\"]\n",
        "mode = \"accept-edits\"\nworkspace = [\"/srv\"]\nlocked = [\"mode\", \"rules.allow\"]\n",
        "mode = \"explore\"\n",
        "network_reads = \"allow\"\nsensitive_reads = \"allow\"\n[sensitive]\nread = [\"**/*.own\"]\nexcept = [\"**/.env\"]\n",
        "destructive = \"deny\"\nhopeless = \"deny\"\n[hosts]\ndaemon = \"required\"\n",
        "[exec]\nsecurity = \"allowlist\"\nask = \"off\"\nallowlist = [\"git **\"]\n",
        "[exec]\nsecurity = \"full\"\n",
        "[paths]\nforbidden = [\"/w/secret/**\"]\njail = true\n[paths.read]\nallow = [\"/w/open/**\"]\ndefault = \"deny\"\n[paths.write]\nallow = [\"/w/out/**\"]\n",
        "[paths]\n[paths.read]\ndefault = \"deny\"\n[paths.write]\ndefault = \"deny\"\n",
        "[[tool]]\nname = \"deploy\"\nkind = \"shell\"\nfields = { command = \"line\" }\n[rules]\ndeny = [\"deploy(sudo:*)\"]\n",
        "[[profile]]\nname = \"ci\"\nagents = [\"ci-*\"]\nmode = \"explore\"\n[profile.rules]\ndeny = [\"Bash(make:*)\"]\n[[profile]]\nname = \"other\"\nagents = [\"nobody\"]\n[profile.rules]\nask = [\"Bash(private-word:*)\"]\n",
    ];

    const COMMANDS: &[&str] = &[
        "ls",
        "git status",
        "git push",
        "rm x",
        "rm -rf /",
        "cat .env",
        "cat a.own",
        "touch /srv/x",
        "curl https://example.org",
        "make",
        "echo hi > /w/out/x",
        "cat /w/open/x /w/secret/y",
    ];

    #[test]
    fn what_is_kept_is_never_looser_than_the_policy() {
        for organization in TEXTS {
            for user in TEXTS {
                let in_force = in_force(organization, user);
                for agent in ["local", "ci-1"] {
                    let whole = in_force.for_agent(agent, None, None).unwrap().unwrap();
                    let kept = policy(&in_force.cached(agent));
                    let mut calls: Vec<Call> =
                        COMMANDS.iter().map(|command| Call::bash(command, "/w")).collect();
                    for (tool, input) in [
                        ("Read", json!({ "file_path": "/w/open/x" })),
                        ("Read", json!({ "file_path": "/w/secret/x" })),
                        ("Write", json!({ "file_path": "/srv/x", "content": "x" })),
                        ("Write", json!({ "file_path": "/w/out/x", "content": "x" })),
                        ("deploy", json!({ "line": "sudo x" })),
                        ("other", json!({})),
                    ] {
                        calls.push(Call::new(tool, input, "/w"));
                    }
                    for call in calls {
                        let (strict, loose) =
                            (judge(&kept, &call, &Lexical), judge(&whole, &call, &Lexical));
                        assert!(
                            strict.outcome >= loose.outcome,
                            "{call:?} for {agent}: {:?} and {:?}\n{organization}\n---\n{user}",
                            strict.outcome,
                            loose.outcome
                        );
                    }
                    assert_eq!(kept.hosts.daemon, whole.hosts.daemon);
                }
            }
        }
    }

    #[test]
    fn what_only_opens_and_what_is_about_others_stays_here() {
        let text = "# a note\nmode = \"default\"\nworkspace = [\"/secret-project\"]\n\
                    [rules]\nallow = [\"Bash(open-word:*)\"]\ndeny = [\"Bash(shut-word:*)\"]\n\
                    [exec]\nallowlist = [\"listed-word **\"]\n\
                    [paths.write]\nallow = [\"/passing-word/**\"]\n\
                    [[profile]]\nname = \"ops\"\nagents = [\"ops\"]\n[profile.rules]\ndeny = [\"Bash(ops-word:*)\"]\n\
                    [[test]]\ncommand = \"tested-word\"\noutcome = \"ask\"\n";
        let in_force = in_force("", text);
        let others = in_force.cached("agent-7");
        for word in ["note", "secret-project", "open-word", "listed", "passing", "ops", "tested"] {
            assert!(!others.contains(word), "{word}: {others}");
        }
        assert!(others.contains("shut-word"), "{others}");
        assert!(in_force.cached("ops").contains("ops-word"));
    }
}
