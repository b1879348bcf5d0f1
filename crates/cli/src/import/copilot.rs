//! Copilot CLI: its flags, in a file, one or more on a line.

use portcullis_engine::Outcome;

use super::{Fate, File, Import};

/// Reads a file of flags.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    if file.text.trim_start().starts_with('{') {
        let config = file.json()?;
        let folders = config.get("trustedFolders").or_else(|| config.get("trusted_folders"));
        for folder in folders.and_then(|folders| folders.as_array()).into_iter().flatten() {
            if let Some(folder) = folder.as_str() {
                import.directory(file, folder);
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
                flag if flag.starts_with("--allow-all") => {
                    import.unmapped(file, number + 1, flag, "it has no counterpart");
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
    let (tool, content) = match value.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (value, None),
    };
    let (became, why) = match (tool, content) {
        ("shell", None) => (vec![("Bash".to_owned(), Fate::Exact)], ""),
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

/// The words of a line, with quotes taken off.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut is_word) = (String::new(), None, false);
    for sign in line.chars() {
        match (quote, sign) {
            (None, '#') if !is_word => break,
            (None, '\'' | '"') => (quote, is_word) = (Some(sign), true),
            (Some(open), sign) if sign == open => quote = None,
            (None, sign) if sign.is_whitespace() => {
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
