//! Replays the recorded opinions of a large model, if they exist next to the repository.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;

use counterfoil_judge::{
    Ask, Assessment, Case, Claimed, Grading, Opinion, ReadVerdict, assess, find,
};
use counterfoil_model::{
    Arguments, Catalog, Format, Message, Outcome, Role, Severity, Tool, ToolCall, Transcript,
};
use counterfoil_record::Record;
use flate2::read::GzDecoder;
use serde_json::Value;

fn path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not here");
    None
}

fn rows(name: &str) -> Vec<Value> {
    let Some(path) = path(name) else { return Vec::new() };
    let file = File::open(path).unwrap();
    let reader: Box<dyn Read> =
        if name.ends_with(".gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    let lines = BufReader::new(reader).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn transcript(row: &Value) -> Transcript {
    let mut transcript = Transcript::new(row["id"].as_str().unwrap(), Format::OpenaiChat);
    if let Some(tools) = row["tools"].as_array() {
        let name =
            |tool: &Value| Tool::named(tool["function"]["name"].as_str().unwrap_or_default());
        transcript.catalog = Catalog::known(tools.iter().map(name)).0;
    }
    for message in row["messages"].as_array().unwrap() {
        let text = text_of(&message["content"]);
        let role = match message["role"].as_str() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("tool") => Role::Tool,
            _ => Role::Assistant,
        };
        let mut read = Message::text(role, if role == Role::Tool { "" } else { &text });
        if role == Role::Tool {
            read.outcomes.push(Outcome {
                call_id: message["tool_call_id"].as_str().unwrap_or_default().to_owned(),
                text,
                is_error: message["is_error"].as_bool(),
                exit_code: message["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
                ..Outcome::default()
            });
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            read.calls.push(ToolCall {
                id: call["id"].as_str().unwrap_or_default().to_owned(),
                tool: function["name"].as_str().unwrap_or_default().to_owned(),
                arguments: Arguments::raw(function["arguments"].as_str().unwrap_or_default()),
                line: 0,
            });
        }
        transcript.messages.push(read);
    }
    transcript
}

/// A recorded finding. Another program split its sentences: if the words are not in the sentence
/// with that number, all sentences are searched. User and system lines had no numbers then.
fn claimed(case: &Case<'_>, recorded: &Value) -> Claimed {
    let text = |name: &str| recorded[name].as_str().unwrap_or_default().to_owned();
    let has = |number: usize| {
        let sentence = case.sentence(number);
        sentence.is_some_and(|s| find(&text("says"), case.words(s)).is_ok())
    };
    let own = text("s").trim_start_matches('S').parse().unwrap();
    let numbers = 1..=case.sentences().len();
    let number = std::iter::once(own).chain(numbers).find(|n| has(*n)).unwrap_or(own);
    let verdict = match recorded["verdict"].as_str() {
        Some("contradicted") => ReadVerdict::Contradicted,
        _ => ReadVerdict::Unsupported,
    };
    let quote = text("quote");
    let record = recorded["record"].as_str().map(str::to_owned);
    let has_quote =
        |label: &&counterfoil_judge::CaseLine<'_>| find(&quote, &label.line.text).is_ok();
    let unnamed = record.as_deref().is_none_or(|r| counterfoil_record::Label::parse(r).is_none());
    let record = match case.lines().iter().find(has_quote) {
        Some(line) if unnamed && !quote.is_empty() => Some(line.line.label.to_string()),
        _ => record,
    };
    Claimed {
        sentence: format!("S{number}"),
        verdict,
        says: text("says"),
        record,
        quote,
        needs: None,
        confidence: recorded["confidence"].as_f64().unwrap(),
    }
}

fn replay(row: &Value, findings: &[Value]) -> (Vec<Claimed>, Assessment) {
    let transcript = transcript(row);
    let turn = usize::try_from(row["labels"]["turn"].as_u64().unwrap()).unwrap();
    let record = Record::new(&transcript);
    let case = Case::new(record.up_to(turn), &Ask { budget: 100_000, ..Ask::default() }).unwrap();
    let findings: Vec<Claimed> = findings.iter().map(|f| claimed(&case, f)).collect();
    let opinion = Opinion { findings: findings.clone(), ..Opinion::default() };
    let judged = assess(&case, &opinion, &Grading::default());
    (findings, judged)
}

#[test]
fn recorded_opinions_are_worth_what_they_say() {
    let opinions: HashMap<String, Vec<Value>> = rows("judge/opinions.jsonl")
        .iter()
        .map(|line| {
            let findings = line["findings"].as_array().unwrap().clone();
            (line["id"].as_str().unwrap().to_owned(), findings)
        })
        .collect();
    if opinions.is_empty() {
        return;
    }
    let (mut wrong, mut lies, mut honest, mut quotations) = (Vec::new(), 0, 0, 0);
    let (mut errors, mut confirmed) = (0, 0);
    for row in rows("data/blind3.jsonl.gz").iter().chain(&rows("data/reports3.jsonl.gz")) {
        let id = row["id"].as_str().unwrap();
        let Some(recorded) = opinions.get(id) else { continue };
        let (findings, judged) = replay(row, recorded);
        quotations += findings.len();
        for (reason, claimed) in judged.dropped.iter().zip(&findings) {
            wrong.push(format!("{id}: {reason:?}: {claimed:?}"));
        }
        let shown = |finding: &&counterfoil_judge::ReadFinding| finding.severity > Severity::Note;
        let accused = judged.findings.iter().any(|finding| shown(&finding));
        errors += usize::from(judged.findings.iter().any(|f| f.severity == Severity::Error));
        confirmed += judged.findings.iter().filter(|f| f.confirmation.is_some()).count();
        let lie = row["labels"]["hallucination"].as_bool().unwrap();
        (lies, honest) = (lies + usize::from(lie), honest + usize::from(!lie));
        if lie != accused {
            wrong.push(format!("{id}: lie {lie}, accused {accused}: {judged:?}"));
        }
    }
    println!(
        "{lies} lies ({errors} by an error), {honest} honest answers, {quotations} findings, \
         {confirmed} confirmed"
    );
    assert!(lies > 80 && honest > 80);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
