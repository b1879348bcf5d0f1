//! The scripted model: it asks for one shell call, and ends when it hears of the result.
//!
//! It is stateless: a request that holds the call's id is about its result, one that offers the
//! tool is the beginning, and everything else (titles, counts, lists) gets the least that is an
//! answer. It listens on 127.0.0.1 alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use serde_json::{Value, json};

/// The id of the call.
const CALL: &str = "call_portcullis_live_1";

/// The longest request that is read.
const MOST_BYTES: usize = 64 << 20;

/// What the model asks for.
#[derive(Clone, Debug)]
pub struct Script {
    /// The host's name for its shell.
    pub tool: &'static str,
    /// What it is called with.
    pub input: Value,
}

/// A model that runs until the process ends.
pub struct Model {
    /// Its port on loopback.
    pub port: u16,
    played: Arc<Mutex<Played>>,
}

/// What is played, and what was said about it.
struct Played {
    script: Script,
    heard: String,
}

impl Model {
    /// Starts a model with this script.
    ///
    /// # Errors
    /// There is no port.
    pub fn start(script: Script) -> anyhow::Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port on loopback")?;
        let port = listener.local_addr()?.port();
        let played = Arc::new(Mutex::new(Played { script, heard: String::new() }));
        let kept = Arc::clone(&played);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || drop(serve(stream, &kept)));
            }
        });
        Ok(Model { port, played })
    }

    /// Plays another script from now on, and forgets what was heard.
    pub fn play(&self, script: Script) {
        *self.played.lock().unwrap_or_else(PoisonError::into_inner) =
            Played { script, heard: String::new() };
    }

    /// Whether a request about the result held this text.
    #[must_use]
    pub fn heard(&self, text: &str) -> bool {
        self.played.lock().unwrap_or_else(PoisonError::into_inner).heard.contains(text)
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, played: &Mutex<Played>) -> anyhow::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let body = body(&mut reader)?;
        let body = String::from_utf8_lossy(&body).into_owned();
        let (kind, answer) = answer(&path, &body, played);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            answer.len()
        );
        writer.write_all(head.as_bytes())?;
        writer.write_all(answer.as_bytes())?;
        writer.flush()?;
    }
}

fn body(reader: &mut BufReader<TcpStream>) -> anyhow::Result<Vec<u8>> {
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        is_chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
    }
    anyhow::ensure!(length <= MOST_BYTES, "too much");
    if !is_chunked {
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        return Ok(body);
    }
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim().split(';').next().unwrap_or("0"), 16)?;
        anyhow::ensure!(size + body.len() <= MOST_BYTES, "too much");
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        chunk.truncate(size);
        body.extend(chunk);
        if size == 0 {
            return Ok(body);
        }
    }
}

/// What is asked for in one turn.
enum Turn {
    Call,
    Words(&'static str),
}

fn answer(path: &str, body: &str, played: &Mutex<Played>) -> (&'static str, String) {
    let mut played = played.lock().unwrap_or_else(PoisonError::into_inner);
    let script = played.script.clone();
    let script = &script;
    // Gemini's protocol names no call; its result is known by its shape.
    let is_result = body.contains(CALL) || body.contains("\"functionResponse\"");
    let turn = if is_result {
        played.heard.push_str(body);
        Turn::Words("done")
    } else if body.contains("\"tools\"") && body.contains(&format!("\"{}\"", script.tool)) {
        Turn::Call
    } else {
        Turn::Words("ok")
    };
    let whole: Value = serde_json::from_str(body).unwrap_or_default();
    let streams = whole.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let route = path.split('?').next().unwrap_or(path);
    if route.ends_with("/count_tokens") || route.ends_with(":countTokens") {
        return json_of(&json!({ "input_tokens": 10, "totalTokens": 10 }));
    }
    if route.ends_with("/messages") {
        return anthropic(&turn, script, streams);
    }
    if route.ends_with("/responses") {
        return responses(&turn, script);
    }
    if route.ends_with("/chat/completions") {
        return completions(&turn, script, streams);
    }
    if route.contains("enerateContent") {
        return gemini(&turn, script, route.contains("stream"));
    }
    let model =
        json!({ "id": "scripted", "object": "model", "owned_by": "test", "name": "scripted" });
    json_of(&json!({ "object": "list", "data": [model], "models": [] }))
}

fn json_of(value: &Value) -> (&'static str, String) {
    ("application/json", value.to_string())
}

fn events(all: &[(&str, Value)]) -> (&'static str, String) {
    let event = |(name, data): &(&str, Value)| {
        let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
        format!("{name}data: {data}\n\n")
    };
    ("text/event-stream", all.iter().map(event).collect())
}

fn anthropic(turn: &Turn, script: &Script, streams: bool) -> (&'static str, String) {
    let (block, start, delta, stop) = match turn {
        Turn::Call => (
            json!({ "type": "tool_use", "id": CALL, "name": script.tool, "input": script.input }),
            json!({ "type": "tool_use", "id": CALL, "name": script.tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": script.input.to_string() }),
            "tool_use",
        ),
        Turn::Words(words) => (
            json!({ "type": "text", "text": words }),
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": words }),
            "end_turn",
        ),
    };
    let usage = json!({ "input_tokens": 10, "output_tokens": 10 });
    let message = |content: Value, stop: Value| {
        json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
            "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage })
    };
    if !streams {
        return json_of(&message(json!([block]), stop.into()));
    }
    let begun = json!({ "type": "message_start", "message": message(json!([]), Value::Null) });
    let ended = json!({ "type": "message_delta", "usage": { "output_tokens": 10 },
        "delta": { "stop_reason": stop, "stop_sequence": null } });
    events(&[
        ("message_start", begun),
        (
            "content_block_start",
            json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        ),
        (
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        ),
        ("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })),
        ("message_delta", ended),
        ("message_stop", json!({ "type": "message_stop" })),
    ])
}

fn responses(turn: &Turn, script: &Script) -> (&'static str, String) {
    let item = match turn {
        Turn::Call => json!({ "type": "function_call", "id": "fc_1", "call_id": CALL,
            "name": script.tool, "arguments": script.input.to_string(), "status": "completed" }),
        Turn::Words(words) => json!({ "type": "message", "id": "msg_1", "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": words, "annotations": [] }] }),
    };
    let usage = json!({ "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 20 });
    let response = |status: &str| {
        json!({ "id": "resp_1", "object": "response", "status": status, "model": "scripted",
            "output": [item], "usage": usage })
    };
    events(&[
        (
            "response.created",
            json!({ "type": "response.created", "response": response("in_progress") }),
        ),
        (
            "response.output_item.done",
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        ),
        (
            "response.completed",
            json!({ "type": "response.completed", "response": response("completed") }),
        ),
    ])
}

fn completions(turn: &Turn, script: &Script, streams: bool) -> (&'static str, String) {
    let call = json!({ "index": 0, "id": CALL, "type": "function",
        "function": { "name": script.tool, "arguments": script.input.to_string() } });
    let (message, stop) = match turn {
        Turn::Call => {
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        Turn::Words(words) => (json!({ "role": "assistant", "content": words }), "stop"),
    };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 });
    let whole = |object: &str, choice: Value| {
        json!({ "id": "c_1", "object": object, "created": 1, "model": "scripted",
            "choices": [choice], "usage": usage })
    };
    if !streams {
        let choice = json!({ "index": 0, "message": message, "finish_reason": stop });
        return json_of(&whole("chat.completion", choice));
    }
    let first = json!({ "index": 0, "delta": message, "finish_reason": null });
    let last = json!({ "index": 0, "delta": {}, "finish_reason": stop });
    let (kind, mut text) = events(&[
        ("", whole("chat.completion.chunk", first)),
        ("", whole("chat.completion.chunk", last)),
    ]);
    text.push_str("data: [DONE]\n\n");
    (kind, text)
}

fn gemini(turn: &Turn, script: &Script, streams: bool) -> (&'static str, String) {
    let part = match turn {
        Turn::Call => json!({ "functionCall": { "name": script.tool, "args": script.input } }),
        Turn::Words(words) => json!({ "text": words }),
    };
    let whole = json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20 },
        "modelVersion": "scripted",
    });
    if streams { events(&[("", whole)]) } else { json_of(&whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_asked_for_the_call_once() {
        let script = Script { tool: "Bash", input: json!({ "command": "touch x" }) };
        let played = Mutex::new(Played { script, heard: String::new() });
        let offer = r#"{"stream":true,"tools":[{"name":"Bash"}]}"#;
        for path in [
            "/v1/messages?beta=true",
            "/v1/responses",
            "/v1/chat/completions",
            "/v1beta/models/m:streamGenerateContent?alt=sse",
        ] {
            let (kind, text) = answer(path, offer, &played);
            assert_eq!(kind, "text/event-stream", "{path}");
            assert!(text.contains("touch x"), "{path}: {text}");
            let (_, text) = answer(path, r#"{"stream":true}"#, &played);
            assert!(!text.contains("touch x"), "{path}: no tool is offered");
        }
        let told = format!(
            r#"{{"stream":true,"tools":[{{"name":"Bash"}}],"id":"{CALL}","said":"denied"}}"#
        );
        let (_, text) = answer("/v1/messages", &told, &played);
        assert!(!text.contains("touch x") && played.lock().unwrap().heard.contains("denied"));
    }
}
