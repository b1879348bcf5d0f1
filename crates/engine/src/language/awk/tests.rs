//! Cases of awk programs, both ways.

use super::*;

fn read(program: &str) -> Facts {
    awk(program.as_bytes())
}

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
fn computing_and_printing_is_harmless() {
    #[rustfmt::skip]
    let programs = [
        "", "1", "{print}", "{print $1}", "{print $NF, $(NF-1)}", "NR>=2 && NR<=4", "length > 20", "$3 > 80",
        "BEGIN{for(i=0;i<3;i++) print i}", "NR%2==0", "!seen[$0]++", "{a[$1]+=$2} END{for(k in a) print k, a[k]}",
        "/start/,/end/", "/a/{print; next} {print \"x\"}", "$1 ~ /^[0-9]+$/", "$1 !~ /x/ {n++} END {print n+0}",
        "{print ($1 > 5)}", "{print ($1 > 5) ? \"a\" : \"b\"}", "{ if ($1 > 5) print $1; else print $2 }",
        "{ x = $1 > 5; print x }", "{ print a[$1 > 2] }", "{ printf(\"%s %d\\n\", $1, ($2 > 3)) }",
        "{ print \"a > b\" }", "{ print \"system(\\\"rm\\\")\" }", "{ print \"x | y\" }", "/system\\(/ {print}",
        "/a|b/", "/>/ {n++}", "$0 ~ \"a|b\"", "{ print /x/ ? 1 : 0 }", "/\"/ { print }", "/[\"]/ { print }",
        "# system(\"x\")\n{print}", "{print} # > \"f\"", "{ print $1 / $2 / 3 }", "{ print a[1]/2, (3)/4, x++/5 }",
        "{ n = NF/2; print n \"/\" $1 }", "{ x /= 2; y = /=/ }", "/=/ {print}", "$1 == \"/\" / 2",
        "{ if ($1) /re/ }", "{ sub(/[^/]*$/, \"\"); print }", "{ gsub(/[\\/]/, \"_\") } 1", "/[[:space:]/]/",
        "{ while ((getline line) > 0) n++ }", "{ getline; print }", "{ getline x; if (x < 3) print }",
        "{ if (getline x > 0 && y < 3) print }", "BEGIN { while (getline > 0) n++ }",
        "{ print > \"/dev/stderr\" }", "{ print \"x\" > \"/dev/stdout\" }", "BEGIN { getline x < \"-\" }",
        "{ close(\"x\"); fflush(); system(\"\") }", "BEGIN { for (i in ARGV) print ARGV[i], ARGC, length(ARGV) }",
        "BEGIN { delete ARGV[1]; if (1 in ARGV) x = ARGV[1] \"y\" }", "BEGIN { if (ARGV[1] == \"x\") print }",
        "BEGIN { PROCINFO[\"sorted_in\"] = \"@ind_str_asc\" }", "{ print $1,\n $2 }", "a ||\nb { print }",
        "function f(a, b) { return a/b } { print f($1, $2)/2 }", "func g(x) {\n return x > 1\n}\n{ print g(1) }",
        "{ switch ($1) { case /a/: print; break; default: print } }", "{ do { i++ } while (i < 3) ; print }",
        "{ print -1 \" \" -1; print !x; print 1e5, .5, 0x1F }", "{ a = \"A\" \"B\"; print a }",
        "@/typed/ ~ $1", "{ print \\\n $1 }", "BEGIN { OFS=\",\" } { $1=$1 } 1", "{ print $1, $2 >= 3 }",
        "{ s = s ? s \"|\" $1 : $1 } END { print s }", "{print length($0)/1024 \"K\"}", "{print $2}END{}",
        "{ print systems, printer, getlines }", "{ ns::x = 1 }", "BEGIN{x[\"ENVIRON\"]=1; print \"ARGV\"}",
        "/\\/inet/ { print }", "{ print length() / 2 }", "{ printf \"%s\\n\", $1 }", "BEGIN{print 1==1?\"a\":\"b\"}",
        "{ if (/x/) print; else if (!/y/) print \"y\" }", "{ split($0, a, /,/); print a[1] }", "{ print $1}\n\n/x/\n",
    ];
    for program in programs {
        assert_eq!(read(program), Facts::default(), "`{program}`");
    }
}

#[test]
fn files_are_named() {
    #[rustfmt::skip]
    let cases = [
        ("{print > \"f\"}",                             "",   "f",   "a file"),
        ("{print $0 >> \"f\"}",                         "",   "f",   "appends"),
        ("{print>\"f\"}",                               "",   "f",   "without blanks"),
        ("{printf \"%s\", $1 > \"f\"}",                 "",   "f",   "printf"),
        ("{printf(\"%s\", $1) > \"f\"}",                "",   "f",   "behind its parentheses"),
        ("{print ($1)($2) > \"f\"; x = 1}",             "",   "f",   "behind others"),
        ("{print $1, $2 > \"f\"\n}",                    "",   "f",   "a newline ends it"),
        ("{print $1,\n $2 > \"f\"}",                    "",   "f",   "a comma continues the line"),
        ("{print a &&\n b > \"f\"}",                    "",   "f",   "so does an operator"),
        ("{print \\\n $1 > \\\n \"f\"}",                "",   "f",   "so does a backslash"),
        ("{print $1 > 80}",                             "",   "?",   "a number is a name too"),
        ("{print > $1}",                                "",   "?",   "an unknown name"),
        ("{print > $1 \".txt\"}",                       "",   "?",   "a joined name"),
        ("{print > \"a\" \"b\"}",                       "",   "?",   "joined strings"),
        ("{print > (\"f\")}",                           "",   "?",   "in parentheses"),
        ("{print > f}",                                 "",   "?",   "a variable"),
        ("{print > \"a\\x41\"}",                        "",   "?",   "an odd escape"),
        ("{print > \"a\\\"b\"}",                        "",   "a\"b", "a known escape"),
        ("{if (x) print > \"f\"; else print > \"g\"}",  "",   "f|g", "two of them"),
        ("{print \"\"/2 > \"f\" }",                     "",   "f",   "behind a division"),
        ("{print /\"/ > \"f\" }",                       "",   "f",   "behind a regular expression"),
        ("{if (x) /\"/; print > \"f\" }",               "",   "f",   "one behind the head of a statement"),
        ("{print (1)/\"2\"/3 > \"f\" }",                "",   "f",   "divisions behind a parenthesis"),
        ("{print x[1]/\"2\"/3 > \"f\" }",               "",   "f",   "divisions behind a subscript"),
        ("{print a ? b : c > \"f\" }",                  "",   "f",   "behind a choice"),
        ("function f() { print > \"f\" }",              "",   "f",   "in a function"),
        ("BEGIN{getline < \"f\"}",                      "f",  "",    "reads a file"),
        ("BEGIN{getline x < \"f\"; print x}",           "f",  "",    "into a variable"),
        ("BEGIN{while ((getline x < \"f\") > 0) n++}",  "f",  "",    "in a loop"),
        ("BEGIN{getline a[1] < \"f\"}",                 "f",  "",    "into an element"),
        ("BEGIN{getline $2 < \"f\"}",                   "f",  "",    "into a field"),
        ("BEGIN{getline x < f}",                        "?",  "",    "an unknown name"),
        ("BEGIN{getline x < \"a\" \"b\"}",              "?",  "",    "where awks may disagree"),
        ("{while ((getline l < ARGV[1]) > 0) n++}",     "?",  "",    "an argument"),
        ("BEGIN{ARGV[1]=\"/etc/shadow\"; ARGC=2} 1",    "?",  "",    "an argument is a file to read"),
        ("BEGIN{ARGV[ARGC++]=\"x\"} 1",                 "?",  "",    "also a new one"),
        ("BEGIN{split(\"x /etc/shadow\", ARGV)} 1",     "?",  "",    "by a function"),
        ("BEGIN{sub(/x/, \"y\", ARGV[1])} 1",           "?",  "",    "by a substitution"),
        ("BEGIN{f(ARGV)} function f(a) {a[1]=\"x\"}",   "?",  "",    "under another name"),
        ("BEGIN{getline ARGV[1]} 1",                    "?",  "",    "by reading"),
        ("BEGIN{++ARGV[1]; ARGV[1]--} 1",               "?|?", "",   "by counting"),
    ];
    for (program, reads, writes, why) in cases {
        let facts = read(program);
        let got = (names(&facts.reads), names(&facts.writes), runs(&facts), facts.unknown);
        assert_eq!(got, (reads.into(), writes.into(), String::new(), None), "`{program}`: {why}");
    }
}

#[test]
fn commands_are_named() {
    #[rustfmt::skip]
    let cases = [
        ("BEGIN{system(\"rm x\")}",                        "rm x",     "a command"),
        ("BEGIN{system (\"rm x\")}",                       "rm x",     "behind a blank"),
        ("BEGIN{if (!system(\"test -f x\")) print}",       "test -f x", "in an expression"),
        ("{system(\"rm \" $1)}",                           "?",        "a joined command"),
        ("{system($0)}",                                   "?",        "an unknown command"),
        ("{awk::system(\"id\")}",                          "id",       "in its namespace"),
        ("BEGIN{\"date\" | getline}",                      "date",     "reads from a command"),
        ("BEGIN{\"date\" | getline d; print d}",           "date",     "into a variable"),
        ("BEGIN{while ((\"ls\" | getline l) > 0) n++}",    "ls",       "in a loop"),
        ("BEGIN{x = \"ls\" | getline}",                    "ls",       "behind an assignment"),
        ("BEGIN{\"echo \" \"rm\" | getline}",              "?",        "joined strings"),
        ("BEGIN{c = \"ls\"; c | getline}",                 "?",        "a variable"),
        ("BEGIN{(\"ls\") | getline}",                      "?",        "in parentheses"),
        ("{print $1 | \"sort -u\"}",                       "sort -u",  "prints to a command"),
        ("{print | \"sort\"; n++}",                        "sort",     "the whole line"),
        ("{print \"x\" | \"cat 1>&2\"}",                   "cat 1>&2", "an old idiom"),
        ("{print $1 | \"sort -k\" k}",                     "?",        "a joined command"),
        ("{print $1 | cmd}",                               "?",        "a variable"),
        ("{printf(\"%s\", $1) | \"sh\"}",                  "sh",       "printf"),
        ("BEGIN{print \"x\" |& \"sh\"}",                   "sh",       "both ways"),
        ("BEGIN{\"sh\" |& getline}",                       "sh",       "both ways"),
        ("BEGIN{f=\"system\"; @f(\"id\")}",                "?",        "a call by name"),
        ("/\"/{system(\"id\")} #\"",                       "id",       "behind a quote in an expression"),
        ("{if (x) /\"/; system(\"id\") #\"\n}",            "id",       "behind the head of a statement"),
        ("{x = 1 /2; system(\"id\") #/\n}",                "id",       "behind a division"),
        ("{x = a/\"/\"; system(\"id\") }",                 "id",       "a slash in a string divides nothing"),
        ("/[/]/{system(\"id\")}",                          "id",       "behind a bracket with a slash"),
        ("/#/{system(\"id\")}",                            "id",       "no comment in an expression"),
        ("\"#\"{system(\"id\")}",                          "id",       "no comment in a string"),
        ("#\\\nBEGIN{system(\"id\")}",                     "id",       "a comment is not continued"),
        ("BEGIN{print NF / system(\"id\") / 2}",           "id",       "between divisions"),
        ("a /system(\"id\")/ 2",                           "id",       "a name divides"),
        ("BEGIN{print 1 > \"/dev/stdout\"; \"id\"|getline}", "id",     "behind a redirection"),
    ];
    for (program, want, why) in cases {
        let facts = read(program);
        assert_eq!((runs(&facts).as_str(), facts.unknown), (want, None), "`{program}`: {why}");
        assert!(facts.writes.is_empty(), "`{program}`: {why}");
    }
}

#[test]
fn connections_and_the_environment_are_named() {
    assert!(read("BEGIN{s = \"x\"; print s |& \"/inet/tcp/0/host/80\"}").connects);
    assert!(read("BEGIN{\"/inet4/tcp/0/host/80\" |& getline}").connects);
    assert!(read("BEGIN{print > \"/inet/udp/0/h/1\"}").connects);
    let environment = |program: &str| read(program).environment;
    assert_eq!(environment("BEGIN{print PROCINFO[\"pid\"]}"), Environment::Untouched);
    assert_eq!(environment("BEGIN{print ENVIRON[\"HOME\"]}"), Environment::Named);
    for program in [
        "BEGIN{for (k in ENVIRON) print k, ENVIRON[k]}",
        "BEGIN{print ENVIRON[\"AWS\" \"_SECRET\"]}",
        "BEGIN{print ENVIRON[\"\\101WS_SECRET\"]}",
        "{print ENVIRON[$1]}",
    ] {
        assert_eq!(environment(program), Environment::Whole, "{program}");
    }
    assert_eq!(
        read("BEGIN{ENVIRON[\"PATH\"]=\".\"; system(\"ls\")}").runs,
        [Run::Unknown],
        "the command finds another path"
    );
    assert_eq!(
        read("BEGIN{print ENVIRON[\"HOME\"]; system(\"ls\")}").runs,
        [Run::Shell(b"ls".to_vec())],
        "reading changes nothing"
    );
}

#[test]
fn readings_of_other_awks_count_too() {
    // An awk that does not know brackets ends the expression early and sees a command.
    let facts = read("/[/ {system(\"id\")} /]/");
    assert_eq!(runs(&facts), "id");
    assert!(read("/[/ {system(\"id\") /]/").is_harmless(), "which it refuses here");
}

#[test]
fn what_cannot_be_followed_is_unknown() {
    #[rustfmt::skip]
    let programs = [
        "{print", "print}", "(]", "{print \"x}", "/x", "/x\n/", "@include \"inplace\"\n{print}", "@load \"filefuncs\"",
        "@namespace \"x\"", "@", "@ 1", "{ x = SYMTAB[\"y\"] }", "{ print `id` }", "\"a\nb\"", "$/x/", "/a/ /b/",
        "{ getline /x/ }", "/[[:x]/", "/a[/", "/a\\\nb/", "{ print \r\n}", "/[a[b/]/", "/]x[/]/", "'x'", "{ next /x/ }",
        "{ x = length /\"/; system(\"id\"); y = \"/ 1 }", "{ y = x ++ /\"/; system(\"id\"); y = \"/ 1 }",
    ];
    for program in programs {
        assert!(read(program).unknown.is_some(), "`{program}`");
    }
    assert!(awk(b"/\xc3/ { print }").unknown.is_some(), "a broken character");
}
