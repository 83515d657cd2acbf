//! Inline tools: how they are read, and how they are filled in.

use counterfoil_agent::{InlineTool, Skill, SkillOrigin};
use serde_json::{Value, json};

use crate::Desk;

fn read(body: &str) -> Result<Skill, (String, Option<usize>)> {
    let desk = Desk::new();
    let folder = desk.skill("pdf", body);
    Skill::read(&folder, SkillOrigin::User).map_err(|error| (error.problem, error.line))
}

/// A tool `t` with the parameters `a` (required), `b`, `n` and this command.
fn tool(command: &[&str]) -> InlineTool {
    let definition = json!({
        "name": "t",
        "description": "Does it.",
        "parameters": {
            "type": "object",
            "properties": {
                "a": { "type": "string" }, "b": { "type": "string" }, "n": { "type": "number" },
                "any": {},
            },
            "required": ["a"],
        },
        "command": command,
    });
    let skill = read(&format!("```tool\n{definition}\n```\n")).unwrap();
    skill.tools[0].clone()
}

#[test]
fn filled_in() {
    let cases: [(&[&str], Value, Result<&[&str], &str>); 20] = [
        (&["x", "{a}"], json!({"a": "v"}), Ok(&["v"])),
        (&["x", "{a}"], json!({"a": "two words; $(rm) `x`"}), Ok(&["two words; $(rm) `x`"])),
        (&["x", "{a}"], json!({"a": ""}), Ok(&[""])),
        (&["x", "{a}", "{a}"], json!({"a": "v"}), Ok(&["v", "v"])),
        (&["x", "--in={a}", "{a}:{n}"], json!({"a": "v", "n": 2}), Ok(&["--in=v", "v:2"])),
        (&["x", "{n}"], json!({"a": "v", "n": -1.5}), Ok(&["-1.5"])),
        (&["x", "{n}"], json!({"a": "v", "n": 10000000000000000u64}), Ok(&["10000000000000000"])),
        (&["x", "{any}"], json!({"a": "v", "any": true}), Ok(&["true"])),
        (&["x", "{b}", "z"], json!({"a": "v", "b": null}), Ok(&["z"])),
        (&["x", "--b={b}", "{a}{b}"], json!({"a": "v"}), Ok(&[])),
        (&["x", "{{a}}", "{{{a}}}"], json!({"a": "v"}), Ok(&["{a}", "{v}"])),
        (&["x", "{a}"], json!({"a": "{b}", "b": "w"}), Ok(&["{b}"])),
        (&["x", "--", "{a}"], json!({"a": "-rf"}), Ok(&["--", "-rf"])),
        (&["x", "--a={a}"], json!({"a": "-rf"}), Ok(&["--a=-rf"])),
        (&["x", "./{a}"], json!({"a": "-rf"}), Ok(&["./-rf"])),
        (&["x"], json!({"a": "v"}), Ok(&[])),
        (
            &["x", "{a}"],
            json!({"a": "-rf"}),
            Err("the parameter `a` begins with `-`, which the program could mistake for an option"),
        ),
        (
            &["x", "{a}{b}"],
            json!({"a": "", "b": "-rf"}),
            Err("the parameter `a` begins with `-`, which the program could mistake for an option"),
        ),
        (
            &["x", "{a}", "--"],
            json!({"a": "-rf"}),
            Err("the parameter `a` begins with `-`, which the program could mistake for an option"),
        ),
        (
            &["x", "{any}"],
            json!({"a": "v", "any": [1]}),
            Err("the parameter `any` is a list or an object, which cannot be a command argument"),
        ),
    ];
    for (command, values, expected) in cases {
        let filled = tool(command).filled(&values).map_err(|error| error.to_string());
        let expected = expected.map(|words| {
            ["x"].iter().chain(words).map(|word| (*word).to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(filled, expected.map_err(str::to_owned), "{command:?} {values}");
    }
}

#[test]
fn wrong_ones() {
    let object = r#""parameters": {"type": "object", "properties": {"a": {}}}"#;
    let with = |name: &str, rest: &str| {
        format!("{{\"name\": \"{name}\",\n\"description\": \"d\",\n{rest}}}")
    };
    let command = |command: &str| with("t", &format!("{object},\n\"command\": {command}"));
    let name = "the tool name must have 1 to 64";
    let schema = "the parameters of the tool must be a JSON Schema of type `object`";
    let program = "the command has no program name, or a placeholder in its place";
    // The JSON of a tool, the error, and its line, counted from the fence.
    let cases: Vec<(String, &str, usize)> = vec![
        ("{".to_owned(), "the tool definition is invalid: the text ends inside an object", 1),
        ("{}".to_owned(), "the tool definition is invalid: missing field `name`", 1),
        ("[]".to_owned(), "the tool definition is invalid: invalid", 1),
        (
            "{\"name\": \"t\",\n\"name\": \"t\"}".to_owned(),
            "the tool definition is invalid: duplicate field `name`",
            2,
        ),
        (
            with("t", &format!("{object}, \"command\": [\"x\"], \"shell\": true")),
            "the tool definition is invalid: unknown field `shell`",
            3,
        ),
        (with("Bad-name", &format!("{object}, \"command\": [\"x\"]")), name, 0),
        (with("", &format!("{object}, \"command\": [\"x\"]")), name, 0),
        (with("t", "\"parameters\": [], \"command\": [\"x\"]"), schema, 0),
        (with("t", "\"parameters\": {}, \"command\": [\"x\"]"), schema, 0),
        (command("[]"), program, 0),
        (command("[\" \"]"), program, 0),
        (command("[\"bin/{a}\", \"x\"]"), program, 0),
        (command("\"ls {a}\""), "the tool definition is invalid: found string", 4),
        (command("[\"x\", \"{z}\"]"), "the placeholder `{z}` has no matching parameter", 0),
        (command("[\"x\", \"--{A}\"]"), "the placeholder `{A}` has no matching parameter", 0),
        (command("[\"x\", \"{a\"]"), "`{a` contains a brace that is not part", 0),
        (command("[\"awk\", \"{print $1}\"]"), "`{print $1}` contains a brace", 0),
    ];
    for (definition, problem, line) in cases {
        let (message, at) = read(&format!("# T\n\n```tool\n{definition}\n```\n")).unwrap_err();
        assert!(message.starts_with(problem), "{definition}: {message}");
        // The front matter has four lines, and the fence is on the third of the body.
        assert_eq!(at, Some(7 + line), "{definition}: {message}");
    }
}

#[test]
fn blocks() {
    let tool = |name: &str| {
        let rest = r#""description": "d", "parameters": {"type": "object"}, "command": ["x"]"#;
        format!("{{\"name\": \"{name}\", {rest}}}")
    };
    let (a, b) = (tool("a"), tool("b"));
    for (body, names) in [
        (format!("```tool\n{a}\n```\ntext\n~~~ tool\n{b}\n~~~\n"), &["a", "b"][..]),
        (format!("- item\n\n  ```tool\n  {a}\n  ```\n"), &["a"]),
        (format!("```a`b```\n~~~~tool\n{a}\n~~~~\n"), &["a"]),
        (format!("````markdown\n```tool\n{a}\n```\n````\n"), &[]),
        (format!("<!--\n```tool\n{a}\n```\n-->\n"), &[]),
        (format!("```json tool\n{a}\n```\n```tools\n{a}\n```\n"), &[]),
    ] {
        let skill = read(&body).unwrap();
        let found: Vec<&str> = skill.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(found, names, "{body}");
    }
    let many: String =
        (0..65).map(|at| format!("```tool\n{}\n```\n", tool(&format!("t{at}")))).collect();
    for (body, problem, line) in [
        (format!("```tool\n{a}\n```\n```tool\n{a}\n```\n"), "two tools have the same name", 8),
        (format!("```tool\n{a}\n"), "the code block of the tool is not closed", 5),
        (many, "the skill has more than 64 tools", 197),
    ] {
        assert_eq!(read(&body).unwrap_err(), (problem.to_owned(), Some(line)));
    }
}
