//! D9: calls that ran and that nothing had let run.
//!
//! Each shows that some path avoids the gate. What a host told after a call is in the audit, where
//! the daemon has noted it as a gap, or in the journal of the hooks; what a host told nobody is in
//! its own transcripts, which `transcripts` reads.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use portcullis_approval::Moment;
use portcullis_daemon::clock::Clock;
use portcullis_hook_static::installed::Installed;
use portcullis_store::{AuditFilter, AuditRecord, Store};
use serde_json::Value;

use super::transcripts::{self, Told};
use super::{Check, State};
use crate::data_dir::DataDir;
use crate::install::hosts::Host;
use crate::reach::block_on;

/// So far back calls are looked for one by one.
const DAYS_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// So many entries are read at once.
const PAGE: usize = 1000;

/// The checks of a host that is installed.
pub fn gaps(host: &Host, record: &Installed, data: &DataDir, store: Option<&str>) -> Vec<Check> {
    let installed = record.entries.iter().filter(|entry| entry.host == host.name);
    let Some(since) = installed.filter_map(|entry| Moment::parse(&entry.at)).min() else {
        return Vec::new();
    };
    if record.url.is_some() {
        let told = "the daemon is elsewhere; its audit has them as `gap.found`";
        return vec![Check::new("gaps", State::Untested, told)];
    }
    let known = block_on(async {
        let mut known = Known::default();
        if store.is_some() || data.file("portcullis.db").exists() {
            let store = data.store(store.unwrap_or("")).await?;
            let read = known.read(&*store, host.name, since).await;
            store.close().await;
            read?;
        }
        let journal = data.file(portcullis_hook_static::journal::FILE);
        for file in [journal.with_extension("taken"), journal] {
            known.read_journal(&std::fs::read(file).unwrap_or_default(), host.name);
        }
        Ok(known)
    });
    match known {
        Ok(known) => vec![known.results(since), known.transcripts(host, record, since)],
        Err(error) => vec![Check::new("gaps", State::Untested, format!("{error:#}"))],
    }
}

/// What is known of calls.
#[derive(Default)]
struct Known {
    /// The digests of those that were judged lately.
    judged: HashSet<String>,
    /// The directories of each session's calls.
    places: BTreeMap<String, BTreeSet<String>>,
    /// Results without a decision: tool and digest, the newest last.
    gaps: Vec<(String, String)>,
    /// Results that came while no daemon ran, which nobody has looked at yet.
    observed: Vec<(String, String)>,
    /// How many documents about results could not be read.
    unread: usize,
    /// Before this moment entries are missing.
    from: Option<Moment>,
}

impl Known {
    async fn read(&mut self, store: &dyn Store, host: &str, since: Moment) -> anyhow::Result<()> {
        let lately = lately(since);
        for (kind, since) in
            [("gap.found", since), ("call.judged", lately), ("hook.observed", lately)]
        {
            let mut filter = AuditFilter::after(0, PAGE);
            filter.kinds = vec![kind.to_owned()];
            filter.since = Some(since);
            loop {
                let page = store.audit(&filter).await?;
                for AuditRecord { position, subject, data, .. } in &page {
                    filter.after = *position;
                    self.take(kind, subject, &serde_json::from_str(data)?, host);
                }
                if page.len() < PAGE {
                    break;
                }
            }
        }
        if store.head().await?.base.is_some() {
            let oldest = store.audit(&AuditFilter::after(0, 1)).await?;
            self.from = oldest.first().map(|entry| entry.at);
        }
        Ok(())
    }

    fn read_journal(&mut self, bytes: &[u8], host: &str) {
        for line in String::from_utf8_lossy(bytes).lines() {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let data = value.get("data").cloned().unwrap_or_default();
            self.take(text("kind"), text("subject"), &data, host);
        }
    }

    fn take(&mut self, kind: &str, subject: &str, data: &Value, host: &str) {
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_meant = text("host").as_deref() == Some(host);
        let found = || (text("tool").unwrap_or_default(), subject.to_owned());
        match kind {
            "call.judged" => {
                if let (Some(session), Some(cwd)) = (text("session"), text("cwd")) {
                    self.places.entry(session).or_default().insert(cwd);
                }
                self.judged.insert(subject.to_owned());
            }
            "gap.found" if is_meant => self.gaps.push(found()),
            "hook.observed" if is_meant && text("failure").is_some() => self.unread += 1,
            "hook.observed" if is_meant => self.observed.push(found()),
            _ => {}
        }
    }

    /// Whether a call was judged: in its directory, or in one that others of its session were in.
    fn has_judged(&self, told: &Told) -> bool {
        let places = told.session.as_ref().and_then(|session| self.places.get(session));
        let own = told.cwd.iter();
        own.chain(places.into_iter().flatten())
            .any(|cwd| told.digest_in(cwd).is_some_and(|digest| self.judged.contains(&digest)))
    }

    /// Results without a decision.
    fn results(&self, since: Moment) -> Check {
        let unseen = self.observed.iter().filter(|(_, digest)| !self.judged.contains(digest));
        let found: Vec<&(String, String)> = self.gaps.iter().chain(unseen).collect();
        let Some((tool, digest)) = found.last() else {
            if self.unread > 0 {
                let told = format!(
                    "{} of what the host told after calls could not be read; see `portcullis audit`",
                    self.unread
                );
                return Check::new("gaps", State::Untested, told);
            }
            let told = format!("no result without a decision was told since {}", day(since));
            return Check::of("gaps", true, told);
        };
        let told = format!(
            "{} ran that nothing had let run, the last `{tool}`; see `portcullis audit show {digest}`",
            counted(found.len())
        );
        Check::of("gaps", false, told)
    }

    /// Calls in the transcripts of a host that nobody judged.
    fn transcripts(&self, host: &Host, record: &Installed, since: Moment) -> Check {
        let since = lately(since).max(self.from.unwrap_or_default());
        let calls = match transcripts::read(host.name, record.home.as_deref(), since) {
            Ok(Some(calls)) => calls,
            Ok(None) => {
                let told = format!("nothing here reads the transcripts of {}", host.name);
                return Check::new("transcripts", State::Untested, told);
            }
            Err(error) => {
                return Check::new("transcripts", State::Untested, format!("{error:#}"));
            }
        };
        let missed: Vec<&Told> = calls.iter().filter(|told| !self.has_judged(told)).collect();
        match missed.last() {
            None if calls.is_empty() => {
                let told = format!("no call stands in a transcript since {}", day(since));
                Check::new("transcripts", State::Untested, told)
            }
            None => {
                let told = format!("{} of transcripts were judged", counted(calls.len()));
                Check::of("transcripts", true, told)
            }
            Some(last) => {
                let told = format!(
                    "{} of transcripts were not judged, the last `{}` at {} in `{}`",
                    counted(missed.len()),
                    last.tool,
                    last.at,
                    last.file.display()
                );
                Check::of("transcripts", false, told)
            }
        }
    }
}

/// A moment, but no longer ago than calls are looked for.
fn lately(since: Moment) -> Moment {
    since.max(Moment::from_ms(Clock::new().now().ms().saturating_sub(DAYS_MS)))
}

fn day(moment: Moment) -> String {
    moment.to_string().get(..10).unwrap_or_default().to_owned()
}

fn counted(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}
