//! Codex: `prefix_rule`, `host_executable` and `network_rule` of its rule files, literal calls only.

use portcullis_engine::Outcome;

use super::{Fate, File, Import, shell};

/// So many rules come of one with alternatives, at most.
const MOST: usize = 64;

/// A literal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    Text(String),
    List(Vec<Literal>),
}

/// Reads a rule file.
#[expect(clippy::unnecessary_wraps, reason = "it stands in the table of readers")]
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let calls = calls(file.text);
    let executables: Vec<(String, Vec<String>)> = calls
        .iter()
        .filter(|call| call.name == "host_executable")
        .filter_map(|call| Some((call.text("name")?, call.texts("paths")?)))
        .collect();
    for call in &calls {
        let text = call.source.as_str();
        match call.name.as_str() {
            "prefix_rule" if call.is_literal => prefix(import, file, call, &executables),
            "host_executable" if call.is_literal => {
                let is_read = call.text("name").is_some() && call.texts("paths").is_some();
                if is_read {
                    let why = "rules about the program hold for its paths too";
                    import.heeded(file, call.line, text, why);
                } else {
                    import.unmapped(file, call.line, text, "it names no program or no paths");
                }
            }
            "network_rule" if call.is_literal => {
                let outcome = outcome(call.text("decision").as_deref());
                match (call.text("host"), outcome) {
                    (Some(host), Some(outcome)) => {
                        let became = vec![(format!("WebFetch(domain:{host})"), Fate::Partial)];
                        import.rule(
                            file,
                            call.line,
                            text,
                            outcome,
                            became,
                            "traffic of a shell is judged by act",
                        );
                    }
                    _ => import.unmapped(file, call.line, text, "it names no host or no decision"),
                }
            }
            _ => import.unmapped(
                file,
                call.line,
                text,
                "only literal calls are read; nothing is evaluated",
            ),
        }
    }
    Ok(())
}

fn prefix(
    import: &mut Import,
    file: &File<'_>,
    call: &Call,
    executables: &[(String, Vec<String>)],
) {
    let text = call.source.as_str();
    let Some(outcome) = outcome(call.text("decision").as_deref().or(Some("allow"))) else {
        return import.unmapped(file, call.line, text, "the decision is unknown");
    };
    let Some(Literal::List(pattern)) = call.argument("pattern") else {
        return import.unmapped(file, call.line, text, "there is no pattern");
    };
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for part in pattern {
        let words: Vec<String> = match part {
            Literal::Text(word) => vec![word.clone()],
            Literal::List(words) => words.iter().filter_map(Literal::text).collect(),
        };
        rows = rows
            .iter()
            .flat_map(|row| words.iter().map(|word| [row.clone(), vec![word.clone()]].concat()))
            .collect();
        if rows.is_empty() || rows.len() > MOST {
            return import.unmapped(file, call.line, text, "it has too many alternatives, or none");
        }
    }
    let paths = |row: &Vec<String>| -> Vec<Vec<String>> {
        let own = row.first().and_then(|first| executables.iter().find(|(name, _)| name == first));
        let others = own.map(|(_, paths)| paths.clone()).unwrap_or_default();
        let rest = row.iter().skip(1).cloned().collect::<Vec<_>>();
        others.into_iter().map(|path| [vec![path], rest.clone()].concat()).collect()
    };
    let more: Vec<Vec<String>> = rows.iter().flat_map(paths).collect();
    rows.extend(more);
    let became: Vec<(String, Fate)> =
        rows.iter().filter_map(|row| Some((shell::words(row)?, Fate::Exact))).collect();
    let why = call.text("justification").unwrap_or_default();
    let why =
        if became.len() < rows.len() { "a word cannot stand in a rule".to_owned() } else { why };
    let is_lost = became.len() < rows.len();
    let hits =
        |example: &String| became.iter().any(|(rule, _)| shell::hits(rule, outcome, example));
    // What the source says it does not match must not be matched here either; an allow that does
    // is given up, a deny or ask that does is wider.
    let is_wider = call.texts("not_match").unwrap_or_default().iter().any(hits);
    let (became, why) = match (is_wider, outcome) {
        (false, _) => (became, why),
        (true, Outcome::Allow) => {
            let why = "it would match an example that it must not";
            return import.rule(file, call.line, text, outcome, Vec::new(), why);
        }
        (true, Outcome::Ask | Outcome::Deny) => {
            let wider = became.into_iter().map(|(rule, _)| (rule, Fate::Widened)).collect();
            (wider, "it also matches an example that the source does not".to_owned())
        }
    };
    for example in call.texts("match").unwrap_or_default() {
        let is_allowed =
            outcome == Outcome::Allow && became.iter().any(|(rule, _)| shell::is_broad(rule));
        let outcome = if is_allowed { Outcome::Ask } else { outcome };
        import.test(&example, outcome.name());
    }
    import.rule(file, call.line, text, outcome, if is_lost { Vec::new() } else { became }, &why);
}

fn outcome(decision: Option<&str>) -> Option<Outcome> {
    match decision? {
        "allow" => Some(Outcome::Allow),
        "prompt" => Some(Outcome::Ask),
        "forbidden" | "deny" => Some(Outcome::Deny),
        _ => None,
    }
}

/// One call in a file.
struct Call {
    name: String,
    line: usize,
    source: String,
    arguments: Vec<(String, Literal)>,
    is_literal: bool,
}

impl Call {
    fn argument(&self, name: &str) -> Option<&Literal> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.argument(name).and_then(Literal::text)
    }

    fn texts(&self, name: &str) -> Option<Vec<String>> {
        match self.argument(name)? {
            // An example may be a list of words.
            Literal::List(items) => Some(items.iter().map(Literal::line).collect()),
            Literal::Text(_) => None,
        }
    }
}

impl Literal {
    fn text(&self) -> Option<String> {
        match self {
            Literal::Text(text) => Some(text.clone()),
            Literal::List(_) => None,
        }
    }

    fn line(&self) -> String {
        match self {
            Literal::Text(text) => text.clone(),
            Literal::List(words) => {
                words.iter().filter_map(Literal::text).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// The names whose calls are read.
const READ: &[&str] = &["prefix_rule", "host_executable", "network_rule"];

/// Whether a line that is not read goes on behind its end, or gives a name that is read another
/// meaning: what stands behind it may be something else than it looks.
fn is_open(line: &str) -> bool {
    let count = |signs: &[char]| line.matches(signs).count();
    let is_renamed = |name: &&str| {
        let rest = line.trim_start().trim_start_matches("def ").trim_start();
        let rest = rest.strip_prefix(*name).map(str::trim_start);
        line.trim_start().starts_with("def ") && rest.is_some()
            || rest.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="))
            || line.trim_start().starts_with("load") && line.contains(*name)
    };
    line.contains("\"\"\"")
        || line.contains("'''")
        || line.trim_end().ends_with('\\')
        || count(&['(', '[', '{']) != count(&[')', ']', '}'])
        || READ.iter().any(is_renamed)
}

/// The statements of a file: calls with literal arguments, and whatever else stands there. A call
/// that stands in a block, or before something else, may never be made.
fn calls(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut at = 0;
    let mut is_lost = false;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.is_empty() {
            break;
        }
        if trimmed.starts_with('#') {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
            continue;
        }
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let is_first = text.get(..at).unwrap_or_default().ends_with('\n') || at == 0;
        let mut reader = Reader { text: trimmed, at: 0 };
        let found = reader.call().filter(|_| !is_lost && reader.ends_line());
        let (call, length) = if let Some((name, arguments)) = found {
            let source = trimmed.get(..reader.at).unwrap_or_default();
            let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
            (Call { name, line, source, arguments, is_literal: is_first }, reader.at)
        } else {
            let end = trimmed.find('\n').unwrap_or(trimmed.len());
            let source = trimmed.get(..end).unwrap_or_default().trim_end().to_owned();
            is_lost |= is_open(&source);
            let (name, arguments) = (String::new(), Vec::new());
            (Call { name, line, source, arguments, is_literal: false }, end)
        };
        at += length.max(1);
        calls.push(call);
    }
    calls
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let blanks = rest.len() - trimmed.len();
            let comment = if trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else {
                0
            };
            self.at += blanks + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// Whether nothing but blanks and a comment stands on the rest of the line.
    fn ends_line(&self) -> bool {
        let line = self.rest().lines().next().unwrap_or_default().trim();
        line.is_empty() || line.starts_with('#')
    }

    fn eat(&mut self, sign: char) -> bool {
        self.skip();
        let is_there = self.rest().starts_with(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn name(&mut self) -> Option<String> {
        self.skip();
        let rest = self.rest();
        let end = rest
            .find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
            .unwrap_or(rest.len());
        let name = rest.get(..end).filter(|name| !name.is_empty())?.to_owned();
        self.at += end;
        Some(name)
    }

    fn call(&mut self) -> Option<(String, Vec<(String, Literal)>)> {
        let name = self.name()?;
        if !self.eat('(') {
            return None;
        }
        let mut arguments = Vec::new();
        while !self.eat(')') {
            let name = self.name()?;
            if !self.eat('=') {
                return None;
            }
            arguments.push((name, self.literal(0)?));
            if !self.eat(',')
                && !{
                    self.skip();
                    self.rest().starts_with(')')
                }
            {
                return None;
            }
        }
        Some((name, arguments))
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > 8 {
            return None;
        }
        if self.eat('[') {
            let mut items = Vec::new();
            while !self.eat(']') {
                items.push(self.literal(depth + 1)?);
                if !self.eat(',')
                    && !{
                        self.skip();
                        self.rest().starts_with(']')
                    }
                {
                    return None;
                }
            }
            return Some(Literal::List(items));
        }
        let quote = self.rest().chars().next().filter(|sign| *sign == '"' || *sign == '\'')?;
        let mut text = String::new();
        let mut signs = self.rest().char_indices().skip(1);
        while let Some((at, sign)) = signs.next() {
            match sign {
                '\\' => match signs.next()? {
                    (_, 'n') => text.push('\n'),
                    (_, 't') => text.push('\t'),
                    (_, sign @ ('\\' | '"' | '\'')) => text.push(sign),
                    // It stands for another sign, or for two.
                    _ => return None,
                },
                sign if sign == quote => {
                    self.at += at + 1;
                    return Some(Literal::Text(text));
                }
                '\n' => return None,
                sign => text.push(sign),
            }
        }
        None
    }
}
