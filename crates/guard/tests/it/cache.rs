//! Results that are cached, and those that never are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use counterfoil_guard::{
    CitationFault, FunctionExecutor, Guard, GuardBuilder, GuardSettings, ResultCacheOptions,
    ResultCacheSettings, Surroundings, ToolError,
};
use counterfoil_model::{Digest, Effects, Origin, Status, Tool, ToolErrorCategory};
use counterfoil_tools::{CacheKey, CachedResult, ToolResultCache, is_cacheable};
use serde_json::Value;

use crate::desk::{NOW, StillClock, call, run, session, wait};

/// A tool whose result says how often it has run.
fn counting(name: &str, effects: Effects, origin: Origin) -> (FunctionExecutor, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let tool = Tool { effects, origin, ..Tool::named(name) };
    let executor = FunctionExecutor::new(tool, move |arguments: &Value| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        if arguments.get("fail").is_some() {
            return Err(ToolError::new(ToolErrorCategory::PermanentFailure, "no"));
        }
        Ok(format!("run {run}"))
    });
    (executor, count)
}

fn reads() -> Effects {
    Effects { writes: Some(false), idempotent: Some(true), ..Effects::default() }
}

fn writes() -> Effects {
    Effects { writes: Some(true), ..Effects::default() }
}

fn guard(clock: &Arc<StillClock>, settings: GuardSettings) -> GuardBuilder {
    Guard::builder().clock(Arc::clone(clock) as Arc<_>).settings(settings)
}

/// INVARIANT: a hit runs nothing, and its receipt says where the result came from.
#[test]
fn the_same_call_gets_the_same_result_and_a_receipt_that_says_so() {
    let clock = StillClock::at(NOW);
    let (look, runs) = counting("look", reads(), Origin::Builtin);
    let (write, _) = counting("save", writes(), Origin::Builtin);
    let guard =
        guard(&clock, GuardSettings::default()).executor(look).executor(write).build().unwrap();
    let (ours, theirs) = (session(&guard, "ours"), session(&guard, "theirs"));
    let first = wait(run(&ours, "look", r#"{"a":1,"b":2}"#));
    let again = wait(run(&ours, "look", r#"{"b": 2, "a": 1}"#));
    assert_eq!((first.text.as_str(), again.text.as_str()), ("run 1", "run 1"));
    assert_ne!(first.execution_id, again.execution_id);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let receipt = guard.ledger().receipt(&again.execution_id).unwrap().unwrap();
    assert_eq!(receipt.links.cached_from, Some(first.execution_id.clone()));
    assert_eq!((receipt.status, receipt.attempts), (Status::Completed, 0));
    let original = guard.ledger().receipt(&first.execution_id).unwrap().unwrap();
    assert_eq!(receipt.recorded_digest, original.recorded_digest);
    assert_eq!((original.links.cached_from, original.attempts), (None, 1));
    let counts = ours.cache().counts();
    assert_eq!((counts.hits, counts.misses, counts.entries), (1, 1, 1));

    // Other arguments, another session and a retry all run the tool.
    assert_eq!(wait(run(&ours, "look", r#"{"a":2}"#)).text, "run 2");
    assert_eq!(wait(run(&theirs, "look", r#"{"a":1,"b":2}"#)).text, "run 3");
    let around = Surroundings { retry_of: Some(first.execution_id), ..Surroundings::default() };
    let repeated = wait(ours.call(call("look", r#"{"a":1,"b":2}"#), around)).unwrap();
    assert_eq!(repeated.text, "run 4");

    // A write drops what may depend on it, but nothing of other sessions.
    wait(run(&ours, "save", "{}"));
    assert_eq!(wait(run(&ours, "look", r#"{"a":2}"#)).text, "run 5");
    assert_eq!(wait(run(&theirs, "look", r#"{"a":1,"b":2}"#)).text, "run 3");

    // `clear` also resets the counters.
    wait(ours.clear()).unwrap();
    assert_eq!(ours.cache().counts(), counterfoil_guard::CacheCounts::default());
    assert_eq!(wait(run(&ours, "look", r#"{"a":2}"#)).text, "run 6");
}

/// INVARIANT: for claims, a cached result is as old as the execution that produced it.
#[test]
fn a_cached_result_is_as_old_as_its_execution() {
    let clock = StillClock::at(NOW);
    let (look, _) = counting("look", reads(), Origin::Builtin);
    let guard = guard(&clock, GuardSettings::default()).executor(look).build().unwrap();
    let session = session(&guard, "s");
    wait(run(&session, "look", "{}"));
    clock.pass(Duration::from_secs(200));
    let again = wait(run(&session, "look", "{}"));
    for (window, fault) in [(300, None), (100, Some(CitationFault::ExecutionExpired))] {
        let window = Some(Duration::from_secs(window));
        let cited = session.cited(&again.execution_id, "look", window).unwrap();
        assert_eq!(cited.err().map(|fault| fault.reason), fault);
    }
    clock.pass(Duration::from_secs(100));
    let expired = wait(run(&session, "look", "{}"));
    assert_eq!(expired.text, "run 2");
}

/// INVARIANT: what is excluded from the cache, by effects, by name and by origin.
#[test]
fn only_what_declares_that_it_reads_is_cached_and_mcp_never() {
    let mcp = || Origin::Mcp { server: "files".to_owned() };
    let undeclared = Effects { idempotent: Some(true), ..Effects::default() };
    let once = Effects { writes: Some(false), ..Effects::default() };
    let cases = [
        ("look", reads(), Origin::Builtin, true),
        ("look", reads(), Origin::External, true),
        ("mcp_look", reads(), Origin::Builtin, true),
        ("look", reads(), mcp(), false),
        ("look", undeclared, Origin::Builtin, false),
        ("look", once, Origin::Builtin, false),
        ("look", writes(), Origin::Builtin, false),
        ("bash", reads(), Origin::Builtin, false),
        ("shell", reads(), Origin::Builtin, false),
        ("memory_save", reads(), Origin::Builtin, false),
        ("memory_search", reads(), Origin::Builtin, false),
        ("scheduler", reads(), Origin::Builtin, false),
        ("write", reads(), Origin::Builtin, false),
        ("compress_context", reads(), Origin::Builtin, false),
    ];
    for (name, effects, origin, expected) in cases {
        let tool = Tool { effects, origin: origin.clone(), ..Tool::named(name) };
        assert_eq!(is_cacheable(&tool), expected, "{name} {origin:?}");
        let clock = StillClock::at(NOW);
        let (executor, runs) = counting(name, effects, origin);
        let guard = guard(&clock, GuardSettings::default()).executor(executor).build().unwrap();
        let session = session(&guard, "s");
        // The arguments are a harmless command, so that `bash` runs, too.
        let first = wait(run(&session, name, r#"{"command":"ls"}"#));
        assert_eq!(first.status, Status::Completed, "{name}: {}", first.text);
        wait(run(&session, name, r#"{"command":"ls"}"#));
        assert_eq!(runs.load(Ordering::SeqCst), if expected { 1 } else { 2 }, "{name}");
    }
}

#[test]
fn failures_are_not_cached_and_a_cache_that_is_off_keeps_nothing() {
    let clock = StillClock::at(NOW);
    for (enabled, arguments, expected) in
        [(true, r#"{"fail":1}"#, 2), (false, "{}", 2), (true, "{}", 1)]
    {
        let (look, runs) = counting("look", reads(), Origin::Builtin);
        let cache = ResultCacheOptions { enabled, ..ResultCacheOptions::default() };
        let settings = GuardSettings { result_cache: cache.resolve(), ..GuardSettings::default() };
        let guard = guard(&clock, settings).executor(look).build().unwrap();
        let session = session(&guard, "s");
        wait(run(&session, "look", arguments));
        wait(run(&session, "look", arguments));
        assert_eq!(runs.load(Ordering::SeqCst), expected, "{enabled} {arguments}");
    }
}

fn key(name: &str) -> CacheKey {
    CacheKey { tool: name.to_owned(), arguments: Digest::of_bytes(b"") }
}

fn result(text: &str) -> CachedResult {
    CachedResult {
        execution_id: "look_1_00000001".to_owned(),
        text: text.to_owned(),
        structured: None,
    }
}

#[test]
fn entries_live_as_long_as_they_may() {
    let secs = Duration::from_secs;
    let options = |ttl_secs| ResultCacheOptions { ttl_secs, ..ResultCacheOptions::default() };
    assert_eq!(options(0).resolve().ttl, None);
    for (ttl, after, found) in [
        (options(300).resolve().ttl, 299, true),
        (options(300).resolve().ttl, 300, false),
        (options(0).resolve().ttl, 1_000_000_000, true),
        (None, 1_000_000_000, true),
    ] {
        let settings = ResultCacheSettings { ttl, ..ResultCacheSettings::default() };
        let cache = ToolResultCache::new(settings);
        cache.put(key("a"), result("x"), cache.generation(), secs(7));
        assert_eq!(cache.get(&key("a"), secs(7 + after)).is_some(), found, "{ttl:?} {after}");
        // An expired entry is removed.
        assert_eq!(cache.counts().entries, usize::from(found));
        // A clock that seems to go back does not expire anything.
        cache.put(key("b"), result("x"), cache.generation(), secs(7));
        assert!(cache.get(&key("b"), secs(0)).is_some());
    }
}

#[test]
fn a_cache_is_bounded_and_takes_nothing_that_was_read_before_a_write() {
    let settings = ResultCacheSettings { max_bytes: 1_000, ..ResultCacheSettings::default() };
    let (cache, now) = (ToolResultCache::new(settings), Duration::ZERO);
    for name in ["a", "b", "c", "d"] {
        cache.put(key(name), result("x"), cache.generation(), now);
        assert!(cache.counts().bytes <= 1_000);
    }
    assert!(cache.get(&key("a"), now).is_none());
    assert!(cache.get(&key("d"), now).is_some());
    cache.put(key("large"), result(&"x".repeat(1_000)), cache.generation(), now);
    assert!(cache.get(&key("large"), now).is_none());
    let before = cache.generation();
    cache.invalidate();
    cache.put(key("late"), result("x"), before, now);
    assert!(cache.get(&key("late"), now).is_none());
    assert_eq!(cache.counts().entries, 0);
    assert_ne!(cache.counts().hits, 0);
}

/// Several threads may serve one session.
#[test]
fn threads_may_share_a_cache() {
    let cache = ToolResultCache::new(ResultCacheSettings::default());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for n in 0..500_u64 {
                    let key = key(&format!("{}", n % 7));
                    if thread == 0 && n % 50 == 0 {
                        cache.invalidate();
                    }
                    cache.put(key.clone(), result(&key.tool), cache.generation(), Duration::ZERO);
                    if let Some(found) = cache.get(&key, Duration::ZERO) {
                        assert_eq!(found.text, key.tool);
                    }
                }
            });
        }
    });
    assert!(cache.counts().entries <= 7);
    assert_eq!(cache.counts().hits + cache.counts().misses, 2_000);
}
