//! Calls that a host executes, in one long-lived process.

use counterfoil_guard::{
    Asking, Guard, GuardOptions, HostEnded, HostTools, HostedCall, Judged, Listed, PersonsAnswer,
    Session, SessionStart, StateFolder, Surroundings,
};
use counterfoil_ledger::{AuditFiles, Reading};
use counterfoil_model::{Arguments, Status, Tool, ToolCall};
use serde_json::{Value, json};

use crate::desk::wait;

fn hosted(id: &str, tool: &str, arguments: &Value) -> HostedCall {
    let call = ToolCall {
        id: id.to_owned(),
        tool: tool.to_owned(),
        arguments: Arguments::from(arguments),
        line: 0,
    };
    HostedCall::new(call, Tool::named(tool))
}

/// Records one call with this status if it may run. Returns the notes for the model after it, or
/// `None` if the call may not run.
fn ran(session: &Session, call: &HostedCall, status: Status) -> Option<Vec<String>> {
    let around = Surroundings::default();
    let before = wait(session.before(call, &around, Asking::Unattended)).unwrap();
    if !matches!(before.judged, Judged::Allowed { .. }) {
        return None;
    }
    let result = Value::from("it is so");
    let ended = HostEnded { status, category: None, result, exit_code: None, truncated: false };
    let after = wait(session.after(call, &around, ended)).unwrap();
    Some(before.notes.into_iter().chain(after).collect())
}

fn guard(options: &str) -> Guard {
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    Guard::builder().settings(options.resolve().unwrap()).build().unwrap()
}

#[test]
fn a_lean_session_knows_what_completed_and_reads_the_rest() {
    let guard = guard(
        r#"{"tools":{"dependencies":{"enabled":true,"rules":{"pay":{"requires":["order"]}}}}}"#,
    );
    let session = guard.host_session(SessionStart::default()).unwrap();
    session.keep_lean();
    let (order, pay) = (hosted("1", "order", &json!({})), hosted("2", "pay", &json!({})));
    assert_eq!(ran(&session, &pay, Status::Completed), None);
    assert!(ran(&session, &order, Status::Failed).is_some());
    assert_eq!(ran(&session, &pay, Status::Completed), None);
    assert!(ran(&session, &order, Status::Completed).is_some());
    assert!(ran(&session, &pay, Status::Completed).is_some());
    let transcript = session.transcript().unwrap();
    let calls: Vec<&str> = transcript
        .messages
        .iter()
        .flat_map(|message| &message.calls)
        .map(|call| call.tool.as_str())
        .collect();
    assert_eq!(calls, ["pay", "order", "pay", "order", "pay"]);
}

#[test]
fn repetition_is_noticed_as_if_every_event_were_a_process_of_its_own() {
    let nudges = |lasting: bool| -> Vec<Vec<String>> {
        let guard = guard("{}");
        let begin = || {
            let start = SessionStart { id: Some("s".to_owned()), ..SessionStart::default() };
            guard.host_session(start).unwrap()
        };
        let one = begin();
        let call = |at: usize| {
            let session = if lasting { one.clone() } else { begin() };
            let call = hosted(&at.to_string(), "look", &json!({ "at": "a" }));
            let texts = ran(&session, &call, Status::Failed).unwrap();
            // Ids differ between runs.
            texts.into_iter().map(|text| text.replace(char::is_numeric, "")).collect()
        };
        (0..8).map(call).collect()
    };
    let lasting = nudges(true);
    let noticed = lasting.iter().flatten().filter(|text| text.contains("look")).count();
    assert!(noticed > 0, "{lasting:?}");
    let strip = |rounds: Vec<Vec<String>>| -> Vec<Vec<String>> {
        let keep = |texts: Vec<String>| {
            texts
                .into_iter()
                .map(|text| text.split("(execution_id").next().unwrap_or("").to_owned())
        };
        rounds.into_iter().map(|texts| keep(texts).collect()).collect()
    };
    assert_eq!(strip(lasting), strip(nudges(false)));
}

#[test]
fn a_host_that_knows_its_tools_has_calls_held_against_them() {
    let guard = guard(r#"{"tools":{"admission":{"coerce":true,"resolve_names":true}}}"#);
    let session = guard.host_session(SessionStart::default()).unwrap();
    let parameters = json!({
        "type": "object",
        "properties": { "count": { "type": "integer" } },
        "required": ["count"],
    });
    let order = Tool { parameters: Some(parameters), ..Tool::named("place_order") };
    let tools = HostTools::new([order], guard.admission_settings());
    // A tool's name and arguments; then the resolved tool and arguments, or the code.
    let cases = [
        ("place_order", json!({ "count": 2 }), Ok(("place_order", json!({ "count": 2 })))),
        ("place_order", json!({ "count": "2" }), Ok(("place_order", json!({ "count": 2 })))),
        ("place-order", json!({ "count": 2 }), Ok(("place_order", json!({ "count": 2 })))),
        ("place_order", json!({ "count": "two" }), Err("WRONG_TYPE")),
        ("place_order", json!({}), Err("MISSING_REQUIRED")),
        ("refund_order", json!({ "count": 2 }), Err("UNKNOWN_TOOL")),
    ];
    for (number, (tool, arguments, expected)) in cases.iter().enumerate() {
        let call = hosted(&format!("call_{number}"), tool, arguments).call;
        let around = Surroundings::default();
        let listed = session.before_listed(call, &tools, &around, Asking::Unattended);
        match (wait(listed).unwrap(), expected) {
            (Listed::Judged(hosted, before), Ok((tool, arguments))) => {
                assert_eq!((&*hosted.tool.name, hosted.arguments.value()), (*tool, arguments));
                assert!(matches!(before.judged, Judged::Allowed { .. }), "{before:?}");
            }
            (Listed::Refused(answer, report), Err(code)) => {
                assert_eq!(answer.codes, [*code], "{report}");
                let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
                assert_eq!(receipt.status, Status::Refused);
            }
            (other, expected) => panic!("{tool} {arguments}: {other:?}, not {expected:?}"),
        }
    }
}

/// The rules in the audit lines of a host's calls, in order: one call with each of these texts.
fn rules_in_the_audit_log(options: &str, texts: &[&str], asking: Asking) -> Vec<Option<String>> {
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path());
    let options: GuardOptions = serde_json::from_str(options).unwrap();
    let guard = Guard::builder().settings(options.resolve().unwrap()).state(state.clone());
    let session = guard.build().unwrap().host_session(SessionStart::default()).unwrap();
    let around = Surroundings::default();
    for (number, text) in texts.iter().enumerate() {
        let call = hosted(&number.to_string(), "read", &json!({ "path": text }));
        let before = wait(session.before(&call, &around, asking)).unwrap();
        let allowed = match before.undecided {
            Some(undecided) => {
                let decided =
                    wait(session.decided(&undecided, "ada", PersonsAnswer::Agreed)).unwrap();
                matches!(decided.judged, Judged::Allowed { .. })
            }
            None => matches!(before.judged, Judged::Allowed { .. }),
        };
        if allowed {
            let status = Status::Completed;
            let result = Value::from("it is so");
            let ended =
                HostEnded { status, category: None, result, exit_code: None, truncated: false };
            wait(session.after(&call, &around, ended)).unwrap();
        }
    }
    let mut rules = Vec::new();
    let files = AuditFiles::open(&state.audit()).unwrap();
    let read = files.lines(&mut |line| {
        rules.push(line.unwrap().entry.policy_match);
        Reading::GoOn
    });
    read.unwrap();
    rules
}

#[test]
fn the_audit_log_names_the_rules_that_decided() {
    let options = r#"{"tools":{
        "policy":{"enabled":true,"default_effect":"allow","rules":[
            {"name":"keys","effect":"deny","paths":["**/.env"]},
            {"name":"reading is fine","effect":"allow","tool":"read"}]},
        "permissions":{"rules":[
            {"tool":"read","pattern":"no*","action":"deny"},
            {"tool":"read","pattern":"may*","action":"ask"}]}}}"#;
    let texts = ["/a/.env", "/a/b", "no/a", "maybe"];
    let certain = ["policy: keys", "policy: reading is fine", "permission: read: no*"];
    for asking in [Asking::Unattended, Asking::Reported] {
        let rules: Vec<_> = rules_in_the_audit_log(options, &texts, asking);
        let rules: Vec<&str> = rules.iter().map(|rule| rule.as_deref().unwrap()).collect();
        assert_eq!(rules, [&certain[..], &["permission: read: may*"]].concat());
    }
    assert_eq!(rules_in_the_audit_log("{}", &["/a/.env"], Asking::Unattended), [None]);
}

/// A call with thinking and this argument, from a host.
fn thinking(id: &str, tool: &str) -> HostedCall {
    hosted(id, tool, &json!({ "_tafc_think": "PRIVATE", "at": { "_TAFC_THINK_2": "PRIVATE" } }))
}

#[test]
fn no_door_records_hidden_thinking() {
    let guard = guard(
        r#"{"tools":{"policy":{"enabled":true,"default_effect":"allow","rules":[
        {"tool":"denied","effect":"deny"}]}}}"#,
    );
    let session = guard.host_session(SessionStart::default()).unwrap();
    let around = Surroundings::default();
    assert!(ran(&session, &thinking("1", "mail"), Status::Completed).is_some());
    assert!(ran(&session, &thinking("2", "denied"), Status::Completed).is_none());
    wait(session.deny(&thinking("3", "mail"), &around, Vec::new())).unwrap();
    let ended = HostEnded {
        status: Status::Completed,
        category: None,
        result: json!("sent"),
        exit_code: None,
        truncated: false,
    };
    wait(session.after(&thinking("4", "mail"), &around, ended)).unwrap();
    let tool = Tool {
        parameters: Some(json!({ "type": "object", "properties": { "at": { "type": "object" } } })),
        ..Tool::named("mail")
    };
    let tools = HostTools::new([tool], guard.admission_settings());
    for arguments in [
        r#"{"_tafc_think":"PRIVATE","at":{}}"#,
        r#"{"_tafc_think":"PRIVATE","at":7}"#,
        r#"{"_tafc_think":"PRIVATE","#,
        r#"{"_tafc_think":"PRIVATE"} PRIVATE"#,
    ] {
        let call = ToolCall::new("5", "mail", arguments);
        wait(session.before_listed(call, &tools, &around, Asking::Unattended)).unwrap();
    }
    let arguments = json!({ "_tafc_think": "PRIVATE", "at": {} }).into();
    wait(wait(session.track("mail", &arguments, around)).unwrap().complete(json!("sent"))).unwrap();
    let events = guard.ledger().events(session.id()).unwrap();
    let all = serde_json::to_string(&events).unwrap();
    assert!(!all.contains("PRIVATE") && !all.to_lowercase().contains("_tafc"), "{all}");
    assert_eq!(all.matches("\"arguments\":{\"at\":{}}").count(), 6, "{all}");
}

#[test]
fn a_host_makes_no_call_that_is_only_thinking() {
    let guard = guard("{}");
    let session = guard.host_session(SessionStart::default()).unwrap();
    let around = Surroundings::default();
    let only = json!({ "_tafc_think": "PRIVATE" });
    let tools = HostTools::new([Tool::named("list")], guard.admission_settings());
    let call = ToolCall::new("2", "list", only.to_string());
    let listed = wait(session.before_listed(call, &tools, &around, Asking::Unattended)).unwrap();
    let Listed::Judged(_, listed) = listed else { panic!("{listed:?}") };
    let plain =
        wait(session.before(&hosted("1", "list", &only), &around, Asking::Unattended)).unwrap();
    for before in [plain, listed] {
        let Judged::Denied(reasons) = &before.judged else { panic!("{before:?}") };
        assert_eq!(reasons[0].code, "only_thinking");
        assert!(before.execution_id.is_some());
    }
    // The host may call it without arguments.
    let none = wait(session.before(&hosted("3", "list", &json!({})), &around, Asking::Unattended));
    assert!(matches!(none.unwrap().judged, Judged::Allowed { .. }));
}
