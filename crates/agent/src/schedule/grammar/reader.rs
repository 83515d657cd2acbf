use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::Word;
use crate::schedule::token::{Kind, Token};

/// Where in the tokens of a phrase the grammar is.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    examples: [&'static str; 3],
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t [Token], examples: [&'static str; 3]) -> Self {
        Self { tokens, at: 0, examples }
    }

    /// The next token.
    pub(super) fn peek(&self) -> Option<Kind> {
        self.peek_at(0)
    }

    /// The token so many after the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<Kind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    /// The next token, as written; empty at the end.
    pub(super) fn text(&self) -> String {
        self.tokens.get(self.at).map(|token| token.text.clone()).unwrap_or_default()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Whether a comma is the last token: it would promise more.
    pub(super) fn is_at_end_after_comma(&self) -> bool {
        self.peek() == Some(Kind::Comma) && self.peek_at(1).is_none()
    }

    /// Whether only "please" is left.
    pub(super) fn ends_with_please(&self) -> bool {
        self.is_word(Word::Please) && self.peek_at(1).is_none()
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes past the next token.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn is_word(&self, word: Word) -> bool {
        self.peek() == Some(Kind::Word(word))
    }

    /// Whether the token so many after the next one is a month's name.
    pub(super) fn is_month_at(&self, ahead: usize) -> bool {
        matches!(self.peek_at(ahead), Some(Kind::Word(Word::Month(_))))
    }

    /// Goes past a word if it is the next.
    pub(super) fn take_word(&mut self, word: Word) -> bool {
        let is_next = self.is_word(word);
        if is_next {
            self.skip();
        }
        is_next
    }

    /// Goes past a comma if it is the next.
    pub(super) fn take_comma(&mut self) {
        if self.peek() == Some(Kind::Comma) {
            self.skip();
        }
    }

    /// Goes past a word that must be the next.
    pub(super) fn need(&mut self, word: Word) -> Result<(), ScheduleError> {
        if self.take_word(word) { Ok(()) } else { Err(self.refusal()) }
    }

    /// Goes past ",", "and" or ", and" if one more item of a list follows.
    pub(super) fn joins(&mut self, is_item: impl Fn(&Self, usize) -> bool) -> bool {
        let comma = usize::from(self.peek() == Some(Kind::Comma));
        let and = usize::from(self.peek_at(comma) == Some(Kind::Word(Word::And)));
        let length = comma + and;
        let joins = length > 0 && is_item(self, length);
        if joins {
            self.at += length;
        }
        joins
    }

    /// The words from a position up to here.
    pub(super) fn words_from(&self, from: usize) -> String {
        let mut words = String::new();
        let mut last = None;
        for token in self.tokens.get(from..self.at).unwrap_or_default() {
            if token.kind == Kind::Comma {
                words.push(',');
            } else if last.replace(token.word) != Some(token.word) {
                let gap = if words.is_empty() { "" } else { " " };
                words.push_str(gap);
                words.push_str(&token.text);
            }
        }
        words
    }

    /// That the next token was not understood, or that one is missing.
    pub(super) fn refusal(&self) -> ScheduleError {
        self.refusal_at(self.at)
    }

    /// That the token at a position was not understood, or that one is missing.
    pub(super) fn refusal_at(&self, at: usize) -> ScheduleError {
        let examples = self.examples;
        let over = |token: &&Token| token.kind == Kind::Word(Word::Over);
        if let Some(token) = self.tokens.iter().find(over) {
            return ScheduleError::Past { word: token.text.clone() };
        }
        match (self.tokens.get(at), self.tokens.last()) {
            (Some(token), _) => ScheduleError::NotUnderstood { word: token.text.clone(), examples },
            (None, Some(last)) => ScheduleError::Unfinished { word: last.text.clone(), examples },
            (None, None) => ScheduleError::Empty { examples },
        }
    }
}
