//! Concise builders for sessions and opinions, and their assessment.

use counterfoil_judge::{Ask, Assessment, Case, Claimed, Grading, Opinion, ReadVerdict, assess};
use counterfoil_model::{Catalog, Format, Message, Outcome, Role, Tool, ToolCall, Transcript};
use counterfoil_record::Record;

/// A session: the user's message, the calls with their results, the answer.
pub(crate) fn session(user: &str, calls: &[(&str, &str, &str)], answer: &str) -> Transcript {
    let mut transcript = Transcript::new("t", Format::OpenaiChat);
    transcript.messages.push(Message::text(Role::User, user));
    for (at, (tool, arguments, text)) in calls.iter().enumerate() {
        let id = format!("id{at}");
        let call = ToolCall::new(&id, *tool, *arguments);
        let text = (*text).to_owned();
        let outcome = Outcome { call_id: id, text, ..Outcome::default() };
        let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
        let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
        transcript.messages.extend([calls, results]);
    }
    transcript.messages.push(Message::text(Role::Assistant, answer));
    transcript
}

/// The same session with these tools offered.
pub(crate) fn offering(mut transcript: Transcript, tools: &[&str]) -> Transcript {
    transcript.catalog = Catalog::known(tools.iter().map(|name| Tool::named(*name))).0;
    transcript
}

pub(crate) fn opinion(findings: Vec<Claimed>) -> Opinion {
    Opinion { findings, ..Opinion::default() }
}

/// A finding that `says` in S1 is contradicted by `quote` in a line.
pub(crate) fn contradicted(says: &str, record: &str, quote: &str) -> Claimed {
    Claimed {
        sentence: "S1".to_owned(),
        verdict: ReadVerdict::Contradicted,
        says: says.to_owned(),
        record: Some(record.to_owned()),
        quote: quote.to_owned(),
        needs: None,
        confidence: 0.9,
    }
}

/// A finding that `says` in S1 has no support in the record.
pub(crate) fn unsupported(says: &str, needs: Option<&str>) -> Claimed {
    Claimed {
        verdict: ReadVerdict::Unsupported,
        record: None,
        needs: needs.map(str::to_owned),
        ..contradicted(says, "", "")
    }
}

/// The assessment of an opinion on the last message.
pub(crate) fn judged(transcript: &Transcript, opinion: &Opinion) -> Assessment {
    let record = Record::new(transcript);
    let case = Case::new(record.up_to(transcript.messages.len() - 1), &Ask::default()).unwrap();
    assess(&case, opinion, &Grading::default())
}

/// The text of the case for the last message.
pub(crate) fn case_text(transcript: &Transcript, ask: &Ask<'_>) -> String {
    let record = Record::new(transcript);
    Case::new(record.up_to(transcript.messages.len() - 1), ask).unwrap().text()
}
