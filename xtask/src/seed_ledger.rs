//! `cargo xtask seed-ledger`: a state folder to show in the dashboard. It has two days of sessions
//! of a shop's agent, true and false answers, rejections, pending approvals, texts that try to
//! trick the display, and one session with many receipts.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use counterfoil_guard::{
    FunctionExecutor, Guard, GuardOptions, Session, SessionStart, StateFolder, Surroundings,
    ToolError,
};
use counterfoil_ledger::{Clock, Draft, Said, SystemClock};
use counterfoil_model::{Digest, ExecutionId, Role, Tool, ToolCall, ToolErrorCategory};
use serde_json::{Value, json};

use crate::receipts::{closed, opened};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The state folder, which must not exist yet.
    #[arg(long)]
    folder: PathBuf,
    /// Number of sessions of the shop's agent.
    #[arg(long, default_value_t = 60)]
    sessions: u32,
    /// Number of receipts in the long session.
    #[arg(long, default_value_t = 10_000)]
    receipts: u32,
}

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

pub(crate) fn run(options: &Options) -> Result<()> {
    std::fs::create_dir(&options.folder).context("the folder must not be there yet")?;
    let own = SystemClock::default();
    let now = own.wall();
    let clock = Arc::new(SetClock { wall: AtomicI64::new(now - 2 * TWO_DAYS), own });
    let guard = guard(options, Arc::clone(&clock))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        long_session(&guard, options.receipts).await?;
        for number in 0..options.sessions {
            // Spread irregularly over the last two days.
            let before = i64::from(options.sessions - number);
            let hours = before * before * before % 47;
            let at = now - hours * 3_600_000 - before * 60_000;
            clock.wall.store(at, Ordering::SeqCst);
            shop(&guard, number).await?;
        }
        hostile(&guard).await
    })
}

fn guard(options: &Options, clock: Arc<SetClock>) -> Result<Guard> {
    let id = json!({ "type": "object", "properties": { "id": { "type": "integer" } },
                     "required": ["id"] });
    let tool = |name: &str| Tool { parameters: Some(id.clone()), ..Tool::named(name) };
    let look = FunctionExecutor::new(tool("get_order"), |arguments: &Value| {
        let id = arguments.get("id").and_then(Value::as_u64).unwrap_or_default();
        match id % 11 {
            10 => Err(ToolError::of(
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
    let settings = GuardOptions::default().resolve()?;
    let guard = Guard::builder()
        .state(StateFolder::at(&options.folder))
        .clock(clock)
        .settings(settings)
        .executor(look)
        .executor(cancel)
        .executor(refund)
        .build()?;
    Ok(guard)
}

async fn long_session(guard: &Guard, receipts: u32) -> Result<()> {
    let ledger = guard.ledger();
    for number in 0..receipts {
        let id = ExecutionId::format("read_file", 1_735_000_000_000 + u64::from(number), number);
        let mut begun = opened(&id);
        begun.arguments = json!({ "path": format!("notes/{number}.md"), "lines": [1, 20] }).into();
        let result = format!("what read_file gave, the {number}th time\nand a second line");
        drop(ledger.open_execution("long", begun, None));
        let end = Draft::Closed(closed(&id, Digest::of_bytes(result.as_bytes())));
        let written = ledger.append("long", end, vec![result.into_bytes()]);
        if number % 500 == 499 {
            written.await?;
        }
    }
    let text = b"I have read all the notes.".to_vec();
    let said = Said {
        role: Role::Assistant,
        caller_id: None,
        text: Digest::of_bytes(&text),
        at: 1_736_000_000_000,
    };
    ledger.append("long", Draft::Said(said), vec![text]).await?;
    Ok(())
}

async fn call(session: &Session, tool: &str, arguments: Value) -> Result<()> {
    let call = ToolCall::new("", tool, &*arguments.to_string());
    session.call(call, Surroundings::default()).await?;
    Ok(())
}

/// Plays a customer's request; the agent's actions and answer vary with `number`.
async fn shop(guard: &Guard, number: u32) -> Result<()> {
    let id = 4_000 + number;
    let start = SessionStart {
        id: Some(format!("shop-{number:03}")),
        model: Some(
            if number.is_multiple_of(3) { "small-model" } else { "large-model" }.to_owned(),
        ),
        ..SessionStart::default()
    };
    let session = guard.session(start)?;
    let wish = format!("Please cancel order {id}, and tell me what it was.");
    session.hear(Role::User, &wish).await?;
    call(&session, "get_order", json!({ "id": id })).await?;
    match number % 5 {
        0 => {
            let lie = format!(
                "I have cancelled order {id} and sent you an e-mail.\n\nThe order was a lamp and \
                 two bulbs, 49.90 EUR in total."
            );
            session.verify(&lie).await?;
        }
        1 => {
            call(&session, "delete_order", json!({ "id": id })).await?;
            let said = format!("Order {id} could not be deleted: there is no such tool.");
            session.verify(&said).await?;
        }
        2 if number % 4 < 2 => {
            call(&session, "cancel_order", json!({ "id": id })).await?;
            call(&session, "refund_payment", json!({ "id": id })).await?;
            let said = format!("I have cancelled order {id}. The refund waits for a colleague.");
            session.verify(&said).await?;
        }
        _ => {
            call(&session, "cancel_order", json!({ "id": id })).await?;
            let said = format!(
                "I have cancelled order {id}. It was a lamp and two bulbs, 49.90 EUR in total."
            );
            session.verify(&said).await?;
            session.end().await?;
        }
    }
    Ok(())
}

/// Records a session whose texts must be shown only as text.
async fn hostile(guard: &Guard) -> Result<()> {
    let start = SessionStart {
        id: Some("tricks <b>&\"\u{202e}".to_owned()),
        model: Some("<i>model</i>".to_owned()),
        ..SessionStart::default()
    };
    let session = guard.session(start)?;
    session.hear(Role::User, TRICKS).await?;
    call(&session, "<img src=x onerror=alert(1)>", json!({ "text": TRICKS })).await?;
    call(&session, "refund_payment", json!({ "id": 1, "note": TRICKS })).await?;
    session.verify(&format!("I have cancelled the order {TRICKS}.")).await?;
    Ok(())
}
