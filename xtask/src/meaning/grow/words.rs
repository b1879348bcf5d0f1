//! Words: programs, arguments, double quotes.

use super::Grower;

/// Braces that expand, and braces that only seem to.
#[rustfmt::skip]
const BRACES: &[&str] = &[
    "{1..3}", "{a..c}", "{3..1}", "{1..5..2}", "{01..03}", "{a..c..2}", "{a,b}{c,d}", "x{a,b}y", "{a,{b,c}}", "{,a}", "{a,}", "{a,b,}",
    "{a}", "{}", "{a,b", "a,b}", "{a\\,b}", "{'a,b'}", "\\{a,b}", "{a..}", "{1..3}{a,b}", "{a,b}*", "{x,y}=1", "{\"a b\",c}", "{a,'b c'}",
    "{$u,a}", "{a,$E1}", "$u{a,b}", "{a,b}$u", "{$(p0),b}", "${u}{a,b}", "{a,b}\\\n{c,d}", "{-1..1}", "{1..a}", "{a,b}}", "{{a,b}", "{,}", "{1..3..0}",
    "{1..10..3}", "{-05..5..5}", "{z..a..5}", "{Z..b}", "{a,b},{c,d}", "{,,}", "{a,{b}}", "{{a},b}", "{..}", "{a..bb}", "{1..3a}", "{0x1..3}",
    "{+1..3}", "{9223372036854775806..9223372036854775807}", "$'{a,b}'", "{a\\},b}", "x={a,b}", "{x,y}{,z}", "{a,b}'{c,d}'", "{a,\"{b,c}\"}",
    "{a,b\\\nc}", "{1\\..3}", "{1..3}x{a..b}", "{'',a}", "{\"\",}", "a{b,c}d{e,f}g", "{a,$'b'}", "{a,`p0`}", "{~,a}", "{a,~}/b", "~{a,b}",
    "{a;b,c}", "{a,b\\ c}", "{a,#b}", "{#a,b}", "{a=~,b}", "{1..2}{3..4}{5..6}", "{a,b}[1]", "{$,a}", "{${u:-a},b}", "${u:-{a,b}}", "{a,${u:-b,c}}",
    "{a,$((1,2))}", "{a,\\}}", "{10..1..4}", "{a..e..-2}", "{1..-1}", "{001..1}", "{-1..01}", "{a,b}{", "}{a,b}", "{a,}{}", "{{,}}", "{1..2,3}",
];

/// Quotes with escapes, well formed and not.
#[rustfmt::skip]
const ANSI: &[&str] = &[
    "$'a\\tb'", "$'\\''", "$'\\e'", "$\"a b\"", "$'\\cA'", "$'\\ca'", "$'\\c?'", "$'\\x'", "$'\\xg'", "$'\\u'", "$'\\1234'", "$'\\400'", "$'\\777'", "$'\\0'",
    "$'a\\0b'c", "$'a\\x00b'c", "$'a\\u0000b'", "$'\\U1F600'", "$'\\xff'", "$'\\x{41}'", "$'\\x{4142}b'", "$'\\x{'", "$'\\x{zz}'", "$'\\q'", "$'\\8'", "$'\\\n'", "$'\\\\c'", "$'\\c\\\\'",
    "$'\\u41'", "$'\\u00e9'", "$'\\U41'", "$'\\x4'", "$'\\x041'", "$'\\01'", "$'\\0101'", "$'\\a\\b\\f\\v\\r'", "$'\\E'", "$'\\\"'", "$'\\?'", "$'a'\\''b'", "\"$'a'\"", "$'\\uD800'",
    "$'\\U110000'", "$'\\c'x", "$'\\c\\a'", "$'\\cé'", "$'\\xc3\\xa9'", "$'\\303\\251'", "$'é'", "$''", "$'{a,b}'", "$'$(p1 d0)'", "$'`p1 d0`'", "$'\\$x'", "$'*'",
];

impl Grower<'_> {
    /// The name of a program that does nothing but succeed.
    pub(super) fn program(&mut self) {
        let name = self.chance.pick(&["p0", "p1", "p2", "p3", "rm", "git", "ls", "p6", "cat"]);
        match self.chance.below(24) {
            0 if self.is_bash() => {
                let tag = self.tag();
                self.put(&format!("{{{name},{tag},a}}"));
            }
            1 if self.is_bash() => self.put(&format!("{name}{{,}}")),
            2 => {
                self.put(name);
                self.put_one(&["$@", "${u}", "$u", "\"$@\"", "$*", "\"\"", "\\\n", "${u:-}"]);
            }
            3 => {
                let (first, rest) = name.split_at(1);
                self.put(first);
                self.put_one(&["$@", "${u}", "$(p0)", "`p0`", "${u#x}", "$(:)", "\"${u}\""]);
                self.put(rest);
            }
            4 => self.put_one(&["./x1", "./x?", "\"./x1\"", "./d1/../x1", "./x[0-9]", "~/x1"]),
            5 => self.put("$(p4)"),
            6 => self.put("$E0"),
            _ => self.spell(name),
        }
    }

    /// Any word that can stand as an argument.
    pub(super) fn word(&mut self) {
        if !self.spend() {
            self.literal();
            return;
        }
        for _ in 0..self.chance.pick(&[1, 1, 1, 2, 3]) {
            self.piece();
        }
    }

    fn piece(&mut self) {
        match self.chance.below(23) {
            0..=4 => self.literal(),
            5..=7 => self.double_quoted(),
            8..=10 => self.substitution(),
            11 | 12 => self.parameter(false),
            13 if self.is_bash() => self.brace(),
            14 => self.glob(),
            15 => self.put_one(&["~", "~/x", "a:~", "~+", "x=~", "~-", "\\~", "a~"]),
            16 => self.arithmetic_expansion(),
            17 if self.is_bash() => self.process(),
            18 => {
                self.put_one(&["a#b", "a=b", "a[1]=c", "x+=1", "{}", "{a}", "}", "a}", "{a,", "$"]);
            }
            19 => self.put_one(&["%", "^", "a,b", "@", ":", "+x", "a!b", "]", "[", "=", "!x", "-"]),
            20 if self.is_bash() => self.put_one(ANSI),
            21 => {
                self.put_one(&["a\r", "\u{a0}", "a\u{200b}b", "\r", "é", "\u{202e}x", "\u{3000}"]);
            }
            _ => self.put("a"),
        }
    }

    /// `"…"` with everything that still lives in it.
    pub(super) fn double_quoted(&mut self) {
        self.put("\"");
        for _ in 0..self.chance.below(4) {
            self.quoted_piece();
        }
        self.put("\"");
    }

    /// One piece of what stands between double quotes, or in a here-document.
    pub(super) fn quoted_piece(&mut self) {
        if !self.spend() {
            self.put("a b");
            return;
        }
        match self.chance.below(16) {
            0..=2 => self.substitution_in_quotes(),
            3 | 4 => self.parameter(true),
            5 => self.arithmetic_expansion(),
            6 => self.put_one(&["\\\"", "\\\\", "\\$x", "\\`", "\\\n", "\\a", "\\!", "\\'"]),
            7 => self.put_one(&["'", " ' ", "it's", "<", ">o1", ";", "|", "&", "#", "(", ")"]),
            8 => {
                let tag = self.decoy();
                let decoys = [
                    format!("\\$(p1 {tag})"),
                    format!("\\`p1 {tag}\\`"),
                    format!("<(p1 {tag})"),
                    format!("; p1 {tag}; "),
                    format!("\np1 {tag}\n"),
                ];
                let index = self.chance.below(decoys.len());
                self.put(&decoys.get(index).cloned().unwrap_or_default());
            }
            9 => self.put_one(&["*", "{a,b}", "~", "$\"\"", "$ ", "[", "{", "}", "!", "%s"]),
            10 => self.put_one(&["$'a'", "$\u{e9}", "$=", "$/", "$,"]),
            _ => self.put_one(&["a", "b c", " ", "x=1", "-n"]),
        }
    }

    pub(super) fn brace(&mut self) {
        if self.chance.percent(85) {
            self.put_one(BRACES);
            return;
        }
        self.put("{");
        self.literal();
        self.put(",");
        self.word();
        self.put("}");
    }

    fn glob(&mut self) {
        self.put_one(&[
            "*",
            "f*",
            "f?",
            "[fg]*",
            "*.txt",
            "d1/*",
            "nope*",
            "f[0-9]",
            "f[!2]",
            "d?/f1",
            "\\*",
            "f\\*",
            "'f'*",
            "\"f\"?",
            "*/",
            "**",
            "f[",
            "[]f]1",
            "f[[:digit:]]",
            "a\\ *",
            "./f*",
            "x[a]",
            "f1*",
            "?",
            "nope[",
            "\"a \"*",
            "*b",
            "{f,g}*",
        ]);
    }
}
