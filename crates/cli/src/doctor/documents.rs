//! Canary calls in the words of every host.

use serde_json::{Value, json};

/// A shell call of a host; `id` makes it a call of its own.
pub fn shell(host: &str, command: &str, cwd: &str, id: &str) -> Value {
    let session = format!("portcullis-doctor-{id}");
    match host {
        "codex" => json!({
            "session_id": session, "turn_id": id, "transcript_path": null, "cwd": cwd,
            "hook_event_name": "PreToolUse", "model": "doctor", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id,
        }),
        "gemini" => json!({
            "session_id": session, "transcript_path": "/dev/null", "cwd": cwd,
            "hook_event_name": "BeforeTool", "timestamp": "2026-01-01T00:00:00.000Z",
            "tool_name": "run_shell_command", "tool_input": { "command": command },
        }),
        "qwen" => json!({
            "session_id": session, "transcript_path": "/dev/null", "cwd": cwd,
            "hook_event_name": "PreToolUse", "timestamp": "2026-01-01T00:00:00.000Z",
            "permission_mode": "default", "tool_name": "run_shell_command",
            "tool_input": { "command": command, "is_background": false },
            "tool_use_id": id, "tool_call_id": id,
        }),
        "copilot" => json!({
            "sessionId": session, "timestamp": 1, "cwd": cwd, "toolName": "bash",
            "toolArgs": { "command": command },
        }),
        "opencode" => json!({
            "hook_event_name": "tool.execute.before", "tool_name": "bash",
            "tool_input": { "command": command }, "session_id": session, "call_id": id,
            "cwd": cwd, "raw_input": {},
        }),
        "cursor" => json!({
            "conversation_id": session, "generation_id": id, "model": "doctor",
            "hook_event_name": "beforeShellExecution", "cursor_version": "0",
            "workspace_roots": [cwd], "command": command, "cwd": cwd,
        }),
        "agentbot" => json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "pre_tool_use",
            "agent_name": "doctor", "tool_name": "shell", "tool_use_id": id,
            "tool_input": { "cmd": command, "cwd": "." }, "tool_category": "shell",
            "tool_read_only": false,
        }),
        "amp" => json!({ "cmd": command }),
        "windsurf" => json!({
            "agent_action_name": "pre_run_command", "trajectory_id": session, "execution_id": id,
            "timestamp": "2026-01-01T00:00:00Z",
            "tool_info": { "command_line": command, "cwd": cwd },
        }),
        "kiro" => json!({
            "hook_event_name": "preToolUse", "cwd": cwd, "tool_name": "execute_bash",
            "tool_input": { "command": command },
        }),
        "cline" => json!({
            "clineVersion": "0", "hookName": "PreToolUse", "timestamp": "1", "taskId": session,
            "workspaceRoots": [cwd], "userId": "doctor",
            "preToolUse": { "toolName": "execute_command", "parameters": { "command": command } },
        }),
        // Claude Code, and Droid, which speaks like it.
        _ => json!({
            "session_id": session, "transcript_path": "/dev/null", "cwd": cwd,
            "permission_mode": "default", "hook_event_name": "PreToolUse",
            "tool_name": if host == "droid" { "Execute" } else { "Bash" },
            "tool_input": { "command": command }, "tool_use_id": id,
        }),
    }
}

/// The same call by a tool that nobody knows.
pub fn unknown_tool(host: &str, cwd: &str, id: &str) -> Option<Value> {
    let mut document = shell(host, "true", cwd, id);
    let name = match host {
        "copilot" => "/toolName",
        "cline" => "/preToolUse/toolName",
        "cursor" | "windsurf" | "amp" => return None,
        _ => "/tool_name",
    };
    *document.pointer_mut(name)? = "portcullis_canary_tool".into();
    Some(document)
}
