//! Creates a state folder to show in the dashboard, for `.ci/dashboard`. It has two days of sessions
//! of a shop's agent, true and false answers, rejections, pending approvals, texts that try to
//! trick the display, and one session with many receipts.
//!
//! `cargo run -p counterfoil-serve --example seed_ledger -- FOLDER`
#![expect(clippy::unwrap_used, reason = "what fails here is a fault of this program")]
#![expect(clippy::disallowed_methods, reason = "the folder is an argument")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    FunctionExecutor, Guard, GuardOptions, Session, SessionStart, StateFolder, Surroundings,
    ToolError,
};
use counterfoil_ledger::{Clock, SystemClock};
use counterfoil_model::{Role, Tool, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};

/// Number of sessions of the shop's agent.
const SESSIONS: u32 = 60;
/// Number of receipts in the long session.
const RECEIPTS: u32 = 10_000;

/// A clock that can be set.
#[derive(Debug)]
struct SetClock {
    wall: AtomicI64,
    own: SystemClock,
}

impl Clock for SetClock {
    fn wall(&self) -> i64 {
        self.wall.fetch_add(137, Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        self.own.monotonic()
    }
}

/// Two days, in milliseconds.
const TWO_DAYS: i64 = 48 * 3_600_000;

/// Characters that reverse the writing direction, are invisible, or have a meaning in HTML.
const TRICKS: &str = "<script>alert(1)</script> \u{202e}txt.exe\u{202c} \u{1b}[31mred\u{1b}[0m \
                      \"quoted\" & 'single' \u{200b}zero width";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).unwrap();
    std::fs::create_dir(&folder).unwrap();
    let own = SystemClock::default();
    let now = own.wall();
    let clock = Arc::new(SetClock { wall: AtomicI64::new(now - 2 * TWO_DAYS), own });
    let guard = guard(&folder, Arc::clone(&clock));
    long_session(&guard).await;
    for number in 0..SESSIONS {
        // Spread irregularly over the last two days.
        let before = i64::from(SESSIONS - number);
        let hours = before * before * before % 47;
        let at = now - hours * 3_600_000 - before * 60_000;
        clock.wall.store(at, Ordering::SeqCst);
        shop(&guard, number).await;
    }
    hostile(&guard).await;
}

fn guard(folder: &str, clock: Arc<SetClock>) -> Guard {
    let id = json!({ "type": "object", "properties": { "id": { "type": "integer" } },
                     "required": ["id"] });
    let tool = |name: &str| Tool { parameters: Some(id.clone()), ..Tool::named(name) };
    let look = FunctionExecutor::new(tool("get_order"), |arguments: &Value| {
        let id = arguments.get("id").and_then(Value::as_u64).unwrap_or_default();
        match id % 11 {
            10 => Err(ToolError::new(
                ToolErrorCategory::PermanentFailure,
                format!("there is no order {id}"),
            )),
            _ => Ok(json!({ "id": id, "state": "open", "total": "49.90 EUR",
                            "items": ["a lamp", "two bulbs"] })
            .to_string()),
        }
    });
    let cancel = FunctionExecutor::new(tool("cancel_order"), |arguments: &Value| {
        Ok::<_, ToolError>(json!({ "cancelled": arguments.get("id") }).to_string())
    });
    let refund = FunctionExecutor::new(tool("refund_payment"), |_| Ok::<_, ToolError>("refunded"))
        .asking("money leaves the shop");
    let note = FunctionExecutor::new(Tool::named("read_note"), |arguments: &Value| {
        Ok::<_, ToolError>(format!("the note {}\nand a second line", arguments["number"]))
    });
    Guard::builder()
        .state(StateFolder::at(folder))
        .clock(clock)
        .settings(GuardOptions::default().resolve().unwrap())
        .executor(look)
        .executor(cancel)
        .executor(refund)
        .executor(note)
        .build()
        .unwrap()
}

async fn long_session(guard: &Guard) {
    let start = SessionStart { id: Some("long".to_owned()), ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    for number in 0..RECEIPTS {
        call(&session, "read_note", json!({ "number": number })).await;
    }
    session.verify("I have read all the notes.").await.unwrap();
}

async fn call(session: &Session, tool: &str, arguments: Value) {
    let call = ToolCall::new("", tool, &*arguments.to_string());
    session.call(call, Surroundings::default()).await.unwrap();
}

/// Plays a customer's request; the agent's actions and answer vary with `number`.
async fn shop(guard: &Guard, number: u32) {
    let id = 4_000 + number;
    let start = SessionStart {
        id: Some(format!("shop-{number:03}")),
        model: Some(
            if number.is_multiple_of(3) { "small-model" } else { "large-model" }.to_owned(),
        ),
        ..SessionStart::default()
    };
    let session = guard.session(start).unwrap();
    let wish = format!("Please cancel order {id}, and tell me what it was.");
    session.hear(Role::User, &wish).await.unwrap();
    call(&session, "get_order", json!({ "id": id })).await;
    match number % 5 {
        0 => {
            let lie = format!(
                "I have cancelled order {id} and sent you an e-mail.\n\nThe order was a lamp and \
                 two bulbs, 49.90 EUR in total."
            );
            session.verify(&lie).await.unwrap();
        }
        1 => {
            call(&session, "delete_order", json!({ "id": id })).await;
            let answer = format!("Order {id} could not be deleted: there is no such tool.");
            session.verify(&answer).await.unwrap();
        }
        2 if number % 4 < 2 => {
            call(&session, "cancel_order", json!({ "id": id })).await;
            call(&session, "refund_payment", json!({ "id": id })).await;
            let answer = format!("I have cancelled order {id}. The refund waits for a colleague.");
            session.verify(&answer).await.unwrap();
        }
        _ => {
            call(&session, "cancel_order", json!({ "id": id })).await;
            let answer = format!(
                "I have cancelled order {id}. It was a lamp and two bulbs, 49.90 EUR in total."
            );
            session.verify(&answer).await.unwrap();
            session.end().await.unwrap();
        }
    }
}

/// Records a session whose texts must be shown only as text.
async fn hostile(guard: &Guard) {
    let start = SessionStart {
        id: Some("tricks <b>&\"\u{202e}".to_owned()),
        model: Some("<i>model</i>".to_owned()),
        ..SessionStart::default()
    };
    let session = guard.session(start).unwrap();
    session.hear(Role::User, TRICKS).await.unwrap();
    call(&session, "<img src=x onerror=alert(1)>", json!({ "text": TRICKS })).await;
    call(&session, "refund_payment", json!({ "id": 1, "note": TRICKS })).await;
    session.verify(&format!("I have cancelled the order {TRICKS}.")).await.unwrap();
}
