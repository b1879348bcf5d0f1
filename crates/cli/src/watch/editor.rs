//! The editor: a text that is typed, with a place in it.

/// A text and where the next character goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    before: String,
    behind: String,
}

impl Editor {
    /// An editor behind the end of a text.
    pub fn new(text: &str) -> Editor {
        Editor { before: text.to_owned(), behind: String::new() }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.behind)
    }

    /// The byte at which the next character goes.
    pub fn at(&self) -> usize {
        self.before.len()
    }

    /// Types something.
    pub fn insert(&mut self, text: &str) {
        self.before.push_str(text);
    }

    /// Takes away the character before.
    pub fn backspace(&mut self) {
        self.before.pop();
    }

    /// Takes away the character behind.
    pub fn delete(&mut self) {
        if !self.behind.is_empty() {
            self.behind.remove(0);
        }
    }

    /// Goes one character back.
    pub fn left(&mut self) {
        if let Some(character) = self.before.pop() {
            self.behind.insert(0, character);
        }
    }

    /// Goes one character on.
    pub fn right(&mut self) {
        if !self.behind.is_empty() {
            self.before.push(self.behind.remove(0));
        }
    }

    /// Goes to the beginning.
    pub fn home(&mut self) {
        *self = Editor { before: String::new(), behind: self.text() };
    }

    /// Goes to the end.
    pub fn end(&mut self) {
        *self = Editor::new(&self.text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_go_where_the_place_is() {
        let mut editor = Editor::new("npm publish");
        editor.insert(" --dry-run");
        editor.home();
        editor.insert("é");
        editor.left();
        editor.delete();
        editor.delete();
        editor.right();
        editor.backspace();
        assert_eq!(editor.text(), "m publish --dry-run");
        assert_eq!(editor.at(), 0);
        editor.end();
        editor.backspace();
        assert_eq!(editor.text(), "m publish --dry-ru");
    }
}
