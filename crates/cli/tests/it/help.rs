//! The binary's help, and other descriptions of itself.

use insta::assert_snapshot;

use crate::Desk;

#[test]
fn help() {
    assert_snapshot!(Desk::with(&[]).run("--help"), @"
    exit 0
    Checks what a language-model agent says against what its tool calls show

    Usage: counterfoil [OPTIONS] <COMMAND>

    Commands:
      check        Check agent logs: claims against the record, calls against the tool definitions
      validate     Check tool calls against a list of tools, before they are run
      rules        List the rules: code, name, current mode, and what each one finds
      explain      Show what a rule finds, why it matters, and what it does not report
      judge        Measure how well a model works as a judge, or ask it a question
      prompt       Print the execution protocol: instructions for an agent's system prompt
      audit        Read, count and verify the audit log
      witness      Act as a witness: keep the checkpoints of other ledgers and cosign consistent ones
      hook         Install, remove and inspect hooks that judge the calls and check the claims of coding
                   agents
      policy       Check a policy, or show what it would do
      chat         Chat with an agent whose calls are judged and whose answers are checked against the
                   record
      scheduler    Manage scheduled tasks for the chat agent
      skills       Manage the chat agent's skills: list, check, show, or trust one
      run          Make one tool call through the guard, which validates, judges, runs and records it
      approve      Approve a call that was denied because it needs a person's approval
      mcp          Run a gateway between MCP clients and servers that validates, judges and records
                   calls
      proxy        Run a proxy between an agent and its model that checks tool calls and claims
      serve        Serve the dashboard and the HTTP API: sessions, receipts, approvals
      tools        List the tools as the guard sees them: origin, effects, whether they are offered
      stats        Show statistics from the ledger: calls by tool and model, rejections, false claims,
                   repetition
      undo         Undo a shell command's changes, from its snapshot
      config       Check, show or migrate the configuration, or print its schema
      doctor       Show which sandboxing this machine supports, and how to enable the rest
      trust        Trust the current version of a project's configuration file
      completions  Print a completion script for a shell
      man          Print the manual page, or write one page per command to a folder
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Configuration and state:
          --config <FILE>
              Use only this configuration file
              
              [env: COUNTERFOIL_CONFIG=]

          --no-config
              Use no configuration file

          --log <LEVEL>
              Log level for standard error [default: warn; off in hooks]

              Possible values:
              - off:   Nothing
              - error: Errors
              - warn:  Errors and warnings
              - info:  Also each action
              - debug: Also the details of each action
              - trace: Everything
              
              [env: COUNTERFOIL_LOG=]

          --state <DIR>
              The folder with the ledger, audit log and keys
              
              [env: COUNTERFOIL_STATE=]

          --ledger <URL>
              URL of a ledger shared by several replicas: `postgres://USER@HOST/DATABASE`
              
              [env: COUNTERFOIL_LEDGER]

    Examples:
      counterfoil check session.jsonl          check what the agent said against what it did
      counterfoil check logs/ --format sarif   check a folder, for code scanning
      counterfoil explain UNKNOWN_TOOL         show what a rule finds and what it ignores

    Exit codes: 0 clean, 1 findings at or above the fail level, 2 usage or input error,
    3 internal error.
    ");
}

#[test]
fn help_of_check() {
    assert_snapshot!(Desk::with(&[]).run("check -h"), @"
    exit 0
    Check agent logs: claims against the record, calls against the tool definitions

    Usage: counterfoil check [OPTIONS] [PATH]...

    Arguments:
      [PATH]...  Files, folders, or - for standard input [default: the newest session of each agent]

    Options:
          --latest [<AGENT>]   Check the newest session of this agent on this machine, or of any agent
                               if none is named; sessions of the current folder's project come first
                               [possible values: claude-code, codex, gemini]
          --session <ID>       Check this session from the ledger (repeatable)
          --answer <FILE>      The agent's final answer in that session: a file, or - for standard input
          --from <LOG_FORMAT>  Read logs in this format instead of detecting the format [possible
                               values: claude-code, codex, fk, mini-swe-agent, swe-agent, codex-exec,
                               opencode, chatgpt, pydantic-ai, autogen, google-adk, strands,
                               semantic-kernel, crush, pi, letta, dify, copilot-cli, vercel-ai,
                               gemini-cli, openhands, otel, mcp, openai-responses, goose, langchain,
                               sharegpt, anthropic, openai-chat, aider, specstory]
          --tools <FILE>       A tool list (in OpenAI, Anthropic or MCP format) for logs that do not
                               contain one [env: COUNTERFOIL_TOOLS=]
      -h, --help               Print help (see more with '--help')

    Rules:
          --rule <RULE>                 Run only these rules: codes, names or patterns such as CS01*,
                                        separated by commas (repeatable)
          --ignore <RULE>               Do not run these rules (repeatable)
          --mode <[RULE=]MODE>          Set the mode of some rules (RULE=MODE) or of all: off, shadow,
                                        warn or block (repeatable)
          --execution-window <SECONDS>  Maximum age in seconds of an execution that the agent may cite
                                        (CS003); 0 means no limit

    Findings:
          --severity <LEVEL>        Minimum severity to show [env: COUNTERFOIL_SEVERITY=] [possible
                                    values: note, warning, error]
          --fail-on <LEVEL>         Minimum severity for exit code 1 [env: COUNTERFOIL_FAIL_ON=]
                                    [possible values: error, warning, note, never]
          --max-warnings <COUNT>    Exit with code 1 if there are more warnings than this; 0 is the same
                                    as `--fail-on warning`
          --min-coverage <PERCENT>  Exit with code 1 if the coverage (the percentage of claims that were
                                    judged) is lower than this
          --strict                  Exit with code 2 if input was unreadable, skipped (files in unknown
                                    formats) or unjudged (answers that the judge did not read)
          --baseline <FILE>         File with accepted findings; these are counted but not shown, and
                                    never fail the run [env: COUNTERFOIL_BASELINE=]
          --write-baseline          Write the current findings to the baseline and exit with code 0
          --accept <FINGERPRINT>    Add only the finding with this fingerprint (which --why shows) to
                                    the baseline and exit with code 0 (repeatable)
          --reason <TEXT>           The reason for accepting the finding, for reviewers of the baseline
          --against <OLD.json>      Compare with an earlier `check --format json` report: show and fail
                                    on new findings only

    Output:
          --format <FORMAT>  Output format [default: by the extension of the --output file, else text]
                             [env: COUNTERFOIL_FORMAT=] [possible values: text, json, jsonl, sarif,
                             junit, github, markdown, html, csv]
          --show-supported   Show every claim with its verdict and evidence
          --why              Show how each clause of the agent's text was interpreted, and why it was
                             not checked further (only in the formats text and jsonl)
          --statistics       Show counts by rule, model, tool and log format (text and Markdown reports
                             then omit the findings)
      -o, --output <FILE>    Write to this file instead of standard output
          --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
      -q, --quiet            Print only findings and errors, no summary or progress

    Judge:
          --judge <NAME>           Have a language model read every answer that ends a turn: claude,
                                   codex or gemini (the programs), a name from [[llm.providers]], or
                                   auto. Sends the session to that model, with secrets removed
          --no-judge               Do not use a judge, even if one is configured
          --opinions <FILE>        File with earlier opinions (JSON Lines or batch results). With
                                   `--judge`, new opinions are added to it; without `--judge`, no judge
                                   is used
          --judge-batch <FILE>     Do not ask a judge: write the unanswered questions to a file for a
                                   batch API
          --batch-format <FORMAT>  The format of the batch file [default: openai] [possible values:
                                   openai, anthropic]
          --batch-model <MODEL>    The model for the questions in the batch file

    Configuration and state:
          --config <FILE>  Use only this configuration file [env: COUNTERFOIL_CONFIG=]
          --no-config      Use no configuration file
          --log <LEVEL>    Log level for standard error [default: warn; off in hooks] [env:
                           COUNTERFOIL_LOG=] [possible values: off, error, warn, info, debug, trace]
          --state <DIR>    The folder with the ledger, audit log and keys [env: COUNTERFOIL_STATE=]
          --ledger <URL>   URL of a ledger shared by several replicas: `postgres://USER@HOST/DATABASE`
                           [env: COUNTERFOIL_LEDGER]

    Examples:
      counterfoil check                          the newest session of each agent on this machine
      counterfoil check session.jsonl
      counterfoil check ~/.claude/projects --severity warning
      counterfoil check logs/ --format sarif --output counterfoil.sarif
      counterfoil check chat.json --tools tools.json --mode UNKNOWN_PARAM=off
      counterfoil check logs/ --baseline known.json --write-baseline
      counterfoil check logs/ --baseline known.json --accept FINGERPRINT --reason 'a false alarm'
      counterfoil check logs/ --against yesterday.json
      counterfoil check logs/ --statistics
      counterfoil check session.jsonl --why
      counterfoil check logs/ --format html --output report.html
      counterfoil check --latest claude-code
      counterfoil check session.jsonl --judge claude --opinions opinions.jsonl
      counterfoil check logs/ --judge-batch questions.jsonl
      zcat log.gz | counterfoil check - --format jsonl | jq 'select(.severity) | .message'
      counterfoil check --session fix-42
      echo 'All tests pass.' | counterfoil check --session fix-42 --answer -
    ");
}

#[test]
fn help_of_validate() {
    assert_snapshot!(Desk::with(&[]).run("validate -h"), @r#"
    exit 0
    Check tool calls against a list of tools, before they are run

    Usage: counterfoil validate [OPTIONS] --tools <FILE> [CALLS]

    Arguments:
      [CALLS]  File with the calls, or - for standard input [default: -]

    Options:
          --tools <FILE>
              File with tool definitions in OpenAI, Anthropic or MCP format [env: COUNTERFOIL_TOOLS=]
          --coerce
              Apply lossless corrections (such as "42" to 42), and print the corrected arguments
          --longest-text <[TOOL.PARAMETER=]CHARS>
              Warn about text arguments longer than this, for all parameters or for one (repeatable)
          --model <NAME>
              The model that made the calls, included in the verdicts
          --format <FORMAT>
              Output format [default: json] [possible values: json, text]
          --as-tool-result
              Print a tool message for each rejected call, and nothing for valid calls
      -h, --help
              Print help (see more with '--help')

    Configuration and state:
          --config <FILE>  Use only this configuration file [env: COUNTERFOIL_CONFIG=]
          --no-config      Use no configuration file
          --log <LEVEL>    Log level for standard error [default: warn; off in hooks] [env:
                           COUNTERFOIL_LOG=] [possible values: off, error, warn, info, debug, trace]
          --state <DIR>    The folder with the ledger, audit log and keys [env: COUNTERFOIL_STATE=]
          --ledger <URL>   URL of a ledger shared by several replicas: `postgres://USER@HOST/DATABASE`
                           [env: COUNTERFOIL_LEDGER]

    Examples:
      counterfoil validate --tools tools.json calls.jsonl
      echo '{"name": "get_order", "arguments": {"id": "7"}}' |
        counterfoil validate --tools tools.json --coerce --format text

    Exit codes: 0 all calls are valid, 1 at least one call is rejected, 2 usage or input error.
    "#);
}

#[test]
fn a_wrong_flag_is_named_with_the_right_one() {
    assert_snapshot!(Desk::with(&[]).run("check log.json --formt json"), @"
    exit 2
    --- stderr
    error: unexpected argument '--formt' found

      tip: a similar argument exists: '--format'

    Usage: counterfoil check --format <FORMAT> <PATH>...

    For more information, try '--help'.
    ");
}

#[test]
fn a_flag_that_is_a_command_here_names_the_command() {
    for line in [
        "--migrate-config",
        "--config a.toml --migrate-config",
        "--migrate-config check",
        "config --migrate-config",
        "chat --migrate-config",
    ] {
        let ran = Desk::with(&[]).run(line);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains("run `counterfoil config migrate --write`"), "{ran}");
    }
}

#[test]
fn a_wrong_rule_is_named_with_the_right_one() {
    assert_snapshot!(Desk::with(&[]).run("explain unknow-tool"), @"
    exit 2
    --- stderr
    error: unknown rule `unknow-tool`
      help: did you mean `unknown-tool`?
    ");
}

#[test]
fn every_command_has_examples() {
    let desk = Desk::with(&[]);
    for command in [
        "check",
        "validate",
        "rules",
        "explain",
        "prompt",
        "run",
        "tools",
        "stats",
        "undo",
        "config",
        "completions",
        "man",
    ] {
        let ran = desk.run(&format!("{command} --help"));
        assert!(ran.code == 0 && ran.out.contains("Examples:\n  "), "{command}: {ran}");
    }
}

#[test]
fn rules_are_listed_as_json() {
    let ran = Desk::with(&[]).run("rules --format json");
    let rows: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["code"] == "UNKNOWN_TOOL").unwrap();
    assert_eq!((row["name"].as_str(), row["mode"].as_str()), (Some("unknown-tool"), Some("block")));
}

#[test]
fn scripts_pages_and_the_protocol_are_printed() {
    let desk = Desk::with(&[]);
    for (line, expected) in [
        ("completions bash", "_counterfoil()"),
        ("man", ".TH counterfoil 1"),
        ("prompt", "# Execution protocol"),
        ("explain UNKNOWN_TOOL", "UNKNOWN_TOOL unknown-tool [block]"),
    ] {
        let ran = desk.run(line);
        assert!(ran.code == 0 && ran.out.contains(expected), "{line}: {ran}");
    }
}

#[test]
fn a_rule_is_explained_on_one_screen() {
    let desk = Desk::with(&[]);
    for meta in counterfoil_rules::rules().map(|rule| rule.meta()) {
        let short = desk.run(&format!("explain {}", meta.code));
        assert!(short.out.lines().count() <= 45, "{}: {}", meta.code, short.out.lines().count());
        assert!(!short.out.contains("```dialogue"), "{short}");
        let whole = desk.run(&format!("explain {} --cases", meta.code));
        assert!(whole.out.contains("\nCases\n"), "{whole}");
    }
}

#[test]
fn nothing_at_all_is_answered_with_help() {
    let desk = Desk::with(&[]);
    for variables in [&[][..], &[("COUNTERFOIL_STATE", "state")]] {
        let ran = desk.spawn(variables, &[], "");
        assert!(ran.code == 2 && ran.err.contains("Commands:"), "{ran}");
    }
}

/// Everything that a report prints as a code is explained.
#[test]
fn the_judge_is_explained() {
    let desk = Desk::with(&[]);
    let ran = desk.run("explain judge");
    assert!(ran.code == 0 && ran.out.starts_with("JUDGE read-by-a-judge\n"), "{ran}");
    assert_snapshot!(desk.run("explain FK01O"), @"
    exit 2
    --- stderr
    error: unknown rule `FK01O`
      help: did you mean `FK010`?
    ");
    assert_snapshot!(desk.run("explain FK999"), @"
    exit 2
    --- stderr
    error: unknown rule `FK999`
      help: `counterfoil rules` lists all rules
    ");
    assert_snapshot!(desk.run("check log.json --ignore JUDGE"), @"
    exit 2
    --- stderr
    error: `JUDGE` is not a rule: its findings come from a judge
      help: `counterfoil explain JUDGE` explains it; `--no-judge` runs without a judge
    ");
}
