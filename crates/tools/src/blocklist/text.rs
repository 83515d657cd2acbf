//! Commands as text: as a shell reads them, and in a sentence.

use std::borrow::Cow;

use counterfoil_shell::powershell_as_shell;
use serde_json::Value;

/// The command as a shell would read it: from a text, or from a list of words.
pub(super) fn command_line(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(words) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| Some(quoted(word.as_str()?))).collect();
            words.map(|words| Cow::Owned(words.join(" ")))
        }
        _ => None,
    }
}

/// A word quoted so that the shell takes it literally.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// PowerShell as a shell script. What cannot be read becomes a text that is no script: its words are
/// there, and nothing is known of them.
pub(super) fn of_powershell(text: &str) -> String {
    powershell_as_shell(text)
        .unwrap_or_else(|_| format!("{text}\n) # PowerShell that cannot be read"))
}

/// A command shortened to fit in a sentence.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
