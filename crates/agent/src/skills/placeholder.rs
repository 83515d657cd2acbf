//! One argument of a command, with `{placeholders}` for parameters.

use std::sync::LazyLock;

use regex::Regex;

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

/// A brace, two that are one, or a parameter between braces.
static BRACES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\{\{|\}\}|\{([A-Za-z0-9_-]+)\}|[{}]").ok());

impl Template {
    pub(super) fn read(text: &str) -> Result<Self, StrayBrace> {
        let (mut pieces, mut literal, mut from) = (Vec::new(), String::new(), 0);
        let braces = BRACES.as_ref().ok_or(StrayBrace)?;
        for found in braces.captures_iter(text) {
            let whole = found.get(0).ok_or(StrayBrace)?;
            literal.push_str(text.get(from..whole.start()).unwrap_or_default());
            from = whole.end();
            match (whole.as_str(), found.get(1)) {
                (_, Some(name)) => {
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Parameter(name.as_str().to_owned()));
                }
                ("{{", None) => literal.push('{'),
                ("}}", None) => literal.push('}'),
                _ => return Err(StrayBrace),
            }
        }
        literal.push_str(text.get(from..).unwrap_or_default());
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
