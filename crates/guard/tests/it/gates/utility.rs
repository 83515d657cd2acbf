//! Calls that are not worth their cost.

use std::sync::Arc;

use counterfoil_guard::{
    Admitted, Disposition, FunctionExecutor, GainEstimator, Gates, GuardOptions, GuardSettings,
    Requested, Scene, Surroundings, ToolError, ToolsOptions, UtilityError, UtilityOptions,
    UtilitySettings, Verdict,
};
use counterfoil_model::{Effects, Origin, Status, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Situation, ran, reading, verdict_of};
use crate::desk;

fn on(options: UtilityOptions) -> UtilitySettings {
    UtilityOptions { enabled: true, ..options }.resolve().unwrap()
}

fn look(arguments: Value) -> Arc<Admitted> {
    Arc::new(Admitted::for_tests(reading("look"), arguments))
}

/// INVARIANT: skill orchestration is exempt by default: exactly these two tools, in this order.
#[test]
fn the_default_exempt_list_is_held() {
    assert_eq!(UtilityOptions::default().exempt_tools, ["invoke_skill", "load_skill"]);
    assert!(!UtilityOptions::default().enabled);
    assert_eq!(UtilityOptions::default().threshold, 0.0);
}

#[derive(Debug)]
struct Says(Result<f64, &'static str>);

impl GainEstimator for Says {
    fn gain(&self, _: &Admitted, _: &Scene<'_>) -> Result<f64, UtilityError> {
        assert!(self.0 != Ok(-7.0), "it breaks off");
        self.0.map_err(|why| UtilityError(why.to_owned()))
    }
}

/// INVARIANT: scoring errors fail closed.
#[test]
fn a_call_that_cannot_be_scored_does_not_run() {
    for (gain, expected) in [
        (Ok(1.0), "allow"),
        (Ok(0.0), "allow"),
        (Ok(f64::NAN), "utility_unknown"),
        (Ok(f64::INFINITY), "utility_unknown"),
        (Ok(1.5), "utility_unknown"),
        (Ok(-7.0), "gate_failed"),
        (Err("no idea"), "utility_unknown"),
    ] {
        let settings = on(UtilityOptions::default()).estimated_by(Says(gain));
        let gates = Gates::builder().utility(settings).build();
        let verdict = verdict_of(&gates, "utility", &look(json!({})), &Situation::default());
        let found = match &verdict {
            Verdict::Allow { .. } => "allow",
            Verdict::Deny(reason) => reason.code,
            Verdict::Ask(_) => "ask",
        };
        assert_eq!(found, expected, "{gain:?}");
    }
}

/// INVARIANT: a call that may have an effect is never skipped because of its score, and what the
/// user asked for is not scored at all.
#[test]
fn effects_and_the_users_own_calls_are_never_skipped() {
    // An agent that cannot load a skill cannot use it, whatever the configuration exempts.
    let exempt_tools = vec!["other".to_owned()];
    let settings =
        on(UtilityOptions { threshold: 100.0, exempt_tools, ..UtilityOptions::default() });
    let settings = settings.estimated_by(Says(Err("never")));
    let gates = Gates::builder().utility(settings).build();
    let tool = |name: &str, writes, origin| {
        let effects = Effects { writes, ..Effects::default() };
        Arc::new(Admitted::for_tests(Tool { effects, origin, ..Tool::named(name) }, json!({})))
    };
    let mcp = Origin::Mcp { server: "s".to_owned() };
    for (call, requested, allowed) in [
        (tool("memory_save", Some(true), Origin::Builtin), Requested::ByModel, true),
        (tool("memory_save", None, Origin::Builtin), Requested::ByModel, true),
        (tool("anything", None, Origin::External), Requested::ByModel, true),
        // What a third party declares does not count.
        (tool("remote", Some(false), mcp), Requested::ByModel, true),
        (tool("look", Some(false), Origin::Builtin), Requested::ByModel, false),
        (tool("look", Some(false), Origin::Builtin), Requested::ByUser, true),
        (tool("load_skill", Some(false), Origin::Builtin), Requested::ByModel, true),
        (tool("invoke_skill", Some(false), Origin::Builtin), Requested::ByModel, true),
    ] {
        let situation = Situation { requested, ..Situation::default() };
        let verdict = verdict_of(&gates, "utility", &call, &situation);
        let name = &call.tool().name;
        assert_eq!(matches!(verdict, Verdict::Allow { .. }), allowed, "{name} {requested:?}");
    }
}

#[test]
fn the_score_is_what_its_parts_add_up_to() {
    let options = UtilityOptions::default();
    let settings = on(options.clone());
    let before = look(json!({ "for": "red lamps" }));
    for (arguments, redundancy) in [
        (json!({ "for": "red lamps" }), 1.0),
        (json!({ "for": "lamps red" }), 0.9),
        (json!({ "for": "red chairs" }), 1.0 / 3.0),
        (json!({ "x": 3 }), 0.0),
    ] {
        let situation = Situation { recent: vec![ran(&before, false)], ..Situation::default() };
        let call = look(arguments.clone());
        let score = settings.scorer().score(&call, &situation.scene()).unwrap();
        assert!((score.redundancy - redundancy).abs() < 1e-9, "{arguments} {score:?}");
        assert_eq!(score.like.is_some(), score.redundancy > 0.0);
        assert_eq!(score.exploration, 0.0);
        let total = options.gain_weight * score.gain
            - options.cost_weight * score.cost
            - options.redundancy_weight * score.redundancy;
        assert!((score.total - total).abs() < 1e-12);
    }
    let fresh = settings.scorer().score(&before, &Situation::default().scene()).unwrap();
    assert_eq!(fresh.exploration, options.exploration_bonus);
    for (key, value) in [("threshold", 101.0), ("gain_weight", -1.0), ("cost_weight", f64::NAN)] {
        let text = format!(
            "{key} = {}",
            if value.is_nan() { "nan".to_owned() } else { format!("{value:.1}") }
        );
        let options: UtilityOptions = toml::from_str(&text).unwrap();
        let error = options.resolve().unwrap_err().to_string();
        assert!(error.starts_with(&format!("tools.utility.{key} is `")), "{error}");
    }
}

proptest! {
    /// A call that is more similar to an earlier one, or more expensive, never scores higher.
    #[test]
    fn scores_are_finite_and_monotone(words in prop::collection::vec("[a-c]{1,2}", 0..6), chars in 0usize..1_000_000) {
        let settings = on(UtilityOptions::default());
        let call = look(json!({ "for": words.join(" ") }));
        let mut recent = ran(&call, false);
        recent.result_chars = chars;
        let mut other = recent.clone();
        other.digest = look(json!({ "for": "zz" })).digest();
        other.words.clear();
        let score = |recent: Vec<_>| {
            let situation = Situation { recent, ..Situation::default() };
            settings.scorer().score(&call, &situation.scene()).unwrap().total
        };
        prop_assert!(score(vec![recent.clone()]) <= score(vec![other]));
        let mut cheap = recent.clone();
        cheap.result_chars = 0;
        prop_assert!(score(vec![recent]) <= score(vec![cheap]));
    }
}

/// End to end: a repeated look-up is skipped with an answer that says so, and is allowed again
/// after a write, also if a new process makes each call. Off by default.
#[test]
fn a_repeated_look_up_is_skipped_until_something_changes() {
    let tools = toml::from_str::<ToolsOptions>("[utility]\nenabled = true").unwrap();
    let settings = GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap();
    let off = GuardSettings::default();
    for (settings, skipped, joins) in
        [(settings.clone(), true, false), (settings, true, true), (off, false, false)]
    {
        let effects = Effects { writes: Some(false), ..Effects::default() };
        let tool = Tool { effects, origin: Origin::Builtin, ..Tool::named("look") };
        let look = FunctionExecutor::new(tool, |_: &Value| Ok::<_, ToolError>("3 lamps"));
        let guard = desk::shop().settings(settings).executor(look).build().unwrap();
        let session = desk::session(&guard, "s");
        // A session that is joined knows only what the ledger has.
        let joined = || if joins { desk::session(&guard, "s") } else { session.clone() };
        let run = |tool, arguments| desk::wait(desk::run(&joined(), tool, arguments));
        let first = run("look", r#"{"for":"lamps"}"#);
        assert_eq!(first.status, Status::Completed);
        let again = run("look", r#"{"for":"lamps"}"#);
        assert_eq!(again.status == Status::Denied, skipped, "{}", again.text);
        if skipped {
            assert_eq!(again.codes, ["utility_skipped"]);
            assert!(again.text.contains("the call was skipped"), "{}", again.text);
            assert!(again.text.contains(&first.execution_id), "{}", again.text);
        }
        // The user's own call is never skipped.
        let around = Surroundings { requested: Requested::ByUser, ..Surroundings::default() };
        let call = desk::call("look", r#"{"for":"lamps"}"#);
        let answer = desk::wait(session.call(call, around)).unwrap();
        assert_eq!(answer.status, Status::Completed);
        run("cancel_order", r##"{"order_id":"#W1"}"##);
        assert_eq!(run("look", r#"{"for":"lamps"}"#).status, Status::Completed);
        // A skipped call supports no claim.
        let verified = desk::wait(session.verify("There are 3 lamps.")).unwrap();
        assert_ne!(verified.disposition, Disposition::Block, "{verified:?}");
    }
}
