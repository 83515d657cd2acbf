/// Formats a call on one line, shortened to fit.
pub(super) fn call_line(tool: &str, arguments: &str) -> String {
    const LONGEST: usize = 100;
    let line = format!("{tool} {}", arguments.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
