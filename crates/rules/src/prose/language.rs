use std::ops::Range;

use counterfoil_model::Span;

use super::forms::Forms;
use super::lexicon::{Lexicon, Tags};
use super::tokens::Token;

/// A language that has a lexicon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    /// `en`
    #[default]
    English,
    /// `es`
    Spanish,
    /// `de`
    German,
    /// `fr`
    French,
    /// `zh`
    Chinese,
    /// `ja`
    Japanese,
    /// `ko`
    Korean,
}

impl Language {
    /// Those beside English.
    pub(crate) const OTHERS: [Self; 6] =
        [Self::Spanish, Self::German, Self::French, Self::Chinese, Self::Japanese, Self::Korean];

    /// What marks its words in the English lexicon; nothing for languages told by their script.
    pub(super) fn mark(self) -> Forms {
        match self {
            Self::Spanish => Forms::SPANISH,
            Self::German => Forms::GERMAN,
            Self::French => Forms::FRENCH,
            Self::English | Self::Chinese | Self::Japanese | Self::Korean => Forms::NONE,
        }
    }

    /// Whether its words are found by the lexicon and not by spaces alone.
    pub(super) fn is_segmented(self) -> bool {
        matches!(self, Self::Chinese | Self::Japanese | Self::Korean)
    }
}

/// Whether a text that was read as English may hold another language.
pub(super) fn is_suspect(text: &str, tokens: &[Token]) -> bool {
    let marks = tokens.iter().fold(Forms::NONE, |seen, token| seen.or(token.forms));
    marks.any(Forms::TELLING)
        || (!text.is_ascii() && text.chars().any(|c| !c.is_ascii() && c.is_alphabetic()))
}

/// A part of a block in one language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) span: Span,
    pub(super) language: Language,
}

/// Splits a block where its language changes. `main` is the language of the whole text.
pub(super) fn stretches(text: &str, block: Span, main: Language) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for piece in pieces(text, block) {
        let language = language_of(text.get(piece.clone()).unwrap_or_default(), main);
        match found.last_mut().filter(|last| last.language == language) {
            Some(last) => last.span.end = piece.end,
            None => found.push(Stretch { span: Span::new(piece.start, piece.end), language }),
        }
    }
    found
}

/// The sentences of a block, roughly.
fn pieces(text: &str, span: Span) -> Vec<Range<usize>> {
    let words = span.of(text);
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut chars = words.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let spaced = || words.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let ends = match c {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' => spaced(),
            _ => false,
        };
        let end = at + c.len_utf8();
        // Closing quotation marks belong to the sentence before them.
        let closed = chars.peek().is_some_and(|(_, c)| matches!(c, '」' | '』' | '”' | '"' | ')'));
        if ends && !closed {
            pieces.push(span.start + from..span.start + end);
            from = end;
        }
    }
    if from < words.len() {
        pieces.push(span.start + from..span.end);
    }
    pieces
}

/// The language of a stretch of text; `main` where its words do not tell.
pub(super) fn language_of(text: &str, main: Language) -> Language {
    let (mut han, mut kana, mut hangul, mut latin) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut code = false;
    for c in text.chars() {
        match c {
            '`' => code = !code,
            _ if code => {}
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7a3}' => hangul += 1,
            c if is_ideographic(c) => han += 1,
            c if c.is_alphabetic() => latin += 1,
            _ => {}
        }
    }
    let ideographic = han + kana + hangul;
    // One such character says about as much as three letters.
    if ideographic > 0 && ideographic * 3 >= latin {
        return match main {
            _ if hangul * 2 > han + kana => Language::Korean,
            _ if kana * 8 > han => Language::Japanese,
            Language::Japanese if kana > 0 || han < 8 => Language::Japanese,
            _ => Language::Chinese,
        };
    }
    spaced_language(text, main)
}

/// The language by function words, among those that put spaces between words.
fn spaced_language(text: &str, main: Language) -> Language {
    let english = Lexicon::english();
    let function = Tags::AGENT
        .or(Tags::BE)
        .or(Tags::HAVE)
        .or(Tags::DETERMINER)
        .or(Tags::PREPOSITION)
        .or(Tags::USER)
        .or(Tags::USER_OWN)
        .or(Tags::MODAL)
        .or(Tags::COORDINATE);
    let mut counts = [0_usize, 0, 0, elisions(text)];
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        let Some(entry) = english.get(word) else { continue };
        let marks = [
            !entry.forms.any(Forms::TELLING) && entry.tags.any(function) && !is_shared(word),
            entry.forms.any(Forms::SPANISH),
            entry.forms.any(Forms::GERMAN),
            entry.forms.any(Forms::FRENCH),
        ];
        for (count, marked) in counts.iter_mut().zip(marks) {
            *count += usize::from(marked);
        }
    }
    // Letters that one of these languages has and the others have not.
    let letters: [&[char]; 4] = [
        &[],
        &['ñ', '¿', '¡', 'í', 'ó', 'ú', 'á'],
        &['ß', 'ä', 'ö', 'ü'],
        &['è', 'ê', 'ç', 'à', 'û', 'î', 'œ'],
    ];
    for (count, letters) in counts.iter_mut().zip(letters) {
        *count += usize::from(text.contains(letters));
    }
    let [english, spanish, german, french] = counts;
    let best = spanish.max(german).max(french);
    if best == english {
        let spaced = !main.is_segmented();
        return if spaced { main } else { Language::English };
    }
    match best {
        _ if best < english => Language::English,
        _ if best == spanish && (spanish > french || main != Language::French) => Language::Spanish,
        _ if best == german => Language::German,
        _ => Language::French,
    }
}

/// English words that are function words of other languages, too.
fn is_shared(word: &str) -> bool {
    ["a", "am", "an", "in", "me", "no", "on", "so", "was", "will"]
        .iter()
        .any(|shared| word.eq_ignore_ascii_case(shared))
}

/// How often a word is cut short before an apostrophe: "j'ai", "l'adresse".
fn elisions(text: &str) -> usize {
    let mut parts = text.split(['\'', '’']).peekable();
    let mut count = 0;
    while let Some(part) = parts.next() {
        let word = part.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let elided =
            ["j", "l", "d", "n", "c", "qu", "s", "m"].iter().any(|w| word.eq_ignore_ascii_case(w));
        let goes_on = parts.peek().is_some_and(|next| next.starts_with(char::is_alphabetic));
        count += usize::from(elided && goes_on);
    }
    count
}

/// A character of a script that puts no spaces between words, or a Korean syllable.
pub(super) fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'
        | '\u{3005}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}')
}

/// A character of the script for foreign words: a run of them is one word.
pub(super) fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a1}'..='\u{30fa}' | '\u{30fc}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages() {
        use Language::*;
        for (text, expected) in [
            ("I have sent the mail to 李明.", English),
            ("Ich habe die Bestellung storniert.", German),
            ("He cancelado el pedido.", Spanish),
            ("J'ai annulé la commande.", French),
            ("已将 PR #12 merge 到 main 分支。", Chinese),
            ("ご注文をキャンセルしました。", Japanese),
            ("주문을 취소했습니다.", Korean),
            ("Die Tests laufen mit pytest durch.", German),
            ("La commande a été annulée.", French),
            ("El pedido ha sido cancelado.", Spanish),
            ("She flew to La Paz in May.", English),
        ] {
            assert_eq!(language_of(text, English), expected, "{text}");
        }
    }

    #[test]
    fn a_block_is_split_where_the_language_changes() {
        let text = "订单已取消。I have sent you an e-mail.";
        let found = stretches(text, Span::new(0, text.len()), Language::Chinese);
        let shown: Vec<_> = found.iter().map(|s| (s.span.of(text), s.language)).collect();
        assert_eq!(
            shown,
            [
                ("订单已取消。", Language::Chinese),
                ("I have sent you an e-mail.", Language::English)
            ]
        );
    }
}
