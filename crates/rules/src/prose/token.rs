use counterfoil_model::{Family, Span};

use super::lexicon::{Action, Tags};
use super::words::Mark;

/// One word, value or mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    /// The first byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// Its kind.
    pub(crate) kind: TokenKind,
    /// The word's possible functions; empty for anything else.
    pub(crate) tags: Tags,
    /// What the verb does.
    pub(crate) verb: Option<Action>,
    /// The action that the noun names.
    pub(crate) noun: Option<Family>,
    /// Whether the word belongs to other languages and not to English.
    pub(super) other: bool,
    /// Whether it is between quotation marks.
    pub(crate) quoted: bool,
    /// Whether it begins with a capital.
    pub(crate) capital: bool,
    /// Whether it contains digits.
    pub(crate) digits: bool,
    /// Excludes most words without comparing letters.
    pub(crate) mark: Mark,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A word.
    Word,
    /// A word that looks like a name in code: `snake_case`, `camelCase`, `a.b`.
    Identifier,
    /// Inline code, without the backticks.
    Code,
    /// A number, with separators and per cent sign.
    Number,
    /// An amount with its currency sign.
    Money,
    /// A date or a time of day.
    Date,
    /// An identifier of a thing: `#W123`, `HAT083`, a hash.
    Id,
    /// A file path.
    Path,
    /// A URL.
    Url,
    /// An e-mail address.
    Email,
    /// A mark.
    Symbol(char),
}

impl Token {
    /// Its position.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }

    /// Whether it is this mark.
    pub(crate) fn is(&self, mark: char) -> bool {
        self.kind == TokenKind::Symbol(mark)
    }

    /// Whether it is a mark, and not a word or a value.
    pub(crate) fn is_mark(&self) -> bool {
        matches!(self.kind, TokenKind::Symbol(_))
    }

    /// Whether it is a word with one of these tags, outside quotation marks.
    pub(crate) fn has(&self, tags: Tags) -> bool {
        !self.quoted && self.tags.any(tags)
    }
}

/// A set of token kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u16);

impl Kinds {
    /// [`TokenKind::Identifier`].
    pub(crate) const IDENTIFIER: Self = Self(1 << 1);
    /// [`TokenKind::Code`].
    pub(crate) const CODE: Self = Self(1 << 2);
    /// [`TokenKind::Number`].
    pub(crate) const NUMBER: Self = Self(1 << 3);
    /// A mark beyond ASCII: ✅, ❌, →.
    pub(crate) const SIGN: Self = Self(1 << 10);
    /// Any token that contains digits.
    pub(crate) const DIGITS: Self = Self(1 << 11);

    /// The kind of a token, as a set.
    #[inline]
    pub(super) fn new(token: &Token) -> Self {
        let kind = match token.kind {
            TokenKind::Word => 0,
            TokenKind::Identifier => 1,
            TokenKind::Code => 2,
            TokenKind::Number => 3,
            TokenKind::Money => 4,
            TokenKind::Date => 5,
            TokenKind::Id => 6,
            TokenKind::Path => 7,
            TokenKind::Url => 8,
            TokenKind::Email => 9,
            TokenKind::Symbol(mark) if !mark.is_ascii() => 10,
            TokenKind::Symbol(_) => 12,
        };
        Self(1 << kind | u16::from(token.digits) << 11)
    }

    /// The union of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether at least one of `other` is in the set.
    pub(crate) const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
