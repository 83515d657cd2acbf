use countersign_model::Problem;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::options::Options;
use crate::rule_names;
use crate::suggest::did_you_mean;

/// The schema of a configuration file.
pub(crate) fn schema() -> Value {
    schemars::schema_for!(Options).to_value()
}

/// Reads a configuration file. Keys and rules that nobody knows are errors: a setting without
/// effect is worse than none.
pub(crate) fn read(text: &str) -> Result<Options, Problem> {
    let at = |offset: usize| 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
    let syntax = |error: toml::de::Error| {
        let line = error.span().map_or(0, |span| at(span.start));
        Problem::at(line, error.message().trim_end().replace('\n', ", "))
    };
    let table = DeTable::parse(text).map_err(syntax)?;
    let schema = schema();
    known_keys(table.get_ref(), "", &schema, &schema)
        .map_err(|wrong| Problem { line: at(wrong.line), ..wrong })?;
    rules_exist(table.get_ref()).map_err(|wrong| Problem { line: at(wrong.line), ..wrong })?;
    toml::from_str(text).map_err(syntax)
}

/// The first key that the schema does not name. The problem's line is a byte offset here.
fn known_keys(
    table: &DeTable<'_>,
    section: &str,
    node: &Value,
    root: &Value,
) -> Result<(), Problem> {
    let Some(properties) = node.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let Some(inner) = properties.get(name) else {
            let place = if section.is_empty() { String::new() } else { format!(" in [{section}]") };
            let known = properties.keys().map(String::as_str);
            let help = did_you_mean(name, known.clone()).unwrap_or_else(|| {
                let known: Vec<String> = known.map(|key| format!("`{key}`")).collect();
                format!("known here are {}", known.join(", "))
            });
            let problem = Problem::at(key.span().start, format!("unknown key `{name}`{place}"));
            return Err(problem.with_help(help));
        };
        if let DeValue::Table(inner_table) = value.get_ref() {
            let inner = inner
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|reference| root.pointer(reference.trim_start_matches('#')))
                .unwrap_or(inner);
            let section =
                if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
            known_keys(inner_table, &section, inner, root)?;
        }
    }
    Ok(())
}

/// The first rule that does not exist, in `[rules]` or `check.ignore`.
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
        check("[tools.shell]\n", 1, "unknown key `tools`", Some("known here are `check`, `rules`"));
        check(
            "[rules]\nUNKNOWN_TOOLS = \"warn\"\n",
            2,
            "there is no rule `UNKNOWN_TOOLS`",
            Some("did you mean `UNKNOWN_TOOL`?"),
        );
        check(
            "[check]\nignore = [\n  \"UNKNOWN_TOOL\",\n  \"nothing\",\n]\n",
            4,
            "there is no rule `nothing`",
            Some("`countersign rules` lists all of them"),
        );
        check(
            "[check]\n\nseverity = \"fatal\"\n",
            3,
            "unknown variant `fatal`, expected one of `note`, `warning`, `error`",
            None,
        );
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(read("").unwrap(), Options::default());
    }

    #[test]
    fn the_published_schema_is_current() {
        let published = include_str!("../../../../schemas/countersign.schema.json");
        let expected = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        assert!(
            published == expected,
            "run `countersign config schema > schemas/countersign.schema.json`"
        );
    }
}
