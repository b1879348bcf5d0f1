//! Commands: lists, pipelines and simple commands.

use super::Grower;

impl Grower<'_> {
    /// A few commands in a row.
    pub(super) fn script(&mut self) {
        let count = self.chance.between(1, 3);
        for index in 0..count {
            if index > 0 {
                self.separator();
            }
            if self.chance.once_in(12) {
                self.comment();
            }
            self.list();
        }
    }

    pub(super) fn separator(&mut self) {
        match self.chance.below(10) {
            0..=2 => self.put_one(&[";", "; ", " ;", " ; "]),
            3..=6 => self.newline(),
            7 => {
                let tag = self.decoy();
                self.put(&format!(" # p1 {tag} \\"));
                self.newline();
            }
            8 => self.put_one(&[" & ", "& wait; ", " &\\\n "]),
            _ => {
                self.put(";");
                self.newline();
            }
        }
    }

    fn comment(&mut self) {
        let tag = self.decoy();
        self.put_one(&["# it's ", "#", "# $(", "# `", "# \\", "# <<EOF "]);
        self.put(&format!(" p1 {tag}"));
        self.newline();
    }

    /// Pipelines joined by `&&` and `||`.
    fn list(&mut self) {
        self.pipeline();
        while self.chance.once_in(5) && self.spend() {
            self.put_one(&[" && ", "&&", " || ", "||", " &&\\\n"]);
            if self.chance.once_in(4) {
                self.newline();
            }
            self.pipeline();
        }
    }

    fn pipeline(&mut self) {
        if self.chance.once_in(14) {
            self.put_one(&["! ", "time ", "! time ", "time -p ", "! ! ", "time ! "]);
        }
        self.command();
        while self.chance.once_in(6) && self.spend() {
            self.put_one(&[" | ", "|", " |& ", " |\\\n "]);
            if self.chance.once_in(4) {
                self.newline();
            }
            self.command();
        }
    }

    /// Any command.
    pub(super) fn command(&mut self) {
        if self.budget > 3 && self.depth < 6 && self.chance.percent(28) {
            self.depth += 1;
            self.compound();
            self.depth -= 1;
        } else {
            self.simple();
        }
    }

    /// A command that names a program.
    pub(super) fn simple(&mut self) {
        self.spend();
        if self.chance.once_in(9) {
            self.builtin();
            return;
        }
        while self.chance.once_in(9) {
            self.assignment();
            self.blank();
        }
        if self.chance.once_in(20) {
            self.redirection();
            self.blank();
        }
        if self.chance.once_in(16) {
            self.put_one(&["command ", "exec ", "command -- ", "builtin command "]);
        } else if self.is_bash() && self.chance.once_in(60) {
            self.put("exec -a n ");
        }
        self.program();
        self.blank();
        self.tagged();
        for _ in 0..self.chance.pick(&[0, 0, 1, 1, 2, 3]) {
            self.blank();
            self.word();
        }
        while self.chance.once_in(6) {
            self.redirection();
        }
    }

    fn tagged(&mut self) {
        let tag = self.tag();
        if self.chance.once_in(5) { self.spell(&tag) } else { self.put(&tag) }
    }

    /// `name=value` in one of its forms.
    pub(super) fn assignment(&mut self) {
        let name = self.chance.pick(&["x", "y", "X", "v1"]);
        match self.chance.below(10) {
            0 if self.is_bash() => {
                let tag = self.tag();
                let form = self.chance.pick(&[
                    "a[$(p5 T)]=1",
                    "a[`p5 T`]=1",
                    "a[ 1 ]=b",
                    "a[1+$(p5 T)]=c",
                    "a[x=$(p5 T)]+=2",
                    "a['1']=b",
                    "a[\"1\"]=b",
                    "a[${u:-$(p5 T)}]=d",
                    "a[$((1))]=e",
                    "a[1 + 1]=$(p0 T)",
                ]);
                self.put(&form.replace('T', &tag));
            }
            1 if self.is_bash() => {
                self.put("a");
                self.put_one(&["=(", "+=("]);
                for _ in 0..self.chance.below(3) {
                    self.put_one(&["", " ", "\n", "[1]=", " [$(p5)]=", " # p1 d\n"]);
                    self.word();
                    self.put(" ");
                }
                self.put(")");
            }
            2 if self.is_bash() => {
                self.put(name);
                self.put("+=");
                self.word();
            }
            3 => self.put(&format!("{name}=")),
            _ => {
                self.put(name);
                self.put("=");
                self.word();
            }
        }
    }

    /// A builtin, or a line of nothing but assignments and redirections.
    fn builtin(&mut self) {
        let tag = self.tag();
        match self.chance.below(18) {
            0..=2 => self.assignment(),
            3 => self.redirection(),
            4 => {
                self.put_one(&[": ", "echo ", "true ", "test ", "[ ", "printf %s ", "false "]);
                self.word();
            }
            5 if self.is_bash() => {
                self.put_one(&["export ", "declare ", "readonly ", "typeset ", "export -n "]);
                self.assignment();
            }
            6 => self.put(&format!("eval 'p1 {tag}; p2 {tag} \"$x\"'")),
            7 => {
                let inner = self.apart(Self::script);
                let quoted = inner.replace('\'', "'\\''");
                self.put(&format!("eval '{quoted}'"));
            }
            8 => {
                let inner = self.apart(Self::simple);
                let quoted = inner.replace('\'', "'\\''");
                self.put(&format!("trap '{quoted}' EXIT"));
            }
            9 => {
                self.put("set -- ");
                self.word();
                self.put(&format!("; p1 {tag} \"$@\" $1 $# \"$*\""));
            }
            10 => self.put(&format!("set -- p1 {tag} a; \"$@\"")),
            11 if self.is_bash() => self.put(&format!("a=(p1 {tag} 'b c'); \"${{a[@]}}\"")),
            12 => self.put_one(&["cd d1", "cd d1; cd ..", "shift", "unset x", "cd .", "x=1; :"]),
            13 if self.is_bash() => {
                self.put("read x <<< ");
                self.word();
            }
            14 if self.is_bash() => {
                self.put("let ");
                self.arithmetic_argument();
            }
            15 if self.is_bash() => {
                self.put("printf -v x %s ");
                self.word();
            }
            16 => self.put(&format!("eval p1 {tag} \\\"a b\\\"")),
            _ => self.put("wait"),
        }
    }

    fn arithmetic_argument(&mut self) {
        self.put("\"x=");
        self.arithmetic(1);
        self.put("\"");
    }
}
