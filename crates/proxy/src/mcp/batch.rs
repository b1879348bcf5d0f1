//! Batches of older revisions: their requests go on one by one, and their answers come back as
//! one array in the order of the requests.

use std::collections::HashMap;

/// The batches that were not answered whole yet.
#[derive(Default)]
pub struct Batches {
    open: HashMap<u64, Vec<(String, Option<String>)>>,
    of: HashMap<String, u64>,
    count: u64,
}

impl Batches {
    /// Opens a batch of these requests.
    pub fn open(&mut self, ids: Vec<String>) {
        if ids.is_empty() {
            return;
        }
        self.count += 1;
        self.of.extend(ids.iter().map(|id| (id.clone(), self.count)));
        self.open.insert(self.count, ids.into_iter().map(|id| (id, None)).collect());
    }

    /// Takes an answer; gives what is to be told now, if anything.
    pub fn fill(&mut self, id: &str, line: Vec<u8>) -> Option<Vec<u8>> {
        let Some(number) = self.of.remove(id) else { return Some(line) };
        let batch = self.open.get_mut(&number)?;
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        let slot = batch.iter_mut().find(|(of, said)| of == id && said.is_none())?;
        slot.1 = Some(text);
        if batch.iter().any(|(_, said)| said.is_none()) {
            return None;
        }
        let batch = self.open.remove(&number)?;
        let all: Vec<String> = batch.into_iter().filter_map(|(_, said)| said).collect();
        Some(format!("[{}]\n", all.join(",")).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_answered_whole_and_in_order() {
        let mut batches = Batches::default();
        batches.open(vec!["1".into(), "\"b\"".into()]);
        assert_eq!(batches.fill("7", b"x\n".to_vec()), Some(b"x\n".to_vec()), "no batch");
        assert_eq!(batches.fill("\"b\"", b"{2}\n".to_vec()), None);
        assert_eq!(batches.fill("1", b"{1}\n".to_vec()), Some(b"[{1},{2}]\n".to_vec()));
        assert_eq!(batches.fill("1", b"y\n".to_vec()), Some(b"y\n".to_vec()), "it is over");
    }
}
