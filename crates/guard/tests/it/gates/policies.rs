//! The operator's rules.

use counterfoil_guard::{
    Admitted, AuthorizationOptions, Gates, GuardOptions, PolicyOptions, PolicySettings, TrustLevel,
    Verdict,
};
use counterfoil_model::Status;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::desk;

use super::{Situation, call, shell, verdict_of};

/// The policy gate with a rule in TOML.
fn gates(rules: &str) -> Gates {
    let options: PolicyOptions = toml::from_str(&format!("enabled = true\n{rules}")).unwrap();
    let settings = PolicySettings::resolve(options, AuthorizationOptions::default()).unwrap();
    Gates::builder().policy(settings).build()
}

fn verdict(gates: &Gates, call: &Admitted, situation: &Situation) -> &'static str {
    match verdict_of(gates, "policy", call, situation) {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

#[track_caller]
fn check(rules: &str, cases: &[(Arc<Admitted>, Situation, &str)]) {
    let gates = gates(rules);
    for (at, (call, situation, expected)) in cases.iter().enumerate() {
        let found = verdict(&gates, call, situation);
        assert_eq!(found, *expected, "case {at}: {} {}", call.tool().name, call.arguments());
    }
}

fn plain(call: Arc<Admitted>, expected: &str) -> (Arc<Admitted>, Situation, &str) {
    (call, Situation::default(), expected)
}

fn read(path: &str) -> Arc<Admitted> {
    call("read", json!({ "path": path }))
}

#[test]
fn tools_are_names_or_patterns() {
    check(
        "[[rules]]\neffect = 'allow'\ntool = 'fs__*'\n[[rules]]\neffect = 'deny'\ntool = '*delete*'",
        &[
            plain(call("fs__read", json!({})), "allow"),
            plain(call("fs__delete", json!({})), "deny"),
            plain(call("FS__read", json!({})), "deny"),
            plain(call("read", json!({})), "deny"),
        ],
    );
}

/// Our shell has two names: what restricts one restricts the other.
#[test]
fn a_rule_about_a_shell_is_about_its_other_name_where_it_narrows() {
    let run = |tool: &str| call(tool, json!({ "command": "ls" }));
    for (rule, shell, bash) in [
        ("effect = 'deny'\ntool = 'shell'", "deny", "deny"),
        ("effect = 'deny'\ntool = 'ba*'\nargs_match = 'ls'", "deny", "deny"),
        ("effect = 'allow'\ntool = 'shell'", "allow", "allow"),
    ] {
        let rules = format!("default_effect = 'allow'\n[[rules]]\n{rule}");
        check(&rules, &[plain(run("shell"), shell), plain(run("bash"), bash)]);
    }
    let rules = "[[rules]]\neffect = 'allow'\ntool = 'shell'";
    check(rules, &[plain(run("shell"), "allow"), plain(run("bash"), "deny")]);
    let authorization = "[tools.authorization]\nenabled = true\n\
                         [[tools.authorization.rules]]\ntool = 'shell'";
    let options: GuardOptions = toml::from_str(authorization).unwrap();
    let guard = desk::shop().settings(options.resolve().unwrap()).build().unwrap();
    assert!(guard.never_runs("shell").is_some() && guard.never_runs("bash").is_some());
    assert!(guard.never_runs("bash2").is_none());
}

/// An empty rule is closed: it denies every tool.
#[test]
fn a_rule_that_says_nothing_denies_everything() {
    for rule in ["", "effect = 'deny'", "tool = '*'", "tool = ''"] {
        check(
            &format!("default_effect = 'allow'\n[[rules]]\n{rule}"),
            &[plain(read("a"), "deny"), plain(call("fs__read", json!({})), "deny")],
        );
    }
    check(
        "default_effect = 'allow'\n[[rules]]\ntool = 'read'\n[[rules]]\npaths = ['b']",
        &[
            plain(read("a"), "deny"),
            plain(call("other", json!({ "path": "b" })), "deny"),
            plain(call("other", json!({ "path": "a" })), "allow"),
        ],
    );
}

/// A letter and its accent may be one character or two: the names are equal.
#[test]
fn names_are_compared_in_one_form() {
    let (joined, apart) = ("r\u{e9}sum\u{e9}", "re\u{301}sume\u{301}");
    for (rule, path) in [(joined, apart), (apart, joined), (apart, apart)] {
        let name = format!("{path}.txt");
        check(
            &format!(
                "default_effect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = '*'\n\
                 paths = ['**/{rule}*']"
            ),
            &[
                plain(read(&name), "deny"),
                plain(shell(&format!("cat 'notes/{name}'")), "deny"),
                plain(read("resume.txt"), "allow"),
            ],
        );
    }
}

#[test]
fn a_denial_of_paths_is_about_any_of_them() {
    check(
        "default_effect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = '*'\n\
         paths = ['/etc/**', '**/.env', 'secrets/**', '~/.ssh/**', '/home/dev/.aws/**']",
        &[
            plain(read("/etc/passwd"), "deny"),
            plain(read("/etc/../etc/./ssh/x"), "deny"),
            plain(read("../etc/passwd"), "deny"),
            plain(read("file:///etc/passwd"), "deny"),
            plain(read(".env"), "deny"),
            plain(read("a/b/.env"), "deny"),
            plain(read("/elsewhere/.env"), "deny"),
            plain(read("secrets/key"), "deny"),
            plain(read("./src/../secrets/key"), "deny"),
            plain(read("/project/secrets/key"), "deny"),
            plain(read("/other/secrets/key"), "allow"),
            plain(read("~/.ssh/id"), "deny"),
            plain(read("~/.aws/credentials"), "deny"),
            plain(read("$HOME/.aws/credentials"), "deny"),
            plain(read("src/main.rs"), "allow"),
            plain(read("environment"), "allow"),
            plain(read("https://example.com/etc/.env"), "allow"),
            plain(call("x", json!({ "a": { "b": ["fine", "/etc/passwd"] } })), "deny"),
            plain(shell("cat src/a.rs /etc/passwd"), "deny"),
            plain(shell("cat </etc/passwd"), "deny"),
            plain(shell("cp \"/etc/passwd\" out"), "deny"),
            plain(shell("dd if=/etc/passwd"), "deny"),
            plain(shell("cat .env"), "deny"),
            plain(shell("cat src/a.rs"), "allow"),
        ],
    );
}

#[test]
fn the_spelling_of_a_path_hides_nothing_and_contents_name_none() {
    let write =
        |path: &str, content: &str| call("write", json!({ "path": path, "content": content }));
    check(
        "default_effect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = '*'\n\
         paths = ['**/.env', '~/.ssh/**', '$HOME/.aws/**', '$PWD/private/*', '/etc/shadow']",
        &[
            plain(shell("cat .e\"\"nv"), "deny"),
            plain(shell("cat .e*"), "deny"),
            plain(shell("cat .en?"), "deny"),
            plain(shell("cat .{env,x}"), "deny"),
            plain(shell("cat '.env'"), "deny"),
            plain(shell("cat \\.env"), "deny"),
            plain(shell("cd sub && cat .env"), "deny"),
            plain(shell("cd ~ && cat .ssh/id"), "deny"),
            plain(shell("cat /home/dev/.ssh/id"), "deny"),
            plain(shell("cat $HOME/.ssh/id \"${HOME}/.ssh/id\""), "deny"),
            plain(read("/home/dev/.ssh/id"), "deny"),
            plain(read("/home/dev/.aws/x"), "deny"),
            plain(shell("cat ~/.aws/x"), "deny"),
            plain(shell("cat private/a $PWD/private/b"), "deny"),
            plain(shell("cd /etc; cat shadow"), "deny"),
            plain(shell("cd /etc; cat shad*"), "deny"),
            plain(shell("bash -c 'cat .env'"), "deny"),
            plain(shell("docker run --env-file=.env x"), "deny"),
            plain(shell("cat *.rs"), "allow"),
            plain(write(".gitignore", ".env"), "allow"),
            plain(write("README.md", "copy .env.example to .env, see ~/.ssh/config"), "allow"),
            plain(
                call("edit", json!({ "path": "a", "old_string": ".env", "new_string": "x" })),
                "allow",
            ),
            plain(call("todo", json!({ "todos": [{ "content": "ignore .env" }] })), "allow"),
            plain(call("grep", json!({ "query": ".env", "path": "src" })), "allow"),
            plain(shell("git commit -m 'ignore .env'"), "allow"),
            plain(shell("git commit -m .env"), "allow"),
            plain(shell("grep -rn .env src"), "allow"),
            plain(shell("echo .env >> .gitignore"), "allow"),
            plain(shell("echo x > .env"), "deny"),
            plain(shell("grep x .env"), "deny"),
        ],
    );
}

#[test]
fn an_allowance_of_paths_needs_to_know_all_of_them() {
    check(
        "[[rules]]\neffect = 'allow'\ntool = '*'\npaths = ['src/**', '/tmp/*']",
        &[
            plain(read("src/a.rs"), "allow"),
            plain(read("/project/src/a.rs"), "allow"),
            plain(read("/tmp/x"), "allow"),
            plain(read("/tmp/x/y"), "deny"),
            plain(read("src/../secret"), "deny"),
            plain(read("/etc/passwd"), "deny"),
            plain(read("word"), "deny"),
            plain(call("read", json!({})), "deny"),
            plain(call("cp", json!({ "from": "src/a", "to": "/etc/b" })), "deny"),
            plain(call("cp", json!({ "from": "src/a", "to": "/tmp/b" })), "allow"),
            plain(shell("cat src/$x"), "deny"),
            plain(shell("cat src/*"), "deny"),
        ],
    );
}

#[test]
fn arguments_are_looked_through_at_any_depth() {
    check(
        "default_effect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = '*'\nargs_match = '(?i)drop\\s+table'",
        &[
            plain(call("sql", json!({ "query": "DROP  TABLE users" })), "deny"),
            plain(call("sql", json!({ "a": [{ "b": { "c": "x; drop table y" } }] })), "deny"),
            plain(call("sql", json!({ "query": "select 1", "n": 7, "drop table": true })), "allow"),
        ],
    );
}

#[test]
fn trust_narrows_in_both_directions() {
    let cases = [
        (TrustLevel::Untrusted, "deny", "deny"),
        (TrustLevel::Provisional, "deny", "allow"),
        (TrustLevel::Trusted, "allow", "allow"),
    ];
    for (trust, denied_upto, allowed_from) in cases {
        let situation = Situation::trusted(trust);
        let deny = "default_effect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = 'x'\ntrust_level = 'provisional'";
        check(deny, &[(call("x", json!({})), situation.clone(), denied_upto)]);
        let allow = "[[rules]]\neffect = 'allow'\ntool = 'x'\ntrust_level = 'provisional'";
        check(allow, &[(call("x", json!({})), situation, allowed_from)]);
    }
}

#[test]
fn callers_and_the_environment() {
    let by = |caller: Option<&str>| Situation {
        caller: caller.map(str::to_owned),
        ..Situation::default()
    };
    let x = || call("x", json!({}));
    check(
        "[[rules]]\neffect = 'allow'\ntool = 'x'\ncaller = 'research*'",
        &[
            (x(), by(Some("research-1")), "allow"),
            (x(), by(Some("other")), "deny"),
            (x(), by(None), "deny"),
        ],
    );
    check(
        "[[rules]]\neffect = 'allow'\ntool = 'x'\ncaller = ''",
        &[(x(), by(None), "allow"), (x(), by(Some("a")), "deny")],
    );
    check(
        "[[rules]]\neffect = 'allow'\ntool = 'x'\ncaller = '*'",
        &[(x(), by(None), "allow"), (x(), by(Some("a")), "allow")],
    );
    let within = |pairs: &[(&str, &str)]| Situation {
        environment: pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ..Situation::default()
    };
    check(
        "[[rules]]\neffect = 'allow'\ntool = 'x'\nenv = ['CI', 'STAGE=test*']",
        &[
            (x(), within(&[("CI", "1"), ("STAGE", "testing")]), "allow"),
            (x(), within(&[("CI", ""), ("STAGE", "test")]), "allow"),
            (x(), within(&[("CI", "1"), ("STAGE", "live")]), "deny"),
            (x(), within(&[("STAGE", "test")]), "deny"),
        ],
    );
}

#[track_caller]
fn check_error(rules: &str, key: &str, message: &str) {
    let options: PolicyOptions = toml::from_str(rules).unwrap();
    let error = PolicySettings::resolve(options, AuthorizationOptions::default()).unwrap_err();
    assert_eq!((error.key(), error.to_string().as_str()), (key, message));
    assert!(!error.help().is_empty());
}

#[test]
fn what_is_wrong_with_a_rule_is_named() {
    check_error(
        "[[rules]]\neffect = 'deny'\ntool = '['",
        "tools.policy.rules[0].tool",
        "policy.rules[0]: tool: `[` is not a valid pattern: unclosed character class; missing ']'",
    );
    check_error(
        "[[rules]]\neffect = 'deny'\ntool = 'x'\n[[rules]]\nname = 'keys'\neffect = 'deny'\ntool = 'x'\npaths = ['a', '']",
        "tools.policy.rules[1].paths[1]",
        "keys: paths[1]: the pattern is empty",
    );
    check_error(
        "[[rules]]\neffect = 'deny'\ntool = 'x'\nargs_match = '('",
        "tools.policy.rules[0].args_match",
        "policy.rules[0]: args_match: `(` is not a valid pattern: error: unclosed group",
    );
    check_error(
        "[[rules]]\neffect = 'allow'",
        "tools.policy.rules[0]",
        "policy.rules[0]: the rule allows calls but does not name any tools",
    );
    let long = "x".repeat(1025);
    check_error(
        &format!("[[rules]]\neffect = 'deny'\ntool = 'x'\nargs_match = '{long}'"),
        "tools.policy.rules[0].args_match",
        "policy.rules[0]: args_match: the pattern is 1025 bytes long; the limit is 1024",
    );
    check_error(
        &"[[rules]]\neffect = 'deny'\ntool = 'x'\n".repeat(257),
        "tools.policy.rules",
        "policy and authorization have 257 rules in total; the maximum is 256",
    );
}

#[test]
fn the_limit_counts_policy_and_authorization_together() {
    let of = |count: usize| {
        toml::from_str::<PolicyOptions>(&"[[rules]]\neffect = 'deny'\ntool = 'x'\n".repeat(count))
            .unwrap()
            .rules
    };
    let resolve = |policy: usize, authorization: usize| {
        PolicySettings::resolve(
            PolicyOptions { rules: of(policy), ..PolicyOptions::default() },
            AuthorizationOptions { enabled: true, rules: of(authorization) },
        )
    };
    assert!(resolve(128, 128).is_ok());
    assert!(resolve(128, 129).is_err());
}

#[test]
fn examples_are_checked_when_rules_are_loaded() {
    let rule = "[[rules]]\nname = 'tables'\neffect = 'deny'\ntool = 'sql'\nargs_match = 'drop'\n";
    let good = "match = [{ args = { query = 'drop table x' } }]\n\
                not_match = [{ args = { query = 'select 1' } }, { tool = 'read', args = { a = 'drop' } }]";
    let options: PolicyOptions = toml::from_str(&format!("{rule}{good}")).unwrap();
    assert!(PolicySettings::resolve(options, AuthorizationOptions::default()).is_ok());
    check_error(
        &format!(
            "{rule}match = [{{ args = {{ query = 'drop' }} }}, {{ args = {{ query = 'DROP' }} }}]"
        ),
        "tools.policy.rules[0].match[1]",
        "tables: match[1] should match, but the rule does not cover `sql {\"query\":\"DROP\"}`",
    );
    check_error(
        &format!("{rule}not_match = [{{ args = {{ query = 'raindrop' }} }}]"),
        "tools.policy.rules[0].not_match[0]",
        "tables: not_match[0] should not match, but the rule covers `sql {\"query\":\"raindrop\"}`",
    );
    check_error(
        "[[rules]]\neffect = 'deny'\ntool = 'sql*'\nmatch = [{ args = {} }]",
        "tools.policy.rules[0].match[0]",
        "policy.rules[0]: an example does not name a tool",
    );
}

#[test]
fn examples_of_rules_that_are_off_are_checked_too() {
    let off = "[[rules]]\neffect = 'deny'\ntool = 'x'\nnot_match = [{}]";
    let options: PolicyOptions = toml::from_str(off).unwrap();
    assert!(PolicySettings::resolve(options.clone(), AuthorizationOptions::default()).is_err());
    let authorization = AuthorizationOptions { enabled: false, rules: options.rules };
    let error = PolicySettings::resolve(PolicyOptions::default(), authorization).unwrap_err();
    assert_eq!(error.key(), "tools.authorization.rules[0].not_match[0]");
}

#[test]
fn unknown_keys_are_refused() {
    for text in [
        "enable = true",
        "[[rules]]\neffect = 'deny'\ntool = 'x'\npath = ['a']",
        "[[rules]]\neffect = 'deny'\ntool = 'x'\nmatch = [{ arguments = {} }]",
        "[[rules]]\neffect = 'ask'\ntool = 'x'",
    ] {
        assert!(toml::from_str::<PolicyOptions>(text).is_err(), "{text}");
    }
}

#[test]
fn a_reason_is_what_the_model_reads() {
    let gates = gates("[[rules]]\neffect = 'deny'\ntool = 'x'\nreason = 'ask the release team'");
    let Verdict::Deny(reason) =
        verdict_of(&gates, "policy", &call("x", json!({})), &Situation::default())
    else {
        panic!("it was not denied")
    };
    assert_eq!(reason.message, "ask the release team");
    assert_eq!(reason.matched.as_deref(), Some("policy.rules[0]"));
}

#[test]
fn what_is_written_is_read_again() {
    let text =
        "enabled = true\n[[rules]]\neffect = 'deny'\ntool = 'x'\nmatch = [{ args = { a = 1 } }]";
    let options: PolicyOptions = toml::from_str(text).unwrap();
    let again: PolicyOptions = toml::from_str(&toml::to_string(&options).unwrap()).unwrap();
    assert_eq!(options, again);
    let schema: Value = schemars::schema_for!(PolicyOptions).to_value();
    assert!(schema.pointer("/$defs/PolicyRule/properties/match").is_some(), "{schema}");
}

/// A tool is not offered if every call of it would be denied.
#[test]
fn a_tool_that_is_always_denied_is_not_offered() {
    for (tools, denied) in [
        (json!({}), None),
        (json!({ "policy": { "rules": [{ "effect": "deny", "tool": "cancel_order" }] } }), None),
        (
            json!({ "policy": { "enabled": true, "default_effect": "allow",
                "rules": [{ "effect": "deny", "tool": "cancel_*", "name": "no cancelling" }] } }),
            Some("`no cancelling` denies it"),
        ),
        (
            json!({ "policy": { "enabled": true, "default_effect": "allow",
                "rules": [{ "effect": "deny", "tool": "cancel_*", "args_match": "W1" }] } }),
            None,
        ),
        (
            json!({ "policy": { "enabled": true, "default_effect": "allow",
                "rules": [{ "effect": "deny", "tool": "*", "trust_level": "untrusted" }] } }),
            None,
        ),
        (
            json!({ "policy": { "enabled": true,
                "rules": [{ "effect": "allow", "tool": "get_*" }] } }),
            Some("no rule of `tools.policy` allows it"),
        ),
        (
            json!({ "policy": { "enabled": true,
                "rules": [{ "effect": "allow", "tool": "*", "paths": ["src/**"] }] } }),
            None,
        ),
        (
            json!({ "authorization": { "enabled": true,
                "rules": [{ "effect": "deny", "tool": "cancel_order" }] } }),
            Some("`authorization.rules[0]` denies it"),
        ),
        (
            json!({ "permissions": { "rules": [{ "tool": "cancel_*", "action": "deny" }] } }),
            Some("`tools.permissions` denies `cancel_*`"),
        ),
        (
            json!({ "permissions": { "default": "deny",
                "rules": [{ "tool": "get_*", "action": "allow" }] } }),
            Some("`tools.permissions.default` denies it"),
        ),
        (
            json!({ "permissions": { "default": "deny",
                "rules": [{ "tool": "cancel_*", "pattern": "#W1", "action": "allow" }] } }),
            None,
        ),
    ] {
        let options: GuardOptions = serde_json::from_value(json!({ "tools": tools })).unwrap();
        let guard = desk::shop().settings(options.resolve().unwrap()).build().unwrap();
        let session = desk::session(&guard, "s");
        let offer = session.offer();
        let excluded = offer.excluded.iter().find(|excluded| excluded.tool == "cancel_order");
        let why = excluded.and_then(|excluded| excluded.denied.as_deref());
        assert_eq!(why, denied, "{tools}");
        assert_eq!(offer.tools.iter().any(|tool| tool.name == "cancel_order"), denied.is_none());
        // The gates decide the same about a call.
        if denied.is_some() {
            let call = desk::run(&session, "cancel_order", r##"{"order_id":"#W1"}"##);
            assert_eq!(desk::wait(call).status, Status::Denied, "{tools}");
        }
    }
}
