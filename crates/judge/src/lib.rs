//! A judge that must cite: builds the question for a language model about one answer of an agent,
//! and keeps only the findings whose quotations code has found.
//!
//! 1. [`Case::new`] builds the case from the facts known before the answer.
//! 2. [`Prompt::new`] builds the question, which the caller sends to a model.
//! 3. [`Opinion::read`] parses the reply; an invalid reply is [`Unjudged`].
//! 4. [`assess`] keeps the findings whose quotations are where the model says they are, confirms
//!    them by code where possible, and grades them.
//!
//! [`read`] does all of this for one answer, with any source of opinions.
//!
//! Deliberately not here: asking a model, I/O, async, clock, randomness. Of a model's own words,
//! only quotations found in the answer or in the record are ever shown.
//!
//! ```
//! use counterfoil_judge::{Ask, Case, Grading, Opinion, Prompt, assess};
//! use counterfoil_model::{Format, Message, Outcome, Role, Severity, ToolCall, Transcript};
//! use counterfoil_record::Record;
//!
//! let mut transcript = Transcript::new("t", Format::OpenaiChat);
//! let call = ToolCall::new("1", "get_order", r#"{"id": "W7"}"#);
//! let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
//! let text = r#"{"id": "W7", "total": 384}"#.to_owned();
//! let outcome = Outcome { call_id: "1".into(), text, ..Outcome::default() };
//! let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
//! let answer = Message::text(Role::Assistant, "I looked it up. The total is 529.");
//! transcript.messages = vec![calls, results, answer];
//!
//! let record = Record::new(&transcript);
//! let case = Case::new(record.up_to(2), &Ask::default()).expect("the message says something");
//! let prompt = Prompt::new(&case, "5d3c01");
//! assert!(prompt.question.contains("S2: The total is 529."));
//!
//! let reply = r#"{"findings": [{"sentence": "S2", "verdict": "contradicted",
//!     "says": "total is 529", "record": "R1", "quote": "\"total\": 384", "confidence": 0.9}]}"#;
//! let opinion = Opinion::read(reply).expect("the reply has the form");
//! let judged = assess(&case, &opinion, &Grading::default());
//! assert_eq!(judged.findings[0].severity, Severity::Error);
//! assert_eq!(judged.findings[0].span.start, 20);
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod accuracy;
mod assess;
mod case;
mod citation;
mod confirm;
mod finding;
mod grade;
mod kept;
mod nearest;
mod opinion;
mod prompt;
mod reading;

pub use accuracy::Accuracy;
pub use assess::{Absence, Assessment, Cited, Dropped, ReadFinding, Searched, assess};
pub use case::{Ask, Case, CaseLine, Joint, LeftOut, Need, Sentence};
pub use citation::{Citation, NotFound, find};
pub use confirm::Confirmation;
pub use finding::{Contradicted, JUDGE, JUDGE_NAME};
pub use grade::Grading;
pub use kept::{BatchForm, Kept, LineError, OpinionLine, Opinions, batch_line, digest};
pub use nearest::Nearest;
pub use opinion::{Claimed, Opinion, ReadVerdict, Unjudged};
pub use prompt::{PROMPT_VERSION, Prompt, answer_schema};
pub use reading::{
    AnswerJudge, Given, Judge, Reading, ReadingOptions, Reply, answers, ask, ask_jointly, boundary,
    case, read,
};
