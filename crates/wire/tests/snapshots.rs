//! Every shape, as it leaves the process: a change here is a change for everybody who reads it.

#![cfg(test)]

use portcullis_engine::act::Act;
use portcullis_engine::arg::{Arg, Text};
use portcullis_engine::effect::{Below, Effect, EffectOn, Target};
use portcullis_engine::guard::Finding;
use portcullis_engine::place::{Place, Touched};
use portcullis_engine::verdict::{JudgedAct, Outcome, Reason, Suggestion, Tier, Verdict};
use portcullis_engine::world::WorldKind;
use portcullis_wire::batch::{self, Refused};
use portcullis_wire::dialects::agentscope;
use portcullis_wire::explanation::Explanation;
use portcullis_wire::verdict::Verdict as Shape;
use serde_json::{Value, json};

/// `npm publish $TAG`, which asks by the mode.
fn publish() -> Verdict {
    let mut act = Act {
        args: ["npm", "publish"].map(Arg::known).to_vec(),
        effects: vec![
            EffectOn::new(Effect::Connect, Target::Named("the registry")),
            EffectOn::new(Effect::Read, Target::Path("package.json".to_owned())),
            EffectOn::of(Effect::Unknown),
        ],
        directory: Some("/home/dev/proj".into()),
        soft: Some("writes a log of its run"),
        ..Act::default()
    };
    act.span.end = 16;
    let mut unknown = Arg::known("");
    unknown.text = Text::Any(String::new());
    act.args.push(unknown);
    let reason = Reason {
        code: "mode.default".into(),
        message: "no rule allows `npm publish`".to_owned(),
        span: Some(act.span),
    };
    let finding = Finding {
        guard: "dynamic",
        tier: Tier::Review,
        outcome: Outcome::Allow,
        is_firm: false,
        message: "an argument is not known".to_owned(),
        span: act.span,
    };
    let place = Place { normalised: "/home/dev/proj/package.json".to_owned(), resolved: None };
    let touched = Touched {
        effect: Effect::Read,
        place: Some(place),
        written: "package.json".to_owned(),
        is_deep: false,
        is_pattern: false,
        is_listing: false,
        below: Below::Nothing,
    };
    let judged = JudgedAct {
        act: Box::new(act),
        touched: vec![touched],
        findings: vec![finding],
        tier: Tier::Review,
        is_read_only: false,
        outcome: Outcome::Ask,
        rung: 5,
        rule: None,
        source: None,
        reason: reason.clone(),
        is_covered: false,
        listed: None,
    };
    Verdict {
        outcome: Outcome::Ask,
        tier: Tier::Review,
        is_read_only: false,
        is_firm: false,
        world: WorldKind::Live,
        reasons: vec![reason],
        acts: vec![judged],
        suggestions: vec![Suggestion {
            rule: "Bash(npm publish:*)".to_owned(),
            covers: "every `npm publish`, with any arguments".to_owned(),
        }],
        always: Vec::new(),
    }
}

/// The same, denied by a rule.
fn denied() -> Verdict {
    let mut verdict = publish();
    let judged = &mut verdict.acts[0];
    judged.rung = 1;
    judged.outcome = Outcome::Deny;
    judged.rule = Some("Bash(npm publish:*)".to_owned());
    judged.source = Some("project");
    judged.findings.clear();
    judged.touched.clear();
    judged.reason.code = "rule.deny".into();
    verdict.reasons = vec![judged.reason.clone()];
    verdict.outcome = Outcome::Deny;
    verdict.suggestions.clear();
    verdict
}

fn text(shape: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(shape).unwrap()
}

#[test]
fn a_verdict() {
    let want = r#"{
  "outcome": "ask",
  "tier": "review",
  "read_only": false,
  "firm": false,
  "world": "live",
  "reasons": [
    {
      "code": "mode.default",
      "message": "no rule allows `npm publish`",
      "span": [
        0,
        16
      ]
    }
  ],
  "acts": [
    {
      "span": [
        0,
        16
      ],
      "argv": [
        "npm",
        "publish",
        null
      ],
      "via": [],
      "effects": [
        {
          "effect": "connect",
          "target": "the registry"
        },
        {
          "effect": "read",
          "target": "package.json"
        },
        {
          "effect": "unknown"
        }
      ],
      "tier": "review",
      "read_only": false,
      "rung": 5
    }
  ],
  "suggestions": [
    "Bash(npm publish:*)"
  ]
}"#;
    assert_eq!(text(&Shape::new(&publish())), want);
}

#[test]
fn a_verdict_with_its_id_says_which_rule_or_finding_decided() {
    let line = batch::line(br#"{"id":  "a-1","tool":"Bash","input":{}}"#).ok().unwrap();
    let verdict = denied();
    let shape = serde_json::to_value(Shape { id: line.id, verdict: &verdict }).unwrap();
    assert_eq!(shape["id"], "a-1");
    assert_eq!(shape["acts"][0]["rule"], "Bash(npm publish:*)");
    assert_eq!(shape["acts"][0]["source"], "project");
    assert_eq!(shape["acts"][0].get("finding"), None);

    let mut verdict = publish();
    verdict.acts[0].reason.code = "guard.disk".into();
    let shape = serde_json::to_value(Shape::new(&verdict)).unwrap();
    assert_eq!(shape["acts"][0]["finding"], "disk");
    assert_eq!(shape.get("id"), None);
}

#[test]
fn an_explanation_says_more() {
    let input = json!({ "command": "npm publish $TAG" });
    let verdict = publish();
    let explanation =
        Explanation { tool: "Bash", input: &input, cwd: "/home/dev/proj", verdict: &verdict };
    let mut shape = serde_json::to_value(&explanation).unwrap();
    let plain = serde_json::to_value(Shape::new(&verdict)).unwrap();

    for (name, value) in plain.as_object().unwrap() {
        if name != "acts" && name != "suggestions" {
            assert_eq!(shape.get(name), Some(value), "`{name}` is that of the verdict");
        }
    }
    for (name, value) in plain["acts"][0].as_object().unwrap() {
        assert_eq!(shape["acts"][0].get(name), Some(value), "`{name}` is that of the act");
        shape["acts"][0].as_object_mut().unwrap().remove(name);
    }
    let want = json!({
        "outcome": "ask",
        "reason": { "code": "mode.default", "message": "no rule allows `npm publish`", "span": [0, 16] },
        "findings": [{
            "guard": "dynamic", "tier": "review", "outcome": "allow", "firm": false,
            "message": "an argument is not known", "span": [0, 16],
        }],
        "touches": [{ "effect": "read", "written": "package.json", "path": "/home/dev/proj/package.json" }],
        "directory": "/home/dev/proj",
        "soft": "writes a log of its run",
    });
    assert_eq!(shape["acts"][0], want);
    assert_eq!(shape["tool"], "Bash");
    assert_eq!(shape["input"], input);
    assert_eq!(shape["cwd"], "/home/dev/proj");
    assert_eq!(shape["ladder"][4]["held"], json!([0]));
    assert_eq!(shape["ladder"][0]["held"], json!([]));
    let suggestion = json!({
        "rule": "Bash(npm publish:*)", "also_covers": "every `npm publish`, with any arguments",
    });
    assert_eq!(shape["suggestions"][0], suggestion);
}

#[test]
fn a_line_of_a_batch() {
    let given = r#"{"id":7,"tool":"Bash","input":{"command":"ls"},"cwd":"/w","home":"/h",
        "shell":"zsh","host":"claude","policy":{"mode":"explore"}}"#;
    let line = batch::line(given.as_bytes()).ok().unwrap();
    assert_eq!(line.policy.map(serde_json::value::RawValue::get), Some(r#"{"mode":"explore"}"#));
    let call = line.call("/elsewhere", Some("/other"));
    assert_eq!((call.cwd.as_str(), call.home.as_deref()), ("/w", Some("/h")));
    assert_eq!(call.input, json!({ "command": "ls" }));
    assert_eq!(format!("{:?}", call.shell), "Some(Known(Zsh))");

    let bare = batch::line(br#"{"tool":"Read","input":null}"#).ok().unwrap();
    let call = bare.call("/w", None);
    assert_eq!((call.cwd.as_str(), call.home, call.input), ("/w", None, Value::Null));
}

#[test]
fn a_line_that_is_no_call_is_refused_by_name() {
    #[rustfmt::skip]
    let cases: &[(&[u8], &str)] = &[
        (br#"{"id":"x","tool":"Bash"}"#,                        r#"{"id":"x","error":{"code":"INVALID_REQUEST","message":"`input` is missing"}}"#),
        (br#"{"id":"x","input":{}}"#,                           r#"{"id":"x","error":{"code":"INVALID_REQUEST","message":"`tool` is missing"}}"#),
        (br#"{"id":"x","tool":3,"input":{}}"#,                  r#"{"id":"x","error":{"code":"INVALID_REQUEST","message":"`tool` must be a text, not a number"}}"#),
        (br#"{"tool":"Bash","input":{},"cwd":"src"}"#,          r#"{"error":{"code":"INVALID_REQUEST","message":"`cwd` must be an absolute path, not `src`"}}"#),
        (br#"{"tool":"Bash","imput":{}}"#,                      r#"{"error":{"code":"INVALID_REQUEST","message":"unknown field `imput`; did you mean `input`?"}}"#),
        (br#"{"tool":"Bash","input":{},"colour":1}"#,           r#"{"error":{"code":"INVALID_REQUEST","message":"unknown field `colour`; known are id, tool, input, cwd, home, shell, host, policy"}}"#),
        (br#"{"id":{},"tool":"Bash","input":{}}"#,              r#"{"error":{"code":"INVALID_REQUEST","message":"`id` must be a text or a number"}}"#),
        (br#"{"tool":"Bash","input":{"a":1,"a":2}}"#,           r#"{"error":{"code":"INVALID_REQUEST","message":"`a` stands there twice"}}"#),
        (br#"{"tool":"Bash","tool":"Read","input":{}}"#,        r#"{"error":{"code":"INVALID_REQUEST","message":"`tool` stands there twice"}}"#),
        (br#"["Bash"]"#,                                        r#"{"error":{"code":"INVALID_REQUEST","message":"a line is an object with `tool` and `input`"}}"#),
        (br#"{"id":"x","tool":"Bash","input":{"#,               r#"{"id":"x","error":{"code":"INVALID_REQUEST","message":"not JSON: it ends too early"}}"#),
        (b"ls -la",                                            r#"{"error":{"code":"INVALID_REQUEST","message":"not JSON: expected value at column 1"}}"#),
        (b"{\"tool\":\"\xff\"}",                                r#"{"error":{"code":"INVALID_REQUEST","message":"not UTF-8 from byte 9 on"}}"#),
    ];
    for (line, want) in cases {
        let refused = batch::line(line).expect_err("it is refused");
        assert_eq!(serde_json::to_string(&refused).unwrap(), *want, "{}", line.escape_ascii());
    }
}

#[test]
fn depth_counts_from_the_line() {
    let line = |levels: usize| {
        let input = "[".repeat(levels) + &"]".repeat(levels);
        format!(r#"{{"tool":"X","input":{input}}}"#)
    };
    assert!(batch::line(line(63).as_bytes()).is_ok());
    let deep = line(64);
    let refused = batch::line(deep.as_bytes()).unwrap_err();
    assert_eq!(refused.error.message, "nested deeper than 64 levels");
}

#[test]
fn an_error_names_its_line() {
    let mut refused = Refused { id: None, error: batch::line(b"{}").unwrap_err().error };
    refused.error.line = Some(3);
    let want = r#"{"error":{"code":"INVALID_REQUEST","message":"`tool` is missing","line":3}}"#;
    assert_eq!(serde_json::to_string(&refused).unwrap(), want);
}

#[test]
fn the_body_of_an_agentscope_check() {
    let body = json!({
        "context": {
            "mode": "ACCEPT_EDITS",
            "working_directories": { "/my/project": { "path": "/my/project", "source": "userSettings" } },
            "allow_rules": { "Bash": [
                { "tool_name": "Bash", "rule_content": "npm run:*", "behavior": "allow", "source": "userSettings" },
                { "tool_name": "Bash", "rule_content": null, "behavior": "allow", "source": "session" },
            ] },
            "deny_rules": { "Read": [
                { "tool_name": "Read", "rule_content": "**/.env", "behavior": "deny", "source": "session" },
            ] },
        },
        "tool_call": { "id": "t1", "name": "Bash", "input": { "command": "ls" } },
        "cwd": "/my/project",
        "tools": [{ "name": "DeployTool", "read_only": true }],
    });
    let check = agentscope::check(body.to_string().as_bytes()).unwrap();
    let want = json!({
        "mode": "accept-edits",
        "workspace": ["/my/project"],
        "rules": { "allow": ["Bash(npm run:*)", "Bash"], "ask": [], "deny": ["Read(**/.env)"] },
        "tool": [{ "name": "DeployTool", "read_only": true }],
    });
    assert_eq!(check.policy, want);
    assert_eq!(check.call("/", None).cwd, "/my/project");
    assert_eq!(check.call("/", Some("/root")).home.as_deref(), Some("/root"));
}

#[test]
fn an_agentscope_body_that_is_wrong_is_refused_by_name() {
    let call = json!({ "id": "t", "name": "Bash", "input": {} });
    let rule = |tool: &str, behavior: &str| json!({ "tool_name": tool, "rule_content": "x", "behavior": behavior, "source": "s" });
    #[rustfmt::skip]
    let cases = [
        (json!({}),                                                       "`tool_call` is missing"),
        (json!({ "tool_call": { "name": "Bash" } }),                      "`tool_call.input` is missing"),
        (json!({ "tool_call": { "name": "Bash", "input": [] } }),         "`tool_call.input` must be an object, not a list"),
        (json!({ "tool_call": call, "contxt": {} }),                      "unknown field `contxt` in the body; did you mean `context`?"),
        (json!({ "tool_call": call, "context": { "allow_rules": { "Bash": [rule("Read", "allow")] } } }),
                                                                          "`context.allow_rules.Bash[0].tool_name` is `Read` and stands under `Bash`"),
        (json!({ "tool_call": call, "context": { "deny_rules": { "Bash": [rule("Bash", "allow")] } } }),
                                                                          "`context.deny_rules.Bash[0].behavior` is `allow` and stands in `deny_rules`"),
        (json!({ "tool_call": call, "context": { "ask_rules": [] } }),    "`context.ask_rules` must be an object, not a list"),
        (json!({ "tool_call": call, "cwd": "src" }),                      "`cwd` must be an absolute path, not `src`"),
    ];
    for (body, want) in cases {
        let error = agentscope::check(body.to_string().as_bytes()).expect_err("it is refused");
        assert_eq!(error.message, want);
    }
}

#[test]
fn an_agentscope_decision() {
    let input = json!({ "command": "npm publish" });
    let decision = |verdict: &Verdict| {
        serde_json::to_value(agentscope::Decision { verdict, input: &input }).unwrap()
    };
    let want = json!({
        "behavior": "ask",
        "message": "no rule allows `npm publish`",
        "decision_reason": "mode.default",
        "bypass_immune": false,
        "suggested_rules": [{
            "tool_name": "Bash", "rule_content": "npm publish:*", "behavior": "allow", "source": "suggested",
        }],
        "risk": { "tier": "review", "findings": [{
            "guard": "dynamic", "tier": "review", "outcome": "allow", "firm": false,
            "message": "an argument is not known", "span": [0, 16],
        }] },
    });
    assert_eq!(decision(&publish()), want);

    let denied = decision(&denied());
    assert_eq!(denied["behavior"], "deny");
    assert_eq!((denied.get("suggested_rules"), denied.get("updated_input")), (None, None));

    let mut allowed = publish();
    allowed.outcome = Outcome::Allow;
    let allowed = decision(&allowed);
    assert_eq!(allowed["updated_input"], input);
    assert_eq!((allowed.get("suggested_rules"), allowed.get("bypass_immune")), (None, None));
}
