use std::sync::LazyLock;

use counterfoil_model::Span;

use super::traffic_line::{
    Firmness, attribute, begins_anew, fence, is_exit, label, opening_tag, printed_object_tool,
    printed_tool, result_heading,
};
use crate::prose::sets;
use crate::values::Signs;

/// Output of a tool that is printed in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Its span: from the printed call, or from the marker of the output, to the end.
    pub(crate) span: Span,
    /// Its lines.
    pub(crate) lines: Vec<Span>,
    /// How plainly it is presented as something that happened.
    pub(crate) firmness: Firmness,
    /// The tool of the printed call, if the call counts only when such a tool exists.
    pub(crate) doubtful: Option<String>,
    /// The command at a printed prompt.
    pub(crate) command: Option<String>,
}

/// Finds printed output. Inline code, prose about markup, and code blocks in a language are
/// skipped.
pub(crate) fn traffic(text: &str) -> Vec<Traffic> {
    if !may_hold(text) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut at = 0;
    for raw in text.split_inclusive('\n') {
        lines.push(Span::new(at, at + raw.trim_end().len()));
        at += raw.len();
    }
    let mut scan = Scan { text, lines, at: 0, call: None, acted: false, found: Vec::new() };
    scan.run();
    scan.found
}

fn may_hold(text: &str) -> bool {
    static ANY: LazyLock<Signs> = LazyLock::new(|| Signs::new(sets::TRAFFIC_SIGNS.list));
    text.contains("\n$ ") || ANY.stand_in(&text.to_ascii_lowercase())
}

struct Scan<'t> {
    text: &'t str,
    lines: Vec<Span>,
    at: usize,
    /// A printed call without output so far.
    call: Option<PrintedCall>,
    acted: bool,
    found: Vec<Traffic>,
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        while let Some(&span) = self.lines.get(self.at) {
            let raw = span.slice(self.text);
            let line = raw.trim();
            self.at += 1;
            if line.is_empty() {
                continue;
            }
            if let Some(language) = fence(line) {
                self.fenced(span, language);
            } else {
                self.line(span, line);
            }
        }
    }

    fn line(&mut self, span: Span, line: &str) {
        if let Some(rest) = label(line, "action") {
            self.open(span, printed_tool(rest), CallForm::Heading);
        } else if label(line, "action input").is_some() {
            if let Some(call) = &mut self.call {
                call.span.end = span.end;
                call.form = CallForm::Markup;
            }
        } else if line.starts_with("\"action\"") || line.starts_with("{\"action\"") {
            match (&mut self.call, printed_tool(line)) {
                (Some(call), Some(tool)) if call.tool.is_empty() => {
                    *call = PrintedCall {
                        span: Span::new(call.span.start, span.end),
                        tool,
                        form: CallForm::Markup,
                    };
                }
                (_, tool) => self.open(span, tool, CallForm::Object),
            }
        } else if let Some(rest) = label(line, "observation") {
            let follows_call = self.call.is_some() || self.acted;
            let lines = self.output(span, rest, Until::Blank);
            if follows_call {
                self.close(span, lines, Some(Firmness::Markup));
            }
        } else if let Some(name) = opening_tag(line).filter(|name| !name.starts_with("system")) {
            self.tag(span, line, name);
        } else if let Some(rest) = line.strip_prefix('⏺') {
            if let Some((name, _)) = rest.trim().split_once('(') {
                self.open(span, Some(name.trim().to_owned()), CallForm::Markup);
            }
        } else if let Some(rest) = line.strip_prefix('⎿') {
            let lines = self.output(span, rest, Until::Outdent);
            let firmness = self.call.is_some().then_some(Firmness::Markup);
            self.close(span, lines, firmness);
        } else if is_exit(line) {
            self.exit(span, line);
        } else if let Some((rest, firmness)) = result_heading(line) {
            let lines = self.output(span, rest, Until::Blank);
            self.close(span, lines, Some(firmness));
        }
    }

    fn fenced(&mut self, span: Span, language: &str) {
        let language = language.to_ascii_lowercase();
        let from = self.at;
        let to = self.fence_end();
        let tool = language.contains("tool") || language.contains("function_");
        let returns = ["output", "result", "response"].iter().any(|word| language.contains(word));
        let body = self.lines.get(from..to).unwrap_or_default().to_vec();
        if self.prompt(&body) {
            return;
        }
        if tool && returns || language == "observation" {
            self.close(span, body, Some(Firmness::Markup));
        } else if tool {
            let end = body.last().map_or(span.end, |line| line.end);
            let name = body.iter().find_map(|line| printed_tool(line.slice(self.text)));
            let span = Span::new(span.start, end);
            self.open(span, Some(name.unwrap_or_default()), CallForm::Markup);
        } else if let Some(call) = &mut self.call {
            // The body of an `Action:`.
            call.span.end = body.last().map_or(span.end, |line| line.end);
            if call.tool.is_empty() {
                let inner = body.iter().find_map(|line| printed_object_tool(line.slice(self.text)));
                match inner {
                    Some(inner) => {
                        call.tool = inner;
                        call.form = CallForm::Markup;
                    }
                    None => self.call = None,
                }
            }
        }
    }

    /// A block that begins with a command at a prompt, and its output: `$ pytest -q`.
    fn prompt(&mut self, body: &[Span]) -> bool {
        let at_prompt = |line: &Span| line.slice(self.text).trim().strip_prefix("$ ");
        let Some((first, rest)) = body.split_first() else { return false };
        let Some(command) = at_prompt(first) else { return false };
        let output = rest.iter().take_while(|line| at_prompt(line).is_none());
        let lines: Vec<Span> =
            output.filter(|line| !line.slice(self.text).trim().is_empty()).copied().collect();
        let Some(last) = lines.last() else { return true };
        self.found.push(Traffic {
            span: Span::new(first.start, last.end),
            firmness: Firmness::Heading,
            doubtful: None,
            command: Some(command.trim().to_owned()),
            lines,
        });
        true
    }

    /// Moves past the end of the fence that was just opened, and returns the line of its end.
    fn fence_end(&mut self) -> usize {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|line| fence(line.slice(self.text).trim()) == Some(""))
            .unwrap_or(rest.len());
        let end = self.at + length;
        self.at = (end + 1).min(self.lines.len());
        end
    }

    fn tag(&mut self, span: Span, line: &str, name: &str) {
        let returns = sets::RESULT_TAGS.list.contains(&name);
        let calls = sets::CALL_TAGS.list.contains(&name);
        let content = line.split_once('>').map_or("", |(_, content)| content);
        if returns {
            let closed = content.contains("</");
            if !closed && !content.trim().is_empty() {
                return;
            }
            let lines = if closed {
                let inner = content.split("</").next().unwrap_or_default();
                trimmed(span_within(self.text, span, inner), self.text)
            } else {
                self.until_tag(name)
            };
            self.close(span, lines, Some(Firmness::Markup));
        } else if calls {
            let named = attribute(line, "name").map(str::to_owned);
            match &mut self.call {
                Some(call) if name == "invoke" => {
                    call.span.end = span.end;
                    if let Some(named) = named {
                        call.tool = named;
                    }
                }
                _ => self.open(span, Some(named.unwrap_or_default()), CallForm::Markup),
            }
            // All on one line.
            if let Some((inner, _)) = content.split_once("</") {
                if let (Some(call), Some(inner)) = (&mut self.call, printed_object_tool(inner)) {
                    call.span.end = span.end;
                    call.tool = inner;
                }
            } else if name.starts_with("tool_") || name == "function_call" {
                let body = self.until_tag(name);
                let inner = body.iter().find_map(|line| printed_object_tool(line.slice(self.text)));
                if let (Some(call), Some(inner)) = (&mut self.call, inner) {
                    call.span.end = body.last().map_or(call.span.end, |line| line.end);
                    call.tool = inner;
                }
            }
        }
    }

    /// The lines up to the closing tag or, without one, up to an empty line.
    fn until_tag(&mut self, name: &str) -> Vec<Span> {
        let closing = format!("</{name}>");
        let namespaced = format!(":{name}>");
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|line| {
            let line = line.slice(self.text).trim();
            line.starts_with(&closing) || (line.starts_with("</") && line.ends_with(&namespaced))
        });
        let length = end.unwrap_or_else(|| {
            let blank = rest.iter().position(|line| line.slice(self.text).trim().is_empty());
            blank.unwrap_or(rest.len())
        });
        let body = rest.get(..length).unwrap_or_default().to_vec();
        self.at = (self.at + length + usize::from(end.is_some())).min(self.lines.len());
        body
    }

    fn exit(&mut self, span: Span, line: &str) {
        let ahead = self.lines.get(self.at..).unwrap_or_default();
        let output =
            ahead.iter().take(4).position(|l| label(l.slice(self.text).trim(), "output").is_some());
        if let Some(skip) = output {
            let heading = ahead.get(skip).copied().unwrap_or(span);
            let rest = label(heading.slice(self.text).trim(), "output").unwrap_or_default();
            self.at += skip + 1;
            let lines = self.output(heading, rest, Until::Blank);
            self.close(span, lines, Some(Firmness::Markup));
            return;
        }
        // On its own, it may be about any command.
        if !line.starts_with('[') {
            return;
        }
        let before = self.lines.get(..self.at.saturating_sub(1)).unwrap_or_default();
        let mut body: Vec<Span> = before
            .iter()
            .rev()
            .take_while(|l| !l.slice(self.text).trim().is_empty())
            .take(20)
            .copied()
            .collect();
        body.reverse();
        let start = body.first().map_or(span.start, |first| first.start);
        let firmness = (!body.is_empty()).then_some(Firmness::Markup);
        body.push(span);
        self.close(Span::new(start, span.end), body, firmness);
    }

    /// The output that begins with `rest` of a line and continues below.
    fn output(&mut self, span: Span, rest: &str, until: Until) -> Vec<Span> {
        let mut lines = trimmed(span_within(self.text, span, rest), self.text);
        while let Some(&next) = self.lines.get(self.at) {
            let raw = next.slice(self.text);
            let line = raw.trim();
            let stops = match until {
                Until::Blank => line.is_empty() && !lines.is_empty(),
                Until::Outdent => !raw.starts_with("    ") && !raw.starts_with('\t'),
            };
            let skips = line.is_empty() && lines.is_empty();
            if stops || begins_anew(line) {
                break;
            }
            self.at += 1;
            if skips {
                // At most one empty line is between a heading and its content.
                if self.lines.get(self.at).is_some_and(|l| l.slice(self.text).trim().is_empty()) {
                    break;
                }
                continue;
            }
            if fence(line).is_some() {
                let from = self.at;
                let to = self.fence_end();
                lines.extend(self.lines.get(from..to).unwrap_or_default());
                break;
            }
            lines.push(next);
        }
        lines
    }

    fn open(&mut self, span: Span, tool: Option<String>, form: CallForm) {
        self.call = tool.map(|tool| PrintedCall { span, tool, form });
    }

    fn close(&mut self, span: Span, lines: Vec<Span>, firmness: Option<Firmness>) {
        let lines: Vec<Span> =
            lines.into_iter().filter(|line| !line.slice(self.text).trim().is_empty()).collect();
        let Some(last) = lines.last() else { return };
        let call = self.call.take();
        let start = call.as_ref().map_or(span.start, |call| call.span.start);
        let span = Span::new(start, last.end);
        let doubtful = call.filter(|call| call.form == CallForm::Heading).map(|call| call.tool);
        self.acted |= firmness == Some(Firmness::Markup) && doubtful.is_none();
        // Without a call before it, it may be anything.
        let Some(firmness) = firmness else { return };
        self.found.push(Traffic { span, lines, firmness, doubtful, command: None });
    }
}

#[derive(Debug)]
struct PrintedCall {
    span: Span,
    tool: String,
    form: CallForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// Markup that is unambiguous.
    Markup,
    /// `Action: word`, which may also occur in a report.
    Heading,
    /// A bare object, which may also be a proposal.
    Object,
}

#[derive(Clone, Copy)]
enum Until {
    Blank,
    Outdent,
}

/// The span of `part`, a piece of the line at `span`.
fn span_within(text: &str, span: Span, part: &str) -> Span {
    let line = span.slice(text);
    let at = line.rfind(part).unwrap_or(line.len());
    Span::new(span.start + at, span.start + at + part.len())
}

fn trimmed(span: Span, text: &str) -> Vec<Span> {
    if span.slice(text).trim().is_empty() { Vec::new() } else { vec![span] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&[&str], Firmness)]) {
        let found = traffic(text);
        let lines = |one: &Traffic| -> Vec<&str> {
            one.lines.iter().map(|line| line.slice(text).trim()).collect()
        };
        let seen: Vec<_> = found.iter().map(|one| (lines(one), one.firmness)).collect();
        let expected: Vec<_> = expected.iter().map(|(lines, f)| (lines.to_vec(), *f)).collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn outputs() {
        use Firmness::*;
        check(
            "Done.\n\nAction: bash\nAction Input: ls\nObservation: a.txt\nb.txt\n\nBoth are there.",
            &[(&["a.txt", "b.txt"], Markup)],
        );
        check(
            "Action:\n```json\n{\n\"action\": \"ls\"\n}\n```\nObservation:\n{\n\"n\": 3\n}\n\nThought:\nok",
            &[(&["{", "\"n\": 3", "}"], Markup)],
        );
        check("Thought: so\nObservation: it is red", &[]);
        check("Observation: the loop is quadratic.", &[]);
        check("Action: rest\n\nIt is done.", &[]);
        check("Action: take a walk outside", &[]);
        check(
            "<function_calls>\n<invoke name=\"Bash\">\n<parameter name=\"command\">ls</parameter>\n</invoke>\n</function_calls>\n<function_results>\na\n\nb\n</function_results>\nDone.",
            &[(&["a", "b"], Markup)],
        );
        check(
            "<tool_call>\n{\"name\": \"ping\"}\n</tool_call>\n<tool_response>{\"ms\": 4}</tool_response>",
            &[(&["{\"ms\": 4}"], Markup)],
        );
        check("<tool_call>\n{\"name\": \"ping\"}\n</tool_call>", &[]);
        check(
            "```tool_code\nprint(run(\"x\"))\n```\n```tool_outputs\nok\n```",
            &[(&["ok"], Markup)],
        );
        check(
            "⏺ Bash(make)\n  ⎿  built in 3 s\n     no warnings\n\nBuilt.",
            &[(&["built in 3 s", "no warnings"], Markup)],
        );
        check("Process exited with code 0\nOutput:\nok 3\n\nGood.", &[(&["ok 3"], Markup)]);
        check(
            "12 passed\n[Command finished with exit code 0]",
            &[(&["12 passed", "[Command finished with exit code 0]"], Markup)],
        );
        check("**Tool result:** sent to 4 people", &[(&["sent to 4 people"], Heading)]);
        check("[Tool result]\nsent", &[(&["sent"], Heading)]);
        check("I ran:\n```console\n$ ls -1\na\n\nb\n$ ls c\n```", &[(&["a", "b"], Heading)]);
        check("```sh\n$ ls\n```", &[]);
    }

    #[test]
    fn discussion_is_left_alone() {
        check("The parser drops `<tool_result>` blocks.", &[]);
        check("<tool_result> blocks are dropped by the parser.", &[]);
        check("```rust\nlet s = \"<tool_result>\";\n```", &[]);
        check("```xml\n<tool_result>\nok\n</tool_result>\n```", &[]);
        check("```\n⏺ Bash(ls)\n  ⎿  a.txt\n```", &[]);
        check("It exited with code 0, as the tool results show.", &[]);
        check("Tool results are cached.", &[]);
        check("User: ana\nOrder: 4", &[]);
    }
}
