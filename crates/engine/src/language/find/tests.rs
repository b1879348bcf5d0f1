//! Cases of find expressions, both ways.

use super::*;

fn read(text: &str) -> Find {
    let words: Vec<Word> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| (word != "?").then_some(word.as_bytes()))
        .collect();
    find(&words)
}

fn show(words: &[Option<Vec<u8>>]) -> String {
    let words = words.iter().map(|word| match word {
        Some(word) => String::from_utf8_lossy(word).into_owned(),
        None => "?".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn runs(find: &Find) -> String {
    let runs = find.facts.runs.iter().map(|run| match run {
        Run::Argv(argv) => show(argv),
        Run::Shell(_) | Run::Unknown => "odd".to_owned(),
    });
    runs.collect::<Vec<_>>().join("; ")
}

#[test]
fn searching_is_harmless_and_starts_are_named() {
    #[rustfmt::skip]
    let cases = [
        ("",                                              "."),
        (".",                                             "."),
        ("-name *.rs",                                    "."),
        ("src tests -type f",                             "src tests"),
        (". -empty",                                      "."),
        (". -perm -u+x -type f",                          "."),
        (". -maxdepth 1 -ls",                             "."),
        (". -type f -not -name *.lock -size -10k",        "."),
        (". -samefile README.md",                         "."),
        (". -type f -printf %p",                          "."),
        (". ( -name a -o -name b ) -prune -o -print0",    "."),
        (". ! -path */node_modules/* -a -newermt ?",      "."),
        (". -name ?",                                     "."),
        (". -newer -delete",                              "."),
        (". -name -exec -o -name -delete",                "."),
        ("-L /a -D tree /b -x",                           "/a"),
        ("-L -O3 -D tree /a -mtime -1",                   "/a"),
        ("-- a b",                                        "a b"),
        ("- -print",                                      "-"),
        ("-H -P a",                                       "a"),
        ("-E . -regex x",                                 "."),
        ("-dsx . -depth 2",                               "."),
        ("-f -odd -f b c -print",                         "-odd b c"),
        ("(x !y ,z -quit",                                "(x !y ,z"),
        (". -depth -1 -d",                                "."),
        (". -fprint /dev/stdout -fls /dev/stderr",        "."),
        (". -regextype posix-egrep -iregex x , -true",    "."),
        ("--version",                                     "."),
    ];
    for (text, starts) in cases {
        let find = read(text);
        if text == "-L /a -D tree /b -x" {
            assert!(find.facts.unknown.is_some(), "`{text}`: an option behind a path");
            continue;
        }
        assert!(find.facts.is_harmless() && !find.may_remove, "`{text}`: {find:?}");
        assert_eq!(show(&find.starts), starts, "`{text}`");
    }
    assert_eq!(read("-f x -- a b -print").start_indices, [1, 3, 4]);
    assert!(read("").start_indices.is_empty());
}

#[test]
fn removing_writing_and_reading_is_named() {
    #[rustfmt::skip]
    let cases = [
        (". -name x -delete",                 "",    "",      ".",   "removes what is found"),
        ("-delete",                           "",    "",      ".",   "where it stands"),
        ("a b -delete -name x",               "",    "",      "a b", "in any place"),
        (". -false -o ( ! -delete )",         "",    "",      ".",   "inside an expression"),
        (". -fprint out",                     "",    "out",   "",    "writes a file"),
        (". -fprint0 out -fls list",          "",    "out list", "", "two files"),
        (". -fprintf out %p",                 "",    "out",   "",    "the file comes first"),
        (". -fprintf out -delete",            "",    "out",   "",    "the format is a value"),
        (". -fprint ?",                       "",    "?",     "",    "an unknown file"),
        ("-files0-from list",                 "list", "",     "",    "starts from a file"),
        ("-files0-from - -delete",            "",    "",      "?",   "starts from standard input"),
    ];
    for (text, reads, writes, deletes, why) in cases {
        let find = read(text);
        let facts = &find.facts;
        let got = (show(&facts.reads), show(&facts.writes), show(&facts.deletes));
        assert_eq!(got, (reads.into(), writes.into(), deletes.into()), "`{text}`: {why}");
        assert_eq!(
            (facts.unknown, find.may_remove),
            (None, !deletes.is_empty()),
            "`{text}`: {why}"
        );
    }
}

#[test]
fn commands_are_named() {
    #[rustfmt::skip]
    let cases = [
        (". -exec rm {} ;",                             "rm ?",                   "to the semicolon"),
        (". -exec rm {} +",                             "rm ?",                   "to the plus"),
        (". -exec rm -rf x{}y ;",                       "rm -rf x{}y",            "inside a word"),
        (". -exec sh -c rm {} ;",                       "sh -c rm ?",             "a shell"),
        (". -execdir rm {} + -print",                   "rm ?",                   "in the directory"),
        (". -ok rm {} ;",                               "rm ?",                   "after a question"),
        (". -okdir rm {} ; -o -exec ls ;",              "rm ?; ls",               "two of them"),
        (". -exec {} ;",                                "?",                      "what is found itself"),
        (". -exec echo + ;",                            "echo +",                 "a plus without braces"),
        (". -exec echo {} x + ;",                       "echo ? x +",             "a plus not behind braces"),
        (". -exec echo x{} + ;",                        "echo x{} +",             "a plus behind more than braces"),
        (". -ok echo {} + ;",                           "echo ? +",               "a question knows no plus"),
        (". -exec echo -delete ;",                      "echo -delete",           "an argument like a predicate"),
        (". -exec grep -n ? {} +",                      "grep -n ? ?",            "an unknown argument"),
        (". -exec grep ? -n {} ;",                      "grep ? -n ?",            "before an option"),
        (". -exec echo ? ;",                            "echo ?",                 "before the end"),
        ("-quit -exec rm {} + -name x",                 "rm ?",                   "order does not matter"),
    ];
    for (text, want, why) in cases {
        let find = read(text);
        assert_eq!((runs(&find).as_str(), find.facts.unknown), (want, None), "`{text}`: {why}");
        assert!(find.facts.deletes.is_empty(), "`{text}`: {why}");
    }
}

#[test]
fn where_a_command_runs_and_what_braces_may_be_is_told() {
    #[rustfmt::skip]
    let cases = [
        (". -exec cat {} ;",              false, false, "names begin with the start path"),
        ("src ./-x -exec cat {} ;",       false, false, "also behind two"),
        ("-execdir cat {} ;",             true,  true,  "a bare name in its directory"),
        ("-f -x -exec cat {} ;",          false, true,  "a start path with a dash"),
        ("-- -x",                         false, false, "a start path must not look like a predicate"),
        ("-files0-from x -exec cat {} ;", false, true,  "unknown start paths"),
    ];
    for (text, found, dash, why) in cases {
        let find = read(text);
        let got = (find.runs_where_found, find.may_begin_with_dash);
        assert_eq!(got, (found, dash), "`{text}`: {why}");
    }
}

#[test]
fn what_cannot_be_followed_is_unknown() {
    let texts = [
        "?",
        ". ?",
        "? -name x",
        ". -foo",
        ". -name",
        ". -exec",
        ". -exec ;",
        ". -exec rm {}",
        ". -exec rm {} x",
        ". -exec echo ? +",
        ". -exec echo ? -delete ;",
        ". -exec echo ? ? ;",
        ". -exec echo ?",
        ". -exec echo ? ( ;",
        ". -name x src",
        ". -fprintf out",
        ". ( -name x",
        ". -name x )",
        ". --delete",
        ". -newerxy z",
        ". -O",
        "-D",
        ". -x -E",
        ". -exec rm {} ; ?",
    ];
    for text in texts {
        assert!(read(text).facts.unknown.is_some(), "`{text}`");
    }
    assert!(!read(". -delete -foo").facts.deletes.is_empty(), "what was read so far stays");
}
