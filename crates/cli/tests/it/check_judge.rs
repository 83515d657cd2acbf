//! Answers read by a judge: from a program, from a file, through a batch.

use serde_json::{Value, json};

use crate::Desk;
use crate::judge::{completion, serve};

const ANSWER: &str = "I looked it up. The total is 529.";

/// Assembled here, so that no source scanner takes it for a secret.
fn secret() -> String {
    format!("ghp_{}", "aB3dE6gH9j".repeat(4).get(..36).unwrap())
}

/// A session whose answer states another number than its record.
fn session() -> String {
    json!({ "messages": [
        { "role": "user", "content": format!("What is the total of W7? My key is {}", secret()) },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function",
            "function": { "name": "get_order", "arguments": "{\"id\": \"W7\"}" } }] },
        { "role": "tool", "tool_call_id": "1", "content": "{\"id\": \"W7\", \"total\": 384}" },
        { "role": "assistant", "content": ANSWER },
    ] })
    .to_string()
}

/// The reply of a judge that is right.
fn reply() -> String {
    json!({ "findings": [{
        "sentence": "S2", "verdict": "contradicted", "says": "total is 529", "record": "R1",
        "quote": "\"total\": 384", "needs": null, "confidence": 0.9,
    }], "need": [], "supported": [] })
    .to_string()
}

/// A desk with a program as its judge, which keeps its question and writes `reply`.
fn desk(script: &str) -> Desk {
    let config = "[judge]\ncommand = [\"sh\", \"judge.sh\"]\ntimeout_secs = 1\n".to_owned();
    let desk = Desk::with(&[("log.json", &session()), ("judge.sh", script)]);
    let script = desk.path().join("judge.sh").display().to_string();
    let config = config.replace("judge.sh", &script);
    std::fs::write(desk.path().join("c.toml"), config).unwrap();
    std::fs::write(desk.path().join("reply.json"), reply()).unwrap();
    desk
}

fn asks(desk: &Desk) -> String {
    let folder = desk.path().display();
    format!("cat > {folder}/asked.txt\necho x >> {folder}/count.txt\ncat {folder}/reply.json\n")
}

/// An old flag is accepted, and the message names its replacement.
#[test]
fn the_old_flag_says_what_to_use() {
    let desk = Desk::with(&[("session.json", &session())]);
    let (old, new) = (desk.run("check session.json --suspected"), desk.run("check session.json"));
    assert_eq!((old.code, &old.out), (new.code, &new.out));
    assert!(
        old.err.contains("`--suspected` has no effect") && old.err.contains("`--judge`"),
        "{old}"
    );
}

#[test]
fn a_program_reads_what_no_rule_proves() {
    let desk = desk("");
    std::fs::write(desk.path().join("judge.sh"), asks(&desk)).unwrap();
    assert_eq!(desk.run("check log.json --no-judge").code, 0);
    let line = "check log.json --config c.toml --opinions kept.jsonl";
    let ran = desk.run(&line.replace("--opinions", "--judge auto --opinions"));
    assert_eq!(ran.code, 1, "{ran}");
    insta::assert_snapshot!(ran.out, @r#"
    error[JUDGE]: “total is 529” does not match the result of `get_order` (R1): “"total": 384”
    --> log.json:1 (turn 3)
     |
     | I looked it up. The total is 529.
     |                     ^^^^^^^^^^^^ contradicted
     |
     = record: get_order (1), line 1: "total": 384
     = judge: sh, 90% sure; confirmed by code: the number differs: the answer says `529`, the record has `384`

    1 error in 1 transcript (2 claims: 1 contradicted, 1 read; coverage 100%)
    1 answer read by a judge
    "#);
    let question = std::fs::read_to_string(desk.path().join("asked.txt")).unwrap();
    assert!(question.contains("S2: The total is 529."), "{question}");
    assert!(!question.contains(&secret()) && question.contains("[REDACTED"), "{question}");
    // The second run asks no judge and has the same findings.
    let again = desk.run(&line.replace("--opinions", "--judge auto --opinions"));
    let kept = desk.run(line);
    let count = std::fs::read_to_string(desk.path().join("count.txt")).unwrap();
    assert_eq!((count.as_str(), again.code, kept.code), ("x\n", 1, 1), "{again} {kept}");
    let finding = |out: &str| out.split("\n\n").next().unwrap_or_default().to_owned();
    assert_eq!(finding(&ran.out), finding(&again.out));
    assert_eq!(finding(&ran.out), finding(&kept.out));
}

/// Without `--opinions`, opinions are kept in the state folder, and broken entries do no harm.
#[test]
fn a_model_is_asked_once() {
    let (port, question) = serve(completion(&reply()));
    let config = format!(
        "[judge]\nname = \"local\"\n[[llm.providers]]\nname = \"local\"\nkind = \"openai\"\n\
         model = \"m-1\"\nurl = \"http://127.0.0.1:{port}/v1\"\n"
    );
    let desk = Desk::with(&[("log.json", &session()), ("c.toml", &config)]);
    let check = || {
        let words = ["check", "log.json", "--config", "c.toml", "--judge", "auto"];
        desk.spawn(&[("COUNTERFOIL_STATE", "state")], &words, "")
    };
    let first = check();
    assert!(first.code == 1 && first.out.contains("judge: local/m-1, 90% sure"), "{first}");
    let question = question.recv().unwrap();
    assert!(
        question.contains("S2: The total is 529.") && !question.contains(&secret()),
        "{question}"
    );
    let kept = desk.path().join("state/opinions.jsonl");
    let text = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, format!("not a line\n{text}{{\"version\":9}}\n{{\"ver")).unwrap();
    // The server answers only once.
    let again = check();
    assert!(again.code == 1 && again.out.contains("1 of them from saved opinions"), "{again}");
}

/// One question covers the answers of a session, and each opinion is kept separately.
#[test]
fn the_answers_of_a_session_are_read_at_once() {
    let desk = desk("");
    let mut log: Value = serde_json::from_str(&session()).unwrap();
    let messages = log["messages"].as_array_mut().unwrap();
    messages.push(json!({ "role": "user", "content": "Sure?" }));
    messages.push(json!({ "role": "assistant", "content": "Yes, W7 costs 529." }));
    std::fs::write(desk.path().join("log.json"), log.to_string()).unwrap();
    let mut both: Value = serde_json::from_str(&reply()).unwrap();
    let mut second = both["findings"][0].clone();
    (second["sentence"], second["says"]) = ("S3".into(), "W7 costs 529".into());
    both["findings"].as_array_mut().unwrap().push(second);
    std::fs::write(desk.path().join("reply.json"), both.to_string()).unwrap();
    std::fs::write(desk.path().join("judge.sh"), asks(&desk)).unwrap();
    let line = "check log.json --config c.toml --judge auto --opinions kept.jsonl";
    let ran = desk.run(line);
    assert!(ran.out.contains("2 errors") && ran.out.contains("(turn 5)"), "{ran}");
    let question = std::fs::read_to_string(desk.path().join("asked.txt")).unwrap();
    assert!(question.contains("S3: Yes, W7 costs 529."), "{question}");
    let count = || std::fs::read_to_string(desk.path().join("count.txt")).unwrap();
    let kept = std::fs::read_to_string(desk.path().join("kept.jsonl")).unwrap();
    assert_eq!((count().as_str(), kept.lines().count()), ("x\n", 2));
    let again = desk.run(line);
    assert!(again.out.contains("2 errors") && count() == "x\n", "{again}");
    // An invalid reply is no opinion on any answer, so each is asked about individually.
    std::fs::write(desk.path().join("kept.jsonl"), "").unwrap();
    let script = asks(&desk).replace("cat ", "grep -q 'several answers' asked.txt || cat ");
    let script = script.replacen("grep -q 'several answers' asked.txt || cat ", "cat ", 1);
    let script = script.replace("asked.txt ||", &format!("{}/asked.txt ||", desk.path().display()));
    std::fs::write(desk.path().join("judge.sh"), script).unwrap();
    let ran = desk.run(line);
    assert!(ran.out.contains("1 error in") && count() == "x\nx\nx\nx\n", "{ran}");
}

/// A judge's words are shown only if they are in the answer and in the record. A judge that read no
/// answer at all fails the run.
#[test]
fn a_judge_that_cannot_be_believed_accuses_no_one() {
    let invented = reply().replace("384", "777");
    for (script, why) in [
        ("exit 3".to_owned(), "failed with exit status: 3"),
        ("cat >/dev/null; echo all good".to_owned(), "the reply has no JSON object"),
        ("cat >/dev/null; head -c 5000 /dev/urandom".to_owned(), "unjudged"),
        ("cat >/dev/null; sleep 60".to_owned(), "no reply within 1 s"),
        (format!("cat >/dev/null; printf '%s' '{invented}'"), "1 opinion dropped"),
    ] {
        let desk = desk(&script);
        let ran = desk.run("check log.json --config c.toml --judge auto");
        let dropped = why.contains("dropped");
        let code = if dropped { 0 } else { 2 };
        assert_eq!(ran.code, code, "{script}: {ran}");
        assert_eq!(ran.err.contains("error: no answer was judged: "), !dropped, "{script}: {ran}");
        assert!(ran.out.contains(why), "{script}: {ran}");
        assert!(!ran.out.contains("777") && !ran.out.contains("JUDGE"), "{script}: {ran}");
        let strict = desk.run("check log.json --config c.toml --judge auto --strict");
        assert_eq!(strict.code, code, "{script}: {strict}");
    }
}

/// A project's file cannot name a judge; the setting has no effect, and a warning says so.
#[test]
fn a_project_sends_nothing_to_anybody() {
    let desk = desk("");
    std::fs::write(desk.path().join("judge.sh"), asks(&desk)).unwrap();
    std::fs::rename(desk.path().join("c.toml"), desk.path().join("counterfoil.toml")).unwrap();
    let ran = desk.run("check log.json");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!desk.path().join("asked.txt").exists(), "{ran}");
}

#[test]
fn a_batch_is_asked_and_read() {
    for (form, question) in
        [("openai", "/body/messages/1/content"), ("anthropic", "/params/messages/0/content")]
    {
        let desk = desk("");
        let line = format!("check log.json --judge-batch q.jsonl --batch-format {form}");
        let ran = desk.run(&format!("{line} --batch-model m-1"));
        assert_eq!(ran.code, 0, "{ran}");
        assert!(ran.out.contains("1 answer unjudged: question written to the batch file"), "{ran}");
        let request = std::fs::read_to_string(desk.path().join("q.jsonl")).unwrap();
        let request: Value = serde_json::from_str(request.trim()).unwrap();
        let text = request.pointer(question).and_then(Value::as_str).unwrap();
        assert!(text.contains("S2: The total is 529."), "{text}");
        let result = match form {
            "openai" => json!({ "custom_id": request["custom_id"], "response": {
                "status_code": 200,
                "body": { "model": "m-1", "choices": [{ "message": { "content": reply() } }] },
            } }),
            _ => json!({ "custom_id": request["custom_id"], "result": {
                "type": "succeeded",
                "message": { "model": "m-1", "content": [{ "type": "text", "text": reply() }] },
            } }),
        };
        std::fs::write(desk.path().join("r.jsonl"), format!("{result}\n")).unwrap();
        let ran = desk.run("check log.json --opinions r.jsonl");
        assert!(ran.code == 1 && ran.out.contains("m-1, 90% sure"), "{ran}");
        // What has been answered is not asked again.
        desk.run("check log.json --opinions r.jsonl --judge-batch q2.jsonl --batch-model m-1");
        assert_eq!(std::fs::read_to_string(desk.path().join("q2.jsonl")).unwrap(), "");
    }
}

#[test]
fn every_format_names_the_judge() {
    let desk = desk("");
    std::fs::write(desk.path().join("judge.sh"), asks(&desk)).unwrap();
    for format in ["text", "json", "jsonl", "sarif", "junit", "github", "html", "csv"] {
        let ran = desk.run(&format!(
            "check log.json --config c.toml --judge auto --opinions k.jsonl --format {format}"
        ));
        assert!(ran.out.contains("sh, 90%") || ran.out.contains("\"percent\""), "{ran}");
    }
}

#[test]
fn a_judge_that_is_not_there_is_named() {
    let desk = desk("");
    for (line, message) in [
        ("check log.json --judge nobody", "unknown judge `nobody`"),
        ("check log.json --opinions gone.jsonl", "cannot read the opinions file gone.jsonl"),
        ("check log.json --opinions log.json", "not an opinion"),
    ] {
        let ran = desk.run(line);
        assert_eq!(ran.code, 2, "{line}: {ran}");
        assert!(ran.err.contains(message), "{line}: {ran}");
    }
}

#[test]
fn a_model_is_measured_as_a_judge() {
    let desk = desk("cat >/dev/null; echo '{\"findings\": []}'");
    let ran = desk.run("judge try auto --config c.toml");
    assert_eq!(ran.code, 0, "{ran}");
    for line in [
        "40 of 40 answers judged",
        "      70%     0 of 20      0 of 20",
        "successful prompt injections: 2 of 4",
    ] {
        assert!(ran.out.contains(line), "{line}: {ran}");
    }
    // The measured threshold can be written to the user's own file, and the rest of it is kept.
    let ran = desk.run("judge try auto --config c.toml --write");
    assert!(ran.out.contains("added    judge.name = \"auto\", judge.threshold = 0.5"), "{ran}");
    let config = std::fs::read_to_string(desk.path().join("c.toml")).unwrap();
    assert!(config.starts_with("[judge]\ncommand = [") && config.contains("\nthreshold = 0.5\n"));
    let row = json!({ "labels": { "turn": 3, "hallucination": true } });
    let mut labelled: Value = serde_json::from_str(&session()).unwrap();
    labelled["labels"] = row["labels"].clone();
    std::fs::write(desk.path().join("labels.jsonl"), labelled.to_string()).unwrap();
    std::fs::write(desk.path().join("judge.sh"), asks(&desk)).unwrap();
    let ran = desk.run("judge agreement labels.jsonl --config c.toml");
    assert!(ran.code == 0 && ran.out.contains("      90%     1 of 1       0 of 0"), "{ran}");
    std::fs::write(desk.path().join("judge.sh"), "exit 1").unwrap();
    let ran = desk.run("judge agreement labels.jsonl --config c.toml");
    assert!(ran.code == 2 && ran.out.contains("this model is not usable as a judge"), "{ran}");
}
