//! Every configuration key with its default, and the keys without effect.

use std::collections::BTreeMap;

use crate::Desk;

/// Every key with its default as TOML; an empty text means not set.
const KEYS: &[(&str, &str)] = &[
    ("check.fail_on", "\"error\""),
    ("check.severity", "\"note\""),
    ("check.format", "\"text\""),
    ("check.show_supported", "false"),
    ("check.execution_window", "0"),
    ("check.ignore", "[]"),
    ("check.tools", ""),
    ("check.baseline", ""),
    ("judge.name", "\"\""),
    ("judge.command", ""),
    ("judge.model", "\"\""),
    ("judge.threshold", "0.7"),
    ("judge.budget", "0"),
    ("judge.concurrency", "4"),
    ("judge.hooks", "false"),
    ("judge.chat", "false"),
    ("judge.proxy", "false"),
    ("judge.timeout_secs", "120"),
    ("judge.max_answers", "0"),
    ("rules", "{}"),
    ("obligations", ""),
    ("tools.max_tool_calls_per_session", ""),
    ("tools.executors", "[]"),
    ("tools.show_id", "\"metadata\""),
    ("tools.admission.coerce", "false"),
    ("tools.admission.resolve_names", "true"),
    ("tools.admission.corrections", "3"),
    ("tools.admission.longest_text", "10000"),
    ("tools.admission.longest_text_of", "{}"),
    ("tools.fixation.nudge", "3"),
    ("tools.fixation.refuse", "5"),
    ("tools.fixation.streak", ""),
    ("tools.fixation.window", "10"),
    ("tools.fixation.pollers", "[]"),
    ("tools.blocklist.blocked_commands", "[]"),
    ("tools.blocklist.substitution", "\"auto\""),
    ("tools.blocklist.allow_network", "false"),
    (
        "tools.blocklist.sources",
        r#"["**/bin/activate", "**/.cargo/env", "**/.nvm/nvm.sh", "**/.bashrc", "**/.bash_profile",
            "**/.profile", "**/.zshrc", "**/etc/profile", "**/etc/profile.d/conda.sh",
            "**/setup.bash"]"#,
    ),
    ("tools.blocklist.tools", "{}"),
    ("tools.protected.action", "\"ask\""),
    ("tools.protected.paths", "[]"),
    ("tools.policy.enabled", "false"),
    ("tools.policy.default_effect", "\"deny\""),
    ("tools.policy.rules", "[]"),
    ("tools.authorization.enabled", "false"),
    ("tools.authorization.rules", "[]"),
    ("tools.dependencies.enabled", "false"),
    ("tools.dependencies.boost_per_dep", "0.15"),
    ("tools.dependencies.max_total_boost", "0.20"),
    (
        "tools.dependencies.always_on",
        r#"["memory_search", "memory_save", "load_skill", "scheduler"]"#,
    ),
    ("tools.dependencies.rules", "{}"),
    ("tools.trust.needs", "{}"),
    ("tools.trust.below", "\"ask\""),
    ("tools.trust.untrusted_results", "[]"),
    (
        "tools.trust.read_only_commands",
        r#"["basename", "cat", "cmp", "cut", "date", "df", "diff", "dirname", "du", "echo", "file",
            "find", "git diff", "git log", "git show", "git status", "grep", "head", "id", "ls",
            "nl", "pwd", "readlink", "realpath", "rg", "sort", "stat", "tail", "tr", "tree", "true",
            "uname", "uniq", "wc", "which", "whoami"]"#,
    ),
    ("tools.permissions.default", "\"allow\""),
    ("tools.permissions.rules", "[]"),
    ("tools.permissions.internal", r#"["compress_context", "memory_search", "load_skill"]"#),
    ("tools.permissions.approval_secs", "600"),
    ("tools.utility.enabled", "false"),
    ("tools.utility.threshold", "0.0"),
    ("tools.utility.gain_weight", "1.0"),
    ("tools.utility.cost_weight", "0.3"),
    ("tools.utility.redundancy_weight", "1.0"),
    ("tools.utility.exploration_bonus", "0.1"),
    ("tools.utility.exempt_tools", r#"["invoke_skill", "load_skill"]"#),
    ("tools.adversarial_policy.enabled", "false"),
    ("tools.adversarial_policy.fail_open", "false"),
    ("tools.adversarial_policy.policies", "[]"),
    ("tools.adversarial_policy.phase_policies", "{}"),
    (
        "tools.adversarial_policy.exempt_tools",
        r#"["memory_save", "memory_search", "read_overflow", "load_skill", "schedule_deferred"]"#,
    ),
    ("tools.adversarial_policy.timeout_secs", "10"),
    ("tools.adversarial_policy.url", "\"\""),
    ("tools.adversarial_policy.model", "\"\""),
    ("tools.adversarial_policy.api_key_env", "\"\""),
    ("tools.adversarial_policy.provider", "\"\""),
    ("tools.retry.max_attempts", "2"),
    ("tools.retry.base_ms", "500"),
    ("tools.retry.max_ms", "5000"),
    ("tools.retry.budget_secs", "30"),
    ("tools.retry.parameter_reformat_provider", "\"\""),
    ("tools.shell.timeout_secs", "30"),
    ("tools.shell.max_timeout_secs", "600"),
    ("tools.shell.background_secs", "3600"),
    ("tools.shell.cpu_secs", "600"),
    ("tools.shell.memory_mb", "4096"),
    ("tools.shell.max_processes", "4096"),
    ("tools.shell.file_mb", "1024"),
    ("tools.shell.max_output_chars", "30000"),
    ("tools.shell.max_recorded_chars", "1000000"),
    ("tools.shell.transactional", "false"),
    ("tools.shell.transaction_scope", "[\"**\"]"),
    ("tools.shell.auto_rollback", "false"),
    ("tools.shell.auto_rollback_exit_codes", "[1, 2]"),
    ("tools.shell.snapshot_required", "false"),
    ("tools.shell.max_snapshot_bytes", "0"),
    ("tools.shell.keep_snapshots", "0"),
    ("tools.shell.pass_env", "[]"),
    ("tools.shell.directories", "[]"),
    ("tools.sandbox.profile", "\"workspace\""),
    ("tools.sandbox.strict", "false"),
    ("tools.sandbox.allow_unconfined", "false"),
    ("tools.sandbox.read_paths", "[]"),
    ("tools.sandbox.write_paths", "[]"),
    ("tools.sandbox.deny_read", r#"["**/.env", "**/secrets/**"]"#),
    ("tools.sandbox.unix_sockets", "false"),
    ("tools.sandbox.bubblewrap", "\"auto\""),
    ("tools.sandbox.run_as", "\"owner\""),
    ("tools.file.deny_read", r#"["**/.env", "**/secrets/**", "**/.git/config"]"#),
    ("tools.file.allow_read", "[]"),
    ("tools.file.deny_write", r#"["**/.git/**", "**/counterfoil.toml"]"#),
    ("tools.file.directories", "[]"),
    ("tools.file.max_output_chars", "30000"),
    ("tools.web.deny_domains", "[]"),
    ("tools.web.allow_domains", "[]"),
    ("tools.web.allow_unasked", "false"),
    ("tools.web.allow_unencrypted", "false"),
    ("tools.web.allow_private_hosts", "[]"),
    ("tools.web.ports", "[80, 443, 8080, 8443]"),
    ("tools.web.grounded_only", "false"),
    ("tools.web.timeout_secs", "15"),
    ("tools.web.max_bytes", "4194304"),
    ("tools.web.max_output_chars", "100000"),
    ("tools.web.ca_file", ""),
    ("tools.result_cache.enabled", "true"),
    ("tools.result_cache.ttl_secs", "300"),
    ("tools.result_cache.max_bytes", "16777216"),
    ("tools.speculation.mode", "\"off\""),
    ("tools.speculation.max_in_flight", "4"),
    ("tools.speculation.ttl_secs", "30"),
    ("tools.speculation.max_wasted", "8"),
    ("tools.speculation.pause_secs", "60"),
    ("tools.filters.enabled", "true"),
    ("tools.filters.without", "[]"),
    ("tools.filters.own", ""),
    ("tools.overflow.max_chars", "30000"),
    ("ledger.durability", "\"batch\""),
    ("ledger.group_ms", "5"),
    ("ledger.url", ""),
    ("ledger.password_file", ""),
    ("ledger.key", ""),
    ("ledger.keep_events_days", ""),
    ("ledger.keep_results_days", ""),
    ("ledger.keep_results_mb", ""),
    ("audit.on_failure", "\"deny\""),
    ("audit.durability", "\"os\""),
    ("audit.rotate_bytes", "67108864"),
    ("mcp.redact_results", "false"),
    ("mcp.hold_changes", "false"),
    ("mcp.listen.hosts", "[]"),
    ("mcp.listen.origins", "[]"),
    ("mcp.listen.token_env", ""),
    ("mcp.listen.allow_anyone", "false"),
    ("mcp.listen.requests_per_minute", ""),
    ("mcp.listen.max_body_bytes", "16777216"),
    ("mcp.listen.max_sessions", "256"),
    ("mcp.listen.idle_secs", "3600"),
    ("mcp.servers", ""),
    ("tools.tafc.enabled", "false"),
    ("tools.tafc.complexity_threshold", "0.6"),
    ("agent.provider", "\"\""),
    ("agent.compress_provider", "\"\""),
    ("agent.compress_at", "0.9"),
    ("agent.max_steps", "50"),
    ("agent.max_retries", "1"),
    ("agent.hold_back", "\"error\""),
    ("agent.instructions", "\"\""),
    ("agent.hallucination_detection", "false"),
    ("agent.reasoning_model_detection", "false"),
    ("agent.skill_paths", "[]"),
    ("llm.providers", "[]"),
    ("agent.tool_filter.enabled", "false"),
    ("agent.tool_filter.top_k", "10"),
    ("agent.tool_filter.min_description_words", "3"),
    (
        "agent.tool_filter.always_on",
        r#"["memory_search", "memory_save", "load_skill", "scheduler"]"#,
    ),
    ("proxy.mode", "\"annotate\""),
    ("proxy.least", "\"error\""),
    ("proxy.openai_url", "\"https://api.openai.com\""),
    ("proxy.anthropic_url", "\"https://api.anthropic.com\""),
    ("proxy.allow_http", "false"),
    ("proxy.max_corrections", "1"),
    ("proxy.correction_secs", "60"),
    ("proxy.verify_ms", "50"),
    ("proxy.on_timeout", ""),
    ("proxy.pin_tools", "true"),
    ("proxy.timeout_secs", "600"),
    ("proxy.max_body_bytes", "33554432"),
    ("proxy.max_held_bytes", "8388608"),
    ("proxy.max_sessions", "1024"),
    ("proxy.idle_secs", "21600"),
    ("proxy.paths", ""),
    ("proxy.requests_per_minute", ""),
    ("proxy.hosts", "[]"),
    ("proxy.origins", "[]"),
    ("proxy.token_env", ""),
    ("proxy.allow_anyone", "false"),
    ("proxy.tls_cert", ""),
    ("proxy.tls_key", ""),
    ("proxy.keys", ""),
    ("hooks.stop", "\"block\""),
    ("hooks.blocks_in_a_row", "2"),
    ("hooks.on_failure", "\"open\""),
    ("hooks.undo", "false"),
    ("hooks.without_questions", "\"protect\""),
    ("hooks.time_limit_ms", "5000"),
    ("hooks.block_network_commands", "false"),
    ("hooks.ask_irreversible", "true"),
];

/// Keys of other builds, as written there.
const WITHOUT_EFFECT: &[&str] =
    &["[agent]\nmax_tool_retries = 2", "[agent]\nmax_retry_duration_secs = 30"];

#[test]
fn an_empty_configuration_is_the_table_of_defaults() {
    let desk = Desk::with(&[("counterfoil.toml", "")]);
    let shown = desk.run("config show --config counterfoil.toml").out;
    let mut found: BTreeMap<String, Option<toml::Value>> = BTreeMap::new();
    let mut section = String::new();
    for line in shown.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.to_owned();
        }
        if let Some(key) = line.strip_prefix("# ").and_then(|rest| rest.strip_suffix(" is not set"))
        {
            let path = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
            found.insert(path, None);
        }
    }
    let table: toml::Table = shown.parse().unwrap();
    flatten("", &table, &mut found);
    let expected: BTreeMap<String, Option<toml::Value>> = KEYS
        .iter()
        .map(|(key, default)| {
            let line = format!("value = {default}").parse::<toml::Table>().ok();
            ((*key).to_owned(), line.map(|mut line| line.remove("value").unwrap()))
        })
        .collect();
    for (key, value) in &found {
        assert_eq!(Some(value), expected.get(key), "{key}");
    }
    let missing: Vec<&String> = expected.keys().filter(|key| !found.contains_key(*key)).collect();
    assert!(missing.is_empty(), "not shown: {missing:?}");
}

/// Flattens sections to paths; tables that are values (here, empty ones) are kept.
fn flatten(path: &str, table: &toml::Table, found: &mut BTreeMap<String, Option<toml::Value>>) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            toml::Value::Table(inner) if !KEYS.iter().any(|(key, _)| *key == path) => {
                flatten(&path, inner, found);
            }
            _ => {
                found.insert(path, Some(value.clone()));
            }
        }
    }
}

#[test]
fn keys_without_effect_are_refused_with_what_to_do() {
    for text in WITHOUT_EFFECT {
        let desk = Desk::with(&[("counterfoil.toml", text)]);
        let ran = desk.run("config check --config counterfoil.toml");
        assert!(
            ran.code == 2
                && ran.err.contains("has no effect in this build\n  help: ")
                && ran.err.starts_with("error: counterfoil.toml:"),
            "{text}: {ran}"
        );
    }
}

#[test]
fn values_that_cannot_be_used_are_named() {
    for (text, expected) in [
        (
            "[tools.retry]\nbase_ms = 9000\n",
            "counterfoil.toml:1: [tools.retry]: `base_ms` (9000) is greater than `max_ms` (5000)\n",
        ),
        ("[tools.fixation]\nnudge = 1\n", "counterfoil.toml:1: [tools.fixation]: `nudge` must be"),
        (
            "[ledger]\nkeep_events_days = 0\n",
            "counterfoil.toml:1: [ledger]: `keep_events_days` is 0",
        ),
        (
            "[tools.dependencies]\nboost_per_dep = 2.0\n",
            "counterfoil.toml:1: tools.dependencies.boost_per_dep is `2`; it must be a number from 0 to 1\n",
        ),
    ] {
        let desk = Desk::with(&[("counterfoil.toml", text)]);
        let ran = desk.run("config check");
        assert!(ran.code == 2 && ran.err.contains(expected), "{text}: {ran}");
    }
}

#[test]
fn what_is_shown_can_be_read_back() {
    let text = "[check]\nignore = [\"FK010\"]\n[rules]\nphantom-completion = \"warn\"\n\
        [tools.policy]\nenabled = true\n[[tools.policy.rules]]\neffect = \"deny\"\ntool = \"shell\"\n\
        args_match = \"rm\"\nmatch = [{ args = { command = \"rm \\\"a b\\\"\" } }]\n\
        [tools.dependencies.rules.\"a b\"]\nrequires = [\"c\"]\n";
    let desk = Desk::with(&[("a.toml", text)]);
    let shown = desk.run("config show --config a.toml").out;
    std::fs::write(desk.path().join("b.toml"), &shown).unwrap();
    let json = |file: &str| desk.run(&format!("config show --format json --config {file}"));
    let (a, b) = (json("a.toml"), json("b.toml"));
    assert_eq!((a.code, &a.out), (b.code, &b.out), "{shown}");
    assert_eq!(a.code, 0, "{a}");
}
