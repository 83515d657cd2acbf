use counterfoil_model::{Problem, in_plain_words};
use toml::Table;
use toml::de::{DeTable, DeValue};

use counterfoil_rules::ObligationError;

use super::options::Options;
use super::schema::{Node, schema};
use super::unbuilt;
#[cfg(feature = "guard")]
use super::usable::usable;
use crate::rule_names;
use crate::suggest::did_you_mean;

/// Reads a configuration file. Unknown keys and rules are errors, and so are keys that have no
/// effect here: a setting without effect is worse than none.
pub(super) fn read(text: &str) -> Result<Table, Problem> {
    let at = |offset: usize| 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
    let syntax = |error: toml::de::Error| {
        let line = error.span().map_or(0, |span| at(span.start));
        let what = in_plain_words(&error.message().trim_end().replace('\n', ", "));
        let what = what.replace("an object", "a table").replace("wanted", "expected");
        Problem::at(line, what)
    };
    let table = DeTable::parse(text).map_err(syntax)?;
    let placed = |wrong: Problem| Problem { line: at(wrong.line), ..wrong };
    known_keys(table.get_ref(), "", Node::root(&schema())).map_err(placed)?;
    rules_exist(table.get_ref()).map_err(placed)?;
    let options: Options = toml::from_str(text).map_err(syntax)?;
    obligations_make_sense(table.get_ref(), &options).map_err(placed)?;
    #[cfg(feature = "guard")]
    usable(&options, table.get_ref()).map_err(placed)?;
    are_numbers("", table.get_ref()).map_err(placed)?;
    text.parse().map_err(syntax)
}

/// The only option that may be `nan` or infinite, which counts as its default.
const MAY_BE_INVALID: &str = "tools.tafc.complexity_threshold";

/// Reports the first `nan` or infinite number, which no other option can use.
fn are_numbers(section: &str, table: &DeTable<'_>) -> Result<(), Problem> {
    table.iter().try_for_each(|(name, value)| {
        let key = format!("{section}{}", name.get_ref());
        match value.get_ref() {
            DeValue::Float(number) if number.as_str().contains('n') && key != MAY_BE_INVALID => {
                let what = format!("{key} is `{}`, which is not a number", number.as_str());
                Err(Problem::at(name.span().start, what))
            }
            DeValue::Table(inner) => are_numbers(&format!("{key}."), inner),
            _ => Ok(()),
        }
    })
}

/// Reports the first invalid obligation, with its position.
fn obligations_make_sense(table: &DeTable<'_>, options: &Options) -> Result<(), Problem> {
    for (at, obligation) in options.obligations.iter().enumerate() {
        let Err(wrong) = obligation.checked() else { continue };
        let list = table.get("obligations").and_then(|list| list.get_ref().as_array());
        let offset = list.and_then(|list| list.get(at)).map_or(0, |one| one.span().start);
        let help = match wrong {
            ObligationError::NoTrigger => "for example `after = \"edit\"` or `before = \"refund\"`",
            ObligationError::UnknownAction(_) => {
                "use `edit`, `look-up`, `passing test`, or a kind of action such as `refund` or \
                 `deploy`"
            }
            ObligationError::PathsWithoutFiles(_) => "omit `paths`",
        };
        return Err(Problem::at(offset, wrong.to_string()).with_help(help));
    }
    Ok(())
}

/// Reports the first key that is not in the schema. Here the problem's line is a byte offset.
fn known_keys(table: &DeTable<'_>, section: &str, node: Node<'_>) -> Result<(), Problem> {
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let path = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        let Some(inner) = node.get(name) else {
            return Err(unknown(key.span().start, section, name, node));
        };
        known_values(value.get_ref(), &path, inner)?;
    }
    Ok(())
}

fn known_values(value: &DeValue<'_>, path: &str, node: Node<'_>) -> Result<(), Problem> {
    match (value, node.items()) {
        (DeValue::Table(table), _) if node.keys().next().is_some() => known_keys(table, path, node),
        (DeValue::Table(map), _) => map.iter().try_for_each(|(key, value)| {
            let inner = node.get(key.get_ref());
            inner.map_or(Ok(()), |inner| {
                known_values(value.get_ref(), &format!("{path}.{}", key.get_ref()), inner)
            })
        }),
        (DeValue::Array(values), Some(item)) => {
            values.iter().try_for_each(|value| known_values(value.get_ref(), path, item))
        }
        _ => Ok(()),
    }
}

/// Describes the problem with a key. `node` is its section.
fn unknown(offset: usize, section: &str, name: &str, node: Node<'_>) -> Problem {
    let path = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
    if let Some(advice) = unbuilt::advice(&path) {
        let problem = Problem::at(offset, format!("`{path}` has no effect in this build"));
        return problem.with_help(advice);
    }
    let known: Vec<&str> = node.keys().map(|(key, _)| key).collect();
    let elsewhere = unbuilt::all().filter_map(|path| path.strip_prefix(section)?.strip_prefix('.'));
    let place = if section.is_empty() { String::new() } else { format!(" in [{section}]") };
    let help = did_you_mean(name, known.iter().copied().chain(elsewhere)).unwrap_or_else(|| {
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        format!("known keys: {}", known.join(", "))
    });
    Problem::at(offset, format!("unknown key `{name}`{place}")).with_help(help)
}

/// Reports the first rule in `[rules]` or `check.ignore` that does not exist.
fn rules_exist(table: &DeTable<'_>) -> Result<(), Problem> {
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (section, value) in table {
        let DeValue::Table(inner) = value.get_ref() else { continue };
        for (key, value) in inner {
            match (section.get_ref().as_ref(), key.get_ref().as_ref(), value.get_ref()) {
                ("rules", rule, _) => words.push((key.span().start, rule)),
                ("check", "ignore", DeValue::Array(rules)) => {
                    words.extend(rules.iter().filter_map(|rule| match rule.get_ref() {
                        DeValue::String(name) => Some((rule.span().start, name.as_ref())),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    for (offset, word) in words {
        rule_names::find(word).map_err(|wrong| Problem {
            help: wrong.advice().map(str::to_owned),
            ..Problem::at(offset, wrong.to_string())
        })?;
    }
    Ok(())
}

#[cfg(feature = "guard")]
#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: usize, message: &str, help: Option<&str>) {
        let wrong = read(text).unwrap_err();
        assert_eq!(
            (wrong.line, wrong.message.as_str(), wrong.help.as_deref()),
            (line, message, help)
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        check(
            "[check]\nfail_onn = \"error\"\n",
            2,
            "unknown key `fail_onn` in [check]",
            Some("did you mean `fail_on`?"),
        );
        check("\n[chekc]\n", 2, "unknown key `chekc`", Some("did you mean `check`?"));
        check(
            "[nonsense]\n",
            1,
            "unknown key `nonsense`",
            Some(
                "known keys: `check`, `judge`, `rules`, `tools`, `ledger`, `audit`, `hooks`, \
                 `agent`, `llm`, `mcp`, `proxy`, `obligations`",
            ),
        );
        check(
            "[rules]\nUNKNOWN_TOOLS = \"warn\"\n",
            2,
            "unknown rule `UNKNOWN_TOOLS`",
            Some("did you mean `UNKNOWN_TOOL`?"),
        );
        check(
            "[check]\nignore = [\n  \"UNKNOWN_TOOL\",\n  \"nothing\",\n]\n",
            4,
            "unknown rule `nothing`",
            Some("`counterfoil rules` lists all rules"),
        );
        check(
            "[check]\n\nseverity = \"fatal\"\n",
            3,
            "unknown value `fatal`, expected one of `note`, `warning`, `error`",
            None,
        );
    }

    #[test]
    fn values_of_the_wrong_kind_are_named_in_plain_words() {
        for (text, message) in [
            (
                "[agent]\nmax_steps = \"many\"\n",
                "found string \"many\", expected a whole number, 0 or more",
            ),
            ("[mcp]\nservers = []\n", "found a list, expected a table"),
            ("[check]\nfail_on = 3\n", "expected string or table"),
            ("[judge]\nthreshold = nan\n", "judge.threshold is `nan`, which is not a number"),
            ("[judge]\nthreshold = -inf\n", "judge.threshold is `-inf`, which is not a number"),
        ] {
            check(text, 2, message, None);
        }
    }

    #[test]
    fn keys_without_effect_say_so() {
        for (text, line, path) in [
            ("\n[agent]\n\nmax_retry_duration_secs = 1\n", 4, "`agent.max_retry_duration_secs`"),
            ("[agent]\nmax_tool_retries = 2\n", 2, "`agent.max_tool_retries`"),
        ] {
            let wrong = read(text).unwrap_err();
            let expected = format!("{path} has no effect in this build");
            assert_eq!((wrong.line, wrong.message), (line, expected), "{text}");
            assert!(wrong.help.is_some(), "{text}");
        }
        check(
            "[agent]\nmax_tool_retrys = 2\n",
            2,
            "unknown key `max_tool_retrys` in [agent]",
            Some("did you mean `max_tool_retries`?"),
        );
    }

    #[test]
    fn obligations_are_read_and_checked() {
        let text =
            "[[obligations]]\nafter = \"edit\"\npaths = [\"*.rs\"]\nneeds = \"passing test\"\n";
        let read = toml::from_str::<Options>(text).unwrap().obligations;
        assert!(super::read(text).is_ok());
        let expected = counterfoil_rules::Obligation::new(
            Some("edit"),
            None,
            vec!["*.rs".to_owned()],
            "passing test",
        );
        assert_eq!(
            read.iter().map(|o| o.checked().unwrap()).collect::<Vec<_>>(),
            [expected.unwrap()]
        );
        check(
            "[check]\n\n[[obligations]]\nafter = \"dance\"\nneeds = \"test\"\n",
            3,
            "`dance` is not a kind of action",
            Some(
                "use `edit`, `look-up`, `passing test`, or a kind of action such as `refund` or \
                 `deploy`",
            ),
        );
        check(
            "[[obligations]]\nneeds = \"test\"\n",
            1,
            "an obligation needs either `after` or `before`",
            Some("for example `after = \"edit\"` or `before = \"refund\"`"),
        );
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(read("").unwrap(), Table::new());
    }

    #[test]
    fn the_published_schema_is_current() {
        let published = include_str!("../../../../schemas/counterfoil.schema.json");
        let expected = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        assert!(
            published == expected,
            "run `counterfoil config schema > schemas/counterfoil.schema.json`"
        );
    }
}
