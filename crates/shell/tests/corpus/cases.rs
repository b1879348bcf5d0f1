//! Cases: the files of the corpus, read and written.
//!
//! A file begins with `%` lines that hold for all of it. A case is
//!
//! ```text
//! === title
//! % why it is here, or `% key: value`
//! the text
//! ~~~
//! another spelling of the same
//! ---
//! what is expected of all of them
//! ```
//!
//! `‹0d›` stands for the byte 0x0d. The newline before `~~~` and `---` is not part of the text.
//! Keys: `source`, `show` (shape, values, hazards), `dialect` (bash, sh, zsh), `extglob` and
//! `interactive` (on, off), `bash` (`accepts` or `rejects`, where `bash -n` disagrees, and why).

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_shell::{Dialect, Reader};

/// One file of cases.
pub struct File {
    pub path: PathBuf,
    head: Vec<String>,
    pub cases: Vec<Case>,
}

/// One meaning, its spellings, and what is expected of them.
pub struct Case {
    pub title: String,
    pub line: usize,
    pub settings: Settings,
    pub texts: Vec<Vec<u8>>,
    pub want: String,
    // The lines up to `---`, kept as they are when the expectation is rewritten.
    lines: Vec<String>,
}

/// The keys of a case.
#[derive(Clone)]
pub struct Settings {
    pub source: String,
    pub show: Show,
    pub reader: Reader,
    /// What `bash -n` says where it is known to disagree.
    pub bash_accepts: Option<bool>,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Shape,
    Values,
    Hazards,
}

/// Every file of the corpus, by name.
pub fn files() -> Vec<File> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> File {
    let text = fs::read_to_string(&path).unwrap();
    let mut head = Vec::new();
    let mut common = Settings {
        source: String::new(),
        show: Show::Shape,
        reader: Reader::new(Dialect::Bash),
        bash_accepts: None,
    };
    let mut blocks: Vec<(usize, Vec<&str>)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("=== ") {
            blocks.push((number + 1, vec![line]));
        } else if let Some((_, block)) = blocks.last_mut() {
            block.push(line);
        } else {
            if let Some(note) = line.strip_prefix("% ") {
                set(&mut common, note);
            }
            head.push(line.to_owned());
        }
    }
    let cases = blocks.into_iter().map(|(line, block)| case(line, &block, &common)).collect();
    File { path, head, cases }
}

fn case(line: usize, block: &[&str], common: &Settings) -> Case {
    let mut settings = common.clone();
    let mut texts = vec![Vec::new()];
    let title = block[0].trim_start_matches("=== ").to_owned();
    let notes = block[1..].iter().take_while(|line| line.starts_with("% ")).count();
    for note in &block[1..=notes] {
        set(&mut settings, note.trim_start_matches("% "));
    }
    let rest = &block[notes + 1..];
    let end = rest.iter().position(|&line| line == "---");
    let end = end.unwrap_or_else(|| panic!("line {line}: `{title}` has no `---`"));
    for &spelling in &rest[..end] {
        match spelling {
            "~~~" => texts.push(Vec::new()),
            _ => texts.last_mut().unwrap().push(spelling),
        }
    }
    Case {
        title,
        line,
        settings,
        texts: texts.into_iter().map(|lines| decode(&lines.join("\n"))).collect(),
        want: rest[end + 1..].join("\n").trim_end().to_owned(),
        lines: block[..=notes + 1 + end].iter().map(ToString::to_string).collect(),
    }
}

fn set(settings: &mut Settings, note: &str) {
    let Some((key, value)) = note.split_once(": ") else { return };
    match (key, value) {
        ("source", source) => source.clone_into(&mut settings.source),
        ("show", "shape") => settings.show = Show::Shape,
        ("show", "values") => settings.show = Show::Values,
        ("show", "hazards") => settings.show = Show::Hazards,
        ("dialect", name) => {
            settings.reader.dialect =
                Dialect::ALL.into_iter().find(|dialect| dialect.name() == name).unwrap();
        }
        ("extglob", state) => settings.reader.extglob = state == "on",
        ("interactive", state) => settings.reader.interactive = state == "on",
        ("bash", reason) => settings.bash_accepts = Some(reason.starts_with("accepts")),
        ("show", other) => panic!("unknown show `{other}`"),
        _ => {}
    }
}

/// Turns `‹0d›` into the byte it stands for.
fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('‹') {
        let (digits, behind) = after.split_once('›').expect("`‹` without `›`");
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
        rest = behind;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Bytes as they are written in a case: what a terminal would not show is spelled out.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() && character != '\n' {
                character.to_string().bytes().for_each(|byte| spell(&mut text, byte));
            } else {
                text.push(character);
            }
        }
        chunk.invalid().iter().for_each(|&byte| spell(&mut text, byte));
    }
    text
}

fn spell(text: &mut String, byte: u8) {
    text.extend(format!("‹{byte:02x}›").chars());
}

impl File {
    /// Writes the file anew with what the reader says today.
    pub fn rewrite(&self, found: &[String]) {
        let mut text = self.head.join("\n").trim_end().to_owned();
        text.push('\n');
        for (case, found) in self.cases.iter().zip(found) {
            text.push('\n');
            text.push_str(&case.lines.join("\n"));
            text.push('\n');
            if !found.is_empty() {
                text.push_str(found);
                text.push('\n');
            }
        }
        fs::write(&self.path, text).unwrap();
    }
}
