//! Judging a session that is twice as long takes about twice as long: rules about values, sources
//! and errors must not read everything for each claim.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use counterfoil_model::{
    Catalog, Code, Format, Message, Mode, Outcome, Role, Tool, ToolCall, Transcript,
};
use counterfoil_rules::{Settings, check, rules};

/// The number of steps of the shorter session. At this size, a quadratic path dominates.
const STEPS: usize = 120;
/// The number of runs, of which the fastest counts, so that a busy machine does not matter.
const RUNS: usize = 3;
/// The number of attempts, for a busy machine.
const ROUNDS: usize = 10;
/// The maximum ratio of times when the session doubles. A quadratic path takes four times as long.
const MOST: f64 = 2.8;

/// The number of pieces of the shorter answer.
const PIECES: usize = 2_100;
/// The maximum ratio of times when the answer doubles.
const MOST_OF_ANSWERS: f64 = 2.6;

/// Calls with results, each followed by claims, some true and some false.
fn session(steps: usize) -> Transcript {
    let tool = "get_order";
    let mut session = Transcript::new("growth", Format::OpenaiChat);
    session.catalog = Catalog::known([Tool::named(tool)]).0;
    session.messages.push(Message::text(Role::User, "Please go through all orders."));
    for n in 0..steps {
        let arguments = format!(r#"{{"order":"W{n}"}}"#);
        let mut text =
            format!(r#"{{"order_id":"W{:07}","total":{}.50,"items":["#, 1_000_000 + n * 7, 40 + n);
        for item in 0..24 {
            let _ = write!(
                text,
                r#"{{"item_id":"{}","price":{item}.25}},"#,
                4_000_000_000_u64 + (n * 24 + item) as u64 * 13
            );
        }
        text.push_str(r#"{}],"note":"3 files changed"}"#);
        session.messages.extend(call(&format!("call_{n}"), tool, &arguments, text));
        let reply = format!(
            "Order #W{:07} costs ${}.50, order #W{:07} costs ${}.99. I found 4 files in it, and \
             there are no open orders. The manual says \"an order number {n} may never be changed \
             twice in a day\". It failed with the error \"cannot find order number {n} in this list\". \
             See https://shop.test/orders/{n} and `src/part_{n}.rs`.",
            1_000_000 + n * 7,
            40 + n,
            1_000_003 + n * 7,
            90_000 + n,
        );
        session.messages.push(Message::text(Role::Assistant, reply));
    }
    session
}

/// A call and its result.
fn call(id: &str, tool: &str, arguments: &str, text: String) -> [Message; 2] {
    let calls = vec![ToolCall::new(id, tool, arguments)];
    let outcomes = vec![Outcome { call_id: id.to_owned(), text, ..Outcome::default() }];
    [
        Message { calls, ..Message::text(Role::Assistant, "") },
        Message { outcomes, ..Message::text(Role::Tool, "") },
    ]
}

/// Settings with only one rule on.
fn only(code: Code) -> Settings {
    let mut settings = Settings::default();
    for rule in rules().filter(|rule| rule.meta().code != code) {
        settings.modes.insert(rule.meta().code, Mode::Off);
    }
    settings
}

fn fastest(session: &Transcript, settings: &Settings) -> Duration {
    let runs = (0..RUNS).map(|_| {
        let begin = Instant::now();
        let report = check(session, settings);
        let time = begin.elapsed();
        assert_eq!(report.counts.messages, session.messages.len());
        time
    });
    runs.min().unwrap()
}

#[test]
fn judging_grows_with_the_session_and_not_faster() {
    let (short, long) = (session(STEPS), session(2 * STEPS));
    for code in ["FK010", "FK030", "CS010", "CS016", "CS017"] {
        let settings = only(Code(code));
        let growth = (0..ROUNDS).map(|_| {
            let (once, twice) = (fastest(&short, &settings), fastest(&long, &settings));
            println!("{code}: {once:.1?}, twice as much {twice:.1?}");
            twice.as_secs_f64() / once.as_secs_f64()
        });
        let linear = { growth }.any(|growth| growth <= MOST);
        assert!(linear, "{code}: more than {MOST} times as long for twice as much");
    }
}

/// An answer with this number of pieces, after one call.
fn answer(pieces: usize, piece: &dyn Fn(usize) -> String) -> Transcript {
    let mut session = Transcript::new("answer", Format::OpenaiChat);
    session.messages.push(Message::text(Role::User, "Please go through all orders."));
    let text = r#"{"id":"W1000001","total":48.50,"sent":3}"#.to_owned();
    session.messages.extend(call("c", "send_email", r#"{"to":"ada@example.net"}"#, text));
    let parts: Vec<String> = (0..pieces).map(piece).collect();
    session.messages.push(Message::text(Role::Assistant, parts.concat()));
    session
}

/// Every kind of text that was ever slow, and some that never were.
#[test]
fn judging_grows_with_one_answer_and_not_faster() {
    let kinds: [(&str, &dyn Fn(usize) -> String); 9] = [
        ("rows of a log", &|i| {
            format!("2026-10-03T09:00:07 worker-{i} ended job {i} in {} ms\n", i % 97)
        }),
        ("items with numbers", &|i| {
            format!("- Row {i}: order {i} was shipped to customer {}.\n", i * 7)
        }),
        ("sentences with numbers", &|i| format!("The value of item {i} is {}. ", i * 13)),
        ("amounts of orders", &|i| format!("Order #W{} costs ${i}.50. ", 1_000_000 + i)),
        ("paragraphs without a full stop", &|i| {
            format!("I updated `file{i}.rs`, then I wrote part {i}\n\n")
        }),
        ("joined acts", &|_| "I updated a and ".to_owned()),
        ("counts", &|i| format!("I found {i} files in folder {i}. ")),
        ("shares", &|i| format!("Part {i} has {}.{}% of it. ", i % 100, i % 10)),
        ("quoted results", &|i| format!("The tool returned {{\"a\": {i}}}. ")),
    ];
    let settings = Settings::default();
    for (name, piece) in kinds {
        let (short, long) = (answer(PIECES, piece), answer(2 * PIECES, piece));
        let growth = (0..ROUNDS).map(|_| {
            let (once, twice) = (fastest(&short, &settings), fastest(&long, &settings));
            println!("{name}: {once:.1?}, twice as much {twice:.1?}");
            twice.as_secs_f64() / once.as_secs_f64()
        });
        let linear = { growth }.any(|growth| growth <= MOST_OF_ANSWERS);
        assert!(linear, "{name}: more than {MOST_OF_ANSWERS} times as long for twice as much");
    }
}

/// Text after the first mebibyte of an answer is not read, and is counted.
#[test]
fn the_end_of_an_endless_answer_counts_as_not_read() {
    let claim = "I cancelled order 7.\n";
    let mut session = answer(1, &|_| claim.to_owned());
    let report = check(&session, &Settings::default());
    assert_eq!(report.counts.unread_answers, 0);
    assert!(!report.findings.is_empty());
    let filler = "word ".repeat(11).trim_end().to_owned() + "\n";
    session.messages.last_mut().unwrap().text =
        filler.repeat(1024 * 1024 / filler.len()) + &claim.repeat(4);
    let report = check(&session, &Settings::default());
    assert_eq!(report.counts.unread_answers, 1);
    assert_eq!(report.counts.coverage(), Some(0.0), "{:?}", report.counts);
}

/// Text in a language other than English is not read, and is counted.
#[test]
fn prose_in_another_language_counts_as_not_read() {
    let counts_of = |text: &str| {
        let session = answer(1, &|_| text.to_owned());
        check(&session, &Settings::default()).counts
    };
    for text in ["Ich habe die Bestellung storniert.", "订单 W7 已取消。", "Заказ отменён."]
    {
        let counts = counts_of(text);
        assert_eq!((counts.foreign_answers, counts.coverage()), (1, Some(0.0)), "{text}");
    }
    assert_eq!(counts_of("I looked at order 7.").foreign_answers, 0);
}
