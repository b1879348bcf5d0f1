//! A profile's file: its `execApproval` object, and how an entry is added to its allowlist.
//!
//! Everything that is not changed is kept to the byte.

use portcullis_engine::policy_text::{AskWhen, Fallback, Listed, Security};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json;

/// The shortest and the longest time a request may wait, in milliseconds.
const TIMES: std::ops::RangeInclusive<i64> = 1000..=86_400_000;

/// What a profile says about commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `security`.
    pub security: Security,
    /// `ask`.
    pub ask: AskWhen,
    /// `timeoutMs`; 0 for no limit.
    pub timeout_ms: u64,
    /// `askFallback`.
    pub fallback: Fallback,
    /// `allowlist`.
    pub allowlist: Vec<Listed>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            security: Security::Allowlist,
            ask: AskWhen::OnMiss,
            timeout_ms: 60_000,
            fallback: Fallback::Deny,
            allowlist: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads a profile's file; none where it has no `execApproval`.
    ///
    /// # Errors
    /// It says something that is not understood; the sentence names the field.
    pub fn read(text: &str) -> Result<Option<Settings>, String> {
        let file = json::value(text)?;
        let Value::Object(members) = file else {
            return Err("the file is no JSON object".to_owned());
        };
        let object = match members.get("execApproval") {
            None => return Ok(None),
            Some(Value::Object(object)) => object,
            Some(_) => return Err("`execApproval` is no object".to_owned()),
        };
        let mut settings = Settings::default();
        for (name, value) in object {
            match name.as_str() {
                "security" => {
                    settings.security = one_of(
                        name,
                        value,
                        &[
                            ("deny", Security::Deny),
                            ("allowlist", Security::Allowlist),
                            ("full", Security::Full),
                        ],
                    )?;
                }
                "ask" => {
                    settings.ask = one_of(
                        name,
                        value,
                        &[
                            ("off", AskWhen::Off),
                            ("on-miss", AskWhen::OnMiss),
                            ("always", AskWhen::Always),
                        ],
                    )?;
                }
                "askFallback" => {
                    settings.fallback = one_of(
                        name,
                        value,
                        &[
                            ("deny", Fallback::Deny),
                            ("allowlist", Fallback::AllowCovered),
                            ("full", Fallback::Allow),
                        ],
                    )?;
                }
                "timeoutMs" => settings.timeout_ms = time(value)?,
                "allowlist" => settings.allowlist = entries(value)?,
                // What another version may know decides nothing here.
                _ => {}
            }
        }
        Ok(Some(settings))
    }

    /// Whether it lets something through that nobody looked at: worth a warning.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.security == Security::Full || self.fallback == Fallback::Allow
    }
}

fn one_of<T: Copy>(name: &str, value: &Value, words: &[(&str, T)]) -> Result<T, String> {
    let found = value.as_str().and_then(|word| words.iter().find(|(known, _)| *known == word));
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("`execApproval.{name}` is {value}; use one of {}", known.join(", "))
    })
}

fn time(value: &Value) -> Result<u64, String> {
    match value.as_i64() {
        Some(-1) => Ok(0),
        Some(ms) if TIMES.contains(&ms) => Ok(u64::try_from(ms).unwrap_or_default()),
        _ => Err(format!(
            "`execApproval.timeoutMs` is {value}; use 1000 to 86400000, or -1 for no limit"
        )),
    }
}

fn entries(value: &Value) -> Result<Vec<Listed>, String> {
    let wrong = |at: usize| format!("`execApproval.allowlist[{at}]` needs a `pattern`");
    let Value::Array(items) = value else {
        return Err("`execApproval.allowlist` is no list".to_owned());
    };
    let entry = |(at, item): (usize, &Value)| {
        let pattern = item.get("pattern").and_then(Value::as_str).ok_or_else(|| wrong(at))?;
        let is_exact = match item.get("exact") {
            None => false,
            Some(Value::Bool(is_exact)) => *is_exact,
            Some(_) => return Err(format!("`execApproval.allowlist[{at}].exact` is no boolean")),
        };
        Ok(Listed { pattern: pattern.trim().to_owned(), is_exact })
    };
    items.iter().enumerate().map(entry).collect()
}

/// Members of an object, in order and to the byte.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl Members {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.get())
    }

    fn set(&mut self, name: &str, text: String) {
        let Ok(raw) = RawValue::from_string(text) else { return };
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = raw,
            None => self.0.push((name.to_owned(), raw)),
        }
    }

    fn text(&self, indent: &str) -> String {
        let member = |(name, value): &(String, Box<RawValue>)| {
            format!("{indent}  {}: {}", Value::from(name.as_str()), value.get())
        };
        let members: Vec<String> = self.0.iter().map(member).collect();
        format!("{{\n{}\n{indent}}}", members.join(",\n"))
    }
}

/// What happens to the allowlist of a file.
#[derive(Clone, Debug)]
pub enum Change<'a> {
    /// These entries are added, each with an id, unless they are there.
    Add(&'a [(String, Listed)]),
    /// These entries let a command pass at a moment.
    Used(&'a [Listed], i64, &'a str),
}

/// The file with its allowlist changed; none where nothing is different.
///
/// # Errors
/// It is no profile.
pub fn changed(text: &str, change: &Change<'_>) -> Result<Option<String>, String> {
    Settings::read(text)?;
    let read = |text: &str| -> Result<Members, String> {
        serde_json::from_str(text).map_err(|error| json::message(&error))
    };
    let mut file = read(text)?;
    let mut object = read(file.get("execApproval").unwrap_or("{}"))?;
    let list = object.get("allowlist").unwrap_or("[]");
    let mut list: Vec<Box<RawValue>> =
        serde_json::from_str(list).map_err(|error| json::message(&error))?;
    let known = entries(&serde_json::to_value(&list).map_err(|error| error.to_string())?)?;
    let mut is_changed = false;
    match change {
        Change::Add(added) => {
            for (id, entry) in *added {
                let is_known = known.iter().any(|known| is_same(known, entry));
                if is_known || entry.pattern.is_empty() {
                    continue;
                }
                let mut item = serde_json::json!({ "pattern": entry.pattern, "id": id });
                if let Some(members) = item.as_object_mut().filter(|_| entry.is_exact) {
                    members.insert("exact".to_owned(), true.into());
                }
                list.extend(RawValue::from_string(item.to_string()));
                is_changed = true;
            }
        }
        Change::Used(used, at, command) => {
            for (item, entry) in list.iter_mut().zip(&known) {
                if used.iter().any(|used| used == entry) {
                    let mut members = read(item.get())?;
                    members.set("lastUsedAt", at.to_string());
                    members.set("lastUsedCommand", Value::from(*command).to_string());
                    if let Ok(raw) = RawValue::from_string(members.text("      ")) {
                        *item = raw;
                        is_changed = true;
                    }
                }
            }
        }
    }
    if !is_changed {
        return Ok(None);
    }
    let items: Vec<String> = list.iter().map(|item| format!("      {}", item.get())).collect();
    object.set("allowlist", format!("[\n{}\n    ]", items.join(",\n")));
    file.set("execApproval", object.text("  "));
    Ok(Some(format!("{}\n", file.text(""))))
}

/// Whether two entries say the same; letter case does not matter.
fn is_same(one: &Listed, other: &Listed) -> bool {
    one.is_exact == other.is_exact
        && one.pattern.trim().to_lowercase() == other.pattern.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{Change, Settings, changed};
    use portcullis_engine::policy_text::{AskWhen, Fallback, Listed, Security};

    #[test]
    fn defaults_hold_and_what_is_not_understood_is_refused() {
        assert_eq!(Settings::read("{}").unwrap(), None);
        let read = Settings::read(r#"{"execApproval":{}}"#).unwrap();
        assert_eq!(read, Some(Settings::default()));
        let full = r#"{"name":"x","execApproval":{"security":"full","ask":"off","timeoutMs":-1,
            "askFallback":"allowlist","allowlist":[{"pattern":" git ** "},{"pattern":"a","exact":true}]}}"#;
        let read = Settings::read(full).unwrap().unwrap();
        assert_eq!((read.security, read.ask, read.timeout_ms), (Security::Full, AskWhen::Off, 0));
        assert_eq!(read.fallback, Fallback::AllowCovered);
        assert_eq!(read.allowlist[0], Listed { pattern: "git **".to_owned(), is_exact: false });
        #[rustfmt::skip]
        let cases = [
            ("[]",                                               "the file is no JSON object"),
            (r#"{"execApproval":[]}"#,                           "`execApproval` is no object"),
            (r#"{"execApproval":{"security":"open"}}"#,          "`execApproval.security` is \"open\"; use one of deny, allowlist, full"),
            (r#"{"execApproval":{"ask":true}}"#,                 "`execApproval.ask` is true; use one of off, on-miss, always"),
            (r#"{"execApproval":{"askFallback":"allow"}}"#,      "`execApproval.askFallback` is \"allow\"; use one of deny, allowlist, full"),
            (r#"{"execApproval":{"timeoutMs":999}}"#,            "`execApproval.timeoutMs` is 999; use 1000 to 86400000, or -1 for no limit"),
            (r#"{"execApproval":{"timeoutMs":1000.5}}"#,         "`execApproval.timeoutMs` is 1000.5; use 1000 to 86400000, or -1 for no limit"),
            (r#"{"execApproval":{"allowlist":{}}}"#,             "`execApproval.allowlist` is no list"),
            (r#"{"execApproval":{"allowlist":["git"]}}"#,        "`execApproval.allowlist[0]` needs a `pattern`"),
            (r#"{"execApproval":{"allowlist":[{"pattern":"a","exact":1}]}}"#, "`execApproval.allowlist[0].exact` is no boolean"),
        ];
        for (text, want) in cases {
            assert_eq!(Settings::read(text).unwrap_err(), want, "`{text}`");
        }
    }

    #[test]
    fn an_entry_is_added_once_and_everything_else_is_kept() {
        let text = r#"{"model": {"b": 1e400, "a": 12345678901234567890}, "execApproval": {"note": [1,  2], "allowlist": [{"pattern": "Git **", "mine": 1.0}]}}"#;
        let entry = |pattern: &str| Listed { pattern: pattern.to_owned(), is_exact: false };
        let added = [
            ("i1".to_owned(), entry("git **")),
            ("i2".to_owned(), entry("rm **")),
            ("i3".to_owned(), Listed { is_exact: true, ..entry("sudo x") }),
        ];
        // Numbers that no reader of ours could hold stay as they are.
        let text = text.replace("1e400", "1e300");
        let now = changed(&text, &Change::Add(&added)).unwrap().unwrap();
        for kept in [
            r#""model": {"b": 1e300, "a": 12345678901234567890}"#,
            r#""note": [1,  2]"#,
            r#"{"pattern": "Git **", "mine": 1.0}"#,
            r#"{"id":"i2","pattern":"rm **"}"#,
            r#"{"exact":true,"id":"i3","pattern":"sudo x"}"#,
        ] {
            assert!(now.contains(kept), "{now}");
        }
        assert!(!now.contains("i1"), "letter case does not matter");
        assert_eq!(changed(&now, &Change::Add(&added)).unwrap(), None);
        let used = changed(&now, &Change::Used(&[entry("rm **")], 7, "rm \"a\"")).unwrap().unwrap();
        assert!(used.contains("\"lastUsedAt\": 7") && used.contains(r#""rm \"a\"""#), "{used}");
        assert_eq!(Settings::read(&used).unwrap().unwrap().allowlist.len(), 3);
    }
}
