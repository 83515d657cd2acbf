use super::measure::{Found, Measured};

/// Prints rows that are not held out: `missed`, `found`, `unblocked`, `blocked` or `code`, a colon,
/// and a class (a rule's code after `code`).
#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn show(measured: &[Measured], wanted: &str, most: usize) {
    let (kind, class) = wanted.split_once(':').unwrap_or((wanted, ""));
    let of_class = |one: &&Measured| {
        !one.row.untouched && (class.is_empty() || kind == "code" || one.row.class == class)
    };
    let printed = |one: &&Measured| match kind {
        "missed" => one.at_label().next().is_none(),
        "unblocked" => !one.at_label().any(|f| f.blocks),
        "found" => one.at_label().next().is_some(),
        "code" => one.found.iter().any(|f| f.code == class),
        _ => one.found.iter().any(|f| f.blocks),
    };
    for one in measured.iter().filter(of_class).filter(printed).take(most) {
        let row = &one.row;
        println!("## {} turn {:?} class {} {}", row.id, row.turn, row.class, row.claim);
        if let Some(message) = row.turn.and_then(|turn| row.transcript.messages.get(turn)) {
            let text: String = message.text.chars().take(700).collect();
            println!("   | {}", text.replace('\n', "\n   | "));
        }
        let relevant = |f: &&Found| match kind {
            "blocked" => f.blocks,
            "code" => f.code == class,
            _ => row.turn == Some(f.turn),
        };
        for f in one.found.iter().filter(relevant) {
            let mark = if f.blocks { "BLOCK" } else { "warn" };
            let text: String = f.text.chars().take(160).collect();
            println!("   -> {} {mark} turn {}: {text:?}: {}", f.code, f.turn, f.message);
        }
    }
}
