//! A session twice as long takes about twice as long to judge: the rules about values, sources and
//! errors look at what they need, not at everything for each of their claims.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use counterfoil_model::{
    Arguments, Catalog, Code, Format, Message, Mode, Outcome, Role, Tool, ToolCall, Transcript,
};
use counterfoil_rules::{Settings, check, rules};

/// Steps of the shorter session; a path that is quadratic in them is slower than all the rest.
const STEPS: usize = 120;
/// The fastest of so many runs counts, so that a busy machine does not.
const RUNS: usize = 3;
/// A busy machine gets so many chances.
const ROUNDS: usize = 3;
/// Twice the session may take so many times as long. A quadratic path takes four times.
const MOST: f64 = 2.8;

/// Calls with results, and after each some claims that hold and some that do not.
fn session(steps: usize) -> Transcript {
    let tool = "get_order";
    let mut session = Transcript::new("growth", Format::OpenaiChat);
    session.catalog = Catalog::known([Tool::named(tool)]).0;
    session.messages.push(Message::text(Role::User, "Please go through all orders."));
    for n in 0..steps {
        let id = format!("call_{n}");
        let mut call = Message::text(Role::Assistant, "");
        let arguments = Arguments::raw(format!(r#"{{"order":"W{n}"}}"#));
        call.calls.push(ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, line: 0 });
        let mut answer = Message::text(Role::Tool, "");
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
        answer.outcomes.push(Outcome { call_id: id, text, ..Outcome::default() });
        session.messages.extend([call, answer]);
        let said = format!(
            "Order #W{:07} costs ${}.50, order #W{:07} costs ${}.99. I found 4 files in it, and \
             there are no open orders. The manual says \"an order number {n} may never be changed \
             twice in a day\". It failed with the error \"cannot find order number {n} in this list\". \
             See https://shop.test/orders/{n} and `src/part_{n}.rs`.",
            1_000_000 + n * 7,
            40 + n,
            1_000_003 + n * 7,
            90_000 + n,
        );
        session.messages.push(Message::text(Role::Assistant, said));
    }
    session
}

/// The settings under which only one rule judges.
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
    for code in ["FK010", "FK021", "FK030", "CS010", "CS011", "CS012", "CS017"] {
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
