use counterfoil_guard::GuardOptionsError;
use counterfoil_model::Problem;
use toml::de::{DeTable, DeValue};

use super::options::Options;

/// Reports options that the guard cannot use. Here the problem's line is a byte offset.
pub(super) fn usable(options: &Options, table: &DeTable<'_>) -> Result<(), Problem> {
    if let Err(wrong) = options.hooks.resolve() {
        return Err(Problem::at(offset_of(table, wrong.key()), wrong.to_string()));
    }
    if let Err(wrong) = options.agent.checked() {
        return Err(Problem::at(offset_of(table, &wrong.key()), wrong.to_string()));
    }
    for (name, server) in &options.mcp.servers {
        if let Some((key, why)) = server.misplaced() {
            let key = format!("mcp.servers.{name}.{key}");
            return Err(Problem::at(offset_of(table, &key), format!("{key} {why}")));
        }
    }
    let Err(wrong) = options.guard().resolve() else { return Ok(()) };
    let problem = Problem::at(offset_of(table, wrong.key()), plain(&wrong));
    Err(match &wrong {
        GuardOptionsError::Policy(rule) => problem.with_help(rule.help()),
        _ => problem,
    })
}

/// Returns the message. A policy rule's own message already names the rule.
fn plain(wrong: &GuardOptionsError) -> String {
    match wrong {
        GuardOptionsError::Policy(rule) => rule.to_string(),
        other => other.to_string(),
    }
}

/// Returns the byte offset of a key such as `tools.policy.rules[3].match[0]`, or of its nearest
/// parent.
pub(super) fn offset_of(table: &DeTable<'_>, key: &str) -> usize {
    let mut names = key.split('.').flat_map(|part| {
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        std::iter::once(Step::Key(name)).chain(index.map(Step::At))
    });
    let Some(Step::Key(first)) = names.next() else { return 0 };
    let Some((first, mut value)) = table.get_key_value(first) else { return 0 };
    let mut offset = first.span().start;
    for step in names {
        let inner = match (step, value.get_ref()) {
            (Step::Key(name), DeValue::Table(table)) => {
                table.get_key_value(name).map(|(key, value)| (key.span().start, value))
            }
            (Step::At(at), DeValue::Array(values)) => {
                values.get(at).map(|value| (value.span().start, value))
            }
            _ => None,
        };
        let Some((at, next)) = inner else { break };
        (offset, value) = (at, next);
    }
    offset
}

enum Step<'k> {
    Key(&'k str),
    At(usize),
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    #[track_caller]
    fn check(text: &str, line: usize, message: &str) {
        let wrong = read(text).unwrap_err();
        assert_eq!((wrong.line, wrong.message.as_str()), (line, message));
    }

    #[test]
    fn what_is_wrong_with_a_rule_is_named_with_its_line() {
        let rules = "[tools.policy]\nenabled = true\n\n[[tools.policy.rules]]\neffect = \"deny\"\n\
                     tool = \"a\"\n\n[[tools.policy.rules]]\nname = \"b\"\neffect = \"deny\"\n";
        check(
            &format!("{rules}tool = \"[\"\n"),
            11,
            "b: tool: `[` is not a valid pattern: unclosed character class; missing ']'",
        );
        check(
            &format!(
                "{rules}tool = \"b\"\nmatch = [\n  {{ args = {{}} }},\n  {{ tool = \"c\" }},\n]\n"
            ),
            14,
            "b: match[1] should match, but the rule does not cover `c {}`",
        );
        check(
            "\n[tools.permissions]\napproval_secs = 0\n",
            2,
            "tools.permissions.approval_secs is 0, so every approval would expire immediately",
        );
        check(
            "[agent]\nmax_steps = 3\ncompress_at = nan\n",
            3,
            "agent.compress_at is NaN; it must be between 0.1 and 1",
        );
    }

    #[test]
    fn what_is_for_the_other_kind_of_server_is_named_with_its_line() {
        let elsewhere = "is only for servers with `command`; one with `url` runs elsewhere";
        for (server, key, value, why) in [
            ("url = 'https://x'", "sandbox", "'workspace'", elsewhere),
            ("url = 'https://x'", "env", "{ A = 'b' }", elsewhere),
            ("url = 'https://x'", "folder", "'x'", elsewhere),
            ("command = ['x']", "headers", "{ A = 'b' }", "is only for servers with `url`"),
        ] {
            let text = format!("[mcp.servers.x]\n{server}\n{key} = {value}\n");
            check(&text, 3, &format!("mcp.servers.x.{key} {why}"));
        }
        read("[mcp.servers.x]\nurl = 'https://x'\nsandbox = 'off'\n").unwrap();
    }
}
