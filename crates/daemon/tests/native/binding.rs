//! What was approved is what runs: whatever changes on the disk between the ask, the answer and
//! the release makes it another call, and a person looks again.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::node::Node;

/// A directory for calls, reached through a link, with a script in it.
struct Ground {
    /// The directory as calls name it.
    cwd: PathBuf,
    /// The link above it.
    link: PathBuf,
    script: PathBuf,
}

fn ground(node: &Node, name: &str) -> Ground {
    let root = node.directory.path().join(name);
    let cwd = root.join("real/place");
    fs::create_dir_all(&cwd).unwrap();
    fs::create_dir_all(root.join("other/place")).unwrap();
    fs::write(root.join("other/place/deploy.sh"), "echo two\n").unwrap();
    let script = cwd.join("deploy.sh");
    fs::write(&script, "echo one\n").unwrap();
    let link = root.join("link");
    symlink(root.join("real"), &link).unwrap();
    Ground { cwd: link.join("place"), link, script }
}

fn call(ground: &Ground) -> Value {
    json!({ "tool": "Bash", "input": { "command": "bash deploy.sh" }, "cwd": ground.cwd })
}

async fn submit(node: &Node, ground: &Ground) -> Value {
    node.send_local("POST", "/v1/calls", &call(ground).to_string()).await.json()
}

/// What is done meanwhile, and the reason that must be given.
type Change = (&'static str, fn(&Ground), &'static str);

#[rustfmt::skip]
const CHANGES: &[Change] = &[
    ("edited",        |ground| fs::write(&ground.script, "echo 0ne\n").unwrap(), "bound.script"),
    ("appended to",   |ground| append(&ground.script), "bound.script"),
    ("emptied",       |ground| fs::write(&ground.script, "").unwrap(), "bound.script"),
    ("removed",       |ground| fs::remove_file(&ground.script).unwrap(), "bound.script"),
    ("replaced",      |ground| replace(&ground.script), "bound.script"),
    ("made a link",   |ground| relink(&ground.script), "bound.script"),
    ("cwd swapped",   |ground| swap(&ground.link.join("place")), "bound.cwd"),
    ("parent swung",  |ground| swing(&ground.link), "bound.cwd"),
    ("cwd removed",   |ground| fs::remove_dir_all(&ground.cwd).unwrap(), "bound.cwd"),
];

fn append(script: &Path) {
    let text = fs::read_to_string(script).unwrap();
    fs::write(script, text + "echo more\n").unwrap();
}

fn replace(script: &Path) {
    let new = script.with_extension("new");
    fs::write(&new, "echo three\n").unwrap();
    fs::rename(&new, script).unwrap();
}

fn relink(script: &Path) {
    fs::remove_file(script).unwrap();
    symlink(script.parent().unwrap().join("../../other/place/deploy.sh"), script).unwrap();
}

/// Another directory of the same name with the same script.
fn swap(cwd: &Path) {
    let real = cwd.canonicalize().unwrap();
    let script = fs::read_to_string(real.join("deploy.sh")).unwrap();
    fs::rename(&real, real.with_extension("old")).unwrap();
    fs::create_dir(&real).unwrap();
    fs::write(real.join("deploy.sh"), script).unwrap();
}

/// The link above the directory leads elsewhere.
fn swing(link: &Path) {
    fs::remove_file(link).unwrap();
    symlink(link.parent().unwrap().join("other"), link).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_does_not_outlive_what_it_was_asked_for() {
    let node = Node::start().await;
    for (what, change, reason) in CHANGES {
        let ground = ground(&node, what);
        let ask = submit(&node, &ground).await["ask"].clone();
        change(&ground);
        let decided = node.decide(&ask, &json!({ "answer": "approve" })).await.json();
        let told = (&decided["outcome"], decided["reason"].as_str());
        assert_eq!(told, (&json!("deny"), Some(*reason)), "{what}: {decided}");
    }
    let ground = ground(&node, "untouched");
    let ask = submit(&node, &ground).await["ask"].clone();
    fs::write(ground.script.with_extension("txt"), "beside it").unwrap();
    let decided = node.decide(&ask, &json!({ "answer": "approve" })).await.json();
    assert_eq!(decided["outcome"], "allow", "{decided}");
    assert_eq!(submit(&node, &ground).await["outcome"], "allow", "and it is released");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_waits_for_its_call_is_of_no_use_to_another() {
    let node = Node::start().await;
    for (what, change, _) in CHANGES {
        let ground = ground(&node, what);
        let first = submit(&node, &ground).await["ask"].clone();
        let decided = node.decide(&first, &json!({ "answer": "approve" })).await.json();
        assert_eq!(decided["outcome"], "allow", "{what}: {decided}");
        change(&ground);
        let again = submit(&node, &ground).await;
        assert_eq!(again["outcome"], "ask", "{what}: a person looks again: {again}");
        assert_ne!(again["ask"], first, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_the_same_name_is_another_call_when_its_files_are_others() {
    let node = Node::start().await;
    for (what, change, _) in CHANGES {
        // Whether the approval was used before the files changed, and through which event it comes.
        for (is_used, slot) in
            [(false, None), (true, None), (false, Some("claude/PermissionRequest"))]
        {
            let ground = ground(&node, &format!("{what} {is_used} {slot:?}"));
            let mut call = call(&ground);
            call["host"] = "claude".into();
            call["session"] = format!("{what} {is_used}").into();
            call["call_id"] = "toolu_1".into();
            call["slot"] = "claude/PreToolUse".into();
            let submit = async |call: &Value| {
                node.send_local("POST", "/v1/calls", &call.to_string()).await.json()
            };
            let first = submit(&call).await["ask"].clone();
            let decided = node.decide(&first, &json!({ "answer": "approve" })).await.json();
            assert_eq!(decided["outcome"], "allow", "{what}: {decided}");
            if is_used {
                assert_eq!(submit(&call).await["outcome"], "allow", "{what}");
                assert_eq!(submit(&call).await["outcome"], "allow", "{what}: it is the same call");
            }
            change(&ground);
            if let Some(slot) = slot {
                call["slot"] = slot.into();
            }
            let again = submit(&call).await;
            assert_eq!(again["outcome"], "ask", "{what} {is_used} {slot:?}: {again}");
            assert_ne!(again["ask"], first, "{what}: a person looks again");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_of_another_user_gets_nothing() {
    let node = Node::start().await;
    let directory = node.directory.path();
    if fs::metadata(directory).unwrap().uid() != 0 {
        // Only root can pass for somebody else; where the tests run as one user, the mode of the
        // directory is what keeps others out, and `the_first_start_makes_…` looks at that.
        return;
    }
    // Everything is opened that could keep them out before the check does.
    for (path, mode) in [("", 0o755), ("sock", 0o666)] {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(directory.join(path), permissions).unwrap();
    }
    let talk = |uid: u32| {
        let script = "import socket,sys\n\
            s=socket.socket(socket.AF_UNIX)\n\
            s.connect(sys.argv[1])\n\
            s.sendall(b'GET /v1/policy HTTP/1.1\\r\\nHost: local\\r\\nConnection: close\\r\\n\\r\\n')\n\
            print(s.recv(12).decode())";
        let mut command = std::process::Command::new("python3");
        command.args(["-c", script]).arg(directory.join("sock")).uid(uid).current_dir("/");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(talk(0).starts_with("HTTP/1.1"), "its own user is answered");
    assert_eq!(talk(65_534).trim(), "", "another is not");
}
