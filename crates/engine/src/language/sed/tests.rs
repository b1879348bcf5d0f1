//! Cases of sed scripts, both ways.

use super::*;

fn read(script: &str) -> Facts {
    sed(&[script.as_bytes()], false)
}

/// Names as a line, so that rows stay short.
fn names(files: &[Option<Vec<u8>>]) -> String {
    let names = files.iter().map(|name| match name {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None => "?".to_owned(),
    });
    names.collect::<Vec<_>>().join("|")
}

fn runs(facts: &Facts) -> String {
    let runs = facts.runs.iter().map(|run| match run {
        Run::Shell(text) => String::from_utf8_lossy(text).into_owned(),
        Run::Argv(_) => "argv".to_owned(),
        Run::Unknown => "?".to_owned(),
    });
    runs.collect::<Vec<_>>().join("|")
}

#[test]
fn printing_and_substituting_is_harmless() {
    #[rustfmt::skip]
    let scripts = [
        "", "p", "$p", "1,3p", "2,3!d", "$!N;P;D", "1~2d", "1,~4p", "/a/,+2p", "0,/a/d", "$!{$!N}",
        "s/a/b/", "s/a/b/g", "s,a,b,gI", "s|a\\|b|c|2p", "s/a/b/3g; s/c/d/", "s/a/b/ ; p", "s/a/b/ p",
        "s/[/]/_/g", "s/[^/]*$//", "s/[]/]/x/", "s/[^]/]/x/", "s/[\\/]/x/", "s/a/[/", "s/\\[/x/", "s[a[b[",
        "s/w x/e/", "s/a/w out/", "s/e/r/g", "y/abc/xyz/", "y/a\\/b/c\\/d/;p", "y,\\,,x,", "y/[/]/",
        "/x/!s/a/b/", "/start/,/end/{//!p}", "/a/ I M p", "\\%a/b%p", "\\,[,],p", "/w/p;/e/d",
        "a text", "a\\text", "1i\\  indented", "c\\\nnew line", "a one\\\ntwo", "a\\\nw x", "a x\\\nw x",
        "$a}", "i w out", "$ i\\\ne rm x", "a \\\ntext\\\nmore\np",
        ":a;N;$!ba;s/\\n/ /g", ":a\ns/x/y/\nta", "/x/b end\np\n:end", "b;t;T", "{:a;n;p;ba}", ": a b a",
        "{p}", "{p;p}", "{;p;}", "{{p}}", "1!{p;d}", "{s/a/b/}", "{p};p", "{\np\n}",
        "#n", "# w out", "p # w out", "s/a/b/ # e", "# e rm x\np", "{# w x\n}",
        "l", "l 5", "q", "q5", "Q 5", "=", "F;z;x;h;H;g;G;n;N", "v 4.2",
        "w /dev/stdout", "s/a/b/w /dev/stderr", "r /dev/stdin", "s/a/b/\r\np",
        "s/[[:space:]]*$//", "s/[[:space:]/]//", "s/[^[:alnum:]/_]/-/g", "s/ü/ä/", "s/é[/]/x/",
        "/^$/d", "s/\\(a\\)\\1/\\n&/", "1s/^/x\\\ny/", "s/^[ \t]*//;s/[ \t]*$//", "10q;d", "$=",
    ];
    for script in scripts {
        assert_eq!(read(script), Facts::default(), "`{script}`");
    }
}

#[test]
fn files_and_commands_are_named() {
    #[rustfmt::skip]
    let cases = [
        ("w out",                     "",        "out",      "",      "writes the lines"),
        ("w out;p",                   "",        "out;p",    "",      "a name is the rest of the line"),
        ("{w out}",                   "",        "out}",     "",      "braces included (and the block is open)"),
        ("1,3w\tout",                 "",        "out",      "",      "behind a tab"),
        ("wout",                      "",        "out",      "",      "without a blank"),
        ("p\nw out",                  "",        "out",      "",      "on the second line"),
        ("W first",                   "",        "first",    "",      "the first line of the pattern space"),
        ("/a/w a\n/b/w b",            "",        "a|b",      "",      "two files"),
        ("s/a/b/w out",               "",        "out",      "",      "a flag with a name"),
        ("s/a/b/wout",                "",        "out",      "",      "without a blank"),
        ("s/a/b/gpw out",             "",        "out",      "",      "behind other flags"),
        ("s/a/b/ w out",              "",        "out",      "",      "behind a blank"),
        ("s/[/]/x/;w out",            "",        "out",      "",      "behind a bracket with a delimiter"),
        ("s/a\\/w x/b/;w out",        "",        "out",      "",      "behind an escaped delimiter"),
        ("sxaxbxw out",               "",        "out",      "",      "a letter as delimiter"),
        ("s;a;b;w out",               "",        "out",      "",      "a semicolon as delimiter"),
        ("y/a/b/;w out",              "",        "out",      "",      "behind y"),
        ("y/[/]/;w out",              "",        "out",      "",      "y knows no brackets"),
        ("s/a/[/;w out",              "",        "out",      "",      "nor does a replacement"),
        ("\\wxww out",                "",        "out",      "",      "w as delimiter, then as command"),
        ("0,/a/w out",                "",        "out",      "",      "a GNU address"),
        ("1 ~ 2 w out",               "",        "out",      "",      "blanks inside an address"),
        ("/a/,/b/!w out",             "",        "out",      "",      "a negated range"),
        ("/a/I,+3{/b/Mw out\n}",      "",        "out",      "",      "inside a block"),
        (":a w out",                  "",        "out",      "",      "a blank ends a label"),
        (":a;w out",                  "",        "out",      "",      "so does a semicolon"),
        ("b a w out\n:a",             "",        "out",      "",      "also behind a branch"),
        ("ba;w out\n:a",              "",        "out",      "",      "also behind a branch"),
        (":a;a\\\nw out",             "",        "out",      "",      "a sed whose label takes the line writes"),
        ("a text\nw out",             "",        "out",      "",      "text ends at its line"),
        ("a\nw out",                  "",        "out",      "",      "text may be empty"),
        ("a x\\\\\nw out",            "",        "out",      "",      "an escaped backslash continues nothing"),
        ("c\\\ntext\nw out",          "",        "out",      "",      "behind a text"),
        ("#n\nw out",                 "",        "out",      "",      "behind a comment"),
        ("p;p}w out",                 "",        "",         "",      "a closer without an opener"),
        ("r in",                      "in",      "",         "",      "reads a file"),
        ("R in",                      "in",      "",         "",      "reads it line by line"),
        ("/a/r /etc/passwd",          "/etc/passwd", "",     "",      "any file"),
        ("e",                         "",        "",         "?",     "runs the line itself"),
        ("1e touch out",              "",        "",         "touch out", "runs a command"),
        ("e ls; rm x }",              "",        "",         "ls; rm x }", "to the end of the line"),
        ("e\\\nls",                   "",        "",         "ls",    "text on the next line"),
        ("e a\\\nb",                  "",        "",         "?",     "backslashes are taken away"),
        ("s/x/rm y/e",                "",        "",         "?",     "runs the result"),
        ("s/x/y/ge",                  "",        "",         "?",     "in a bundle of flags"),
        ("s/x/y/2ew out",             "",        "out",      "?",     "two flags"),
        ("/x/{s/a/b/;e\n}",           "",        "",         "?",     "inside a block"),
        ("$!{e date\n}",              "",        "",         "date",  "inside a block"),
    ];
    for (script, reads, writes, commands, why) in cases {
        let facts = read(script);
        let got = (names(&facts.reads), names(&facts.writes), runs(&facts));
        assert_eq!(got, (reads.into(), writes.into(), commands.into()), "`{script}`: {why}");
    }
}

#[test]
fn what_no_sed_or_not_every_sed_reads_alike_is_unknown() {
    #[rustfmt::skip]
    let scripts = [
        "s/a/b", "s/a", "s", "y/a/b", "/a", "\\", "1", "1,p", "p p", "pn", "dp", "{p", "p}", "}", "1}", "1#x",
        "s/a/b/q", "s/a\nb/c/", "s/a[/b/", "s/a[\n]/b/", ":", ": ;p", "r", "w", "s/a/b/w", "a", "k", "1~xp",
        "1,+p", "s\\a\\b\\", "s\na\nb\n", "s§a§b§", "a\\ \nw x", "p\r\np", "+1p\n!!", "1!!p", "{p}p",
        "s/[[:alpha/]/x/", "tw\rc x\tw out", ":a\u{b}w out",
    ];
    for script in scripts {
        assert!(read(script).unknown.is_some(), "`{script}`");
    }
    assert!(sed(&[b"s/\xc3/w x/;p"], false).unknown.is_some(), "a broken character");
}

#[test]
fn readings_of_other_seds_count_too() {
    // The first `]` ends the bracket for a plain reader, which then sees the flags `w out/`.
    let facts = read("s/[[:alpha:]/]/w out/");
    assert_eq!((names(&facts.writes).as_str(), facts.unknown), ("out/", None));
    // Here the plain reader finds no flag it knows and runs nothing.
    assert!(read("s/[[:alpha:]/]/x/").is_harmless());
}

#[test]
fn several_scripts_are_lines_of_one() {
    assert!(sed(&[b"1{", b"p", b"}"], true).is_harmless());
    assert!(sed(&[b"a\\", b"w out"], true).is_harmless());
    assert!(sed(&[], true).is_harmless());
    assert_eq!(names(&sed(&[b"p", b"w out"], true).writes), "out");
    assert_eq!(names(&sed(&[b"w a", b"w b"], true).writes), "a|b");
}
