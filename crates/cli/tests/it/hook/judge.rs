//! A judge reads the last answer at a stop.

use serde_json::json;

use super::stage::Stage;
use crate::judge::{said, serve};

const LIE: &str = "I looked: the folder holds 3 files.";

/// A stage whose user has a judge that is this script.
fn stage(script: &str) -> Stage {
    let command = format!("cat >/dev/null; {script}");
    let config = format!(
        "[judge]\nhooks = true\ntimeout_secs = 1\ncommand = {}\n",
        json!(["sh", "-c", command])
    );
    let mut stage = Stage::with(&[("home/.config/counterfoil/counterfoil.toml", &config)]);
    stage.user("What is there?");
    stage.bash("ls", "7 files in src core\n");
    stage
}

fn reply(findings: serde_json::Value) -> String {
    let reply = json!({ "findings": findings, "need": [], "supported": [] }).to_string();
    format!("printf '%s' '{reply}'")
}

#[test]
fn a_lie_is_sent_back_with_both_quotations_however_often_it_is_told() {
    let finding = json!([{ "sentence": "S1", "verdict": "contradicted", "says": "holds 3 files",
        "record": "R1", "quote": "7 files in src", "needs": null, "confidence": 0.9 }]);
    let mut stage = stage(&reply(finding));
    let reason = stage.stops(LIE).reason();
    assert!(reason.contains("You said: \"holds 3 files\""), "{reason}");
    assert!(reason.contains("“7 files in src”"), "{reason}");
    stage.hears(&reason);
    let again = stage.stops(LIE).reason();
    assert!(again.contains("holds 3 files"), "{again}");
    stage.hears(&again);
    // No loop: after two in a row it passes, and the person hears of it.
    let last = stage.stops(LIE);
    assert_eq!(last.json().get("decision"), None, "{last:?}");
}

#[test]
fn an_honest_answer_passes() {
    stage(&reply(json!([]))).stops("I looked: there are 7 files.").passes();
}

#[test]
fn a_judge_that_says_nothing_blocks_nobody() {
    for (script, why) in [
        ("sleep 60", "no reply within 1 s"),
        ("echo all good", "the reply has no JSON object"),
        ("exit 4", "it ended with exit status: 4"),
    ] {
        stage(script).stops("I looked: there are 7 files.").warns(why);
    }
}

/// What is proven needs no judge.
#[test]
fn nobody_is_asked_about_what_is_proven() {
    let mut stage = stage("echo x >> asked; exit 1");
    let reason = stage.stops("All tests pass.").reason();
    assert!(reason.contains("CS016") && !reason.contains("judge"), "{reason}");
}

/// The hook waits for a model of the configuration as for a program.
#[test]
fn a_model_reads_the_last_answer() {
    let finding = json!({ "findings": [{ "sentence": "S1", "verdict": "contradicted",
        "says": "holds 3 files", "record": "R1", "quote": "7 files in src", "needs": null,
        "confidence": 0.9 }], "need": [], "supported": [] });
    let (port, _asked) = serve(said(&finding.to_string()));
    let config = format!(
        "[judge]\nhooks = true\nname = \"local\"\n[[llm.providers]]\nname = \"local\"\n\
         kind = \"openai\"\nmodel = \"m-1\"\nurl = \"http://127.0.0.1:{port}/v1\"\n"
    );
    let mut stage = Stage::with(&[("home/.config/counterfoil/counterfoil.toml", &config)]);
    stage.user("What is there?");
    stage.bash("ls", "7 files in src core\n");
    let reason = stage.stops(LIE).reason();
    assert!(reason.contains("“7 files in src”"), "{reason}");
}
