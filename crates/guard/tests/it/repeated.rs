//! Repetition without progress, across the processes of a session.

use counterfoil_guard::{FunctionExecutor, Guard, GuardOptions, Session, ToolError};
use counterfoil_model::Tool;
use serde_json::{Value, json};

use crate::desk::{run, session, wait};

/// A streak is counted to its beginning, however many events of the ledger that takes.
#[test]
fn a_continued_session_knows_how_long_a_streak_is() {
    let options = json!({ "tools": { "fixation": { "streak": 2, "window": 3 } } });
    let options: GuardOptions = serde_json::from_value(options).unwrap();
    let tool = Tool { parameters: Some(json!({ "type": "object" })), ..Tool::named("look") };
    let look = FunctionExecutor::new(tool, |at: &Value| Ok::<_, ToolError>(at.to_string()));
    let guard =
        Guard::builder().executor(look).settings(options.resolve().unwrap()).build().unwrap();
    let look = |session: &Session, at: usize| {
        wait(run(session, "look", &json!({ "at": at }).to_string())).nudge.unwrap_or_default()
    };
    let first = session(&guard, "s");
    for at in 1..=60 {
        look(&first, at);
    }
    drop(first);
    let nudge = look(&session(&guard, "s"), 61);
    assert!(nudge.starts_with("You have called `look` 61 times in a row"), "{nudge}");
}
