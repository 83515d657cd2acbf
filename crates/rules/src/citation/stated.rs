use std::collections::BTreeMap;
use std::sync::LazyLock;

use counterfoil_model::{ExecutionId, Span};
use serde_json::{Map, Value};

use super::fences::{Fences, Setting};
use super::literal::{Literal, folded, number, objects, quantity};
use super::mention::{Mention, contains_label, mentions};
use super::title::{Titles, introduces, is_head, line_before, only_speaks_of, titles};
use crate::prose::sets;
use crate::values::Signs;

/// Everything in one text that cites executions.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Cited {
    /// Objects and blocks that name a tool or an execution, by start.
    pub(crate) objects: Vec<Stated>,
    /// Ids, each once, by start.
    pub(crate) ids: Vec<Mention>,
    /// Whether the text is nothing but one fenced block.
    pub(crate) only_fence: bool,
}

/// A structured claim about a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stated {
    /// Its position.
    pub(crate) span: Span,
    /// The execution id that it states.
    pub(crate) id: Option<String>,
    /// The tool that it names.
    pub(crate) tool: Option<String>,
    /// The name of the member that names the tool.
    pub(crate) tool_key: &'static str,
    /// Its other members.
    pub(crate) rest: Map<String, Value>,
    /// Whether it is introduced as a result: "Tool result:".
    pub(crate) headed: bool,
    /// The kind of text that contains it.
    pub(crate) setting: Setting,
    /// Whether it begins a line, or is introduced by words and a colon.
    pub(crate) alone: bool,
    /// Whether it is a list below a line with an id, which may reword the result: only its numbers
    /// are kept.
    pub(crate) in_words: bool,
    /// Whether only the words before it name its tool: "run_speed_test result:".
    pub(crate) titled: bool,
}

/// What a text cites of executions, for programs that inspect texts themselves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CitedExecutions {
    /// Objects, JSON or Python, that name a tool or an execution, in text order.
    pub objects: Vec<Map<String, Value>>,
    /// Execution ids, each once, in text order.
    pub ids: Vec<String>,
}

/// Finds all objects and ids in a text that cite executions, in any kind of text.
#[must_use]
pub fn cited_executions(text: &str) -> CitedExecutions {
    let objects = objects(text, speaks_of_tool).into_iter().map(|literal| literal.members);
    let ids = mentions(text).into_iter().map(|mention| mention.id);
    CitedExecutions { objects: objects.collect(), ids: ids.collect() }
}

/// Finds everything that cites an execution.
pub(crate) fn cited(text: &str) -> Cited {
    let ids = mentions(text);
    static NAMES: LazyLock<Signs> =
        LazyLock::new(|| Signs::new(&["tool", "function", "command_executed"]));
    let mut titles = titles(text);
    if ids.is_empty() && titles.is_empty() && !NAMES.stand_in(text) && !contains_label(text) {
        return Cited { ids, ..Cited::default() };
    }
    let fences = Fences::find(text);
    titles.retain(|at, _| fences.setting(*at) == Setting::Plain);
    let mut found: Vec<Stated> = objects(text, speaks_of_tool)
        .into_iter()
        .map(|literal| {
            let head = line_before(text, literal.span.start);
            let headed = head.is_some_and(is_head);
            let setting = fences.setting(literal.span.start);
            let before = text.get(..literal.span.start).unwrap_or_default();
            let before = before.trim_end_matches([' ', '\t']);
            let alone = before.is_empty() || before.ends_with(['\n', ':']);
            let mut one = stated(literal.span, literal.members, headed, setting);
            let introduced = |tool: &str| head.is_some_and(|line| introduces(line, tool));
            one.headed |= one.tool.as_deref().is_some_and(introduced);
            Stated { alone, ..one }
        })
        .filter(|stated| stated.id.is_some() || stated.tool.is_some())
        .collect();
    let after = objects_after(text, &ids, &titles, &fences);
    let lists = headed_blocks(text, &ids, &titles, &fences);
    let apart = |list: &Stated| !after.iter().any(|object| object.span.overlaps(list.span));
    found.extend(lists.into_iter().filter(apart));
    found.extend(after);
    found.sort_by_key(|stated| stated.span.start);
    let mut ids = ids;
    for mention in &mut ids {
        mention.setting = fences.setting(mention.span.start);
    }
    Cited { objects: found, ids, only_fence: fences.only(text) }
}

/// The members that make an object a tool claim, folded.
const TOOL_KEYS: [&str; 4] = ["toolname", "commandexecuted", "function", "tool"];

fn speaks_of_tool(members: &Map<String, Value>) -> bool {
    members.keys().any(|key| {
        let key = folded(key);
        key == "executionid" || TOOL_KEYS.contains(&key.as_str())
    })
}

fn stated(span: Span, members: Map<String, Value>, headed: bool, setting: Setting) -> Stated {
    let mut one = Stated {
        span,
        id: None,
        tool: None,
        tool_key: "",
        rest: Map::new(),
        headed,
        setting,
        alone: false,
        in_words: false,
        titled: false,
    };
    let mut named: BTreeMap<usize, String> = BTreeMap::new();
    for (key, value) in members {
        let name = folded(&key);
        if name == "executionid" {
            let id = value.as_str().map(str::to_owned);
            let id = id.or_else(|| value.as_u64().map(|id| id.to_string()));
            one.id = id.filter(|id| !id.trim().is_empty());
            continue;
        }
        let rank = TOOL_KEYS.iter().position(|k| *k == name);
        match rank.zip(value.as_str().and_then(tool_of)) {
            Some((rank, tool)) => {
                named.insert(rank, tool);
            }
            None => {
                one.rest.insert(key, value);
            }
        }
    }
    if let Some((rank, tool)) = named.into_iter().next() {
        one.tool = Some(tool);
        one.tool_key = TOOL_KEYS.get(rank).copied().unwrap_or_default();
    }
    one
}

/// The tool that a value names: `name`, or `name(…)`.
pub(super) fn tool_of(value: &str) -> Option<String> {
    let value = value.trim();
    let name = value.split_once('(').map_or(value, |(name, _)| name.trim_end());
    let is_name = !name.is_empty()
        && name.len() <= 128
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':'));
    is_name.then(|| name.to_owned())
}

/// Objects that name neither a tool nor an execution, directly after words that do: "The tool
/// returned (execution_id: …): {…}", "run_speed_test() -> {…}".
fn objects_after(text: &str, ids: &[Mention], titles: &Titles, fences: &Fences) -> Vec<Stated> {
    let cites = |mention: &&Mention| {
        let head = text.get(..mention.span.end).unwrap_or_default();
        only_cites(head.rsplit('\n').next().unwrap_or_default(), &mention.id)
    };
    let cited = ids.iter().filter(cites).map(|m| (m.span.end, (Some(&m.id), None)));
    let named = titles.iter().map(|(end, tool)| (*end, (None, Some(tool))));
    let places = cited.chain(named).filter_map(|(end, named)| {
        let rest = text.get(end..)?.trim_start_matches(ENDS_CITATION).trim_start();
        // The line that opens a fenced block.
        let rest = match rest.strip_prefix("```") {
            Some(fence) => fence.split_once('\n')?.1.trim_start(),
            None => rest,
        };
        rest.starts_with('{').then_some((text.len() - rest.len(), named))
    });
    let places: BTreeMap<usize, (Option<&String>, Option<&String>)> = places.collect();
    if places.is_empty() {
        return Vec::new();
    }
    let after = |literal: Literal| {
        let (id, tool) = *places.get(&literal.span.start)?;
        let setting = fences.setting(literal.span.start);
        let speaks = speaks_of_tool(&literal.members);
        let object = stated(literal.span, literal.members, true, setting);
        let (id, tool, titled) = (id.cloned(), tool.cloned(), tool.is_some());
        (!speaks).then_some(Stated { id, tool: tool.or(object.tool), titled, ..object })
    };
    objects(text, |_| true).into_iter().filter_map(after).collect()
}

/// `key: value` lines below words such as "Tool result:", or below a line with an execution id.
fn headed_blocks(text: &str, ids: &[Mention], titles: &Titles, fences: &Fences) -> Vec<Stated> {
    static ANY: LazyLock<Signs> = LazyLock::new(|| Signs::new(sets::RESULT_HEADS.list));
    let mut found = Vec::new();
    if ids.is_empty() && titles.is_empty() && !ANY.stand_in(&text.to_ascii_lowercase()) {
        return found;
    }
    let mut block: Option<(Stated, Map<String, Value>)> = None;
    let mut at = 0;
    for raw in text.split_inclusive('\n').chain(std::iter::once("")) {
        let start = at;
        at += raw.len();
        let line = raw.trim();
        if let Some((head, members)) = &mut block {
            if let Some((key, value)) = key_value(line) {
                members.insert(key.to_owned(), value);
                head.span.end = start + raw.trim_end().len();
                continue;
            }
            if members.is_empty() && (line.is_empty() || line.starts_with("```")) && !raw.is_empty()
            {
                continue;
            }
        }
        if let Some((head, members)) = block.take() {
            found.extend(head.with_lines(members));
        }
        let id = ids.iter().find(|id| (start..at).contains(&id.span.start));
        let id = id.filter(|id| only_cites(line, &id.id)).map(|id| id.id.clone());
        let headed = line.len() <= 80 && line.ends_with([':', '*', ']']) && is_head(line);
        let tool = titles.get(&(start + raw.trim_end().len())).filter(|_| id.is_none());
        if headed || id.is_some() || tool.is_some() {
            let head = stated(Span::new(at, at), Map::new(), headed, fences.setting(at));
            let (titled, in_words) = (tool.is_some(), id.is_some() || tool.is_some());
            let tool = tool.cloned();
            block = Some((Stated { in_words, titled, id, tool, ..head }, Map::new()));
        }
    }
    found
}

/// The characters after the id in such words.
const ENDS_CITATION: [char; 6] = ['*', '`', ')', ']', ':', ' '];

/// "Speed test (execution_id: …):": whether a line ends with the id and names nothing but its
/// execution, so that what follows is its result, and no target or comparison.
fn only_cites(line: &str, id: &str) -> bool {
    let Some((before, after)) = line.split_once(id) else { return false };
    let tool = ExecutionId::parse(id).map_or("", |id| id.tool).to_ascii_lowercase();
    after.chars().all(|c| ENDS_CITATION.contains(&c)) && only_speaks_of(before, &tool)
}

impl Stated {
    /// The block below this line, if it says something about a tool.
    fn with_lines(self, mut members: Map<String, Value>) -> Option<Self> {
        if !self.in_words {
            let block = stated(self.span, members, true, self.setting);
            return (block.id.is_some() || block.tool.is_some()).then_some(block);
        }
        members.retain(|_, value| {
            if let Some(number) = value.as_str().and_then(quantity) {
                *value = number;
            }
            value.is_number()
        });
        (!members.is_empty()).then_some(Self { rest: members, ..self })
    }
}

fn key_value(line: &str) -> Option<(&str, Value)> {
    let line = line.trim_start_matches(['-', '*', '•', ' ']);
    let (key, value) = line.split_once(':')?;
    let key = key.trim_matches(['*', '`', '"', ' ']);
    let value = value.trim_matches(['*', '`', '"', ' ', ',']);
    let plain = !key.is_empty()
        && key.len() <= 40
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '));
    (plain && !value.is_empty()).then(|| (key, number(value).unwrap_or_else(|| Value::from(value))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, objects: &[(Option<&str>, Option<&str>, bool)], ids: &[(&str, bool)]) {
        let found = cited(text);
        let stated: Vec<_> =
            found.objects.iter().map(|s| (s.id.as_deref(), s.tool.as_deref(), s.headed)).collect();
        assert_eq!(stated, objects, "{text}");
        let mentions: Vec<_> = found.ids.iter().map(|m| (m.span.slice(text), m.labelled)).collect();
        assert_eq!(mentions, ids, "{text}");
    }

    #[test]
    fn objects_and_blocks() {
        check("All good, the tool worked.", &[], &[]);
        check(
            "Tool result: {'tool_name': 'run_speed_test', 'download': 125}",
            &[(None, Some("run_speed_test"), true)],
            &[],
        );
        check(
            "```json\n{\"command_executed\": \"ping(host='a')\"}\n```",
            &[(None, Some("ping"), false)],
            &[],
        );
        check(
            "**Tool Result:**\n- tool: ping\n- latency: 15\n\nFine.",
            &[(None, Some("ping"), true)],
            &[],
        );
        check("{\"function\": {\"name\": \"x\"}}", &[], &[]);
        check("{\"function\": \"Checks the line\"}", &[], &[]);
        check(
            "{\"a\": [{\"execution_id\": \"ping_1234567890_abcd\"}]}",
            &[(Some("ping_1234567890_abcd"), None, false)],
            &[("ping_1234567890_abcd", true)],
        );
    }

    #[test]
    fn ids() {
        check("(execution_id: ping_1234567890_abcd)", &[], &[("ping_1234567890_abcd", true)]);
        check("Execution ID: `ping_1234567890_abcd`.", &[], &[("ping_1234567890_abcd", true)]);
        check("see ping_1234567890_abcd", &[], &[("ping_1234567890_abcd", false)]);
        check(
            "ping_1234567890_abcd, execution_id=ping_1234567890_abcd",
            &[],
            &[("ping_1234567890_abcd", true)],
        );
        check("execution_id: exec-0042", &[], &[("exec-0042", true)]);
        check("the execution_id: string field", &[], &[]);
        check("every execution id is unique", &[], &[]);
    }
}
