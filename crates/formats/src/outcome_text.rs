//! Markers that vendors write into the text of a result because there is no field for them.

/// The integer that directly follows `label` at the beginning of the text.
pub(crate) fn number_after(text: &str, label: &str) -> Option<i32> {
    let rest = text.strip_prefix(label)?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// Like [`number_after`], at the beginning of any of the first eight lines.
pub(crate) fn number_in_head(text: &str, label: &str) -> Option<i32> {
    text.lines().take(8).find_map(|line| number_after(line, label))
}

/// Whether an error text says that the user, a hook or a policy prevented the call from running.
pub(crate) fn says_refused(text: &str) -> bool {
    const MARKS: [&str; 18] = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "User rejected tool use",
        "[Request interrupted by user",
        "This command requires approval",
        "Permission to use ",
        "Claude requested permissions to ",
        "[Operation Cancelled]",
        "Permission for this action has been denied",
        "Command blocked by",
        "Tool call blocked by",
        "exec command rejected by user",
        "patch rejected by user",
        "rejected by user",
        "command rejected by policy",
        "Tool execution blocked:",
        "Tool execution denied by policy",
        "Command injection detected:",
    ];
    let text = text.trim_start();
    let text = text.strip_prefix("Error: ").unwrap_or(text);
    let text = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    MARKS.iter().any(|mark| text.starts_with(mark))
        || text.get(..text.floor_char_boundary(200)).is_some_and(|head| {
            head.contains("requires approval") || head.contains("was rejected by the user")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number_after("Exit code 2\nboom", "Exit code "), Some(2));
        assert_eq!(number_after("Exit code: 2", "Exit code "), None);
        assert_eq!(
            number_in_head("a\nProcess exited with code -1\n", "Process exited with code "),
            Some(-1)
        );
    }
}
