//! The formats as their readers see them.

use counterfoil_report::{Look, ReportFormat};
use insta::assert_snapshot;

use crate::scene::{coding, look, render, support};

#[test]
fn text() {
    assert_snapshot!(render(ReportFormat::Text, look(), &[support(), coding()]), @r#"
    note[WRONG_TYPE]: `order_id` must be a string
    --> logs/support session.json:12 (order-4411, turn 1)
     |
     | cancel_order({"order_id": 4411, "reason": "no longer needed"})
     |                           ^^^^
     |
     = expected: a string
     = actual: 4411
     = help: write it in quotes

    error[FK014]: the order is said to be cancelled, but `cancel_order` answered `pending`
    --> logs/support session.json:16 (order-4411, turn 3)
     |
     | I have cancelled order #4411 for you, and I sent a confirmation to cust@example.org.
     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ contradicted
     | Is there anything else I can do?
     |
     = record: cancel_order (call_1), line 14, at /status: {"status":"pending","error":"order is already…
     = help: say what the tool answered, or call it again and wait for `cancelled`

    warning[FK014]: no call of this session sends a message
    --> logs/support session.json:16 (order-4411, turn 3)
     |
     | I have cancelled order #4411 for you, and I sent a confirmation to cust@example.org.
     |                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ unsupported
     | Is there anything else I can do?
     |
     = record: no call and no result shows this

    warning: the line is not JSON: expected value at column 1
    --> logs/support session.json:15
     |
     = help: it was left out; the rest of the file was read

    1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%)
    the record has gaps: earlier messages replaced by a summary (1 transcript)
    1 problem while reading
    "#);
}

#[test]
fn text_with_every_claim() {
    let look = Look { show_supported: true, ..look() };
    assert_snapshot!(render(ReportFormat::Text, look, &[coding()]), @"
    logs/coding.jsonl
      turn 0, line 88
        ✓ supported     FK020  All 12 tests pass now.
                               shell_1735999999123_9f3a01bc, line 80: test result: ok. 12 passed; 0 failed
        ? not checkable FK020  The layout also looks nicer.

    no findings in 1 transcript (2 claims: 1 supported, 1 not checkable; coverage 50%)
    the record has gaps: earlier messages replaced by a summary (1 transcript)
    ");
}

#[test]
fn text_of_nothing() {
    assert_snapshot!(render(ReportFormat::Text, look(), &[]), @"");
}

#[test]
fn colours_only_when_asked() {
    let plain = render(ReportFormat::Text, look(), &[support()]);
    assert!(!plain.contains('\u{1b}'));
    let coloured = render(ReportFormat::Text, Look { colour: true, ..look() }, &[support()]);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[91merror[FK014]"));
}

#[test]
fn jsonl() {
    assert_snapshot!(render(ReportFormat::Jsonl, look(), &[support(), coding()]), @r##"
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat"},"rule":{"code":"WRONG_TYPE","name":"wrong-type"},"severity":"note","mode":"shadow","verdict":"contradicted","confidence":"certain","message":"`order_id` must be a string","turn":1,"line":12,"call":{"id":"call_1","tool":"cancel_order","pointer":"/order_id","expected":"a string","actual":"4411"},"evidence":[],"help":"write it in quotes","fingerprint":"5ba113fe67ec3d0c6066f6adce0fdf48"}
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat"},"rule":{"code":"FK014","name":"contradicted-action"},"severity":"error","mode":"block","verdict":"contradicted","confidence":"certain","message":"the order is said to be cancelled, but `cancel_order` answered `pending`","turn":3,"line":16,"span":{"start":21,"end":57},"claim":{"type":"action","family":"cancel","text":"I have cancelled order #4411 for you","objects":[{"kind":"id","text":"#4411"}]},"evidence":[{"call_id":"call_1","tool":"cancel_order","pointer":"/status","excerpt":"{\"status\":\"pending\",\"error\":\"order is already being packed\"}"}],"help":"say what the tool answered, or call it again and wait for `cancelled`","fingerprint":"e2f85da7be5c2e3b6c3069167f9a1525"}
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat"},"rule":{"code":"FK014","name":"contradicted-action"},"severity":"warning","mode":"warn","verdict":"unsupported","confidence":"likely","message":"no call of this session sends a message","turn":3,"line":16,"span":{"start":63,"end":104},"claim":{"type":"action","family":"send","text":"I sent a confirmation to cust@example.org"},"evidence":[],"fingerprint":"94e1a198709dd9a9fdcf6590024244f0"}
    {"type":"summary","schema_version":1,"transcripts":2,"transcripts_with_findings":1,"messages":5,"calls":1,"unchecked_calls":0,"claims":{"supported":1,"contradicted":1,"unsupported":1,"not_checkable":1},"coverage":0.75,"severities":{"error":1,"warning":1,"note":1},"findings":{"FK014":2,"WRONG_TYPE":1},"baselined":0,"hidden":0,"gaps":{"compacted":1},"skipped":{},"problem_count":1,"problems":[{"path":"logs/support session.json","line":15,"message":"the line is not JSON: expected value at column 1","help":"it was left out; the rest of the file was read","fatal":false}],"unrecognised_count":0,"unrecognised":[]}
    "##);
}

#[test]
fn junit() {
    assert_snapshot!(render(ReportFormat::Junit, look(), &[support(), coding()]), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="counterfoil">
        <testsuite name="logs/support session.json" tests="3" skipped="1" errors="0" failures="2">
            <properties>
                <property name="transcript" value="order-4411"/>
                <property name="format" value="openai-chat"/>
            </properties>
            <testcase name="WRONG_TYPE wrong-type turn 1" classname="order-4411">
                <skipped message="`order_id` must be a string" type="note">`order_id` must be a string
    at logs/support session.json:12
    help: write it in quotes</skipped>
            </testcase>
            <testcase name="FK014 contradicted-action turn 3" classname="order-4411">
                <failure message="the order is said to be cancelled, but `cancel_order` answered `pending`" type="error">the order is said to be cancelled, but `cancel_order` answered `pending`
    at logs/support session.json:16
    evidence: {&quot;status&quot;:&quot;pending&quot;,&quot;error&quot;:&quot;order is already being packed&quot;}
    help: say what the tool answered, or call it again and wait for `cancelled`</failure>
            </testcase>
            <testcase name="FK014 contradicted-action turn 3" classname="order-4411">
                <failure message="no call of this session sends a message" type="warning">no call of this session sends a message
    at logs/support session.json:16</failure>
            </testcase>
        </testsuite>
        <testsuite name="logs/coding.jsonl" tests="1" skipped="0" errors="0" failures="0">
            <properties>
                <property name="transcript" value="coding"/>
                <property name="format" value="claude-code"/>
            </properties>
            <testcase name="every claim is covered" classname="coding"/>
        </testsuite>
        <testsuite name="what was not read or not shown" tests="2" skipped="2" errors="0" failures="0">
            <testcase name="the record has gaps: earlier messages replaced by a summary (1 transcript)">
                <skipped/>
            </testcase>
            <testcase name="1 problem while reading">
                <skipped/>
            </testcase>
        </testsuite>
    </testsuites>
    "#);
}

#[test]
fn github() {
    assert_snapshot!(render(ReportFormat::Github, look(), &[support(), coding()]), @r#"
    ::notice file=logs/support session.json,line=12,title=WRONG_TYPE wrong-type::`order_id` must be a string%0Ahelp: write it in quotes
    ::error file=logs/support session.json,line=16,title=FK014 contradicted-action::the order is said to be cancelled, but `cancel_order` answered `pending`%0Aevidence: {"status":"pending","error":"order is already being packed"}%0Ahelp: say what the tool answered, or call it again and wait for `cancelled`
    ::warning file=logs/support session.json,line=16,title=FK014 contradicted-action::no call of this session sends a message
    ::warning file=logs/support session.json,line=15,title=could not be read::the line is not JSON: expected value at column 1
    ::notice title=counterfoil::1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%25)
    ::notice title=counterfoil::the record has gaps: earlier messages replaced by a summary (1 transcript)
    ::notice title=counterfoil::1 problem while reading
    "#);
}

#[test]
fn markdown() {
    assert_snapshot!(render(ReportFormat::Markdown, look(), &[support(), coding()]), @r#"
    ## Counterfoil: what the agent said against what the record shows

    ### logs/support session.json \(order-4411\)

    | | Rule | Where | What |
    | --- | --- | --- | --- |
    | ℹ️ | WRONG_TYPE wrong-type | turn 1, line 12 | \`order\_id\` must be a string |
    | ❌ | FK014 contradicted-action | turn 3, line 16 | the order is said to be cancelled, but \`cancel\_order\` answered \`pending\` |
    | ⚠️ | FK014 contradicted-action | turn 3, line 16 | no call of this session sends a message |

    Turn 3:

    > Thanks for waiting\!
    > 
    > I have cancelled order \#4411 for you[^order4411-3-1], and I sent a confirmation to cust@<!-- -->example.org[^order4411-3-2].
    > Is there anything else I can do?

    [^order4411-3-1]: ❌ contradicted (FK014): call `call_1` `cancel_order`, line 14 at `/status`: `{"status":"pending","error":"order is already being packed"}`

    [^order4411-3-2]: ⚠️ unsupported (FK014): no record

    - could not read `logs/support session.json`:15: the line is not JSON: expected value at column 1

    **1 error, 1 warning, 1 note in 1 of 2 transcripts \(4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%\)**

    - the record has gaps: earlier messages replaced by a summary \(1 transcript\)
    - 1 problem while reading
    "#);
}

#[test]
fn a_hostile_log_reaches_no_runner_and_no_xml_parser() {
    let hostile = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{200b}\u{feff}\u{e0041}\u{fffe}\u{ffff}\u{0}\r\n::error::no";
    let mut scenes = [support(), coding()];
    for finding in scenes.iter_mut().flat_map(|scene| &mut scene.findings) {
        finding.message.push_str(hostile);
        for evidence in &mut finding.evidence {
            evidence.excerpt.push_str(hostile);
        }
    }
    for format in [ReportFormat::Github, ReportFormat::Junit] {
        let document = render(format, look(), &scenes);
        let unseen = document.chars().find(|c| {
            (c.is_control() && *c != '\n')
                || matches!(
                    c,
                    '\u{202e}' | '\u{200b}' | '\u{feff}' | '\u{e0041}' | '\u{fffe}' | '\u{ffff}'
                )
        });
        assert_eq!(unseen, None, "{format:?}");
        if format == ReportFormat::Github {
            assert!(!document.lines().any(|line| line.starts_with("::error::")), "{document}");
        }
    }
}
