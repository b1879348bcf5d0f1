//! The configuration: one file, not merged; what it does not say has a default.

mod fault;

use std::net::SocketAddr;

use serde::Deserialize;

pub use fault::ConfigError;

/// Where the daemon listens unless it is told otherwise: GATE on a telephone.
pub const LISTEN: &str = "127.0.0.1:4283";

/// Everything a configuration file can say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The address of the main listener.
    pub listen: SocketAddr,
    /// Whether a proxy in front of it does TLS: then another address than loopback may be used.
    pub behind_proxy: bool,
    /// Names accepted in `Host` besides the listener's own.
    pub host_names: Vec<String>,
    /// The same for `Origin`.
    pub origins: Vec<String>,
    /// Where the store lies; in the data directory where empty.
    pub store: String,
    /// The certificate, if the daemon does TLS itself.
    pub tls: Option<Tls>,
    /// Where traces are sent, if anywhere.
    pub otlp: Option<Otlp>,
    /// How much agents may ask.
    pub limits: Limits,
    /// How long things are kept.
    pub retention: Retention,
    /// The dialects.
    pub dialects: Dialects,
}

/// A certificate and its key, in files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate chain, PEM.
    pub cert: String,
    /// The private key, PEM.
    pub key: String,
}

/// Where traces are sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otlp {
    /// The address of the collector.
    pub endpoint: String,
}

/// How much agents may ask.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Asks of one agent that may be pending.
    pub pending_asks_per_agent: usize,
    /// New asks of one agent in a minute.
    pub asks_per_minute_per_agent: u32,
    /// Calls of one agent in a second; 0 for any number.
    pub calls_per_second_per_agent: u32,
}

/// How long things are kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days.
    pub days: u64,
    /// Megabytes of the whole store.
    pub megabytes: u64,
}

/// The dialects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialects {
    /// Agentbot.
    pub agentbot: Agentbot,
    /// `AgentScope`.
    pub agentscope: Dialect,
    /// Multica.
    pub multica: Multica,
    /// Comma.
    pub comma: Comma,
}

/// What every dialect has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// Whether it is spoken.
    pub on: bool,
    /// A listener of its own.
    pub listen: String,
    /// Whether a local process without a key is an approver.
    pub loopback_without_key: bool,
}

/// Agentbot's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the file")]
pub struct Agentbot {
    /// Whether it is spoken.
    pub on: bool,
    /// A listener of its own.
    pub listen: String,
    /// Whether a local process without a key is an approver.
    pub loopback_without_key: bool,
    /// Whether a plain GET is safe.
    pub plain_get_is_safe: bool,
    /// Whether its read tools are always safe.
    pub reads_are_safe: bool,
    /// How long its asks wait.
    pub deadline_s: u64,
}

/// Multica's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Multica {
    /// Whether it is spoken.
    pub on: bool,
    /// A listener of its own.
    pub listen: String,
    /// Whether a local process without a key is an approver.
    pub loopback_without_key: bool,
    /// Where its profiles lie.
    pub profiles: String,
    /// Whether a question waits although no client is there.
    pub wait_without_client: bool,
    /// `once` or `always`.
    pub reverify: String,
}

/// Comma's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Comma {
    /// Whether it is spoken.
    pub on: bool,
    /// A listener of its own.
    pub listen: String,
    /// Whether a local process without a key is an approver.
    pub loopback_without_key: bool,
    /// How long after a run was made it is announced.
    pub run_prepared_delay_ms: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 4283)),
            behind_proxy: false,
            host_names: Vec::new(),
            origins: Vec::new(),
            store: String::new(),
            tls: None,
            otlp: None,
            limits: Limits::default(),
            retention: Retention::default(),
            dialects: Dialects::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pending_asks_per_agent: 200,
            asks_per_minute_per_agent: 120,
            calls_per_second_per_agent: 0,
        }
    }
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 90, megabytes: 2048 }
    }
}

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect { on: true, listen: String::new(), loopback_without_key: false }
    }
}

impl Default for Agentbot {
    fn default() -> Agentbot {
        Agentbot {
            on: true,
            listen: String::new(),
            loopback_without_key: false,
            plain_get_is_safe: true,
            reads_are_safe: true,
            deadline_s: 1800,
        }
    }
}

impl Default for Multica {
    fn default() -> Multica {
        Multica {
            on: true,
            listen: String::new(),
            loopback_without_key: false,
            profiles: "~/.super-multica/agent-profiles".to_owned(),
            wait_without_client: false,
            reverify: "once".to_owned(),
        }
    }
}

impl Default for Comma {
    fn default() -> Comma {
        Comma {
            on: true,
            listen: String::new(),
            loopback_without_key: false,
            run_prepared_delay_ms: 150,
        }
    }
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// It says something that is not understood or not allowed.
    pub fn read(text: &str) -> Result<Config, ConfigError> {
        let config: Config =
            toml::from_str(text).map_err(|error| ConfigError::of_toml(&error, text))?;
        config.check().map_err(|error| error.in_text(text))?;
        Ok(config)
    }

    /// Whether it asks for nothing that must not be.
    ///
    /// # Errors
    /// It does; the message says what, and the way out.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |message: String| Err(ConfigError::new(message));
        self.otlp.as_ref().map_or(Ok(()), crate::traces::check)?;
        let listeners = [
            ("listen", self.listen.to_string()),
            ("dialects.agentbot.listen", self.dialects.agentbot.listen.clone()),
            ("dialects.agentscope.listen", self.dialects.agentscope.listen.clone()),
            ("dialects.multica.listen", self.dialects.multica.listen.clone()),
            ("dialects.comma.listen", self.dialects.comma.listen.clone()),
        ];
        for (key, listen) in listeners.iter().filter(|(_, listen)| !listen.is_empty()) {
            let Ok(address) = listen.parse::<SocketAddr>() else {
                return wrong(format!("`{key}`: `{listen}` is no address; use `127.0.0.1:3001`"));
            };
            if !address.ip().is_loopback() && !self.behind_proxy && self.tls.is_none() {
                return wrong(format!(
                    "`{key}`: `{listen}` can be reached from outside; name a certificate in `[tls]`, \
                     set `behind_proxy = true` if a proxy does TLS, or listen on 127.0.0.1"
                ));
            }
        }
        let Dialects { agentbot, agentscope, multica, comma } = &self.dialects;
        let waived = [
            ("agentbot", agentbot.loopback_without_key, &agentbot.listen),
            ("agentscope", agentscope.loopback_without_key, &agentscope.listen),
            ("multica", multica.loopback_without_key, &multica.listen),
            ("comma", comma.loopback_without_key, &comma.listen),
        ];
        for (dialect, _, own) in waived.iter().filter(|(_, is_waived, _)| *is_waived) {
            let own_address = own.parse::<SocketAddr>();
            let is_open = own_address.is_ok_and(|address| !address.ip().is_loopback());
            if is_open || !self.listen.ip().is_loopback() || self.behind_proxy {
                return wrong(format!(
                    "`dialects.{dialect}.loopback_without_key` works on loopback only"
                ));
            }
        }
        if !matches!(self.dialects.multica.reverify.as_str(), "once" | "always") {
            return wrong("`dialects.multica.reverify` is `once` or `always`".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    #[test]
    fn what_is_not_said_has_a_default_and_what_is_unknown_is_refused() {
        assert_eq!(Config::read("").unwrap().listen.to_string(), super::LISTEN);
        #[rustfmt::skip]
        let cases = [
            ("listen = \"0.0.0.0:80\"",                       "can be reached from outside"),
            ("listen = \"0.0.0.0:80\"\nbehind_proxy = true",  ""),
            ("listen = \"0.0.0.0:80\"\n[tls]\ncert = \"c\"\nkey = \"k\"", ""),
            ("[tls]\ncert = \"c\"",                            "missing field `key`"),
            ("[otlp]\nendpoint = \"http://127.0.0.1:4318\"",   ""),
            ("[otlp]\nendpoint = \"https://far.example\"",     "does not begin with `http://`"),
            ("lisen = \"127.0.0.1:1\"",                       "unknown key `lisen`; did you mean `listen`?"),
            ("[limits]\nrate = 1",                            "unknown key `rate`; known here are `pending_asks_per_agent`, "),
            ("[limits]\npending_asks_per_agent = -1",         "`pending_asks_per_agent` cannot be -1"),
            ("[limits]\npending_asks_per_agent = \"x\"",      "`pending_asks_per_agent` must be a whole number, not a text"),
            ("behind_proxy = 1",                              "`behind_proxy` must be true or false, not a whole number"),
            ("origins = \"x\"",                               "`origins` must be a list, not a text"),
            ("limits = 3",                                    "`limits` must be a table, not a whole number"),
            ("listen = ",                                     "string values must be quoted"),
            ("[dialects.agentbot]\nlisten = \"3001\"",        "is no address"),
            ("[dialects.comma]\nloopback_without_key = true", ""),
            ("behind_proxy = true\n[dialects.agentbot]\nloopback_without_key = true\nlisten = \"0.0.0.0:3001\"", "loopback only"),
            ("behind_proxy = true\n[dialects.comma]\nloopback_without_key = true", "loopback only"),
        ];
        for (text, want) in cases {
            let got = Config::read(text).err().map_or_else(String::new, |error| error.to_string());
            assert!(got.contains(want) && got.is_empty() == want.is_empty(), "`{text}`: {got}");
        }
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        #[rustfmt::skip]
        let cases = [
            ("# x\nlisten = \"0.0.0.0:80\" # y\n",            "listen = \"0.0.0.0:80\" # y"),
            ("[limits]\n  pending = 3\n",                      "pending"),
            ("[limits]\npending_asks_per_agent = true\n",      "true"),
            ("listen = \"127.0.0.1:1\"\n[dialects.agentbot]\nlisten = \"3001\"\n", "listen = \"3001\""),
            ("[dialects.multica]\nreverify = \"never\"",      "reverify = \"never\""),
        ];
        for (text, want) in cases {
            let span = Config::read(text).unwrap_err().span.unwrap();
            assert_eq!(text.get(span), Some(want), "`{text}`");
        }
    }
}
