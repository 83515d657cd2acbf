//! Lexicons of languages other than English: words, how they inflect, and how a completed verb is
//! put together. All of it is data: `lexicon/*.txt`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::forms::Forms;
use super::grammar::Pattern;
use super::language::{Language, is_katakana};
use super::lexicon::{Action, Entry, Lexicon, Tags, family_named};

/// The words and the grammar of one language other than English.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    pub(super) language: Language,
    /// How completed verbs look; the first that fits decides.
    pub(super) patterns: Vec<Pattern>,
    words: FxHashMap<Box<str>, Entry>,
    /// The characters of the longest word that begins with a character.
    longest: FxHashMap<char, usize>,
    endings: Vec<Ending>,
    agreement: Vec<Box<str>>,
}

/// `inflect -ar participle: -ado`: a base that ends in `suffix` takes `ending` for the form.
#[derive(Debug)]
struct Ending {
    suffix: Box<str>,
    form: Box<str>,
    ending: Box<str>,
}

/// The longest entry of several words.
const LONGEST_PHRASE: usize = 4;

static SPANISH: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::Spanish));
static GERMAN: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::German));
static FRENCH: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::French));
static CHINESE: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::Chinese));
static JAPANESE: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::Japanese));
static KOREAN: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(Language::Korean));

/// The lexicon file of a language.
fn file(language: Language) -> &'static str {
    match language {
        Language::English => "",
        Language::Spanish => include_str!("../../lexicon/es.txt"),
        Language::German => include_str!("../../lexicon/de.txt"),
        Language::French => include_str!("../../lexicon/fr.txt"),
        Language::Chinese => include_str!("../../lexicon/zh.txt"),
        Language::Japanese => include_str!("../../lexicon/ja.txt"),
        Language::Korean => include_str!("../../lexicon/ko.txt"),
    }
}

/// Marks words in the English lexicon that tell of another language: an answer is read as English
/// first, and again only when such words occur.
pub(super) fn mark_telling_words(english: &mut Lexicon) {
    for language in Language::OTHERS {
        for line in file(language).lines() {
            let Some(words) = line.strip_prefix("telling:") else { continue };
            for word in words.split(',') {
                let entry = english.entry(word.trim());
                entry.forms = entry.forms.or(language.mark());
            }
        }
    }
}

/// What a vocabulary knows of a word of a tool's name.
pub(crate) fn words_in<'v>(vocabulary: &'v Vocabulary, word: &str) -> Vec<&'v Entry> {
    vocabulary.known_in(word)
}

impl Vocabulary {
    /// That of a language; `None` for English, which has its own grammar.
    pub(crate) fn get(language: Language) -> Option<&'static Self> {
        Some(match language {
            Language::English => return None,
            Language::Spanish => &SPANISH,
            Language::German => &GERMAN,
            Language::French => &FRENCH,
            Language::Chinese => &CHINESE,
            Language::Japanese => &JAPANESE,
            Language::Korean => &KOREAN,
        })
    }

    fn of(language: Language) -> Self {
        Self::read(language, file(language)).0
    }

    /// The word, in any case.
    pub(crate) fn find(&self, word: &str) -> Option<&Entry> {
        if word.chars().any(|c| c.is_uppercase() || c == '’') {
            let lower = word.to_lowercase().replace('’', "'");
            return self.words.get(lower.as_str());
        }
        self.words.get(word)
    }

    /// The longest word at the beginning of a run without spaces, and its bytes.
    pub(super) fn longest_at(&self, run: &str, begins: bool) -> Option<(usize, &Entry)> {
        let first = run.chars().next()?;
        if is_katakana(first) {
            let end = run.find(|c| !is_katakana(c)).unwrap_or(run.len());
            return Some((end, self.words.get(run.get(..end)?)?));
        }
        let most = *self.longest.get(&first)?;
        let mut ends = [0_usize; 16];
        let mut count = 0;
        for (slot, (at, c)) in ends.iter_mut().zip(run.char_indices()).take(most) {
            *slot = at + c.len_utf8();
            count += 1;
        }
        ends.get(..count)?.iter().rev().find_map(|&end| {
            let word = run.get(..end)?;
            let whole = || self.words.get(format!("|{word}|").as_str()).filter(|_| begins);
            let last = || self.words.get(format!("{word}|").as_str());
            let entry = self.words.get(word);
            let entry = match end == run.len() && self.language == Language::Korean {
                true => entry.or_else(whole).or_else(last),
                false => entry,
            };
            Some((end, entry?))
        })
    }

    /// What is known of a word of a tool's name: itself, or the words that it is made of.
    fn known_in<'v>(&'v self, word: &str) -> Vec<&'v Entry> {
        if let Some(entry) = self.words.get(word) {
            return vec![entry];
        }
        let mut found = Vec::new();
        let mut left = word;
        while self.language.is_segmented() && !left.is_empty() {
            let one = left.chars().next().map_or(1, char::len_utf8);
            let count = match self.longest_at(left, left.len() == word.len()) {
                Some((count, entry)) => {
                    found.push(entry);
                    count
                }
                None => one,
            };
            left = left.get(count..).unwrap_or_default();
        }
        found
    }

    /// The longest entry of several words that begins with these, and how many it takes.
    pub(super) fn phrase_at(&self, words: &[&str]) -> Option<(usize, &Entry)> {
        (2..=LONGEST_PHRASE.min(words.len())).rev().find_map(|count| {
            let phrase = words.get(..count)?.join(" ");
            Some((count, self.find(&phrase)?))
        })
    }

    /// Reads a lexicon file. Lines that make no sense come back by number.
    fn read(language: Language, text: &str) -> (Self, Vec<usize>) {
        let mut read = Self {
            language,
            patterns: Vec::new(),
            words: FxHashMap::default(),
            longest: FxHashMap::default(),
            endings: Vec::new(),
            agreement: Vec::new(),
        };
        let mut wrong = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if !line.split_once(':').is_some_and(|(head, rest)| read.line(head.trim(), rest)) {
                wrong.push(number + 1);
            }
        }
        (read, wrong)
    }

    fn line(&mut self, head: &str, rest: &str) -> bool {
        let mut heads = head.split_whitespace();
        let kind = heads.next().unwrap_or_default();
        if kind == "form" {
            let pattern = Pattern::read(head, rest);
            let understood = pattern.is_some();
            self.patterns.extend(pattern);
            return understood;
        }
        let mut words = rest.split(',').map(str::trim);
        match (kind, heads.next(), heads.next()) {
            ("telling", None, None) => true,
            ("agree", None, None) => {
                self.agreement = words.map(Box::from).collect();
                true
            }
            ("inflect", Some(suffix), Some(form)) => {
                let suffix = suffix.trim_start_matches('-');
                self.endings.extend(words.map(|ending| Ending {
                    suffix: suffix.into(),
                    form: form.into(),
                    ending: ending.trim_start_matches('-').into(),
                }));
                matches!(form, "participle" | "past-first" | "past-third")
            }
            ("verb", Some(family), None) => {
                let action = match family {
                    "generic" => Some(Action::Generic),
                    "any" => Some(Action::Any),
                    family => family_named(family).map(Action::Of),
                };
                action.is_some_and(|action| words.all(|word| self.verb(word, action)))
            }
            ("noun", Some(family), None) => family_named(family).is_some_and(|family| {
                words.all(|word| {
                    self.add(word, |entry| {
                        entry.noun = entry.noun.or(Some(family));
                        entry.tags = entry.tags.or(Tags::NOUN);
                    })
                })
            }),
            // Words that are only known, so that nothing is found inside them.
            ("plain", None, None) => words.all(|word| self.add(word, |_| ())),
            (group, None, None) => match (Tags::of_group(group), Forms::of_group(group)) {
                (None, None) => false,
                (tags, forms) => words.all(|word| {
                    self.add(word, |entry| {
                        entry.tags = entry.tags.or(tags.unwrap_or_default());
                        entry.forms = entry.forms.or(forms.unwrap_or_default());
                    })
                }),
            },
            _ => false,
        }
    }

    fn add(&mut self, word: &str, change: impl FnOnce(&mut Entry)) -> bool {
        change(self.words.entry(word.to_lowercase().into()).or_default());
        if let Some((first, _)) = word.split_once(' ') {
            let lead = self.words.entry(first.to_lowercase().into()).or_default();
            lead.forms = lead.forms.or(Forms::LEADS);
        }
        let bare = word.trim_matches('|');
        if let Some(first) = bare.chars().next() {
            let most = self.longest.entry(first).or_default();
            *most = (*most).max(bare.chars().count());
        }
        !word.is_empty()
    }

    /// `base`, or `base/participle/past-first/past-third/…` where a form is irregular; where words
    /// do not inflect, all parts are stems.
    fn verb(&mut self, spelled: &str, action: Action) -> bool {
        let mut parts = spelled.split('/');
        let base = parts.next().unwrap_or_default();
        let mut forms = vec![(base.to_owned(), Tags::BASE, Forms::NONE)];
        if self.language.is_segmented() {
            forms.extend(parts.map(|stem| (stem.to_owned(), Tags::BASE, Forms::NONE)));
        } else {
            let participles = match parts.next().filter(|part| !part.is_empty()) {
                Some(participle) => vec![participle.to_owned()],
                None => self.inflected(base, "participle"),
            };
            for participle in participles.iter().flat_map(|word| self.agreeing(word)) {
                forms.push((participle, Tags::PARTICIPLE, Forms::NONE));
            }
            let first = parts.next().map(str::to_owned);
            let third: Vec<String> = parts.map(str::to_owned).collect();
            let regular = |form| self.inflected(base, form);
            let first = first.map_or_else(|| regular("past-first"), |word| vec![word]);
            let third = if third.is_empty() { regular("past-third") } else { third };
            forms.extend(first.into_iter().map(|w| (w, Tags::default(), Forms::PAST_FIRST)));
            forms.extend(third.into_iter().map(|w| (w, Tags::default(), Forms::PAST_THIRD)));
        }
        forms.into_iter().all(|(word, tags, form)| {
            self.add(&word, |entry| {
                entry.tags = entry.tags.or(tags);
                entry.forms = entry.forms.or(form);
                entry.verb = entry.verb.or(Some(action));
            })
        })
    }

    /// The words of a form, by the longest ending of the base that has one.
    fn inflected(&self, base: &str, form: &str) -> Vec<String> {
        // "mettre à jour" inflects its first word.
        let (head, tail) = match base.split_once(' ') {
            Some((head, _)) => base.split_at(head.len()),
            None => (base, ""),
        };
        let fitting = || {
            let of_form = self.endings.iter().filter(|ending| *ending.form == *form);
            of_form.filter(|ending| head.ends_with(&*ending.suffix))
        };
        let longest = fitting().map(|ending| ending.suffix.len()).max();
        fitting()
            .filter(|ending| Some(ending.suffix.len()) == longest)
            .filter_map(|ending| {
                let stem = head.strip_suffix(&*ending.suffix)?;
                Some(match ending.ending.split_once('+') {
                    Some((before, after)) => format!("{before}{stem}{after}{tail}"),
                    None => format!("{stem}{}{tail}", ending.ending),
                })
            })
            .collect()
    }

    /// A participle in every gender and number.
    fn agreeing(&self, participle: &str) -> Vec<String> {
        let (head, tail) = match participle.split_once(' ') {
            Some((head, _)) => participle.split_at(head.len()),
            None => (participle, ""),
        };
        if self.agreement.is_empty() {
            return vec![participle.to_owned()];
        }
        self.agreement
            .iter()
            .map(|ending| match ending.strip_prefix("o>") {
                Some(ending) => format!("{}{ending}{tail}", head.strip_suffix('o').unwrap_or(head)),
                None => format!("{head}{}{tail}", ending.trim_start_matches('-')),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for language in Language::OTHERS {
            let (read, wrong) = Vocabulary::read(language, file(language));
            assert_eq!(wrong, Vec::<usize>::new(), "{language:?}");
            assert!(!read.patterns.is_empty(), "{language:?}");
        }
    }

    #[test]
    fn telling_words_are_no_english_words() {
        let english = Lexicon::english();
        for language in Language::OTHERS {
            let lines = file(language).lines().filter_map(|line| line.strip_prefix("telling:"));
            for word in lines.flat_map(|words| words.split(',')).map(str::trim) {
                let entry = english.get(word).unwrap();
                assert!(entry.tags.is_empty() && entry.verb.is_none(), "{language:?}: {word}");
            }
        }
    }

    #[test]
    fn inflections() {
        use Language::*;
        for (language, word, tags, forms) in [
            (Spanish, "canceladas", Tags::PARTICIPLE, Forms::NONE),
            (Spanish, "Notifiqué", Tags::default(), Forms::PAST_FIRST),
            (Spanish, "devuelto", Tags::PARTICIPLE, Forms::NONE),
            (Spanish, "envió", Tags::default(), Forms::PAST_THIRD),
            (German, "storniert", Tags::PARTICIPLE, Forms::NONE),
            (German, "gelöscht", Tags::PARTICIPLE, Forms::NONE),
            (French, "annulées", Tags::PARTICIPLE, Forms::NONE),
            (French, "remboursé", Tags::PARTICIPLE, Forms::NONE),
            (French, "mise à jour", Tags::PARTICIPLE, Forms::NONE),
            (Chinese, "取消", Tags::BASE, Forms::NONE),
            (Japanese, "しました", Tags::default(), Forms::ENDED),
            (Korean, "했습니다", Tags::default(), Forms::ENDED),
        ] {
            let entry = Vocabulary::get(language).unwrap().find(word);
            assert!(
                entry.is_some_and(|e| {
                    (e.tags.any(tags) || tags.is_empty())
                        && (e.forms.any(forms) || forms == Forms::NONE)
                }),
                "{word}"
            );
        }
        assert!(Vocabulary::get(Spanish).unwrap().find("devolvido").is_none());
    }
}
