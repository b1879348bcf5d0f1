//! Verdicts about entries that nobody writes out, against a real directory: links that patterns
//! find, links that a search follows, and other names of listed files.

use std::fs;
use std::os::unix::fs::symlink;

use portcullis_engine::verdict::Tier;
use portcullis_engine::{
    Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, Verdict, World, judge,
};
use portcullis_layers::world::{Live, Recorded};
use serde_json::json;

use crate::directory::Directory;

/// A home with secrets, a project with links to them, and a directory beside both.
fn disk(name: &str) -> Directory {
    let root = Directory::new(name);
    for directory in ["home/.ssh", "home/proj/real/deep", "home/proj/secret", "home/proj/src"] {
        fs::create_dir_all(root.path(directory)).unwrap();
    }
    fs::create_dir_all(root.path("outside")).unwrap();
    let files = [
        "home/.ssh/id_rsa",
        "home/.bashrc",
        "outside/q",
        "home/proj/.env",
        "home/proj/a.md",
        "home/proj/b.md",
        "home/proj/x",
        "home/proj/real/f",
        "home/proj/secret/key.txt",
        "home/proj/src/a.rs",
    ];
    for file in files {
        fs::write(root.path(file), "x").unwrap();
    }
    let links = [
        ("lkey", "../.ssh/id_rsa"),
        ("lssh", "../.ssh"),
        ("lenv", ".env"),
        ("lrc", "../.bashrc"),
        ("lout", "../../outside"),
        ("lroot", "/"),
        ("lreal", "real"),
        ("lsecret", "secret"),
        ("real/inner", "../../.ssh/id_rsa"),
        ("plain.md", "a.md"),
        ("loop", "loop"),
        ("here", "."),
        ("src/out", "../../../outside"),
    ];
    for (link, to) in links {
        symlink(to, root.path(format!("home/proj/{link}"))).unwrap();
    }
    fs::hard_link(root.path("home/proj/.env"), root.path("home/proj/hard")).unwrap();
    fs::hard_link(root.path("home/.ssh/id_rsa"), root.path("home/proj/src/twin")).unwrap();
    fs::hard_link(root.path("home/proj/a.md"), root.path("home/proj/again.md")).unwrap();
    root
}

fn call(root: &Directory, command: &str) -> Call {
    let (tool, input) = match command.split_once(" @") {
        Some((tool, path)) => (tool, json!({ "file_path": path })),
        None => ("Bash", json!({ "command": command })),
    };
    let home = Some(root.text("home"));
    Call { home, ..Call::new(tool, input, &root.text("home/proj")) }
}

fn policy(rules: &serde_json::Value, mode: Mode) -> Policy {
    let text = PolicyText::from_json(rules).unwrap();
    Policy::of_layers(&[(Source::User, text)]).unwrap().with_mode(mode)
}

/// What the disk makes of a call; a recorded world must make the same of it.
fn verdict(policy: &Policy, root: &Directory, command: &str) -> Verdict {
    let live = Live::new();
    let call = call(root, command);
    let verdict = judge(policy, &call, &live);
    let again = judge(policy, &call, &Recorded::new(live.answers()));
    assert_eq!(again.outcome, verdict.outcome, "`{command}` replayed");
    assert_eq!(again.reasons, verdict.reasons, "`{command}` replayed");
    assert!(live.answers().still_hold(), "`{command}`: nothing has changed");
    verdict
}

fn all_are(root: &Directory, policy: &Policy, want: Outcome, commands: &[&str]) {
    let wrong: Vec<String> = commands
        .iter()
        .map(|command| (command, verdict(policy, root, command)))
        .filter(|(_, verdict)| verdict.outcome != want)
        .map(|(command, verdict)| format!("`{command}`: {:?}", verdict.reasons))
        .collect();
    assert!(wrong.is_empty(), "not {}:\n{}", want.name(), wrong.join("\n"));
}

#[test]
fn a_link_that_a_pattern_finds_is_what_it_names() {
    let root = disk("found");
    let policy = policy(&json!({}), Mode::Default);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Ask, &[
        "cat lke?", "cat l*", "cat *", "cat [l]key", "cat ./lk*", "cat ls?h/*", "cat ls?h/id_*",
        "cat lroo?/etc/shado?", "cat lroo?/etc/shadow", "cat */inner", "cat */inn*", "cat r*/inner",
        "cat her?/lke?", "for f in l*; do cat \"$f\"; done", "for f in lk*; do head -n1 $f; done",
        "cat lk\"$x\"", "cat lssh/$x", "cat < lke?", "grep x lk*", "wc -l l[k]ey", "cat $PWD/lk*", "cat ~/proj/lk*",
        "find . -name 'lk*' | xargs cat", "ls lk* | xargs cat", "cd real && cat inne?",
        "cat $(echo lk*)", "cat {lke?,a.md}", "x='lk*'; cat $x", "set -- lk*; cat \"$1\"",
        "a=(lk*); cat \"${a[@]}\"", "bash -c 'cat lk*'", "cat ~+/lk*", "cat l[[:alpha:]]ey",
        "echo lk* | xargs cat", "for d in */; do cat $d/id_rsa; done", "diff a.md lk*",
        "cd ls?h && cat known", "cd lroo? && cat etc/shadow", "cd nope; cat lk*", "cat l{k,z}e?",
        "while read -r f; do cat \"$f\"; done < <(ls lk*)", "cat -- lk*", "cat ls?h/known",
        "for d in l*/; do cat \"$d\"known; done", "for f in */*; do cat $f; done",
        "shopt -s extglob; cat @(lkey|x)", "cat src/../lk*", "tail -n1 ~/proj/../proj/lk*",
    ]);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Allow, &[
        "cat *.md", "wc -l src/*.rs", "ls *", "ls l*", "grep x *.md", "head -n1 a*", "cat src/*.rs",
        "for f in *.md; do wc -l \"$f\"; done", "grep -rn x src", "cat lrea*/f", "stat l*",
        "cat src/$x", "cat sr$x", "cat lou*/q", "find . -name '*.md' | xargs cat",
        "find . -type f | xargs cat", "find . -name '*.rs' -exec grep x {} +", "cat **/*.rs", "cat nothing*", "cat no/*/x",
    ]);
    let edits = policy.clone().with_mode(Mode::AcceptEdits);
    #[rustfmt::skip]
    all_are(&root, &edits, Outcome::Ask, &[
        "cp x lr[c]", "touch lr[c]", "touch lou*/f", "rm lou*/q", "mv x lou*", "sed -i s/a/b/ len?",
        "cp lke? z", "touch */out/f",
    ]);
    all_are(&root, &edits, Outcome::Allow, &["rm b*.md", "touch src/*.rs", "rm lrea*/f"]);
    for command in ["cat lke?", "cp x lr[c]"] {
        let judged = judge(&policy, &call(&root, command), &Lexical);
        let touched = judged.acts.iter().flat_map(|act| &act.touched);
        assert!(touched.count() < 3, "`{command}`: nothing is known of the disk");
    }
}

#[test]
fn rules_and_the_jail_hold_for_what_a_pattern_finds() {
    let root = disk("ruled");
    let outside = format!("Read({}/**)", root.text("outside"));
    let text = json!({ "rules": {
        "allow": ["Bash"], "deny": ["Write(real/**)", "Read(secret/**)", outside],
    } });
    #[rustfmt::skip]
    all_are(&root, &policy(&text, Mode::Default), Outcome::Deny, &[
        "touch lre?l/f", "rm lrea*/f", "cat lo?t/q", "cat lou*/q", "cat lsec*/key.txt", "cat ls*/k*",
        "for f in lsec*/*; do cat \"$f\"; done", "grep -R x src",
    ]);
    let text = json!({ "rules": { "allow": ["Bash"], "ask": ["Read(secret/**)"] } });
    all_are(&root, &policy(&text, Mode::Default), Outcome::Ask, &["cat lsec*/key.txt"]);
    let text = json!({ "rules": { "allow": ["Bash"] }, "paths": { "jail": true } });
    let jail = policy(&text, Mode::Default);
    all_are(&root, &jail, Outcome::Deny, &["cat lou*/q", "touch lou*/f", "cat lke?"]);
    all_are(&root, &jail, Outcome::Allow, &["cat *.md", "touch lrea*/f"]);
    let text = json!({ "rules": { "allow": ["Bash"] }, "paths": { "forbidden": ["secret/**"] } });
    all_are(&root, &policy(&text, Mode::Default), Outcome::Deny, &["cat lsec*/key.txt"]);
}

#[test]
fn a_search_that_follows_links_reads_what_they_name() {
    let root = disk("followed");
    let policy = policy(&json!({}), Mode::Default);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Ask, &[
        "grep -R x .", "grep -nR x", "rg -L x", "rg --follow x .", "grep -R x real",
        "find -L . -type f -exec cat {} +", "find -L . -type f | xargs cat", "tar chf - .",
        "tar -chf - .", "tar --dereference -cf - .",
    ]);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Allow, &[
        "grep -r x .", "rg x", "find . -type f -exec cat {} +", "find -L . -name '*.rs'",
        "tar cf - src", "grep -R x src", "grep -R x secret",
    ]);
    let out = verdict(&policy, &root, "grep -R x src");
    assert_eq!(out.tier, Tier::Review, "it leaves the workspace");
    assert_eq!(verdict(&policy, &root, "grep -R x secret").tier, Tier::Safe);
}

#[test]
fn a_file_with_several_names_has_all_of_them() {
    let root = disk("several");
    let text = json!({ "rules": { "allow": ["Read(**)", "Bash(cp:*)"] } });
    let policy = policy(&text, Mode::Default);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Ask, &[
        "cat hard", "grep x hard", "Read @hard", "cp hard e2", "cat har?", "cat src/twin",
        "cat src/t*", "cat */twin", "Read @src/twin", "cat < hard",
    ]);
    #[rustfmt::skip]
    all_are(&root, &policy, Outcome::Allow, &[
        "cat again.md", "cat a*.md", "Read @again.md", "ls hard", "stat src/twin",
    ]);
}

#[test]
fn what_cannot_be_told_is_not_called_another_name() {
    let root = disk("lost");
    let policy = policy(&json!({}), Mode::AcceptEdits);
    for command in ["Write @loop", "touch /dev/fd/3", "Write @/dev/fd/0", "Write @hard"] {
        let verdict = verdict(&policy, &root, command);
        let said = |text: &str| verdict.reasons.iter().any(|reason| reason.message.contains(text));
        assert_eq!(verdict.outcome, Outcome::Ask, "`{command}`");
        assert_eq!(said("another name"), command == "Write @hard", "`{command}`: {verdict:?}");
    }
}

#[test]
fn entries_are_told_apart_and_remembered() {
    let root = disk("entries");
    let live = Live::new();
    let listing = live.listing(&root.text("home/proj/src")).unwrap();
    assert_eq!((listing.links.as_slice(), listing.is_cut), (&["out".to_owned()][..], false));
    assert!(live.listing(&root.text("home/proj/nothing")).unwrap().links.is_empty());
    let shared = live.shared_names(&root.text("home/proj")).unwrap();
    assert_eq!(*shared, [".env", "a.md", "again.md", "hard"].map(str::to_owned));
    fs::remove_file(root.path("home/proj/src/out")).unwrap();
    assert_eq!(live.listing(&root.text("home/proj/src")).unwrap(), listing, "one call, one world");
    assert!(!live.answers().still_hold(), "the disk has changed");
    let unasked = Recorded::default();
    assert!(unasked.listing(&root.text("home/proj")).is_none(), "what was not asked is not known");
}
