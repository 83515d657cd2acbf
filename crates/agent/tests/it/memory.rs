use std::sync::Arc;

use counterfoil_agent::{Memory, NoteOrigin, Store};
use counterfoil_guard::{
    BoxFuture, Embedder, EmbedderError, SessionStart, Surroundings, SystemClock,
};
use counterfoil_model::{Status, ToolCall};
use serde_json::{Value, json};

use crate::script::{guard, wait};

/// Knows two meanings: of doors, and of anything else.
struct Doors;

impl Embedder for Doors {
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        let of = |text: &String| {
            let door = text.contains("door") || text.contains("entrance");
            vec![if door { 1.0 } else { 0.1 }, if door { 0.1 } else { 1.0 }]
        };
        Box::pin(std::future::ready(Ok(texts.iter().map(of).collect())))
    }
}

#[test]
fn notes_are_found_by_words_and_by_meaning_and_say_where_they_are_from() {
    let store = Arc::new(Store::in_memory().unwrap());
    let clock = Arc::new(SystemClock::default());
    let guard = guard();
    let session = guard.session(SessionStart::default()).unwrap();
    for tool in Memory::new(store, clock, Some(Arc::new(Doors))).tools(session.id()) {
        guard.register(tool).unwrap();
    }
    let call = |tool: &str, arguments: Value| {
        let call = ToolCall::new("", tool, arguments.to_string());
        wait(session.call(call, Surroundings::default())).unwrap()
    };
    for text in ["The door is green.", "The meeting is on Monday."] {
        assert_eq!(call("memory_save", json!({ "text": text })).status, Status::Completed);
    }
    for (query, found) in [
        ("green", "The door is green."),
        ("entrance", "The door is green."),
        ("meeting", "The meeting is on Monday."),
    ] {
        let answer = call("memory_search", json!({ "query": query }));
        let first = &answer.structured.unwrap()["notes"][0];
        assert_eq!((&first["text"], &first["origin"]), (&json!(found), &json!("agent")), "{query}");
    }
    for (tool, arguments) in [
        ("memory_save", json!({ "text": "" })),
        ("memory_save", json!({ "note": "x" })),
        ("memory_search", json!({ "query": "x", "limit": 0 })),
    ] {
        assert_eq!(call(tool, arguments).status, Status::Refused);
    }
    let long = call("memory_save", json!({ "text": "x".repeat(8193) }));
    assert_eq!(long.status, Status::Failed, "{}", long.text);
}

/// Anybody who can open the file can read what is kept for later conversations.
#[test]
#[expect(clippy::disallowed_methods, reason = "reads the files of the store")]
fn no_secret_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.sqlite");
    let secret = ["ghp_", "0123456789abcdefghijABCDEFGHIJ456789"].concat();
    let store = Arc::new(Store::open(&file).unwrap());
    let memory = Memory::new(store, Arc::new(SystemClock::default()), None);
    wait(memory.save(&format!("The token is {secret}."), "s", NoteOrigin::Agent)).unwrap();
    let found = memory.store().search("token", None, 1).unwrap();
    let kept = serde_json::to_string(&found).unwrap();
    assert!(kept.contains("The token is") && !kept.contains(&secret), "{kept}");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
}
