//! What most tests need: a guard with a few tools, a manual clock, and calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    Answer, Clock, FunctionExecutor, Guard, GuardBuilder, Randomness, RandomnessError, Session,
    SessionStart, Surroundings, ToolError,
};
use counterfoil_model::{Arguments, Effects, Origin, Tool, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};

/// A clock that advances only on request.
#[derive(Debug, Default)]
pub(crate) struct StillClock {
    wall: AtomicI64,
    monotonic: AtomicU64,
}

impl StillClock {
    pub(crate) fn at(wall: i64) -> Arc<Self> {
        Arc::new(Self { wall: AtomicI64::new(wall), monotonic: AtomicU64::new(0) })
    }

    pub(crate) fn set_wall(&self, wall: i64) {
        self.wall.store(wall, Ordering::SeqCst);
    }

    pub(crate) fn pass(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.monotonic.fetch_add(millis, Ordering::SeqCst);
        self.wall.fetch_add(i64::try_from(millis).unwrap(), Ordering::SeqCst);
    }

    pub(crate) fn pass_monotonic(&self, time: Duration) {
        self.monotonic.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for StillClock {
    fn wall(&self) -> i64 {
        self.wall.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::SeqCst))
    }
}

/// A counter, so that ids are the same in every run.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicU64);

impl Randomness for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        for byte in bytes.iter_mut() {
            *byte = 0;
        }
        let next = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        for (place, byte) in bytes.iter_mut().rev().zip(next.iter().rev()) {
            *place = *byte;
        }
        Ok(())
    }
}

/// The time at which every test starts.
pub(crate) const NOW: i64 = 1_735_999_999_123;

/// An in-memory guard with the tools of a small shop.
pub(crate) fn shop() -> GuardBuilder {
    Guard::builder()
        .clock(StillClock::at(NOW))
        .randomness(Arc::new(Counting::default()))
        .executor(look_up())
        .executor(cancel())
        .executor(broken())
}

/// A tool that reads an order.
pub(crate) fn look_up() -> FunctionExecutor {
    let tool = tool("get_order", json!({ "order_id": { "type": "string" } }), Some(false));
    FunctionExecutor::new(tool, |arguments: &Value| {
        let id = arguments["order_id"].as_str().unwrap_or_default();
        if id == "#W9" {
            return Err(ToolError::new(ToolErrorCategory::PermanentFailure, "no order #W9"));
        }
        Ok(json!({ "order_id": id, "status": "pending", "total": 42.5 }))
    })
}

/// A tool that cancels an order.
pub(crate) fn cancel() -> FunctionExecutor {
    let tool = tool("cancel_order", json!({ "order_id": { "type": "string" } }), Some(true));
    FunctionExecutor::new(tool, |arguments: &Value| {
        let id = arguments["order_id"].as_str().unwrap_or_default();
        Ok(format!("order {id} has been cancelled"))
    })
}

/// A tool that panics.
pub(crate) fn broken() -> FunctionExecutor {
    let tool = tool("break_off", json!({}), None);
    FunctionExecutor::new(tool, |_: &Value| -> Result<String, ToolError> { panic!("oh no") })
}

/// A tool whose parameters are all required.
pub(crate) fn tool(name: &str, properties: Value, writes: Option<bool>) -> Tool {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    Tool {
        parameters: Some(json!({
            "type": "object", "properties": properties, "required": required
        })),
        origin: Origin::Builtin,
        effects: Effects { writes, reads: Some(true), ..Effects::default() },
        ..Tool::named(name)
    }
}

/// A session of this id.
pub(crate) fn session(guard: &Guard, id: &str) -> Session {
    guard.session(SessionStart { id: Some(id.to_owned()), ..SessionStart::default() }).unwrap()
}

/// A call as the model writes it.
pub(crate) fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: String::new(),
        tool: tool.to_owned(),
        arguments: Arguments::raw(arguments),
        line: 0,
    }
}

/// Makes a call without special circumstances.
pub(crate) async fn run(session: &Session, tool: &str, arguments: &str) -> Answer {
    session.call(call(tool, arguments), Surroundings::default()).await.unwrap()
}

/// Runs a future to completion.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
