//! The live world against a real directory: links of every kind, hard links, places of a process.

use std::fs;
use std::os::unix::fs::symlink;

use crate::directory::Directory;
use portcullis_engine::world::{World, WorldKind};
use portcullis_layers::world::{Live, Recorded};

#[test]
fn links_are_followed_for_the_longest_part_that_exists() {
    let root = Directory::new("links");
    fs::create_dir_all(root.path("real/deep")).unwrap();
    fs::write(root.path("real/file"), "x").unwrap();
    symlink("real/file", root.path("to-file")).unwrap();
    symlink("real", root.path("to-directory")).unwrap();
    symlink(root.path("real/deep"), root.path("absolute")).unwrap();
    symlink("absolute/../file", root.path("back-up")).unwrap();
    symlink("nowhere", root.path("dangling")).unwrap();
    symlink("nowhere/../real", root.path("through-nothing")).unwrap();
    symlink("round", root.path("around")).unwrap();
    symlink("around", root.path("round")).unwrap();
    symlink("real", root.path("step0")).unwrap();
    symlink("file", root.path("real/step0")).unwrap();
    for step in 1..25 {
        let before = format!("step{}", step - 1);
        symlink(&before, root.path(format!("step{step}"))).unwrap();
        symlink(&before, root.path(format!("real/step{step}"))).unwrap();
    }

    let world = Live::new();
    #[rustfmt::skip]
    let cases = [
        ("real/file",            Some("real/file"),   "no link at all"),
        ("to-file",              Some("real/file"),   "a link to a file"),
        ("to-directory/file",    Some("real/file"),   "a link to its directory"),
        ("to-directory/deep/new/x", Some("real/deep/new/x"), "the rest does not exist"),
        ("absolute/x",           Some("real/deep/x"), "an absolute link"),
        ("back-up",              Some("real/file"),   "`..` leaves the directory that the link led to"),
        ("dangling",             Some("nowhere"),     "writing through it makes that file"),
        ("dangling/x",           Some("nowhere/x"),   "the same below it"),
        ("through-nothing",      None,                "what is not there has no parent yet"),
        ("round/x",              None,                "a loop leads nowhere"),
        ("real/file/x",          Some("real/file/x"), "a file is no directory"),
        ("new/x",                Some("new/x"),       "nothing exists"),
        ("step24",               Some("real"),        "a link to a link, and so on"),
        ("real/step24",          Some("real/file"),   "the same"),
        ("step24/step24",        None,                "nobody follows so many on one way"),
    ];
    for (path, want, why) in cases {
        let want = want.map(|want| root.text(want));
        assert_eq!(world.resolve(&root.text(path)), want, "`{path}`: {why}");
        // What was asked before changes nothing.
        let world = Live::new();
        for (at, _) in path.match_indices('/') {
            world.resolve(&root.text(path.get(..at).unwrap()));
        }
        assert_eq!(world.resolve(&root.text(path)), want, "`{path}` from above: {why}");
    }
    assert_eq!(world.resolve("/").as_deref(), Some("/"));
}

#[test]
fn places_of_a_process_are_those_of_another_one() {
    let world = Live::new();
    #[rustfmt::skip]
    let cases = [
        ("/proc/self/cwd/x",    None),
        ("/proc/self/root/etc", None),
        ("/proc/1/cwd",         None),
        ("/proc/self/fd/3",     None),
        ("/proc/self/task/1/cwd", None),
        ("/dev/fd/3",           None),
        ("/dev/stdin",          Some("/dev/stdin")),
        ("/proc/self/status",   Some("/proc/self/status")),
        ("/dev/null",           Some("/dev/null")),
    ];
    for (path, want) in cases {
        assert_eq!(world.resolve(path).as_deref(), want, "`{path}`");
    }
    let root = Directory::new("process");
    symlink("/proc/self/cwd", root.path("here")).unwrap();
    assert_eq!(world.resolve(&root.text("here/x")), None, "also through a link");
}

#[test]
fn hard_links_are_seen() {
    let root = Directory::new("shared");
    fs::write(root.path("one"), "x").unwrap();
    fs::write(root.path("two"), "x").unwrap();
    fs::hard_link(root.path("two"), root.path("second")).unwrap();
    fs::create_dir(root.path("directory")).unwrap();
    symlink("two", root.path("link")).unwrap();

    let world = Live::new();
    #[rustfmt::skip]
    let cases = [
        ("one",       false, "one name"),
        ("two",       true,  "two names"),
        ("link",      true,  "a link to a file with two names"),
        ("directory", false, "a directory is named by its own `.` too"),
        ("missing",   false, "nothing is there"),
    ];
    for (path, want, why) in cases {
        assert_eq!(world.is_shared(&root.text(path)), want, "`{path}`: {why}");
    }
    assert!(world.is_shared("/proc/self/fd/0"), "what cannot be told is not harmless");
}

#[test]
fn a_directory_with_names_in_both_cases_does_not_fold() {
    let root = Directory::new("folding");
    fs::write(root.path("name"), "x").unwrap();
    let folds = root.path("NAME").exists();
    fs::write(root.path("NAME"), "y").unwrap();
    let world = Live::new();
    assert_eq!(world.folds_case(&root.text("name")), folds);
    assert_eq!(world.folds_case(&root.text("missing/x")), folds);
}

#[test]
fn answers_can_be_given_again() {
    let root = Directory::new("recorded");
    fs::write(root.path("file"), "x").unwrap();
    symlink("file", root.path("link")).unwrap();
    let live = Live::new();
    let path = root.text("link");
    let first = (live.resolve(&path), live.is_shared(&path), live.folds_case(&path));

    fs::remove_file(root.path("link")).unwrap();
    assert_eq!(live.resolve(&path), first.0, "one call sees one world");
    let recorded = Recorded::new(live.answers());
    let again = (recorded.resolve(&path), recorded.is_shared(&path), recorded.folds_case(&path));
    assert_eq!(again, first);
    assert_eq!(recorded.kind(), WorldKind::Recorded);
    assert_eq!(recorded.resolve("/never/asked"), None, "what was not asked is not known");
    assert!(recorded.is_shared("/never/asked"));
}
