use counterfoil_model::{Format, Message, Outcome, Role, ToolCall, Transcript};
use counterfoil_record::{Record, values};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_has_values_within_it(text in any::<String>()) {
        for value in values(&text) {
            prop_assert!(text.get(value.start..value.end).is_some_and(|found| !found.is_empty()));
        }
    }

    #[test]
    fn any_session_has_facts(
        texts in prop::collection::vec(("[a-z_]{0,8}", any::<String>(), any::<String>()), 0..6),
        message in 0_usize..20,
    ) {
        let mut transcript = Transcript::new("t", Format::OpenaiChat);
        for (tool, arguments, text) in texts {
            let call = ToolCall::new(text.clone(), tool, arguments);
            let outcome = Outcome { call_id: text.clone(), text: text.clone(), ..Outcome::default() };
            let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, text) };
            let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
            transcript.messages.extend([calls, results]);
        }
        let record = Record::new(&transcript);
        let facts = record.up_to(message);
        prop_assert!(facts.sheet().iter().all(|line| !line.text.contains('\n')));
    }
}

#[test]
fn large_sessions_are_read_in_linear_time() {
    let steps = |count: usize| {
        let mut transcript = Transcript::new("t", Format::OpenaiChat);
        for at in 0..count {
            let id = at.to_string();
            let call = ToolCall::new(&id, "Bash", r#"{"command": "cargo test && git push"}"#);
            let text = format!("line {at} of the output, 7 passed\n").repeat(4);
            let outcome = Outcome { call_id: id, text, exit_code: Some(1), ..Outcome::default() };
            let calls = Message { calls: vec![call], ..Message::text(Role::Assistant, "") };
            let results = Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") };
            transcript.messages.extend([calls, results]);
        }
        let record = Record::new(&transcript);
        record.up_to(usize::MAX).sheet().len()
    };
    // The sheet does not grow with the session.
    assert_eq!(steps(200), steps(600));
}
