//! Layers, locks and lint as cases.

use super::{Policy, Source, Warning, profile_of, with_profile};
use crate::error::PolicyError;
use crate::mode::Mode;
use crate::policy_text::PolicyText;
use crate::verdict::Outcome;

fn layers(texts: &[(Source, &str)]) -> Vec<(Source, PolicyText)> {
    let read = |text: &str| PolicyText::from_toml(text).unwrap_or_else(|error| panic!("{error}"));
    texts.iter().map(|(source, text)| (*source, read(text))).collect()
}

fn merged(texts: &[(Source, &str)]) -> Result<Policy, PolicyError> {
    Policy::of_layers(&layers(texts))
}

fn lint(layers: &[(Source, PolicyText)]) -> Vec<Warning> {
    Policy::of_layers(layers).unwrap().lint()
}

#[test]
fn of_single_values_the_last_counts_unless_it_is_locked() {
    let policy = merged(&[
        (Source::Organization, "mode = \"explore\"\ndestructive = \"deny\"\nlocked = [\"mode\", \"rules.allow\", \"exec\"]"),
        (Source::User, "mode = \"bypass\"\ndestructive = \"ask\"\nrules.allow = [\"Bash\"]\nrules.deny = [\"Read\"]"),
        (Source::Project, "[exec]\nsecurity = \"full\""),
    ])
    .unwrap();
    assert_eq!(policy.mode, Mode::Explore);
    assert_eq!(policy.destructive, Outcome::Ask);
    assert_eq!(policy.rules().count(), 1, "a locked list cannot be added to");
    let keys: Vec<&str> =
        policy.warnings().iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        keys,
        [
            "`mode` is locked by an earlier layer",
            "`rules.allow` is locked by an earlier layer",
            "`exec` is locked by an earlier layer"
        ]
    );
    assert!(policy.exec.is_none(), "a locked table is not switched on");
    assert!(policy.clone().with_rule(Outcome::Allow, "Bash(ls)", Source::Grant).is_err());
    assert!(policy.with_rule(Outcome::Deny, "Bash(ls)", Source::Grant).is_ok());
}

#[test]
fn lists_add_up_across_layers() {
    let policy = merged(&[
        (Source::User, "workspace = [\"/a\"]\n[rules]\ndeny = [\"Bash(a)\"]\n[paths]\nforbidden = [\"x\"]"),
        (Source::Project, "workspace = [\"~/b\"]\n[rules]\ndeny = [\"Bash(b)\"]\n[paths]\nforbidden = [\"y\"]\nwrite = { allow = [\"src/**\"] }"),
    ])
    .unwrap();
    assert_eq!(&*policy.workspace, ["/a", "~/b"]);
    assert_eq!(policy.rule_count(), 2);
    assert_eq!(policy.paths.forbidden, ["x", "y"]);
    assert_eq!(policy.paths.read.as_ref().unwrap().allow, ["**"]);
    assert_eq!(policy.paths.write.as_ref().unwrap().allow, ["src/**"]);
}

#[test]
fn mistakes_have_their_place_and_the_way_out() {
    #[rustfmt::skip]
    let cases = [
        ("mdoe = \"default\"",             "unknown key `mdoe`; did you mean `mode`?", "mdoe"),
        ("mode = \"yolo\"",                "unknown mode `yolo`; use one of default, accept-edits, explore, bypass, dont-ask", "\"yolo\""),
        ("[rules]\nalow = []",             "unknown key `rules.alow`; did you mean `allow`?", "alow"),
        ("[rules]\nallow = [\"Bash(x\"]",  "`Bash(x` is no rule; close the parenthesis at its end", "\"Bash(x\""),
        ("[rules]\nallow = [7]",           "`rules.allow` must be a text, not an integer", "7"),
        ("destructive = \"allow\"",        "unknown value `allow` of `destructive`; use one of `ask`, `deny`", "\"allow\""),
        ("workspace = [\"src\"]",          "workspace directory `src` is relative; begin with `/` or `~`", "[\"src\"]"),
        ("locked = [\"moed\"]",            "`locked` names the unknown key `moed`; name keys as `mode` or `rules.deny`", "\"moed\""),
        ("[paths]\nforbidden = [\"!a\"]",  "`!a` is no glob of `paths.forbidden`; a leading `!` means nothing here; use the deny list", "\"!a\""),
        ("[asks]\ndeadline_s = -1",        "`asks.deadline_s` is negative; use 0 or more", "-1"),
        ("[[tool]]\nkind = \"shell\"",     "`tool.name` is missing", ""),
        ("[[test]]\noutcome = \"ask\"",    "this test does not say one call; give `command`, or `tool` with `input`", ""),
        ("[[profile]]\nname = \"a\"\nlocked = []", "unknown key `profile.locked`; known are", ""),
        ("mode = ",                        "", ""),
    ];
    for (text, message, spot) in cases {
        let error = PolicyText::from_toml(text).unwrap_err();
        assert!(error.to_string().starts_with(message), "`{text}`: {error}");
        let span = error.span.clone().unwrap();
        let found = text.get(span).unwrap();
        assert!(spot.is_empty() || found == spot, "`{text}`: `{found}`");
    }
    let error =
        merged(&[(Source::User, ""), (Source::Project, "locked = [\"mode\"]")]).unwrap_err();
    assert_eq!(error.layer, Some(1));
    let json = serde_json::json!({ "exec": { "security": "none" } });
    let error = PolicyText::from_json(&json).unwrap_err();
    assert!(error.span.is_none() && error.message.contains("`exec.security`"), "{error}");
}

#[test]
fn only_the_stricter_part_of_a_strangers_text_counts() {
    let text = PolicyText::from_toml(
        "mode = \"bypass\"\nsensitive_reads = \"ask\"\nnetwork_reads = \"allow\"\nhopeless = \"deny\"\n\
         [rules]\nallow = [\"Bash\"]\nask = [\"Bash(a)\"]\ndeny = [\"Bash(b)\"]\n\
         [paths]\nforbidden = [\"x\"]\njail = true\nwrite = { allow = [\"**\"], deny = [\"y\"] }\n\
         [exec]\nsecurity = \"full\"\n[sensitive]\nread = [\"z\"]\nexcept = [\"**/.env\"]",
    )
    .unwrap();
    let (stricter, left) = text.stricter_only();
    assert_eq!(
        left,
        ["mode", "rules.allow", "sensitive.except", "network_reads", "exec", "paths.write"]
    );
    let policy = Policy::of_layers(&[(Source::Project, stricter)]).unwrap();
    assert_eq!((policy.mode, policy.hopeless), (Mode::Default, Outcome::Deny));
    assert_eq!(policy.rule_count(), 2);
    assert!(policy.paths.is_jail && policy.paths.write.is_none() && policy.exec.is_none());
    assert_eq!(policy.paths.write_deny, ["y"]);
    assert_eq!(policy.sensitive.read, ["z"]);
}

#[test]
fn a_profile_stands_behind_its_layer() {
    let layers = layers(&[
        (
            Source::User,
            "mode = \"explore\"\n[[profile]]\nname = \"ci\"\nagents = [\"ci-*\"]\nmode = \"dont-ask\"\nrules = { allow = [\"Bash(npm ci)\"] }",
        ),
        (Source::Project, "destructive = \"deny\""),
    ]);
    assert_eq!(profile_of(&layers, "ci-7"), Some("ci"));
    assert_eq!(profile_of(&layers, "dev"), None);
    assert!(with_profile(&layers, "none").is_none());
    let policy = Policy::of_layers(&with_profile(&layers, "ci").unwrap()).unwrap();
    assert_eq!((policy.mode, policy.rule_count()), (Mode::DontAsk, 1));
}

#[test]
fn lint_finds_what_is_not_what_it_looks_like() {
    #[rustfmt::skip]
    let cases = [
        ("allow", "Bash(:*)",          Some("never")),    ("deny", "Bash(rm)",         Some("narrow")),
        ("deny", "Bash(rm:*)",         None),             ("allow", "Bash(git status)", None),
        ("allow", "Bash(sudo:*)",      Some("wide")),     ("allow", "Bash(* x)",       Some("wide")),
        ("deny", "Write(.env)",        Some("narrow")),   ("deny", "Write(**/.env)",   None),
        ("allow", "Read(~root/x)",     Some("never")),    ("allow", "Read(src/)",      Some("narrow")),
        ("allow", "PowerShell(x)",     Some("never")),    ("allow", "Read(**)",        None),
        ("ask", "Bash(git push:*)",    None),             ("allow", "MyTool(x:*)",     None),
    ];
    for (list, rule, want) in cases {
        let text = format!("rules.{list} = [\"{rule}\"]");
        let found = lint(&layers(&[(Source::User, &text)]));
        assert_eq!(found.first().map(|warning| warning.code), want, "{list} `{rule}`: {found:?}");
    }
    let both = layers(&[
        (Source::User, "rules.deny = [\"Bash\"]"),
        (Source::Project, "rules.allow = [\"Bash(ls:*)\", \"Bash(ls:*)\"]"),
    ]);
    let codes: Vec<_> = lint(&both).iter().map(|warning| (warning.code, warning.layer)).collect();
    assert_eq!(codes, [("shadowed", 1), ("twice", 1)]);
}

#[test]
fn a_fallback_that_allows_is_warned_about() {
    for (fallback, is_told) in [("deny", false), ("allow", true), ("allow-covered", true)] {
        let text = format!("asks.fallback = \"{fallback}\"");
        let codes: Vec<_> =
            lint(&layers(&[(Source::User, &text)])).iter().map(|warning| warning.code).collect();
        assert_eq!(codes.contains(&"loose_fallback"), is_told, "`{fallback}`: {codes:?}");
    }
}

#[test]
fn lint_finds_rules_that_a_wider_one_decides_before() {
    #[rustfmt::skip]
    let cases = [
        // The wide rule, the narrow one, whether the narrow one is told of.
        (("deny", "Bash(git push:*)"), ("allow", "Bash(git push origin main)"), true),
        (("deny", "Bash(git push:*)"), ("allow", "Bash(git push:*)"),           true),
        (("deny", "Bash(git push:*)"), ("allow", "Bash(git pull:*)"),           false),
        (("deny", "Bash(git push:*)"), ("allow", "Bash(git:*)"),                false),
        (("ask", "Bash(npm:*)"),       ("allow", "Bash(npm run * --watch)"),    true),
        (("ask", "Bash(npm:*)"),       ("deny", "Bash(npm publish:*)"),         false),
        (("deny", "Bash(git:*)"),      ("deny", "Bash(git push:*)"),            true),
        (("deny", "Bash(git:*)"),      ("deny", "Bash(gitk)"),                  false),
        // It may name an option that the wider one does not cover.
        (("allow", "Bash(git:*)"),     ("allow", "Bash(git push --force:*)"),   false),
        (("allow", "Read(src/**)"),    ("allow", "Read(src/a/*.rs)"),           true),
        (("allow", "Read(src/**)"),    ("allow", "Read(src/../x)"),             false),
        (("allow", "Read(src/**)"),    ("allow", "Read(srcs/**)"),              false),
        (("allow", "Read(**)"),        ("allow", "Read(src/**)"),               true),
        (("allow", "Read(**)"),        ("allow", "Read(~/notes/**)"),           false),
        (("deny", "Read(**)"),         ("allow", "Read(~/notes/**)"),           true),
        (("deny", "Read(src/**)"),     ("allow", "Write(src/**)"),              false),
    ];
    for ((list, wide), (other, narrow), want) in cases {
        let one = format!("rules.{list} = [\"{wide}\"]");
        let two = format!("rules.{other} = [\"{narrow}\"]");
        let found = lint(&layers(&[(Source::User, &one), (Source::Project, &two)]));
        let is_told = found.iter().any(|warning| warning.code == "shadowed");
        assert_eq!(is_told, want, "{list} `{wide}` before {other} `{narrow}`: {found:?}");
    }
}
