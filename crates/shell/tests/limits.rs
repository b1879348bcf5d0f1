//! Limits: each is tested one below, at, and one above.

#![cfg(test)]

use portcullis_shell::{Dialect, Kind, Limits, Reader, RefusalKind, TaintKind, Tree, Value};

/// Reads under the limits of judging, or under others.
fn parse_with(limits: Limits, text: &str) -> Result<Tree, RefusalKind> {
    let reader = Reader { limits, ..Reader::new(Dialect::Bash) };
    reader.parse(text.as_bytes()).map_err(|refusal| refusal.kind)
}

fn parse(text: &str) -> Result<Tree, RefusalKind> {
    parse_with(Limits::JUDGING, text)
}

/// Whether the text is read (true) or refused for a limit (false); nothing else is expected.
fn is_read(result: &Result<Tree, RefusalKind>, what: &str) -> bool {
    match result {
        Ok(_) => true,
        Err(kind) => {
            assert_eq!(*kind, RefusalKind::Limit, "{what}");
            false
        }
    }
}

/// The value of the last word of the last command.
fn last_value(tree: &Tree) -> Value<'_> {
    let command = tree.commands().last().unwrap();
    let Kind::Simple(simple) = command.kind else { panic!("no simple command") };
    tree.value(tree.list(simple.words).last().unwrap())
}

fn fields(value: &Value) -> Option<usize> {
    match value {
        Value::Set(fields) => Some(fields.len()),
        Value::Tainted(taint) => {
            assert!(matches!(taint.kind, TaintKind::TooMany | TaintKind::Parameter), "{taint:?}");
            None
        }
        Value::Literal(_) | Value::Pattern { .. } => panic!("one field: {value:?}"),
    }
}

#[test]
fn the_limits_of_judging_are_these() {
    assert_eq!(Limits::JUDGING, Limits { bytes: 65_536, nesting: 128, commands: 4_096 });
    assert_eq!(Limits::FIELDS, 64);
    assert_eq!(Limits::VALUE_BYTES, 65_536);
    assert_eq!(Limits::look_ahead(1_000), 9_024);
    assert_eq!(Limits::derived(1_000), 17_024);
}

#[test]
fn bytes() {
    let limit = Limits::JUDGING.bytes;
    for before in ["#", "echo ", "'", "<<E\n"] {
        let after = if before == "'" { "'" } else { "" };
        for (len, want) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
            let fill = "a".repeat(len - before.len() - after.len());
            let text = format!("{before}{fill}{after}");
            assert_eq!(is_read(&parse(&text), before), want, "{len} bytes of `{before}`");
        }
    }
}

#[test]
fn commands() {
    let limit = Limits::JUDGING.commands as usize;
    for (command, last) in [("a;", ""), ("a\n", ""), ("a|", "a"), ("a&&", "a"), ("$(a)", "")] {
        // A substitution is one command inside another.
        let (frame, own) = if command == "$(a)" { ("echo ", 1) } else { ("", last.len()) };
        for (count, want) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
            let text = format!("{frame}{}{last}", command.repeat(count - own));
            assert_eq!(is_read(&parse(&text), command), want, "{count} of `{command}`");
        }
    }
}

#[test]
fn nesting_of_one_level_each() {
    let limit = Limits::JUDGING.nesting as usize;
    let pairs = [
        ("( ", " )"),
        ("{ ", "; }"),
        ("<(", ")"),
        ("${x:-", "}"),
        ("${x#", "}"),
        ("{a,", "}"),
        ("if ", "; then a; fi"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("for x in a; do ", "; done"),
        ("case x in x) ", ";; esac"),
    ];
    for (opener, closer) in pairs {
        for (depth, want) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
            let text = format!("{}a{}", opener.repeat(depth), closer.repeat(depth));
            assert_eq!(is_read(&parse(&text), opener), want, "{depth} of `{opener}`");
        }
    }
}

#[test]
fn nesting_of_any_opener_ends() {
    let limit = Limits::JUDGING.nesting as usize;
    let pairs = [
        ("$(", ")"),
        ("\"$(", ")\""),
        ("\"${x:-", "}\""),
        ("${x[", "]}"),
        ("${ ", "; }"),
        ("f() { ", "; }"),
        ("coproc N { ", "; }"),
        ("$((", "))"),
        ("$[", "]"),
        ("a > >(", ")"),
        ("<<<$(", ")"),
    ];
    for (opener, closer) in pairs {
        let read: Vec<bool> = (1..=limit + 1)
            .map(|depth| format!("{}a{}", opener.repeat(depth), closer.repeat(depth)))
            .map(|text| is_read(&parse(&text), opener))
            .collect();
        assert!(read[0], "one `{opener}` is not read");
        assert!(!read[limit], "{limit} and one `{opener}` are read");
        assert!(read.is_sorted_by(|deep, deeper| deep >= deeper), "`{opener}` is read again");
    }
}

#[test]
fn limits_are_parameters() {
    let limits = Limits { bytes: 40, nesting: 3, commands: 2 };
    let read = |text: &str| is_read(&parse_with(limits, text), text);
    assert!(read("( ( ( a ) ) )") || limits.commands < 4, "a subshell counts as a command");
    assert!(read("a;b") && !read("a;b;c"));
    assert!(read("echo ${a:-${b:-${c:-d}}}") && !read("echo ${a:-${b:-${c:-${d:-e}}}}"));
    assert!(read(&"a".repeat(40)) && !read(&"a".repeat(41)));
}

#[test]
fn fields_of_braces() {
    let limit = Limits::FIELDS;
    for (count, want) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
        let sequence = format!("echo {{1..{count}}}");
        let list = format!("echo {{{}a}}", "a,".repeat(count - 1));
        let product = format!("echo {{1..{count}}}{{a,}}");
        for (text, count) in [(sequence, count), (list, count)] {
            let tree = parse(&text).unwrap();
            assert_eq!(fields(&last_value(&tree)), want.then_some(count), "{text}");
        }
        assert_eq!(fields(&last_value(&parse(&product).unwrap())), None, "{product}");
    }
}

#[test]
fn fields_of_constants() {
    let limit = Limits::FIELDS;
    for (count, want) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
        let text = format!("X='{}a'; echo $X", "a ".repeat(count - 1));
        let tree = parse(&text).unwrap();
        assert_eq!(fields(&last_value(&tree)), want.then_some(count), "{count} fields");
    }
}

#[test]
fn bytes_of_a_value() {
    let half = Limits::VALUE_BYTES / 2;
    let cases =
        [(half - 2, "{1,22}", true), (half - 1, "{1,2}", true), (half - 1, "{1,22}", false)];
    for (prefix, braces, want) in cases {
        let text = format!("echo {}{braces}", "x".repeat(prefix));
        let tree = parse(&text).unwrap();
        assert_eq!(fields(&last_value(&tree)), want.then_some(2), "{prefix} bytes and {braces}");
    }
}

#[test]
fn bytes_of_a_constant() {
    const LONGEST: usize = Limits::CONSTANT_BYTES;
    for (len, want) in [(LONGEST - 1, true), (LONGEST, true), (LONGEST + 1, false)] {
        let text = format!("X={}; echo $X", "x".repeat(len));
        let tree = parse(&text).unwrap();
        assert_eq!(matches!(last_value(&tree), Value::Literal(_)), want, "{len} bytes");
    }
}

#[test]
fn constants_at_one_time() {
    const MOST: usize = 64;
    for (count, want) in [(MOST - 1, true), (MOST, true), (MOST + 1, false)] {
        let assignments: Vec<String> = (1..=count).map(|at| format!("X{at}=a; ")).collect();
        let text = format!("{}echo $X{count}", assignments.concat());
        let tree = parse(&text).unwrap();
        assert_eq!(matches!(last_value(&tree), Value::Literal(_)), want, "{count} constants");
    }
}

#[test]
fn bytes_made_from_the_text() {
    // Every level of backticks copies what is inside it, and escapes its own twice as often: a
    // text that may be judged has no room for levels enough to spend what its length brings.
    let mut text = "a \\b".to_owned();
    let mut depth = 0;
    while text.len() < Limits::JUDGING.bytes / 2 {
        text = format!("a `{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
        depth += 1;
    }
    assert!(depth < 16, "{depth} levels copy the text as often");
    assert!(is_read(&parse(&text), "backticks"), "{depth} levels");
}

#[test]
fn look_ahead() {
    // Ten brackets are nine times two of them, and each pair looks for its end: one more byte
    // inside costs nine and brings eight.
    const DEPTH: usize = 10;
    let nest =
        |bytes: usize| format!("{}{}{}", "(".repeat(DEPTH), "a".repeat(bytes), " )".repeat(DEPTH));
    let spent = |bytes: usize| -> usize {
        let closer = |level: usize| DEPTH + bytes + 2 * (DEPTH - 1 - level) + 1;
        (0..DEPTH - 1).map(|level| closer(level + 1) - level - 1).sum()
    };
    let most = (1..8192).find(|&bytes| spent(bytes) == Limits::look_ahead(nest(bytes).len()));
    let most = most.unwrap();
    for (bytes, want) in [(most - 1, true), (most, true), (most + 1, false)] {
        assert_eq!(is_read(&parse(&nest(bytes)), "(("), want, "{bytes} of {most} bytes");
    }
}
