//! Environment variables in a server's settings.

/// A `${…}` that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// It has no end.
    #[error("`{0}` has no closing brace; write `${{NAME}}`")]
    Unclosed(String),
    /// It is not the name of a variable.
    #[error(
        "`${{{0}}}` is not an environment variable; only `${{NAME}}` is supported, without a \
         default or other operators"
    )]
    NotAName(String),
}

/// Replaces each `${NAME}` in a text with the value of the variable. Names without a value are
/// added to `unset`.
///
/// # Errors
/// When a `${` is not followed by a name and `}`.
pub fn with_variables(
    text: &str,
    value_of: &dyn Fn(&str) -> Option<String>,
    unset: &mut Vec<String>,
) -> Result<String, VariableError> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, opened)) = rest.split_once("${") {
        let Some((name, after)) = opened.split_once('}') else {
            return Err(VariableError::Unclosed(format!("${{{opened}")));
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_numeric())
        {
            return Err(VariableError::NotAName(name.to_owned()));
        }
        filled.push_str(before);
        match value_of(name) {
            Some(value) => filled.push_str(&value),
            None if unset.iter().any(|known| known == name) => {}
            None => unset.push(name.to_owned()),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The message about variables that are not set.
#[must_use]
pub fn not_set(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [one] => format!("the environment variable {one} is not set"),
        all => format!("the environment variables {} are not set", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_unset_ones_are_named() {
        let value_of = |name: &str| (name == "TOKEN").then(|| "t${A}".to_owned());
        let mut unset = Vec::new();
        let mut filled = |text: &str| with_variables(text, &value_of, &mut unset);
        assert_eq!(filled("Bearer ${TOKEN}.${A}${B}${A}"), Ok("Bearer t${A}.".to_owned()));
        assert_eq!(filled("costs $5 {x}"), Ok("costs $5 {x}".to_owned()));
        assert_eq!(filled("a${TOKEN"), Err(VariableError::Unclosed("${TOKEN".to_owned())));
        for odd in ["TOKEN:-x", "", "1A", "A B"] {
            let text = format!("a${{{odd}}}");
            assert_eq!(filled(&text), Err(VariableError::NotAName(odd.to_owned())));
        }
        assert_eq!(unset, ["A", "B"]);
        assert_eq!(not_set(&unset), "the environment variables `A`, `B` are not set");
        let message = VariableError::NotAName("A:-x".to_owned()).to_string();
        assert!(
            message.starts_with("`${A:-x}` is not an environment variable; only `${NAME}`"),
            "{message}"
        );
    }
}
