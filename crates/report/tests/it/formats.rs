//! Snapshots of the formats as users see them.

use counterfoil_model::{Mode, Severity, Subject};
use counterfoil_report::{
    Accepted, Checked, Comparison, KnownFinding, Look, ReportFormat, RuleCard, Summary,
};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::scene::{coding, look, render, support};

#[test]
fn text() {
    assert_snapshot!(render(ReportFormat::Text, look(), &[support(), coding()]), @r#"
    note[WRONG_TYPE]: `order_id` must be a string
    --> logs/support session.json:12 (order-4411, turn 1, some-model)
     |
     | cancel_order({"order_id": 4411, "reason": "no longer needed"})
     |                           ^^^^
     |
     = expected: a string
     = actual: 4411
     = help: write it in quotes

    error[FK014]: the order is said to be cancelled, but `cancel_order` answered `pending`
    --> logs/support session.json:16 (order-4411, turn 3, some-model)
     |
     | I have cancelled order #4411 for you, and I sent a confirmation to cust@example.org.
     | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ contradicted
     | Is there anything else I can do?
     |
     = record: cancel_order (call_1), line 14, at /status: {"status":"pending","error":"order is alrea…
     = help: say what the tool answered, or call it again and wait for `cancelled`

    warning[FK014]: no call of this session sends a message
    --> logs/support session.json:16 (order-4411, turn 3, some-model)
     |
     | I have cancelled order #4411 for you, and I sent a confirmation to cust@example.org.
     |                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ unsupported
     | Is there anything else I can do?
     |
     = judge: claude, 90% sure; confirmed by code: `send_email` was never called

    warning: the line is not JSON: expected value at column 1
    --> logs/support session.json:15
     |
     = help: it was left out; the rest of the file was read

    1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%)
    incomplete logs: earlier messages replaced by a summary (1 transcript)
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
                               because: a call of another kind may have done it

    no findings in 1 transcript (2 claims: 1 supported, 1 not checkable; coverage 50%)
    incomplete logs: earlier messages replaced by a summary (1 transcript)
    ");
}

#[test]
fn text_of_nothing() {
    assert_snapshot!(render(ReportFormat::Text, look(), &[]), @"");
}

#[test]
fn colours_only_when_enabled() {
    let plain = render(ReportFormat::Text, look(), &[support()]);
    assert!(!plain.contains('\u{1b}'));
    let coloured = render(ReportFormat::Text, Look { colour: true, ..look() }, &[support()]);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[91merror[FK014]"));
}

#[test]
fn jsonl() {
    assert_snapshot!(render(ReportFormat::Jsonl, look(), &[support(), coding()]), @r##"
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat","model":"some-model"},"rule":{"code":"WRONG_TYPE","name":"wrong-type"},"severity":"note","grade":"proven","mode":"shadow","verdict":"contradicted","confidence":"certain","message":"`order_id` must be a string","turn":1,"line":12,"call":{"id":"call_1","tool":"cancel_order","pointer":"/order_id","expected":"a string","actual":"4411"},"evidence":[],"help":"write it in quotes","fingerprint":"a063f437f4657a7b42cf13fa21faaeed"}
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat","model":"some-model"},"rule":{"code":"FK014","name":"contradicted-action"},"severity":"error","grade":"proven","mode":"block","verdict":"contradicted","confidence":"certain","message":"the order is said to be cancelled, but `cancel_order` answered `pending`","turn":3,"line":16,"span":{"start":21,"end":57},"claim":{"type":"action","family":"cancel","text":"I have cancelled order #4411 for you","objects":[{"kind":"id","text":"#4411"}]},"evidence":[{"call_id":"call_1","tool":"cancel_order","pointer":"/status","excerpt":"{\"status\":\"pending\",\"error\":\"order is already being packed\"}"}],"help":"say what the tool answered, or call it again and wait for `cancelled`","fingerprint":"59c74938c667cf99b01b2330223c70ab"}
    {"type":"finding","schema_version":1,"transcript":{"path":"logs/support session.json","id":"order-4411","format":"openai-chat","model":"some-model"},"rule":{"code":"FK014","name":"contradicted-action"},"severity":"warning","grade":"read","mode":"block","verdict":"unsupported","confidence":"likely","message":"no call of this session sends a message","turn":3,"line":16,"span":{"start":63,"end":104},"claim":{"type":"action","family":"send","text":"I sent a confirmation to cust@example.org"},"evidence":[],"judge":{"name":"claude","percent":90,"confirmed":"`send_email` was never called","searched":"2 calls searched, no match"},"fingerprint":"416d6348b60b9c7489fafdf5b03e5203"}
    {"type":"transcript","schema_version":1,"path":"logs/support session.json","id":"order-4411","format":"openai-chat","models":["some-model"],"messages":4,"calls":1,"claims":{"supported":0,"contradicted":1,"unsupported":1,"not_checkable":0,"read":0,"not_judged":0},"coverage":1.0,"severities":{"error":1,"warning":1,"note":1},"gaps":[],"skipped":{}}
    {"type":"transcript","schema_version":1,"path":"logs/coding.jsonl","id":"coding","format":"claude-code","models":[],"messages":1,"calls":0,"claims":{"supported":1,"contradicted":0,"unsupported":0,"not_checkable":1,"read":0,"not_judged":0},"coverage":0.5,"severities":{"error":0,"warning":0,"note":0},"gaps":["compacted"],"skipped":{}}
    {"type":"summary","schema_version":1,"transcripts":2,"transcripts_with_findings":1,"messages":5,"calls":1,"unchecked_calls":0,"claims":{"supported":1,"contradicted":1,"unsupported":1,"not_checkable":1,"read":0,"not_judged":0},"coverage":0.75,"severities":{"error":1,"warning":1,"note":1},"findings":{"FK014":2,"WRONG_TYPE":1},"baselined":0,"hidden":0,"gaps":{"compacted":1},"skipped":{},"problem_count":1,"problems":[{"path":"logs/support session.json","line":15,"message":"the line is not JSON: expected value at column 1","help":"it was left out; the rest of the file was read","fatal":false}],"unrecognised_count":0,"unrecognised":[]}
    "##);
}

#[test]
fn junit() {
    assert_snapshot!(render(ReportFormat::Junit, look(), &[support(), coding()]), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="counterfoil" tests="7" skipped="5" errors="0" failures="1">
        <testsuite name="logs/support session.json (order-4411)" tests="3" skipped="2" errors="0" failures="1">
            <properties>
                <property name="transcript" value="order-4411"/>
                <property name="format" value="openai-chat"/>
            </properties>
            <testcase name="WRONG_TYPE wrong-type in logs/support session.json turn 1" classname="order-4411">
                <skipped message="`order_id` must be a string" type="note">`order_id` must be a string
    at logs/support session.json:12
    help: write it in quotes</skipped>
            </testcase>
            <testcase name="FK014 contradicted-action in logs/support session.json turn 3" classname="order-4411">
                <failure message="the order is said to be cancelled, but `cancel_order` answered `pending`: “I have cancelled order #4411 for you”" type="error">the order is said to be cancelled, but `cancel_order` answered `pending`: “I have cancelled order #4411 for you”
    at logs/support session.json:16
    evidence: {&quot;status&quot;:&quot;pending&quot;,&quot;error&quot;:&quot;order is already being packed&quot;}
    help: say what the tool answered, or call it again and wait for `cancelled`</failure>
            </testcase>
            <testcase name="FK014 contradicted-action in logs/support session.json turn 3 (2)" classname="order-4411">
                <skipped message="no call of this session sends a message: “I sent a confirmation to cust@example.org”" type="warning">no call of this session sends a message: “I sent a confirmation to cust@example.org”
    at logs/support session.json:16
    judge: claude, 90% sure; confirmed by code: `send_email` was never called</skipped>
            </testcase>
        </testsuite>
        <testsuite name="reading logs/support session.json" tests="1" skipped="1" errors="0" failures="0">
            <testcase name="logs/support session.json:15 could be read" classname="logs/support session.json">
                <skipped message="logs/support session.json:15: the line is not JSON: expected value at column 1">
    help: it was left out; the rest of the file was read</skipped>
            </testcase>
        </testsuite>
        <testsuite name="logs/coding.jsonl" tests="1" skipped="0" errors="0" failures="0">
            <properties>
                <property name="transcript" value="coding"/>
                <property name="format" value="claude-code"/>
            </properties>
            <testcase name="no findings in logs/coding.jsonl" classname="coding"/>
        </testsuite>
        <testsuite name="not read or not shown" tests="2" skipped="2" errors="0" failures="0">
            <testcase name="incomplete logs: earlier messages replaced by a summary (1 transcript)">
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
fn failures_reach_the_formats_of_pipelines() {
    let summary = || Summary {
        failures: vec!["coverage is 0.0%, below --min-coverage 60".to_owned()],
        ..Summary::default()
    };
    for (format, expected) in [
        (ReportFormat::Github, "::error title=counterfoil::coverage is 0.0%25, below --min"),
        (ReportFormat::Junit, "<failure message=\"coverage is 0.0%, below --min"),
        (ReportFormat::Sarif, "{\"level\":\"error\",\"message\":{\"text\":\"coverage is 0.0%"),
        (ReportFormat::Json, "\"failures\":[\"coverage is 0.0%"),
        (ReportFormat::Markdown, "**coverage is 0.0%, below"),
    ] {
        let tail = format.renderer(look()).tail(&summary(), "");
        assert!(tail.contains(expected), "{format}: {tail}");
    }
}

#[test]
fn github_names_no_unchanged_finding_and_is_quiet_on_request() {
    let known = |message: &str| KnownFinding {
        fingerprint: "0".repeat(32),
        rule: "FK014".into(),
        transcript: "t".into(),
        path: None,
        message: message.into(),
        conversation: None,
    };
    let against = Comparison {
        same: vec![known("unchanged")],
        gone: vec![known("gone now")],
        ..Comparison::default()
    };
    let summary = Summary { against: Some(against), ..Summary::default() };
    assert_snapshot!(ReportFormat::Github.renderer(look()).tail(&summary, ""), @r#"
    ::notice title=counterfoil::no new findings in 0 transcripts (no claims to check)
    ::notice title=counterfoil::compared with the earlier report: 0 new, 1 gone, 1 same
    ::notice title=counterfoil::gone: FK014 in t: gone now
    "#);
    let quiet = Look { quiet: true, ..look() };
    assert_eq!(ReportFormat::Github.renderer(quiet).tail(&summary, ""), "");
}

#[test]
fn github() {
    assert_snapshot!(render(ReportFormat::Github, look(), &[support(), coding()]), @r#"
    ::notice file=logs/support session.json,line=12,title=WRONG_TYPE wrong-type::`order_id` must be a string%0Ahelp: write it in quotes
    ::error file=logs/support session.json,line=16,title=FK014 contradicted-action::the order is said to be cancelled, but `cancel_order` answered `pending`: “I have cancelled order #4411 for you”%0Aevidence: {"status":"pending","error":"order is already being packed"}%0Ahelp: say what the tool answered, or call it again and wait for `cancelled`
    ::warning file=logs/support session.json,line=16,title=FK014 contradicted-action::no call of this session sends a message: “I sent a confirmation to cust@example.org”%0Ajudge: claude, 90%25 sure; confirmed by code: `send_email` was never called
    ::warning file=logs/support session.json,line=15,title=could not be read::the line is not JSON: expected value at column 1
    ::notice title=counterfoil::1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%25)
    ::notice title=counterfoil::incomplete logs: earlier messages replaced by a summary (1 transcript)
    ::notice title=counterfoil::1 problem while reading
    "#);
}

#[test]
fn markdown() {
    assert_snapshot!(render(ReportFormat::Markdown, look(), &[support(), coding()]), @r#"
    ## Counterfoil: what the agent said compared with what the record shows

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

    [^order4411-3-2]: ⚠️ unsupported (FK014): no call or result shows this

    - could not read `logs/support session.json`:15: the line is not JSON: expected value at column 1

    **1 error, 1 warning, 1 note in 1 of 2 transcripts \(4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%\)**

    - incomplete logs: earlier messages replaced by a summary \(1 transcript\)
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

#[test]
fn csv() {
    let scenes = [support(), coding()];
    assert_snapshot!(render(ReportFormat::Csv, look(), &scenes), @r#"
    path,transcript,format,model,line,turn,severity,rule,name,verdict,confidence,message,claim,tool,help,fingerprint,grade,judge
    logs/support session.json,order-4411,openai-chat,some-model,12,1,note,WRONG_TYPE,wrong-type,contradicted,certain,`order_id` must be a string,,cancel_order,write it in quotes,a063f437f4657a7b42cf13fa21faaeed,proven,
    logs/support session.json,order-4411,openai-chat,some-model,16,3,error,FK014,contradicted-action,contradicted,certain,"the order is said to be cancelled, but `cancel_order` answered `pending`",I have cancelled order #4411 for you,,"say what the tool answered, or call it again and wait for `cancelled`",59c74938c667cf99b01b2330223c70ab,proven,
    logs/support session.json,order-4411,openai-chat,some-model,16,3,warning,FK014,contradicted-action,unsupported,likely,no call of this session sends a message,I sent a confirmation to cust@example.org,,,416d6348b60b9c7489fafdf5b03e5203,read,"claude, 90% sure; confirmed by code: `send_email` was never called"
    logs/support session.json,,,,15,,problem,,,,,the line is not JSON: expected value at column 1,,,it was left out; the rest of the file was read,,,
    "#);
    let mut odd = support();
    odd.findings.truncate(1);
    odd.findings.iter_mut().for_each(|f| f.message = "=HYPERLINK(\"x\"), \"two\"".into());
    let rows = render(ReportFormat::Csv, look(), &[odd]);
    assert!(rows.contains("\"'=HYPERLINK(\"\"x\"\"), \"\"two\"\"\""), "{rows}");
}

#[test]
fn html() {
    let page = render(ReportFormat::Html, look(), &[support(), coding()]);
    let (head, body) = page.split_once("<header>").unwrap();
    assert!(head.contains("default-src 'none'"), "{head}");
    let (body, _) = body.split_once("<script>").unwrap();
    assert_snapshot!(body.replace("><", ">\n<"), @r##"
    <h1>Counterfoil report</h1>
    <p>What the agent said compared with what the record shows. Generated by counterfoil 0.1.0.</p>
    </header>
    <div class="totals">
    <p class="line">1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%)</p>
    <p>incomplete logs: earlier messages replaced by a summary (1 transcript)</p>
    <p>1 problem while reading</p>
    </div>
    <div class="filters">
    <label>
    <input type="checkbox" value="contradicted" checked> contradicted</label>
    <label>
    <input type="checkbox" value="unsupported" checked> unsupported</label>
    <label>
    <input type="checkbox" value="call" checked> wrong calls</label>
    <label>
    <input type="checkbox" value="not_checkable" checked> not checkable</label>
    <label>
    <input type="checkbox" value="supported" checked> supported</label>
    <select id="rule" aria-label="rule">
    <option value="">every rule</option>
    </select>
    <input id="search" type="search" placeholder="search in messages" aria-label="search">
    </div>
    <main>
    <details class="session" open data-errors="1" data-warnings="1">
    <summary>
    <h2 class="name">logs/support session.json (order-4411)</h2>
    <span class="error">
    <span class="verdict count">1 error</span>
    </span>
    <span class="warning">
    <span class="verdict count">1 warning</span>
    </span>
    <span class="count">1 note</span>
    <div class="about">openai-chat, some-model, 4 messages, 2 claims</div>
    </summary>
    <div class="turn">
    <h3 class="where">turn 1, line 12, some-model</h3>
    <div>
    <div class="said">
    <pre>cancel_order({&quot;order_id&quot;: <mark class="weight-note" data-claim="a063f437f4657a7b42cf13fa21faaeed">4411</mark>, &quot;reason&quot;: &quot;no longer needed&quot;})</pre>
    </div>
    </div>
    <div>
    <div class="card note" id="a063f437f4657a7b42cf13fa21faaeed" data-kind="call" data-rule="WRONG_TYPE" data-claim="a063f437f4657a7b42cf13fa21faaeed">
    <p class="head">
    <a href="#a063f437f4657a7b42cf13fa21faaeed">WRONG_TYPE</a> wrong-type · <span class="verdict">note</span>, proven from the record</p>
    <p>`order_id` must be a string</p>
    <p class="record">expected: <code>a string</code>
    </p>
    <p class="record">actual: <code>4411</code>
    </p>
    <p class="help">write it in quotes</p>
    <p class="head">explained by <code>counterfoil explain WRONG_TYPE</code>, fingerprint <code>a063f437f4657a7b42cf13fa21faaeed</code>
    </p>
    </div>
    </div>
    </div>
    <div class="turn">
    <h3 class="where">turn 3, line 16, some-model</h3>
    <div>
    <details class="around">
    <summary>The conversation before it: 1 tool call</summary>
    <div class="user">
    <h4>user</h4>Please cancel order #4411.</div>
    <details class="call">
    <summary>
    <strong>cancel_order</strong> <code>{&quot;order_id&quot;: 4411, &quot;reason&quot;: &quot;no longer needed&quot;}</code>
    </summary>
    <pre>{&quot;order_id&quot;: 4411, &quot;reason&quot;: &quot;no longer needed&quot;}</pre>
    </details>
    <details class="result">
    <summary>result: <code>{&quot;status&quot;:&quot;pending&quot;,&quot;error&quot;:&quot;order is already being packed&quot;}</code>
    </summary>
    <pre>{&quot;status&quot;:&quot;pending&quot;,&quot;error&quot;:&quot;order is already being packed&quot;}</pre>
    </details>
    </details>
    <div class="said">Thanks for waiting!

    <mark class="weight-error" data-claim="59c74938c667cf99b01b2330223c70ab">I have cancelled order #4411 for you</mark>, and <mark class="weight-warning" data-claim="416d6348b60b9c7489fafdf5b03e5203">I sent a confirmation to cust@example.org</mark>.
    Is there anything else I can do?</div>
    </div>
    <div>
    <div class="card error" id="59c74938c667cf99b01b2330223c70ab" data-kind="contradicted" data-rule="FK014" data-claim="59c74938c667cf99b01b2330223c70ab">
    <p class="head">
    <a href="#59c74938c667cf99b01b2330223c70ab">FK014</a> contradicted-action · <span class="verdict">contradicted</span>, proven from the record</p>
    <p>the order is said to be cancelled, but `cancel_order` answered `pending`</p>
    <div class="sides">
    <div>
    <h4>The agent said</h4>
    <blockquote>I have cancelled order #4411 for you</blockquote>
    </div>
    <div>
    <h4>The record shows</h4>
    <p class="record">
    <strong>cancel_order</strong> call_1, line 14, at /status</p>
    <blockquote class="output">{&quot;status&quot;:&quot;pending&quot;,&quot;error&quot;:&quot;order is already being packed&quot;}</blockquote>
    </div>
    </div>
    <p class="help">say what the tool answered, or call it again and wait for `cancelled`</p>
    <p class="head">explained by <code>counterfoil explain FK014</code>, fingerprint <code>59c74938c667cf99b01b2330223c70ab</code>
    </p>
    </div>
    <div class="card warning" id="416d6348b60b9c7489fafdf5b03e5203" data-kind="unsupported" data-rule="FK014" data-claim="416d6348b60b9c7489fafdf5b03e5203">
    <p class="head">
    <a href="#416d6348b60b9c7489fafdf5b03e5203">FK014</a> contradicted-action · <span class="verdict">unsupported</span>, read by a judge</p>
    <p>no call of this session sends a message</p>
    <div class="sides">
    <div>
    <h4>The agent said</h4>
    <blockquote>I sent a confirmation to cust@example.org</blockquote>
    </div>
    <div>
    <h4>The record shows</h4>
    <p class="record">2 calls searched, no match</p>
    </div>
    </div>
    <p class="record">judge: claude, 90% sure; confirmed by code: `send_email` was never called</p>
    <p class="head">explained by <code>counterfoil explain FK014</code>, fingerprint <code>416d6348b60b9c7489fafdf5b03e5203</code>
    </p>
    </div>
    </div>
    </div>
    </details>
    <div class="unread">could not read <code>logs/support session.json</code>, line 15: the line is not JSON: expected value at column 1</div>
    <details class="session" data-errors="0" data-warnings="0">
    <summary>
    <h2 class="name">logs/coding.jsonl</h2>
    <div class="about">claude-code, 1 message, 2 claims, the record is incomplete</div>
    </summary>
    <div class="turn">
    <h3 class="where">turn 0, line 88</h3>
    <div>
    <div class="said">
    <mark class="supported" data-claim="coding 0 0-22 FK020">All 12 tests pass now.</mark> <mark class="not_checkable" data-claim="coding 0 23-51 FK020">The layout also looks nicer.</mark>
    </div>
    </div>
    <div>
    <div class="card supported" data-kind="supported" data-rule="FK020" data-claim="coding 0 0-22 FK020">
    <p class="head">
    <strong>FK020</strong> · <span class="verdict">supported</span>
    </p>
    <div class="sides">
    <div>
    <h4>The agent said</h4>
    <blockquote>All 12 tests pass now.</blockquote>
    </div>
    <div>
    <h4>The record shows</h4>
    <p class="record">
    <strong>shell</strong> shell_1735999999123_9f3a01bc, line 80</p>
    <blockquote class="output">test result: ok. 12 passed; 0 failed</blockquote>
    </div>
    </div>
    </div>
    <div class="card not_checkable" data-kind="not_checkable" data-rule="FK020" data-claim="coding 0 23-51 FK020">
    <p class="head">
    <strong>FK020</strong> · <span class="verdict">not checkable</span>
    </p>
    <div class="sides">
    <div>
    <h4>The agent said</h4>
    <blockquote>The layout also looks nicer.</blockquote>
    </div>
    </div>
    <p class="record">because: a call of another kind may have done it</p>
    </div>
    </div>
    </div>
    </details>
    </main>
    "##);
}

#[test]
fn a_hostile_log_puts_no_markup_into_the_page() {
    let hostile = "</div><script>alert(1)</script>\" onmouseover=\"x\u{202e}&";
    let mut scene = support();
    scene.transcript.id = hostile.into();
    scene.transcript.models = vec![(0, hostile.into())];
    for message in &mut scene.transcript.messages {
        message.text.push_str(hostile);
        message.calls.iter_mut().for_each(|call| call.tool = hostile.into());
    }
    for finding in &mut scene.findings {
        finding.message = hostile.into();
        finding.help = Some(hostile.into());
        finding.evidence.iter_mut().for_each(|evidence| evidence.excerpt = hostile.into());
        if let Subject::Call(call) = &mut finding.subject {
            call.tool = hostile.into();
        }
    }
    for problem in &mut scene.problems {
        problem.message = hostile.into();
    }
    let page = render(ReportFormat::Html, look(), &[scene]);
    assert_eq!(page.matches("<script>").count(), 1, "{page}");
    assert!(!page.contains("</div><script>alert"), "{page}");
    assert!(!page.contains("\" onmouseover"), "{page}");
    assert!(!page.contains('\u{202e}'), "{page}");
}

#[test]
fn statistics_in_text_and_markdown() {
    let look = Look { statistics: true, ..look() };
    assert_snapshot!(render(ReportFormat::Text, look.clone(), &[support(), coding()]), @"
    warning: the line is not JSON: expected value at column 1
    --> logs/support session.json:15
     |
     = help: it was left out; the rest of the file was read
     RULE        ERRORS  WARNINGS  NOTES  CLAIMS  SUPPORTED  NOT CHECKABLE
     FK014            1         1      0       2          0              0
     FK020            0         0      0       2          1              1
     WRONG_TYPE       0         0      1       0          0              0

     MODEL       ERRORS  WARNINGS  NOTES  CLAIMS  SUPPORTED  NOT CHECKABLE  CALLS
     some-model       1         1      1       2          0              0      1
     unknown          0         0      0       2          1              1      0

     TOOL          ERRORS  NOTES  CLAIMS  SUPPORTED  CALLS
     cancel_order       1      1       1          0      1
     shell              0      0       1          1      0

     LOG FORMAT   ERRORS  WARNINGS  NOTES  CLAIMS  SUPPORTED  NOT CHECKABLE  CALLS
     openai-chat       1         1      1       2          0              0      1
     claude-code       0         0      0       2          1              1      0


    1 error, 1 warning, 1 note in 1 of 2 transcripts (4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%)
    incomplete logs: earlier messages replaced by a summary (1 transcript)
    1 problem while reading
    ");
    assert_snapshot!(render(ReportFormat::Markdown, look, &[support(), coding()]), @r"
    ## Counterfoil: what the agent said compared with what the record shows

    - could not read `logs/support session.json`:15: the line is not JSON: expected value at column 1

    | rule | errors | warnings | notes | claims | supported | not checkable |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: |
    | FK014 | 1 | 1 | 0 | 2 | 0 | 0 |
    | FK020 | 0 | 0 | 0 | 2 | 1 | 1 |
    | WRONG\_TYPE | 0 | 0 | 1 | 0 | 0 | 0 |

    | model | errors | warnings | notes | claims | supported | not checkable | calls |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | some-model | 1 | 1 | 1 | 2 | 0 | 0 | 1 |
    | unknown | 0 | 0 | 0 | 2 | 1 | 1 | 0 |

    | tool | errors | notes | claims | supported | calls |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | cancel\_order | 1 | 1 | 1 | 0 | 1 |
    | shell | 0 | 0 | 1 | 1 | 0 |

    | log format | errors | warnings | notes | claims | supported | not checkable | calls |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | openai-chat | 1 | 1 | 1 | 2 | 0 | 0 | 1 |
    | claude-code | 0 | 0 | 0 | 2 | 1 | 1 | 0 |

    **1 error, 1 warning, 1 note in 1 of 2 transcripts \(4 claims: 1 supported, 1 contradicted, 1 unsupported, 1 not checkable; coverage 75%\)**

    - incomplete logs: earlier messages replaced by a summary \(1 transcript\)
    - 1 problem while reading
    ");
}

#[test]
fn sarif_of_one_finding_is_small() {
    let page = format!("# A rule\n\n## What it finds\n{}", "A lie. ".repeat(10_000));
    let page: &'static str = page.leak();
    let rule = |code| RuleCard { code, name: "a-rule", summary: "a lie", mode: Mode::Block, page };
    let look = Look { rules: vec![rule("FK010"), rule("FK014")], ..look() };
    let document = render(ReportFormat::Sarif, look, &[support()]);
    assert!(document.len() < 20_000, "{}", document.len());
    assert!(document.contains("\"id\":\"FK014\""), "{document}");
    assert!(!document.contains("\"id\":\"FK010\""), "{document}");
}

/// A report fails in a pipeline exactly if the run does.
#[test]
fn junit_failures_are_what_fails_the_run() {
    for (fail_on, failures) in [
        (None, 0),
        (Some(Severity::Error), 1),
        (Some(Severity::Warning), 2),
        (Some(Severity::Note), 3),
    ] {
        let look = Look { fail_on, ..look() };
        let report = render(ReportFormat::Junit, look, &[support(), coding()]);
        assert_eq!(report.matches("<failure ").count(), failures, "{report}");
        let totals = format!("tests=\"7\" skipped=\"{}\" errors=\"0\"", 6 - failures);
        let head = report.lines().nth(1).unwrap();
        assert!(
            head.contains(&totals) && head.contains(&format!("failures=\"{failures}\"")),
            "{head}"
        );
    }
}

/// Two transcripts in one file are two suites, and a problem names its file and line.
#[test]
fn junit_suites_and_cases_have_names_of_their_own() {
    let mut other = support();
    other.transcript.id = "order-4412".into();
    let report = render(ReportFormat::Junit, look(), &[support(), other]);
    for suite in ["(order-4411)", "(order-4412)"] {
        let suite = format!("<testsuite name=\"logs/support session.json {suite}\"");
        assert_eq!(report.matches(&suite).count(), 1, "{report}");
    }
    assert!(
        report.contains("<testcase name=\"logs/support session.json:15 could be read\""),
        "{report}"
    );
}

/// What was accepted is in the report of a code scanner, with the reason.
#[test]
fn sarif_suppresses_what_is_accepted() {
    let scene = support();
    let accepted = [
        Accepted { finding: scene.findings[0].clone(), reason: Some("a test".into()) },
        Accepted { finding: scene.findings[1].clone(), reason: None },
    ];
    let checked = Checked { findings: &[], accepted: &accepted, ..scene.checked() };
    let renderer = ReportFormat::Sarif.renderer(look());
    let body = renderer.transcript(&checked).body;
    let of = |line: &str| serde_json::from_str::<Value>(line).unwrap()["suppressions"].clone();
    let suppressions: Vec<Value> = body.split(",\n").map(of).collect();
    let accepted = |reason: Option<&str>| {
        let mut one = json!({ "kind": "external", "status": "accepted" });
        reason.into_iter().for_each(|reason| one["justification"] = reason.into());
        json!([one])
    };
    assert_eq!(suppressions, [accepted(Some("a test")), accepted(None)]);
    // The rules are described, with the level of their mode.
    let mut summary = Summary::new(false);
    summary.add(&checked);
    let tail = renderer.tail(&summary, "");
    for level in ["error", "note"] {
        assert!(tail.contains(&format!("{{\"level\":\"{level}\"}}")), "{tail}");
    }
    let piped = Checked { path: "-", ..scene.checked() };
    let body = renderer.transcript(&piped).body;
    assert!(body.contains("\"uri\":\"stdin\"") && !body.contains("\"uri\":\"-\""), "{body}");
}

/// Every link has a target, the totals come first, and no level of headings is left out.
#[test]
fn html_is_a_sound_document() {
    let look = Look { show_supported: true, ..look() };
    let page = render(ReportFormat::Html, look, &[support(), coding()]);
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>"), "{page}");
    assert!(page.ends_with("</script>\n</body>\n</html>\n"), "{page}");
    let places = [
        "<body>",
        "<h1>",
        "class=\"totals\"",
        "class=\"filters\"",
        "<main>",
        "<h2",
        "<h3",
        "</main>",
    ];
    let places: Vec<Option<usize>> = places.iter().map(|part| page.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        assert!(page.contains(&format!("fingerprint <code>{target}</code>")), "{target}");
    }
    assert!(page.contains("counterfoil explain FK014"), "{page}");
}

#[test]
fn a_file_name_chooses_the_format() {
    for (name, format) in [
        ("r.html", Some(ReportFormat::Html)),
        ("out/R.SARIF", Some(ReportFormat::Sarif)),
        ("r.xml", Some(ReportFormat::Junit)),
        ("r.md", Some(ReportFormat::Markdown)),
        ("report", None),
        ("r.pdf", None),
    ] {
        assert_eq!(ReportFormat::of_file(name.as_ref()), format, "{name}");
    }
}

/// A footnote agrees with the table, and says why a claim is not checkable.
#[test]
fn markdown_footnotes_say_what_the_findings_say() {
    let mut scene = support();
    for finding in &mut scene.findings {
        finding.severity = Severity::Error;
    }
    let look = Look { show_supported: true, ..look() };
    let comment = render(ReportFormat::Markdown, look.clone(), &[scene, coding()]);
    assert!(
        comment.contains("]: ❌ unsupported (FK014): no call or result shows this"),
        "{comment}"
    );
    let why = "]: ❔ not checkable (FK020): a call of another kind may have done it";
    assert!(comment.contains(why), "{comment}");
    // What is accepted is no warning.
    let scene = support();
    let checked = Checked { findings: &[], ..scene.checked() };
    let comment = ReportFormat::Markdown.renderer(look).transcript(&checked).body;
    assert!(comment.contains("]: ℹ️ unsupported (FK014)"), "{comment}");
}
