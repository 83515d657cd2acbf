//! Several answers of one session in one question.

use counterfoil_judge::{Ask, Case, Claimed, Grading, Joint, Prompt, answers, assess};
use counterfoil_model::Transcript;
use counterfoil_record::Record;

use crate::scene::{contradicted, opinion, session};

/// A session of two turns; the total changes in the second.
fn two_turns() -> Transcript {
    let mut first =
        session("Total?", &[("get", "{}", "total 384\nok")], "It is 384. Anything else?");
    let second = session("And now?", &[("get", "{}", "total 529")], "Now it is 529.\n\nRECORD");
    first.messages.extend(second.messages);
    for (at, message) in first.messages.iter_mut().enumerate() {
        for call in &mut message.calls {
            call.id = format!("id{at}");
        }
        for outcome in &mut message.outcomes {
            outcome.call_id = format!("id{}", at - 1);
        }
    }
    first
}

const TEXT: &str = "\
TOOLS OFFERED: not recorded
RECORD WITH ANSWERS
U1: Total?
C1: get {}
R1: total 384
  ok
ANSWER (the record above it is complete; facts about that first)
F1: calls by tool: get ×1
S1: It is 384.
S2: Anything else?
END OF THIS ANSWER
U2: And now?
C2: get {}
R2: total 529
ANSWER (the record above it is complete; facts about that first)
F2: calls by tool: get ×2
S3: Now it is 529.
S4: RECORD
END OF THIS ANSWER
";

fn with_cases(transcript: &Transcript, budget: usize, see: impl FnOnce(Vec<Joint<'_>>)) {
    let record = Record::new(transcript);
    let ask = Ask { budget, ..Ask::default() };
    let cases = answers(transcript).into_iter().filter_map(|at| Case::new(record.up_to(at), &ask));
    see(Joint::join(cases.collect(), budget));
}

#[test]
fn each_answer_is_where_it_was_given() {
    with_cases(&two_turns(), 12_000, |joints| {
        let [joint] = joints.as_slice() else { panic!("{joints:?}") };
        assert_eq!(joint.text(), TEXT);
        let prompt = Prompt::of_several(joint, "b0");
        assert!(prompt.question.contains("each by the lines above it alone"), "{prompt:?}");
    });
}

#[test]
fn an_opinion_is_taken_apart() {
    let claimed = |sentence: &str, says: &str, record: &str, quote: &str| Claimed {
        sentence: sentence.to_owned(),
        ..contradicted(says, record, quote)
    };
    let given = opinion(vec![
        claimed("S1", "is 384", "R2", "total 529"),
        claimed("S3", "is 529", "R1", "total 384"),
        claimed("S3", "is 529", "F1", "1 call"),
        claimed("S7", "is 529", "R1", "total 384"),
    ]);
    with_cases(&two_turns(), 12_000, |joints| {
        let split = joints[0].split(&given);
        let cases = joints[0].cases();
        assert_eq!(split.len(), 2);
        // R2 came later, so it is not a line of the first case.
        let first = assess(&cases[0], &split[0], &Grading::default());
        assert!(first.findings.is_empty() && first.dropped.len() == 2, "{first:?}");
        let second = assess(&cases[1], &split[1], &Grading::default());
        assert_eq!(second.findings.len(), 1, "{second:?}");
        assert_eq!((second.findings[0].says.as_str(), second.dropped.len()), ("is 529", 1));
    });
}

/// A case that does not fit is asked about alone.
#[test]
fn long_sessions_are_not_put_together() {
    let mut transcript = two_turns();
    with_cases(&transcript, 20, |joints| assert!(joints.is_empty(), "{joints:?}"));
    transcript.messages[2].outcomes[0].text = "x ".repeat(40_000);
    with_cases(&transcript, 12_000, |joints| assert!(joints.is_empty(), "{joints:?}"));
}
