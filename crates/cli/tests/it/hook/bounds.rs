//! How often an agent is sent back, and what the model is told afterwards.

use serde_json::json;

use super::stage::Stage;

const CLAIM: &str = "All tests pass.";

#[test]
fn at_most_twice_in_a_row() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    for _ in 0..2 {
        let reason = stage.stops(CLAIM).reason();
        stage.hears(&reason);
    }
    stage.stops(CLAIM).warns("no test run is recorded");
    // A stop that passed starts a new count.
    stage.user("Are you sure?");
    stage.stops(CLAIM).reason();
}

#[test]
fn a_new_prompt_begins_counting_anew() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).reason();
    stage.stops(CLAIM).reason();
    stage.user("Well?");
    stage.stops(CLAIM).reason();
}

/// The end of a background task appears in the log like a message from the user.
#[test]
fn a_notification_begins_nothing_anew() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    for _ in 0..2 {
        stage.stops(CLAIM).reason();
        let notification = "<task-notification>\n<task-id>t1</task-id>\n</task-notification>";
        stage
            .event("UserPromptSubmit", json!({ "prompt": notification, "prompt_id": "p2" }))
            .passes();
    }
    stage.stops(CLAIM).warns("no test run is recorded");
}

#[test]
fn the_number_is_a_setting() {
    let mut stage = Stage::with(&[("counterfoil.toml", "[hooks]\nblocks_in_a_row = 1\n")]);
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).reason();
    stage.stops(CLAIM).warns("no test run is recorded");
}

#[test]
fn a_shadow_only_warns_and_off_is_off() {
    for (mode, warns) in [("warn", true), ("off", false)] {
        let config = format!("[hooks]\nstop = \"{mode}\"\n");
        let mut stage = Stage::with(&[("counterfoil.toml", &config)]);
        stage.user("Fix it.");
        stage.edit("src/lib.rs");
        let answered = stage.stops(CLAIM);
        if warns { answered.warns("no test run is recorded") } else { answered.passes() }
    }
}

#[test]
fn a_rule_that_somebody_set_to_warn_does_not_block() {
    let mut stage =
        Stage::with(&[("counterfoil.toml", "[rules]\nunverified-outcome = \"warn\"\n")]);
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).warns("[CS016]");
    // The model is told with the next prompt, once.
    let answered = stage.event("UserPromptSubmit", json!({ "prompt": "Go on." }));
    let context = &answered.json()["hookSpecificOutput"]["additionalContext"];
    assert!(context.as_str().unwrap().contains("[CS016]"), "{answered:?}");
    stage.event("UserPromptSubmit", json!({ "prompt": "Go on." })).passes();
}

#[test]
fn an_agent_that_does_what_was_missing_passes() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    let reason = stage.stops(CLAIM).reason();
    stage.hears(&reason);
    stage.bash("cargo test", "test result: ok. 42 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s\n");
    stage.stops("Now they have run: all 42 tests pass.").passes();
}

#[test]
fn an_agent_that_takes_it_back_passes() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    // The log is late: it contains the claim only after the judgement.
    let reason = stage.stop(CLAIM).reason();
    stage.says(CLAIM);
    stage.hears(&reason);
    stage.stops("I edited `src/lib.rs`. I have not run the tests.").passes();
}

#[test]
fn what_was_judged_is_not_judged_again() {
    let mut stage = Stage::with(&[("counterfoil.toml", "[hooks]\nblocks_in_a_row = 1\n")]);
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).reason();
    stage.stops(CLAIM).warns("no test run is recorded");
    stage.user("Thanks. What is the capital of France?");
    stage.stops("Paris.").passes();
}

#[test]
fn every_judgement_is_in_the_ledger() {
    let mut stage = Stage::new();
    stage.user("Fix it.");
    stage.edit("src/lib.rs");
    stage.stops(CLAIM).reason();
    let verified = stage.desk.run("audit verify --state state");
    assert_eq!(verified.code, 0, "{verified}");
    let exported = stage.desk.run("audit export --state state");
    assert_eq!(exported.code, 0, "{exported}");
    assert!(exported.out.contains(CLAIM), "{exported}");
    assert!(exported.out.contains("src/lib.rs"), "{exported}");
}
