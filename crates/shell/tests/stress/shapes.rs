//! Shapes: texts that want to exhaust a reader. The stress test reads them for their safety,
//! the bench for their time.

/// A text with a name.
pub struct Shape {
    pub name: String,
    pub text: Vec<u8>,
}

/// Openers with what closes them.
pub const OPENERS: &[(&str, &str)] = &[
    ("(", ")"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("((", "))"),
    ("$(", ")"),
    ("a $(", ")"),
    ("$((", "))"),
    ("$[", "]"),
    ("`", "`"),
    ("\"", "\""),
    ("\"$(", ")\""),
    ("'", "'"),
    ("$'", "'"),
    ("${x", "}"),
    ("${x:-", "}"),
    ("\"${x:-", "}\""),
    ("${x#", "}"),
    ("${x/", "/y}"),
    ("${x:", "}"),
    ("${x[", "]}"),
    ("${!x[", "]}"),
    ("${ ", "; }"),
    ("${| ", "; }"),
    ("<(", ")"),
    (">(", ")"),
    ("a > >(", ")"),
    ("a[", "]=1"),
    ("a[b ", "]=1"),
    ("a=(", ")"),
    ("a=([", "]=1)"),
    ("{a,", "}"),
    ("{", "}"),
    ("x{", ",y}"),
    ("[", "]"),
    ("[[ ", " ]]"),
    ("[[ ( ", " ) ]]"),
    ("[[ a =~ (", ") ]]"),
    ("@(", ")"),
    ("!(a|", ")"),
    ("if ", "; then a; fi"),
    ("if a; then ", "; fi"),
    ("if a; then b; else ", "; fi"),
    ("if a; then b; elif ", "; then c; fi"),
    ("while ", "; do a; done"),
    ("while a; do ", "; done"),
    ("until a; do ", "; done"),
    ("for x in a; do ", "; done"),
    ("for ((;;)); do ", "; done"),
    ("for ((", "))"),
    ("select x in a; do ", "; done"),
    ("case x in x) ", ";; esac"),
    ("case ", " in a) b;; esac"),
    ("case x in (", ") a;; esac"),
    ("f() { ", "; }"),
    ("f() (", ")"),
    ("f() ", ""),
    ("function f { ", "; }"),
    ("function f ", ""),
    ("coproc ", ""),
    ("coproc N { ", "; }"),
    ("! ", ""),
    ("time ", ""),
    ("time -p ", ""),
    ("\\", ""),
    ("\\\n", ""),
    ("$", ""),
    ("$\"", "\""),
    ("<<E ", "\nE"),
    ("cat <<E\n$(", ")\nE\n"),
    ("<<<$(", ")"),
    ("{v}>$(", ")"),
    ("~", ""),
];

/// Every opener `depth` times, alone and closed.
pub fn nested(depth: usize) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (opener, closer) in OPENERS {
        let open = opener.repeat(depth);
        shapes.push(shape(format!("{opener:?} x {depth}"), open.clone()));
        shapes.push(shape(
            format!("{opener:?} .. {closer:?} x {depth}"),
            format!("{open}a{}", closer.repeat(depth)),
        ));
    }
    // Brackets of every sort inside each other.
    let mixed: String = OPENERS.iter().map(|(opener, _)| *opener).collect();
    shapes.push(shape(format!("all openers x {depth}"), mixed.repeat(depth / OPENERS.len() + 1)));
    shapes
}

/// Lists of `count` items, of every sort.
pub fn lists(count: usize) -> Vec<Shape> {
    let between = |name: &str, before: &str, item: &str, after: &str| {
        shape(format!("{name} x {count}"), format!("{before}{}{after}", item.repeat(count)))
    };
    vec![
        between("commands, ;", "", "a;", ""),
        between("commands, newline", "", "a\n", ""),
        between("commands, &", "", "a&", ""),
        between("and-or, &&", "", "a&&", "a"),
        between("and-or, ||", "", "a||", "a"),
        between("pipeline", "", "a|", "a"),
        between("pipeline, |&", "", "a|&", "a"),
        between("words", "", "a ", ""),
        between("quoted words", "", "'a' ", ""),
        between("expansions", "", "$a ", ""),
        between("one word of literals and quotes", "a ", "a'b'", ""),
        between("one word of expansions", "a ", "$a", ""),
        between("one quoted word of expansions", "a \"", "$a", "\""),
        between("one word of substitutions", "a ", "$(a)", ""),
        between("one word of backticks", "a ", "`a`", ""),
        between("one word of arithmetic", "a ", "$((1))", ""),
        between("one word of globs", "a ", "*a", ""),
        between("one word of braces", "a ", "{b,c}", ""),
        between("one brace of many", "a {", "b,", "c}"),
        between("one word of escapes", "a ", "\\b", ""),
        between("one word of tildes", "a=", "~:", ""),
        between("one long word", "", "a", ""),
        between("one long quote", "a '", "b ", "'"),
        between("continuations", "a ", "\\\n", "b"),
        between("comments", "", "# a\n", ""),
        between("one comment", "# ", "a", ""),
        between("blank lines", "", "\n", ""),
        between("blanks", "", " ", ""),
        between("assignments", "", "a=b ", ""),
        between("constants", "", "a=b;$a;", ""),
        between("subscripts", "", "a[0]=b ", ""),
        between("array elements", "a=(", "b ", ")"),
        between("array elements with subscripts", "a=(", "[0]=b ", ")"),
        between("redirections", "a", " <b", ""),
        between("descriptors", "a", " 2>&1", ""),
        between("here-strings", "a", " <<<b", ""),
        between("bangs", "", "! ", "a"),
        between("groups", "", "{ a; };", ""),
        between("subshells", "", "(a);", ""),
        between("arithmetic", "", "((a));", ""),
        between("almost arithmetic", "", "((a) );", ""),
        between("arithmetic of many signs", "((", "a+", "1))"),
        between("tests", "", "[[ a ]];", ""),
        between("one test of many", "[[ a", " || a", " ]]"),
        between("one test of many bangs", "[[ ", "! ", "a ]]"),
        between("regular expression", "[[ a =~ ", "a|b", " ]]"),
        between("elif", "if a; then b; ", "elif a; then b; ", "fi"),
        between("arms", "case a in ", "a) b;;", " esac"),
        between("patterns", "case a in ", "a|", "a) b;; esac"),
        between("loop words", "for x in ", "a ", "; do b; done"),
        between("functions", "", "f() { a; }\n", ""),
        between("coprocesses", "", "coproc a;", ""),
        between("conditions", "", "if a; then b; fi;", ""),
        between("slices", "a ", "${x:1:2} ", ""),
        between("replacements", "a ", "${x/a/b} ", ""),
        between("one replacement of many slashes", "a ${x/", "/", "}"),
        between("one extended pattern", "[[ a == @(", "a|", "b) ]]"),
        between("one arithmetic for", "for ((", "a,", "b;;)); do c; done"),
        between("here-documents, one a line", "", "a <<E\nb\nE\n", ""),
        between("one here-document of many lines", "a <<E\n", "b $c\n", "E\n"),
        between("one stripped here-document", "a <<-E\n", "\tb $c\n", "\tE\n"),
        between("a here-document of almost delimiters", "a <<E\n", "EE\n", "E\n"),
        heredocs_of_one_line(count),
    ]
}

fn heredocs_of_one_line(count: usize) -> Shape {
    let text = format!("a{}\n{}", " <<E".repeat(count), "b\nE\n".repeat(count));
    shape(format!("here-documents of one line x {count}"), text)
}

/// Every byte that may be special, `count` times; also pairs that begin something.
pub fn runs(count: usize) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for byte in (b'!'..=b'~').filter(u8::is_ascii_punctuation) {
        let sign = char::from(byte).to_string();
        shapes.push(shape(format!("{sign} x {count}"), sign.repeat(count)));
        shapes
            .push(shape(format!("echo {sign} x {count}"), format!("echo {}", sign.repeat(count))));
    }
    for pair in [
        "<(", "${", "$(", "((", "[[", "{,", ",}", "``", "\"'", "\\\"", "$'", "a=", "a[", "1>",
        ";;", "<<", "<<-", "()", "]=", "${#", "..", "*(", "$[", "~/",
    ] {
        shapes.push(shape(format!("{pair} x {count}"), pair.repeat(count / pair.len())));
    }
    shapes
}

/// Texts whose expansion would not end before the night.
pub fn expansions() -> Vec<Shape> {
    let name = |text: String| shape(text.chars().take(40).collect(), text);
    vec![
        name("echo {1..99999999}".to_owned()),
        name("echo {1..99999999}{1..99999999}".to_owned()),
        name("echo {-9223372036854775808..9223372036854775807}".to_owned()),
        name("echo {1..9..0} {9..1..-1} {1..9223372036854775807..9223372036854775807}".to_owned()),
        name("echo {99999999999999999999..1}".to_owned()),
        name(format!("echo {}", "{a,b}".repeat(1000))),
        name(format!("echo {}x{}", "{a,".repeat(100), "}".repeat(100))),
        name(format!("echo {{{}}}", "{1..64},".repeat(1000))),
        name(format!("{} $a", "a=$a$a;".repeat(64))),
        name(format!("a=xxxxxxxxxxxxxxxx;{} $a", "a=$a$a;".repeat(64))),
        name(format!("a='b b b b';{} $a", "a=\"$a $a\";".repeat(64))),
        name(format!("a={}; {}", "x".repeat(50_000), "echo $a;".repeat(10_000))),
        name(format!("a={{1..64}}; echo {}", "{1..64}$a".repeat(1000))),
        name(format!("echo {{1..64}}{}", "\\b".repeat(10_000))),
        name(format!("echo {{a,b}}{}", "'c'\"d\"".repeat(10_000))),
        name(format!("{{a,b}}{}", "{c,d}\\e".repeat(10_000))),
        name(format!("a=b; echo {{1..64}}{}", "$a".repeat(10_000))),
        name(format!("a='b c'; echo {}", "$a".repeat(10_000))),
        name(format!("echo {{{}}}", "'x'\\y,".repeat(60)).repeat(100)),
    ]
}

/// An ordinary script of about `bytes` bytes.
pub fn script(bytes: usize) -> Shape {
    const PAGE: &str = r#"#!/bin/bash
set -euo pipefail
readonly root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
log() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
for file in "$root"/src/*.c "$root"/lib/{a,b,c}.c; do
    [[ -f $file && $file != *_test.c ]] || continue
    if ! gcc -O2 -Wall -c -o "${file%.c}.o" "$file" 2>>build.log; then
        log "failed: ${file##*/}"; exit 1
    fi
done
case "${1:-build}" in
    clean|distclean) rm -rf -- "$root/build" ;;
    test) (cd "$root" && ./run-tests --jobs=$(( $(nproc) * 2 )) | tee test.log) ;;
    *) cat <<-EOF
	usage: ${0##*/} [clean|test]
	EOF
    ;;
esac
while IFS=: read -r name _ uid rest; do
    (( uid >= 1000 )) && echo "$name" || true
done < /etc/passwd | sort -u > users.txt
"#;
    shape(format!("script of {bytes} bytes"), PAGE.repeat(bytes / PAGE.len() + 1))
}

fn shape(name: String, text: String) -> Shape {
    Shape { name, text: text.into_bytes() }
}
