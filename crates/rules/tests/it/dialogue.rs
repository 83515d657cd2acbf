//! Reads the dialogue notation of the specification's cases, which `spec/dialogue.md` describes.

use counterfoil_model::{
    Catalog, Format, Gap, Message, Outcome, RecordedReceipt, Role, Status, Tool, ToolCall,
    Transcript,
};
use counterfoil_rules::Obligation;
use serde_json::Value;

/// One block of a page.
#[derive(Debug)]
pub(crate) struct Block {
    /// The 1-based line of the opening fence.
    pub(crate) line: usize,
    /// The words after `dialogue`.
    pub(crate) words: Vec<String>,
    /// The lines between the fences.
    pub(crate) text: String,
}

/// A parsed block.
#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) transcript: Transcript,
    /// Text that the claim of the finding must contain.
    pub(crate) claims: Option<String>,
    /// The maximum age of a cited execution in seconds; 0 means the whole session.
    pub(crate) window: u64,
    /// The policy's obligations.
    pub(crate) obligations: Vec<Obligation>,
}

/// The dialogue blocks of a Markdown page.
pub(crate) fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let info = line.trim_start_matches('`');
        let fence = line.strip_suffix(info).unwrap_or_default();
        if fence.len() < 3 {
            continue;
        }
        let mut text = String::new();
        loop {
            let (_, line) = lines.next().ok_or(format!("{}: the block has no end", at + 1))?;
            if line.starts_with(fence) && line.trim_start_matches('`').trim().is_empty() {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        let mut words = info.split_whitespace().map(str::to_owned);
        if words.next().as_deref() == Some("dialogue") {
            blocks.push(Block { line: at + 1, words: words.collect(), text });
        }
    }
    Ok(blocks)
}

/// Reads the lines of a block.
pub(crate) fn read(text: &str) -> Result<Dialogue, String> {
    let mut reader = Reader {
        transcript: Transcript::new("case", Format::OpenaiChat),
        tools: None,
        open: 0,
        claims: None,
        window: 0,
        obligations: Vec::new(),
        time: None,
        agent: None,
    };
    for (word, rest) in entries(text)? {
        reader.entry(&word, &rest)?;
    }
    if let Some(tools) = reader.tools {
        reader.transcript.catalog = Catalog::known(tools).0;
    }
    let Reader { transcript, claims, window, obligations, .. } = reader;
    Ok(Dialogue { transcript, claims, window, obligations })
}

/// Parses `word: text` entries with the indented lines that follow.
fn entries(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut entries: Vec<(String, String)> = Vec::new();
    let mut blank = 0;
    for line in text.lines() {
        if line.trim().is_empty() {
            blank += 1;
            continue;
        }
        if let Some(more) = line.strip_prefix("  ") {
            let (_, rest) = entries.last_mut().ok_or(format!("nothing goes before `{line}`"))?;
            rest.push_str(&"\n".repeat(blank + 1));
            rest.push_str(more);
        } else {
            let (word, rest) = line.split_once(':').ok_or(format!("`{line}` has no word"))?;
            entries.push((word.to_owned(), rest.trim_start().to_owned()));
        }
        blank = 0;
    }
    for (_, rest) in &mut entries {
        // The text begins on the line after its word.
        if let Some(text) = rest.strip_prefix('\n') {
            *rest = text.to_owned();
        }
    }
    Ok(entries)
}

struct Reader {
    transcript: Transcript,
    tools: Option<Vec<Tool>>,
    /// The number of calls in the latest run of calls without a result. The next result belongs to
    /// the first of them.
    open: usize,
    claims: Option<String>,
    window: u64,
    obligations: Vec<Obligation>,
    /// The time of the following messages.
    time: Option<i64>,
    /// The sub-agent of the following messages.
    agent: Option<String>,
}

impl Reader {
    fn entry(&mut self, word: &str, rest: &str) -> Result<(), String> {
        let outcome = Outcome { text: rest.to_owned(), ..Outcome::default() };
        match word {
            "tools" => self.tools(rest)?,
            "log" => {
                let format = Format::from_name(rest).ok_or(format!("`{rest}` is no format"))?;
                self.transcript.format = format;
            }
            "system" => self.say(Role::System, rest),
            "user" => self.say(Role::User, rest),
            "assistant" => self.say(Role::Assistant, rest),
            "call" => self.call(rest),
            "ok" => self.outcome(Outcome { is_error: Some(false), ..outcome })?,
            "fail" => self.outcome(Outcome { is_error: Some(true), ..outcome })?,
            "denied" => {
                self.outcome(Outcome { is_error: Some(true), refused: true, ..outcome })?;
            }
            "running" => self.outcome(Outcome { running: true, ..outcome })?,
            "gap" => {
                let gap = match rest {
                    "compacted" => Gap::Compacted,
                    "lossy" => Gap::LossyFormat,
                    "cut" => Gap::CutStart,
                    _ => return Err(format!("no gap is called `{rest}`")),
                };
                self.transcript.completeness.add(gap, self.transcript.messages.len());
            }
            "receipt" => {
                let receipt = receipt(rest)?;
                self.transcript.receipts.get_or_insert_default().push(receipt);
            }
            "window" => self.window = rest.parse().map_err(|_| format!("`{rest}` is no window"))?,
            "time" => {
                self.time = Some(rest.parse().map_err(|_| format!("`{rest}` is no time"))?);
            }
            "agent" => self.agent = (rest != "main").then(|| rest.to_owned()),
            "obligation" => self.obligations.push(obligation(rest)?),
            "claims" => self.claims = Some(rest.trim_matches('"').to_owned()),
            _ if word.starts_with("report ") => {
                let calls = word.strip_prefix("report ").and_then(|calls| calls.parse().ok());
                let calls = calls.ok_or(format!("`{word}` has no number of calls"))?;
                self.outcome(Outcome { subagent_calls: Some(calls), ..outcome })?;
            }
            _ => {
                let code = word.strip_prefix("exit ").and_then(|code| code.parse().ok());
                let code = code.ok_or(format!("`{word}` is no word of the form"))?;
                self.outcome(Outcome { exit_code: Some(code), ..outcome })?;
            }
        }
        Ok(())
    }

    /// Reads names, or definitions, one per line.
    fn tools(&mut self, rest: &str) -> Result<(), String> {
        let tools = self.tools.get_or_insert_default();
        if rest == "none" {
            return Ok(());
        }
        if !rest.starts_with('{') {
            tools.extend(rest.split([',', '\n']).map(|name| Tool::named(name.trim())));
            return Ok(());
        }
        for line in rest.lines() {
            let tool = json(line)?;
            let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
            tools.push(Tool {
                description: text("description"),
                parameters: tool.get("parameters").cloned(),
                available: tool["available"].as_bool() != Some(false),
                ..Tool::named(text("name"))
            });
        }
        Ok(())
    }

    fn say(&mut self, role: Role, text: &str) {
        self.open = 0;
        self.push(Message::text(role, text));
    }

    fn push(&mut self, message: Message) {
        let agent = self.agent.clone();
        self.transcript.messages.push(Message { time: self.time, agent, ..message });
    }

    fn calls(&self) -> usize {
        self.transcript.messages.iter().map(|m| m.calls.len()).sum()
    }

    /// The arguments are not parsed: a case may be about malformed ones.
    fn call(&mut self, rest: &str) {
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
        let call = ToolCall::new(format!("call_{}", self.calls() + 1), name, arguments);
        let answered = self.transcript.messages.last().is_none_or(|m| m.calls.is_empty());
        self.open = if answered { 1 } else { self.open + 1 };
        self.push(Message { calls: vec![call], ..Message::text(Role::Assistant, "") });
    }

    fn outcome(&mut self, outcome: Outcome) -> Result<(), String> {
        if self.open == 0 {
            return Err(format!("`{}` answers no call", outcome.text));
        }
        let call_id = format!("call_{}", self.calls() + 1 - self.open);
        self.open -= 1;
        let mut outcome = Outcome { call_id, ..outcome };
        outcome.unwrap_command();
        self.push(Message { outcomes: vec![outcome], ..Message::text(Role::Tool, "") });
        Ok(())
    }
}

/// `{"after" or "before", "paths", "needs"}`, as in the configuration.
fn obligation(rest: &str) -> Result<Obligation, String> {
    let value = json(rest)?;
    let paths = value["paths"].as_array().into_iter().flatten();
    let paths = paths.filter_map(|path| path.as_str().map(str::to_owned)).collect();
    let needs = value["needs"].as_str().unwrap_or_default();
    Obligation::new(value["after"].as_str(), value["before"].as_str(), paths, needs)
        .map_err(|wrong| wrong.to_string())
}

/// `{"execution_id", "tool", "status", "started", "ended", "call_id", "result", "id_shown"}`,
/// times in milliseconds.
fn receipt(rest: &str) -> Result<RecordedReceipt, String> {
    let value = json(rest)?;
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let word = text("status").unwrap_or("completed".to_owned());
    Ok(RecordedReceipt {
        id: text("execution_id").ok_or("the receipt has no `execution_id`")?,
        tool: text("tool").ok_or("the receipt has no `tool`")?,
        call_id: text("call_id"),
        status: Status::from_dialect(&word).ok_or(format!("no status is called `{word}`"))?,
        started: value["started"].as_i64(),
        ended: value["ended"].as_i64(),
        result: value.get("result").cloned(),
        id_shown: value["id_shown"].as_bool().unwrap_or(false),
    })
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("`{text}`: {error}"))
}

#[test]
fn the_form_is_read() {
    let page = "```dialogue violating FK010\ntools: a, b\nuser: go\ncall: a {}\ncall: b {\"n\":1}\nok:\n  one\n\n   two\nexit 2: no\ngap: cut\nassistant:\n  Done.\nclaims: \"Done\"\n```\n";
    let blocks = blocks(page).unwrap();
    assert_eq!((blocks.len(), blocks[0].line), (1, 1));
    assert_eq!(blocks[0].words, ["violating", "FK010"]);
    let read = read(&blocks[0].text).unwrap();
    let messages = &read.transcript.messages;
    let outcomes: Vec<_> = messages.iter().flat_map(|m| &m.outcomes).collect();
    let shown: Vec<_> =
        outcomes.iter().map(|o| (o.call_id.as_str(), o.text.as_str(), o.exit_code)).collect();
    assert_eq!(shown, [("call_1", "one\n\n two", None), ("call_2", "no", Some(2))]);
    assert_eq!(messages.last().unwrap().text, "Done.");
    assert_eq!(read.transcript.completeness.gaps(), [(Gap::CutStart, 5)]);
    assert_eq!(read.transcript.catalog.len(), 2);
    assert_eq!(read.claims.as_deref(), Some("Done"));
}

#[test]
fn what_is_not_of_the_form_is_an_error() {
    for text in
        ["hello", "shout: hi", "ok: done", "receipt: {", "gap: wide", "time: noon", "  indented"]
    {
        assert!(read(text).is_err(), "{text}");
    }
    assert!(blocks("```dialogue violating\nuser: hi\n").is_err());
}
