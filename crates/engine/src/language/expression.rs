//! Regular expressions over names, as the globs that fit at least as much.

/// The globs of an expression's alternatives; what is not anchored may have text around it.
#[must_use]
pub fn globs_of_expression(expression: &str) -> Vec<String> {
    let mut globs = Vec::new();
    for alternative in expression.replace("\\|", "|").split('|') {
        let alternative = alternative.trim_matches(['(', ')']);
        let (head, body) = match alternative.strip_prefix('^') {
            Some(body) => ("", body),
            None => ("*", alternative),
        };
        let (body, tail) = match body.strip_suffix('$') {
            Some(body) => (body, ""),
            None => (body, "*"),
        };
        let glob = format!("{head}{}{tail}", glob_of(body));
        let name = glob.rsplit('/').next().unwrap_or(&glob).to_owned();
        let mut squeezed = String::with_capacity(name.len());
        for letter in name.chars() {
            if letter != '*' || !squeezed.ends_with('*') {
                squeezed.push(letter);
            }
        }
        globs.push(squeezed);
    }
    globs
}

/// The signs of an expression as those of a glob.
fn glob_of(expression: &str) -> String {
    let mut glob = String::with_capacity(expression.len());
    let mut letters = expression.chars().peekable();
    while let Some(letter) = letters.next() {
        let sign = match letter {
            '\\' => match letters.next() {
                Some(escaped) if escaped.is_ascii_alphanumeric() => Some('?'),
                escaped => escaped,
            },
            '.' => Some('?'),
            '(' | ')' | '^' | '$' => None,
            '[' => {
                // A set of one is that one.
                let mut set = letters.by_ref().take_while(|&end| end != ']');
                let first = set.next();
                let is_one = first.is_some() && set.next().is_none();
                if !is_one && first.is_some() {
                    set.for_each(drop);
                }
                if is_one { first } else { Some('?') }
            }
            other => Some(other),
        };
        match letters.peek() {
            Some('*' | '+' | '?' | '{') => {
                if letters.next() == Some('{') {
                    letters.by_ref().find(|&end| end == '}');
                }
                glob.push('*');
            }
            _ => glob.extend(sign),
        }
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::globs_of_expression;

    #[test]
    fn an_expression_fits_no_more_than_its_globs() {
        assert_eq!(globs_of_expression("env"), ["*env*"]);
        assert_eq!(globs_of_expression("^\\.env$"), [".env"]);
        assert_eq!(globs_of_expression("a\\|b"), ["*a*", "*b*"]);
        assert_eq!(globs_of_expression("^./src/.*[.]rs$"), ["*.rs"]);
    }
}
