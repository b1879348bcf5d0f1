//! The inbox in a terminal, as a person meets it: the real binary in a real terminal (tmux) of its
//! own, a real daemon, keys pressed and screens read.
//!
//! Screens that are compared are files beside this one; ids, times and the home are shown as
//! stars. After a change on purpose, `UPDATE=1 cargo test -p portcullis-cli` writes them anew.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::house::{Home, json, of};
use crate::serve;

/// So long a screen may take to come; a machine may be slow.
const PATIENCE: Duration = Duration::from_mins(1);

/// A terminal with the inbox in it, closed when the test is over.
struct Terminal<'a> {
    home: &'a Home,
    /// tmux's own socket, so that no other server is disturbed.
    socket: String,
}

impl<'a> Terminal<'a> {
    fn open(home: &'a Home, arguments: &str) -> Terminal<'a> {
        let socket = home.0.join("tmux.sock").to_str().unwrap().to_owned();
        let terminal = Terminal { home, socket };
        let inbox = format!("{} watch {arguments}; sleep 600", env!("CARGO_BIN_EXE_portcullis"));
        let size = ["-x", "80", "-y", "24"];
        let mut words = vec!["new-session", "-d"];
        words.extend(size);
        words.push(&inbox);
        terminal.tmux(&words);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        // Without a configuration of its own, and in a language whose letters it knows.
        let mut all = vec!["-f", "/dev/null", "-u", "-S", &self.socket];
        all.extend(words);
        let mut command = self.home.command("tmux", &all);
        command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color").env_remove("TMUX");
        let said = of(&command.output().expect("tmux is installed"));
        assert_eq!(said.code, 0, "tmux {words:?}: {}", said.error);
        said.out
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// The screen once it shows this.
    fn shows(&self, text: &str) -> String {
        self.comes(text, |screen| screen.contains(text))
    }

    /// The screen once it no longer shows this.
    fn hides(&self, text: &str) -> String {
        self.comes(text, |screen| !screen.contains(text))
    }

    fn comes(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        let mut before = String::new();
        loop {
            let screen = self.screen();
            // A screen that is still being drawn differs from the one before it.
            if is_there(&screen) && screen == before {
                return screen;
            }
            before.clone_from(&screen);
            assert!(Instant::now() < end, "waiting for `{what}`:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    fn presses(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.home.command("tmux", &["-S", &self.socket, "kill-server"]).output();
    }
}

/// Whether the call that waited was allowed.
fn is_allowed(waiting: Child) -> bool {
    waiting.wait_with_output().unwrap().status.success()
}

/// Compares a screen with its file; ids, times and the home are stars.
fn compare(name: &str, screen: &str, home: &Home, ids: &[&str]) {
    let mut shown = screen.replace(home.0.to_str().unwrap(), "~~");
    for id in ids {
        shown = shown.replace(id, "******");
    }
    let is_time = |word: &str| {
        let digits = word.split_once(':').filter(|(minutes, _)| !minutes.is_empty());
        digits.is_some_and(|(a, b)| (a.to_owned() + b).bytes().all(|byte| byte.is_ascii_digit()))
    };
    let time = |word: &str| if is_time(word) { "*".repeat(word.len()) } else { word.to_owned() };
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(time).collect();
        let line = words.join(" ");
        match line.split_once("asked ") {
            Some((head, tail)) => {
                let tail = tail.split_once(',').map_or("", |(_, tail)| tail);
                format!("{head}asked *,{tail}")
            }
            None => line,
        }
    };
    let shown: String = shown.lines().map(|text| line(text).trim_end().to_owned() + "\n").collect();
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/serving/watching/{name}.txt"));
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &shown).unwrap();
    }
    let want = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(shown, want, "{name} is\n{shown}");
}

#[test]
fn without_a_terminal_the_way_out_is_named() {
    let home = Home::new();
    let said = home.says(&["watch"]);
    assert_eq!(said.code, 2);
    assert!(said.error.contains("`portcullis asks --watch`"), "{}", said.error);
}

#[test]
fn without_a_daemon_the_terminal_stays_as_it_was() {
    let daemon = serve(Home::new());
    let home = daemon.stop();
    let terminal = Terminal::open(&home, "");
    let screen = terminal.shows("start one with");
    assert!(screen.trim_start().starts_with("error:"), "{screen}");
}

#[test]
fn a_person_answers_in_the_terminal() {
    let daemon = serve(Home::new());
    let terminal = Terminal::open(&daemon.home, "");
    terminal.shows("nothing waits for you");

    let says = "looks \u{202e}harmless\u{1b}[2J";
    let (approved, _, first) =
        daemon.asking(&["call", "npm publish", "--session", "s-1", "--description", says]);
    let screen = terminal.shows("1 ask waits");
    assert!(screen.contains("looks \\u{202e}harmless\\x1b[2J"), "{screen}");
    compare("inbox", &screen, &daemon.home, &[&first]);

    // Enter and Escape decide nothing.
    terminal.presses("Enter");
    terminal.shows("all of it: 11 bytes");
    terminal.presses("Escape");
    terminal.shows("1 ask waits");
    terminal.types("a");
    compare("approve", &terminal.shows("how far?"), &daemon.home, &[&first]);
    terminal.types("o");
    terminal.shows("approved, once by anna (terminal)");
    assert!(is_allowed(approved));

    let (rejected, _, _) = daemon.asking(&["call", "npm unpublish"]);
    terminal.shows("npm unpublish");
    terminal.types("r");
    terminal.shows("Enter rejects");
    terminal.types("not on a Friday");
    terminal.shows("not on a Friday");
    terminal.presses("Enter");
    terminal.shows("rejected, once by anna");
    let said = of(&rejected.wait_with_output().unwrap());
    assert_eq!(said.code, 1);
    assert!(said.out.contains("not on a Friday"), "{}", said.out);
    terminal.shows("nothing waits for you");
    terminal.types("q");
    terminal.hides("nothing waits");
}

#[test]
fn what_could_destroy_takes_a_word() {
    let daemon = serve(Home::new());
    fs::create_dir(daemon.home.0.join("build")).unwrap();
    let terminal = Terminal::open(&daemon.home, "--no-color --bell");
    let (waiting, _, id) = daemon.asking(&["call", "npm test && sudo rm -rf build"]);
    terminal.shows("destructive");
    terminal.types("ao");
    let screen = terminal.shows("could destroy");
    compare("sure", &screen, &daemon.home, &[&id]);
    terminal.presses("Enter");
    terminal.shows("it was not approved and still waits");
    assert_eq!(json(&daemon.says(&["asks", "--json"]).out)["asks"].as_array().unwrap().len(), 1);
    terminal.types("ao");
    terminal.shows("could destroy");
    terminal.types("yes");
    terminal.shows("approved, once by anna");
    assert!(is_allowed(waiting));
}

#[test]
fn an_edited_call_shows_its_verdict_first() {
    let daemon = serve(Home::new());
    let terminal = Terminal::open(&daemon.home, "");
    let (waiting, _, id) = daemon.asking(&["call", "npm publish"]);
    terminal.shows("1 ask waits");
    terminal.types("e");
    terminal.shows("edit ");
    terminal.types(" --dry-run");
    terminal.shows("npm publish --dry-run");
    terminal.presses("Enter");
    let screen = terminal.shows("verdict   ask");
    compare("edited", &screen, &daemon.home, &[&id]);
    terminal.types("a");
    terminal.shows("approved, once by anna");
    let said = of(&waiting.wait_with_output().unwrap());
    assert!(said.out.contains("npm publish --dry-run"), "{}", said.out);
}

#[test]
fn a_rule_is_seen_before_it_is_stored() {
    let daemon = serve(Home::new());
    let terminal = Terminal::open(&daemon.home, "");
    let (waiting, _, _) = daemon.asking(&["call", "npm publish"]);
    terminal.shows("1 ask waits");
    terminal.types("a");
    terminal.shows("how far?");
    terminal.presses("Tab");
    terminal.shows("stores the rule Bash(npm publish");
    terminal.types("w");
    terminal.shows("approved, always by anna");
    assert!(is_allowed(waiting));
    let grants = daemon.says(&["grants"]).out;
    assert!(grants.contains("Bash(npm publish"), "{grants}");
    assert_eq!(daemon.says(&["call", "npm publish"]).code, 0, "and it holds");
}

#[test]
fn many_are_answered_together_and_why_is_told() {
    let daemon = serve(Home::new());
    let terminal = Terminal::open(&daemon.home, "");
    let (one, _, _) = daemon.asking(&["call", "npm install a"]);
    let (two, _, _) = daemon.asking(&["call", "npm install b"]);
    let (_other, _, _) = daemon.asking(&["call", "git push"]);
    terminal.shows("3 asks wait");
    terminal.types("t");
    terminal.shows("the ladder, from the first rung");
    terminal.presses("Escape");
    terminal.presses("Home");
    terminal.shows("> review       git push");
    terminal.types("jX");
    terminal.shows("marked: a approve");
    terminal.types("a");
    let screen = terminal.shows("approve 2 together, once");
    assert!(screen.contains("npm install a") && screen.contains("npm install b"), "{screen}");
    terminal.presses("Enter");
    terminal.types("o");
    terminal.shows("1 ask waits");
    assert!(is_allowed(one) && is_allowed(two));
}

#[test]
fn what_is_settled_elsewhere_goes_and_a_daemon_may_go_and_come() {
    let daemon = serve(Home::new());
    let home = Home(daemon.home.0.clone());
    let terminal = Terminal::open(&home, "");
    let (_one, _, first) = daemon.asking(&["call", "npm publish"]);
    let (_two, _, second) = daemon.asking(&["call", "npm unpublish"]);
    terminal.shows("2 asks wait");
    assert_eq!(daemon.says(&["reject", &first]).code, 0);
    terminal.shows(&format!("{first} rejected, once by anna (terminal)"));
    terminal.shows("1 ask waits");

    let home_again = daemon.stop();
    terminal.shows("the daemon went away; waiting for it");
    let daemon = serve(home_again);
    let screen = terminal.shows("live");
    assert!(screen.contains(&second), "what waited waits: {screen}");
    assert_eq!(daemon.says(&["reject", &second]).code, 0);
    terminal.shows("nothing waits for you");

    terminal.tmux(&["resize-window", "-x", "50", "-y", "14"]);
    let (_three, _, _) = daemon.asking(&["call", "npm deprecate x"]);
    let screen = terminal.shows("npm deprecate x");
    assert!(screen.lines().all(|line| line.chars().count() <= 50), "{screen}");
    assert_eq!(screen.lines().count(), 14, "{screen}");
    drop(terminal);
    std::mem::forget(home);
}

#[test]
fn nothing_of_a_call_reaches_the_terminal_raw() {
    let daemon = serve(Home::new());
    let log = daemon.home.0.join("log");
    // Every byte that the binary writes is kept by `script`, which is a terminal too.
    let inbox = format!("{} watch --no-color", env!("CARGO_BIN_EXE_portcullis"));
    let terminal = Terminal {
        home: &daemon.home,
        socket: daemon.home.0.join("t.sock").to_str().unwrap().to_owned(),
    };
    let kept = format!("script -q -f -c '{inbox}' {}; echo it is closed; sleep 600", log.display());
    terminal.tmux(&["new-session", "-d", "-x", "80", "-y", "24", &kept]);
    terminal.shows("nothing waits for you");
    let nasty = "npm publish \u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{200b}\u{e0041}x\r";
    let (_waiting, _, _) =
        daemon.asking(&["call", nasty, "--session", "s", "--description", "a\u{1b}[31mb\u{8}"]);
    terminal.shows("1 ask waits");
    terminal.types("f");
    terminal.shows("all of it");
    let bytes = fs::read(&log).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("owned"), "it is shown: {text}");
    for raw in [
        "\u{1b}]0;owned",
        "\u{9b}",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\u{8}",
        "\u{7}",
        "\u{1b}[31m",
    ] {
        assert!(!text.contains(raw), "{raw:?} was written");
    }
    // Nobody else would end it: its terminal is that of `script`.
    terminal.presses("Escape");
    terminal.shows("1 ask waits");
    terminal.types("q");
    terminal.shows("it is closed");
}

#[test]
fn tmux_is_there() {
    let version = Command::new("tmux").arg("-V").stdout(Stdio::null()).status();
    assert!(version.is_ok_and(|status| status.success()), "install tmux; the screens need it");
}
