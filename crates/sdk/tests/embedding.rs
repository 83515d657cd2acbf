//! An embedding program that uses only this crate.

use std::future::Future;
use std::sync::Arc;

use counterfoil_sdk::events::ToolEvent;
use counterfoil_sdk::ledger::PermitBasis;
use counterfoil_sdk::policy::{ApprovalReply, ApprovalRequest, Approver};
use counterfoil_sdk::tools::{
    Admitted, ByApproval, ByPolicy, ExecutorId, ExecutorKind, Permit, Scene,
};
use counterfoil_sdk::{
    Approval, Disposition, Effects, FunctionExecutor, Guard, GuardOptions, Role, SessionStart,
    Status, Surroundings, Tool, ToolCall, ToolError, ToolExecutor, ToolOutput,
};

/// Books rooms after a person has agreed, and reports progress.
struct Rooms;

impl Rooms {
    fn book(call: &Admitted) -> Option<ToolOutput> {
        let room = call.arguments().get("room")?.as_str()?.to_owned();
        Some(format!("booked {room}").into())
    }
}

impl ToolExecutor for Rooms {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(ExecutorKind::Native, "rooms".to_owned())
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        vec![Tool::named("book_room")]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == "book_room"
    }

    fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        _: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send {
        permit.progress().step(1.0, Some(1.0), None);
        std::future::ready(Ok(Self::book(permit.call())))
    }

    fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        _: &Scene<'_>,
    ) -> impl Future<Output = Result<Option<ToolOutput>, ToolError>> + Send {
        permit.progress().step(1.0, Some(1.0), None);
        std::future::ready(Ok(Self::book(permit.call())))
    }

    fn requires_confirmation(&self, _: &Admitted, _: &Scene<'_>) -> Option<String> {
        Some("a booking costs money".to_owned())
    }

    fn is_tool_retryable(&self, _: &str) -> bool {
        false
    }

    fn is_tool_speculatable(&self, _: &str) -> bool {
        false
    }
}

/// The front desk: agrees to the blue room.
struct Desk;

impl Approver for Desk {
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest<'a>,
    ) -> counterfoil_sdk::policy::BoxFuture<'a, ApprovalReply> {
        let blue = request.call().contains("blue");
        Box::pin(async move {
            if blue {
                ApprovalReply::Agreed(Approval::by("desk").because("it is free"))
            } else {
                let reason = Some("it is taken".to_owned());
                ApprovalReply::Declined { by: "desk".to_owned(), reason }
            }
        })
    }
}

#[tokio::test]
async fn a_program_with_tools_approvals_events_and_answers_of_its_own() {
    let guard = Guard::builder().executor(Rooms).approver(Arc::new(Desk)).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let mut events = guard.events();
    assert_eq!(session.offer().tools.len(), 1);
    session.hear(Role::User, "Book the blue room.").await.unwrap();
    let book = |id: &str, room: &str| {
        let call = ToolCall::new(id, "book_room", format!("{{\"room\":\"{room}\"}}"));
        session.call(call, Surroundings::default())
    };
    let red = book("c1", "red").await.unwrap();
    assert!(red.text.contains("desk did not approve this call: it is taken"), "{}", red.text);
    let lie = session.verify("I have booked the room.").await.unwrap();
    assert_eq!(lie.disposition, Disposition::Block);
    let blue = book("c2", "blue").await.unwrap();
    assert_eq!((blue.status, blue.text.as_str()), (Status::Completed, "booked blue"));
    let permit = blue.receipt(&guard).unwrap().unwrap().permit;
    let Some(PermitBasis::Approval { who, reason, .. }) = permit else { panic!("{permit:?}") };
    assert_eq!((who.as_str(), reason.as_deref()), ("desk", Some("it is free")));
    let verified = session.verify("I have booked the blue room.").await.unwrap();
    assert_eq!(verified.disposition, Disposition::Pass, "{:?}", verified.findings);
    let seen = std::iter::from_fn(|| events.try_recv().ok());
    let seen: Vec<String> = seen
        .map(|event| match event.what {
            ToolEvent::Opened => format!("{} opened", event.call.call_id),
            ToolEvent::Progress { .. } => format!("{} progress", event.call.call_id),
            ToolEvent::Closed { .. } => format!("{} closed", event.call.call_id),
            ToolEvent::Rejected { .. } => format!("{} rejected", event.call.call_id),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(seen, ["c1 rejected", "c2 opened", "c2 progress", "c2 closed"]);
}

/// The blocklist and the configuration apply to a program's own shell, without built-in tools.
#[tokio::test]
async fn what_no_one_may_run_and_what_a_configuration_says_is_known_without_our_tools() {
    let options: GuardOptions = serde_json::from_str(
        r#"{"tools": {
            "shell": {"timeout_secs": 5}, "file": {"deny_read": ["secrets/**"]},
            "web": {"ports": [443]}, "sandbox": {"strict": true},
            "permissions": {"default": "allow"}
        }}"#,
    )
    .unwrap();
    let shell = FunctionExecutor::new(Tool::named("bash"), |_| Ok::<_, ToolError>("it ran"));
    let settings = options.resolve().unwrap();
    let guard = Guard::builder().settings(settings).executor(shell).build().unwrap();
    let session = guard.session(SessionStart::default()).unwrap();
    let run = |id: &str, command: &str| {
        let call = ToolCall::new(id, "bash", format!("{{\"command\":\"{command}\"}}"));
        session.call(call, Surroundings::default())
    };
    assert_eq!(run("c1", "ls").await.unwrap().text, "it ran");
    let denied = run("c2", "rm -rf /").await.unwrap();
    assert_eq!(denied.status, Status::Denied, "{}", denied.text);
}

/// A ticket, as a tool takes it.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Ticket {
    /// The number on it.
    number: u32,
    /// Who holds it.
    holder: Option<String>,
}

#[tokio::test]
async fn a_type_is_the_schema_of_a_tool() {
    let at_once = FunctionExecutor::typed("look_up", "Looks a ticket up", |ticket: Ticket| {
        Ok::<_, ToolError>(format!("{} {:?}", ticket.number, ticket.holder))
    });
    let effects = Effects { writes: Some(false), idempotent: Some(true), ..Effects::default() };
    let later = FunctionExecutor::typed_waiting("wait_for", "Waits for one", |ticket: Ticket| {
        std::future::ready(Ok::<_, ToolError>(ticket.number.to_string()))
    });
    let later = later.with_effects(effects);
    let guard = Guard::builder().executor(at_once).executor(later).build().unwrap();
    let catalog = guard.catalog();
    let schema = catalog.get("look_up").unwrap().parameters.clone().unwrap();
    assert_eq!(schema["required"], serde_json::json!(["number"]));
    assert_eq!(schema["properties"]["number"]["description"], "The number on it.");
    assert_eq!(catalog.get("wait_for").unwrap().effects, effects);
    let session = guard.session(SessionStart::default()).unwrap();
    let run = |tool: &str, arguments: &str| {
        session.call(ToolCall::new("", tool, arguments), Surroundings::default())
    };
    assert_eq!(run("look_up", r#"{"number": 7}"#).await.unwrap().text, "7 None");
    assert_eq!(run("wait_for", r#"{"number": 8, "holder": "Ada"}"#).await.unwrap().text, "8");
    for wrong in [r#"{"holder": "Ada"}"#, r#"{"number": "many"}"#, r#"{"number": -1}"#] {
        let refused = run("look_up", wrong).await.unwrap();
        assert_eq!(refused.status, Status::Refused, "{wrong}: {}", refused.text);
    }
}
