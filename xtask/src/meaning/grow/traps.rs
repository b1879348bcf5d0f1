//! Traps: whole lines that are known to fool readers, with room for more inside.
//!
//! `τ` is a fresh tag, `δ` a fresh tag of a decoy, `ω` a grown word, `κ` one in
//! double quotes, `σ` a grown script, `β` one in backticks.

use super::Grower;

#[rustfmt::skip]
const TRAPS: &[&str] = &[
    "p\\1 τ ω", "'p'1 τ", "$'\\x70\\x31' τ", "$'\\1601' τ", "$\"p1\" τ", "{p1,τ,a}", "p1{,} τ", "p1 τ hi#rm", "p1 τ a \\\n; p2 τ", "p1 \\\n  τ \\\n b",
    "p1 τ # c \\\np2 τ", "p1 τ $(σ)", "p1 τ β", "p1 τ \"`p2 τ`\"", "p1 τ `p6 \\`p2 τ\\``", "p1 τ \"${x:-$(σ)}\"", ": ${x:=$(σ)}", "p1 τ $((a[$(p5 τ)]))",
    "x='a[$(p5 τ)]'; p1 τ $((x))", "n='a[$(p5 τ)]'; [[ $n -eq 0 ]]", "test -v 'a[$(p5 τ)]'", "printf -v 'a[$(p5 τ)]' x", "read 'a[$(p5 τ)]' <<<x",
    "unset 'a[$(p5 τ)]'", "declare -i n; n='a[$(p5 τ)]'", "let 'x=a[$(p5 τ)]'", "x='$(p5 τ)'; p1 τ \"${x@P}\"", "PS4='$(p5 τ)'; set -x; p1 τ",
    "cat τ <(σ)", "p1 τ > >(σ)", "x=<(p1 τ)", "p1 τ \"<(p2 δ)\"", "cat τ <<EOF\n$(p1 τ)\nEOF\n", "cat τ <<'EOF'\n$(p1 δ)\nEOF\n", "cat τ <<E\"O\"F\n$(p1 δ)\nEOF\n",
    "cat τ <<-EOF\n\tx\n\tEOF\np1 τ", "cat τ <<-EOF\n  x\n  EOF\np1 δ\nEOF\n", "cat τ <<EOF; p1 τ\nx\nEOF\n", "cat τ <<A <<B\n1\nA\n2\nB\np1 τ", "cat τ <<EOF\nEOF \np1 δ\nEOF\n",
    "cat τ <<EOF\na\\\nEOF\np1 δ\nEOF\n", "p1 τ \"$(cat τ <<EOF\nx\nEOF\n)\" ; p2 τ", "cat τ <<< \"$(p1 τ)\"", "p1 τ && p2 τ", "p1 τ & p2 τ", "p1 τ\np2 τ", "p7 τ || p2 τ",
    "p1 τ |& p2 τ", "case x in x) ;& y) p1 τ;; esac", "case x in x) p1 τ;;& *) p2 τ;; esac", "time p1 τ", "! p1 τ", "coproc p1 τ", "coproc N { p1 τ; }",
    "select x in a; do p1 τ; break; done <<<1", "ls() { p1 τ; }; ls", "function cat { p1 τ; }; cat f", "exec p1 τ", "exec >o1; p1 τ", "((a[$(p5 τ)]=1))",
    "((p1 τ) ; p2 τ)", "p0 τ $((p1 τ) | cat)", "a[0]=1 p1 τ", "A=1 B=2 p1 τ", "FOO=bar; BAZ=$(p1 τ)", ">o1", "<>o2", "p1 τ >&o3", "p1 τ >&2f", "p1 τ &>o1", "p1 τ >|o1",
    "p1 τ 1>2", "p1 τ {fd}>o1", "p1>o1 τ", "p1 τ 2>o1", "p1 τ 2 >o1", "p1 τ < f1 > f1", "p1 τ > \"a;b\"", "eval p1 τ", "eval 'p1 τ; p2 τ'", "trap 'p1 τ' EXIT", "trap 'p1 τ' DEBUG; p2 τ",
    "command p1 τ", "command -v p1 τ", "builtin eval 'p1 τ'", "type p1 τ", "exec -a ls p1 τ", "p1 τ; exit; p2 τ", "return 2>/dev/null; p1 τ", "false && p1 τ; p2 τ", "true || p1 τ && p2 τ",
    "(cd d1); p1 τ", "cd d1 && p1 τ *", "'p1' τ '>' 'f'", "p1 τ '|' p2", "p1 τ \"a\np2 δ\"", "p1 τ 'it'\\''s; p2 δ'", "p1 τ \"$(p6 \"a)b\")\"; p2 τ", "p1 τ $(case x in x) p2 τ;; esac)",
    "p1 τ $(p2 τ # )\n)", "p1 τ ==\np2 τ", "p1 τ -la\n\\p2 τ x", "cat τ | p1 τ | p2 τ -3\np3 τ B && ls τ", "! { p1 τ; }", "p1 τ `p6 \\`p2 τ\\``; p1 τ ${x/`p2 τ`/b}",
    "foo[$(p5 τ)]=1", "foo[1;p1 δ;]=1", "foo[ 1 ]=1 p1 τ", "p1 τ a{b,c}d{1..3}", "p1 τ ${x/a/$(p2 τ)}", "p1 τ ${a[$(p5 τ)]}", "p1 τ ${E1:0:$(p5 τ)}", "declare a=\"$(p1 τ)\"",
    "if p0 τ; then σ; fi ω", "for x in ω; do p1 τ $x; done", "case ω in ω) p1 τ;; *) p2 τ;; esac", "p1 τ κ", "p1 τ \"$(p2 τ \"$(p3 τ κ)\")\"", "{ p1 τ; } > o1 2>&1 < f1",
    "p1 τ <<A\n$(cat τ <<B\n$(p2 τ)\nB\n)\nA\np3 τ", "p1 τ <<A `cat τ <<B\nx\nB\n`\ny\nA\np3 τ", "p1 τ $(cat τ <<A; p2 τ\nx\nA\n) ω", "p1 τ <<A && p2 τ <<B || p3 τ\n1\nA\n2\nB\np6 τ",
    "f1() { p1 τ \"$@\"; }; f1 ω", "x=ω; p1 τ $x", "p1 τ \"${x[0]:-ω}\"", "set -- ω; p1 τ \"$@\"", "p1 τ $(<f1)", "p1 τ \"$(<f1 p2 τ)\"", "time -p p1 τ", "if ! p7 τ; then p1 τ; fi",
    "p1 τ ${u:+$(p2 τ)}", "a=(p1 τ 'b c'); ${a[@]}", "p1 τ \\\n\\\n ω", "while read x; do p1 τ \"$x\"; done < f1", "p1 τ 3<f1 <&3", "shopt -s extglob\np1 τ @(a|b)", "p1 τ $'a\\'b' ω",
    "function f1() { p1 τ; } > o1\nf1", "p1 τ;p2 τ&p3 τ", "(p1 τ)|(p2 τ)", "{ p1 τ;}|{ p2 τ;}", "if (p0 τ) then (p1 τ) fi", "if { p0 τ; } then { p1 τ; } else { p2 τ; } fi",
    "for x in a;do p1 τ;done;p2 τ", "for ((x=0;x<1;x++)) { p1 τ; }", "[[ a == a && -n $(p5 τ) ]] && p1 τ", "[[ (a == b) || $(p5 τ) ]]", "until p0 τ; do p1 τ; done",
    "p1 τ ${u-`p2 τ`}", "p1 τ \"${u-`p2 τ \\\"a\\\"`}\"",
    "p0 τ $((p1 τ); cat τ <<E\n)\np2 τ\nE\n)", "p0 τ $((p1 τ) # )\np2 τ)", "p0 τ $((p1 τ); p2 τ # x \\\np3 τ\n)", "p0 τ $((p1 τ); case a in a) p2 τ;; esac)",
    "p0 τ <((p1 τ); cat τ <<E\n)\np2 τ\nE\n)", "p0 τ $((p1 τ) # '\np2 τ)\np3 τ ' ; p6 τ )", "p0 τ $(\\\n(p1 τ); p2 τ)", "p0 τ \"$((p1 τ); σ)\"", "p0 τ $((σ); σ)", "p0 τ <((σ) | p1 τ)",
    "p0 τ $(cat τ <<E; p1 τ; p2 τ\nx\nE\n)", "p0 τ $(cat τ <<E\nx\nE\np1 τ\np2 τ)", "p0 τ \"$(cat τ <<'E'\nx\nE\n)\"; p1 τ; p2 τ", "p0 τ `cat τ <<E; p1 τ; p2 τ\nx\nE\n`",
    "p0 τ \"`p6 \"{a,b}\"`\"", "p0 τ \"${x-\"{a,b}\"}\"", "cat τ <<< :~", "p1 τ {~,a}/b", "p0 τ $(time p1 τ)", "p0 τ $(p1 τ; coproc p2 τ)", "p0 τ $(! p1 τ; p2 τ &)",
    "p0 τ $(f1() { p1 τ; }; f1; p2 τ)", "p0 τ $(if p0 τ; then p1 τ; fi >o1 2>&1; p2 τ)", "p0 τ $(for ((i=0;i<2;i++)); do p1 τ $i; done)", "p0 τ $(p1 τ {fd}>o1 >&2 |& p2 τ)",
    "p0 τ $([[ a = b || ( a = a && ! b < a ) ]] && p1 τ)", "p0 τ $(select x in a; do p1 τ; break; done <<<1)", "p0 τ $(a=(b [3]=c) p1 τ; p2 τ \"${a[@]}\")", "p0 τ $(p1 τ a\\ b 'c\nd' $'e\\tf')",
    "p0 τ $(case a in (a|b) p1 τ;& c) p2 τ;;& *) p3 τ; esac)", "p0 τ $(function f1 { p1 τ; } > o1; f1)", "p0 τ $(while p0 τ; do p1 τ; break; done | p2 τ & wait)",
    "p1 τ &\\\n& p2 τ", "p1 τ |\\\n| p2 τ", "p7 τ |\\\n| p2 τ", "case a in a) p1 τ;\\\n; esac", "i\\\nf p0 τ; th\\\nen p1 τ; f\\\ni", "cat τ <\\\n<E\nx\nE\n", "p1 τ 2\\\n>o1", "p1 τ $\\\n(p2 τ)",
    "p1 τ $\\\n{u:-b}", "p1 τ \"$\\\n(p2 τ)\"", "(\\\n(1)) && p1 τ", "p1 τ >\\\n>o1", "p1 τ >\\\n&o1", "f1\\\n() { p1 τ; }; f1", "f1 (\\\n) { p1 τ; }; f1", "x\\\n=1; p1 τ \"$x\"", "{\\\n p1 τ; }",
    "[\\\n[ a ]] && p1 τ", "cat τ <<E\\\nF\nx\nEF\n", "cat τ <<\\\nEF\nx\nEF\n", "cat τ <<EOF\nx\nEO\\\nF\np1 τ\nEOF\n", "cat τ <<'EOF'\nx\nEO\\\nF\np1 δ\nEOF\n", "p1 τ;#p2 δ\np3 τ", "(#p1 δ\np2 τ)", "{ #p1 δ\np2 τ; }",
    "case a in #p1 δ\na) p2 τ;; esac", "p1 τ $(#p2 δ\np3 τ)", "p1 τ `#p2 δ\np3 τ`", "p1 τ $(p2 τ #p3 δ\n)", "p1 τ ${#u} $# ${#} ${u#x}", "[[ a #p1 δ\n ]] && p1 τ", "p1 τ <(p2 τ #)\n)", "p1 τ \"#$(p2 τ #\"\n)\"",
    "X=~:~; p1 τ \"$X\"", "X=a:~; p1 τ $X", "p1 τ --x=~ x=~ x=a:~ :~ a:~", "export Y=~; p1 τ \"$Y\"", "p1 τ ~nobody ~+ ~- ~1", "X=\"~\"; p1 τ $X", "X=~; p1 τ $X/a", "x=~/a p1 τ \"$x\"", "a=(~ ~/b); p1 τ \"${a[@]}\"",
    "a[b c]=d p1 τ", "a[\"x y\"]=1 p1 τ", "a[']']=1 p1 τ", "a[\\]]=1 p1 τ", "a[${x}]=1 p1 τ", "a [1]=2 p1 τ", "a[1] =2 p1 τ", "p1 τ a[1 2]=3", "p1[1] τ", "a[1]+=b p1 τ", "a[1]", "a[p1 τ", "a[`p5 τ`]=1 p1 τ",
    "x+=1 p1 τ", "x=(1) p1 τ", "1x=2 p1 τ", "x-y=1 p1 τ", "x=1 y=$x p1 τ \"$y\"", "x=p1; x=p2 $x τ", "x=1; (x=2; p1 τ $x); p2 τ $x", "x=a; x=b p1 τ $x; p2 τ $x", "x=p1 eval '$x τ'", "x=a : ; p1 τ $x",
    "f1() { p1 τ \"$1\"; shift; p2 τ \"$@\"; }; f1 a 'b c' d", "f1() { local x=a; p1 τ $x; }; x=b; f1; p2 τ $x", "f1() { x=a; }; x=b; f1; p1 τ $x", "f1() { return; p1 τ; }; f1 || p2 τ", "f1() { p1 τ; } <f1; f1",
    "if p7 τ; then p1 τ; elif p0 τ; then p2 τ; else p3 τ; fi", "while p7 τ; do p1 τ; done; p2 τ", "for x in a b; do case $x in a) continue;; esac; p1 τ $x; done", "for x; do p1 τ $x; done", "set -- a b; for x do p1 τ $x; done",
    "p1 τ `p6 'a\\\\b'` \"`p6 'a\\\\b'`\" $(p6 'a\\b')", "p1 τ `p6 \\$x \"\\$x\" '\\$x'`", "p1 τ \"`p6 \\\"a b\\\" '\\\"'`\"", "p1 τ `p6 \\\\\\`p2 τ\\\\\\``", "p1 τ `p6 \"\\`p2 τ\\`\"`", "cat τ <<E\n`p6 \"a\" \\\"b\\\"`\nE\n",
    "cat τ <<E\n\\a \\$x \\\\ \\` \" ' ${u:-\"b\"} ${u:-'c'}\nE\n", "p1 τ \"${u:-\"a b\"}\" \"${u:-'a b'}\" ${u:-'a b'} ${u:-\"a b\"} ${u:-a b}", "p1 τ \"${u:-\\}}\" ${u:-\\}} \"${u:-'}'}\" ", "p1 τ \"${u#'}'}\" \"${u%\"}\"}\"",
    "p1 τ ${u:-$'a\\tb'} \"${u:-$'a'}\"", "p1 τ \"\\a\\\"\\$\\`\\\\\\!\"", "p1 τ a\\\nb 'a\\\nb' \"a\\\nb\" $'a\\\nb'", "p1 τ \"$(p6 'a\"b' \"c'd\")\"", "time p1 τ | p2 τ", "time { p1 τ; }", "time (p1 τ)", "! time p1 τ", "time", "!", "time; p1 τ", "! ; p1 τ",
    "exec 3>o1; p1 τ >&3", "exec 3<f1; read -u 3 x; p1 τ \"$x\"", "{ p1 τ; p2 τ; } 3>o1 >&3 2>&1", "p1 τ >o1 >o2", "p1 τ 2>&1 >o1", "p1 τ >o1 2>&1", "p1 τ <f1 <f2", "cat τ <<A <<'B' <<<c\n1\nA\n2\nB\n", "p1 τ 3>&1 >&3-", "p1 τ &>o1 2>o2", "p1 τ >&o1 x",
    "p1 τ > $u", "p1 τ > \"$u\"", "p1 τ > f*", "p1 τ > {a,b}", "p1 τ > o1 > $(p9 τ)", "p1 τ &> o1 &", "p1 τ &>>o1", "p1 τ 2>&1&p2 τ", "p1 τ>o1&p2 τ<f1", "p1 τ 2&>o1", "p1 τ 1&2>o1",
    "p0 τ \"${x-$'\\x24(p1 τ)'}\"", "p0 τ \"${x:+$'\\x60p1 τ\\x60'}\"", "p0 τ ${x-$'\\x24(p1 δ)'}", "cat τ <<E\n${x-$'\\x24(p1 δ)'}\nE\n", "p0 τ \"${E0/a/$'\\x24(p1 δ)'}\"", "p0 τ \"${x-$\"\\$(p1 δ)\"}\"",
    "p0 τ $(cat τ <<E)\nx\nE\np1 τ", "(cat τ <<E)\nx\nE\np1 τ", "p0 τ ${u-$(cat τ <<E)\nx\nE\n}; p1 τ", "p0 τ `cat τ <<E`; p1 τ", "a=3; p0 τ {$,}a", "p0 τ {$,b}$(p1 τ)", "p0 τ ~{,} ~{a,b}",
    "p0 τ $(a=(\\\" 2) p1 τ \") ; p2 τ #\")\n", "p0 τ $(a=(b\\ c \\$x); p1 τ \"${a[@]}\")", "p0 τ \"${x->(b}\" \")}\"; p1 τ", "p0 τ ${x-<(p1 τ)}", "export X=a < nofile; p0 τ \"$X\"",
];

impl Grower<'_> {
    /// One to three traps in a row.
    pub(super) fn trap(&mut self) {
        for index in 0..self.chance.between(1, 3) {
            if index > 0 {
                let is_closed = self.out.ends_with('\n');
                self.put_one(if is_closed { &["", "\n"] } else { &["\n", "; ", "\n", " && "] });
            }
            let trap = self.chance.pick(TRAPS);
            for letter in trap.chars() {
                match letter {
                    'τ' => {
                        let tag = self.tag();
                        self.put(&tag);
                    }
                    'δ' => {
                        let tag = self.decoy();
                        self.put(&tag);
                    }
                    'ω' => {
                        let word = self.apart(Self::word);
                        self.put(&word);
                    }
                    'κ' => self.double_quoted(),
                    'β' => self.backticks(false),
                    'σ' => {
                        let script = self.apart(Self::script);
                        self.put(&script);
                    }
                    other => self.out.push(other),
                }
            }
        }
    }
}
