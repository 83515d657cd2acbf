//! The trust of the turn, compared with what a tool needs.

use std::collections::BTreeMap;

use counterfoil_guard::{Admitted, Below, Gates, TrustLevel, TrustOptions};
use counterfoil_model::{Effects, Origin, Tool};
use serde_json::json;

use super::{Situation, call, outcome, reading, shell};
use TrustLevel::{Provisional, Trusted, Untrusted};

fn with(options: TrustOptions) -> Gates {
    Gates::builder().trust(options.resolve().unwrap()).build()
}

fn needs(needs: &[(&str, TrustLevel)], below: Below) -> TrustOptions {
    let needs: BTreeMap<String, TrustLevel> =
        needs.iter().map(|(tool, level)| ((*tool).to_owned(), *level)).collect();
    TrustOptions { needs, below, ..TrustOptions::default() }
}

#[test]
fn a_turn_is_trusted_enough_or_needs_approval() {
    let writing = Tool { origin: Origin::Builtin, ..Tool::named("write") };
    let declared = needs(&[("deploy*", Trusted), ("deploy_preview", Untrusted)], Below::Ask);
    let denying = needs(&[("deploy", Trusted)], Below::Deny);
    let cases: [(TrustOptions, Tool, TrustLevel, &str); 11] = [
        (TrustOptions::default(), reading("read"), Untrusted, "allow"),
        (TrustOptions::default(), writing.clone(), Untrusted, "ask: trust"),
        (TrustOptions::default(), writing.clone(), Provisional, "allow"),
        (TrustOptions::default(), writing, Trusted, "allow"),
        (TrustOptions::default(), Tool::named("external"), Untrusted, "ask: trust"),
        (declared.clone(), Tool::named("deploy"), Provisional, "ask: trust"),
        (declared.clone(), Tool::named("deploy"), Trusted, "allow"),
        // The strictest pattern applies.
        (declared, Tool::named("deploy_preview"), Provisional, "ask: trust"),
        (denying.clone(), Tool::named("deploy"), Provisional, "deny: trust"),
        (denying.clone(), Tool::named("deploy"), Trusted, "allow"),
        // The operator may lower the need of a third-party tool.
        (
            needs(&[("external", Untrusted)], Below::Ask),
            Tool::named("external"),
            Untrusted,
            "allow",
        ),
    ];
    for (at, (options, tool, trust, expected)) in cases.into_iter().enumerate() {
        let call = Admitted::for_tests(tool, json!({}));
        let judged = with(options).judge(&call, &Situation::trusted(trust).scene());
        assert_eq!(outcome(&judged), expected, "case {at}");
    }
}

#[test]
fn the_other_name_of_our_shell_raises_its_need_and_lowers_none() {
    for (need, trust, expected) in [
        (Trusted, Provisional, "ask: trust"),
        (Trusted, Trusted, "allow"),
        (Untrusted, Untrusted, "ask: trust"),
    ] {
        let gates = with(needs(&[("shell", need)], Below::Ask));
        let bash = call("bash", json!({ "command": "cargo test" }));
        let judged = gates.judge(&bash, &Situation::trusted(trust).scene());
        assert_eq!(outcome(&judged), expected, "{need:?}");
    }
}

#[test]
fn hints_of_an_mcp_server_grant_nothing() {
    let gates = with(TrustOptions::default());
    let harmless = Effects {
        reads: Some(true),
        writes: Some(false),
        network: Some(false),
        idempotent: Some(true),
        retrieves: Some(true),
    };
    for effects in [harmless, Effects::default()] {
        let origin = Origin::Mcp { server: "notes".to_owned() };
        let tool = Tool { effects, origin, ..Tool::named("notes__read") };
        let call = Admitted::for_tests(tool, json!({}));
        let judged = gates.judge(&call, &Situation::trusted(Untrusted).scene());
        assert_eq!(outcome(&judged), "ask: trust");
    }
}

#[test]
fn in_an_untrusted_turn_only_commands_that_read_run_by_themselves() {
    let gates = with(TrustOptions::default());
    let cases: [(&str, &str); 47] = [
        ("ls -la", "allow"),
        ("cat a.txt | grep x | sort | head", "allow"),
        ("git status && git diff --stat", "allow"),
        ("find . -name '*.rs'", "allow"),
        ("ls 2>/dev/null", "allow"),
        ("sort < a.txt | uniq -c", "allow"),
        ("bash -c 'ls'", "ask: trust"),
        ("cargo test", "ask: trust"),
        ("python3 x.py", "ask: trust"),
        ("git push", "ask: trust"),
        ("git diff --output=x", "ask: trust"),
        ("git -c core.pager=x diff", "ask: trust"),
        ("ls > out.txt", "ask: trust"),
        ("ls | tee out.txt", "ask: trust"),
        ("cat a &> b", "ask: trust"),
        ("sort -o a a", "ask: trust"),
        ("sort -uo a a", "ask: trust"),
        ("uniq - in.txt", "ask: trust"),
        ("uniq -- a -OUT", "ask: trust"),
        ("uniq -c in out", "ask: trust"),
        ("file --comp -m magic", "ask: trust"),
        ("file -bC -m magic", "ask: trust"),
        ("file --compile", "ask: trust"),
        ("tree -R -H x", "ask: trust"),
        ("tree -R -o x", "ask: trust"),
        ("tree --out x", "ask: trust"),
        ("date -s 12:00", "ask: trust"),
        ("date --se 12:00", "ask: trust"),
        ("date -us 12:00", "ask: trust"),
        ("date --set=x", "ask: trust"),
        ("date 010203042025", "ask: trust"),
        ("sort --outp=a a", "ask: trust"),
        ("sort --compress-prog=./x a", "ask: trust"),
        ("git diff --outpu=x", "ask: trust"),
        ("git log --ext -p", "ask: trust"),
        ("rg -z x", "ask: trust"),
        ("uniq -c -f 1 in.txt", "allow"),
        ("date +%s -d yesterday", "allow"),
        ("uniq a b", "ask: trust"),
        ("find . -fprint x", "ask: trust"),
        ("find . -name x -delete", "ask: trust"),
        ("rg --pre ./x y", "ask: trust"),
        ("cat \"$x\"", "ask: trust"),
        ("A=1 ls", "ask: trust"),
        ("./ls", "ask: trust"),
        ("ls() { make; }; ls", "ask: trust"),
        ("", "ask: trust"),
    ];
    for (command, expected) in cases {
        let judged = gates.judge(&shell(command), &Situation::trusted(Untrusted).scene());
        assert_eq!(outcome(&judged), expected, "{command}");
        let judged = gates.judge(&shell(command), &Situation::trusted(Provisional).scene());
        assert_eq!(outcome(&judged), "allow", "{command}");
    }
    // If the operator has declared a tool's need, it applies whatever the tool runs.
    let strict = with(needs(&[("shell", Trusted)], Below::Deny));
    let judged = strict.judge(&shell("ls"), &Situation::default().scene());
    assert_eq!(outcome(&judged), "deny: trust");
}

#[test]
fn substitutions_are_refused_in_an_untrusted_turn_even_where_they_are_analysed() {
    use counterfoil_guard::{BlocklistOptions, ShellPolicy, ShellPolicyHandle};
    use counterfoil_tools::Substitution;
    let options = BlocklistOptions { substitution: Substitution::Analyse, ..Default::default() };
    let policy = ShellPolicy { blocklist: options.resolve().unwrap(), ..ShellPolicy::default() };
    let gates = Gates::builder().shell(ShellPolicyHandle::new(policy)).build();
    let call = shell("echo $(date)");
    let judged = gates.judge(&call, &Situation::default().scene());
    assert_eq!(outcome(&judged), "allow");
    let judged = gates.judge(&call, &Situation::trusted(Untrusted).scene());
    assert!(outcome(&judged).starts_with("deny: blocklist"), "{judged:?}");
}

#[test]
fn tools_of_others_that_take_commands_are_declared() {
    use counterfoil_guard::{BlocklistOptions, ShellPolicy, ShellPolicyHandle};
    use counterfoil_tools::CommandArgument;
    let argument = |command: &str, cwd: Option<&str>| CommandArgument {
        command: command.to_owned(),
        cwd: cwd.map(str::to_owned),
    };
    let tools = BTreeMap::from([
        ("run_terminal".to_owned(), argument("/input/line", Some("/input/dir"))),
        ("exec".to_owned(), argument("/argv", None)),
    ]);
    let options = BlocklistOptions { tools, ..BlocklistOptions::default() };
    let policy = ShellPolicy { blocklist: options.resolve().unwrap(), ..ShellPolicy::default() };
    let gates = Gates::builder().shell(ShellPolicyHandle::new(policy)).build();
    let cases: [(&str, serde_json::Value, &str); 11] = [
        ("run_terminal", json!({"input": {"line": "ls"}}), "allow"),
        ("run_terminal", json!({"input": {"line": "sudo ls"}}), "deny: blocklist"),
        ("run_terminal", json!({"input": {"line": "rm -rf ..", "dir": "src"}}), "deny: blocklist"),
        ("run_terminal", json!({"input": {"line": "rm -rf ..", "dir": "a/b"}}), "allow"),
        ("run_terminal", json!({"line": "ls"}), "deny: blocklist"),
        ("exec", json!({"argv": ["ls", "-l"]}), "allow"),
        ("exec", json!({"argv": ["sudo", "ls"]}), "deny: blocklist"),
        ("exec", json!({"argv": ["echo", "$(sudo ls)", "'; sudo ls"]}), "allow"),
        ("exec", json!({"argv": ["bash", "-c", "sudo ls"]}), "deny: blocklist"),
        ("exec", json!({"argv": ["ls", 7]}), "deny: blocklist"),
        ("bash", json!({"command": "sudo ls"}), "deny: blocklist"),
    ];
    for (tool, arguments, expected) in cases {
        let judged = gates.judge(&call(tool, arguments.clone()), &Situation::default().scene());
        assert_eq!(outcome(&judged), expected, "{tool} {arguments}");
    }
    let options = BlocklistOptions {
        tools: BTreeMap::from([("exec".to_owned(), argument("argv", None))]),
        ..BlocklistOptions::default()
    };
    let error = options.resolve().unwrap_err().to_string();
    assert_eq!(error, "tools.exec: `argv` is not a JSON Pointer");
}
