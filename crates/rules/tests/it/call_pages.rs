//! The cases on the pages of the call rules.

use countersign_model::{
    Arguments, Catalog, Format, Message, Outcome, Role, Tool, ToolCall, Transcript,
};
use countersign_rules::{Group, Settings, check, rules};
use serde_json::Value;

/// Reads the dialogue form: `user:`, `call: NAME JSON`, `ok: TEXT`, ….
fn transcript(block: &str) -> Transcript {
    let mut transcript = Transcript::new("case", Format::OpenaiChat);
    let (mut tools, mut known) = (Vec::new(), false);
    for line in block.lines() {
        let (word, rest) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        let outcome = |is_error, exit_code| Outcome {
            call_id: String::new(),
            text: rest.to_owned(),
            is_error,
            exit_code,
            ..Outcome::default()
        };
        let mut message = Message::text(Role::Tool, "");
        match word {
            "tools" => {
                known = true;
                if let Ok(tool @ Value::Object(_)) = serde_json::from_str::<Value>(rest) {
                    tools.push(Tool {
                        parameters: tool.get("parameters").cloned(),
                        ..Tool::named(tool["name"].as_str().unwrap())
                    });
                } else if rest != "none" {
                    tools.extend(rest.split(", ").map(Tool::named));
                }
                continue;
            }
            "system" => message = Message::text(Role::System, rest),
            "user" => message = Message::text(Role::User, rest),
            "assistant" => message = Message::text(Role::Assistant, rest),
            "call" => {
                let (name, arguments) = rest.split_once(' ').unwrap();
                message = Message::text(Role::Assistant, "");
                message.calls.push(ToolCall {
                    id: String::new(),
                    tool: name.to_owned(),
                    arguments: Arguments::raw(arguments),
                    line: 0,
                });
            }
            "ok" => message.outcomes.push(outcome(Some(false), None)),
            "fail" => message.outcomes.push(outcome(Some(true), None)),
            other => {
                let code = other.strip_prefix("exit ").unwrap().parse().unwrap();
                message.outcomes.push(outcome(None, Some(code)));
            }
        }
        transcript.messages.push(message);
    }
    if known {
        transcript.catalog = Catalog::known(tools).0;
    }
    transcript
}

#[test]
fn pages_say_what_the_rules_do() {
    for meta in rules().map(|rule| rule.meta()).filter(|meta| meta.group == Group::Call) {
        assert!(meta.page.starts_with(&format!("# {}: {}\n", meta.code, meta.name)));
        for heading in [
            "What it finds",
            "Why it matters",
            "Example",
            "What it leaves alone",
            "Evidence needed",
            "References",
            "Cases",
        ] {
            assert!(meta.page.contains(&format!("\n## {heading}\n")), "{}: {heading}", meta.code);
        }
        for block in meta.page.split("```dialogue ").skip(1) {
            let (kind, rest) = block.split_once('\n').unwrap();
            let block = rest.split_once("\n```").unwrap().0;
            let report = check(&transcript(block), &Settings::default());
            let found: Vec<_> = report.findings.iter().filter(|f| f.code == meta.code).collect();
            let expected = kind == "violating";
            assert_eq!(!found.is_empty(), expected, "{} {kind}:\n{block}\n{found:#?}", meta.code);
        }
    }
}
