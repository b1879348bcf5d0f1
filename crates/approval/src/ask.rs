//! Asks: the durable question a person must answer.

use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use sha2::{Digest, Sha256};

use crate::canonical::{Canonical, Members};
use crate::id::Id;
use crate::key::push_hex;
use crate::moment::Moment;

/// A tool call as it was sent, kept to the byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallText {
    /// The host's name for the tool.
    pub tool: String,
    /// Its input: JSON text, exactly as it came.
    pub input: String,
    /// The working directory, where one was said.
    pub cwd: Option<String>,
    /// The user's home, where one was said.
    pub home: Option<String>,
    /// The shell, where one was said.
    pub shell: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The session, as the host names it.
    pub session: Option<String>,
    /// The run, as the host names it.
    pub run: Option<String>,
    /// What the host calls this call.
    pub call_id: Option<String>,
    /// The profile of the policy it is judged by, where one was named.
    pub profile: Option<String>,
    /// What the agent says about it. It is shown as the agent's words and never judged.
    pub description: Option<String>,
}

impl CallText {
    /// The digest an executor can compute itself: over the canonical JSON of `cwd`, `host`,
    /// `input`, `session` and `tool`, what is absent left out. None where the input is not JSON.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        let input = Canonical::read(&self.input)?;
        let mut members = Members::new();
        members.maybe("cwd", self.cwd.as_deref());
        members.maybe("host", self.host.as_deref());
        members.raw("input", &input);
        members.maybe("session", self.session.as_deref());
        members.text("tool", &self.tool);
        let mut digest = "sha256:".to_owned();
        push_hex(&mut digest, &Sha256::digest(members.end().as_bytes()));
        Some(digest)
    }

    /// The same call with another input.
    #[must_use]
    pub fn with_input(&self, input: &str) -> CallText {
        CallText { input: input.to_owned(), ..self.clone() }
    }
}

/// Who asked: the key counts, the rest is what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// The key it showed.
    pub key: Id,
    /// The agent's name.
    pub agent: String,
    /// The person it works for.
    pub owner: String,
    /// Whose it says it is, where its key does not tell: it only says where the ask is shown.
    pub label: Option<String>,
}

/// What an ask is bound to beside its digest. A difference at release refuses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Device and inode of the working directory.
    pub cwd: Option<(u64, u64)>,
    /// Scripts the call would run, with the SHA-256 of their content.
    pub scripts: Vec<(String, String)>,
    /// The policy it was judged under.
    pub policy: String,
    /// What else is known of the access, if the call is one.
    pub access: Option<Written>,
}

/// What an access would write, as far as its agent says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many bytes.
    pub bytes: Option<u64>,
    /// Their beginning.
    pub preview: Option<String>,
}

/// A rule that would answer the question for good, with what else it would cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The rule, as a policy file has it.
    pub rule: String,
    /// What else it would cover.
    pub also_covers: Vec<String>,
}

/// The question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its id.
    pub id: Id,
    /// The call it is about.
    pub call: CallText,
    /// Who asked.
    pub asker: Asker,
    /// The door it came through.
    pub door: String,
    /// The digest of the call.
    pub digest: String,
    /// What else it is bound to.
    pub bound: Bound,
    /// The verdict as it was shown: JSON text.
    pub verdict: String,
    /// How bad the call could be.
    pub tier: Tier,
    /// Whether it rests on a finding that no allow rule can silence.
    pub is_firm: bool,
    /// Rules that would answer it for good.
    pub offers: Vec<Offer>,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it ends by itself, if it does.
    pub deadline_at: Option<Moment>,
    /// How it ends then.
    pub fallback: Fallback,
    /// How long an approval that nobody waits for stays good.
    pub unused_approval_s: u64,
}

impl Ask {
    /// Whether an identical call is the same only within its run: of an access, which the gates of
    /// its run judge, and of a call that no session holds.
    #[must_use]
    pub const fn is_of_its_run(&self) -> bool {
        self.bound.access.is_some() || self.call.session.is_none()
    }
}
