//! Origins: where made text comes from.
//!
//! Backtick bodies are unescaped and here-documents stripped before they are read. The result
//! stands behind the given text in one buffer, and the origins lead every offset back.

use crate::span::{Span, narrow};

/// The way back from made text to the text as given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins {
    source_len: u32,
    // INVARIANT: sorted by `start`; each run leads to a smaller offset.
    runs: Vec<Run>,
}

/// Made text from `start` on was copied from `from` on, up to the next run.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    from: u32,
}

impl Origins {
    pub(crate) fn new(source_len: usize) -> Origins {
        Origins { source_len: narrow(source_len), runs: Vec::new() }
    }

    pub(crate) fn source_len(&self) -> usize {
        self.source_len as usize
    }

    /// Says that text from `start` on is a copy of the text from `from` on.
    pub(crate) fn record(&mut self, start: usize, from: usize) {
        self.runs.push(Run { start: narrow(start), from: narrow(from) });
    }

    /// Leads a span back to the text as given.
    pub(crate) fn locate(&self, span: Span) -> Span {
        if span.end <= self.source_len {
            return span;
        }
        let start = self.lead_back(span.start);
        if span.is_empty() {
            return Span { start, end: start };
        }
        Span { start, end: self.lead_back(span.end.saturating_sub(1)).saturating_add(1) }
    }

    fn lead_back(&self, mut offset: u32) -> u32 {
        while offset >= self.source_len {
            let after = self.runs.partition_point(|run| run.start <= offset);
            let Some(run) = after.checked_sub(1).and_then(|last| self.runs.get(last)) else {
                return self.source_len;
            };
            offset = run.from.saturating_add(offset.saturating_sub(run.start));
            if run.from >= run.start || offset >= run.start {
                // An empty body at the very end leads to where its run began.
                return offset.min(self.source_len);
            }
        }
        offset
    }
}
