//! Classifies a line of printed tool traffic.

use super::stated::tool_of;
use crate::prose::sets;

/// How plainly printed output is presented as something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Firmness {
    /// Markup of a tool call, in running text.
    Markup,
    /// Words such as "Tool result:", which may introduce a paraphrase.
    Heading,
    /// Words such as "The tool returned:", which may introduce the agent's own summary.
    Summary,
}

/// The language of a fence line; empty if it has none.
pub(super) fn fence(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"))?;
    (!rest.contains('`')).then(|| rest.trim_start_matches(['`', '~']).trim())
}

/// The text after `word:` at the start of a line, ignoring emphasis.
pub(super) fn label<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let line = line.trim_start().trim_start_matches(['*', '#', '_']).trim_start();
    let head = line.get(..word.len())?;
    let rest = line.get(word.len()..)?.trim_start_matches(['*', '_']);
    let rest = rest.strip_prefix(':')?;
    head.eq_ignore_ascii_case(word).then(|| rest.trim_start_matches(['*', '_']).trim())
}

/// Whether a line begins another part of a printed dialogue.
pub(super) fn begins_anew(line: &str) -> bool {
    ["thought", "action", "action input", "observation", "final answer"]
        .iter()
        .any(|word| label(line, word).is_some())
}

/// The text after "Tool result:" or "Result of the call call_1:", or under "[Tool result]", and how
/// plainly the heading claims to quote a tool.
pub(super) fn result_heading(line: &str) -> Option<(&str, Firmness)> {
    let bare = line.trim_start_matches(['*', '#', '_', '[', ' ']);
    if let Some(content) = result_of_call(bare) {
        return Some((content, Firmness::Heading));
    }
    let bare = bare.strip_prefix("The ").or(bare.strip_prefix("the ")).unwrap_or(bare);
    let head = sets::RESULT_HEADS.list.iter().find(|head| {
        bare.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head))
    })?;
    let rest = bare.get(head.len()..)?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let (rest, bracketed) = match rest.strip_prefix(']') {
        Some(rest) => (rest, line.starts_with('[')),
        None => (rest, false),
    };
    let rest = rest.trim_start_matches(['*', '_']);
    let content = match rest.strip_prefix(':') {
        Some(content) => content.trim_start_matches(['*', '_']).trim(),
        None if bracketed || rest.trim().is_empty() && line.starts_with('[') => rest.trim(),
        None => return None,
    };
    let firmness = match sets::SUMMARY_HEADS.list.contains(head) {
        true => Firmness::Summary,
        false => Firmness::Heading,
    };
    Some((content, firmness))
}

/// The form in which models without native tools get results: the call is named by its id.
fn result_of_call(line: &str) -> Option<&str> {
    const HEAD: &str = "result of the call ";
    line.get(..HEAD.len()).filter(|head| head.eq_ignore_ascii_case(HEAD))?;
    let (id, content) = line.get(HEAD.len()..)?.split_once(':')?;
    let id = id.strip_suffix(" (failed)").unwrap_or(id).trim_matches(['`', '*', ' ']);
    let is_id = !id.contains(' ') && id.bytes().any(|b| b.is_ascii_digit());
    is_id.then(|| content.trim_start_matches(['*', '_']).trim())
}

/// `[Command finished with exit code 0]`, `Process exited with code 0`.
pub(super) fn is_exit(line: &str) -> bool {
    let lower = line.trim_matches(['[', ']', '(', ')', '*', '_', '.']).to_ascii_lowercase();
    if line.len() > 80 {
        return false;
    }
    let number = |rest: &str| {
        let rest = rest.trim_start_matches([':', ' ']);
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    };
    let after = |head: &str| lower.split_once(head).is_some_and(|(_, rest)| number(rest));
    let whole =
        ["process exited with code", "process exited with exit code", "command exited with code"]
            .iter()
            .any(|head| lower.starts_with(head) && after(head));
    whole || (line.starts_with('[') && (after("exit code") || after("exited with code")))
}

/// The name of the tag that opens a line, without its namespace.
pub(super) fn opening_tag(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('<')?;
    let end = inner.find(['>', ' '])?;
    let name = inner.get(..end)?;
    if !inner.contains('>') {
        return None;
    }
    Some(name.rsplit(':').next().unwrap_or(name))
}

/// The value of `name="…"`.
pub(super) fn attribute<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
}

/// The tool that a printed call names: `name`, `name(…)`, `"action": "name"`, `{"name": "…"}`.
pub(super) fn printed_tool(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('`');
    if text.starts_with(['{', '"']) {
        return printed_object_tool(text);
    }
    let text = text.strip_prefix("print(").unwrap_or(text);
    if text.is_empty() {
        return Some(String::new());
    }
    tool_of(text)
}

/// The tool that a line of a printed call object names.
pub(super) fn printed_object_tool(text: &str) -> Option<String> {
    let keys = ["\"action\"", "\"name\"", "\"tool\"", "\"tool_name\"", "\"function\""];
    let rest = keys.iter().find_map(|key| text.split_once(key).map(|(_, rest)| rest))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let name = value.split('"').next()?;
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}
