//! A short support conversation and a coding session, with the findings of rules.

use counterfoil_model::{
    Arguments, CallRef, Claim, ClaimKind, ClauseReading, Code, Confidence, Evidence,
    EvidenceSource, Family, Finding, Format, Gap, Grade, JudgeNote, Judgement, Message, Mode,
    Object, ObjectKind, Outcome, Problem, Role, Severity, Span, Subject, ToolCall, Transcript,
    Verdict,
};
use counterfoil_report::{
    Checked, Claims, Document, Look, ReportFormat, RuleCard, Summary, Unread,
};

pub(crate) const RULES: [RuleCard; 2] = [
    RuleCard {
        code: "FK014",
        name: "contradicted-action",
        summary: "an action claimed as done that the record shows failed",
        mode: Mode::Block,
        page: "# FK014\n\nWhat it finds.\n",
    },
    RuleCard {
        code: "WRONG_TYPE",
        name: "wrong-type",
        summary: "an argument of a wrong type",
        mode: Mode::Shadow,
        page: "",
    },
];

pub(crate) struct Scene {
    pub(crate) path: &'static str,
    pub(crate) transcript: Transcript,
    pub(crate) findings: Vec<Finding>,
    pub(crate) judgements: Vec<Judgement>,
    pub(crate) readings: Vec<ClauseReading>,
    pub(crate) problems: Vec<Problem>,
}

impl Scene {
    pub(crate) fn checked(&self) -> Checked<'_> {
        let mut claims = Claims::default();
        for judgement in &self.judgements {
            claims.add(judgement.verdict, 1);
        }
        Checked {
            path: self.path,
            transcript: &self.transcript,
            findings: &self.findings,
            unchanged: None,
            judgements: &self.judgements,
            readings: &self.readings,
            claims,
            known: 0,
            accepted: &[],
        }
    }
}

/// Renders a complete document for some scenes.
pub(crate) fn render(format: ReportFormat, look: Look, scenes: &[Scene]) -> String {
    let mut summary = Summary::new(look.statistics);
    let renderer = format.renderer(look);
    let mut document = Document::begin(renderer.as_ref(), Vec::new()).unwrap();
    for scene in scenes {
        document.push(&renderer.transcript(&scene.checked())).unwrap();
        summary.add(&scene.checked());
        let unread = Unread { path: scene.path, problems: &scene.problems, fatal: false };
        if !scene.problems.is_empty() {
            document.push(&renderer.unread(&unread)).unwrap();
            summary.add_unread(&unread);
        }
    }
    String::from_utf8(document.finish(&summary).unwrap()).unwrap()
}

pub(crate) fn look() -> Look {
    Look {
        version: "0.1.0",
        rules: RULES.to_vec(),
        fail_on: Some(Severity::Error),
        ..Look::default()
    }
}

fn call(id: &str, tool: &str, arguments: &str, line: usize) -> ToolCall {
    ToolCall { id: id.into(), tool: tool.into(), arguments: Arguments::raw(arguments), line }
}

fn claim(text: &str, needle: &str, kind: ClaimKind, turn: usize) -> Claim {
    let start = text.find(needle).unwrap();
    Claim {
        kind,
        text: needle.to_owned(),
        objects: vec![],
        span: Span::new(start, start + needle.len()),
        turn,
    }
}

pub(crate) fn evidence(
    id: &str,
    tool: &str,
    pointer: &str,
    excerpt: &str,
    line: usize,
) -> Evidence {
    Evidence {
        source: EvidenceSource::Call { call_id: id.into() },
        tool: Some(tool.into()),
        pointer: pointer.into(),
        excerpt: excerpt.into(),
        line,
    }
}

/// A cancelled order that was not cancelled, and a call with a wrong argument.
pub(crate) fn support() -> Scene {
    let mut transcript = Transcript::new("order-4411", Format::OpenaiChat);
    transcript.models.push((0, "some-model".to_owned()));
    transcript.messages.push(Message::text(Role::User, "Please cancel order #4411."));
    let mut asks = Message::text(Role::Assistant, "");
    asks.line = 12;
    asks.calls.push(call(
        "call_1",
        "cancel_order",
        r##"{"order_id": 4411, "reason": "no longer needed"}"##,
        12,
    ));
    transcript.messages.push(asks);
    let mut answers = Message::text(Role::Tool, "");
    answers.line = 14;
    answers.outcomes.push(Outcome {
        call_id: "call_1".into(),
        text: r#"{"status":"pending","error":"order is already being packed"}"#.into(),
        line: 14,
        ..Outcome::default()
    });
    transcript.messages.push(answers);
    let text = "Thanks for waiting!\n\nI have cancelled order #4411 for you, and I sent a confirmation to cust@example.org.\nIs there anything else I can do?";
    let mut says = Message::text(Role::Assistant, text);
    says.line = 16;
    transcript.messages.push(says);

    let mut cancelled =
        claim(text, "I have cancelled order #4411 for you", ClaimKind::Action(Family::Cancel), 3);
    cancelled.objects.push(Object { kind: ObjectKind::Id, text: "#4411".into() });
    let sent = claim(
        text,
        "I sent a confirmation to cust@example.org",
        ClaimKind::Action(Family::Send),
        3,
    );
    let seen = vec![evidence(
        "call_1",
        "cancel_order",
        "/status",
        r#"{"status":"pending","error":"order is already being packed"}"#,
        14,
    )];
    Scene {
        path: "logs/support session.json",
        readings: Vec::new(),
        judgements: vec![
            Judgement {
                claim: cancelled.clone(),
                verdict: Verdict::Contradicted,
                reason: None,
                rule: Code("FK014"),
                evidence: seen.clone(),
            },
            Judgement {
                claim: sent.clone(),
                verdict: Verdict::Unsupported,
                reason: None,
                rule: Code("FK014"),
                evidence: vec![],
            },
        ],
        findings: vec![
            Finding {
                code: Code("WRONG_TYPE"),
                name: "wrong-type",
                severity: Severity::Note,
                grade: Grade::Proven,
                mode: Mode::Shadow,
                verdict: Verdict::Contradicted,
                confidence: Confidence::Certain,
                message: "`order_id` must be a string".into(),
                help: Some("write it in quotes".into()),
                turn: 1,
                line: 12,
                subject: Subject::Call(CallRef {
                    id: "call_1".into(),
                    tool: "cancel_order".into(),
                    pointer: "/order_id".into(),
                    expected: Some("a string".into()),
                    actual: Some("4411".into()),
                }),
                evidence: vec![],
                judge: None,
            },
            Finding {
                code: Code("FK014"),
                name: "contradicted-action",
                severity: Severity::Error,
                grade: Grade::Proven,
                mode: Mode::Block,
                verdict: Verdict::Contradicted,
                confidence: Confidence::Certain,
                message: "the order is said to be cancelled, but `cancel_order` answered `pending`"
                    .into(),
                help: Some(
                    "say what the tool answered, or call it again and wait for `cancelled`".into(),
                ),
                turn: 3,
                line: 16,
                subject: Subject::Claim { span: cancelled.span, claim: cancelled },
                evidence: seen,
                judge: None,
            },
            Finding {
                code: Code("FK014"),
                name: "contradicted-action",
                severity: Severity::Warning,
                grade: Grade::Read,
                mode: Mode::Block,
                verdict: Verdict::Unsupported,
                confidence: Confidence::Likely,
                message: "no call of this session sends a message".into(),
                help: None,
                turn: 3,
                line: 16,
                subject: Subject::Claim { span: sent.span, claim: sent },
                evidence: vec![],
                judge: Some(JudgeNote {
                    name: "claude".into(),
                    percent: 90,
                    confirmed: Some("`send_email` was never called".into()),
                    searched: Some("2 calls searched, no match".into()),
                }),
            },
        ],
        transcript,
        problems: vec![
            Problem::at(15, "the line is not JSON: expected value at column 1")
                .with_help("it was left out; the rest of the file was read"),
        ],
    }
}

/// A session without findings, and with one claim that cannot be checked.
pub(crate) fn coding() -> Scene {
    let mut transcript = Transcript::new("coding", Format::ClaudeCode);
    transcript.completeness.add(Gap::Compacted, 0);
    let text = "All 12 tests pass now. The layout also looks nicer.";
    let mut says = Message::text(Role::Assistant, text);
    says.line = 88;
    transcript.messages.push(says);
    Scene {
        path: "logs/coding.jsonl",
        readings: Vec::new(),
        judgements: vec![
            Judgement {
                claim: claim(text, "All 12 tests pass now.", ClaimKind::Outcome(Family::Test), 0),
                verdict: Verdict::Supported,
                reason: None,
                rule: Code("FK020"),
                evidence: vec![Evidence {
                    source: EvidenceSource::Execution {
                        execution_id: "shell_1735999999123_9f3a01bc".into(),
                    },
                    tool: Some("shell".into()),
                    pointer: "bytes:120-160".into(),
                    excerpt: "test result: ok. 12 passed; 0 failed".into(),
                    line: 80,
                }],
            },
            Judgement {
                claim: claim(text, "The layout also looks nicer.", ClaimKind::Completion, 0),
                verdict: Verdict::NotCheckable,
                reason: Some("a call of another kind may have done it"),
                rule: Code("FK020"),
                evidence: vec![],
            },
        ],
        findings: vec![],
        transcript,
        problems: vec![],
    }
}
