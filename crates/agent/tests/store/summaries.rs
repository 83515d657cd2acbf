//! Summaries of sessions, in their order.

use counterfoil_agent::{CompressionStrategy, Store, Summary};

#[test]
fn summaries_follow_one_another() {
    use CompressionStrategy::{Autonomous, Manual, Triggered};
    let store = Store::in_memory().unwrap();
    let summary = |session: &str, strategy, until| {
        let text = format!("what was said until {until}");
        Summary { session: session.to_owned(), strategy, text, until }
    };
    let kept = [summary("a", Manual, 20), summary("a", Triggered, 21)];
    for summary in [&kept[0], &summary("b", Autonomous, 1), &kept[1]] {
        store.add_summary(summary, 1_700_000_000_000).unwrap();
    }
    assert_eq!(store.summaries("a").unwrap(), kept);
    assert_eq!(store.summaries("b").unwrap(), [summary("b", Autonomous, 1)]);
    assert_eq!(store.summaries("c").unwrap(), []);
}
