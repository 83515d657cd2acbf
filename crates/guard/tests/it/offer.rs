//! Which tools are shown for a request, and why.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_guard::{
    BoxFuture, Embedder, EmbedderError, FunctionExecutor, Guard, GuardOptions, InclusionReason,
    Offer, Session, ToolError,
};
use counterfoil_model::{Role, Status, Tool};
use serde_json::{Value, json};

use crate::desk::{run, session, wait};
use crate::words_embedder::words;
use InclusionReason::{
    AlwaysOn, DependencyMet, NameMentioned, NoEmbedding, PreferenceBoost, Referenced,
    ShortDescription, SimilarityRank,
};

/// The tools of a shop, with descriptions.
const TOOLS: [(&str, &str); 7] = [
    ("get_weather", "Tells the weather forecast of a city"),
    ("cancel_order", "Cancels an order of a customer"),
    ("find_order", "Finds orders of a customer by name or date"),
    ("pay_invoice", "Pays an open invoice"),
    ("play_music", "Plays a song or an album in the room"),
    ("memory_search", "Searches what was remembered of earlier sessions"),
    ("zap", ""),
];

fn guard(options: Value, embedder: Option<Arc<dyn Embedder>>) -> Guard {
    let options: GuardOptions = serde_json::from_value(options).unwrap();
    let mut builder = Guard::builder().settings(options.resolve().unwrap());
    for (name, description) in TOOLS {
        let tool = Tool { description: description.to_owned(), ..Tool::named(name) };
        builder =
            builder.executor(FunctionExecutor::new(tool, |_: &Value| Ok::<_, ToolError>("done")));
    }
    if let Some(embedder) = embedder {
        builder = builder.embedder(embedder);
    }
    builder.build().unwrap()
}

fn filtering(top_k: usize) -> Value {
    json!({ "agent": { "tool_filter": { "enabled": true, "top_k": top_k } } })
}

fn offered(session: &Session, query: &str) -> Offer {
    wait(session.offer_for(query))
}

fn names(offer: &Offer) -> Vec<&str> {
    offer.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn a_request_is_shown_what_it_is_about() {
    let guard = guard(filtering(2), words());
    let session = session(&guard, "s");
    let offer = offered(&session, "My customer wants his orders to be cancelled");
    assert_eq!(names(&offer), ["cancel_order", "find_order", "memory_search", "zap"]);
    for (tool, reason) in [
        ("cancel_order", SimilarityRank),
        ("find_order", SimilarityRank),
        ("memory_search", AlwaysOn),
        ("zap", ShortDescription),
    ] {
        assert_eq!(offer.reasons[tool], [reason], "{tool}");
    }
    assert!(offer.scores["cancel_order"] > offer.scores["find_order"]);
    let unlike: Vec<&str> = offer
        .excluded
        .iter()
        .map(|excluded| {
            assert!(excluded.unlike);
            excluded.tool.as_str()
        })
        .collect();
    assert_eq!(unlike, ["get_weather", "pay_invoice", "play_music"]);
    // A tool that the request names as a whole word is included.
    let named = offered(&session, "Cancel order 7, then play_music, not pay_invoices.");
    assert_eq!(named.reasons["play_music"], [NameMentioned]);
    assert!(!named.reasons.get("pay_invoice").is_some_and(|why| why.contains(&NameMentioned)));
}

/// INVARIANT: nothing is filtered without an embedding of the request.
#[test]
fn without_a_request_or_a_model_or_where_it_is_off_everything_is_shown() {
    for (options, query, model) in [
        (filtering(1), " ", words()),
        (filtering(1), "Cancel the order", None),
        (json!({}), "Cancel the order", words()),
    ] {
        let guard = guard(options, model);
        let session = session(&guard, "s");
        let offer = offered(&session, query);
        assert_eq!((offer.tools.len(), offer.reasons.len()), (7, 0));
        assert_eq!(offer, session.offer());
    }
}

/// A tool that the model called in this turn stays; after the next user message it may go.
#[test]
fn what_was_called_in_this_turn_stays() {
    let guard = guard(filtering(1), words());
    let session = session(&guard, "s");
    wait(session.hear(Role::User, "How will the weather be?")).unwrap();
    wait(run(&session, "get_weather", "{}"));
    let offer = offered(&session, "Pay the invoice");
    assert_eq!(offer.reasons["get_weather"], [Referenced]);
    assert_eq!(offer.reasons["pay_invoice"], [SimilarityRank]);
    wait(session.hear(Role::User, "Pay the invoice")).unwrap();
    assert!(!names(&offered(&session, "Pay the invoice")).contains(&"get_weather"));
}

/// A tool that waits for another is excluded, however similar it is to the request. Preferences
/// raise its score, and met requirements are reported.
#[test]
fn dependencies_hold_after_the_filter() {
    let mut options = filtering(1);
    options["tools"] = json!({ "dependencies": { "enabled": true, "rules": {
        "cancel_order": { "requires": ["find_order"] },
        "pay_invoice": { "prefers": ["find_order"] },
    } } });
    let guard = guard(options, words());
    let session = session(&guard, "s");
    let offer = offered(&session, "Cancel the order");
    let waits = offer.excluded.iter().find(|excluded| excluded.tool == "cancel_order").unwrap();
    assert_eq!((waits.waits_for.as_slice(), waits.unlike), (&["find_order".to_owned()][..], false));
    wait(run(&session, "find_order", "{}"));
    wait(session.hear(Role::User, "Go on")).unwrap();
    let offer = offered(&session, "Cancel the order");
    assert_eq!(offer.reasons["cancel_order"], [SimilarityRank, DependencyMet]);
    let offer = offered(&session, "The open invoice");
    assert_eq!(offer.reasons["pay_invoice"], [SimilarityRank, PreferenceBoost]);
    assert!(offer.scores["pay_invoice"] > offer.boosts["pay_invoice"]);
}

/// A tool that the request names waits for nothing, whether the request is recorded or only asked
/// about. What it waits for has not succeeded, so that is no reason.
#[test]
fn a_request_that_names_a_tool_frees_it() {
    let mut options = filtering(1);
    options["tools"] = json!({ "dependencies": { "enabled": true, "rules": {
        "cancel_order": { "requires": ["find_order"] },
    } } });
    for query in ["use cancel_order", "Use Cancel-Order"] {
        for model in [words(), None] {
            let guard = guard(options.clone(), model);
            let session = session(&guard, "s");
            let preview = offered(&session, query);
            assert!(names(&preview).contains(&"cancel_order"), "{query}");
            if let Some(reasons) = preview.reasons.get("cancel_order") {
                assert_eq!(reasons, &[NameMentioned]);
            }
            wait(session.hear(Role::User, query)).unwrap();
            assert_eq!(offered(&session, query), preview);
            assert_eq!(wait(run(&session, "cancel_order", "{}")).status, Status::Completed);
        }
    }
}

/// An offered schema has room to think; what is admitted, recorded and executed contains no
/// thoughts, and a call with nothing else runs nothing.
#[test]
fn a_call_that_is_only_thinking_runs_nothing() {
    let options = json!({ "tools": { "tafc": { "enabled": true, "complexity_threshold": 0.01 } } });
    let options: GuardOptions = serde_json::from_value(options).unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let look = Tool {
        parameters: Some(json!({ "type": "object", "properties": { "at": { "type": "string" } } })),
        ..Tool::named("look")
    };
    let look = FunctionExecutor::new(look, move |arguments: &Value| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ToolError>(arguments.to_string())
    });
    let guard =
        Guard::builder().executor(look).settings(options.resolve().unwrap()).build().unwrap();
    let session = session(&guard, "s");
    let offer = session.offer();
    let schema = offer.tools[0].parameters.as_ref().unwrap();
    assert!(schema["properties"]["_tafc_think"]["description"].is_string(), "{schema}");
    assert!(offer.thinking.contains("look"));
    let thought = wait(run(&session, "look", r#"{"_tafc_think":"the boss is wrong"}"#));
    assert_eq!(
        (thought.status, thought.codes.as_slice()),
        (Status::Refused, &["only_thinking".to_owned()][..])
    );
    assert!(thought.text.starts_with("Nothing was executed"), "{}", thought.text);
    let called = r#"{"_tafc_think":"the boss is wrong","at":"home"}"#;
    assert_eq!(wait(run(&session, "look", called)).text, r#"{"at":"home"}"#);
    assert_eq!(wait(run(&session, "look", "{}")).text, "{}");
    assert_eq!(ran.load(Ordering::SeqCst), 2);
    let events = serde_json::to_string(&guard.ledger().events("s").unwrap()).unwrap();
    assert!(!events.contains("boss"), "{events}");
}

/// Treats songs and tunes as similar; can be told to fail.
#[derive(Default)]
struct Meanings {
    questions: AtomicUsize,
    /// The number of the question that fails.
    fails: Option<usize>,
}

impl Embedder for Meanings {
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        // The tools are embedded first, then requests.
        let question = self.questions.fetch_add(1, Ordering::SeqCst);
        let place = |text: &String| {
            let sound = ["song", "tune"].iter().any(|word| text.contains(word));
            if sound { vec![1.0, 0.0] } else { vec![0.0, 1.0] }
        };
        let places: Vec<Vec<f32>> = texts.iter().map(place).collect();
        let fails = self.fails == Some(question);
        Box::pin(async move {
            if fails { Err(EmbedderError("it is down".to_owned())) } else { Ok(places) }
        })
    }
}

#[test]
fn meanings_count() {
    let meanings = Arc::new(Meanings::default());
    let guard = guard(filtering(1), Some(meanings.clone()));
    let session = session(&guard, "s");
    for _ in 0..3 {
        let offer = offered(&session, "A tune, please");
        assert_eq!(offer.reasons["play_music"], [SimilarityRank]);
    }
    assert_eq!(meanings.questions.load(Ordering::SeqCst), 4, "the tools once, each request");
}

/// INVARIANT: nothing is filtered if the request has no embedding.
#[test]
fn where_the_request_has_no_embedding_everything_is_shown() {
    // The first question is about the tools, the second about the request.
    for fails in [0, 1] {
        let meanings = Meanings { fails: Some(fails), ..Meanings::default() };
        let guard = guard(filtering(1), Some(Arc::new(meanings)));
        let session = session(&guard, "s");
        let offer = offered(&session, "A tune, please");
        assert_eq!(offer.tools.len(), 7, "{fails}");
        assert!(offer.reasons.values().all(|reasons| reasons == &[NoEmbedding]));
    }
}
