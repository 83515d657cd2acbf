//! Executions that the agent cites: structured tool claims and execution ids in its texts, each
//! held against the executions that are on record, and tool traffic printed as text.
//!
//! Deliberately not here: prose. "I ran the tests" is a claim of other rules.

mod compare;
mod judge;
mod known;
mod literal;
mod printed;
mod stated;
mod traffic;

pub(crate) use judge::{Citation, Fault, citations};
pub(crate) use printed::simulations;

/// Whether two names mean one tool: case, separators and a leading name space do not count.
pub(crate) fn same_tool(a: &str, b: &str) -> bool {
    let folded = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let last = |name: &str| {
        let name = name.rsplit("__").next().unwrap_or(name);
        folded(name.rsplit(['.', '/', ':']).next().unwrap_or(name))
    };
    let (whole_a, whole_b) = (folded(a), folded(b));
    !whole_a.is_empty() && (whole_a == whole_b || whole_a == last(b) || last(a) == whole_b)
}

#[cfg(test)]
mod tests {
    use super::same_tool;

    #[test]
    fn names_of_one_tool() {
        for (a, b, expected) in [
            ("run_speed_test", "run_speed_test", true),
            ("RunSpeedTest", "run-speed-test", true),
            ("net.run_speed_test", "run_speed_test", true),
            ("mcp__net__ping", "ping", true),
            ("net.ping", "host.ping", false),
            ("ping", "ping_all", false),
            ("", "", false),
        ] {
            assert_eq!(same_tool(a, b), expected, "{a} {b}");
        }
    }
}
