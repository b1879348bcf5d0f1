//! Keys: what a terminal says was pressed, in our words.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Enter. It never approves.
    Enter,
    /// A line end inside a text: Alt and Enter, or Ctrl and J.
    LineEnd,
    /// Escape. It never approves.
    Escape,
    /// Tab.
    Tab,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Takes away the character before.
    Backspace,
    /// Takes away the character behind.
    Delete,
    /// Ctrl and C.
    Interrupt,
}

/// The key of an event of the terminal; none where it means nothing here.
pub fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let held = event.modifiers;
    if held.contains(KeyModifiers::CONTROL) {
        let pairs = [('c', Key::Interrupt), ('j', Key::LineEnd)];
        let pair = pairs.iter().find(|(letter, _)| event.code == KeyCode::Char(*letter));
        return pair.map(|(_, key)| *key);
    }
    if held.contains(KeyModifiers::ALT) {
        return (event.code == KeyCode::Enter).then_some(Key::LineEnd);
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "a terminal has many keys; we know a few")]
    match event.code {
        KeyCode::Char(character) => Some(Key::Char(character)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Escape),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::Left => Some(Key::Left),
        KeyCode::Right => Some(Key::Right),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::Home),
        KeyCode::End => Some(Key::End),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Delete => Some(Key::Delete),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_held_with_others_mean_nothing_else() {
        let event = |code, held| key(KeyEvent::new(code, held));
        #[rustfmt::skip]
        let cases = [
            (KeyCode::Char('a'), KeyModifiers::NONE,    Some(Key::Char('a'))),
            (KeyCode::Char('Y'), KeyModifiers::SHIFT,   Some(Key::Char('Y'))),
            (KeyCode::Char('a'), KeyModifiers::CONTROL, None),
            (KeyCode::Char('a'), KeyModifiers::ALT,     None),
            (KeyCode::Char('c'), KeyModifiers::CONTROL, Some(Key::Interrupt)),
            (KeyCode::Enter,     KeyModifiers::NONE,    Some(Key::Enter)),
            (KeyCode::Enter,     KeyModifiers::ALT,     Some(Key::LineEnd)),
            (KeyCode::F(1),      KeyModifiers::NONE,    None),
        ];
        for (code, held, want) in cases {
            assert_eq!(event(code, held), want, "{code:?} with {held:?}");
        }
    }
}
