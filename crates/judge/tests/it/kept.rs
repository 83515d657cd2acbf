use counterfoil_judge::{
    Ask, BatchForm, Case, OpinionLine, Opinions, Prompt, batch_line, digest, read,
};
use counterfoil_record::Record;
use serde_json::json;

use crate::scene::{contradicted, opinion, session};

#[test]
fn a_digest_is_of_the_case() {
    let digest_of = |answer: &str| {
        let transcript = session("Hi.", &[("look", "{}", "x 5")], answer);
        let record = Record::new(&transcript);
        digest(&Case::new(record.up_to(3), &Ask::default()).unwrap())
    };
    assert_eq!(digest_of("It is 5."), digest_of("It is 5."));
    assert_ne!(digest_of("It is 5."), digest_of("It is 6."));
}

#[test]
fn a_line_is_read_as_it_was_written() {
    let transcript = session("Hi.", &[("look", "{}", "x 5")], "It is 6.");
    let record = Record::new(&transcript);
    let case = Case::new(record.up_to(3), &Ask::default()).unwrap();
    let given = opinion(vec![contradicted("is 6", "R1", "x 5")]);
    let line = OpinionLine::new(digest(&case), "m", given);
    let text = line.write().unwrap();
    assert_eq!(OpinionLine::read(&text).unwrap(), line);
    for (wrong, expected) in [
        (
            text.replace("\"version\":1", "\"version\":2"),
            "unsupported version 2 of an opinion line",
        ),
        (text.replace("0.9", "9"), "not an opinion: the reply does not have the expected format"),
        (text.replace("\"findings\"", "\"x\""), "not an opinion"),
        (String::new(), "not an opinion"),
        (text.replace("\"digest\":\"", "\"digest\":\"0"), "not an opinion"),
    ] {
        let error = OpinionLine::read(&wrong).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}, expected {expected}");
    }
}

/// Results as both batch APIs return them.
#[test]
fn results_of_batches_are_read() {
    let transcript = session("Hi.", &[("look", "{}", "x 5")], "It is 6.");
    let record = Record::new(&transcript);
    let case = Case::new(record.up_to(3), &Ask::default()).unwrap();
    let about = digest(&case);
    let id = about.to_string();
    let reply = r#"{"findings": []}"#;
    let openai = |message| {
        let body = json!({ "model": "m", "choices": [{ "message": message }] });
        json!({ "custom_id": id, "response": { "status_code": 200, "body": body } })
    };
    let anthropic = |result| json!({ "custom_id": id, "result": result });
    for (line, expected) in [
        (openai(json!({ "content": reply })), Ok("m")),
        (openai(json!({ "content": "no" })), Err("the reply has no JSON object")),
        (openai(json!({ "content": null, "refusal": "no" })), Err("the batch reports: no")),
        (
            json!({ "custom_id": id, "error": { "message": "expired" }, "response": null }),
            Err("the batch reports: expired"),
        ),
        (
            anthropic(json!({
                "type": "succeeded",
                "message": { "model": "m", "content": [{ "type": "text", "text": reply }] },
            })),
            Ok("m"),
        ),
        (anthropic(json!({ "type": "expired" })), Err("the batch reports: expired")),
        (
            anthropic(json!({ "type": "errored", "error": { "error": { "message": "x" } } })),
            Err("the batch reports: x"),
        ),
    ] {
        let mut opinions = Opinions::default();
        opinions.add(&line.to_string()).unwrap();
        match (opinions.about(about).unwrap(), expected) {
            (Ok(kept), Ok(model)) => assert_eq!(kept.model, model),
            (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{why}"),
            (kept, _) => unreachable!("{kept:?}, expected {expected:?}"),
        }
        // A failure does not replace an opinion.
        opinions.add(&anthropic(json!({ "type": "expired" })).to_string()).unwrap();
        assert_eq!(opinions.about(about).unwrap().is_ok(), expected.is_ok());
    }
    let mut opinions = Opinions::default();
    let error = opinions.add(r#"{"custom_id": "7"}"#).unwrap_err().to_string();
    assert_eq!(error, "not an opinion: `custom_id` is not a case digest");
}

#[test]
fn a_question_of_a_batch_names_its_case() {
    let transcript = session("Hi.", &[("look", "{}", "x 5")], "It is 6.");
    let record = Record::new(&transcript);
    let case = Case::new(record.up_to(3), &Ask::default()).unwrap();
    let (about, prompt) = (digest(&case), Prompt::new(&case, "b0"));
    for (form, question) in [
        (BatchForm::Openai, "/body/messages/1/content"),
        (BatchForm::Anthropic, "/params/messages/0/content"),
    ] {
        let line = batch_line(form, "m", about, &prompt);
        assert_eq!(line["custom_id"], about.to_string());
        assert_eq!(line.pointer(question).unwrap(), &prompt.question);
    }
}

/// A judge may ask for more once.
#[test]
fn what_is_needed_is_shown_in_a_second_question() {
    let long = "word ".repeat(40_000);
    let transcript = session("Hi.", &[("look", "{}", &long), ("get", "{}", "x 5")], "It is 6.");
    let record = Record::new(&transcript);
    let turn = transcript.messages.len() - 1;
    let may_ask = std::cell::RefCell::new(Vec::new());
    let given = |case: &Case<'_>| {
        may_ask.borrow_mut().push(case.may_ask());
        let mut reply = opinion(vec![contradicted("is 6", "R2", "x 5")]);
        reply.need = vec!["R1".to_owned()];
        Ok(counterfoil_judge::Given { judge: "m".to_owned(), opinion: reply })
    };
    let options = counterfoil_judge::ReadingOptions { budget: 2_000, ..Default::default() };
    let reading = read(record.up_to(turn), &options, &given).unwrap().unwrap();
    assert_eq!(*may_ask.borrow(), [true, false]);
    let finding = reading.findings.first().unwrap();
    assert_eq!(finding.message, "“is 6” does not match the result of `get` (R2): “x 5”");
    assert_eq!(
        finding.judge.as_ref().unwrap().to_string(),
        "m, 90% sure; confirmed by code: the number differs: the answer says `6`, the record has `5`"
    );
}
