//! Distinguishes English from other languages, which no rule reads.

use super::lexicon::Lexicon;
use super::sets;
use super::token::Token;

/// Letters of Spanish, German and French that English does not have.
const LETTERS: [char; 20] = [
    'ñ', '¿', '¡', 'í', 'ó', 'ú', 'á', 'ß', 'ä', 'ö', 'ü', 'è', 'ê', 'ç', 'à', 'û', 'î', 'œ', 'â',
    'ô',
];

/// Whether a text may contain another language, so that its sentences have to be checked.
pub(super) fn is_suspect(text: &str, tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.other)
        || (!text.is_ascii() && text.chars().any(|c| !c.is_ascii() && c.is_alphabetic()))
}

/// Whether a text is in a language other than English; returns `main` if its words do not decide.
pub(super) fn is_foreign(text: &str, main: bool) -> bool {
    let (mut other, mut latin, mut code) = (0_usize, 0_usize, false);
    for c in text.chars() {
        match c {
            '`' => code = !code,
            _ if code || !c.is_alphabetic() => {}
            // Such a character carries about as much information as three letters.
            c if is_ideographic(c) => other += 3,
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
            _ => other += 1,
        }
    }
    if other > 0 {
        return other >= latin;
    }
    // English function words.
    let function =
        tags![AGENT, BE, HAVE, DETERMINER, PREPOSITION, USER, USER_OWN, MODAL, COORDINATE];
    let shared = |word: &str| {
        let mut known = sets::WORDS_OF_SEVERAL_LANGUAGES.list.iter();
        known.any(|known| word.eq_ignore_ascii_case(known))
    };
    let (mut english, mut foreign) = (0_usize, elisions(text));
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        let Some(entry) = Lexicon::english().get(word) else { continue };
        foreign += usize::from(entry.other);
        english += usize::from(!entry.other && entry.tags.any(function) && !shared(word));
    }
    foreign += usize::from(text.contains(LETTERS));
    foreign > english || (main && foreign == english)
}

/// The number of words that are shortened before an apostrophe: "j'ai", "l'adresse".
fn elisions(text: &str) -> usize {
    let cut = &*sets::CUT_BEFORE_AN_APOSTROPHE;
    let mut parts = text.split(['\'', '’']).peekable();
    let mut count = 0;
    while let Some(part) = parts.next() {
        let word = part.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let goes_on = parts.peek().is_some_and(|next| next.starts_with(char::is_alphabetic));
        count += usize::from(goes_on && cut.list.iter().any(|cut| word.eq_ignore_ascii_case(cut)));
    }
    count
}

/// Whether a character belongs to a script without spaces between words, or is a Korean syllable.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_distinguished_from_other_languages() {
        for (text, expected) in [
            ("I have sent the mail to 李明.", false),
            ("She flew to La Paz in May.", false),
            ("The café's order is cancelled.", false),
            ("I've set the naïve default.", false),
            ("Done.", false),
            ("Ich habe die Bestellung storniert.", true),
            ("He cancelado el pedido.", true),
            ("J'ai annulé la commande.", true),
            ("已将 PR #12 merge 到 main 分支。", true),
            ("ご注文をキャンセルしました。", true),
            ("주문을 취소했습니다.", true),
            ("Die Tests laufen mit pytest durch.", true),
            ("El pedido ha sido cancelado.", true),
            ("Заказ отменён.", true),
        ] {
            assert_eq!(is_foreign(text, false), expected, "{text}");
        }
    }
}
