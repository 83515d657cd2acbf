//! The bytes of an event: canonical JSON, stored once and hashed as stored.

use std::borrow::Cow;

use counterfoil_model::{CanonicalForm, Digest, ExactValue, JsonLimits, canonical_bytes_of};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::event::{Draft, Event, Links};
use super::read::ReadLedgerError;

/// The version of the events written here, which is the version of their canonical bytes.
pub(super) const VERSION: u32 = CanonicalForm::WRITTEN.version();

/// The canonical bytes of a draft.
pub(super) fn draft_bytes(draft: &Draft) -> Result<Vec<u8>, serde_json::Error> {
    canonical_bytes_of(draft)
}

/// What the ledger adds to a draft.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) seq: u64,
    pub(super) session: &'p str,
    pub(super) session_seq: u64,
    pub(super) at: i64,
    pub(super) previous: Digest,
}

/// The canonical bytes of an event. Its members are sorted by name.
pub(super) fn body(draft: &[u8], place: &Place<'_>) -> Result<Vec<u8>, serde_json::Error> {
    use std::io::Write as _;
    let Place { seq, session, session_seq, at, previous } = place;
    let mut out = Vec::with_capacity(draft.len() + session.len() + 200);
    let written = write!(out, "{{\"at\":{at},\"draft\":").and_then(|()| out.write_all(draft));
    let written = written
        .and_then(|()| write!(out, ",\"previous\":\"{previous}\",\"seq\":{seq},\"session\":"));
    written.map_err(serde_json::Error::io)?;
    serde_json::to_writer(&mut out, session)?;
    write!(out, ",\"session_seq\":{session_seq},\"version\":{VERSION}}}")
        .map_err(serde_json::Error::io)?;
    Ok(out)
}

/// An event, read back from its bytes.
pub(super) fn read(body: &[u8]) -> Result<Event, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        version: u32,
        seq: u64,
        session: String,
        session_seq: u64,
        at: i64,
        draft: Draft,
        previous: Digest,
    }
    let Body { version, seq, session, session_seq, at, mut draft, previous } =
        serde_json::from_slice(body)?;
    read_numbers(body, &mut draft)?;
    let digest = Digest::of_bytes(body);
    Ok(Event { version, seq, session, session_seq, at, draft, previous, digest })
}

/// Reads the arguments again, because serde has rounded their numbers to doubles.
fn read_numbers(body: &[u8], draft: &mut Draft) -> Result<(), serde_json::Error> {
    #[derive(Deserialize)]
    struct Body<'b> {
        #[serde(borrow)]
        draft: Called<'b>,
    }
    #[derive(Deserialize)]
    struct Called<'b> {
        #[serde(borrow, default)]
        arguments: Option<&'b RawValue>,
        #[serde(borrow, default)]
        call: Option<Arguments<'b>>,
    }
    #[derive(Deserialize)]
    struct Arguments<'b> {
        #[serde(borrow)]
        arguments: &'b RawValue,
    }
    let arguments = match draft {
        Draft::Opened(opened) => &mut opened.arguments,
        Draft::Rejected(rejected) => &mut rejected.call.arguments,
        _ => return Ok(()),
    };
    if arguments.has_doubles() {
        let Body { draft } = serde_json::from_slice(body)?;
        let written = draft.call.map(|call| call.arguments).or(draft.arguments);
        let written = written.map_or("", RawValue::get);
        let read = ExactValue::parse(written, JsonLimits::RECORDED);
        *arguments = read.map_err(serde_json::Error::custom)?;
    }
    Ok(())
}

/// The parts of an event that its columns repeat, read without the rest.
#[derive(Debug, Deserialize)]
pub(super) struct Outline<'b> {
    pub(super) version: u32,
    pub(super) seq: u64,
    #[serde(borrow)]
    pub(super) session: Cow<'b, str>,
    pub(super) session_seq: u64,
    pub(super) at: i64,
    #[serde(borrow)]
    pub(super) draft: DraftOutline<'b>,
    pub(super) previous: Digest,
}

/// The parts of a draft that its columns repeat.
#[derive(Debug, Deserialize)]
pub(super) struct DraftOutline<'b> {
    #[serde(borrow)]
    pub(super) event: Cow<'b, str>,
    #[serde(borrow, default)]
    execution_id: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    call: Option<CallOutline<'b>>,
    #[serde(default)]
    links: Links,
    #[serde(default)]
    permit: PermitOutline,
    #[serde(borrow, default)]
    recorded_digest: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'b, str>>,
    #[serde(borrow, default)]
    answer: Option<Cow<'b, str>>,
}

#[derive(Debug, Default, Deserialize)]
struct PermitOutline {
    #[serde(default)]
    uses: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct CallOutline<'b> {
    #[serde(borrow)]
    execution_id: Cow<'b, str>,
}

impl<'b> Outline<'b> {
    pub(super) fn read(body: &'b [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }
}

impl Outline<'_> {
    /// The place of the approval that the event uses up. `session` is for the error message.
    pub(super) fn uses(body: &[u8], session: &str) -> Result<Option<u64>, ReadLedgerError> {
        let read = Outline::read(body).map(|outline| outline.draft.uses());
        read.map_err(|error| ReadLedgerError::Broken {
            what: format!("an event of the session `{session}` cannot be read: {error}"),
        })
    }
}

// INVARIANT: these return the same as the methods of the same names on `Draft`.
impl DraftOutline<'_> {
    pub(super) fn opens(&self) -> Option<&str> {
        match &*self.event {
            "opened" => self.execution_id.as_deref(),
            "rejected" => self.call.as_ref().map(|call| &*call.execution_id),
            _ => None,
        }
    }

    pub(super) fn follows(&self) -> Option<&str> {
        matches!(&*self.event, "closed" | "shown").then_some(self.execution_id.as_deref()).flatten()
    }

    pub(super) fn uses(&self) -> Option<u64> {
        self.permit.uses.filter(|_| self.event == "opened")
    }

    pub(super) fn needs(&self) -> Option<Digest> {
        let digest = match &*self.event {
            "closed" => &self.recorded_digest,
            "said" => &self.text,
            "judged" => &self.answer,
            _ => return None,
        };
        Digest::from_hex(digest.as_deref()?)
    }

    pub(super) fn is_first_attempt(&self) -> bool {
        self.event == "opened" && self.links.is_first_attempt()
    }
}

#[cfg(test)]
mod tests {
    use counterfoil_model::canonical_bytes;
    use serde_json::json;

    use super::*;

    /// Every kind of draft, as written in a ledger.
    fn drafts() -> Vec<Draft> {
        let digest = |text: &str| Digest::of_bytes(text.as_bytes());
        let opened = json!({
            "event": "opened", "execution_id": "t_1735999999123_00000001", "tool": "t",
            "origin": { "kind": "builtin" }, "call_id": "", "phase": "executor", "requested": "by_user",
            "emitted_digest": digest("e"), "arguments_digest": digest("a"),
            "arguments": { "answer": 1, "text": "x", "execution_id": 2 }, "permit": { "by": "host" },
            "trust": "trusted", "started_at": 1,
        });
        let mut retry = opened.clone();
        retry["links"] = json!({ "retry_of": "t_1735999999123_00000000" });
        let mut approved = opened.clone();
        approved["permit"] = json!({ "by": "approval", "who": "ada", "uses": 7 });
        let mut call = opened.clone();
        call.as_object_mut().unwrap().remove("event");
        let drafts = json!([
            opened,
            retry,
            approved,
            { "event": "approved", "arguments_digest": digest("a"), "tool": "t", "by": "ada",
              "lasts": "once", "until": 9 },
            { "event": "declined", "arguments_digest": digest("a"), "tool": "t", "by": "ada",
              "reason": "no" },
            { "event": "rejected", "call": call, "status": "denied", "category": "PolicyBlocked",
              "codes": [], "answer": "no" },
            { "event": "closed", "execution_id": "t_1735999999123_00000001",
              "status": "completed", "truncated": false, "attempts": 1, "ended_at": 2,
              "duration_us": 3, "raw_digest": digest("w"), "recorded_digest": digest("r") },
            { "event": "shown", "execution_id": "t_1735999999123_00000001",
              "digest": digest("s"), "filters": [] },
            { "event": "said", "role": "user", "text": digest("t"), "at": 1 },
            { "event": "judged", "answer": digest("j"), "at": 1, "window_secs": 0,
              "findings": [{ "text": digest("f") }] },
            { "event": "ended" },
        ]);
        serde_json::from_value(drafts).unwrap()
    }

    #[test]
    fn an_outline_says_what_its_draft_says() {
        for (seq, draft) in (0..).zip(drafts()) {
            let bytes = draft_bytes(&draft).unwrap();
            let previous = Digest::of_bytes(b"previous");
            let place =
                Place { seq, session: "a \"session\" \u{1f600}", session_seq: 7, at: -5, previous };
            let body = body(&bytes, &place).unwrap();
            let value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body, canonical_bytes(&value), "the bytes are canonical");
            let event = read(&body).unwrap();
            assert_eq!((&event.draft, event.seq, event.at), (&draft, seq, -5));
            let outline = Outline::read(&body).unwrap();
            assert_eq!(
                (outline.version, outline.seq, &*outline.session, outline.session_seq, outline.at),
                (VERSION, seq, place.session, 7, -5)
            );
            assert_eq!(outline.previous, previous);
            let outline = outline.draft;
            assert_eq!(outline.event, draft.name());
            assert_eq!(outline.opens(), draft.opens(), "{draft:?}");
            assert_eq!(outline.follows(), draft.follows(), "{draft:?}");
            assert_eq!(outline.needs(), draft.needs(), "{draft:?}");
            assert_eq!(outline.uses(), draft.uses(), "{draft:?}");
            assert_eq!(outline.is_first_attempt(), draft.is_first_attempt(), "{draft:?}");
        }
    }
}
