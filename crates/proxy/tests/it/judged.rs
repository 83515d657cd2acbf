//! A judge that reads answers in addition to the rules.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_guard::{Guard, LiveJudge};
use counterfoil_judge::{Judge, Prompt, ReadingOptions, Reply};
use counterfoil_proxy::{ProxyMode, ProxyOptions};
use serde_json::json;

use crate::desk::{ClientResponse, Desk, Scripted};
use crate::test;
use crate::wires::Says::{Call, Text};
use crate::wires::{On, Says, WIRES};
use crate::{LOOKED_UP, MODES};

/// No rule checks the weight of an order.
const LIE: [Says; 1] = [Text("I looked. Order 7 weighs 90 kg. Have a nice day.")];
const HONEST: [Says; 1] = [Text("I looked. Order 7 is shipped.")];

/// Finds the false claim anywhere, or is unavailable.
#[derive(Default)]
struct Reads {
    away: bool,
    prompts: AtomicUsize,
}

impl Judge for Reads {
    fn name(&self) -> &str {
        "reads"
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, String> {
        self.prompts.fetch_add(1, Ordering::Relaxed);
        if self.away {
            return Err("it is away".to_owned());
        }
        let finding = json!({ "sentence": "S2", "verdict": "contradicted", "says": "weighs 90 kg",
            "record": "R1", "quote": "\"status\": \"shipped\"", "confidence": 0.9 });
        let lies = prompt.question.contains("weighs 90 kg");
        let findings = if lies { vec![finding] } else { Vec::new() };
        Ok(Reply { text: json!({ "findings": findings }).to_string(), tokens: 0 })
    }
}

async fn desk(mode: ProxyMode, away: bool) -> (Desk, Arc<Reads>) {
    let judge = Arc::new(Reads { away, ..Reads::default() });
    let live = LiveJudge::new(Arc::clone(&judge) as Arc<dyn Judge>, ReadingOptions::default());
    // With a judge, answers wait for it: there is no time limit otherwise.
    let options =
        ProxyOptions { mode, verify_ms: 0, max_corrections: 0, ..ProxyOptions::default() };
    (Desk::with_guard(options, Guard::builder().answer_judge(Arc::new(live))).await, judge)
}

async fn answered(desk: &Desk, on: On, says: &[Says], streams: bool) -> ClientResponse {
    let mut request = on.request("What is with order 7?", &[LOOKED_UP]);
    request["stream"] = json!(streams);
    desk.next(match streams {
        true => Scripted::cut(&on.stream(says), 50),
        false => Scripted::json(&on.whole(says)),
    });
    desk.ask(on.path(), &request).await
}

#[test]
fn a_lie_is_annotated_or_held_before_a_word_of_it_leaves() {
    test(async {
        for mode in [ProxyMode::Annotate, ProxyMode::Block] {
            let (desk, _) = desk(mode, false).await;
            for (on, streams) in WIRES.iter().flat_map(|on| [(*on, true), (*on, false)]) {
                let response = answered(&desk, on, &LIE, streams).await;
                let noted = response.text.contains("JUDGE") && response.text.contains("shipped");
                match mode {
                    ProxyMode::Block => assert!(
                        !response.text.contains("nice day") && !response.text.contains("Order 7"),
                        "{on:?} {streams}: {}",
                        response.text
                    ),
                    _ => assert!(noted, "{on:?} {streams}: {}", response.text),
                }
            }
        }
    });
}

#[test]
fn honest_answers_pass_and_a_judge_that_is_away_blocks_nothing() {
    test(async {
        for (mode, away) in MODES.iter().flat_map(|mode| [(*mode, false), (*mode, true)]) {
            let (desk, judge) = desk(mode, away).await;
            let says = if away { &LIE } else { &HONEST };
            for (on, streams) in WIRES.iter().flat_map(|on| [(*on, true), (*on, false)]) {
                let expected = match streams {
                    true => on.stream(says),
                    false => on.whole(says).to_string(),
                };
                let response = answered(&desk, on, says, streams).await;
                assert_eq!(response.text, expected, "{mode:?} {on:?} {streams}");
            }
            // If everything is passed on at once, the judge is asked afterwards.
            let prompts = judge.prompts.load(Ordering::Relaxed);
            assert!(prompts > 0 || mode == ProxyMode::Observe, "{mode:?}");
        }
    });
}

/// An answer with a call does not end the turn.
#[test]
fn no_judge_is_consulted_while_the_agent_works() {
    test(async {
        let (desk, judge) = desk(ProxyMode::Block, false).await;
        let says = [Text("I will look."), Call("c1", "get_order", "{\"id\": 7}")];
        answered(&desk, WIRES[0], &says, true).await;
        answered(&desk, WIRES[0], &[Text("")], true).await;
        assert_eq!(judge.prompts.load(Ordering::Relaxed), 0);
    });
}
