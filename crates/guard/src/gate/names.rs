/// The other name of our shell. Both run the same commands, so a rule that narrows one narrows the
/// other, too; what a rule allows, it allows by the name it says.
pub(super) fn other_name(tool: &str) -> Option<&'static str> {
    match tool {
        "shell" => Some("bash"),
        "bash" => Some("shell"),
        _ => None,
    }
}

/// Whether it holds of any name of the tool.
pub(super) fn any_name(tool: &str, holds: impl Fn(&str) -> bool) -> bool {
    holds(tool) || other_name(tool).is_some_and(holds)
}
