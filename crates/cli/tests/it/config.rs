//! `config`, and what a configuration changes.

use insta::assert_snapshot;

use crate::Desk;

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let desk = Desk::with(&[("countersign.toml", "[check]\nfail_on = \"never\"\nseverty = 1\n")]);
    let ran = desk.run("config check --config countersign.toml");
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: countersign.toml:3: unknown key `severty` in [check]
      help: did you mean `severity`?
    ");
}

#[test]
fn what_is_in_force() {
    let desk = Desk::with(&[]);
    assert_snapshot!(desk.run("config show"), @r#"
    exit 0
    [check]
    fail_on = "error"
    severity = "note"
    format = "text"
    show_supported = false
    ignore = []

    [rules]
    "#);
    assert_snapshot!(desk.run("config check"), @"
    exit 0
    no configuration file: defaults are in force
    ");
}

#[test]
fn the_nearest_file_wins_then_the_users_and_flags_win_over_both() {
    let log = r#"{"tools":[],"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":"{}"}}]}]}"#;
    let desk = Desk::with(&[
        ("countersign.toml", "[rules]\nunknown-tool = \"warn\"\n"),
        ("home/.config/countersign/countersign.toml", "[check]\nfail_on = \"warning\"\n"),
        ("log.json", log),
    ]);
    for (line, code) in [
        ("check log.json", 1),
        ("check log.json --fail-on error", 0),
        ("check log.json --no-config", 1),
        ("check log.json --mode shadow", 0),
    ] {
        let ran = desk.run(&format!("{line} --rule UNKNOWN_TOOL"));
        assert_eq!(ran.code, code, "{line}: {ran}");
    }
}
