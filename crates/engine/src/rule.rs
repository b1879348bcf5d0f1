//! Rules: a tool, a pattern and an outcome, from one source.

/// Splits a rule into its tool names and its content: everything between the first `(` and the
/// final `)`.
///
/// # Errors
/// The way out.
pub fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    let text = text.trim();
    let (tools, content) = match text.split_once('(') {
        None => (text, None),
        Some((tools, rest)) => match rest.strip_suffix(')') {
            Some(content) => (tools.trim_end(), Some(content)),
            None => return Err("close the parenthesis at its end".to_owned()),
        },
    };
    if tools.split('|').any(|tool| tool.trim().is_empty()) {
        return Err("write `Tool` or `Tool(pattern)`".to_owned());
    }
    if tools.contains(|letter: char| letter.is_whitespace() || letter == ')') {
        return Err("a tool's name has no blanks; write `Tool` or `Tool(pattern)`".to_owned());
    }
    Ok((tools, content))
}

use crate::error::PolicyError;
use crate::policy::Source;
use crate::tool::ToolText;
use crate::verdict::Outcome;

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule as written.
    pub text: String,
    /// What becomes of the acts it names.
    pub outcome: Outcome,
    /// The layer it comes from.
    pub source: Source,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The text is no rule.
    pub fn parse(text: &str, outcome: Outcome, source: Source) -> Result<Rule, PolicyError> {
        split(text).map_err(|help| {
            PolicyError::new(format!("`{text}` is no rule"), None).with_help(help)
        })?;
        Ok(Rule { text: text.trim().to_owned(), outcome, source })
    }
}

/// Many rules, found without looking at each.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Takes rules in.
    #[must_use]
    pub fn new(rules: Vec<Rule>, tools: &[ToolText]) -> Rules {
        let _ = tools;
        Rules { rules }
    }

    /// The same rules and one more.
    #[must_use]
    pub fn with(&self, rule: Rule, tools: &[ToolText]) -> Rules {
        let mut rules = self.rules.clone();
        rules.push(rule);
        Rules::new(rules, tools)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Every rule.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }
}
