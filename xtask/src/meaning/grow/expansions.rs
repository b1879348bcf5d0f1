//! Expansions: parameters, substitutions, arithmetic, and everything that hides in them.

use super::Grower;

impl Grower<'_> {
    /// `$(…)` or backticks, in a word.
    pub(super) fn substitution(&mut self) {
        if !self.spend() {
            let tag = self.tag();
            self.put(&format!("$(p6 {tag})"));
            return;
        }
        if self.chance.percent(30) {
            self.backticks(false);
        } else {
            self.dollar();
        }
    }

    /// The same between double quotes or in a here-document.
    pub(super) fn substitution_in_quotes(&mut self) {
        if self.chance.percent(35) { self.backticks(true) } else { self.dollar() }
    }

    fn dollar(&mut self) {
        let inner = self.apart(Self::script);
        self.put("$(");
        // `$((` would be read as arithmetic first, which is worth trying now and then.
        if inner.starts_with('(') && self.chance.percent(60) {
            self.put(" ");
        }
        self.put(&inner);
        if self.chance.once_in(8) {
            self.put_one(&["\n", " ", "\t", ";", "\n# )\n", " # d\n"]);
        }
        self.put(")");
    }

    pub(super) fn backticks(&mut self, quoted: bool) {
        let inner = self.apart(Self::script);
        // Without its escapes a text means something else, and a decoy in it might come to life.
        let raw = self.chance.once_in(10) && !inner.contains(" d");
        self.put("`");
        for letter in inner.chars() {
            match letter {
                '`' | '\\' if !raw => {
                    self.put("\\");
                }
                '$' if self.chance.once_in(4) => self.put("\\"),
                '"' if quoted && self.chance.percent(70) => self.put("\\"),
                _ => {}
            }
            self.out.push(letter);
        }
        self.put("`");
    }

    /// `<(…)` or `>(…)`.
    pub(super) fn process(&mut self) {
        let inner = self.apart(Self::script);
        self.put_one(&["<(", "<(", ">("]);
        self.put(&inner);
        self.put(")");
    }

    /// `$x` in any of its forms.
    pub(super) fn parameter(&mut self, quoted: bool) {
        let name =
            self.chance.pick(&["x", "y", "u", "E0", "E1", "1", "@", "*", "#", "?", "X", "a"]);
        if !self.spend() || self.chance.percent(25) {
            match self.chance.below(3) {
                0 => self.put(&format!("${name}")),
                1 => self.put(&format!("${{{name}}}")),
                _ => self.put(&format!("\"${name}\"")),
            }
            return;
        }
        self.put("${");
        match self.chance.below(12) {
            0 => self.put(&format!("#{name}")),
            1 if self.is_bash() => {
                self.put_one(&["!x", "!E1", "!E*", "!E@", "!a[@]", "!u"]);
            }
            2 if self.is_bash() => {
                self.put("a[");
                self.subscript();
                self.put("]");
                if self.chance.once_in(2) {
                    self.operator(quoted);
                }
            }
            3 if self.is_bash() => self.put_one(&["a[@]", "a[*]", "#a[@]", "a[@]:1", "a[-1]"]),
            _ => {
                self.put(name);
                self.operator(quoted);
            }
        }
        self.put("}");
    }

    fn operator(&mut self, quoted: bool) {
        if self.is_bash() && self.chance.percent(45) {
            match self.chance.below(5) {
                0 => {
                    self.put_one(&["/", "//", "/#", "/%"]);
                    self.operand(quoted);
                    self.put_one(&["/", ""]);
                    self.operand(quoted);
                }
                1 => {
                    self.put_one(&[":", ": "]);
                    self.arithmetic(0);
                    if self.chance.once_in(2) {
                        self.put(":");
                        self.arithmetic(0);
                    }
                }
                2 => {
                    self.put_one(&["^", "^^", ",", ",,"]);
                    self.operand(quoted);
                }
                3 => self.put_one(&["@Q", "@E", "@A", "@U", "@a", "@K", "@L", "@u"]),
                _ => {
                    self.put_one(&["#", "##", "%", "%%"]);
                    self.operand(quoted);
                }
            }
            return;
        }
        self.put_one(&[":-", "-", ":+", "+", ":=", "=", "#", "%", ":-", ":-"]);
        self.operand(quoted);
    }

    /// What stands after an operator, up to the brace.
    fn operand(&mut self, quoted: bool) {
        for _ in 0..self.chance.between(0, 2) {
            match self.chance.below(12) {
                0..=3 => {
                    if quoted {
                        self.substitution_in_quotes();
                    } else {
                        self.substitution();
                    }
                }
                4 => self.parameter(quoted),
                5 => {
                    self.put_one(&["\\}", "a b", " ", "\"}\"", "\"a b\"", "{a,b}", "*", ";", "\n"]);
                }
                6 if !quoted => self.put_one(&["'}'", "'a b'", "$'a'", "~", "<", "(", ")", "|"]),
                7 => self.double_quoted(),
                8 => self.arithmetic_expansion(),
                9 if quoted => self.put_one(&["'", "\\'", "\\\"", "it's", "'a'"]),
                _ => self.put_one(&["p1", "a", "f1", "1"]),
            }
        }
    }

    fn subscript(&mut self) {
        match self.chance.below(5) {
            0 => self.put_one(&["0", "1", "x", "@", "*", " 1 ", "-1", "x+1", "u"]),
            1 => {
                let tag = self.tag();
                self.put(&format!("$(p5 {tag})"));
            }
            2 => {
                let tag = self.tag();
                self.put(&format!("`p5 {tag}`"));
            }
            _ => self.arithmetic(0),
        }
    }

    /// `$((…))`.
    pub(super) fn arithmetic_expansion(&mut self) {
        let bracket = self.is_bash() && self.chance.once_in(8);
        self.put(if bracket { "$[" } else { "$((" });
        self.arithmetic(0);
        self.put(if bracket { "]" } else { "))" });
    }

    /// An expression that stands for a number, most of the time.
    pub(super) fn arithmetic(&mut self, depth: usize) {
        if depth > 2 || !self.spend() {
            self.put_one(&["1", "2", "x", "0x1f", "1+1", " 3 "]);
            return;
        }
        match self.chance.below(14) {
            0..=3 => {
                let tag = self.tag();
                match self.chance.below(5) {
                    0 => self.put(&format!("`p5 {tag}`")),
                    1 => self.put(&format!("$(p5 {tag} ')')")),
                    2 => self.put(&format!("$(p4 {tag}; case a in a) p0 {tag};; esac)")),
                    3 => self.put(&format!("\"$(p5 {tag})\"")),
                    _ => self.put(&format!("$(p5 {tag})")),
                }
            }
            4 if self.is_bash() => {
                self.put("a[");
                self.arithmetic(depth + 1);
                self.put("]");
            }
            5 => {
                self.put("(");
                self.arithmetic(depth + 1);
                self.put(")");
            }
            6 => {
                self.arithmetic(depth + 1);
                self.put_one(&["?", " ? "]);
                self.arithmetic(depth + 1);
                self.put_one(&[":", " : "]);
                self.arithmetic(depth + 1);
            }
            7 => self.put_one(&["x=5", "y+=1", "x", "$x", "${x:-1}", "${u:-2}", "${#x}", "x==1"]),
            8 => self.arithmetic_expansion(),
            9 if self.is_bash() => self.put_one(&["16#f", "x++", "--x", "2**2", "1,2", "x|=4"]),
            10 => {
                self.put("${u:-");
                self.arithmetic(depth + 1);
                self.put("}");
            }
            _ => {
                self.arithmetic(depth + 1);
                self.put_one(&[
                    "+", " - ", "*", "<", " <<", "&&", "||", "|", "&", " > ", ">>", "\n+",
                ]);
                self.arithmetic(depth + 1);
            }
        }
    }
}
