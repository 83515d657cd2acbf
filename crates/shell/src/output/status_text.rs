use super::line::lines;

/// The exit code that a harness wrote into the text of a result.
///
/// Known formats: `Exit code N` as the first line, `Process exited with code N`,
/// `<returncode>N</returncode>`, `Exit Code: N`, `(exit status N)` as the last line. Lines in the
/// middle belong to the program's own output and are ignored, except in the tagged format.
#[must_use]
pub fn exit_code_in_text(output: &str) -> Option<i32> {
    const HEAD: usize = 12;
    let from_head =
        lines(output).take(HEAD).enumerate().find_map(|(i, line)| from_line(&line.text, i == 0));
    if from_head.is_some() {
        return from_head;
    }
    let tail = output.trim_end();
    let last = tail.rsplit('\n').next().unwrap_or(tail);
    from_line(last.trim(), true)
}

fn from_line(line: &str, at_edge: bool) -> Option<i32> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("<returncode>") {
        return number(rest);
    }
    if let Some(rest) = line.strip_prefix("Process exited with code ") {
        return number(rest);
    }
    if !at_edge {
        return None;
    }
    const EDGE: &[&str] = &[
        "Exit code ",
        "Exit code: ",
        "Exit Code: ",
        "exit code: ",
        "[Command finished with exit code ",
        "[The command completed with exit code ",
        "Command exited with code ",
        "(exit status ",
        "exit status ",
        "Error: Exit code ",
    ];
    EDGE.iter().find_map(|prefix| number(line.strip_prefix(prefix)?))
}

fn number(text: &str) -> Option<i32> {
    let end = text
        .bytes()
        .enumerate()
        .take_while(|(i, b)| b.is_ascii_digit() || (*i == 0 && *b == b'-'))
        .count();
    text.get(..end)?.parse().ok()
}
