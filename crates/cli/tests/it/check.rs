//! `check`: findings, output formats, exit codes.

use insta::assert_snapshot;
use serde_json::Value;

use crate::Desk;

/// A call of a tool that does not exist.
const WRONG: &str = r#"{"id":"order-4411","tools":[{"type":"function","function":{"name":"cancel_order","parameters":{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}}}],"messages":[{"role":"user","content":"Cancel order 4411, please."},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"cancel_orders","arguments":"{\"order_id\": \"4411\"}"}}]}]}"#;
/// Claims an action that was not done.
const LIE: &str = r#"{"tools":[{"type":"function","function":{"name":"cancel_order"}}],"messages":[{"role":"user","content":"Cancel order 4411, please."},{"role":"assistant","content":"I have cancelled order 4411."}]}"#;
/// A log without findings.
const CLEAN: &str =
    r#"{"messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":"Hello."}]}"#;

/// A single rule, so that these tests do not change with every new rule.
const ONE: &str = "--rule UNKNOWN_TOOL";

#[test]
fn a_finding_with_its_excerpt() {
    let desk = Desk::with(&[("log.json", WRONG)]);
    assert_snapshot!(desk.run(&format!("check log.json {ONE}")), @r#"
    exit 1
    error[UNKNOWN_TOOL]: there is no tool `cancel_orders`; did you mean `cancel_order`? Available: `cancel_order`
    --> log.json:1 (order-4411, turn 1)
     |
     | cancel_orders({"order_id": "4411"})
     | ^^^^^^^^^^^^^
     |
     = expected: cancel_order
     = actual: cancel_orders

    1 error in 1 transcript (no claims to check)
    incomplete logs: calls without a result (1 transcript)
    "#);
}

#[test]
fn a_clean_run_says_so() {
    let desk = Desk::with(&[("log.json", CLEAN)]);
    assert_snapshot!(desk.run(&format!("check log.json {ONE}")), @"
    exit 0
    no findings in 1 transcript (no claims to check)
    ");
    assert_snapshot!(desk.run(&format!("check log.json --quiet {ONE}")), @"exit 0");
}

#[test]
fn a_broken_file_is_named_and_the_rest_is_still_checked() {
    let desk = Desk::with(&[("a.json", "not a log"), ("b.json", WRONG)]);
    let ran = desk.run(&format!("check a.json missing.json b.json --format github {ONE}"));
    assert_snapshot!(ran, @"
    exit 2
    ::error file=a.json,title=could not be read::unknown log format
    ::error file=missing.json,title=could not be read::file not found
    ::error file=b.json,line=1,title=UNKNOWN_TOOL unknown-tool::there is no tool `cancel_orders`; did you mean `cancel_order`? Available: `cancel_order`
    ::notice title=counterfoil::1 error in 1 transcript (no claims to check)
    ::notice title=counterfoil::incomplete logs: calls without a result (1 transcript)
    ::notice title=counterfoil::2 problems while reading
    ");
}

#[test]
fn in_a_folder_what_is_no_log_is_left_out() {
    let desk = Desk::with(&[
        ("logs/README.md", "# Logs\n"),
        ("logs/empty.json", ""),
        ("logs/script.py", "print()\n"),
        ("logs/table.csv", "role,content\nuser,Hi\n"),
        ("logs/node_modules/x.json", WRONG),
        ("logs/deep/a.json", CLEAN),
    ]);
    assert_snapshot!(desk.run(&format!("check logs {ONE}")), @"
    exit 0
    no findings in 1 transcript (no claims to check)
    3 files in unknown formats skipped: logs/README.md, logs/empty.json, logs/table.csv
    ");
}

#[test]
fn standard_input_and_a_catalog_from_a_file() {
    let log = r#"{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"red","arguments":"{}"}}]}]}"#;
    let desk = Desk::with(&[("tools.json", r#"[{"name":"read"}]"#)]);
    let with = desk.run_with(&format!("check - --tools tools.json --format jsonl {ONE}"), log);
    let first: Value = serde_json::from_str(with.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (with.code, &first["transcript"]["path"], &first["call"]["tool"]),
        (1, &Value::from("-"), &Value::from("red"))
    );
    // Without a list of tools, names cannot be checked.
    assert_eq!(desk.run_with(&format!("check - {ONE}"), log).code, 0);
}

#[test]
fn what_is_not_a_list_of_tools_is_reported() {
    for (list, what) in [
        ("{}", "an empty object is not a list of tools"),
        (r#"{"tools":"x"}"#, "expected a list of tools at `/tools`, got a string"),
    ] {
        let ran = Desk::with(&[("log.json", CLEAN), ("t.json", list)])
            .run("check log.json --tools t.json");
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains(what) && ran.err.contains("looks like `[{"), "{ran}");
    }
    let ran = Desk::with(&[("log.json", CLEAN)]).run("check log.json --tools {}");
    assert!(ran.code == 2 && ran.err.contains("write the list to a file"), "{ran}");
}

#[test]
fn exit_codes() {
    let desk = Desk::with(&[("wrong.json", WRONG), ("clean.json", CLEAN), ("bad.json", "?")]);
    for (line, code) in [
        ("check clean.json", 0),
        ("check wrong.json", 1),
        ("check wrong.json --fail-on never", 0),
        ("check wrong.json --mode warn", 0),
        ("check wrong.json --mode warn --fail-on warning", 1),
        ("check wrong.json --mode unknown_tool=Shadow --fail-on warning", 0),
        ("check wrong.json --ignore unknown-tool", 2),
        ("check wrong.json --severity error", 1),
        ("check bad.json", 2),
        ("check wrong.json bad.json", 2),
        ("check", 2),
        ("check wrong.json --rule NOSUCH", 2),
        ("check wrong.json --mode loud", 2),
        ("check wrong.json --tools missing.json", 2),
        ("check wrong.json --baseline missing.json", 2),
        ("check wrong.json --write-baseline", 2),
    ] {
        let only = if line.contains("--rule") || line == "check" { "" } else { ONE };
        let ran = desk.run(&format!("{line} {only}"));
        assert_eq!(ran.code, code, "{line}: {ran}");
    }
}

#[test]
fn a_baseline_keeps_what_is_known_from_failing() {
    let desk = Desk::with(&[("wrong.json", WRONG)]);
    let ran = desk.run(&format!("check wrong.json --baseline b.json --write-baseline {ONE}"));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "1 finding added to b.json, which now accepts 1 finding\n")
    );
    assert_snapshot!(desk.run(&format!("check wrong.json --baseline b.json {ONE}")), @"
    exit 0
    no new findings in 1 transcript (no claims to check)
    1 accepted finding not shown
    incomplete logs: calls without a result (1 transcript)
    ");
}

#[test]
fn a_list_of_tools_that_would_help_is_asked_for() {
    let without =
        LIE.replace(r#""tools":[{"type":"function","function":{"name":"cancel_order"}}],"#, "");
    let desk = Desk::with(&[("log.json", &without), ("tools.json", r#"["cancel_order"]"#)]);
    assert_snapshot!(desk.run("check log.json"), @"
    exit 0
    no findings in 1 transcript (1 claim: 1 not checkable; coverage 0%)
    no list of tools in 1 transcript; pass one with `--tools FILE` to check more claims
    ");
    assert_eq!(desk.run("check log.json --tools tools.json").code, 1);
}

/// Two actions that were not done.
const LIES: &str = r#"{"id":"s2","tools":[{"type":"function","function":{"name":"cancel_order"}}],"messages":[{"role":"user","content":"Cancel order 5511, please."},{"role":"assistant","content":"I have cancelled order 5511."},{"role":"user","content":"And refund 6611."},{"role":"assistant","content":"I have refunded order 6611."}]}"#;

/// The fingerprints of the findings, in order.
fn fingerprints(desk: &Desk, line: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&desk.run(line).out).unwrap();
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|found| found["fingerprint"].as_str().unwrap().to_owned()).collect()
}

fn accept(desk: &Desk, fingerprint: &str) -> crate::Ran {
    let words = ["check", "log.json", "--baseline", "b.json", "--accept", fingerprint];
    desk.spawn(&[], &[words.as_slice(), &["--reason", "a false alarm"]].concat(), "")
}

#[test]
fn one_finding_is_accepted_for_a_reason() {
    let desk = Desk::with(&[("log.json", LIES)]);
    let prints = fingerprints(&desk, "check log.json --format json");
    let ran = accept(&desk, &prints[0]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "1 finding added to b.json, which now accepts 1 finding\n")
    );
    let text = std::fs::read_to_string(desk.path().join("b.json")).unwrap();
    let baseline: Value = serde_json::from_str(&text).unwrap();
    let entry = &baseline["findings"][&prints[0]];
    assert_eq!((&entry["rule"], &entry["reason"]), (&"FK010".into(), &"a false alarm".into()));
    assert_eq!(entry["accepted"].as_str().unwrap().len(), "2026-11-29".len());
    assert_snapshot!(desk.run("check log.json --baseline b.json"), @"
    exit 1
    error[FK010]: the agent says this was done, but no successful call did it (refund)
    --> log.json:1 (s2, turn 3)
     |
     | I have refunded order 6611.
     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ unsupported
     |
     = record: no call or result shows this
     = help: do it with a tool, or say that it was not done
     = fingerprint: 34ed13952f20138ffb9aabc0a446165f

    1 error in 1 transcript (2 claims: 2 unsupported; coverage 100%)
    1 accepted finding not shown
    ");
    // What is accepted twice is added once; its reason is not replaced in passing.
    let ran = accept(&desk, &prints[0]);
    assert_eq!(ran.err, "0 findings added to b.json, which now accepts 1 finding\n");
    for (reason, wrong) in [
        ("another", "is already accepted with a different reason: a false alarm"),
        ("  ", "error: the reason is empty"),
    ] {
        let line = ["check", "log.json", "--baseline", "b.json", "--accept", &prints[0]];
        let ran = desk.spawn(&[], &[&line[..], &["--reason", reason]].concat(), "");
        assert!(ran.code == 2 && ran.err.contains(wrong), "{reason}: {ran}");
    }
    assert_eq!(std::fs::read_to_string(desk.path().join("b.json")).unwrap(), text);
    // A full baseline keeps the reasons of what still occurs.
    desk.run("check log.json --baseline b.json --write-baseline");
    let text = std::fs::read_to_string(desk.path().join("b.json")).unwrap();
    assert!(text.contains("a false alarm") && text.contains(&prints[1]), "{text}");
    let ran = accept(&desk, "0123");
    assert_eq!(ran.code, 2);
    assert_snapshot!(ran.err, @"
    error: no finding has the fingerprint `0123`
      help: `--why`, JSON and CSV show the fingerprint of each finding
    ");
    let why = desk.run("check log.json --why").out;
    assert!(why.contains(&format!("fingerprint: {}", prints[1])), "{why}");
}

#[test]
fn accepted_findings_that_no_longer_occur_are_named() {
    let desk = Desk::with(&[("log.json", LIES)]);
    desk.run("check log.json --baseline b.json --write-baseline");
    let honest = LIES.replace("I have refunded order 6611.", "I could not refund it.");
    std::fs::write(desk.path().join("log.json"), honest).unwrap();
    std::fs::write(desk.path().join("other.json"), CLEAN).unwrap();
    assert_snapshot!(desk.run("check log.json --baseline b.json"), @"
    exit 0
    no new findings in 1 transcript (1 claim: 1 unsupported; coverage 100%)
    1 accepted finding not shown
    1 accepted finding no longer occurs; delete its entry from the baseline, or rewrite it with `--write-baseline`, which also accepts new findings: 34ed13952f20138ffb9aabc0a446165f (FK010 in s2)
    ");
    // Another log, or another rule, says nothing about them, and writing keeps them.
    for line in ["other.json", "log.json --rule CS001"] {
        let ran = desk.run(&format!("check {line} --baseline b.json"));
        assert!(!ran.out.contains("no longer"), "{line}: {ran}");
    }
    let ran = desk.run("check other.json --baseline b.json --write-baseline");
    assert_eq!(ran.err, "0 findings added to b.json, which now accepts 2 findings\n");
    let ran = desk.run("check log.json --baseline b.json --write-baseline");
    assert_eq!(ran.err, "0 findings added to b.json, which now accepts 1 finding\n");
}

#[test]
fn what_a_run_did_not_look_for_is_not_gone() {
    let entry = r#"{"count":1,"rule":"JUDGE","transcript":"s2","message":"m","reason":"agreed"}"#;
    let print = "0123456789abcdef0123456789abcdef";
    let baseline = format!(r#"{{"version":2,"findings":{{"{print}":{entry}}}}}"#);
    let desk = Desk::with(&[("log.json", LIES), ("b.json", &baseline)]);
    // A batch for a judge is written, but no judge reads the answers.
    let line = "check log.json --judge-batch q.jsonl --baseline b.json";
    let ran = desk.run(line);
    assert!(!ran.out.contains("no longer"), "{ran}");
    let ran = desk.run(&format!("{line} --write-baseline"));
    assert_eq!(
        ran.err.lines().last(),
        Some("2 findings added to b.json, which now accepts 3 findings"),
        "{ran}"
    );
    let text = std::fs::read_to_string(desk.path().join("b.json")).unwrap();
    assert!(text.contains(print) && text.contains("agreed"), "{text}");
    desk.run("check log.json --format json --output old.json");
    let ran = desk.run("check log.json --rule CS001 --against old.json");
    assert!(ran.code == 0 && ran.out.contains("0 new, 0 gone, 0 same"), "{ran}");
}

/// Logs of one name are different conversations; a conversation may move to another file.
#[test]
fn what_is_accepted_in_one_conversation_is_new_in_another() {
    let other =
        LIES.replacen(r#""content":""#, r#""content":"Hello, "#, 1).replace(r#""s2""#, r#""s3""#);
    let named = |text: &str| text.replace(r#""id":"s2","#, "").replace(r#""id":"s3","#, "");
    let (lies, other) = (named(LIES), named(&other));
    let desk = Desk::with(&[("1/log.json", &lies), ("2/log.json", &other)]);
    desk.run("check 1 --baseline b.json --write-baseline");
    let ran = desk.run("check 2 --baseline b.json");
    assert!(ran.code == 1 && !ran.out.contains("accepted"), "{ran}");
    let one = |text: &str| text.replace('\n', " ");
    std::fs::write(desk.path().join("all.jsonl"), [one(&other), one(&lies)].join("\n")).unwrap();
    let ran = desk.run("check all.jsonl --baseline b.json");
    assert!(ran.code == 1 && ran.out.contains("2 errors in 1 of 2 transcripts"), "{ran}");
    assert!(ran.out.contains("2 accepted findings not shown\n"), "{ran}");
}

#[test]
fn an_occurrence_in_one_file_is_none_in_another() {
    let desk = Desk::with(&[("a/log.json", LIES), ("b/log.json", LIES)]);
    desk.run("check a b --format json --output old.json");
    assert_eq!(desk.run("check a b --against old.json").code, 0);
    let again = LIES.replace(
        "]}",
        r#",{"role":"user","content":"Again."},{"role":"assistant","content":"I have refunded order 6611."}]}"#,
    );
    std::fs::write(desk.path().join("a/log.json"), again).unwrap();
    let ran = desk.run("check a b --against old.json");
    assert!(ran.code == 1 && ran.out.contains("1 new, 0 gone, 4 same"), "{ran}");
}

/// Every format says how many findings were accepted, and none denies them.
#[test]
fn accepted_findings_are_counted_in_every_format() {
    let desk = Desk::with(&[("log.json", LIES)]);
    desk.run("check log.json --baseline b.json --write-baseline");
    for format in ["text", "sarif", "junit", "github", "markdown", "html"] {
        let ran = desk.run(&format!("check log.json --baseline b.json --format {format}"));
        assert_eq!(ran.code, 0, "{format}: {ran}");
        assert!(ran.out.contains("2 accepted findings not shown"), "{format}: {ran}");
        assert!(!ran.out.contains("no findings"), "{format}: {ran}");
    }
    let ran = desk.run("check log.json --baseline b.json --format json");
    assert!(ran.out.contains("\"baselined\":2"), "{ran}");
}

#[test]
fn two_runs_are_compared() {
    let desk = Desk::with(&[("log.json", LIES), ("not.json", "{}")]);
    desk.run("check log.json --format json --output old.json");
    assert_eq!(desk.run("check log.json --against old.json").code, 0);
    let other = LIES.replace("cancelled order 5511.", "cancelled order 5512.");
    std::fs::write(desk.path().join("log.json"), other).unwrap();
    assert_snapshot!(desk.run("check log.json --against old.json"), @"
    exit 1
    error[FK010]: the agent says this was done, but no successful call did it (cancel)
    --> log.json:1 (s2, turn 1)
     |
     | I have cancelled order 5512.
     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ unsupported
     |
     = record: no call or result shows this
     = help: do it with a tool, or say that it was not done

    1 error in 1 transcript (2 claims: 2 unsupported; coverage 100%)
    compared with the earlier report: 1 new, 1 gone, 1 same
    gone: FK010 in s2 (log.json): the agent says this was done, but no successful call did it (cancel)
    same: FK010 in s2 (log.json): the agent says this was done, but no successful call did it (refund)
    ");
    let ran = desk.run("check log.json --against old.json --format junit");
    assert!(ran.out.contains("skipped=\"1\" errors=\"0\" failures=\"1\""), "{ran}");
    assert!(ran.out.contains("<skipped message=\"unchanged since the earlier report: "), "{ran}");
    let ran = desk.run("check log.json --against old.json --format sarif");
    let sarif: Value = serde_json::from_str(&ran.out).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let states: Vec<_> = results.iter().map(|result| &result["baselineState"]).collect();
    assert_eq!(states, ["new", "unchanged"], "{ran}");
    // A log that was removed is gone; one that was not given is not.
    std::fs::write(desk.path().join("clean.json"), CLEAN).unwrap();
    assert!(desk.run("check clean.json --against old.json").out.contains("0 new, 0 gone, 0 same"));
    std::fs::rename(desk.path().join("log.json"), desk.path().join("moved")).unwrap();
    let ran = desk.run("check clean.json --against old.json");
    assert!(ran.code == 0 && ran.out.contains("0 new, 2 gone, 0 same"), "{ran}");
    assert!(ran.out.contains("gone: FK010 in s2 (log.json): the agent"), "{ran}");
    std::fs::rename(desk.path().join("moved"), desk.path().join("log.json")).unwrap();
    // A report that is a comparison can be compared with in turn.
    desk.run("check log.json --against old.json --format json --output new.json");
    let ran = desk.run("check log.json --against new.json --format jsonl");
    let summary: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let count = |list: &str| summary["against"][list].as_array().unwrap().len();
    assert_eq!((ran.code, count("new"), count("same"), count("gone")), (0, 0, 2, 0));
    assert_snapshot!(desk.run("check log.json --against not.json"), @"
    exit 2
    --- stderr
    error: not.json: not a report from `check --format json`: missing field `findings` (line 1, column 2)
      help: create it with `counterfoil check … --format json --output OLD.json`
    ");
}

#[test]
fn warnings_and_coverage_have_limits() {
    let desk = Desk::with(&[("log.json", LIES)]);
    for (line, code) in [
        ("--mode warn --max-warnings 2", 0),
        ("--mode warn --max-warnings 1", 1),
        ("--mode warn --max-warnings 1 --severity error", 1),
        ("--fail-on never --min-coverage 50", 0),
        ("--fail-on never --min-coverage 100%", 0),
        ("--min-coverage 101", 2),
    ] {
        let ran = desk.run(&format!("check log.json --quiet {line}"));
        assert_eq!(ran.code, code, "{line}: {ran}");
    }
    // A courtesy is not a claim.
    let polite = LIES.replace("I have refunded order 6611.", "Thank you for your patience!");
    std::fs::write(desk.path().join("log.json"), polite).unwrap();
    assert_eq!(desk.run("check log.json --fail-on never --min-coverage 100").code, 0);
    let open = LIES.replace("Cancel order 5511, please.", "Hi.").replace(
        "I have refunded order 6611.",
        "The warehouse in Bergen has closed and the parcel was lost.",
    );
    std::fs::write(desk.path().join("log.json"), open).unwrap();
    let ran = desk.run("check log.json --fail-on never --min-coverage 80");
    assert_eq!(ran.code, 1, "{ran}");
    assert_snapshot!(ran.err, @"error: coverage is 33.3%, less than --min-coverage 80");
}

#[test]
fn code_scanning_gets_paths_from_the_working_folder() {
    let desk = Desk::with(&[("logs/log.json", WRONG)]);
    let absolute = desk.path().canonicalize().unwrap().display().to_string();
    for path in ["logs", "./logs/log.json", &absolute] {
        let ran = desk.run(&format!("check {path} --format sarif {ONE}"));
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let place = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        let expected = serde_json::json!({ "uri": "logs/log.json", "uriBaseId": "%SRCROOT%" });
        assert_eq!(place["artifactLocation"], expected, "{path}");
    }
}

#[test]
fn every_format_is_written_to_a_file_too() {
    let desk = Desk::with(&[("wrong.json", WRONG)]);
    for format in ["text", "json", "jsonl", "sarif", "junit", "github", "markdown"] {
        let shown = desk.run(&format!("check wrong.json --format {format} {ONE}"));
        let ran = desk.run(&format!("check wrong.json --format {format} --output o {ONE}"));
        assert_eq!((ran.code, ran.out.as_str()), (1, ""));
        assert_eq!(std::fs::read_to_string(desk.path().join("o")).unwrap(), shown.out);
    }
}

#[test]
fn many_files_come_out_in_the_order_of_their_names() {
    let names: Vec<String> = (0..200).map(|n| format!("logs/{n:03}.json")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), WRONG)).collect();
    let ran = Desk::with(&files).run(&format!("check logs --format jsonl {ONE}"));
    let paths: Vec<String> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|record| Some(record["transcript"]["path"].as_str()?.to_owned()))
        .collect();
    assert_eq!(paths, names);
}

#[test]
fn a_file_that_is_given_twice_is_read_once() {
    let desk = Desk::with(&[("logs/log.json", CLEAN), ("logs/note.json", "{}")]);
    for line in ["logs logs/log.json", "logs/log.json ./logs/../logs/log.json", "logs logs/"] {
        let ran = desk.run(&format!("check {line}"));
        assert!(ran.out.starts_with("no findings in 1 transcript "), "{line}: {ran}");
    }
    // A file that is named must be readable, even if it is in a folder that is named as well.
    assert_eq!(desk.run("check logs logs/note.json").code, 2);
}

#[test]
fn an_output_is_never_an_input() {
    let configured = "[check]\nbaseline = \"accepted.json\"\ntools = \"tools.json\"\n";
    let desk = Desk::with(&[
        ("log.json", WRONG),
        ("other.json", "{\"mine\":1}"),
        ("accepted.json", "{\"version\":2,\"findings\":{}}"),
        ("tools.json", "[]"),
        ("c.toml", configured),
    ]);
    for line in [
        "check log.json -o log.json",
        "check log.json -o accepted.json --config c.toml",
        "check log.json -o tools.json --config c.toml",
        "check log.json --judge-batch tools.json --config c.toml",
        "check . -o log.json",
        "check log.json -o ./x/../log.json",
        "check log.json --baseline log.json --write-baseline",
        "check log.json --baseline other.json --write-baseline",
    ] {
        std::fs::create_dir_all(desk.path().join("x")).unwrap();
        let ran = desk.run(line).to_string();
        assert!(ran.starts_with("exit 2"), "{line}: {ran}");
        let helps = ["help: write to another", "help: specify a new file"];
        assert!(helps.iter().any(|help| ran.contains(help)), "{line}: {ran}");
    }
    assert_eq!(std::fs::read_to_string(desk.path().join("log.json")).unwrap(), WRONG);
    assert_eq!(std::fs::read_to_string(desk.path().join("other.json")).unwrap(), "{\"mine\":1}");
    // A baseline may be written to a new file and over itself.
    for _ in 0..2 {
        let ran = desk.run("check log.json --baseline known.json --write-baseline").to_string();
        assert!(ran.starts_with("exit 0"), "{ran}");
    }
}

#[test]
fn nothing_read_is_no_clean_run() {
    let span = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"ChatCompletion","traceId":"1","spanId":"2","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"llm.model_name","value":{"stringValue":"m"}}]}]}]}]}"#;
    let desk = Desk::with(&[
        ("spans.json", span),
        ("empty.json", r#"{"messages":[]}"#),
        ("package.json", r#"{"name":"shop","version":"1.0.0","scripts":{"test":"vitest"}}"#),
        ("log.json", CLEAN),
    ]);
    for (line, message) in [
        (
            "check spans.json",
            "read as `otel`, but no message of an agent was found (skipped: 1 span ChatCompletion)",
        ),
        ("check empty.json --from openai-chat", "no message of an agent was found"),
        ("check package.json --from openai-responses", "no message of an agent was found"),
        ("check log.json --from openai-responses", "no message of an agent was found"),
        ("check log.json --from otel", "skipped: 1 line without spans"),
    ] {
        let ran = desk.run(line).to_string();
        assert!(ran.starts_with("exit 2") && ran.contains(message), "{line}: {ran}");
    }
}

/// A document is complete or unreadable, even in a folder. A log in lines may still be written.
#[test]
fn a_document_that_is_cut_off_is_an_error() {
    let cut = WRONG.get(..WRONG.len() - 40).unwrap();
    let comma = CLEAN.replace("]}", "],}");
    let live = "{\"role\":\"user\",\"content\":\"Hi.\"}\n{\"role\":\"assi";
    let desk = Desk::with(&[("logs/cut.json", cut), ("comma.json", &comma), ("live.jsonl", live)]);
    assert_snapshot!(desk.run("check logs"), @"
    exit 2
    error: the JSON document is cut off: the text ends inside a string (line 1, column 371)
    --> logs/cut.json:1
     |
     = help: write the complete file, then check again

    no findings in 1 transcript (no claims to check)
    incomplete logs: cut off at the end (1 transcript)
    1 problem while reading
    ");
    assert_snapshot!(desk.run("check comma.json"), @"
    exit 2
    error: not valid JSON: trailing comma (line 1, column 87)
    --> comma.json:1
     |
     = help: fix the JSON, then check again

    1 problem while reading
    ");
    assert_snapshot!(desk.run("check live.jsonl"), @"
    exit 0
    warning: the log is cut off in the middle of this line
    --> live.jsonl:2

    no findings in 1 transcript (no claims to check)
    incomplete logs: cut off at the end (1 transcript), unrecognised parts that may contain calls (1 transcript)
    1 problem while reading
    ");
}

/// Two actions in one sentence are two findings; accepting one keeps the other.
#[test]
fn two_actions_in_one_sentence_are_two_findings() {
    let log = r#"{"messages":[{"role":"user","content":"Cancel order 4411 and refund me."},
        {"role":"assistant","content":"I've cancelled order 4411 and refunded $25.50."}],
        "tools":[{"name":"cancel_order","parameters":{}},{"name":"refund_payment","parameters":{}}]}"#;
    let desk = Desk::with(&[("log.json", log)]);
    let ran = desk.run("check log.json --format github");
    for (family, words) in [("cancel", "I've cancelled order 4411"), ("refund", "refunded $25.50.")]
    {
        assert!(ran.out.contains(&format!("did it ({family}): “{words}”")), "{ran}");
    }
    assert!(ran.out.contains("2 errors in 1 transcript (2 claims: 2 unsupported"), "{ran}");
    let report: serde_json::Value =
        serde_json::from_str(&desk.run("check log.json --format json").out).unwrap();
    let first = report["findings"][0]["fingerprint"].as_str().unwrap();
    desk.run(&format!("check log.json --baseline b.json --accept {first} --reason x"));
    let ran = desk.run("check log.json --baseline b.json");
    assert!(ran.code == 1 && ran.out.contains("(refund)"), "{ran}");
    assert!(!ran.out.contains("(cancel)"), "{ran}");
}

/// `--strict` fails if anything was left out or not read.
#[test]
fn strictly_everything_is_read() {
    let log = r#"[{"role":"user","content":"Hi."},{"role":"assistant","content":"Hello."}]"#;
    for (name, text, code, why) in [
        (
            "logs/note.txt",
            "no log",
            2,
            "error: --strict: 1 file in an unknown format skipped: logs/note.txt\n",
        ),
        (
            "logs/b.jsonl",
            "{\"role\":\"user\",\"content\":\"Hi.\"}\n{broken\n",
            2,
            "error: --strict: 1 problem while reading: logs/b.jsonl:2\n",
        ),
        ("logs/b.json", log, 0, ""),
    ] {
        let desk = Desk::with(&[("logs/a.json", log), (name, text)]);
        assert_eq!(desk.run("check logs").code, 0, "{name}");
        let ran = desk.run("check logs --strict");
        assert_eq!(ran.code, code, "{name}: {ran}");
        let ran = desk.run("check logs --strict --quiet --format github");
        assert_eq!(ran.err, why, "{name}: {ran}");
        assert_eq!(ran.out.contains("::error title=counterfoil::--strict"), code == 2, "{ran}");
    }
}

/// A call whose tool has an unusable schema is not a finding, but counted as unchecked.
#[test]
fn what_cannot_be_checked_is_counted() {
    let log = r#"{"messages":[{"role":"user","content":"Go."},
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",
         "function":{"name":"act","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"a","content":"ok"}],
        "tools":[{"name":"act","parameters":{"$ref":"https://example.com/gone.json"}}]}"#;
    let desk = Desk::with(&[("log.json", log)]);
    let ran = desk.run("check log.json");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("1 call not checked: the tool's schema cannot be used"), "{ran}");
}

#[test]
fn rules_are_named_by_lists_and_patterns() {
    let desk = Desk::with(&[("log.json", LIE)]);
    let found = |line: &str| desk.run(&format!("check log.json --quiet {line}"));
    assert!(found("--rule cs001,FK0*").out.contains("error[FK010]"));
    assert_eq!(found("--rule fk01? --ignore phantom-*").code, 0);
    assert_eq!(found("--mode FK*=off --rule UNKNOWN_*").code, 0);
    assert_snapshot!(found("--rule FK9*"), @"
    exit 2
    --- stderr
    error: no rule matches `FK9*`
      help: `counterfoil rules` lists all rules
    ");
    assert_snapshot!(found("--mode FK010=error"), @"
    exit 2
    --- stderr
    error: unknown mode `error`
      help: did you mean `block`?
    ");
}

#[test]
fn without_a_path_the_newest_session_of_each_agent_is_checked() {
    let desk = Desk::with(&[]);
    assert_snapshot!(desk.run("check"), @"
    exit 2
    --- stderr
    error: no path given, and no agent sessions found on this machine
      help: pass a log or a folder of logs, or `-` to read standard input
    ");
    // A folder without logs is no reason to read sessions that were not asked for.
    std::fs::create_dir(desk.path().join("empty")).unwrap();
    assert_snapshot!(desk.run("check empty"), @"
    exit 2
    --- stderr
    error: no transcripts found
      help: pass a log, or a folder that contains logs in a supported format
    ");
    let ran = desk.run("check empty --format junit");
    assert!(ran.out.contains("<failure message=\"no transcripts found\"/>"), "{ran}");
    let log = include_str!("../../../../examples/claude-code-failing-tests.jsonl");
    let desk = Desk::with(&[("home/.claude/projects/-p/7c1e02aa.jsonl", log)]);
    let ran = desk.run("check --quiet");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.err.contains("checking the newest session of claude-code"), "{ran}");
    assert!(ran.out.contains("error[CS016]"), "{ran}");
}

#[test]
fn statistics_instead_of_findings() {
    let desk = Desk::with(&[("log.json", LIE)]);
    let ran = desk.run("check log.json --statistics");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.out.contains("RULE") && !ran.out.contains("error["), "{ran}");
}

#[test]
fn why_says_how_every_clause_was_read() {
    let log = r#"{"messages":[
{"role":"user","content":"Cancel order W12 and tell me when."},
{"role":"assistant","content":"Order W12 was cancelled by the warehouse at 09:41. I will refund it tomorrow. I refunded W13."}]}"#;
    let desk = Desk::with(&[("log.json", log)]);
    assert_snapshot!(desk.run("check log.json --rule FK010 --fail-on never --why --quiet"), @"
    exit 0
    log.json
      turn 1, line 3
        Order W12 was cancelled by the warehouse at 09:41.
            not judged: no rule checks this kind of statement
            cancelled: not a side effect: done by someone else
            W12: found in message 0, line 2
            09:41: not found earlier in this exact form
        I will refund it tomorrow.
            not asserted: planned, possible or hedged
        I refunded W13.
            ? not checkable FK010  I refunded W13.
                                   because: the log has no list of tools, and a tool with unknown effects may do this
            refunded: side effect: refund
            W13: not found earlier in this exact form
    ");
    let ran = desk.run("check log.json --why --format jsonl");
    let clauses = ran.out.lines().filter(|line| line.starts_with(r#"{"type":"clause""#)).count();
    assert_eq!(clauses, 3, "{ran}");
    assert_snapshot!(desk.run("check log.json --why --format sarif"), @"
    exit 2
    --- stderr
    error: `--why` requires the format text or jsonl
      help: add `--format text` or `--format jsonl`
    ");
}

/// An execution cited ten minutes after it began.
const OLD: &str = r#"{"messages":[
{"role":"user","content":"Is the line up?"},
{"role":"assistant","content":"Up (execution_id: ping_1735999999123_9f3a01bc).","timestamp":"2025-01-04T14:23:19Z"}],
"receipts":[{"execution_id":"ping_1735999999123_9f3a01bc","tool":"ping","status":"completed","started_at":1735999999123,"result":"up"}]}"#;

#[test]
fn executions_are_cited_within_a_window() {
    let found = |config: &str, flags: &str| {
        let desk = Desk::with(&[("log.json", OLD), ("counterfoil.toml", config)]);
        desk.run(&format!("check log.json {flags}")).out.contains("CS003")
    };
    assert!(!found("", ""));
    assert!(found("", "--execution-window 300"));
    assert!(!found("", "--execution-window 3000"));
    assert!(found("[check]\nexecution_window = 300\n", ""));
    assert!(!found("[check]\nexecution_window = 300\n", "--execution-window 0"));
}

#[test]
fn what_the_configuration_says_of_calls_counts_here_too() {
    let calls = |count: usize| {
        let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"cN","type":"function","function":{"name":"peek","arguments":"{\"at\":N}"}}]},{"role":"tool","tool_call_id":"cN","content":"N"}"#;
        let all: Vec<String> = (0..count).map(|n| call.replace('N', &n.to_string())).collect();
        format!(r#"{{"messages":[{{"role":"user","content":"Look."}},{}]}}"#, all.join(","))
    };
    let log = calls(6);
    let found = |config: &str| {
        let desk = Desk::with(&[("log.json", &log), ("counterfoil.toml", config)]);
        desk.run("check log.json --rule REPEATED_CALL").out.contains("REPEATED_CALL")
    };
    assert!(!found(""));
    assert!(found("[tools.fixation]\nstreak = 5\n"));
    let desk = Desk::with(&[("log.json", &log)]);
    let words = ["check", "log.json", "--rule", "REPEATED_CALL"];
    let ran = desk.spawn(&[("TOOL_FIXATION_THRESHOLD", "5")], &words, "");
    assert!(ran.out.contains("`peek` was called 5 times in a row"), "{ran}");
}

#[test]
fn a_conversation_of_an_unknown_form_is_named_with_what_makes_a_known_one_of_it() {
    let odd = r#"{"conversation_log":[{"speaker":"bot","utterance":"Done."}]}"#;
    let desk = Desk::with(&[("odd.json", odd)]);
    assert_snapshot!(desk.run("check odd.json"), @r#"
    exit 2
    error: unsupported log format; the input looks like a conversation
    --> odd.json
     |
     = help: convert it to `openai-chat` with `jq -c '{messages: [.conversation_log[] | {role: (.speaker | if . == "bot" then "assistant" else . end), content: .utterance}]}' FILE`; include `tool_calls` and messages with the role `tool`; without them, no actions are checked

    1 problem while reading
    "#);
}

/// A hook's message to an agent quotes what the agent made up. In the log it is a message like any
/// other, and proves nothing.
#[test]
fn what_is_replied_to_a_lie_does_not_make_it_true() {
    let lie = r#"{"role":"assistant","content":"Order #B20481 is open (execution_id: get_order_1735999999123_0a1b2c3d)."}"#;
    for reply in [
        "Your message says what the record of this session does not show.",
        "I apologize: my answer said things that the record of this session does not show.",
    ] {
        let log = format!(
            r#"{{"tools":[{{"type":"function","function":{{"name":"get_order"}}}}],"messages":[
{{"role":"user","content":"What is order B20418?"}},
{{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"get_order","arguments":"{{\"order\":\"B20418\"}}"}}}}]}},
{{"role":"tool","tool_call_id":"c1","content":"{{\"order\":\"B20418\",\"status\":\"open\"}}"}},
{lie},
{{"role":"user","content":"{reply}\n\n- `B20481` is nowhere in the record\n- no execution has the id `get_order_1735999999123_0a1b2c3d`"}},
{lie}]}}"#
        );
        let desk = Desk::with(&[("log.json", &log)]);
        let ran = desk.run("check log.json");
        for code in ["error[FK030]", "error[CS001]"] {
            assert_eq!(ran.to_string().matches(code).count(), 2, "{code}: {ran}");
        }
    }
}

/// A log whose answers are in an unknown form is not clean.
#[test]
fn an_answer_that_cannot_be_read_is_no_clean_run() {
    let log =
        r#"[{"inputs":{"messages":[{"role":"user","content":"Go."}]},"outputs":{"said":"Done."}}]"#;
    let ran = Desk::with(&[("log.json", log)]).run("check log.json");
    let wrong = "nothing that the agent said or did could be read";
    assert!(ran.code == 2 && format!("{ran}").contains(wrong), "{ran}");
}

/// Mistakes on the command line are named, with what to do instead.
#[test]
fn a_wrong_command_line_gets_a_hint() {
    let desk = Desk::with(&[("log.json", LIES), ("a.txt", "x"), ("b.txt", "y")]);
    for (line, hint) in [
        ("check log.json --format sarif,junit", "once per format"),
        ("check log.json --format sarif --format junit", "once per format"),
        ("check log.json --rule FK010 --ignore FK010", "no rule is left to run"),
        ("check *.jsonl", "remove the quotes"),
        ("check https://example.org/log.json", "curl URL | counterfoil check -"),
        ("check", "`-` to read standard input"),
        ("check a.txt b.txt", "`counterfoil check --help` names the formats"),
    ] {
        let ran = desk.run(line);
        assert!(ran.code == 2 && format!("{ran}").contains(hint), "{line}: {ran}");
    }
    let ran = desk.run("check log.json --output r.html");
    let page = std::fs::read_to_string(desk.path().join("r.html")).unwrap();
    assert!(ran.code == 1 && page.starts_with("<!DOCTYPE html>"), "{page}");
}
