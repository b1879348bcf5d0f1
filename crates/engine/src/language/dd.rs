//! dd: its operands are `name=value`.

use super::{Facts, Word};

/// Reads the arguments of dd: what it copies from and to.
#[must_use]
pub fn dd(arguments: &[Word]) -> Facts {
    let mut facts = Facts::default();
    for argument in arguments {
        let Some(argument) = argument else {
            facts.doubt("an operand of dd is not known");
            continue;
        };
        match split_operand(argument) {
            (b"if", Some(file)) => facts.reads.push(Some(file.to_vec())),
            (b"of", Some(file)) => facts.writes.push(Some(file.to_vec())),
            (
                b"bs" | b"cbs" | b"conv" | b"count" | b"files" | b"fillchar" | b"ibs" | b"iflag"
                | b"iseek" | b"msgfmt" | b"obs" | b"oflag" | b"oseek" | b"seek" | b"skip"
                | b"speed" | b"status",
                Some(_),
            )
            | (b"--help" | b"--version" | b"--", None) => {}
            _ => facts.doubt("an unknown operand of dd"),
        }
    }
    facts
}

fn split_operand(argument: &[u8]) -> (&[u8], Option<&[u8]>) {
    match argument.iter().position(|byte| *byte == b'=') {
        Some(at) => (argument.get(..at).unwrap_or_default(), argument.get(at + 1..)),
        None => (argument, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Facts {
        let words: Vec<Word> =
            text.split(' ').map(|word| (word != "?").then_some(word.as_bytes())).collect();
        dd(&words)
    }

    #[test]
    fn files_are_operands_of_dd() {
        let facts = read("if=a of=b=c bs=1M count=1 status=none conv=notrunc,sync");
        assert_eq!(facts.reads, [Some(b"a".to_vec())]);
        assert_eq!(facts.writes, [Some(b"b=c".to_vec())]);
        assert_eq!(facts.unknown, None);

        assert_eq!(read("of=a of=b").writes.len(), 2, "the first is opened by some");
        assert!(read("bs=1 count=0").is_harmless(), "from standard input to standard output");
        assert!(read("--help").is_harmless());
        assert!(dd(&[]).is_harmless());
        for text in ["x=1", "if", "-x", "?", "if=a ?", "OF=x"] {
            assert!(read(text).unknown.is_some(), "`{text}`");
        }
    }
}
