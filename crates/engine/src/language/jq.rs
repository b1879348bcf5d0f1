//! jq filters and yq expressions: languages that only compute, with few doors to the outside.
//!
//! The reader cuts the text into names and strings, follows the code inside strings, and looks
//! at the names that reach beyond the input: the environment, other files, and in yq commands.

use super::cursor::Cursor;
use super::{Environment, Facts, Run};

/// Reads the text of one jq filter.
#[must_use]
pub fn jq(program: &[u8]) -> Facts {
    Reader::new(program, Language::Jq).read()
}

/// Reads the text of one yq expression, of the yq with a language of its own. The one that wraps
/// jq has jq's language, of which this is stricter.
#[must_use]
pub fn yq(program: &[u8]) -> Facts {
    Reader::new(program, Language::Yq).read()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Jq,
    Yq,
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    language: Language,
    facts: Facts,
    /// What is open; `"` is code inside a string.
    open: Vec<u8>,
}

type Parsed = Result<(), &'static str>;

impl<'t> Reader<'t> {
    fn new(program: &'t [u8], language: Language) -> Reader<'t> {
        let cursor = Cursor::new(program);
        Reader { cursor, language, facts: Facts::default(), open: Vec::new() }
    }

    fn read(mut self) -> Facts {
        if let Err(reason) = self.read_code() {
            self.facts.doubt(reason);
        } else if !self.open.is_empty() {
            self.facts.doubt("a bracket of the filter is not closed");
        }
        self.facts
    }

    fn read_code(&mut self) -> Parsed {
        // Whether the last byte was the dot of a field.
        let mut is_field = false;
        while let Some(byte) = self.cursor.peek() {
            let was_field = std::mem::replace(&mut is_field, false);
            match byte {
                b'.' => {
                    self.cursor.bump();
                    // Of two dots neither begins a field.
                    let dots = self.cursor.take_while(|byte| byte == b'.');
                    is_field = dots.is_empty();
                }
                b'"' => {
                    self.cursor.bump();
                    self.read_string(was_field)?;
                }
                b'#' => self.read_comment()?,
                b'(' | b'[' | b'{' => {
                    self.cursor.bump();
                    self.open.push(byte);
                }
                b')' | b']' | b'}' => {
                    self.cursor.bump();
                    self.read_close(byte)?;
                }
                b'$' => {
                    self.cursor.bump();
                    if self.take_name() == b"ENV" {
                        self.read_environment();
                    }
                }
                b'@' => {
                    self.cursor.bump();
                    self.take_name();
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let before = self.cursor.since(0);
                    let name = self.take_name();
                    if !was_field && !self.is_key() && !self.is_short_key(before) {
                        self.read_name(name);
                    }
                }
                b'0'..=b'9' => {
                    self.cursor.take_while(|byte| byte.is_ascii_alphanumeric());
                }
                b'\'' | b'`' | b'\\' => return Err("a character that the filter does not know"),
                _ => {
                    self.cursor.bump();
                }
            }
        }
        Ok(())
    }

    /// Reads a string up to its end, or up to code inside it.
    fn read_string(&mut self, is_field: bool) -> Parsed {
        loop {
            match self.cursor.bump() {
                Some(b'"') => return Ok(()),
                // The quoted name of a field knows no escapes in yq, so it may end here.
                Some(b'\\') if is_field && self.language == Language::Yq => {
                    return Err("a backslash in the name of a field");
                }
                Some(b'\\') => {
                    if self.cursor.bump() == Some(b'(') {
                        self.open.push(b'"');
                        return Ok(());
                    }
                }
                Some(_) => {}
                None => return Err("a string of the filter is not closed"),
            }
        }
    }

    /// A comment that ends with a backslash goes on in some versions only.
    fn read_comment(&mut self) -> Parsed {
        let comment = self.cursor.take_line();
        if comment.ends_with(b"\\") || comment.contains(&b'\r') {
            return Err("a comment of the filter that may go on");
        }
        Ok(())
    }

    fn read_close(&mut self, byte: u8) -> Parsed {
        match (self.open.pop(), byte) {
            (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}') => Ok(()),
            (Some(b'"'), b')') => self.read_string(false),
            _ => Err("a bracket of the filter is not opened"),
        }
    }

    /// A name, without the module before it.
    /// Whether the name that was just read is a key that stands for its field, as in `{env}`.
    fn is_short_key(&self, before: &[u8]) -> bool {
        let mut ahead = self.cursor;
        ahead.take_while(|byte| byte.is_ascii_whitespace());
        // Behind a comment anything may have come before.
        self.open.last() == Some(&b'{')
            && !before.contains(&b'#')
            && matches!(before.trim_ascii_end().last(), Some(b'{' | b','))
            && matches!(ahead.peek(), Some(b',' | b'}'))
    }

    fn take_name(&mut self) -> &'t [u8] {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        loop {
            let name = self.cursor.take_while(is_part);
            let follows = self.cursor.peek_at(2).is_some_and(is_part);
            if !(follows && self.cursor.eat_all(b"::")) {
                return name;
            }
        }
    }

    /// Whether the name that was just read is the key of an object.
    fn is_key(&self) -> bool {
        let mut ahead = self.cursor;
        ahead.take_while(|byte| byte.is_ascii_whitespace());
        self.open.last() == Some(&b'{') && ahead.peek() == Some(b':')
    }

    /// Notes how much of the environment is read: one variable, if its name stands behind it.
    fn read_environment(&mut self) {
        let mut ahead = self.cursor;
        ahead.take_while(|byte| byte.is_ascii_whitespace());
        let opener = if self.language == Language::Yq { b"(.".as_slice() } else { b"." };
        let is_opened = ahead.bump().is_some_and(|byte| opener.contains(&byte));
        let is_named = ahead.peek().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let read = if is_opened && is_named { Environment::Named } else { Environment::Whole };
        self.facts.environment = self.facts.environment.max(read);
    }

    fn read_name(&mut self, name: &[u8]) {
        match (self.language, name) {
            (_, b"env") | (Language::Yq, b"strenv") => self.read_environment(),
            (Language::Yq, b"envsubst") => self.facts.environment = Environment::Whole,
            (_, b"import") if self.imports_data() => {
                self.facts.doubt("the filter reads a file from one of several places");
            }
            // Modules are looked for in several places.
            (_, b"import" | b"include" | b"modulemeta") => self.facts.reads.push(None),
            (Language::Yq, b"eval") => self.facts.doubt("the expression evaluates another"),
            (Language::Yq, b"system") => self.facts.runs.push(Run::Unknown),
            (Language::Yq, _) if is_load(name) => match self.peek_string() {
                Some(file) => self.facts.reads.push(Some(file)),
                None => self.facts.doubt("the expression chooses the file that it reads"),
            },
            _ => {}
        }
    }

    /// Whether what is imported becomes a value, and is no module of functions.
    fn imports_data(&self) -> bool {
        let mut ahead = self.cursor;
        let is_blank = |byte: u8| byte.is_ascii_whitespace();
        ahead.take_while(is_blank);
        let is_plain = ahead.eat(b'"')
            && !ahead.take_while(|byte| !matches!(byte, b'"' | b'\\')).is_empty()
            && ahead.eat(b'"');
        ahead.take_while(is_blank);
        let is_named = ahead.eat_all(b"as");
        ahead.take_while(is_blank);
        !is_plain || !is_named || ahead.peek().is_none_or(|byte| !byte.is_ascii_alphabetic())
    }

    /// The only argument of the call that follows, if it is a plain string.
    fn peek_string(&self) -> Option<Vec<u8>> {
        let mut ahead = self.cursor;
        let is_blank = |byte: u8| byte.is_ascii_whitespace();
        ahead.take_while(is_blank);
        if !ahead.eat(b'(') {
            return None;
        }
        ahead.take_while(is_blank);
        if !ahead.eat(b'"') {
            return None;
        }
        let text = ahead.take_while(|byte| !matches!(byte, b'"' | b'\\'));
        let is_closed = ahead.eat(b'"');
        ahead.take_while(is_blank);
        (is_closed && ahead.eat(b')')).then(|| text.to_vec())
    }
}

/// Whether a name is one of yq's for reading a file: `load`, `load_str`, `strload`, `props_load`.
fn is_load(name: &[u8]) -> bool {
    name.starts_with(b"load") || name.ends_with(b"load")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_harmless() {
        #[rustfmt::skip]
        let filters = [
            "", ".", ".items | length", ".items[] | select(.id > 1)", ".dependencies | keys[]", ".env", ".env.PATH",
            ".[\"env\"]", "{env: .env, \"a b\": 1}", "{a: .x, env : 2}", "\"env \\(.a) $ENV\"", "\"\\(.a | \"x\\(.b)y\")\"",
            "# env\n.", ".a # \"", "@base64 \"x\\(.)\"", "@csv", "input_filename", "[inputs]", "debug | stderr",
            "getpath([\"a\"])", "def env2: 1; env2", "$env", "$x.env", "$__loc__", "reduce .[] as $x (0; . + $x)",
            "if .a then .b elif .c then .d else . end", "try error(\"x\") catch .", ".a?.b?//\"c\"", "..|.a?", "1e5, .5",
            ".a|=.b+1", "limit(3;.[])", "to_entries|map({(.key):.value})|add", ". as [$a,{b:$c}] | $a", "\"a\\\"env\"",
            "test(\"^[a-z]+\\\\(\")", "halt_error", "{\"a\":{\"env\":{\"b\":1}}}", "splits(\", \")",
        ];
        for filter in filters {
            assert_eq!(jq(filter.as_bytes()), Facts::default(), "`{filter}`");
        }
        for filter in [
            ".a.b",
            ".a[] | select(.b == \"x\")",
            ".spec.env[0]",
            "explode(.)",
            ". *+ .b",
            ".\"a b\"",
            "\"\\\"\"",
        ] {
            assert_eq!(yq(filter.as_bytes()), Facts::default(), "`{filter}`");
        }
    }

    #[test]
    fn what_reaches_beyond_the_input_is_named() {
        for filter in [
            "env",
            "$ENV",
            "[env]",
            "..env",
            "{a: env}",
            "{a: # ,\n env}",
            "env|keys",
            "env as $e | $e.A",
            "$ENV[\"A\"]",
            "x::env",
            "{(env):1}",
        ] {
            assert_eq!(jq(filter.as_bytes()).environment, Environment::Whole, "`{filter}`");
            assert_eq!(yq(filter.as_bytes()).environment, Environment::Whole, "`{filter}`");
        }
        for filter in ["env.PATH", "$ENV.PATH", "\"\\(env.HOME)\"", "{(env.A):1}", "env .A"] {
            assert_eq!(jq(filter.as_bytes()).environment, Environment::Named, "`{filter}`");
        }
        assert_eq!(jq(b"{a, env}").environment, Environment::Untouched);
        assert_eq!(yq(b".[] |= envsubst").environment, Environment::Whole);
        for filter in ["strenv(HOME)", ".a = env(X)"] {
            assert_eq!(yq(filter.as_bytes()).environment, Environment::Named, "`{filter}`");
        }
        for filter in ["import \"a\" as a; .", "include \"a\"; .", "\"m\" | modulemeta"] {
            assert_eq!(jq(filter.as_bytes()).reads, [None], "`{filter}`");
        }
        assert_eq!(yq(b".a = load(\"x.yml\")").reads, [Some(b"x.yml".to_vec())]);
        assert_eq!(yq(b".a = load_str( \"x\" )").reads, [Some(b"x".to_vec())]);
        assert_eq!(yq(b"str_load(\"x\") | propsload(\"y\")").reads.len(), 2);
        assert_eq!(yq(b"system(\"id\")").runs, [Run::Unknown]);
        assert!(jq(b"load(\"x\")").is_harmless(), "no function of jq");
    }

    #[test]
    fn what_cannot_be_followed_is_unknown() {
        for filter in [
            "import \"a\" as $d; $d",
            "import \"a\" as\n$d {search: \"/x\"}; $d",
            "import # x\n\"a\" as $d; $d",
            "\"a",
            "\"\\(",
            "\"\\(.a",
            "(",
            "[)",
            "}",
            "'a'",
            "`a`",
            "\\",
            "# a \\\n.",
            "# a\r\n.",
            "\"\\(.a]\"",
        ] {
            assert!(jq(filter.as_bytes()).unknown.is_some(), "`{filter}`");
            assert!(yq(filter.as_bytes()).unknown.is_some(), "`{filter}`");
        }
        for expression in
            ["eval(.x)", "load(.file)", "load(\"a\" + .b)", "\"x\" as $x | strload($x)"]
        {
            assert!(yq(expression.as_bytes()).unknown.is_some(), "`{expression}`");
        }
        assert!(
            yq(b".\"a\\\" | load(\"x\") | .\"b\"").unknown.is_some(),
            "escapes end nothing in jq"
        );
    }
}
