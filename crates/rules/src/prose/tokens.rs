use counterfoil_model::Span;

use super::classify::{classify, is_currency};
use super::language::is_ideographic;
use super::lexicon::{Entry, Lexicon};
use super::sets;
use super::token::{Token, TokenKind};
use super::words::Mark;

/// The maximum length of a word in bytes; addresses may be longer.
const LONGEST: usize = 1024;

/// Splits a span of `text` into tokens.
pub(crate) fn tokenize(text: &str, span: Span, out: &mut Vec<Token>) {
    let end = span.end.min(text.len());
    let lexicon = Lexicon::english();
    let label = bold_label(text.get(span.start..end).unwrap_or_default());
    let label = label.map(|at| span.start + at);
    let mut tokenizer = Tokenizer { text, end, lexicon, out, quote: None, label };
    let mut at = span.start;
    while at < end {
        at = tokenizer.step(at).max(at + 1);
    }
}

struct Tokenizer<'t, 'o> {
    text: &'t str,
    end: usize,
    lexicon: &'t Lexicon,
    out: &'o mut Vec<Token>,
    quote: Option<(char, usize)>,
    /// The position of the marks that end a bold label.
    label: Option<usize>,
}

impl Tokenizer<'_, '_> {
    fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    /// Reads the token at `at`. Returns where to continue.
    fn step(&mut self, at: usize) -> usize {
        let byte = self.byte(at);
        match byte {
            b'*' if self.label == Some(at) => {
                self.put(at, at + 2, TokenKind::Symbol(':'), Entry::default(), false);
                at + 2
            }
            b' ' | b'\n' | b'\t' | b'\r' | b'*' => at + 1,
            b'`' => self.code(at),
            b'_' if !self.byte(at + 1).is_ascii_alphanumeric() => at + 1,
            b'"' => self.quote(at, '"', '"', 1),
            b'\'' if self.opens_single(at) => self.quote(at, '\'', '\'', 1),
            b']' if self.byte(at + 1) == b'(' => self.link(at),
            _ if is_run_byte(byte) => self.run(at),
            _ => self.other(at),
        }
    }

    fn other(&mut self, at: usize) -> usize {
        let Some(c) = self.text.get(at..self.end).and_then(|t| t.chars().next()) else {
            return at + 1;
        };
        let len = c.len_utf8();
        match c {
            '“' | '”' => self.quote(at, '"', '”', len),
            c if is_ideographic(c) => self.segment(at),
            c if c.is_alphanumeric() => self.run(at),
            c if is_currency(c) && self.byte(at + len).is_ascii_digit() => self.run(at),
            c if c.is_whitespace() => at + len,
            c => {
                self.push(at, at + len, TokenKind::Symbol(c), Entry::default());
                at + len
            }
        }
    }

    fn code(&mut self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..self.end).unwrap_or_default();
        let ticks = rest.iter().take_while(|&&b| b == b'`').count();
        let mut close = ticks;
        while close < rest.len() {
            let run = rest.iter().skip(close).take_while(|&&b| b == b'`').count();
            if run == ticks {
                self.push(at + ticks, at + close, TokenKind::Code, Entry::default());
                return at + close + ticks;
            }
            let skip = rest.iter().skip(close + run).take_while(|&&b| b != b'`').count();
            if run == 0 && skip == 0 {
                break;
            }
            close += run + skip;
        }
        at + ticks
    }

    /// A quotation mark. It opens a quotation if none is open and one closes later; otherwise it
    /// closes one.
    fn quote(&mut self, at: usize, mark: char, close: char, len: usize) -> usize {
        self.quote = match self.quote {
            Some((closing, until)) if closing == close && until == at => None,
            Some(quote) => Some(quote),
            None => {
                let rest = self.text.get(at + len..self.end).unwrap_or_default();
                rest.char_indices()
                    .take_while(|(_, c)| *c != '\n')
                    .find(|&(i, c)| c == close && (close != '\'' || closes_single(rest, i)))
                    .map(|(i, _)| (close, at + len + i))
            }
        };
        self.push(at, at + len, TokenKind::Symbol(mark), Entry::default());
        at + len
    }

    /// A run of characters in a script without spaces between words.
    fn segment(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..self.end).unwrap_or_default();
        let len = rest.find(|c| !is_ideographic(c)).unwrap_or(rest.len());
        self.push(at, at + len, TokenKind::Word, Entry::default());
        at + len
    }

    fn opens_single(&self, at: usize) -> bool {
        match self.quote {
            Some(('\'', until)) => until == at,
            Some(_) => false,
            None => {
                let before = at.checked_sub(1).map_or(b' ', |i| self.byte(i));
                matches!(before, b' ' | b'\n' | b'(' | b'[' | b':' | b'*')
                    && self.byte(at + 1).is_ascii_alphanumeric()
            }
        }
    }

    /// The address of a Markdown link.
    fn link(&mut self, at: usize) -> usize {
        let rest = self.text.get(at + 2..self.end).unwrap_or_default();
        let len = rest.find([')', '\n', ' ']).unwrap_or(rest.len());
        let target = rest.get(..len).unwrap_or_default();
        let kind = if target.contains("://") { TokenKind::Url } else { TokenKind::Path };
        if len > 0 {
            self.push(at + 2, at + 2 + len, kind, Entry::default());
        }
        at + 2 + len + usize::from(rest.as_bytes().get(len) == Some(&b')'))
    }

    /// A run of characters without white space, classified as a whole. A very long one is split.
    fn run(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..self.end).unwrap_or_default();
        if let Some(word) = plain_word(rest) {
            let entry = self.lexicon.get(word).copied().unwrap_or_default();
            self.put(at, at + word.len(), TokenKind::Word, entry, false);
            return at + word.len();
        }
        let url = rest.starts_with("http://") || rest.starts_with("https://");
        let mut len = 0;
        while let Some(&byte) = rest.as_bytes().get(len) {
            let size = match byte {
                b',' => {
                    let digit = |i: usize| self.byte(i).is_ascii_digit();
                    usize::from(url || (len > 0 && digit(at + len - 1) && digit(at + len + 1)))
                }
                0..0x80 => {
                    let inside = is_run_byte(byte) || byte == b'\'' || (url && is_url_byte(byte));
                    usize::from(inside)
                }
                _ => {
                    let c = rest.get(len..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                    let letter = c.is_alphanumeric() && !is_ideographic(c);
                    let digit_follows = || self.byte(at + len + c.len_utf8()).is_ascii_digit();
                    let amount = len == 0 && is_currency(c) && digit_follows();
                    if letter || amount || c == '’' { c.len_utf8() } else { 0 }
                }
            };
            if size == 0 || (len >= LONGEST && !url) {
                break;
            }
            len += size;
        }
        let mut run = rest.get(..len).unwrap_or_default();
        // Marks at the end of a run belong to the sentence.
        let trimmed = match run.as_bytes().last() {
            Some(last) if last.is_ascii_alphanumeric() => run,
            _ => {
                run.trim_end_matches(['.', ':', '\'', '’', '?', '!', ',', ';', '-', '/', '_', '~'])
            }
        };
        let keep_slash = run.starts_with('/') || (run.ends_with('/') && run.len() > 2);
        run = if keep_slash && run.ends_with('/') { run } else { trimmed };
        if run.is_empty() {
            // Dots and dashes are separate tokens.
            let mark = rest.chars().next().unwrap_or('.');
            self.push(at, at + mark.len_utf8(), TokenKind::Symbol(mark), Entry::default());
            return at + mark.len_utf8();
        }
        let end = at + run.len();
        // Abbreviations keep their inner dots: `e.g`.
        let kind = classify(run);
        if kind == TokenKind::Word {
            self.word(at, run);
        } else if let Some(entry) = self.lexicon.get(run) {
            self.push(at, end, TokenKind::Word, *entry);
        } else {
            self.push(at, end, kind, Entry::default());
        }
        end
    }

    /// A word. Contractions become two tokens; compounds take the meaning of their last part.
    fn word(&mut self, at: usize, word: &str) {
        let plain = word.bytes().all(|b| b.is_ascii_alphanumeric());
        let mut marks = word.char_indices();
        let split = (!plain)
            .then(|| marks.find(|&(i, c)| i > 0 && matches!(c, '\'' | '’')))
            .flatten()
            .map(|(i, c)| (i, c.len_utf8()));
        let Some((cut, mark)) = split else {
            let entry = self
                .lexicon
                .get(word)
                .or_else(|| word.rsplit_once('-').and_then(|(_, last)| self.lexicon.get(last)));
            self.push(at, at + word.len(), TokenKind::Word, entry.copied().unwrap_or_default());
            return;
        };
        let (mut head, tail) = word.split_at(cut);
        let suffix = tail.get(mark..).unwrap_or_default();
        let mut clitic = [0_u8; 4];
        let mut second = cut;
        // The "n" of "n't" is part of the word before.
        let negated = suffix.eq_ignore_ascii_case("t") && head.ends_with(['n', 'N']);
        let spelled = if negated {
            second -= 1;
            head = head.get(..second).unwrap_or_default();
            "n't"
        } else {
            clitic[0] = b'\'';
            for (to, from) in clitic.iter_mut().skip(1).zip(suffix.bytes()) {
                *to = from.to_ascii_lowercase();
            }
            std::str::from_utf8(clitic.get(..=suffix.len().min(3)).unwrap_or_default())
                .unwrap_or("")
        };
        let rest = self.text.get(at + word.len()..self.end).unwrap_or_default();
        let been = [" been ", " now been ", " already been "].iter().any(|b| rest.starts_with(b));
        let possessive = spelled == "'s" && !is_pronoun(head) && !been;
        let entry = self.lexicon.get(head).copied().unwrap_or_default();
        self.push(at, at + head.len(), TokenKind::Word, entry);
        let entry = if possessive { None } else { self.lexicon.get(spelled) };
        self.push(
            at + second,
            at + word.len(),
            TokenKind::Word,
            entry.copied().unwrap_or_default(),
        );
    }

    fn push(&mut self, start: usize, end: usize, kind: TokenKind, entry: Entry) {
        let bytes = self.text.as_bytes().get(start..end).unwrap_or_default();
        self.put(start, end, kind, entry, bytes.iter().any(u8::is_ascii_digit));
    }

    fn put(&mut self, start: usize, end: usize, kind: TokenKind, entry: Entry, digits: bool) {
        let bytes = self.text.as_bytes().get(start..end).unwrap_or_default();
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            let quoted = self.quote.is_some();
            let capital = bytes.first().is_some_and(u8::is_ascii_uppercase);
            let Entry { tags, verb, noun, other } = entry;
            let mark = Mark::new(bytes);
            self.out.push(Token {
                start,
                end,
                kind,
                tags,
                verb,
                noun,
                other,
                quoted,
                capital,
                digits,
                mark,
            });
        }
    }
}

/// "**Bags** Added three": the position of the marks that end a bold label without a colon.
fn bold_label(text: &str) -> Option<usize> {
    const LONGEST: usize = 48;
    let inner = text.strip_prefix("**")?;
    let len = inner.get(..inner.floor_char_boundary(LONGEST))?.find("**").filter(|len| *len > 0)?;
    let label = inner.get(..len)?;
    let plain = label.ends_with(|c: char| c.is_alphanumeric()) && !label.contains('\n');
    let rest = inner.get(len + 2..)?.strip_prefix(' ')?.trim_start_matches(' ');
    (plain && rest.starts_with(|c: char| c.is_ascii_uppercase())).then_some(len + 2)
}

fn is_pronoun(word: &str) -> bool {
    sets::PRONOUNS.hold(word.as_bytes())
}

fn closes_single(rest: &str, at: usize) -> bool {
    let after = rest.as_bytes().get(at + 1).copied().unwrap_or(b' ');
    at > 0 && !after.is_ascii_alphanumeric()
}

/// Whether a byte continues a word, a number, a path or an id.
fn is_run_byte(b: u8) -> bool {
    const RUN: [bool; 256] = {
        let mut run = [false; 256];
        let mut b = 0_u8;
        while b < 0x80 {
            let mark = matches!(
                b,
                b'$' | b'#' | b'@' | b'/' | b'.' | b'~' | b'-' | b'_' | b'\\' | b'%' | b':' | b'+'
            );
            #[expect(clippy::indexing_slicing, reason = "a byte indexes 256 places")]
            {
                run[b as usize] = mark || b.is_ascii_alphanumeric();
            }
            b += 1;
        }
        run
    };
    RUN.get(usize::from(b)).copied().unwrap_or(false)
}

/// The word at the start of a text, if it consists only of letters, as most do.
fn plain_word(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    bytes.first().filter(|b| b.is_ascii_alphabetic())?;
    let len = 1 + bytes.iter().skip(1).take_while(|b| b.is_ascii_lowercase()).count();
    let space = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let stop = bytes.get(len) == Some(&b'.') && space(len + 1);
    let ends = space(len) || stop || bytes.get(len) == Some(&b',');
    ends.then(|| text.get(..len)).flatten()
}

fn is_url_byte(b: u8) -> bool {
    matches!(b, b'?' | b'=' | b'&' | b'!' | b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(TokenKind, &str)]) {
        let mut tokens = Vec::new();
        tokenize(text, Span::new(0, text.len()), &mut tokens);
        let found: Vec<_> = tokens.iter().map(|t| (t.kind, t.span().slice(text))).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn kinds() {
        use TokenKind::*;
        check(
            "I've sent it.",
            &[(Word, "I"), (Word, "'ve"), (Word, "sent"), (Word, "it"), (Symbol('.'), ".")],
        );
        check("couldn’t", &[(Word, "could"), (Word, "n’t")]);
        check(
            "order #W123, id FDZ0T5",
            &[(Word, "order"), (Id, "#W123"), (Symbol(','), ","), (Word, "id"), (Id, "FDZ0T5")],
        );
        check("$1,234.50!", &[(Money, "$1,234.50"), (Symbol('!'), "!")]);
        check("(£12.40)", &[(Symbol('('), "("), (Money, "£12.40"), (Symbol(')'), ")")]);
        check("€ 5", &[(Symbol('€'), "€"), (Number, "5")]);
        check(
            "a@b.com: see src/main.rs:12.",
            &[
                (Email, "a@b.com"),
                (Symbol(':'), ":"),
                (Word, "see"),
                (Path, "src/main.rs:12"),
                (Symbol('.'), "."),
            ],
        );
        check(
            "`cargo test` and/or get_user",
            &[(Code, "cargo test"), (Word, "and/or"), (Identifier, "get_user")],
        );
        check(
            "2024-05-21 at 17:00, 42%",
            &[
                (Date, "2024-05-21"),
                (Word, "at"),
                (Date, "17:00"),
                (Symbol(','), ","),
                (Number, "42%"),
            ],
        );
        check("**WebSearch** fd4de21", &[(Identifier, "WebSearch"), (Id, "fd4de21")]);
        check(
            "[x](https://e.org/a) ok",
            &[(Symbol('['), "["), (Word, "x"), (Url, "https://e.org/a"), (Word, "ok")],
        );
    }

    #[test]
    fn quotes() {
        let text = "status 'return requested' and \"was sent\" but it's fine";
        let mut tokens = Vec::new();
        tokenize(text, Span::new(0, text.len()), &mut tokens);
        let quoted: Vec<_> = tokens
            .iter()
            .filter(|t| t.quoted && t.kind == TokenKind::Word)
            .map(|t| t.span().slice(text))
            .collect();
        assert_eq!(quoted, ["return", "requested", "was", "sent"]);
    }
}
