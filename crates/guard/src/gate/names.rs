/// The other name of our shell tool. Both names run the same commands, so a rule that restricts one
/// also restricts the other; a rule that allows applies only to the name that it states.
pub(super) fn other_name(tool: &str) -> Option<&'static str> {
    match tool {
        "shell" => Some("bash"),
        "bash" => Some("shell"),
        _ => None,
    }
}

/// Whether `holds` is true of any name of the tool.
pub(super) fn any_name(tool: &str, holds: impl Fn(&str) -> bool) -> bool {
    holds(tool) || other_name(tool).is_some_and(holds)
}
