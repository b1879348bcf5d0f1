//! The screen: the terminal, the feed and the answers, held together in one loop.

use std::io::{self, Write};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use portcullis_client::Client;
use portcullis_daemon::clock::Clock;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::{Terminal, backend::CrosstermBackend};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::draw::{Inks, Laid, draw};
use super::state::{Effect, Event, Inbox};
use super::{feed, keys};
use crate::escape;

/// How often the time that is left is shown anew.
const TICK: Duration = Duration::from_secs(1);

/// How the inbox behaves.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether there are colours.
    pub has_colours: bool,
    /// Whether a new ask rings the terminal's bell.
    pub rings: bool,
    /// Whether a new ask is shown as a notification of the desktop.
    pub notifies: bool,
}

/// Shows the inbox until the person ends it.
///
/// # Errors
/// The terminal cannot be used, or the daemon refuses or was never there.
pub async fn run(client: Client, manner: Manner) -> anyhow::Result<()> {
    // Nothing is drawn before it is clear that there is a daemon for this key.
    client.pending().await?;
    let (tell, mut told) = unbounded_channel();
    let mut raw = Raw::enter()?;
    let mut followed = tokio::spawn(feed::follow(client.clone(), tell.clone()));
    read_keys(tell.clone());
    let mut ends = [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    let [terminated, hung_up] = &mut ends;
    let mut tick = tokio::time::interval(TICK);
    let clock = Clock::new();
    let inks = Inks { has_colours: manner.has_colours };
    let (mut inbox, mut laid) = (Inbox::default(), Laid::default());
    loop {
        raw.terminal.draw(|frame| {
            inbox.scroll = draw(frame, &inbox, &mut laid, clock.now(), inks);
        })?;
        let event = tokio::select! {
            event = told.recv() => event,
            _ = tick.tick() => continue,
            _ = terminated.recv() => return Ok(()),
            _ = hung_up.recv() => return Ok(()),
            end = &mut followed => {
                end.context("the feed stopped")??;
                return Ok(());
            }
        };
        // What has come meanwhile is taken together, and drawn once.
        let mut next = event;
        let mut alerts = Vec::new();
        while let Some(event) = next {
            for effect in inbox.apply(event, clock.now()) {
                match effect {
                    Effect::Quit => return Ok(()),
                    Effect::Alert(text) => alerts.push(text),
                    Effect::Decide(..)
                    | Effect::Judge(..)
                    | Effect::Explain(_)
                    | Effect::Look(_) => {
                        tokio::spawn(carry_out(client.clone(), effect, tell.clone()));
                    }
                }
            }
            next = told.try_recv().ok();
        }
        alert(&alerts, manner)?;
    }
}

/// Does what takes a daemon, and tells what came of it.
async fn carry_out(client: Client, effect: Effect, tell: UnboundedSender<Event>) {
    let event = match effect {
        Effect::Decide(ask, answer) => {
            let decision = client.decide(&ask, &answer).await;
            Event::Answered(ask, decision.map_err(|error| error.to_string()))
        }
        Effect::Judge(ask, call) => {
            let verdict = client.verdict(&call).await;
            Event::Judged(ask, verdict.map_err(|error| error.to_string()))
        }
        Effect::Explain(ask) => {
            let why = client.get(&format!("/v1/asks/{ask}/explanation")).await;
            Event::Explained(ask, why.map_err(|error| error.to_string()))
        }
        Effect::Look(ask) => match client.ask(&ask, Duration::ZERO).await {
            Ok(ask) => Event::Settled(ask),
            Err(error) => Event::Told(error.to_string()),
        },
        Effect::Alert(_) | Effect::Quit => return,
    };
    // Nobody listens any more once the inbox is closed.
    let _ = tell.send(event);
}

/// Reads the terminal in a thread of its own: reading waits.
fn read_keys(tell: UnboundedSender<Event>) {
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            let event = match event {
                event::Event::Key(key) => keys::key(key).map(Event::Key),
                event::Event::Paste(text) => Some(Event::Paste(text)),
                // Drawing looks at the size each time.
                event::Event::Resize(..) => Some(Event::Resized),
                event::Event::FocusGained | event::Event::FocusLost | event::Event::Mouse(_) => {
                    None
                }
            };
            if event.is_some_and(|event| tell.send(event).is_err()) {
                return;
            }
        }
    });
}

/// Tells that asks came, in the ways that were wanted.
fn alert(alerts: &[String], manner: Manner) -> io::Result<()> {
    let Some(first) = alerts.first() else { return Ok(()) };
    if manner.rings {
        let mut out = io::stdout();
        out.write_all(b"\x07")?;
        out.flush()?;
    }
    if manner.notifies {
        let more = alerts.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let body = notification(&format!("{first}{more}"));
        let mut command = std::process::Command::new("notify-send");
        command.args(["--app-name=portcullis", "--", "Portcullis: an ask waits for you", &body]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Where there is no desktop, the inbox is still there.
        if let Ok(mut child) = command.spawn() {
            std::thread::spawn(move || child.wait());
        }
    }
    Ok(())
}

/// A text for a notification, which reads a little HTML: nothing of the call is markup there.
fn notification(text: &str) -> String {
    let line = escape::line(text.as_bytes());
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The terminal while the inbox has it; given back as it was, whatever happens.
struct Raw {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
}

impl Raw {
    fn enter() -> anyhow::Result<Raw> {
        enable_raw_mode().context("the terminal cannot be read key by key")?;
        // From here on, leaving gives everything back.
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        let raw = terminal.map(|terminal| Raw { terminal });
        let raw = raw.inspect_err(|_| leave())?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_has_no_markup_of_the_call() {
        let body = notification("review: <b>Bash</b> & \u{1b}[2J\u{202e}");
        assert_eq!(body, "review: &lt;b&gt;Bash&lt;/b&gt; &amp; \\x1b[2J\\u{202e}");
    }
}
