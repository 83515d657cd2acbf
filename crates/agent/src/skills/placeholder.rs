//! One argument of a command, with `{placeholders}` for parameters.

/// An argument as it is written; `{{` and `}}` are braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
}

/// A brace that begins or ends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StrayBrace;

impl Template {
    pub(super) fn read(text: &str) -> Result<Self, StrayBrace> {
        let (mut pieces, mut literal) = (Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.next_if_eq(&c).is_some() => literal.push(c),
                '{' => {
                    let name = parameter(&mut chars).ok_or(StrayBrace)?;
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Parameter(name));
                }
                '}' => return Err(StrayBrace),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self(pieces))
    }

    /// The names of its parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text, where nothing is filled in.
    pub(super) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The parameter that the argument begins with.
    pub(super) fn first_parameter(&self) -> Option<&str> {
        match self.0.first() {
            Some(Piece::Parameter(name)) => Some(name),
            Some(Piece::Text(_)) | None => None,
        }
    }

    /// The argument with its parameters filled in.
    pub(super) fn filled<E>(
        &self,
        mut value: impl FnMut(&str) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Parameter(name) => filled.push_str(&value(name)?),
            }
        }
        Ok(filled)
    }
}

/// The rest of a placeholder, after its `{`.
fn parameter(chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut name = String::new();
    loop {
        match chars.next()? {
            '}' if !name.is_empty() => return Some(name),
            c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => name.push(c),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        for (text, filled) in [
            ("plain", Some("plain")),
            ("{a}", Some("<a>")),
            ("--x={a}:{b-c}", Some("--x=<a>:<b-c>")),
            ("{{print $1}}", Some("{print $1}")),
            ("{{{a}}}", Some("{<a>}")),
            ("", Some("")),
            ("{}", None),
            ("{a", None),
            ("a}", None),
            ("{a b}", None),
            ("{\"a\": 1}", None),
        ] {
            let read = Template::read(text);
            let result = read.map(|t| t.filled(|name| Ok::<_, ()>(format!("<{name}>"))).unwrap());
            assert_eq!(result.ok().as_deref(), filled, "{text}");
        }
    }
}
