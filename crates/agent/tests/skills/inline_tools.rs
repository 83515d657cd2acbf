//! Inline tools: how they are read, and how they are filled in.

use counterfoil_agent::{InlineTool, Skill, SkillOrigin, WarningKind};
use serde_json::{Value, json};

use crate::Desk;

fn read(body: &str) -> Result<Skill, Vec<(String, Option<usize>)>> {
    let desk = Desk::new();
    let folder = desk.skill("pdf", body);
    Skill::read(&folder, SkillOrigin::User).map_err(|errors| {
        errors.iter().map(|error| (error.problem().to_string(), error.line())).collect()
    })
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
    let cases: [(&[&str], Value, Result<&[&str], &str>); 22] = [
        (&["x", "{a}"], json!({"a": "v"}), Ok(&["v"])),
        (&["x", "{a}"], json!({"a": "two words; $(rm) `x`"}), Ok(&["two words; $(rm) `x`"])),
        (&["x", "{a}"], json!({"a": ""}), Ok(&[""])),
        (&["x", "{a}", "{a}"], json!({"a": "v"}), Ok(&["v", "v"])),
        (&["x", "--in={a}", "{a}:{n}"], json!({"a": "v", "n": 2}), Ok(&["--in=v", "v:2"])),
        (&["x", "{n}"], json!({"a": "v", "n": -1.5}), Ok(&["-1.5"])),
        (&["x", "{n}"], json!({"a": "v", "n": 10000000000000000u64}), Ok(&["10000000000000000"])),
        (&["x", "{any}"], json!({"a": "v", "any": true}), Ok(&["true"])),
        (&["x", "{b}", "z"], json!({"a": "v"}), Ok(&["z"])),
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
            Err("the parameter `a` begins with `-`, which the program could take for an option"),
        ),
        (
            &["x", "{a}", "--"],
            json!({"a": "-rf"}),
            Err("the parameter `a` begins with `-`, which the program could take for an option"),
        ),
        (
            &["x", "{any}"],
            json!({"a": "v", "any": [1]}),
            Err("the parameter `any` is a list or an object, which is no argument of a command"),
        ),
        (
            &["x", "{any}"],
            json!({"a": "v", "any": {}}),
            Err("the parameter `any` is a list or an object, which is no argument of a command"),
        ),
        (
            &["x", "{a}"],
            json!({"a": "v\0"}),
            Err("the parameter `a` has a zero character, or more than 128 KiB"),
        ),
    ];
    for (command, values, expected) in cases {
        let filled = tool(command).arguments(&values).map_err(|error| error.to_string());
        let expected = expected.map(|words| words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(filled, expected.map_err(str::to_owned), "{command:?} {values}");
    }
    assert!(tool(&["x", "{a}"]).arguments(&json!({"a": "x".repeat(128 * 1024)})).is_err());
    assert_eq!(tool(&["scripts/x", "{a}"]).program, "scripts/x");
}

#[test]
fn wrong_ones() {
    let object =
        r#""parameters": {"type": "object", "properties": {"a": {}, "l": {"type": "array"}}}"#;
    let with = |name: &str, rest: &str| {
        format!("{{\"name\": \"{name}\",\n\"description\": \"d\",\n{rest}}}")
    };
    let command = |command: &str| with("t", &format!("{object},\n\"command\": {command}"));
    let unknown = "an argument has a placeholder for which there is no parameter";
    let code = "a parameter becomes code or the name of a script";
    let brace = "an argument has a brace that is not part of a `{placeholder}`";
    // The JSON of a tool that begins on line 7, the error, and its line.
    let cases: Vec<(String, &str, usize)> = vec![
        ("{".to_owned(), "the tool cannot be read: EOF while parsing an object", 7),
        ("{}".to_owned(), "the tool cannot be read: missing field `name`", 6),
        ("[]".to_owned(), "the tool cannot be read: invalid", 6),
        (
            "{\"name\": \"t\",\n\"name\": \"t\"}".to_owned(),
            "the tool cannot be read: the key `name` appears twice",
            8,
        ),
        (
            with("t", &format!("{object}, \"command\": [\"x\"], \"shell\": true")),
            "the tool cannot be read: unknown field `shell`",
            6,
        ),
        (
            with("Bad-name", &format!("{object}, \"command\": [\"x\"]")),
            "the name of a tool is not 1 to 64",
            6,
        ),
        (
            with("", &format!("{object}, \"command\": [\"x\"]")),
            "the name of a tool is not 1 to 64",
            6,
        ),
        (
            with("t", "\"parameters\": [], \"command\": [\"x\"]"),
            "the parameters of the tool are not the JSON schema of an object",
            6,
        ),
        (
            with("t", "\"parameters\": {}, \"command\": [\"x\"]"),
            "the parameters of the tool are not the JSON schema of an object: `type`",
            6,
        ),
        (
            with(
                "t",
                "\"parameters\": {\"type\": \"object\", \"required\": [\"z\"]}, \"command\": [\"x\"]",
            ),
            "the parameters of the tool are not the JSON schema of an object: `required`",
            6,
        ),
        (command("[]"), "the command has no program", 6),
        (command("[\" \"]"), "the command has no program", 6),
        (command("\"ls {a}\""), "the tool cannot be read: invalid type: string", 6),
        (command("[\"{a}\"]"), "the program of the command has a placeholder", 10),
        (command("[\"bin/{a}\", \"x\"]"), "the program of the command has a placeholder", 10),
        (command("[\"x\",\n\"{z}\"]"), unknown, 11),
        (command("[\"x\",\n\"--in={a}\",\n\"--out={A}\"]"), unknown, 12),
        (command("[\"x\",\n\"{a\"]"), brace, 11),
        (command("[\"awk\", \"{print $1}\"]"), brace, 10),
        (command("[\"x\", \"{l}\"]"), "an argument has a placeholder for a list or an object", 10),
        (command("[\"sh\", \"-c\",\n\"cat {a}\"]"), code, 11),
        (command("[\"python3\", \"{a}\"]"), code, 10),
        (command("[\"env\", \"ls\"]"), "the program of the command starts another program", 10),
    ];
    for (definition, problem, line) in cases {
        let errors = read(&format!("# T\n\n```tool\n{definition}\n```\n"));
        let errors = errors.map(|_| definition.clone()).unwrap_err();
        assert!(errors[0].0.starts_with(problem), "{definition}: {errors:?}");
        // The front matter has four lines, and the fence is on the third of the body.
        assert_eq!((errors.len(), errors[0].1), (1, Some(line + 1)), "{definition}: {errors:?}");
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
        (format!("````markdown\n```tool\n{a}\n```\n````\n"), &[]),
        (format!("<!--\n```tool\n{a}\n```\n-->\n"), &[]),
        (format!("```json tool\n{a}\n```\n```tools\n{a}\n```\n"), &[]),
    ] {
        let skill = read(&body).unwrap();
        let found: Vec<&str> = skill.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(found, names, "{body}");
    }
    let twice = read(&format!("```tool\n{a}\n```\n```tool\n{a}\n```\n")).unwrap_err();
    assert_eq!(twice, [("two tools have the same name".to_owned(), Some(8))]);
    let open = read(&format!("```tool\n{a}\n")).unwrap_err();
    assert_eq!(open, [("the code block of a tool is not closed".to_owned(), Some(5))]);
    let many: String =
        (0..65).map(|at| format!("```tool\n{}\n```\n", tool(&format!("t{at}")))).collect();
    assert_eq!(read(&many).unwrap_err()[0].0, "the skill has more than 64 tools");
}

#[test]
fn an_option_that_may_lose_its_value_is_a_warning() {
    let body = |command: &str| {
        format!(
            "```tool\n{{\"name\": \"t\", \"description\": \"d\", \"parameters\": {{\"type\": \
             \"object\", \"properties\": {{\"a\": {{}}, \"b\": {{}}}}, \"required\": [\"a\"]}}, \
             \"command\": {command}}}\n```\n"
        )
    };
    for (command, warned) in [
        (r#"["x", "--b", "{b}"]"#, true),
        (r#"["x", "--b={b}"]"#, false),
        (r#"["x", "--a", "{a}"]"#, false),
        (r#"["x", "--", "{b}"]"#, false),
    ] {
        let skill = read(&body(command)).unwrap();
        let kinds: Vec<WarningKind> = skill.warnings.iter().map(|warning| warning.what).collect();
        assert_eq!(kinds == [WarningKind::DanglingOption], warned, "{command}: {kinds:?}");
    }
}
