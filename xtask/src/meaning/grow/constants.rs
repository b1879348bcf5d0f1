//! Constants: variables whose value could be known, and what may change it on the way.
//!
//! A text sets a variable, does something that changes it or only seems to, and uses it. The
//! reader may know the value or not; what it claims to know must be true.

use super::Grower;

/// What stands between an assignment and a use. `τ` is a tag, `ν` a value, `X` the variable.
#[rustfmt::skip]
const BETWEEN: &[&str] = &[
    // These leave the variable alone.
    "p0 τ", "(X=ν)", "(X=ν; p1 τ $X)", "X=ν | p0 τ", "p0 τ | X=ν", "X=ν p0 τ", "p0 τ $(X=ν)",
    "p0 τ `X=ν`", "Y=ν", "X=ν &", "p0 τ X=ν", "p0 τ <(X=ν)", "f1() { X=ν; }", "f1() { local X=ν; p1 τ $X; }; f1",
    "false && X=ν", "true || X=ν", "p7 τ && X=ν", "p0 τ || X=ν", "if p7 τ; then X=ν; fi", "XX=ν", "X= p0 τ",
    "case a in b) X=ν;; esac", "for Y in X ν; do p1 τ $Y $X; done", "while p7 τ; do X=ν; done", "p0 τ 'X=ν'",
    "p0 τ \"$X\"", "coproc { X=ν; }", "(unset X)", "(read X <<< ν)", "f1() ( X=ν; ); f1", "p1 τ ${X:-ν}",
    "p1 τ ${X:+ν}", "# X=ν\np0 τ", "p0 τ \\\nX=ν", "cat τ <<E\nX=ν\nE\n", "X=ν exec p0 τ &", "env X=ν p1 τ",
    // These change it.
    "X=ν", "{ X=ν; }", "if p0 τ; then X=ν; fi", "for X in ν a; do p1 τ $X; done", "for X in; do :; done",
    "while X=ν; p7 τ; do :; done", "until X=ν; do :; done", "f1() { X=ν; }; f1", "f1() { X=ν; }; f1 τ | p0 τ",
    "eval X=ν", "eval 'X=ν'", "read X <<< ν", "read Y X <<< 'a ν'", "read -r X < f1", "unset X", "unset -v X", "X+=ν",
    "declare X=ν", "export X=ν", "readonly X=ν", "typeset X=ν", "declare X", "export X", "declare -i X=3+4", "declare -i X; X=2+3",
    "declare -u X; X=ν", "declare -l X; X=Pa", "declare -n R=X; R=ν", "declare -n X=Y; Y=ν", ": ${X:=ν}", ": ${X=ν}",
    "unset X; : ${X:=ν}", "X=; p1 τ ${X:=ν}", "((X=3))", "((X++))", ": $((X=4))", ": $((X+=1))", "let X=5", "let 'X = 6'",
    "printf -v X %s ν", "mapfile -t X <<< ν", "readarray X < f1", "X[0]=ν", "X[1]=ν", "X=(ν b)", "X=([0]=ν)", "X+=(ν)",
    "getopts a X", "for ((X=0; X<1; X++)); do :; done", "select X in ν; do break; done <<< 1", "true && X=ν", "false || X=ν",
    "p0 τ && X=ν", "time X=ν", "! X=ν", "X=ν Y=a", "X=ν > o1", "X=ν :", "X=ν eval :", "X=ν true", "X=ν f1", "command eval X=ν",
    "case a in a) X=ν;; esac", "case $((X=7)) in 7) ;; esac", "[[ -n $((X=8)) ]]", "[[ X=ν ]]", "[[ 1 -eq X=9 ]]", "p0 τ $((X=9))",
    "p0 τ > o$((X=2))", "a[X=1]=b", "a[$((X=1))]=b", ": ${a[X=1]}", ": ${E1:X=1}", "trap 'X=ν' DEBUG", "test -v X[X=5]",
    "f1() { local X; X=ν; p1 τ $X; }; f1", "f1() { declare -g X=ν; }; f1", "f1() { unset X; }; f1", "export -n X", "readonly X; X=ν",
    "command read X <<< ν", "builtin read X <<< ν", "{ X=ν; } | p0 τ", "{ X=ν; } > o1", "{ X=ν; } &", "cd d1", "wait", "read <<< ν",
    // These change how words are split and matched.
    "IFS=,", "IFS=", "IFS=p", "unset IFS", "IFS=, p0 τ", "(IFS=,)", "set -f", "local IFS=,", "IFS=1 read Y <<< a", "read IFS <<< ,",
    "shopt -s nullglob", "shopt -s nocaseglob; p1 τ F*", "shopt -s nullglob; nope* p1 τ", "shopt -s dotglob globstar", "set -u", "set -a", "set -e", "set -k", "set -o posix", "shopt -s extglob",
];

/// What a variable is set to.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "p1", "p2", "p3", "a", "''", "'p1 a'", "\"p2 b\"", "'a  b'", "\\ a", "'a '", "' a'", "f*", "'f*'", "'nope*'", "a,b", "p1,c",
    "$'a\\tb'", "~", "'~'", "{a,b}", "'$(p1 d0)'", "\"it's\"", "'a\nb'", "-n", "'[a]'", "1", "\\*", "a\\ b", "\"a\"'b'", "$E1", "$(p6 q)",
];

/// How a variable is used.
#[rustfmt::skip]
const USES: &[&str] = &[
    "$X τ", "\"$X\" τ", "${X} τ", "p1 τ $X", "p1 τ \"$X\"", "p1 τ ${X}", "p1 τ \"${X}\"z", "p1 τ z$X", "p1 τ $X$X", "p1 τ $X\"$X\"",
    "p1 τ ${X:-z}", "p1 τ ${X-z}", "p1 τ ${X:+z}", "p1 τ ${X#p}", "p1 τ ${X%1}", "p1 τ ${#X}", "p1 τ ${X[0]}", "p1 τ \"${X[@]}\"",
    "p1 τ ${X/p/q}", "p1 τ ${X:0:1}", "p1 τ ${X^^}", "p1 τ ${X@Q}", "p1 τ $X*", "p1 τ \"$X\"*", "p1 τ {$X,b}", "p1 τ ~/$X", "p1 τ $((X))",
    "p1 τ > $X", "p1 τ > \"o$X\"", "cat τ <<< $X", "cat τ <<< \"$X\"", "cat τ <<E\n$X\nE\n", "cat τ <<'E'\n$X\nE\n", "cat τ <<E\n\"$X\" ${X}b\nE\n",
    "case $X in p1) p2 τ;; *) p3 τ;; esac", "for z in $X; do p1 τ $z; done", "for z in \"$X\" b; do p1 τ \"$z\"; done", "Y=$X; p1 τ $Y \"$Y\"",
    "Y=\"$X\"; $Y τ", "Y=$X$X; p1 τ $Y", "Y=z$X p1 τ $Y", "set -- $X; p1 τ \"$@\"", "set -- \"$X\" b; p1 τ $1 \"$2\" $#", "a=($X); p1 τ \"${a[@]}\"",
    "(p1 τ $X)", "p0 τ | p1 τ $X", "p1 τ $(p6 $X)", "p1 τ \"$(p6 \"$X\")\"", "f1() { p1 τ $X \"$@\"; }; f1 $X", "$X$Y τ", "p1 τ ${X}p", "p1 τ \"a$X b\"",
    "[[ $X == p1 ]] && p1 τ $X", "p1 τ $Xp", "eval 'p1 τ $X'", "eval \"p1 τ $X\"", "exec $X τ", "command $X τ", "p1 τ ${!X}", "trap 'p1 τ $X' EXIT",
    "p1 τ a=$X b=\"$X\"", "export Z=$X; p1 τ \"$Z\"",
];

/// What can stand around statements. `σ` is where they go.
#[rustfmt::skip]
const AROUND: &[&str] = &[
    "{ σ; }", "( σ )", "if p0 τ; then σ; fi", "if σ; then p1 τ $X; fi", "for i in 1 2; do σ; done", "while p0 τ; do σ; break; done",
    "f2() { σ; }; f2 a b", "f2() { local X; σ; }; f2", "p0 τ | { σ; }", "{ σ; } | p0 τ", "case a in a) σ;; esac", "p1 τ \"$(σ)\"", "p1 τ `σ`",
    "{ σ; } &", "until p7 τ; do σ; break; done", "p0 τ && { σ; }", "p1 τ <(σ)",
];

impl Grower<'_> {
    /// A text about one or two variables.
    pub(super) fn constants(&mut self) {
        let count = self.chance.between(2, 5);
        self.set();
        for index in 0..count {
            self.joint();
            // Only the last statement must be a use.
            let statement = match self.chance.below(if index + 1 == count { 1 } else { 3 }) {
                0 => self.statement(USES),
                1 => self.statement(BETWEEN),
                _ if self.chance.percent(30) => {
                    let count = self.chance.between(1, 3);
                    let inner: Vec<String> = (0..count).map(|_| self.inner()).collect();
                    // A body that ends in a here-document must end its line first.
                    let inner = inner.join("\n").replace("E\n\n", "E\n");
                    let joint = if inner.ends_with(['\n', '&']) { " " } else { ";" };
                    let around = self.statement(AROUND);
                    around.replace("σ;", &format!("{inner}{joint}")).replace('σ', &inner)
                }
                _ => self.statement(BETWEEN),
            };
            self.put(&statement);
        }
    }

    /// What can stand between two statements, which depends on how the first one ends.
    fn joint(&mut self) {
        match self.out.chars().next_back() {
            Some('\n') => self.put_one(&["", " ", "\n"]),
            Some('&') => self.put_one(&[" ", "\n", "\t"]),
            _ => self.put_one(&["; ", "\n", "\n", ";"]),
        }
    }

    fn inner(&mut self) -> String {
        match self.chance.below(3) {
            0 => self.statement(USES),
            1 => self.statement(BETWEEN),
            _ => format!("X={}", self.chance.pick(VALUES)),
        }
    }

    fn set(&mut self) {
        let value = self.chance.pick(VALUES);
        let form = self.chance.pick(&[
            "X=ν",
            "X=ν",
            "X=ν",
            "X=ν; Y=a",
            "Y=ν; X=$Y",
            "X=ν Y=b",
            "export X=ν",
            "declare X=ν",
            "readonly X=ν",
            "X=a; X+=ν",
            "X=(ν b)",
            "X=ν$Y",
        ]);
        let form = if self.is_bash() { form } else { "X=ν" };
        self.put(&form.replace('ν', value));
    }

    fn statement(&mut self, forms: &[&'static str]) -> String {
        let form = self.chance.pick(forms);
        let value = self.chance.pick(VALUES);
        let mut out = String::new();
        for letter in form.chars() {
            match letter {
                'τ' => out.push_str(&self.tag()),
                'ν' => out.push_str(value),
                other => out.push(other),
            }
        }
        out
    }
}
