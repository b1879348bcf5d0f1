//! Cases of tar calls, both ways.

use super::*;

fn read(text: &str) -> Tar {
    let words: Vec<Word> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| (word != "?").then_some(word.as_bytes()))
        .collect();
    tar(&words)
}

fn show(names: &[Option<Vec<u8>>]) -> String {
    let names = names.iter().map(|name| match name {
        Some(name) => String::from_utf8_lossy(name).into_owned(),
        None => "?".to_owned(),
    });
    names.collect::<Vec<_>>().join(" ")
}

fn runs(facts: &Facts) -> String {
    let runs = facts.runs.iter().map(|run| match run {
        Run::Shell(text) => String::from_utf8_lossy(text).into_owned(),
        Run::Argv(_) => "argv".to_owned(),
        Run::Unknown => "?".to_owned(),
    });
    runs.collect::<Vec<_>>().join("; ")
}

#[test]
fn what_is_read_and_written_is_named() {
    #[rustfmt::skip]
    let cases = [
        ("tf a.tar",                              "a.tar",       "",            "",    "lists"),
        ("-tvf a.tar",                            "a.tar",       "",            "",    "with a dash"),
        ("--list --file=a.tar",                   "a.tar",       "",            "",    "long options"),
        ("--list --absol --file a.tar",           "a.tar",       "",            "",    "abbreviated"),
        ("tzf a.tar.gz src/x",                    "a.tar.gz",    "",            "",    "one member"),
        ("-t -f a -f b",                          "a b",         "",            "",    "two volumes"),
        ("t",                                     "",            "",            "",    "standard input"),
        ("tf -",                                  "",            "",            "",    "standard input"),
        ("xOf a.tar README.md",                   "a.tar",       "",            "",    "to standard output"),
        ("-xf a.tar --to-stdout",                 "a.tar",       "",            "",    "to standard output"),
        ("xf a.tar",                              "a.tar",       ".",           "",    "unpacks here"),
        ("xf a.tar -C dir",                       "a.tar",       "dir",         "",    "unpacks there"),
        ("-C dir -xf a.tar",                      "a.tar",       "dir",         "",    "in any order"),
        ("xfC a.tar dir",                         "a.tar",       "dir",         "",    "values in order"),
        ("xf a.tar b c",                          "a.tar",       ". b c",       "",    "the members too"),
        ("xf a.tar -C d b",                       "a.tar",       "d d/b",       "",    "in their directory"),
        ("xf a.tar -C d --one-top-level=e",       "a.tar",       "d d/e",       "",    "a directory of its own"),
        ("xf a.tar -C d -C e",                    "a.tar",       "d d/e",       "",    "directories add up"),
        ("xf a.tar -C d -C /e",                   "a.tar",       "d /e",        "",    "unless they are absolute"),
        ("xf a.tar x -C d y",                     "a.tar",       ". d x d/y",   "",    "directories count for what follows"),
        ("xPf a.tar",                             "a.tar",       ". ?",         "",    "names may lead anywhere"),
        ("xUf a.tar",                             "a.tar",       ".",           ".",   "removes first"),
        ("--get --file a --recursive-unlink",     "a",           ".",           ".",   "removes first"),
        ("cf a.tar x y",                          "x y",         "a.tar",       "",    "packs"),
        ("cf - x",                                "x",           "",            "",    "to standard output"),
        ("c x",                                   "x",           "",            "",    "to standard output"),
        ("czf a.tar -C d x -C e y",               "d/x d/e/y",   "a.tar",       "",    "directories count for what follows"),
        ("cf a.tar --remove-files x y",           "x y",         "a.tar",       "x y", "and removes"),
        ("cf a.tar -- -x --delete",               "-x --delete", "a.tar",       "",    "names with dashes"),
        ("cf a.tar --add-file=-x",                "-x",          "a.tar",       "",    "a name with a dash"),
        ("cf a -g snap x",                        "x snap",      "a snap",      "",    "keeps a state"),
        ("tf a -g snap",                          "a snap",      "",            "",    "reads a state"),
        ("cf a x -X ex --index-file=log",         "ex x",        "log a",       "",    "files of options"),
        ("rf a.tar x",                            "a.tar x",     "a.tar",       "",    "appends"),
        ("uf a.tar x",                            "a.tar x",     "a.tar",       "",    "updates"),
        ("Af a.tar b.tar",                        "a.tar b.tar", "a.tar",       "",    "joins"),
        ("--delete -f a.tar x",                   "a.tar",       "a.tar",       "",    "removes members"),
        ("df a.tar",                              "a.tar .",     "",            "",    "compares"),
        ("tf ?",                                  "?",           "",            "",    "an unknown archive"),
        ("xf a -C ?",                             "a",           "?",           "",    "an unknown directory"),
        ("cf a -- ?",                             "?",           "a",           "",    "an unknown file"),
        ("cf a -C ? x /y",                        "? /y",        "a",           "",    "in an unknown directory"),
        ("tf a --exclude -x --transform s/a/b/",  "a",           "",            "",    "values like options"),
        ("tf a --checkpoint=1 --checkpoint-action=dot", "a",     "",            "",    "a harmless action"),
        ("cf a --volno-file=v x",                 "v x",         "v a",         "",    "a file for the number"),
    ];
    for (text, reads, writes, deletes, why) in cases {
        let tar = read(text);
        let got = (show(&tar.facts.reads), show(&tar.facts.writes), show(&tar.facts.deletes));
        assert_eq!(got, (reads.into(), writes.into(), deletes.into()), "`{text}`: {why}");
        assert_eq!((runs(&tar.facts).as_str(), tar.facts.unknown), ("", None), "`{text}`: {why}");
    }
}

#[test]
fn commands_are_named() {
    #[rustfmt::skip]
    let cases = [
        ("xf a --to-command=sh",                          "sh",     "each member goes to a command"),
        ("xf a --to-c sh",                                "sh",     "abbreviated"),
        ("cf a --checkpoint=1 --checkpoint-action=exec=sh x", "sh", "at every checkpoint"),
        ("cf a --checkpoint-a exec=sh x",                 "sh",     "abbreviated"),
        ("tf a -I ./evil",                                "./evil", "instead of gzip"),
        ("tfI a ./evil",                                  "./evil", "in the old style"),
        ("tf a --use-compress-program=gzip;evil",         "gzip;evil", "a shell reads it"),
        ("tf a --use=./evil",                             "./evil", "abbreviated"),
        ("tf a -F ./evil",                                "./evil", "at the end of a volume"),
        ("tf a --info-script=./evil",                     "./evil", "the long form"),
        ("tf a --new-volume-script ./evil",               "./evil", "its other name"),
        ("tf a --rsh-command=./evil",                     "./evil", "for a remote archive"),
        ("tf a --rmt-command ./evil",                     "./evil", "on the other side"),
        ("cf a --set-mtime-command=./evil x",             "./evil", "for the time of a file"),
        ("tf a -I ?",                                     "?",      "an unknown command"),
        ("tf host:a",                                     "?",      "through a remote shell"),
        ("tf a --checkpoint-action=?",                    "",       "a harmless action"),
    ];
    for (text, want, why) in cases {
        if text.ends_with("=?") {
            assert!(read(text).facts.unknown.is_some(), "`{text}`");
            continue;
        }
        let tar = read(text);
        assert_eq!((runs(&tar.facts).as_str(), tar.facts.unknown), (want, None), "`{text}`: {why}");
    }
    let harmless: &[&[u8]] =
        &[b"zstd", b"zstd -T0", b"pigz -9", b"xz -d -T4", b"zstd --ultra -22", b"pigz -p 4"];
    for compressor in harmless.iter().take(5) {
        let words = [Some(&b"tf"[..]), Some(b"a"), Some(b"-I"), Some(*compressor)];
        assert!(tar(&words).facts.runs.is_empty(), "{compressor:?}");
    }
    for command in [&b"gzip -S x"[..], b"./gzip", b"gzip;id", b"zstd -o x", b"", b"sh -c id"] {
        let words = [Some(&b"tf"[..]), Some(b"a"), Some(b"-I"), Some(command)];
        assert_eq!(tar(&words).facts.runs, [Run::Shell(command.to_vec())]);
    }
    assert!(read("tf host:a").facts.connects && !read("tf ./host:a").facts.connects);
    assert!(read("tf host:a --force-local").facts.runs.is_empty());
}

#[test]
fn what_cannot_be_told_is_unknown() {
    let texts = [
        "",
        "f a",
        "q",
        "xq",
        "cf",
        "x c",
        "-x -c",
        "tf a ?",
        "? a",
        "tf a --nope",
        "tf a --ex",
        "tf a --no",
        "cf a -T list",
        "tf a --files-from=list",
        "tf a -s",
        "cHf a x",
        "cLf a x",
        "tf a --checkpoint-action=foo",
        "tf a *x --",
        "tf a -W x=y",
        "tf a --list=x",
    ];
    for text in texts {
        let tar = read(text);
        if text == "x c" || text == "tf a *x --" {
            assert_eq!(tar.facts.unknown, None, "`{text}` is a member or a file");
            continue;
        }
        assert!(tar.facts.unknown.is_some(), "`{text}`: {tar:?}");
    }
    for text in ["--version", "--help", "--usage", "--show-defaults"] {
        let tar = read(text);
        assert!(tar.facts.is_harmless() && tar.mode.is_none(), "`{text}`");
    }
}

#[test]
fn the_parts_of_a_call_are_told() {
    let tar = read("xvzf a.tar.gz -C d b c");
    assert_eq!(tar.mode, Some(TarMode::Extract));
    assert_eq!(show(&tar.archives), "a.tar.gz");
    assert_eq!(show(&tar.members), "b c");
    assert_eq!(tar.directory, Directory::Named(b"d".to_vec()));
    assert!(!tar.to_stdout && read("xOf a").to_stdout);
}
