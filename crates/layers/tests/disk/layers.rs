//! Policy files on a real disk: which are found, what counts of each, and what trust changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::directory::Directory;
use portcullis_engine::{Mode, Source};
use portcullis_layers::trust::{self, Trust};
use portcullis_layers::{LayerError, Layers, Places};

fn places(root: &Directory) -> Places {
    fs::create_dir_all(root.path("config")).unwrap();
    fs::create_dir_all(root.path("proj/src/deep")).unwrap();
    Places {
        organization: root.path("etc/policy.toml"),
        config: Some(root.path("config")),
        data: Some(root.path("data/portcullis")),
        home: Some(root.path("home")),
    }
}

fn read(root: &Directory, places: &Places) -> Layers {
    Layers::read(places, &root.path("proj/src/deep"), None).unwrap()
}

#[test]
fn the_nearest_project_file_upwards_counts() {
    let root = Directory::new("nearest");
    let places = places(&root);
    assert!(read(&root, &places).layers.is_empty());

    let found = |root: &Directory| -> Vec<PathBuf> {
        read(root, &places).layers.into_iter().map(|layer| layer.path).collect()
    };
    fs::write(root.path("proj/.portcullis.toml"), "").unwrap();
    assert_eq!(found(&root), [root.path("proj/.portcullis.toml")]);
    fs::write(root.path("proj/portcullis.toml"), "").unwrap();
    assert_eq!(found(&root), [root.path("proj/portcullis.toml")], "the plain name first");
    fs::write(root.path("proj/src/.portcullis.toml"), "").unwrap();
    assert_eq!(found(&root), [root.path("proj/src/.portcullis.toml")], "the nearest first");
    for above in ["proj/src/..", "proj/missing/.."] {
        let layers = Layers::read(&places, &root.path(above), None).unwrap();
        assert_eq!(layers.layers[0].path, root.path("proj/portcullis.toml"), "`{above}`");
    }
}

#[test]
fn layers_merge_and_locks_hold() {
    let root = Directory::new("merge");
    let places = places(&root);
    fs::create_dir_all(root.path("etc")).unwrap();
    fs::write(root.path("etc/policy.toml"), "locked = ['mode']\nmode = 'explore'").unwrap();
    let user = "mode = 'bypass'\nsensitive_reads = 'allow'\n[rules]\nallow = ['Bash(make:*)']";
    fs::write(root.path("config/policy.toml"), user).unwrap();
    fs::write(root.path("proj/portcullis.toml"), "[rules]\ndeny = ['Bash(rm:*)']").unwrap();

    let layers = read(&root, &places);
    let sources: Vec<_> = layers.layers.iter().map(|layer| layer.source).collect();
    assert_eq!(sources, [Source::Organization, Source::User, Source::Project]);
    let policy = layers.policy().unwrap();
    assert_eq!(policy.mode, Mode::Explore, "locked by the organization");
    assert_eq!(policy.sensitive_reads.name(), "allow");
    assert_eq!(policy.rule_count(), 2);
    assert!(layers.warnings.is_empty(), "{:?}", layers.warnings);
}

#[test]
fn a_named_file_stands_in_for_user_and_project() {
    let root = Directory::new("named");
    let places = places(&root);
    fs::write(root.path("config/policy.toml"), "mode = 'bypass'").unwrap();
    fs::write(root.path("proj/portcullis.toml"), "mode = 'bypass'").unwrap();
    fs::write(root.path("other.toml"), "mode = 'explore'").unwrap();
    let directory = root.path("proj");
    let layers = Layers::read(&places, &directory, Some(&root.path("other.toml"))).unwrap();
    assert_eq!(layers.layers.len(), 1);
    assert_eq!(layers.policy().unwrap().mode, Mode::Explore);

    let missing = Layers::read(&places, &directory, Some(&root.path("missing.toml")));
    let message = missing.unwrap_err().to_string();
    assert!(message.ends_with("missing.toml`: no such file"), "{message}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let root = Directory::new("broken");
    let places = places(&root);
    let user = root.path("config/policy.toml");
    let error = || Layers::read(&places, &root.path("proj"), None).unwrap_err();

    fs::write(&user, "mode = 'yolo'").unwrap();
    match error() {
        LayerError::Broken { path, text, error } => {
            assert_eq!((path, text.as_str()), (user.clone(), "mode = 'yolo'"));
            assert_eq!(error.span.and_then(|span| text.get(span)), Some("'yolo'"));
        }
        LayerError::Unreadable { .. } => panic!("it can be read"),
    }
    fs::write(&user, b"mode = '\xff'").unwrap();
    assert!(error().to_string().ends_with("it is not UTF-8 from byte 8 on"));
    fs::remove_file(&user).unwrap();
    fs::create_dir(&user).unwrap();
    assert!(error().to_string().ends_with("it is not a regular file"));
    fs::remove_dir(&user).unwrap();
    symlink("nowhere", &user).unwrap();
    assert!(matches!(error(), LayerError::Unreadable { .. }), "a dangling link is not nothing");
}

/// A project that asks for more than a stranger may have.
const WISHES: &str = "mode = 'bypass'\n[rules]\nallow = ['Bash(make:*)']\ndeny = ['Bash(rm:*)']\n";

#[test]
fn an_untrusted_project_can_only_tighten() {
    let root = Directory::new("untrusted");
    let places = places(&root);
    let file = root.path("proj/portcullis.toml");
    fs::write(&file, WISHES).unwrap();

    let layers = read(&root, &places);
    let policy = layers.policy().unwrap();
    assert_eq!((policy.mode, policy.rule_count()), (Mode::Default, 1));
    assert_eq!(layers.layers[0].left_out, ["mode", "rules.allow"]);
    let want = format!(
        "nobody has trusted `{}`; left out: mode, rules.allow (see `portcullis trust`)",
        file.display()
    );
    assert_eq!(layers.warnings, [want]);

    let list = places.trust().unwrap();
    trust::trust(&list, &file, WISHES).unwrap();
    let layers = read(&root, &places);
    let policy = layers.policy().unwrap();
    assert_eq!((policy.mode, policy.rule_count()), (Mode::Bypass, 2));
    assert!(layers.warnings.is_empty());

    fs::write(&file, format!("{WISHES}\n")).unwrap();
    assert_eq!(read(&root, &places).policy().unwrap().mode, Mode::Default, "one byte more");
    fs::write(&file, WISHES).unwrap();
    assert!(trust::revoke(&list, &file).unwrap());
    assert!(!trust::revoke(&list, &file).unwrap(), "there is none left");
    assert_eq!(read(&root, &places).policy().unwrap().mode, Mode::Default, "revoked");
}

#[test]
fn trust_is_of_one_place_and_survives_its_links() {
    let root = Directory::new("place");
    let list = root.path("data/trust.toml");
    let (here, there) = (root.path("a \"b\"\n.toml"), root.path("elsewhere.toml"));
    fs::write(&here, "x").unwrap();
    fs::write(&there, "x").unwrap();
    symlink(&here, root.path("link.toml")).unwrap();
    trust::trust(&list, &root.path("link.toml"), "x").unwrap();

    let trust = Trust::read(&list).unwrap();
    assert!(trust.covers(&here, "x") && trust.covers(&root.path("link.toml"), "x"));
    assert!(!trust.covers(&there, "x"), "the same content elsewhere is another project");
    assert_eq!(trust.trusted()[0].sha256, trust::sha256("x"));
    assert_eq!(
        trust::sha256("abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn the_list_is_private_and_what_others_may_write_is_not_heeded() {
    let root = Directory::new("private");
    let list = root.path("data/deep/trust.toml");
    let file = root.path("file");
    fs::write(&file, "x").unwrap();
    trust::trust(&list, &file, "x").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&list), mode(list.parent().unwrap())), (0o600, 0o700));

    fs::set_permissions(&list, fs::Permissions::from_mode(0o666)).unwrap();
    let message = Trust::read(&list).unwrap_err().to_string();
    assert!(message.contains("others may write to it; run `chmod go-w"), "{message}");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&list, "trusted = 3").unwrap();
    assert!(Trust::read(&list).is_err(), "a broken list trusts nothing");
}

#[test]
fn a_file_is_replaced_through_a_new_one_that_no_link_leads_away() {
    let directory = Directory::new("links");
    let (precious, policy) = (directory.path("precious"), directory.path("policy.toml"));
    std::fs::write(&precious, "mine").unwrap();
    // Whoever guesses the name that will be used has put a link there.
    for number in 0..3 {
        let name = format!(".portcullis-{}-{number}.new", std::process::id());
        std::os::unix::fs::symlink(&precious, directory.path(name)).unwrap();
    }
    portcullis_layers::files::replace(&policy, "mode = \"explore\"\n").unwrap();
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), "mode = \"explore\"\n");
    assert!(!policy.is_symlink(), "the file itself");
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
}
