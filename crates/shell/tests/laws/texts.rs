//! Texts: strategies that make shell text, right and wrong.

use proptest::prelude::*;
use proptest::sample::select;

/// Signs and words from which most of the grammar can be put together.
const TOKENS: &[&str] = &[
    " ", " ", " ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "((", "))", "[[",
    "]]", "[", "]", "<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<", "'",
    "\"", "`", "\\", "\\\n", "$", "$(", "$((", "${", "$'", "$\"", "$[", "<(", ">(", "#", "!", "~",
    "*", "?", "=", "+=", ":-", ":", "@", "%", "/", ",", "..", "if", "then", "elif", "else", "fi",
    "while", "until", "for", "select", "in", "do", "done", "case", "esac", ";;", ";&", ";;&",
    "function", "coproc", "time", "-p", "a", "b", "x=1", "1", "2", "EOF", "\nEOF\n", "-f", "==",
    "=~", "-eq", "{fd}", "rm", "ls", "a[", "()", "{a,b}", "{1..3}", "@(", "!(", "é", "\r", "\t",
];

/// Tokens in any order: most are refused, some are read, none may hurt.
pub fn soup() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(select(TOKENS), 0..40).prop_map(|tokens| tokens.concat().into_bytes())
}

/// Any bytes.
pub fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

/// Scripts that bash reads: every kind of command, words of every kind, a few levels deep.
pub fn script() -> impl Strategy<Value = String> {
    simple(leaf_word()).prop_recursive(4, 48, 4, |inner| {
        let word = word(inner.clone());
        let list = || prop::collection::vec(inner.clone(), 1..3).prop_map(|all| all.join("; "));
        prop_oneof![
            4 => simple(word.clone()),
            2 => (inner.clone(), select(&[" && ", " || ", " | ", "; ", "\n", " & "][..]), inner.clone())
                .prop_map(|(left, join, right)| format!("{left}{join}{right}")),
            1 => list().prop_map(|body| format!("( {body} )")),
            1 => list().prop_map(|body| format!("{{ {body}; }}")),
            1 => (list(), list(), list())
                .prop_map(|(a, b, c)| format!("if {a}; then {b}; else {c}; fi")),
            1 => (select(&["while", "until"][..]), list(), list())
                .prop_map(|(key, a, b)| format!("{key} {a}; do {b}; done")),
            1 => (word.clone(), list()).prop_map(|(w, b)| format!("for x in {w}; do {b}; done")),
            1 => (word.clone(), word.clone(), list())
                .prop_map(|(w, p, b)| format!("case {w} in x{p}) {b};; *) ;; esac")),
            1 => list().prop_map(|body| format!("f() {{ {body}; }}")),
            1 => inner.prop_map(|one| format!("{{ {one}; }} > out 2>&1")),
            1 => word.clone().prop_map(|w| format!("[[ {w} == x && -f {w} ]]")),
            1 => word.prop_map(|w| document(&w.replace(['\'', '"'], ""))),
        ]
    })
}

/// A here-document, whose end no document inside it can be: that one is shorter.
fn document(body: &str) -> String {
    let end = body.len();
    format!("cat <<E{end}\n{body}\nE{end}\n:")
}

fn simple(word: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let program = select(&["ls", "rm", "git", "./x", "echo", "true"][..]);
    let redirection = select(&["", "", "", " > f", " 2>&1", " <<< y", " < in", " {v}>> g"][..]);
    let assignment = select(&["", "", "", "A=1 ", "B='x y' ", "C[0]=z ", "D=$(id) "][..]);
    (assignment, program, prop::collection::vec(word, 0..3), redirection).prop_map(
        |(assignment, program, words, redirection)| {
            let words: Vec<String> = words.iter().map(|word| format!(" {word}")).collect();
            let words = words.concat();
            format!("{assignment}{program}{words}{redirection}")
        },
    )
}

fn leaf_word() -> impl Strategy<Value = String> {
    let part = select(
        &[
            "a", "-l", "x.c", "'q r'", "\"d $e\"", "$f", "${g}", "${h:-i}", "${j##*/}", "\\ ", "*",
            "?", "[a-z]", "{k,l}", "{1..3}", "~", "$'m\\n'", "$((n+1))", "%", "@", ":", "=", "/",
            "`id`", "$(id)", "${o[1]}", "\"$@\"", "${#p}", "${q/r/s}", "${t:1:2}", "é",
        ][..],
    );
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat())
}

/// A word with a script inside, in one of the places where scripts hide.
fn word(inner: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let hidden = (0..6_usize, inner).prop_map(|(place, script)| match place {
        0 => format!("$({script}\n)"),
        1 => format!("\"$({script}\n)\""),
        2 => format!("${{x:-$({script}\n)}}"),
        3 => format!("<({script}\n)"),
        4 => format!("${{a[$({script}\n)]}}"),
        _ => format!("\"${{y:+\"$({script}\n)\"}}\""),
    });
    prop_oneof![3 => leaf_word(), 1 => hidden].boxed()
}

/// A word's bytes and one of the ways to write them.
pub fn spelled() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let byte = prop_oneof![8 => 0x20..=0x7e_u8, 1 => 0x80..=0xff_u8, 1 => Just(b'\n')];
    let byte = prop_oneof![9 => byte, 1 => Just(b'\t')];
    prop::collection::vec((byte, 0..5_u8), 1..12).prop_map(|letters| {
        let value = letters.iter().map(|&(byte, _)| byte).collect();
        (value, letters.iter().flat_map(|&(byte, way)| spell(byte, way)).collect())
    })
}

/// One byte in one of the ways to quote it.
fn spell(byte: u8, way: u8) -> Vec<u8> {
    let plain = byte.is_ascii_alphanumeric();
    match way {
        0 if plain => vec![byte],
        0 | 1 if byte != b'\n' => vec![b'\\', byte],
        2 if byte != b'\'' => vec![b'\'', byte, b'\''],
        3 if !b"$`\"\\!".contains(&byte) => vec![b'"', byte, b'"'],
        3 if byte != b'!' => vec![b'"', b'\\', byte, b'"'],
        4 if byte < 0x80 => format!("$'\\x{byte:02x}'").into_bytes(),
        _ => format!("$'\\{byte:03o}'").into_bytes(),
    }
}
