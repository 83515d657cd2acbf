//! Asks a person to approve a call. With a session, the client is sent a question of ours and
//! answers it. In the protocol without sessions (2026-07-28), the call is answered with the missing
//! input, and the client repeats it.

use std::time::{Duration, Instant};

use counterfoil_guard::{Asking, Before, CallError, PersonsAnswer, Question, Undecided};
use counterfoil_model::Arguments;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::call::Call;
use super::gateway::{Gateway, Step};
use super::held::{Held, Wire};
use super::looks::is_unseen;
use super::members::Members;
use super::message::{self, Message, code, id_of};
use super::methods::is_spelling_of;
use super::waiting::Waiting;

/// Prefix of the ids of our own questions.
const QUESTION: &str = "counterfoil-";

/// Maximum number of open questions; beyond it, calls are denied.
const MOST: usize = 256;

/// How long a client without a session may take to return with an answer.
const PATIENCE: Duration = Duration::from_secs(600);

/// Who answers our questions, for receipts.
const PERSON: &str = "the user of the MCP client";

/// The text with every character that no one sees, or that turns the direction of others, as its
/// number.
pub(super) fn with_all_seen(text: &str) -> String {
    let seen = text.chars().map(|c| match is_unseen(c) {
        true => format!("\\u{{{:x}}}", u32::from(c)),
        false => c.to_string(),
    });
    seen.collect()
}

/// Whether this JSON is the id of one of our questions.
pub(super) fn is_question(id: &str) -> bool {
    id.strip_prefix('"').is_some_and(|id| id.starts_with(QUESTION))
}

impl Gateway {
    /// Closes calls whose client without a session did not return with an answer.
    async fn forget_old(&self) {
        let old: Vec<Held> = {
            let mut shared = self.shared();
            let is_old =
                |held: &Held| held.wire != Wire::Session && held.since.elapsed() > PATIENCE;
            shared.held_calls.extract_if(.., |_, held| is_old(held)).map(|(_, held)| held).collect()
        };
        for held in old {
            self.give_up(&held, PersonsAnswer::Missing).await;
        }
    }

    /// Records that a call is not made because the person gave no decision.
    pub(super) async fn give_up(&self, held: &Held, answer: PersonsAnswer) {
        if let Err(error) = self.record_answer(held, answer).await {
            tracing::error!("cannot record the end of a call: {error}");
        }
    }

    async fn record_answer(&self, held: &Held, answer: PersonsAnswer) -> Result<Before, CallError> {
        self.session.decided(&held.undecided, PERSON, answer).await
    }

    pub(super) async fn asking(&self, wire: Wire) -> Asking {
        self.forget_old().await;
        let able = match wire {
            Wire::Session => self.state().elicits,
            Wire::Stateless { elicits } => elicits,
        };
        if able && self.shared().held_calls.len() < MOST {
            Asking::Reported
        } else {
            Asking::Unattended
        }
    }

    /// Asks the person at the client.
    pub(super) fn ask(
        &self,
        wire: Wire,
        (id, line): (&str, String),
        (call, undecided): (Call, Undecided),
        questions: &[Question],
    ) -> Step {
        // The server does not know this id, so it cannot use it for a question of its own.
        let mut random = [0; 16];
        if let Err(error) = getrandom::fill(&mut random) {
            let reason = format!("cannot get random bytes: {error}");
            return Step::Answer(message::error(Some(id), code::INTERNAL_ERROR, &reason));
        }
        let question = Value::from(format!("{QUESTION}{:032x}", u128::from_ne_bytes(random)));
        let (since, id) = (Instant::now(), id.to_owned());
        let held = Held { wire, since, id: id.clone(), call: Box::new(call), undecided, line };
        let whys: Vec<&str> = questions.iter().map(|question| question.why.as_str()).collect();
        let call = questions.first().map_or("", |question| question.call.as_str());
        let message = format!("May this tool call run?\n\n{call}\n\n{}", whys.join("\n"));
        let message = with_all_seen(&message);
        let schema = json!({ "type": "object", "properties": {} });
        let params = json!({ "message": message, "requestedSchema": schema });
        self.shared().held_calls.insert(question.to_string(), held);
        Step::Answer(match wire {
            Wire::Session => {
                self.state().waiting.insert(id, Waiting::Person);
                message::request(&question.to_string(), "elicitation/create", &params)
            }
            Wire::Stateless { .. } => {
                let request = json!({ "method": "elicitation/create", "params": params });
                let missing = json!({
                    "resultType": "input_required",
                    "inputRequests": { "counterfoil": request },
                    "requestState": question,
                });
                message::result(&id, &missing)
            }
        })
    }

    /// Handles the client's answer to a question from the server or from us.
    pub(super) async fn question_answered(
        &self,
        message: &Message<'_>,
        forward: Step,
    ) -> Option<Step> {
        let Some(id) = message.id.as_deref() else {
            tracing::warn!("dropped an answer from the client: it has no request id");
            return None;
        };
        let held = {
            let mut shared = self.shared();
            // Without a session, the repeated call contains the answer.
            let ours = shared.held_calls.get(id).is_some_and(|held| held.wire == Wire::Session);
            if ours { shared.held_calls.remove(id) } else { None }
        };
        match held {
            Some(held) => {
                let answer = answer_in(message.members.get("result"));
                let (id, line) = (held.id.clone(), held.line.clone());
                Some(self.decided((id, line), held, answer).await)
            }
            None => {
                let mut state = self.state();
                let position = state.questions.iter().position(|question| question == id);
                let Some(at) = position else {
                    // If the question was ours, this is too late: the call has been cancelled.
                    tracing::warn!("dropped an answer from the client: no request has the id {id}");
                    return None;
                };
                state.questions.remove(at);
                Some(forward)
            }
        }
    }

    /// Handles a call that is repeated with a person's answer; `None` if it is not such a call.
    pub(super) async fn made_again(
        &self,
        wire: Wire,
        id: &str,
        params: &Members<'_>,
    ) -> Option<Step> {
        let question = id_of(params.get("requestState")?.get()).filter(|id| is_question(id))?;
        let refused =
            |what: &str| Some(Step::Answer(message::error(Some(id), code::INVALID_PARAMS, what)));
        let Some(held) = self.shared().held_calls.remove(&question) else {
            return refused(
                "no question about this call is open: it was already answered, or never asked",
            );
        };
        let first: Option<Members<'_>> = serde_json::from_str(&held.line).ok();
        let Some(first) = first else { return refused("the call is no longer available") };
        let before: Option<Members<'_>> =
            first.get("params").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(before) = before else { return refused("the call is no longer available") };
        let arguments = params.get("arguments").map_or("{}", RawValue::get);
        let given = Arguments::raw(arguments).canonical();
        let called = &held.call.hosted.call;
        let name: Option<String> =
            params.get("name").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let same = given.is_ok_and(|given| {
            called.arguments.canonical().is_ok_and(|original| original == given)
        });
        if name.as_deref() != Some(&called.tool) || !same {
            let what = "this is not the call that the user was asked about";
            self.give_up(&held, PersonsAnswer::Missing).await;
            return refused(what);
        }
        let answers = params.get("inputResponses").and_then(|raw| only(raw, "counterfoil"));
        let answer = answer_in(answers);
        let again = match params.get("_meta") {
            Some(meta) => before.with("_meta", meta.get()),
            None => before.with("_meta", "{}"),
        };
        let line = first.with("params", &again);
        let line = match serde_json::from_str::<Members<'_>>(&line) {
            Ok(members) => members.with("id", id),
            Err(_) => return refused("the call is no longer available"),
        };
        Some(self.decided((id.to_owned(), line), Held { wire, ..held }, answer).await)
    }

    /// Forwards or rejects a call once a person has decided.
    async fn decided(
        &self,
        (id, line): (String, String),
        held: Held,
        answer: PersonsAnswer,
    ) -> Step {
        // Until the answer is recorded, the id stays in use.
        let before = self.record_answer(&held, answer).await;
        self.state().waiting.remove(&id);
        let call = (held.call.hosted, held.call.as_task);
        self.judged_or_error(held.wire, (&id, line), call, before)
    }
}

/// A member of an object that has no other spelling of its name, of which a client could mean
/// either.
fn only<'m>(raw: &'m RawValue, name: &str) -> Option<&'m RawValue> {
    let members: Members<'m> = serde_json::from_str(raw.get()).ok()?;
    let spellings = members.0.iter().filter(|(known, _)| is_spelling_of(known, name));
    if spellings.count() > 1 { None } else { members.get(name) }
}

/// What a person answered, according to a client's result. A client that cannot show the question
/// answers with an error, or with nothing.
fn answer_in(result: Option<&RawValue>) -> PersonsAnswer {
    let action = result.and_then(|raw| only(raw, "action"));
    let action = action.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    match action.as_deref() {
        Some("accept") => PersonsAnswer::Agreed,
        Some("decline" | "cancel") => PersonsAnswer::Declined,
        _ => PersonsAnswer::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_answer_counts() {
        use PersonsAnswer::{Agreed, Declined, Missing};
        for (result, expected) in [
            (r#"{"action":"accept"}"#, Agreed),
            (r#"{"action":"accept","content":{}}"#, Agreed),
            (r#"{"action":"decline"}"#, Declined),
            (r#"{"action":"cancel"}"#, Declined),
            (r#"{"action":"accept","Action":"decline"}"#, Missing),
            (r#"{"action ":"decline","action":"accept"}"#, Missing),
            (r#"{"action":"decline","action":"accept"}"#, Missing),
            (r#"{"Action":"accept"}"#, Missing),
            (r#"{"action":"Accept"}"#, Missing),
            (r#"{"action":true}"#, Missing),
            ("{}", Missing),
            ("null", Missing),
        ] {
            let raw: &RawValue = serde_json::from_str(result).unwrap();
            assert_eq!(answer_in(Some(raw)), expected, "{result}");
        }
        assert_eq!(answer_in(None), Missing);
    }

    #[test]
    fn a_person_sees_every_character() {
        for (text, seen) in [
            ("cancel {\"id\":7}\n\tä", "cancel {\"id\":7}\n\tä"),
            ("pay \u{202e}001\u{202c} to a\u{200b}b", "pay \\u{202e}001\\u{202c} to a\\u{200b}b"),
        ] {
            assert_eq!(with_all_seen(text), seen);
        }
    }
}
