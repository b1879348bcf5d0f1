//! Copilot CLI: its flags, in a file, one or more on a line.

use portcullis_engine::Outcome;

use super::{Fate, File, Import, parts};

/// What flags that speak about permissions begin with.
const SPEAKING: &[&str] =
    &["--allow", "--deny", "--dis", "--add-dir", "--available-tools", "--excluded-tools"];

/// Lists of addresses in its settings.
const ADDRESSES: &[(&str, Outcome)] = &[
    ("allowed_urls", Outcome::Allow),
    ("allowedUrls", Outcome::Allow),
    ("denied_urls", Outcome::Deny),
    ("deniedUrls", Outcome::Deny),
];

/// Reads a file of flags.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    if file.text.trim_start().starts_with('{') {
        let config = file.json()?;
        for name in ["trustedFolders", "trusted_folders"] {
            for folder in import.texts(file, name, config.get(name)) {
                import.directory(file, folder);
            }
        }
        for (name, outcome) in ADDRESSES {
            for address in import.texts(file, name, config.get(name)) {
                let (line, text) = (file.line_of(address), format!("{name}: {address}"));
                one(import, file, line, &text, &format!("url({address})"), *outcome);
            }
        }
        return Ok(());
    }
    for (number, line) in file.text.lines().enumerate() {
        let words = words(line);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (flag, joined) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            match flag {
                "--allow-tool" | "--deny-tool" | "--allow-url" | "--deny-url" => {
                    let value = joined.or_else(|| words.next().cloned()).unwrap_or_default();
                    let outcome =
                        if flag.starts_with("--allow") { Outcome::Allow } else { Outcome::Deny };
                    let value =
                        if flag.ends_with("-url") { format!("url({value})") } else { value };
                    one(import, file, number + 1, &format!("{flag} {value}"), &value, outcome);
                }
                "--yolo" | "--allow-all" | "--allow-all-tools" if import.accepts_bypass => {
                    import.setting(file, flag, "mode", "bypass".into(), Fate::Exact, "");
                }
                "--yolo" | "--allow-all" | "--allow-all-tools" => {
                    import.unmapped(file, number + 1, flag, "only with `--accept-bypass`");
                }
                flag if SPEAKING.iter().any(|known| flag.starts_with(known)) => {
                    import.unmapped(file, number + 1, word, "it has no counterpart");
                }
                flag if !flag.starts_with('-') && word.contains('(') => {
                    import.unmapped(file, number + 1, word, "no flag stands before it");
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn one(
    import: &mut Import,
    file: &File<'_>,
    line: usize,
    text: &str,
    value: &str,
    outcome: Outcome,
) {
    let (tool, content) = match parts(value) {
        Ok((tool, _)) if tool.trim().is_empty() => {
            return import.unmapped(file, line, text, "it names no tool");
        }
        Ok(parts) => parts,
        Err(why) => return import.unmapped(file, line, text, why),
    };
    let (became, why) = match (tool, content) {
        ("shell", None) => (vec![("Bash".to_owned(), Fate::Exact)], ""),
        // Only `:*` at the end stands for more there.
        ("shell", Some(content)) if content.trim_end_matches(":*").contains('*') => {
            let why = "`*` inside a command is none of its patterns";
            match outcome {
                Outcome::Allow => (Vec::new(), why),
                Outcome::Ask | Outcome::Deny => {
                    (vec![(format!("Bash({content})"), Fate::Widened)], why)
                }
            }
        }
        ("shell", Some(content)) => (vec![(format!("Bash({content})"), Fate::Exact)], ""),
        ("write", None) => (vec![("Edit|Write".to_owned(), Fate::Exact)], ""),
        ("write", Some(path)) => (vec![(format!("Edit|Write({path})"), Fate::Exact)], ""),
        ("url", Some(url)) => {
            let bare =
                url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
            let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
            let is_more = !path.is_empty() || bare != url;
            let rule = format!("WebFetch(domain:{host})");
            match (is_more, outcome) {
                (false, _) => (vec![(rule, Fate::Exact)], ""),
                // A scheme or a path cannot be said: a denial covers the whole host.
                (true, Outcome::Deny | Outcome::Ask) => {
                    (vec![(rule, Fate::Widened)], "it covers the whole host")
                }
                (true, Outcome::Allow) => {
                    let why = "a scheme or path cannot be said; it asks now";
                    let became = vec![(rule, Fate::Downgraded)];
                    return import.rule(file, line, text, Outcome::Ask, became, why);
                }
            }
        }
        (server, None) => (vec![(format!("mcp__{server}__*"), Fate::Exact)], ""),
        (server, Some(tool)) => (vec![(format!("mcp__{server}__{tool}"), Fate::Exact)], ""),
    };
    import.rule(file, line, text, outcome, became, why);
}

/// The words of a line, with quotes taken off; blanks in parentheses part nothing.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_word) = (String::new(), None, false);
    let mut depth = 0_usize;
    for sign in line.chars() {
        match sign {
            '(' if quote.is_none() => depth += 1,
            ')' if quote.is_none() => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (quote, sign) {
            (None, '#') if !is_word => break,
            (None, '\'' | '"') => (quote, is_word) = (Some(sign), true),
            (Some(open), sign) if sign == open => quote = None,
            (None, sign) if sign.is_whitespace() && depth == 0 => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (_, sign) => {
                word.push(sign);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}
