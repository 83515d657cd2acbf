//! Limits what a project's configuration file may set. Its author is not its user, so it may only
//! tighten settings, unless the user has trusted it.

use toml::{Table, Value};

use super::layer::at;
use crate::rule_names;

/// How a project's file may change a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    /// To any value: the key loosens nothing.
    Say,
    /// Not at all.
    NotSay,
    /// To a word further right than the one in force.
    Rise(&'static [&'static str]),
    /// To a smaller number. If not set, or set to this number, there is no limit.
    Shrink(Option<i64>),
    /// To a larger number.
    Grow,
    /// To `true`.
    TurnOn,
    /// To `false`.
    TurnOff,
    /// By adding entries.
    Add,
    /// By removing entries.
    Leave,
    /// By removing entries; to any entries if none are in force, because none means all.
    Restrict,
    /// By adding tables whose member of this name has one of these values, or is left out.
    AddTables(&'static str, &'static [&'static str]),
    /// By adding members with new names.
    AddNames,
    /// By setting members to a word further right than the one in force.
    RiseEach(&'static [&'static str]),
    /// By setting rules to a mode further right than the one in force.
    RaiseRules,
}

const TRUST: &[&str] = &["untrusted", "provisional", "trusted"];
const MODES: &[&str] = &["off", "shadow", "warn", "block"];
const DENY: &[&str] = &["deny"];

/// Every key, and how a project's file may change it. Any key not listed is reserved for the user.
pub(super) const KEYS: &[(&str, May)] = &[
    ("check.fail_on", May::Rise(&["never", "error", "warning", "note"])),
    ("check.severity", May::Rise(&["error", "warning", "note"])),
    ("check.format", May::Say),
    ("check.show_supported", May::Say),
    ("check.execution_window", May::Shrink(Some(0))),
    ("check.ignore", May::Leave),
    ("check.tools", May::NotSay),
    ("check.baseline", May::NotSay),
    ("judge.name", May::NotSay),
    ("judge.command", May::NotSay),
    ("judge.model", May::NotSay),
    ("judge.threshold", May::NotSay),
    ("judge.budget", May::NotSay),
    ("judge.concurrency", May::NotSay),
    ("judge.hooks", May::NotSay),
    ("judge.chat", May::NotSay),
    ("judge.proxy", May::NotSay),
    ("judge.timeout_secs", May::NotSay),
    ("judge.max_answers", May::NotSay),
    ("rules", May::RaiseRules),
    ("obligations", May::Add),
    ("tools.max_tool_calls_per_session", May::Shrink(None)),
    ("tools.executors", May::Say),
    ("tools.show_id", May::Say),
    ("tools.admission.coerce", May::TurnOff),
    ("tools.admission.resolve_names", May::TurnOff),
    ("tools.admission.corrections", May::Shrink(None)),
    ("tools.admission.longest_text", May::Shrink(None)),
    ("tools.admission.longest_text_of", May::NotSay),
    ("tools.fixation.nudge", May::Shrink(None)),
    ("tools.fixation.refuse", May::Shrink(None)),
    ("tools.fixation.streak", May::Shrink(None)),
    ("tools.fixation.window", May::NotSay),
    ("tools.fixation.pollers", May::Leave),
    ("tools.blocklist.blocked_commands", May::Add),
    ("tools.blocklist.substitution", May::Rise(&["analyse", "auto", "refuse"])),
    ("tools.blocklist.allow_network", May::TurnOff),
    ("tools.blocklist.sources", May::Leave),
    ("tools.blocklist.tools", May::NotSay),
    ("tools.protected.action", May::Rise(&["allow", "ask", "deny"])),
    ("tools.protected.paths", May::Add),
    ("tools.policy.enabled", May::TurnOn),
    ("tools.policy.default_effect", May::Rise(&["allow", "deny"])),
    ("tools.policy.rules", May::AddTables("effect", DENY)),
    ("tools.authorization.enabled", May::TurnOn),
    ("tools.authorization.rules", May::AddTables("effect", DENY)),
    ("tools.dependencies.enabled", May::TurnOn),
    ("tools.dependencies.boost_per_dep", May::Say),
    ("tools.dependencies.max_total_boost", May::Say),
    ("tools.dependencies.always_on", May::Leave),
    ("tools.dependencies.rules", May::AddNames),
    ("tools.trust.needs", May::RiseEach(TRUST)),
    ("tools.trust.below", May::Rise(&["ask", "deny"])),
    ("tools.trust.untrusted_results", May::Add),
    ("tools.trust.read_only_commands", May::Leave),
    ("tools.permissions.default", May::Rise(&["allow", "ask", "deny"])),
    ("tools.permissions.rules", May::AddTables("action", &["ask", "deny"])),
    ("tools.permissions.internal", May::Leave),
    ("tools.permissions.approval_secs", May::Shrink(None)),
    ("tools.utility.enabled", May::TurnOn),
    ("tools.utility.threshold", May::Grow),
    ("tools.utility.gain_weight", May::NotSay),
    ("tools.utility.cost_weight", May::NotSay),
    ("tools.utility.redundancy_weight", May::NotSay),
    ("tools.utility.exploration_bonus", May::NotSay),
    ("tools.utility.exempt_tools", May::Leave),
    ("tools.adversarial_policy.enabled", May::TurnOn),
    ("tools.adversarial_policy.fail_open", May::TurnOff),
    ("tools.adversarial_policy.policies", May::NotSay),
    ("tools.adversarial_policy.phase_policies", May::NotSay),
    ("tools.adversarial_policy.exempt_tools", May::Leave),
    ("tools.adversarial_policy.timeout_secs", May::NotSay),
    ("tools.adversarial_policy.url", May::NotSay),
    ("tools.adversarial_policy.model", May::NotSay),
    ("tools.adversarial_policy.api_key_env", May::NotSay),
    ("tools.adversarial_policy.provider", May::NotSay),
    ("tools.retry.max_attempts", May::Shrink(None)),
    ("tools.retry.base_ms", May::Say),
    ("tools.retry.max_ms", May::Say),
    ("tools.retry.budget_secs", May::Shrink(None)),
    ("tools.retry.parameter_reformat_provider", May::NotSay),
    ("tools.shell.timeout_secs", May::Shrink(None)),
    ("tools.shell.max_timeout_secs", May::Shrink(None)),
    ("tools.shell.background_secs", May::Shrink(None)),
    ("tools.shell.cpu_secs", May::Shrink(Some(0))),
    ("tools.shell.memory_mb", May::Shrink(Some(0))),
    ("tools.shell.max_processes", May::Shrink(Some(0))),
    ("tools.shell.file_mb", May::Shrink(Some(0))),
    ("tools.shell.max_output_chars", May::Say),
    ("tools.shell.max_recorded_chars", May::NotSay),
    ("tools.shell.transactional", May::NotSay),
    ("tools.shell.transaction_scope", May::NotSay),
    ("tools.shell.auto_rollback", May::NotSay),
    ("tools.shell.auto_rollback_exit_codes", May::NotSay),
    ("tools.shell.snapshot_required", May::NotSay),
    ("tools.shell.max_snapshot_bytes", May::NotSay),
    ("tools.shell.keep_snapshots", May::NotSay),
    ("tools.shell.pass_env", May::Leave),
    ("tools.shell.directories", May::Leave),
    ("tools.sandbox.profile", May::Rise(&["off", "network", "workspace", "read-only"])),
    ("tools.sandbox.strict", May::TurnOn),
    ("tools.sandbox.allow_unconfined", May::TurnOff),
    ("tools.sandbox.read_paths", May::Leave),
    ("tools.sandbox.write_paths", May::Leave),
    ("tools.sandbox.deny_read", May::Add),
    ("tools.sandbox.unix_sockets", May::TurnOff),
    ("tools.sandbox.bubblewrap", May::NotSay),
    ("tools.sandbox.run_as", May::NotSay),
    ("tools.file.deny_read", May::Add),
    ("tools.file.allow_read", May::Restrict),
    ("tools.file.deny_write", May::Add),
    ("tools.file.directories", May::Leave),
    ("tools.file.max_output_chars", May::Say),
    ("tools.web.deny_domains", May::Add),
    // Allowed domains are reached without asking.
    ("tools.web.allow_domains", May::Leave),
    ("tools.web.allow_unasked", May::TurnOff),
    ("tools.web.allow_unencrypted", May::TurnOff),
    ("tools.web.allow_private_hosts", May::Leave),
    ("tools.web.ports", May::Leave),
    ("tools.web.grounded_only", May::TurnOn),
    ("tools.web.timeout_secs", May::Shrink(None)),
    ("tools.web.max_bytes", May::Shrink(None)),
    ("tools.web.max_output_chars", May::Say),
    ("tools.web.ca_file", May::NotSay),
    ("tools.result_cache.enabled", May::TurnOff),
    ("tools.result_cache.ttl_secs", May::NotSay),
    ("tools.result_cache.max_bytes", May::Shrink(None)),
    ("tools.speculation.mode", May::NotSay),
    ("tools.speculation.max_in_flight", May::NotSay),
    ("tools.speculation.ttl_secs", May::NotSay),
    ("tools.speculation.max_wasted", May::NotSay),
    ("tools.speculation.pause_secs", May::NotSay),
    ("tools.filters.enabled", May::TurnOff),
    ("tools.filters.without", May::Add),
    ("tools.filters.own", May::NotSay),
    ("tools.overflow.max_chars", May::Say),
    ("ledger.durability", May::NotSay),
    ("ledger.group_ms", May::NotSay),
    ("ledger.url", May::NotSay),
    ("ledger.password_file", May::NotSay),
    ("ledger.key", May::NotSay),
    ("ledger.keep_events_days", May::NotSay),
    ("ledger.keep_results_days", May::NotSay),
    ("ledger.keep_results_mb", May::NotSay),
    ("audit.on_failure", May::Rise(&["continue", "deny"])),
    ("audit.durability", May::NotSay),
    ("audit.rotate_bytes", May::NotSay),
    ("tools.tafc.enabled", May::Say),
    ("tools.tafc.complexity_threshold", May::Say),
    ("agent.provider", May::NotSay),
    ("agent.compress_provider", May::NotSay),
    ("agent.compress_at", May::Say),
    ("agent.max_steps", May::Shrink(None)),
    ("agent.max_retries", May::Say),
    ("agent.hold_back", May::Rise(&["error", "warning"])),
    ("agent.instructions", May::NotSay),
    ("agent.hallucination_detection", May::TurnOn),
    ("agent.reasoning_model_detection", May::TurnOn),
    ("agent.skill_paths", May::NotSay),
    ("agent.tool_filter.enabled", May::Say),
    ("agent.tool_filter.top_k", May::Say),
    ("agent.tool_filter.min_description_words", May::Say),
    ("agent.tool_filter.always_on", May::Say),
    ("llm.providers", May::NotSay),
    ("mcp.redact_results", May::TurnOn),
    ("mcp.hold_changes", May::TurnOn),
    ("mcp.listen.hosts", May::NotSay),
    ("mcp.listen.origins", May::NotSay),
    ("mcp.listen.token_env", May::NotSay),
    ("mcp.listen.allow_anyone", May::TurnOff),
    ("mcp.listen.requests_per_minute", May::Shrink(None)),
    ("mcp.listen.max_body_bytes", May::Shrink(None)),
    ("mcp.listen.max_sessions", May::Shrink(None)),
    ("mcp.listen.idle_secs", May::Shrink(None)),
    ("mcp.servers", May::NotSay),
    ("proxy.mode", May::Rise(&["observe", "annotate", "correct", "block"])),
    ("proxy.least", May::Rise(&["error", "warning"])),
    ("proxy.openai_url", May::NotSay),
    ("proxy.anthropic_url", May::NotSay),
    ("proxy.allow_http", May::TurnOff),
    ("proxy.max_corrections", May::Shrink(None)),
    ("proxy.correction_secs", May::Shrink(None)),
    ("proxy.verify_ms", May::NotSay),
    ("proxy.on_timeout", May::NotSay),
    ("proxy.pin_tools", May::NotSay),
    ("proxy.timeout_secs", May::NotSay),
    ("proxy.max_body_bytes", May::Shrink(None)),
    ("proxy.max_held_bytes", May::NotSay),
    ("proxy.max_sessions", May::NotSay),
    ("proxy.idle_secs", May::NotSay),
    ("proxy.paths", May::NotSay),
    ("proxy.requests_per_minute", May::Shrink(None)),
    ("proxy.hosts", May::NotSay),
    ("proxy.origins", May::NotSay),
    ("proxy.token_env", May::NotSay),
    ("proxy.allow_anyone", May::TurnOff),
    ("proxy.tls_cert", May::NotSay),
    ("proxy.tls_key", May::NotSay),
    ("proxy.keys", May::NotSay),
    ("hooks.stop", May::Rise(&["off", "warn", "block"])),
    ("hooks.blocks_in_a_row", May::Grow),
    ("hooks.on_failure", May::Rise(&["open", "ask", "closed"])),
    ("hooks.undo", May::TurnOn),
    ("hooks.without_questions", May::Rise(&["ask", "protect", "deny"])),
    ("hooks.time_limit_ms", May::NotSay),
    ("hooks.block_network_commands", May::TurnOn),
    ("hooks.ask_irreversible", May::TurnOn),
];

/// Returns the permitted part of a project's file, given what is in force without it, and the keys
/// of which something was removed.
pub(super) fn narrowed(says: &Table, in_force: &Table) -> (Table, Vec<String>) {
    let (mut kept, mut refused) = (Table::new(), Vec::new());
    section(says, &mut Vec::new(), in_force, &mut kept, &mut refused);
    (kept, refused)
}

fn section<'s>(
    says: &'s Table,
    path: &mut Vec<&'s str>,
    in_force: &Table,
    kept: &mut Table,
    refused: &mut Vec<String>,
) {
    for (key, value) in says {
        path.push(key);
        let name = path.join(".");
        let known = KEYS.iter().find(|(known, _)| *known == name).map(|(_, may)| *may);
        let is_section = KEYS
            .iter()
            .any(|(known, _)| known.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.')));
        match (known, value) {
            (None, Value::Table(inner)) if is_section => {
                let mut below = Table::new();
                section(inner, path, in_force, &mut below, refused);
                if !below.is_empty() {
                    kept.insert(key.clone(), Value::Table(below));
                }
            }
            _ => {
                let may = known.unwrap_or(May::NotSay);
                let (left, whole) = allowed(may, value, at(in_force, path));
                if let Some(left) = left {
                    kept.insert(key.clone(), left);
                }
                if !whole {
                    refused.push(name);
                }
            }
        }
        path.pop();
    }
}

/// Returns the permitted part of a value, and whether that is all of it. `now` is the value in
/// force.
fn allowed(may: May, value: &Value, now: Option<&Value>) -> (Option<Value>, bool) {
    let all_or_nothing = |is: bool| (is.then(|| value.clone()), is);
    // Repeating the value in force changes nothing.
    if now == Some(value) {
        return (None, true);
    }
    match may {
        May::Say => all_or_nothing(true),
        May::NotSay => all_or_nothing(false),
        May::TurnOn => all_or_nothing(value.as_bool() == Some(true)),
        May::TurnOff => all_or_nothing(value.as_bool() == Some(false)),
        May::Rise(order) => all_or_nothing(rank(order, Some(value)) > rank(order, now)),
        May::Shrink(unlimited) => all_or_nothing(shrinks(value, now, unlimited)),
        May::Grow => all_or_nothing(number(value) > now.and_then(number)),
        May::Add => added(value, now, |_| true),
        May::AddTables(member, values) => added(value, now, |entry| {
            // If the member may be left out, its default is the strictest value.
            let word = entry.get(member).map(Value::as_str);
            word.is_none_or(|word| word.is_some_and(|word| values.contains(&word)))
        }),
        May::Leave => left(value, now),
        May::Restrict if now.and_then(Value::as_array).is_none_or(Vec::is_empty) => {
            all_or_nothing(value.as_array().is_some_and(|list| !list.is_empty()))
        }
        May::Restrict => left(value, now),
        May::AddNames => members(value, now, |_, _, now| now.is_none()),
        May::RiseEach(order) => members(value, now, |_, value, now| {
            // A member that is not set may count as the second word, so a new one must exceed it.
            rank(order, Some(value)) > now.map_or(Some(1), |now| rank(order, Some(now)))
        }),
        May::RaiseRules => raised(value, now),
    }
}

fn rank(order: &[&str], value: Option<&Value>) -> Option<usize> {
    let word = value?.as_str()?;
    order.iter().position(|known| *known == word)
}

#[expect(clippy::cast_precision_loss, reason = "limits are far below 2^52")]
fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}

fn shrinks(value: &Value, now: Option<&Value>, unlimited: Option<i64>) -> bool {
    let is_limit = |value: &&Value| value.as_integer() != unlimited || unlimited.is_none();
    let Some(wanted) = Some(value).filter(is_limit).and_then(number) else { return false };
    wanted >= 0.0 && now.filter(is_limit).and_then(number).is_none_or(|now| wanted < now)
}

/// Returns the list in force with the permitted additions.
fn added(
    value: &Value,
    now: Option<&Value>,
    may: impl Fn(&Value) -> bool,
) -> (Option<Value>, bool) {
    let Some(wanted) = value.as_array() else { return (None, false) };
    let mut list = now.and_then(Value::as_array).cloned().unwrap_or_default();
    let (before, mut whole) = (list.len(), true);
    for entry in wanted {
        if list.contains(entry) {
            continue;
        }
        if may(entry) {
            list.push(entry.clone());
        } else {
            whole = false;
        }
    }
    ((list.len() > before).then_some(Value::Array(list)), whole)
}

/// Returns the entries in force that the value also names.
fn left(value: &Value, now: Option<&Value>) -> (Option<Value>, bool) {
    let Some(wanted) = value.as_array() else { return (None, false) };
    let now = now.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let kept: Vec<Value> = now.iter().filter(|entry| wanted.contains(entry)).cloned().collect();
    (Some(Value::Array(kept)), wanted.iter().all(|entry| now.contains(entry)))
}

fn members(
    value: &Value,
    now: Option<&Value>,
    may: impl Fn(&str, &Value, Option<&Value>) -> bool,
) -> (Option<Value>, bool) {
    let Some(wanted) = value.as_table() else { return (None, false) };
    let now = now.and_then(Value::as_table);
    let (mut kept, mut whole) = (Table::new(), true);
    for (name, value) in wanted {
        let there = now.and_then(|now| now.get(name));
        if there == Some(value) {
            continue;
        }
        if may(name, value, there) {
            kept.insert(name.clone(), value.clone());
        } else {
            whole = false;
        }
    }
    ((!kept.is_empty()).then_some(Value::Table(kept)), whole)
}

/// Returns the rule modes that are stricter than those in force; rules may be named by code or
/// name.
fn raised(value: &Value, now: Option<&Value>) -> (Option<Value>, bool) {
    let Some(wanted) = value.as_table() else { return (None, false) };
    let now = now.and_then(Value::as_table);
    let (mut kept, mut whole) = (Table::new(), true);
    for (word, value) in wanted {
        let Ok(meta) = rule_names::find(word) else { continue };
        let same = |word: &str| rule_names::find(word).is_ok_and(|other| other.code == meta.code);
        let there = now.and_then(|now| now.iter().find(|(word, _)| same(word)));
        let own = Value::String(meta.mode.name().to_owned());
        let (word, before) = there.map_or((word, &own), |(word, mode)| (word, mode));
        let (wanted, before) = (rank(MODES, Some(value)), rank(MODES, Some(before)));
        if wanted > before {
            kept.insert(word.clone(), value.clone());
        }
        whole &= wanted >= before;
    }
    ((!kept.is_empty()).then_some(Value::Table(kept)), whole)
}

#[cfg(feature = "guard")]
#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::super::schema::{Node, schema};
    use super::*;

    /// Returns the permitted part, as TOML, given the defaults and a user's file.
    fn left_of(project: &str, user: &str) -> (Table, Vec<String>) {
        let user: Table = user.parse().unwrap();
        let defaults = Table::try_from(Options::default()).unwrap();
        let layers =
            [user, defaults].map(|says| super::super::layer::Layer { name: String::new(), says });
        narrowed(&project.parse().unwrap(), &super::super::layer::merged(&layers))
    }

    /// The wording in the docs.
    fn wording(may: May) -> &'static str {
        match may {
            May::Say => "anything",
            May::NotSay => "nothing",
            May::Rise(_) | May::RiseEach(_) | May::RaiseRules => "a stricter value",
            May::Shrink(_) => "a lower value",
            May::Grow => "a higher value",
            May::TurnOn => "`true`",
            May::TurnOff => "`false`",
            May::Add => "more entries",
            May::Leave | May::Restrict => "fewer entries",
            May::AddTables(..) => "more rules that deny or ask",
            May::AddNames => "entries with new names",
        }
    }

    #[test]
    fn the_page_says_of_each_key_what_a_project_may_say() {
        let rows = KEYS.iter().map(|(key, may)| format!("| `{key}` | {} |\n", wording(*may)));
        let table =
            format!("| key | a project's file may set |\n|---|---|\n{}", rows.collect::<String>());
        let page = include_str!("../../../../docs/configuration.md");
        assert!(page.contains(&table), "the table on docs/configuration.md should be\n\n{table}");
    }

    #[test]
    fn every_key_says_who_may_set_it() {
        let schema = schema();
        let leaves: Vec<String> =
            Node::root(&schema).leaves().iter().map(|(path, _)| path.join(".")).collect();
        let known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        let missing: Vec<_> = leaves.iter().filter(|key| !known.contains(&key.as_str())).collect();
        let gone: Vec<_> = known.iter().filter(|key| !leaves.iter().any(|k| k == *key)).collect();
        assert!(missing.is_empty() && gone.is_empty(), "missing {missing:?}, gone {gone:?}");
    }

    /// A project's file, its user's file, the permitted part of the project's, and whether any of
    /// it is reported as ignored.
    const NARROWED: &[(&str, &str, &str, bool)] = &[
        ("hooks.stop = 'off'", "", "", true),
        ("hooks.stop = 'block'", "hooks.stop = 'warn'", "hooks.stop = 'block'", false),
        ("hooks.time_limit_ms = 100", "", "", true),
        ("mcp.hold_changes = true", "", "mcp.hold_changes = true", false),
        ("mcp.hold_changes = false", "mcp.hold_changes = true", "", true),
        ("tools.sandbox.bubblewrap = '/tmp/x'", "", "", true),
        ("tools.sandbox.profile = 'off'", "", "", true),
        ("tools.sandbox.profile = 'read-only'", "", "tools.sandbox.profile = 'read-only'", false),
        ("tools.sandbox.write_paths = ['/']", "", "tools.sandbox.write_paths = []", true),
        (
            "tools.sandbox.deny_read = ['x']",
            "tools.sandbox.deny_read = ['y']",
            "tools.sandbox.deny_read = ['y', 'x']",
            false,
        ),
        ("tools.sandbox.deny_read = []", "tools.sandbox.deny_read = ['y']", "", false),
        (
            "tools.blocklist.blocked_commands = []",
            "tools.blocklist.blocked_commands = ['a']",
            "",
            false,
        ),
        ("tools.blocklist.allow_network = true", "", "", true),
        ("tools.adversarial_policy.url = 'http://x'", "", "", true),
        ("tools.shell.cpu_secs = 0", "", "", true),
        ("tools.shell.cpu_secs = 5", "", "tools.shell.cpu_secs = 5", false),
        ("tools.shell.cpu_secs = 5", "tools.shell.cpu_secs = 0", "tools.shell.cpu_secs = 5", false),
        ("tools.max_tool_calls_per_session = 9", "", "tools.max_tool_calls_per_session = 9", false),
        ("tools.max_tool_calls_per_session = 9", "tools.max_tool_calls_per_session = 3", "", true),
        (
            "tools.policy.rules = [{effect='allow',tool='*'}, {effect='deny',tool='a'}]",
            "tools.policy.rules = [{effect='deny',tool='b'}]",
            "tools.policy.rules = [{effect='deny',tool='b'}, {effect='deny',tool='a'}]",
            true,
        ),
        (
            "tools.permissions.rules = []",
            "tools.permissions.rules = [{tool='a',action='deny'}]",
            "",
            false,
        ),
        (
            "tools.trust.needs = {a='untrusted', b='trusted'}",
            "",
            "tools.trust.needs = {b='trusted'}",
            true,
        ),
        (
            "tools.trust.read_only_commands = ['cat', 'rm']",
            "",
            "tools.trust.read_only_commands = ['cat']",
            true,
        ),
        ("tools.file.allow_read = ['src/**']", "", "tools.file.allow_read = ['src/**']", false),
        (
            "tools.file.allow_read = ['**']",
            "tools.file.allow_read = ['src/**']",
            "tools.file.allow_read = []",
            true,
        ),
        ("rules.CS016 = 'off'", "", "", true),
        ("rules.unverified-outcome = 'off'", "rules.CS016 = 'warn'", "", true),
        ("rules.CS016 = 'block'", "rules.CS016 = 'warn'", "rules.CS016 = 'block'", false),
        ("check.ignore = ['CS016']", "", "check.ignore = []", true),
        (
            "obligations = [{after='edit', needs='passing test'}]",
            "",
            "obligations = [{after='edit', needs='passing test'}]",
            false,
        ),
    ];

    #[test]
    fn a_project_only_narrows() {
        for (project, user, expected, refused) in NARROWED {
            let (kept, left_out) = left_of(project, user);
            assert_eq!(kept, expected.parse::<Table>().unwrap(), "{project} beside {user}");
            assert_eq!(!left_out.is_empty(), *refused, "{project} beside {user}: {left_out:?}");
        }
    }
}
