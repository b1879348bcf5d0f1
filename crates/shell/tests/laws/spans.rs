//! Spans: every node stands inside the node that holds it, in order, and words are covered by
//! their parts. Used by the laws and by the fuzzers.

use portcullis_shell::{
    Assigned, Assignment, Branch, Command, Heredoc, Kind, Part, PartKind, Pipeline, Script, Span,
    Test, TestKind, Tree, Word,
};

/// Says what is wrong with the spans of a tree.
pub fn check(tree: &Tree) -> Result<(), String> {
    let whole = Span::new(0, tree.source().len());
    let walk = Walk { tree };
    walk.script(tree.root(), whole)?;
    for command in tree.commands() {
        walk.known(command.span)?;
    }
    for word in tree.words() {
        walk.known(word.span)?;
    }
    Ok(())
}

struct Walk<'t> {
    tree: &'t Tree,
}

impl Walk<'_> {
    /// The span has text, and a place in the source.
    fn known(&self, span: Span) -> Result<Span, String> {
        if self.tree.text(span).len() != span.len() || span.start > span.end {
            return Err(format!("{span:?} has no text"));
        }
        let place = self.tree.locate(span);
        if place.start > place.end || place.end as usize > self.tree.source().len() {
            return Err(format!("{span:?} leads to {place:?}, outside the source"));
        }
        Ok(place)
    }

    /// The span stands inside `outer`, a place in the source.
    fn inside(&self, what: &str, span: Span, outer: Span) -> Result<Span, String> {
        let mut place = self.known(span)?;
        if span.is_empty() && span.start > 0 && !outer.covers(place) {
            // Nothing stands between two bytes, and a continued line may part them.
            let end = self.known(Span { start: span.start - 1, end: span.end })?.end;
            place = Span { start: end, end };
        }
        if outer.covers(place) {
            Ok(place)
        } else {
            Err(format!("{what} at {place:?} stands outside {outer:?}"))
        }
    }

    /// The spans stand inside `outer` one after the other.
    fn ordered(
        &self,
        what: &str,
        spans: impl Iterator<Item = Span>,
        outer: Span,
    ) -> Result<(), String> {
        let mut at = outer.start;
        for span in spans {
            let place = self.inside(what, span, outer)?;
            if place.start < at {
                return Err(format!("{what} at {place:?} begins before {at}"));
            }
            at = place.end;
        }
        Ok(())
    }

    fn script(&self, script: Script, outer: Span) -> Result<(), String> {
        let outer = self.inside("script", script.span, outer)?;
        let items = self.tree.list(script.items);
        self.ordered("item", items.iter().map(|item| item.span), outer)?;
        for item in items {
            let outer = self.known(item.span)?;
            let pipelines = self.tree.list(item.pipelines);
            self.ordered("pipeline", pipelines.iter().map(|pipeline| pipeline.span), outer)?;
            for pipeline in pipelines {
                self.pipeline(pipeline)?;
            }
        }
        Ok(())
    }

    fn pipeline(&self, pipeline: &Pipeline) -> Result<(), String> {
        let outer = self.known(pipeline.span)?;
        let commands = self.tree.list(pipeline.commands);
        self.ordered("command", commands.iter().map(|command| command.span), outer)?;
        commands.iter().try_for_each(|command| self.command(command))
    }

    fn command(&self, command: &Command) -> Result<(), String> {
        let outer = self.known(command.span)?;
        let redirections = self.tree.list(command.redirections);
        self.ordered("redirection", redirections.iter().map(|one| one.span), outer)?;
        for redirection in redirections {
            let outer = self.known(redirection.span)?;
            self.words(self.tree.list(redirection.target), outer)?;
            if let Some(heredoc) = &redirection.heredoc {
                self.heredoc(heredoc)?;
            }
        }
        let tree = self.tree;
        match command.kind {
            Kind::Simple(simple) => {
                self.assignments(tree.list(simple.assignments), outer)?;
                self.words(tree.list(simple.words), outer)
            }
            Kind::Subshell(script) | Kind::Group(script) => self.script(script, outer),
            Kind::If(branches) => {
                tree.list(branches).iter().try_for_each(|branch| self.branch(branch, outer))
            }
            Kind::While(branch) | Kind::Until(branch) => self.branch(&branch, outer),
            Kind::For(one) | Kind::Select(one) => {
                self.words(tree.list(one.name), outer)?;
                self.words(one.words.map(|words| tree.list(words)).unwrap_or_default(), outer)?;
                self.script(one.body, outer)
            }
            Kind::ArithmeticFor { head, body } => {
                self.words(tree.list(head), outer)?;
                self.script(body, outer)
            }
            Kind::Case { subject, arms } => {
                self.words(tree.list(subject), outer)?;
                let arms = tree.list(arms);
                self.ordered("arm", arms.iter().map(|arm| arm.span), outer)?;
                arms.iter().try_for_each(|arm| {
                    let outer = self.known(arm.span)?;
                    self.words(tree.list(arm.patterns), outer)?;
                    self.script(arm.body, outer)
                })
            }
            Kind::Function { name, body, .. } => {
                self.words(tree.list(name), outer)?;
                self.inner_commands(tree.list(body), outer)
            }
            Kind::Test(test) => self.tests(tree.list(test), outer),
            Kind::Arithmetic(word) => self.words(tree.list(word), outer),
            Kind::Coproc { name, command } => {
                self.words(tree.list(name), outer)?;
                self.inner_commands(tree.list(command), outer)
            }
        }
    }

    fn inner_commands(&self, commands: &[Command], outer: Span) -> Result<(), String> {
        commands.iter().try_for_each(|command| {
            self.inside("inner command", command.span, outer)?;
            self.command(command)
        })
    }

    fn branch(&self, branch: &Branch, outer: Span) -> Result<(), String> {
        if let Some(condition) = branch.condition {
            self.script(condition, outer)?;
        }
        self.script(branch.body, outer)
    }

    fn tests(&self, tests: &[Test], outer: Span) -> Result<(), String> {
        self.ordered("test", tests.iter().map(|test| test.span), outer)?;
        tests.iter().try_for_each(|test| {
            let outer = self.known(test.span)?;
            match test.kind {
                TestKind::Or(list)
                | TestKind::And(list)
                | TestKind::Not(list)
                | TestKind::Group(list) => self.tests(self.tree.list(list), outer),
                TestKind::Unary(operator, words) | TestKind::Binary(operator, words) => {
                    self.inside("operator", operator, outer)?;
                    self.words(self.tree.list(words), outer)
                }
                TestKind::Word(words) => self.words(self.tree.list(words), outer),
            }
        })
    }

    fn heredoc(&self, heredoc: &Heredoc) -> Result<(), String> {
        // The body stands behind the line, outside the command that owns it.
        let outer = self.known(heredoc.span)?;
        self.words(self.tree.list(heredoc.body), outer)
    }

    fn assignments(&self, assignments: &[Assignment], outer: Span) -> Result<(), String> {
        self.ordered("assignment", assignments.iter().map(|one| one.span), outer)?;
        assignments.iter().try_for_each(|assignment| {
            let outer = self.known(assignment.span)?;
            self.inside("name", assignment.name, outer)?;
            self.words(self.tree.list(assignment.subscript), outer)?;
            match assignment.value {
                Assigned::Word(word) => self.words(self.tree.list(word), outer),
                Assigned::Array(elements) => self.assignments(self.tree.list(elements), outer),
            }
        })
    }

    fn words(&self, words: &[Word], outer: Span) -> Result<(), String> {
        self.ordered("word", words.iter().map(|word| word.span), outer)?;
        words.iter().try_for_each(|word| self.parts(self.tree.list(word.parts), word.span, 0))
    }

    /// Parts cover their word without a gap; `edge` bytes at both ends are quotes.
    fn parts(&self, parts: &[Part], whole: Span, edge: u32) -> Result<(), String> {
        let mut at = whole.start + edge;
        for part in parts {
            self.gap(at, part.span.start, "before a part")?;
            at = part.span.end;
            self.part(part)?;
        }
        self.gap(at, whole.end.saturating_sub(edge), "behind the last part")
    }

    /// Between two parts there is nothing but continued lines.
    fn gap(&self, start: u32, end: u32, place: &str) -> Result<(), String> {
        if start > end {
            return Err(format!("parts overlap {place}: {start} > {end}"));
        }
        let gap = self.tree.text(Span { start, end });
        if gap.chunks(2).all(|pair| pair == b"\\\n") {
            return Ok(());
        }
        Err(format!("{:?} {place} is in no part", String::from_utf8_lossy(gap)))
    }

    fn part(&self, part: &Part) -> Result<(), String> {
        let outer = self.known(part.span)?;
        let tree = self.tree;
        match part.kind {
            PartKind::Literal | PartKind::Glob | PartKind::Sequence | PartKind::Tilde => Ok(()),
            PartKind::Escaped(span) | PartKind::SingleQuoted(span) => {
                self.inside("quoted text", span, outer).map(drop)
            }
            PartKind::AnsiC(span) => self.known(span).map(drop),
            PartKind::DoubleQuoted { parts, locale } => {
                let quotes = Span { start: part.span.start + u32::from(locale), ..part.span };
                self.parts(tree.list(parts), quotes, 1)
            }
            PartKind::Parameter(expansions) => {
                tree.list(expansions).iter().try_for_each(|expansion| {
                    self.inside("name", expansion.name, outer)?;
                    if !expansion.sign.is_empty() {
                        self.inside("sign", expansion.sign, outer)?;
                    }
                    self.words(tree.list(expansion.subscript), outer)?;
                    self.words(tree.list(expansion.arguments), outer)
                })
            }
            PartKind::Command { script, .. } | PartKind::Process { script, .. } => {
                self.script(script, outer)
            }
            PartKind::Array(elements) => self.assignments(tree.list(elements), outer),
            PartKind::Arithmetic { expression, .. } => self.words(tree.list(expression), outer),
            PartKind::ExtendedGlob { alternatives, .. } | PartKind::Brace(alternatives) => {
                self.words(tree.list(alternatives), outer)
            }
        }
    }
}
