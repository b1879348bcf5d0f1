//! `portcullis store`: the shared memory, checked and moved. Opens the store itself, daemon or not.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use portcullis_approval::Owners;
use portcullis_store::{AskFilter, Progress, Store as Memory};
use serde_json::json;

use crate::ancestors;
use crate::commands::{REFUSED, audit};
use crate::data_dir::{DataDir, checking_key, open_store, without_password};
use crate::palette::Palette;
use crate::reach::block_on;

/// So many asks are read at once.
const PAGE: usize = 1000;

/// How often the progress is shown.
const SHOWN: Duration = Duration::from_millis(200);

/// How many characters wide the bar is.
const WIDTH: u64 = 30;

/// How far a move has come, drawn in one line of a terminal that is drawn over.
struct Bar {
    is_watched: bool,
    drawn: Option<Instant>,
}

impl Bar {
    const fn new(is_watched: bool) -> Bar {
        Bar { is_watched, drawn: None }
    }

    fn show(&mut self, progress: &Progress) {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() > SHOWN);
        if self.is_watched && (is_due || progress.rows >= progress.of) {
            self.drawn = Some(Instant::now());
            draw(&format!("\r\x1b[K{}", bar(progress)));
        }
    }

    /// Takes it away.
    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw("\r\x1b[K");
        }
    }
}

/// What cannot be shown is only not seen.
fn draw(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn bar(progress: &Progress) -> String {
    let Progress { is_check, table, rows, of } = *progress;
    let word = if is_check { "checking" } else { "moving" };
    // Rows may come while it is under way.
    let of = of.max(rows);
    let part = |whole: u64| (rows.saturating_mul(whole)).checked_div(of).unwrap_or(whole);
    let (full, percent) = (part(WIDTH), part(100));
    let [full, rest] = [full, WIDTH - full].map(|width| usize::try_from(width).unwrap_or(0));
    format!(
        "{word:<8} [{}{}] {percent:>3} %  {rows} of {of} rows, {table}",
        "#".repeat(full),
        ".".repeat(rest)
    )
}

/// Checks and moves the store.
#[derive(Args)]
pub struct Store {
    /// Where the store lies.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY", global = true)]
    data_dir: Option<PathBuf>,
    /// The public key that signed the audit, 64 hexadecimal digits in a file; that of the data
    /// directory if not given.
    #[arg(long, value_name = "FILE", global = true)]
    public_key: Option<PathBuf>,
    /// Shows JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

/// What to do.
#[derive(Subcommand)]
enum Action {
    /// Checks that the store answers, that its counts are right and its chain is whole: 0 it is,
    /// 1 it is not.
    Check {
        /// The store: `sqlite:FILE` or `postgres://…`.
        #[arg(long, env = "PORTCULLIS_STORE", value_name = "ADDRESS")]
        store: Option<String>,
    },
    /// Moves everything into an empty store, and proves that it arrived. Stop the daemons first:
    /// what they write meanwhile stays behind.
    Migrate {
        /// The store to read: `sqlite:FILE` or `postgres://…`.
        #[arg(long, value_name = "ADDRESS")]
        from: String,
        /// The store to fill.
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
}

impl Store {
    /// Checks or moves.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        block_on(async {
            match &self.action {
                Action::Check { store } => {
                    let data = DataDir::find(self.data_dir.as_deref())?;
                    let store = data.store(store.as_deref().unwrap_or("")).await?;
                    let done = self.check(out, &*store, palette).await;
                    store.close().await;
                    done
                }
                Action::Migrate { from, to } => {
                    ancestors::refuse_agents("moving the store")?;
                    self.migrate(out, from, to, palette).await
                }
            }
        })
    }

    /// How the audit is checked. A store may be looked at from where its key is not.
    fn how(&self, palette: Palette) -> anyhow::Result<audit::verify::How<'_>> {
        let found = checking_key(self.public_key.as_deref(), self.data_dir.as_deref());
        let public = if self.public_key.is_some() { Some(found?) } else { found.ok() };
        Ok(audit::verify::How { public, kept: None, as_json: self.json, palette })
    }

    async fn check(
        &self,
        out: &mut impl Write,
        store: &dyn Memory,
        palette: Palette,
    ) -> anyhow::Result<ExitCode> {
        store.ready().await.context("the store cannot be read and written")?;
        let counted = store.pending_count().await?;
        let mut filter = AskFilter::pending(Owners::All, PAGE);
        let mut pending = 0_u64;
        loop {
            let page = store.asks(&filter).await?;
            pending += u64::try_from(page.len())?;
            match page.last() {
                Some(last) if page.len() == PAGE => filter.after = Some(last.ask.id),
                _ => break,
            }
        }
        if counted != pending {
            writeln!(out, "{pending} asks are pending, and {counted} are counted")?;
            return Ok(ExitCode::from(REFUSED));
        }
        if !self.json {
            writeln!(out, "the store answers; {pending} asks are pending")?;
        }
        audit::verify::store(out, store, self.how(palette)?).await
    }

    async fn migrate(
        &self,
        out: &mut impl Write,
        from: &str,
        to: &str,
        palette: Palette,
    ) -> anyhow::Result<ExitCode> {
        ensure!(from != to, "both stores are the same; name another one with `--to`");
        for address in [from, to] {
            open_store(address).await?.close().await;
        }
        let mut bar = Bar::new(std::io::stderr().is_terminal());
        let moved = portcullis_store::copy(from, to, |progress| bar.show(&progress)).await;
        bar.clear();
        let moved = moved.map_err(|error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            anyhow::anyhow!(cause.unwrap_or_else(|| error.to_string()))
        })?;
        let rows: u64 = moved.iter().map(|(_, rows)| rows).sum();
        if self.json {
            let tables: serde_json::Map<_, _> =
                moved.iter().map(|(table, rows)| ((*table).to_owned(), json!(rows))).collect();
            writeln!(out, "{}", json!({ "rows": rows, "tables": tables }))?;
        } else {
            for (table, rows) in moved.iter().filter(|(_, rows)| *rows > 0) {
                writeln!(out, "{table:<12} {rows} rows, read again and the same")?;
            }
            writeln!(out, "moved {rows} rows to {}", without_password(to))?;
        }
        let store = open_store(to).await?;
        let done = audit::verify::store(out, &*store, self.how(palette)?).await;
        store.close().await;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_from_nothing_to_all() {
        #[rustfmt::skip]
        let cases = [
            (false, 0,  90, "moving   [..............................]   0 %  0 of 90 rows, audit"),
            (false, 45, 90, "moving   [###############...............]  50 %  45 of 90 rows, audit"),
            (true,  90, 90, "checking [##############################] 100 %  90 of 90 rows, audit"),
            
            (true,  0,  0,  "checking [##############################] 100 %  0 of 0 rows, audit"),
            (false, 99, 90, "moving   [##############################] 100 %  99 of 99 rows, audit"),
        ];
        for (is_check, rows, of, want) in cases {
            assert_eq!(bar(&Progress { is_check, table: "audit", rows, of }), want);
        }
    }
}
