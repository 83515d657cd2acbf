//! Conversations that the server keeps: by `previous_response_id` and by `conversation`.

use counterfoil_proxy::ProxyMode;
use serde_json::{Value, json};

use crate::LOOKED_UP;
use crate::desk::{Desk, Scripted};
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, Says};

const LIE: &str = "I have cancelled order 7.";

/// An answer with this id.
fn answer(id: &str, says: &[Says], streams: bool) -> Scripted {
    match streams {
        true => Scripted::stream(&On::Responses.stream(says).replace("resp_1", id)),
        false => {
            let mut answer = On::Responses.whole(says);
            answer["id"] = json!(id);
            Scripted::json(&answer)
        }
    }
}

/// A request whose input is only this.
fn request(input: &Value, how: (&str, &str), streams: bool) -> Value {
    let mut request = On::Responses.request("", &[]);
    request["input"] = input.clone();
    request["stream"] = json!(streams);
    if !how.1.is_empty() {
        request[how.0] = json!(how.1);
    }
    request
}

#[test]
fn results_of_kept_calls_prove_what_did_not_happen() {
    let (id, tool, arguments, result) = LOOKED_UP;
    let output = json!([{ "type": "function_call_output", "call_id": id, "output": result }]);
    let stranger = json!([{ "type": "function_call_output", "call_id": "x", "output": result }]);
    test(async move {
        for streams in [true, false] {
            for (first, second, output, words, passes) in [
                (("", ""), ("previous_response_id", "resp_a"), &output, LIE, false),
                (("conversation", "conv_1"), ("conversation", "conv_1"), &output, LIE, false),
                (
                    ("", ""),
                    ("previous_response_id", "resp_a"),
                    &output,
                    "Order 7 is shipped.",
                    true,
                ),
                // Nothing is proven about a call that is not known, or a conversation that is not.
                (("", ""), ("previous_response_id", "resp_a"), &stranger, LIE, true),
                (("", ""), ("previous_response_id", "resp_x"), &output, LIE, true),
            ] {
                let desk = Desk::new(ProxyMode::Block).await;
                desk.next(answer("resp_a", &[Call(id, tool, arguments)], streams));
                let user = json!([{ "role": "user", "content": "Look at order 7." }]);
                desk.ask(On::Responses.path(), &request(&user, first, streams)).await;
                desk.answers(1).await;
                desk.next(answer("resp_b", &[Text(words)], streams));
                let response =
                    desk.ask(On::Responses.path(), &request(output, second, streams)).await;
                let reply = format!("{:?}", response.text.replace("\",\"", ""));
                let delivered = match streams {
                    true => {
                        response.text.contains("response.completed")
                            && !response.text.contains("Counterfoil")
                    }
                    false => response.text.contains(words),
                };
                assert_eq!(delivered, passes, "{streams} {second:?} {reply}");
            }
        }
    });
}

/// What is unknown at the start stays unknown.
#[test]
fn a_conversation_that_begins_in_the_middle_stays_incomplete() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        let user = json!([{ "role": "user", "content": "And?" }]);
        for (previous, id, says) in [("resp_0", "resp_a", "Hello."), ("resp_a", "resp_b", LIE)] {
            desk.next(answer(id, &[Text(says)], false));
            let body = request(&user, ("previous_response_id", previous), false);
            let response = desk.ask(On::Responses.path(), &body).await;
            assert!(response.text.contains(says), "{}", response.text);
            desk.answers(1).await;
        }
    });
}

#[test]
fn a_request_that_follows_at_once_is_linked() {
    test(async {
        let desk = Desk::new(ProxyMode::Block).await;
        for round in 0..20 {
            let streams = round % 2 == 0;
            let id = format!("resp_{round}a");
            let user =
                |text: &str| json!([{ "role": "user", "content": format!("{text} {round}") }]);
            desk.next(answer(&id, &[Text("Hello.")], streams));
            desk.ask(On::Responses.path(), &request(&user("Hello"), ("", ""), streams)).await;
            desk.next(answer(&format!("resp_{round}b"), &[Text(LIE)], false));
            let body = request(&user("Well?"), ("previous_response_id", &id), false);
            let response = desk.ask(On::Responses.path(), &body).await;
            assert!(!response.text.contains(LIE), "{round} {}", response.text);
        }
    });
}
