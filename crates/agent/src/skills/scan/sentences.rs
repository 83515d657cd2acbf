//! Prose as sentences of words, with what the rules need to know about each.

use std::sync::LazyLock;

use counterfoil_report::is_unseen;
use regex::Regex;

use super::orders::is_in;

/// The most words of a sentence. What is longer is several that overlap.
const MOST_WORDS: usize = 400;
const OVERLAP: usize = 24;

/// A sentence, an item of a list, a heading or a row of a table.
#[derive(Debug, Default)]
pub(super) struct Sentence {
    pub(super) words: Vec<Word>,
    /// It is an item of a list that begins with talk about attacks.
    pub(super) is_example: bool,
}

/// A word.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// In lower case, without characters that are not seen.
    pub(super) text: String,
    /// The line of the file.
    pub(super) line: usize,
    /// It begins the sentence or a quotation, or follows a comma, colon, semicolon or dash.
    pub(super) begins_clause: bool,
    /// It is between quotation marks or backticks.
    pub(super) is_quoted: bool,
}

/// The sentences of lines of Markdown.
pub(super) fn sentences<'t>(lines: impl IntoIterator<Item = (usize, &'t str)>) -> Vec<Sentence> {
    let mut reader = Reader::default();
    for (line, text) in lines {
        reader.line(line, text);
    }
    reader.end_sentence();
    reader.sentences
}

/// Words, and the marks that end clauses, sentences and quotations.
static TOKEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("-{0,2}\\w+(?:['’.-]\\w+)*|[.!?,:;–—|\"`“”„«»]").ok());

#[derive(Default)]
struct Reader {
    sentences: Vec<Sentence>,
    words: Vec<Word>,
    begins_clause: bool,
    /// The mark that ends the quotation.
    quote: Option<&'static str>,
    /// The last line that was no item of a list talks about attacks.
    lead: bool,
    in_item: bool,
}

impl Reader {
    fn line(&mut self, number: usize, text: &str) {
        let trimmed = text.trim_start_matches([' ', '\t', '>']);
        let is_item = is_item(trimmed);
        if trimmed.is_empty() || is_item || trimmed.starts_with(['#', '|']) {
            self.end_sentence();
            self.quote = None;
            self.in_item = is_item;
            self.lead &= trimmed.is_empty() || is_item;
        }
        let seen: String = trimmed.chars().filter(|c| !is_unseen(*c)).collect();
        for token in TOKEN.iter().flat_map(|token| token.find_iter(&seen)) {
            let next = seen.get(token.end()..).and_then(|rest| rest.chars().next());
            self.token(number, token.as_str(), next);
        }
        if !self.in_item && trimmed.ends_with(':') {
            self.lead = self.words.iter().any(|word| is_in("mention", &word.text));
        }
    }

    fn token(&mut self, line: usize, token: &str, next: Option<char>) {
        let closing = match token {
            "\"" => "\"",
            "`" => "`",
            "“" | "„" => "”",
            "«" => "»",
            _ => "",
        };
        match token {
            "." | "!" | "?" if ends_sentence(next) => self.end_sentence(),
            "." | "!" | "?" => {}
            "," | ":" | ";" | "–" | "—" | "|" => self.begins_clause = true,
            mark if self.quote == Some(mark) || self.quote == Some("”") && mark == "“" => {
                self.quote = None;
            }
            _ if closing.is_empty() => self.words_of(line, token),
            _ if self.quote.is_none() => {
                self.quote = Some(closing);
                self.begins_clause = true;
            }
            _ => {}
        }
    }

    fn words_of(&mut self, line: usize, token: &str) {
        let token = token.trim_matches('_').to_lowercase().replace('’', "'");
        // Only options keep a hyphen: `system-prompt` is two words.
        let hyphen = if token.starts_with('-') { '\0' } else { '-' };
        for part in token.split(hyphen).filter(|part| part.contains(char::is_alphanumeric)) {
            let begins_clause = std::mem::take(&mut self.begins_clause) || self.words.is_empty();
            let (text, is_quoted) = (part.to_owned(), self.quote.is_some());
            self.words.push(Word { text, line, begins_clause, is_quoted });
        }
        if self.words.len() >= MOST_WORDS {
            let tail = self.words.iter().skip(self.words.len() - OVERLAP).cloned().collect();
            self.end_sentence();
            self.words = tail;
        }
    }

    fn end_sentence(&mut self) {
        let words = std::mem::take(&mut self.words);
        self.begins_clause = false;
        if !words.is_empty() {
            let is_example = self.lead && self.in_item;
            self.sentences.push(Sentence { words, is_example });
        }
    }
}

/// Whether a full stop before this character ends a sentence.
fn ends_sentence(next: Option<char>) -> bool {
    next.is_none_or(|c| c.is_whitespace() || "\"”'`*_)".contains(c))
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let ordered = rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "));
    ordered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}
