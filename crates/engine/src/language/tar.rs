//! tar: its mode, the archive, the files it packs or unpacks, and the commands it runs.
//!
//! Options are read as GNU tar reads them, in all three styles; the few letters that mean
//! something else to BSD tar are refused. [`options`] holds the table.

use self::options::{Key, SPECS, takes_value};
use super::options::{Found, Options};
use super::{Directory, Facts, Run, Word, owned};

mod options;
#[cfg(test)]
mod tests;

/// What tar does with the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TarMode {
    /// `-A`: adds other archives.
    Concatenate,
    /// `-c`
    Create,
    /// `--delete`: removes members from the archive.
    Delete,
    /// `-d`: compares members with files.
    Compare,
    /// `-r`
    Append,
    /// `-t`, `--test-label`
    List,
    /// `-u`: appends what is newer.
    Update,
    /// `-x`
    Extract,
}

/// A call of tar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tar {
    /// What it does, or none if it only prints its help.
    pub mode: Option<TarMode>,
    /// The archives it is given (`-f`); standard input or output is not among them.
    pub archives: Vec<Option<Vec<u8>>>,
    /// Its operands as written: files to pack, or names of members.
    pub members: Vec<Option<Vec<u8>>>,
    /// The directory it works in at the end of its options (`-C`).
    pub directory: Directory,
    /// Whether members are unpacked to standard output (`-O`) and not to files.
    pub to_stdout: bool,
    /// What it reads, writes, removes and runs. Unpacking writes the directory as a whole and
    /// every member that is named.
    pub facts: Facts,
}

/// Reads the arguments of tar.
#[must_use]
pub fn tar(arguments: &[Word]) -> Tar {
    let mut reader = Reader::default();
    if let Err(reason) = reader.read(arguments) {
        reader.tar.facts.doubt(reason);
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    tar: Tar,
    /// Options without a value that matter at the end.
    flags: Vec<Key>,
    /// Values of `--one-top-level`.
    tops: Vec<Option<Vec<u8>>>,
    snapshots: Vec<Option<Vec<u8>>>,
    /// The members, joined to the directory that was given before them.
    placed: Vec<Option<Vec<u8>>>,
    /// Every directory it works in.
    places: Vec<Option<Vec<u8>>>,
}

type Parsed = Result<(), &'static str>;

impl Reader {
    fn read(&mut self, arguments: &[Word]) -> Parsed {
        let rest = match arguments.split_first() {
            Some((Some(first), rest)) if !first.is_empty() && !first.starts_with(b"-") => {
                self.read_old_style(first, rest)?
            }
            _ => arguments,
        };
        let mut options = Options::new(SPECS, rest);
        while let Some(found) = options.next() {
            match found {
                Found::Option(key, value) => self.read_option(key, value)?,
                Found::Operand(index) => self.add_member(rest.get(index).copied().flatten()),
                Found::Terminator(index) => {
                    for word in rest.iter().skip(index) {
                        self.add_member(*word);
                    }
                    break;
                }
                Found::Unknown(reason) => return Err(reason),
            }
        }
        if self.tar.mode.is_none() && !self.flags.contains(&Key::Help) {
            return Err("tar is not told what to do");
        }
        Ok(())
    }

    /// `tar xzf a.tar`: letters without a dash, then their values in order.
    fn read_old_style<'w>(
        &mut self,
        letters: &[u8],
        mut rest: &'w [Word<'w>],
    ) -> Result<&'w [Word<'w>], &'static str> {
        for letter in letters {
            let spec = SPECS.iter().find(|spec| spec.short == *letter);
            let spec = spec.ok_or("an unknown option of tar")?;
            let mut value = None;
            if takes_value(spec) {
                let (first, others) = rest.split_first().ok_or("an option without its value")?;
                value = Some(*first);
                rest = others;
            }
            self.read_option(spec.key, value)?;
        }
        Ok(rest)
    }

    fn read_option(&mut self, key: Key, value: Option<Word>) -> Parsed {
        let text = value.flatten();
        match key {
            Key::Mode(mode) => {
                if self.tar.mode.replace(mode).is_some_and(|old| old != mode) {
                    return Err("tar is told two things to do");
                }
            }
            Key::Archive => self.add_archive(text),
            Key::Directory => self.enter(text)?,
            Key::ToStdout => self.tar.to_stdout = true,
            Key::TopLevel => self.tops.extend(value.map(owned)),
            Key::AbsoluteNames | Key::Help | Key::Local | Key::RemoveFiles | Key::RemoveFirst => {
                self.flags.push(key);
            }
            Key::AddFile => self.add_member(text),
            Key::Read => self.tar.facts.reads.push(owned(text)),
            Key::Write => self.tar.facts.writes.push(owned(text)),
            Key::ReadWrite => {
                self.tar.facts.reads.push(owned(text));
                self.tar.facts.writes.push(owned(text));
            }
            Key::Snapshot => self.snapshots.push(owned(text)),
            Key::NamesFrom => {
                self.tar.facts.reads.push(owned(text));
                return Err("names that tar takes from a file may be options");
            }
            Key::Compressor if text.is_some_and(is_compressor) => {}
            Key::Run | Key::Compressor => {
                self.tar.facts.runs.push(owned(text).map_or(Run::Unknown, Run::Shell));
            }
            Key::CheckpointAction => self.read_action(text)?,
            Key::Refused => return Err("an option that not every tar reads alike"),
            Key::Harmless => {}
        }
        Ok(())
    }

    /// Changes the directory for what follows.
    fn enter(&mut self, name: Word) -> Parsed {
        let place = join(&self.tar.directory, name);
        // No path is longer; it keeps joining names to it cheap.
        let is_long = place.as_ref().is_some_and(|place| place.len() > 4096);
        if is_long || self.places.len() > 64 {
            return Err("too many or too long directories for tar");
        }
        self.places.push(place.clone());
        self.tar.directory = place.map_or(Directory::Unknown, Directory::Named);
        Ok(())
    }

    fn add_archive(&mut self, name: Word) {
        match name {
            Some(b"-") => {}
            name => self.tar.archives.push(owned(name)),
        }
    }

    fn add_member(&mut self, name: Word) {
        if self.places.is_empty() {
            self.places.push(Some(b".".to_vec()));
        }
        self.placed.push(join(&self.tar.directory, name));
        self.tar.members.push(owned(name));
    }

    fn read_action(&mut self, action: Word) -> Parsed {
        let Some(action) = action else {
            self.tar.facts.runs.push(Run::Unknown);
            return Ok(());
        };
        if let Some(command) = action.strip_prefix(b"exec=") {
            self.tar.facts.runs.push(Run::Shell(command.to_vec()));
            return Ok(());
        }
        let end = action.iter().position(|byte| *byte == b'=');
        match action.get(..end.unwrap_or(action.len())).unwrap_or_default() {
            b"." | b"bell" | b"dot" | b"echo" | b"sleep" | b"totals" | b"ttyout" | b"wait" => {
                Ok(())
            }
            _ => Err("an unknown action of tar"),
        }
    }

    fn finish(mut self) -> Tar {
        let Tar { mode, archives, facts, .. } = &mut self.tar;
        if self.places.is_empty() {
            self.places.push(Some(b".".to_vec()));
        }
        if !self.flags.contains(&Key::Local)
            && archives.iter().flatten().any(|name| is_remote(name))
        {
            facts.connects = true;
            facts.runs.push(Run::Unknown);
        }
        let (reads_archive, writes_archive, reads_files) = match mode {
            None => (false, false, false),
            Some(TarMode::List | TarMode::Extract) => (true, false, false),
            Some(TarMode::Compare) => (true, false, true),
            Some(TarMode::Create) => (false, true, true),
            Some(TarMode::Append | TarMode::Update | TarMode::Concatenate) => (true, true, true),
            Some(TarMode::Delete) => (true, true, false),
        };
        if reads_archive {
            facts.reads.extend_from_slice(archives);
        }
        if writes_archive {
            facts.writes.extend_from_slice(archives);
        }
        if reads_files {
            facts.reads.extend_from_slice(&self.placed);
        }
        if *mode == Some(TarMode::Compare) {
            facts.reads.extend_from_slice(&self.places);
        }
        if *mode == Some(TarMode::Create) {
            facts.writes.extend_from_slice(&self.snapshots);
        }
        facts.reads.append(&mut self.snapshots);
        if self.flags.contains(&Key::RemoveFiles) {
            facts.deletes.extend_from_slice(&self.placed);
        }
        if *mode == Some(TarMode::Extract) && !self.tar.to_stdout {
            self.unpack();
        }
        self.tar
    }

    /// Unpacking writes where it works, and whatever the archive names below.
    fn unpack(&mut self) {
        let facts = &mut self.tar.facts;
        if self.flags.contains(&Key::RemoveFirst) {
            facts.deletes.extend_from_slice(&self.places);
        }
        facts.writes.append(&mut self.places);
        facts.writes.append(&mut self.placed);
        for top in &self.tops {
            facts.writes.push(join(&self.tar.directory, top.as_deref()));
        }
        if self.flags.contains(&Key::AbsoluteNames) {
            facts.writes.push(None);
        }
    }
}

/// A name as seen from the directory that was given before it.
fn join(directory: &Directory, name: Word) -> Option<Vec<u8>> {
    let name = name?;
    match directory {
        Directory::Named(directory) if directory != b"." && !name.starts_with(b"/") => {
            Some([directory.as_slice(), b"/", name].concat())
        }
        Directory::Unknown if !name.starts_with(b"/") => None,
        Directory::Same | Directory::Named(_) | Directory::Unknown => Some(name.to_vec()),
    }
}

/// Whether tar reaches an archive through a remote shell: a colon before any slash.
fn is_remote(name: &[u8]) -> bool {
    let first = name.iter().find(|byte| matches!(byte, b':' | b'/'));
    first == Some(&b':')
}

/// Whether a command is a known compressor with options that only say how hard it works.
fn is_compressor(command: &[u8]) -> bool {
    const NAMES: &[&[u8]] = &[
        b"bzip2",
        b"compress",
        b"gzip",
        b"lbzip2",
        b"lz4",
        b"lzip",
        b"lzma",
        b"lzop",
        b"pbzip2",
        b"pigz",
        b"pixz",
        b"plzip",
        b"pxz",
        b"unzstd",
        b"xz",
        b"zstd",
        b"zstdmt",
    ];
    let mut words = command.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_option = |word: &[u8]| match word {
        [b'-', b'c' | b'd' | b'e' | b'k' | b'q' | b'v'] => true,
        [b'-', b'T' | b'p', digits @ ..] | [b'-', digits @ ..]
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) =>
        {
            true
        }
        _ => matches!(word, b"--best" | b"--fast" | b"--long" | b"--ultra" | b"--rsyncable"),
    };
    words.next().is_some_and(|name| NAMES.contains(&name)) && words.all(is_option)
}
