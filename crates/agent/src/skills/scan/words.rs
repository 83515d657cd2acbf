//! Prose as sentences of words, with what a grammar needs to know about each.

use super::lexicon::LEXICON;
use super::unseen::is_unseen;

/// The most words of a sentence. What is longer is several that overlap.
const MOST_WORDS: usize = 400;
const OVERLAP: usize = 24;

/// A sentence, an item of a list, a heading or a row of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) words: Vec<Word>,
    /// It is an item of a list that begins with talk about attacks.
    pub(super) is_example: bool,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, without characters that nobody sees.
    pub(super) text: String,
    /// The line of the file.
    pub(super) line: usize,
    /// It begins the sentence, or follows a comma, colon, semicolon or dash.
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

#[derive(Default)]
struct Reader {
    sentences: Vec<Sentence>,
    words: Vec<Word>,
    word: String,
    begins_clause: bool,
    quote: Option<char>,
    /// The last line that was no item of a list talks about attacks.
    lead: bool,
    in_item: bool,
}

impl Reader {
    fn line(&mut self, number: usize, text: &str) {
        let trimmed = text.trim_start_matches([' ', '\t', '>']);
        let is_item = item(trimmed);
        if trimmed.is_empty() || is_item || trimmed.starts_with(['#', '|']) {
            self.end_sentence();
            self.quote = None;
            self.in_item = is_item;
            if !trimmed.is_empty() && !is_item {
                self.lead = false;
            }
        }
        let mut chars = trimmed.chars().filter(|c| !is_unseen(*c)).peekable();
        while let Some(c) = chars.next() {
            self.character(number, c, chars.peek().copied());
        }
        self.end_word(number);
        if !self.in_item && trimmed.ends_with(':') {
            self.lead = self.words.iter().any(|word| LEXICON.has("mention", &word.text));
        }
    }

    fn character(&mut self, number: usize, c: char, next: Option<char>) {
        let ends = next.is_none_or(|c| c.is_whitespace() || "\"”'`*_)".contains(c));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        match c {
            '\'' | '’' | '-' | '.' if !self.word.is_empty() && next.is_some_and(is_part) => {
                self.word.push(if c == '’' { '\'' } else { c });
            }
            '-' if next.is_some_and(|c| c == '-' || is_part(c)) => self.word.push(c),
            '_' if self.word.is_empty() || ends => self.end_word(number),
            c if is_part(c) => self.word.extend(c.to_lowercase()),
            '.' | '!' | '?' if ends => {
                self.end_word(number);
                self.end_sentence();
            }
            ',' | ':' | ';' | '–' | '—' | '|' => {
                self.end_word(number);
                self.begins_clause = true;
            }
            c => {
                self.end_word(number);
                self.mark(c);
            }
        }
    }

    /// Quotation marks open and close.
    fn mark(&mut self, c: char) {
        let closing = match c {
            '"' => '"',
            '`' => '`',
            '“' | '„' => '”',
            '«' => '»',
            _ => '\0',
        };
        if self.quote == Some(c) || self.quote == Some('”') && c == '“' {
            self.quote = None;
        } else if self.quote.is_none() && closing != '\0' {
            self.quote = Some(closing);
            self.begins_clause = true;
        }
    }

    fn end_word(&mut self, line: usize) {
        let text = std::mem::take(&mut self.word);
        // Only options keep a hyphen: `system-prompt` is two words.
        let parts: Vec<&str> =
            if text.starts_with('-') { vec![text.as_str()] } else { text.split('-').collect() };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
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

/// Whether a line begins an item of a list.
fn item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let ordered = rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "));
    ordered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_clauses() {
        for (text, expected) in [
            ("Do it. Then, stop!", "[do it] [then / stop]"),
            ("one\ntwo\n\nthree", "[one two] [three]"),
            ("- a\n- b c", "[a] [b c]"),
            ("Don’t use v1.2 or a.txt", "[don't use v1.2 or a.txt]"),
            ("the system-prompt **now**", "[the system prompt now]"),
            ("say \"a b\" and `c`", "[say / <a> <b> and / <c>]"),
            ("ig\u{200b}nore --no-verify", "[ignore --no-verify]"),
            ("# A\n| b | c |", "[a] [b / c]"),
        ] {
            let shown = |word: &Word, at: usize| {
                let clause = if word.begins_clause && at > 0 { "/ " } else { "" };
                if word.is_quoted {
                    format!("{clause}<{}>", word.text)
                } else {
                    format!("{clause}{}", word.text)
                }
            };
            let sentence = |sentence: Sentence| {
                let words = sentence.words.iter().enumerate().map(|(at, word)| shown(word, at));
                format!("[{}]", words.collect::<Vec<_>>().join(" "))
            };
            let lines = text.lines().map(|line| (1, line));
            let seen: Vec<String> = sentences(lines).into_iter().map(sentence).collect();
            assert_eq!(seen.join(" "), expected, "{text}");
        }
    }
}
