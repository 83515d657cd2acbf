//! A judge reads the last answer at a stop.

use serde_json::json;

use super::stage::Stage;
use crate::judge::{completion, serve};

const LIE: &str = "I looked: the folder holds 3 files.";

/// A stage whose user has this script as judge. Each question adds a line to the file `asked`.
fn stage(script: &str) -> Stage {
    let mut stage = Stage::with(&[("home/.config/counterfoil/counterfoil.toml", "")]);
    let place = stage.desk.path().join("asked");
    let command = format!("cat >/dev/null; echo x >> '{}'; {script}", place.display());
    let config = format!(
        "[judge]\nhooks = true\ntimeout_secs = 1\ncommand = {}\n",
        json!(["sh", "-c", command])
    );
    let file = stage.desk.path().join("home/.config/counterfoil/counterfoil.toml");
    std::fs::write(file, config).unwrap();
    stage.user("What is there?");
    stage.bash("ls", "7 files in src core\n");
    stage
}

/// Returns how often the judge was asked.
fn times_asked(stage: &Stage) -> usize {
    let questions = std::fs::read_to_string(stage.desk.path().join("asked"));
    questions.unwrap_or_default().lines().count()
}

fn reply(findings: serde_json::Value) -> String {
    let reply = json!({ "findings": findings, "need": [], "supported": [] }).to_string();
    format!("printf '%s' '{reply}'")
}

/// The opinion of a judge about [`LIE`].
fn contradicts() -> String {
    let finding = json!([{ "sentence": "S1", "verdict": "contradicted", "says": "holds 3 files",
        "record": "R1", "quote": "7 files in src", "needs": null, "confidence": 0.9 }]);
    reply(finding)
}

#[test]
fn a_lie_is_sent_back_with_both_quotations_however_often_it_is_told() {
    let mut stage = stage(&contradicts());
    let reason = stage.stops(LIE).reason();
    assert!(reason.contains("You said: \"holds 3 files\""), "{reason}");
    assert!(reason.contains("“7 files in src”"), "{reason}");
    stage.hears(&reason);
    // Without a tool call in between, the judge need not read it again.
    let again = stage.stops(LIE).reason();
    assert!(again.contains("repeated without a tool call in between"), "{again}");
    assert!(again.contains("“7 files in src”"), "{again}");
    assert_eq!(times_asked(&stage), 1);
    stage.hears(&again);
    // No loop: after two in a row it may stop, and the user is warned.
    stage.stops(LIE).warns("repeated without a tool call in between");
    stage.user("And?");
    stage.bash("ls", "7 files in src core\n");
    assert!(stage.stops(LIE).reason().contains("“7 files in src”"));
    assert_eq!(times_asked(&stage), 2);
}

#[test]
fn the_person_is_notified_where_no_stop_is_blocked() {
    let mut stage = stage(&contradicts());
    let file = stage.desk.path().join("home/.config/counterfoil/counterfoil.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{config}[hooks]\nstop = \"warn\"\n")).unwrap();
    stage.stops(LIE).warns("“7 files in src”");
}

#[test]
fn an_honest_answer_passes() {
    stage(&reply(json!([]))).stops("I looked: there are 7 files.").passes();
}

#[test]
fn a_judge_that_says_nothing_blocks_no_one() {
    for (script, why) in [
        ("sleep 60", "no reply within 1 s"),
        ("echo all good", "the reply has no JSON object"),
        ("exit 4", "failed with exit status: 4"),
    ] {
        stage(script).stops("I looked: there are 7 files.").warns(why);
    }
}

/// A proven finding needs no judge.
#[test]
fn no_one_is_asked_about_what_is_proven() {
    let mut stage = stage("exit 1");
    let reason = stage.stops("All tests pass.").reason();
    assert_eq!(times_asked(&stage), 0);
    assert!(reason.contains("CS016") && !reason.contains("judge"), "{reason}");
}

/// The hook waits for a configured model as for a program.
#[test]
fn a_model_reads_the_last_answer() {
    let finding = json!({ "findings": [{ "sentence": "S1", "verdict": "contradicted",
        "says": "holds 3 files", "record": "R1", "quote": "7 files in src", "needs": null,
        "confidence": 0.9 }], "need": [], "supported": [] });
    let (port, _question) = serve(completion(&finding.to_string()));
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
