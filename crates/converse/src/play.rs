//! Playing a conversation: step by step, until one goes otherwise.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::link::{Answer, Came, Request, Socket, send};
use crate::pattern::{Values, fill, fill_text, fit, text_of};
use crate::step::Line;
use crate::{Conversation, Fault};

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long an answer is given that must not come yet.
const GRACE: Duration = Duration::from_millis(100);

/// How often a request is repeated that must fit eventually.
const AGAIN: Duration = Duration::from_millis(50);

/// Against what a conversation is played.
#[derive(Debug, Default)]
pub struct Stage {
    /// The daemon: `host:port`.
    pub address: String,
    /// Values by name: keys, other addresses. `dir` is a new directory where it is absent.
    pub values: BTreeMap<String, String>,
}

/// Plays a conversation. `restart` brings the daemon down and up and says where it is then.
///
/// # Errors
/// A step goes otherwise; the fault names it, what was wanted and what came.
pub async fn play(
    conversation: &Conversation,
    stage: Stage,
    restart: impl AsyncFnMut() -> Result<String, String>,
) -> Result<(), Fault> {
    let fault =
        |line: usize, message: String| Fault { file: conversation.file.clone(), line, message };
    let mut player = Player::new(stage, restart).map_err(|message| fault(1, message))?;
    for (line, step) in &conversation.steps {
        player.take(step).await.map_err(|message| fault(*line, message))?;
    }
    Ok(())
}

struct Player<R> {
    address: String,
    values: Values,
    sockets: HashMap<String, Socket>,
    waiting: HashMap<String, JoinHandle<Result<Answer, String>>>,
    restart: R,
    _own: Option<TempDir>,
}

impl<R: AsyncFnMut() -> Result<String, String>> Player<R> {
    fn new(stage: Stage, restart: R) -> Result<Player<R>, String> {
        let Stage { address, values } = stage;
        let mut values: Values =
            values.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        values.insert("mib".to_owned(), "x".repeat(1 << 20).into());
        let mut own = None;
        if !values.contains_key("dir") {
            let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
            let real = directory.path().canonicalize().map_err(|error| error.to_string())?;
            values.insert("dir".to_owned(), real.to_string_lossy().into());
            own = Some(directory);
        }
        let (sockets, waiting) = (HashMap::new(), HashMap::new());
        Ok(Player { address, values, sockets, waiting, restart, _own: own })
    }

    async fn take(&mut self, step: &Line) -> Result<(), String> {
        if let Some(path) = &step.connect {
            return self.connect(step, path).await;
        }
        if let Some(request) = &step.http {
            return self.request(step, request).await;
        }
        if let Some(name) = &step.waits {
            tokio::time::sleep(GRACE).await;
            return match self.waiting.get(name) {
                Some(task) if !task.is_finished() => Ok(()),
                Some(_) => {
                    let answer = self.answer(name).await?;
                    Err(format!("`{name}` must still wait, and got {answer:?}"))
                }
                None => Err(format!("no request `{name}` was left waiting")),
            };
        }
        if let Some(name) = &step.done {
            let answer = self.answer(name).await?;
            return self.held(step, &answer).map_err(|fault| format!("`{name}`: {fault}"));
        }
        if let Some(name) = &step.answered {
            return self.answer(name).await.map(drop);
        }
        if step.restart {
            self.sockets.clear();
            self.address = (self.restart)().await?;
            return Ok(());
        }
        if let Some(ms) = step.sleep_ms {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            return Ok(());
        }
        if let Some(path) = &step.read {
            return self.read(step, path).await;
        }
        if step.write.is_some() || step.link.is_some() || step.directory.is_some() {
            return self.on_disk(step);
        }
        self.on_socket(step).await
    }

    fn address_of(&self, at: Option<&String>) -> Result<String, String> {
        match at {
            None => Ok(self.address.clone()),
            Some(name) => fill_text(&format!("${{{name}}}"), &self.values),
        }
    }

    fn headers(&self, step: &Line) -> Result<BTreeMap<String, String>, String> {
        let mut headers = BTreeMap::new();
        for (name, value) in &step.headers {
            headers.insert(name.clone(), fill_text(value, &self.values)?);
        }
        if let Some(key) = &step.key {
            let key = fill_text(key, &self.values)?;
            headers.insert("Authorization".to_owned(), format!("Bearer {key}"));
        }
        Ok(headers)
    }

    async fn connect(&mut self, step: &Line, path: &str) -> Result<(), String> {
        let path = fill_text(path, &self.values)?;
        let address = self.address_of(step.at.as_ref())?;
        let headers = self.headers(step)?;
        let opened = Socket::open(&address, &path, &headers);
        let opened = tokio::time::timeout(PATIENCE, opened).await;
        match (opened.map_err(|_| format!("connect `{path}`: no answer"))??, step.refused) {
            (Ok(socket), None) => {
                self.sockets.insert(name_of(step).to_owned(), socket);
                Ok(())
            }
            (Err(status), Some(want)) if status == want => Ok(()),
            (Ok(_), Some(want)) => Err(format!("connect: wanted {want}, and was let in")),
            (Err(status), None) => Err(format!("connect: refused with {status}")),
            (Err(status), Some(want)) => Err(format!("connect: wanted {want}, came {status}")),
        }
    }

    async fn request(&mut self, step: &Line, request: &str) -> Result<(), String> {
        let request = fill_text(request, &self.values)?;
        let (method, path) =
            request.split_once(' ').ok_or("`http` is a method, a blank and a path")?;
        let body = match &step.body {
            None => String::new(),
            Some(body) => text_of(&fill(body, &self.values)?),
        };
        let request = Request {
            address: self.address_of(step.at.as_ref())?,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: self.headers(step)?,
            body,
        };
        if let Some(name) = &step.later {
            let task = tokio::spawn(async move { send(&request).await });
            self.waiting.insert(name.clone(), task);
            return Ok(());
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = tokio::time::timeout(PATIENCE, send(&request)).await;
            let answer = answer.map_err(|_| "no answer came in time".to_owned())??;
            match self.held(step, &answer) {
                Err(_) if step.eventually && Instant::now() < end => {
                    tokio::time::sleep(AGAIN).await;
                }
                held => return held,
            }
        }
    }

    /// The answer of a request that was left waiting.
    async fn answer(&mut self, name: &str) -> Result<Answer, String> {
        let task = self.waiting.remove(name);
        let task = task.ok_or_else(|| format!("no request `{name}` was left waiting"))?;
        let answer = tokio::time::timeout(PATIENCE, task).await;
        let answer = answer.map_err(|_| format!("`{name}` still waits"))?;
        answer.map_err(|error| error.to_string())?
    }

    /// Holds an answer against what a step wants of it.
    fn held(&mut self, step: &Line, (status, body): &Answer) -> Result<(), String> {
        let want = step.status.unwrap_or(200);
        if *status != want {
            return Err(format!("wanted the status {want}, came {status}: {body}"));
        }
        match &step.expect {
            None => Ok(()),
            Some(want) => fit(want, body, &mut self.values)
                .map_err(|fault| format!("{fault}\n  the whole answer: {body}")),
        }
    }

    /// Holds a file against what a step wants of it.
    async fn read(&mut self, step: &Line, path: &str) -> Result<(), String> {
        let path =
            PathBuf::from(fill_text("${dir}", &self.values)?).join(fill_text(path, &self.values)?);
        let end = Instant::now() + PATIENCE;
        loop {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let came = serde_json::from_str(&text).unwrap_or(Value::String(text));
            match fit(step.expect.as_ref().unwrap_or(&came), &came, &mut self.values) {
                Err(_) if step.eventually && Instant::now() < end => {
                    tokio::time::sleep(AGAIN).await;
                }
                held => return held,
            }
        }
    }

    fn on_disk(&self, step: &Line) -> Result<(), String> {
        let dir = fill_text("${dir}", &self.values)?;
        let below = |path: &str| -> Result<PathBuf, String> {
            let path = fill_text(path, &self.values)?;
            let whole = PathBuf::from(&dir).join(&path);
            if whole.starts_with(&dir) && !path.contains("..") {
                Ok(whole)
            } else {
                Err(format!("`{path}` is not below `${{dir}}`"))
            }
        };
        let done = if let Some(path) = &step.write {
            let path = below(path)?;
            let text = fill_text(step.text.as_deref().unwrap_or_default(), &self.values)?;
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(path, text))
        } else if let Some(path) = &step.link {
            let to = fill_text(step.to.as_deref().ok_or("`link` needs `to`")?, &self.values)?;
            std::os::unix::fs::symlink(to, below(path)?)
        } else {
            std::fs::create_dir_all(below(step.directory.as_deref().unwrap_or_default())?)
        };
        done.map_err(|error| error.to_string())
    }

    async fn on_socket(&mut self, step: &Line) -> Result<(), String> {
        let name = name_of(step).to_owned();
        if step.disconnect {
            let socket = self.sockets.remove(&name);
            socket.ok_or_else(|| format!("no connection `{name}` is open"))?.close().await;
            return Ok(());
        }
        let socket = self.sockets.get_mut(&name);
        let socket = socket.ok_or_else(|| format!("no connection `{name}` is open"))?;
        if let Some(value) = &step.send {
            return socket.say(text_of(&fill(value, &self.values)?)).await;
        }
        if let Some(value) = &step.send_bytes {
            return socket.say_bytes(text_of(&fill(value, &self.values)?).into_bytes()).await;
        }
        if let Some(ms) = step.expect_none {
            return match socket.next(Duration::from_millis(ms)).await {
                Came::Nothing => Ok(()),
                came @ (Came::Frame(_) | Came::Closed(_)) => {
                    Err(format!("on `{name}`: wanted nothing, came {}", shown(&came)))
                }
            };
        }
        if let Some(want) = step.expect_close {
            return loop {
                match socket.next(PATIENCE).await {
                    Came::Frame(_) if step.skipping => {}
                    Came::Closed(Some(code)) if code == want => break Ok(()),
                    came @ (Came::Frame(_) | Came::Closed(_) | Came::Nothing) => {
                        let came = shown(&came);
                        break Err(format!("on `{name}`: wanted the close {want}, came {came}"));
                    }
                }
            };
        }
        let Some(want) = &step.expect else { return Err("this is no step".to_owned()) };
        let mut passed = Vec::new();
        loop {
            let came = socket.next(PATIENCE).await;
            let Came::Frame(frame) = &came else {
                let passed = if passed.is_empty() {
                    String::new()
                } else {
                    format!("; passed over {passed:?}")
                };
                return Err(format!("on `{name}`: wanted {want}, came {}{passed}", shown(&came)));
            };
            match fit(want, frame, &mut self.values) {
                Ok(()) => return Ok(()),
                Err(_) if step.skipping => passed.push(frame.to_string()),
                Err(fault) => {
                    return Err(format!("on `{name}`: {fault}\n  the whole frame: {frame}"));
                }
            }
        }
    }
}

fn name_of(step: &Line) -> &str {
    step.on.as_deref().unwrap_or("client")
}

fn shown(came: &Came) -> String {
    match came {
        Came::Frame(frame) => frame.to_string(),
        Came::Closed(Some(code)) => format!("the close {code}"),
        Came::Closed(None) => "the end of the connection".to_owned(),
        Came::Nothing => "nothing".to_owned(),
    }
}
