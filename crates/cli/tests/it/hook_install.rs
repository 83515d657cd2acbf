//! `hook install` and `hook uninstall` in a temporary home folder.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::{Desk, Ran};

const SETTINGS: &str = "home/.claude/settings.json";
const USERS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {}\n}\n";

/// Returns the output, with the folders of this run replaced.
fn shown(desk: &Desk, ran: &Ran) -> String {
    ran.to_string()
        .replace(&desk.path().display().to_string(), "DESK")
        .replace(env!("CARGO_BIN_EXE_counterfoil"), "BIN")
}

fn text(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.path().join(name)).unwrap()
}

fn names(desk: &Desk, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(desk.path().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn installed_and_tried_out() {
    let desk = Desk::with(&[(SETTINGS, USERS)]);
    let ran = desk.run("hook install claude-code");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 0
    DESK/home/.claude/settings.json
      added    PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop, SubagentStop, SessionEnd
    tested with a separate state folder:
      yes  a harmless call passes
      yes  a destructive command is denied: counterfoil: `Bash` was not run: `rm -r /` is blocked (this cannot be approved)
      yes  the agent is not allowed to stop while its answer contains a false claim: Your message says what the record of this session does not show.
    ");
    let once = text(&desk, SETTINGS);
    assert_eq!(names(&desk, "home/.claude"), ["settings.json"], "nothing is left beside it");
    assert_eq!(names(&desk, "home"), [".claude"], "the canary has a state of its own");

    let again = desk.run("hook install claude-code");
    assert_eq!(again.code, 0, "{again}");
    assert!(again.out.contains(": nothing to do"), "{again}");
    assert_eq!(text(&desk, SETTINGS), once);

    let gone = desk.run("hook uninstall claude-code --user");
    assert_snapshot!(shown(&desk, &gone), @"
    exit 0
    DESK/home/.claude/settings.json
      removed  PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop, SubagentStop, SessionEnd
    ");
    assert_eq!(text(&desk, SETTINGS), USERS);
    assert_eq!(desk.run("hook uninstall claude-code").code, 0);
}

#[test]
fn a_judge_that_reads_stops_is_set_in_the_users_own_file() {
    const OWN: &str = "home/.config/counterfoil/counterfoil.toml";
    let command = "[judge]\ncommand = [\"my-judge\"] # mine\n";
    let desk = Desk::with(&[(SETTINGS, USERS), (OWN, command)]);
    let ran = desk.run("hook install claude-code --judge nothing-of-this-name");
    assert!(ran.code == 2 && ran.err.contains("unknown judge `nothing-of"), "{ran}");
    assert_eq!((text(&desk, OWN).as_str(), text(&desk, SETTINGS).as_str()), (command, USERS));
    let ran = desk.run("hook install claude-code --judge auto --dry-run");
    assert!(ran.code == 0 && ran.out.contains("+hooks = true"), "{ran}");
    assert_eq!(text(&desk, OWN), command);
    let ran = desk.run("hook install claude-code --judge auto");
    assert!(ran.code == 0 && ran.out.contains("added    judge.hooks = true"), "{ran}");
    assert_eq!(text(&desk, OWN), format!("{command}hooks = true\nname = \"auto\"\n"));
    // The last hook to go switches the judge off.
    desk.run("hook install claude-code --project");
    let ran = desk.run("hook uninstall claude-code");
    assert!(
        ran.code == 0 && ran.err.contains("`counterfoil hook uninstall claude-code --project`")
    );
    assert!(text(&desk, OWN).contains("hooks = true"), "{ran}");
    let ran = desk.run("hook uninstall claude-code --project");
    assert!(ran.code == 0 && ran.out.contains("updated  judge.hooks = false"), "{ran}");
    let ran = desk.run("hook uninstall gemini");
    assert!(ran.code == 0 && ran.err.contains("note: there is no "), "{ran}");
}

#[test]
fn the_other_agents() {
    for (agent, file) in
        [("codex", "home/.codex/hooks.json"), ("gemini", "home/.gemini/settings.json")]
    {
        let desk = Desk::with(&[]);
        let ran = desk.run(&format!("hook install {agent}"));
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(ran.out.matches("  yes  ").count(), 3, "{ran}");
        assert!(text(&desk, file).contains(&format!("hook {agent}")));
        let ran = desk.run(&format!("hook uninstall {agent}"));
        assert_eq!(ran.code, 0, "{ran}");
        assert!(!desk.path().join(file).exists(), "{ran}");
    }
}

#[test]
fn hooks_in_codexs_configuration_keep_company() {
    let config = "model = \"m\" # mine\n\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"bell\" }]\n";
    let desk = Desk::with(&[("home/.codex/config.toml", config)]);
    let ran = desk.run("hook install codex");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(text(&desk, "home/.codex/config.toml").contains("[[hooks.PreToolUse.hooks]]"));
    assert_eq!(names(&desk, "home/.codex"), ["config.toml"]);
    assert_eq!(desk.run("hook uninstall codex").code, 0);
    assert_eq!(text(&desk, "home/.codex/config.toml"), config);
}

#[test]
fn a_dry_run_writes_nothing() {
    let desk = Desk::with(&[]);
    let ran = desk.run("hook install gemini --project --dry-run");
    assert_snapshot!(shown(&desk, &ran).lines().take(20).collect::<Vec<_>>().join("\n"), @r#"
    exit 0
    --- /dev/null
    +++ DESK/.gemini/settings.json
    @@ -0,0 +1,66 @@
    +{
    +  "hooks": {
    +    "BeforeTool": [
    +      {
    +        "matcher": "*",
    +        "hooks": [
    +          {
    +            "name": "counterfoil",
    +            "type": "command",
    +            "command": "BIN hook gemini",
    +            "timeout": 10000
    +          }
    +        ]
    +      }
    +    ],
    +    "AfterTool": [
    "#);
    assert_eq!(names(&desk, "."), Vec::<String>::new());
}

#[test]
fn a_broken_file_is_named_with_its_line_and_left_alone() {
    let broken = "{\n  \"model\": \"opus\",\n}\n";
    let desk = Desk::with(&[(".claude/settings.json", broken)]);
    for line in ["hook install claude-code --project", "hook uninstall claude-code --project"] {
        let ran = desk.run(line);
        assert_eq!(
            shown(&desk, &ran),
            "exit 2\n--- stderr\nerror: DESK/.claude/settings.json:3: key must be a string\n  \
             help: correct the file, then try again; nothing was written\n"
        );
    }
    assert_eq!(text(&desk, ".claude/settings.json"), broken);
}

#[test]
fn a_canary_that_fails_says_what_and_what_to_do() {
    let desk = Desk::with(&[("counterfoil.toml", "[hooks]\nstop = \"off\"\n")]);
    let ran = desk.run("hook install claude-code --project");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 1
    DESK/.claude/settings.json
      added    PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop, SubagentStop, SessionEnd
    tested with a separate state folder:
      yes  a harmless call passes
      yes  a destructive command is denied: counterfoil: `Bash` was not run: `rm -r /` is blocked (this cannot be approved)
      NO   the agent is not allowed to stop while its answer contains a false claim: the hook raised no objection
    --- stderr
    note: the command contains a path on this machine; put `counterfoil` on PATH so that it works for everyone who shares these settings
    error: the hook does not work
      help: the hook is still in the settings: fix the problem above and install again, or remove the hook with `counterfoil hook uninstall claude-code --project`
    ");
}

#[test]
fn without_a_home_only_a_project_can_have_it() {
    let desk = Desk::with(&[]);
    let ran = desk.run_in(&[("HOME", "")], "hook install claude-code --dry-run");
    assert_snapshot!(shown(&desk, &ran), @"
    exit 2
    --- stderr
    error: no home folder: HOME is not set
      help: set HOME, or pass `--project` to use the settings in the working directory
    ");
    assert_eq!(
        desk.run_in(&[("HOME", "")], "hook install claude-code --project --dry-run").code,
        0
    );
}

#[test]
fn hooks_that_are_switched_off_are_pointed_out() {
    let desk = Desk::with(&[(SETTINGS, "{\"disableAllHooks\": true}")]);
    let ran = desk.run("hook install claude-code");
    assert!(ran.err.contains("`disableAllHooks` is true"), "{ran}");
}

#[cfg(unix)]
#[test]
fn mode_and_link_of_the_file_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let desk = Desk::with(&[("dotfiles/claude.json", "{}"), ("home/.claude/x", "")]);
    let real = desk.path().join("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    let link = desk.path().join(SETTINGS);
    symlink(&real, &link).unwrap();
    desk.run("hook install claude-code");
    assert_eq!(fs::read_link(&link).unwrap(), real);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&real).unwrap().contains("PreToolUse"));
    desk.run("hook uninstall claude-code");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
}

#[cfg(unix)]
#[test]
fn a_path_with_blanks_and_quotes_is_written_so_that_a_shell_finds_it() {
    let desk = Desk::with(&[("it's a place/x", "")]);
    let program = desk.path().join("it's a place/counterfoil");
    fs::copy(env!("CARGO_BIN_EXE_counterfoil"), &program).unwrap();
    let ran = desk.spawn_program(&program, &[], &["hook", "install", "claude-code"], "");
    assert_eq!(ran.code, 0, "{ran}");
    let on_path = [("PATH", program.parent().unwrap().to_str().unwrap())];
    let ran = desk.spawn_program(&program, &on_path, &["hook", "install", "claude-code"], "");
    assert!(ran.out.contains("updated"), "{ran}");
    assert!(text(&desk, SETTINGS).contains("\"counterfoil hook claude-code\""));
}

/// The commands that the plugin tells an agent to run exist in this program.
/// Entries are found by the program's name, so another name would be installed and never found.
#[test]
fn a_program_of_another_name_installs_nothing() {
    let desk = Desk::with(&[(SETTINGS, USERS)]);
    let renamed = desk.path().join("cf-1.2");
    fs::copy(env!("CARGO_BIN_EXE_counterfoil"), &renamed).unwrap();
    for group in ["hook", "mcp"] {
        let ran = desk.spawn_program(&renamed, &[], &[group, "install", "claude-code"], "");
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.contains("cf-1.2`\n  help: rename it to `counterfoil`"), "{ran}");
    }
    assert_eq!(text(&desk, SETTINGS), USERS);
}

#[test]
fn the_plugins_commands_name_what_there_is() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code/commands");
    let mut seen = 0;
    for file in ["explain.md", "status.md"] {
        let page = fs::read_to_string(root.join(file)).unwrap();
        assert!(page.starts_with("---\ndescription: "), "{file}");
        for line in page.split('`').filter_map(|code| code.strip_prefix("counterfoil ")) {
            let line = line.replace("CODE", "FK010");
            let ran = Desk::with(&[]).run(&line);
            assert_ne!(ran.code, 2, "{line}: {ran}");
            assert_ne!(ran.code, 3, "{line}: {ran}");
            seen += 1;
        }
    }
    assert_eq!(seen, 3);
}
