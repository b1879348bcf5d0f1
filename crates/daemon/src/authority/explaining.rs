//! Explanations: a past call judged once more, by the policy of its time or by today's, and what a
//! rule would have answered.
//!
//! Policy files are kept in the audit, once for each version, by [`Authority::keep_policies`]; so a
//! verdict can be explained after the files have changed.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis_approval::ask::Bound;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::{Ask, Asker, CallText, Grant, Granted, Id, Moment, Owners, Reach};
use portcullis_engine::place::NOWHERE;
use portcullis_engine::policy_text::{Fallback, Listed};
use portcullis_engine::verdict::Tier;
use portcullis_engine::{Outcome, Source, Verdict};
use portcullis_store::{AskFilter, AskRecord, AuditFilter, AuditRecord, StoreError};
use serde_json::Value;

use super::judging::Under;
use super::{Authority, Fault};
use crate::chance;
use crate::policies::{InForce, LayerText};

/// The kind of audit entry that keeps policy files.
const KEPT: &str = "policy.kept";

/// How far back a rule is tried on asks.
const BACK_MS: i64 = 30 * 86_400_000;

/// So many different calls a rule is tried on.
const MOST_TRIED: usize = 300;

/// So many asks are read at once, and so often.
const MOST_AT_ONCE: usize = 100;
const MOST_PAGES: usize = 1000;

/// By which policy a past call is judged once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The one it was judged by.
    Then,
    /// The one in force now.
    Now,
}

/// A past call, judged once more.
#[derive(Debug)]
pub struct Explained {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// The directory it would run in.
    pub cwd: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What the policy is called by.
    pub version: String,
    /// Whether that is the one of its time.
    pub when: When,
    /// What is worth knowing about how this came about.
    pub notes: Vec<&'static str>,
}

impl Authority {
    /// Keeps the files of every policy that is in force and was not kept yet.
    pub async fn keep_policies(&self) {
        for in_force in self.policies().unkept() {
            match self.keep_policy(&in_force).await {
                Ok(()) => self.policies().mark_kept(&in_force.version),
                Err(error) => tracing::error!("the policy could not be kept: {error}"),
            }
        }
    }

    async fn keep_policy(&self, in_force: &InForce) -> Result<(), StoreError> {
        if self.kept_entry(&in_force.version).await?.is_some() {
            return Ok(());
        }
        let layers: Vec<String> = in_force.texts.iter().map(layer_text).collect();
        let now = self.now();
        let entry = Entry {
            kind: KEPT,
            at: now,
            actor: "portcullis".to_owned(),
            subject: in_force.version.clone(),
            owner: None,
            data: object(vec![("layers", format!("[{}]", layers.join(",")))]).into(),
        };
        self.store().record(vec![entry], Vec::new(), now).await
    }

    async fn kept_entry(&self, version: &str) -> Result<Option<AuditRecord>, StoreError> {
        let mut filter = AuditFilter::after(0, 1);
        filter.kinds = vec![KEPT.to_owned()];
        filter.subject = Some(version.to_owned());
        Ok(self.store().audit(&filter).await?.pop())
    }

    /// The policy that was called by this, if its files are in force or were kept.
    async fn policy_of(&self, version: &str) -> Result<Option<Arc<InForce>>, StoreError> {
        if let Some(in_force) = self.policies().of_version(version) {
            return Ok(Some(in_force));
        }
        let Some(entry) = self.kept_entry(version).await? else { return Ok(None) };
        let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
        let layers = data.get("layers").and_then(Value::as_array);
        let texts: Option<Vec<LayerText>> =
            layers.and_then(|layers| layers.iter().map(layer_of).collect());
        Ok(texts.and_then(|texts| InForce::of_texts(version, texts).ok()).map(Arc::new))
    }

    /// Judges what an ask is about once more.
    ///
    /// # Errors
    /// There is no policy to judge it by, or the store cannot be read.
    pub async fn explain(&self, ask: &Ask, when: When) -> Result<Explained, Fault> {
        let mut notes = Vec::new();
        let in_force = match when {
            When::Then => self.policy_of(&ask.bound.policy).await?,
            When::Now => None,
        };
        let when = if in_force.is_some() { When::Then } else { When::Now };
        if when == When::Then {
            notes.push("grants that were made later, or have ended since, are left aside");
        } else if ask.bound.policy.is_empty() || self.policy_of(&ask.bound.policy).await?.is_none()
        {
            notes.push("the policy of that time was not kept; this is today's");
        }
        if ask.bound.cwd.is_some() {
            notes.push("links and files are looked up as they are now");
        }
        let before = (when == When::Then).then_some(ask.opened_at);
        let under = Under { in_force, before, also: None };
        let (verdict, version) = self.judge_under(ask, &ask.call.input, &under).await?;
        Ok(Explained {
            tool: ask.call.tool.clone(),
            input: serde_json::from_str(&ask.call.input).unwrap_or_default(),
            cwd: ask.call.cwd.clone().unwrap_or_else(|| NOWHERE.to_owned()),
            verdict,
            version,
            when,
            notes,
        })
    }

    /// The call of an audit entry, as an ask that was never opened; the ask itself where there is
    /// one. None where the entry does not say what was called.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn call_of(&self, entry: &AuditRecord) -> Result<Option<Ask>, StoreError> {
        let filter = AskFilter {
            state: None,
            digest: Some(entry.subject.clone()),
            ..AskFilter::pending(Owners::All, 1000)
        };
        let asks = self.store().asks(&filter).await?;
        let asked = asks.into_iter().find(|record| record.ask.opened_at == entry.at);
        if let Some(AskRecord { ask, .. }) = asked {
            return Ok(Some(ask));
        }
        let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(tool), Some(input)) = (text("tool"), data.get("input")) else { return Ok(None) };
        let owner = entry.owner.clone().unwrap_or_default();
        // A session that is gone stays gone: it would begin anew here. Of two that are called
        // alike, nobody knows which it was.
        let mut sessions = match text("session") {
            Some(name) => self.sessions_of(&name, &Owners::Some(vec![owner.clone()])).await?,
            None => Vec::new(),
        };
        let session = sessions.pop().filter(|_| sessions.is_empty());
        let is_live = text("world").as_deref() == Some("live");
        Ok(Some(Ask {
            id: Id::new(entry.at, &[0; 10]),
            call: CallText {
                tool,
                input: input.to_string(),
                cwd: text("cwd"),
                home: None,
                shell: None,
                host: text("host"),
                session: session.as_ref().map(|session| session.session.clone()),
                run: text("run"),
                call_id: None,
                profile: None,
                description: None,
            },
            asker: Asker {
                key: session.map_or_else(|| Id::new(Moment::from_ms(0), &[0; 10]), |one| one.key),
                agent: text("agent").unwrap_or_default(),
                owner,
                label: None,
            },
            door: text("door").unwrap_or_default(),
            digest: entry.subject.clone(),
            bound: Bound {
                cwd: is_live.then_some((0, 0)),
                policy: text("policy").unwrap_or_default(),
                ..Bound::default()
            },
            verdict: "{}".to_owned(),
            tier: Tier::Review,
            is_firm: false,
            offers: Vec::new(),
            opened_at: entry.at,
            deadline_at: None,
            fallback: Fallback::Deny,
            unused_approval_s: 0,
        }))
    }

    /// The grant of a rule that an ask offered, for good.
    #[must_use]
    pub fn offered(&self, ask: &Ask, rule: &str, by: &str) -> Option<Grant> {
        ask.offers.iter().find(|offer| offer.rule == rule)?;
        let now = self.now();
        Some(Grant {
            id: chance::id(now),
            owner: ask.asker.owner.clone(),
            key: None,
            agent: None,
            profile: Listed::of_rule(rule).and(ask.call.profile.clone()),
            granted: Granted::Pattern(rule.to_owned()),
            reach: Reach::Always,
            expires_at: None,
            uses_left: None,
            made_by: by.to_owned(),
            made_at: now,
            ask: Some(ask.id),
        })
    }

    /// What a grant would have answered: how many different calls that were asked about were
    /// looked at, and those it would have allowed, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn would_cover(&self, grant: Grant) -> Result<(usize, Vec<Ask>), Fault> {
        let since = Moment::from_ms(self.now().ms() - BACK_MS);
        let owners = Owners::Some(vec![grant.owner.clone()]);
        let asks = self.different_asks(owners, since).await?;
        let under = Under { also: Some(Arc::new(grant)), ..Under::default() };
        let mut covered = Vec::new();
        let looked_at = asks.len();
        for AskRecord { ask, .. } in asks {
            let (with, _) = self.judge_under(&ask, &ask.call.input, &under).await?;
            if with.outcome == Outcome::Allow
                && self.judge_again(&ask, &ask.call.input).await?.outcome != Outcome::Allow
            {
                covered.push(ask);
            }
        }
        Ok((looked_at, covered))
    }

    /// What the call of an ask would come to with each of these inputs, if a grant were there.
    ///
    /// # Errors
    /// There is no policy to judge it by.
    pub async fn would_answer(
        &self,
        ask: &Ask,
        grant: Grant,
        inputs: &[String],
    ) -> Result<Vec<Outcome>, Fault> {
        let under = Under { also: Some(Arc::new(grant)), ..Under::default() };
        let mut outcomes = Vec::with_capacity(inputs.len());
        for input in inputs {
            outcomes.push(self.judge_under(ask, input, &under).await?.0.outcome);
        }
        Ok(outcomes)
    }

    /// The newest asks of these owners since a moment, newest first, each call once.
    async fn different_asks(
        &self,
        owners: Owners,
        since: Moment,
    ) -> Result<VecDeque<AskRecord>, StoreError> {
        let mut filter = AskFilter {
            state: None,
            after: Some(Id::new(since, &[0; 10])),
            ..AskFilter::pending(owners, MOST_AT_ONCE)
        };
        let mut asks: VecDeque<AskRecord> = VecDeque::new();
        for _ in 0..MOST_PAGES {
            let page = self.store().asks(&filter).await?;
            let is_last = page.len() < filter.limit;
            filter.after = page.last().map(|record| record.ask.id).or(filter.after);
            for record in page {
                asks.retain(|known| known.ask.digest != record.ask.digest);
                asks.push_front(record);
                asks.truncate(MOST_TRIED);
            }
            if is_last {
                break;
            }
        }
        Ok(asks)
    }
}

fn layer_text(layer: &LayerText) -> String {
    let left_out: Vec<String> = layer.left_out.iter().map(|key| quoted(key)).collect();
    object(vec![
        ("source", quoted(layer.source.name())),
        ("path", quoted(&layer.path.to_string_lossy())),
        ("text", quoted(&layer.text)),
        ("left_out", format!("[{}]", left_out.join(","))),
    ])
}

fn layer_of(value: &Value) -> Option<LayerText> {
    let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    let source = match text("source")?.as_str() {
        "organization" => Source::Organization,
        "user" => Source::User,
        "project" => Source::Project,
        _ => return None,
    };
    let left_out = value.get("left_out")?.as_array()?;
    let left_out = left_out.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect();
    Some(LayerText { source, path: PathBuf::from(text("path")?), text: text("text")?, left_out })
}
