//! The whole chain: what the audit log says about the network, and the source of a call.

use counterfoil_guard::{
    FileExecutor, FileOptions, Guard, GuardOptions, SessionStart, StateFolder, Surroundings,
    ToolsOptions,
};
use counterfoil_ledger::{AuditFiles, tail_audit};
use counterfoil_model::{Role, Status};

use super::*;
use crate::desk;

#[test]
fn egress_and_its_source_stand_in_the_audit_log() {
    let server = Server::start(|path| match path {
        "/first" => answer("200 OK", "Content-Type: text/plain\r\n", "see NEXT for more"),
        "/busy" => answer("503 Busy", "", "later"),
        _ => answer("200 OK", "Content-Type: text/plain\r\n", "fine"),
    });
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("links.txt"), format!("go to {} then\n", server.url("/linked")))
        .unwrap();
    let web = WebOptions { grounded_only: true, ..opened(&server) };
    let mut tools = ToolsOptions { web: web.clone(), ..ToolsOptions::default() };
    tools.retry.base_ms = 1;
    let settings = GuardOptions { tools, ..GuardOptions::default() }.resolve().unwrap();
    let state = StateFolder::at(folder.path().join("state"));
    std::fs::create_dir(state.path()).unwrap();
    let guard = Guard::builder()
        .state(state.clone())
        .workspace(&work)
        .executor(FileExecutor::new(FileOptions::default().resolve().unwrap()))
        .executor(executor(web, &Book::default()))
        .settings(settings)
        .build()
        .unwrap();
    let session = guard
        .session(SessionStart { id: Some("s".to_owned()), ..SessionStart::default() })
        .unwrap();
    let fetch = |path: &str| {
        let arguments = json!({ "url": server.url(path) }).to_string();
        wait(session.call(desk::call("fetch", &arguments), Surroundings::default())).unwrap()
    };
    let message = format!("please read {} and {}", server.url("/first"), server.url("/busy"));
    wait(session.hear(Role::User, &message)).unwrap();

    assert_eq!(fetch("/first").status, Status::Completed);
    let invented = fetch("/invented");
    assert_eq!((invented.status, invented.category), (Status::Failed, Some(PolicyBlocked)));
    assert_eq!(fetch("/linked").category, Some(PolicyBlocked), "nobody has read it yet");
    wait(desk::run(&session, "read_file", r#"{"path":"links.txt"}"#));
    assert_eq!(fetch("/linked").status, Status::Completed);
    assert_eq!(fetch("/busy").category, Some(ServerError));
    // Other known names do not make up for an unknown URL.
    for more in ["links.txt", &server.url("/first")] {
        let arguments = json!({ "url": server.url("/other"), "note": more }).to_string();
        let call = desk::call("fetch", &arguments);
        let answer = wait(session.call(call, Surroundings::default())).unwrap();
        assert_ne!(answer.status, Status::Completed);
    }

    let files = AuditFiles::open(&state.audit()).unwrap();
    let lines = tail_audit(files, 8).unwrap().into_iter().map(|line| line.unwrap().entry).take(6);
    let lines: Vec<_> = lines.collect();
    let shown: Vec<String> = lines
        .iter()
        .map(|entry| {
            let egress: Vec<String> = entry
                .egress
                .iter()
                .map(|one| match &one.blocked {
                    Some(_) => "held back".to_owned(),
                    None => format!("{} {:?} {}", one.method, one.status, one.bytes),
                })
                .collect();
            let source = entry.claim_source.as_deref().unwrap_or("nobody");
            let result = entry.result.word();
            let egress =
                if egress.is_empty() { "nothing left".to_owned() } else { egress.join(" + ") };
            format!("{} from {source}: {result}, {egress}", entry.tool)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    fetch from user: success, GET Some(200) 17
    fetch from nobody: error, held back
    fetch from nobody: error, held back
    read_file from nobody: success, nothing left
    fetch from file: success, GET Some(200) 4
    fetch from user: error, GET Some(503) 5 + GET Some(503) 5
    ");
    assert_eq!(server.connections(), 4, "one attempt each, and two where it was busy");
}
