//! A path rule applies to every way in which a server may be given a path.

use std::path::Path;

use counterfoil_guard::{Guard, GuardOptions, SessionStart};
use counterfoil_serve::{Gateway, Step};
use serde_json::json;

use crate::wait;

fn gateway(workspace: &Path) -> Gateway {
    let policy = r#"{"tools":{"policy":{"enabled":true,"default_effect":"allow","rules":[
        {"tool":"*","effect":"deny","paths":["**/.env","/etc/**"]}]}}}"#;
    let options: GuardOptions = serde_json::from_str(policy).unwrap();
    let guard = Guard::builder().settings(options.resolve().unwrap());
    let guard = guard.workspace(workspace).build().unwrap();
    Gateway::new(guard, SessionStart::default(), "files").unwrap()
}

#[test]
fn however_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    std::fs::create_dir(workspace.join("sub")).unwrap();
    std::fs::write(workspace.join(".env"), "S=1").unwrap();
    std::os::unix::fs::symlink(".env", workspace.join("link")).unwrap();
    std::os::unix::fs::symlink("/etc", workspace.join("sub/away")).unwrap();
    std::fs::create_dir(workspace.join("sub/deep")).unwrap();
    std::os::unix::fs::symlink("sub/deep", workspace.join("down")).unwrap();
    std::fs::write(workspace.join("sub/.env"), "S=2").unwrap();
    let here = workspace.to_str().unwrap();
    let many: Vec<String> = (0..20_001).map(|n| format!("{here}/sub/{n}")).collect();
    let mut names: Vec<String> = (0..20_000).map(|n| format!("word {n}")).collect();
    names.push("passwd".to_owned());
    for name in 0..20_001 {
        std::fs::create_dir(workspace.join(format!("sub/{name}"))).unwrap();
    }
    let denied = [
        // The kernel resolves the link before it goes up.
        json!({ "path": "sub/away/../etc/passwd" }),
        json!({ "path": "/dev/fd/../root/etc/passwd" }),
        json!({ "path": "/proc/self/cwd/sub/../.env" }),
        json!({ "message": { "attachments": [".env"] } }),
        json!({ "files": { "sub/.env": "new" } }),
        json!({ "path": "/etc" }),
        json!({ "path": "s*/.e*" }),
        json!({ "paths": many }),
        json!({ "cwd": "/etc", "files": names }),
        json!({ "path": "FILE:///etc/passwd" }),
        json!({ "path": "File:/etc/passwd" }),
        json!({ "path": "file://localhost/etc/passwd" }),
        json!({ "path": "file://etc/passwd" }),
        json!({ "uri": format!("file://{here}/%2eenv") }),
        json!({ "uri": format!("file://{here}/%252Eenv") }),
        json!({ "uri": format!("file://{here}/sub/%2e%2e/.env?x#y") }),
        json!({ "uris": [{ "uri": "file:///e%74c/passwd" }] }),
        json!({ "path": "/proc/self/root/etc/passwd" }),
        json!({ "path": "/proc/1/root/proc/self/root/etc/passwd" }),
        json!({ "path": "/proc/self/cwd/.env" }),
        json!({ "path": "link" }),
        json!({ "path": "sub/away/passwd" }),
        json!({ "path": "sub/away/new/file" }),
        json!({ "cwd": "/etc", "file": "passwd" }),
        json!({ "working_directory": "/etc", "files": [{ "name": "passwd" }] }),
        json!({ "file": "passwd", "Root": "/etc" }),
        json!({ "cwd": "sub", "path": "../link" }),
        json!({ "cwd": "sub/away", "name": "passwd" }),
        json!({ "path": ".env\u{0}.txt" }),
        json!({ "path": ".env#x" }),
        json!({ "path": ".env?x" }),
        json!({ "uri": "f\tile:///etc/pass\nwd" }),
        json!({ "uri": "\u{1} file:///etc/pass\rwd" }),
        json!({ "text_of_a_call": "{\"path\":\"/e\\u0074c\\/passwd\"}" }),
        json!({ "patch": "--- a/sub/.env\n+++ b/sub/.env\n@@ -1 +1 @@\n-k\n+v\n" }),
        json!({ "patch": "diff --git a/sub/.env b/x\nrename from sub/.env\nrename to x\n" }),
        json!({ "path": "sub/.[e]nv" }),
        json!({ "path": "sub/{.env,x}" }),
        json!({ "args": ["-f/etc/passwd"] }),
        json!({ "files": ["@/etc/passwd", "@@.env"] }),
        json!({ "uri": "jar:file:///etc/passwd!/a" }),
        json!({ "uri": "sqlite:////etc/passwd" }),
        json!({ "path": "/a".repeat(400_000) }),
        json!({ "path": format!("/usr/{}etc/passwd", "a/../".repeat(5_000)) }),
    ];
    let allowed = [
        json!({ "path": "src/main.rs" }),
        json!({ "path": "sub/new" }),
        json!({ "uri": format!("file://{here}/src/%6dain.rs") }),
        json!({ "cwd": "sub", "file": "passwd" }),
        json!({ "cwd": "sub", "file": "/usr/share/passwd" }),
        json!({ "path": "/proc/cpuinfo" }),
        json!({ "path": "notes#env" }),
        json!({ "content": "see /etc/passwd", "path": "notes" }),
        json!({ "path": "down/../deep/a" }),
        json!({ "pattern": "**/*.rs" }),
        json!({ "path": "src/[id]/page.tsx" }),
        json!({ "image": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkS".to_owned() + &format!("{}/", "AbC4".repeat(16)).repeat(5_000) }),
        json!({ "url": "https://x.example/etc/passwd" }),
        json!({ "todos": ["read /etc/passwd"], "path": "notes" }),
    ];
    for (arguments, runs) in
        denied.into_iter().map(|one| (one, false)).chain(allowed.into_iter().map(|one| (one, true)))
    {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "fetch_it", "arguments": arguments } });
        let steps = wait(gateway(&workspace).from_client(&call.to_string()));
        assert_eq!(matches!(*steps, [Step::Forward(_)]), runs, "{arguments}");
    }
}

/// A resource is another way to reach a file.
#[test]
fn resources_are_under_the_same_rules() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    for (uri, goes_on) in [
        (format!("file://{}/.env", workspace.display()), false),
        ("file:///etc/passwd".to_owned(), false),
        (format!("file://{}/a.txt", workspace.display()), true),
        ("at://moon".to_owned(), true),
    ] {
        for method in ["resources/read", "resources/subscribe"] {
            let read =
                json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": { "uri": uri } });
            let steps = wait(gateway(&workspace).from_client(&read.to_string()));
            assert_eq!(matches!(*steps, [Step::Forward(_)]), goes_on, "{method} {uri}");
        }
    }
}

/// So are subscriptions without a session, and completions of a template.
#[test]
fn who_watches_or_completes_a_file_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    for (method, params, goes_on) in [
        (
            "subscriptions/listen",
            json!({ "notifications": { "resourceSubscriptions": ["at://moon", "file:///etc/passwd"] } }),
            false,
        ),
        (
            "subscriptions/listen",
            json!({ "notifications": { "ResourceSubscriptions": ["file:///etc/passwd"] } }),
            false,
        ),
        (
            "subscriptions/listen",
            json!({ "notifications": { "resourceSubscriptions": ["at://moon"] } }),
            true,
        ),
        ("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }), true),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "file:///etc/passwd" }, "argument": { "name": "a", "value": "x" } }),
            false,
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "file:///{+a}" }, "argument": { "name": "a", "value": "etc/pa" } }),
            false,
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "at://{a}" }, "argument": { "name": "a", "value": "mo" } }),
            true,
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "mo" } }),
            true,
        ),
    ] {
        let read = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        let steps = wait(gateway(folder.path()).from_client(&read.to_string()));
        assert_eq!(matches!(*steps, [Step::Forward(_)]), goes_on, "{method} {params}");
    }
    // What is not read here may be read by a server.
    for (method, params) in [
        ("resources/read", r#"{"uri":"at://moon?\ud800"}"#),
        (
            "subscriptions/listen",
            r#"{"notifications":{"resourceSubscriptions":["at://x"],"y":1e999}}"#,
        ),
        ("completion/complete", r#"{"ref":{"type":"ref/resource","uri":"at://x","y":1e999}}"#),
        ("completion/complete", r#"{"ref":["at://x"]}"#),
        ("subscriptions/listen", r#"{"notifications":"at://x"}"#),
    ] {
        let read = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{params}}}"#);
        let steps = wait(gateway(folder.path()).from_client(&read));
        assert!(matches!(*steps, [Step::Answer(_)]), "{read}: {steps:?}");
    }
}

/// The server gets exactly the call that is recorded.
#[test]
fn thinking_reaches_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "fetch_it", "arguments": { "path": "a", "_tafc_think_command": "rm -rf x" }, "also": "/etc/passwd" } });
    let steps = wait(gateway(folder.path()).from_client(&call.to_string()));
    let [Step::Forward(line)] = &*steps else { panic!("{steps:?}") };
    assert!(line.contains(r#"{"path":"a"}"#) && !line.contains("_tafc"), "{line}");
    // Members that no call has are not recorded, so the server does not get them.
    assert!(!line.contains("also"), "{line}");
}

#[test]
fn a_call_that_is_only_thinking_reaches_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "list_tables", "arguments": { "_tafc_think": "PRIVATE" } } });
    let steps = wait(gateway(folder.path()).from_client(&call.to_string()));
    let [Step::Answer(line)] = &*steps else { panic!("{steps:?}") };
    assert!(line.contains("only your thoughts") && !line.contains("PRIVATE"), "{line}");
    // The advice is to repeat it, so it must not say "do not retry".
    assert!(line.contains("InvalidParameters") && !line.contains("do not retry"), "{line}");
}
