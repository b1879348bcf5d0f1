//! Words and patterns: literals, quotes, globs, braces.

use super::Writer;

const LITERALS: &[&str] = &[
    "a",
    "b",
    "foo",
    "-x",
    "--long",
    "--opt=val",
    "file.txt",
    "/usr/bin",
    "a=b",
    "a#b",
    "x1",
    "7",
    "2",
    "-",
    "--",
    "a:b",
    "a,b",
    "a.b",
    "@",
    "%",
    "^",
    "+",
    ":",
    "=",
    "]",
    "a]",
    "}",
    "{",
    "{}",
    "a{",
    "!",
    "!x",
    "~",
    "~/x",
    "~user",
    "a~b",
    "x=~",
    "\u{e9}t\u{e9}",
    "\u{4e2d}",
    "a\u{a0}b",
];

impl Writer {
    pub(super) fn word(&mut self) {
        let count = if self.chance.percent(70) { 1 } else { self.chance.between(2, 4) };
        for _ in 0..count {
            self.part();
        }
    }

    fn part(&mut self) {
        match self.chance.below(36) {
            12..14 => self.escape(),
            14..16 => self.single_quoted(),
            16..20 => self.double_quoted(),
            20 => self.ansi_c(),
            21 => {
                self.put("$");
                self.double_quoted();
            }
            22..28 => self.dollar(false),
            28 => self.backtick_or_name(),
            29 => self.process(),
            30..32 => self.glob(),
            32 => {
                self.pick(&["{a,b}", "{1..3}", "{a..c..2}", "{a,{b,c}}", "{,}", "{a}", "{a,'b}'}"]);
            }
            33 => self.braces(),
            34 if self.extglob => self.extended_glob(),
            _ => self.pick(LITERALS),
        }
    }

    fn backtick_or_name(&mut self) {
        if self.may_nest() { self.nest(|writer| writer.backtick(false)) } else { self.put("$x") }
    }

    fn escape(&mut self) {
        self.pick(&[
            "\\ ", "\\'", "\\\"", "\\\\", "\\$", "\\`", "\\;", "\\&", "\\|", "\\(", "\\)", "\\<",
            "\\>", "\\#", "\\n", "\\\n", "\\*", "\\{", "\\!", "\\~", "\\=",
        ]);
    }

    fn single_quoted(&mut self) {
        self.pick(&[
            "''", "'a b'", "'$(x'", "'\"'", "'`'", "'\\'", "'\n'", "';'", "'#'", "'${'", "'if'",
            "')'",
        ]);
    }

    fn ansi_c(&mut self) {
        self.pick(&[
            "$''",
            "$'a'",
            "$'\\''",
            "$'\\n\\t'",
            "$'\\x41'",
            "$'\\u00e9'",
            "$'\\101'",
            "$'\\\\'",
            "$'\"'",
            "$'$(x'",
            "$'`'",
            "$'\\cA'",
            "$'a\nb'",
            "$'\\\n'",
        ]);
    }

    pub(super) fn double_quoted(&mut self) {
        self.put("\"");
        for _ in 0..self.chance.below(4) {
            match self.chance.below(10) {
                0..3 => self.pick(&[
                    "a", " b ", "it's", "# no", "; &", "(", ")", "\n", "*", "~", "{a,b}", "!",
                    "<(x)", "@(a)", "'", "[", "}", "esac", "\u{a0}", "$",
                ]),
                3 => self.pick(&["\\\"", "\\\\", "\\$", "\\`", "\\n", "\\\n", "\\'", "\\ "]),
                4 if self.may_nest() => self.nest(|writer| writer.backtick(true)),
                _ => self.dollar(true),
            }
        }
        self.put("\"");
    }

    fn glob(&mut self) {
        self.pick(&[
            "*",
            "?",
            "[a-z]",
            "[!a]",
            "[^a]",
            "[[:alpha:]]",
            "[]]",
            "[",
            "*.txt",
            "[a",
            "[\"]\"]",
            "[$x]",
            "[a\\]b]",
            "**",
            "[[.a.]]",
            "[$(x)]",
        ]);
    }

    fn braces(&mut self) {
        self.put("{");
        for index in 0..self.chance.between(1, 3) {
            if index > 0 {
                self.put(",");
            }
            self.word_in_braces();
        }
        self.put("}");
    }

    fn word_in_braces(&mut self) {
        if self.may_nest() { self.nest(Writer::part) } else { self.put("a") }
    }

    pub(super) fn extended_glob(&mut self) {
        self.pick(&["@(", "?(", "*(", "+(", "!("]);
        for index in 0..self.chance.below(4) {
            if index > 0 {
                self.put("|");
            }
            if self.may_nest() { self.nest(Writer::pattern) } else { self.put("a") }
        }
        self.put(")");
    }

    /// What `case` and `[[ == ]]` compare with.
    pub(super) fn pattern(&mut self) {
        match self.chance.below(12) {
            0..3 => self.glob(),
            3 if self.extglob => self.extended_glob(),
            4 => {
                self.pick(&[
                    "a", "*", "-h", "--help", "\"a b\"", "[yY]*", "in", "if", "\"\"", "''",
                ]);
            }
            _ => self.word(),
        }
    }
}

/// Reserved words and signs that are plain words where an argument stands.
pub(super) const ODDITIES_AS_WORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "in", "do", "done", "while", "until", "case",
    "esac", "function", "select", "time", "coproc", "{", "}", "!", "[[", "]]", "[", "]", "x=(",
    "#c", "a=",
];
