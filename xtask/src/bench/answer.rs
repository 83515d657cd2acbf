//! A generated session of ten calls, and an answer that reports them.

use counterfoil_model::{
    Arguments, Catalog, Format, Message, Mode, Outcome, Role, Tool, ToolCall, Transcript,
};
use counterfoil_rules::{Group, Settings, rules};
use serde_json::json;

/// The tools of a shop assistant.
const TOOLS: [&str; 10] = [
    "find_user_id_by_email",
    "get_user_details",
    "get_order_details",
    "get_product_details",
    "calculate",
    "modify_pending_order_items",
    "cancel_pending_order",
    "process_refund",
    "send_email",
    "run_tests",
];

/// Returns a session of ten calls with 14 kB of results, and an answer of 2 kB with ids, amounts
/// and claims.
pub(crate) fn session() -> Transcript {
    let mut session = Transcript::new("shop", Format::OpenaiChat);
    session.catalog = Catalog::known(TOOLS.map(Tool::named)).0;
    session.messages.push(Message::text(
        Role::User,
        "Hi, I am dana@example.com. Please cancel #W2378156, change #W9502127 to the blue lamp, \
         and tell me what I get back.",
    ));
    for (n, tool) in TOOLS.into_iter().enumerate() {
        let id = format!("call_{n}");
        let mut call = Message::text(Role::Assistant, "");
        let order = if n % 2 == 0 { "#W2378156" } else { "#W9502127" };
        let arguments =
            Arguments::raw(json!({"order_id": order, "reason": "no longer needed"}).to_string());
        call.calls.push(ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, line: 0 });
        let mut answer = Message::text(Role::Tool, "");
        answer.outcomes.push(Outcome { call_id: id, text: result(n, order), ..Outcome::default() });
        session.messages.extend([call, answer]);
    }
    session.messages.push(Message::text(Role::Assistant, ANSWER));
    session
}

/// The number of calls in the long session.
const RECEIPTS: usize = 10_000;
/// The number of repetitions of the answer in the long answer: about a hundred pages.
const PARTS: usize = 150;

/// Returns a session of ten thousand calls, with an answer of a hundred pages that reports some of
/// them.
pub(crate) fn book() -> Transcript {
    let mut session = session();
    session.messages.pop();
    for n in 0..RECEIPTS {
        let id = format!("call_b{n}");
        let tool = TOOLS.get(n % TOOLS.len()).copied().unwrap_or_default();
        let order = format!("#W{:07}", 1_000_000 + n);
        let arguments = Arguments::raw(json!({"order_id": order}).to_string());
        let mut call = Message::text(Role::Assistant, "");
        call.calls.push(ToolCall { id: id.clone(), tool: tool.to_owned(), arguments, line: 0 });
        let mut answer = Message::text(Role::Tool, "");
        let amount = 20 + n % 4_000;
        let text = json!({"order_id": order, "status": "processed", "total": amount}).to_string();
        answer.outcomes.push(Outcome { call_id: id, text, ..Outcome::default() });
        session.messages.extend([call, answer]);
    }
    let mut text = String::new();
    for part in 0..PARTS {
        // Each part is about other orders, spread over the whole session.
        let order = |k: usize| 1_000_000 + (part * 61 + k * 4_999) % RECEIPTS;
        let part = ANSWER
            .replace("W2378156", &format!("W{}", order(1)))
            .replace("W9502127", &format!("W{}", order(2)))
            .replace("154.20", &format!("{}", 20 + order(1) % 4_000));
        text.push_str(&part);
    }
    session.messages.push(Message::text(Role::Assistant, text));
    session
}

/// Returns settings with the claim rules but without the call rules.
pub(crate) fn claims_only() -> Settings {
    let mut settings = Settings::default();
    for rule in rules().filter(|rule| rule.meta().group != Group::Claim) {
        settings.modes.insert(rule.meta().code, Mode::Off);
    }
    settings
}

/// Returns a result of about 1.4 kB of JSON.
fn result(n: usize, order: &str) -> String {
    let items: Vec<_> = (0..9)
        .map(|i| {
            json!({
                "item_id": format!("{}", 4_579_334_072_u64 + i * 731 + n as u64),
                "name": "Desk Lamp", "options": {"colour": "blue", "power": "battery"},
                "price": 27.5 + i as f64, "available": i % 2 == 0
            })
        })
        .collect();
    json!({"order_id": order, "status": "processed", "user_id": "dana_lee_4821", "items": items})
        .to_string()
}

const ANSWER: &str = "\
Thanks for waiting, Dana. Here is what I did today:

1. **Order #W2378156**: I cancelled the order and refunded $154.20 to your card ending in 4821. \
You should see it in 5 to 7 business days.
2. **Order #W9502127**: I changed item 4579334073 to the blue Desk Lamp (item 4579334804). The \
price is $28.50, so I charged nothing extra.
3. **Confirmation**: I sent an e-mail to dana@example.com with both order numbers.

I looked up your account with the get_user_details tool, and checked the stock: the battery lamp is \
available, the one with a cable is not. According to the product data the colour blue costs the same.

| Order | Status | Amount |
|---|---|---|
| #W2378156 | cancelled | $154.20 |
| #W9502127 | modified | $28.50 |

A few more things that may help you:

- The refund was processed with reference 4579335535, and the gift card balance is unchanged.
- I did not change your address, because you didn't ask for it; if you'd like, I can do that next.
- Returns are free for 30 days. You would have to print the label yourself, and the courier picks it \
up from your door between 9:00 and 17:00.
- Item 4579336266 has been added to your wish list, as it is out of stock at the moment.

For the web shop itself: all tests pass, the build is green, and the fix for the rounding error in \
`src/orders/total.rs` is in place. I've also updated `CHANGELOG.md`, so that your colleagues can see \
what has changed since the last release on 2026-01-12. The totals are now rounded to two places in \
every currency that you sell in, also in those without cents, and the export to the book keeping \
tool takes the rounded figures. Nothing else in the export was touched, so the old reports stay as \
they are and can be compared with the new ones line by line.

Would you like me to send the label for the return of the second lamp now, or is there anything else \
that I can do for you today? I'm happy to help with the newsletter settings too, they can be found \
under your name at the top of the page.
";
