//! A judge that reads answers in addition to the rules.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_guard::{Disposition, LiveJudge, Verified};
use counterfoil_judge::{Judge, Prompt, ReadingOptions, Reply};
use counterfoil_model::{Grade, Role};

use crate::desk::{run, session, shop, wait};

/// Gives the same reply to every question, and counts the questions.
#[derive(Default)]
struct Says {
    reply: &'static str,
    questions: AtomicUsize,
}

impl Judge for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, String> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        assert!(prompt.question.contains("S1: "), "{}", prompt.question);
        match self.reply {
            "" => Err("it is away".to_owned()),
            reply => Ok(Reply { text: reply.to_owned(), tokens: 0 }),
        }
    }
}

/// A finding about the total of an order that was looked up.
const OTHER_TOTAL: &str = r#"{"findings": [{"sentence": "S1", "verdict": "contradicted",
    "says": "total is 529", "record": "R1", "quote": "\"total\":42.5", "confidence": 0.9}]}"#;

/// Looks an order up, gives an answer, and verifies it. Also returns how often the judge was asked.
fn answered(reply: &'static str, answer: &str) -> (Verified, usize) {
    let judge = Arc::new(Says { reply, ..Says::default() });
    let live = LiveJudge::new(Arc::clone(&judge) as Arc<dyn Judge>, ReadingOptions::default());
    let guard = shop().answer_judge(Arc::new(live)).build().unwrap();
    let session = session(&guard, "s");
    let verified = wait(async {
        session.hear(Role::User, "what does order #W1 cost?").await.unwrap();
        run(&session, "get_order", r##"{"order_id":"#W1"}"##).await;
        session.verify(answer).await.unwrap()
    });
    (verified, judge.questions.load(Ordering::Relaxed))
}

#[test]
fn what_the_judge_cites_blocks() {
    let (verified, questions) = answered(OTHER_TOTAL, "The total is 529.");
    assert_eq!((verified.disposition, questions), (Disposition::Block, 1));
    assert_eq!(verified.findings[0].grade, Grade::Read);
    assert!(verified.feedback.contains("total is 529"), "{}", verified.feedback);
    assert!(verified.feedback.contains("42.5"), "{}", verified.feedback);
}

#[test]
fn what_cannot_be_cited_or_read_blocks_nothing() {
    let invented = r#"{"findings": [{"sentence": "S1", "verdict": "contradicted",
        "says": "total is 42.5", "record": "R1", "quote": "\"total\":529", "confidence": 1}]}"#;
    for (reply, why) in [
        (r#"{"findings": []}"#, None),
        (invented, None),
        ("", Some("it is away")),
        ("all good", Some("the reply has no JSON object")),
    ] {
        let (verified, questions) = answered(reply, "The total is 42.5.");
        assert_eq!((verified.disposition, questions), (Disposition::Pass, 1), "{reply}");
        let unjudged = verified.unjudged.unwrap_or_default();
        assert_eq!(unjudged.is_empty(), why.is_none(), "{reply}: {unjudged}");
        assert!(unjudged.contains(why.unwrap_or_default()), "{unjudged}");
    }
}

#[test]
fn no_judge_is_consulted_about_what_is_proven_or_empty() {
    let (verified, questions) =
        answered(r#"{"findings": []}"#, "Your order #W1 has been cancelled.");
    assert_eq!((verified.disposition, questions), (Disposition::Block, 0));
    assert_eq!(answered("", " ").1, 0);
}
