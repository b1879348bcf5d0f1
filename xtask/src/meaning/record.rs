//! Records: what the recorder wrote down about each program that was started.

use std::collections::BTreeMap;

/// One program that was started.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The program's path inside the sandbox.
    pub program: Vec<u8>,
    /// The working directory it was started in.
    pub directory: Vec<u8>,
    /// Its arguments, the name it was called by first.
    pub arguments: Vec<Vec<u8>>,
    /// What its open descriptors lead to.
    pub descriptors: BTreeMap<u32, Vec<u8>>,
    /// What `cat` read.
    pub input: Vec<u8>,
}

impl Record {
    /// The last component of the program's path.
    pub fn name(&self) -> &[u8] {
        self.program.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }
}

/// Reads a log. A record that was cut off ends it.
pub fn records(log: &[u8]) -> Vec<Record> {
    let mut fields = log.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    std::iter::from_fn(|| record(&mut fields)).collect()
}

fn record(fields: &mut impl Iterator<Item = Vec<u8>>) -> Option<Record> {
    let program = fields.next().filter(|program| !program.is_empty())?;
    let directory = fields.next()?;
    let count = number(&fields.next()?)?;
    let arguments = fields.by_ref().take(count as usize).collect();
    let count = number(&fields.next()?)?;
    let mut descriptors = BTreeMap::new();
    for _ in 0..count {
        descriptors.insert(number(&fields.next()?)?, fields.next()?);
    }
    let input = fields.next()?;
    Some(Record { program, directory, arguments, descriptors, input })
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_back_record_by_record() {
        let log = b"/s/bin/p0\0/s/work\x002\0p0\0a\nb\x001\x000\0/dev/null\0\0/s/bin/cat\0/\x001\0cat\x000\0in\0/cut";
        let found = records(log);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name(), b"p0");
        assert_eq!(found[0].arguments, [b"p0".to_vec(), b"a\nb".to_vec()]);
        assert_eq!(found[0].descriptors[&0], b"/dev/null");
        assert_eq!(found[1].input, b"in");
    }
}
