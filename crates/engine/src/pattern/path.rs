//! Path patterns: globs like gitignore's, but always anchored.
//!
//! `*` and `?` stay within one segment, `**` crosses segments and may be empty. A relative
//! pattern hangs on the workspace root, `~` is the home. Braces are letters in rules and
//! alternatives in `[paths]`, where they are spelled out before a glob is read.

use crate::glob;
use crate::place::Ground;

/// How many globs one glob with braces may stand for.
pub const ALTERNATIVES: usize = 64;

/// What a pattern hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// The workspace root, or the directory so many levels above it.
    Root(u8),
    /// The home of the user.
    Home,
    /// The root of the file system.
    Absolute,
}

/// One part of a pattern between separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// This very name.
    Literal(String),
    /// One name that fits.
    Fits(String),
    /// Any number of names.
    Deep,
}

/// A pattern for paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathGlob {
    /// What it hangs on.
    pub anchor: Anchor,
    /// Its parts.
    pub segments: Vec<Segment>,
}

/// How far a pattern that begins with `**/` reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The workspace root: patterns that allow.
    Root,
    /// The whole file system: patterns that deny or ask.
    Everywhere,
}

impl PathGlob {
    /// Reads a pattern; none for one that can never match, such as another user's home.
    #[must_use]
    pub fn parse(text: &str, reach: Reach) -> Option<PathGlob> {
        let text = text.trim();
        let is_floating = text == "**" || text.starts_with("**/");
        let (anchor, rest) = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (Anchor::Home, rest),
            Some(_) => return None,
            None if text.starts_with('/') => (Anchor::Absolute, text),
            None if is_floating && reach == Reach::Everywhere => (Anchor::Absolute, text),
            None => (Anchor::Root(0), text),
        };
        let mut glob = PathGlob { anchor, segments: Vec::new() };
        for part in rest.split('/') {
            match part {
                "" | "." => {}
                ".." => glob.climb()?,
                "**" => {
                    // `**/**` is `**`.
                    if glob.segments.last() != Some(&Segment::Deep) {
                        glob.segments.push(Segment::Deep);
                    }
                }
                _ if part.contains(['*', '?', '[', '\\']) => glob.segments.push(segment(part)),
                _ => glob.segments.push(Segment::Literal(part.to_owned())),
            }
        }
        if glob.segments.is_empty() && text.is_empty() {
            return None;
        }
        Some(glob)
    }

    fn climb(&mut self) -> Option<()> {
        match (self.segments.pop(), self.anchor) {
            (Some(Segment::Literal(_)), _) | (None, Anchor::Absolute) => Some(()),
            (None, Anchor::Root(levels)) => {
                self.anchor = Anchor::Root(levels.checked_add(1)?);
                Some(())
            }
            (Some(Segment::Fits(_) | Segment::Deep), _) | (None, Anchor::Home) => None,
        }
    }

    /// Whether a path below the anchor fits, given by its names.
    #[must_use]
    pub fn fits(&self, names: &[&str], is_search: bool) -> bool {
        fits(&self.segments, names, is_search)
    }
}

/// A name in a search pattern that stands for any number of names; only `**` fits it.
pub const DEEP_NAME: &str = "\u{1}**";

/// Whether names fit segments. `dir/**` also fits `dir` itself where the root of a search is meant.
#[must_use]
pub fn fits(segments: &[Segment], names: &[&str], is_search: bool) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut deep: Option<(usize, usize)> = None;
    loop {
        let is_taken = match (segments.get(at), names.get(here)) {
            (Some(Segment::Deep), _) => {
                // At the end it stands for at least one name.
                if at + 1 == segments.len() {
                    return here < names.len() || is_search;
                }
                deep = Some((at + 1, here));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (None, Some(_)) | (Some(_), None) => false,
            (Some(Segment::Literal(text)), Some(name)) => text == name,
            (Some(Segment::Fits(text)), Some(name)) => {
                *name != DEEP_NAME && glob::matches(text, name)
            }
        };
        match deep {
            _ if is_taken => {
                at += 1;
                here += 1;
            }
            Some((behind, from)) if from < names.len() => {
                deep = Some((behind, from + 1));
                at = behind;
                here = from + 1;
            }
            _ => return false,
        }
    }
}

/// A segment with letters that mean something, or that escapes them all.
fn segment(part: &str) -> Segment {
    let mut literal = String::with_capacity(part.len());
    let mut letters = part.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' | '?' | '[' => return Segment::Fits(part.replace("**", "*")),
            '\\' => literal.extend(letters.next()),
            _ => literal.push(letter),
        }
    }
    Segment::Literal(literal)
}

/// The path below an anchor; none where it lies elsewhere.
#[must_use]
pub fn below<'a>(path: &'a str, anchor: Anchor, root: &str, ground: &Ground) -> Option<&'a str> {
    let base = match anchor {
        Anchor::Absolute => return Some(path.strip_prefix('/').unwrap_or(path)),
        Anchor::Home => ground.home.as_deref()?,
        Anchor::Root(levels) => above(root, levels),
    };
    let rest = path.strip_prefix(base.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// The directory so many levels above another.
#[must_use]
pub fn above(path: &str, levels: u8) -> &str {
    (0..levels).fold(path, |path, _| path.rsplit_once('/').map_or("", |(above, _)| above))
}

/// The names of a path, without empty ones.
pub fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Whether a glob of `[paths]` can be read.
///
/// # Errors
/// The way out.
pub fn check_braces(glob: &str) -> Result<(), String> {
    match glob {
        "" => Err("leave it out, or name a path".to_owned()),
        _ if glob.starts_with('!') => {
            Err("a leading `!` means nothing here; use the deny list".to_owned())
        }
        _ if alternatives(glob).len() > ALTERNATIVES => {
            Err("it has too many alternatives; write several globs".to_owned())
        }
        _ => Ok(()),
    }
}

/// The globs that a glob with braces stands for; one more than is allowed where there are more.
#[must_use]
pub fn alternatives(glob: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![glob.to_owned()];
    while let Some(glob) = open.pop() {
        if done.len() + open.len() > ALTERNATIVES {
            done.push(glob);
            done.append(&mut open);
            break;
        }
        match first_braces(&glob) {
            None => done.push(glob),
            Some((start, end, parts)) => {
                let (head, tail) = (glob.get(..start), glob.get(end..));
                for part in parts.iter().rev() {
                    let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
                    open.push(format!("{head}{part}{tail}"));
                }
            }
        }
    }
    done
}

/// The first braces with a comma between them: where they stand, and their parts.
fn first_braces(glob: &str) -> Option<(usize, usize, Vec<String>)> {
    let mut is_escaped = false;
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, letter) in glob.char_indices() {
        let was_escaped = is_escaped;
        is_escaped = letter == '\\' && !was_escaped;
        match letter {
            _ if was_escaped => {}
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = open.pop()
                    && !commas.is_empty()
                {
                    let mut parts = Vec::new();
                    let mut from = start + 1;
                    for to in commas.into_iter().chain([at]) {
                        parts.push(glob.get(from..to).unwrap_or_default().to_owned());
                        from = to + 1;
                    }
                    return Some((start, at + 1, parts));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Anchor, PathGlob, Reach, alternatives, check_braces, names};

    #[test]
    fn globs_are_anchored_and_stay_in_their_segments() {
        #[rustfmt::skip]
        let cases = [
            ("src/**/*.py",  "src/a.py",     true),  ("src/**/*.py", "src/x/y/a.py",  true),
            ("src/**",       "src/a",        true),  ("src/**",      "src",           false),
            ("src/*",        "src/a/b",      false), ("*.py",        "a.py",          true),
            ("*.py",         "x/a.py",       false), ("**",          "a/b",           true),
            ("config.json",  "config.json",  true),  ("config.json", "x/config.json", false),
            ("[ab].txt",     "a.txt",        true),  ("[!a].txt",    "a.txt",         false),
            ("a{b,c}",       "ab",           false), ("a{b,c}",      "a{b,c}",        true),
            ("\\*",          "*",            true),  ("\\*",         "a",             false),
            ("./src/a",      "src/a",        true),  ("src/x/../a",  "src/a",         true),
            ("**/a/**/b",    "a/b",          true),  ("**/a/**/b",   "x/a/y/z/b",     true),
            ("**/a/**/b",    "x/a/y/z/c",    false), ("a/**/**/b",   "a/b",           true),
            ("*",            ".hidden",      true),  ("a?c",         "abc",           true),
        ];
        for (glob, path, want) in cases {
            let parsed = PathGlob::parse(glob, Reach::Root).unwrap();
            assert_eq!(parsed.anchor, Anchor::Root(0), "`{glob}`");
            let names: Vec<&str> = names(path).collect();
            assert_eq!(parsed.fits(&names, false), want, "`{glob}` on `{path}`");
        }
        let search = PathGlob::parse("src/**", Reach::Root).unwrap();
        assert!(search.fits(&["src"], true), "the root of a search");
    }

    #[test]
    fn anchors_are_read() {
        #[rustfmt::skip]
        let cases = [
            ("~/x", Reach::Root, Some(Anchor::Home)),        ("~", Reach::Root, Some(Anchor::Home)),
            ("/etc/x", Reach::Root, Some(Anchor::Absolute)), ("../x", Reach::Root, Some(Anchor::Root(1))),
            ("**/x", Reach::Root, Some(Anchor::Root(0))),    ("**/x", Reach::Everywhere, Some(Anchor::Absolute)),
            ("**", Reach::Everywhere, Some(Anchor::Absolute)), ("x/**", Reach::Everywhere, Some(Anchor::Root(0))),
            ("~root/x", Reach::Root, None),                  ("*/../x", Reach::Root, None),
        ];
        for (glob, reach, want) in cases {
            let anchor = PathGlob::parse(glob, reach).map(|glob| glob.anchor);
            assert_eq!(anchor, want, "`{glob}`");
        }
    }

    #[test]
    fn braces_are_alternatives_where_they_mean_something() {
        assert_eq!(alternatives("a{b,c}/*.{x,y}"), ["ab/*.x", "ab/*.y", "ac/*.x", "ac/*.y"]);
        assert_eq!(alternatives("a{b}"), ["a{b}"]);
        assert_eq!(alternatives("{a,{b,c}}"), ["a", "b", "a", "c"]);
        assert_eq!(alternatives("a\\{b,c}"), ["a\\{b,c}"], "escaped");
        assert_eq!(alternatives("\\\\{b,c}"), ["\\\\b", "\\\\c"], "the backslash is");
        assert!(alternatives(&"{a,b}".repeat(20)).len() > 64);
        let many = "{a,b}".repeat(20);
        for (glob, want) in [("", false), ("!a", false), (many.as_str(), false), ("{a,b}", true)] {
            assert_eq!(check_braces(glob).is_ok(), want, "`{glob}`");
        }
    }
}
