//! The approver tool of Claude's headless runs: an MCP server with one tool, which answers a
//! permission prompt by policy or by a person.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_hook::OWN_NAME;
use portcullis_hook::answer::reason;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData as McpError, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ProxyError;
use crate::gate::{Act, First, Gate, Names, Ruling};

/// The one tool.
const TOOL: &str = "approve";

/// The server.
#[derive(Clone)]
pub struct Approver(Arc<Inner>);

struct Inner {
    gate: Gate,
    session: String,
    cwd: Option<String>,
    count: AtomicU64,
    names: Mutex<Names>,
}

impl Approver {
    /// A server for one conversation.
    #[must_use]
    pub fn new(gate: Gate, session: String, cwd: Option<String>) -> Approver {
        let names = Mutex::default();
        Approver(Arc::new(Inner { gate, session, cwd, count: AtomicU64::new(0), names }))
    }

    /// Serves until the client ends.
    ///
    /// # Errors
    /// The conversation could not be begun.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ProxyError> {
        let begun = self.serve_streams(input, output).await;
        let running = begun.map_err(std::io::Error::other)?;
        running.waiting().await.map_err(std::io::Error::other)?;
        Ok(())
    }

    async fn serve_streams(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<
        rmcp::service::RunningService<RoleServer, Approver>,
        impl std::error::Error + Send + Sync,
    > {
        ServiceExt::serve(self, (input, output)).await
    }

    /// The document that answers a prompt.
    async fn answer(&self, arguments: Option<Value>) -> Value {
        let denied = |message: String| json!({ "behavior": "deny", "message": message });
        let asked = arguments.unwrap_or_default();
        let text = |name: &str| asked.get(name).and_then(Value::as_str);
        let (Some(tool), Some(input)) = (text("tool_name"), asked.get("input")) else {
            return denied(reason("the prompt names no tool or no input", "HOOK_BAD_INPUT"));
        };
        let inner = &self.0;
        let count = inner.count.fetch_add(1, Ordering::Relaxed);
        let own = format!("{OWN_NAME}{}-{count}", inner.session);
        let is_new =
            |name: &&str| inner.names.lock().unwrap_or_else(PoisonError::into_inner).take(name);
        let act = Act {
            tool: tool.to_owned(),
            input: input.to_string(),
            host: Some("claude".to_owned()),
            cwd: inner.cwd.clone(),
            session: inner.session.clone(),
            call_id: text("tool_use_id").filter(is_new).map_or(own, str::to_owned),
            slot: "claude/mcp-approver".to_owned(),
            description: None,
        };
        let ruling = match inner.gate.first(&act).await {
            First::Ruled(ruling) => ruling,
            First::Asked(_) => inner.gate.wait(&act, |_| {}).await,
        };
        match ruling {
            Ruling::Deny(message) => denied(message),
            Ruling::Allow { input: None, .. } => {
                json!({ "behavior": "allow", "updatedInput": input })
            }
            Ruling::Allow { input: Some(edited), .. } => {
                match serde_json::from_str::<Value>(&edited) {
                    Ok(edited) => json!({ "behavior": "allow", "updatedInput": edited }),
                    Err(_) => denied(reason("the approver's edit is not JSON", "EDITED")),
                }
            }
        }
    }
}

impl ServerHandler for Approver {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("portcullis", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, McpError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "tool_name": { "type": "string" },
                "input": { "type": "object" },
                "tool_use_id": { "type": "string" },
            },
            "required": ["tool_name", "input"],
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let about = "Answers a permission prompt by policy, or asks a person.";
        let mut tools = ListToolsResult::default();
        tools.tools.push(Tool::new(TOOL, about, Arc::new(schema)));
        Ok(tools)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != TOOL {
            return Err(McpError::invalid_params("no such tool", None));
        }
        let answer = self.answer(request.arguments.map(Value::Object)).await;
        let mut said = CallToolResult::success(vec![ContentBlock::text(answer.to_string())]);
        said.is_error = None;
        Ok(said.into())
    }
}
