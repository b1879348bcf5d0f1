//! Values: what stands behind options and as operands in variations.
//!
//! Values of the small languages are put together from pieces, harmless and harmful ones alike:
//! which of them only read is for the engine to say.

use portcullis_engine::catalog::ValueKind;

use crate::chance::Chance;

/// How many files of harmful words the project has.
const HARMS: usize = 24;
const FILES: [&str; 24] = [
    "notes.txt",
    "a.txt",
    "b.txt",
    "data.txt",
    "file.txt",
    "README.md",
    "docs/guide.md",
    "src/main.rs",
    "src/lib.rs",
    "src/app.py",
    "data.csv",
    "data.json",
    "config.yaml",
    "config.toml",
    "app.log",
    "data.db",
    "archive.tar",
    "archive.tar.gz",
    "archive.zip",
    "notes.txt.gz",
    "Makefile",
    "package.json",
    "link.txt",
    "missing.txt",
];
const DIRECTORIES: [&str; 7] = [".", "src", "docs", "data", "src/inner", "/home/dev/other", "/etc"];
const WORDS: [&str; 46] = [
    "1",
    "2",
    "10",
    "0",
    "5",
    "-1",
    "100",
    "1,2",
    "2,3",
    "1:2",
    "foo",
    "alpha",
    "error",
    "auto",
    "never",
    "always",
    "json",
    "yaml",
    "csv",
    "raw",
    "short",
    "full",
    "name",
    "size",
    "time",
    "id",
    "all",
    "none",
    "iso",
    "%s",
    "%n %s",
    "*.txt",
    "*.rs",
    "2020-01-01",
    "1 week ago",
    "HEAD",
    "main",
    "feature",
    "HEAD~1",
    ",",
    "utf-8",
    "a=b",
    "out.made",
    "made/out",
    "k",
    "",
];
const SED: [&str; 30] = [
    "s/a/b/",
    "s/alpha/x/g",
    "p",
    "1p",
    "$p",
    "1,3p",
    "/foo/p",
    "/foo/d",
    "1d",
    "$d",
    "=",
    "l",
    "y/ab/cd/",
    "1!G;h;$!d",
    "N;P;D",
    "s/a/b/w made",
    "w made",
    "W made",
    "e",
    "1e date",
    "s/a/date/e",
    "r notes.txt",
    "R notes.txt",
    "a text",
    "i\\text",
    "c\\text",
    "/a/,/b/{p;d}",
    "5q",
    "s|a|b|p",
    "w /dev/stdout",
];
const AWK: [&str; 26] = [
    "{print $1}",
    "{print $NF}",
    "NR==2",
    "/foo/",
    "END{print NR}",
    "{s+=$2} END{print s}",
    "BEGIN{FS=\",\"} {print $2}",
    "{print > \"made\"}",
    "{print >> \"made\"}",
    "{print | \"cat\"}",
    "BEGIN{system(\"date\")}",
    "BEGIN{\"date\"|getline x; print x}",
    "{getline; print}",
    "{printf \"%s\\n\", $1}",
    "!seen[$0]++",
    "length > 3",
    "{gsub(/a/,\"b\")} 1",
    "NR>1 && $2>1",
    "{a[$1]=$2} END{for (k in a) print k, a[k]}",
    "function f(x) {return x+1} {print f($2)}",
    "{while ((getline line < \"b.txt\") > 0) print line}",
    "BEGIN{close(\"x\")}",
    "{print $1 > $2}",
    "{print ($1 > $2)}",
    "{print $1, \"a > b\"}",
    "{if ($2 > 1) print}",
];
const JQ: [&str; 18] = [
    ".",
    ".name",
    ".items[]",
    ".items[].id",
    ".items | length",
    "keys",
    "to_entries",
    "map(.)",
    ".items[] | select(.id > 1)",
    "@csv",
    "@sh",
    "env",
    "$ENV.PATH",
    "input",
    "inputs",
    "[.items[].id] | add",
    "import \"a\" as a; .",
    ".name |= ascii_upcase",
];
const SQL: [&str; 13] = [
    "select 1",
    "select * from items",
    ".tables",
    ".schema",
    "select count(*) from items",
    "insert into items values (2,'two')",
    "delete from items",
    "pragma table_info(items)",
    "pragma user_version=2",
    "explain select 1",
    ".dump",
    "with x as (select 1) select * from x",
    "select writefile('made','x')",
];
const FIND: [&str; 44] = [
    "-name '*.txt'",
    "-iname '*.RS'",
    "-type f",
    "-type d",
    "-maxdepth 2",
    "-mindepth 1",
    "-size +1k",
    "-mtime -1",
    "-newer notes.txt",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-o",
    "-not",
    "!",
    "\\( -name a.txt \\)",
    "-path './src/*'",
    "-regex '.*\\.md'",
    "-empty",
    "-perm -u+x",
    "-user dev",
    "-links 1",
    "-printf '%p %s\\n'",
    "-quit",
    "-delete",
    "-fprint made",
    "-fprintf made '%p'",
    "-fls made",
    "-exec cat {} \\;",
    "-exec cat {} +",
    "-exec rm {} \\;",
    "-execdir pwd \\;",
    "-ok rm {} \\;",
    "-exec sh -c 'echo $1' _ {} \\;",
    "-exec grep -l foo {} +",
    "-xdev",
    "-follow",
    "-depth",
    "-readable",
    "-executable",
    "-samefile notes.txt",
    "-inum 1",
    "-files0-from notes.txt",
];

/// A value of this kind.
pub fn value(kind: ValueKind, chance: &mut Chance) -> String {
    let text = match kind {
        ValueKind::Read | ValueKind::Move | ValueKind::Link | ValueKind::Delete => file(chance),
        ValueKind::Directory | ValueKind::WorkingDirectory => {
            if chance.once_in(4) {
                file(chance)
            } else {
                chance.pick(&DIRECTORIES)
            }
        }
        ValueKind::Write | ValueKind::Into | ValueKind::Tree | ValueKind::Output => {
            chance.pick(&["made", "/dev/null", "-", "/dev/stdout"])
        }
        ValueKind::ShellText => chance.pick(&["cat", "date", "echo x", "ls -l", "cat -n"]),
        ValueKind::Program | ValueKind::Command => chance.pick(&["cat", "ls", "echo", "wc"]),
        ValueKind::Code => chance.pick(&["1", "print(1)"]),
        ValueKind::Url => "https://example.com/x",
        ValueKind::Host => "example.com",
        ValueKind::Config => chance.pick(&["color.ui=never", "core.pager=cat", "a.b=c"]),
        ValueKind::Sed => return joined(&SED, "; ", chance),
        ValueKind::Awk => return joined(&AWK, "; ", chance),
        ValueKind::Jq => return joined(&JQ, " | ", chance),
        ValueKind::Sql => return joined(&SQL, "; ", chance),
        ValueKind::Remote => chance.pick(&["origin", "upstream"]),
        ValueKind::Names | ValueKind::Part => chance.pick(&["*.txt", "*.rs", "a*", "x"]),
        ValueKind::Opaque | ValueKind::Pattern | ValueKind::Sub | ValueKind::Change => {
            if chance.once_in(6) { file(chance) } else { chance.pick(&WORDS) }
        }
    };
    text.to_owned()
}

/// A file of the project, or one that is not there.
pub fn file(chance: &mut Chance) -> &'static str {
    chance.pick(&FILES)
}

/// A word that is not known before the command runs, and then does harm if it can.
pub fn unknown(chance: &mut Chance) -> String {
    let harm = harm(chance);
    match chance.below(5) {
        0 | 1 => format!("$({harm})"),
        2 | 3 => format!("\"$({harm})\""),
        _ => chance.pick(&["*", "dash/*", "*.txt", "$x", "\"$1\""]).to_owned(),
    }
}

/// A command that prints one of the harmful words of the project.
pub fn harm(chance: &mut Chance) -> String {
    format!("cat words/{}", chance.below(HARMS))
}

/// A search in the language of find, in shell syntax.
pub fn search(chance: &mut Chance) -> String {
    let mut words = vec!["find", chance.pick(&DIRECTORIES)];
    for _ in 0..chance.between(1, 4) {
        words.push(chance.pick(&FIND));
    }
    words.join(" ")
}

fn joined(pieces: &[&str], by: &str, chance: &mut Chance) -> String {
    let pieces: Vec<&str> = (0..chance.between(1, 2)).map(|_| chance.pick(pieces)).collect();
    pieces.join(by)
}
