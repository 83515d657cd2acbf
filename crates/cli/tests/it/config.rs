//! `config`, and the effects of a configuration.

use insta::assert_snapshot;

use crate::Desk;

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let desk = Desk::with(&[("counterfoil.toml", "[check]\nfail_on = \"never\"\nseverty = 1\n")]);
    let ran = desk.run("config check --config counterfoil.toml");
    assert_snapshot!(ran, @"
    exit 2
    --- stderr
    error: counterfoil.toml:3: unknown key `severty` in [check]
      help: did you mean `severity`?
    ");
}

#[test]
fn a_name_that_nothing_has_is_named_with_its_line() {
    const MODEL: &str = "[[llm.providers]]\nname = \"main\"\nmodel = \"m\"\n";
    for (says, expected) in [
        (
            "[agent]\nprovider = \"mian\"",
            "agent.provider: unknown provider `mian`\n  help: did you mean `main`?",
        ),
        (
            "[agent]\ncompress_provider = \"small\"",
            "agent.compress_provider: unknown provider `small`\n  help: known: main",
        ),
        (
            "[judge]\nname = \"cluade\"",
            "judge.name: unknown judge `cluade`\n  help: did you mean `claude`?",
        ),
        (
            "[tools.retry]\nparameter_reformat_provider = \"x\"",
            "tools.retry.parameter_reformat_provider: unknown provider `x`\n  help: known: main",
        ),
        (
            "[tools.adversarial_policy]\nprovider = \"x\"",
            "tools.adversarial_policy.provider: unknown provider `x`\n  help: known: main",
        ),
    ] {
        let desk = Desk::with(&[("c.toml", &format!("{MODEL}{says}\n"))]);
        let ran = desk.run("config check --config c.toml");
        assert_eq!(ran.err, format!("error: c.toml:5: {expected}\n"), "{ran}");
        assert_eq!(ran.code, 2, "{ran}");
    }
    let desk = Desk::with(&[
        (
            "c.toml",
            &format!("{MODEL}[agent]\ncompress_provider = \"main\"\n[judge]\nname = \"main\"\n"),
        ),
        ("off.toml", "[[tools.policy.rules]]\ntool = \"erase\"\n"),
        ("none.toml", "[agent]\n\nprovider = \"main\"\n"),
        ("skills.toml", "[agent]\nskill_paths = [\n  \".\",\n  \"absent\",\n]\n"),
        (
            "judge.toml",
            "[tools.adversarial_policy]\nenabled = true\npolicies = [\"x\"]\nurl = \"http://127.0.0.1:9/v1\"\n",
        ),
        ("model.toml", &format!("{MODEL}\n[[llm.providers]]\nname = \"other\"\n")),
    ]);
    assert_eq!(desk.run("config check --config c.toml").code, 0);
    let ran = desk.run("config check --config off.toml");
    assert!(ran.code == 0 && ran.err.contains("rules of `tools.policy` are off"), "{ran}");
    let on = [
        ("COUNTERFOIL_TOOLS_SHELL_AUTO_ROLLBACK", "true"),
        ("COUNTERFOIL_TOOLS_SHELL_SNAPSHOT_REQUIRED", "true"),
        ("COUNTERFOIL_TOOLS_SHELL_TRANSACTIONAL", "true"),
    ];
    let ran = desk.run_in(&on[..2], "config check --no-config");
    for key in ["auto_rollback", "snapshot_required"] {
        let note =
            format!("note: `tools.shell.{key}` has no effect without `transactional = true`");
        assert!(ran.code == 0 && ran.err.contains(&note), "{ran}");
    }
    let ran = desk.run_in(&on, "config check --no-config");
    assert!(ran.code == 0 && !ran.err.contains("no effect"), "{ran}");
    for (file, expected) in [
        (
            "none",
            "none.toml:3: agent.provider: unknown provider `main`\n  help: `[[llm.providers]]` is empty; ",
        ),
        ("skills", "skills.toml:4: agent.skill_paths[1]: no such folder: `"),
        ("judge", "judge.toml:4: the provider `tools.adversarial_policy` has no `model`"),
        ("model", "model.toml:5: the provider `other` has no `model`"),
    ] {
        let ran = desk.run(&format!("config check --config {file}.toml"));
        assert!(ran.code == 2 && ran.err.starts_with(&format!("error: {expected}")), "{ran}");
    }
    let ran = desk.run_in(&[("COUNTERFOIL_AGENT_PROVIDER", "x")], "config check --no-config");
    assert!(ran.err.starts_with("error: COUNTERFOIL_AGENT_PROVIDER: agent.provider: "), "{ran}");
}

/// An authorization with one empty rule, as in the documents: it is valid, and permits nothing.
#[test]
fn an_authorization_with_an_empty_rule_permits_nothing() {
    let says = |enabled| {
        format!("[tools.authorization]\nenabled = {enabled}\n[[tools.authorization.rules]]\n")
    };
    let desk = Desk::with(&[("on.toml", &says(true)), ("off.toml", &says(false)), ("a.txt", "a")]);
    let read = "run read_file --args {\"path\":\"a.txt\"} --yes --config";
    assert_eq!(desk.run(&format!("{read} off.toml")).code, 0);
    let ran = desk.run(&format!("{read} on.toml"));
    assert!(ran.code != 0 && ran.err.contains("denied by `authorization.rules[0]`"), "{ran}");
    assert_eq!(desk.run("rules --config on.toml").code, 0);
    let stranger = Desk::of_a_stranger(&[("counterfoil.toml", &says(true)), ("a.txt", "a")]);
    let ran = stranger.run("run read_file --args {\"path\":\"a.txt\"} --yes");
    assert!(ran.err.contains("denied by `authorization.rules[0]`"), "{ran}");
}

#[test]
fn what_is_in_force() {
    let desk = Desk::with(&[]);
    assert_snapshot!(desk.run("config show"), @r#"
    exit 0
    # obligations is not set

    [check]
    fail_on = "error"
    severity = "note"
    format = "text"
    show_supported = false
    execution_window = 0
    ignore = []
    # tools is not set
    # baseline is not set

    [judge]
    name = ""
    # command is not set
    model = ""
    threshold = 0.7
    budget = 0
    concurrency = 4
    hooks = false
    chat = false
    proxy = false
    timeout_secs = 120
    max_answers = 0

    [rules]

    [tools]
    # max_tool_calls_per_session is not set
    executors = []
    show_id = "metadata"

    [tools.admission]
    coerce = false
    resolve_names = true
    corrections = 3
    longest_text = 10000

    [tools.admission.longest_text_of]

    [tools.fixation]
    nudge = 3
    refuse = 5
    # streak is not set
    window = 10
    pollers = []

    [tools.blocklist]
    blocked_commands = []
    substitution = "auto"
    allow_network = false
    sources = [
      "**/bin/activate", "**/.cargo/env", "**/.nvm/nvm.sh", "**/.bashrc", "**/.bash_profile",
      "**/.profile", "**/.zshrc", "**/etc/profile", "**/etc/profile.d/conda.sh", "**/setup.bash",
    ]

    [tools.blocklist.tools]

    [tools.protected]
    action = "ask"
    paths = []

    [tools.policy]
    enabled = false
    default_effect = "deny"
    rules = []

    [tools.authorization]
    enabled = false
    rules = []

    [tools.dependencies]
    enabled = false
    boost_per_dep = 0.15
    max_total_boost = 0.2
    always_on = ["memory_search", "memory_save", "load_skill", "scheduler"]

    [tools.dependencies.rules]

    [tools.trust]
    below = "ask"
    untrusted_results = []
    read_only_commands = [
      "basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "file", "find",
      "git diff", "git log", "git show", "git status", "grep", "head", "id", "ls", "nl", "pwd",
      "readlink", "realpath", "rg", "sort", "stat", "tail", "tr", "tree", "true", "uname", "uniq", "wc",
      "which", "whoami",
    ]

    [tools.trust.needs]

    [tools.permissions]
    default = "allow"
    rules = []
    internal = ["compress_context", "memory_search", "load_skill"]
    approval_secs = 600

    [tools.utility]
    enabled = false
    threshold = 0.0
    gain_weight = 1.0
    cost_weight = 0.3
    redundancy_weight = 1.0
    exploration_bonus = 0.1
    exempt_tools = ["invoke_skill", "load_skill"]

    [tools.adversarial_policy]
    enabled = false
    fail_open = false
    policies = []
    exempt_tools = ["memory_save", "memory_search", "read_overflow", "load_skill", "schedule_deferred"]
    timeout_secs = 10
    url = ""
    model = ""
    api_key_env = ""
    provider = ""

    [tools.adversarial_policy.phase_policies]

    [tools.tafc]
    enabled = false
    complexity_threshold = 0.6

    [tools.retry]
    max_attempts = 2
    base_ms = 500
    max_ms = 5000
    budget_secs = 30
    parameter_reformat_provider = ""

    [tools.shell]
    timeout_secs = 30
    max_timeout_secs = 600
    background_secs = 3600
    cpu_secs = 600
    memory_mb = 4096
    max_processes = 4096
    file_mb = 1024
    max_output_chars = 30000
    max_recorded_chars = 1000000
    transactional = false
    transaction_scope = ["**"]
    auto_rollback = false
    auto_rollback_exit_codes = [1, 2]
    snapshot_required = false
    max_snapshot_bytes = 0
    keep_snapshots = 0
    pass_env = []
    directories = []

    [tools.sandbox]
    profile = "workspace"
    strict = false
    allow_unconfined = false
    read_paths = []
    write_paths = []
    deny_read = ["**/.env", "**/secrets/**"]
    unix_sockets = false
    bubblewrap = "auto"
    run_as = "owner"

    [tools.file]
    deny_read = ["**/.env", "**/secrets/**", "**/.git/config"]
    allow_read = []
    deny_write = ["**/.git/**", "**/counterfoil.toml"]
    directories = []
    max_output_chars = 30000

    [tools.web]
    deny_domains = []
    allow_domains = []
    allow_unasked = false
    allow_unencrypted = false
    allow_private_hosts = []
    ports = [80, 443, 8080, 8443]
    grounded_only = false
    timeout_secs = 15
    max_bytes = 4194304
    max_output_chars = 100000
    # ca_file is not set

    [tools.result_cache]
    enabled = true
    ttl_secs = 300
    max_bytes = 16777216

    [tools.speculation]
    mode = "off"
    max_in_flight = 4
    ttl_secs = 30
    max_wasted = 8
    pause_secs = 60

    [tools.filters]
    enabled = true
    without = []
    # own is not set

    [tools.overflow]
    max_chars = 30000

    [ledger]
    durability = "batch"
    group_ms = 5
    # url is not set
    # password_file is not set
    # key is not set
    # keep_events_days is not set
    # keep_results_days is not set
    # keep_results_mb is not set

    [audit]
    on_failure = "deny"
    durability = "os"
    rotate_bytes = 67108864

    [hooks]
    stop = "block"
    blocks_in_a_row = 2
    on_failure = "open"
    without_questions = "protect"
    undo = false
    time_limit_ms = 5000
    block_network_commands = false
    ask_irreversible = true

    [agent]
    provider = ""
    compress_provider = ""
    compress_at = 0.9
    max_steps = 50
    max_retries = 1
    hold_back = "error"
    instructions = ""
    hallucination_detection = false
    reasoning_model_detection = false
    skill_paths = []

    [agent.tool_filter]
    enabled = false
    top_k = 10
    min_description_words = 3
    always_on = ["memory_search", "memory_save", "load_skill", "scheduler"]

    [llm]
    providers = []

    [mcp]
    redact_results = false
    hold_changes = false
    # servers is not set

    [mcp.listen]
    hosts = []
    origins = []
    # token_env is not set
    allow_anyone = false
    # requests_per_minute is not set
    max_body_bytes = 16777216
    max_sessions = 256
    idle_secs = 3600

    [proxy]
    mode = "annotate"
    least = "error"
    openai_url = "https://api.openai.com"
    anthropic_url = "https://api.anthropic.com"
    allow_http = false
    max_corrections = 1
    correction_secs = 60
    verify_ms = 50
    # on_timeout is not set
    pin_tools = true
    timeout_secs = 600
    max_body_bytes = 33554432
    max_held_bytes = 8388608
    max_sessions = 1024
    idle_secs = 21600
    # paths is not set
    # requests_per_minute is not set
    hosts = []
    origins = []
    # token_env is not set
    allow_anyone = false
    # tls_cert is not set
    # tls_key is not set
    # keys is not set
    "#);
    assert_snapshot!(desk.run("config check"), @"
    exit 0
    no configuration file; using defaults
    ");
}

#[test]
fn the_nearest_file_wins_then_the_users_and_flags_win_over_both() {
    let log = r#"{"tools":[],"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":"{}"}}]}]}"#;
    let desk = Desk::with(&[
        ("counterfoil.toml", "[rules]\nunknown-tool = \"warn\"\n"),
        ("home/.config/counterfoil/counterfoil.toml", "[check]\nfail_on = \"warning\"\n"),
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

#[test]
fn variables_win_over_files_and_each_value_names_its_place() {
    let desk = Desk::with(&[
        (
            "counterfoil.toml",
            "[check]\nfail_on = \"never\"\ntools = \"t.json\"\n[rules]\nFK010 = \"warn\"\n",
        ),
        ("home/.config/counterfoil/counterfoil.toml", "[check]\nseverity = \"warning\"\n"),
    ]);
    let home = desk.path().join("home").display().to_string();
    let here = desk.path().display().to_string();
    let ran = desk.run_in(
        &[
            ("COUNTERFOIL_CHECK_FAIL_ON", "note"),
            ("COUNTERFOIL_TOOLS_MAX_TOOL_CALLS_PER_SESSION", "9"),
        ],
        "config show",
    );
    assert_snapshot!(ran.out.replace(&home, "HOME").replace(&here, "HERE"), @r#"
    # HERE/counterfoil.toml
    # HOME/.config/counterfoil/counterfoil.toml
    # obligations is not set

    [check]
    fail_on = "note"  # COUNTERFOIL_CHECK_FAIL_ON
    severity = "warning"  # HOME/.config/counterfoil/counterfoil.toml
    format = "text"
    show_supported = false
    execution_window = 0
    ignore = []
    tools = "HERE/t.json"  # HERE/counterfoil.toml
    # baseline is not set

    [judge]
    name = ""
    # command is not set
    model = ""
    threshold = 0.7
    budget = 0
    concurrency = 4
    hooks = false
    chat = false
    proxy = false
    timeout_secs = 120
    max_answers = 0

    [rules]  # HERE/counterfoil.toml
    FK010 = "warn"

    [tools]
    max_tool_calls_per_session = 9  # COUNTERFOIL_TOOLS_MAX_TOOL_CALLS_PER_SESSION
    executors = []
    show_id = "metadata"

    [tools.admission]
    coerce = false
    resolve_names = true
    corrections = 3
    longest_text = 10000

    [tools.admission.longest_text_of]

    [tools.fixation]
    nudge = 3
    refuse = 5
    # streak is not set
    window = 10
    pollers = []

    [tools.blocklist]
    blocked_commands = []
    substitution = "auto"
    allow_network = false
    sources = [
      "**/bin/activate", "**/.cargo/env", "**/.nvm/nvm.sh", "**/.bashrc", "**/.bash_profile",
      "**/.profile", "**/.zshrc", "**/etc/profile", "**/etc/profile.d/conda.sh", "**/setup.bash",
    ]

    [tools.blocklist.tools]

    [tools.protected]
    action = "ask"
    paths = []

    [tools.policy]
    enabled = false
    default_effect = "deny"
    rules = []

    [tools.authorization]
    enabled = false
    rules = []

    [tools.dependencies]
    enabled = false
    boost_per_dep = 0.15
    max_total_boost = 0.2
    always_on = ["memory_search", "memory_save", "load_skill", "scheduler"]

    [tools.dependencies.rules]

    [tools.trust]
    below = "ask"
    untrusted_results = []
    read_only_commands = [
      "basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "file", "find",
      "git diff", "git log", "git show", "git status", "grep", "head", "id", "ls", "nl", "pwd",
      "readlink", "realpath", "rg", "sort", "stat", "tail", "tr", "tree", "true", "uname", "uniq", "wc",
      "which", "whoami",
    ]

    [tools.trust.needs]

    [tools.permissions]
    default = "allow"
    rules = []
    internal = ["compress_context", "memory_search", "load_skill"]
    approval_secs = 600

    [tools.utility]
    enabled = false
    threshold = 0.0
    gain_weight = 1.0
    cost_weight = 0.3
    redundancy_weight = 1.0
    exploration_bonus = 0.1
    exempt_tools = ["invoke_skill", "load_skill"]

    [tools.adversarial_policy]
    enabled = false
    fail_open = false
    policies = []
    exempt_tools = ["memory_save", "memory_search", "read_overflow", "load_skill", "schedule_deferred"]
    timeout_secs = 10
    url = ""
    model = ""
    api_key_env = ""
    provider = ""

    [tools.adversarial_policy.phase_policies]

    [tools.tafc]
    enabled = false
    complexity_threshold = 0.6

    [tools.retry]
    max_attempts = 2
    base_ms = 500
    max_ms = 5000
    budget_secs = 30
    parameter_reformat_provider = ""

    [tools.shell]
    timeout_secs = 30
    max_timeout_secs = 600
    background_secs = 3600
    cpu_secs = 600
    memory_mb = 4096
    max_processes = 4096
    file_mb = 1024
    max_output_chars = 30000
    max_recorded_chars = 1000000
    transactional = false
    transaction_scope = ["**"]
    auto_rollback = false
    auto_rollback_exit_codes = [1, 2]
    snapshot_required = false
    max_snapshot_bytes = 0
    keep_snapshots = 0
    pass_env = []
    directories = []

    [tools.sandbox]
    profile = "workspace"
    strict = false
    allow_unconfined = false
    read_paths = []
    write_paths = []
    deny_read = ["**/.env", "**/secrets/**"]
    unix_sockets = false
    bubblewrap = "auto"
    run_as = "owner"

    [tools.file]
    deny_read = ["**/.env", "**/secrets/**", "**/.git/config"]
    allow_read = []
    deny_write = ["**/.git/**", "**/counterfoil.toml"]
    directories = []
    max_output_chars = 30000

    [tools.web]
    deny_domains = []
    allow_domains = []
    allow_unasked = false
    allow_unencrypted = false
    allow_private_hosts = []
    ports = [80, 443, 8080, 8443]
    grounded_only = false
    timeout_secs = 15
    max_bytes = 4194304
    max_output_chars = 100000
    # ca_file is not set

    [tools.result_cache]
    enabled = true
    ttl_secs = 300
    max_bytes = 16777216

    [tools.speculation]
    mode = "off"
    max_in_flight = 4
    ttl_secs = 30
    max_wasted = 8
    pause_secs = 60

    [tools.filters]
    enabled = true
    without = []
    # own is not set

    [tools.overflow]
    max_chars = 30000

    [ledger]
    durability = "batch"
    group_ms = 5
    # url is not set
    # password_file is not set
    # key is not set
    # keep_events_days is not set
    # keep_results_days is not set
    # keep_results_mb is not set

    [audit]
    on_failure = "deny"
    durability = "os"
    rotate_bytes = 67108864

    [hooks]
    stop = "block"
    blocks_in_a_row = 2
    on_failure = "open"
    without_questions = "protect"
    undo = false
    time_limit_ms = 5000
    block_network_commands = false
    ask_irreversible = true

    [agent]
    provider = ""
    compress_provider = ""
    compress_at = 0.9
    max_steps = 50
    max_retries = 1
    hold_back = "error"
    instructions = ""
    hallucination_detection = false
    reasoning_model_detection = false
    skill_paths = []

    [agent.tool_filter]
    enabled = false
    top_k = 10
    min_description_words = 3
    always_on = ["memory_search", "memory_save", "load_skill", "scheduler"]

    [llm]
    providers = []

    [mcp]
    redact_results = false
    hold_changes = false
    # servers is not set

    [mcp.listen]
    hosts = []
    origins = []
    # token_env is not set
    allow_anyone = false
    # requests_per_minute is not set
    max_body_bytes = 16777216
    max_sessions = 256
    idle_secs = 3600

    [proxy]
    mode = "annotate"
    least = "error"
    openai_url = "https://api.openai.com"
    anthropic_url = "https://api.anthropic.com"
    allow_http = false
    max_corrections = 1
    correction_secs = 60
    verify_ms = 50
    # on_timeout is not set
    pin_tools = true
    timeout_secs = 600
    max_body_bytes = 33554432
    max_held_bytes = 8388608
    max_sessions = 1024
    idle_secs = 21600
    # paths is not set
    # requests_per_minute is not set
    hosts = []
    origins = []
    # token_env is not set
    allow_anyone = false
    # tls_cert is not set
    # tls_key is not set
    # keys is not set
    "#);
}

/// A variable without a meaning is reported, and no command fails because of it.
#[test]
fn unknown_variables_are_reported() {
    let desk = Desk::with(&[]);
    for (name, expected) in [
        (
            "COUNTERFOIL_TOOLS_MAX_TOOL_CALL_PER_SESSION",
            "matches no configuration key and is ignored; did you mean \
             `COUNTERFOIL_TOOLS_MAX_TOOL_CALLS_PER_SESSION`?",
        ),
        ("COUNTERFOIL_AGENT_MAX_TOOL_RETRIES", "has no effect in this build"),
    ] {
        let ran = desk.run_in(&[(name, "9")], "config check");
        assert_eq!(ran.code, 0, "{ran}");
        assert!(
            ran.err.contains(&format!("warning: environment variable {name} {expected}")),
            "{ran}"
        );
    }
}

#[test]
fn wrong_variables_are_named() {
    let desk = Desk::with(&[]);
    for (name, value, expected) in [
        (
            "COUNTERFOIL_TOOLS_MAX_TOOL_CALLS_PER_SESSION",
            "many",
            "environment variable COUNTERFOIL_TOOLS_MAX_TOOL_CALLS_PER_SESSION: expected a value such as 3 or true, got `many`",
        ),
        (
            "COUNTERFOIL_CHECK_IGNORE",
            "FK010, FK0",
            "environment variable COUNTERFOIL_CHECK_IGNORE: unknown rule `FK0`\n  help: ",
        ),
        (
            "COUNTERFOIL_CHECK_SHOW_SUPPORTED",
            "3",
            "environment variable COUNTERFOIL_CHECK_SHOW_SUPPORTED: found number `3`, expected `true` or `false`",
        ),
    ] {
        let ran = desk.run_in(&[(name, value)], "config check");
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.err.starts_with(&format!("error: {expected}")), "{ran}");
    }
    let ran = desk.run_in(
        &[
            ("COUNTERFOIL_CHECK_IGNORE", "FK010, FK012"),
            ("COUNTERFOIL_RULES", "{ FK014 = \"off\" }"),
        ],
        "config show --format json",
    );
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&shown["check"]["ignore"], &shown["rules"]),
        (&serde_json::json!(["FK010", "FK012"]), &serde_json::json!({"FK014": "off"}))
    );
}

#[test]
fn old_keys_move_when_asked() {
    let old = "# tries\n[agent]\nmax_tool_retries = 3  # thrice\n\n[rules]\nFK010 = \"warn\"\n";
    let desk = Desk::of_a_stranger(&[("counterfoil.toml", old)]);
    assert_snapshot!(desk.run("config check --config counterfoil.toml"), @"
    exit 2
    --- stderr
    error: counterfoil.toml:3: `agent.max_tool_retries` has no effect in this build
      help: it moved to `[tools.retry]`; run `counterfoil config migrate --write`
    ");
    assert_snapshot!(desk.run("config migrate counterfoil.toml"), @r#"
    exit 0
    --- counterfoil.toml
    +++ counterfoil.toml (migrated)
    @@ -1,6 +1,6 @@
    +[tools.retry]
     # tries
    -[agent]
    -max_tool_retries = 3  # thrice
    +max_attempts = 3  # thrice
     
     [rules]
     FK010 = "warn"
    --- stderr
    nothing was written; pass `--write` to apply the changes
    "#);
    assert_eq!(std::fs::read_to_string(desk.path().join("counterfoil.toml")).unwrap(), old);
    assert_snapshot!(desk.run("config migrate counterfoil.toml --write"), @"
    exit 0
    counterfoil.toml: `[agent].max_tool_retries` becomes `[tools.retry].max_attempts`
    ");
    assert_snapshot!(std::fs::read_to_string(desk.path().join("counterfoil.toml")).unwrap(), @r#"
    [tools.retry]
    # tries
    max_attempts = 3  # thrice

    [rules]
    FK010 = "warn"
    "#);
    assert_snapshot!(desk.run("config migrate counterfoil.toml --write"), @"
    exit 0
    counterfoil.toml: already up to date
    ");
    assert_snapshot!(desk.run_with("config migrate -", old), @r#"
    exit 0
    [tools.retry]
    # tries
    max_attempts = 3  # thrice

    [rules]
    FK010 = "warn"
    "#);
    assert_eq!(std::fs::read_dir(desk.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_migration_that_cannot_be_done_says_why() {
    let desk = Desk::with(&[
        ("twice.toml", "[agent]\nmax_tool_retries = 3\n[tools.retry]\nmax_attempts = 2\n"),
        ("broken.toml", "[agent\n"),
    ]);
    for (line, expected) in [
        (
            "twice.toml",
            "error: twice.toml: `[agent].max_tool_retries` is 3, but `[tools.retry].max_attempts` \
             is 2: both names mean the same key\n  help: remove one of the keys, then migrate \
             again\n",
        ),
        ("broken.toml", "error: broken.toml: line 1: "),
        ("absent.toml", "error: the configuration absent.toml cannot be read: "),
        ("", "error: no configuration file found\n  help: "),
        ("- --write", "error: cannot write to standard input\n"),
    ] {
        let ran = desk.run(&format!("config migrate {line}"));
        assert!(ran.code == 2 && ran.err.starts_with(expected), "{line}: {ran}");
    }
}

#[test]
fn a_projects_file_holds_beyond_narrowing_once_it_is_trusted_as_it_is() {
    let says = "[hooks]\nstop = \"off\"\nblock_network_commands = true\n";
    let desk = Desk::of_a_stranger(&[("counterfoil.toml", says)]);
    let stop = || {
        let ran = desk.run("config show --format json");
        let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(shown["hooks"]["block_network_commands"], true, "{ran}");
        (shown["hooks"]["stop"].as_str().unwrap().to_owned(), ran.err)
    };
    let (mode, warned) = stop();
    assert_eq!(mode, "block");
    assert!(warned.contains("ignoring `hooks.stop`; run `counterfoil trust`"), "{warned}");
    // There is no terminal to ask on.
    let unconfirmed = desk.run("trust");
    assert_eq!(unconfirmed.code, 2, "{unconfirmed}");
    assert!(unconfirmed.out.contains("  hooks.stop\n"), "{unconfirmed}");
    assert_eq!(stop().0, "block");
    assert_eq!(desk.run("trust --yes").code, 0);
    assert_eq!(stop(), ("off".to_owned(), String::new()));
    let again = desk.run("trust");
    assert!(again.code == 0 && again.out.contains("already trusted"), "{again}");
    // After a change, the file must be trusted again.
    std::fs::write(desk.path().join("counterfoil.toml"), format!("# more\n{says}")).unwrap();
    assert_eq!(stop().0, "block");
    assert_eq!(desk.run("trust --yes").code, 0);
    assert_eq!(stop().0, "off");
    assert_eq!(desk.run("trust --revoke").code, 0);
    assert_eq!(stop().0, "block");
    // Naming a file with `--config` applies all of it.
    let named = desk.run("config show --format json --config counterfoil.toml");
    assert!(named.out.contains("\"stop\": \"off\""), "{named}");
}

#[test]
#[cfg(unix)]
fn a_projects_file_that_others_may_write_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::of_a_stranger(&[("counterfoil.toml", "[tools.sandbox]\nstrict = true\n")]);
    let path = desk.path().join("counterfoil.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let ran = desk.run("config show --format json");
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["tools"]["sandbox"]["strict"], false, "{ran}");
    assert!(ran.err.contains("other users can write to it"), "{ran}");
}

#[test]
fn a_threshold_that_is_no_number_counts_as_the_default() {
    for (written, shown) in [
        ("nan", "0.6"),
        ("inf", "0.6"),
        ("-inf", "0.6"),
        ("7.0", "1.0"),
        ("-1", "0.0"),
        ("0.2", "0.2"),
    ] {
        let text = format!("[tools.tafc]\ncomplexity_threshold = {written}\n");
        let desk = Desk::with(&[("counterfoil.toml", &text)]);
        let variable = [("COUNTERFOIL_TOOLS_TAFC_COMPLEXITY_THRESHOLD", written)];
        for ran in [desk.run("config show"), desk.run_in(&variable, "config show --no-config")] {
            assert_eq!(ran.code, 0, "{ran}");
            assert!(ran.out.contains(&format!("complexity_threshold = {shown}")), "{ran}");
        }
        assert_eq!(desk.run("config check").code, 0);
    }
}
