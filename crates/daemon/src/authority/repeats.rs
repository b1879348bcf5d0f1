//! Repeats: verdicts about calls that come again, for agents make the same ones all day.
//!
//! A verdict is a function of the policy, the grants, the call and what the world answers. One that
//! was given is given again only where all of these are the same: policy and grants are the very
//! ones, the call is equal to the byte, and the disk, asked the same questions once more, answers
//! them alike. Whatever changes a policy or a grant makes another one of it, so that nothing has to
//! be told to forget.
//!
//! A call is kept when it comes a second time: most never do.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use portcullis_approval::{CallText, Grant, grant};
use portcullis_engine::call::{Call, Shell};
use portcullis_engine::place::NOWHERE;
use portcullis_engine::{Lexical, Mode, Policy, Verdict, World, judge};
use portcullis_layers::Live;
use portcullis_layers::world::Answers;
use serde_json::Value;

use super::record::Texts;

/// So many calls are kept on one of the two shelves.
const MOST_CALLS: usize = 1024;

/// And so many bytes of them.
const MOST_BYTES: usize = 4 << 20;

/// What takes more by itself is not kept.
const MOST_OF_ONE: usize = 32 << 10;

/// So many calls that came once are remembered by their hash.
const GLIMPSED: usize = 4096;

/// Everything that a verdict depends on, the answers of the world aside.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The policy, without the grants. It lasts, so that a call that comes again finds the same.
    pub(super) policy: &'a Arc<Policy>,
    /// The grants that are good for the caller.
    pub(super) grants: &'a [Arc<Grant>],
    /// A mode that can only tighten.
    pub(super) mode: Option<Mode>,
    /// The call, to the byte.
    pub(super) call: &'a CallText,
    /// Its input.
    pub(super) input: &'a Value,
    /// Where its session began.
    pub(super) root: Option<&'a str>,
    /// Whether the disk is asked about its paths, or nobody.
    pub(super) is_live: bool,
}

impl Question<'_> {
    /// The call as the engine takes it.
    pub(super) fn engine_call(&self) -> Call {
        engine_call(self.call, self.input.clone(), self.root.map(str::to_owned))
    }

    /// Judges it.
    pub(super) fn judge(&self, world: &dyn World) -> Verdict {
        let laid;
        let policy = if self.grants.is_empty() {
            self.policy
        } else {
            let grants = self.grants.iter().map(|grant| &**grant);
            laid = Arc::new(grant::lay_over((**self.policy).clone(), grants));
            &laid
        };
        let call = self.engine_call();
        let verdict = judge(policy, &call, world);
        // A mode that an agent names only tightens.
        match self.mode {
            Some(mode) => {
                let other = judge(&(**policy).clone().with_mode(mode), &call, world);
                if other.outcome > verdict.outcome { other } else { verdict }
            }
            None => verdict,
        }
    }
}

/// A call as the engine takes it.
pub(super) fn engine_call(call: &CallText, input: Value, root: Option<String>) -> Call {
    Call {
        tool: call.tool.clone(),
        input,
        cwd: call.cwd.clone().unwrap_or_else(|| NOWHERE.to_owned()),
        root,
        home: call.home.clone(),
        shell: call.shell.as_deref().map(Shell::named),
        host: call.host.clone(),
    }
}

/// A verdict that is kept, with what is said about it each time.
#[derive(Debug)]
pub(super) struct Known {
    // INVARIANT: weak, and kept: nothing else can come to lie at these addresses meanwhile, and no
    // policy is held that is not in force any more.
    policy: Weak<Policy>,
    grants: Vec<Weak<Grant>>,
    mode: Option<Mode>,
    call: CallText,
    input: Value,
    root: Option<String>,
    /// What the disk answered, if it was asked.
    answers: Option<Answers>,
    /// How much of the memory it takes.
    bytes: usize,
    /// The verdict.
    pub(super) verdict: Arc<Verdict>,
    /// What the audit says about it.
    pub(super) texts: Texts,
    /// What a door said about it, which hangs on nothing else.
    pub(super) said: OnceLock<(&'static str, String)>,
}

impl Known {
    /// Whether it answers a question, if the disk is as it was.
    fn is_about(&self, question: &Question<'_>) -> bool {
        let Question { policy, grants, mode, call, input, root, is_live } = question;
        // INVARIANT: whatever `Question::judge` reads of the call stands here.
        let (own, other) = (&self.call, *call);
        own.input == other.input
            && own.tool == other.tool
            && own.cwd == other.cwd
            && own.home == other.home
            && own.shell == other.shell
            && own.host == other.host
            && self.root.as_deref() == *root
            && self.mode == *mode
            && self.answers.is_some() == *is_live
            && std::ptr::eq(self.policy.as_ptr(), Arc::as_ptr(policy))
            && self.grants.len() == grants.len()
            && self
                .grants
                .iter()
                .zip(*grants)
                .all(|(own, other)| std::ptr::eq(own.as_ptr(), Arc::as_ptr(other)))
            && self.input == **input
    }
}

/// The verdicts that are kept.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    shelves: Mutex<Shelves>,
    hashing: RandomState,
}

/// What was asked about lately lies on the first shelf. When that is full it takes the place of the
/// second, and what lay there and was not asked about again is gone.
#[derive(Debug, Default)]
struct Shelves {
    young: HashMap<u64, Arc<Known>>,
    old: HashMap<u64, Arc<Known>>,
    /// How many bytes the young take.
    bytes: usize,
    /// Hashes of calls that came once.
    glimpsed: Vec<u64>,
}

impl Shelves {
    fn find(&mut self, hash: u64, question: &Question<'_>) -> Option<Arc<Known>> {
        if let Some(known) = self.young.get(&hash).filter(|known| known.is_about(question)) {
            return Some(Arc::clone(known));
        }
        let known = self.old.get(&hash).filter(|known| known.is_about(question))?;
        let known = Arc::clone(known);
        self.put(hash, &known);
        Some(known)
    }

    fn put(&mut self, hash: u64, known: &Arc<Known>) {
        if self.young.len() >= MOST_CALLS || self.bytes + known.bytes > MOST_BYTES {
            self.old = mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += known.bytes;
        if let Some(before) = self.young.insert(hash, Arc::clone(known)) {
            self.bytes = self.bytes.saturating_sub(before.bytes);
        }
    }

    /// Whether a call of this hash came before; from now on it did.
    fn glimpse(&mut self, hash: u64) -> bool {
        if self.glimpsed.is_empty() {
            self.glimpsed = vec![0; GLIMPSED];
        }
        let count = u64::try_from(GLIMPSED).unwrap_or(1);
        let place = usize::try_from(hash % count).unwrap_or(0);
        let before = self.glimpsed.get_mut(place).map(|known| mem::replace(known, hash));
        before == Some(hash)
    }
}

impl Repeats {
    /// The verdict about a question: one that was given before, or a new one. With it comes what is
    /// kept of it, if anything is.
    pub(super) fn answer(&self, question: &Question<'_>) -> (Arc<Verdict>, Option<Arc<Known>>) {
        let hash = self.hash(question);
        let known = self.shelves().find(hash, question);
        // The disk is asked when nobody waits for the shelves.
        let still_holds =
            |known: &Arc<Known>| known.answers.as_ref().is_none_or(Answers::still_hold);
        if let Some(known) = known.filter(still_holds) {
            return (Arc::clone(&known.verdict), Some(known));
        }
        let (verdict, answers) = if question.is_live {
            let world = Live::new();
            (question.judge(&world), Some(world.answers()))
        } else {
            (question.judge(&Lexical), None)
        };
        let verdict = Arc::new(verdict);
        let known = self.keep(hash, question, &verdict, answers);
        (verdict, known)
    }

    /// Keeps a verdict if its call came before and it is small.
    fn keep(
        &self,
        hash: u64,
        question: &Question<'_>,
        verdict: &Arc<Verdict>,
        answers: Option<Answers>,
    ) -> Option<Arc<Known>> {
        if question.call.input.len() > MOST_OF_ONE || !self.shelves().glimpse(hash) {
            return None;
        }
        let Question { policy, grants, mode, call, input, root, .. } = *question;
        let mut known = Known {
            policy: Arc::downgrade(policy),
            grants: grants.iter().map(Arc::downgrade).collect(),
            mode,
            // What only names this one call is not kept.
            call: CallText { call_id: None, description: None, run: None, ..call.clone() },
            input: input.clone(),
            root: root.map(str::to_owned),
            answers,
            bytes: 0,
            verdict: Arc::clone(verdict),
            texts: Texts::new(call, input, verdict, policy.audit_input),
            said: OnceLock::new(),
        };
        known.bytes = size(&known)?;
        let known = Arc::new(known);
        self.shelves().put(hash, &known);
        Some(known)
    }

    fn hash(&self, question: &Question<'_>) -> u64 {
        let Question { policy, grants, mode, call, root, is_live, .. } = question;
        let mut hasher = self.hashing.build_hasher();
        Arc::as_ptr(policy).hash(&mut hasher);
        for grant in *grants {
            Arc::as_ptr(grant).hash(&mut hasher);
        }
        (mode, root, is_live).hash(&mut hasher);
        (&call.tool, &call.input, &call.cwd, &call.home, &call.shell, &call.host).hash(&mut hasher);
        hasher.finish()
    }

    fn shelves(&self) -> std::sync::MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// About how many bytes something takes: as many as it takes to write it down, which names and
/// shows all that is in it. None where they are too many.
fn size(known: &Known) -> Option<usize> {
    struct Counter(usize);
    impl Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            if self.0 <= MOST_OF_ONE { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut counter = Counter(0);
    write!(counter, "{known:?}").ok().map(|()| counter.0)
}

#[cfg(test)]
mod tests;
