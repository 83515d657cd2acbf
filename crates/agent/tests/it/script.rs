//! A model that says what is written down, and the desk that it works at.

use std::sync::{Arc, Mutex};

use counterfoil_agent::{Agent, AgentOptions, Conversation, Model, Parts};
use counterfoil_guard::{
    BoxFuture, FunctionExecutor, Guard, GuardOptions, SessionStart, ToolError, ToolOutput,
};
use counterfoil_model::{Effects, Tool, ToolCall, ToolErrorCategory};
use counterfoil_providers::{Piece, ProviderError, Reply, Request, Stop, Turn, Usage};
use serde_json::json;

/// Answers in their order, and the requests for them.
#[derive(Default)]
pub(crate) struct Script {
    replies: Mutex<std::collections::VecDeque<Result<Reply, ProviderError>>>,
    /// What it says before it breaks off.
    torn: Mutex<Vec<Reply>>,
    requests: Mutex<Vec<Request>>,
    pub(crate) context: u64,
}

impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        let replies = replies.into_iter().map(Ok).collect();
        Arc::new(Self { replies: Mutex::new(replies), context: 100_000, ..Self::default() })
    }

    pub(crate) fn then(&self, reply: Result<Reply, ProviderError>) {
        self.replies.lock().unwrap().push_back(reply);
    }

    /// Its next answer is this, and breaks off before its end.
    pub(crate) fn breaks_off(&self, reply: Reply) {
        self.torn.lock().unwrap().push(reply);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Script {
    fn chat<'a>(
        &'a self,
        request: &'a Request,
        on: &'a mut (dyn FnMut(Piece) + Send),
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        self.requests.lock().unwrap().push(request.clone());
        let next = self.replies.lock().unwrap().pop_front();
        let torn = self.torn.lock().unwrap().pop();
        Box::pin(async move {
            for call in torn.into_iter().flat_map(|reply| reply.calls) {
                on(Piece::Whole(call));
            }
            let reply = next.unwrap_or_else(|| {
                let why = "the script is over".to_owned();
                Err(ProviderError::Broken { name: "script".to_owned(), why })
            })?;
            on(Piece::Text(reply.text.clone()));
            for call in &reply.calls {
                on(Piece::Whole(call.clone()));
                tokio::task::yield_now().await;
            }
            Ok(reply)
        })
    }

    fn supports_tool_use(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> u64 {
        self.context
    }
}

pub(crate) fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    let calls = calls.iter().map(|(id, tool, arguments)| ToolCall::new(*id, *tool, *arguments));
    Reply { calls: calls.collect(), stop: Stop::Calls, ..Reply::default() }
}

/// A reply whose request had this many tokens.
pub(crate) fn after(tokens: u64, reply: Reply) -> Reply {
    Reply { usage: Usage { input: tokens, ..Usage::default() }, ..reply }
}

/// A shop: orders can be looked at and cancelled; order 13 cannot.
pub(crate) fn guard() -> Guard {
    let order = |name: &str, writes: bool| Tool {
        parameters: Some(json!({
            "type": "object",
            "properties": { "order": { "type": "integer" } },
            "required": ["order"],
        })),
        effects: Effects { writes: Some(writes), ..Effects::default() },
        ..Tool::named(name)
    };
    let look = |arguments: &serde_json::Value| {
        let order = &arguments["order"];
        Ok::<ToolOutput, ToolError>(format!("order {order}: two chairs, 80 EUR, open").into())
    };
    let cancel = |arguments: &serde_json::Value| match arguments["order"].as_i64() {
        Some(13) => {
            let why = "order 13 is shipped already";
            Err(ToolError::new(ToolErrorCategory::PermanentFailure, why))
        }
        order => Ok(ToolOutput::from(format!("order {} is cancelled", order.unwrap_or_default()))),
    };
    Guard::builder()
        .settings(GuardOptions::default().resolve().unwrap())
        .executor(FunctionExecutor::new(order("get_order", false), look))
        .executor(FunctionExecutor::new(order("cancel_order", true), cancel))
        .build()
        .unwrap()
}

pub(crate) fn parts(guard: &Guard, model: &Arc<Script>) -> Parts {
    Parts {
        guard: guard.clone(),
        session: guard.session(SessionStart::default()).unwrap(),
        model: Arc::clone(model) as Arc<dyn Model>,
        compresses: Arc::clone(model) as Arc<dyn Model>,
        summaries: None,
        conversation: Conversation::default(),
        introduction: "You work in a shop.".to_owned(),
        settings: AgentOptions::default(),
        caller: None,
    }
}

pub(crate) fn agent(model: &Arc<Script>) -> Agent {
    Agent::new(parts(&guard(), model)).unwrap()
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// What the model receives with a request: results, and messages that are not its own.
pub(crate) fn received(request: &Request) -> Vec<String> {
    let text = |turn: &Turn| match turn {
        Turn::User(text) | Turn::Result { text, .. } => Some(text.clone()),
        Turn::Assistant { .. } => None,
    };
    request.turns.iter().filter_map(text).collect()
}
