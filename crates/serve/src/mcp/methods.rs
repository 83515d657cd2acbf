//! The methods of the protocol, and other spellings of them, which only a lenient reader would take
//! for the method.

/// The methods of all revisions. The gateway handles them by their exact names.
const METHODS: [&str; 36] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/initialized",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/roots/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// Why a method is not passed on: it is another spelling of a method of the protocol.
pub(super) fn misspelt(method: &str) -> Option<String> {
    if METHODS.contains(&method) {
        return None;
    }
    let known = METHODS.iter().find(|known| is_spelling_of(method, known))?;
    Some(format!("`{method}` is a misspelling of the method `{known}`"))
}

/// Whether two names are equal but for case and for everything that is neither a letter nor a digit.
pub(super) fn is_spelling_of(name: &str, known: &str) -> bool {
    folded(name).eq(folded(known))
}

/// The letters and digits in lower case. Some other letters fold to ASCII ones: `ſ` is an `s`, and
/// the Kelvin sign a `k`.
fn folded(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_spelling_of_a_method_is_found() {
        for (method, odd) in [
            ("tools/call", false),
            ("Tools/call", true),
            ("tools/call ", true),
            (" tools/list", true),
            ("TOOLS/LIST", true),
            ("tools_call", true),
            ("/tools//call", true),
            ("tool\u{17f}/call", true),
            ("tools/\u{0}call", true),
            ("Initialize", true),
            ("notifications/Cancelled", true),
            ("resources.read", true),
            ("subscriptions/Listen", true),
            ("tools/calls", false),
            ("x/tools/call", false),
            ("resources/other", false),
        ] {
            assert_eq!(misspelt(method).is_some(), odd, "{method}");
        }
    }
}
