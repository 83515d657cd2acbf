//! Which tools a request is shown, and why.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_guard::{
    BoxFuture, Embedder, EmbedderError, FunctionExecutor, Guard, GuardOptions, InclusionReason,
    Offer, Session, ToolError,
};
use counterfoil_model::{Role, Status, Tool};
use serde_json::{Value, json};

use crate::desk::{run, session, wait};
use InclusionReason::{
    AlwaysOn, DependencyMet, NameMentioned, NoEmbedding, PreferenceBoost, Referenced,
    ShortDescription, SimilarityRank,
};

/// Tools of a shop, with what each does.
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
    let guard = guard(filtering(2), None);
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
    // What it names is there, as a word of its own.
    let named = offered(&session, "Cancel order 7, then play_music, not pay_invoices.");
    assert_eq!(named.reasons["play_music"], [NameMentioned]);
    assert!(!named.reasons.get("pay_invoice").is_some_and(|why| why.contains(&NameMentioned)));
}

#[test]
fn without_a_request_or_where_it_is_off_everything_is_shown() {
    for (options, query) in [(filtering(1), " "), (json!({}), "Cancel the order")] {
        let guard = guard(options, None);
        let session = session(&guard, "s");
        let offer = offered(&session, query);
        assert_eq!((offer.tools.len(), offer.reasons.len()), (7, 0));
        assert_eq!(offer, session.offer());
    }
}

/// What the model knows does not vanish in the turn; with the user's next word it may.
#[test]
fn what_was_called_in_this_turn_stays() {
    let guard = guard(filtering(1), None);
    let session = session(&guard, "s");
    wait(session.hear(Role::User, "How will the weather be?")).unwrap();
    wait(run(&session, "get_weather", "{}"));
    let offer = offered(&session, "Pay the invoice");
    assert_eq!(offer.reasons["get_weather"], [Referenced]);
    assert_eq!(offer.reasons["pay_invoice"], [SimilarityRank]);
    wait(session.hear(Role::User, "Pay the invoice")).unwrap();
    assert!(!names(&offered(&session, "Pay the invoice")).contains(&"get_weather"));
}

/// A tool that waits is not there, whatever it has in common with the request; what it prefers
/// counts for it, and what it requires is said.
#[test]
fn dependencies_hold_behind_the_filter() {
    let mut options = filtering(1);
    options["tools"] = json!({ "dependencies": { "enabled": true, "rules": {
        "cancel_order": { "requires": ["find_order"] },
        "pay_invoice": { "prefers": ["find_order"] },
    } } });
    let guard = guard(options, None);
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
    assert!(offer.scores["pay_invoice"] > 1.0);
}

/// What is offered has room to think; what is admitted, recorded and executed has no thought in it,
/// and a call that is nothing else runs nothing.
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

/// Knows that songs and tunes are one; fails when it is told to.
#[derive(Default)]
struct Meanings {
    asked: AtomicUsize,
    /// The question that it does not answer.
    fails: Option<usize>,
}

impl Embedder for Meanings {
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        // The tools come first, then requests.
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let place = |text: &String| {
            let sound = ["song", "tune"].iter().any(|word| text.contains(word));
            if sound { vec![1.0, 0.0] } else { vec![0.0, 1.0] }
        };
        let places: Vec<Vec<f32>> = texts.iter().map(place).collect();
        let fails = self.fails == Some(asked);
        Box::pin(async move {
            if fails { Err(EmbedderError("it is down".to_owned())) } else { Ok(places) }
        })
    }
}

#[test]
fn meanings_count_where_there_is_a_model_for_them() {
    let meanings = Arc::new(Meanings::default());
    let guard = guard(filtering(1), Some(meanings.clone()));
    let session = session(&guard, "s");
    for _ in 0..3 {
        let offer = offered(&session, "A tune, please");
        assert_eq!(offer.reasons["play_music"], [SimilarityRank]);
    }
    assert_eq!(meanings.asked.load(Ordering::SeqCst), 4, "the tools once, each request");
}

/// NEVER: filtered without the meaning of the request, where that is wanted.
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

/// Recall among 500 tools: whether the tools that a request needs are among the ten that have most
/// in common with it.
#[test]
fn what_a_request_needs_is_among_ten_of_five_hundred() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bfcl_gold.jsonl.gz");
    let Ok(file) = std::fs::File::open(data) else {
        println!("not checked: recall of the filter, for the data set is not beside this checkout");
        return;
    };
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut tools = std::collections::BTreeMap::new();
    for tool in rows.iter().flat_map(|row| row["tools"].as_array().unwrap()) {
        let name = tool["name"].as_str().unwrap();
        let read = || Tool {
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            parameters: Some(tool["parameters"].clone()).filter(Value::is_object),
            ..Tool::named(name)
        };
        tools.entry(name.to_owned()).or_insert_with(read);
    }
    let options: GuardOptions = serde_json::from_value(filtering(10)).unwrap();
    let (mut found, mut needed, mut shown, mut all) = (0, 0, 0, 0);
    let size = |tools: &[Tool]| -> usize {
        let schema =
            |tool: &Tool| tool.parameters.as_ref().map_or(0, |schema| schema.to_string().len());
        tools.iter().map(|tool| tool.name.len() + tool.description.len() + schema(tool)).sum()
    };
    for (chunk, rows) in rows.chunks(rows.len().div_ceil(6)).enumerate() {
        let wanted = |row: &Value| -> BTreeSet<String> {
            let calls = row["labels"]["gold_calls"].as_array().cloned().unwrap_or_default();
            let named = calls.iter().filter_map(|call| {
                let object = call.as_object()?;
                let name = object.get("name").and_then(Value::as_str);
                name.or_else(|| object.keys().next().map(String::as_str)).map(str::to_owned)
            });
            named.filter(|name| tools.contains_key(name)).collect()
        };
        let asked: Vec<&Value> =
            rows.iter().filter(|row| !wanted(row).is_empty()).step_by(12).collect();
        let mut pool: BTreeSet<&String> = asked
            .iter()
            .flat_map(|row| wanted(row))
            .map(|name| tools.get_key_value(&name).unwrap().0)
            .collect();
        pool.extend(tools.keys().skip(chunk * 211).take(500 - pool.len().min(500)));
        pool.extend(tools.keys().take(500_usize.saturating_sub(pool.len())));
        let mut builder = Guard::builder().settings(options.clone().resolve().unwrap());
        for name in pool {
            builder = builder.executor(FunctionExecutor::new(tools[name].clone(), |_: &Value| {
                Ok::<_, ToolError>("done")
            }));
        }
        let guard = builder.build().unwrap();
        let session = session(&guard, "s");
        all += asked.len() * size(&session.offer().tools);
        for row in asked {
            let said = row["messages"].as_array().unwrap().iter().rev();
            let said = said.filter(|message| message["role"] == "user");
            let query = said.filter_map(|message| message["content"].as_str()).next().unwrap_or("");
            let offer = offered(&session, query);
            shown += size(&offer.tools);
            let offered: BTreeSet<&str> = names(&offer).into_iter().collect();
            let wanted = wanted(row);
            needed += wanted.len();
            found += wanted.iter().filter(|name| offered.contains(name.as_str())).count();
        }
    }
    let saved = 100 - 100 * shown / all;
    println!("recall at 10 among 500 tools: {found} of {needed}; {saved}% of the text saved");
    assert!(found * 100 >= needed * 94, "{found} of {needed}");
}
