//! Files that hold logs but are not logs themselves, and what to do with them.

/// First bytes of files, what they are, and what to do with them.
const KINDS: [(&[u8], &str, &str); 7] = [
    (
        b"SQLite format 3\0",
        "a SQLite database",
        "export its messages as JSON; for a LangGraph thread, use \
         `messages_to_dict(graph.get_state(config).values[\"messages\"])`",
    ),
    (
        b"PAR1",
        "a Parquet table",
        "convert it to JSON Lines, in pandas with \
         `DataFrame.to_json(path, orient=\"records\", lines=True)`",
    ),
    (
        b"ARROW1",
        "an Arrow table",
        "convert it to JSON Lines with `messages` that have `role` and `content`",
    ),
    (b"%PDF-", "a PDF", JSON),
    (b"\x89PNG", "a PNG image", JSON),
    (b"\xff\xd8\xff", "a JPEG image", JSON),
    (b"GIF8", "a GIF image", JSON),
];

const JSON: &str = "export the session from the agent or chat program as JSON, with its tool calls \
                    and their results";

/// Columns of a table of messages, which may have only two.
const COLUMNS: [&str; 8] =
    ["role", "content", "message", "messages", "prompt", "response", "question", "answer"];

const TABLE: (&str, &str) = (
    "a CSV table",
    "convert it to one JSON object per line, `{\"messages\": [{\"role\": …, \"content\": …}]}`, \
     with the tool calls and their results: a table of texts does not show which actions were taken",
);

/// What kind of file begins with these bytes, and what to do instead of reading it.
pub(crate) fn recognise(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = KINDS.iter().find(|(begin, ..)| head.starts_with(begin));
    known.map(|(_, what, instead)| (*what, *instead)).or_else(|| is_table(head).then_some(TABLE))
}

/// Whether the text starts with column names, followed by a row: at least three, or two of which one
/// is usual for messages.
fn is_table(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let (Some(names), Some(row)) = (lines.next(), lines.next()) else { return false };
    let is_name = |name: &str| {
        let name = name.trim().trim_matches('"');
        let known = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.');
        !name.is_empty() && name.chars().all(known)
    };
    let usual =
        |name: &str| COLUMNS.contains(&name.trim().trim_matches('"').to_lowercase().as_str());
    let least = if names.split(',').any(usual) { 1 } else { 2 };
    names.matches(',').count() >= least
        && names.split(',').all(is_name)
        && row.matches(',').count() >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        for (head, what) in [
            ("SQLite format 3\0…", Some("a SQLite database")),
            ("id,prompt,response\n1,\"a, b\",c\n", Some("a CSV table")),
            ("role,content\nuser,Hi\n", Some("a CSV table")),
            ("GIF89a", Some("a GIF image")),
            ("Hello, you\nAll, done.", None),
            ("Hello, you, there\n\nAll done.", None),
            ("{\"a\":1,\"b\":2,\"c\":3}\n{}", None),
            ("", None),
        ] {
            assert_eq!(recognise(head.as_bytes()).map(|(what, _)| what), what, "{head}");
        }
    }
}
